// Eisner's algorithm step by step: the chart of spans, and the way back by its pointers.

TABLES.Spans = ({ spans }, names) => [
  ["span", "weight", "of"],
  ...spans.map(({ kind, head, end, weight, parts }) => [
    spanName([kind, head, end], names),
    weight === null ? "none" : numberName(weight),
    parts.map((part) => spanName(part, names)).join(" + "),
  ]),
];

function spanName([kind, head, end], names) {
  return `${kind === "complete" ? "C" : "I"}[${names[head]}, ${names[end]}]`;
}

// The best weight of each span, exactly, and its back pointers.
class Chart {
  constructor(problem, single) {
    this.problem = problem;
    this.single = single;
    this.weights = new Map();
    this.splits = new Map();
  }

  // Return the two parts of a span.
  parts([kind, head, end], split) {
    if (kind === "complete") return [["incomplete", head, split], ["complete", split, end]];
    return [["complete", Math.min(head, end), split], ["complete", Math.max(head, end), split + 1]];
  }

  // Return the places where a span's parts can meet.
  places([kind, head, end]) {
    if (kind === "complete") return head < end ? range(head + 1, end + 1) : range(end, head);
    if (this.single && head === 0) return [0]; // all words before the only child are below it
    return range(Math.min(head, end), Math.max(head, end));
  }

  // Find the best way to build a span; on a tie, the leftmost split.
  fill(item) {
    const [kind, head, end] = item;
    const added = kind === "incomplete" ? this.problem.scores[head][end] : 0n;
    let best = null;
    for (const split of this.places(item)) {
      const [one, other] = this.parts(item, split).map((part) => this.weights.get(String(part)));
      if (one === null || other === null || added === null) continue;
      const weight = one + other + added;
      if (best === null || weight > best) {
        best = weight;
        this.splits.set(String(item), split);
      }
    }
    this.weights.set(String(item), best);
    return this.span(item);
  }

  // Return a span as steps show it.
  span(item) {
    const [kind, head, end] = item;
    const weight = this.weights.get(String(item));
    const split = this.splits.get(String(item)) ?? null;
    const parts = split === null ? [] : this.parts(item, split);
    return { kind, head, end, weight: weight === null ? null : this.problem.number(weight), split, parts };
  }
}

function* eisner(problem, { single }) {
  const chart = new Chart(problem, single);
  const { n } = problem;
  const alone = range(0, n + 1).map((i) => ["complete", i, i]);
  for (const item of alone) chart.weights.set(String(item), 0n);
  yield problem.step(
    "start",
    "The smallest complete spans: each word alone, and the root alone. They weigh nothing.",
    { detail: { type: "Spans", spans: alone.map((item) => chart.span(item)) } },
  );
  for (const width of range(1, n + 1)) {
    for (const i of range(0, n + 1 - width)) yield fillSpans(chart, i, i + width);
  }
  const top = ["complete", 0, n];
  if (chart.weights.get(String(top)) === null) {
    yield problem.step(
      "no-tree",
      "No span covers the whole sentence, so there is no projective tree" +
        `${single ? " with a single root edge" : ""}.`,
      { detail: { type: "Spans", spans: [chart.span(top)] } },
    );
    return;
  }
  yield* readBack(chart, top);
}

// Fill the spans from i to j: the two edges between the ends, then the complete spans.
function fillSpans(chart, i, j) {
  const { problem } = chart;
  // No edge enters the root.
  const cells = i === 0 ? [[i, j]] : [[i, j], [j, i]];
  const items = ["incomplete", "complete"].flatMap((kind) => cells.map((ends) => [kind, ...ends]));
  const spans = items.map((item) => chart.fill(item));
  return problem.step(
    "fill",
    `The spans from ${problem.names[i]} to ${problem.names[j]}: first those with an edge between ` +
      "the two, then those of which one is the head. Each takes the place to split it that gives " +
      "the most.",
    { looks_at: cells, detail: { type: "Spans", spans } },
  );
}

// Follow the back pointers from the whole sentence, and yield the tree.
function* readBack(chart, top) {
  const { problem } = chart;
  const heads = range(0, problem.n + 1).map((d) => (d ? null : -1));
  const waiting = [top];
  while (waiting.length) {
    const item = waiting.pop();
    const [kind, head, end] = item;
    if (!chart.splits.has(String(item))) continue; // a node alone
    const span = chart.span(item);
    const name = spanName(item, problem.names);
    const isEdge = kind === "incomplete";
    if (isEdge) heads[end] = head;
    yield problem.step(
      "back",
      isEdge ? `${name} is the edge ${problem.edge([head, end])}.` : `${name} was built of two parts.`,
      {
        heads: [...heads],
        looks_at: isEdge ? [[head, end]] : [],
        detail: { type: "Spans", spans: [span] },
      },
    );
    waiting.push(...span.parts.toReversed());
  }
  const weight = problem.number(problem.weight(heads));
  const text = `This is the best projective tree, of weight ${numberName(weight)}.`;
  yield problem.step("tree", text, { heads: [...heads], weight });
}
