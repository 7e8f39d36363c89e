// The score matrix: a row for each head, a column for each dependent; its cells are buttons.

// Return the table as text. `user` has the edges that the reader requires or forbids, and those
// whose score the reader changed.
function drawMatrix(problem, steps, at, user, given) {
  const step = steps[at];
  const { names, n } = problem;
  const weights = weightsOfStep(problem, step);
  const chosen = step.chosen.length ? step.chosen.map((edge) => edge.stands_for) : edgesOf(step.heads);
  const heat = step.detail?.name === "marginal" ? step.detail.rows : null;
  const head = names.slice(1).map((name) => `<th scope="col"><bdi>${escaped(name)}</bdi></th>`);
  const rows = range(0, n + 1).map((h) => {
    const cells = range(1, n + 1).map((d) => {
      if (h === d) return '<td class="none"></td>';
      const edge = [h, d];
      const key = String(edge);
      const says = [];
      const kinds = [];
      const mark = (test, kind, text) => {
        if (!test) return;
        kinds.push(kind);
        says.push(text);
      };
      const score = given[h][d];
      mark(includes(step.looks_at, edge), "looked", "looked at");
      mark(includes(chosen, edge), "chosen", "chosen");
      mark(includes(step.required, edge), "required", "required in this step");
      mark(includes(step.forbidden, edge), "forbidden", "forbidden in this step");
      mark(includes(user.required, edge), "required", "required by you");
      mark(includes(user.forbidden, edge), "forbidden", "forbidden by you");
      mark(includes(user.changed, edge), "changed", "changed");
      mark(user.selected && same(user.selected, edge), "selected", "selected");
      const gone = step.edges.length > 0 && problem.has(edge) && !weights.has(key);
      mark(gone, "gone", "inside a node");
      const now = weights.get(key);
      const differs = now !== undefined && now !== score;
      const small = differs ? `<small>${heat ? "" : "now "}${shortName(now)}</small>` : "";
      const own = ownName(edge, names);
      const shown = `${own ? `<i>${escaped(own)}</i> ` : ""}${score === null ? "–" : shortName(score)}`;
      const spoken = `${fullName(edge, names)}: ${score === null ? "absent" : numberName(score)}`;
      const label = [spoken, ...(differs ? [`now ${numberName(now)}`] : []), ...says].join(", ");
      const shade = heat ? ` style="--heat: ${Math.round(heat[h][d] * 100)}%"` : "";
      return (
        `<td class="${kinds.join(" ")}"${shade}><button type="button" tabindex="-1" data-edge="${key}" ` +
        `aria-label="${escaped(label)}">${shown}${small}</button></td>`
      );
    });
    return `<tr><th scope="row"><bdi>${escaped(names[h])}</bdi></th>${cells.join("")}</tr>`;
  });
  return (
    `<table class="matrix${heat ? " heat" : ""}"><caption>Scores: from the head (row) to the dependent (column)</caption>` +
    `<thead><tr><td></td>${head.join("")}</tr></thead><tbody>${rows.join("")}</tbody></table>`
  );
}
