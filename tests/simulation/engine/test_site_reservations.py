"""Reservations of a site hold under every dispatcher: maintenance, those of some jobs, repeated ones."""

from dataclasses import replace

import numpy as np
import pytest
import schedlab as sl
from schedlab.bench.replays.case import fitted
from schedlab.instances import Workload, WorkloadError
from schedlab.models import (
    Association,
    Dispatch,
    Job,
    Licence,
    NodeEvent,
    Partition,
    Queue,
    Site,
    SiteNode,
    SiteRequest,
    SiteReservation,
)
from schedlab.models.reservations import Reservation
from schedlab.simulation import OnDemandJob, Preemption, Switching, violations
from schedlab.simulation.features import reservations_of
from schedlab.simulation.features.site_reservations import reserved_nodes
from simulation.second_by_second import records

DISPATCHERS = ["fcfs", "easy", "easy++", "conservative", "plan@lns", "hcp3@cpsat", "dardis:balance", "slurm"]
NODES = ("n1", "n2")
DAY = 86_400


def site_with(*reservations, **fields):
    """Two nodes of four cores in one partition."""
    return Site(
        "s", [SiteNode(n, 4) for n in NODES], [Partition("p", NODES)], reservations=list(reservations), **fields
    )


def job(name, submit, walltime, units=4, runtime=None, reservation=""):
    """A job of units with a core each."""
    asked = SiteRequest(reservation=reservation)
    return Job(
        name, submit, walltime, units, {"cores": 1}, "p", runtime=walltime if runtime is None else runtime, asked=asked
    )


def replay(jobs, site, dispatcher="easy", **options):
    problem = Dispatch(site.platform(), jobs, [Queue("p", 60)])
    return sl.simulate(problem, dispatcher=dispatcher, site=site, **options)


def starts(run):
    return dict(zip(run.workload.ids, run.start.tolist(), strict=True))


def nodes_of(run, name):
    return {node for r in records(run) if r.job == name for node in r.nodes}


MAINTENANCE = SiteReservation("maint", 100, 50, ("n1",), flags=("maint",))


@pytest.mark.parametrize("dispatcher", DISPATCHERS)
def test_no_job_runs_into_maintenance_by_its_walltime(dispatcher):
    """Both jobs run 10 s; the second may take 200 s and only n2 is left for it."""
    jobs = [job("short", 0, 90, runtime=10), job("long", 20, 200, 4, 10), job("wide", 40, 61, 8, 10)]
    run = replay(jobs, site_with(MAINTENANCE), dispatcher)
    assert run.violations == []
    found = starts(run)
    assert found["short"] < 11 and found["long"] < 40
    assert nodes_of(run, "long") == {"n2"}
    assert 150 <= found["wide"] < 220


COURSE = SiteReservation("course", 100, 50, ("n1",), users=("ana",))


@pytest.mark.parametrize("dispatcher", DISPATCHERS)
def test_jobs_of_a_reservation_start_in_it_and_on_its_nodes_alone(dispatcher):
    """Two of three that ask for it fit together; others keep out of it."""
    inside = [job(f"in{k}", k, 20, 2, reservation="course") for k in range(3)]
    jobs = [*inside, job("other", 3, 120, 4, 30), job("late", 90, 30, 4)]
    run = replay(jobs, site_with(COURSE), dispatcher)
    assert run.violations == []
    found = starts(run)
    assert [found[f"in{k}"] for k in range(3)] == [100, 100, 120]
    assert all(nodes_of(run, f"in{k}") == {"n1"} for k in range(3))
    assert all(nodes_of(run, name) == {"n2"} or found[name] >= 150 for name in ("other", "late"))


@pytest.mark.parametrize("dispatcher", ["easy", "conservative", "hcp3@cpsat", "slurm"])
def test_a_job_that_has_missed_its_reservation_waits_as_others_do(dispatcher):
    """It needs both nodes, and the reservation has one."""
    run = replay([job("in", 0, 20, 8, reservation="course"), job("a", 0, 30)], site_with(COURSE), dispatcher)
    assert run.violations == []
    assert 150 <= starts(run)["in"] < 220


