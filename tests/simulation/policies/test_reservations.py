"""Reservations of backfilling are where calendars allow starts: compared with a slow simulator in plain Python."""

import random
from dataclasses import replace

import pytest
from schedlab.instances import Workload
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue
from schedlab.simulation import POLICIES, Policy, simulate

DAY = 86400
FAR = 10**7
HOURS = ((40, 90), (200, 230), (80000, DAY + 20))
QUEUES = [Queue("any", 60), Queue("hours", 60, HOURS)]
DEPTHS = {"easy": 1, "two": 2, "pbs-fifo": 10, "conservative": 10**9}


def policy(name):
    return POLICIES.get(name) or Policy(name, reservations=DEPTHS[name])


def machine(processors):
    return Platform([NodeGroup("n", processors, {"cores": 1})])


def jobs_of(seed, exact, n=24, processors=6):
    """Draw small jobs, many with own windows, a queue with daily windows, or both."""
    rng = random.Random(seed)
    found = []
    for k in range(n):
        submit, runtime = rng.randint(0, 300), rng.randint(1, 60)
        windows = ()
        if rng.random() < 0.5:
            lo = submit + rng.randint(-20, 40)
            later = lo + rng.randint(40, 300)
            windows = ((lo, lo + rng.randint(0, 30)), (later, FAR if rng.random() < 0.7 else later + 2 * DAY))
        walltime = runtime if exact else runtime + rng.randint(0, 40)
        queue = rng.choice(["any", "any", "hours"])
        found.append(
            Job(
                f"j{k}",
                submit,
                walltime,
                rng.randint(1, processors),
                {"cores": 1},
                queue,
                windows=windows,
                runtime=runtime,
            )
        )
    return sorted(found, key=lambda j: j.submit)


class Textbook:
    """One replay that computes everything again from lists at every event; ``start`` and ``promised`` are by job id."""

    def __init__(self, jobs, processors, depth):
        self.jobs, self.processors, self.depth = jobs, processors, depth
        self.now, self.waiting, self.running = -1, [], {}
        self.start, self.promised, self.reserved = {}, {}, {}

    def allowed(self, job, t):
        daily = HOURS if job.queue == "hours" else ()
        second = t % DAY
        return (not job.windows or any(lo <= t <= hi for lo, hi in job.windows)) and (
            not daily or any(lo <= second <= hi or lo <= second + DAY <= hi for lo, hi in daily)
        )

    def openings(self, job):
        """Return the times of the next three days at which a calendar of the job opens."""
        day = self.now // DAY
        found = [lo for lo, _ in job.windows]
        if job.queue == "hours":
            found += [d * DAY + lo for d in range(day - 1, day + 4) for lo, _ in HOURS]
        return [t for t in found if t > self.now]

    def fits(self, job, t, taken):
        """Return whether the job fits in [t, t + walltime) beside ``taken``, a list of (begin, end, processors)."""
        end = t + job.walltime
        points = [t, *(begin for begin, _, _ in taken if t < begin < end)]
        return all(
            sum(p for begin, until, p in taken if begin <= at < until) + job.units <= self.processors for at in points
        )

    def taken(self, *without):
        running = [(s, s + j.walltime, j.units) for j, s in self.running.values()]
        held = [j for j in self.waiting if j.id in self.reserved and j.id not in without]
        return running + [(self.reserved[j.id], self.reserved[j.id] + j.walltime, j.units) for j in held]

    def earliest(self, job, taken):
        """Return the first time at which the calendars are open and the job fits; None if there is none."""
        moments = {self.now, *(end for _, end, _ in taken if end > self.now), *self.openings(job)}
        return next((t for t in sorted(moments) if self.allowed(job, t) and self.fits(job, t, taken)), None)

    def run(self):
        left = list(self.jobs)
        while left or self.waiting or self.running:
            events = [j.submit for j in left[:1]] + [s + j.runtime for j, s in self.running.values()]
            events += [t for j in self.waiting for t in self.openings(j)] + [
                t for t in self.reserved.values() if t > self.now
            ]
            self.now = min(events)
            over = [j for j, s in self.running.values() if s + j.runtime <= self.now]
            early = any(j.runtime < j.walltime for j in over)
            for j in over:
                del self.running[j.id]
            while left and left[0].submit <= self.now:
                self.waiting.append(left.pop(0))
            if self.depth == 1:
                self.one_reservation()
            else:
                self.reservations(early)
        return self

    def begin(self, job):
        self.start[job.id] = self.now
        self.reserved.pop(job.id, None)
        self.running[job.id] = (job, self.now)
        self.waiting.remove(job)

    def reservations(self, moving):
        held = 0
        for job in list(self.waiting):
            full = held >= self.depth
            if moving or full:
                self.reserved.pop(job.id, None)
            if job.id not in self.reserved:
                taken = self.taken(job.id)
                at = self.earliest(job, taken)
                if at is None or (full and at > self.now):
                    continue
                self.reserved[job.id] = at
            self.promised.setdefault(job.id, self.reserved[job.id])
            if self.reserved[job.id] == self.now:
                self.begin(job)
            else:
                held += 1

    def one_reservation(self):
        """Start jobs as EASY: the first that cannot start is the head, others start if they do not delay it."""
        head = shadow = None
        for job in list(self.waiting):
            now = self.allowed(job, self.now) and self.fits(job, self.now, self.taken())
            if now and head is not None:
                beside = [*self.taken(), (self.now, self.now + job.walltime, job.units)]
                now = self.earliest(head, beside) == shadow
            if now:
                self.begin(job)
            elif head is None:
                shadow = self.earliest(job, self.taken())
                if shadow is not None:
                    head = job
                    self.promised.setdefault(job.id, shadow)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("name", DEPTHS)
