"""``arborescence train``: parsers of each kind, from treebanks."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from itertools import chain
from pathlib import Path  # noqa: TC003 - Typer looks at it
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from arborescence.cli.options import (
    Inference,
    QuietOption,
    Root,
    RootOption,
    SkipOption,
    System,
)
from arborescence.cli.progress import note, steps
from arborescence.cli.sentences import Format, Skipped, readers_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from arborescence.parsers import LinearParser, TransitionParser
    from arborescence.treebank import Sentence


class Kind(StrEnum):
    """What kind of parser to train."""

    linear = "linear"
    transition = "transition"


class Algorithm(StrEnum):
    """How a graph-based parser learns."""

    mira = "mira"
    perceptron = "perceptron"
    loglinear = "loglinear"
    head_selection = "head-selection"

    @property
    def by_likelihood(self) -> bool:
        """Whether it learns probabilities, and looks for no wrong trees."""
        return self in (Algorithm.loglinear, Algorithm.head_selection)


class Features(StrEnum):
    """Whether the features of an edge know which of its words is the head."""

    directed = "directed"
    undirected = "undirected"


class Oracle(StrEnum):
    """What a transition-based parser learns from: the way to gold, or the best from anywhere."""

    static = "static"
    dynamic = "dynamic"


#: The options that go with one kind of parser only.
OPTIONS: Final = {
    Kind.linear: (
        "algorithm",
        "aggressiveness",
        "k",
        "joint",
        "projective",
        "inference",
        "features",
        "rounds",
        "prune",
    ),
    Kind.transition: ("system", "oracle", "beam"),
}
GRAPH_BASED: Final = "Graph-based parsers: --parser linear"
TRANSITION_BASED: Final = "Transition-based parsers: --parser transition"


def train(
    context: typer.Context,
    treebanks: Annotated[
        list[Path], typer.Argument(metavar="TRAIN...", help="Treebanks to learn from (CoNLL-U).")
    ],
    dev: Annotated[
        Path, typer.Option(help="A treebank by which to choose the best epoch, and to stop.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the model.")],
    parser: Annotated[
        Kind,
        typer.Option(help="Graph-based: the best tree by a linear model; or transition-based."),
    ] = Kind.linear,
    epochs: Annotated[int, typer.Option(min=1, help="At most so often over the treebank.")] = 10,
    patience: Annotated[
        int, typer.Option(min=1, help="Stop after so many epochs without a better LAS.")
    ] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Fixes the order of the sentences.")] = 1,
    columns: Annotated[
        str, typer.Option(help="What the features look at; 'form,upos' makes a smaller model.")
    ] = "form,lemma,upos,xpos,feats",
    tagger: Annotated[
        bool, typer.Option(help="Put a tagger into the model, for words without tags.")
    ] = True,
    jackknife: Annotated[
        bool,
        typer.Option(
            help="With a tagger: learn from each sentence twice, with its own tags and with those "
            "that a tagger gives it that has not seen it."
        ),
    ] = True,
    text: Annotated[
        bool,
        typer.Option(
            help="Learn to cut raw text into sentences and words, and to find lemmas, too."
        ),
    ] = True,
    root: RootOption = Root.single,
    bits: Annotated[
        int, typer.Option(min=10, max=26, help="Room for 2^bits rows of weights.")
    ] = 20,
    pseudo_projective: Annotated[
        bool,
        typer.Option(
            "--pseudo-projective",
            help="Learn without crossing edges, but relations tell where edges were lifted, to "
            "cross again.",
        ),
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where an interrupted training has stopped.")
    ] = False,
    skip_invalid: SkipOption = False,
    quiet: QuietOption = False,
    algorithm: Annotated[
        Algorithm, typer.Option(help="How to learn.", rich_help_panel=GRAPH_BASED)
    ] = Algorithm.mira,
    aggressiveness: Annotated[
        float,
        typer.Option(
            min=1e-6,
            help="The largest step of MIRA (its C), or the learning rate of log-linear models and "
            "head selection.",
            rich_help_panel=GRAPH_BASED,
        ),
    ] = 0.1,
    k: Annotated[
        int,
        typer.Option(
            min=1, help="Of how many best trees MIRA learns.", rich_help_panel=GRAPH_BASED
        ),
    ] = 1,
    joint: Annotated[
        bool,
        typer.Option(
            "--joint",
            help="Let relations have a say in the tree; slower.",
            rich_help_panel=GRAPH_BASED,
        ),
    ] = False,
    projective: Annotated[
        bool | None,
        typer.Option(
            help="Learn and parse without crossing edges, or with them. If not given: by how many "
            "cross in TRAIN, and by what is better on --dev.",
            show_default=False,
            rich_help_panel=GRAPH_BASED,
        ),
    ] = None,
    inference: Annotated[
        Inference,
        typer.Option(
            help="Find the best tree, or one by way of an undirected tree.",
            rich_help_panel=GRAPH_BASED,
        ),
    ] = Inference.exact,
    features: Annotated[
        Features,
        typer.Option(
            help="With undirected inference: whether features see an edge's direction.",
            rich_help_panel=GRAPH_BASED,
        ),
    ] = Features.directed,
    rounds: Annotated[
        int,
        typer.Option(
            min=0,
            help="Rounds of local enhancement, if inference is undirected.",
            rich_help_panel=GRAPH_BASED,
        ),
    ] = 5,
    prune: Annotated[
        bool,
        typer.Option(
            "--prune",
            help="Learn to leave most edges out beforehand; parses faster.",
            rich_help_panel=GRAPH_BASED,
        ),
    ] = False,
    system: Annotated[
        System,
        typer.Option(
            help="The transitions that build a tree; edges may cross with swap only.",
            rich_help_panel=TRANSITION_BASED,
        ),
    ] = System.arc_eager,
    oracle: Annotated[
        Oracle | None,
        typer.Option(
            help="Learn along the transitions of the gold tree, or after mistakes too; else "
            "dynamic, if the system has it (arc-eager, arc-hybrid).",
            rich_help_panel=TRANSITION_BASED,
        ),
    ] = None,
    beam: Annotated[
        int,
        typer.Option(
            min=1,
            help="How many analyses to follow at once, in training and parsing.",
            rich_help_panel=TRANSITION_BASED,
        ),
    ] = 1,
) -> None:
    """Train a parser on a treebank.

    After each epoch its state is kept in MODEL.checkpoint, for --resume, until the model is done.
    """
    from arborescence.parsers import Tagger
    from arborescence.parsers.shared.features import COLUMNS, can_be_looked_at
    from arborescence.parsers.tagger.retagging import retagged
    from arborescence.parsers.text import Text

    chosen = columns.split(",")
    if not can_be_looked_at(chosen):
        raise typer.BadParameter(
            f"{columns!r} are not some of {','.join(COLUMNS)} (feats must not be alone)"
        )
    refuse_options_of_others(context, parser)
    make: Callable[..., LinearParser | TransitionParser]
    if parser is Kind.linear:
        from arborescence.parsers import LinearParser

        if k > 1 and algorithm != Algorithm.mira:
            raise typer.BadParameter(
                "--k goes with MIRA only: the perceptron learns from one tree, the log-linear "
                "model from all, and head selection from none"
            )
        if joint and algorithm.by_likelihood:
            raise typer.BadParameter(
                "--joint does not go with the log-linear model and head selection"
            )
        if projective is not None and pseudo_projective:
            raise typer.BadParameter(
                "--projective, --no-projective and --pseudo-projective exclude each other"
            )
        if inference == Inference.exact:
            if features == Features.undirected:
                raise typer.BadParameter(
                    "--features undirected goes with --inference undirected only"
                )
        elif k > 1 or joint or projective or pseudo_projective or prune or algorithm.by_likelihood:
            raise typer.BadParameter(
                "--inference undirected does not go with --k, --joint, --projective, --prune, the "
                "log-linear model or head selection"
            )
        trees: bool | Literal["auto"] = "auto" if projective is None else projective
        make = partial(
            LinearParser.train,
            algorithm=algorithm.value,
            aggressiveness=aggressiveness,
            k=k,
            joint=joint,
            projective="pseudo" if pseudo_projective else trees,
            inference=inference.value,
            features=features.value,
            rounds=rounds,
            prune=prune,
        )
    else:
        from arborescence.parsers import TransitionParser

        if oracle is Oracle.dynamic and system not in (System.arc_eager, System.arc_hybrid):
            raise typer.BadParameter(
                f"--oracle dynamic does not go with {system}: arc-eager and arc-hybrid have one"
            )
        if pseudo_projective and system is System.swap:
            raise typer.BadParameter(
                "--pseudo-projective does not go with swap: its edges cross as they are"
            )
        make = partial(
            TransitionParser.train,
            system=system.value,
            oracle=oracle.value if oracle else None,
            beam=beam,
            pseudo_projective=pseudo_projective,
        )
    checkpoint = output.with_name(f"{output.name}.checkpoint")
    if not resume:
        checkpoint.unlink(missing_ok=True)
    skipped = Skipped() if skip_invalid else None
    read = readers_of(Format.conllu, skipped)
    tags = [column for column in chosen if column in ("upos", "xpos", "feats")]
    with steps(quiet=quiet) as step:
        lessons, exams = read_all(treebanks, dev, read, step)
        reading = Text.train(lessons, seed=seed, progress=step) if text else None
        of_words = None
        if tagger and tags:
            of_words = Tagger.train(lessons, dev=exams, columns=tags, seed=seed, progress=step)
            if jackknife:
                lessons += retagged(lessons, columns=tags, seed=seed, progress=step)
                exams += list(of_words.tag(exams, overwrite=True))
        trained = make(
            lessons,
            dev=exams,
            columns=chosen,
            epochs=epochs,
            patience=patience,
            seed=seed,
            root=root.value,
            bits=bits,
            tagger=of_words,
            text=reading,
            checkpoint=checkpoint,
            progress=step,
        )
    trained.save(output)
    checkpoint.unlink(missing_ok=True)
    if skipped:
        skipped.report()
    note(f"{reached(trained.info)}saved in {output}", quiet=quiet)


def read_all(
    treebanks: Sequence[Path],
    dev: Path,
    read: Callable[[str], Iterator[Sentence]],
    step: Callable[[str, int, int], None],
) -> tuple[list[Sentence], list[Sentence]]:
    """Read what to learn from, and what to choose the best epoch by."""
    files = (*treebanks, dev)
    parts: list[list[Sentence]] = []
    for done, path in enumerate(files):
        step(f"reading: {path}", done, len(files))
        parts.append(list(read(str(path))))
    *learned_from, exams = parts
    lessons = list(chain.from_iterable(learned_from))
    said = f"reading: {len(lessons):,} sentences to learn from, {len(exams):,} in {dev}"
    step(said, len(files), len(files))
    return lessons, exams


def reached(info: dict[str, Any]) -> str:
    """Say which epoch was the best, and how good it is on dev, where there are scores."""
    epochs = info["dev"]
    if not (scores := epochs[info["epoch"] - 1]):
        return ""
    shown = ", ".join(f"{name.upper()} {score:.2f}" for name, score in scores.items())
    return f"best on dev: epoch {info['epoch']} of {len(epochs)}, {shown}; "


def refuse_options_of_others(context: typer.Context, parser: Kind) -> None:
    """Complain of options that were given but go with another kind of parser."""
    for kind, names in OPTIONS.items():
        for name in names:
            source = context.get_parameter_source(name)
            if kind is not parser and source is not None and source.name != "DEFAULT":
                raise typer.BadParameter(f"--{name} goes with --parser {kind}, not {parser}")
