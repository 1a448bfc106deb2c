"""The tables of the study: totals of each evictor with confidence intervals, and the methods on equal problems."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, stdev
from typing import Any

from schedlab.bench.grid import Grid, short
from schedlab.bench.replays.carry_out import paired, student

FIGURES = (
    ("missed", "missed", 1.0),
    ("delay s", "delay_mean", 1.0),
    ("lost\n1000 node h", "lost_node_hours", 1e-3),
    ("killed", "killed", 1.0),
    ("check-\npointed", "checkpointed", 1.0),
    ("batch\nwait h", "batch_wait_mean", 1 / 3600),
    ("batch\nslowdown", "batch_slowdown_mean", 1.0),
    ("used %", "utilisation", 100.0),
    ("left\nout", "left_out", 1.0),
)
Result = Mapping[str, Any]


def figure(result: Result, name: str) -> float:
    """Return a figure of a result."""
    if name == "checkpointed":
        return float(result["application"] + result["system"])
    return float(result[name] or 0.0)


def interval(values: Sequence[float]) -> str:
    """Return mean and half the width of the 95 % confidence interval.

    Examples
    --------
    >>> interval([1.0, 2.0, 3.0]), interval([5.0])
    ('2.00 ± 2.48', '5.00')
    """
    if len(values) < 2:
        return short(fmean(values))
    half = student(len(values) - 1) * stdev(values) / math.sqrt(len(values))
    return f"{short(fmean(values))} ± {short(half)}" if half else short(fmean(values))


def totals(results: Sequence[Result], evictors: Sequence[str]) -> Grid:
    """Return the figures of each evictor: mean over the seeds of the sums or means over the logs, with intervals."""
    rows = []
    for evictor in evictors:
        mine = [r for r in results if r["evictor"] == evictor]
        if not mine:
            continue
        rows.append(
            [evictor, *(interval([scale * v for v in by_seed(mine, name).values()]) for _, name, scale in FIGURES)]
        )
    meaning = (
        "Mean over the seeds of the mean over the logs, ± half of the 95 % confidence interval (Student's t over the seeds). "
        "left out: batch jobs that need more nodes than the reserved ones leave."
    )
    return Grid.of_texts(
        "totals of each evictor, one log and one seed", ["evictor", *(h for h, *_ in FIGURES)], rows, meaning
    )


def by_seed(results: Sequence[Result], name: str) -> dict[int, float]:
    """Return seed -> mean of a figure over the logs."""
    seeds = sorted({r["seed"] for r in results})
    return {s: fmean(figure(r, name) for r in results if r["seed"] == s) for s in seeds}


def differences(results: Sequence[Result], evictors: Sequence[str]) -> Grid:
    """Return how much less each evictor loses than ``kill``, seed by seed."""
    rows = []
    of = {e: by_seed([r for r in results if r["evictor"] == e], "lost_node_hours") for e in evictors}
    worse = of.get("kill", {})
    for evictor in evictors:
        seeds = sorted(set(of[evictor]) & set(worse))
        if evictor == "kill" or not seeds:
            continue
        test = paired([of[evictor][s] for s in seeds], [worse[s] for s in seeds])
        half = "-" if test.half is None else f"{test.half:,.0f}"
        rows.append([evictor, f"{test.mean:,.0f}", half, str(test.days), test.verdict])
    heads = ["evictor", "node h less\nthan kill", "± 95 %", "seeds", "less?"]
    return Grid.of_texts("node-hours lost, paired by seed", heads, rows, "Mean difference per log, and its interval.")


def methods_table(results: Sequence[Result]) -> Grid:
    """Return for each method the losses and times on the eviction problems of the replays under ``dp``."""
    listed = [c for r in results for c in r["compared"]]
    names = list(dict.fromkeys(name for c in listed for name in c))
    rows = []
    for name in names:
        both = [(c["dp"]["loss"], c[name]["loss"], c[name]["ms"]) for c in listed if name in c]
        known = [(best, loss) for best, loss, _ in both if loss is not None]
        took = sorted(ms for *_, ms in both)
        rows.append(
            [
                name,
                f"{len(both):,}",
                f"{sum(loss < best for best, loss in known):,}",
                f"{sum(loss == best for best, loss in known):,}",
                f"{sum(loss > best for best, loss in known):,}",
                f"{sum(loss - best for best, loss in known) / 3600:,.0f}",
                short(fmean(took)),
                short(took[int(0.99 * (len(took) - 1))]),
                short(took[-1]),
            ]
        )
    heads = ["method", "problems", "less\nthan dp", "equal", "more\nthan dp", "extra\nnode h", "ms mean", "p99", "max"]
    meaning = (
        "All methods on the same eviction problems, those of the replays under dp; ms: processor time of a decision."
    )
    return Grid.of_texts("losses of one decision", heads, rows, meaning)
