"""Options of training, each declared once: a field of a record, with its type, default and help.

From it come the checks, the fields of model files, the command line and the tables of the
reference. The command line imports this module and the records, so they must not import slow
modules.
"""

from __future__ import annotations

import ast
import inspect
import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, fields, replace
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Final,
    Literal,
    Self,
    TypeVar,
    Union,
    get_args,
    get_origin,
)
from typing import get_type_hints as hints_of

from arborescence.core.choices import Root
from arborescence.errors import ModelError, OptionError
from arborescence.parsers.shared import scheme

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The loss of a linear graph-based parser.
Loss = Literal["mira", "perceptron", "tree", "head"]
#: The loss of a neural parser.
NeuralLoss = Literal["head", "tree", "margin"]
#: How a neural parser scores an edge: by a biaffine form, or by an MLP over pairs of words.
Scorer = Literal["biaffine", "mlp"]
#: How the weights of a neural parser are rounded in its file.
Precision = Literal["int8", "float16"]
#: The trees of a parser: all, projective ones, or all by pseudo-projective parsing.
Projective = bool | Literal["pseudo"]
#: How a parser decodes: the best tree exactly, or approximately through an undirected tree.
Inference = Literal["exact", "undirected"]
#: Whether the features of an edge depend on which of its two words is the head.
Features = Literal["directed", "undirected"]
#: The transition systems.
System = Literal["arc-standard", "arc-eager", "arc-hybrid", "swap"]
#: The oracle of a transition-based parser: one derivation of the gold tree, or the best transitions
#: in every state.
Oracle = Literal["static", "dynamic"]
#: How the doubt of a parser about a sentence is measured: see `arborescence.parsers.ranking.rank`.
Doubt = Literal["loss", "entropy", "margin", "disagreement"]
#: Called as ``progress(phase, done, total)``.
Progress = Callable[[str, int, int], None]


_Options = TypeVar("_Options", bound="Record")
#: The kinds of this package that are trained on one treebank. Each is a folder with a `Settings`.
Trainable = Literal["linear", "second-order", "transition", "neural"]
TRAINABLE: Final[tuple[Trainable, ...]] = get_args(Trainable)


#: The values of a type, where an option does not say which of them.
_VALUES: Final = {int: scheme.whole(0), float: scheme.positive(), str: scheme.TEXT}


@dataclass(frozen=True)
class Option:
    """An option. In the annotation of a field stands what its type does not say."""

    values: scheme.Field | None = None  # its values, by default all of its type
    _: KW_ONLY
    # whether it helps to determine what is learned: then it is in the `info` of a model, and a
    # checkpoint goes on with the same value only
    stored: bool = True
    # whether parsing needs it: then it is also a field of the header of a model file
    kept: bool = False
    command: bool = True  # whether the command line has it. Training itself sets the others.
    written: str = ""  # its name on the command line and in files, if that is another
    # help, metavar, panel, shown: what help says of it, by default what stands below the field; how
    # help names its values, the group of options that it is in, and its default
    help: str = ""
    metavar: str | None = None
    panel: str | None = None
    shown: str | None = None
    # name, default, kind, choices, is_flag: filled in from the field: kind is int, float, tuple or
    # str; the values to choose from are only False and True for a flag
    name: str = ""
    default: Any = None
    kind: type = str
    choices: tuple[Any, ...] = ()
    is_flag: bool = False

    def field(self, *, required: bool = True) -> scheme.Field:
        """Return its field of a model file; if it is not required, older files have the default."""
        values = self.values or scheme.TEXT
        return values if required else replace(values, default=self.default)

    def checked(self, value: Any) -> Any:
        """Return a value, as a plain number or a tuple if it is like one."""
        # OptionError if it does not fit. A seed is drawn from a generator, for None by the system.
        if self.name == "rng":
            value = secrets.randbits(63) if value is None else value
            value = value.integers(2**63 - 1) if hasattr(value, "integers") else value
        plain = value.item() if hasattr(value, "item") else value
        if self.kind is float and type(plain) is int:
            plain = float(plain)
        elif self.kind is tuple and not isinstance(plain, str):
            plain = tuple(plain)
        elif isinstance(plain, os.PathLike):
            plain = os.fspath(plain)
        field = self.field()
        if not field.fits(plain):
            raise OptionError(f"{self.name} must be {field.what}, not {value!r}")
        return plain


