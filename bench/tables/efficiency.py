"""The PUE of each method in each scenario, beside the PUE at the slope change of the cooling [Bridi2018, table 6.2]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table

from ..kinds.accounts import HORIZON
from ..runs.view import View
from .methods import MethodRow

if TYPE_CHECKING:
    from .profit import ProfitResults

EXPLAINED = (
    "PUE up to the horizon. best rule: of the rule with the highest profit; slope change: the PUE at which chillers start, as the mean "
    "over the horizon (a greater PUE: utilisation was maximised, a smaller one: the cooling was optimised)."
)
Find = Callable[[MethodRow], float | None]


def pue(row: MethodRow) -> float | None:
    """Return the mean over the seeds of the PUE up to the horizon; None if nothing ran."""
    return row.mean(lambda r: ((r.get("account") or {}).get(HORIZON) or {}).get("pue"))


def slope_change(results: ProfitResults) -> float | None:
    """Return the PUE at the slope change in a scenario; None if it has none, or the records are too old to have it."""
    return next((r["slope_change"] for r in results.records if r.get("slope_change") is not None), None)


def table(name: str, group: Sequence[ProfitResults]) -> Table:
    """Return the table with a row per scenario: the PUE of each method but rules, of the best rule, and at the slope change.

    Parameters
    ----------
    name : str
        What the scenarios have in common: the instance and the number of threads.
    group : sequence of ProfitResults
        The results of each scenario.
    """
    rows = [row for results in group for row in results.rows]
    methods = dict.fromkeys(r.method for r in rows if not r.method.startswith("rule:") and pue(r) is not None)
    made = Table(title=f"{name}: PUE of all scenarios", title_justify="left", box=box.SIMPLE_HEAD, padding=0)
    made.show_edge = False
    made.add_column("scenario")
    for head in (*(m.replace("@", "\n@").replace(":", ":\n") for m in methods), "best rule", "slope\nchange"):
        made.add_column(head, justify="right")
    for results in group:
        known = {row.method: pue(row) for row in results.rows}
        rule = None if results.best_rule is None else pue(results.best_rule)
        cells = [*(known.get(m) for m in methods), rule, slope_change(results)]
        scenario = View(**results.records[0]["view"]).scenario or "its own"
        made.add_row(scenario, *("-" if v is None else f"{v:.5f}" for v in cells))
    return made
