"""Parts of a replay by name: ``NAME[:OPTION=VALUE]...``, or ``module:attribute`` of a third party."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

from ..backends import UnknownName
from ..errors import SchedlabError
from ..models.plugins import (
    REFERENCE,
    NoSuchAttribute,
    NoSuchModule,
    PluginError,
    Registry,
    explained,
    load_reference,
)
from ..models.source_hash import source_hash

TRUTH = {"true": True, "false": False}


def referred(what: str, text: str, known: list[str]) -> Any:
    """Return the object ``module:attribute``.

    Parameters
    ----------
    what : str
        What the object should be, for messages: "dispatcher".
    text : str
        The name ``module:attribute``; the module is a file in the current folder, or installed.
    known : list of str
        Names that exist, for messages.

    Returns
    -------
    object
        The object.

    Raises
    ------
    UnknownName
        If there is no such module or attribute.
    PluginError
        If the module cannot be imported.
    """
    module, _, attribute = text.partition(":")
    try:
        return load_reference(text)
    except NoSuchAttribute as e:
        raise UnknownName(f"object of the module {module} called", attribute, e.known) from None
    except NoSuchModule:
        note = f", and no module {module} in the current folder or installed"
        here = [f"{file.stem}:{attribute}" for file in sorted(Path.cwd().glob("*.py"))]
        raise UnknownName(what, text, [*known, *here], note) from None


class Options(NamedTuple):
    """A name with options.

    Parameters
    ----------
    text : str
        The whole name.
    name : str
        The name without options.
    options : mapping of str to str
        The options.
    """

    text: str
    name: str
    options: dict[str, str]


def parse_options(text: str, registry: Registry[Any]) -> Options:
    """Split ``NAME[:OPTION=VALUE]...``, of which NAME is in a registry or ``module:attribute``, into its parts.

    An option that holds numbers by name is written ``priorities=debug=2/parallel=1``.

    Raises
    ------
    UnknownName
        If there is no such name; the message lists similar ones.
    PluginError
        If an option has no value or is given twice, or a module cannot be imported.
    """
    name, *parts = text.split(":")
    if parts and "=" not in parts[0]:
        name = f"{name}:{parts.pop(0)}"
    pairs = [part.partition("=") for part in parts]
    options = {option: value for option, _, value in pairs}
    if len(options) < len(parts) or not all(equals for _, equals, _ in pairs):
        raise PluginError(f"{registry.what} {text}: expected options as NAME=VALUE after a colon, each once")
    if name not in registry:
        if not REFERENCE.fullmatch(name):
            raise UnknownName(registry.what, name, list(registry))
        referred(registry.what, name, list(registry))
    return Options(text, name, options)


def split_options(text: str) -> tuple[str, dict[str, str] | None]:
    """Split ``NAME[:OPTION=VALUE]...`` into the name and the options, None without any; a name may contain colons.

    Raises
    ------
    PluginError
        If an option is given twice.

    Examples
    --------
    >>> split_options("hybrid:70:forecast=weekly:hours=48"), split_options("easy:lst")
    (('hybrid:70', {'forecast': 'weekly', 'hours': '48'}), ('easy:lst', None))
    >>> split_options("hybrid:50:method=cpsat:counts")[1]
    {'method': 'cpsat:counts'}
    """
    parts = text.split(":")
    first = next((k for k, part in enumerate(parts) if "=" in part), None)
    ranked = "+" in ":".join(parts[:first]).replace("++", "")  # the options are those of the ranker; easy++ has none
    if first is None or ranked:
        return text, None
    options: dict[str, str] = {}
    last = ""
    for part in parts[first:]:
        option, equals, value = part.partition("=")
        if not equals:
            options[last] += f":{part}"
            continue
        if option in options:
            raise PluginError(f"{text}: the option {option} is given twice")
        options[option], last = value, option
    return ":".join(parts[:first]), options


def made_with_options(named: Options, registry: Registry[Any], part: str) -> tuple[Any, str]:
    """Return the object of a name, and how messages call it; a class or function is called with the options.

    Parameters
    ----------
    named : Options
        The name.
    registry : Registry
        The names of schedlab and of installed packages.
    part : str
        A method that the object has; a class or a function has not, or is called nevertheless if it is a class.

    Raises
    ------
    UnknownName
        If there is no such option; the message lists similar ones.
    PluginError
        If the object cannot be imported or created with these options.
    """
    own = named.name in registry
    found = what = registry[named.name] if own else referred(registry.what, named.name, list(registry))
    label = registry.label(named.name) if own else named.name
    if isinstance(what, type) or (callable(what) and not hasattr(what, part)):
        options = _values(named, what, label)
        try:
            with explained(f"{label} cannot be created"):
                found = what(**options)
        except PluginError as e:
            if isinstance(e.__cause__, SchedlabError):
                raise PluginError(str(e.__cause__)) from e
            raise
    elif named.options:
        raise UnknownName(f"option of {label} called", next(iter(named.options)), ["none: it is an object"])
    return found, label


def source_of(named: Options, registry: Registry[Any]) -> str | None:
    """Return a hash of the source of a third party's object; None for those of schedlab."""
    return registry.source(named.name) if named.name in registry else source_hash(named.name.partition(":")[0])


