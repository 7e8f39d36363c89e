"""``arborescence validate``: which words of a treebank break the rules of its annotation scheme."""

from __future__ import annotations

import json
from collections import Counter
from typing import Annotated

import typer

from arborescence.cli.options import Arguments, JsonOption, QuietOption
from arborescence.cli.progress import note, say


def validate(
    files: Arguments = None,
    rules: Annotated[str, typer.Option(metavar="ud|FILE.toml")] = "ud",
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Check trees by the rules of an annotation scheme: a line for each word that breaks one.

    The exit status is 1 if one was broken.

    Parameters
    ----------
    files
        Treebanks (CoNLL-U); '-' or nothing: the standard input.
    rules
        The rules: those of UD, or of a file.
    as_json
        Write JSON, a broken rule a line.

    Examples
    --------
    arborescence validate treebank.conllu
    arborescence parse test.conllu | arborescence validate
    arborescence validate --rules rules.toml *.conllu --json | jq .rule | sort | uniq -c
    """
    from arborescence.rules.sets import rules_of
    from arborescence.treebank import validate

    checked = rules_of(rules)
    counts: Counter[str] = Counter()
    for file in files or ["-"]:
        for broken in validate(file, checked):
            counts[broken.rule] += 1
            say(json.dumps(broken._asdict(), ensure_ascii=False) if as_json else str(broken))
    if counts:
        each = ", ".join(f"{name} {number}" for name, number in counts.most_common())
        note(f"{counts.total()} broken rules: {each}", quiet=quiet)
        raise typer.Exit(1)
    note("no broken rules", quiet=quiet)
