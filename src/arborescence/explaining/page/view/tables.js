// The tables of steps: rows as text, matrices as heat maps, charts.

function drawTable([head, ...rows], caption) {
  const cell = (tag, text, attributes = "") => `<${tag}${attributes}><bdi>${escaped(text)}</bdi></${tag}>`;
  const body = rows.map((row) => {
    const kind = row[0] === "*" ? ' class="best"' : "";
    return `<tr${kind}>${row.map((text) => cell("td", text)).join("")}</tr>`;
  });
  const heading = head.map((text) => (text ? cell("th", text, ' scope="col"') : "<td></td>")).join("");
  return (
    `<table class="detail"><caption>${escaped(caption)}</caption>` +
    `<thead><tr>${heading}</tr></thead><tbody>${body.join("")}</tbody></table>`
  );
}

// Return what stands below the sentence of a step: its table, and of a matrix how large its entries are.
function drawDetail(problem, steps, at, { chart = true } = {}) {
  const step = steps[at];
  const { detail } = step;
  if (detail?.type === "Matrix") return drawHeat(detail, problem.names);
  if (detail?.type === "Determinant") return drawTable([["", ""], ...tableOf(step, problem.names)], "The sum");
  if (detail?.type === "Configuration") return drawMachine(detail, problem.names);
  const rows = step.kind === "chart" ? [] : tableOf(step, problem.names);
  const faulty = rows.flat().some((text) => text.includes(FAULTY)) ? FAULTY_NOTE : "";
  const table = rows.length ? drawTable(rows, CAPTIONS[detail?.type] ?? "The state") + faulty : "";
  if (!chart || !(detail?.type in CHARTS)) return table;
  const drawn = drawChart(chartOf(steps, at), step, problem.names);
  return `${table}<div id="chart" class="scroll" tabindex="0" role="region" aria-label="The chart">${drawn}</div>`;
}

// The tables of steps that Python has made.
TABLES.Constituents = ({ constituents }, names) => {
  const named = ([first, last, head]) =>
    head ? `B[${names[first]}, ${names[last]}, ${names[head]}]` : `S[${names[first]}, ${names[last]}]`;
  const rows = constituents.map(({ first, last, head, weight, rule, parts }) => [
    named([first, last, head]), weightName(weight), rule, parts.map(named).join(" + "),
  ]);
  return [["constituent", "weight", "rule", "of"], ...rows];
};

TABLES.Links = ({ links, chosen }, names) => [
  ["", "pair", "weight"],
  ...links.map(({ one, other, weight }) => [
    includes(chosen, [one, other]) ? "*" : "", `${names[one]} – ${names[other]}`, numberName(weight),
  ]),
];

TABLES.Multigraph = (detail, names) => {
  const [head, ...rows] = TABLES.Links(detail, names);
  return [[...head, ""], ...rows.map((row, k) => [...row, detail.fates[k]])];
};

const FAULTY = "faulty adjust";
const FAULTY_NOTE =
  `<p class="legend"><i>${FAULTY}</i>: the lecture's <code>adjust</code> as printed writes this, too, for edges inside ` +
  "the cycle. They leave the graph, so they kick nothing out. The slides print <i>e: f</i>.</p>";

const CAPTIONS = {
  Record: "The tables bestInEdge and kicksOut, as far as they are filled",
  Contracted: "The tables bestInEdge and kicksOut, as far as they are filled",
  Cast: "What the edges are cast as",
  Children: "The children of the root",
  Swaps: "The swaps: a blue edge can replace the edge of the tree, a red one comes from below it; *: cheapest, with its edges in the picture",
  TreesSoFar: "The trees so far, and the parts that wait",
  Spans: "The spans of this step",
  Constituents: "The constituents of this step",
  Links: "The pairs",
  Multigraph: "The edges of the contracted graph",
  Heavy: "The edges of the contracted graph, and the forest F",
  RootWords: "The root words",
  Changes: "The changes",
};

