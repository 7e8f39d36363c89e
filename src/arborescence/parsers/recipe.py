"""The recipe of training: from a treebank to a parser with a tagger and a tokenizer.

To parse words without tags, a parser needs a tagger, and must learn from predicted tags
(`jackknife`); for raw text, it needs a tokenizer. The command line trains by this recipe, too.
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

#: With fewer training sentences, a linear parser is better than a neural parser: docs/neural.md.
FEW: Final = 500
_TAGS: Final = ("upos", "xpos", "feats")
#: The kinds of parsers, as files name them, that are neural for `train`.
_NEURAL: Final = ("biaffine", "multilingual")
#: A warning names columns with more values: a tagger and a network learn them slowly.
_MANY: Final = 1000
#: The least and the largest number of training sentences that choose the epoch without a dev part.
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
    """Train a parser on a treebank, with a tagger and a tokenizer.

    Parameters
    ----------
    train
        The sentences to learn from: a file of CoNLL-U, a folder with a file such as
        ``xx_yy-ud-train.conllu.gz``, several files or folders, or sentences.
    dev
        The sentences that choose the best epoch, given like `train`; by default the dev part of the
        folders. Without a dev part, a tenth of the training sentences chooses, at most 200. If a
        tenth is fewer than 20, or no file is given, the training runs all epochs.
    kind
        ``"linear"``, ``"second-order"``, ``"transition"``, ``"neural"``, or a kind of another
        distribution. By default the best kind for the size of the treebank: see `best_kind`;
        `progress` names this kind.
    start
        A parser, or the name or file of a model, to continue from. The new parser keeps the kind,
        the settings, and all words and relations of this parser, and adds new words and relations.
        The tagger and the tokenizer stay the same, unless `anew`.
    output
        The file for the model; it may be the file of `start`. During the training,
        ``OUTPUT.checkpoint`` is written after each epoch.
    resume
        Whether to continue an interrupted training of `output`.
    skip_invalid
        As for `arborescence.treebank.read`; also called for sentences whose heads are not a tree.
    encoding
        The encoding of the files, as for `arborescence.treebank.read`.
    progress
        Called as ``progress(phase, done, total)``.
    **options
        Options of the kind's `Settings` and of `Recipe`; without a `kind`, the common options of
        all kinds.

    Raises
    ------
    TreebankError
        Before the training, if there is no sentence, a part of a folder is missing, a file is
        broken, or the heads of a sentence are not a tree.
    OptionError
        If an option is unknown, its value is invalid, or it does not go with another option; or if
        `output` or its checkpoint would overwrite a treebank that is read.
    MissingExtraError, ModelError
        If PyTorch is needed and not installed; or a checkpoint belongs to other data or options.

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
    recipe, settings, root = _checked(kind, options)
    settings = settings_from(begun) | settings
    in_part = kind is None or settings_of(kind).of(settings).in_part
    items = _items(train, dev)
    checkpoint = None if output is None else Path(f"{os.fspath(output)}.checkpoint")
    for written in (output, checkpoint):
        if written is not None:
            check_apart(written, filter(_is_file, chain.from_iterable(items)))
    read_all = partial(_read_all, skip=skip_invalid, encoding=encoding, progress=progress)
    treebank, held_out = read_all(items, root, in_part=in_part)
    if dev is None and not held_out and any(map(_is_file, items[0])):
        treebank, held_out = _divided(treebank, progress)
    if begun is None or kind is None:
        kind = _decided(kind, len(treebank), progress)
    if checkpoint and not resume:
        checkpoint.unlink(missing_ok=True)
    parser = _trained(kind, treebank, held_out, recipe, settings, begun, checkpoint, progress)
    if isinstance(start, str | os.PathLike):
        getattr(parser, "info", {})["start"] = Path(start).name
    if output is not None and checkpoint:
        parser.save(output)
        checkpoint.unlink(missing_ok=True)
    return parser


def _decided(kind: str | None, sentences: int, progress: Progress | None) -> str:
    """Return the kind to train; report the reason, or that another kind may be better."""
    if kind is None:
        kind, why = best_kind(sentences)
        _say(progress, "kind", f"{kind}, {why}")
    elif kind == "neural" and sentences < FEW:
        few = f"{sentences:,} sentences are few for a neural parser"
        _say(progress, "kind", f"{few}: compare it with a linear parser")
    return kind


