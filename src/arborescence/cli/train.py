"""``arborescence train``: train a parser of any kind on a treebank."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from arborescence.cli.options import QuietOption, RootOption, SkipOption, into, usage_errors
from arborescence.cli.progress import note, steps
from arborescence.cli.sentences import Skipped, readers_of
from arborescence.parsers.shared.types import (
    AnyKind,
    AnyLoss,
    Features,
    Inference,
    Oracle,
    Precision,
    Scorer,
    System,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from arborescence.treebank import Sentence

    Parts = tuple[list[Sentence], list[Sentence]]

#: The kinds of parsers that can be trained.
#: The help page groups the options by the kinds of parsers that they go with.
PANELS: Final[dict[str, tuple[AnyKind, ...]]] = {
    "Parsers without a neural network: --parser linear or transition": ("linear", "transition"),
    "Graph-based parsers: --parser linear or biaffine": ("linear", "biaffine"),
    "Linear graph-based parsers: --parser linear": ("linear",),
    "Transition-based parsers: --parser transition": ("transition",),
    "Neural parsers: --parser biaffine": ("biaffine",),
}
of_both, of_graphs, of_linear, of_transition, of_biaffine = (
    partial(typer.Option, rich_help_panel=panel) for panel in PANELS
)
#: The default of --columns.
COLUMNS: Final[dict[AnyKind, str]] = {
    "linear": "form,lemma,upos,xpos,feats",
    "transition": "form,lemma,upos,xpos,feats",
    "biaffine": "form,upos,xpos,feats",
}
#: With fewer training sentences, a linear parser is better than a neural one: docs/neural.md.
FEW: Final = 500


def train(
    context: typer.Context,
    treebanks: Annotated[
        list[Path], typer.Argument(metavar="TRAIN...", help="Treebanks to learn from (CoNLL-U).")
    ],
    dev: Annotated[
        Path, typer.Option(help="A treebank by which to choose the best epoch, and to stop.")
    ],
    output: Annotated[Path, into(help="Where to write the model.")],
    parser: Annotated[
        AnyKind,
        typer.Option(
            help="Graph-based: the best tree by a linear model, or by a neural network (biaffine; "
            "its training needs PyTorch); or transition-based."
        ),
    ] = "linear",
    epochs: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="How often to go over the treebank: linear and transition, at most so often; "
            "biaffine, exactly so often, as the learning rate falls to 0 at the end.",
            show_default="10; biaffine: 30, small treebanks up to 100",
        ),
    ] = None,
    patience: Annotated[
        int, of_both(min=1, help="Stop after so many epochs without a better LAS.")
    ] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Fixes the order of the sentences.")] = 1,
    columns: Annotated[
        str | None,
        typer.Option(
            help="What the parser looks at; 'form,upos' makes a smaller model.",
            show_default="form,lemma,upos,xpos,feats; biaffine: without lemma",
        ),
    ] = None,
    tagger: Annotated[
        bool, typer.Option(help="Put a tagger into the model, for words without tags.")
    ] = True,
    jackknife: Annotated[
        bool,
        of_both(
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
    root: RootOption = "single",
    bits: Annotated[int, of_both(min=10, max=26, help="Room for 2^bits rows of weights.")] = 20,
    projective: Annotated[
        Literal["yes", "no", "pseudo", "auto"] | None,
        typer.Option(
            help="Learn and parse without crossing edges, or with them; pseudo: without, but "
            "relations tell where edges were lifted, to cross again; auto, for linear graph-based "
            "parsers: by how many cross in TRAIN, and by what is better on --dev.",
            show_default="auto; no for transition-based and neural parsers",
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where an interrupted training has stopped.")
    ] = False,
    skip_invalid: SkipOption = False,
    quiet: QuietOption = False,
    loss: Annotated[
        AnyLoss | None,
        of_graphs(
            help="What to learn by: mira, perceptron, tree or head for linear parsers; head, tree "
            "or margin for neural ones.",
            show_default="mira; biaffine: head",
        ),
    ] = None,
    rate: Annotated[
        float | None,
        of_graphs(
            min=1e-6,
            help="The learning rate of linear parsers with the losses tree and head; the highest "
            "one of neural parsers.",
            show_default="0.1 for linear parsers",
        ),
    ] = None,
    C: Annotated[float, of_linear("--C", min=1e-6, help="The largest step of MIRA.")] = 0.1,
    k: Annotated[int, of_linear(min=1, help="Of how many best trees MIRA learns.")] = 1,
    joint: Annotated[
        bool, of_linear("--joint", help="Let relations have a say in the tree; slower.")
    ] = False,
    inference: Annotated[
        Inference, of_linear(help="Find the best tree, or one by way of an undirected tree.")
    ] = "exact",
    features: Annotated[
        Features,
        of_linear(help="With undirected inference: whether features see an edge's direction."),
    ] = "directed",
    rounds: Annotated[
        int, of_linear(min=0, help="Rounds of local enhancement, if inference is undirected.")
    ] = 5,
    prune: Annotated[
        bool,
        of_linear("--prune", help="Learn to leave most edges out beforehand; parses faster."),
    ] = False,
    order: Annotated[
        int,
        of_linear(
            min=1,
            max=2,
            help="Score edges alone, or also pairs of them: siblings and grandparents; prunes, "
            "edges may cross.",
        ),
    ] = 1,
    system: Annotated[
        System,
        of_transition(help="The transitions that build a tree; edges may cross with swap only."),
    ] = "arc-eager",
    oracle: Annotated[
        Oracle | None,
        of_transition(
            help="Learn along the transitions of the gold tree, or after mistakes too; else "
            "dynamic, if the system has it (arc-eager, arc-hybrid)."
        ),
    ] = None,
    beam: Annotated[
        int,
        of_transition(min=1, help="How many analyses to follow at once, in training and parsing."),
    ] = 1,
    scorer: Annotated[
        Scorer | None,
        of_biaffine(
            help="What scores an edge: a biaffine form of two vectors, or a network with one "
            "hidden layer (slower).",
            show_default="biaffine",
        ),
    ] = None,
    batch: Annotated[
        int | None,
        of_biaffine(
            min=1,
            help="About how many words a batch has; fewer need less memory.",
            show_default="1500, small treebanks less",
        ),
    ] = None,
    hidden: Annotated[
        int | None, of_biaffine(min=1, help="The size of the LSTMs, in each direction.")
    ] = None,
    dropout: Annotated[
        float | None, of_biaffine(min=0, max=1, help="The share of numbers that are left out.")
    ] = None,
    word_dropout: Annotated[
        float | None, of_biaffine(min=0, max=1, help="The share of words that are made unknown.")
    ] = None,
    given: Annotated[
        float | None,
        of_biaffine(
            min=0,
            max=1,
            help="The share of sentences that are learned with their own tags; the others with "
            "tags that the network predicts.",
        ),
    ] = None,
    precision: Annotated[
        Precision | None, of_biaffine(help="How the weights are stored in the model.")
    ] = None,
    mixed: Annotated[
        bool, of_biaffine("--mixed", help="Compute with bfloat16 in training: faster on a GPU.")
    ] = False,
    device: Annotated[str, of_biaffine(metavar="cpu|cuda", help="Where PyTorch computes.")] = "cpu",
    vectors: Annotated[
        Path | None,
        of_biaffine(
            help="Pretrained word vectors: a text file of word2vec, fastText or GloVe, plain or "
            "gzipped."
        ),
    ] = None,
    most_vectors: Annotated[
        int,
        of_biaffine(
            min=0,
            help="Of how many of the most frequent words to keep the vectors; those of TRAIN and "
            "--dev are kept in any case.",
        ),
    ] = 100_000,
    encoder: Annotated[
        str | None,
        of_biaffine(
            metavar="NAME_OR_PATH",
            help="A pretrained encoder (BERT, XLM-R, ...): its name on the Hugging Face hub, or "
            "its folder. Parsing needs it and PyTorch, too.",
        ),
    ] = None,
    encoder_layers: Annotated[
        int | None,
        of_biaffine(min=1, help="How many of its last layers to mix.", show_default="4"),
    ] = None,
    encoder_cache: Annotated[
        Path | None,
        of_biaffine(
            help="A folder that keeps the encoder's vectors of each sentence, gigabytes, for other "
            "training runs, too.",
            show_default="MODEL.encoded, until the model is done",
        ),
    ] = None,
    fine_tune: Annotated[
        bool, of_biaffine("--fine-tune", help="Train the encoder, too; best on a GPU.")
    ] = False,
    encoder_rate: Annotated[
        float | None,
        of_biaffine(min=1e-9, help="Its highest learning rate.", show_default="2e-5"),
    ] = None,
) -> None:
    """Train a parser on a treebank.

    After each epoch its state is kept in MODEL.checkpoint, for --resume, until the model is done.
    """
    from arborescence.parsers import Tagger
    from arborescence.parsers.neural.feature_cache import remove
    from arborescence.parsers.registry import parser_class
    from arborescence.parsers.shared.training_trees import checked
    from arborescence.parsers.tagger.retagging import retagged
    from arborescence.parsers.text import Text

    refuse_options_of_others(context, parser)
    for kind, impossible in (("transition", ("yes", "auto")), ("biaffine", ("pseudo", "auto"))):
        if parser == kind and projective in impossible:
            raise typer.BadParameter(
                f"--projective {projective} goes with --parser linear, not {parser}"
            )
    if fine_tune and encoder is None:
        raise typer.BadParameter("--fine-tune goes with --encoder")
    encoded = output.with_name(f"{output.name}.encoded")
    chosen = tuple((columns or COLUMNS[parser]).split(","))
    common: dict[str, Any] = {"columns": chosen, "root": root, "seed": seed}
    online: dict[str, Any] = {"epochs": epochs or 10, "patience": patience}
    trees: Any = {"yes": True, "no": False, None: "auto"}.get(projective, projective)
    settings: dict[str, Any]
    trained_kind: str = parser
    with usage_errors():
        if parser == "linear":
            from arborescence.parsers.linear import settings as linear

            of_linear_parser: dict[str, Any] = {
                **common,
                "bits": bits,
                "loss": loss or "mira",
                "C": C,
                "rate": 0.1 if rate is None else rate,
                "k": k,
                "joint": joint,
                "projective": trees,
                "inference": inference,
                "features": features,
                "rounds": rounds,
                "prune": prune,
            }
            if order == 2:
                from arborescence.parsers.second_order import settings as second_order

                trained_kind = "second-order"
                of_linear_parser |= {"prune": True, "projective": trees if projective else False}
                complete = asdict(second_order.Settings(**of_linear_parser))
                settings = {name: complete[name] for name in (*common, "bits", "loss", "C")}
            else:
                settings = asdict(linear.Settings(**of_linear_parser))
        elif parser == "biaffine":
            from arborescence.parsers.neural import settings as neural
            from arborescence.parsers.neural.needs import check_device

            chosen_here: dict[str, Any] = {
                "epochs": epochs,
                "loss": loss,
                "rate": rate,
                "scorer": scorer,
                "batch": batch,
                "hidden": hidden,
                "dropout": dropout,
                "word_dropout": word_dropout,
                "given": given,
                "precision": precision,
                "encoder_layers": encoder_layers,
                "encoder_rate": encoder_rate,
            }
            settings = common | {
                "projective": projective == "yes",
                "mixed": mixed,
                "fine_tune": fine_tune,
                **{name: value for name, value in chosen_here.items() if value is not None},
            }
            neural.Settings(**settings)  # complains before anything is read
            online = {
                "device": device,
                "vectors": vectors,
                "most_vectors": most_vectors,
                "encoder": encoder,
                "encoder_cache": encoder_cache or encoded,
            }
            check_device(device)
        else:
            from arborescence.parsers.transition import settings as transition

            of_transition_parser = transition.Settings(
                **common,
                bits=bits,
                system=system,
                oracle=oracle,
                beam=beam,
                projective="pseudo" if projective == "pseudo" else False,
            )
            settings = asdict(of_transition_parser)
    checkpoint = output.with_name(f"{output.name}.checkpoint")
    if not resume:
        checkpoint.unlink(missing_ok=True)
    skipped = Skipped() if skip_invalid else None
    read = readers_of("conllu", skipped)
    tags = [column for column in chosen if column in ("upos", "xpos", "feats")]
    with steps(quiet=quiet) as step:
        trees_only = partial(checked, root=root, skip_invalid=skipped)
        training, held_out = read_all(treebanks, dev, read, trees_only, step)
        if parser == "biaffine" and len(training) < FEW:
            few = f"{len(training):,} sentences are few for a neural parser"
            note(f"{few}: compare it with --parser linear", quiet=quiet)
        reading = Text.train(training, seed=seed, progress=step) if text else None
        of_words = None
        if tagger and tags:
            of_words = Tagger.train(training, dev=held_out, columns=tags, seed=seed, progress=step)
            if jackknife and parser != "biaffine":  # which does so itself
                training += retagged(training, columns=tags, seed=seed, progress=step)
                held_out += list(of_words.tag(held_out, overwrite=True))
        trained = parser_class(trained_kind).train(
            training,
            dev=held_out,
            **online,
            **settings,
            tagger=of_words,
            text=reading,
            checkpoint=checkpoint,
            progress=step,
        )
    trained.save(output)
    if encoder_cache is None:
        remove(encoded)
    checkpoint.unlink(missing_ok=True)
    if skipped:
        skipped.report()
    note(f"{reached(trained.info)}saved in {output}", quiet=quiet)


def read_all(
    treebanks: Sequence[Path],
    dev: Path,
    read: Callable[[str], Iterator[Sentence]],
    trees_only: Callable[[Iterable[Sentence], Iterable[Sentence]], Parts],
    step: Callable[[str, int, int], None],
) -> Parts:
    """Read what to learn from, and what to choose the best epoch by."""
    files = (*treebanks, dev)
    parts: list[list[Sentence]] = []
    for done, path in enumerate(files):
        step(f"reading: {path}", done, len(files))
        parts.append(list(read(str(path))))
    training, held_out = trees_only(chain.from_iterable(parts[:-1]), parts[-1])
    said = f"reading: {len(training):,} sentences to learn from, {len(held_out):,} in {dev}"
    step(said, len(files), len(files))
    return training, held_out


def reached(info: dict[str, Any]) -> str:
    """Say which epoch was the best, and how good it is on dev, where there are scores."""
    epochs = info["dev"]
    if not (scores := epochs[info["epoch"] - 1]):
        return ""
    from arborescence.parsers.shared.checkpoint import shown

    return f"best on dev: epoch {info['epoch']} of {len(epochs)}, {shown(scores)}; "


def refuse_options_of_others(context: typer.Context, parser: AnyKind) -> None:
    """Complain of options that were given but go with another kind of parser."""
    for option in context.command.params:
        kinds = PANELS.get(getattr(option, "rich_help_panel", None) or "", (parser,))
        source = context.get_parameter_source(option.name or "")
        if parser not in kinds and source is not None and source.name != "DEFAULT":
            raise typer.BadParameter(
                f"{option.opts[0]} goes with --parser {' or '.join(kinds)}, not {parser}"
            )
