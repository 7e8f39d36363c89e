// Eisner's algorithm step by step: the chart of spans, and the way back by its pointers.

TABLES.Spans = ({ spans }, names) => [
  ["made by", "span", "weight", "of"],
  ...spans.map(({ kind, head, end, weight, parts }) => [
    head === end ? "" : `${kind === "complete" ? kind : "attach"} ${sideOf([kind, head, end])}`,
    spanName([kind, head, end], names),
    weightName(weight),
    parts.map((part) => spanName(part, names)).join(" + "),
  ]),
];

function spanName([kind, head, end], names) {
  return `${kind === "complete" ? "C" : "I"}[${names[head]}, ${names[end]}]`;
}

// The side of its head on which a span lies.
const sideOf = ([, head, end]) => (end < head ? "left" : "right");

// The lecture's name of what makes a span.
const ruleName = (item) =>
  item[0] === "complete" ? `complete a ${sideOf(item)} child` : `attach a ${sideOf(item)} dependent`;

const weightName = (weight) => (weight === null ? "none" : numberName(weight));

class SpanChart extends Chart {
  show(items) {
    const spans = items.map((item) => {
      const [kind, head, end] = item;
      const { split, parts } = this.way(item);
      return { kind, head, end, weight: this.weight(item), split: split ?? null, parts };
    });
    return { type: "Spans", spans };
  }

  tell(item) {
    const { names } = this.problem;
    const { edge, parts } = this.way(item);
    const [one, other] = parts.map((part) => spanName(part, names));
    const by = edge ? ` by ${this.problem.edge(edge)}` : "";
    return `${spanName(item, names)}: ${ruleName(item)}${by}, of ${one} and ${other}.`;
  }
}

// Return the ways to build a span: one for each place where its two parts can meet.
function waysOfSpan([kind, head, end], single) {
  const [low, high] = [Math.min(head, end), Math.max(head, end)];
  if (kind === "complete") {
    const splits = head < end ? range(head + 1, end + 1) : range(end, head);
    return splits.map((split) => ({ parts: [["incomplete", head, split], ["complete", split, end]], split }));
  }
  // With a single root edge, all words before the only child are below it.
  const splits = single && head === 0 ? [0] : range(low, high);
  return splits.map((split) => ({
    parts: [["complete", low, split], ["complete", high, split + 1]],
    split,
    edge: [head, end],
  }));
}

function* eisner(problem, { single }) {
  const chart = new SpanChart(problem);
  const { n } = problem;
  const alone = range(0, n + 1).map((i) => ["complete", i, i]);
  for (const item of alone) chart.weights.set(String(item), 0n);
  yield problem.step(
    "start",
    "Initialization: the root alone and each word alone are triangles (complete spans) of weight 0. " +
      "Then longer spans are made of shorter ones. Attach: two triangles and an edge make a trapezoid " +
      "(an incomplete span). Complete: a trapezoid and a triangle make a triangle. Each takes the split " +
      "that gives the most.",
    { detail: chart.show(alone) },
  );
  for (const width of range(1, n + 1)) {
    for (const i of range(0, n + 1 - width)) yield fillSpans(chart, i, i + width, single);
  }
  yield* chart.readBack(["complete", 0, n], single);
}

// Fill the spans from i to j: the two edges between the ends, then the complete spans.
function fillSpans(chart, i, j, single) {
  const { problem } = chart;
  // No edge enters the root.
  const cells = i === 0 ? [[i, j]] : [[i, j], [j, i]];
  const items = ["incomplete", "complete"].flatMap((kind) => cells.map((ends) => [kind, ...ends]));
  for (const item of items) chart.fill(item, waysOfSpan(item, single));
  const weights = items.map((item) => weightName(chart.weight(item)));
  const edges = cells.map((cell, k) => `${problem.edge(cell)} ${weights[k]}`);
  const heads = cells.map(([h], k) => `head ${problem.names[h]} ${weights[cells.length + k]}`);
  const goal = i === 0 && j === problem.n ? ", the goal" : "";
  return problem.step(
    "fill",
    `From ${problem.names[i]} to ${problem.names[j]}${goal}. Attach: ${edges.join(", ")}. ` +
      `Complete: ${heads.join(", ")}.`,
    { looks_at: cells, detail: chart.show(items) },
  );
}
