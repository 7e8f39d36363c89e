// Exercises, made from a seed: the same ones as in Python (`exercises.py`), and what is said to an
// answer. The page's text has no answers: they are computed when the reader answers.

const SENTENCES = [
  ["birds", "sing", "songs"],
  ["we", "wash", "our", "cats"],
  ["cats", "chase", "mice", "at", "night"],
];

// Random graphs are drawn until one has a state that the question can be asked of.
function makeExercise(seed) {
  const random = randomNumbers(seed);
  const questions = [
    between(chuLiuEdmonds, askWhatEnters), between(chuLiuEdmonds, askWhatItWeighs),
    between(rootConstraint, askWhichRootEdgeGoes), whatASpanWeighs, whichActionComes, whichEdgeGoes,
  ];
  while (true) {
    const problem = randomGraph(random);
    const asked = questions[seed % questions.length](problem, random);
    if (asked) return { seed, problem, ...asked };
  }
}

// Return a question on the first two steps of an algorithm that it can be asked of.
const between = (algorithm, ask) => (problem, random) => {
  const steps = [...algorithm(problem)];
  for (const at of range(0, steps.length - 1)) {
    const asked = ask(problem.names, steps[at], steps[at + 1], random);
    if (asked) return { steps, at, ...asked };
  }
  return null;
};

// Return a function that gives random 32-bit integers (mulberry32).
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

function randomGraph(random) {
  const words = SENTENCES[random() % 3];
  const nodes = range(0, words.length + 1);
  const scores = nodes.map(() => nodes.map(() => null));
  for (const h of nodes) {
    for (const d of nodes.slice(1)) {
      const score = 1 + (random() % 99);
      const present = random() % 5 > 0;
      if (h !== d && present) scores[h][d] = score;
    }
  }
  return new Problem(scores, ["root", ...words]);
}

function askWhatEnters(names, before, after) {
  const detail = contractionOf(before, after);
  if (!detail || detail.entering[0].weight === detail.entering[1].weight) return null;
  const best = detail.entering[0];
  return {
    question: `${becomes(names, before, detail)} Which edge is the best one into it?`,
    answer:
      `${edgeName(best.stands_for, names)}: ${difference(names, before, best)}. Each other edge into ` +
      "the node weighs less.",
    options: [],
    isRight: (edge) => same(edge, best.stands_for),
    wrong: (edge) => whyNotBest(names, before, detail, edge),
  };
}

function whyNotBest(names, before, detail, edge) {
  const entering = detail.entering.find((other) => same(other.stands_for, edge));
  if (entering) {
    const why = difference(names, before, entering);
    return `${edgeName(edge, names)} enters the node, but another edge weighs more: ${why}.`;
  }
  if (!before.edges.some((other) => same(other.stands_for, edge))) {
    return `There is no edge ${edgeName(edge, names)} in the graph now.`;
  }
  const inCycle = (word) =>
    before.nodes.some((node) => wordsOf(node).includes(word) && detail.cycle.some((e) => e.dependent === node.id));
  if (!inCycle(edge[1])) return `${names[edge[1]]} is not in the cycle, so this edge does not enter it.`;
  return `${names[edge[0]]} is in the cycle itself, so this edge does not enter it.`;
}

function askWhatItWeighs(names, before, after, random) {
  const detail = contractionOf(before, after);
  if (!detail) return null;
  const entering = detail.entering[random() % detail.entering.length];
  const [weight, kicked] = weightsBefore(before, entering);
  const options = [...new Set([weight - kicked, weight, weight + kicked, kicked - weight])];
  if (options.length < 4) return null;
  const out = edgeName(entering.kicks_out[entering.kicks_out.length - 1], names);
  const mistakes = new Map([
    [weight, `That is what it weighs before. It kicks out ${out}, and loses what that weighs.`],
    [weight + kicked, `It kicks ${out} out: the tree loses that edge, so its weight is subtracted.`],
    [kicked - weight, `The other way round: what ${out} weighs is subtracted.`],
  ]);
  return {
    question: `${becomes(names, before, detail)} What does ${edgeName(entering.stands_for, names)} weigh then?`,
    answer: `${numberName(weight - kicked)}: ${difference(names, before, entering)}.`,
    options: options.sort((a, b) => a - b),
    isRight: (number) => number === weight - kicked,
    wrong: (number) => mistakes.get(number),
  };
}

function askWhichRootEdgeGoes(names, before, after) {
  if (after.kind !== "optimization") return null;
  const { children } = before.detail;
  const ranked = children
    .filter((child) => child.without !== null)
    .sort((one, other) => other.without - one.without);
  if (ranked.length < 2 || ranked[0].without === ranked[1].without) return null;
  const goes = ranked[0];
  const weighs = ({ node, other, without }) =>
    `without it, ${nodeName(node, names)} takes ${edgeName(other.stands_for, names)}, and the chosen ` +
    `edges weigh ${numberName(without)}`;
  return {
    question: `${children.length} edges leave the root. Which of them goes first?`,
    answer:
      `${edgeName(goes.root_edge.stands_for, names)}: ${weighs(goes)}. Without another root edge they ` +
      "weigh less, or there is no other head.",
    options: [],
    isRight: (edge) => same(edge, goes.root_edge.stands_for),
    wrong: (edge) => {
      const name = edgeName(edge, names);
      const child = children.find((other) => same(other.root_edge.stands_for, edge));
      if (!child) return `${name} is not an edge that leaves the root now and is chosen.`;
      if (child.without === null) return `${name} must stay: ${nodeName(child.node, names)} has no other head.`;
      return `${name}: ${weighs(child)}. Without another root edge they weigh more.`;
    },
  };
}

// Return how a cycle is contracted in the second step, if two edges or more enter it.
function contractionOf(before, after) {
  const { detail } = after;
  return before.kind === "cycle" && detail?.type === "Contracted" && detail.entering.length > 1 ? detail : null;
}

function becomes(names, before, detail) {
  const nodes = new Map(before.nodes.map((node) => [node.id, nodeName(node, names)]));
  const cycle = listed(detail.cycle.map((edge) => nodes.get(edge.dependent)));
  return `The best edges of ${cycle} form a cycle, which becomes one node.`;
}

// Return what an edge into the cycle weighs before, and the edge that it kicks out.
function weightsBefore(before, entering) {
  const weightOf = (edge) => before.edges.find((other) => same(other.stands_for, edge)).weight;
  return [weightOf(entering.stands_for), weightOf(entering.kicks_out[entering.kicks_out.length - 1])];
}

function difference(names, before, entering) {
  const [weight, kicked] = weightsBefore(before, entering).map(numberName);
  const out = edgeName(entering.kicks_out[entering.kicks_out.length - 1], names);
  return (
    `it weighs ${weight}, and ${out}, which it kicks out, ${kicked}: ` +
    `${weight} − ${kicked} = ${numberName(entering.weight)}`
  );
}
