// Sums over all trees step by step: Laplacian, determinant, marginals (Koo et al. 2007).
// Matrices hold whole numbers of units.

TABLES.Matrix = ({ name, first, rows }, names) => [
  [name, ...names.slice(first)],
  ...rows.map((row, k) => [names[first + k], ...row.map(numberName)]),
];

TABLES.Determinant = ({ value, log, shift, log_partition }) =>
  [
    ["determinant", value],
    ["its logarithm", log],
    ["best scores of all words", shift],
    ["log-partition", log_partition],
  ].map(([name, number]) => [name, numberName(number)]);

// Scores of one word's edges may differ by this much.
const FARTHEST = 300;

function* sums(problem, { single }) {
  const { n } = problem;
  const best = range(0, n + 1).map((d) => bestScore(problem, d));
  const floats = weightsOf(problem, best);
  const unit = unitOf(floats.flat());
  const weights = floats.map((row) => row.map((x) => exact(x, unit)));
  const matrix = (name, first, rows, exponent = unit) => ({
    type: "Matrix", name, first, rows: rows.map((row) => row.map((x) => rounded(x, exponent))),
  });
  yield problem.step(
    "weights",
    "The weight of each edge is e to the power of its score. First the best score of each word is " +
      "subtracted from all of its scores, so that the largest weight is 1; in the end these scores " +
      "are added again.",
    { looks_at: problem.edges, detail: matrix("weight", 0, weights) },
  );
  let laplacian = laplacianOf(weights);
  yield problem.step(
    "laplacian",
    "The Laplacian of the words: on the diagonal, the sum of the weights of all edges into a word, " +
      "also from the root; elsewhere, minus the weight of the edge from the row's word to the " +
      "column's word.",
    { detail: matrix("Laplacian", 1, laplacian) },
  );
  if (single && n) {
    const withoutRoot = [weights[0].map(() => 0n), ...weights.slice(1)];
    laplacian = [weights[0].slice(1), ...laplacianOf(withoutRoot).slice(1)];
    yield problem.step(
      "root-row",
      "For trees with one root edge, the root's edges are left out of the diagonal, and their " +
        "weights take the place of the first row (Koo et al. 2007). So each tree has a factor from " +
        "that row exactly once.",
      {
        looks_at: range(1, n + 1).map((d) => [0, d]),
        detail: matrix("Laplacian", 1, laplacian),
      },
    );
  }
  const [determinant, adjugate] = inverted(laplacian);
  if (determinant === 0n) {
    const why = single ? " with a single root edge" : "";
    yield problem.step("no-tree", `The determinant is 0: there is no tree${why}.`);
    return;
  }
  const shift = problem.number(best.slice(1).reduce((sum, score) => sum + (score ?? 0n), 0n));
  const log = logarithm(determinant, unit * n);
  const detail = {
    type: "Determinant", value: rounded(determinant, unit * n), log, shift, log_partition: log + shift,
  };
  yield problem.step(
    "determinant",
    "The determinant is the sum over all trees of the product of their weights (the matrix-tree " +
      "theorem). Its logarithm, and the scores that were subtracted, are the log-partition: " +
      `${numberName(detail.log_partition)}.`,
    { weight: detail.log_partition, detail },
  );
  const inverse = adjugate.map((row) => row.map((entry) => ratio(entry, determinant, -unit)));
  yield problem.step(
    "inverse",
    "The inverse of the Laplacian: its entries say how the logarithm of the determinant changes " +
      "with those of the Laplacian.",
    { detail: { type: "Matrix", name: "inverse", first: 1, rows: inverse } },
  );
  const rows = marginalsOf(weights, adjugate, single)
    .map((row) => row.map((entry) => ratio(entry, determinant, 0)));
  yield problem.step(
    "marginals",
    "The marginal probability of an edge is its weight, times the change of the logarithm of the " +
      "determinant with that weight. The marginals of the edges into a word add up to 1.",
    {
      weight: detail.log_partition,
      looks_at: problem.edges,
      detail: { type: "Matrix", name: "marginal", first: 0, rows },
    },
  );
}

function bestScore(problem, d) {
  let best = null;
  for (const row of problem.scores) if (row[d] !== null && (best === null || row[d] > best)) best = row[d];
  return best;
}

// Return the exponentials of the scores, divided by the largest into the same word.
function weightsOf(problem, best) {
  return problem.scores.map((row, h) =>
    row.map((score, d) => {
      if (score === null) return 0;
      const lower = problem.number(score - best[d]);
      if (lower < -FARTHEST) {
        throw new RangeError(
          `The edge ${problem.edge([h, d])} has a score ${numberName(-lower)} below the best one into ` +
            `its word: sums are explained for differences of at most ${FARTHEST}.`,
        );
      }
      return Math.exp(lower);
    }),
  );
}

// Return the Laplacian of the words, with the root's edges on the diagonal.
function laplacianOf(weights) {
  const words = range(1, weights.length);
  const entering = words.map((d) => weights.reduce((sum, row) => sum + row[d], 0n));
  return words.map((h) => words.map((d) => (h === d ? entering[d - 1] : -weights[h][d])));
}

// Return the determinant and the adjugate: Gauss-Jordan without fractions (Bareiss).
function inverted(matrix) {
  const n = matrix.length;
  const rows = matrix.map((row, i) => [...row, ...range(0, n).map((j) => (i === j ? 1n : 0n))]);
  let before = 1n;
  let sign = 1n;
  for (const k of range(0, n)) {
    const pivot = range(k, n).find((i) => rows[i][k] !== 0n);
    if (pivot === undefined) return [0n, []];
    if (pivot !== k) {
      [rows[k], rows[pivot]] = [rows[pivot], rows[k]];
      sign = -sign;
    }
    for (const i of range(0, n)) {
      if (i === k) continue;
      const factor = rows[i][k];
      rows[i] = rows[i].map((x, j) => (rows[k][k] * x - factor * rows[k][j]) / before);
    }
    before = rows[k][k];
  }
  return [sign * before, rows.map((row) => row.slice(n).map((x) => sign * x))];
}

// Return the probability of each edge, times the determinant. An edge into d is in the diagonal of
// column d, and the edge h -> d also, with a minus, in row h. The first row has the root's weights
// instead if there is a single root edge.
function marginalsOf(weights, adjugate, single) {
  return weights.map((row, h) =>
    row.map((weight, d) => {
      if (weight === 0n) return 0n;
      let change = 0n;
      if (single && h === 0) change += adjugate[d - 1][0];
      if (!single || (h > 0 && d > 1)) change += adjugate[d - 1][d - 1];
      if (h > 1 || (h === 1 && !single)) change -= adjugate[d - 1][h - 1];
      return weight * change;
    }),
  );
}
