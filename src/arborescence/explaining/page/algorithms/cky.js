// CKY step by step: the best derivation of a sentence by its bilexical grammar.

TABLES.Constituents = ({ constituents }, names) => [
  ["constituent", "weight", "rule", "of"],
  ...constituents.map(({ first, last, head, weight, rule, parts }) => [
    constituentName([first, last, head], names),
    weight === null ? "none" : numberName(weight),
    rule,
    parts.map((part) => constituentName(part, names)).join(" + "),
  ]),
];

function constituentName([first, last, head], names) {
  return head ? `B[${names[first]}, ${names[last]}, ${names[head]}]` : `S[${names[first]}, ${names[last]}]`;
}

// Return the rule of an edge as text: S → N_d, N_h → N_d N_h or N_h → N_h N_d.
function ruleName([h, d], names) {
  const right = h === 0 ? [d] : [h, d].sort((one, other) => one - other);
  return `${h ? `N_${names[h]}` : "S"} → ${right.map((v) => `N_${names[v]}`).join(" ")}`;
}

class ConstituentChart extends Chart {
  rule(item) {
    const [first, last, head] = item;
    const { names } = this.problem;
    const { edge } = this.way(item);
    if (first === last && last === head) return `N_${names[head]} → ${names[head]}`;
    return edge ? ruleName(edge, names) : "";
  }

  show(items) {
    const constituents = items.map((item) => {
      const [first, last, head] = item;
      return { first, last, head, weight: this.weight(item), rule: this.rule(item), parts: this.way(item).parts };
    });
    return { type: "Constituents", constituents };
  }

  tell(item) {
    return `${constituentName(item, this.problem.names)} was built by the rule ${this.rule(item)}.`;
  }
}

// Yield the ways to build a constituent: each place where it is split, and each dependent.
function* waysOfConstituent([first, last, head]) {
  if (head === 0) {
    for (const top of range(first, last + 1)) yield { parts: [[first, last, top]], edge: [0, top] };
    return;
  }
  for (const split of range(first, last)) {
    const [left, right] = [range(first, split + 1), range(split + 1, last + 1)];
    for (const d of head <= split ? right : left) {
      const [one, other] = head <= split ? [head, d] : [d, head];
      yield { parts: [[first, split, one], [split + 1, last, other]], split, edge: [head, d] };
    }
  }
}

function* cky(problem) {
  const chart = new ConstituentChart(problem);
  const { n } = problem;
  const words = range(1, n + 1);
  const alone = words.map((v) => [v, v, v]);
  const top = [1, n, 0];
  for (const item of [...alone, top]) chart.weights.set(String(item), 0n); // nothing to build if there are no words
  yield problem.step(
    "start",
    "The smallest constituents: each word v alone, by its rule N_v → v, which weighs nothing.",
    { detail: chart.show(alone) },
  );
  for (const width of range(1, n)) {
    for (const first of range(1, n + 1 - width)) yield fillConstituents(chart, first, first + width);
  }
  if (n) chart.fill(top, waysOfConstituent(top));
  for (const step of chart.readBack(top, true)) {
    if (step.kind !== "tree" || !n) {
      yield step;
      continue;
    }
    const text =
      `${step.text} The grammar has ${counted(orders(step.heads), "derivation")} of it: one for ` +
      "each order in which heads can take dependents from their two sides.";
    yield { ...step, text };
  }
}

// Fill the constituents over the words from first to last, one for each head.
function fillConstituents(chart, first, last) {
  const { problem } = chart;
  const inside = range(first, last + 1);
  const items = inside.map((head) => [first, last, head]);
  for (const item of items) chart.fill(item, waysOfConstituent(item));
  return problem.step(
    "fill",
    `The constituents from ${problem.names[first]} to ${problem.names[last]}, one with each of ` +
      "these words as its head. Each takes the split and the rule that give the most.",
    { looks_at: inside.flatMap((h) => inside.filter((d) => d !== h).map((d) => [h, d])), detail: chart.show(items) },
  );
}

// Return the number of derivations of a tree: of each head, how its two sides can be mixed.
function orders(heads) {
  let count = 1n;
  for (const h of heads.keys()) {
    const right = heads.filter((head, d) => head === h && d > h).length;
    const all = heads.filter((head) => head === h).length;
    for (const k of range(1, right + 1)) count = (count * BigInt(all - right + k)) / BigInt(k);
  }
  return Number(count);
}
