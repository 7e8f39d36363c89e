// The picture of a state: words, arcs, contracted nodes around their words, the cells of a chart.

const escaped = (text) =>
  String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

// Return a number for a picture: four digits, or all six of a large one.
const shortName = (x) => (Math.abs(x) < 1000 ? numberName(Number(x.toPrecision(4))) : numberName(x));

// Return an SVG element as text. `arcs` have `edge`, `label`, and `kind`, a CSS class.
function drawFigure(names, { arcs, nodes = [], spans = [], description, clickable = false }) {
  const boxes = boxesOf(nodes);
  const depth = Math.max(0, ...boxes.map((box) => box.height));
  const place = layOut(names, arcs, depth);
  const ground = place.levels * SIZES.level + 24 + SIZES.nested * depth;
  const split = boxes.filter((box) => box.runs.length > 1);
  let bottom = ground + 30 + SIZES.nested * (depth + split.length);
  const parts = boxes.map((box) => drawBox(box, place, ground, depth, split.indexOf(box)));
  parts.push(...place.arcs.map((arc) => drawArc(arc, ground, names, clickable)));
  parts.push(...place.arcs.map((arc) => drawLabel(arc, place.arcs, ground)));
  names.forEach((name, word) => {
    const kind = word === 0 ? "form root" : "form";
    parts.push(drawText(kind, place.centers[word], ground + 20, name));
  });
  const width = Math.ceil(place.width);
  for (const { title, cells } of spans) {
    if (title) parts.push(drawText("label title", width / 2, (bottom += 16) - 4, title));
    parts.push(...cells.map((cell) => drawSpan(cell, place, bottom)));
    if (cells.length > 1) parts.push(drawPlus(cells, place, bottom));
    bottom += 32;
  }
  const size = `width="${width}" height="${bottom}" viewBox="0 0 ${width} ${bottom}" style="--width: ${width}px"`;
  return `<svg class="figure" role="img" ${size} aria-label="${escaped(description)}">${parts.join("")}</svg>`;
}

const drawText = (kind, x, y, content) =>
  `<text class="${kind}" x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="middle">${escaped(content)}</text>`;

const heightOf = (level, ground) => ground - level * SIZES.level - 6;

// Up from the head, across, and down to the dependent, with an arrow there.
function drawArc({ edge, ends: [from, to], level, kind }, ground, names, clickable) {
  const y = heightOf(level, ground);
  const side = Math.sign(to - from);
  const curve = Math.min(9, Math.abs(to - from) / 2);
  const foot = ground + 3;
  const line =
    `M${from.toFixed(1)} ${foot}V${y + curve}q0 ${-curve} ${side * curve} ${-curve}` +
    `H${(to - side * curve).toFixed(1)}q${side * curve} 0 ${side * curve} ${curve}V${foot - 6}`;
  const tip = kind.includes("undirected") ? "" : `<path class="tip" d="M${to.toFixed(1)} ${foot}l-4 -8h8z"/>`;
  const hit = clickable ? `<path class="hit" d="${line}"/>` : "";
  return (
    `<g class="arc ${kind}" data-edge="${edge}"><title>${escaped(fullName(edge, names))}</title>${hit}` +
    `<path class="line" d="${line}"/>${tip}</g>`
  );
}

// The label stands where no higher arc comes down, as near to the middle as there is room.
function drawLabel({ edge, ends, level, label, kind }, arcs, ground) {
  const [left, right] = [Math.min(...ends), Math.max(...ends)];
  const text = kind.includes("forbidden") ? `✕ ${label}` : label;
  const room = textWidth(text, SIZES.label) / 2 + 3;
  const higher = arcs.filter((arc) => arc.level > level).flatMap((arc) => arc.ends);
  const lines = [left, ...higher.filter((x) => x > left && x < right), right].sort((a, b) => a - b);
  const middle = (left + right) / 2;
  const spots = range(1, lines.length)
    .filter((k) => lines[k] - lines[k - 1] >= 2 * room)
    .map((k) => Math.min(Math.max(middle, lines[k - 1] + room), lines[k] - room));
  const x = spots.reduce((one, other) => (Math.abs(other - middle) < Math.abs(one - middle) ? other : one), spots[0] ?? middle);
  return `<g class="${kind}" data-edge="${edge}">${drawText("label", x, heightOf(level, ground) - 4, text)}</g>`;
}

// Return the contracted nodes, outer ones first, each with the runs of neighbouring words in it, and
// its height: how many contracted nodes are within one another in it, itself counted.
function boxesOf(nodes) {
  const boxes = [];
  const visit = (node) => {
    if (!node.members.length) return 0;
    const box = { words: wordsOf(node), runs: [] };
    boxes.push(box);
    for (const word of box.words) {
      const run = box.runs[box.runs.length - 1];
      if (run && run[1] === word - 1) run[1] = word;
      else box.runs.push([word, word]);
    }
    box.height = 1 + Math.max(...node.members.map(visit));
    return box.height;
  };
  nodes.forEach(visit);
  return boxes;
}

// The sign between the two parts of a span.
function drawPlus(cells, place, top) {
  const [left, right] = cells.map(({ head, end }) => [Math.min(head, end), Math.max(head, end)]).sort(compareLists);
  return drawText("label", (place.centers[left[1]] + place.centers[right[0]]) / 2, top + 22, "+");
}

// A frame around each run of words; frames of one node are joined by a line below.
function drawBox({ runs, height }, place, ground, depth, joint) {
  const pad = SIZES.nested * height;
  const top = ground + 4 - pad;
  const bottom = ground + 26 + pad;
  const sides = runs.map(([first, last]) => [
    place.centers[first] - place.half[first] - pad,
    place.centers[last] + place.half[last] + pad,
  ]);
  const frames = sides.map(
    ([left, right]) =>
      `<rect class="node" x="${left.toFixed(1)}" y="${top}" width="${(right - left).toFixed(1)}" ` +
      `height="${bottom - top}" rx="${6 + pad / 2}"/>`,
  );
  if (joint >= 0) {
    const y = ground + 28 + SIZES.nested * (depth + joint + 0.5);
    const middles = sides.map(([left, right]) => ((left + right) / 2).toFixed(1));
    const feet = middles.map((x) => `M${x} ${bottom}V${y}`).join("");
    frames.push(`<path class="joint" d="${feet}M${middles[0]} ${y}H${middles[middles.length - 1]}"/>`);
  }
  return frames.join("");
}

// A complete span is a triangle, high at its head; an incomplete one a trapezoid. A constituent is a
// triangle over its words, too. Spans that share a word have a gap there.
function drawSpan({ kind, head, end, first, last, weight }, place, top) {
  const gap = first ? 0 : 5 * Math.sign(end - head);
  const [x, z] = [place.centers[first ?? head] + gap, place.centers[last ?? end] - gap];
  const y = top + 26;
  const low = kind === "incomplete" ? y - 12 : y - 2;
  let shape = `M${x} ${top + 4}V${y}H${z}V${low}Z`;
  if (first) shape = `M${x} ${y}L${place.centers[head]} ${top + 4}L${z} ${y}Z`;
  if (x === z) shape = `M${x - 7} ${y}h14l-7 -20z`;
  const text = weight === null ? "none" : shortName(weight);
  return `<g class="span ${kind ?? "complete"}"><path d="${shape}"/>${drawText("label", (x + z) / 2, y - 4, text)}</g>`;
}
