"""``arborescence convert --learn`` and ``--with``: treebanks in another annotation scheme."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import typer

from arborescence.cli.outputs import check_kind
from arborescence.cli.progress import note, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import IO

    from arborescence.treebank import Sentence

    Reader = Callable[[str | IO[bytes]], Iterator[Sentence]]

#: The number of rows of the table that are printed; the Python interface has all rows.
_ROWS: Final = 40
#: The options that need ``--with``.
_WITH: Final = {"corrected", "confidence", "rules"}


def learn(
    files: list[str] | None, output: str | None, read: Reader, *, parser: bool, quiet: bool
) -> None:
    """Learn a conversion from two files, write it, and print the new relations of old relations."""
    if not files or len(files) != 2 or not output or output == "-":
        raise typer.BadParameter(
            "--learn needs two treebanks with the same sentences, the old one and the new one, and "
            "-o FILE.model"
        )
    check_kind(output, ("model",))
    from arborescence.parsers import Harmonizer, pair

    sample = pair(*map(read, files))
    note(
        f"{100 * sample.share:.1f} % of the words are paired, in {len(sample.pairs):,} sentences",
        quiet=quiet,
    )
    harmonizer = Harmonizer.learn(sample.pairs, parser=parser)
    if parser:
        note(f"the factor of the parser's scores is {harmonizer.parser_weight:g}", quiet=quiet)
    harmonizer.save(output)
    say("words\told relation\tnew head\tnew relation")
    for old, where, new, count in islice(harmonizer.table, _ROWS):
        say(f"{count}\t{old}\t{where}\t{new}")
    if len(harmonizer.table) > _ROWS:
        note(f"and {len(harmonizer.table) - _ROWS:,} rarer changes", quiet=quiet)


def converted(
    sentences: Iterable[Sentence],
    mapping: str,
    corrected: str | None,
    read: Reader,
    notes: list[str],
    *,
    confidence: bool,
    rules: str | None,
) -> Iterator[Sentence]:
    """Convert sentences; at the end, add lines about rules and cleared columns to `notes`."""
    from arborescence.parsers import Harmonizer, Keeper
    from arborescence.parsers.shared.keeping import keeper_of

    harmonizer = Harmonizer.load(mapping)
    keeper = keeper_of(rules or harmonizer.rules)
    cleared = 0

    def counting() -> Iterator[Sentence]:
        nonlocal cleared
        for sentence in sentences:
            cleared += any(entry != "_" for entry in sentence.deps)
            yield sentence

    options: dict[str, Any] = {"confidence": confidence, "rules": keeper}
    if corrected:
        options["corrected"] = read(corrected)
    yield from harmonizer.convert(counting(), **options)
    if isinstance(keeper, Keeper) and keeper.counts.changed:
        notes.append(f"rules: {keeper.counts}")
    if cleared:
        size = "1 sentence" if cleared == 1 else f"{cleared:,} sentences"
        notes.append(
            f"enhanced dependencies (DEPS) of {size} were removed: they are in the old scheme"
        )


def check(mapping: str | None, output: str | None, **options: object) -> None:
    """Raise BadParameter for options that need ``--with``, or do not go with it."""
    if options.pop("parser"):
        raise typer.BadParameter("--parser goes with --learn only")
    for name, value in options.items():
        if value and (mapping is None) == (name in _WITH):
            how = "does not go with --with" if mapping else "goes with --with FILE.model only"
            raise typer.BadParameter(f"--{name} {how}")
    if output:
        check_kind(output, ("conllu", "json", "svg"))
