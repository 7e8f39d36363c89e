// The tables of steps: rows as text, matrices as heat maps, Eisner's chart.

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
  const rows = tableOf(step, problem.names);
  const table = rows.length ? drawTable(rows, CAPTIONS[detail?.type] ?? "The state") : "";
  return detail?.type === "Spans" && chart ? table + drawChart(chartOf(steps, at), detail.spans, problem.names) : table;
}

const CAPTIONS = {
  Contracted: "The edges into the new node",
  Cast: "What the edges are cast as",
  Children: "The children of the root",
  Swaps: "The swaps",
  Trees: "The trees so far, and the parts that wait",
  Spans: "The spans of this step",
  Links: "The pairs",
  RootWords: "The root words",
  Changes: "The changes",
  Configuration: "Stack and buffer",
};

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

// Eisner's chart: a row for each head, a column for each other end.
function drawChart(chart, current, names) {
  const now = new Set(current.map((span) => String([span.kind, span.head, span.end])));
  const words = [...names.keys()];
  const cell = (head, end) => {
    if (head === end) return '<td class="none"></td>';
    const spans = ["incomplete", "complete"].map((kind) => chart.get(String([kind, head, end])));
    if (!spans[1]) return "<td></td>";
    const texts = spans.map((span) => {
      const text = `${span.kind === "complete" ? "C" : "I"} ${span.weight === null ? "none" : shortName(span.weight)}`;
      return now.has(String([span.kind, head, end])) ? `<b>${text}</b>` : text;
    });
    return `<td>${texts.join("<br>")}</td>`;
  };
  const rows = words.map(
    (head) =>
      `<tr><th scope="row"><bdi>${escaped(names[head])}</bdi></th>${words.slice(1).map((end) => cell(head, end)).join("")}</tr>`,
  );
  const heading = names.slice(1).map((name) => `<th scope="col"><bdi>${escaped(name)}</bdi></th>`).join("");
  return (
    '<table class="detail chart"><caption>The chart: I is an incomplete span, C a complete one; ' +
    "its head is the row, its other end the column</caption>" +
    `<thead><tr><td></td>${heading}</tr></thead><tbody>${rows.join("")}</tbody></table>`
  );
}
