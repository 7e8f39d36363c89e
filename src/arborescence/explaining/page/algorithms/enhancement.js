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

// Reverse edges of `heads` where that gains, at most five rounds.
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
        (made.length ? `${counted(made.length, "edge")} turned around.` : "no change gains anything."),
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

// Return the changes of a round: of those that share a word the one that gains most is made.
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
  for (const change of found) {
    const mine = [change.between, change.word];
    const rivals = found.filter(
      ({ between, word }) => gains.has(word) && (mine.includes(between) || mine.includes(word)),
    );
    // Of equal ones, the lowest word.
    const first = rivals.reduce(
      (one, other) => {
        const order = one === null ? -1 : gains.get(one.word) - gains.get(other.word) || other.word - one.word;
        return order < 0 ? other : one;
      },
      null,
    );
    change.made = gains.has(change.word) && change === first;
  }
  return found;
}
