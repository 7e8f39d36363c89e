// One root edge, step by step: Algorithm 1 of Zmigrod, Vieira and Cotterell (2020).

TABLES.Children = ({ children }, names) => [
  ["child of the root", "root edge", "weight", "other edge", "weight", "without it"],
  ...children.map(({ node, root_edge, other, without }) => [
    nodeName(node, names),
    edgeName(root_edge.stands_for, names),
    numberName(root_edge.weight),
    ...(other ? [...edgeCells(other, names).slice(0, 2), numberName(without)] : ["none", "", ""]),
  ]),
];

function* rootConstraint(problem) {
  const state = new Contraction(problem, { whole: true });
  if ((yield* contractCycles(state)) && (yield* constrain(state))) yield* expand(state);
}

// Reduce and optimize until one edge leaves the root; return whether there is such a tree. Each turn
// of the loop is a call of `constrain` in Algorithm 1, lines 9 to 16.
function* constrain(state) {
  const { problem } = state;
  while (problem.n) {
    const roots = state.tops.filter((x) => x && state.chosen.get(x).head === 0); // line 10
    yield state.step("root-edges", howMany(state, roots));
    if (roots.length === 1) break;
    yield state.step(
      "other-heads",
      "Without its root edge, each child of the root takes its best edge from elsewhere: the table " +
        "says what the greedy graph weighs then.",
      {
        looks_at: roots.flatMap((r) => otherEdges(state, r).map(cellOf)),
        detail: childrenOf(state, roots),
      },
    );
    let best = null; // line 12; on a tie the first child
    for (const r of roots) {
      const other = otherEdge(state, r);
      if (!other) continue;
      const change = other.gain - state.chosen.get(r).gain;
      if (best === null || change > best.change) best = { r, other, change };
    }
    if (best === null) {
      yield noTree(
        state,
        `${roots.length} edges leave the root, and none of their words has another head left: ` +
          "there is no tree with a single root edge.",
      );
      return false;
    }
    const { r, other } = best;
    const removed = state.chosen.get(r);
    state.chosen.set(r, other);
    const heaviest =
      `Without ${problem.edge(cellOf(removed))} the greedy graph weighs most, ` +
      numberName(problem.number(state.weight));
    const path = [state.top(other.head)];
    let end = path[0];
    while (end !== 0 && end !== r) path.push((end = state.above(end)));
    if (end === r) {
      // lines 13 and 14
      yield state.step(
        "reduction",
        `Reduction: ${heaviest}, but has a critical cycle, of ` +
          `${listed(path.map((x) => state.name(x)))}. It is contracted, and the root edges into it stay.`,
        { looks_at: [cellOf(other)] },
      );
      const x = yield* contract(state, path);
      state.chosen.set(x, state.best(x));
    } else {
      // lines 15 and 16
      yield state.step(
        "optimization",
        `Optimization: ${heaviest}, and has no cycle. So ${state.name(r)} takes ` +
          `${problem.edge(cellOf(other))}, and its root edges are deleted.`,
        { looks_at: [cellOf(other)], forbidden: state.forgetRootEdges(r) },
      );
    }
  }
  return true;
}

const otherEdges = (state, r) => state.entering.get(r).filter((entry) => entry.head > 0);

// Return the best edge into a node that does not come from the root.
const otherEdge = (state, r) => state.best(r, otherEdges(state, r));

function childrenOf(state, roots) {
  const children = roots.map((r) => {
    const entry = state.chosen.get(r);
    const other = otherEdge(state, r);
    return {
      type: "Child",
      node: state.node(r),
      root_edge: state.shown(r, entry),
      other: other && state.shown(r, other),
      without: other && state.problem.number(state.weight - entry.gain + other.gain),
    };
  });
  return { type: "Children", children };
}

function howMany(state, roots) {
  if (roots.length === 1) return "One edge leaves the root, as it must.";
  const names = listed(roots.map((r) => state.name(r)));
  return `${roots.length} edges leave the root, to ${names}, and only one may.`;
}
