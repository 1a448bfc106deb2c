"""A published study of dispatchers, read from a TOML file: a shipped one by its name, or a file of the user."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from ...backends import UnknownName
from ..errors import WrongUse

# --- The names of the shipped studies.

SHIPPED = Path(__file__).parents[1] / "studies"


def study_names() -> list[str]:
    """Return the names of the shipped studies."""
    return sorted(file.stem for file in SHIPPED.glob("*.toml"))


DRAWINGS = ("", "ecdf", "bars", "radar")


@dataclass(frozen=True)
class Quantity:
    """A column of a table or figure of a study.

    Parameters
    ----------
    figure
        Key of ``Metrics.as_dict``, or ``seconds.`` and a key of the seconds of a record.
    heading
        The quantity and its unit, short.
    values
        Dispatcher -> value in the study; empty: the study publishes none.
    scale
        Factor from our unit to that of the study.
    spread
        Key of the standard deviation that is printed beside our value; "": none.
    of_jobs
        Whether our figure is a mean over the jobs and the study has their sum.
    """

    figure: str
    heading: str
    values: Mapping[str, float] = field(default_factory=dict)
    scale: float = 1.0
    spread: str = ""
    of_jobs: bool = False


@dataclass(frozen=True)
class Exhibit:
    """A table or a figure of a study.

    Parameters
    ----------
    name
        Its name in the study, such as "Table 2".
    caption
        What it shows.
    dispatchers
        The dispatchers that it is about, or "as recorded" for the schedule of the log.
    quantities
        Its columns.
    drawing
        How it is drawn: "ecdf" (duration / predicted duration), "bars" (mean and standard deviation of wait and
        slowdown), "radar" (all quantities, as shares of the greatest value) or "" (not at all).
    classes
        For "bars": the classes of jobs, such as "medium_"; "": all jobs.
    case
        Name of the case whose days it is about; "": a study without cases.
    gain_over
        A dispatcher: also a table of ``(its value - value) / its value`` for the others; "": no such table.
    """

    name: str
    caption: str
    dispatchers: Sequence[str]
    quantities: Sequence[Quantity]
    drawing: str = ""
    classes: Sequence[str] = ("",)
    case: str = ""
    gain_over: str = ""


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
    case
        Name of the case whose days it is about; "": a study without cases.
    """

    where: str
    chain: Sequence[str]
    figures: Sequence[str] = ("slowdown_mean", "wait_mean")
    reductions: Mapping[str, float] = field(default_factory=dict)
    case: str = ""


@dataclass(frozen=True)
class Case:
    """Generated days of one size, on which a study compares dispatchers day by day.

    Parameters
    ----------
    name
        Its name, also that of the folders of its days.
    generator
        A generator of ``bench generate``.
    jobs
        Number of jobs of a day.
    seeds
        The seed of each day.
    options
        Other arguments of the generator, such as ``{nodes = 4}``.
    dispatchers
        The dispatchers to replay; empty: those of the study.
    """

    name: str
    generator: str
    jobs: int
    seeds: Sequence[int]
    options: Mapping[str, float] = field(default_factory=dict)
    dispatchers: Sequence[str] = ()


@dataclass(frozen=True)
class Study:
    """A published study.

    Parameters
    ----------
    reference
        Its key in docs/appendix/references.md.
    dispatchers
        Names of the dispatchers to replay.
    decision_time
        Limit of a decision in seconds in our replays.
    exhibits
        Its tables and figures.
    orders
        The orders that it states.
    machine
        The machine of its figures: ``nodes`` and the sum of each resource over the nodes. On another machine our
        figures are printed alone. Empty: any machine.
    conditions
        Sentences about its log, machine and limits.
    cases
        Days that are generated; empty: a workload of the user is replayed.
    charge
        Whether decisions take time on the simulated clock, in a study with cases.
    """

    reference: str
    dispatchers: Sequence[str]
    decision_time: float
    exhibits: Sequence[Exhibit]
    orders: Sequence[Order] = ()
    machine: Mapping[str, int] = field(default_factory=dict)
    conditions: Sequence[str] = ()
    cases: Sequence[Case] = ()
    charge: bool = False

    def about(self, case: str) -> Study:
        """Return the tables, figures and orders of one case."""
        return replace(
            self,
            exhibits=[e for e in self.exhibits if e.case == case],
            orders=[o for o in self.orders if o.case == case],
        )


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
    >>> find_study("galleguillos2019").exhibits[0].quantities[0].values["hcp"]
    1014
    """
    file = Path(name) if name.endswith(".toml") else SHIPPED / f"{name}.toml"
    if file.parent == SHIPPED and name not in study_names():
        raise UnknownName("study", name, study_names())
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as e:
        raise WrongUse(f"--study {name}: cannot be read ({e.strerror})") from e
    except ValueError as e:
        raise WrongUse(f"--study {name}: no TOML ({e})") from e
    parts = {
        "exhibits": [_exhibit(each, name) for each in content.get("exhibits", ())],
        "orders": [_made(Order, each, name) for each in content.get("orders", ())],
        "cases": [_made(Case, each, name) for each in content.get("cases", ())],
    }
    study: Study = _made(Study, {**content, **parts}, name)
    return study


def _exhibit(table: Mapping[str, Any], name: str) -> Exhibit:
    quantities = [_made(Quantity, each, name) for each in table.get("quantities", ())]
    made: Exhibit = _made(Exhibit, {**table, "quantities": quantities}, name)
    if made.drawing not in DRAWINGS:
        raise WrongUse(f"--study {name}: {made.name}: drawing = {made.drawing!r}; expected {' or '.join(DRAWINGS[1:])}")
    return made


def _made(kind: Any, table: Mapping[str, Any], name: str) -> Any:
    """Return the object of a table; raise WrongUse, which says what is missing or too much."""
    known = [f.name for f in fields(kind)]
    what = "study" if kind is Study else f"{kind.__name__.lower()} of the study"
    unknown = [key for key in table if key not in known]
    if unknown:
        raise WrongUse(
            f"--study {name}: {unknown[0]} is no part of a {kind.__name__.lower()}; expected {', '.join(known)}"
        )
    missing = [
        f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING and f.name not in table
    ]
    if missing:
        raise WrongUse(
            f"--study {name}: the {what} is incomplete: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
        )
    return kind(**table)
