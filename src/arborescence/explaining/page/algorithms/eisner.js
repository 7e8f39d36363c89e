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
    const [name, { edge }] = [spanName(item, this.problem.names), this.way(item)];
    return edge ? `${name} is the edge ${this.problem.edge(edge)}.` : `${name} was built of two parts.`;
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
    "The smallest complete spans: each word alone, and the root alone. They weigh nothing.",
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
  return problem.step(
    "fill",
    `The spans from ${problem.names[i]} to ${problem.names[j]}: first those with an edge between ` +
      "the two, then those of which one is the head. Each takes the place to split it that gives " +
      "the most.",
    { looks_at: cells, detail: chart.show(items) },
  );
}
