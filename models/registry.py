"""One registry and one grammar for all parts that are named by texts: dispatchers, rankers, heuristics, log formats, ...

A text is ``NAME[:VALUE][:OPTION=VALUE]...``. NAME is a name of schedlab, a name that an installed package gives in a group
of entry points, a name that ``register`` has added in this process, or ``module:attribute``: a file in the current folder,
or an installed module. All of them are classes or functions that are called with the options, or finished objects, which
take none.

The options are the parameters of the class or function. Their types come from its annotations: ``int``, ``float``,
``bool``, ``str``, ``Literal["a", "b"]``, ``Seconds`` and ``WholeSeconds`` (``30min``), ``Mapping[str, float]``
(``debug=2/parallel=1``); without an annotation, from the default. A VALUE without a name is that of the first parameter; it
is allowed in registries that say so (``idle:30min``). If the only parameter is a text, all that stands after the name is its
value. A value may contain colons: what has no ``=`` belongs to the option before it (``method=cpsat:counts``).

The hash of its source (``source_hash``) tells a part that was changed from the one that was run before.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
import math
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, cached_property, partial
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    Never,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from ..errors import MissingValue, SchedlabError, WrongArgument, WrongValue
from .platform import LATEST
from .plugins import (
    REFERENCE,
    NoSuchAttribute,
    NoSuchModule,
    PluginError,
    check_parts,
    described,
    entry_points_of,
    explained,
    load_reference,
    plain_name,
)
from .words import UnknownName, excerpt, hint, how_many

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")
TRUTH = {"true": True, "false": False}
WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
TIME = re.compile(r"(\d+)\s*(s|min|h|d|)", re.ASCII)
UNITS = {"": 1, "s": 1, "min": 60, "h": 3600, "d": 86400}  # seconds
FIRST = ""  # the name of a value without a name
SECONDS = "seconds"
Seconds = Annotated[float, SECONDS]
WholeSeconds = Annotated[int, SECONDS]


class WrongOption(WrongValue):
    """A text that names a part gives an option that is not allowed, or a value that is not."""


class SourceOf(NamedTuple):
    """Marks an option whose value names a part of another registry: ``Annotated[str, SourceOf("my_module:source")]``.

    ``function``: the reference of a function from the value to the hash of the source of a third party's part, or None.
    """

    function: str


class Kind(NamedTuple):
    """The type of an option: its name in lists, what messages expect, and the function that reads it or raises WrongValue."""

    name: str
    expected: str
    read: Callable[[str], object]


class Option(NamedTuple):
    """An option of a part.

    Parameters
    ----------
    name : str
    kind : Kind
    default : object
        ``inspect.Parameter.empty`` if it must be given.
    source : str or None
        See ``SourceOf``.
    """

    name: str
    kind: Kind
    default: object
    source: str | None = None

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is inspect.Parameter.empty

    def __str__(self) -> str:
        return f"{self.name}={self.kind.name}"


class Description(NamedTuple):
    """What a list says about a part: its name, its options, the first sentence of its docstring, and its package.

    Examples
    --------
    >>> print(Description("idle", ("after=seconds",), "Switch nodes off.", "schedlab"))
    idle[:after=seconds]: Switch nodes off.
    """

    name: str
    options: tuple[str, ...]
    about: str
    package: str

    def __str__(self) -> str:
        return f"{self.name}{''.join(f'[:{option}]' for option in self.options)}: {self.about}"


def imported(reference: str) -> Any:
    """Return the object of schedlab, or of an installed package, that a ``module:attribute`` in its code names."""
    module, _, attribute = reference.partition(":")
    return getattr(importlib.import_module(module), attribute)


def seconds_of(text: str) -> int | None:
    """Return the seconds of a text such as 300, 300s, 30min, 2h or 7d; None if it is no such text.

    Examples
    --------
    >>> seconds_of("30min"), seconds_of("45"), seconds_of("soon")
    (1800, 45, None)
    """
    match = TIME.fullmatch(text.strip())
    if match is None:
        return None
    return int(match[1]) * UNITS[match[2]]


def _read_truth(text: str) -> bool:
    if text not in TRUTH:
        raise WrongValue(text)
    return TRUTH[text]


def _read_whole(text: str) -> int:
    if not WHOLE.fullmatch(text):
        raise WrongValue(text)
    return int(text)


def _read_float(text: str) -> float:
    value = float(text)
    if math.isnan(value) or "_" in text:
        raise WrongValue(text)
    return value


def _read_number(text: str) -> float:
    if WHOLE.fullmatch(text):
        return int(text)
    return _read_float(text)


def _read_seconds(text: str) -> float:
    with_unit = seconds_of(text)
    if with_unit is None:
        seconds = _read_float(text)
    else:
        seconds = with_unit
    if math.isfinite(seconds) and seconds > LATEST:
        raise WrongValue(text)
    return seconds


def _read_whole_seconds(text: str) -> int:
    seconds = seconds_of(text)
    if seconds is None or seconds > LATEST:
        raise WrongValue(text)
    return seconds


def _read_numbers(text: str) -> dict[str, float]:
    numbers: dict[str, float] = {}
    for part in text.split("/"):
        name, equals, value = part.rpartition("=")
        if not equals or not name or name in numbers:
            raise WrongValue(text)
        numbers[name] = _read_float(value)
    return numbers


NUMBER = Kind("number", "a number", _read_number)
TEXT = Kind("text", "a text", str)
WHOLE_SECONDS = Kind("seconds", "whole seconds, such as 300, 30min, 2h or 7d", _read_whole_seconds)
NUMBERS = Kind("name=number/...", "numbers by name, each once, as in debug=2/parallel=1", _read_numbers)
KINDS: Mapping[Any, Kind] = {
    bool: Kind("true|false", "true or false", _read_truth),
    int: Kind("whole", "a whole number", _read_whole),
    float: Kind("number", "a number", _read_float),
    str: TEXT,
    Seconds: Kind("seconds", "seconds, such as 300, 30min, 2h or 7d", _read_seconds),
    WholeSeconds: WHOLE_SECONDS,
}


def _choice(allowed: tuple[object, ...]) -> Kind:
    """Return the kind of an option that is one of several texts."""

    def read(text: str) -> str:
        if text not in allowed:
            raise WrongValue(text)
        return text

    return Kind("|".join(map(str, allowed)), f"one of {', '.join(map(str, allowed))}", read)


def _first_that_reads(kinds: list[Kind]) -> Kind:
    """Return the kind of an option of several types: the first one that reads a text; a text reads anything."""
    ordered = sorted(kinds, key=lambda kind: kind is TEXT)

    def read(text: str) -> object:
        for kind in ordered:
            with suppress(ValueError):
                return kind.read(text)
        raise WrongValue(text)

    return Kind("|".join(k.name for k in ordered), " or ".join(k.expected for k in ordered), read)


def _kind_of(annotation: Any) -> Kind | None:
    """Return the kind of an annotation; None if a text cannot give such a value."""
    with suppress(TypeError):  # of an annotation that cannot be hashed
        if annotation in KINDS:
            return KINDS[annotation]
    origin = get_origin(annotation)
    inner = get_args(annotation)
    if origin is Annotated:
        return _kind_of(inner[0])
    if origin is Literal:
        return _choice(inner)
    if origin in (Mapping, dict) and inner == (str, float):
        return NUMBERS
    if origin not in (Union, types.UnionType):
        return None
    kinds = [kind for kind in map(_kind_of, inner) if kind is not None]
    if len(kinds) > 1:
        return _first_that_reads(kinds)
    return next(iter(kinds), None)


def _kind_of_default(default: object) -> Kind | None:
    if isinstance(default, bool):
        return KINDS[bool]
    if isinstance(default, int | float):
        return NUMBER
    if isinstance(default, str):
        return TEXT
    return None


def _annotations(what: Callable[..., object], parameters: Iterable[inspect.Parameter]) -> dict[str, Any]:
    """Return the annotations of the parameters, as far as they can be evaluated."""
    while isinstance(what, partial):
        what = what.func
    function = what.__init__ if isinstance(what, type) else what  # type: ignore[misc]
    annotations: dict[str, Any] = {}
    for owner in (what, function):
        with suppress(NameError, TypeError, AttributeError):  # of names that are imported for type checkers alone
            annotations |= get_type_hints(owner, include_extras=True)
    space = getattr(inspect.unwrap(function), "__globals__", {})
    for each in parameters:
        if each.name not in annotations and each.annotation is not each.empty:
            with suppress(NameError, TypeError, AttributeError, SyntaxError):
                told = each.annotation
                # written beside the code
                if isinstance(told, str):
                    annotations[each.name] = eval(told, space)
                else:
                    annotations[each.name] = told
    return annotations


def options_of(what: Callable[..., object]) -> dict[str, Option]:
    """Return the options that a text can give to a class or function, in the order of its parameters.

    Parameters
    ----------
    what : callable
        A class or function. Parameters of other types than those of the module docstring are no options.

    Examples
    --------
    >>> def easy(depth: int, slack: Seconds = 60, strict=False): ...
    >>> print(*options_of(easy).values())
    depth=whole slack=seconds strict=true|false
    """
    try:
        parameters = inspect.signature(what).parameters
    except (ValueError, TypeError):  # of a class in C
        return {}
    annotated = _annotations(what, parameters.values())
    options = {}
    for name, each in parameters.items():
        if each.kind not in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY):
            continue
        annotation = annotated.get(name)
        kind = _kind_of(annotation) or _kind_of_default(each.default)
        if kind is None and each.default is each.empty and annotation is None:
            kind = TEXT
        if kind is not None:
            marks = [mark for mark in get_args(annotation)[1:] if isinstance(mark, SourceOf)]
            options[name] = Option(name, kind, each.default, marks[0].function if marks else None)
    return options


@cache
def _required(what: Callable[..., object]) -> tuple[Option, ...]:
    """Return the options that a text must give to a class or function; kept, as each replay asks for them."""
    return tuple(option for option in options_of(what).values() if option.required)


class NamedPart(Generic[T]):
    """A part that a text names; its class or function is called when ``make`` is.

    Parameters
    ----------
    registry : Registry
        Where it is registered.
    text : str
        The whole text.
    name : str
        The name without options, or ``module:attribute``.
    given : mapping of str to str
        The options as texts; a value without a name has the name "".
    """

    def __init__(self, registry: Registry[T], text: str, name: str, given: Mapping[str, str]) -> None:
        self.registry = registry
        self.text = text
        self.name = name
        self.given = given

    def __repr__(self) -> str:
        return f"NamedPart({self.registry.what}: {self.text})"

    @property
    def label(self) -> str:
        """A text that names it in messages, with the package of a third party's."""
        if self.name in self.registry:
            return self.registry.label(self.name)
        return self.name

    @property
    def what(self) -> Any:
        """The class, function or object that is registered. Raises PluginError, UnknownName."""
        registry = self.registry
        if self.name in registry:
            return registry[self.name]
        return registry.referred(self.name)

    @property
    def source(self) -> str | None:
        """A hash of the source of third parties' code that it uses; None if all is of schedlab."""
        own = self.registry.source(self.name)
        sources = []
        if own is not None:
            sources = [own]
        for option, value in self._texts():
            hashed = None
            if option.source is not None:
                hashed = imported(option.source)(value)
            if hashed is not None:
                sources += [hashed]
        return "+".join(sources) or None

    def make(self, **more: Any) -> T:
        """Return the part, checked.

        Parameters
        ----------
        **more
            Further arguments of its class or function, if there are such parameters.

        Raises
        ------
        UnknownName
            If it has no such option; the message lists similar ones.
        WrongOption
            If a value is not allowed, or an option that must be given is missing.
        PluginError
            If a third party's cannot be imported or created, or has not the parts of its protocol.
        """
        part = what = self.what
        if self.registry.is_maker(what):
            values = self.values(tuple(more))
            known = inspect.signature(what).parameters
            values |= {name: value for name, value in more.items() if name in known}
            part = self._called(what, values)
        elif self.given:
            self._refuse()
        self.registry.check(self.label, part)
        made: T = part
        return made

    def _called(self, maker: Callable[..., Any], values: Mapping[str, Any]) -> Any:
        """Return what a class or function makes of the options; errors of a third party's code become PluginError."""
        try:
            if self.registry.is_own(self.name):
                return maker(**values)
            with explained(f"{self.label} cannot be created"):
                return maker(**values)
        except (WrongOption, UnknownName):
            raise
        except (WrongValue, WrongArgument) as e:
            raise WrongOption(str(e)) from e
        except PluginError as e:
            cause = e.__cause__
            if isinstance(cause, UnknownName):
                raise cause from None
            if isinstance(cause, WrongValue | WrongArgument):
                raise WrongOption(str(cause)) from e
            if isinstance(cause, SchedlabError):
                raise PluginError(str(cause)) from e
            raise

    def values(self, hidden: tuple[str, ...] = ()) -> dict[str, Any]:
        """Return the options as values; ``hidden``: parameters that are no options. Raises UnknownName, WrongOption."""
        values_by_name: dict[str, Any] = {}
        for option, text in self._texts(hidden):
            try:
                values_by_name[option.name] = option.kind.read(text)
            except ValueError:
                raise WrongOption(
                    f"{self.label}: {option.name} is {excerpt(text)}; expected {option.kind.expected}"
                ) from None
        # Python says it of others
        if self.registry.is_own(self.name):
            required = _required(self.what)
        else:
            required = ()
        for option in required:
            if option.name not in values_by_name:
                value = "VALUE"
                if option.kind.name.isalpha():
                    value = option.kind.name.upper()
                named = f"{option.name}={value}"
                raise WrongOption(f"{self.label} needs the option {option.name}; expected {self.name}:{named}")
        return values_by_name

    def _texts(self, hidden: tuple[str, ...] = ()) -> list[tuple[Option, str]]:
        """Return the given options with their texts. Raises UnknownName, WrongOption."""
        if not self.given:
            return []
        what = self.what
        known = {}
        if self.registry.is_maker(what):
            known = options_of(what)
        known = {name: option for name, option in known.items() if name not in hidden}
        first = next(iter(known.values()), None)
        if first is None and FIRST in self.given:
            self._refuse()
        if self.registry.first_value and len(known) == 1 and first is not None and first.kind is TEXT:
            whole = self.text[len(self.name) + 1 :]
            return [(first, whole.removeprefix(f"{first.name}="))]
        texts: dict[str, tuple[Option, str]] = {}
        for name, text in self.given.items():
            if name != FIRST and name not in known:
                raise UnknownName(f"option of {self.label} called", name, list(known))
            if name == FIRST and first is not None:
                option = first
            else:
                option = known[name]
            if option.name in texts:
                raise WrongOption(f"{self.label}: the option {option.name} is given twice; expected each once")
            texts[option.name] = (option, text)
        return list(texts.values())

    def _refuse(self) -> Never:
        """Raise the error of options that a finished object, or a function without parameters, is given."""
        name = next(iter(self.given))
        if name == FIRST:
            raise WrongOption(f"{self.label} takes no option; expected {self.name} alone, not {self.text}")
        raise UnknownName(f"option of {self.label} called", name, [])


