"""Parts of third parties: names in groups of entry points, and objects that are named as ``module:attribute``."""

from __future__ import annotations

import importlib
import re
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import SchedlabError, WrongValue
from .excerpt import excerpt

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")
REFERENCE = re.compile(r"(?P<module>[^\W\d]\w*(\.\w+)*):(?P<attribute>[^\W\d]\w*(\.\w+)*)")
NAME = re.compile(r"[\w.-]+")
RAISED = (Exception, SystemExit)  # a script without a guard ends the process when it is imported


class PluginError(SchedlabError, RuntimeError):
    """A part of a third party that cannot be used. The message names it and says what is wrong."""


def plain_name(what: str, name: str) -> None:
    """Raise WrongValue if a name has other characters than letters, digits and ``-_.``: others have a meaning in texts.

    Examples
    --------
    >>> plain_name("heuristic", "a:b")
    Traceback (most recent call last):
        ...
    schedlab.errors.WrongValue: the name of the heuristic is 'a:b'; expected letters, digits, '-', '_' and '.' alone
    """
    if not NAME.fullmatch(name):
        raise WrongValue(f"the name of the {what} is {excerpt(name)}; expected letters, digits, '-', '_' and '.' alone")


def check_parts(label: str, found: object, methods: Iterable[str]) -> None:
    """Raise PluginError if the name of an object is no text, or a method is no function; it has all of them.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> check_parts("the argument dispatcher", SimpleNamespace(name=None, decide=print), ["decide"])
    Traceback (most recent call last):
        ...
    schedlab.models.plugins.PluginError: the argument dispatcher: name is None; expected a text on one line
    """
    name = getattr(found, "name", None)
    if not isinstance(name, str) or not name.isprintable() or not name:
        raise PluginError(f"{label}: name is {excerpt(name)}; expected a text on one line")
    for each in methods:
        if not callable(getattr(found, each)):
            raise PluginError(f"{label}: {each} is {excerpt(getattr(found, each))}; expected a function")


def entry_points_of(group: str) -> Iterable[EntryPoint]:
    """Return the entry points of a group, in order of their installation folders."""
    from importlib.metadata import entry_points  # takes 10 ms, which `import schedlab` should not pay

    return entry_points(group=group)


def described(entry: EntryPoint) -> str:
    """Return a text with the name, the package and the module of an entry point."""
    package = "" if entry.dist is None else f" of {entry.dist.name} {entry.dist.version}"
    return f"{entry.name}{package} ({entry.value})"


class NoSuchModule(SchedlabError, LookupError):
    """There is no module with this name."""


class NoSuchAttribute(SchedlabError, LookupError):
    """The module has no attribute with this name. ``known``: the public names that it defines."""

    def __init__(self, known: list[str]) -> None:
        super().__init__()
        self.known = known


def is_module(name: str) -> bool:
    """Return whether a module, or the package that it is part of, is in the current folder or installed."""
    with current_folder_first(), suppress(ValueError):  # of __main__
        return find_spec(name.partition(".")[0]) is not None
    return False


class UnnamedReference(PluginError):
    """A reference ``module:attribute`` that stands in data which somebody else may have written: it is not imported.

    ``reference``: the text.
    """

    def __init__(self, reference: str) -> None:
        super().__init__(
            f"it names {reference}, which is not imported, as whoever wrote the file chose it; "
            f"if you trust this code, name it with --own {reference}"
        )
        self.reference = reference


_NAMED: ContextVar[frozenset[str] | None] = ContextVar("references that may be imported", default=None)


@contextmanager
def only_named(references: Iterable[str]) -> Iterator[None]:
    """Within this context, ``load_reference`` imports these references alone: data are read, and may name any code.

    Examples
    --------
    >>> with only_named(["my_module:MyUsers"]):
    ...     load_reference("os:system")
    Traceback (most recent call last):
        ...
    schedlab.models.plugins.UnnamedReference: it names os:system, which is not imported, as whoever wrote the file ...
    """
    token = _NAMED.set(frozenset(references))
    try:
        yield
    finally:
        _NAMED.reset(token)


def load_reference(text: str) -> Any:
    """Return the object ``module:attribute``; the module is a file in the current folder, or installed.

    Raises
    ------
    UnnamedReference
        If data are read (``only_named``), and the user has not named this reference.
    NoSuchModule, NoSuchAttribute
        If the module or its attribute does not exist.
    PluginError
        If the module cannot be imported.
    """
    allowed = _NAMED.get()
    if allowed is not None and text not in allowed:
        raise UnnamedReference(text)
    module_name, _, attribute = text.partition(":")
    with current_folder_first(), explained(f"the module {module_name} cannot be imported"):
        try:
            module = importlib.import_module(module_name)
        except ModuleNotFoundError as e:
            if e.name is not None and f"{module_name}.".startswith(f"{e.name}."):
                raise NoSuchModule(module_name) from None
            raise
    try:
        return attrgetter(attribute)(module)
    except AttributeError:
        defined = [n for n, v in vars(module).items() if getattr(v, "__module__", module_name) == module_name]
        raise NoSuchAttribute([n for n in defined if not n.startswith("_")]) from None


@contextmanager
def current_folder_first() -> Iterator[None]:
    """Find modules in the current folder first, as ``python -m`` does; the command ``bench`` alone does not."""
    here = str(Path.cwd())
    importlib.invalidate_caches()
    sys.path.insert(0, here)
    try:
        yield
    finally:
        with suppress(ValueError):  # the module has changed the path itself
            sys.path.remove(here)


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Raise PluginError with ``what``, the error and its place in place of any error of a third party's code."""
    try:
        yield
    except (PluginError, NoSuchModule):
        raise
    except RAISED as e:
        frames = traceback.extract_tb(e.__traceback__)
        place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
        raise PluginError(f"{what}: {type(e).__name__}: {e}{place}") from e
