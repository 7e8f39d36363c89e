// Exercises on Eisner's chart, on transitions, and on the second best tree. What is known is shown in a
// step of its own; `open` says that its chart, or its stack, is shown, too.

function whatASpanWeighs(problem, random) {
  const chart = [];
  const found = [];
  for (const step of eisner(problem, { single: true })) {
    if (step.kind !== "start" && step.kind !== "fill") break;
    const known = [...chart];
    for (const span of step.detail.spans) {
      const asked = span.kind === "incomplete" && spanAsked(problem, span, known);
      const detail = { type: "Spans", spans: known };
      const parts = { detail, looks_at: [[span.head, span.end]] };
      if (asked) found.push({ steps: [problem.step("chart", "The chart so far.", parts)], at: 0, open: true, ...asked });
    }
    chart.push(...step.detail.spans);
  }
  return found.length ? found[random() % found.length] : null;
}

function spanAsked(problem, { kind, head, end, weight }, chart) {
  const { names } = problem;
  const item = [kind, head, end];
  const known = new Map(chart.map((span) => [cellName(span), span.weight]));
  const ways = waysOfSpan(item, true).flatMap(({ parts }) => {
    const [one, other] = parts.map((part) => known.get(String(part)));
    return one === null || other === null ? [] : [{ sum: one + other, one, other, parts }];
  });
  if (weight === null || ways.length < 2) return null;
  const best = ways.reduce((one, other) => (other.sum > one.sum ? other : one));
  const score = problem.floats[head][end];
  const worse = Math.min(...ways.map((way) => way.sum)) + score;
  const options = [...new Set([best.sum + score, best.sum, worse, score])].sort((a, b) => a - b);
  if (options.length < 4) return null;
  const rule = ruleName(item);
  const [left, right] = best.parts.map((part) => spanName(part, names));
  const numbers = [best.one, best.other, score].map(numberName).join(" + ");
  const mistakes = new Map([
    [best.sum, `That is what the two parts weigh: the edge ${edgeName([head, end], names)} comes in, too.`],
    [worse, "Another split weighs more."],
    [score, "That is the edge alone: what do the two parts weigh?"],
  ]);
  return {
    question: `${rule[0].toUpperCase()}${rule.slice(1)}: what does ${spanName(item, names)} weigh?`,
    answer:
      `${numberName(weight)}: of all splits, ${left} + ${right} weigh most, and the edge ` +
      `${problem.edge([head, end])} comes in: ${numbers} = ${numberName(weight)}.`,
    options,
    isRight: (number) => number === weight,
    wrong: (number) => mistakes.get(number),
  };
}

function whichActionComes(problem, random) {
  const best = [...eisner(problem, { single: true })].at(-1);
  if (best.kind !== "tree") return null;
  const tree = edgesOf(best.heads);
  const scores = problem.floats.map((row, h) => row.map((_, d) => (includes(tree, [h, d]) ? 1 : null)));
  const only = new Problem(scores, problem.names);
  const steps = [...transitions(only, { single: true })].slice(0, -1);
  const places = range(0, steps.length - 1).filter((place) => steps[place].detail.stack.length > 1);
  const at = places[random() % places.length];
  const action = steps[at + 1].kind.toUpperCase();
  return {
    problem: only, steps, at, open: true,
    question:
      "The graph has only the edges of the tree. An edge is added as soon as its dependent has all of its " +
      "own dependents. Which action comes next?",
    answer: `${action}: ${whyAction(only, steps[at], action)}`,
    options: ["SHIFT", "LEFT-ARC", "RIGHT-ARC"],
    isRight: (given) => given === action,
    wrong: (given) => whyNotAction(only, steps[at], action, given),
  };
}

function edgeOfAction({ detail }, action) {
  const [below, top] = detail.stack.slice(-2);
  return action === "LEFT-ARC" ? [top, below] : [below, top];
}

function whyAction(tree, step, action) {
  const edge = edgeOfAction(step, action);
  const name = tree.names[edge[1]];
  if (action !== "SHIFT") return `${tree.edge(edge)} is in the tree, and ${name} has all of its own dependents.`;
  if (edge[1] && tree.has(edge)) return `${tree.edge(edge)} is in the tree, but ${name} still lacks a dependent.`;
  return "no edge of the tree joins the two nodes on top of the stack.";
}

function whyNotAction(tree, step, action, given) {
  if (given === "SHIFT") return `An edge can be added: ${whyAction(tree, step, action)}`;
  const edge = edgeOfAction(step, given);
  if (edge[1] === 0) return "No edge enters the root.";
  return tree.has(edge) ? `It is too early: ${whyAction(tree, step, action)}` : `The tree has no edge ${tree.edge(edge)}.`;
}

function whichEdgeGoes(problem) {
  const best = bestTree(problem);
  if (!best) return null;
  const edges = edgesOf(best.heads);
  const without = (edge) => bestTree(problem.restricted([], [edge], false));
  const others = edges
    .map((edge) => ({ edge, tree: without(edge) }))
    .filter(({ tree }) => tree)
    .sort((one, other) => other.tree.weight - one.tree.weight);
  if (others.length < 2) return null;
  const [{ edge: gone, tree: second }, third] = others;
  if (!(best.weight > second.weight && second.weight > third.tree.weight)) return null;
  const fresh = edgesOf(second.heads).filter((edge) => !includes(edges, edge));
  if (fresh.length !== 1) return null;
  return {
    steps: [problem.step("asked", "The best tree.", { heads: best.heads })], at: 0,
    question:
      `The best tree, with any number of root edges, weighs ${numberName(best.weight)}. ` +
      "Which of its edges does the second best tree lack?",
    answer:
      `${problem.edge(gone)}: ${problem.edge(fresh[0])} takes its place, and the tree weighs ` +
      `${numberName(second.weight)}. Without another edge, it weighs less.`,
    options: [],
    isRight: (edge) => same(edge, gone),
    wrong: (edge) => {
      const name = problem.edge(edge);
      if (!includes(edges, edge)) return `${name} is not an edge of the best tree.`;
      const other = others.find((one) => same(one.edge, edge));
      if (!other) return `Without ${name} there is no tree.`;
      return `Without ${name}, the best tree weighs ${numberName(other.tree.weight)}: another edge costs less.`;
    },
  };
}

// Return the last step to the best tree, with any number of root edges; null if there is none.
function bestTree(problem) {
  const last = [...chuLiuEdmonds(problem)].at(-1);
  return last.kind === "tree" ? last : null;
}
