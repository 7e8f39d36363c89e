// Chu-Liu-Edmonds step by step: greedy graph, critical cycles, contraction, expansion.

TABLES.Contracted = ({ record }, names) => TABLES.Record(record, names);

TABLES.Cast = (detail, names) => [
  ["cast as", "edge", "weight", "breaks the cycle at"],
  ...detail.entering.map((edge) => [
    "enter", ...edgeCells(edge, names).slice(0, 2), names[edge.stands_for[1]],
  ]),
  ...["exit", "external", "dead"].map((kind) => {
    const edges = detail[kind];
    const few = edges.length <= MANY ? edgesName(edges, names) : counted(edges.length, "edge");
    return [kind, few || "none", "", ""];
  }),
];

function* chuLiuEdmonds(problem) {
  const state = new Contraction(problem);
  if (yield* contractCycles(state)) yield* expand(state);
}

// Take the greedy graph and contract its cycles; return whether there is a tree.
function* contractCycles(state) {
  const { problem } = state;
  if (!(yield* takeBestHeads(state))) return false;
  const done = new Set([0]);
  for (const word of range(1, problem.n + 1)) {
    let x = state.top(word);
    const path = [];
    while (!done.has(x)) {
      if (!path.includes(x)) {
        path.push(x);
        x = state.above(x);
        continue;
      }
      const cycle = path.splice(path.indexOf(x));
      const names = [...cycle, cycle[0]].map((member) => state.name(member)).join(" ← ");
      yield state.step(
        "cycle",
        `The best edges of ${listed(cycle.map((member) => state.name(member)))} form a cycle: ` +
          `${names}. It is critical: some best tree has all of its edges except one.`,
        { looks_at: cycle.map((member) => cellOf(state.chosen.get(member))) },
      );
      x = yield* contract(state, cycle);
      const best = state.best(x);
      if (best === null) {
        yield noTree(state, `No edge enters ${state.name(x)}, so there is no tree.`);
        return false;
      }
      state.chosen.set(x, best);
      yield state.step(
        "best-edge",
        `The best edge into ${state.name(x)} is ${problem.edge(cellOf(best))}, with the new weight ` +
          `${numberName(problem.number(best.gain))}. It would replace ` +
          `${problem.edge(best.kicksOut[best.kicksOut.length - 1])}.`,
        { looks_at: [cellOf(best)] },
      );
    }
    for (const node of path) done.add(node);
  }
  if (state.members.size) {
    let text = "No cycle is left: the chosen edges form a tree.";
    if (state.whole) {
      text +=
        ` It weighs ${numberName(problem.number(state.weight))}, as much as the best tree of the ` +
        "graph before, with any number of root edges (Theorem 1).";
    }
    yield state.step("acyclic", text);
  }
  return true;
}

// Make the greedy graph; return whether each word has a head.
function* takeBestHeads(state) {
  const { problem } = state;
  const headless = [];
  for (const d of range(1, problem.n + 1)) {
    const best = state.best(d);
    if (best === null) headless.push(d);
    else state.chosen.set(d, best);
  }
  if (problem.n) {
    const text = "Each word takes its best head: this is the greedy graph.";
    yield state.step("greedy", text, { looks_at: problem.edges });
  }
  if (headless.length) {
    yield noTree(state, `No edge enters ${problem.listed(headless)}, so there is no tree.`);
  }
  return !headless.length;
}

// Contract a cycle of chosen edges; return the new node.
function* contract(state, cycle) {
  const edges = cycle.map((member) => state.shown(member, state.chosen.get(member)));
  const others = state.tops.slice(1).flatMap((y) =>
    state.entering.get(y).map((entry) => {
      return { edge: cellOf(entry), from: cycle.includes(state.top(entry.head)), to: cycle.includes(y) };
    }),
  );
  const x = state.contract(cycle);
  const ranked = [...state.entering.get(x)].sort(
    (one, other) => compare(other.gain, one.gain) || compareLists(cellOf(one), cellOf(other)),
  );
  const entering = ranked.map((entry) => state.shown(x, entry));
  let detail = { type: "Contracted", node: x, cycle: edges, entering, record: state.whole ? null : state.record(ranked) };
  let rule = "minus that of the edge that it kicks out of the cycle";
  if (state.whole) {
    const cast = (from, to) => others.filter((o) => o.from === from && o.to === to).map((o) => o.edge);
    const casts = { exit: cast(true, false), external: cast(false, false), dead: cast(true, true) };
    detail = { ...detail, type: "Cast", ...casts };
    rule = "plus that of the cycle without its edge into the same word";
  }
  yield state.step(
    "contract",
    `The cycle becomes the node ${state.name(x)}. ${counted(entering.length, "edge")} ` +
      `${entering.length === 1 ? "enters" : "enter"} it: the new weight of each is its weight ` +
      `${rule}.`,
    { looks_at: ranked.map(cellOf), detail },
  );
  return x;
}

// Open the contracted nodes, the last one first, and yield the tree.
function* expand(state) {
  const { problem } = state;
  for (const x of [...state.members.keys()].sort((a, b) => b - a)) {
    const name = state.name(x);
    const edge = cellOf(state.chosen.get(x));
    const [entered, kicked] = state.open(x);
    yield state.step(
      "expand",
      `The node ${name} is opened. ${problem.edge(edge)} enters it at ${state.name(entered)} and ` +
        `replaces ${problem.edge(kicked)}; the other edges of the cycle stay.`,
      { looks_at: [edge, kicked] },
    );
  }
  const heads = range(0, problem.n + 1).map((d) => (d ? state.chosen.get(d).head : -1));
  const weight = problem.number(problem.weight(heads));
  yield state.step("tree", `This is the best tree, of weight ${numberName(weight)}.`, { heads, weight });
}

const noTree = (state, why) => state.step("no-tree", why);
