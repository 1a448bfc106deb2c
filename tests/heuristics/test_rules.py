"""Rules as heuristics: against the replay of the simulator, a textbook version in plain Python, and examples by hand."""

import random
from dataclasses import replace

import pytest
import schedlab as sl
from hypothesis import given, settings
from hypothesis import strategies as st
from schedlab.heuristics import RULES, LeftWaiting, UnknownOrder, schedule_by_rule
from schedlab.models import Cooling, Dispatch, Job, NodeGroup, Platform, Profit, Queue, Running, StepFunction
from schedlab.simulation import simulate

QUEUE = Queue("q", 100)
NIGHT = Queue("night", 500, ((64800, 71000),))
OVER = Queue("over midnight", 500, ((86000, 86800),))


def job(
    name, duration, units=1, *, submit=0, queue="q", deadline=None, windows=(), power=None, earliest=None, **request
):
    return Job(
        name, submit, max(1, duration), units, request, queue, earliest, deadline, windows, duration, power=power
    )  # fmt: skip


def cluster(nodes=1, cores=4):
    return Platform([NodeGroup("n", nodes, {"cores": cores})])


def starts(jobs, rule, platform=None, **more):
    problem = Dispatch(platform or cluster(), jobs, [QUEUE, NIGHT, OVER], **more)
    found = schedule_by_rule(problem, rule)
    assert problem.verify(found) == []
    return found.start


# --- a textbook rule --------------------------------------------------------------------------------------------


