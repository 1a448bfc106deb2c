"""The main scheduler and the backfill scheduler on small cases that are solved by hand."""

from __future__ import annotations

import pytest
from schedlab.models import QOS, Limits, Partition, SiteNode, SiteReservation
from schedlab.simulation.slurm import ELIGIBLE
from simulation.slurm.small_slurm import job, settings, site, started, state_with

TWO = [Partition("p", ("n1", "n2"), default=True), Partition("q", ("n2", "n3"))]


def test_a_job_that_does_not_fit_stops_its_partition() -> None:
    running = [(job(1, 4), -10, ["n1"])]
    state = state_with(site(nodes=2), [job(2, 8), job(3, 1)], running)
    assert started(state) == {}
    assert [state.reason(k) for k in (1, 2)] == ["Resources", "Priority"]


def test_it_also_takes_the_nodes_of_its_partition_from_others() -> None:
    running = [(job(1, 4), -10, ["n1"])]
    waiting = [job(2, 8), job(3, 4, partitions=("q",))]
    assert started(state_with(site(nodes=3, parts=TWO), waiting, running)) == {"3": ("n3",)}


def test_a_higher_tier_comes_first() -> None:
    parts = [Partition("p", ("n1",), default=True), Partition("urgent", ("n1",), tier=5)]
    waiting = [job(1, 4), job(2, 4, partitions=("urgent",))]
    assert started(state_with(site(nodes=1, parts=parts), waiting)) == {"2": ("n1",)}


def test_a_job_for_several_partitions_starts_once() -> None:
    running = [(job(1, 4), -10, ["n1"]), (job(2, 4), -10, ["n2"])]
    waiting = [job(3, 4, partitions=("p", "q"))]
    assert started(state_with(site(nodes=3, parts=TWO), waiting, running)) == {"3": ("n3",)}


def test_backfill_starts_what_ends_before_the_reservation() -> None:
    running = [(job(1, 4, limit=100), 0, ["n1"])]
    waiting = [job(2, 8, limit=60), job(3, 4, limit=101), job(4, 4, limit=99)]
    state = state_with(site(nodes=2), waiting, running)
    assert started(state, backfill=True) == {"4": ("n2",)}
    assert int(state.tables.planned[1]) == 100


def test_a_reservation_holds_whole_nodes() -> None:
    running = [(job(1, 4, limit=100), 0, ["n1"])]
    waiting = [job(2, 5, limit=60, min_nodes=2, max_nodes=2), job(3, 1, limit=200)]
    assert started(state_with(site(nodes=2), waiting, running), backfill=True) == {}


def test_jobs_that_end_close_together_are_taken_off_together() -> None:
    running = [(job(1, 4, limit=100), 0, ["n1"]), (job(2, 4, limit=110), 0, ["n2"])]
    state = state_with(site(nodes=2), [job(3, 4)], running)
    started(state, backfill=True)
    assert int(state.tables.planned[2]) == 110  # within 30 s of the first end: both are gone


@pytest.mark.parametrize(("number", "planned"), [(3, 400), (1, 100)])
def test_of_jobs_that_end_at_the_same_time_the_one_submitted_first_is_taken_off_first(
    number: int, planned: int
) -> None:
    """A job elsewhere that follows lets the next job be taken off, too, however late it ends, as Slurm 22.05 does not look."""
    parts = [Partition("p", ("n1", "n2"), default=True), Partition("q", ("n3",))]
    elsewhere = job(number, 4, limit=100, partitions=("q",))
    running = [(elsewhere, 0, ["n3"]), (job(2, 4, limit=100), 0, ["n1"]), (job(4, 4, limit=400), 0, ["n2"])]
    state = state_with(site(nodes=3, parts=parts), [job(5, 4)], running)
    started(state, backfill=True)
    assert int(state.tables.planned[3]) == planned


