// The steps of an algorithm, as data: what `as_json(explain(...))` gives in Python.

const ALGORITHMS = {
  "chu-liu-edmonds": chuLiuEdmonds,
  "root-constraint": rootConstraint,
  kbest,
  eisner,
  cky,
  sums,
  undirected,
  transitions,
};

// scores[h][d] is a number, or null if the edge is absent; options are `single` and `k`.
function explain(scores, names, algorithm, options = {}) {
  return [...ALGORITHMS[algorithm](new Problem(scores, names), options)];
}
