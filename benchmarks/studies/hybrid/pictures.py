"""The figures of the study: profit by scenario, makespan, overhead, and the nodes of one replay over time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
from schedlab.bench.pages.figures import PANEL, figure
from schedlab.bench.pages.panels import COLOURS, draw_grouped
from schedlab.instances import Instance
from schedlab.models.profit.problem import along
from schedlab.models.step_function import DAY, HOUR

from .replays import USUAL, centre_of
from .tables import Result, Results, best_rule, gain

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def profits(results: Results, variants: Sequence[str], scenarios: Sequence[str]) -> str:
    """Return figure 7.2: for each scenario, the profit of the variants over the best rule, by trace."""

    def panel(scenario: str) -> Callable[[Axes], None]:
        groups = {
            t: [gain(results_of_trace, name, scenario) for name in variants] for t, results_of_trace in results.items()
        }

        def draw(ax: Axes) -> None:
            draw_grouped(ax, groups, variants, "profit over the rule, %")
            ax.set_title(scenario.removesuffix(",cheap"), loc="left", fontsize=8)
            ax.margins(y=0.4)  # room for the legend
            ax.axhline(0, linewidth=0.6, color="#888888")

        return draw

    return figure("figure 7.2", [panel(s) for s in scenarios], 2 if len(scenarios) > 1 else 1, PANEL)


def means(results: Results, variants: Sequence[str], scenarios: Sequence[str]) -> str:
    """Return figures 7.3 and 7.4: makespan and overhead, means over the scenarios, by trace."""
    names = [*variants, "best rule"]

    def values(found: Mapping[str, Mapping[str, Result]], name: str, of: Callable[[Result], float]) -> float | None:
        chosen = {s: best_rule(found, s) if name == "best rule" else name for s in scenarios}
        listed = [of(found[c][s]) for s, c in chosen.items() if c is not None and s in found.get(c, {})]
        return fmean(listed) if listed else None

    def days(r: Result) -> float:
        return float(r["makespan"]) / DAY

    def overhead(r: Result) -> float:
        return 1000 * (float(r["overhead"]) - float(r["offline_seconds"]) / float(r["jobs"]))

    def panel(title: str, label: str, of: Callable[[Result], float]) -> Callable[[Axes], None]:
        groups = {t: [values(results_of_trace, name, of) for name in names] for t, results_of_trace in results.items()}

        def draw(ax: Axes) -> None:
            draw_grouped(ax, groups, names, label)
            ax.set_title(title, loc="left", fontsize=8)
            ax.margins(y=0.4)

        return draw

    panels = [
        panel("figure 7.3: makespan", "days", days),
        panel("figure 7.4: overhead without offline steps", "ms a job", overhead),
    ]
    return figure("figures 7.3 and 7.4", panels, 1, PANEL)


def over_time(instance: Instance, scenario: str, result: Result) -> str:
    """Return the nodes on and in use, the profile, planned and real use, power, PUE and temperature of a replay."""
    problem = instance.scenario(scenario)
    c = result["curves"]
    nodes = len(instance.platform.nodes)
    total = instance.platform.total("cores")
    hours = len(c["on"])
    begin = c["begin"]
    at = (begin + HOUR * np.arange(hours)) / DAY
    on = np.array(c["on"])
    use = np.array(c["cores"]) / total
    centre = centre_of(problem, begin + HOUR * (hours + 1))
    celsius = np.array([centre.temperature.at(max(centre.temperature.begin, begin + HOUR * h)) for h in range(hours)])
    per_node = total / nodes
    it = np.array(c["watts"]) + USUAL * np.maximum(0.0, on * per_node - np.array(c["cores"]))
    cool = np.array([along(centre.cooling.curve(t), w) for t, w in zip(celsius.tolist(), it.tolist(), strict=True)])
    pue = np.where(it > 0, 1 + cool / np.maximum(it, 1e-9), np.nan)

    def use_of_nodes(ax: Axes) -> None:
        ax.step(at, on, where="post", label="nodes on", color=COLOURS[0])
        ax.step(at, c["in_use"], where="post", label="nodes in use", color=COLOURS[1])
        ax.set_ylabel("nodes")

    def shares(ax: Axes) -> None:
        ax.step(at, use, where="post", label="cores in use", color=COLOURS[1])
        for label, key, colour in (("profile", "shares", COLOURS[0]), ("planned use", "planned", COLOURS[2])):
            times, values = _of_plans(result["plans"], key)
            ax.step(times, values, where="post", label=label, color=colour)
        ax.set_ylabel("share of the cores")

    def power(ax: Axes) -> None:
        ax.step(at, it / 1000, where="post", label="IT power", color=COLOURS[3])
        ax.step(at, cool / 1000, where="post", label="cooling power", color=COLOURS[4])
        ax.set_ylabel("kW")

    def efficiency(ax: Axes) -> None:
        ax.step(at, pue, where="post", label="PUE", color=COLOURS[5])
        ax.set_ylabel("PUE")
        other = ax.twinx()
        other.step(at, celsius, where="post", label="temperature", color=COLOURS[9], linewidth=0.7)
        other.set_ylabel("degrees C (grey)")
        ax.set_xlabel("days")

    def drawn(panel: Callable[[Axes], None]) -> Callable[[Axes], None]:
        def draw(ax: Axes) -> None:
            panel(ax)
            ax.set_xlim(at[0], at[-1] + HOUR / DAY)
            ax.legend(frameon=False, fontsize=7, ncols=3, loc="upper right", bbox_to_anchor=(1, 1.2))

        return draw

    panels = [drawn(p) for p in (use_of_nodes, shares, power, efficiency)]
    return figure(f"{result['variant']}, {scenario}", panels, 1, PANEL)


def _of_plans(plans: Sequence[Mapping[str, Any]], key: str) -> tuple[list[float], list[float]]:
    """Return times in days and hourly values of all plans, NaN between plans that have none."""
    times = list[float]()
    values = list[float]()
    for plan in plans:
        listed = plan[key] or [float("nan")]
        times += [(plan["begin"] + HOUR * h) / DAY for h in range(len(listed))]
        values += listed
    return times, values