def all_options(kind: str | None) -> dict[str, Option]:
    """Return the options of `train` for a kind, by name; without a kind, the common options."""
    if kind is None:
        first, *others = map(all_options, present_kinds())
        return {
            name: option
            for name, option in first.items()
            if all(name in each and each[name].default == option.default for each in others)
        }
    check_choice("kind", kind, trainable_kinds())
    settings = settings_of(kind)
    of_recipe = described(Recipe)
    if not settings.jackknifed:
        del of_recipe["jackknife"]
    return described(settings) | of_recipe


def best_kind(sentences: int) -> tuple[Trainable, str]:
    """Return the best kind by LAS for a number of sentences, and the reason (docs/neural.md)."""
    if sentences < FEW:
        return "linear", f"the best for fewer than {FEW} sentences"
    if find_spec("torch"):
        return "neural", f"the best for {FEW} sentences or more"
    why = f"for {FEW} sentences or more a neural parser is better, but PyTorch is not installed"
    return ("second-order" if "second-order" in present_kinds() else "linear"), why


def _begun(start: Parser | Name, kind: str | None) -> tuple[Parser, str]:
    """Return the parser to continue from, and its kind; OptionError if `kind` is another kind."""
    from arborescence.parsers.registry import load_to_go_on

    parser: Any = (
        load_to_go_on(start) if isinstance(start, str | os.PathLike) else start.beginning()
    )
    own = "neural" if parser.kind in _NEURAL else parser.kind
    check_choice("the kind of the parser to continue from", own, trainable_kinds())
    if kind not in (None, own):
        raise OptionError(f"the parser to continue from is of the kind {own}, not {kind}")
    return parser, own


def _checked(kind: str | None, options: dict[str, Any]) -> tuple[Recipe, dict[str, Any], Root]:
    """Check options; return the recipe, the settings of the parser, and `root`."""
    known = all_options(kind)
    for name in options.keys() - known.keys():
        raise OptionError(
            f"{name} is not an option of {kind or 'all kinds of'} parsers; the options are "
            f"{', '.join(known)}"
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
    recipe: Recipe,
    settings: dict[str, Any],
    start: Parser | None,
    checkpoint: Path | None,
    progress: Progress | None,
) -> Parser:
    """Train a parser with its tagger and tokenizer."""
    from arborescence.parsers.registry import parser_class
    from arborescence.parsers.shared.reading import Reading
    from arborescence.parsers.shared.varied import varied
    from arborescence.parsers.tagger.tagger import Tagger
    from arborescence.parsers.tagger.tagging import jackknife
    from arborescence.parsers.text.model import Text

    chosen = settings_of(kind).of(settings)
    rng, kept_apart = chosen.rng, len(held_out)
    settings = settings | {"rng": rng}
    recipe = _parts_to_train(recipe, start)
    taught = [*treebank, *(varied(treebank, rng) if recipe.varied else ())]
    text = Text.train(taught, rng=rng, progress=progress) if recipe.text else None
    # Jackknifed parsers rely on tags more than on case: only their taggers learn from the copies.
    if not chosen.jackknifed:
        treebank = taught
    reading = Reading.of(treebank) if start is None else start.reading
    taught, treebank, held_out = map(reading.sentences, (taught, treebank, held_out))
    if start is not None and chosen.jackknifed and start.tagger is not None and not recipe.anew:
        # The tagger of `start` has not seen the sentences.
        treebank += list(start.tagger.tag(treebank, overwrite=True))
        held_out += list(start.tagger.tag(held_out, overwrite=True))
    tags = [column for column in chosen.columns if column in _TAGS]
    tagger = None
    if recipe.tagger and tags:
        for column in tags:
            values = {value for sentence in treebank for value in getattr(sentence, column)}
            if len(values) > _MANY:
                warning = f"{len(values):,} values, learned slowly: leave it out? (columns)"
                _say(progress, column.upper(), warning)
        tagger = Tagger.train(taught, dev=held_out, columns=tags, rng=rng, progress=progress)
        if recipe.jackknife and chosen.jackknifed:
            treebank += jackknife(treebank, columns=tags, rng=rng, progress=progress)
            held_out += list(tagger.tag(held_out, overwrite=True))
    own = parser_class("biaffine" if kind == "neural" else kind) if start is None else type(start)
    parser: Parser = own.train(
        treebank,
        dev=held_out,
        start=start,
        text=text,
        checkpoint=checkpoint,
        progress=progress,
        **({} if tagger is None else {"tagger": tagger}),
        **settings,
    )
    info = getattr(parser, "info", {})
    if (
        "fitted" in info and held_out
    ):  # `held_out` may have each sentence twice, with predicted tags
        info["fitted"] = kept_apart
    return parser


