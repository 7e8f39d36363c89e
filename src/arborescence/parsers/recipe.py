"""The recipe of training: a treebank goes in, a parser with all that belongs to it comes out.

To parse other words it needs a tagger, and has to learn from the tags that one gives (`jackknife`);
for text, what cuts it into words. The command line trains by this, too.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from arborescence.core.choices import check_choice
from arborescence.errors import OptionError, TreebankError
from arborescence.parsers.shared.options import (
    Option,
    Recipe,
    described,
    options_of,
    present_kinds,
    settings_from,
    settings_of,
    trainable_kinds,
)
from arborescence.system.files import check_apart
from arborescence.treebank.encodings import UTF8

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from arborescence.core.choices import Root
    from arborescence.parsers.shared.base import Parser
    from arborescence.parsers.shared.options import Progress, Trainable
    from arborescence.treebank import Sentence

    Name = str | os.PathLike[str]
    Source = Name | Iterable[Name] | Iterable[Sentence]
    Skip = Callable[[TreebankError], object]

#: With fewer training sentences, a linear parser is better than a neural one: docs/neural.md.
FEW: Final = 500
_TAGS: Final = ("upos", "xpos", "feats")
#: Of a column with more values, the user is told: a tagger and a network are slow to learn them.
_MANY: Final = 1000
#: How many sentences are kept to choose the epoch by where there is no dev part.
_LEAST_KEPT: Final = 20
_MOST_KEPT: Final = 200


def train(
    train: Source,
    dev: Source | None = None,
    kind: str | None = None,
    *,
    start: Parser | Name | None = None,
    output: Name | None = None,
    resume: bool = False,
    skip_invalid: Skip | None = None,
    encoding: str = UTF8,
    progress: Progress | None = None,
    **options: Any,
) -> Parser:
    """Train a parser on a treebank, with a tagger, and with what cuts raw text into words.

    Parameters
    ----------
    train
        What to learn from: a file of CoNLL-U, a folder that has ``xx_yy-ud-train.conllu.gz`` or the
        like, several of either, or sentences.
    dev
        The same, by which to choose the best epoch; by default the dev part of the folders. Without
        one, a tenth of the sentences is kept for that, at most 200. If that would be fewer than 20,
        or no file is given, all epochs are run.
    kind
        ``"linear"``, ``"second-order"``, ``"transition"``, ``"neural"``, or a kind of another
        distribution. By default the best one for the size of the treebank: see `best_kind`;
        `progress` says which.
    start
        A parser, or the name or file of a model, to go on from: its kind, its settings and all that
        it knows are kept, and new words and relations added. Its tagger, and what cuts raw text,
        stay as they are, unless `anew`.
    output
        Where to write the model; it may be that of `start`. Until it is done,
        ``OUTPUT.checkpoint`` is written each epoch.
    resume
        Whether to go on where an interrupted training of `output` has stopped.
    skip_invalid
        As for `arborescence.treebank.read`; also called for sentences whose heads are not a tree.
    encoding
        That of the files, as for `arborescence.treebank.read`.
    progress
        Called as ``progress(phase, done, total)``.
    **options
        Those of the kind's `Settings` and of `Recipe`; without a `kind`, those that all kinds have.

    Raises
    ------
    TreebankError
        Before anything is trained, if there is no sentence, a part of a folder is missing, a file
        is broken, or the heads of a sentence are not a tree.
    OptionError
        If there is no such option, or its value is invalid or does not go with another one; or if
        `output` or its checkpoint would overwrite a treebank that is read.
    MissingExtraError, ModelError
        If PyTorch is needed and not installed; or a checkpoint is of other data or options.

    Examples
    --------
    >>> from arborescence.parsers import train
    >>> from arborescence.treebank import Sentence
    >>> birds = Sentence.from_words(["Birds", "sing"], upos=["NOUN", "VERB"],
    ...                             heads=[2, 0], deprels=["nsubj", "root"])
    >>> parser = train([birds] * 5, kind="linear", epochs=2, bits=10, text=False)
    >>> [parsed] = parser.parse([["Birds", "sing"]])
    >>> parsed.heads, parsed.upos
    (array([2, 0]), ['NOUN', 'VERB'])
    """
    begun, kind = (None, kind) if start is None else _begun(start, kind)
    beside, settings, root = _checked(kind, options)
    settings = settings_from(begun) | settings
    in_part = kind is None or settings_of(kind).of(settings).in_part
    found = _found(train, dev)
    checkpoint = None if output is None else Path(f"{os.fspath(output)}.checkpoint")
    for written in (output, checkpoint):
        if written is not None:
            check_apart(written, filter(_is_file, chain.from_iterable(found)))
    read_all = partial(_read_all, skip=skip_invalid, encoding=encoding, progress=progress)
    treebank, held_out = read_all(found, root, in_part=in_part)
    if dev is None and not held_out and any(map(_is_file, found[0])):
        treebank, held_out = _divided(treebank, progress)
    if begun is None or kind is None:
        kind = _decided(kind, len(treebank), progress)
    if checkpoint and not resume:
        checkpoint.unlink(missing_ok=True)
    parser = _trained(kind, treebank, held_out, beside, settings, begun, checkpoint, progress)
    if output is not None and checkpoint:
        parser.save(output)
        checkpoint.unlink(missing_ok=True)
    return parser


def _decided(kind: str | None, sentences: int, progress: Progress | None) -> str:
    """Return the kind to train, and say why it was chosen, or that it may not be the best one."""
    if kind is None:
        kind, why = best_kind(sentences)
        _say(progress, "kind", f"{kind}, {why}")
    elif kind == "neural" and sentences < FEW:
        few = f"{sentences:,} sentences are few for a neural parser"
        _say(progress, "kind", f"{few}: compare it with a linear one")
    return kind


def all_options(kind: str | None) -> dict[str, Option]:
    """Return the options of `train` for a kind, by name; without one, those that all kinds have."""
    if kind is None:
        first, *others = map(all_options, present_kinds())
        return {
            name: option
            for name, option in first.items()
            if all(name in each and each[name].default == option.default for each in others)
        }
    check_choice("kind", kind, trainable_kinds())
    settings = settings_of(kind)
    beside = described(Recipe)
    if not settings.jackknifed:
        del beside["jackknife"]
    return described(settings) | beside


def best_kind(sentences: int) -> tuple[Trainable, str]:
    """Return the kind with the best LAS for so many sentences, and why: see ``docs/neural.md``."""
    if sentences < FEW:
        return "linear", f"the best for fewer than {FEW} sentences"
    if find_spec("torch"):
        return "neural", f"the best for {FEW} sentences or more"
    why = f"for {FEW} sentences or more a neural parser is better, but PyTorch is not installed"
    return ("second-order" if "second-order" in present_kinds() else "linear"), why


def _begun(start: Parser | Name, kind: str | None) -> tuple[Parser, str]:
    """Return the parser to go on from, and its kind; complain if that is another one."""
    from arborescence.parsers.registry import load

    parser = load(start) if isinstance(start, str | os.PathLike) else start
    found = "neural" if parser.kind == "biaffine" else parser.kind
    check_choice("the kind of the parser to go on from", found, trainable_kinds())
    if kind not in (None, found):
        raise OptionError(f"the parser to go on from is of the kind {found}, not {kind}")
    return parser, found


def _checked(kind: str | None, options: dict[str, Any]) -> tuple[Recipe, dict[str, Any], Root]:
    """Complain of wrong options; return those of the recipe, the others, and `root`."""
    known = all_options(kind)
    for name in options.keys() - known.keys():
        raise OptionError(
            f"{name} is no option of {kind or 'all kinds of'} parsers; there are {', '.join(known)}"
        )
    of_recipe = options_of(Recipe).keys()
    settings = {name: value for name, value in options.items() if name not in of_recipe}
    if kind is not None:
        settings_of(kind).of(settings).check_installed()
    root = known["root"].checked(settings.get("root", known["root"].default))
    return Recipe.of({name: options[name] for name in of_recipe & options.keys()}), settings, root


def _trained(
    kind: str,
    treebank: list[Sentence],
    held_out: list[Sentence],
    beside: Recipe,
    settings: dict[str, Any],
    start: Parser | None,
    checkpoint: Path | None,
    progress: Progress | None,
) -> Parser:
    """Train what belongs to a parser, and the parser."""
    from arborescence.parsers.registry import parser_class
    from arborescence.parsers.shared.reading import Reading
    from arborescence.parsers.shared.varied import varied
    from arborescence.parsers.tagger.tagger import Tagger
    from arborescence.parsers.tagger.tagging import jackknife
    from arborescence.parsers.text.model import Text

    chosen = settings_of(kind).of(settings)
    rng, kept_apart = chosen.rng, len(held_out)
    settings = settings | {"rng": rng}
    if start is not None and not beside.anew:
        beside = replace(beside, tagger=False, text=False)
    taught = [*treebank, *(varied(treebank, rng) if beside.varied else ())]
    text = Text.train(taught, rng=rng, progress=progress) if beside.text else None
    if not chosen.jackknifed:  # others look at tags more than at case: their tagger learns it
        treebank = taught
    reading = Reading.of(treebank) if start is None else start.reading
    taught, treebank, held_out = map(reading.sentences, (taught, treebank, held_out))
    if start is not None and chosen.jackknifed and start.tagger is not None and not beside.anew:
        # which has not seen the sentences
        treebank += list(start.tagger.tag(treebank, overwrite=True))
        held_out += list(start.tagger.tag(held_out, overwrite=True))
    tags = [column for column in chosen.columns if column in _TAGS]
    tagger = None
    if beside.tagger and tags:
        for column in tags:
            values = {value for sentence in treebank for value in getattr(sentence, column)}
            if len(values) > _MANY:
                said = f"{len(values):,} values, learned slowly: see if you need it (columns)"
                _say(progress, column.upper(), said)
        tagger = Tagger.train(taught, dev=held_out, columns=tags, rng=rng, progress=progress)
        if beside.jackknife and chosen.jackknifed:
            treebank += jackknife(treebank, columns=tags, rng=rng, progress=progress)
            held_out += list(tagger.tag(held_out, overwrite=True))
    parser: Parser = parser_class("biaffine" if kind == "neural" else kind).train(
        treebank,
        dev=held_out,
        start=start,
        tagger=tagger,
        text=text,
        checkpoint=checkpoint,
        progress=progress,
        **settings,
    )
    info = getattr(parser, "info", {})
    if "fitted" in info and held_out:  # with predicted tags, each sentence was there twice
        info["fitted"] = kept_apart
    return parser


def _found(train: Source, dev: Source | None) -> tuple[list[Any], list[Any]]:
    """Return the files, or the sentences, to learn from and to choose by."""
    learned = _listed(train)
    if dev is None:
        chosen_by = [file for item in learned if _is_folder(item) for file in parts_of(item)["dev"]]
    else:
        chosen_by = [one for item in _listed(dev) for one in _part(item, "dev")]
    return [one for item in learned for one in _part(item, "train")], chosen_by


def _divided(
    treebank: list[Sentence], progress: Progress | None
) -> tuple[list[Sentence], list[Sentence]]:
    """Keep a part of a treebank to choose the epoch by; none of a very small one."""
    step = max(10, -(-len(treebank) // _MOST_KEPT))
    kept = treebank[step - 1 :: step]
    if len(kept) < _LEAST_KEPT:
        few = f"{len(treebank)} sentences are too few to keep a tenth to choose by"
        _say(progress, "dev", f"there is none, and {few}: all epochs are run")
        return treebank, []
    _say(progress, "dev", f"there is none: {len(kept)} of these sentences are kept to choose by")
    return [one for number, one in enumerate(treebank, 1) if number % step], kept


def _listed(source: Source) -> list[Any]:
    return [source] if isinstance(source, str | os.PathLike) else list(source)


def _is_file(item: Any) -> bool:
    return isinstance(item, str | os.PathLike)


def _is_folder(item: Any) -> bool:
    return _is_file(item) and Path(item).is_dir()


def _part(item: Any, part: str) -> list[Any]:
    """Return the files of a folder's part; what is no folder, as it is."""
    if not _is_folder(item):
        return [item]
    if files := parts_of(item)[part]:
        return list(files)
    raise TreebankError(
        f"{os.fspath(item)}: the folder has no {part} part, a file such as {part}.conllu or "
        f"xx_yy-ud-{part}.conllu.gz: name another treebank as {part}"
    )


