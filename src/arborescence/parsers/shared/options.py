"""Options of training, each declared once: a field of a record, with its type, default and help.

The checks, the fields of model files, the command line and the tables of the reference are made
from these declarations. The command line imports this module and the records, so they must not
import slow modules.
"""

from __future__ import annotations

import ast
import inspect
import os
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
#: The scorer of edges of a neural parser: a biaffine form, or an MLP over pairs of words.
Scorer = Literal["biaffine", "mlp"]
#: The number format of the weights of a neural parser in its file.
Precision = Literal["int8", "float16"]
#: The trees of a parser: all, projective ones, or all by pseudo-projective parsing.
Projective = bool | Literal["pseudo"]
#: The inference of a parser: the best tree exactly, or approximately by an undirected tree.
Inference = Literal["exact", "undirected"]
#: Whether the features of an edge depend on which of its two words is the head.
Features = Literal["directed", "undirected"]
#: The transition systems.
System = Literal["arc-standard", "arc-eager", "arc-hybrid", "swap"]
#: The oracle of a transition-based parser: one derivation of the gold tree, or the best transitions
#: in every state.
Oracle = Literal["static", "dynamic"]
#: The measure of a parser's doubt about a sentence: see `arborescence.parsers.ranking.rank`.
Doubt = Literal["loss", "entropy", "margin", "disagreement"]
#: Called as ``progress(phase, done, total)``.
Progress = Callable[[str, int, int], None]


_Options = TypeVar("_Options", bound="OptionSet")
#: The kinds of this package that are trained on one treebank. Each is a folder with a `Settings`.
Trainable = Literal["linear", "second-order", "transition", "neural"]
TRAINABLE: Final[tuple[Trainable, ...]] = get_args(Trainable)


#: The values of a type, for an option that does not restrict them.
_VALUES: Final = {int: scheme.whole(0), float: scheme.positive(), str: scheme.TEXT}


@dataclass(frozen=True)
class Option:
    """An option of training. The annotation of a record's field has it, after the field's type."""

    #: The values, by default all values of the type.
    values: scheme.Field | None = None
    #: A marker: the other fields are keywords.
    _: KW_ONLY
    #: Whether the result of training depends on the option: then it is in the `info` of a model,
    #: and a checkpoint continues with the same value only.
    stored: bool = True
    #: Whether parsing needs the option: then it is also a field of the header of a model file.
    kept: bool = False
    #: Whether the command line has the option. Training itself sets the others.
    command: bool = True
    #: The name on the command line and in files, if it is another name.
    written: str = ""
    #: The help text, by default the string below the field.
    help: str = ""
    #: The name of the values in the help.
    metavar: str | None = None
    #: The group of options in the help.
    panel: str | None = None
    #: The default in the help.
    shown: str | None = None
    #: The name of the field, from the record.
    name: str = ""
    #: The default, from the record.
    default: Any = None
    #: int, float, tuple or str, from the field's type.
    kind: type = str
    #: The values to choose from, from the field's type.
    choices: tuple[Any, ...] = ()
    #: Whether the values are only False and True, from the field's type.
    is_flag: bool = False

    def field(self, *, required: bool = True) -> scheme.Field:
        """Return the field of a model file; if not required, older files have the default."""
        values = self.values or scheme.TEXT
        return values if required else replace(values, default=self.default)

    def checked(self, value: Any) -> Any:
        """Return a valid value as a plain number or a tuple if possible; else raise OptionError.

        A seed is drawn from a generator, or, for None, by the system.
        """
        if self.name == "rng":
            value = int.from_bytes(os.urandom(8), "big") >> 1 if value is None else value
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
class OptionSet:
    """A record of options of training; the options of a kind of parser are its `Settings`."""

    def __post_init__(self) -> None:
        for name, option in options_of(type(self)).items():
            object.__setattr__(self, name, option.checked(getattr(self, name)))
        self._check_together()

    def _check_together(self) -> None:
        """Raise OptionError if the values of some options do not go together."""

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Self:
        """Make a record; other options have their defaults. OptionError if a name is unknown."""
        known = options_of(cls)
        for name in settings.keys() - known.keys():
            raise OptionError(f"{name} is not an option; the options are {', '.join(known)}")
        return cls(**settings)

    def stored(self) -> dict[str, Any]:
        """Return the options on which the result of training depends, by name."""
        known = options_of(type(self)).items()
        return {
            option.written or name: getattr(self, name) for name, option in known if option.stored
        }


class LearnerSettings(OptionSet):
    """The `Settings` of a kind of parser."""

    #: Whether the parser also learns from each sentence with predicted tags.
    jackknifed: ClassVar[bool] = True

    @property
    def in_part(self) -> bool:
        """Whether sentences may lack heads: then all trees with the known heads count as gold."""
        return False

    def check_installed(self) -> None:
        """Raise MissingExtraError or OptionError if training needs a missing package or device."""


