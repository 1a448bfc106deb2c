"""Replays under DARDIS, checked second by second by a book of all reservations that shares no code with it."""

import random
from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest
import schedlab as sl
from schedlab.instances import WorkloadError
from schedlab.models import Dispatch, Job, NodeEvent, NodeGroup, Platform, Queue
from schedlab.models.profiles import Wish, flat, power_cap, profile_of
from schedlab.simulation import Dardis
from schedlab.simulation.dispatchers.dardis import SETUPS, Extend, NodeManagers, Release
from schedlab.simulation.dispatchers.dardis.transport import InProcess

THREE = ("throughput", "profile", "balance")


class Book(InProcess):
    """A transport that keeps all reservations as {job: (start, end, {node: units}, request)} and checks each new one.

    ``kept``: job -> whether its last reservation kept to the desired profile when it was made.
    """

    def __init__(self, managers, capacity, desired):
        super().__init__(managers)
        self.capacity, self.desired, self.jobs, self.kept, self.extended = capacity, desired, {}, {}, False

    def used(self):
        total = defaultdict(int)
        for start, end, on, request in self.jobs.values():
            for s in range(start, end):
                for n, units in on.items():
                    for r, amount in enumerate(request):
                        total[s, n, r] += units * amount
        return total

    def confirm(self, placement):
        on = dict(zip(placement.nodes.tolist(), placement.units.tolist(), strict=True))
        entry = placement.start, placement.end, on, placement.request.tolist()
        self.jobs[placement.job] = entry
        used, kept = self.used(), True
        for s in range(placement.start, placement.end):
            for n in on:
                for r, amount in enumerate(placement.request):
                    if amount:
                        if not self.extended:  # else other jobs may be too many, but not this one
                            assert used[s, n, r] <= self.capacity[n, r], (placement, s)
                        kept = kept and used[s, n, r] <= self.desired(n, r, s)
        self.kept[placement.job] = kept
        return super().confirm(placement)

    def post(self, event):
        if isinstance(event, Release) and event.job in self.jobs:
            start, end, on, request = self.jobs.pop(event.job)
            if start < min(end, event.now):
                self.jobs[event.job + "'"] = start, min(end, event.now), on, request
        if isinstance(event, Extend):
            start, _, on, request = self.jobs[event.job]
            self.jobs[event.job], self.extended = (start, event.end, on, request), True
        return super().post(event)


