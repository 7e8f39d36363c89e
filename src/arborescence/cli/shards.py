"""Parse all files of a folder, in several processes or on a Ray cluster: `--shards`, `--ray`.

A file is written as a whole or not at all, so that a stopped run can continue.
"""

from __future__ import annotations

import os
import re
import sys
from collections import defaultdict
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from arborescence.cli.options import hush
from arborescence.cli.parsing import ParseArguments, analyses, loaded, reader_of
from arborescence.cli.progress import note, steps, warnings_as_notes
from arborescence.cli.sentences import LINES, Skipped
from arborescence.errors import OptionError, TreebankError, printable
from arborescence.parsers.shared.keeping import Counts, Keeper, keeper_of
from arborescence.parsers.shared.repeats import Repeats
from arborescence.system.files import unfinished_name
from arborescence.system.workers import Failure, in_processes
from arborescence.treebank import write, write_kbest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from arborescence.cli.sentences import Format
    from arborescence.integrations.arrow import Parse
    from arborescence.rules import Rule
    from arborescence.treebank.conllu import Analyses

ShardKind = Literal["conllu", "text", "parquet"]

_KINDS: Final[dict[str, ShardKind]] = {
    ".conllu": "conllu", ".conllup": "conllu", ".cupt": "conllu", ".txt": "text",
    ".parquet": "parquet",
}  # fmt: skip


class Shard(NamedTuple):
    """A unit of work: a file to parse."""

    #: The file.
    source: Path
    #: The format of the file.
    kind: ShardKind
    #: The file for the result.
    target: Path
    #: The size of the file in bytes.
    size: int


class FolderFiles(NamedTuple):
    """The files of a folder."""

    #: The files to parse, the largest first, so that no large file is left for the end.
    waiting: list[Shard]
    #: The number of files whose results exist.
    finished: int
    #: Other files (neither CoNLL-U nor text nor Parquet by their names), and special files.
    others: list[Path]


def find(folder: Path, target: Path, *, parquet: bool = False) -> FolderFiles:
    """Find the files of a folder and of the folders in it.

    Their names end in ``.conllu``, ``.conllup``, ``.cupt`` or ``.txt``, also with ``.gz`` after it,
    or in ``.parquet``. Names that begin with a dot or an underscore are left out, as in other
    tools. Links to files are followed, links to folders are not. The results go to `target`, under
    the same names; the result of a text ends in ``.conllu``. With `parquet`, all results are
    Parquet; else only the results of Parquet files. OptionError if the folder is missing, if
    `target` is in the folder, or if two files have the same result.
    """
    if not folder.is_dir():
        raise OptionError(f"{folder}: no such folder")
    if target.resolve().is_relative_to(folder.resolve()):
        raise OptionError(f"{target} is in {folder}: the results would be parsed the next time")
    waiting: list[Shard] = []
    others: list[Path] = []
    sources: dict[Path, Path] = {}
    for path in sorted(_files(folder)):
        inside = path.relative_to(folder)
        packed = path.suffix == ".gz"
        plain = inside.with_suffix("") if packed else inside
        kind = _KINDS.get(plain.suffix)
        if kind is None or (packed and kind == "parquet") or not path.is_file():
            others.append(path)
            continue
        ending = plain.suffix if kind == "conllu" else ".conllu"
        if parquet or kind == "parquet":
            ending = ".parquet"
        result = target / plain.with_suffix(ending)
        if packed and ending != ".parquet":
            result = result.with_name(f"{result.name}.gz")
        if result in sources:
            raise OptionError(f"{sources[result]} and {path} would both become {result}")
        sources[result] = path
        waiting.append(Shard(path, kind, result, path.stat().st_size))
    unfinished = [shard for shard in waiting if not shard.target.exists()]
    unfinished.sort(key=lambda shard: -shard.size)
    return FolderFiles(unfinished, len(waiting) - len(unfinished), others)


def remove_unfinished(targets: Iterable[Path]) -> None:
    """Remove the unfinished results of killed processes (see `system.files.replacing`)."""
    names = defaultdict(set)
    for target in targets:
        names[target.parent].add(unfinished_name(target))
    for folder, begun in names.items():
        for path in folder.glob(".*"):
            if path.name[:-16] in begun and re.fullmatch("[0-9a-f]{16}", path.name[-16:]):
                path.unlink(missing_ok=True)


def _files(folder: Path) -> Iterator[Path]:
    folders = [folder]
    while folders:
        for path in folders.pop().iterdir():
            if path.name.startswith((".", "_")):
                continue
            if path.is_dir() and not path.is_symlink():
                folders.append(path)
            else:
                yield path


class Done(NamedTuple):
    """The counts of a parsed file."""

    #: The number of words.
    words: int
    #: The numbers of sentences, words and lines that were left out.
    lost: tuple[int, int, int]
    #: The error of the first sentence that was left out, or "".
    first_lost: str
    #: The counts of the rules' changes.
    counts: Counts


