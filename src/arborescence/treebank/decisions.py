"""Corrections of a treebank that somebody has accepted or rejected."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from arborescence.core.tree import is_tree
from arborescence.errors import TreebankError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    from arborescence.treebank.sentence import Sentence


def decided(sentences: Iterable[Sentence], decisions: str | os.PathLike[str]) -> Iterator[Sentence]:
    """Correct a treebank as the decisions on the page of `audit` say.

    Parameters
    ----------
    sentences
        The treebank that was audited.
    decisions
        The file of decisions, a line each: JSON with ``decision`` (``"accept"``, or another word),
        ``file``, ``line`` and ``changes``.

    Yields
    ------
    Sentence
        All sentences; those with accepted changes are corrected.

    Raises
    ------
    TreebankError
        If the file of decisions is broken; if a sentence is missing, or has changed since the
        audit; or if accepted changes together make no tree. The message names file and line.

    Examples
    --------
    >>> from tempfile import NamedTemporaryFile
    >>> from arborescence.treebank import Sentence
    >>> change = {"word": 1, "form": "Birds", "was": [2, "obj", "_"], "now": [2, "nsubj", "_"]}
    >>> line = {"decision": "accept", "file": "", "line": 1, "changes": [change]}
    >>> with NamedTemporaryFile("w", suffix=".jsonl") as file:
    ...     _ = file.write(json.dumps(line))
    ...     file.flush()
    ...     birds = Sentence.from_words(["Birds", "sing"], heads=[2, 0], deprels=["obj", "root"])
    ...     [corrected] = decided([birds], file.name)
    >>> corrected.deprels
    ['nsubj', 'root']
    """
    accepted = _accepted(decisions)
    for sentence in sentences:
        changes = accepted.pop((PurePath(sentence.source).name, sentence.line), None)
        yield _corrected(sentence, changes) if changes else sentence
    for (name, line), changes in accepted.items():
        raise TreebankError(
            f"{changes[0]['place']}: no sentence begins at {name}:{line}; give the treebank that "
            "was audited"
        )


def _accepted(decisions: str | os.PathLike[str]) -> dict[tuple[str, int], list[dict[str, Any]]]:
    """Read the accepted changes of each sentence, by the name of its file and its line."""
    accepted: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for number, line in enumerate(Path(decisions).read_text("utf-8").splitlines(), 1):
        try:
            entry = json.loads(line)
            changes = [
                {
                    "place": f"{decisions}:{number}", "word": int(each["word"]),
                    "form": str(each["form"]), "was": _annotation(each["was"]),
                    "now": _annotation(each["now"]),
                }
                for each in entry["changes"]
            ]  # fmt: skip
            place = PurePath(entry["file"]).name, int(entry["line"])
            wanted = entry["decision"] == "accept"
        except (ValueError, TypeError, KeyError) as error:
            raise TreebankError(
                f"{decisions}:{number}: not a line of the file that the page of "
                "'arborescence audit' downloads: decision, file, line and changes in JSON"
            ) from error
        if wanted:
            accepted[place] += changes
    return accepted


def _annotation(values: list[Any]) -> tuple[int, str, str]:
    """Check the head, the relation and the tag of a word."""
    head, deprel, upos = values
    return int(head), str(deprel), str(upos)


def _corrected(sentence: Sentence, changes: list[dict[str, Any]]) -> Sentence:
    """Change words of a sentence; TreebankError if the words are not as they were."""
    words = list(zip(sentence.heads.tolist(), sentence.deprels, sentence.upos, strict=True))
    corrected, forms = list(words), sentence.forms
    for each in changes:
        at, place = each["word"] - 1, f"{each['place']}: {sentence.source}:{sentence.line}"
        if not 0 <= at < len(words) or (forms[at], words[at]) != (each["form"], each["was"]):
            raise TreebankError(f"{place}: word {at + 1} is not as it was in the audit")
        if corrected[at] not in (each["was"], each["now"]):
            raise TreebankError(f"{place}: word {at + 1} has two accepted changes; reject one")
        corrected[at] = each["now"]
    heads, deprels, upos = (list(column) for column in zip(*corrected, strict=True))
    if not is_tree([-1, *heads]):
        raise TreebankError(f"{place}: the accepted changes make no tree; reject one of them")
    return sentence.replace(heads=heads, deprels=deprels, upos=upos)
