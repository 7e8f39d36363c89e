"""``arborescence train``, ``calibrate``, ``models`` and ``package``: make and list models."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from arborescence.cli.options import (
    EncodingOption,
    QuietOption,
    SkipOption,
    documented,
    examples,
    given,
    shown_as_written,
    usage_errors,
)
from arborescence.cli.outputs import into
from arborescence.cli.progress import note, say, steps
from arborescence.cli.sentences import Skipped
from arborescence.errors import ModelError
from arborescence.parsers.recipe import all_options, parts_of, train
from arborescence.parsers.shared.options import (
    present_kinds,
    settings_of,
    trainable_kinds,
)
from arborescence.treebank.encodings import UTF8


def models() -> None:
    """List the installed models: name, size, distribution and licence.

    Any distribution can have models. `arborescence train` makes model files, which need no
    installation.

    Examples
    --------
    arborescence models
    arborescence parse -m english-fast --format text letter.txt
    """
    from arborescence.parsers.registry import file_of, installed

    for name, point in installed().items():
        with resources.as_file(file_of(point)) as path:
            size = path.stat().st_size / 1e6
        distribution = licence = "unknown"
        if point.dist:
            distribution = f"{point.dist.name} {point.dist.version}"
            licences = point.dist.metadata.get_all("License-Expression") or ()
            licence = next(iter(licences), licence)
        say(f"{name}  {size:.1f} MB  {distribution}  licence: {licence}")
    if not installed():
        note("no model is installed; for English, pip install arborescence-en")


def package(
    models: Annotated[list[Path], typer.Argument(metavar="MODEL")],
    name: Annotated[str, typer.Option()],
    treebank: Annotated[list[Path], typer.Option(metavar="FOLDER")],
    output: Annotated[Path | None, into(metavar="FOLDER")] = None,
    licence: Annotated[str | None, typer.Option(metavar="SPDX")] = None,
    version: str | None = None,
    remark: str = "",
    encoder: Annotated[
        str | None, typer.Option(metavar="NAME_OR_PATH", show_default="if it was downloaded before")
    ] = None,
    words: Annotated[int | None, typer.Option(min=1, metavar="N", show_default="all")] = None,
    wheel: bool = True,
    quiet: QuietOption = False,
) -> None:
    """Make a package of trained models, with a card that describes and measures them, and a wheel.

    After installation of the wheel, arborescence.load(NAME) and parse -m NAME find the model.

    Parameters
    ----------
    models
        The model files. A single model gets the name NAME; several have the names of their files.
    name
        A short name, such as pt: the package is called arborescence-NAME.
    treebank
        The folder of the treebank that the models learned from, with README and LICENSE: the models
        have its licence, and are measured on its test part. A model of several languages has
        several, each with --treebank.
    output
        The folder to write; by default arborescence-NAME.
    licence
        The licence, if the README does not name it.
    version
        The version of the package; by default the version of arborescence.
    remark
        A remark on the data for the card.
    encoder
        The pretrained encoder of the models, as for parse. If it was fine-tuned, the package
        contains it, and needs no PyTorch.
    words
        Measure on the first N words of each test part.
    wheel
        Also build the wheel, into the folder dist of the package; this needs hatchling.

    Examples
    --------
    arborescence package pt.npz --name pt --treebank UD_Portuguese-Bosque
    arborescence package pt.npz --name pt --treebank UD_Portuguese-Bosque --no-wheel -o sources
    pip install arborescence-pt/dist/*.whl
    arborescence parse -m pt --format text carta.txt
    """
    from arborescence.parsers import packaging
    from arborescence.version import __version__

    with steps(quiet=quiet) as step, usage_errors():
        package = packaging.package(
            models,
            treebank,
            name=name,
            output=output,
            licence=licence,
            version=version or __version__,
            note=remark,
            encoder=encoder,
            words=words,
            wheel=wheel,
            progress=step,
        )
    if not package.commercial:
        note(packaging.NO_COMMERCE)
    say(str(package.wheel or package.folder))


def calibrate(
    model: Annotated[str, typer.Argument(metavar="MODEL")],
    dev: Annotated[Path, typer.Argument(metavar="DEV")],
    output: Annotated[Path, into()],
    encoder: Annotated[
        str | None, typer.Option(metavar="NAME_OR_PATH", show_default="if it was downloaded before")
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Fit the probabilities of a model again, without training; its trees and tags stay the same.

    Training also fits probabilities. This command is for older models and for other kinds of text.

    Parameters
    ----------
    model
        A model file, or the name of a model that is installed.
    dev
        Sentences with trees that the model has not learned from: CoNLL-U, or a folder with a dev
        part. On the test part of the folder, errors before and after are measured.
    output
        The file for the model.
    encoder
        The pretrained encoder of the model, as for parse.

    Examples
    --------
    arborescence calibrate old.npz UD_French-Sequoia -o new.npz
    arborescence calibrate english letters.conllu -o letters.npz
    """
    from arborescence.parsers import calibrating, load
    from arborescence.treebank import read

    parser = load(model, encoder)
    measured = dev.is_dir() and calibrating.probabilistic(parser)
    tests = parts_of(dev)["test"] if measured else []
    test = [sentence for file in tests for sentence in read(file)]
    with steps(quiet=quiet) as step:
        before = calibrating.calibration(parser, test) if test else None
        step("fitting", 0, 1)
        count = calibrating.calibrate(parser, dev)
        step("fitting", 1, 1)
        after = calibrating.calibration(parser, test) if test else None
    parser.save(output)
    note(f"fitted on {count:,} sentences; saved in {output}", quiet=quiet)
    if test:
        say(f"calibration error on {len(test):,} sentences: {before}; now {after}")


#: The command that chooses the kind; ``arborescence train TREEBANK`` is short for it.
AUTO: Final = "auto"
EXAMPLES: Final = {
    None: (
        "arborescence train train.conllu --dev dev.conllu -o turkish.model",
        "arborescence train UD_Turkish-IMST -o turkish.model",
        "arborescence train new.conllu --dev dev.conllu --from turkish.model -o better.model",
    ),
    "linear": (
        "arborescence train linear train.conllu --dev dev.conllu -o turkish.model",
        "arborescence train linear a.conllu b.conllu.gz --dev dev.conllu -o my.model --seed 7",
        "arborescence train linear train.conllu --dev dev.conllu -o turkish.model --resume",
    ),
    "second-order": (
        "arborescence train second-order train.conllu --dev dev.conllu -o my.model",
        "arborescence train second-order UD_Turkish-IMST -o my.model --seed 7",
    ),
    "transition": (
        "arborescence train transition train.conllu --dev dev.conllu -o my.model --beam 8",
        "arborescence train transition UD_Turkish-IMST -o my.model --system arc-hybrid",
    ),
    "neural": (
        "arborescence train neural train.conllu --dev dev.conllu -o my.model",
        "arborescence train neural UD_Turkish-IMST -o my.model --device cuda",
    ),
}


class Kinds(TyperGroup):
    """The kinds of parsers as commands, each made when it is called."""

    def list_commands(self, _context: Any) -> list[str]:
        """Return the names of the commands."""
        from arborescence.parsers.registry import added_kinds

        return [AUTO, *present_kinds(), *added_kinds()]

    def get_command(self, _context: Any, name: str) -> Any:
        """Make a command; None, after a line on stderr, if an added kind is broken."""
        # If the folder of a kind is deleted, ModuleNotFoundError says so
        try:
            if name in (AUTO, *trainable_kinds()):
                return command_for(None if name == AUTO else name)
        except ModelError as error:
            note(f"left out, the kind of parsers {error}")
        return None

    def parse_args(self, context: Any, args: list[str]) -> list[str]:
        """Read the name of the kind; without a kind, use the command that chooses the kind."""
        if args and args[0] not in (AUTO, *trainable_kinds(), *context.help_option_names):
            refuse_options_of_kinds(args)
            args = [AUTO, *args]
        return super().parse_args(context, args)


def refuse_options_of_kinds(args: list[str]) -> None:
    """Raise BadParameter for an option that only some kinds of parsers have."""
    words = [word for arg in args for word in arg.split("=", 1)]
    common = all_options(None)
    for word in words:
        if word in trainable_kinds() and not Path(word).exists():
            raise typer.BadParameter(f"the kind comes first: arborescence train {word} TRAIN...")
        name = word.removeprefix("--no-").removeprefix("--").replace("-", "_")
        having = [kind for kind in present_kinds() if name in all_options(kind)]
        if word.startswith("--") and having and name not in common:
            raise typer.BadParameter(
                f"{word} goes with a kind of parser: arborescence train {having[0]} TRAIN..."
            )


def command_for(kind: str | None) -> Any:
    """Make the command that trains a kind of parser, or chooses the kind."""
    options = all_options(kind)

    def run(
        context: typer.Context,
        treebanks: Annotated[list[Path], typer.Argument(metavar="TRAIN")],
        output: Annotated[Path, into("model")],
        dev: Annotated[
            Path | None, typer.Option(show_default="the dev part of the folders, or a tenth")
        ] = None,
        start: Annotated[str | None, typer.Option("--from", metavar="MODEL")] = None,
        resume: bool = False,
        encoding: EncodingOption = UTF8,
        skip_invalid: SkipOption = False,
        quiet: QuietOption = False,
        **_: object,
    ) -> None:
        """Train.

        Parameters
        ----------
        treebanks
            Treebanks to learn from: CoNLL-U, or folders that have a train part.
        output
            The file for the model.
        dev
            A treebank to choose the best epoch by, and to decide when to stop.
        start
            A model to continue from, with its kind and settings: its words and relations are kept,
            and new ones are added.
        resume
            Continue an interrupted training.
        """
        skipped = Skipped() if skip_invalid else None
        with steps(quiet=quiet) as step, usage_errors():
            trained = train(
                treebanks,
                dev,
                kind,
                start=start,
                output=output,
                resume=resume,
                skip_invalid=skipped,
                encoding=encoding,
                progress=step,
                **given(context, options),
            )
        if skipped:
            skipped.report()
        note(f"{reached(getattr(trained, 'info', {}))}saved in {output}", quiet=quiet)
        folders = filter(Path.is_dir, treebanks)
        if tests := [str(path) for folder in folders for path in parts_of(folder)["test"]]:
            note(f"to test the model: {', '.join(tests)}", quiet=quiet)

    app = typer.Typer(add_completion=False, rich_markup_mode="rich")
    app.command(kind or AUTO, help=described(kind), epilog=examples(*EXAMPLES.get(kind, ())))(
        documented(run, options)
    )
    return shown_as_written(typer.main.get_command(app))


def described(kind: str | None) -> str:
    """Return the first lines of a command's help."""
    if kind is None:
        return "Train the kind of parser that is best for the size of the treebank."
    name = str(settings_of(kind).__doc__).partition("\n")[0].removeprefix("Options of ")
    return f"Train {name}\n\nAfter each epoch the state is kept in MODEL.checkpoint, for --resume."


def reached(info: dict[str, Any]) -> str:
    """Return a text on the best epoch and its scores on dev; "" without scores."""
    epochs = info["dev"]
    if not (scores := epochs[info["epoch"] - 1]):
        return ""
    from arborescence.parsers.shared.run import shown

    return f"best on dev: epoch {info['epoch']} of {len(epochs)}, {shown(scores)}; "


app = typer.Typer(
    cls=Kinds,
    no_args_is_help=True,
    epilog=examples(*(line for lines in EXAMPLES.values() for line in lines)),
)


@app.callback()
def kinds() -> None:
    """Train a parser on a treebank.

    The first word names the kind of parser; its help names its options. Without a kind, the best
    kind for the size of the treebank is chosen. Write ./NAME for a file with the name of a kind.
    """