def test_jobs_that_end_on_nodes_that_are_too_small_do_not_count() -> None:
    """Job 1 is not among the jobs that are taken off, so that the windows begin with the end of job 2, and hold that of job 3."""
    machine = [SiteNode("n1", 2), SiteNode("n2", 4), SiteNode("n3", 4), SiteNode("n4", 4)]
    parts = [Partition("p", ("n1", "n2", "n3", "n4"), default=True)]
    running = [
        (job(1, 2, limit=35), 0, ["n1"]),
        (job(2, 4, limit=70), 0, ["n2"]),
        (job(3, 4, limit=110), 0, ["n3"]),
        (job(4, 4, limit=500), 0, ["n4"]),
    ]
    small = state_with(site(machine=machine, parts=parts), [job(5, 4, tasks=4, tasks_per_node=4, min_nodes=1)], running)
    started(small, backfill=True)
    assert int(small.tables.planned[4]) == 110  # windows: up to 90 + 30 s
    any_node = state_with(site(machine=machine, parts=parts), [job(5, 4)], running)
    started(any_node, backfill=True)
    assert int(any_node.tables.planned[4]) == 70  # up to 60 + 30 s: jobs 1 and 2


@pytest.mark.parametrize(("memory", "nodes"), [(2000, ("n2",)), (1000, ("n1",))])
def test_a_node_has_the_memory_that_is_asked_for_also_where_memory_is_not_given_to_jobs(
    memory: int, nodes: tuple[str, ...]
) -> None:
    machine = [SiteNode("n1", 4, memory=1000), SiteNode("n2", 4, memory=2000)]
    state = state_with(site(nodes=2, machine=machine), [job(1, 1, memory_per_node=memory)])
    assert started(state) == {"1": nodes}


def test_with_assoc_limit_stop_a_qos_that_is_full_is_blocked_for_later_jobs_of_its_partition() -> None:
    """Slurm guesses that the QOS is full for 500 s more: job 3 would have room, but begins to look for a start then."""
    parts = [Partition("p", ("n1", "n2"), default=True, qos="cap")]
    full = QOS("cap", limits=Limits(grp_tres={"cpu": 5}))
    running = [(job(1, 4, limit=100), 0, ["n1"])]
    waiting = [job(2, 4, limit=50), job(3, 1, limit=10)]
    for stops, starts, planned in ((False, {"3": ("n2",)}, 0), (True, {}, 500)):
        scheduler = settings(assoc_limit_stop=stops, accounting_enforce=("limits",))
        state = state_with(site(nodes=2, parts=parts, qos=[full], scheduler=scheduler), waiting, running)
        assert started(state, backfill=True) == starts
        assert int(state.tables.planned[2]) == planned


def test_with_bf_busy_nodes_a_planned_job_has_busy_nodes_and_one_idle_node_more() -> None:
    """Job 3 has 8 CPUs of n1 and n2 at 100; with the setting, n3 is held for it, too, as in Slurm 22.05."""
    running = [(job(1, 4, limit=100), 0, ["n1"]), (job(2, 2, limit=100), 0, ["n2"])]
    waiting = [job(3, 8, limit=60), job(4, 1, limit=500, nodes="n3")]
    for busy, starts, planned in ((False, {"4": ("n3",)}, 0), (True, {}, 160)):
        state = state_with(site(nodes=3, scheduler=settings(bf_busy_nodes=busy)), waiting, running)
        assert started(state, backfill=True) == starts
        assert int(state.tables.planned[2]) == 100
        assert int(state.tables.planned[3]) == planned


def test_with_bf_busy_nodes_busy_nodes_come_before_idle_ones_of_lower_numbers() -> None:
    machine = [SiteNode("n1", 4), SiteNode("n2", 8), SiteNode("n3", 8)]
    running = [(job(1, 8, limit=100), 0, ["n2"]), (job(2, 8, limit=100), 0, ["n3"])]
    waiting = [job(3, 8, limit=60), job(4, 4, limit=500, nodes="n1"), job(5, 8, limit=10, nodes="n3")]
    state = state_with(site(machine=machine, nodes=3, scheduler=settings(bf_busy_nodes=True)), waiting, running)
    started(state, backfill=True)
    assert [int(state.tables.planned[k]) for k in (2, 3, 4)] == [100, 160, 100]  # job 3 has n2, and n1 beside it


def test_tasks_of_a_full_array_begin_to_wait_anew() -> None:
    """With bf_min_age_reserve they hold no reservation for a time after another task has ended."""
    tasks = [job(1, 2, array="1", task=k, array_limit=1) for k in (1, 2)]
    state = state_with(
        site(nodes=1, scheduler=settings(bf_min_age_reserve=10)), [*tasks[:1], job(2, 4, limit=20), *tasks[1:]]
    )
    assert [s.job for s in state.main(0)] == [0]
    state.end(0, 50)
    assert int(state.tables.job[2, ELIGIBLE]) == 50
    assert int(state.tables.job[1, ELIGIBLE]) == 0


