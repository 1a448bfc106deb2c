"""The pieces of a replay: what each run uses on each range of its nodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..verify.runs import Runs

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Pieces(NamedTuple):
    """One entry for each range of nodes of each run, also of those that run at the begin.

    Parameters
    ----------
    start, end : ndarray of int64
        Seconds; equal for a run that never started.
    low, high : ndarray of int64
        First and last node of the range, both included.
    amount : ndarray of int64, shape (pieces, resources)
        What the run uses on each node of the range, in the order of ``platform.resources``.
    row : ndarray of int64
        The row of the job in the workload, -1 for those that run at the begin.
    """

    start: Ints
    end: Ints
    low: Ints
    high: Ints
    amount: Ints
    row: Ints


def pieces_of(runs: Runs) -> Pieces:
    """Return the pieces of all runs of a replay."""
    w, p, resources = runs.workload, runs.placement, runs.platform.resources
    job = np.repeat(np.arange(len(w)), np.diff(p.first))
    missing = np.zeros(len(w), np.int64)
    column = {r: w.request[:, k] for k, r in enumerate(w.resources)}
    request = np.column_stack([column.get(r, missing) for r in resources])[job]
    for k, chunks in w.chunks.items():
        at = int(p.first[k])
        for chunk in chunks:
            left = chunk.units
            while left > 0 and at < p.first[k + 1]:
                request[at] = [chunk.request.get(r, 0) for r in resources]
                left -= int(p.units[at] * (p.high[at] - p.low[at] + 1))
                at += 1
    amount = request * p.units[:, None]
    found = Pieces(runs.start[job], np.where(runs.started, runs.end, runs.start)[job], p.low, p.high, amount, job)
    if not w.running:
        return found
    number = {name: n for n, name in enumerate(runs.platform.nodes)}
    held = [(r, number[node], units) for r in w.running for node, units in r.nodes.items() if node in number]
    nodes = np.array([n for _, n, _ in held], np.int64)
    begun = Pieces(
        np.array([r.start for r, _, _ in held], np.int64),
        np.array([r.true_end for r, _, _ in held], np.int64),
        nodes,
        nodes,
        np.array([[u * r.job.request.get(name, 0) for name in resources] for r, _, u in held], np.int64).reshape(
            -1, len(resources)
        ),
        np.full(len(held), -1, np.int64),
    )
    return Pieces(*(np.concatenate(pair) for pair in zip(found, begun, strict=True)))


def power_steps(runs: Runs) -> tuple[Ints, Floats]:
    """Return (times, watts): the power of all running jobs from each time on; jobs without a known power count 0."""
    watts = np.nan_to_num(runs.workload.power)
    start, end = runs.start[runs.started], runs.end[runs.started]
    held = [(r.start, r.true_end, r.job.power or 0.0) for r in runs.workload.running]
    start = np.append(start, [s for s, _, _ in held]).astype(np.int64)
    end = np.append(end, [e for _, e, _ in held]).astype(np.int64)
    each = np.append(watts[runs.started], [p for _, _, p in held])
    times = np.concatenate([start, end])
    order = np.argsort(times, kind="stable")
    total = np.cumsum(np.concatenate([each, -each])[order])
    last = np.append(np.diff(times[order]) > 0, True)[: len(times)]
    return times[order][last], np.round(total[last], 6)
