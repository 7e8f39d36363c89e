"""``arborescence parse``, ``split`` and ``tag``: the options, and the work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from arborescence.cli.options import (
    Arguments,
    EncodingOption,
    JsonOption,
    KBestOption,
    QuietOption,
    RootOption,
    SkipOption,
    ThreadsOption,
    WordsOption,
)
from arborescence.cli.outputs import ends, into
from arborescence.cli.progress import counted, note, say
from arborescence.cli.sentences import Format, TextFormat, deliver, hinted, hinting, is_of_spacy
from arborescence.errors import OptionError, TreebankError
from arborescence.parsers.described import words_of
from arborescence.treebank.encodings import UTF8

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from arborescence.cli.sentences import Skipped
    from arborescence.parsers import Keeper, Parser
    from arborescence.parsers.shared.base import ParseOptions
    from arborescence.treebank import Sentence
    from arborescence.treebank.conllu import Analyses


@dataclass(frozen=True, kw_only=True)
class ParseArguments:
    """The options of `arborescence parse`.

    Parameters
    ----------
    files
        The input; '-' or nothing: the standard input. FILE.spacy has spaCy's documents.
    sentence
        A sentence to parse, instead of files: raw text, or words with --format tokens.
    models
        A model file, 'english', or 'english-fast' (less accurate, many times faster); several parse
        together.
    weights
        The weights of several models; by default 1.
    output
        Write CoNLL-U, or by the ending .json, .svg or .spacy (of spaCy).
    format
        CoNLL-U; a sentence a line with spaces between the words; raw text; raw text with a
        sentence on each line; or raw text whose sentences continue from line to line.
    projective
        Whether edges must not cross; by default as the model was trained.
    confidence
        Write the probability of each edge into MISC.
    rules
        Rules that all trees keep: the rules of Universal Dependencies, or of a file. A line at the
        end counts the changes.
    keep
        Keep given heads and relations, and find the best ones for '_'.
    keep_anyway
        As --keep, but if no tree has all given heads and relations, or no such tree keeps the
        --rules, give up the fewest; a comment names their words.
    encoder
        The pretrained encoder that the model was trained with: its folder, or its name on the
        Hugging Face hub.
    device
        Let PyTorch run a neural parser, on this device; by default NumPy runs it.
    as_json
        Write JSON, a sentence a line, instead of CoNLL-U.
    tree
        Draw the trees on the terminal, instead of CoNLL-U.
    max_words
        Refuse sentences of more than N words.
    shards
        Parse all files of the folder IN into the folder OUT, in several processes.
    ray
        As --shards, on the Ray cluster at this address, or on this machine.
    workers
        The number of processes, or actors of Ray, with one thread each.
    parquet
        Write Parquet to OUT, not CoNLL-U.
    """

    files: Arguments = None
    sentence: Annotated[str | None, typer.Option(metavar="TEXT")] = None
    models: Annotated[list[str] | None, typer.Option("--model", "-m", show_default="english")] = (
        None
    )
    weights: Annotated[str | None, typer.Option(metavar="W,W...")] = None
    output: Annotated[str | None, into("conllu", "json", "svg", "spacy")] = None
    format: Format = "conllu"
    encoding: EncodingOption = UTF8
    kbest: KBestOption = None
    root: RootOption = "single"
    projective: Annotated[bool | None, typer.Option("--projective/--no-projective")] = None
    confidence: bool = False
    rules: Annotated[
        str | None,
        typer.Option(metavar="ud|FILE.toml|none", show_default="the model's, with no --kbest"),
    ] = None
    keep: bool = False
    keep_anyway: bool = False
    threads: ThreadsOption = 1
    encoder: Annotated[
        str | None, typer.Option(metavar="NAME_OR_PATH", show_default="if it was downloaded before")
    ] = None
    device: Annotated[str | None, typer.Option(metavar="cpu|cuda")] = None
    as_json: JsonOption = False
    tree: bool = False
    skip_invalid: SkipOption = False
    max_words: Annotated[int, typer.Option(min=1, metavar="N")] = 5000
    shards: bool = False
    ray: Annotated[str | None, typer.Option(metavar="ADDRESS|local")] = None
    workers: Annotated[int | None, typer.Option(min=1, metavar="N", show_default="one a core")] = (
        None
    )
    parquet: bool = False
    quiet: QuietOption = False

    @property
    def kept(self) -> bool | Literal["anyway"]:
        """The library's option `keep`."""
        return "anyway" if self.keep_anyway else self.keep

    def check(self) -> None:
        """Raise BadParameter if some options do not go together."""
        if self.sentence is not None and self.files:
            raise typer.BadParameter("give files or --sentence, not both")
        if self.shards or self.ray:
            others = self.output or self.as_json or self.tree or self.threads > 1
            if others or len(self.files or ()) != 2:
                raise typer.BadParameter(
                    "--shards and --ray take two folders, IN and OUT, and go with --workers, not "
                    "with --output, --json, --tree or --threads"
                )
            if self.kept and self.parquet:
                raise typer.BadParameter("--keep goes with CoNLL-U, not with --parquet")
            return
        if self.workers or self.parquet:
            raise typer.BadParameter("--workers and --parquet go with --shards or --ray")
        if self.confidence and self.tree and not self.output:
            raise typer.BadParameter("--confidence is written into a file: name one with -o")
        if self.tree and (self.output == "-" or (self.as_json and not self.output)):
            raise typer.BadParameter(
                "--tree takes the standard output for itself: name a file for the rest with -o"
            )
        if is_of_spacy(self.output) and (
            self.kbest or self.as_json or self.confidence or self.root == "multi"
        ):
            raise typer.BadParameter(
                "spaCy's documents have one tree with one root for each sentence, and nothing "
                "else: -o FILE.spacy does not go with --kbest, --json, --confidence or --root multi"
            )
        if ends(self.output, ".svg") and (self.as_json or self.confidence):
            raise typer.BadParameter(
                "a drawing has no --confidence, and is no --json: -o FILE.json"
            )