class Textbook:
    """A rule in plain Python: at every time at which anything can change, jobs end, then waiting jobs are tried."""

    def __init__(self, problem, rule):
        self.p, self.strict = problem, rule.endswith("-strict")
        key = {
            "est": problem.earliest,
            "wt": lambda j: max(1, problem.duration(j)),
            "profit": lambda j: -j.units * j.request.get("cores", 0) / (j.power or 1),  # all jobs with a power, or none
        }[rule.removesuffix("-strict")]
        self.waiting = sorted(problem.jobs, key=lambda j: (key(j), j.submit))
        self.open = {j.id: problem.start_windows(replace(j, deadline=None)) for j in problem.jobs}
        self.held = [(r.end, r.job, dict(r.nodes)) for r in problem.running]
        self.start, self.nodes = {}, {}

    def free(self, node):
        amounts = list(self.p.platform.capacity[node])
        for _, other, nodes in self.held:
            for r, resource in enumerate(self.p.platform.resources):
                amounts[r] -= nodes.get(node, 0) * other.request.get(resource, 0)
        return amounts

    def places(self, job):
        """Return {node: units}, fullest nodes first; None if the job does not fit."""
        found, left = {}, job.units

        def share(node):
            return sum(f / c for f, c in zip(self.free(node), self.p.platform.capacity[node], strict=True) if c)

        for node in sorted(self.p.platform.nodes, key=share):
            free = dict(zip(self.p.platform.resources, self.free(node), strict=True))
            fit = min([left, *(max(0, free[r]) // a for r, a in job.request.items() if a)])
            if fit:
                found[node] = fit
                left -= fit
        return None if left else found

    def decide(self, t):
        for job in list(self.waiting):
            if self.p.earliest(job) > t or not any(lo <= t <= hi for lo, hi in self.open[job.id]):
                continue
            nodes_of_job = self.places(job)
            if nodes_of_job is not None:
                self.start[job.id], self.nodes[job.id] = t, nodes_of_job
                self.held.append((t + self.p.duration(job), job, nodes_of_job))
                self.waiting.remove(job)
            elif self.strict:
                return

    def run(self):
        moments = {lo for windows in self.open.values() for lo, _ in windows} | {end for end, _, _ in self.held}
        moments = {t for t in moments if t >= self.p.now}
        while moments:
            t = min(moments)
            self.held = [h for h in self.held if h[0] > t]
            self.decide(t)
            moments |= {end for end, _, _ in self.held}
            if not any(end == t for end, _, _ in self.held):  # a job of duration 0 frees its nodes at once
                moments.discard(t)
        return self


def random_problem(seed, *, offline=True):
    """Return a problem with one or two kinds of nodes; ``offline``: with features that replays do not have."""
    rng = random.Random(seed)
    groups = [NodeGroup("cpu", rng.randint(1, 3), {"cores": 4, "mem": 8})]
    if rng.random() < 0.6:
        groups.append(NodeGroup("gpu", rng.randint(1, 2), {"cores": 4, "gpus": 2, "mem": 4}))
    platform = Platform(groups)
    now = rng.choice([0, 50, 70000]) if offline else 0
    powers = rng.random() < 0.7
    jobs = []
    for i in range(rng.randint(3, 30)):
        request = {"cores": rng.randint(1, 4), "mem": rng.choice([0, 1, 4])}
        if len(groups) > 1 and rng.random() < 0.3:
            request["gpus"] = rng.randint(1, 2)
        vector = [request.get(r, 0) for r in platform.resources]
        most = sum(platform.units_on(platform.capacity[n], vector) for n in platform.nodes)
        units, runtime = rng.randint(1, max(1, min(6, most))), rng.choice([0, 7, 20, 33])
        windows = ((now + 10, now + 40), (now + 90, now + 90000)) if rng.random() < 0.15 else ()
        queue = rng.choice(["q"] * 6 + ["night", "over midnight"])
        power = float(rng.choice([60, 90, 128])) if powers else None
        jobs.append(
            Job(f"j{i}", rng.randint(0, 90), max(1, runtime), units, request, queue, None, None, windows, runtime)
        )
        jobs[-1] = replace(jobs[-1], power=power, earliest_start=rng.choice([None, None, 40]))
    held = [Running(job("r0", 30, cores=2, mem=1), now - 10, {platform.nodes[0]: 1}, now + 25)]
    held.append(
        Running(job("r1", 9, cores=1), now - 10, dict.fromkeys(platform.nodes, 1), now + rng.choice([-1, 0, 40]))
    )
    durations = rng.choice(["walltime", "runtime"]) if offline else "runtime"
    running = held if offline and rng.random() < 0.6 and len(platform.nodes) > 1 else ()
    return Dispatch(platform, jobs, [QUEUE, NIGHT, OVER], "waiting", now, running, durations)


@pytest.mark.parametrize("rule", RULES)
def test_every_start_and_node_is_the_one_a_textbook_rule_finds(rule):
    found_all = 0
    for seed in range(60):
        problem = random_problem(seed)
        if rule.startswith("profit") and problem.jobs[0].power is None:
            continue
        textbook = Textbook(problem, rule).run()
        try:
            found = schedule_by_rule(problem, rule)
        except LeftWaiting as failure:
            assert failure.job in {j.id for j in textbook.waiting}, seed
            continue
        assert found.start == textbook.start, seed
        assert found.nodes == textbook.nodes, seed
        assert problem.verify(found) == []
        found_all += 1
    assert found_all > 25


@pytest.mark.parametrize("rule", RULES)
def test_every_start_and_node_is_the_one_of_the_replay(rule):
    for seed in range(40):
        problem = random_problem(seed, offline=False)
        replay = simulate(problem, dispatcher=f"rule:{rule}-r").schedule()
        found = schedule_by_rule(problem, rule)
        assert (found.start, found.nodes) == (replay.start, replay.nodes), seed


@pytest.mark.parametrize("rule", RULES)
def test_a_machine_of_whole_nodes_is_counted_as_in_the_replay(rule):
    rng = random.Random(7)
    jobs = [
        job(f"j{i}", rng.choice([0, 5, 30, 90]), rng.choice([1, 2, 4, 8]), submit=rng.randint(0, 900), cores=4)
        for i in range(200)
    ]
    problem = Dispatch(cluster(8), jobs, [QUEUE], durations="runtime")
    found = schedule_by_rule(problem, rule)
    assert found.start == simulate(problem, dispatcher=f"rule:{rule}-r").schedule().start
    assert problem.verify(found) == []


def test_the_order_of_the_list_plays_no_part():
    problem = random_problem(3, offline=False)
    problem = problem.replace(jobs=[replace(j, submit=i) for i, j in enumerate(problem.jobs)])
    turned = problem.replace(jobs=problem.jobs[::-1])
    for rule in RULES:
        assert schedule_by_rule(problem, rule) == schedule_by_rule(turned, rule)


# --- by hand ----------------------------------------------------------------------------------------------------

# 4 cores: a takes 3 of them for 10 s, b needs 2, c and d need 1
SMALL = [
    job("a", 10, submit=0, cores=3),
    job("b", 8, submit=1, cores=2),
    job("c", 20, submit=2, cores=1),
    job("d", 5, submit=3, cores=1),
]


def test_a_rule_passes_over_what_does_not_fit():
    assert starts(SMALL, "est") == {"a": 0, "b": 10, "c": 2, "d": 10}


def test_a_strict_rule_waits_for_the_first():
    assert starts(SMALL, "est-strict") == {"a": 0, "b": 10, "c": 10, "d": 10}


def test_short_jobs_go_first():
    jobs = [job("a", 10, cores=4), job("b", 30, cores=3), job("c", 20, cores=2), job("d", 25, cores=1)]
    assert starts(jobs, "wt") == {"a": 0, "c": 10, "d": 10, "b": 30}
    assert starts(jobs, "wt-strict") == {"a": 0, "c": 10, "d": 10, "b": 30}
    assert starts(jobs, "est") == {"a": 0, "b": 10, "d": 10, "c": 40}


def test_the_most_core_hours_per_energy_go_first():
    jobs = [
        job("hot", 10, cores=4, power=80.0),
        job("cool", 10, cores=4, power=40.0),
        job("unknown", 10, cores=4),  # gets the median of the others: 15 W per core
    ]
    assert starts(jobs, "profit") == {"cool": 0, "unknown": 10, "hot": 20}


def test_without_any_power_the_most_core_hours_go_first():
    jobs = [job("short", 10, cores=3), job("wide", 10, cores=4), job("long", 30, cores=2)]
    assert starts(jobs, "profit") == {"long": 0, "wide": 30, "short": 40}


def test_jobs_with_the_same_key_go_as_they_were_submitted():
    jobs = [job("later", 10, submit=2, earliest=5, cores=4), job("sooner", 10, submit=1, earliest=5, cores=4)]
    for rule in RULES:
        assert starts(jobs, rule) == {"sooner": 5, "later": 15}


def test_walltimes_or_runtimes_as_the_problem_says():
    jobs = [replace(job("a", 10, cores=4), walltime=50), job("b", 10, submit=1, cores=4)]
    assert starts(jobs, "est") == {"a": 0, "b": 50}
    assert starts(jobs, "est", durations="runtime") == {"a": 0, "b": 10}


def test_jobs_start_beside_those_that_run_and_from_now_on():
    running = [Running(job("r", 60, cores=3), 0, {"n-1": 1}, 60)]
    jobs = [job("wide", 5, cores=2), job("slim", 5, cores=1)]
    assert starts(jobs, "est", now=30, running=running) == {"wide": 60, "slim": 30}
    assert starts(jobs, "est-strict", now=30, running=running) == {"wide": 60, "slim": 60}
    over = [replace(running[0], end=20)]  # its expected end has passed: it occupies nothing
    assert starts(jobs, "est", now=30, running=over) == {"wide": 30, "slim": 30}


# --- windows, deadlines -----------------------------------------------------------------------------------------


def test_a_calendar_that_keeps_a_job_out_keeps_no_other_waiting():
    jobs = [job("night", 10, queue="night", cores=4), job("day", 10, submit=1, cores=4)]
    assert starts(jobs, "est-strict") == {"night": 64800, "day": 1}


def test_windows_of_a_job_are_kept():
    jobs = [job("a", 100, cores=4), job("b", 10, cores=4, windows=((0, 50), (300, 400)))]
    assert starts(jobs, "est") == {"a": 0, "b": 300}


def test_a_job_whose_windows_pass_is_named():
    jobs = [job("a", 100, cores=4), job("b", 10, submit=1, cores=4, windows=((0, 50),))]
    with pytest.raises(LeftWaiting, match=r"rule:est never starts job 'b' .*end at 50") as failure:
        starts(jobs, "est")
    assert failure.value.job == "b"
    with pytest.raises(LeftWaiting, match="no time is left"):
        starts([job("late", 10, cores=4, windows=((0, 50),))], "est", now=60)


def test_a_job_whose_windows_pass_while_its_queue_opens_every_day_is_named():
    jobs = [job("a", 70000, cores=4), job("b", 10, queue="night", cores=4, windows=((0, 65000),))]
    with pytest.raises(LeftWaiting, match="'b'"):
        starts(jobs, "est")


def test_a_missed_deadline_is_an_error():
    jobs = [job("a", 100, cores=4), job("b", 10, submit=1, cores=4, deadline=105)]
    with pytest.raises(LeftWaiting, match=r"ends job 'b' at 110, after its deadline 105"):
        starts(jobs, "est")
    result = sl.solve(Dispatch(cluster(), jobs, [QUEUE]), method="rule:est")
    assert (result.status, result.schedule) == ("unknown", None)
    assert "'b'" in result.message


# --- as a method ------------------------------------------------------------------------------------------------


def test_rules_are_methods():
    problem = Dispatch(cluster(), SMALL, [QUEUE], "makespan")
    result = sl.solve(problem, method="rule:est-strict")
    assert (result.status, result.objective) == ("feasible", 30)
    assert result.schedule.start == {"a": 0, "b": 10, "c": 10, "d": 10}
    with pytest.raises(sl.backends.UnknownName, match="no argument of rule 'spt' in 'rule:spt'; did you mean est"):
        sl.solve(problem, method="rule:spt")
    with pytest.raises(UnknownOrder, match="no rule 'spt'"):
        schedule_by_rule(problem, "spt")


def test_of_a_profit_problem_the_jobs_without_power_take_what_it_says():
    jobs = Dispatch(cluster(), [job("hot", 3600, cores=4, power=80.0), job("usual", 3600, cores=4)], [QUEUE])
    flat = Cooling("flat", (0, 40), (0, 1000), ((0, 500), (0, 500)))
    for watts, first in ((10.0, "usual"), (30.0, "hot")):
        problem = Profit(
            jobs, StepFunction.constant(20, 0, 7200), flat, 0.1, 0.5, horizon_end=7200, watts_per_core=watts
        )
        found = schedule_by_rule(problem, "profit")
        assert found.start[first] == 0
        assert sorted(found.start.values()) == [0, 3600]


def test_no_jobs_no_work():
    running = [Running(job("r", 60, cores=3), 0, {"n-1": 1}, 60)]
    assert starts([], "est") == starts([], "profit-strict", running=running) == {}


@settings(max_examples=25, deadline=None)
@given(
    rule=st.sampled_from(RULES),
    nodes=st.integers(1, 4),
    rows=st.lists(
        st.tuples(
            st.integers(0, 50),  # submit
            st.integers(0, 40),  # runtime
            st.integers(1, 6),  # units
            st.integers(0, 4),  # cores
            st.sampled_from(["q", "night", "over midnight"]),
            st.sampled_from([None, 30.0, 70.0]),
            st.sampled_from([None, 60, 90000]),  # deadline
            st.sampled_from([(), ((20, 30), (45, 200000))]),
        ),
        max_size=25,
    ),
    now=st.integers(0, 90000),
    busy=st.integers(0, 3),
)
def test_what_a_rule_finds_is_a_schedule(rule, nodes, rows, now, busy):
    platform = cluster(nodes)
    jobs = [
        Job(
            f"j{k}", submit, max(1, took), min(units, nodes), {"cores": c}, queue, None, due, windows, took, power=power
        )
        for k, (submit, took, units, c, queue, power, due, windows) in enumerate(rows)
    ]
    running = [Running(job("r", 99, cores=busy), now - 9, {"n-1": 1}, now + 90)] if busy else []
    problem = Dispatch(platform, jobs, [QUEUE, NIGHT, OVER], "waiting", now, running, "runtime")
    try:
        found = schedule_by_rule(problem, rule)
    except LeftWaiting as failure:
        missed = next(j for j in jobs if j.id == failure.job)
        assert missed.deadline is not None or missed.windows
    else:
        assert problem.verify(found) == []
        assert len(found.start) == len(jobs)
