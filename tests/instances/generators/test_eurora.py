"""The generated days of Eurora: the shares of [Bridi2018, 4.5.2], repairs, reproducible files, and a replay."""

import heapq
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from schedlab.instances import generators, load, write
from schedlab.instances.generators.eurora import PROFILES, platform
from schedlab.models import Dispatch, Job
from schedlab.models.dispatch import impossible

DAY = 86400  # seconds

NODES = {"eurora_99": (99, 4), "eurora_330": (330, 65), "eurora_700": (700, 65)}
Free = dict[str, list[int]]
Nodes = dict[str, int]
Run = tuple[int, int, Job, Nodes]  # end, expected end, job, nodes


@pytest.mark.parametrize("name", NODES)
def test_the_shipped_days_are_generated_again_byte_for_byte(name: str, tmp_path: Path) -> None:
    jobs, nodes = NODES[name]
    shipped = load(name)
    write(generators["eurora"](jobs=jobs, seed=7, nodes=nodes), tmp_path)
    for file in ("instance.toml", "jobs.csv"):
        assert (tmp_path / file).read_bytes() == (Path(str(shipped.path)) / file).read_bytes()
    assert (len(shipped.jobs), len(shipped.platform.nodes)) == (jobs, nodes)


def test_seeds_give_different_days() -> None:
    generate = generators["eurora"]
    assert generate(50, 1).problem == generate(50, 1).problem != generate(50, 2).problem


@pytest.mark.parametrize("seed", [1, 2])
def test_shares_are_exact_on_a_thousand_jobs(seed: int) -> None:
    instance = generators["eurora"](1000, seed)
    jobs = instance.jobs
    assert Counter(j.queue for j in jobs) == {"debug": 270, "parallel": 720, "np_longpar": 10}
    assert sum(8 * 3600 <= j.submit < 18 * 3600 for j in jobs) == 890
    assert sum(j.runtime == j.walltime for j in jobs) == 200
    for profile in PROFILES:
        mine = [j for j in jobs if j.queue == profile.queue.name]
        for resource, shares in (("gpus", profile.gpus), ("memory", {m * 1024: s for m, s in profile.memory.items()})):
            found = Counter(j.request[resource] for j in mine)
            assert all(abs(found[v] - len(mine) * s / 100) < 1 for v, s in shares.items())
        with_mics = sum(s for v, s in profile.mics.items() if v) * len(mine) / 100
        removed = instance.repairs["mics_removed"]
        assert with_mics - 1 - removed < sum(j.request["mics"] > 0 for j in mine) < with_mics + 1


def test_units_cores_walltimes_and_runtimes_lie_in_their_ranges() -> None:
    volume = {p.queue.name: (p.volume, p.most_units) for p in PROFILES}
    jobs = generators["eurora"](2000, 3).jobs
    for j in jobs:
        avu, most = volume[j.queue]
        assert 1 <= j.units <= most
        assert j.walltime == math.ceil(avu / (j.units * j.request["cores"]))
        assert j.runtime is not None and j.walltime / 5 <= j.runtime <= j.walltime
    assert {j.request["cores"] for j in jobs} == set(range(1, 17))
    assert {j.units for j in jobs if j.queue == "parallel"} == set(range(1, 33))
    assert [j.submit for j in jobs] == sorted(j.submit for j in jobs)


@pytest.mark.parametrize("nodes", [4, 65])
def test_repaired_jobs_all_fit_the_empty_platform(nodes: int) -> None:
    instance = generators["eurora"](600, 5, nodes=nodes)
    assert not impossible(platform(nodes), instance.jobs)
    assert not any(j.request["gpus"] and j.request["mics"] for j in instance.jobs)
    assert (instance.repairs["units_capped"] > 0) == (nodes == 4)
    assert instance.repairs["mics_removed"] > 0


def test_night_jobs_start_between_18_and_8() -> None:
    problem = load("eurora_700").problem
    night = [j for j in problem.jobs if j.queue == "np_longpar"]
    assert night
    for lo, hi in (w for j in night for w in problem.start_windows(j)[:3]):
        assert hi <= 8 * 3600 or lo % DAY >= 18 * 3600 or lo == 0 or hi % DAY == 8 * 3600