class Registry(Mapping[str, T]):
    """Parts by name: those of schedlab, and those of third parties in a group of entry points.

    A part is imported when it is looked up, not before. A name of schedlab cannot be replaced by a third party; a name that
    two packages give to different parts cannot be used. ``register`` adds a part for this process, and ``unregister``
    removes it; a name is not assigned.

    Parameters
    ----------
    what : str
        What the parts are, for messages: "ranker".
    group : str
        The group of entry points: "schedlab.rankers".
    own : mapping of str to object
        The parts of schedlab. A text ``module:attribute`` is imported when it is looked up.
    check : callable, optional
        Raises PluginError if what is registered is not what its group needs.
    parts : tuple of str
        The attributes of a part that ``make`` returns: the name, and the functions.
    docs : str
        The page that describes the parts, for messages.
    argument : str
        The argument that takes an object in place of a text, for messages: "node_policy".
    first_value : bool
        Whether the value of the first parameter may stand without its name.
    finished : callable, optional
        Returns whether an object is a part without having ``parts``.
    near : callable, optional
        Returns further texts that an unknown one may have meant, for messages.
    """

    def __init__(
        self,
        what: str,
        group: str,
        own: Mapping[str, Any],
        check: Callable[[str, Any], object] | None = None,
        *,
        parts: tuple[str, ...] = (),
        docs: str = "",
        argument: str = "",
        first_value: bool = False,
        finished: Callable[[Any], bool] | None = None,
        near: Callable[[str], list[str]] = lambda text: [],
    ) -> None:
        self.what = what
        self.group = group
        self.parts = parts
        self.docs = docs
        self.first_value = first_value
        self.argument = argument or what.replace(" ", "_")
        self._check = check
        self._finished = finished
        self._near = near
        self._found: dict[str, T] = {name: value for name, value in own.items() if not isinstance(value, str)}
        self._own = {name: value for name, value in own.items() if isinstance(value, str)}
        self._names: dict[str, None] = dict.fromkeys(own)
        self._added: set[str] = set()  # in this process
        self._adopted: set[str] = set()  # module:attribute

    @cached_property
    def third_parties(self) -> Mapping[str, EntryPoint]:
        """The entry points of third parties by name, in order of their installation folders."""
        return {name: entries[0] for name, entries in self._entries.items()}

    @cached_property
    def _entries(self) -> Mapping[str, list[EntryPoint]]:
        """The entry points of third parties by name; several, if packages give one name to different parts."""
        by_name: dict[str, list[EntryPoint]] = {}
        for entry in entry_points_of(self.group):
            same = by_name.setdefault(entry.name, [])
            if all(entry.value != other.value for other in same):
                same.append(entry)
        return {name: entries for name, entries in by_name.items() if name not in self._names}

    @property
    def ignored(self) -> list[EntryPoint]:
        """The entry points whose name belongs to schedlab."""
        return [e for e in entry_points_of(self.group) if e.name in self._names and e.name not in self._added]

    def __getitem__(self, name: str) -> T:
        """Return what is registered; raises PluginError if that of a third party cannot be used."""
        if name in self._found:
            return self._found[name]
        if name in self._own:
            part = imported(self._own[name])
        else:
            if name not in self.third_parties:
                raise MissingValue(f"there is no {self.what} {excerpt(name)}; {hint(name, self)}")
            self._check_single(name)
            label = self.label(name)
            with explained(f"{label} cannot be imported"):
                part = self.third_parties[name].load()
            if self._check is not None:
                self._check(label, part)
        self._found[name] = part
        return self._found[name]

    def _check_single(self, name: str) -> None:
        """Raise PluginError if several packages have registered a name."""
        entries = self._entries[name]
        if len(entries) > 1:
            raise PluginError(
                f"the {self.what} {name} is registered twice: {' and '.join(map(described, entries))}; "
                f"name the one that you mean as {entries[0].value}, or uninstall one of the packages"
            )

    def names(self) -> list[str]:
        """Return all names, those of schedlab first."""
        return list(self)

    def find(self, text: str) -> NamedPart[T]:
        """Split a text ``NAME[:VALUE][:OPTION=VALUE]...`` into the name and its options; see the module docstring.

        Raises
        ------
        UnknownName
            If there is no such name; the message lists similar ones.
        WrongOption
            If an option has no value, or is given twice.
        PluginError
            If a module ``module:attribute`` cannot be imported.
        """
        if not isinstance(text, str):
            raise WrongArgument(f"{self.argument} is {excerpt(text)}; expected the name of a {self.what}")
        name = self.name_in(text)
        if name is None:
            words = text.split(":")
            name = ":".join(words[:2])
            if not REFERENCE.fullmatch(name):
                if self.first_value:
                    unknown = words[0]
                else:
                    unknown = ":".join(takewhile(lambda word: "=" not in word, words))
                raise UnknownName(self.what, unknown, self.suggested(text))
            self.referred(name)
        rest = []
        if len(text) > len(name):
            rest = text[len(name) + 1 :].split(":")
        return NamedPart(self, text, name, self._given(text, name, rest))

    def name_in(self, text: str) -> str | None:
        """Return the longest name that a text begins with; None if there is none. Names of third parties have no colon."""
        words = text.split(":")
        for n in range(len(words), 0, -1):
            name = ":".join(words[:n])
            if name in self._names:
                return name
        if words[0] in self.third_parties:
            return words[0]
        return None

    def is_own(self, name: str) -> bool:
        """Return whether a name is one of schedlab."""
        return name in self._names and name not in self._added

    def suggested(self, text: str) -> list[str]:
        """Return the texts that an unknown one is compared with."""
        return [*self._near(text), *self]

    def _given(self, text: str, name: str, rest: list[str]) -> dict[str, str]:
        """Return the options after a name as texts."""
        texts: dict[str, str] = {}
        last: str | None = None
        for word in rest:
            option, equals, value = word.partition("=")
            if not word:
                raise WrongOption(
                    f"{self.what} {text}: nothing stands after the colon; expected {name}, or an option after it"
                )
            if equals and option.isidentifier():
                if option in texts:
                    raise WrongOption(f"{self.what} {text}: the option {option} is given twice; expected each once")
                texts[option], last = value, option
            elif last is not None:
                texts[last] += f":{word}"
            elif self.first_value:
                texts[FIRST], last = word, FIRST
            else:
                self._refuse_word(text, name, word)
        return texts

    def _refuse_word(self, text: str, name: str, word: str) -> Never:
        """Raise the error of a word after a name that is neither an option nor a part of one."""
        what = self.get(name)
        if word in (options_of(what) if self.is_maker(what) else {}):  # type: ignore[arg-type]
            raise WrongOption(f"{self.what} {text}: the option {word} has no value; expected {name}:{word}=VALUE")
        raise UnknownName(self.what, text, self.suggested(text))

    def make(self, what: Any, **more: Any) -> T:
        """Return the part that a text names; make one of a class without arguments; check an object.

        Parameters
        ----------
        what : str, class or object
        **more
            Further arguments of the class or function that a text names, if it has such parameters.

        Raises
        ------
        UnknownName, WrongOption, PluginError
            As ``find`` and ``NamedPart.make``.
        """
        if isinstance(what, str):
            return self.find(what).make(**more)
        label, part = f"the argument {self.argument} ({what!r:.100})", what
        if self.is_maker(what):
            with explained(f"{label} cannot be created"):
                part = what()
        self.check(label, part)
        made: T = part
        return made

    def is_maker(self, what: Any) -> bool:
        """Return whether something is a class or function that makes a part, and not a part itself."""
        if isinstance(what, type):
            return True
        is_part = bool(self.parts) and all(hasattr(what, part) for part in self.parts[1:])
        return callable(what) and not is_part

    def check(self, label: str, found: Any) -> None:
        """Raise PluginError, which begins with ``label``, if an object lacks a part of the protocol."""
        if self._finished is not None and self._finished(found):
            return
        if lacking := [part for part in self.parts if not hasattr(found, part)]:
            page = ""
            if self.docs:
                page = f" ({self.docs})"
            article = "a"
            if self.what[0] in "aeiou":
                article = "an"
            raise PluginError(f"{label} is not {article} {self.what}: it has no {' and no '.join(lacking)}{page}")
        if self.parts:
            check_parts(label, found, self.parts[1:])

    def referred(self, text: str) -> Any:
        """Return the object ``module:attribute``.

        Raises
        ------
        UnknownName
            If there is no such module or attribute.
        PluginError
            If the module cannot be imported, or the object is not what the group needs.
        """
        module, _, attribute = text.partition(":")
        try:
            part = load_reference(text)
        except NoSuchAttribute as e:
            raise UnknownName(f"object of the module {module} called", attribute, e.known) from None
        except NoSuchModule:
            note = f", and no module {module} in the current folder or installed"
            here = [f"{file.stem}:{attribute}" for file in sorted(Path.cwd().glob("*.py"))]
            raise UnknownName(self.what, text, [*self.suggested(text), *here], note) from None
        if self._check is not None:
            self._check(text, part)
        return part

    def get_named(self, text: str) -> T:
        """Return what a name or ``module:attribute`` stands for, without calling it. Raises UnknownName, PluginError."""
        if text in self:
            return self[text]
        if not isinstance(text, str) or not REFERENCE.fullmatch(text):
            raise UnknownName(self.what, text, self.suggested(str(text)))
        part: T = self.referred(text)
        return part

    def adopt(self, text: str) -> T:
        """Return the object ``module:attribute``, and keep it under this text like a registered one; lists leave it out.

        Raises UnknownName, PluginError as ``referred``.
        """
        if text not in self._adopted:
            self._found[text] = self.referred(text)
            self._adopted.add(text)
        return self._found[text]

    def register(self, name: str, value: T, *, replace: bool = False) -> None:
        """Add a part for this process.

        Parameters
        ----------
        name : str
            Its name.
        value : object
            The object, or the class or function that makes it.
        replace : bool
            Whether it replaces a part of schedlab or of an installed package. One that was added in this process is
            replaced in any case, so that a cell of a notebook can run again.

        Raises
        ------
        WrongArgument
            If the name is no text.
        WrongValue
            If the name has characters that have a meaning in the texts of methods and dispatchers; if it belongs to
            schedlab or to an installed package, and ``replace`` is False.
        PluginError
            If the object is not what the group needs.
        """
        if not isinstance(name, str) or not name:
            raise WrongArgument(f"the name of the {self.what} is {excerpt(name)}; expected a text")
        if name not in self._names:
            plain_name(self.what, name)
        if not replace and name in self and name not in self._added:
            owner = "an installed package"
            if name in self._names:
                owner = "schedlab"
            raise WrongValue(
                f"the {self.what} {name!r} belongs to {owner}; give another name, or register(..., replace=True)"
            )
        if self._check is not None:
            self._check(f"the {self.what} {name}", value)
        if name not in self._names:
            self._names[name] = None
            self._added.add(name)
        self._found[name] = value

    def unregister(self, name: str) -> None:
        """Remove a part that was added in this process.

        Raises
        ------
        MissingValue
            If there is no part with this name.
        WrongValue
            If it belongs to schedlab or to an installed package.
        """
        if name not in self:
            raise MissingValue(f"there is no {self.what} {excerpt(name)}; {hint(name, self)}")
        if name not in self._added:
            raise WrongValue(f"the {self.what} {name!r} was not added in this process and cannot be removed")
        del self._names[name]
        self._added.remove(name)
        self._found.pop(name, None)

    def __setitem__(self, name: str, value: object) -> Never:
        """Raise WrongArgument, which says how a part is added."""
        raise WrongArgument(f"a {self.what} is not added by assignment; write register({excerpt(name)}, ...)")

    def __delitem__(self, name: str) -> Never:
        """Raise WrongArgument, which says how a part is removed."""
        raise WrongArgument(f"a {self.what} is not removed by del; write unregister({excerpt(name)})")

    def __contains__(self, name: object) -> bool:
        return name in self._names or name in self._adopted or name in self.third_parties

    def __iter__(self) -> Iterator[str]:
        yield from self._names
        yield from (name for name in self.third_parties if name not in self._names)

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        return f"Registry({self.what}: {how_many(len(self), 'name')})"

    def usable(self) -> Iterator[tuple[str, T]]:
        """Yield names and what is registered, without what cannot be used of third parties."""
        for name in self:
            try:
                yield name, self[name]
            except PluginError:
                continue

    def label(self, name: str) -> str:
        """Return a text that names a part, and the package and module of a third party's."""
        if name in self._adopted:
            return name
        entry = self.third_parties.get(name)
        return f"the {self.what} {name if entry is None else described(entry)}"

    def source(self, name: str) -> str | None:
        """Return a hash of the source of a third party's part, by its name or ``module:attribute``; None for those of schedlab."""
        if name in self._names:
            return None
        if name in self.third_parties:
            return source_hash(self.third_parties[name].module)
        if REFERENCE.fullmatch(name):
            return source_hash(name.partition(":")[0])
        return None

    def describe(self) -> list[Description]:
        """Return a line for each part that can be used: its name, options, first sentence and package."""
        descriptions = []
        for name, what in self.usable():
            options = options_of(what) if self.is_maker(what) else {}  # type: ignore[arg-type]
            entry = self.third_parties.get(name)
            if entry is None or entry.dist is None:
                package = "schedlab"
            else:
                package = entry.dist.name
            first = (inspect.getdoc(what) or "").partition("\n\n")[0].replace("\n", " ")
            descriptions.append(Description(name, tuple(map(str, options.values())), first, package))
        return descriptions


