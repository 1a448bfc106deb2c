"""Parts of third parties: names in groups of entry points, and objects that are named as ``module:attribute``."""

from __future__ import annotations

import importlib
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cached_property
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never, TypeVar

from ..errors import MissingValue, SchedlabError, WrongArgument, WrongValue
from .excerpt import excerpt
from .source_hash import source_hash
from .unknown_names import hint

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


class Registry(Mapping[str, T]):
    """Objects by name: those of schedlab, and those of third parties in a group of entry points.

    A third party's object is loaded when it is looked up, not before. A name of schedlab cannot be replaced by a third
    party; of two third parties with one name the first one counts. ``register`` adds an object for this process,
    and ``unregister`` removes it; a name is not assigned.

    Parameters
    ----------
    what : str
        What the objects are, for messages: "heuristic".
    group : str
        The group of entry points: "schedlab.heuristics".
    own : mapping of str to object
        The objects of schedlab; a text ``module:attribute`` is loaded when it is looked up.
    check : callable
        Raises PluginError if an object of a third party is not what its group needs.
    """

    def __init__(
        self,
        what: str,
        group: str,
        own: Mapping[str, T | str],
        check: Callable[[str, Any], object] = lambda label, found: None,
    ) -> None:
        self.what, self.group, self._check = what, group, check
        self._found: dict[str, T] = {name: value for name, value in own.items() if not isinstance(value, str)}
        self._own = {name: value for name, value in own.items() if isinstance(value, str)}
        self._names = list(own)
        self._added: set[str] = set()  # in this process

    @cached_property
    def third_parties(self) -> Mapping[str, EntryPoint]:
        """The entry points of third parties by name, in order of their installation folders."""
        found: dict[str, EntryPoint] = {}
        for entry in _entry_points(self.group):
            if entry.name not in self._names:
                found.setdefault(entry.name, entry)
        return found

    @property
    def ignored(self) -> list[EntryPoint]:
        """The entry points whose name belongs to schedlab or to another third party."""
        return [e for e in _entry_points(self.group) if e not in self.third_parties.values()]

    def __getitem__(self, name: str) -> T:
        """Return an object; raises PluginError if that of a third party cannot be used."""
        if name in self._found:
            return self._found[name]
        if name in self._own:
            module, _, attribute = self._own[name].partition(":")
            found = getattr(importlib.import_module(module), attribute)
        else:
            if name not in self.third_parties:
                raise MissingValue(f"there is no {self.what} {excerpt(name)}; {hint(name, self)}")
            entry, label = self.third_parties[name], self.label(name)
            with explained(f"{label} cannot be imported"):
                found = entry.load()
            self._check(label, found)
        self._found[name] = found
        return self._found[name]

    def register(self, name: str, value: T, *, replace: bool = False) -> None:
        """Add an object for this process.

        Parameters
        ----------
        name : str
            Its name.
        value : object
            The object.
        replace : bool
            Whether it replaces an object of schedlab or of an installed package. One that was added in this process is
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
            owner = "schedlab" if name in self._names else "an installed package"
            raise WrongValue(
                f"the {self.what} {name!r} belongs to {owner}; give another name, or register(..., replace=True)"
            )
        self._check(f"the {self.what} {name}", value)
        if name not in self._names:
            self._names.append(name)
            self._added.add(name)
        self._found[name] = value

    def unregister(self, name: str) -> None:
        """Remove an object that was added in this process.

        Raises
        ------
        MissingValue
            If there is no object with this name.
        WrongValue
            If it belongs to schedlab or to an installed package.
        """
        if name not in self:
            raise MissingValue(f"there is no {self.what} {excerpt(name)}; {hint(name, self)}")
        if name not in self._added:
            raise WrongValue(f"the {self.what} {name!r} was not added in this process and cannot be removed")
        self._names.remove(name)
        self._added.remove(name)
        self._found.pop(name, None)

    def __setitem__(self, name: str, value: object) -> Never:
        """Raise WrongArgument, which says how an object is added."""
        raise WrongArgument(f"a {self.what} is not added by assignment; write register({excerpt(name)}, ...)")

    def __delitem__(self, name: str) -> Never:
        """Raise WrongArgument, which says how an object is removed."""
        raise WrongArgument(f"a {self.what} is not removed by del; write unregister({excerpt(name)})")

    def __contains__(self, name: object) -> bool:
        return name in self._names or name in self.third_parties

    def __iter__(self) -> Iterator[str]:
        yield from self._names
        yield from (name for name in self.third_parties if name not in self._names)

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        return f"Registry({self.what}: {len(self)} names)"

    def usable(self) -> Iterator[tuple[str, T]]:
        """Yield names and objects without those of third parties that cannot be used."""
        for name in self:
            try:
                yield name, self[name]
            except PluginError:
                continue

    def label(self, name: str) -> str:
        """Return a text that names an object, and the package and module of a third party's."""
        entry = self.third_parties.get(name)
        return f"the {self.what} {name if entry is None else described(entry)}"

    def source(self, name: str) -> str | None:
        """Return a hash of the source of a third party's object; None for those of schedlab."""
        if name in self._names or name not in self.third_parties:
            return None
        return source_hash(self.third_parties[name].module)


def _entry_points(group: str) -> Iterable[EntryPoint]:
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
