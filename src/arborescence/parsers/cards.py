"""The card of a package: its models, their scores, their calibration errors, and their data.

Values from a treebank or a model are escaped, in Markdown and in the commands that readers copy: so
they are nothing but text.
"""

from __future__ import annotations

import re
import shlex
from time import process_time
from typing import TYPE_CHECKING, Any, Final

from arborescence.errors import OptionError, printable
from arborescence.parsers.calibrating import FEWEST, calibration, fitted_on, probabilistic
from arborescence.parsers.recipe import all_options
from arborescence.parsers.shared.given import untagged
from arborescence.treebank.evaluation import evaluate
from arborescence.treebank.spaces import raw_text
from arborescence.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from arborescence.parsers.folders import Treebank
    from arborescence.parsers.shared.options import Progress
    from arborescence.treebank import Sentence

    #: The cells of a table of figures, by model and input.
    _Cells = dict[str, dict[str, list[str]]]

#: The sentence of card and command about a licence that allows no commercial use.
NO_COMMERCE: Final = "The licence of the treebank, and so of the models, forbids commercial use."
#: The marks that Markdown, or one of its dialects, does not read as text.
_MARKS: Final = re.compile(r"[\\`*_{}\[\]<>#|&~!:@$]|(?<=www)\.", re.IGNORECASE)
_TRAINED: Final = {"biaffine": "neural", "multilingual": "neural"}
_MEASURED: Final = ("sentence_spans", "words", "upos", "lemmas", "uas", "las")
_HEADER: Final = "| {} | sentences | words | UPOS | lemmas | UAS | LAS | words/s |\n" + (
    "| --- |" + 7 * " ---: |"
)
_SURE: Final = (
    "Calibration error of probabilities (`--confidence`), in points: the mean difference between "
    "a probability and the share of right answers; ten bins, the same test part, from words, with "
    "the model's own tags.\n\n| model | edges | relations | trees | temperatures |\n"
    "| --- | ---: | ---: | ---: | --- |"
)

_CARD: Final = """\
# {package}

{language} for Arborescence: from raw text to sentences,
words, tags, lemmas and dependency trees.

```console
$ pip install "arborescence[cli,jit]" {package}
$ arborescence parse -m {first} --format text letter.txt
```

{models}
## How good it is

{test}

{scores}
{sure}
## Data and licence

| | |
| --- | --- |
| Treebank | [{treebank}](https://github.com/UniversalDependencies/{address}), of UD |
| Contributors | {contributors} |
| Genre | {genre} |
| Learned from | {sizes} |
| Licence | {terms}, as the treebank{file}. The library itself is under the MIT licence |

{commerce}The models were computed from the treebank: they hold weights, and lists of its words,
lemmas and tags.{note}

## How it was made

```console
{commands}
```

To cite it, cite the treebank as its README asks, and the library Arborescence {library}.
"""

#: The cells of a row without figures.
_NONE: Final = ("–",) * (len(_MEASURED) + 1)
_LANGUAGES: Final = """\
# {package}

{count} languages for Arborescence, by one network: from raw text to sentences, words, tags, lemmas
and dependency trees. It needs no PyTorch.

```console
$ pip install "arborescence[cli,jit]" {package}
$ arborescence parse -m {name}:de --format text brief.txt
$ arborescence parse -m {name}:auto --format text letter.txt
```

## How good it is

F1 on the {part} of each treebank, as the CoNLL 2018 shared task counts. UPOS, lemmas, UAS and
LAS are from raw text; the next UAS and LAS from given words. Words/s are in processor time on the
machine that made it. Each language has a card with more.

| language | code | treebank | licence | UPOS | lemmas | UAS | LAS | UAS | LAS | words/s |
| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
{rows}

## Data and licence

It has learned from these treebanks of Universal Dependencies: {treebanks}. It has all their
licences: {terms}. The library itself is under the MIT licence.
{commerce}{note}
To cite it, cite the treebanks as their READMEs ask, and the library Arborescence {library}.
"""


def card_of(
    package: str,
    data: Treebank,
    licence: str,
    models: Mapping[str, Any],
    kept: Mapping[str, int],
    *,
    note: str,
    progress: Progress | None,
) -> str:
    """Measure models on the test part of a treebank, and write their card.

    `kept` has the number of sentences that the temperatures of each model were fitted on, or 0.
    """
    gold = data.tested()
    figures = _measured(gold, models, progress)
    return _card(package, data, licence, models, kept, gold, figures, note, progress)


