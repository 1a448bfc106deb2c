"""The part of ``bench show`` for profit instances: objective, power, prices, scenarios with temperatures and PUE."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from rich import box
from rich.console import Console
from rich.table import Table

from ...instances import Instance
from ...models.dispatch.jobs import DAY
from ...models.profit.problem import Profit
from ...models.step_function import StepFunction


def show_profit(console: Console, instance: Instance) -> None:
    """Print the prices, the power of the jobs, and the temperatures and PUE of each scenario."""
    problem = instance.profit
    for line in _lines(problem):
        console.print(line)
    if len(instance.scenarios) > 1:
        own = "" if instance.centre is None else f" (by default {instance.centre.default})"
        console.print(f"scenarios{own}: {'; '.join(instance.scenarios)}")
    problems = {name: instance.scenario(name) for name in instance.scenarios} or {"its own": problem}
    console.print(_weather(problems.items()))


def _lines(problem: Profit) -> Iterable[str]:
    yield f"objective: profit in EUR from {problem.begin} s to {problem.horizon_end} s, {_days(problem)} days ({problem.sense})"
    watts = problem.watts.tolist()
    per_core = [w / c for w, c in zip(watts, problem.cores.tolist(), strict=True) if c > 0]
    if per_core:
        yield (
            f"power of the jobs: {min(per_core):.4g} to {max(per_core):.4g} W per core, median {median(per_core):.4g}; "
            f"all cores in use: at most {problem.most_power / 1000:,.2f} kW"
        )
    yield f"energy price: {_price(problem)} EUR per kWh"


def _days(problem: Profit) -> str:
    return f"{(problem.horizon_end - problem.begin) / DAY:,.1f}"


def _price(problem: Profit) -> str:
    """Return the price of energy as text; if it varies, its least, mean and greatest value up to the horizon."""
    if not isinstance(problem.energy_price, StepFunction):
        return f"{problem.energy_price:g}"
    return " / ".join(f"{v:.4g}" for v in extent(problem.energy_price, problem)) + " (least / mean / greatest)"


def extent(series: StepFunction, problem: Profit) -> tuple[float, float, float]:
    """Return the least, mean and greatest value of a series from the begin to the horizon."""
    pieces = list(series.pieces(problem.begin, problem.horizon_end))
    values = [v for *_, v in pieces]
    return min(values), sum((b - a) * v for a, b, v in pieces) / (problem.horizon_end - problem.begin), max(values)


def _weather(problems: Iterable[tuple[str, Profit]]) -> Table:
    """Return a table with a row per scenario: price, temperatures, and PUE with the machine full and half full."""
    made = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    made.add_column("scenario")
    for head in (
        "EUR per\ncore-hour",
        "°C least",
        "mean",
        "greatest",
        "segments",
        "PUE at mean °C,\nmachine full",
        "machine\nhalf full",
    ):
        made.add_column(head, justify="right")
    for name, problem in problems:
        low, mean, high = extent(problem.temperature, problem)
        pue = [problem.cooling.pue(share * problem.most_power, mean) for share in (1.0, 0.5)]
        cells = (f"{problem.price:g}", *(f"{t:.1f}" for t in (low, mean, high)), str(len(problem.segments)))
        made.add_row(name, *cells, *("-" if p is None else f"{p:.4f}" for p in pue))
    return made
