// The graph with contracted cycles, slow and obvious: all edges are kept, with exact weights.
// Ties are broken as in Python.

class Contraction {
  // `whole`: the weight of an edge into a cycle has that of the edges that stay on the cycle.
  constructor(problem, { whole = false } = {}) {
    this.problem = problem;
    this.whole = whole;
    this.members = new Map();
    this.entering = new Map(range(1, problem.n + 1).map((d) => [d, []]));
    for (const [h, d] of problem.edges) {
      this.entering.get(d).push({ head: h, into: d, gain: problem.scores[h][d], kicksOut: [] });
    }
    this.chosen = new Map();
    this.kicked = new Map();
    this.asPrinted = new Map();
    this.parent = new Map();
    this.next = problem.n + 1;
  }

  // Return the node of the graph now that contains a node.
  top(node) {
    while (this.parent.has(node)) node = this.parent.get(node);
    return node;
  }

  // The nodes of the graph now, by their first word.
  get tops() {
    return [...new Set(range(0, this.problem.n + 1).map((node) => this.top(node)))];
  }

  // The weight of the chosen edges of the graph now.
  get weight() {
    return this.sum(this.tops.filter((x) => x));
  }

  sum(nodes) {
    return nodes.reduce((sum, x) => sum + this.chosen.get(x).gain, 0n);
  }

  // Return the node that the chosen edge of a node comes from.
  above(x) {
    return this.top(this.chosen.get(x).head);
  }

  node(id) {
    return { id, members: (this.members.get(id) ?? []).map((member) => this.node(member)) };
  }

  name(x) {
    return nodeName(this.node(x), this.problem.names);
  }

  // Return the best edge into a node, of all or of some. On a tie, the lowest head; then the edge
  // that enters first, by `order`.
  best(x, entries = this.entering.get(x)) {
    if (!entries.length) return null;
    const most = entries.reduce((gain, entry) => (entry.gain > gain ? entry.gain : gain), entries[0].gain);
    const key = ({ head, into }) => [head, this.order(x, into)];
    const equal = entries.filter((entry) => entry.gain === most);
    return equal.reduce((one, other) => (compareLists(key(other), key(one)) < 0 ? other : one));
  }

  // Return the place of a word in a node: the largest member comes before the others.
  order(x, word) {
    if (!this.members.has(x)) return [];
    const members = this.members.get(x);
    const words = members.map((member) => wordsOf(this.node(member)));
    const largest = words.findIndex((list) => list.length === Math.max(...words.map((other) => other.length)));
    const place = words.findIndex((list) => list.includes(word));
    return [place !== largest, place, ...this.order(members[place], word)];
  }

  // Make a node of a cycle of chosen edges; return it. It has no chosen edge yet.
  contract(cycle) {
    const x = this.next++;
    this.members.set(x, cycle);
    for (const member of cycle) this.parent.set(member, x);
    const entering = [];
    const onCycle = this.whole ? this.sum(cycle) : 0n;
    for (const member of cycle) {
      const kicked = this.chosen.get(member);
      for (const { head, into, gain, kicksOut } of this.entering.get(member)) {
        if (this.top(head) === x) {
          const key = String([head, into]);
          const printed = this.asPrinted.get(key) ?? [];
          if (key !== String(cellOf(kicked))) this.asPrinted.set(key, [...printed, cellOf(kicked)]);
          continue;
        }
        const kicks = [...kicksOut, [kicked.head, kicked.into]];
        entering.push({ head, into, gain: gain + onCycle - kicked.gain, kicksOut: kicks });
      }
    }
    this.entering.set(x, entering);
    return x;
  }

