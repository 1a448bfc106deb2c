"""The tables of the study: ratios and waits of [Rocchetti2015, table 3] beside ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import fmean

import numpy as np
from schedlab.bench.grid import Grid, short
from schedlab.simulation.users import CLASSES

from .replays import Waits, means_of_classes

MINUTE = 60
MISSING = "-"
TABLE_3: Mapping[str, Sequence[float | None]] = {
    "be": (820.05, None, None, None, None),
    "ge": (None, None, None, None, 796.18),
    "cf": (1093.12, 637.53, 519.30, 450.30, None),
    "cfg": (1488.60, 986.33, 759.15, 706.35, 517.35),
    "di": (None, 1030.25, 804.93, 534.15, 424.43),
    "hdi": (1091.58, 837.51, 781.38, 509.70, 484.20),
}
"""Mean wait in minutes of the classes a1 to a5 [Rocchetti2015, table 3]; the text has 424.23 for ``di``, a5."""
CLASS_HEADS = [f"a{k}" for k in range(1, CLASSES + 1)]
Row = Sequence[float | None]
Results = Mapping[str, Mapping[str, Sequence[Waits]]]  # scenario -> dispatcher -> the waits of each workload


def of_users(found: Sequence[Waits]) -> list[float | None]:
    """Return the mean wait per user of each class of users in minutes, over the users of all workloads."""
    values = np.concatenate([w.by_user for w in found]) / MINUTE
    return means_of_classes(values, np.concatenate([w.user_class for w in found]))


def of_jobs(found: Sequence[Waits]) -> list[float | None]:
    """Return the mean wait of each class of jobs in minutes, over the jobs of all workloads."""
    values = np.concatenate([w.by_job for w in found]) / MINUTE
    return means_of_classes(values, np.concatenate([w.job_class for w in found]))


def ratio(row: Row) -> float | None:
    """Return the mean wait of the least accurate class / that of the most accurate one; None with one class.

    Examples
    --------
    >>> round(ratio(TABLE_3["cf"]), 2), ratio(TABLE_3["be"])
    (2.43, None)
    """
    known = [value for value in row if value is not None]
    return known[0] / known[-1] if len(known) > 1 and known[-1] else None


def is_ordered(row: Row) -> bool:
    """Return whether each class waits less than the class before it."""
    known = [value for value in row if value is not None]
    return all(b < a for a, b in pairwise(known))


def tables(results: Results, dispatchers: Sequence[str]) -> list[Grid]:
    """Return the tables, ratios first.

    Parameters
    ----------
    results : mapping
        Scenario -> dispatcher -> the waits of each workload.
    dispatchers : sequence of str
        The dispatchers; the first one is beside the paper.
    """
    return [_ratios(results, dispatchers), *_waits(results, dispatchers), _whole(results, dispatchers)]


def _ratios(results: Results, dispatchers: Sequence[str]) -> Grid:
    rows = []
    for scenario in (s for s in results if ratio(TABLE_3[s]) is not None):
        for name in dispatchers:
            ours = of_users(results[scenario][name])
            theirs = TABLE_3[scenario]
            cells = [scenario, name]
            for numbers in (ours, theirs) if name == dispatchers[0] else (ours, ()):
                compared = [ratio(numbers), *(_against(results, name, s, numbers, ours) for s in ("be", "ge"))]
                cells += [_text(value) for value in compared]
            rows.append([*cells, "yes" if is_ordered(ours) else "no"])
    heads = [
        "users",
        "dispatcher",
        "worst/\nbest",
        "be/\nbest",
        "ge/\nbest",
        "paper:\nworst/best",
        "be/best",
        "ge/best",
    ]
    meaning = (
        "worst, best: mean wait per user of the least and of the most accurate class that has users; be, ge: of all users "
        "in these scenarios; ordered: each class waits less than the class before it."
    )
    return Grid.of_texts("ratios of waits", [*heads, "ordered"], rows, meaning)


def _against(results: Results, name: str, scenario: str, row: Row, ours: Row) -> float | None:
    """Return the wait of all users of a scenario / that of the most accurate class of ``row``."""
    best = [value for value in row if value is not None]
    whole: Row = ()
    if row is not ours:
        whole = TABLE_3[scenario]
    elif scenario in results:
        whole = of_users(results[scenario][name])
    known = [value for value in whole if value is not None]
    return fmean(known) / best[-1] if best and best[-1] and known else None


def _waits(results: Results, dispatchers: Sequence[str]) -> list[Grid]:
    users, jobs = [], []
    for scenario, waits_of_variants in results.items():
        number = np.bincount(
            np.concatenate([w.user_class for w in waits_of_variants[dispatchers[0]]]), minlength=CLASSES + 1
        )[1:]
        users.append([scenario, "users", *map(str, number.tolist())])
        users += [["", name, *map(_text, of_users(waits_of_variants[name]))] for name in dispatchers]
        users.append(["", "paper", *map(_text, TABLE_3[scenario])])
        jobs += [
            [scenario if k == 0 else "", d, *map(_text, of_jobs(waits_of_variants[d]))]
            for k, d in enumerate(dispatchers)
        ]
    heads = ["scenario", "", *CLASS_HEADS]
    meaning = "a1 to a5: classes of accuracy from 0-0.2 to 0.8-1. Users of all workloads together; users: their number."
    return [
        Grid.of_texts("mean wait per user, minutes, by class of the user", heads, users, meaning),
        Grid.of_texts("mean wait of the jobs, minutes, by accuracy of the job", heads, jobs, meaning),
    ]


def _whole(results: Results, dispatchers: Sequence[str]) -> Grid:
    rows = []
    for scenario, waits_of_variants in results.items():
        for name in dispatchers:
            waits = waits_of_variants[name]
            classes = [v for v in of_users(waits_of_variants[name]) if v is not None]
            wait = np.concatenate([w.by_job for w in waits]) / MINUTE
            theirs = [v for v in TABLE_3[scenario] if v is not None] if name == dispatchers[0] else []
            figures = [
                fmean(classes), fmean(theirs) if theirs else None, float(wait.mean()),
                float(np.percentile(wait, 99)), float(wait.max()),
                fmean(w.slowdown for w in waits), 100 * fmean(w.used for w in waits),
            ]  # fmt: skip
            rows.append([scenario, name, *map(_text, figures)])
    heads = ["scenario", "", "mean of\nclasses", "paper", "mean of\njobs", "p99", "max", "bounded\nslowdown", "used, %"]
    meaning = (
        "mean of classes: unweighted mean of the class means, the paper's overall average; used: share of the cores."
    )
    return Grid.of_texts("waits of the whole machine, minutes", heads, rows, meaning)


def _text(value: float | None) -> str:
    return MISSING if value is None else short(value)