def test_wrong_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1 job"):
        generators["eurora"](0, 1)
    with pytest.raises(ValueError, match="65 nodes"):
        generators["eurora"](10, 1, nodes=12)


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
def test_a_day_replayed_by_walltime_waits_as_in_the_thesis(seed: int) -> None:
    """[Bridi2018, table 4.14] (PBSWalltime): weighted queue time 137.74, average wait 9,465 s, for a day of 330 jobs."""
    problem = generators["eurora"](330, seed).problem
    start = replay(problem)
    waits = [(start[j.id] - j.submit, problem.ewt[j.queue]) for j in problem.jobs]
    assert 150 <= sum(w / ewt for w, ewt in waits) <= 320
    assert 8400 <= sum(w for w, _ in waits) / len(waits) <= 17000


def replay(problem: Dispatch) -> dict[str, int]:
    """Return the start times of a dispatcher by increasing walltime, with a reservation for the first job that does not fit."""
    waiting: list[Job] = []
    running: list[Run] = []
    arrivals = sorted(problem.jobs, key=lambda j: j.submit)
    times = [j.submit for j in arrivals] + [d * DAY + 18 * 3600 for d in range(4)]
    heapq.heapify(times)
    free: Free = {n: list(vector) for n, vector in problem.platform.capacity.items()}
    start: dict[str, int] = {}
    while times:
        t = heapq.heappop(times)
        for ended in [r for r in running if r[0] <= t]:
            running.remove(ended)
            take(free, ended[2], ended[3], -1)
        while arrivals and arrivals[0].submit <= t:
            waiting.append(arrivals.pop(0))
        for job, nodes in list(choose(problem, t, waiting, running, free)):
            waiting.remove(job)
            start[job.id] = t
            running.append((t + int(job.runtime or 0), t + job.walltime, job, nodes))
            heapq.heappush(times, t + int(job.runtime or 0))
    assert not waiting
    return start


def choose(
    problem: Dispatch, t: int, waiting: list[Job], running: list[Run], free: Free
) -> Iterator[tuple[Job, Nodes]]:
    """Return the jobs to start at t with their nodes, and remove their resources from ``free``."""
    later: Free = {}  # once a job holds a reservation: what is free at that moment, beside it
    begin = 0
    ends = [(expected, job, nodes) for _, expected, job, nodes in running]
    for job in sorted(waiting, key=lambda j: (j.walltime, j.submit)):
        if job.queue == "np_longpar" and 8 * 3600 < t % DAY < 18 * 3600:
            continue
        beside = bool(later) and t + job.walltime > begin
        nodes = place(free, job, later if beside else free)
        if nodes is not None:
            take(free, job, nodes, 1)
            if beside:
                take(later, job, nodes, 1)
            ends.append((t + job.walltime, job, nodes))
            yield job, nodes
        elif not later:
            later = {n: list(f) for n, f in free.items()}
            reserved = None
            for expected, ended, there in sorted(ends, key=lambda e: e[0]):
                take(later, ended, there, -1)
                begin, reserved = expected, place(later, job, later)
                if reserved is not None:
                    break
            take(later, job, reserved or {}, 1)


def place(free: Free, job: Job, other: Free) -> Nodes | None:
    """Return nodes for all units of the job by first fit, within both free capacities; None if they do not fit."""
    left, nodes = job.units, {}
    asked = [(k, r) for k, r in enumerate(job.request.values()) if r]
    for node, vector in free.items():
        beside = other[node]
        units = left
        for k, r in asked:
            units = min(units, vector[k] // r, beside[k] // r)
        if units:
            nodes[node] = units
            left -= units
            if not left:
                return nodes
    return None


def take(free: Free, job: Job, nodes: Nodes, sign: int) -> None:
    for node, units in nodes.items():
        for k, r in enumerate(job.request.values()):
            free[node][k] -= sign * units * r