  // Open a contracted node; return the member that its edge enters, and what that kicks out. The
  // member takes the edge; the others keep their edges of the cycle.
  open(x) {
    const { head, into } = this.chosen.get(x);
    for (const member of this.members.get(x)) this.parent.delete(member);
    const entered = this.top(into);
    const kicked = this.chosen.get(entered);
    this.kicked.set(entered, [...(this.kicked.get(entered) ?? []), cellOf(kicked)]);
    const taken = this.entering.get(entered).find((entry) => entry.head === head && entry.into === into);
    this.chosen.set(entered, taken);
    return [entered, [kicked.head, kicked.into]];
  }

  // Delete the edges from the root into a node.
  forgetRootEdges(x) {
    const deleted = this.entering.get(x).filter((entry) => entry.head === 0).map(cellOf);
    this.entering.set(x, this.entering.get(x).filter((entry) => entry.head > 0));
    return deleted;
  }

  // Return an edge into a node as steps show it.
  shown(x, { head, into, gain, kicksOut }) {
    const weight = this.problem.number(gain);
    return { head: this.top(head), dependent: x, weight, stands_for: [head, into], kicks_out: kicksOut };
  }

  // Return the lecture's tables now; of many edges those that are shown or chosen.
  record(shown = []) {
    const nodes = [...this.entering.keys()].sort((one, other) => one - other);
    const best = nodes.map((x) => {
      const edge = this.chosen.has(x) ? cellOf(this.chosen.get(x)) : null;
      return { node: this.node(x), edge, before: this.kicked.get(x) ?? [] };
    });
    const last = new Map(nodes.flatMap((x) => this.entering.get(x).map((entry) => [String(cellOf(entry)), entry])));
    let edges = [...shown.map(cellOf), ...best.flatMap(({ edge }) => (edge ? [edge] : []))];
    if (last.size <= MANY) edges = inOrder([...last.values()].map(cellOf), this.problem.names);
    const keys = [...new Set(edges.map(String))];
    const printed = this.problem.names.edges?.size ? this.asPrinted : new Map(); // the notation of the lecture
    const kicks = keys.map((key) => {
      const entry = last.get(key);
      return {
        edge: cellOf(entry), weight: this.problem.number(entry.gain), kicks_out: entry.kicksOut,
        as_printed: printed.get(key) ?? [],
      };
    });
    return { type: "Record", best, kicks };
  }

  // Return a step with the graph as it is now.
  step(kind, text, parts = {}) {
    const { n } = this.problem;
    const tops = this.tops;
    const heads = range(0, n + 1).map((d) => {
      if (d === 0) return -1;
      return tops.includes(d) && this.chosen.has(d) ? this.chosen.get(d).head : null;
    });
    const edges = tops.flatMap((x) => (x ? this.entering.get(x).map((entry) => this.shown(x, entry)) : []));
    const chosen = tops.filter((x) => this.chosen.has(x)).map((x) => this.shown(x, this.chosen.get(x)));
    const nodes = tops.map((x) => this.node(x));
    const detail = this.whole ? null : (parts.detail ?? this.record());
    return makeStep(kind, text, { nodes, edges, chosen, heads, detail, ...parts });
  }
}

// More edges than these are counted in a table, or left out of it.
const MANY = 10;

TABLES.Record = ({ best, kicks }, names) => {
  const named = ({ edge, before }) =>
    edge && edgeName(edge, names) + (before.length ? `, not ${edgesName(before, names)}` : "");
  const kicked = ({ kicks_out, as_printed }) =>
    [edgesName(kicks_out, names), as_printed.length ? `faulty adjust: ${edgesName(as_printed, names)}` : ""]
      .filter(Boolean)
      .join("; ");
  const rows = range(0, Math.max(best.length, kicks.length)).map((place) => [
    ...(place < best.length ? [nodeName(best[place].node, names), named(best[place]) ?? ""] : ["", ""]),
    ...(place < kicks.length
      ? [fullName(kicks[place].edge, names), numberName(kicks[place].weight), kicked(kicks[place])]
      : ["", "", ""]),
  ]);
  return [["node", "bestInEdge", "edge", "weight", "kicksOut"], ...rows];
};

const cellOf = (entry) => [entry.head, entry.into];
