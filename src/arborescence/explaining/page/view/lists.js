// The k best trees side by side: for one root edge, and for any number.

function drawLists(problem) {
  return [true, false].map((single) => drawList(problem, single)).join("");
}

function drawList(problem, single) {
  const title = single ? "Exactly one root edge" : "One root edge or more";
  const last = traceOf("kbest", single).at(-1);
  if (last.kind !== "trees") return `<h3>${title}</h3><p>${escaped(last.text)}</p>`;
  const { heads, weights } = last.detail;
  const total = DATA.totals[single ? "single" : "multi"]; // the log-partition, or null
  const cards = heads.map((tree, rank) => {
    const before = rank ? heads[rank - 1] : tree;
    const probability = total === null ? "" : `, probability ${shareName(Math.exp(weights[rank] - total))}`;
    return (
      `<li><p><b>Tree ${rank + 1}</b>: weight ${numberName(weights[rank])}${probability}</p>` +
      `<div class="scroll" tabindex="0" role="region" aria-label="${title}, tree ${rank + 1}">` +
      `${drawFigure(problem.names, changesBetween(problem, before, tree, `Tree ${rank + 1}`))}</div>` +
      `<p>${escaped(changeText(problem, before, tree, rank))}</p></li>`
    );
  });
  return `<h3>${title}</h3><ol class="trees">${cards.join("")}</ol>`;
}

// The arcs of a tree: those that the tree before lacks are thick, those that are gone are dotted.
function changesBetween(problem, before, tree, description) {
  const arc = (edge, kind) => ({ edge, kind, label: shortName(problem.floats[edge[0]][edge[1]]) });
  const [old, now] = [edgesOf(before), edgesOf(tree)];
  return {
    arcs: [
      ...now.map((edge) => arc(edge, includes(old, edge) ? "kept" : "chosen looked")),
      ...old.filter((edge) => !includes(now, edge)).map((edge) => arc(edge, "forbidden")),
    ],
    description: `${description}: ${edgesName(now, problem.names)}.`,
  };
}

function changeText(problem, before, tree, rank) {
  if (rank === 0) return "The best tree.";
  const moved = range(1, problem.n + 1).filter((d) => before[d] !== tree[d]);
  const texts = moved.map((d) => `${problem.edge([before[d], d])} becomes ${problem.edge([tree[d], d])}`);
  return `From the tree before: ${listed(texts)}.`;
}

// Return a probability as short text, which says 1 only if it is.
function shareName(x) {
  return x > 0.9995 && x < 1 ? "almost 1" : numberName(Number(Math.min(x, 1).toPrecision(3)));
}
