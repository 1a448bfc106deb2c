"""Busy beginnings: jobs that run or wait when a replay begins."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schedlab.bench import WrongUse
from schedlab.bench.replays import ReplaySettings
from schedlab.instances import Workload, WorkloadError, open_trace
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue, Running
from schedlab.simulation import Decision, Start, read_jobs, simulate, violations, write_jobs
from schedlab.simulation.curves import utilisation

QUEUES = (Queue("any", 60), Queue("day", 60, ((60, 2000),)))


def machine(nodes, **capacity):
    return Platform([NodeGroup("n", nodes, capacity or {"cores": 1})])


def job(name, submit=0, runtime=10, units=1, walltime=None, queue="any", **request):
    return Job(name, submit, walltime or max(1, runtime or 1), units, request or {"cores": 1}, queue, runtime=runtime)


def day(jobs, running=(), now=0, nodes=2, **capacity):
    return Dispatch(machine(nodes, **capacity), jobs, QUEUES, "waiting", now, running, durations="runtime")


POLICIES = ["fcfs", "rule:wt", "easy", "conservative", "pbs-fifo"]


@pytest.mark.parametrize("policy", POLICIES)
def test_running_jobs_hold_their_nodes_up_to_their_true_ends(policy):
    held = [
        Running(job("r1", runtime=130, walltime=200), 0, {"n-1": 1}, 200),  # ends at 130, expected at 200
        Running(job("r2", runtime=None, walltime=90), 60, {"n-2": 1}, 150),  # ends as expected
    ]
    found = simulate(day([job("a", 90, 5), job("b", 120, 5)], held, now=100), dispatcher=policy)
    assert found.start.tolist() == [130, 135]
    assert found.violations == []
    assert found.schedule().nodes == {"a": {"n-1": 1}, "b": {"n-1": 1}}


def test_easy_reserves_behind_the_expected_ends_of_running_jobs():
    held = [Running(job("r", runtime=50, walltime=100), 0, {"n-1": 1}, 100)]
    jobs = [job("wide", 0, 10, units=2), job("short", 0, 40, walltime=90), job("long", 0, 95)]
    found = simulate(day(jobs, held, now=10), dispatcher="easy")
    assert found.schedule().start == {"short": 10, "wide": 50, "long": 60}


def test_jobs_that_wait_at_the_begin_start_from_then_on():
    w = Workload.of(day([job("a", 3), job("b", 20)]))
    assert simulate(w, machine(2), "fcfs").start.tolist() == [3, 20]
    found = simulate(w, machine(2), "fcfs", begin=15)
    assert found.start.tolist() == [15, 20]
    assert found.metrics.wait.mean == 6
    assert found.metrics.makespan == 15
    late = simulate(day([job("a", 3)]).replace(now=50), dispatcher="easy")
    assert late.start.tolist() == [50]


def test_nodes_that_are_not_known_come_from_the_allocator():
    platform = Platform([NodeGroup("big", 1, {"cores": 4}), NodeGroup("small", 1, {"cores": 2})])
    jobs = [job("a", 0, 5, cores=2)]
    held = [Running(job("r", cores=1), 0, {}, 10), Running(job("fixed", cores=1), 0, {"small-1": 1}, 10)]
    w = Workload.of(Dispatch(platform, jobs, QUEUES))
    nodes = {
        allocator: simulate(w, platform, "fcfs", allocator=allocator, running=held, begin=1).workload.running[0].nodes
        for allocator in ("best-fit", "first-fit")
    }
    assert nodes == {"best-fit": {"small-1": 1}, "first-fit": {"big-1": 1}}


@pytest.mark.parametrize(("cores", "units"), [(1, 2), (2, 4)])  # 1: nodes are counted, not told apart
def test_running_jobs_without_room_are_left_out(cores, units):
    held = [Running(job(f"r{k}", runtime=30, units=units), k - 9, {}, 99) for k in range(3)]
    w = Workload.of(day([job("a", 5)], nodes=5, cores=cores))
    found = simulate(w, machine(5, cores=cores), "easy", running=held, begin=5)
    assert list(found.workload.report.dropped) == [("r2", "runs at the begin, but there is no room for it")]
    assert found.start.tolist() == [5]
    assert found.violations == []
    assert sorted(n for r in found.workload.running for n in r.nodes) == ["n-1", "n-2", "n-3", "n-4"]


def test_dispatchers_see_running_jobs_and_not_their_runtimes():
    seen = []

    class Looks:
        name, needs = "looks", {"always"}

        def begin(self, platform, queues, seed):
            pass

        def decide(self, moment):
            seen.append((moment.now, [(r.job.id, r.end) for r in moment.running], moment.free[:, 0].tolist()))
            assert all(r.job.runtime is None for r in moment.running)
            return Decision([Start("a", {"n-1": 1})] if moment.waiting and moment.now >= 30 else [])

    held = [Running(job("r", runtime=30, walltime=99), 0, {"n-1": 1}, 99)]
    found = simulate(day([job("a", 5, 10)], held, now=7), dispatcher=Looks())
    assert seen == [(7, [("r", 99)], [0, 1]), (30, [], [1, 1]), (40, [], [1, 1])]
    assert found.start.tolist() == [30]


def test_metrics_leave_running_jobs_out_and_utilisation_counts_them():
    held = [Running(job("r", runtime=30), 0, {"n-1": 1}, 30)]
    found = simulate(day([job("a", 10, 10), job("b", 10, 10)], held, now=10), dispatcher="fcfs")
    m = found.metrics
    assert (m.jobs, m.started, m.wait.mean) == (2, 2, 5)
    assert m.makespan == 20
    assert m.utilisation["cores"] == 1.0  # r on n-1 and a, then b, on n-2
    assert [a.tolist() for a in utilisation(found, "cores")] == [[10, 20, 30], [2, 2, 0]]


def test_the_verification_finds_starts_on_nodes_of_running_jobs():
    held = [Running(job("r", runtime=30), 0, {"n-1": 1}, 30)]
    found = simulate(day([job("a", 10, 10)], held, now=10), dispatcher="fcfs")
    assert violations(found) == []
    moved = replace(found.workload, running=(replace(held[0], nodes={"n-2": 1}),))
    assert [v.message for v in violations(replace(found, workload=moved))] == [
        "node 'n-2' at 10: 2 cores in use, it has 1 (job 'a' starts)"
    ]
    early = replace(found, start=found.start - 1, end=found.end - 1)
    early.workload = replace(found.workload, submit=found.workload.submit - 5, release=found.workload.release - 5)
    assert "before the begin of the replay, 10" in violations(early)[0].message
    nowhere = replace(found.workload, running=(replace(held[0], nodes={}),))
    assert "with 0 units on nodes" in violations(replace(found, workload=nowhere))[0].message


@pytest.mark.parametrize(
    ("held", "message"),
    [
        (Running(job("r"), 20, {"n-1": 1}, 30), "job 'r' runs at the begin, 15, but starts at 20"),
        (Running(job("a"), 0, {"n-1": 1}, 30), "job 'a' runs at the begin and is listed a second time"),
        (Running(job("r", runtime=99), 0, {"n-1": 2}, 30), "runs with 1 unit; the units on its nodes are {'n-1': 2}"),
        (Running(job("r", runtime=99), 0, {"m": 1}, 30), "on node 'm', but the platform has no such node"),
        (Running(job("r", runtime=99, cores=3), 0, {"n-1": 1}, 30), "on node 'n-1', more cores than it has"),
        (Running(job("r", runtime=99), 0.5, {"n-1": 1}, 30), "running job 'r': start is 0.5"),
        ("r", "'r' is no Running"),
    ],
)
def test_a_wrong_beginning_is_refused(held, message):
    w = Workload.of(day([job("a", 20)]))
    with pytest.raises(WorkloadError, match="jobs: ") as caught:
        simulate(w, machine(2), "fcfs", running=[held], begin=15)
    assert message in str(caught.value)


def test_the_predictor_that_knows_runtimes_knows_those_of_running_jobs():
    held = [Running(job("r", runtime=30, walltime=99), 0, {"n-1": 1}, 99)]
    jobs = [job("wide", 5, 10, units=2), job("filler", 5, 60)]
    p = day(jobs, held, now=5)
    assert simulate(p, dispatcher="easy").schedule().start == {"filler": 5, "wide": 65}
    assert simulate(p, dispatcher="easy-r").schedule().start == {"wide": 30, "filler": 40}


def test_jobs_killed_at_their_walltime():
    held = [Running(job("r", runtime=99, walltime=30), 0, {"n-1": 1}, 30)]
    p = day([job("a", 5, 10)], held, now=5, nodes=1)
    assert simulate(p, dispatcher="fcfs").start.tolist() == [99]
    assert simulate(p, dispatcher="fcfs", kill_at_walltime=True).start.tolist() == [30]


# against a plain check, second by second


@st.composite
def worlds(draw):
    """Draw a small machine, running jobs that fit on it, and jobs that wait or arrive."""
    nodes, cores = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    free, held = [cores] * nodes, []
    for k in range(draw(st.integers(0, 3))):
        node, need = draw(st.integers(0, nodes - 1)), draw(st.integers(1, cores))
        if free[node] >= need:
            free[node] -= need
            start, walltime = draw(st.integers(-20, 10)), draw(st.integers(1, 60))
            runtime = draw(st.one_of(st.none(), st.integers(0, 60)))
            on = {f"n-{node + 1}": 1} if draw(st.booleans()) else {}
            running_job = job(f"r{k}", start, runtime, 1, walltime, cores=need)
            held.append(Running(running_job, start, on, start + walltime))
    jobs = [
        job(
            f"j{k}", draw(st.integers(-10, 60)), draw(st.integers(0, 30)), draw(st.integers(1, nodes)),
            draw(st.integers(1, 30)), draw(st.sampled_from(["any", "any", "day"])), cores=draw(st.integers(1, cores)),
        )
        for k in range(draw(st.integers(1, 7)))
    ]  # fmt: skip
    return machine(nodes, cores=cores), held, jobs


def check_by_seconds(found, platform, held, jobs, begin):
    """Check a replay with plain lists, second by second."""
    schedule, capacity = found.schedule(), platform.capacity
    placed = {r.job.id: r.nodes for r in found.workload.running}
    for r in held:
        if r.nodes and r.true_end > begin and r.job.id in placed:
            assert placed[r.job.id] == r.nodes
    active = [(r.start, r.true_end, placed[r.job.id], r.job) for r in held if r.job.id in placed]
    for each in jobs:
        start = schedule.start[each.id]
        assert start >= max(begin, each.submit)
        assert each.queue == "any" or 60 <= start % 86400 <= 2000
        assert sum(schedule.nodes[each.id].values()) == each.units
        active.append((start, start + each.runtime, schedule.nodes[each.id], each))
    for second in range(begin, max(end for _, end, _, _ in active) + 1):
        used = dict.fromkeys(platform.nodes, 0)
        for start, end, nodes, each in active:
            if start <= second < end:
                for node, units in nodes.items():
                    used[node] += units * each.request["cores"]
        assert all(used[node] <= capacity[node][0] for node in used)


@settings(max_examples=40, deadline=None)
@given(
    worlds(),
    st.sampled_from(["fcfs", "rule:est", "easy", "easy-l", "conservative"]),
    st.sampled_from(["best-fit", "first-fit"]),
)
def test_small_worlds_with_busy_beginnings(world, policy, allocator):
    platform, held, jobs = world
    w = Workload.of(Dispatch(platform, jobs, QUEUES, durations="runtime"))
    found = simulate(w, platform, policy, allocator=allocator, running=held, begin=10)
    assert found.violations == []
    check_by_seconds(found, platform, held, jobs, 10)
    if policy == "rule:est" and allocator == "first-fit":  # first come, as far as they fit: the plain rule on its own
        assert found.schedule().start == by_hand(platform, found.workload.running, jobs)


def by_hand(platform, held, jobs):
    """Return the starts of ``rule:est`` by a plain loop over seconds; only the sums of the units on nodes count."""
    names, start, second = list(platform.nodes), {}, 10
    rows = sorted(range(len(jobs)), key=lambda k: jobs[k].submit)
    ends = {r.job.id: (r.true_end, r.nodes, r.job) for r in held}
    while len(start) < len(jobs) and second < 2000:
        again = True
        while again:  # a job of runtime 0 frees its nodes in the same second
            again = False
            ends = {name: e for name, e in ends.items() if e[0] > second}
            free = {n: platform.capacity[n][0] for n in names}
            for _, nodes, each in ends.values():
                for n, units in nodes.items():
                    free[n] -= units * each.request["cores"]
            for k in sorted(rows, key=lambda k: max(jobs[k].submit, 10)):
                each = jobs[k]
                if each.id in start or max(each.submit, 10) > second:
                    continue
                if each.queue == "day" and not 60 <= second % 86400 <= 2000:
                    continue
                need = each.request["cores"]
                if sum(free[n] // need for n in names) < each.units:
                    continue
                nodes, left = {}, each.units
                for n in names:
                    if free[n] // need and left:
                        nodes[n] = min(left, free[n] // need)
                        left -= nodes[n]
                        free[n] -= nodes[n] * need
                start[each.id] = second
                ends[each.id] = (second + each.runtime, nodes, each)
                again = again or each.runtime == 0
        second += 1
    return start


# windows of logs

LOG = """; UnixStartTime: 0
; MaxProcs: 4
1 0 0 90 2 -1 -1 2 120 -1 1 1 1 -1 -1 -1 -1 -1
2 10 40 200 1 -1 -1 1 300 -1 1 2 1 -1 -1 -1 -1 -1
3 3500 200 100 3 -1 -1 3 200 -1 1 3 1 -1 -1 -1 -1 -1
4 3000 500 900 2 -1 -1 2 1000 -1 1 1 1 -1 -1 -1 -1 -1
5 3590 100 50 4 -1 -1 4 60 -1 1 1 1 -1 -1 -1 -1 -1
6 3700 0 50 1 -1 -1 1 60 -1 1 1 1 -1 -1 -1 -1 -1
7 9000 0 50 1 -1 -1 1 60 -1 1 1 1 -1 -1 -1 -1 -1
"""


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.swf"
    path.write_text(LOG)
    return path


def test_a_window_begins_with_the_jobs_that_run_and_wait_in_the_log(log):
    window = {"window": "1970-01-01T01:00:1h"}  # from 3600 s on
    empty, platform = open_trace(log, **window)
    assert (empty.ids, empty.running, empty.begin) == (("6",), (), None)
    reset, _ = open_trace(log, **window, busy="reset")
    kept, _ = open_trace(log, **window, busy="kept")
    assert reset.ids == kept.ids == ("3", "5", "6")
    assert (reset.submit.tolist(), kept.submit.tolist()) == ([3600, 3600, 3700], [3500, 3590, 3700])
    assert reset.release.tolist() == kept.release.tolist() == [3600, 3600, 3700]
    (r,) = reset.running
    assert (r.job.id, r.start, r.end, r.true_end, dict(r.nodes)) == ("4", 3500, 4500, 4400, {})
    assert reset.report.notes[-2:-1] == ("at the begin of the window: 1 running, 2 waiting (submitted then)",)
    for w, wait in ((reset, 2550 / 3), (kept, 2660 / 3)):
        found = simulate(w, platform, "fcfs")
        assert found.schedule().start == {"3": 4400, "5": 4500, "6": 4550}
        assert found.metrics.wait.mean == pytest.approx(wait)
        assert found.violations == []


def test_a_busy_window_that_begins_before_the_log(log):
    """The log begins at noon: the midnight of its first day is before second 0, and nothing runs or waits then."""
    log.write_text(LOG.replace("UnixStartTime: 0", "UnixStartTime: 43200"))
    for busy in ("reset", "kept"):
        w, platform = open_trace(log, window="1970-01-01:1d", busy=busy)
        assert (len(w), w.running, w.begin) == (7, (), 0)
        plain, _ = open_trace(log, window="1970-01-01:1d")
        assert simulate(w, platform, "easy").start.tolist() == simulate(plain, platform, "easy").start.tolist()


def test_the_first_jobs_of_a_busy_window(log):
    w, _ = open_trace(log, window="1970-01-01T01:00:1h", busy="reset", first=2)
    assert (w.ids, [r.job.id for r in w.running]) == (("3", "5"), ["4"])


def test_a_busy_window_at_another_load_and_time(log):
    w, platform = open_trace(log, window="1970-01-01T01:00:1h", busy="kept", load=1.5)
    assert w.submit[:2].tolist() == [3500, 3590]
    assert w.release[:2].tolist() == [3600, 3600]
    assert w.load(platform) == pytest.approx(1.5, rel=0.01)
    moved = w.since(3600)
    assert (moved.begin, moved.running[0].start, moved.running[0].true_end) == (0, -100, 800)
    starts = [simulate(x, platform, "easy").start for x in (w, moved)]
    assert (starts[0] - 3600).tolist() == starts[1].tolist()


def test_busy_needs_a_window_and_a_known_word(log):
    with pytest.raises(WorkloadError, match="busy is 'kept'; expected 'reset' or 'kept', with a window"):
        open_trace(log, busy="kept")
    with pytest.raises(WorkloadError, match="busy is 'full'"):
        open_trace(log, busy="full", window="1970-01-01T01:00:1h")
    with pytest.raises(WrongUse, match="--busy kept: expected reset or kept, together with --window"):
        ReplaySettings(trace=True, busy="kept")
    with pytest.raises(WrongUse, match="--busy: for logs only"):
        ReplaySettings(busy="kept")
    assert "busy" not in ReplaySettings().fields


def test_the_jobs_file_has_the_running_jobs_and_is_verified_with_them(log, tmp_path):
    w, platform = open_trace(log, window="1970-01-01T01:00:1h", busy="reset")
    found = simulate(w, platform, "fcfs")
    write_jobs(found, tmp_path / "jobs.csv")
    table = read_jobs(tmp_path / "jobs.csv")
    assert list(table.ids) == ["3", "5", "6", "4"]
    read = table.replay(w, platform)
    assert read.workload.running[0].nodes == found.workload.running[0].nodes
    assert violations(read) == []
    read.start[0], read.end[0] = 3600, 3700  # three nodes while job 4 holds two of four
    assert any("it has 1 (job '3' starts)" in v.message for v in violations(read))


def test_an_offline_problem_has_the_running_jobs():
    held = [Running(job("r", runtime=30, walltime=99), 0, {"n-1": 1}, 99)]
    p = day([job("a", 5, 10)], held, now=7)
    w = Workload.of(p)
    ends = {d: w.dispatch(p.platform, durations=d).running[0].end for d in ("walltime", "runtime")}
    assert ends == {"walltime": 99, "runtime": 30}
    assert w.dispatch(p.platform).now == 7
    found = simulate(p, dispatcher="easy")
    assert w.dispatch(p.platform, durations="runtime").verify(found.schedule()) == []
    nameless = w.beginning(7, [replace(held[0], nodes={})])
    with pytest.raises(WorkloadError, match="the nodes of the running job 'r' are unknown"):
        nameless.dispatch(p.platform)
