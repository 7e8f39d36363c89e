// The k best trees step by step: Zmigrod, Vieira and Cotterell (2021), Figures 5, 7 and 9.

TABLES.Trees = ({ heads, weights, waiting }, names) => {
  const rows = heads.map((tree, k) => {
    const before = k ? edgesOf(heads[k - 1]) : [];
    const fresh = edgesOf(tree).filter((edge) => !includes(before, edge));
    return [String(k + 1), numberName(weights[k]), edgesName(fresh, names)];
  });
  for (const part of waiting) {
    const conditions = conditionsName(part.required, part.forbidden, names);
    rows.push(["waits", numberName(part.weight), `trees ${conditions}`]);
  }
  return [["tree", "weight", "new edges"], ...rows];
};

function* kbest(problem, { k, single }) {
  const last = firstTree(problem, single);
  if (last.kind !== "tree") {
    yield { ...last, text: `There is no first tree. ${last.text}` };
    return;
  }
  const found = [];
  const waiting = [
    { tree: last.heads, required: [], forbidden: [], next: problem.weight(last.heads), swap: null },
  ];
  while (waiting.length && found.length < k) {
    // On a tie, the part that came first.
    const part = waiting.reduce((one, other) => (other.next > one.next ? other : one));
    waiting.splice(waiting.indexOf(part), 1);
    yield give(problem, part, waiting, found, single);
    if (found.length < k) {
      for (const [rest, step] of split(problem, part, found[found.length - 1], single)) {
        yield step;
        waiting.push(...rest);
      }
    }
  }
  const best = k > 1 ? `These are the ${k} best trees.` : "This is the best tree.";
  const fewer = `These are all trees that exist: ${found.length}, not ${k}.`;
  yield treesStep(problem, "trees", found.length === k ? best : fewer, found, waiting, { heads: found[0] });
}

// Return the last step to the best tree.
function firstTree(problem, single) {
  return lastOf((single ? rootConstraint : chuLiuEdmonds)(problem, { recorded: false }));
}

const withoutOf = ({ forbidden, swap }) => (swap ? [...forbidden, swap.edge] : forbidden);

// Add the best tree of a part to the trees that are found.
function give(problem, part, waiting, found, single) {
  const rank = found.length + 1;
  let tree = part.tree;
  let kind = "next-tree";
  let text;
  if (part.swap === null) {
    text = `Tree ${rank} is the best tree of all.`;
    if (found.length) {
      text =
        `Of all parts that wait, the trees without ${edgesName(part.forbidden, problem.names)} have ` +
        `the best one. It is tree ${rank}.`;
    } else {
      kind = "first-tree";
    }
  } else {
    tree = firstTree(problem.restricted(part.required, withoutOf(part), single), single).heads;
    text =
      "Of all parts that wait, this one has the best tree: " +
      `${conditionsName(part.required, part.forbidden, problem.names)}, and now without ` +
      `${problem.edge(part.swap.edge)}. It is tree ${rank}.`;
  }
  found.push(tree);
  const conditions = { required: part.required, forbidden: withoutOf(part) };
  return treesStep(problem, kind, text, found, waiting, { heads: tree, ...conditions });
}

// Yield what is left of a part without its best tree, and the steps that say so.
function* split(problem, part, tree, single) {
  if (part.swap) {
    yield lookForSwap(problem, part.tree, [...part.required, part.swap.edge], part.forbidden, single);
    yield lookForSwap(problem, tree, part.required, withoutOf(part), single);
    return;
  }
  if (!single || !problem.n) {
    yield lookForSwap(problem, tree, [], [], single);
    return;
  }
  // Under the root constraint the trees are first divided by their root edge.
  const rootEdge = edgesOf(tree).find(([h]) => h === 0);
  yield lookForSwap(problem, tree, [rootEdge], [], single);
  const spent = [...part.forbidden, rootEdge];
  const best = firstTree(problem.without((edge) => includes(spent, edge)), true);
  let text = `Trees without ${edgesName(spent, problem.names)} have another root edge: `;
  if (best.kind !== "tree") {
    yield [[], problem.step("other-root", `${text}there are none.`, { forbidden: spent })];
    return;
  }
  const { heads } = best;
  const next = problem.weight(heads);
  const weight = problem.number(next);
  text += `the best of them weighs ${numberName(weight)}. They wait.`;
  const step = problem.step("other-root", text, { forbidden: spent, heads, weight });
  yield [[{ tree: heads, required: [], forbidden: spent, next, swap: null }], step];
}

// Find the swap of a tree that costs least: the paper's `next`, in a part of the trees.
function lookForSwap(problem, tree, required, forbidden, single) {
  const found = swapsOf(problem.restricted(required, forbidden, single), tree, required);
  const swaps = found.map(([, swap]) => swap);
  const weight = problem.weight(tree);
  let text = `Trees ${conditionsName(required, forbidden, problem.names)}: `;
  let cheapest = null;
  const rest = [];
  const possible = found.filter(([cost]) => cost !== null);
  if (!possible.length) {
    text += "no edge can be swapped for another, so there is no other tree.";
  } else {
    const [least, swap] = possible.reduce((one, other) => (other[0] < one[0] ? other : one));
    const next = weight - least;
    cheapest = swap;
    text +=
      `the swap that costs least, ${numberName(problem.number(least))}, is that of ` +
      `${problem.edge(swap.edge)}. So the next tree of this part lacks that edge, and weighs ` +
      `${numberName(problem.number(next))}. The part waits.`;
    rest.push({ tree, required, forbidden, next, swap });
  }
  const step = problem.step("swaps", text, {
    heads: tree,
    weight: problem.number(weight),
    required,
    forbidden,
    looks_at: swaps.flatMap(({ edge, replacement }) => (replacement ? [edge, replacement] : [edge])),
    detail: { type: "Swaps", swaps, cheapest },
  });
  return [rest, step];
}

function conditionsName(required, forbidden, names) {
  const texts = [];
  if (required.length) texts.push(`with ${edgesName(required, names)}`);
  if (forbidden.length) texts.push(`without ${edgesName(forbidden, names)}`);
  return texts.join(", ") || "without any condition";
}

function treesStep(problem, kind, text, found, waiting, parts) {
  const weights = found.map((tree) => problem.number(problem.weight(tree)));
  const shown = waiting.map((part) => ({
    required: part.required, forbidden: withoutOf(part), weight: problem.number(part.next),
  }));
  const detail = { type: "Trees", heads: [...found], weights, waiting: shown };
  const weight = problem.number(problem.weight(parts.heads));
  return problem.step(kind, text, { weight, detail, ...parts });
}
