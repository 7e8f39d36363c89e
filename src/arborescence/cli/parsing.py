"""``arborescence parse``, ``split`` and ``tag``: the options, and the work."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from arborescence.cli.options import (
    Arguments,
    EncodingOption,
    JsonOption,
    KBestOption,
    LanguageOption,
    QuietOption,
    RootOption,
    SkipOption,
    ThreadsOption,
    WordsOption,
)
from arborescence.cli.outputs import KINDS, ends, into
from arborescence.cli.progress import counted, note, say
from arborescence.cli.sentences import (
    Format,
    TextFormat,
    deliver,
    hinted,
    hinting,
    is_of_spacy,
    readers_of,
    split_words,
)
from arborescence.errors import OptionError, TreebankError
from arborescence.treebank.encodings import UTF8

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from arborescence.cli.sentences import Skipped
    from arborescence.parsers import Keeper, Parser, Repeats
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
        Write CoNLL-U, or by the ending .json, .svg, .spacy (of spaCy), or a table with a row a word
        (.csv, .tsv, .parquet).
    format
        CoNLL-U; a sentence a line with spaces between the words; raw text; raw text with a
        sentence on each line; or raw text whose sentences continue from line to line.
    column
        Parse the texts in this column of a table: FILE.csv, .tsv or .parquet.
    features
        Columns of the table of words for these features, or entries of MISC.
    comments
        Columns of the table of words for these comments, such as speaker; with --column, for these
        columns of the table that is read.
    ranges
        Write the place of each token in the text into MISC, as TokenRange=0:5.
    split_words
        Split contractions (French du) into their words, by the model's rules.
    projective
        Whether edges must not cross; by default as the model was trained.
    confidence
        Write the probability of each edge into MISC.
    rules
        Rules that all trees keep: the rules of Universal Dependencies, or of a file. A line at the
        end counts the changes.
    keep
        Keep given heads and relations, and find the best values for '_'.
    keep_anyway
        As --keep, but if no tree has all given heads and relations, or no such tree keeps the
        --rules, give up the fewest; a comment names their words.
    once
        Parse equal sentences once: faster where sentences repeat, such as the headers of mails.
    encoder
        The pretrained encoder that the model was trained with: its folder, or its name on the
        Hugging Face hub.
    language
        The language of the input, for a model of several languages: its code, or 'auto'.
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
    output: Annotated[str | None, into("conllu", "json", "svg", "spacy", "table")] = None
    format: Format = "conllu"
    column: Annotated[str | None, typer.Option(metavar="NAME")] = None
    features: Annotated[str | None, typer.Option(metavar="NAME,NAME...")] = None
    comments: Annotated[str | None, typer.Option(metavar="NAME,NAME...")] = None
    ranges: bool = False
    split_words: Annotated[
        bool | None,
        typer.Option("--split-words/--keep-words", show_default="split with --format tokens"),
    ] = None
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
    once: bool = False
    threads: ThreadsOption = 1
    encoder: Annotated[
        str | None, typer.Option(metavar="NAME_OR_PATH", show_default="if it was downloaded before")
    ] = None
    language: LanguageOption = None
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
    def is_placed(self) -> bool:
        """Whether the result has the places of words in the text."""
        return self.as_json or ends(self.output, *KINDS["json"].endings, *KINDS["table"].endings)

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of a table of words: features, comments, and the row of a given table."""
        features, comments = (
            [name.strip() for name in names.split(",")] if names else []
            for names in (self.features, self.comments)
        )
        return {"features": features, "comments": comments, "of_rows": self.column is not None}

    @property
    def kept(self) -> bool | Literal["anyway"]:
        """The library's option `keep`."""
        return "anyway" if self.keep_anyway else self.keep

    def check(self) -> None:
        """Raise BadParameter if some options do not go together."""
        if self.sentence is not None and self.files:
            raise typer.BadParameter("give files or --sentence, not both")
        if self.shards or self.ray:
            others = self.output or self.as_json or self.tree or self.threads > 1 or self.column
            if others or len(self.files or ()) != 2:
                raise typer.BadParameter(
                    "--shards and --ray take two folders, IN and OUT, and go with --workers, not "
                    "with --output, --json, --tree, --threads or --column"
                )
            if (self.kept or self.ranges) and self.parquet:
                raise typer.BadParameter("--keep and --ranges go with CoNLL-U, not with --parquet")
        else:
            self._check_files()

    def _check_files(self) -> None:
        """Raise BadParameter if options do not go together where files are parsed."""
        is_table = ends(self.output, *KINDS["table"].endings)
        if is_table and (self.kbest or self.as_json):
            raise typer.BadParameter(
                f"-o {self.output} has one tree of each sentence, a row a word: it does not go "
                "with --kbest or --json"
            )
        if (self.features or self.comments) and not is_table:
            raise typer.BadParameter(
                "--features and --comments are columns of a table: -o FILE.csv, .tsv or .parquet"
            )
        if self.split_words and self.kept:
            raise typer.BadParameter("--split-words gives words new numbers: not with --keep")
        if self.column and (len(self.files or ()) > 1 or self.format not in ("conllu", "text")):
            raise typer.BadParameter("--column takes one table, of texts: no other --format")
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
    from arborescence.parsers import load

    models: Sequence[str | None] = options.models or [None]
    parsers = [load(model, options.encoder, options.language) for model in models]
    if len(parsers) == 1 and options.weights is None:
        parser = parsers[0]
    else:
        from arborescence.parsers import CombinedParser

        weights = options.weights
        try:
            numbers = None if weights is None else [float(w) for w in weights.split(",")]
            parser = CombinedParser(parsers, numbers)
        except ValueError as error:
            raise OptionError(f"--weights {weights}: {error}") from error
    return parser.to(options.device) if options.device else parser


