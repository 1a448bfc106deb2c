"""The size of the charts of a replay: twelve replays of a machine of 65 nodes fit on a page of 1.5 MB with their tables."""

from __future__ import annotations

import numpy as np
from numpy.random import default_rng
from schedlab.bench.pages import Frame
from schedlab.bench.pages.panels import MOST_JOBS, chart
from schedlab.models import NodeGroup, Platform
from schedlab.simulation import JobsTable, Kind, NodeRanges

DAY = 86_400
NODES = 65
MACHINE = Platform([NodeGroup("n", NODES, {"cores": 16, "gpus": 2, "memory": 16_384})])
KINDS = tuple(Kind(request={"cores": c, "gpus": c % 3, "memory": 1000 * c}) for c in range(1, 9))
LETTERS_PER_JOB, LETTERS_PER_CURVE, LETTERS_OF_AXES = 17, 6000, 12_000


def size(count: int) -> int:
    """Return the letters of the charts of jobs of one node each over ten days."""
    rng = default_rng(count)
    submit = np.sort(rng.integers(0, 9 * DAY, count))
    start = submit + rng.integers(0, 20_000, count)
    end, node = start + rng.integers(60, 40_000, count), rng.integers(0, NODES, count)
    none, one = np.zeros(count, np.int64), np.ones(count, np.int64)
    place = NodeRanges(np.arange(count + 1), node, node, one)
    names = [f"j{k}" for k in range(count)]
    jobs = JobsTable(names, submit, start, end, none - 1, one, none > 0, place, rng.integers(0, 8, count), KINDS)
    made = chart(Frame(MACHINE, 0, 10 * DAY, 40), jobs, none, ["#4c78a8"], "replay")
    assert "<image" not in made.svg
    return len(made.svg)


def test_axes_and_texts_of_a_replay_take_12_kb() -> None:
    assert size(1) < LETTERS_OF_AXES


def test_each_job_takes_17_letters_beside_the_four_curves() -> None:
    assert size(MOST_JOBS) < LETTERS_OF_AXES + 4 * LETTERS_PER_CURVE + MOST_JOBS * LETTERS_PER_JOB