# --- The hash of a module's source.

LENGTH = 20  # hexadecimal digits


def source_hash(module: str) -> str:
    """Return a hash of the source files of a module.

    It covers the file of the module; if the module is part of a package, all Python files of the package; and, for a
    module in the current folder, the modules in this folder that it imports, directly or not. Other libraries that it
    imports are not covered.

    Parameters
    ----------
    module : str
        Name of a module, such as "my_module" or "my_package.dispatchers". It can be found from the current folder.

    Returns
    -------
    str
        20 hexadecimal digits.

    Examples
    --------
    >>> source_hash("schedlab.models.registry") == source_hash("schedlab")
    True
    """
    digest = hashlib.sha256()
    for name, files in sorted(_modules(module.partition(".")[0]).items()):
        for file in files:
            data = file.read_bytes()
            digest.update(f"{name} {file.name} {len(data)}\n".encode() + data)
    return digest.hexdigest()[:LENGTH]


def _modules(first: str) -> dict[str, list[Path]]:
    """Return the files of a top-level module, and of the modules beside it in the current folder that it imports."""
    files_by_module: dict[str, list[Path]] = {}
    todo = [first]
    while todo:
        name = todo.pop()
        here = _files_here(name)
        files_by_module[name] = here or _files_installed(name)
        todo += [
            other for file in here for other in _imported(file) if other not in files_by_module and _files_here(other)
        ]
    return files_by_module


def _files_here(name: str) -> list[Path]:
    """Return the files of a module in the current folder."""
    package = Path(name)
    if (package / "__init__.py").is_file():
        return sorted(package.rglob("*.py"))
    file = Path(f"{name}.py")
    if file.is_file():
        return [file]
    return []


def _files_installed(name: str) -> list[Path]:
    spec = find_spec(name)
    if spec is None:
        return []
    if spec.submodule_search_locations is not None:
        return sorted(file for place in spec.submodule_search_locations for file in Path(place).rglob("*.py"))
    if spec.origin is not None and Path(spec.origin).is_file():
        return [Path(spec.origin)]
    return []


def _imported(file: Path) -> Iterator[str]:
    """Yield the names of the top-level modules that a file imports."""
    try:
        tree = ast.parse(file.read_bytes())
    except SyntaxError:  # a file that nothing imports so far
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.partition(".")[0]