def _parts_to_train(recipe: Recipe, start: Parser | None) -> Recipe:
    """Return the recipe for a parser that goes on: by default, its tagger and tokenizer stay."""
    if start is None:
        return recipe
    several = start.kind == "multilingual"  # its network finds tags; a new language has no text
    text = recipe.text and (recipe.anew or (several and start.text is None))
    return replace(recipe, tagger=recipe.tagger and recipe.anew and not several, text=text)


def _items(train: Source, dev: Source | None) -> tuple[list[Any], list[Any]]:
    """Return the files, or the sentences, to learn from and to choose the epoch by."""
    learned = _listed(train)
    if dev is None:
        chosen_by = [file for item in learned if _is_folder(item) for file in parts_of(item)["dev"]]
    else:
        chosen_by = [source for item in _listed(dev) for source in _part(item, "dev")]
    return [source for item in learned for source in _part(item, "train")], chosen_by


def _divided(
    treebank: list[Sentence], progress: Progress | None
) -> tuple[list[Sentence], list[Sentence]]:
    """Divide a treebank: one part chooses the epoch, unless the treebank is very small."""
    step = max(10, -(-len(treebank) // _MOST_KEPT))
    kept = treebank[step - 1 :: step]
    if len(kept) < _LEAST_KEPT:
        few = f"{len(treebank)} sentences are too few to keep a tenth to choose the epoch by"
        _say(progress, "dev", f"no dev part, and {few}: all epochs are run")
        return treebank, []
    kept_apart = f"{len(kept)} of these sentences are kept to choose the epoch by"
    _say(progress, "dev", f"no dev part: {kept_apart}")
    return [sentence for number, sentence in enumerate(treebank, 1) if number % step], kept


def _listed(source: Source) -> list[Any]:
    return [source] if isinstance(source, str | os.PathLike) else list(source)


def _is_file(item: Any) -> bool:
    return isinstance(item, str | os.PathLike)


def _is_folder(item: Any) -> bool:
    return _is_file(item) and Path(item).is_dir()


def _part(item: Any, part: str) -> list[Any]:
    """Return the files of a folder's part; return any other item unchanged."""
    if not _is_folder(item):
        return [item]
    if files := parts_of(item)[part]:
        return list(files)
    raise TreebankError(
        f"{os.fspath(item)}: the folder has no {part} part, a file such as {part}.conllu or "
        f"xx_yy-ud-{part}.conllu.gz: name another treebank as {part}"
    )


def _read_all(
    items: tuple[list[Any], list[Any]],
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

    both = list(chain.from_iterable(items))
    parts: list[Iterable[Sentence]] = []
    for done, item in enumerate(both):
        if _is_file(item):
            if progress:
                progress(f"reading: {os.fspath(item)}", done, len(both))
            parts.append(list(read(item, skip_invalid=skip, encoding=encoding)))
        else:
            parts.append([item])
    split = len(items[0])
    first, others = (chain.from_iterable(each) for each in (parts[:split], parts[split:]))
    training, held_out = checked(first, others, root, skip, in_part=in_part)
    sizes = f"{len(training):,} sentences to learn from, {len(held_out):,} to choose the epoch by"
    _say(progress, "reading", sizes)
    if not any(set(sentence.deprels) - {"_"} for sentence in training):
        _say(progress, "relations", "the sentences have no relations, so the parser assigns none")
    return training, held_out


def _say(progress: Progress | None, step: str, message: str) -> None:
    """Report a step that is done at once."""
    if progress:
        progress(step, 0, 1)
        progress(f"{step}: {message}", 1, 1)


# en_ewt-ud-train.conllu, test.conllu.gz; for large treebanks also cs_pdt-ud-train-ca.conllu
_PART: Final = re.compile(r"(?:.*[-_.])?(train|dev|test)(?:[-_.].*)?\.conllu(?:\.gz)?")


def parts_of(folder: str | os.PathLike[str]) -> dict[str, list[Path]]:
    """Return the files of "train", "dev" and "test" in a folder, by name; ignore other files."""
    parts: dict[str, list[Path]] = {"train": [], "dev": [], "test": []}
    for file in sorted(Path(folder).iterdir()):
        if match := _PART.fullmatch(file.name):
            parts[match[1]].append(file)
    return parts