def loaded(options: ParseArguments) -> Parser:
    """Load a model, or several that parse together; raise OptionError for wrong weights."""
    from arborescence.parsers import CombinedParser, load

    models: Sequence[str | None] = options.models or [None]
    parsers = [load(model, options.encoder) for model in models]
    if len(parsers) == 1 and options.weights is None:
        parser = parsers[0]
    else:
        weights = options.weights
        try:
            numbers = None if weights is None else [float(w) for w in weights.split(",")]
            parser = CombinedParser(parsers, numbers)
        except ValueError as error:
            raise OptionError(f"--weights {weights}: {error}") from error
    return parser.to(options.device) if options.device else parser


def analyses(
    sentences: Iterator[Sentence],
    parser: Parser,
    options: ParseArguments,
    skipped: Skipped | None,
    rules: Keeper | str | None,
) -> Iterator[Analyses]:
    """Parse sentences; yield the trees of each with their weights, or one tree with weight 0."""
    if options.format == "conllu" and options.sentence is None:
        sentences = hinting(sentences)
    sentences = watched(sentences, options, skipped)
    how: ParseOptions = {
        "root": options.root,
        "projective": options.projective,
        "confidence": options.confidence,
        "rules": rules,
        "keep": options.kept,
        "threads": options.threads,
    }
    if options.kbest:
        return parser.kbest(sentences, options.kbest, **how)
    return ([(tree, 0.0)] for tree in parser.parse(sentences, **how))


#: Sentences of more words are announced: time may grow with the cube of their number.
LONG: Final = 2000


def watched(
    sentences: Iterable[Sentence], options: Any, skipped: Callable[[Exception], None] | None
) -> Iterator[Sentence]:
    """Yield sentences: announce long sentences, and refuse sentences of too many words.

    A refused sentence raises TreebankError, or `skipped` gets the error. `options` has the options
    of `parse`.
    """
    from arborescence.treebank.sentence import size_of

    for number, sentence in enumerate(sentences, 1):
        words, most = len(sentence), options.max_words
        place = f"{sentence.source}:{sentence.line}" if sentence.source else f"sentence {number}"
        if words > most:
            error = TreebankError(
                f"{place}: {words:,} words; --max-words is {most:,}. If this is one sentence, "
                "raise the limit; else leave it out with --skip-invalid"
            )
            error.lost = size_of(sentence)
            if not skipped:
                raise error
            skipped(error)
            continue
        if words > LONG:
            note(f"{place}: {words:,} words: this may take a while", quiet=options.quiet)
        yield sentence


_Model = Annotated[str | None, typer.Option("--model", "-m", show_default="english")]


def split(
    files: Arguments = None,
    model: _Model = None,
    output: WordsOption = None,
    format: TextFormat = "text",  # noqa: A002
    words: bool = False,
    encoding: EncodingOption = UTF8,
    quiet: QuietOption = False,
) -> None:
    """Split raw text into sentences, one on a line.

    Parameters
    ----------
    files
        Text; '-' or nothing: the standard input.
    model
        A model: its file, or its name if it is installed.
    output
        Write CoNLL-U with the words, instead of lines.
    format
        Raw text; raw text with a sentence on each line; or raw text whose sentences continue from
        line to line.
    words
        Write spaces between the words of a line.

    Examples
    --------
    arborescence split letter.txt
    arborescence split --words letter.txt > letter.tok
    arborescence split -m turkish.model mektup.txt.gz -o mektup.conllu
    """
    from arborescence.parsers import load

    sentences = hinted(files, format, load(model), encoding, quiet)
    if output:
        deliver(_counted(sentences, "split", output, quiet), output=output)
        return
    for sentence in sentences:
        text = sentence.text or " ".join(sentence.forms)
        say(" ".join(sentence.forms if words else text.split()))


def tag(
    files: Arguments = None,
    model: _Model = None,
    output: WordsOption = None,
    format: Format = "conllu",  # noqa: A002
    encoding: EncodingOption = UTF8,
    overwrite: bool = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Find tags and lemmas by the linear tagger of a model, without trees.

    Parameters
    ----------
    files
        The input; '-' or nothing: the standard input.
    model
        A model: its file, or its name if it is installed.
    output
        Write CoNLL-U, or JSON by the ending .json.
    format
        CoNLL-U; a sentence a line with spaces between the words; raw text; raw text with a
        sentence on each line; or raw text whose sentences continue from line to line.
    overwrite
        Replace given tags and lemmas.
    as_json
        Write JSON, a sentence a line, instead of CoNLL-U.

    Examples
    --------
    arborescence tag --format text letter.txt -o letter.conllu
    echo 'The birds sing .' | arborescence tag --format tokens
    """
    from arborescence.parsers import load

    parser = load(model)
    tagged = parser.tag(hinted(files, format, parser, encoding, quiet), overwrite=overwrite)
    output = output or "-"
    sentences = _counted(tagged, "tagged", output, quiet)
    deliver(sentences, output=output, as_json=as_json, describe=_tags_of)


def _counted(
    sentences: Iterator[Sentence], done: str, output: str, quiet: bool
) -> Iterator[list[Sentence]]:
    each = ([sentence] for sentence in sentences)
    return counted(each, f"sentences {done}", printed=output == "-", quiet=quiet)


def _tags_of(analyses: list[Sentence]) -> dict[str, Any]:
    [sentence] = analyses
    return words_of(sentence) | {"lemmas": sentence.lemmas, "feats": sentence.feats}
