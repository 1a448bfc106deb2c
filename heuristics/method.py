"""The base class of methods: an object with documented fields, and a text with the same content."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass, fields, replace
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Self, Union, get_args, get_origin, get_type_hints
from urllib.parse import quote, unquote

from ..errors import WrongArgument, WrongValue
from ..models import Problem
from ..models.arguments import expect, plain_type
from ..models.words import UnknownName

# --- Values of options and parameters as text: ``name=value``, where the value contains no separator of a method's text.

Value = bool | int | float | str
WORDS: dict[str, bool] = {"true": True, "false": False}
INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
EXPECTED = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


class Parameters(Mapping[str, Value]):
    """Parameters of a solver by its own names: a mapping that cannot be changed, so that methods can be compared.

    Parameters
    ----------
    values : mapping of str to bool, int, float or str
        The parameters.

    Raises
    ------
    TypeError
        If a name is no text, or a value has another type.
    """

    def __init__(self, values: Mapping[str, Value] | None = None) -> None:
        self._values = dict(sorted((values or {}).items()))
        for name, value in self._values.items():
            if not isinstance(name, str) or not isinstance(value, (bool, int, float, str)):
                raise WrongArgument(f"parameter {name!r}={value!r}: expected a bool, int, float or str")

    def __getitem__(self, name: str) -> Value:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(tuple(self._values.items()))

    def __repr__(self) -> str:
        return repr(self._values)


def to_text(value: Value) -> str:
    """Return a value as text; characters that have a meaning in methods, lists and shells are written as ``%2C``.

    Examples
    --------
    >>> to_text(True), to_text(0.5), to_text("a,b"), to_text("1")
    ('true', '0.5', 'a%2Cb', '%31')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return repr(value).replace("e+", "e")
    text = quote(value, safe="").replace("~", "%7E")
    # a text that reads like a number or a truth value: its first character is escaped
    if isinstance(from_text(text), str):
        return text
    return f"%{ord(value[0]):02X}{quote(value[1:], safe='')}"


def from_text(text: str) -> Value:
    """Return the value of a text: a truth value, a whole number, a number, or else a text.

    Examples
    --------
    >>> from_text("true"), from_text("3"), from_text("1e-3"), from_text("a%2Cb"), from_text("%31")
    (True, 3, 0.001, 'a,b', '1')
    """
    if text in WORDS:
        return WORDS[text]
    if "%" in text or "_" in text:  # no number: to_text writes numbers without them
        return unquote(text)
    if INTEGER.fullmatch(text):
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text


def as_type(value: Value, wanted: Any) -> Any:
    """Convert a value to the type of a field.

    Parameters
    ----------
    value : bool, int, float or str
        The value, as ``from_text`` gives it.
    wanted : type
        The type of the field, for example ``int | None``.

    Returns
    -------
    object
        The value.

    Raises
    ------
    ValueError
        If the value has another type; the message says what is expected.
    """
    if get_origin(wanted) in (Union, UnionType):
        types = [t for t in get_args(wanted) if t is not NoneType]
    else:
        types = [wanted]
    for kind in types:
        if type(value) is kind:
            return value
        if kind is float and type(value) is int:
            return float(value)
    raise WrongValue(" or ".join(EXPECTED.get(kind, str(kind)) for kind in types))


Part = Literal["argument", "backend", "start", "option", "parameters", "lowering"]
# metadata of a field: the part of the text that it belongs to
ARGUMENT: dict[str, Part] = {"part": "argument"}  # after the first colon
BACKEND: dict[str, Part] = {"part": "backend"}  # of a search, after the @
LOWERING: dict[str, Part] = {"part": "lowering"}  # the class writes and reads these fields together
START: dict[str, Part] = {"part": "start"}  # None, the text of a heuristic, a heuristic, or a `Start`
PARAMETERS: dict[str, Part] = {"part": "parameters"}  # the solver's own
OPTION: dict[str, Part] = {"part": "option"}  # :NAME=VALUE, unless it has its default; "least": its smallest value
USUAL = "usual"  # the start that "+warm" stands for: the usual heuristic of the kind of problem
STARTERS = ("multi-search", "lns", "greedy", "multi-sgs", "a heuristic of the problem's kind")  # for messages
SECONDS = re.compile(r"(?P<seconds>\d+(\.\d+)?)s", re.ASCII)


