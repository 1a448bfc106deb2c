"""The tables of the energy of replays: the energy accounts, and waits and slowdowns against a power cap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

from rich.console import Console

from ..grid import Column, Grid, Styled, count, short
from ..records.store import Record
from .replay_results import DispatcherRow

# --- The energy accounts of replays.

EXPLAINED = (
    "from the begin of the replay to the last end of a job. jobs, idle, boot, cooling: energy of running jobs, of cores that "
    "are on and run nothing, of nodes that boot or shut down, and of the cooling, in kWh; cost, profit: euro; CO2: kg."
)


def show_energy(console: Console, records: Iterable[Record], explain: bool) -> None:
    """Print the energy accounts of all replays that have some."""
    grid = Grid.of(
        "energy of the replays", ENERGY_COLUMNS, [r for r in records if r.get("energy") is not None], EXPLAINED
    )
    grid.show(console, explain)


def _account(head: str, decimals: int, *names: str) -> Column:
    """Return the column of the sum of some amounts of the account at the end of a replay."""

    def total(record: Record) -> float | None:
        values = [record["energy"]["end"][name] for name in names]
        return None if None in values else sum(values)

    return Column(head, total, partial(amount, decimals=decimals))


def amount(value: float, decimals: int) -> str:
    """Return an amount with this many decimals, a small one with three figures.

    >>> [amount(v, 1) for v in (1502.71, 5.26, 0.0144, -0.00228, 0.0)]
    ['1,502.7', '5.3', '0.0144', '-0.00228', '0']
    """
    return f"{value:.3g}" if abs(value) < 1 else f"{value:,.{decimals}f}"


def _node_policy(record: Record) -> str:
    """Return the policy that switches nodes; a dispatcher may have one of its own."""
    switched = (record.get("simulation") or {}).get("node_states_csv") is not None
    return (record.get("replay") or {}).get("node_policy") or ("its own" if switched else "always-on")


ENERGY_COLUMNS = (
    Column("dispatcher", lambda r: r["method"], words=True),
    Column("nodes", _node_policy),
    _account("jobs", 1, "busy_kwh"),
    _account("idle", 1, "idle_kwh"),
    _account("boot", 1, "boot_kwh"),
    _account("cooling", 1, "cooling_kwh"),
    _account("all kWh", 1, "busy_kwh", "idle_kwh", "boot_kwh", "cooling_kwh"),
    _account("cost", 2, "cost"),
    _account("CO2", 1, "kg_co2"),
    _account("profit", 2, "profit"),
    Column("mean wait s", lambda r: (r.get("metrics") or {}).get("wait_mean"), count),
)


# --- Slowdown and wait of each dispatcher against the power cap.

FIGURES = {
    "mean wait s": ("wait_mean", count),
    "p95 wait s": ("wait_p95", count),
    "mean bounded slowdown": ("bounded_slowdown_mean", short),
    "p95 bounded slowdown": ("bounded_slowdown_p95", short),
}


class CapPoint(NamedTuple):
    """The replays of one dispatcher under one power cap.

    Parameters
    ----------
    dispatcher : str
        Its name.
    cap : float or None
        Watts; None: no cap.
    row : DispatcherRow
        The records.
    """

    dispatcher: str
    cap: float | None
    row: DispatcherRow

    def figure(self, name: str) -> float | None:
        """Return a figure of ``Metrics.as_dict``, the mean over the seeds."""
        return self.row.metric(name)


def cap_points(records: Iterable[Record]) -> list[CapPoint]:
    """Return the points of all dispatchers, of each first without a cap, then from the greatest cap to the least."""
    groups: dict[tuple[str, float | None], list[Record]] = {}
    for record in records:
        groups.setdefault((record["method"], record["replay"].get("power_cap")), []).append(record)
    points = [CapPoint(name, cap, DispatcherRow(name, members)) for (name, cap), members in groups.items()]
    names = list(dict.fromkeys(p.dispatcher for p in points))
    return sorted(points, key=lambda p: (names.index(p.dispatcher), p.cap is not None, -(p.cap or 0)))


def cap_grid(points: Sequence[CapPoint]) -> Grid:
    """Return the table: a row per dispatcher and cap, with the change against the replay without a cap."""

    def without_cap(point: CapPoint, name: str) -> float | None:
        free = next((p for p in points if p.dispatcher == point.dispatcher and p.cap is None), None)
        return None if free is None else free.figure(name)

    def to_peak(point: CapPoint) -> str:
        peak = without_cap(point, "power_peak")
        return "" if point.cap is None or not peak else _change(point.cap, peak)

    def changed(point: CapPoint, name: str, form: Any) -> str | None:
        value = point.figure(name)
        before = without_cap(point, name)
        if value is None or point.cap is None or not value or not before:
            return None if value is None else form(value)
        return f"{form(value)} {_change(value, before)}"

    columns = [
        Column("dispatcher", lambda p: p.dispatcher, words=True),
        Column("cap\nkW", lambda p: "none" if p.cap is None else f"{p.cap / 1000:,.6g}"),
        Column("to the\npeak", to_peak),
        Column("greatest\nkW", lambda p: p.figure("power_peak"), lambda watts: f"{watts / 1000:,.1f}"),
        *(
            Column(head.replace(" ", "\n", 1), partial(changed, name=name, form=form))
            for head, (name, form) in FIGURES.items()
        ),
        Column("verified", lambda p: Styled(p.row.verdict.value, "")),
    ]
    meaning = (
        "to the peak: the cap against the greatest power of the same dispatcher without a cap; greatest: of the replay; "
        "percentages behind figures: change against the replay without a cap."
    )
    return Grid.of("wait and slowdown against the power cap", columns, points, meaning)


def _change(value: float, before: float) -> str:
    return f"{100 * (value / before - 1):+.1f}%"