def _card(
    package: str,
    data: Treebank,
    licence: str,
    models: Mapping[str, Any],
    kept: Mapping[str, int],
    gold: list[Sentence],
    figures: _Cells,
    note: str,
    progress: Progress | None,
) -> str:
    """Write a card, with the figures of each model and input."""
    return _CARD.format(
        package=package,
        language=data.language,
        first=next(iter(models)),
        models="".join(map(_described, models, models.values())),
        test=_tested(data.name, gold),
        scores="\n".join(_rows(figures)),
        sure="\n".join(_sure(gold, models, kept, progress)),
        treebank=data.name,
        address=data.name.replace(" ", "%20"),
        contributors=plain(data.contributors),
        genre=plain(data.genre),
        sizes=_sizes(data),
        terms=plain(data.licence or licence),
        file=f": see `{data.terms_in_package}`" if data.terms else "",
        commerce="" if commercial(licence) else f"{NO_COMMERCE}\n\n",
        note=f" {note}" if note else "",
        commands="\n".join(_command(*each, data.name) for each in models.items()),
        library=__version__,
    )


def cards_of_languages(
    package: str,
    data: Sequence[Treebank],
    licence: str,
    name: str,
    parser: Any,
    *,
    note: str,
    progress: Progress | None,
) -> Iterator[tuple[str, str]]:
    """Yield the cards of a model of several languages, by the names of their files.

    Each language is measured on the treebank whose annotation it has; so all of them must be given.
    The last card is that of the package: it has a row for each language.
    """
    treebanks = {each.name.removeprefix("UD_"): each for each in data}
    most = data[0].most
    rows = []
    for code in sorted(parser.languages):
        own = parser.in_language(code)
        if own.treebank not in treebanks:
            raise OptionError(f"{code}: give the folder of {own.treebank}, too (treebank=)")
        of_language = treebanks[own.treebank]
        gold, model = of_language.tested(), {f"{name}:{code}": own}
        cells = _measured(gold, model, progress)
        others = [
            f"{treebanks[each].name} ({plain(treebanks[each].licence)})"
            for each in (own.info or {}).get("treebanks", ())
            if each != own.treebank and each in treebanks
        ]
        said = f"It has also learned from {', '.join(others)}." if others else ""
        kept = {f"{name}:{code}": fitted_on(own)}
        card = _card(package, of_language, licence, model, kept, gold, cells, said, progress)
        yield f"languages/{code}.md", card
        of_input = cells.get(f"{name}:{code}", {})
        figures = [*of_input.get("raw text", _NONE)[2:6], *of_input.get("words", _NONE)[4:]]
        about = f"[{of_language.language}](languages/{code}.md)", f"`{code}`", of_language.name
        rows.append(f"| {' | '.join((*about, plain(of_language.licence), *figures))} |")
    yield (
        "README.md",
        _LANGUAGES.format(
            package=package,
            name=name,
            count=len({each.language for each in data}),
            part=f"first {most:,} words of the test part" if most else "test part",
            rows="\n".join(rows),
            terms=licence,
            treebanks=", ".join(sorted(treebanks)),
            commerce="" if commercial(licence) else f"\n{NO_COMMERCE}\n",
            note=f"\n{note}\n" if note else "",
            library=__version__,
        ),
    )


def several_languages(parser: Any) -> bool:
    """Return whether a parser belongs to a model of several languages."""
    return len(getattr(parser, "languages", ())) > 1


def commercial(licence: str) -> bool:
    """Return whether a licence, an SPDX identifier, allows commercial use."""
    return "-NC" not in licence


def plain(text: str) -> str:
    r"""Return text that Markdown shows as it is, in one line.

    >>> print(plain("[Bird](http://x.org) | <b>\n"))
    \[Bird\](http\://x.org) \| \<b\>\\n
    """
    return _MARKS.sub(r"\\\g<0>", printable(text))


def _measured(gold: list[Sentence], models: Mapping[str, Any], progress: Progress | None) -> _Cells:
    """Return the cells of the table of figures, by model and input; {} without a test part."""
    words = list(map(untagged, gold))
    inputs: dict[str, Any] = {"raw text": raw_text(gold), "words": words, "words, gold tags": gold}
    cells: _Cells = {}
    for name, parser in models.items() if gold else ():
        given = {how: data for how, data in inputs.items() if parser.text or how != "raw text"}
        list(parser.parse(words[:50]))  # compile before the speed is measured
        cells[name] = {}
        for done, (how, data) in enumerate(given.items()):
            if progress:
                progress(f"measuring {name}: {how}", done, len(given))
            start = process_time()
            parsed = list(parser.parse(data))
            speed = f"{sum(map(len, parsed)) / (process_time() - start):,.0f}"
            scores = evaluate(gold, parsed)
            figures = [f"{100 * getattr(scores, each).f1:.2f}" for each in _MEASURED]
            shown = len(_MEASURED) - (2 if how == "words, gold tags" else 0)
            if how != "raw text":
                figures[:2] = "–", "–"
            if shown < len(_MEASURED):
                figures[2:4] = "–", "–"
            cells[name][how] = [*figures, speed]
    return cells


