// The page: what is shown now, and what the reader's clicks and keys do.

const DATA = JSON.parse(document.getElementById("data").textContent);
DATA.names.edges = new Map(DATA.edges);
const byId = (id) => document.getElementById(id);

const page = {
  algorithm: DATA.algorithm,
  single: DATA.single,
  scores: DATA.scores.map((row) => [...row]),
  required: [],
  forbidden: [],
  selected: null,
  at: 0,
  steps: [],
  problem: null,
  timer: null,
  exercise: null,
};

// What is on show: the steps, or the state of an exercise.
const shown = () => page.exercise ?? page;

// Compute all steps again, of the scores and conditions as they are now; or take those of Python.
function recompute() {
  const { algorithm, scores, required, forbidden } = page;
  const single = isSingle();
  if (isLive()) {
    page.problem = new Problem(scores, DATA.names).restricted(required, forbidden, single);
    page.steps = [...LIVE[algorithm](page.problem, { single })];
  } else {
    page.problem = GIVEN;
    page.steps = traceOf(algorithm, single);
  }
  page.at = Math.min(page.at, page.steps.length - 1);
  drawAll();
}

// Some algorithms say by themselves how many root edges a tree has.
const FIXED = { "chu-liu-edmonds": false, "root-constraint": true, cky: true };

// What is computed here; the steps of other algorithms are data, for the scores as they were given.
const LIVE = { "chu-liu-edmonds": chuLiuEdmonds, "root-constraint": rootConstraint, eisner, transitions };
const GIVEN = new Problem(DATA.scores, DATA.names);

const isLive = () => Object.hasOwn(LIVE, page.algorithm);

// Return the steps of an algorithm from Python, whose data lack what is empty.
function traceOf(algorithm, single) {
  const steps = DATA.traces[algorithm]?.[single ? "single" : "multi"] ?? [];
  return steps.map(({ kind, text, ...parts }) => GIVEN.step(kind, text, parts));
}

const isSingle = () => FIXED[page.algorithm] ?? page.single;

// Draw all that depends on the graph and the algorithm, and then the step.
function drawAll() {
  const { algorithm, problem, steps } = page;
  byId("algorithm").value = algorithm;
  byId("shown").textContent = algorithm;
  byId("root").value = isSingle() ? "single" : "multi";
  byId("root").disabled = algorithm in FIXED;
  byId("editor").hidden = !isLive();
  byId("fixed").hidden = isLive();
  byId("jump").max = steps.length;
  const items = steps.map(
    (step, at) => `<li id="s${at + 1}"><a href="#${linkOf(at)}">${escaped(step.text)}</a></li>`,
  );
  byId("list").innerHTML = items.join("");
  byId("trees").hidden = algorithm !== "kbest";
  byId("trees-lists").innerHTML = algorithm === "kbest" ? drawLists(problem) : "";
  drawStep();
}

function drawStep() {
  const { problem, steps, at } = page;
  drawGraph();
  byId("count").textContent = `Step ${at + 1} of ${steps.length}`;
  byId("jump").value = at + 1;
  byId("sentence").textContent = steps[at].text;
  drawOpen();
  showCurrentCell();
  for (const [id, off] of [["first", at === 0], ["back", at === 0], ["forward", isLast()], ["last", isLast()]]) {
    byId(id).setAttribute("aria-disabled", off);
  }
  for (const item of byId("list").children) item.firstChild.removeAttribute("aria-current");
  byId("list").children[at]?.firstChild.setAttribute("aria-current", "step");
  drawEdge();
}

// Draw what stands below the picture; an exercise has it if it gives nothing away.
function drawOpen() {
  const { problem, steps, at, open = !page.exercise } = shown();
  byId("detail").hidden = !open;
  byId("detail").innerHTML = open ? drawDetail(problem, steps, at) : "";
}

// Scroll the chart so that the cell of this step is in its middle; of two cells the first.
function showCurrentCell() {
  const cell = document.querySelector("#chart .now");
  if (!cell) return;
  const chart = byId("chart");
  const [inner, outer] = [cell.getBoundingClientRect(), chart.getBoundingClientRect()];
  chart.scrollTop += inner.top + inner.height / 2 - outer.top - chart.clientHeight / 2;
  chart.scrollLeft += inner.left + inner.width / 2 - outer.left - chart.clientWidth / 2;
}

// Draw the arcs and the score matrix.
function drawGraph() {
  const { problem, steps, at } = shown();
  const picture = drawFigure(problem.names, { ...pictureOf(problem, steps, at), clickable: true });
  byId("figure").innerHTML = picture;
  byId("columns").classList.toggle("long", parseInt(/width="(\d+)"/.exec(picture)[1], 10) > 600);
  const editing = !page.exercise && isLive();
  const user = editing ? { ...page, changed: changedEdges() } : NOTHING;
  const given = editing ? page.scores : problem.floats;
  const focused = document.activeElement?.closest?.("#matrix button")?.dataset.edge;
  byId("matrix").innerHTML = drawMatrix(problem, steps, at, user, given);
  const cells = [...byId("matrix").querySelectorAll("button")];
  const key = focused ?? (user.selected && String(user.selected));
  const current = cells.find((cell) => cell.dataset.edge === key) ?? cells[0];
  if (current) current.tabIndex = 0;
  if (focused && current) current.focus();
}