@pytest.mark.parametrize("dispatcher", ["easy", "fcfs", "plan@lns", "slurm"])
def test_repeated_reservations_hold_each_time(dispatcher):
    """From 10:00 to 11:00 of each day, or of working days; a job runs in the first one that ends after its submission."""
    at_ten, hour = 10 * 3600, 3600
    daily = SiteReservation("daily", at_ten, hour, NODES, flags=("daily",))
    jobs = [
        job("long", at_ten + hour - 10, 23 * hour, 8, 60),  # it fits between two
        job("before", at_ten + DAY - 50, 51, 8),  # not before the second one
        job("in", at_ten + DAY + 5 * hour, 600, 4, reservation="daily"),
    ]
    run = replay(jobs, site_with(daily), dispatcher)
    assert run.violations == []
    found = starts(run)
    assert at_ten + hour <= found["long"] <= at_ten + hour + 60
    assert at_ten + DAY + hour <= found["before"] <= at_ten + DAY + hour + 60
    assert at_ten + 2 * DAY <= found["in"] <= at_ten + 2 * DAY + 60


def test_weeks_have_working_days_and_weekends():
    """Second 0 is a Thursday; each has three days of which the first is a Friday."""
    work = Workload.of(Dispatch(site_with().platform(), [job("a", 0, 1)], [Queue("p", 60)]))

    def days(flag):
        site = site_with(SiteReservation("r", DAY, 100, ("n1",), flags=(flag,)))
        (reserved,) = reserved_nodes(site, work, site.platform())
        return [start // DAY for start, _ in reserved.times(0, 12 * DAY)]

    assert days("weekday") == [1, 4, 5, 6, 7, 8, 11]
    assert days("weekend") == [2, 3, 9, 10]
    assert days("weekly") == [1, 8]
    assert days("daily") == list(range(1, 12))


def test_times_of_a_site_are_unix_times():
    work = Workload.of(Dispatch(site_with().platform(), [job("a", 60, 41, 8)], [Queue("p", 60)]))
    site = site_with(replace(MAINTENANCE, start=1_000_100))
    run = sl.simulate(replace(work, unix_start=1_000_000), dispatcher="easy", site=site)
    assert run.start.tolist() == [150] and run.violations == []


@pytest.mark.parametrize(
    "reservation",
    [
        SiteReservation("r", 100, 50, partition="p"),
        SiteReservation("r", 100, 50),
        SiteReservation("r", 100, 50, NODES, core_count=4),
    ],
)
def test_a_reservation_holds_whole_nodes_and_without_nodes_all_of_its_partition(reservation):
    run = replay([job("a", 60, 41)], site_with(reservation))
    assert run.start.tolist() == [150]


@pytest.mark.parametrize("fields", [{"node_count": 1}, {"features": ("ib",)}, {"licences": {"tool": 1}}])
def test_a_reservation_of_nodes_that_nobody_knows_holds_none(fields):
    site = site_with(SiteReservation("r", 100, 50, **fields), licences=[Licence("tool", 2)])
    run = replay([job("a", 60, 41), job("in", 60, 41, reservation="r")], site)
    assert run.start.tolist() == [60, 60]


@pytest.mark.parametrize("dispatcher", DISPATCHERS[:-1])
def test_a_job_past_its_limit_stays_and_the_reservation_has_the_rest(dispatcher):
    """``over`` may run to 90, and runs to 120; nothing else starts on n1 before 150."""
    jobs = [job("over", 0, 90, 2, 120), job("wide", 5, 300, 6, 20), job("thin", 95, 20, 4), job("next", 96, 20, 4)]
    run = replay(jobs, site_with(MAINTENANCE), dispatcher)
    assert run.violations == []
    found = starts(run)
    assert found["wide"] >= 150
    assert all(nodes_of(run, name) == {"n2"} for name in ("thin", "next") if found[name] < 150)


def test_overlapping_reservations_hold_each_node_once_and_flex_and_maint_have_their_meaning():
    """``course`` is overlapped by maintenance from 120 on; its job of 30 s would run into it, one with MAINT heeds none."""
    over = SiteReservation("maint", 120, 50, NODES, flags=("maint",))
    jobs = [
        job("in", 0, 30, reservation="course"),
        job("fixes", 0, 10, reservation="maint"),
        job("short", 1, 20, 1, reservation="course"),
    ]
    found = starts(replay(jobs, site_with(COURSE, over)))
    assert found["short"] == 100 and found["fixes"] == 120
    assert found["in"] == 170
    early = starts(replay(jobs, site_with(replace(COURSE, flags=("flex",)), over)))
    assert early["in"] == 0 and early["short"] == 30


@pytest.mark.parametrize(
    "options", [{}, {"period": 7}, {"charge_decisions": True}, {"allocator": "best-fit"}, {"users": "be"}]
)
@pytest.mark.parametrize("dispatcher", ["easy", "conservative", "hcp3@cpsat"])
def test_reservations_go_with_other_features(dispatcher, options):
    """Beside an outage, a reservation with a queue of its own, dependencies, and jobs that run at the begin."""
    jobs = [job(f"j{k}", 7 * k, 20 + 3 * k, 1 + k % 6, 15 + 2 * k) for k in range(20)]
    jobs += [job(f"in{k}", 5 * k, 10 + k, 1 + k, reservation="course") for k in range(5)]
    events = [NodeEvent(105, "node-down", ["n1"]), NodeEvent(130, "node-up", ["n1"])]
    booked = [] if "users" in options else [Reservation("own", "mine", 200, 60, 1, {"cores": 2}, submitted=20)]
    problem = Dispatch(
        site_with().platform(),
        [*jobs, replace(job("own", 30, 20, 1), queue="mine")],
        [Queue("p", 60), Queue("mine", 60)],
    )
    site = site_with(COURSE, replace(MAINTENANCE, start=220, nodes=("n2",)))
    run = sl.simulate(problem, dispatcher=dispatcher, site=site, events=events, reservations=booked, **options)
    assert run.violations == []
    assert (run.start >= 0).sum() >= 25


def test_the_verification_finds_what_a_replay_without_reservations_does():
    jobs = [job("a", 60, 41), job("in", 0, 10, reservation="course"), job("b", 140, 5)]
    site = site_with(COURSE)
    run = replay(jobs, site_with(replace(COURSE, start=0)))
    told = violations(run, reserved_of=reservations_of(site))
    assert [v.constraint for v in told] == ["in", "a"] or [v.constraint for v in told] == ["in", "a", "b"]
    assert "before its reservation 'course', which begins at 100" in told[0].message
    assert (
        "could run until 101 (its walltime) into reservation 'course' of node 'n1' from 100 to 150" in told[1].message
    )


class LongRequests:
    """Users who ask for three days."""

    name = "three days"

    def begin(self, workload):
        """Remember nothing."""

    def request(self, now, jobs, start):
        return np.full(jobs.size, 3 * DAY)


@pytest.mark.parametrize("dispatcher", ["easy", "conservative"])
def test_walltimes_that_users_choose_keep_out_of_later_reservations(dispatcher):
    """The log has walltimes of 100 s; with three days, only n2 is left before the third day."""
    site = site_with(SiteReservation("r", 3 * DAY, 600, ("n1",), flags=("weekly",)))
    jobs = [job("a", DAY, 100, 4), job("b", DAY + 1, 100, 4)]
    run = replay(jobs, site, dispatcher, users=LongRequests())
    assert run.violations == [] and run.workload.walltime.tolist() == [3 * DAY, 3 * DAY]
    assert nodes_of(run, "a") == nodes_of(run, "b") == {"n2"} and run.start.tolist() == [DAY, DAY + 100]


def test_an_on_demand_job_before_all_others_keeps_out_of_a_reservation():
    """It comes at 60, may run to 120, and needs both nodes; the first job of the log comes after the reservation."""
    whole = Job("a", 200, 10, 1, {"cores": 3}, "p", runtime=10)
    urgent = Preemption([OnDemandJob("urgent", 60, 2, 0, 60)], "kill", "none")
    run = sl.simulate(
        Dispatch(site_with().platform(), [whole], [Queue("p", 60)]), dispatcher="easy", site=site_with(MAINTENANCE), preemption=urgent
    )  # fmt: skip
    assert run.violations == [] and starts(run) == {"a": 210, "urgent": 150}


@pytest.mark.parametrize("dispatcher", ["easy", "dardis:balance"])
def test_jobs_of_a_reservation_start_on_nodes_that_are_on(dispatcher):
    jobs = [job(f"j{k}", 9 * k, 20, 1 + k % 4, 10) for k in range(12)]
    jobs += [job(f"in{k}", k, 15, 2, reservation="course") for k in range(3)]
    run = replay(
        jobs, site_with(COURSE), dispatcher, node_policy="idle:5s", switching=Switching(boot=3, shut_down=2, min_off=4)
    )
    assert run.violations == [] and (run.start >= 0).all()


OF_EVA = SiteReservation("course", 100, 50, ("n1",), users=("eva", "ben"), accounts=("chem",))


@pytest.mark.parametrize("dispatcher", ["fcfs", "easy", "slurm"])
def test_jobs_are_refused_that_ask_for_a_reservation_which_is_none_or_not_for_them(dispatcher):
    """As Slurm does at the submission, with the reason; others go on."""
    tree = [Association("root"), Association("chem", parent="root"), Association("lab", parent="chem")]
    asked = {
        "unknown": ("eva", "chem", "curse"),
        "stranger": ("ana", "chem", "course"),
        "elsewhere": ("eva", "bio", "course"),
        "below": ("ben", "lab", "course"),
        "one of two": ("eva", "chem", "course,late"),
        "one unknown": ("eva", "chem", "course,curse"),
        "plain": ("ana", "bio", ""),
    }
    jobs = [
        replace(job(name, k, 20, 1), user=user, asked=SiteRequest(account=account, reservation=inside))
        for k, (name, (user, account, inside)) in enumerate(asked.items())
    ]
    late = SiteReservation("late", 1000, 50, ("n2",))
    run = replay(jobs, site_with(OF_EVA, late, associations=tree), dispatcher)
    assert run.violations == []
    found = starts(run)
    assert set(found) == {"below", "one of two", "plain"}
    assert 100 <= found["below"] < 150 and 100 <= found["one of two"] < 150 and found["plain"] < 50
    assert dict(run.workload.report.dropped) == {
        "unknown": "never starts: the site has no reservation 'curse'",
        "stranger": "never starts: the reservation 'course' is not for user ana",
        "elsewhere": "never starts: the reservation 'course' is not for account bio",
        "one unknown": "never starts: the site has no reservation 'curse'",
    }


def test_a_log_whose_jobs_ask_for_a_reservation_that_the_site_lacks_tells_it():
    known = Workload.of(
        Dispatch(
            site_with().platform(), [job("a", 0, 20, 1), job("b", 1, 20, 1, reservation="curse")], [Queue("p", 60)]
        )
    )
    kept = fitted(known, site_with(OF_EVA))
    assert kept.report.dropped == (("b", "the site has no reservation 'curse'"),)
    assert fitted(known, site_with(OF_EVA), in_place=True).ids == ("a", "b")  # it held its nodes
    with pytest.raises(WorkloadError, match=r"the site has no reservation 'curse' \(1 job: b; did you mean course"):
        fitted(known, site_with(OF_EVA), "stop")