def reader_of(
    options: ParseArguments, parser: Parser, skipped: Skipped | None
) -> Callable[[str], Iterator[Sentence]]:
    """Return the function that reads a file."""
    if options.column is not None:
        return partial(of_table, parser, [options.column, *options.columns["comments"]], options)
    encoding, quiet = options.encoding, options.quiet
    read = readers_of(options.format, skipped, parser, encoding, quiet=quiet)
    split = options.format == "tokens" if options.split_words is None else options.split_words
    return partial(split_words, read, parser, quiet) if split else read


def of_table(
    parser: Parser, columns: list[str], options: ParseArguments, file: str
) -> Iterator[Sentence]:
    """Cut the texts in the first column; cells in the other ones are comments of the sentences."""
    from arborescence.treebank.tables import read_columns

    comments: dict[int, list[str]] = {}  # of the rows that are not cut yet

    def texts() -> Iterator[str | None]:
        for row, (text, *cells) in enumerate(read_columns(file, columns, options.encoding)):
            named = zip(columns[1:], cells, strict=True)
            comments[row] = [
                f"# {name} = {' '.join(str(cell).split())}" for name, cell in named if cell
            ]
            yield text

    for sentence in parser.split(texts=texts()):
        row = sentence.item or 0
        while (first := next(iter(comments))) < row:
            del comments[first]
        more = comments[row]
        yield sentence.replace(comments=[*sentence.comments, *more]) if more else sentence


def analyses(
    sentences: Iterator[Sentence],
    parser: Parser,
    options: ParseArguments,
    skipped: Skipped | None,
    rules: Keeper | str | None,
    repeats: Repeats | None = None,
) -> Iterator[Analyses]:
    """Parse sentences; yield the trees of each with their weights, or one tree with weight 0.

    With --once, `repeats` has trees of other files.
    """
    if options.format == "conllu" and options.sentence is None and not options.column:
        sentences = hinting(sentences)
    sentences = watched(sentences, options, skipped)
    if options.ranges or options.is_placed:
        from arborescence.treebank.spaces import placed, with_ranges

        sentences = (with_ranges if options.ranges else placed)(sentences)
    arguments: ParseOptions = {
        "root": options.root,
        "projective": options.projective,
        "confidence": options.confidence,
        "rules": rules,
        "keep": options.kept,
        "threads": options.threads,
        "once": options.once and (repeats or True),
    }
    if options.kbest:
        return parser.kbest(sentences, options.kbest, **arguments)
    return ([(tree, 0.0)] for tree in parser.parse(sentences, **arguments))


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
    language: LanguageOption = None,
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
    language
        The language of the input, for a model of several languages: its code, or 'auto'.
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

    sentences = hinted(files, format, load(model, language=language), encoding, quiet)
    if output:
        deliver(_counted(sentences, "split", output, quiet), output=output)
        return
    for sentence in sentences:
        text = sentence.text or " ".join(sentence.forms)
        say(" ".join(sentence.forms if words else text.split()))


def tag(
    files: Arguments = None,
    model: _Model = None,
    language: LanguageOption = None,
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
    language
        The language of the input, for a model of several languages: its code, or 'auto'.
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

    parser = load(model, language=language)
    tagged = parser.tag(hinted(files, format, parser, encoding, quiet), overwrite=overwrite)
    output = output or "-"
    sentences = _counted(tagged, "tagged", output, quiet)
    deliver(sentences, output=output, as_json=as_json)


def _counted(
    sentences: Iterator[Sentence], done: str, output: str, quiet: bool
) -> Iterator[list[Sentence]]:
    each = ([sentence] for sentence in sentences)
    return counted(each, f"sentences {done}", printed=output == "-", quiet=quiet)