const NOTHING = { required: [], forbidden: [], changed: [], selected: null };

const isLast = () => page.at === page.steps.length - 1;

// Steps are linked by their number; of another algorithm than the page's first, with its name.
function linkOf(at) {
  return page.algorithm === DATA.algorithm ? String(at + 1) : `${page.algorithm}-${at + 1}`;
}

function goTo(at) {
  page.at = Math.max(0, Math.min(at, page.steps.length - 1));
  history.replaceState(null, "", `#${linkOf(page.at)}`);
  drawStep();
}

// Go where the address says; return whether it names a step.
function followLink() {
  const [, algorithm, number] = /^#(?:(.*)-)?(\d+)$/.exec(location.hash) ?? [];
  if (number && algorithm === "exercise") {
    startExercise(Number(number));
    return true;
  }
  if (!number || (algorithm && !DATA.algorithms.includes(algorithm))) return false;
  if (page.exercise) stopExercise();
  if ((algorithm ?? DATA.algorithm) !== page.algorithm) {
    page.algorithm = algorithm ?? DATA.algorithm;
    recompute();
  }
  goTo(Number(number) - 1);
  return true;
}

function play(on) {
  clearInterval(page.timer);
  page.timer = null;
  if (on) {
    if (isLast()) goTo(0);
    page.timer = setInterval(() => {
      goTo(page.at + 1);
      if (isLast()) play(false);
    }, 1000 * Number(byId("speed").value));
  }
  byId("play").textContent = on ? "Pause" : "Play";
}

// The edge that the reader has chosen to change.

function changedEdges() {
  const cells = range(0, DATA.scores.length).flatMap((h) => range(1, DATA.scores.length).map((d) => [h, d]));
  return cells.filter(([h, d]) => page.scores[h][d] !== DATA.scores[h][d]);
}

function select(edge) {
  if (!isLive()) return;
  page.selected = edge;
  drawStep();
}

function drawEdge() {
  const { selected, scores, required, forbidden } = page;
  byId("edge").hidden = !selected;
  byId("hint").hidden = Boolean(selected);
  byId("undo").hidden = !changedEdges().length && !required.length && !forbidden.length;
  if (!selected) return;
  const [h, d] = selected;
  byId("edge-name").textContent = fullName(selected, DATA.names);
  if (document.activeElement !== byId("score")) byId("score").value = scores[h][d] ?? "";
  byId("score").removeAttribute("aria-invalid");
  const rule = includes(required, selected) ? "required" : includes(forbidden, selected) ? "forbidden" : "free";
  byId("edge").elements.rule.value = rule;
}

function setScore(text) {
  const [h, d] = page.selected;
  const score = text.trim() === "" ? null : Number(text.replace(",", ".").replace("−", "-"));
  if (score !== null && !Number.isFinite(score)) {
    byId("score").setAttribute("aria-invalid", "true");
    return;
  }
  page.scores[h][d] = score;
  recompute();
}

// Require or forbid an edge, or neither. At most one edge into a word is required.
function setRule(edge, rule) {
  const others = (edges) => edges.filter((other) => !same(other, edge));
  page.required = others(page.required);
  page.forbidden = others(page.forbidden);
  if (rule === "required") {
    page.required = [...page.required.filter(([, d]) => d !== edge[1]), edge];
  }
  if (rule === "forbidden") page.forbidden = [...page.forbidden, edge];
  recompute();
}

function undo() {
  page.scores = DATA.scores.map((row) => [...row]);
  page.required = [];
  page.forbidden = [];
  recompute();
}

// Exercises: the reader answers by clicking.

function startExercise(seed) {
  play(false);
  page.exercise = makeExercise(seed >>> 0);
  const { question, options, problem } = page.exercise;
  history.replaceState(null, "", `#exercise-${page.exercise.seed}`);
  byId("seed").value = page.exercise.seed;
  byId("words").textContent = problem.names.slice(1).join(" ");
  byId("question").textContent = question;
  byId("verdict").textContent = "";
  const isNumber = typeof options[0] === "number";
  const choose = isNumber ? "Choose a number." : "Choose an action.";
  byId("how").textContent = options.length ? choose : "Click an edge or its cell.";
  const buttons = options.map((x, k) => `<button type="button" value="${k}">${isNumber ? numberName(x) : x}</button>`);
  byId("options").innerHTML = buttons.join("");
  byId("list").innerHTML = "";
  showParts();
  drawStep();
}

function stopExercise() {
  page.exercise = null;
  byId("words").textContent = DATA.names.slice(1).join(" ");
  showParts();
  recompute();
}

