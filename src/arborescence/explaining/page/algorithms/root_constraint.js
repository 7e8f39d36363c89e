// One root edge, step by step: Algorithm 1 of Zmigrod, Vieira and Cotterell (2020).

TABLES.Children = ({ children }, names) => [
  ["child of the root", "root edge", "weight", "other edge", "weight", "loss"],
  ...children.map(({ node, root_edge, other, loss }) => [
    nodeName(node, names),
    edgeName(root_edge.stands_for, names),
    numberName(root_edge.weight),
    ...(other ? [...edgeCells(other, names).slice(0, 2), numberName(loss)] : ["none", "", ""]),
  ]),
];

function* rootConstraint(problem, { recorded = true } = {}) {
  const state = new Contraction(problem, { recorded });
  if ((yield* contractCycles(state)) && (yield* leaveOneRootEdge(state))) yield* expand(state);
}

// Reduce and optimize until one edge leaves the root; return whether there is such a tree.
function* leaveOneRootEdge(state) {
  if (!state.problem.n) return true;
  const roots = state.tops.filter((x) => x && state.chosen.get(x).head === 0);
  yield state.step("root-edges", howMany(state, roots), { detail: childrenOf(state, roots) });
  while (roots.length > 1) {
    for (const k of roots.keys()) roots[k] = yield* reduce(state, roots[k]);
    yield state.step(
      "other-heads",
      "The other head of each child of the root is its best head that is not the root. Each one " +
        "that exists is now below another child, so any child that has one can take it.",
      {
        looks_at: roots.flatMap((r) => otherEdges(state, r).map(cellOf)),
        detail: childrenOf(state, roots),
      },
    );
    let least = null;
    for (const r of roots) {
      const other = otherEdge(state, r);
      if (!other) continue;
      const loss = state.chosen.get(r).gain - other.gain;
      if (least === null || loss < least.loss) least = { r, loss }; // on a tie the first one
    }
    if (least === null) {
      yield noTree(
        state,
        `${roots.length} edges leave the root, and none of their words has another head left: ` +
          "there is no tree with a single root edge.",
      );
      return false;
    }
    yield* optimize(state, roots, least.r, state.problem.number(least.loss));
  }
  return true;
}

// Contract while a child's other head is below the child itself; return its node then.
function* reduce(state, r) {
  const { problem } = state;
  while (true) {
    const other = otherEdge(state, r);
    if (other === null) return r;
    const path = [state.top(other.head)];
    let end = path[0];
    while (end !== 0 && end !== r) path.push((end = state.above(end)));
    if (end === 0) return r;
    yield state.step(
      "reduction",
      `Reduction: the other head of ${state.name(r)}, by ${problem.edge(cellOf(other))}, is below ` +
        `${state.name(r)} itself. Without the root edge this would be a critical cycle, of ` +
        `${listed(path.map((x) => state.name(x)))}: it is contracted.`,
      { looks_at: otherEdges(state, r).map(cellOf) },
    );
    state.chosen.set(r, other);
    r = yield* contract(state, path);
    const fromRoot = state.best(r, state.entering.get(r).filter((entry) => entry.head === 0));
    state.chosen.set(r, fromRoot);
    yield state.step(
      "root-edge",
      `${state.name(r)} is still a child of the root, by ${problem.edge(cellOf(fromRoot))}.`,
      { looks_at: [cellOf(fromRoot)] },
    );
  }
}

// Give a child of the root its other head, and delete its root edges.
function* optimize(state, roots, r, loss) {
  const other = otherEdge(state, r);
  state.chosen.set(r, other);
  const forbidden = state.forgetRootEdges(r);
  roots.splice(roots.indexOf(r), 1);
  yield state.step(
    "optimization",
    `Optimization: ${state.name(r)} loses least, ${numberName(loss)}. It takes its other head, by ` +
      `${state.problem.edge(cellOf(other))}, and no edge from the root may enter it again. ` +
      howMany(state, roots),
    { looks_at: [cellOf(other)], forbidden, detail: childrenOf(state, roots) },
  );
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
      loss: other && state.problem.number(entry.gain - other.gain),
    };
  });
  return { type: "Children", children };
}

function howMany(state, roots) {
  if (roots.length === 1) return "One edge leaves the root, as it must.";
  const names = listed(roots.map((r) => state.name(r)));
  return `${roots.length} edges leave the root, to ${names}, and only one may.`;
}