def _values(named: Options, what: Callable[..., object], label: str) -> dict[str, object]:
    """Return the options as values, each of the type of its default."""
    if not named.options:
        return {}
    known = _kinds(what)
    found: dict[str, object] = {}
    for name, text in named.options.items():
        if name not in known:
            raise UnknownName(f"option of {label} called", name, list(known) or ["none"])
        found[name] = _value(text, known[name], f"{named.text}: {name}")
    return found


def _kinds(what: Callable[..., object]) -> dict[str, type]:
    """Return the options that a text can give, each with its kind: bool, str, float, or dict (numbers by name).

    These are the parameters whose default is a truth value, a number or a text, and those that are annotated as
    ``Mapping[str, float]`` or ``float | None``.
    """
    annotated: dict[str, object] = {}
    with suppress(NameError, TypeError):  # of a third party's names that are imported for types alone
        annotated = get_type_hints(vars(what).get("__init__", what) if isinstance(what, type) else what)
    found: dict[str, type] = {}
    for name, parameter in inspect.signature(what).parameters.items():
        kind = annotated.get(name)
        if isinstance(parameter.default, bool | str):
            found[name] = type(parameter.default)
        elif isinstance(parameter.default, int | float) or kind == float | None:
            found[name] = float
        elif kind in (Mapping[str, float], Mapping[str, float] | None):
            found[name] = dict
    return found


def _value(text: str, kind: type, label: str) -> object:
    """Return a value of a kind. Raises PluginError, which begins with ``label``."""
    if kind is bool:
        if text not in TRUTH:
            raise PluginError(f"{label} is {text!r}, expected true or false")
        return TRUTH[text]
    if kind is str:
        return text
    if kind is not dict:
        return _number(text, label)
    found: dict[str, float] = {}
    for part in text.split("/"):
        name, equals, value = part.rpartition("=")
        if not equals or not name or name in found:
            raise PluginError(f"{label} is {text!r}, expected numbers by name, each once, as in debug=2/parallel=1")
        found[name] = _number(value, f"{label} of {name}")
    return found


def _number(text: str, label: str) -> float:
    with suppress(ValueError):
        value = float(text)
        if not math.isnan(value):
            return value
    raise PluginError(f"{label} is {text!r}, expected a number")


def named_part(registry: Registry[Any], name: str, text: str) -> Any:
    """Return the part with this name: ours are functions of the text after the colon, "" if there is none.

    A third party's is an object, or a class or function without arguments; with a text after the colon, it takes the text.

    Raises
    ------
    PluginError
        If a third party's cannot be imported or created.
    """
    found = registry[name]
    if name not in registry.third_parties:
        return found(text)
    if not isinstance(found, type) and not inspect.isfunction(found):
        if text:
            raise PluginError(f"{registry.label(name)} takes no text; expected {name} alone, not {text!r} after it")
        return found
    with explained(f"{registry.label(name)} cannot be created"):
        return found(text) if text else found()