def test_young_jobs_hold_no_reservation() -> None:
    running = [(job(1, 4, limit=100), 0, ["n1"])]
    waiting = [job(2, 8, limit=60), job(3, 4, limit=500)]
    aged = site(nodes=2, scheduler=settings(bf_min_age_reserve=10))
    assert started(state_with(aged, waiting, running), backfill=True) == {"3": ("n2",)}


def test_only_the_first_jobs_of_a_partition_hold_reservations() -> None:
    running = [(job(1, 4, limit=100), 0, ["n1"]), (job(2, 4, limit=300), 0, ["n2"])]
    waiting = [job(3, 8, limit=60, nodes="n[1-2]", min_nodes=2), job(4, 12, limit=60), job(5, 4, limit=1000)]
    every = site(nodes=3)
    first = site(nodes=3, scheduler=settings(bf_job_part_count_reserve=1))
    assert started(state_with(every, waiting, running), backfill=True) == {}
    assert started(state_with(first, waiting, running), backfill=True) == {"5": ("n3",)}


def test_how_many_jobs_of_a_user_are_looked_at() -> None:
    running = [(job(1, 4, limit=100), 0, ["n1"])]
    waiting = [job(2, 8, limit=60), job(3, 4, limit=10), job(4, 4, limit=10, user="ben")]
    one = site(nodes=2, scheduler=settings(bf_max_job_user=1))
    assert started(state_with(one, waiting, running), backfill=True) == {"4": ("n2",)}


def test_a_reservation_of_the_machine_keeps_longer_jobs_away() -> None:
    closed = SiteReservation("maint", 50, 100, nodes=("n1",), flags=("maint",), users=("root",))
    place = site(nodes=2, reservations=[closed])
    assert started(state_with(place, [job(1, 4, limit=60)])) == {"1": ("n2",)}
    assert started(state_with(place, [job(1, 4, limit=50)])) == {"1": ("n1",)}
    assert started(state_with(place, [job(1, 8, limit=60)])) == {}


def test_a_job_of_the_reservation_starts_in_it_alone() -> None:
    own = SiteReservation("course", 0, 100, nodes=("n2",), users=("ana",))
    place = site(nodes=2, reservations=[own])
    assert started(state_with(place, [job(1, 4, limit=60, reservation="course")])) == {"1": ("n2",)}


def test_a_drained_node_takes_no_job() -> None:
    state = state_with(site(nodes=2), [job(1, 4), job(2, 8)])
    state.set_node(0, False)
    assert started(state) == {"1": ("n2",)}


def test_an_array_keeps_its_limit_and_does_not_stop_others() -> None:
    tasks = [job(1, 1, array="1", task=k, array_limit=2) for k in range(1, 5)]
    state = state_with(site(nodes=2), [*tasks, job(2, 1)])
    assert len(started(state)) == 2  # tasks have one id here: two of them and the other job
    assert [state.state[k] for k in range(5)] == [2, 2, 1, 1, 2]
    assert state.reason(2) == "JobArrayTaskLimit"


@pytest.mark.parametrize(("most", "expected"), [(14, {}), (15, {"16": ("n2",)})])
def test_equal_rows_of_the_backfill_map_are_joined(most: int, expected: dict[str, tuple[str, ...]]) -> None:
    """Job 5 finds its place behind three jobs that follow one another, and counts as tested: Slurm joins their rows."""
    parts = [Partition("p", ("n1",)), Partition("q", ("n2",)), Partition("r", ("n3",))]
    place = site(nodes=3, parts=parts, scheduler=settings(bf_max_job_test=most))
    following = [job(k, 4, 100) for k in (2, 3, 4)] + [job(5, 4, 150)]
    too_large = [job(k, 100, partitions=("r",)) for k in range(6, 16)]
    waiting = [*following, *too_large, job(16, 4, partitions=("q",))]
    state = state_with(place, waiting, [(job(1, 4, 100), 0, ["n1"])])
    assert started(state, backfill=True) == expected