@dataclass(frozen=True)
class Method:
    """A method: a solver with a formulation, or a heuristic. The subclasses have the fields.

    Each field has the part of the text that it belongs to as its metadata, so that the text follows from the fields:
    ``rounds: int | None = field(default=None, metadata=OPTION)``. So do classes of third parties.

    Attributes
    ----------
    name : str
        The backend or the heuristic: the first part of the text.
    seeded : bool
        Whether the result depends on the seed.
    """

    name: ClassVar[str]
    seeded: ClassVar[bool] = True

    def __post_init__(self) -> None:
        hints = _types_of(type(self))
        for f in fields(self):
            value = getattr(self, f.name)
            if part_of(f) == "start":
                value = start_text(value)
            elif part_of(f) == "parameters":
                if not isinstance(value, Parameters):
                    value = Parameters(value)
            elif part_of(f) in ("option", "argument", "backend") and value is not None and hints[f.name] is not Any:
                wanted = plain_type(hints[f.name])
                if part_of(f) == "argument" and wanted is not str and isinstance(value, str):
                    value = from_text(value)
                try:
                    value = as_type(value, wanted)
                except WrongValue as expected:
                    raise WrongValue(f"{f.name} of {self.name} is {value!r}; expected {expected}") from None
                expect(f"{f.name} of {self.name}", value, hints[f.name])
                if value < f.metadata.get("least", value):
                    raise WrongValue(f"{f.name} of {self.name} is {value}; expected at least {f.metadata['least']}")
            object.__setattr__(self, f.name, value)

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """The method as text; ``parse_method`` makes an equal method of it."""
        words = self._words()
        lowered = self.lowering_text
        start = self.start
        if lowered:
            words[-1] += f"@{lowered}"
        if start is not None:
            if start == USUAL:
                words[-1] += "+warm"
            else:
                words[-1] += f"+warm={start}"
        given = {f.name: getattr(self, f.name) for f in self._with("option") if getattr(self, f.name) != f.default}
        given |= self.solver_parameters
        return ":".join(words + [f"{name}={to_text(value)}" for name, value in given.items()])

    def _words(self) -> list[str]:
        """Return the name, with the backend, and the argument if there is one."""
        head = self.name
        for f in self._with("backend"):
            if getattr(self, f.name) != f.default:
                head += f"@{getattr(self, f.name)}"
        given = [getattr(self, f.name) for f in self._with("argument")]
        return [head, *(str(v) for v in given if v is not None)]

    @classmethod
    def _with(cls, *parts: Part) -> Iterator[Field[Any]]:
        return (f for f in fields(cls) if part_of(f) in parts)

    @property
    def lowering_text(self) -> str:
        """The text after the @ of a formulation; "" for the backend's own choice."""
        return ""

    @property
    def start(self) -> str | None:
        """The text of the `Start`; None: the method starts from nothing, or from a schedule that the caller gives."""
        return next((getattr(self, f.name) for f in self._with("start")), None)

    @property
    def solver_parameters(self) -> Parameters:
        """Parameters of the solver; empty for heuristics."""
        return next((getattr(self, f.name) for f in self._with("parameters")), Parameters())

    @property
    def heuristic(self) -> str | None:
        """Name of the heuristic; None for a solver."""
        return None

    @property
    def backend_name(self) -> str:
        """Name of the backend that is used; "" if there is none."""
        return next((getattr(self, f.name) or "" for f in self._with("backend")), "")

    @property
    def program(self) -> str:
        """The program whose version decides the outcome: the backend, or "schedlab" if there is none."""
        return self.backend_name or "schedlab"

    @classmethod
    def obeyed(cls) -> frozenset[str]:
        """Return the arguments of ``solve`` that these methods obey, beside time limit, threads, seed and callback."""
        return frozenset()

    @classmethod
    def options(cls) -> list[str]:
        """Return the names of the fields that ``solve`` takes as further arguments."""
        return [f.name for f in fields(cls) if part_of(f) in ("option", "lowering")]

    def with_options(self, **options: Any) -> Self:
        """Return the same method with other values of some fields."""
        return replace(self, **options)

    def check(self, problem: Problem) -> None:
        """Raise UnknownName if a part of the method does not exist for this problem."""


@dataclass(frozen=True)
class Start:
    """A heuristic whose schedule a method starts from.

    Parameters
    ----------
    method : Method or None
        The heuristic; None: the usual one of the problem's kind.
    time_limit : float or None
        Seconds; None: no limit of its own, within the limit of the call.
    """

    method: Method | None = None
    time_limit: float | None = None

    def __post_init__(self) -> None:
        if self.method is not None and (self.method.heuristic is None or self.method.start is not None):
            raise UnknownName("heuristic to start from", self.method.text, STARTERS)
        if self.time_limit is not None and not self.time_limit > 0:
            raise WrongValue(f"the time limit of a start is {self.time_limit}; expected seconds above 0")

    @property
    def text(self) -> str:
        """The start as text: "usual", "lns/5s", "first-solution/est"."""
        if self.method is None:
            words = [USUAL]
        else:
            words = self.method.text.split(":")
        return "/".join([*words, *([] if self.time_limit is None else [f"{self.time_limit:.15g}s"])])


def start_text(value: Start | Method | str | None) -> str | None:
    """Return the text of a start, which may be given as a heuristic; raise TypeError for anything else."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (Start, Method)):
        return (Start(value) if isinstance(value, Method) else value).text
    raise WrongArgument(f"warm_start is {value!r:.80}; expected a heuristic, as text or as a method, or a Start")


_types: dict[type[Method], dict[str, Any]] = {}


def _types_of(cls: type[Method]) -> dict[str, Any]:
    """Return the types of the fields of a class; reading them takes longer than all other work on a method."""
    if cls not in _types:
        _types[cls] = get_type_hints(cls, include_extras=True)
    return _types[cls]


def part_of(declared: Field[Any]) -> Part | None:
    """Return the part of the text that a field belongs to."""
    part: Part | None = declared.metadata.get("part")
    return part


def fields_of(cls: type[Method], part: Part) -> list[str]:
    """Return the names of the fields of a class that belong to a part of the text."""
    return [f.name for f in fields(cls) if part_of(f) == part]
