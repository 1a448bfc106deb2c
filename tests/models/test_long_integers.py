"""Integers of thousands of digits, which Python neither prints nor makes floats of, are refused by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import schedlab as sl

LONG = 10**5000
PLATFORM = sl.Platform([sl.NodeGroup("n", 2, {"cores": 4})])


def dispatch(ewt: int = 60, **changes: Any) -> sl.Dispatch:
    """Return a problem of one job."""
    fields: dict[str, Any] = {"id": "j", "submit": 0, "walltime": 10, "units": 1, "request": {"cores": 1}, "queue": "q"}
    return sl.Dispatch(PLATFORM, [sl.Job(**{**fields, **changes})], [sl.Queue("q", ewt)])


def project(duration: int = 3, demand: int = 1, capacity: int = 1, lag: int = 0, **changes: Any) -> sl.Project:
    """Return a project of two tasks."""
    tasks = [sl.Task("a", (sl.Mode("m", duration, {"r": demand}),), **changes), sl.Task("b", (sl.Mode("m", 1, {}),))]
    return sl.Project(tasks, [sl.Resource("r", capacity)], [("a", "b", lag)])  # type: ignore[list-item]


PLACES: dict[str, Callable[[int], object]] = {
    **{name: lambda n, name=name: dispatch(**{name: n}) for name in (  # type: ignore[misc]
        "submit", "walltime", "units", "earliest_start", "latest_start", "deadline", "runtime", "per_node",
    )},
    "cores": lambda n: dispatch(request={"cores": n}),
    "windows": lambda n: dispatch(windows=((0, n),)),
    "ewt": lambda n: dispatch(ewt=n),
    "capacity": lambda n: sl.Platform([sl.NodeGroup("n", 2, {"cores": n})]),
    "count": lambda n: sl.Platform([sl.NodeGroup("n", n, {"cores": 4})]),
    **{name: lambda n, name=name: project(**{name: n}) for name in (  # type: ignore[misc]
        "release", "due", "weight", "earliness_weight", "penalty", "duration",
    )},
    "demand": lambda n: project(demand=n),
    "capacity of": lambda n: project(capacity=n),
    **{name: lambda n, name=name: sl.solve(dispatch(), **{name: n}) for name in (  # type: ignore[misc]
        "time_limit", "threads", "seed", "gap_limit", "deterministic_limit",
    )},
}  # fmt: skip


@pytest.mark.parametrize("number", [LONG, -LONG], ids=["positive", "negative"])
@pytest.mark.parametrize("place", PLACES)
def test_an_integer_of_5000_digits_is_refused_by_name(place: str, number: int) -> None:
    with pytest.raises(sl.SchedlabError, match=r"1e100|whole number") as caught:
        PLACES[place](number)
    assert place.partition(" ")[0] in str(caught.value)


def test_integers_of_100_digits_are_numbers() -> None:
    assert project(weight=10**99).tasks[0].weight == 10**99
