// What is explained: the present edges of one sentence with exact scores, and the words' names.

class Problem {
  // scores[h][d] is a number, or null if the edge is absent; names are those of the nodes 0 to n.
  constructor(scores, names) {
    this.n = scores.length - 1;
    this.floats = scores.map((row, h) => row.map((x, d) => (d === 0 || h === d ? null : x)));
    this.names = names;
    this.unit = unitOf(this.floats.flat().filter((x) => x !== null));
    this.scores = this.floats.map((row) => row.map((x) => (x === null ? null : exact(x, this.unit))));
  }

  has([h, d]) {
    return this.scores[h][d] !== null;
  }

  // The present edges, row by row.
  get edges() {
    const found = [];
    for (let h = 0; h <= this.n; h++) {
      for (let d = 1; d <= this.n; d++) if (this.has([h, d])) found.push([h, d]);
    }
    return found;
  }

  // Return the graph whose trees have the required edges and lack the forbidden ones.
  restricted(required, forbidden, single) {
    const roots = required.filter(([h]) => h === 0);
    const isGone = (edge) =>
      includes(forbidden, edge) ||
      required.some(([h, d]) => d === edge[1] && h !== edge[0]) ||
      // Under the root constraint, a required root edge is the only one.
      (single && roots.length > 0 && edge[0] === 0 && !includes(roots, edge));
    return new Problem(this.floats.map((row, h) => row.map((x, d) => (isGone([h, d]) ? null : x))), this.names);
  }

  weight(heads) {
    return edgesOf(heads).reduce((sum, [h, d]) => sum + this.scores[h][d], 0n);
  }

  number(value) {
    return rounded(value, this.unit);
  }

  // Return a step over the original nodes.
  step(kind, text, parts = {}) {
    const nodes = range(0, this.n + 1).map((id) => ({ id, members: [] }));
    return makeStep(kind, text, { nodes, ...parts });
  }

  edge(edge) {
    return edgeName(edge, this.names);
  }

  listed(words) {
    return listed(words.map((word) => this.names[word]));
  }
}

function makeStep(kind, text, parts) {
  return {
    kind, text, nodes: [], edges: [], chosen: [], heads: [], looks_at: [], required: [], forbidden: [],
    weight: null, detail: null, ...parts,
  };
}

const same = (one, other) => one[0] === other[0] && one[1] === other[1];
const includes = (edges, edge) => edges.some((other) => same(edge, other));
const range = (start, stop) => Array.from({ length: Math.max(stop - start, 0) }, (_, k) => start + k);
const compare = (one, other) => (one < other ? -1 : one > other ? 1 : 0);

// Compare lists element by element; true comes after false.
function compareLists(one, other) {
  for (let k = 0; k < Math.min(one.length, other.length); k++) {
    const order = Array.isArray(one[k]) ? compareLists(one[k], other[k]) : compare(one[k], other[k]);
    if (order) return order;
  }
  return one.length - other.length;
}

// Return the known edges of a head vector.
function edgesOf(heads) {
  return heads.flatMap((h, d) => (d > 0 && h !== null ? [[h, d]] : []));
}

function wordsOf(node) {
  return node.members.length ? node.members.flatMap(wordsOf).sort((a, b) => a - b) : [node.id];
}

// If the words are called V1, V2, V3, contracted nodes are called V4, V5.
function nodeName(node, names) {
  if (!node.members.length) return names[node.id];
  const letter = names[1].replace(/1$/, "");
  if (letter && names.every((name, d) => d === 0 || name === `${letter}${d}`)) return `${letter}${node.id}`;
  return `{${node.members.map((member) => nodeName(member, names)).join(" ")}}`;
}

// Edges may have names of their own: names.edges is a map from "h,d".
const endsName = ([h, d], names) => `${names[h]} → ${names[d]}`;
const ownName = (edge, names) => names.edges?.get(String(edge));
const edgeName = (edge, names) => ownName(edge, names) ?? endsName(edge, names);

function fullName(edge, names) {
  const own = ownName(edge, names);
  return own ? `${own}, ${endsName(edge, names)}` : endsName(edge, names);
}

const edgesName = (edges, names) => edges.map((edge) => edgeName(edge, names)).join(", ");

// Return edges in the order of their names, and those without one by head and dependent.
function inOrder(edges, names) {
  const places = [...(names.edges?.keys() ?? [])];
  const place = (edge) => (ownName(edge, names) ? places.indexOf(String(edge)) : places.length);
  return edges.toSorted((one, other) => place(one) - place(other) || compareLists(one, other));
}

function edgeCells(edge, names) {
  return [edgeName(edge.stands_for, names), numberName(edge.weight), edgesName(edge.kicks_out, names)];
}

function listed(names) {
  const last = names[names.length - 1];
  return names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${last}` : last;
}

const counted = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;

// Return the rows of a step's table, the headings first; none if there is nothing to show.
function tableOf(step, names) {
  if (step.table) return step.table; // of Python's steps
  if (step.detail) return TABLES[step.detail.type](step.detail, names);
  if (step.chosen.length) {
    const nodes = new Map(step.nodes.map((node) => [node.id, node]));
    const rows = step.chosen.map((edge) => [nodeName(nodes.get(edge.dependent), names), ...edgeCells(edge, names)]);
    return [["node", "best edge", "weight", "kicks out"], ...rows];
  }
  if (!step.heads.length) return [];
  const rows = step.heads.map((h, d) => [names[d], h === null ? "?" : names[h]]);
  return [["word", "head"], ...rows.slice(1)];
}

// What makes the table of each type of detail: each algorithm adds its own.
const TABLES = {};