@dataclass(frozen=True, kw_only=True)
class Record:
    """The options of something that is trained; those of a kind of parser are its `Settings`."""

    def __post_init__(self) -> None:
        for name, option in options_of(type(self)).items():
            object.__setattr__(self, name, option.checked(getattr(self, name)))
        self._check_together()

    def _check_together(self) -> None:
        """Raise OptionError if the values of some options do not go together."""

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Self:
        """Make a record; the other options have their defaults."""
        # OptionError if a name is unknown
        known = options_of(cls)
        for name in settings.keys() - known.keys():
            raise OptionError(f"{name} is no option here; there are {', '.join(known)}")
        return cls(**settings)

    def stored(self) -> dict[str, Any]:
        """Return the options that determine what is learned, by name."""
        known = options_of(type(self)).items()
        return {
            option.written or name: getattr(self, name) for name, option in known if option.stored
        }


class LearnerSettings(Record):
    """The `Settings` of a kind of parser."""

    #: Whether the recipe shows the parser each sentence with the tags of a tagger, too.
    jackknifed: ClassVar[bool] = True

    @property
    def in_part(self) -> bool:
        """Whether sentences may lack heads: then it is learned from the trees that agree."""
        return False

    def check_installed(self) -> None:
        """Raise MissingExtraError or OptionError if training needs what is not there."""


def options_of(record: type[Record]) -> dict[str, Option]:
    """Return the options of a record, by name, in the order of its fields."""
    hints = hints_of(record, include_extras=True)
    return {
        each.name: _filled(each.name, each.default, hints[each.name]) for each in fields(record)
    }


def described(record: type[Record]) -> dict[str, Option]:
    """Return the options of a record with their help, which is read from its source."""
    said: dict[str, str] = {}
    with suppress(OSError):  # an installation may lack the source
        for base in reversed(record.__mro__[: record.__mro__.index(Record)]):
            [made] = ast.parse(inspect.getsource(base)).body
            for field, below in pairwise(getattr(made, "body", ())):
                if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
                    said[ast.unparse(field.target)] = " ".join(
                        ast.literal_eval(below.value).split()
                    )
    known = options_of(record).items()
    return {name: replace(option, help=said.get(name, option.help)) for name, option in known}


def kept_fields(record: type[Record], *, required: bool = False) -> dict[str, scheme.Field]:
    """Return the fields of options that parsing needs; older files may lack the not required."""
    known = options_of(record).items()
    return {name: option.field(required=required) for name, option in known if option.kept}


def record_of(record: type[_Options], header: Mapping[str, Any]) -> _Options:
    """Make a record from the field of a model file; raise ModelError if an option is invalid."""
    known = {option.written or name: option for name, option in options_of(record).items()}
    wanted = {name: option.field() for name, option in known.items() if option.stored}
    fields = scheme.fields_of(header, wanted)
    try:
        return record.of({known[name].name: value for name, value in fields.items()})
    except OptionError as error:
        raise ModelError(f"settings: {error}") from error


#: Options that do not go on from one training to the next.
_ANEW: Final = ("rng", "batch", "epochs")


def settings_from(start: Any) -> dict[str, Any]:
    """Return the settings that a parser was trained with, for training that goes on from it."""
    if start is None:
        return {}
    known = options_of(start.settings_class)
    kept = ("columns", "projective", *kept_fields(start.settings_class))
    found = {
        name: start.info[option.written or name]
        for name, option in known.items()
        if (option.written or name) in (start.info or {})
    }
    found |= {name: getattr(start, name) for name in kept if name in known}
    return {name: value for name, value in found.items() if name not in _ANEW}


def settings_of(kind: str) -> type[Any]:
    """Import the options of a kind of parser; of this package's kinds, nothing slow."""
    found: type[Any]
    if kind in TRAINABLE:
        found = import_module(f"{_folder_of(kind)}.settings").Settings
    else:
        from arborescence.parsers.registry import parser_class

        found = parser_class(kind).settings_class
    return found


