"""Features of third parties by name: they add to a replay what schedlab does not have, such as the maintenance of a rack.

A feature is a class that derives from ``Feature``. An installed package names it in the group of entry points
``schedlab.features``; a script passes an object, or ``module:attribute``. If it is a dataclass whose fields are made by
``simulation.settings.setting``, each of them is an option of ``bench simulate``, a part of the key of a record, and of the
label of the replay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ...models.registry import Registry
from ..settings import Described, settings_of

if TYPE_CHECKING:
    from .feature import Feature

FEATURES: Registry[Feature] = Registry(
    "feature", "schedlab.features", {}, parts=("name", "begin", "check"), docs="docs/extending.md"
)
"""The features by name: a feature, or a class or function that returns one."""


def features_of(given: Iterable[str | Feature | type[Feature]]) -> list[Feature]:
    """Return features by their names, ``NAME[:OPTION=VALUE]...`` or ``module:attribute``; objects are checked.

    Raises
    ------
    UnknownName
        If there is no such feature or option.
    WrongOption, PluginError
        If an option is not allowed, or a feature cannot be made.
    """
    return [FEATURES.make(what) for what in given]


def settings_of_features() -> Mapping[str, tuple[str, Described]]:
    """Return the settings of all features by the names of their options: the name of the feature, and the setting.

    Features that cannot be used are left out, and settings whose name another feature has as well.
    """
    settings: dict[str, tuple[str, Described]] = {}
    for name in FEATURES:
        try:
            made: Any = FEATURES.find(name).what
            own = settings_of(made)
        except Exception:  # a faulty package must not take the options of others; bench doctor names it
            continue
        for option, described in own.items():
            settings.setdefault(option, (name, described))
    return settings


def texts_of(given: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the features whose settings a user gives, each as a text with its options.

    Parameters
    ----------
    given : mapping of str to object
        Name of the option -> value; None, or False of a flag: not given.
    """
    chosen: dict[str, list[str]] = {}
    known = settings_of_features()
    for option, value in given.items():
        if value is None or value is False:
            continue
        name, _ = known[option]
        text = "true" if value is True else str(value)
        chosen.setdefault(name, []).append(f"{option}={text}")
    return tuple(":".join([name, *options]) for name, options in chosen.items())