def _rows(cells: _Cells) -> Iterator[str]:
    """Yield the rows of the table of figures."""
    for name, of_model in cells.items():
        yield _HEADER.format(f"`{name}`" if len(cells) > 1 else "from")
        for how, figures in of_model.items():
            yield f"| {how} | {' | '.join(figures)} |"
        yield ""


def _sure(
    gold: list[Sentence],
    models: Mapping[str, Any],
    kept: Mapping[str, int],
    progress: Progress | None,
) -> Iterator[str]:
    """Yield the rows of the table of calibration errors, of the models with probabilities."""
    sure = {name: parser for name, parser in models.items() if probabilistic(parser)}
    if not gold or not sure:
        return
    yield _SURE
    for done, (name, parser) in enumerate(sure.items()):
        if progress:
            progress(f"measuring probabilities: {name}", done, len(sure))
        errors = " | ".join(f"{each:.1f}" for each in calibration(parser, gold))
        yield f"| `{name}` | {errors} | {_fitted(kept[name])} |"
    yield ""


def _fitted(sentences: int) -> str:
    """Return a cell of the table: the number of sentences for fitting, if they are enough."""
    if sentences >= FEWEST:
        return f"fitted on {sentences:,} sentences"
    return f"*not fitted*: {sentences:,} sentences were kept apart, but {FEWEST} are needed"


def _tested(name: str, gold: list[Sentence]) -> str:
    """Return the sentence about the data of the table of figures."""
    if not gold:
        return "The folder of the treebank had no test part, so nothing was measured."
    return (
        f"On the test part of {name}, {len(gold):,} sentences, {sum(map(len, gold)):,} words: "
        "F1, as the CoNLL 2018 shared task counts (punctuation too; relations without subtypes). "
        "Words/s are in processor time on the machine that made it."
    )


def _sizes(data: Treebank) -> str:
    train, dev = data.sentences("train"), data.sentences("dev")
    chosen = f"; the epoch was chosen on {len(dev):,} sentences" if dev else ""
    return f"{len(train):,} sentences, {sum(map(len, train)):,} words{chosen}"


def _described(name: str, parser: Any) -> str:
    """Describe a model by the first line of its class's docstring, and by its base."""
    line = (type(parser).__doc__ or "").strip().partition("\n")[0]
    base = parser.info.get("base")
    if not isinstance(base, list):
        return f"`{name}`: {line[:1].lower()}{line[1:]}\n"
    learned = ", ".join(plain(str(each)) for each in base)
    return (
        f"`{name}`: a neural parser, trained further from a model of several languages. That model "
        f"has learned from these treebanks, whose licences also hold: {learned}.\n"
    )


def _command(name: str, parser: Any, treebank: str) -> str:
    """Return the command that trains a model, with the options that differ from their defaults."""
    if several_languages(parser):
        return "$ make multi"  # in a checkout of the library
    kind = _TRAINED.get(parser.kind, parser.kind)
    try:
        defaults = {option: each.default for option, each in all_options(kind).items()}
    except ValueError:
        defaults = {}  # this kind of parser is made of other parsers
    encoder = getattr(parser, "encoder", None)
    info = parser.info | ({"encoder": encoder.name} if encoder else {})
    changed = [
        _written(option, value)
        for option, default in defaults.items()
        if _written(option, value := info.get(option, default)) != _written(option, default)
    ]
    train = ["$ arborescence train", kind, shlex.quote(treebank), "-o", f"{name}.npz"]
    if "start" in info:
        train.append(f"--from {shlex.quote(printable(str(info['start'])))}")
    return " ".join([*train, *changed])


def _written(option: str, value: Any) -> str:
    """Return an option in the syntax of the command line."""
    name = option.replace("_", "-")
    if isinstance(value, bool) and option != "projective":
        return f"--{name}" if value else f"--no-{name}"
    if isinstance(value, bool):
        value = "yes" if value else "no"
    text = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
    return f"--{name} {shlex.quote(printable(text))}"
