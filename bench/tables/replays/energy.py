"""The table of the energy accounts of replays."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from ...records.store import Record
from ...show.grid import grid

EXPLAINED = (
    "from the begin of the replay to the last end of a job. jobs, idle, boot, cooling: energy of running jobs, of cores that "
    "are on and run nothing, of nodes that boot or shut down, and of the cooling, in kWh; cost, profit: euro; CO2: kg."
)


def show_energy(console: Console, records: Sequence[Record], explain: bool) -> None:
    """Print the energy accounts of all replays that have some."""
    rows = []
    for r in records:
        if r.get("energy") is None:
            continue
        a = r["energy"]["end"]
        watts = [a[f"{what}_kwh"] for what in ("busy", "idle", "boot", "cooling")]
        wait = (r.get("metrics") or {}).get("wait_mean")
        rows.append(
            [
                r["method"],
                (r.get("replay") or {}).get("node_policy") or ("its own" if _switched(r) else "always-on"),
                *(_amount(kwh, 1) for kwh in (*watts, sum(watts))),
                _amount(a["cost"], 2),
                "-" if a["kg_co2"] is None else _amount(a["kg_co2"], 1),
                _amount(a["profit"], 2),
                "-" if wait is None else f"{wait:,.0f}",
            ]
        )
    if not rows:
        return
    heads = [
        "dispatcher",
        "nodes",
        "jobs",
        "idle",
        "boot",
        "cooling",
        "all kWh",
        "cost",
        "CO2",
        "profit",
        "mean wait s",
    ]
    table = grid(*heads)
    for row in rows:
        table.add_row(*row)
    console.print("energy of the replays", style="bold")
    console.print(table)
    if explain:
        console.print(EXPLAINED, soft_wrap=True)


def _amount(value: float, digits: int) -> str:
    """Return an amount with this many decimals, a small one with three figures.

    >>> [_amount(v, 1) for v in (1502.71, 5.26, 0.0144, -0.00228, 0.0)]
    ['1,502.7', '5.3', '0.0144', '-0.00228', '0']
    """
    return f"{value:.3g}" if abs(value) < 1 else f"{value:,.{digits}f}"


def _switched(record: Record) -> bool:
    """Return whether nodes were switched in a replay, such as by the dispatcher's own policy."""
    return (record.get("simulation") or {}).get("node_states_csv") is not None
