"""The names of forecasts: those of schedlab and of third parties, with options as text."""

from __future__ import annotations

from typing import Any

from ...models.arguments import expect
from ...models.plugins import PluginError, Registry
from ..references import Options, made_with_options, parse_options, source_of
from .forecast import Forecast
from .learned import Learned
from .plain import Perfect, Persistence, Weekly

OWN = {"persistence": Persistence, "weekly": Weekly, "learned": Learned, "perfect": Perfect}
FORECASTS: Registry[Any] = Registry("forecast", "schedlab.forecasts", OWN)
"""The forecasts by name: a forecast, or a class or function that returns one."""


class NamedForecast(Options):
    """The parts of a forecast's name; see ``Options``."""

    def make(self) -> Forecast:
        """Return the forecast.

        Raises
        ------
        UnknownName
            If the forecast has no such option; the message lists similar ones.
        PluginError
            If the forecast cannot be imported or created with these options, or is not a forecast.
        """
        found, label = made_with_options(self, FORECASTS, "jobs")
        for part in ("name", "begin", "jobs"):
            if not hasattr(found, part):
                raise PluginError(f"{label} has no {part}; a forecast has name, begin and jobs")
        made: Forecast = found
        return made

    @property
    def source(self) -> str | None:
        """A hash of the source of a third party's forecast; None for those of schedlab."""
        return source_of(self, FORECASTS)


def parse_forecast(text: str) -> NamedForecast:
    """Split the name of a forecast, ``NAME[:OPTION=VALUE]...``, into its parts.

    Parameters
    ----------
    text : str
        ``NAME`` is one of ``FORECASTS``, or ``module:attribute``, a forecast, or a class or function that returns one.

    Returns
    -------
    NamedForecast
        The parts of the name.

    Raises
    ------
    UnknownName
        If there is no such forecast; the message lists similar names.
    PluginError
        If the module of a forecast ``module:attribute`` cannot be imported.

    Examples
    --------
    >>> parse_forecast("learned:days=14").make().days
    14
    """
    expect("text of parse_forecast", text, str)
    return NamedForecast(*parse_options(text, FORECASTS))
