"""EASY++: predictions that are corrected as they expire, shortest job first in backfilling."""

from typing import Any

import pytest
import schedlab as sl
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_easy_plus_plus import Job as PlainJob
from plain_easy_plus_plus import replay
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue
from schedlab.simulation import CORRECTIONS, POLICIES, parse_dispatcher
from shared_data import DATA

KTH = DATA / "kth_sp2_1996" / "KTH-SP2-1996-2.1-cln.swf"


def world(nodes: int, *jobs: dict[str, Any]) -> Dispatch:
    """A machine of equal nodes and jobs that each need whole nodes."""
    made = [Job(id=f"j{k}", request={"cores": 1}, queue="q", **job) for k, job in enumerate(jobs)]
    return Dispatch(Platform([NodeGroup("n", nodes, {"cores": 1})]), made, [Queue("q", 1)], "waiting")


def plain_starts(workload: Any, nodes: int) -> list[int]:
    columns = (workload.submit, workload.runtime, workload.walltime, workload.units, workload.user)
    return replay([PlainJob(*row) for row in zip(*(c.tolist() for c in columns), strict=True)], nodes)


job = st.builds(
    dict,
    submit=st.integers(0, 4000),
    runtime=st.integers(1, 3000),
    walltime=st.integers(1, 5000),
    units=st.integers(1, 4),
    user=st.sampled_from("abc"),
)


@given(st.lists(job, min_size=1, max_size=30))
@settings(max_examples=50, deadline=None)
def test_starts_are_those_of_the_plain_version(jobs: list[dict[str, Any]]) -> None:
    run = sl.simulate(world(4, *jobs), dispatcher="easy++")
    assert run.violations == []
    assert run.start.tolist() == plain_starts(run.workload, 4)


@pytest.mark.skipif(not DATA.exists(), reason="../shared/data is missing: there is no log of KTH")
def test_starts_on_5000_jobs_of_kth_are_those_of_the_plain_version() -> None:
    jobs = sl.read_swf(KTH).first(5000)
    run = sl.simulate(jobs, Platform([NodeGroup("n", 100, {"cores": 1})]), "easy++")
    assert run.start.tolist() == plain_starts(run.workload, 100)


def test_shorter_jobs_are_backfilled_first() -> None:
    busy = {"submit": 0, "runtime": 1000, "walltime": 1000, "units": 3}
    head = {"submit": 1, "runtime": 10, "walltime": 10, "units": 4}
    long = {"submit": 2, "runtime": 500, "walltime": 500, "units": 1}
    short = {"submit": 2, "runtime": 50, "walltime": 50, "units": 1}
    problem = world(4, busy, head, long, short)
    assert sl.simulate(problem, dispatcher="easy").start.tolist() == [0, 1000, 2, 502]
    assert sl.simulate(problem, dispatcher="easy++").start.tolist() == [0, 1000, 52, 2]


def test_an_expired_prediction_grows_by_the_table_up_to_the_walltime() -> None:
    first = {"submit": 0, "runtime": 100, "walltime": 9000, "units": 4, "user": "a"}
    # predicted: 100 s, so that it expires at 200, and again 1 and 6 minutes later, at 260 and 560; it runs to 1100
    longer = {"submit": 50, "runtime": 1000, "walltime": 9000, "units": 3, "user": "a"}
    head = {"submit": 300, "runtime": 10, "walltime": 10, "units": 4, "user": "b"}
    # at 300 the head is expected to start at 560: 260 s are allowed beside it
    fits = {"submit": 300, "runtime": 260, "walltime": 260, "units": 1, "user": "c"}
    over = {"submit": 300, "runtime": 261, "walltime": 261, "units": 1, "user": "c"}
    assert sl.simulate(world(4, first, longer, head, fits), dispatcher="easy++").start.tolist() == [0, 100, 1100, 300]
    assert sl.simulate(world(4, first, longer, head, over), dispatcher="easy++").start.tolist() == [0, 100, 1100, 1110]
    # with a walltime of 300 s the job is expected to end at 400
    capped = longer | {"walltime": 300}
    assert sl.simulate(world(4, first, capped, head, fits), dispatcher="easy++").start.tolist() == [0, 100, 1100, 1110]


def test_jobs_are_killed_at_their_walltime_and_never_at_a_prediction() -> None:
    first = {"submit": 0, "runtime": 10, "walltime": 9000, "units": 4, "user": "a"}
    longer = {"submit": 20, "runtime": 5000, "walltime": 9000, "units": 4, "user": "a"}
    beyond = {"submit": 20, "runtime": 5000, "walltime": 4000, "units": 4, "user": "b"}
    run = sl.simulate(world(4, first, longer, beyond), dispatcher="easy++", kill_at_walltime=True)
    assert (run.end - run.start).tolist() == [10, 5000, 4000]
    assert run.killed.tolist() == [False, False, True]
    assert run.expected.tolist() == [9000, 10, 4000]  # the predictions at the starts


def test_the_name_chooses_the_predictor() -> None:
    assert parse_dispatcher("easy++").predictor == "last-two"
    assert [parse_dispatcher(f"easy++-{letter}").predictor for letter in "wdlr"] == [
        "walltime", "data-driven", "last-two", "real",
    ]  # fmt: skip
    problem = world(1, {"submit": 0, "runtime": 1, "walltime": 2, "units": 1})
    assert sl.simulate(problem, dispatcher=POLICIES["easy++"]).predictor == "last-two"
    assert sl.simulate(problem, dispatcher=POLICIES["easy++"], predictor="real").predictor == "real"


def test_policies_refuse_what_they_would_ignore() -> None:
    with pytest.raises(ValueError, match="reservations=1"):
        sl.Policy("mine", shortest_first=True, reservations=None)
    with pytest.raises(ValueError, match="reservations=1"):
        sl.Policy("mine", corrections=CORRECTIONS)
    with pytest.raises(ValueError, match="at least 1"):
        sl.Policy("mine", reservations=1, corrections=(60, 0))


def test_shortest_first_works_without_corrections() -> None:
    policy = sl.Policy("sjbf", reservations=1, shortest_first=True)
    busy = {"submit": 0, "runtime": 1000, "walltime": 1000, "units": 3}
    head = {"submit": 1, "runtime": 10, "walltime": 10, "units": 4}
    long = {"submit": 2, "runtime": 500, "walltime": 500, "units": 1}
    short = {"submit": 2, "runtime": 50, "walltime": 50, "units": 1}
    assert sl.simulate(world(4, busy, head, long, short), dispatcher=policy).start.tolist() == [0, 1000, 52, 2]
