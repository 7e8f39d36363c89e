// A chart step by step: the best way to build each item, exactly, and the way back to the tree.

// An algorithm makes a chart of its own of this, with the methods `show` and `tell`. A way to build
// an item has `parts`, and perhaps `split`, where they meet, and `edge`, which it adds.
class Chart {
  constructor(problem) {
    this.problem = problem;
    this.weights = new Map();
    this.ways = new Map();
  }

  // Return the best weight of an item, rounded once; null if it cannot be built.
  weight(item) {
    const weight = this.weights.get(String(item));
    return weight === null ? null : this.problem.number(weight);
  }

  // Return the best way to build an item.
  way(item) {
    return this.ways.get(String(item)) ?? { parts: [] };
  }

  // Find the best of the ways to build an item; on a tie, the first.
  fill(item, ways) {
    let best = null;
    for (const way of ways) {
      const added = way.edge ? this.problem.scores[way.edge[0]][way.edge[1]] : 0n;
      const all = [added, ...way.parts.map((part) => this.weights.get(String(part)))];
      if (all.includes(null)) continue;
      const weight = all.reduce((sum, one) => sum + one, 0n);
      if (best === null || weight > best) {
        best = weight;
        this.ways.set(String(item), way);
      }
    }
    this.weights.set(String(item), best);
  }

  // Yield a step for each part of the sentence, then the tree; or why there is none.
  *readBack(top, single) {
    const { problem } = this;
    if (this.weights.get(String(top)) === null) {
      yield problem.step(
        "no-tree",
        "No span covers the whole sentence, so there is no projective tree" +
          `${single ? " with a single root edge" : ""}.`,
        { detail: this.show([top]) },
      );
      return;
    }
    const heads = range(0, problem.n + 1).map((d) => (d ? null : -1));
    const waiting = [top];
    while (waiting.length) {
      const item = waiting.pop();
      if (!this.ways.has(String(item))) continue; // a node alone
      const { edge, parts } = this.way(item);
      if (edge) heads[edge[1]] = edge[0];
      waiting.push(...parts.toReversed());
      yield problem.step("back", this.tell(item), {
        heads: [...heads],
        looks_at: edge ? [edge] : [],
        detail: this.show([item]),
      });
    }
    const weight = problem.number(problem.weight(heads));
    const text = `This is the best projective tree, of weight ${numberName(weight)}.`;
    yield problem.step("tree", text, { heads: [...heads], weight });
  }
}