def _read_all(
    found: tuple[list[Any], list[Any]],
    root: Root,
    *,
    skip: Skip | None,
    encoding: str,
    progress: Progress | None,
    in_part: bool,
) -> tuple[list[Sentence], list[Sentence]]:
    """Read the files among the items; check that each sentence is a tree."""
    from arborescence.parsers.shared.training_trees import checked
    from arborescence.treebank import read

    items = list(chain.from_iterable(found))
    parts: list[Iterable[Sentence]] = []
    for done, item in enumerate(items):
        if _is_file(item):
            if progress:
                progress(f"reading: {os.fspath(item)}", done, len(items))
            parts.append(list(read(item, skip_invalid=skip, encoding=encoding)))
        else:
            parts.append([item])
    split = len(found[0])
    first, others = (chain.from_iterable(some) for some in (parts[:split], parts[split:]))
    training, held_out = checked(first, others, root, skip, in_part=in_part)
    said = f"{len(training):,} sentences to learn from, {len(held_out):,} to choose the epoch by"
    _say(progress, "reading", said)
    if not any(set(one.deprels) - {"_"} for one in training):
        _say(progress, "relations", "the sentences have none, so the parser gives none")
    return training, held_out


def _say(progress: Progress | None, step: str, said: str) -> None:
    """Report a step that is done at once."""
    if progress:
        progress(step, 0, 1)
        progress(f"{step}: {said}", 1, 1)


# en_ewt-ud-train.conllu, test.conllu.gz; for large treebanks also cs_pdt-ud-train-ca.conllu
_PART: Final = re.compile(r"(?:.*[-_.])?(train|dev|test)(?:[-_.].*)?\.conllu(?:\.gz)?")


def parts_of(folder: str | os.PathLike[str]) -> dict[str, list[Path]]:
    """Return the files of "train", "dev" and "test" in a folder, by name."""
    # other files are ignored
    parts: dict[str, list[Path]] = {"train": [], "dev": [], "test": []}
    for file in sorted(Path(folder).iterdir()):
        if match := _PART.fullmatch(file.name):
            parts[match[1]].append(file)
    return parts