def parse_folder(options: ParseArguments, rules: Keeper | str | None) -> None:
    """Parse the files of a folder into another; raise TreebankError if some were not parsed.

    If `rules` is a `Keeper`, it counts the changes.
    """
    source, target = map(Path, options.files or ())
    files = find(source, target, parquet=options.parquet)
    if not files.waiting and not files.finished:
        raise OptionError(f"{source}: no .conllu, .txt or .parquet files")
    quiet = options.quiet
    for path in files.others[:1]:
        more = f" and {len(files.others) - 1:,} others" if len(files.others) > 1 else ""
        note(f"left out {path}{more}: no file named .conllu, .txt or .parquet", quiet=quiet)
    if files.finished:
        note(f"{files.finished:,} files were finished before", quiet=quiet)
    keeper = rules if isinstance(rules, Keeper) else None
    results = _results(files.waiting, options, keeper.rules if keeper else rules)
    begun = monotonic()
    total = len(files.waiting)
    failures: list[tuple[Shard, Failure]] = []
    done: list[Done] = []
    with closing(results), steps(quiet=quiet) as step:
        step("files parsed", 0, total)
        for number, (shard, result) in enumerate(results, 1):
            if isinstance(result, Failure):
                failures.append((shard, result))
            else:
                done.append(result)
                if keeper:
                    keeper.add(result.counts)
            step("files parsed", number, total)
    seconds = monotonic() - begun
    words = sum(each.words for each in done)
    note(
        f"{len(done):,} files, {words:,} words, in {seconds:.1f} s: "
        f"{words / max(seconds, 1e-9):,.0f} words a second",
        quiet=quiet,
    )
    if keeper:
        note(str(keeper.counts), quiet=quiet)
    skipped = Skipped()
    for each in done:
        skipped.add(each.lost, each.first_lost)
    skipped.report()
    for shard, failure in failures:
        reason = failure.reason
        message = reason if str(shard.source) in reason else f"{shard.source}: {reason}"
        sys.stderr.write(f"not parsed: {printable(message)}\n")
    if failures:
        files_were = "1 file was" if len(failures) == 1 else f"{len(failures):,} files were"
        raise TreebankError(f"{files_were} not parsed; the same command tries again")


def _results(
    waiting: list[Shard], options: ParseArguments, rules: Any
) -> Generator[tuple[Shard, Done | Failure]]:
    make = partial(FileParser, options, rules)
    if not waiting:
        return
    try:
        if options.ray:
            from arborescence.integrations.ray import on_cluster

            yield from on_cluster(make, waiting, options.ray, options.workers)
        else:
            died = partial(_again, quiet=options.quiet)
            yield from in_processes(make, waiting, options.workers or _cores(), died)
    finally:
        remove_unfinished(shard.target for shard in waiting)


class FileParser:
    """Parses one file after the other, with one model and the same rules."""

    def __init__(self, options: ParseArguments, rules: tuple[Rule, ...] | str | None) -> None:
        self.options, self.rules = options, rules
        self.parser = loaded(options)
        self.keeper: Keeper | str | None = None
        self.words = 0
        self.of_files, self.of_tables = Repeats(), Repeats()

    def __call__(self, shard: Shard) -> Done:
        """Parse a file as `arborescence parse` does."""
        self.words, self.keeper = 0, keeper_of(self.rules)
        skipped = Skipped()
        shard.target.parent.mkdir(parents=True, exist_ok=True)
        parse = self._parse_tables if shard.kind == "parquet" else self._parse_file
        with warnings_as_notes():
            hush(self.options.quiet)
            parse(shard, skipped if self.options.skip_invalid else None)
        counts = self.keeper.counts if isinstance(self.keeper, Keeper) else Counts()
        return Done(self.words, skipped.lost, skipped.first, counts)

    def _parse_file(self, shard: Shard, skipped: Skipped | None) -> None:
        options = replace(self.options, format=_format(self.options, shard))
        read = reader_of(options, self.parser, skipped)
        sentences = read(str(shard.source))
        trees = analyses(sentences, self.parser, options, skipped, self.keeper, self.of_files)
        trees = skipped.left(trees) if skipped else trees
        counted = self._counted(trees)
        if shard.target.suffix == ".parquet":
            from arborescence.integrations import arrow

            kinds = {"confidence": options.confidence, "kbest": bool(options.kbest)}
            arrow.write(counted, shard.target, **kinds)
        elif options.kbest:
            write_kbest(counted, shard.target)
        else:
            write((tree for [(tree, _)] in counted), shard.target)

    def _counted(self, trees: Iterable[Analyses]) -> Iterator[Analyses]:
        for each in trees:
            self.words += len(each[0][0])
            yield each

    def _parse_tables(self, shard: Shard, skipped: Skipped | None) -> None:
        from arborescence.integrations import arrow

        options = self.options
        parse = arrow.Parse(
            self.parser,
            root=options.root,
            projective=options.projective,
            confidence=options.confidence,
            rules=self.keeper,
            once=options.once and self.of_tables,
            kbest=options.kbest,
            lines=LINES.get(options.format),
            max_words=options.max_words,
            skip_invalid=skipped,
        )
        schema = parse.schema(arrow.schema_of(shard.source))
        parsed = self._parsed(parse, arrow.read_tables(shard.source))
        arrow.write_tables(parsed, shard.target, schema)

    def _parsed(self, parse: Parse, tables: Iterable[Any]) -> Iterator[Any]:
        first = 0
        for table in tables:
            parsed = parse(table, first)
            first += len(table)
            self.words += sum(len(heads) for heads in parsed["heads"] if heads.is_valid)
            yield parsed


def _format(options: ParseArguments, shard: Shard) -> Format:
    """Return the format of a file; the format of a text is that of --format, by default "text"."""
    if shard.kind == "text":
        return "text" if options.format == "conllu" else options.format
    return "conllu"


def _again(shard: Shard, *, quiet: bool) -> None:
    """Remove the files of a process that was killed."""
    remove_unfinished([shard.target])
    note(f"{shard.source}: its process was killed; the file is parsed again", quiet=quiet)


def _cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
