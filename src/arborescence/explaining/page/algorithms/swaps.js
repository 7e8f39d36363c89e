// The swaps of a best tree's edges: Zmigrod, Vieira and Cotterell (2021), Figure 5.

TABLES.Swaps = ({ swaps, cheapest }, names) => [
  ["", "edge of the tree", "best edge into", "replacement", "cost"],
  ...swaps.map((swap) => [
    cheapest && same(swap.edge, cheapest.edge) ? "*" : "",
    edgeName(swap.edge, names),
    nodeName(swap.node, names),
    swap.replacement ? edgeName(swap.replacement, names) : "none",
    swap.cost === null ? "" : numberName(swap.cost),
  ]),
];

// Return the exact cost and the swap of each edge of the best tree of a graph. The graph is
// contracted, with the tree's edges preferred on a tie. Then each edge of the tree is the best edge
// into one node. Its replacement is the next best edge into this node that does not start below the
// edge itself, as that would close a cycle.
function swapsOf(graph, tree, required) {
  const state = new Contraction(graph, { preferred: tree, recorded: false });
  lastOf(contractCycles(state));
  const swaps = [];
  for (const [x, entry] of [...state.chosen].sort(([, one], [, other]) => one.into - other.into)) {
    const edge = cellOf(entry);
    if (tree[entry.into] !== entry.head || includes(required, edge)) continue;
    const others = state.entering.get(x)
      .filter((other) => other !== entry && !isBelow(tree, other.head, entry.into));
    const best = state.best(x, others);
    const cost = best && entry.gain - best.gain;
    const swap = {
      node: state.node(x), edge, replacement: best && cellOf(best), cost: best && graph.number(cost),
    };
    swaps.push([cost, swap]);
  }
  return swaps;
}

// Return whether a node is another one, or below it in a tree.
function isBelow(tree, node, above) {
  while (node > 0 && node !== above) node = tree[node];
  return node === above;
}
