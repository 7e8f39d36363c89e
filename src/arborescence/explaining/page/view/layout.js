// The places of words and arcs: the words in a row, an arc above them for each edge.
//
// Each arc is as low as the shorter arcs below it allow. At each word, arcs to the left start on the
// left, and arcs to the right on the right, the highest in the middle. So only edges that cross in
// every drawing cross here, and the two edges of a cycle of two words lie one above the other.

const SIZES = { form: 16, label: 12, level: 26, port: 9, gap: 18, margin: 14, nested: 7 };
const FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";

const RULER = document.createElement("canvas").getContext("2d");

function textWidth(text, size) {
  RULER.font = `${size}px ${FONT}`;
  return RULER.measureText(text).width;
}

// Return the places of words and arcs. Arcs have `edge` and `label`; they get a `level` and `ends`,
// the x of head and dependent.
function layOut(names, arcs, depth) {
  const placed = arcs
    .map((arc) => ({ ...arc, left: Math.min(...arc.edge), right: Math.max(...arc.edge) }))
    .sort((one, other) => one.right - one.left - (other.right - other.left) || compareLists(one.edge, other.edge));
  const levels = names.map(() => 0); // the highest arc so far between a word and the next
  for (const arc of placed) {
    arc.level = 1 + Math.max(...levels.slice(arc.left, arc.right));
    levels.fill(arc.level, arc.left, arc.right);
  }
  const ports = names.map((_, word) => portsOf(placed, word));
  const gap = SIZES.gap + 2 * SIZES.nested * depth;
  const half = names.map(
    (name, word) => Math.max(textWidth(name, SIZES.form), ports[word].length * SIZES.port) / 2,
  );
  const centers = [];
  for (const word of names.keys()) {
    const before = word ? centers[word - 1] + half[word - 1] + gap : SIZES.margin;
    centers.push(before + half[word]);
  }
  const at = (word, arc) =>
    centers[word] + (ports[word].indexOf(arc) - (ports[word].length - 1) / 2) * SIZES.port;
  // The label of an arc between neighbours needs room between its two ends.
  for (const arc of placed) {
    const room = at(arc.right, arc) - at(arc.left, arc);
    const missing = textWidth(arc.label, SIZES.label) + 10 - room;
    if (missing > 0) for (let word = arc.right; word < names.length; word++) centers[word] += missing;
  }
  for (const arc of placed) arc.ends = arc.edge.map((word) => at(word, arc));
  const last = names.length - 1;
  return {
    arcs: placed,
    centers,
    half,
    levels: Math.max(0, ...placed.map((arc) => arc.level)),
    width: centers[last] + half[last] + SIZES.margin + SIZES.nested * depth,
  };
}

// Return the arcs at a word, from left to right.
function portsOf(arcs, word) {
  const toLeft = arcs.filter((arc) => arc.right === word);
  const toRight = arcs.filter((arc) => arc.left === word);
  toLeft.sort((one, other) => other.left - one.left || one.level - other.level);
  toRight.sort((one, other) => other.right - one.right || other.level - one.level);
  return [...toLeft, ...toRight];
}