// Stack and buffer stand as on the slides: the top of the stack first, and the front of the buffer.
function drawMachine({ stack, buffer, actions }, names) {
  const draw = (kind, title, texts) => {
    const items = texts.map((text) => `<li><bdi>${escaped(text)}</bdi></li>`).join("");
    return `<div class="${kind}"><h3>${title}</h3>${items ? `<ol>${items}</ol>` : "<p>empty</p>"}</div>`;
  };
  const named = (nodes) => nodes.map((node) => names[node]);
  return (
    `<div class="machine">${draw("pile", "Stack", named(stack).reverse())}` +
    `${draw("pile", "Buffer", named(buffer))}${draw("actions", "Actions so far", actions)}</div>`
  );
}

function drawHeat({ name, first, rows }, names) {
  const most = Math.max(...rows.flat().map(Math.abs)) || 1;
  const start = 1 - first; // no edge enters the root
  const head = names.slice(1).map((word) => `<th scope="col"><bdi>${escaped(word)}</bdi></th>`);
  const body = rows.map((row, k) => {
    const cells = row.slice(start).map((x) => {
      const heat = Math.round((Math.abs(x) / most) * 100);
      return `<td style="--heat: ${heat}%">${escaped(shortName(x))}</td>`;
    });
    return `<tr><th scope="row"><bdi>${escaped(names[first + k])}</bdi></th>${cells.join("")}</tr>`;
  });
  return (
    `<table class="detail heat"><caption>The matrix: ${escaped(name)}</caption>` +
    `<thead><tr><td></td>${head.join("")}</tr></thead><tbody>${body.join("")}</tbody></table>`
  );
}

// Of the chart of each type of detail: its first row, what stands above it, the names of the cells at
// a row and a column, and what stands before the weight of each.
const CHARTS = {
  Spans: {
    from: 0,
    caption: "The chart: I is an incomplete span, C a complete one; its head is the row, its other end the column",
    cells: (row, column) => (row === column ? [] : ["incomplete", "complete"].map((kind) => [kind, row, column])),
    mark: ({ kind }) => (kind === "complete" ? "C" : "I"),
  },
  Constituents: {
    from: 1,
    caption: "The chart: the constituents from the row's word to the column's, each with its head",
    cells: (row, column) => range(row, column + 1).map((head) => [row, column, head]),
    mark: ({ head }, names) => `<bdi class="word">${escaped(names[head])}</bdi><span class="place">${head}</span>`,
  },
};

function drawChart(chart, step, names) {
  const { from, caption, cells, mark } = CHARTS[step.detail.type];
  const now = new Set(step.kind === "chart" ? [] : cellsOf(step).map(cellName));
  const words = [...names.keys()];
  const draw = (row, column) => {
    const found = cells(row, column).map((key) => chart.get(String(key))).filter(Boolean);
    const isNow = found.some((cell) => now.has(cellName(cell)));
    const texts = found.map((cell) => {
      const text = `${mark(cell, names)} ${cell.weight === null ? "none" : shortName(cell.weight)}`;
      return now.has(cellName(cell)) ? `<b>${text}</b>` : text;
    });
    const kind = isNow ? ' class="now"' : row === column && !texts.length ? ' class="none"' : "";
    return `<td${kind}>${texts.join("<br>")}</td>`;
  };
  const rows = words.slice(from).map(
    (row) =>
      `<tr><th scope="row"><span class="place">${row}</span> <bdi>${escaped(names[row])}</bdi></th>${words.slice(1).map((column) => draw(row, column)).join("")}</tr>`,
  );
  const heading = names.slice(1).map((name) => `<th scope="col"><bdi>${escaped(name)}</bdi></th>`).join("");
  return (
    `<table class="detail chart"><caption>${escaped(caption)}</caption>` +
    `<thead><tr><td></td>${heading}</tr></thead><tbody>${rows.join("")}</tbody></table>`
  );
}
