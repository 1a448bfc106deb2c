"""The names of rankers: those of schedlab and of third parties, with options as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...models.plugins import Registry
from ..references import Options, made_with_options, parse_options, source_of
from .multifactor import multifactor
from .penalty import Penalty
from .priorities import DAY, Aging, Fairshare, JobSize
from .ranker import Ranker, check_ranker


def _fairshare(
    half_life: float = 7 * DAY, usage: str = "cores", shares: Mapping[str, float] | None = None
) -> Fairshare:
    """Return the ranker; dampening, which does not change an order by fair-share alone, is an option of multifactor."""
    return Fairshare(half_life, usage, shares or {})


OWN = {"fairshare": _fairshare, "aging": Aging, "job-size": JobSize, "multifactor": multifactor, "psp": Penalty}
RANKERS: Registry[Any] = Registry("ranker", "schedlab.rankers", OWN)
"""The rankers by name: a ranker, or a class or function that returns one."""


class NamedRanker(Options):
    """The parts of a ranker's name; see ``Options``."""

    def make(self) -> Ranker:
        """Return the ranker.

        Raises
        ------
        UnknownName
            If the ranker has no such option; the message lists similar ones.
        PluginError
            If the ranker cannot be imported or created with these options, or is not a ranker.
        """
        found, label = made_with_options(self, RANKERS, "rank")
        check_ranker(label, found)
        made: Ranker = found
        return made

    @property
    def source(self) -> str | None:
        """A hash of the source of a third party's ranker; None for those of schedlab."""
        return source_of(self, RANKERS)


def parse_ranker(text: str) -> NamedRanker:
    """Split the name of a ranker, ``NAME[:OPTION=VALUE]...``, into its parts.

    Parameters
    ----------
    text : str
        ``NAME`` is one of ``RANKERS``, or ``module:attribute``, a ranker, or a class or function that returns one. Its
        options are the parameters whose defaults are numbers, texts or truth values, and those that are annotated as
        ``Mapping[str, float]``, which are written ``priorities=debug=2/parallel=1``.

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
    return NamedRanker(*parse_options(text, RANKERS))