def test_starts_and_reservations_are_those_of_the_textbook(name, exact):
    for seed in range(25):
        jobs = jobs_of(seed, exact)
        found = simulate(Dispatch(machine(6), jobs, QUEUES), dispatcher=policy(name))
        known = Textbook(jobs, 6, DEPTHS[name]).run()
        assert found.violations == []
        assert dict(zip(found.workload.ids, found.start.tolist(), strict=True)) == known.start, seed
        if name != "easy":  # EASY does not record reservations
            first = {i: t for i, t in zip(found.workload.ids, found.first_reserved.tolist(), strict=True) if t >= 0}
            assert first == known.promised


@pytest.mark.parametrize("name", DEPTHS)
def test_with_exact_runtimes_no_job_starts_later_than_its_first_reservation(name):
    """First come, first served; EASY records no reservations, so those of the simple simulator are used."""
    waited = 0
    for seed in range(100, 125):
        jobs = jobs_of(seed, exact=True)
        found = simulate(Dispatch(machine(6), jobs, QUEUES), dispatcher=policy(name))
        promised = dict(zip(found.workload.ids, found.first_reserved.tolist(), strict=True))
        if name == "easy":
            promised.update(Textbook(jobs, 6, 1).run().promised)
        for job, start in zip(found.workload.ids, found.start.tolist(), strict=True):
            if promised[job] >= 0:
                assert start <= promised[job], (seed, job)
        waited += int((found.start > found.workload.submit).sum())
    assert waited > 50


@pytest.mark.parametrize("name", ["two", "pbs-fifo", "conservative"])
def test_reservations_on_certain_nodes_are_kept(name):
    """Different nodes, two resources: each reservation has its nodes."""
    platform = Platform([NodeGroup("a", 3, {"cores": 4, "gpus": 1}), NodeGroup("b", 2, {"cores": 6, "gpus": 0})])
    for seed in range(25):
        rng = random.Random(seed)
        jobs = [
            Job(
                j.id, j.submit, j.walltime, rng.randint(1, 3), {"cores": rng.randint(1, 4), "gpus": (rng.random() < 0.3 and 1) or 0},
                j.queue, windows=j.windows, runtime=j.runtime,
            )
            for j in jobs_of(seed, exact=True, n=40)
        ]  # fmt: skip
        found = simulate(Dispatch(platform, jobs, QUEUES), dispatcher=policy(name))
        assert found.violations == []
        promised = found.first_reserved >= 0
        assert (found.start[promised] <= found.first_reserved[promised]).all(), seed


@pytest.mark.parametrize(("name", "starts"), [("conservative", [0, 100, 110]), ("easy", [0, 100, 110])])
def test_a_void_reservation_idles_nothing(name, starts):
    """Job w may start up to 5 and from 100 on. The processor is free at 20, so its reservation is at 100."""
    jobs = [
        Job("a", 0, 20, 1, {"cores": 1}, "any", runtime=20),
        Job("w", 0, 10, 1, {"cores": 1}, "any", windows=((0, 5), (100, 10**6)), runtime=10),
        Job("b", 1, 85, 1, {"cores": 1}, "any", runtime=85),
        Job("c", 1, 80, 1, {"cores": 1}, "any", runtime=80),
    ]
    found = simulate(Dispatch(machine(1), jobs, QUEUES), dispatcher=name)
    assert found.start.tolist() == [*starts, 20]  # c ends just before w


def test_a_job_whose_windows_never_open_again_holds_nothing():
    """Its last window passes while the machine is full: the next job is the head, and the first delays none."""
    jobs = [
        Job("a", 0, 50, 1, {"cores": 1}, "any", runtime=5),
        Job("w", 0, 10, 2, {"cores": 1}, "any", windows=((0, 20),), runtime=10),
        Job("b", 1, 10, 2, {"cores": 1}, "any", runtime=10),
        Job("c", 1, 60, 1, {"cores": 1}, "any", runtime=60),
    ]
    for name in DEPTHS:
        found = simulate(Dispatch(machine(2), jobs, QUEUES), dispatcher=policy(name))
        assert found.start.tolist() == [0, 5, 15, 25]  # a ends early, so w still finds its window


def test_workloads_take_windows_unchecked():
    """A window that ends before it begins never opens; the other windows of the job count."""
    jobs = [Job("a", 0, 5, 1, {"cores": 1}, "hours", runtime=5)]
    w = Workload.of(Dispatch(machine(1), jobs, QUEUES))
    for name in DEPTHS:
        assert simulate(replace(w, windows={0: ((7, 3), (60, 70))}), machine(1), policy(name)).start.tolist() == [60]