def present_kinds() -> list[Trainable]:
    """Return the kinds of parsers of this package whose folder has not been deleted."""
    return [kind for kind in TRAINABLE if find_spec(_folder_of(kind))]


def trainable_kinds() -> list[str]:
    """Return the kinds of parsers of this package, and those of other distributions."""
    from arborescence.parsers.registry import added_kinds

    return [*TRAINABLE, *added_kinds()]


def _folder_of(kind: str) -> str:
    return f"arborescence.parsers.{kind.replace('-', '_')}"


def _filled(name: str, default: Any, hint: Any) -> Option:
    """Complete the option of a field by its name, default and type."""
    is_bare = get_origin(hint) is not Annotated
    option: Option
    of_field, option = (hint, Option()) if is_bare else get_args(hint)
    types = _alternatives(of_field)
    choices = tuple(choice for each in types for choice in _choices(each))
    kinds = [get_origin(each) or each for each in types]
    kind = next((kind for kind in kinds if kind in (int, float, tuple)), str)
    values = option.values or (scheme.one_of(choices) if choices else _VALUES[kind])
    return replace(
        option,
        values=scheme.or_none(values) if type(None) in types else values,
        name=name,
        default=default,
        kind=kind,
        choices=choices,
        is_flag=of_field is bool,
    )


def _choices(hint: Any) -> tuple[Any, ...]:
    if hint is bool:
        return (False, True)
    return get_args(hint) if get_origin(hint) is Literal else ()


def _alternatives(hint: Any) -> list[Any]:
    """Return the types of a union, without unions in it."""
    if get_origin(hint) in (Union, UnionType):
        return [each for inner in get_args(hint) for each in _alternatives(inner)]
    return [hint]


ALL_COLUMNS: Final = tuple(scheme.COLUMNS)
#: The smallest and the largest binary logarithm of the number of rows of a weight table.
LEAST_BITS: Final = 10
MOST_BITS: Final = 26

_COLUMNS: Final = "What the parser looks at. Choose columns that it will have later."
Columns = Annotated[tuple[str, ...], Option(scheme.LOOKED_AT, help=_COLUMNS)]

Trees = Annotated[Root, Option(help="Exactly one word hangs from the root, or one or more.")]

_RNG: Final = "Fixes what is random: the same seed gives the same model, byte for byte."
#: None or a generator, too: then a seed is drawn, and kept.
Rng = Annotated[int, Option(scheme.whole(0, 2**63 - 1), help=_RNG, written="seed")]

_BITS: Final = "Room for 2^bits rows of weights; one more doubles the memory."
Bits = Annotated[int, Option(scheme.whole(LEAST_BITS, MOST_BITS), help=_BITS)]

_STEP: Final = "The largest step of MIRA, by which relations are learned, too."
Step = Annotated[float, Option(scheme.positive(), help=_STEP)]

_EPOCHS: Final = "How often to go over the treebank, at most."
Epochs = Annotated[int, Option(scheme.whole(1), help=_EPOCHS, stored=False)]

_PATIENCE: Final = "Stop after so many epochs without a better LAS on dev."
Patience = Annotated[int, Option(scheme.whole(1), help=_PATIENCE, stored=False)]


@dataclass(frozen=True, kw_only=True)
class Recipe(Record):
    """What `arborescence.parsers.train` puts into a model beside the parser."""

    tagger: bool = True
    """Put a tagger into the model, for words without tags."""
    jackknife: bool = True
    """With a tagger: learn from each sentence twice, with its own tags and with those that a tagger
    gives it that has not seen it."""
    text: bool = True
    """Learn to cut raw text into sentences and words, and to find lemmas, too."""
    varied: bool = True
    """Learn from copies of some sentences, too: in lower case, in capitals, with other quotation
    marks. Parsers other than neural ones leave the copies to their tagger and tokenizer."""
    anew: bool = False
    """Going on from a model, train its tagger, and what cuts raw text, anew: right if they have
    learned from the same sentences."""
