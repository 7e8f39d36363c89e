// Undirected parsing step by step: encode, Borůvka's spanning tree, orient, enhance.
// Levi, Reichart and Rappoport (2016).

TABLES.Links = ({ links, chosen }, names) => [
  ["", "pair", "weight"],
  ...links.map(({ one, other, weight }) => [
    includes(chosen, [one, other]) ? "*" : "",
    `${names[one]} – ${names[other]}`,
    numberName(weight),
  ]),
];

TABLES.RootWords = ({ weights }, names) => [
  ["root word", "weight of the tree"],
  ...weights.map((weight, k) => [names[k + 1], weight === null ? "none" : numberName(weight)]),
];

function* undirected(problem, { single }) {
  const first = single ? 1 : 0;
  const links = encode(problem, first);
  yield problem.step(
    "encode",
    "Each pair of nodes gets one score: the mean of its two directions, or the only one that is " +
      `present.${single ? " The root is left out; its edge is chosen later." : ""}`,
    { looks_at: problem.edges.filter(([h]) => h >= first), detail: { type: "Links", links, chosen: [] } },
  );
  const tree = yield* spanningTree(problem, links, first);
  if (tree === null) {
    yield decodeExactly(problem, "The pairs do not connect all nodes.", single);
    return;
  }
  let root = 0;
  if (single && problem.n) {
    const [word, step] = chooseRoot(problem, tree);
    if (word === 0) {
      yield decodeExactly(problem, "The root has no edge.", single);
      return;
    }
    root = word;
    yield step;
  }
  const heads = yield* orient(problem, tree, root);
  yield* enhance(problem, heads);
  const absent = edgesOf(heads).find((edge) => !problem.has(edge));
  if (absent) {
    yield decodeExactly(problem, `The tree has the absent edge ${problem.edge(absent)}.`, single);
    return;
  }
  const weight = problem.number(problem.weight(heads));
  const text = `This is the tree, of weight ${numberName(weight)}: a good one, if not always the best.`;
  yield problem.step("tree", text, { heads, weight });
}

// Return the pairs of nodes that have an edge, with one weight each.
function encode(problem, first) {
  const links = [];
  for (const one of range(first, problem.n + 1)) {
    for (const other of range(one + 1, problem.n + 1)) {
      const both = [problem.floats[one][other], problem.floats[other][one]].filter((x) => x !== null);
      if (!both.length) continue;
      links.push({ one, other, weight: both.length === 1 ? both[0] : 0.5 * both[0] + 0.5 * both[1] });
    }
  }
  return links;
}

// Borůvka's algorithm: each component takes its best pair; then components become nodes.
function* spanningTree(problem, links, first) {
  let parts = range(first, problem.n + 1).map((node) => [node]);
  const ranked = [...links].sort((a, b) => b.weight - a.weight || a.one - b.one || a.other - b.other);
  let chosen = [];
  while (parts.length > 1) {
    const partOf = (node) => parts.find((part) => part.includes(node));
    const best = new Map();
    // On a tie the first pair: then choices never form a cycle.
    for (const { one, other } of ranked) {
      const ends = [partOf(one), partOf(other)];
      if (ends[0] === ends[1]) continue;
      for (const part of ends) if (!best.has(part)) best.set(part, [one, other]);
    }
    if (!best.size) return null;
    const taken = [...best.values()].sort(compareLists).filter((pair, k, all) => !k || !same(pair, all[k - 1]));
    for (const [u, v] of taken) {
      const merged = [...partOf(u), ...partOf(v)].sort((a, b) => a - b);
      parts = [...parts.filter((part) => !merged.includes(part[0])), merged];
    }
    parts.sort((one, other) => one[0] - other[0]);
    chosen = [...chosen, ...taken].sort(compareLists);
    const leaf = (id) => ({ id, members: [] });
    yield problem.step(
      "boruvka",
      "Each node takes the best pair that leaves it: these pairs are in the tree. Nodes that are " +
        `now connected become one; ${counted(parts.length, "node")} ` +
        `${parts.length === 1 ? "is" : "are"} left.`,
      {
        nodes: parts.map((part, k) =>
          part.length === 1 ? leaf(part[0]) : { id: problem.n + 1 + k, members: part.map(leaf) },
        ),
        looks_at: taken,
        detail: { type: "Links", links, chosen },
      },
    );
  }
  return chosen;
}

// Choose the word that hangs from the root: the tree weighs most then. 0 if there is none.
function chooseRoot(problem, tree) {
  const absent = -(1n << BigInt(1024 - problem.unit));
  const words = range(1, problem.n + 1);
  const weights = words.map((word) => {
    if (!problem.has([0, word])) return null;
    return edgesOf(directed(problem.n, tree, word))
      .reduce((sum, [h, d]) => sum + (problem.scores[h][d] ?? absent), 0n);
  });
  const candidates = words.filter((word) => weights[word - 1] !== null);
  if (!candidates.length) return [0, null];
  // On a tie the lowest word.
  const root = candidates.reduce((one, other) => (weights[other - 1] > weights[one - 1] ? other : one));
  const step = problem.step(
    "root-word",
    "The tree of the words is directed away from each word in turn. It weighs most with the root " +
      `edge ${problem.edge([0, root])}.`,
    {
      looks_at: candidates.map((word) => [0, word]),
      detail: { type: "RootWords", weights: weights.map((w) => (w === null ? null : problem.number(w))) },
    },
  );
  return [root, step];
}

// Return the heads of an undirected tree, breadth first from node 0 or from a root word.
function directed(n, tree, root) {
  const heads = range(0, n + 1).map((d) => (d ? null : -1));
  if (root) heads[root] = 0;
  const queue = [root];
  for (const x of queue) {
    for (const [u, v] of tree) {
      const there = u === x ? v : v === x ? u : 0;
      if (there === 0 || heads[there] !== null) continue;
      heads[there] = x;
      queue.push(there);
    }
  }
  return heads;
}

// Direct the tree away from the root, breadth first: a step for each node with dependents.
function* orient(problem, tree, root) {
  const whole = directed(problem.n, tree, root);
  const heads = whole.map((_, d) => (d ? null : -1));
  const queue = [0];
  for (const x of queue) {
    const below = range(1, problem.n + 1).filter((d) => whole[d] === x);
    if (!below.length) continue;
    for (const d of below) heads[d] = x;
    queue.push(...below);
    yield problem.step(
      "orient",
      `The edges are directed away from the root: ${problem.names[x]} is the head of ` +
        `${problem.listed(below)}.`,
      { heads: [...heads], looks_at: below.map((d) => [x, d]) },
    );
  }
  return whole;
}

// Return the best tree instead, by the exact algorithm, or why there is none.
function decodeExactly(problem, why, single) {
  const last = lastOf((single ? rootConstraint : chuLiuEdmonds)(problem));
  return { ...last, text: `${why} So the sentence is decoded exactly instead. ${last.text}` };
}