// An exercise hides what would give it away.
function showParts() {
  const exercising = page.exercise !== null;
  byId("exercise").hidden = !exercising;
  for (const id of ["settings", "player", "sentence", "editor", "fixed", "keys", "all"]) byId(id).hidden = exercising;
  if (exercising) byId("trees").hidden = true;
}

function answer(given) {
  const { isRight, wrong, answer: right } = page.exercise;
  byId("verdict").textContent = isRight(given) ? `Right. ${right}` : `No. ${wrong(given)}`;
}

// Clicks, keys, and paper.

function edgeAt(target) {
  const key = target.closest("[data-edge]")?.dataset.edge;
  return key ? key.split(",").map(Number) : null;
}

function moveInMatrix(event) {
  const edge = edgeAt(event.target);
  if (!edge) return;
  const rules = { r: "required", f: "forbidden" };
  const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  if (Object.hasOwn(rules, event.key)) {
    if (page.exercise || !isLive()) return;
    const rule = rules[event.key];
    page.selected = edge;
    setRule(edge, includes(page[rule], edge) ? "free" : rule);
  } else if (Object.hasOwn(moves, event.key)) {
    const [down, right] = moves[event.key];
    let [h, d] = [edge[0] + down, edge[1] + right];
    if (h === d) [h, d] = [h + down, d + right]; // no word is its own head
    const next = byId("matrix").querySelector(`[data-edge="${h},${d}"]`);
    if (next) {
      event.target.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    }
  } else {
    return;
  }
  event.preventDefault();
}

function onKey(event) {
  if (page.exercise || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.target.closest("input, select, textarea, #matrix, .scroll")) return;
  const moves = { ArrowLeft: page.at - 1, ArrowRight: page.at + 1, Home: 0, End: page.steps.length - 1 };
  if (Object.hasOwn(moves, event.key)) {
    play(false);
    goTo(moves[event.key]);
    event.preventDefault();
  } else if (event.key === " " && !event.target.closest("button, a")) {
    play(page.timer === null);
    event.preventDefault();
  }
}

// On paper, each step of the list has its picture and its table; the chart is there once, when it is full.
function drawForPaper() {
  if (page.exercise) return;
  const { problem, steps } = page;
  for (const [at, item] of [...byId("list").children].entries()) {
    const paper = document.createElement("div");
    paper.className = "paper";
    const chart = steps[at].kind === "fill" && steps[at + 1]?.kind !== "fill";
    const detail = drawDetail(problem, steps, at, { chart });
    paper.innerHTML = drawFigure(problem.names, pictureOf(problem, steps, at)) + detail;
    item.append(paper);
  }
}

function clearPaper() {
  for (const paper of byId("list").querySelectorAll(".paper")) paper.remove();
}

function listen(id, event, action) {
  byId(id).addEventListener(event, action);
}

const stopAndGo = (at) => () => {
  play(false);
  goTo(at());
};

listen("first", "click", stopAndGo(() => 0));
listen("back", "click", stopAndGo(() => page.at - 1));
listen("forward", "click", stopAndGo(() => page.at + 1));
listen("last", "click", stopAndGo(() => page.steps.length - 1));
listen("play", "click", () => play(page.timer === null));
listen("speed", "change", () => page.timer !== null && play(true));
listen("jump", "input", stopAndGo(() => Number(byId("jump").value) - 1));
listen("algorithm", "change", () => {
  play(false);
  page.algorithm = byId("algorithm").value;
  page.at = 0;
  recompute();
  goTo(0);
});
listen("root", "change", () => {
  page.single = byId("root").value === "single";
  recompute();
});
listen("figure", "click", ({ target }) => {
  const edge = edgeAt(target);
  if (edge) (page.exercise ? answer : select)(edge);
});
listen("matrix", "click", (event) => {
  const edge = edgeAt(event.target);
  if (!edge) return;
  if (page.exercise) {
    answer(edge);
    return;
  }
  select(edge);
  if (event.detail === 0) byId("score").focus(); // by the keyboard, not by a finger
});
listen("matrix", "keydown", moveInMatrix);
listen("score", "input", () => setScore(byId("score").value));
listen("edge", "change", (event) => event.target.name === "rule" && setRule(page.selected, event.target.value));
listen("edge", "submit", (event) => event.preventDefault());
listen("undo", "click", undo);
listen("start", "click", () => startExercise(Math.floor(Math.random() * 1e6)));
listen("new", "click", () => startExercise(page.exercise.seed + 1));
listen("seed", "change", () => startExercise(Math.abs(Math.round(Number(byId("seed").value))) || 0));
listen("options", "click", ({ target }) => target.value && answer(page.exercise.options[target.value]));
listen("show", "click", () => (byId("verdict").textContent = page.exercise.answer));
listen("stop", "click", () => {
  stopExercise();
  goTo(page.at);
});
document.addEventListener("keydown", onKey);
window.addEventListener("hashchange", followLink);
window.addEventListener("beforeprint", drawForPaper);
window.addEventListener("afterprint", clearPaper);

byId("live").hidden = false;
recompute();
followLink();
