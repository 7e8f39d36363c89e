// Transitions step by step: the arc-standard derivation of the best projective tree.

TABLES.Configuration = ({ stack, buffer, action, edge }, names) => [
  ["stack", "buffer", "action", "edge"],
  [
    stack.map((node) => names[node]).join(" "),
    buffer.map((node) => names[node]).join(" "),
    action ?? "",
    edge ? edgeName(edge, names) : "",
  ],
];

function* transitions(problem, { single }) {
  const best = lastOf(eisner(problem, { single }));
  if (best.kind !== "tree") {
    yield best;
    return;
  }
  const heads = range(0, problem.n + 1).map((d) => (d ? null : -1));
  const stack = [0];
  const buffer = range(1, problem.n + 1);
  while (true) {
    const edge = nextEdge(best.heads, heads, stack);
    const shifts = edge === null;
    const action = !shifts ? (edge[0] > edge[1] ? "LEFT-ARC" : "RIGHT-ARC") : buffer.length ? "SHIFT" : null;
    const detail = { type: "Configuration", stack: [...stack], buffer: [...buffer], action, edge };
    if (action === null) {
      const text = "Only the root is left: this is the best projective tree, made by transitions.";
      yield problem.step("tree", text, { heads: [...heads], weight: best.weight, detail });
      return;
    }
    if (shifts) {
      const text = `SHIFT: ${problem.names[buffer[0]]} goes from the buffer to the stack.`;
      yield problem.step("shift", text, { heads: [...heads], detail });
      stack.push(buffer.shift());
      continue;
    }
    const [h, d] = edge;
    heads[d] = h;
    yield problem.step(
      action.toLowerCase(),
      `${action}: the edge ${problem.edge(edge)} joins the two nodes on top of the stack, and ` +
        `${problem.names[d]} leaves it.`,
      { heads: [...heads], looks_at: [edge], detail },
    );
    stack.splice(stack.lastIndexOf(d), 1);
  }
}

// Return the edge between the two nodes on top of the stack, if it is one of the tree and its
// dependent has all its children; otherwise null.
function nextEdge(tree, heads, stack) {
  const [s1, s0] = stack.slice(-2);
  if (s0 === undefined) return null;
  const isComplete = (node) => tree.every((h, d) => h !== node || heads[d] === h);
  if (tree[s1] === s0 && isComplete(s1)) return [s0, s1];
  if (tree[s0] === s1 && isComplete(s0)) return [s1, s0];
  return null;
}
