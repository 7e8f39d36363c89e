// Transitions step by step: the derivation of the best tree by a static oracle.

// The number of actions in a row of the table.
const IN_A_ROW = 6;

TABLES.Configuration = ({ stack, buffer, actions }, names) => {
  const shown = (nodes) => nodes.map((node) => names[node]).join(" ");
  const parts = range(0, Math.ceil(actions.length / IN_A_ROW)).map((k) =>
    actions.slice(k * IN_A_ROW, (k + 1) * IN_A_ROW).join(" "),
  );
  const [first = "", ...others] = parts;
  return [["stack", "buffer", "actions"], [shown(stack), shown(buffer), first], ...others.map((part) => ["", "", part])];
};

function* transitions(problem, { single }) {
  const best = [...eisner(problem, { single })].at(-1);
  if (best.kind !== "tree") {
    yield best;
    return;
  }
  const heads = range(0, problem.n + 1).map((d) => (d ? null : -1));
  let detail = { type: "Configuration", stack: [0], buffer: range(1, problem.n + 1), actions: [] };
  const parts = (looks_at) => ({ heads: [...heads], looks_at, detail });
  yield problem.step("start", "The stack has the root, and the buffer all words.", parts([]));
  for (let next; (next = nextAction(detail, best.heads, heads)); ) {
    const { action, edge } = next;
    let text = `${action}: `;
    if (edge) {
      heads[edge[1]] = edge[0];
      text += `the edge ${problem.edge(edge)} joins the two nodes on top of the stack, and ${problem.names[edge[1]]} leaves the stack.`;
    } else {
      text += `${problem.names[detail.buffer[0]]} goes from the buffer to the stack.`;
    }
    detail = after(detail, next);
    yield problem.step(action.toLowerCase(), text, parts(edge ? [edge] : []));
  }
  const text = "Only the root is left: these transitions make the best projective tree.";
  yield problem.step("tree", text, { ...parts([]), weight: best.weight });
}

// Return what the static oracle does next to build a tree, and the edge that it adds; null at the end.
function nextAction({ stack, buffer }, tree, heads) {
  const [below, top] = stack.slice(-2);
  const isDone = (word) => tree.every((h, d) => h !== word || heads[d] === word);
  if (top !== undefined && tree[below] === top && isDone(below)) return { action: "LEFT-ARC", edge: [top, below] };
  if (top !== undefined && tree[top] === below && isDone(top)) return { action: "RIGHT-ARC", edge: [below, top] };
  return buffer.length ? { action: "SHIFT", edge: null } : null;
}

// Return the state after an action.
function after({ type, stack, buffer, actions }, { action, edge }) {
  const [front, ...rest] = buffer;
  return {
    type,
    stack: edge ? stack.filter((node) => node !== edge[1]) : [...stack, front],
    buffer: edge ? buffer : rest,
    actions: [...actions, action],
  };
}
