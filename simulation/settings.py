"""Settings that are described once, in the fields of a dataclass; and the features of third parties, which bring such settings.

From a field come an option, a part of a record, a label and a row of a table:

@dataclass(frozen=True)
class Maintenance:
rack: str | None = setting(None, "nodes of this group are closed", label="rack {} is maintained")

A feature is a class that derives from ``Feature``, and adds to a replay what schedlab does not have, such as the maintenance of a
rack. An installed package names it in the group of entry points ``schedlab.features``; a script passes an object, or
``module:attribute``. Each of its settings is an option of ``bench simulate``, a part of the key of a record, and of the label of
the replay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args, get_type_hints

from ..models.comparing import hashable
from ..models.registry import Registry

if TYPE_CHECKING:
    from .features.feature import Feature


Concerns = Literal["jobs", "log", "decisions", "replay"]
KEY = "setting"  # of the metadata of a field


@hashable
@dataclass(frozen=True)
class Setting:
    """The description of a setting.

    Parameters
    ----------
    help : str
        What it does, for the help of its option; an empty text: it has no option, as other settings determine it.
    panel : str
        The heading under which the help lists the option.
    label : str or callable
        How labels tell a value other than the default: a format such as ``"{} nodes"``, or a function of the value.
        An empty text: labels leave it out.
    concerns : str
        What it determines: ``"log"``: how a log is read; ``"jobs"``: the jobs and the machine; ``"decisions"``: the
        decisions of dispatchers with a solver; ``"replay"``: anything else.
    least, most : int or None
        The least and the greatest value.
    typed : type or None
        The type of what a user gives, if it is not that of the field: ``str`` for a time such as ``5min``.
    read : callable or None
        Converts what a user gives; raises an error that says what is expected.
    several : bool
        Whether a user may give several values, separated by commas, of which each is replayed.
    usual : value
        The default that the help and the option show, if it is not that of the field.
    added : bool
        Whether records may lack it: it is newer than the first records.
    """

    help: str = ""
    panel: str = "Simulation"
    label: str | Callable[[Any], str] = ""
    concerns: Concerns = "replay"
    least: int | None = None
    most: int | None = None
    typed: type | None = None
    read: Callable[[Any], Any] | None = None
    several: bool = False
    usual: Any = None
    added: bool = True

    def text(self, value: Any) -> str:
        """Return how labels tell a value."""
        if callable(self.label):
            return self.label(value)
        return self.label.format(value)


def setting(default: Any, help: str = "", panel: str = "Simulation", **others: Any) -> Any:
    """Return a field of a dataclass that is a setting.

    Parameters
    ----------
    default : value
        The value that the field has unless the user gives another one.
    help, panel, **others
        The arguments of ``Setting``.

    Returns
    -------
    dataclasses.Field
    """
    return field(default=default, metadata=MappingProxyType({KEY: Setting(help, panel, **others)}))


@hashable
@dataclass(frozen=True)
class Described:
    """A setting with its field.

    Parameters
    ----------
    name : str
        The name of the field.
    types : tuple of type
        The types of its values, without None.
    default : value
        Its default.
    setting : Setting
    """

    name: str
    types: tuple[Any, ...]
    default: Any
    setting: Setting

    @property
    def flag(self) -> str:
        """The option of the command line, such as ``--per-node``."""
        return f"--{self.name.replace('_', '-')}"


def settings_of(kind: type) -> Mapping[str, Described]:
    """Return the settings of a dataclass by name, in the order of its fields.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Maintenance:
    ...     rack: str | None = setting(None, "nodes of this group are closed", label="rack {} is maintained")
    >>> found = settings_of(Maintenance)["rack"]
    >>> found.flag, found.types, found.setting.text("n")
    ('--rack', (<class 'str'>,), 'rack n is maintained')
    """
    types = get_type_hints(kind)
    return {
        f.name: Described(
            f.name,
            tuple(part for part in get_args(types[f.name]) or (types[f.name],) if part is not type(None)),
            None if f.default is MISSING else f.default,
            f.metadata[KEY],
        )
        for f in fields(kind)
        if KEY in f.metadata
    }


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
        text = "true"
        if value is not True:
            text = str(value)
        chosen.setdefault(name, []).append(f"{option}={text}")
    return tuple(":".join([name, *options]) for name, options in chosen.items())