def options_of(record: type[OptionSet]) -> dict[str, Option]:
    """Return the options of a record, by name, in the order of its fields."""
    hints = hints_of(record, include_extras=True)
    return {
        each.name: _filled(each.name, each.default, hints[each.name]) for each in fields(record)
    }


def described(record: type[OptionSet]) -> dict[str, Option]:
    """Return the options of a record with their help texts, which are read from its source."""
    help_texts: dict[str, str] = {}
    with suppress(OSError):  # an installation may lack the source
        for base in reversed(record.__mro__[: record.__mro__.index(OptionSet)]):
            [definition] = ast.parse(inspect.getsource(base)).body
            for field, below in pairwise(getattr(definition, "body", ())):
                if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
                    help_texts[ast.unparse(field.target)] = " ".join(
                        ast.literal_eval(below.value).split()
                    )
    known = options_of(record).items()
    return {name: replace(option, help=help_texts.get(name, option.help)) for name, option in known}


def kept_fields(record: type[OptionSet], *, required: bool = False) -> dict[str, scheme.Field]:
    """Return the fields of options that parsing needs; older files may lack optional fields."""
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


#: Options that a training that continues from a parser does not inherit.
_ANEW: Final = ("rng", "batch", "epochs")


def settings_from(start: Any) -> dict[str, Any]:
    """Return the settings that a parser was trained with, for training that continues from it."""
    if start is None:
        return {}
    known = options_of(start.settings_class)
    kept = ("columns", "projective", *kept_fields(start.settings_class))
    settings = {
        name: start.info[option.written or name]
        for name, option in known.items()
        if (option.written or name) in (start.info or {})
    }
    settings |= {name: getattr(start, name) for name in kept if name in known}
    return {name: value for name, value in settings.items() if name not in _ANEW}


def settings_of(kind: str) -> type[Any]:
    """Return the `Settings` of a kind of parser; of this package's kinds, without slow imports."""
    settings: type[Any]
    if kind in TRAINABLE:
        settings = import_module(f"{_folder_of(kind)}.settings").Settings
    else:
        from arborescence.parsers.registry import parser_class

        settings = parser_class(kind).settings_class
    return settings


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
    """Complete the option of a field with its name, default and type."""
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
    """Return the types of a union, also of the unions in it."""
    if get_origin(hint) in (Union, UnionType):
        return [each for inner in get_args(hint) for each in _alternatives(inner)]
    return [hint]


ALL_COLUMNS: Final = tuple(scheme.COLUMNS)
#: The smallest and the largest binary logarithm of the number of rows of a weight table.
LEAST_BITS: Final = 10
MOST_BITS: Final = 26

_COLUMNS: Final = "The columns that the parser reads. Choose columns that later input will have."
Columns = Annotated[tuple[str, ...], Option(scheme.LOOKED_AT, help=_COLUMNS)]

Trees = Annotated[Root, Option(help="Exactly one word hangs from the root, or one or more words.")]

_RNG: Final = "The seed of random numbers: the same seed gives the same model, byte for byte."
#: For None or a generator, a seed is drawn, and kept.
Rng = Annotated[int, Option(scheme.whole(0, 2**63 - 1), help=_RNG, written="seed")]

_BITS: Final = "The model has 2^bits rows of weights; one more bit doubles the memory."
Bits = Annotated[int, Option(scheme.whole(LEAST_BITS, MOST_BITS), help=_BITS)]

_STEP: Final = "The largest step of MIRA, also for relations."
Step = Annotated[float, Option(scheme.positive(), help=_STEP)]

_EPOCHS: Final = "The largest number of passes over the treebank."
Epochs = Annotated[int, Option(scheme.whole(1), help=_EPOCHS, stored=False)]

_PATIENCE: Final = "The number of epochs without a better LAS on dev after which training stops."
Patience = Annotated[int, Option(scheme.whole(1), help=_PATIENCE, stored=False)]


@dataclass(frozen=True, kw_only=True)
class Recipe(OptionSet):
    """Options of `arborescence.parsers.train` for the parts of a model besides the parser."""

    tagger: bool = True
    """Put a tagger into the model, for words without tags."""
    jackknife: bool = True
    """With a tagger: learn from each sentence twice, with its own tags and with the tags of a
    tagger that has not seen the sentence."""
    text: bool = True
    """Also learn to cut raw text into sentences and words, and to find lemmas."""
    varied: bool = True
    """Also learn from copies of some sentences: in lower case, in capitals, with other quotation
    marks. In parsers other than neural, only the tagger and the tokenizer learn from the copies."""
    anew: bool = False
    """When continuing from a model, train its tagger and tokenizer again: choose this if they have
    learned from the same sentences."""
