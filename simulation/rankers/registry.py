"""The names of rankers: those of schedlab and of third parties, with options as text."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from ...backends import UnknownName
from ...errors import SchedlabError
from ...models.plugins import REFERENCE, PluginError, Registry, explained
from ...models.source_hash import source_hash
from ..references import referred
from .multifactor import multifactor
from .penalty import Penalty
from .priorities import Aging, Fairshare, JobSize
from .ranker import Ranker, check_ranker

OWN = {"fairshare": Fairshare, "aging": Aging, "job-size": JobSize, "multifactor": multifactor, "psp": Penalty}
RANKERS: Registry[Any] = Registry("ranker", "schedlab.rankers", OWN)
"""The rankers by name: a ranker, or a class or function that returns one."""
TRUTH = {"true": True, "false": False}


class NamedRanker(NamedTuple):
    """The parts of a ranker's name.

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

    def make(self) -> Ranker:
        """Return the ranker.

        Raises
        ------
        UnknownName
            If the ranker has no such option; the message lists similar ones.
        PluginError
            If the ranker cannot be imported or created with these options, or is not a ranker.
        """
        own = self.name in RANKERS
        what = RANKERS[self.name] if own else referred("ranker", self.name, list(RANKERS))
        label = RANKERS.label(self.name) if own else self.name
        found = what
        if isinstance(what, type) or (callable(what) and not hasattr(what, "rank")):
            options = self._options(what, label)
            try:
                with explained(f"{label} cannot be created"):
                    found = what(**options)
            except PluginError as e:
                if isinstance(e.__cause__, SchedlabError):
                    raise PluginError(str(e.__cause__)) from e
                raise
        elif self.options:
            raise UnknownName(f"option of {label} called", next(iter(self.options)), ["none: it is an object"])
        check_ranker(label, found)
        made: Ranker = found
        return made

    def _options(self, what: Callable[..., object], label: str) -> dict[str, object]:
        """Return the options as values, each of the type of its default."""
        if not self.options:
            return {}
        defaults = {name: p.default for name, p in inspect.signature(what).parameters.items()}
        known = {name: value for name, value in defaults.items() if isinstance(value, bool | int | float | str)}
        found: dict[str, object] = {}
        for name, text in self.options.items():
            if name not in known:
                raise UnknownName(f"option of {label} called", name, list(known) or ["none"])
            found[name] = _value(text, known[name], f"{self.text}: {name}")
        return found

    @property
    def source(self) -> str | None:
        """A hash of the source of a third party's ranker; None for those of schedlab."""
        if self.name in RANKERS:
            return RANKERS.source(self.name)
        return source_hash(self.name.partition(":")[0])


def _value(text: str, default: object, label: str) -> object:
    """Return a value of the type of the default. Raises PluginError, which begins with ``label``."""
    if isinstance(default, bool):
        if text not in TRUTH:
            raise PluginError(f"{label} is {text!r}, expected true or false")
        return TRUTH[text]
    if isinstance(default, str):
        return text
    try:
        return float(text)
    except ValueError:
        raise PluginError(f"{label} is {text!r}, expected a number") from None


def parse_ranker(text: str) -> NamedRanker:
    """Split the name of a ranker, ``NAME[:OPTION=VALUE]...``, into its parts.

    Parameters
    ----------
    text : str
        ``NAME`` is one of ``RANKERS``, or ``module:attribute``, a ranker, or a class or function that returns one. Its
        options are the parameters whose defaults are numbers, texts or truth values.

    Returns
    -------
    NamedRanker
        The parts of the name.

    Raises
    ------
    UnknownName
        If there is no such ranker; the message lists similar names.
    PluginError
        If the module of a ranker ``module:attribute`` cannot be imported.

    Examples
    --------
    >>> named = parse_ranker("fairshare:half_life=86400:usage=dominant")
    >>> named.name, named.make().half_life
    ('fairshare', 86400.0)
    """
    name, *parts = text.split(":")
    if parts and "=" not in parts[0]:
        name = f"{name}:{parts.pop(0)}"
    pairs = [part.partition("=") for part in parts]
    options = {option: value for option, _, value in pairs}
    if len(options) < len(parts) or not all(equals for _, equals, _ in pairs):
        raise PluginError(f"ranker {text}: expected options as NAME=VALUE after a colon, each once")
    if name not in RANKERS:
        if not REFERENCE.fullmatch(name):
            raise UnknownName("ranker", name, list(RANKERS))
        referred("ranker", name, list(RANKERS))
    return NamedRanker(text, name, options)
