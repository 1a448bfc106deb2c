"""The tables of the study: profit over the best rule beside [Bridi2018, table 7.1], makespans, overhead, energy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, pstdev
from typing import Any

from schedlab.bench.grid import Grid, short

from .replays import IDLE, RULES, SCENARIOS, USUAL

DAY = 86400
TABLE_7_1: Mapping[str, Sequence[float]] = {  # in the order of its columns: air, hybrid in summer, then in winter
    "low": (29.50, 17.84, 7.37, 15.00),
    "medium": (10.46, 18.23, 13.19, -7.50),
    "high": (0.36, 0.20, 0.23, 0.01),
}
"""Profit of DARDIS70% over the best rule in percent, by trace."""
Result = Mapping[str, Any]
Results = Mapping[str, Mapping[str, Mapping[str, Result]]]
"""Trace -> variant -> scenario -> result."""


def profit(result: Result, idle: float = USUAL, when: str = "end") -> float:
    """Return the profit of a replay in euro, at the last ``end`` of a job or at the last ``submission``."""
    return float(result[f"{when},{idle:g}"]["profit"])


def best_rule(found: Mapping[str, Mapping[str, Result]], scenario: str, idle: float = USUAL) -> str | None:
    """Return the rule with the highest profit in a scenario, the first of equal ones; None if no rule was replayed."""
    known = [name for name in found if name in RULES and scenario in found[name]]
    return max(known, key=lambda name: round(profit(found[name][scenario], idle), 6), default=None)


def gain(
    found: Mapping[str, Mapping[str, Result]], name: str, scenario: str, idle: float = USUAL, when: str = "end"
) -> float | None:
    """Return the profit of a variant over that of the best rule, in percent; None if one of them is missing."""
    rule = best_rule(found, scenario, idle)
    if rule is None or scenario not in found.get(name, {}):
        return None
    base = profit(found[rule][scenario], idle, when)
    return 100 * (profit(found[name][scenario], idle, when) - base) / abs(base) if base else None


def tables(results: Results, variants: Sequence[str]) -> Iterator[Grid]:
    """Yield all tables of the study.

    Parameters
    ----------
    results : mapping
        Trace -> variant -> scenario -> result.
    variants : sequence of str
        The variants other than rules.
    """
    for name in variants:
        yield _table_7_1(results, name)
    yield _by_idle(results, variants)
    yield _makespans(results, variants)
    yield _overheads(results, variants)
    for trace, results_of_trace in results.items():
        for scenario in _scenarios(results):
            yield _energy(trace, scenario, results_of_trace)


def bounds_table(results: Results, bounds: Mapping[str, Mapping[str, float]]) -> Grid:
    """Return for each trace and scenario the bound on every schedule's profit, and the best variant beside it.

    Parameters
    ----------
    results : mapping
        Trace -> variant -> scenario -> result.
    bounds : mapping
        Trace -> scenario -> bound in euro.
    """
    rows = []
    for trace, of in bounds.items():
        for scenario, bound in of.items():
            known = {name: profit(r[scenario]) for name, r in results[trace].items() if scenario in r}
            best = max(known, key=lambda name: known[name])
            above = 100 * (bound - known[best]) / abs(known[best])
            cells = [f"{bound:,.0f}", best, f"{known[best]:,.0f}", _percent(above)]
            rows.append([trace, scenario.removesuffix(",cheap"), *cells])
    heads = ["trace", "scenario", "bound,\neuro", "best", "its profit,\neuro", "bound\nabove it, %"]
    meaning = f"Bound: the cheapest energy of the jobs, without idle energy (docs/appendix/bridi2018_hybrid.md); profits with {USUAL:g} W of an idle core."
    return Grid.of_texts("bounds", heads, rows, meaning)


def _scenarios(results: Results) -> list[str]:
    known = {s for results_of_trace in results.values() for of in results_of_trace.values() for s in of}
    return [s for s in SCENARIOS if s in known]


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:+.2f}"


def _table_7_1(results: Results, name: str) -> Grid:
    scenarios = _scenarios(results)
    rows = []
    for trace, results_of_trace in results.items():
        ours = [gain(results_of_trace, name, s) for s in scenarios]
        rules = [best_rule(results_of_trace, s) or "-" for s in scenarios]
        rows.append([trace, "ours", *map(_percent, ours)])
        theirs = TABLE_7_1.get(trace)
        if theirs is not None and name.startswith("hybrid:70"):
            rows.append(["", "thesis", *(_percent(theirs[SCENARIOS.index(s)]) for s in scenarios)])
        rows.append(["", "best rule", *(rule.removeprefix("rule:") for rule in rules)])
    heads = ["trace", "", *(s.removesuffix(",cheap").replace(",", "\n") for s in scenarios)]
    meaning = (
        f"Profit at the last end of a job over that of the best of the rules replayed, in percent; {USUAL:g} W of each idle "
        "core of a node that is on."
    )
    return Grid.of_texts(f"{name}: table 7.1", heads, rows, meaning)


def _by_idle(results: Results, variants: Sequence[str]) -> Grid:
    rows = []
    for trace, results_of_trace in results.items():
        for name in variants:
            for scenario in results_of_trace.get(name, {}):
                cells = [gain(results_of_trace, name, scenario, idle) for idle in IDLE]
                rows.append([trace, name, scenario.removesuffix(",cheap"), *map(_percent, cells)])
    meaning = "Profit at the last end of a job over that of the best rule, in percent, by the watts of an idle core."
    return Grid.of_texts("idle power", ["trace", "", "scenario", *(f"{i:g} W" for i in IDLE)], rows, meaning)


def _makespans(results: Results, variants: Sequence[str]) -> Grid:
    rows = []
    for trace, results_of_trace in results.items():
        for name in [*variants, "best rule"]:
            values = []
            for s in _scenarios(results):
                chosen = best_rule(results_of_trace, s) if name == "best rule" else name
                if chosen is not None and s in results_of_trace.get(chosen, {}):
                    values.append(results_of_trace[chosen][s]["makespan"] / DAY)
            if values:
                rows.append([trace, name, f"{fmean(values):.2f}", f"{pstdev(values):.3f}"])
    heads = ["trace", "", "makespan,\ndays", "std.\ndev."]
    return Grid.of_texts("figure 7.3: makespan", heads, rows, "Mean and standard deviation over the scenarios.")


def _overheads(results: Results, variants: Sequence[str]) -> Grid:
    rows = []
    for trace, results_of_trace in results.items():
        for name in [n for n in results_of_trace if n in variants or n.startswith("rule:")]:
            of = list(results_of_trace[name].values())
            values = [(r["overhead"] * r["jobs"] - r["offline_seconds"]) / r["jobs"] for r in of]
            offline = fmean(r["offline_seconds"] for r in of)
            rows.append([trace, name, short(1000 * fmean(values)), short(1000 * pstdev(values)), short(offline)])
    heads = ["trace", "", "ms a\njob", "std.\ndev.", "offline\nsteps, s"]
    meaning = (
        "Wall time of all decisions of a replay / jobs, without the offline steps; mean and deviation over scenarios."
    )
    return Grid.of_texts("figure 7.4: overhead", heads, rows, meaning)


def _energy(trace: str, scenario: str, found: Mapping[str, Mapping[str, Result]]) -> Grid:
    rows = []
    for name in [n for n, of in found.items() if scenario in of]:
        r = found[name][scenario]
        a = r[f"end,{USUAL:g}"]
        rows.append(
            [
                name,
                f"{a['profit']:,.0f}",
                _percent(gain(found, name, scenario)),
                _percent(gain(found, name, scenario, when="submission")),
                *(short(a[f"{part}_kwh"] / 1000) for part in ("busy", "idle", "boot", "cooling")),
                f"{a['pue']:.4f}",
                f"{r['makespan'] / DAY:.2f}",
                *(short(r[wait] / 3600) for wait in ("wait_mean", "wait_p95")),
                short(r["slowdown_mean"]),
            ]
        )
    heads = [
        "", "profit,\neuro", "over\nrule, %", "at last\nsubm., %", "jobs,\nMWh", "idle,\nMWh", "boot,\nMWh", "cooling,\nMWh",
        "PUE", "make-\nspan, d", "mean\nwait, h", "p95\nwait, h", "slow-\ndown",
    ]  # fmt: skip
    meaning = f"Up to the last end of a job (at last subm.: up to the last submission); {USUAL:g} W of an idle core."
    return Grid.of_texts(f"{trace}, {scenario}: energy and waits", heads, rows, meaning)
