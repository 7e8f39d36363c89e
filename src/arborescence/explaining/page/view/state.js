// What the picture of a step shows: which arcs, with which weights, in which style.

// Return the arcs of step number `at`, and what else its picture needs.
function pictureOf(problem, steps, at) {
  const step = steps[at];
  const pairs = step.detail?.links ?? [];
  const weights = new Map([
    ...weightsOfStep(problem, step),
    ...pairs.map(({ one, other, weight }) => [`${one},${other}`, weight]),
  ]);
  const marks = marksOf(problem, steps, at);
  const arcs = [...marks].map(([key, kind]) => {
    const edge = key.split(",").map(Number);
    const weight = weights.get(key) ?? problem.floats[edge[0]][edge[1]];
    const label = [ownName(edge, problem.names), weight === null ? null : shortName(weight)];
    return { edge, kind, label: label.filter((text) => text != null).join(" ") };
  });
  return { arcs, nodes: step.nodes, spans: spansOf(steps, at), description: `Step ${at + 1}. ${step.text}` };
}

// The weights of the edges now: of contraction, those of the contracted graph.
function weightsOfStep(problem, step) {
  if (step.detail?.name === "marginal") {
    const rows = step.detail.rows;
    return new Map(problem.edges.map(([h, d]) => [`${h},${d}`, Number(rows[h][d].toFixed(3))]));
  }
  return new Map(step.edges.map((edge) => [String(edge.stands_for), edge.weight]));
}

// Return the style of each arc that is drawn, by its edge.
function marksOf(problem, steps, at) {
  const step = steps[at];
  const marks = new Map();
  const mark = (edges, kind) => edges.forEach((edge) => marks.set(String(edge), kind));
  const few = Math.max(12, 2 * problem.n);
  if (problem.edges.length <= few) {
    mark(step.edges.length ? step.edges.map((edge) => edge.stands_for) : problem.edges, "faint");
  }
  if (step.detail?.name === "marginal") {
    const { rows } = step.detail;
    mark(problem.edges.filter(([h, d]) => rows[h][d] >= 0.1), "faint");
    mark(problem.edges.filter(([h, d]) => rows[h][d] >= 0.5), "chosen");
    return marks;
  }
  if (step.detail?.links) {
    const { links, chosen, fates = [] } = step.detail;
    marks.clear();
    if (links.length <= few) mark(links.map(({ one, other }) => [one, other]), "faint undirected");
    mark(chosen, "chosen undirected");
    mark(step.looks_at, "looked undirected");
    mark(step.looks_at.filter((edge) => includes(chosen, edge)), "chosen looked undirected");
    const gone = links.filter((_, k) => fates[k]?.endsWith("goes"));
    if (gone.length <= few) mark(gone.map(({ one, other }) => [one, other]), "forbidden undirected");
    return marks;
  }
  mark(cyclesInside(steps, at), "inside");
  if (step.looks_at.length <= few && !step.detail?.cheapest) {
    mark(step.looks_at.filter((edge) => problem.has(edge)), "looked");
  }
  const chosen = step.chosen.length ? step.chosen.map((edge) => edge.stands_for) : edgesOf(step.heads);
  for (const edge of chosen) {
    marks.set(String(edge), marks.get(String(edge)) === "looked" ? "chosen looked" : "chosen");
  }
  if (step.detail?.cheapest) {
    mark(step.detail.cheapest.blue, "blue");
    mark(step.detail.cheapest.red, "red");
  }
  mark(step.required, "chosen required");
  mark(step.forbidden, "forbidden");
  return marks;
}

// Return the edges of the cycles within contracted nodes.
function cyclesInside(steps, at) {
  const cycles = new Map();
  for (const { detail } of steps.slice(0, at + 1)) {
    if (detail?.cycle) cycles.set(detail.node, detail.cycle.map((edge) => edge.stands_for));
  }
  const visit = (node) => [...(cycles.get(node.id) ?? []), ...node.members.flatMap(visit)];
  return steps[at].nodes.flatMap(visit);
}

// The cells of a chart that a step has, of Eisner's algorithm or of CKY; none of another algorithm.
const cellsOf = ({ detail }) => detail?.spans ?? detail?.constituents ?? [];

// The name of a cell: its first three fields, which parts have, too.
const cellName = (cell) => String(Object.values(cell).slice(0, 3));

const isAlone = ({ head, end, first, last }) => (first === undefined ? head === end : first === last);

// The rows of cells below the words. Of Eisner's algorithm: the name of what makes a span, its two
// parts, and the span below them. Of CKY: each constituent, and the parts of one that is opened.
function spansOf(steps, at) {
  const { kind, detail } = steps[at];
  const cells = kind === "chart" ? [] : cellsOf(steps[at]);
  const chart = chartOf(steps, at);
  const partsOf = (cell) => cell.parts.map((part) => chart.get(String(part)));
  if (detail?.spans) {
    const made = cells.filter((cell) => cell.parts.length);
    return made.flatMap((cell) => [
      { title: ruleName(Object.values(cell)), cells: partsOf(cell) },
      { title: "", cells: [cell] },
    ]);
  }
  const parts = kind === "back" ? partsOf(cells[0]) : [];
  return [...cells, ...parts].filter((cell) => !isAlone(cell)).map((cell) => ({ title: "", cells: [cell] }));
}

// Return the cells that are filled so far.
function chartOf(steps, at) {
  const filled = steps.slice(0, at + 1).filter(({ kind }) => ["start", "fill", "chart"].includes(kind));
  return new Map(filled.flatMap(cellsOf).map((cell) => [cellName(cell), cell]));
}