def replay(day, setup, desired=None, parts=1, **options):
    """The simulation, the dispatcher and the book."""
    books = []

    def connect(capacity, generator, limits):
        def own(begin, end):
            part = None if limits is None else limits._replace(curve=limits.curve[begin:end])
            return NodeManagers(capacity[begin:end], generator, part, begin)

        edges = [k * len(capacity) // parts for k in range(parts + 1)]
        managers = [own(a, b) for a, b in pairwise(edges) if a < b]
        groups = [g.name for g in day.platform.groups for _ in g.nodes]
        resources = day.platform.resources

        def wished(n, r, s):
            return np.inf if desired is None else desired.amount(groups[n], resources[r], s)

        books.append(Book(managers, capacity, wished))
        return books[0]

    dispatcher = Dardis(
        setup, desired, connect=connect, **{k: options.pop(k) for k in ("depth", "one_per_node") if k in options}
    )
    run = sl.simulate(day, dispatcher=dispatcher, **options)
    assert run.violations == [] and (run.start >= 0).all()
    return run, dispatcher, books[0]


def job(name, submit=0, runtime=10, units=1, walltime=None, cores=1, latest=None):
    return Job(name, submit, walltime or runtime, units, {"cores": cores}, "q", runtime=runtime, latest_start=latest)


def day(*jobs, nodes=2, cores=1, ewt=50):
    return Dispatch(
        Platform([NodeGroup("n", nodes, {"cores": cores})]), jobs, (Queue("q", ewt),), "waiting", durations="runtime"
    )


def random_day(seed, overruns=False):
    rng = random.Random(seed)
    groups = [NodeGroup(g, rng.randint(1, 3), {"cores": rng.randint(2, 5), "gpus": rng.choice([0, 2])}) for g in "ab"]
    jobs = []
    for k in range(rng.randint(3, 12)):
        request = {"cores": rng.randint(0, 2), "gpus": rng.choice([0, 0, 0, min(1, groups[0].capacity["gpus"])])}
        fits = [min([g.capacity[r] // q for r, q in request.items() if q] or [5]) * g.count for g in groups]
        walltime, submit = rng.randint(1, 25), rng.randint(0, 40)
        runtime = rng.randint(1, walltime + (15 if overruns else 0))
        latest = submit + rng.randint(0, 40) if rng.random() < 0.7 else None
        units = rng.randint(1, max(1, min(4, sum(fits))))
        jobs.append(Job(f"j{k}", submit, walltime, units, request, "q", runtime=runtime, latest_start=latest))
    return Dispatch(Platform(groups), jobs, (Queue("q", 30),), "waiting", durations="runtime")


def wished(platform, seed):
    rng = random.Random(f"profile {seed}")
    period = rng.choice([None, 60])
    times = sorted({0, *(rng.randint(1, 59) for _ in range(2))})
    rows = [
        Wish(t, "cores", share=rng.choice([0.0, 0.4, 0.5, 0.8, 1.0]), nodes=g.name)
        for g in platform.groups
        for t in times
    ]
    return profile_of(platform, rows, period)


@pytest.mark.parametrize("setup", THREE)
def test_reservations_keep_to_capacity_profile_and_latest_starts_or_their_attempt_tells(setup):
    seen = defaultdict(int)
    for seed in range(60):
        problem = random_day(seed, overruns=seed % 3 == 0)
        run, dispatcher, book = replay(problem, setup, wished(problem.platform, seed), seed=seed)
        for k, name in enumerate(run.workload.ids):
            attempt = dispatcher.attempts[name]
            data = next(j for j in problem.jobs if j.id == name)
            latest = data.submit + 30 if data.latest_start is None else data.latest_start
            late = run.start[k] > latest
            if late or setup != "throughput":  # backfilling can bring a job forward that was planned too late
                assert late == attempt.startswith(("later", "last")) or run.start[k] == latest, (seed, name, attempt)
            if "no profile" not in attempt:
                assert book.kept[name], (seed, name, attempt)
            seen[attempt] += 1
        if not book.extended and not any("no profile" in a for a in dispatcher.attempts.values()):
            seen["never beyond the profile"] += 1
    assert (
        seen["window"] > 50
        and seen["window, no profile"] > 20
        and any(a.startswith(("later", "last")) for a in seen)
        and seen["never beyond the profile"]
    )


@pytest.mark.parametrize("setup", SETUPS)
def test_a_profile_at_capacity_changes_no_start(setup):
    for seed in range(8):
        problem = random_day(seed, overruns=seed % 2 == 0)
        every = flat(problem.platform, 1.0, [r for r in problem.platform.resources if problem.platform.total(r)])
        plain, _, _ = replay(problem, setup, seed=seed)
        soft, dispatcher, _ = replay(problem, setup, every, seed=seed)
        assert soft.start.tolist() == plain.start.tolist() and soft.schedule() == plain.schedule()
        assert not any("no profile" in attempt for attempt in dispatcher.attempts.values())


def test_a_job_that_is_planned_anew_and_starts_at_once_is_not_planned_twice():
    problem = random_day(51, overruns=True)  # job j8 is displaced by an overrun, and starts at 48
    run, _, book = replay(problem, "profile", wished(problem.platform, 51), seed=51)
    assert book.extended and len(run.start) == 11


@pytest.mark.parametrize("setup", THREE)
def test_starts_do_not_depend_on_the_number_of_processes(setup):
    for seed in range(8):
        problem = random_day(seed, overruns=True)
        one, _, _ = replay(problem, setup, seed=seed)
        many, _, _ = replay(problem, setup, parts=3, seed=seed)
        assert one.schedule() == many.schedule()


def starts(run):
    return dict(zip(run.workload.ids, run.start.tolist(), strict=True))


def test_two_jobs_share_the_machine_and_a_third_follows():
    run, dispatcher, _ = replay(day(job("a"), job("b"), job("c", latest=5)), "throughput")
    assert starts(run) == {"a": 0, "b": 0, "c": 10}
    assert dispatcher.attempts == {"a": "window", "b": "window", "c": "later 1"}


def test_an_early_end_brings_the_next_job_forward_only_with_backfilling():
    jobs = (job("a", runtime=4, walltime=30), job("b", runtime=30), job("c", submit=1, units=1))
    assert starts(replay(day(*jobs), "throughput")[0])["c"] == 4
    assert starts(replay(day(*jobs), "first/min-start")[0])["c"] == 30
    assert starts(replay(day(*jobs), "throughput", depth=0)[0])["c"] == 30


def test_backfilling_reaches_as_many_jobs_as_the_depth():
    jobs = [job("a", runtime=4, walltime=40), *(job(f"j{k}", submit=1 + k, runtime=10) for k in range(3))]
    for depth in (1, 2, 3):
        run, _, book = replay(day(*jobs, nodes=1, ewt=100), "throughput", depth=depth)
        assert starts(run)["j0"] == 4
        assert starts(run) == {"a": 0, "j0": 4, "j1": 14, "j2": 24}  # ends of j0 and j1 bring the next ones forward
        assert not book.extended


def test_a_job_that_runs_longer_than_its_walltime_delays_the_next_one_by_steps_that_double():
    jobs = (job("a", runtime=200, walltime=10), job("b", submit=1, runtime=10))
    run, dispatcher, _ = replay(day(*jobs, nodes=1), "throughput")
    assert starts(run) == {"a": 0, "b": 200}  # 10, 70, 190, then backfilling at the end of a
    assert starts(replay(day(*jobs, nodes=1), "first/min-start")[0]) == {"a": 0, "b": 10 + 60 + 120 + 240}
    assert dispatcher.attempts["b"] != "window"
    killed, _, book = replay(day(*jobs, nodes=1), "throughput", kill_at_walltime=True)
    assert starts(killed) == {"a": 0, "b": 10} and not book.extended


def test_the_latest_start_is_more_important_than_the_profile():
    half = day(job("a", cores=2, runtime=20), job("b", submit=1, cores=2, latest=15), nodes=1, cores=4)
    run, dispatcher, _ = replay(half, "throughput", flat(half.platform, 0.5))
    assert starts(run) == {"a": 0, "b": 1} and dispatcher.attempts["b"] == "window, no profile"
    patient = day(job("a", cores=2, runtime=20), job("b", submit=1, cores=2, latest=25), nodes=1, cores=4)
    run, dispatcher, _ = replay(patient, "throughput", flat(patient.platform, 0.5))
    assert starts(run) == {"a": 0, "b": 20} and dispatcher.attempts["b"] == "window"


def test_one_unit_per_node_if_asked():
    wide = day(job("a", units=2), cores=4)
    assert replay(wide, "throughput")[0].schedule().nodes["a"] == {"n-1": 2}
    assert replay(wide, "throughput", one_per_node=True)[0].schedule().nodes["a"] == {"n-1": 1, "n-2": 1}
    assert replay(wide, "balance")[0].schedule().nodes["a"] == {"n-1": 1, "n-2": 1}


def test_jobs_planned_on_a_node_that_goes_down_are_planned_anew():
    jobs = (job("a", runtime=20), job("b", runtime=20), job("c", submit=1), job("d", submit=1, units=1))
    outage = [NodeEvent(5, "node-down", ["n-2"]), NodeEvent(100, "node-up", ["n-2"])]
    run, _, _ = replay(day(*jobs), "throughput", events=outage)
    assert set(run.schedule().nodes["c"]) == set(run.schedule().nodes["d"]) == {"n-1"}
    assert max(starts(run).values()) <= 60


def test_a_job_that_no_node_takes_now_waits_for_the_node_that_comes_back():
    outage = [NodeEvent(-1, "node-down", ["n-1"]), NodeEvent(500, "node-up", ["n-1"])]
    run, dispatcher, _ = replay(day(job("a", latest=30), nodes=1), "balance", events=outage)
    assert starts(run)["a"] >= 500 and dispatcher.attempts["a"] != "window"


def test_what_dardis_does_not_take_is_refused():
    problem = day(job("a"))
    with pytest.raises(sl.SchedlabError, match="power of the whole machine"):
        sl.simulate(problem, dispatcher=Dardis("profile", power_cap(problem.platform, 100.0)))
    mixed = problem.replace(jobs=[Job.of_chunks("h", 0, 5, [(1, {"cores": 1}), (1, {"cores": 0})], "q", runtime=5)])
    with pytest.raises(WorkloadError, match="several chunks"):
        sl.simulate(mixed, dispatcher="dardis:balance")
    with pytest.raises(ValueError, match="setup is 'fast'"):
        Dardis("fast")
    with pytest.raises(ValueError, match="depth is -1"):
        Dardis(depth=-1)
    with pytest.raises(sl.SchedlabError, match="dardis:uniform"):
        sl.simulate(problem, dispatcher="dardis:uniform/min-strat")


@pytest.mark.parametrize("setup", SETUPS)
def test_all_names_are_dispatchers(setup):
    eurora = sl.load("eurora_99").dispatch
    first = eurora.replace(jobs=eurora.jobs[:15])
    run = sl.simulate(first, dispatcher=f"dardis:{setup}")
    assert run.violations == [] and (run.start >= 0).all()
    assert sl.simulate(first, dispatcher=f"dardis:{setup}").schedule() == run.schedule()
