"""A published study of dispatchers, read from a TOML file: a shipped one by its name, or a file of the user."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ...backends import UnknownName
from ..errors import WrongUse

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Quantity:
    """A figure that a study gives for some dispatchers.

    Parameters
    ----------
    figure
        Key of ``Metrics.as_dict``, or ``seconds.`` and a key of the seconds of a record.
    heading
        Where the study has it, and its unit.
    values
        Dispatcher -> value in the study.
    scale
        Factor from our unit to that of the study.
    """

    figure: str
    heading: str
    values: Mapping[str, float]
    scale: float = 1.0


@dataclass(frozen=True)
class Order:
    """An order of dispatchers that a study states, the best one first.

    Parameters
    ----------
    where
        Where the study states it.
    chain
        Names of dispatchers, or "as recorded" for the schedule of the log.
    figures
        Keys of ``Metrics.as_dict``, of which less is better.
    reductions
        Figure -> by how many percent the first one is below the last one in the study.
    """

    where: str
    chain: Sequence[str]
    figures: Sequence[str] = ("slowdown_mean", "wait_mean")
    reductions: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Study:
    """A published study.

    Parameters
    ----------
    reference
        Its key in docs/references.md.
    dispatchers
        Names of the dispatchers to replay.
    decision_time
        Limit of a decision in seconds in our replays.
    quantities
        Its figures.
    orders
        The orders that it states.
    """

    reference: str
    dispatchers: Sequence[str]
    decision_time: float
    quantities: Sequence[Quantity]
    orders: Sequence[Order] = ()


def study_names() -> list[str]:
    """Return the names of the shipped studies."""
    return sorted(file.stem for file in HERE.glob("*.toml"))


def find_study(name: str) -> Study:
    """Return a shipped study by its name, or read a file that ends in .toml.

    Raises
    ------
    UnknownName
        If there is no such study.
    WrongUse
        If the file cannot be read, or is no study.

    Examples
    --------
    >>> find_study("galleguillos2019").quantities[0].values["hcp"]
    1014
    """
    file = Path(name) if name.endswith(".toml") else HERE / f"{name}.toml"
    if file.parent == HERE and name not in study_names():
        raise UnknownName("study", name, study_names())
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as e:
        raise WrongUse(f"--study {name}: cannot be read ({e.strerror})") from e
    except ValueError as e:
        raise WrongUse(f"--study {name}: no TOML ({e})") from e
    parts = {
        "quantities": [_made(Quantity, each, name) for each in found.get("quantities", ())],
        "orders": [_made(Order, each, name) for each in found.get("orders", ())],
    }
    study: Study = _made(Study, {**found, **parts}, name)
    return study


def _made(kind: Any, table: Mapping[str, Any], name: str) -> Any:
    """Return the object of a table; raise WrongUse, which says what is missing or too much."""
    known = [f.name for f in fields(kind)]
    unknown = [key for key in table if key not in known]
    try:
        if not unknown:
            return kind(**table)
    except TypeError as e:
        raise WrongUse(f"--study {name}: a {kind.__name__.lower()} of a study is incomplete: {e}") from e
    raise WrongUse(f"--study {name}: {unknown[0]} is no part of a {kind.__name__.lower()}; expected {', '.join(known)}")
