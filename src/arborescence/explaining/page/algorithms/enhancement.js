// Local enhancement of a tree step by step: Levi, Reichart and Rappoport (2016), Section 4.

const ROUNDS = 5;
// What an absent edge counts as.
const LOWEST = -Number.MAX_VALUE;
// A gain that may be due to rounding counts as 0.
const ROUNDING = 2 ** -51;
const TINY = 2 ** -1022;

TABLES.Changes = ({ changes }, names) => [
  ["", "path", "becomes", "gain"],
  ...changes.map(({ above, between, word, gain, made }) => [
    made ? "*" : "",
    [above, between, word].map((x) => names[x]).join(" → "),
    [above, word, between].map((x) => names[x]).join(" → "),
    gain === null ? "an edge is absent" : numberName(gain),
  ]),
];

// Make the best change of `heads` as long as it gains, at most five times.
function* enhance(problem, heads) {
  for (const turn of range(1, ROUNDS + 1)) {
    const changes = changesOf(problem, heads);
    const made = changes.filter((change) => change.made);
    for (const { above, between, word } of made) {
      heads[word] = above;
      heads[between] = word;
    }
    const whole = edgesOf(heads).every((edge) => problem.has(edge));
    yield problem.step(
      "enhance",
      `Round ${turn} of enhancement, by the directed scores: ` +
        (made.length ? "the best change is made." : "no change gains anything."),
      {
        heads: [...heads],
        weight: whole ? problem.number(problem.weight(heads)) : null,
        looks_at: changes.flatMap(({ above: t, between: u, word: v }) => [[t, u], [u, v], [t, v], [v, u]]),
        detail: { type: "Changes", changes },
      },
    );
    if (!made.length) break;
  }
}

// Return the changes of a round: the one that gains most is made.
function changesOf(problem, heads) {
  // A quarter of a score: no difference overflows.
  const quarter = (h, d) => 0.25 * (problem.floats[h][d] ?? LOWEST);
  const gains = new Map();
  const found = [];
  for (const [v, u] of heads.entries()) {
    if (v === 0 || u <= 0) continue;
    const t = heads[u];
    const entering = quarter(t, v) - quarter(t, u);
    const between = quarter(v, u) - quarter(u, v);
    if (entering + between > ROUNDING * (Math.abs(entering) + Math.abs(between)) + TINY) {
      gains.set(v, entering + between);
    }
    const known = [[t, u], [u, v], [t, v], [v, u]].every((edge) => problem.has(edge));
    const gain = known ? 4 * (entering + between) : null;
    found.push({ above: t, between: u, word: v, gain, made: false });
  }
  // Of equal ones, the lowest word.
  const best = [...gains].reduce((one, other) => (other[1] > one[1] ? other : one), [0, 0])[0];
  for (const change of found) change.made = change.word === best;
  return found;
}
