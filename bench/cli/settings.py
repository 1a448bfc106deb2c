"""Options of commands that are made from settings: each field of ``ReplaySettings`` is described once, there."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, get_type_hints

import typer

from ...simulation.settings import Described


def with_settings(settings: Mapping[str, Described], names: Iterable[str] | None = None) -> Callable[[Any], Any]:
    """Return a decorator of a command whose ``**settings`` become options, one for each setting with a help text.

    Parameters
    ----------
    settings
        The settings by name.
    names
        Those that the command has; None: all.

    Returns
    -------
    callable
        Command -> command with the signature that Typer reads. It gets the settings that are given, as Typer converts them;
        an option that is not given has the value None, a flag False.
    """
    chosen = [s for s in settings.values() if s.setting.help and (names is None or s.name in names)]

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        hints = get_type_hints(command, include_extras=True)
        own = [
            p.replace(annotation=hints[p.name])
            for p in inspect.signature(command).parameters.values()
            if p.kind is not inspect.Parameter.VAR_KEYWORD
        ]

        def run(**given: Any) -> Any:
            return command(**given)

        run.__name__, run.__doc__, run.__module__ = command.__name__, command.__doc__, command.__module__
        parameters = [*own, *map(_parameter, chosen)]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        return run

    return decorate


def _parameter(s: Described) -> inspect.Parameter:
    """Return the parameter of a command for a setting."""
    shown, kind = s.setting, s.setting.typed or s.types[0]
    limits: dict[str, Any] = {"help": shown.help, "rich_help_panel": shown.panel}
    if kind is int:
        limits |= {"min": shown.least, "max": shown.most}
    takes: Any = kind if kind is bool else kind | None
    default = False if kind is bool else shown.usual
    option: Any = Annotated[takes, typer.Option(s.flag, **limits)]
    return inspect.Parameter(s.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=option)
