// Exact numbers: a score is a whole number of units, as a BigInt. A unit is a power of 2, so small
// that every score of the graph is whole. Sums and comparisons are exact then.

const DOUBLE = new DataView(new ArrayBuffer(8));

// Return m and e such that x = m * 2^e.
function mantissaAndExponent(x) {
  DOUBLE.setFloat64(0, Math.abs(x));
  const bits = DOUBLE.getBigUint64(0);
  const biased = Number(bits >> 52n);
  const fraction = bits & ((1n << 52n) - 1n);
  const m = biased ? fraction | (1n << 52n) : fraction;
  return [x < 0 ? -m : m, (biased || 1) - 1075];
}

// Return the exponent of a unit in which all these numbers are whole.
function unitOf(numbers) {
  let unit = 0;
  for (const x of numbers) if (x !== 0) unit = Math.min(unit, mantissaAndExponent(x)[1]);
  return unit;
}

// Return x as a whole number of units 2^unit.
function exact(x, unit) {
  if (x === 0) return 0n;
  const [m, e] = mantissaAndExponent(x);
  return m << BigInt(e - unit);
}

// Return how many bits a positive whole number has.
function bitLength(value) {
  const digits = value.toString(16);
  return digits.length * 4 - Math.clz32(parseInt(digits[0], 16)) + 28;
}

// Return value * 2^unit as a number, rounded once, half to even; infinite if it is too large.
function rounded(value, unit) {
  if (value === 0n) return 0;
  if (value < 0n) return -rounded(-value, unit);
  const drop = Math.max(bitLength(value) - 53, -1074 - unit, 0);
  let kept = value;
  if (drop > 0) {
    const place = BigInt(drop);
    const half = 1n << (place - 1n);
    const rest = value & ((1n << place) - 1n);
    kept = value >> place;
    if (rest > half || (rest === half && kept & 1n)) kept += 1n;
  }
  return Number(kept) * 2 ** (unit + drop);
}

// Return a number as short text, with six digits at most.
function numberName(x) {
  if (x === 0) return "0";
  if (x < 0) return `-${numberName(-x)}`;
  if (x === Infinity) return "inf";
  let [digits, exponent] = x.toExponential(5).split("e");
  // Halves go to the even digit. Here they would go up.
  const all = x.toExponential(60).split("e")[0].replace(".", "");
  if (/^50*$/.test(all.slice(6)) && "02468".includes(all[5])) {
    digits = `${all[0]}.${all.slice(1, 6)}`;
    exponent = x.toExponential(60).split("e")[1];
  }
  const places = Number(exponent);
  if (places >= -4 && places < 6) return String(Number(`${digits}e${places}`));
  const sign = places < 0 ? "-" : "+";
  return `${Number(digits)}e${sign}${String(Math.abs(places)).padStart(2, "0")}`;
}
