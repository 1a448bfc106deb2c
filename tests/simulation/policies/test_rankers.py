"""Rankers: fair-share and aging on small worlds, EASY by rank against a simulator of plain lists, errors."""

import itertools
import math
import sys

import numpy as np
import pytest
import schedlab as sl
from hypothesis import given, settings
from hypothesis import strategies as st
from schedlab import WrongValue
from schedlab.instances import Workload
from schedlab.models import Dispatch, Job, NodeEvent, NodeGroup, Platform, PluginError, Queue
from schedlab.models.server_events import ServerEvent
from schedlab.simulation import (
    POLICIES,
    OnDemandJob,
    Policy,
    Preemption,
    SimulationError,
    by_duration,
    by_submit,
    check_dispatcher,
    parse_dispatcher,
    simulate,
)
from schedlab.simulation.rankers import Aging, Fairshare, JobSize, QueuePriority, WeightedSum, multifactor

COUNT = itertools.count()
QUEUES = (Queue("q", 3600), Queue("debug", 60))


def machine(nodes):
    return Platform([NodeGroup("n", nodes, {"cores": 1})])


def world(nodes, *rows):
    """Return the workload of the jobs (submit, runtime, walltime, units, user) or (..., user, queue)."""
    listed = [
        Job(f"j{k}", s, w, u, {"cores": 1}, (*rest, "q")[0], runtime=r, user=user)
        for k, (s, r, w, u, user, *rest) in enumerate(rows)
    ]
    return Workload.of(Dispatch(machine(nodes), listed, QUEUES))


def usage(now, half_life, runs):
    """Return the decayed usage at ``now`` of runs (start, end, cores), from the integral of 2 ** (-age / half_life)."""
    past = [(start, min(end, now), cores) for start, end, cores in runs]
    if math.isinf(half_life):
        return sum(cores * (end - start) for start, end, cores in past)
    return sum(
        cores * half_life / math.log(2) * (2 ** (-(now - end) / half_life) - 2 ** (-(now - start) / half_life))
        for start, end, cores in past
    )


def easy_by_rank(jobs, processors, half_life, users):
    """Return the starts of the jobs (submit, runtime, walltime, processors, user) under EASY by fair-share.

    It sorts the queue at each event by the usage of each user, computed again from all runs so far.
    """
    start, waiting, running, arrived = [None] * len(jobs), [], [], 0

    def key(j):
        runs = {u: [] for u in users}
        for k in range(len(jobs)):
            if start[k] is not None:
                runs[jobs[k][4]].append((start[k], start[k] + jobs[k][1], jobs[k][3]))
        used = {u: usage(now, half_life, runs[u]) for u in users}
        total = sum(used.values())
        return round(used[jobs[j][4]] / total * len(users), 9) if total > 0 else 0.0

    while arrived < len(jobs) or running:
        now = min([j[0] for j in jobs[arrived : arrived + 1]] + [start[j] + jobs[j][1] for j in running])
        running = [j for j in running if start[j] + jobs[j][1] > now]
        while arrived < len(jobs) and jobs[arrived][0] <= now:
            waiting.append(arrived)
            arrived += 1
        keys = {j: (key(j), j) for j in waiting}
        waiting.sort(key=keys.get)
        free = processors - sum(jobs[j][3] for j in running)
        while waiting and jobs[waiting[0]][3] <= free:
            free -= jobs[waiting[0]][3]
            start[waiting[0]] = now
            running.append(waiting.pop(0))
        if not waiting:
            continue
        available, need = free, jobs[waiting[0]][3]
        ends = sorted((max(start[j] + jobs[j][2], now + 1), jobs[j][3]) for j in running)
        for shadow in sorted({end for end, _ in ends}):
            available = free + sum(p for end, p in ends if end <= shadow)
            if available >= need:
                break
        extra = available - need
        for j in waiting[1:]:
            short = now + jobs[j][2] <= shadow
            if jobs[j][3] <= free and (short or jobs[j][3] <= extra):
                free -= jobs[j][3]
                extra -= 0 if short else jobs[j][3]
                start[j] = now
                running.append(j)
        waiting = [j for j in waiting if start[j] is None]
    return start


@st.composite
def small_worlds(draw):
    """Draw the processors, the half-life and the jobs of a small world."""
    processors, submit, rows = draw(st.integers(2, 6)), 0, []
    for _ in range(draw(st.integers(2, 16))):
        submit += draw(st.integers(0, 15))
        runtime = draw(st.integers(1, 40))
        walltime = max(1, runtime + draw(st.integers(-5, 30)))
        rows.append((submit, runtime, walltime, draw(st.integers(1, processors)), draw(st.sampled_from("abc"))))
    return processors, draw(st.sampled_from([5.0, 30.0, 1000.0, math.inf])), rows


@settings(max_examples=50, deadline=None)
@given(small_worlds())
def test_easy_by_fair_share_equals_a_simulator_of_plain_lists(drawn):
    processors, half_life, rows = drawn
    w = world(processors, *rows)
    found = simulate(w, machine(processors), POLICIES["easy"].with_ranker(Fairshare(half_life)))
    assert found.violations == []
    assert found.start.tolist() == easy_by_rank(rows, processors, half_life, w.users)


# ---- fair-share by hand


def test_the_user_who_has_used_less_goes_first():
    w = world(1, (0, 100, 100, 1, "a"), (10, 50, 50, 1, "a"), (20, 50, 50, 1, "b"))
    assert simulate(w, machine(1), "fcfs").start.tolist() == [0, 100, 150]
    assert simulate(w, machine(1), "fcfs+fairshare").start.tolist() == [0, 150, 100]


def test_old_usage_decays():
    """A has used 300 s long ago, B 100 s just now: with a short half-life A goes first, without decay B."""
    w = world(
        1, (0, 300, 300, 1, "a"), (1000, 100, 100, 1, "b"), (1010, 20, 20, 1, "b"), (1020, 20, 20, 1, "a")
    )  # fmt: skip
    at_the_end = {u: usage(1100, 100, [r]) for u, r in (("a", (0, 300, 1)), ("b", (1000, 1100, 1)))}
    assert at_the_end["a"] == pytest.approx(0.4931, abs=1e-4)  # 300 s, of which 2 ** -8 and less is left
    assert at_the_end["b"] == pytest.approx(72.1348, abs=1e-4)
    assert simulate(w, machine(1), "fcfs+fairshare:half_life=100").start.tolist() == [0, 1000, 1120, 1100]
    assert simulate(w, machine(1), "fcfs+fairshare:half_life=inf").start.tolist() == [0, 1000, 1100, 1120]


class Watched(Fairshare):
    """Fair-share that keeps the factors before each decision: time -> factors."""

    def rank(self, now, waiting):
        keys = super().rank(now, waiting)
        self.seen = {**getattr(self, "seen", {}), now: self.factors().tolist()}
        return keys


def test_the_factor_is_2_to_minus_usage_by_share():
    ranker = Watched(half_life=100)
    w = world(2, (0, 100, 100, 1, "a"), (0, 50, 50, 1, "b"), (100, 10, 10, 1, "c"))
    simulate(w, machine(2), Policy("watched", by_submit, ranker=ranker))
    a, b = usage(100, 100, [(0, 100, 1)]), usage(100, 100, [(0, 50, 1)])
    assert ranker.seen[0] == [1, 1, 1]
    assert ranker.seen[100] == pytest.approx([2 ** (-a / (a + b) * 3), 2 ** (-b / (a + b) * 3), 1], abs=1e-8)


def test_shares_and_dampening():
    """A has used twice as much as B; with three times the share A goes first."""
    w = world(2, (0, 100, 100, 1, "a"), (0, 50, 50, 2, "b"), (1, 60, 60, 1, "c"), (2, 9, 9, 2, "b"), (3, 9, 9, 2, "a"))
    ranker = Watched(half_life=math.inf, shares={"a": 3}, dampening=2)
    first = simulate(w, machine(2), POLICIES["fcfs"].with_ranker(ranker))
    equal = simulate(w, machine(2), "fcfs+fairshare:half_life=inf")
    assert first.start[4] < first.start[3]
    assert equal.start[3] < equal.start[4]
    now = max(ranker.seen)
    used = [usage(now, math.inf, [(s, e, u) for s, e, u, k in zip(first.start, first.end, w.units, w.user, strict=True)
                                  if k == user and s < now]) for user in range(3)]  # fmt: skip
    assert ranker.seen[now] == pytest.approx(
        [2 ** -(u / sum(used) / s / 2) for u, s in zip(used, (0.6, 0.2, 0.2), strict=True)]
    )


def test_dominant_usage_counts_the_scarcest_resource():
    platform = Platform([NodeGroup("n", 1, {"cores": 10, "gpus": 2})])
    rows = [("a", 0, {"cores": 1, "gpus": 2}), ("b", 0, {"cores": 5}), ("a", 5, {"cores": 10}), ("b", 5, {"cores": 10})]
    listed = [Job(f"j{k}", s, 50, 1, r, "q", runtime=50, user=u) for k, (u, s, r) in enumerate(rows)]
    w = Workload.of(Dispatch(platform, listed, QUEUES))
    assert simulate(w, platform, "fcfs+fairshare").start.tolist() == [0, 0, 50, 100]
    assert simulate(w, platform, "fcfs+fairshare:usage=dominant").start.tolist() == [0, 0, 100, 50]


STOPS = {
    "failure": {
        "events": [NodeEvent(20, "node-down", ["n-1"]), NodeEvent(30, "node-up", ["n-1"])],
        "requeue": "checkpoint:15",
    },
    "eviction": {"preemption": Preemption([OnDemandJob("u", 20, 2, 5, 30)], "kill", "none")},
    "reserve": {"preemption": Preemption([OnDemandJob("u", 60, 1, 5, 30)], "none", "none")},
    "deletion": {"events": [ServerEvent(25, "delete", "j0"), ServerEvent(26, "delete", "j3")]},
}


@pytest.mark.parametrize("stops", STOPS.values(), ids=STOPS)
@pytest.mark.parametrize("half_life", [math.inf, 40])
def test_usage_is_that_of_all_attempts_however_they_begin_and_end(half_life, stops):
    """An on-demand job took usage away when it ended; a job that failed was charged for ever."""
    w = world(
        3, (0, 50, 60, 2, "a"), (0, 40, 40, 1, "b"), (5, 30, 30, 2, "a"), (6, 20, 20, 1, "b"), (200, 1, 1, 1, "b")
    )
    ranker = Watched(half_life=half_life)
    run = simulate(w, machine(3), POLICIES["easy"].with_ranker(ranker), **stops)
    assert run.violations == []
    now, tries = ranker._now, run.attempts
    users = run.workload.users
    expected = dict.fromkeys(users, 0.0)
    for name, start, end in zip(tries["job"].tolist(), tries["start"].tolist(), tries["end"].tolist(), strict=True):
        row = run.workload.ids.index(name)
        user = users[run.workload.user[row]]
        expected[user] += usage(now, half_life, [(start, end, int(run.workload.units[row]))])
    assert now >= 200 and ranker._rate.tolist() == [0] * len(users)
    assert ranker._used == pytest.approx(list(expected.values()), rel=1e-9)


# ---- the other rankers


@pytest.mark.parametrize("letter", ["", "-d"])
@pytest.mark.parametrize("name", ["fcfs", "rule:est", "easy", "conservative", "pbs-fifo"])
def test_aging_alone_is_first_come_first_served(name, letter):
    plain = sl.simulate("eurora_99", dispatcher=name + letter)
    aged = sl.simulate("eurora_99", dispatcher=f"{name}+aging{letter}")
    assert plain.start.tolist() == aged.start.tolist()
    assert plain.first_reserved.tolist() == aged.first_reserved.tolist()


def test_jobs_of_equal_rank_go_by_the_key_of_the_policy():
    same = POLICIES["sjf"].with_ranker(QueuePriority())
    assert (
        sl.simulate("eurora_99", dispatcher=same).start.tolist()
        == sl.simulate("eurora_99", dispatcher="sjf").start.tolist()
    )


def test_weights_of_queues_age_jobs_faster():
    w = world(1, (0, 100, 100, 1, "a"), (10, 9, 9, 1, "a"), (20, 9, 9, 1, "a"), (90, 9, 9, 1, "b", "debug"))
    found = simulate(w, machine(1), POLICIES["fcfs"].with_ranker(Aging(weights={"debug": 8.5})))
    assert found.start.tolist() == [0, 100, 118, 109]  # at 100: 90, 80 and 8.5 * 10; at 109: 89 and 8.5 * 19
    capped = simulate(w, machine(1), POLICIES["fcfs"].with_ranker(Aging(max_age=10, weights={"debug": 8.5})))
    assert capped.start.tolist() == [0, 109, 118, 100]


def test_a_weighted_sum_is_slurms_multifactor_priority():
    """By size alone the large job goes first, by age alone the first one, by queue the debug job."""
    w = world(4, (0, 50, 50, 4, "a"), (1, 9, 9, 3, "a"), (2, 9, 9, 4, "a"), (3, 9, 9, 3, "b", "debug"))
    order = {}
    for title, ranker in {
        "size": JobSize(),
        "small": WeightedSum([(1, JobSize(favor_small=True)), (0, Fairshare())]),
        "queue": QueuePriority({"debug": 7}),
        "fairshare": multifactor(age=0, size=0, queue=0),
        "age": multifactor(fairshare=0, size=0, queue=0),
    }.items():
        found = simulate(w, machine(4), POLICIES["fcfs"].with_ranker(ranker))
        order[title] = np.argsort(found.start).tolist()
    assert order == {
        "size": [0, 2, 1, 3],
        "small": [0, 1, 3, 2],
        "queue": [0, 3, 1, 2],
        "fairshare": [0, 3, 1, 2],
        "age": [0, 1, 2, 3],
    }


# ---- backfilling


def test_the_head_of_easy_is_the_first_by_rank_and_its_reservation_moves():
    """At 10 the job of B takes the reservation at 100 from the one of A, which had the first claim."""
    w = world(2, (0, 100, 100, 1, "a"), (5, 50, 50, 2, "a"), (10, 80, 80, 2, "b"), (11, 95, 95, 1, "c"))
    assert simulate(w, machine(2), "easy").start.tolist() == [0, 100, 150, 230]
    assert simulate(w, machine(2), "easy+fairshare").start.tolist() == [0, 275, 100, 180]
    assert simulate(w, machine(2), "conservative+fairshare").start.tolist() == [0, 275, 100, 180]


def busy(jobs=80, nodes=8):
    """Return jobs of three users for a machine that is always busy."""
    rng = np.random.default_rng(5)
    runtime, units = rng.integers(1, 300, jobs), rng.integers(1, nodes + 1, jobs)
    submit = np.sort(rng.integers(0, int((runtime * units).sum() / nodes / 1.3), jobs))
    walltime, user = runtime + rng.integers(0, 200, jobs), rng.choice(list("aaabbc"), jobs)
    rows = [
        (int(s), int(r), int(w), int(u), str(x))
        for s, r, w, u, x in zip(submit, runtime, walltime, units, user, strict=True)
    ]
    return world(nodes, *rows)


@pytest.mark.parametrize(
    "name", ["conservative+fairshare", "pbs-fifo+multifactor", "easy+multifactor-d", "rule:wt-strict+fairshare"]
)
def test_replays_by_rank_are_valid_and_repeatable(name):
    w, nodes = busy(), machine(8)
    plain = simulate(w, nodes, name.partition("+")[0] + ("-d" if name.endswith("-d") else ""))
    first, again = (simulate(w, nodes, name) for _ in range(2))
    assert first.violations == []
    assert first.start.tolist() == again.start.tolist() != plain.start.tolist()


def test_a_ranker_forgets_the_replay_before():
    policy = POLICIES["easy"].with_ranker(Fairshare(half_life=500))
    first, again = (simulate(busy(), machine(8), policy) for _ in range(2))
    assert first.start.tolist() == again.start.tolist()


# ---- what a ranker sees


class Recorder:
    """Keeps the news of a replay."""

    name = "recorder"

    def begin(self, platform, queues, users, seed):
        self.began, self.news, self.waiting = (platform, queues, users, seed), [], []

    def learn(self, news):
        for what in ("submitted", "started", "ended"):
            self.news += [(news.now, what, k) for k in getattr(news, what).rows.tolist()]
        self.news += [(news.now, *row) for row in zip(news.ended.took, news.ended.end, news.ended.nodes, strict=True)]

    def rank(self, now, waiting):
        self.waiting.append(waiting)
        return np.zeros(len(waiting))


def test_a_ranker_learns_submissions_starts_and_ends_but_no_runtime_of_a_waiting_job():
    ranker = Recorder()
    w = world(2, (0, 30, 40, 2, "a"), (10, 5, 9, 1, "b", "debug"))
    simulate(w, machine(2), POLICIES["easy"].with_ranker(ranker), seed=7)
    assert ranker.began[1:] == (w.queues, ("a", "b"), 7)
    assert ranker.news == [
        (0, "submitted", 0), (0, "started", 0),
        (10, "submitted", 1),
        (30, "ended", 0), (30, 30, 30, 2), (30, "started", 1),
        (35, "ended", 1), (35, 5, 35, 1),
    ]  # fmt: skip
    seen = ranker.waiting[-1]
    assert repr(seen) == "RankedJobs(1 job)"
    columns = {name: getattr(seen, name).tolist() for name in dir(seen) if name[0] != "_"}
    assert columns == {
        "rows": [1], "submit": [10], "user": [1], "queue": [1], "units": [1], "request": [[1]], "walltime": [9],
        "expected": [9],
    }  # fmt: skip


def test_usage_ends_with_the_job_if_decisions_take_simulated_time():
    """While a decision takes 60 s, the job of A ends after 1 s; its usage is 1 s."""
    ranker = Watched(half_life=math.inf)
    policy = POLICIES["fcfs"].with_ranker(ranker)
    w = world(1, (0, 1, 1, 1, "a"), (0, 9, 9, 1, "b"))
    simulate(w, machine(1), policy, charge_decisions=True)
    late = sl.simulation.rankers
    jobs = late.RankedJobs(np.array([0]), late.Columns(*(np.zeros(1, np.int64),) * 3, np.ones(1, np.int64), np.ones((1, 1), np.int64), *(np.ones(1, np.int64),) * 2))  # fmt: skip
    none = late.RankedJobs(np.empty(0, np.int64), jobs._columns)
    no_end = late.EndedJobs(none.rows, jobs._columns, none.rows, none.rows, none.rows)
    ranker.begin(machine(1), QUEUES, ("a", "b"), 0)
    ranker.learn(late.News(0, jobs, jobs, no_end, none))
    ended = late.EndedJobs(jobs.rows, jobs._columns, *(np.array([k]) for k in (1, 1, 1)))
    ranker.learn(late.News(60, none, none, ended, none))
    assert ranker._used.tolist() == [1, 0] and ranker._rate.tolist() == [0, 0]


# ---- third parties


THIRD_PARTY = """
import numpy as np
import schedlab as sl

class Alphabet:
    name = "alphabet"

    def __init__(self, last=False):
        self.last = last

    def begin(self, platform, queues, users, seed):
        self.place = np.argsort(np.argsort(users)) * (-1 if self.last else 1)

    def learn(self, news):
        pass

    def rank(self, now, waiting):
        return self.place[waiting.user]

policy = sl.Policy("mine", reservations=1)
ranked = policy.with_ranker(Alphabet())
not_a_ranker = 3
"""


def test_a_ranker_of_a_third_party_is_named_as_module_and_attribute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = f"rankers_{next(COUNT)}"
    (tmp_path / f"{module}.py").write_text(THIRD_PARTY)
    w = world(1, (0, 9, 9, 1, "b"), (1, 9, 9, 1, "b"), (2, 9, 9, 1, "a"))
    assert simulate(w, machine(1), f"easy+{module}:Alphabet").start.tolist() == [0, 18, 9]
    assert simulate(w, machine(1), f"{module}:policy+{module}:Alphabet:last=true-r").start.tolist() == [0, 9, 18]
    assert parse_dispatcher(f"easy+{module}:Alphabet").source
    assert parse_dispatcher("easy+fairshare").source is None
    for name, why in {
        f"easy+{module}:not_a_ranker": "is not a ranker: it has no name and no begin",
        f"{module}:ranked+aging": "has a ranker of its own",
    }.items():
        with pytest.raises(PluginError, match=why):
            check_dispatcher(name)
    sys.modules.pop(module)


# ---- errors


def broken(method, value):
    """Return a ranker whose method returns a value, or raises it."""

    def act(self, *arguments):
        if isinstance(value, Exception):
            raise value
        return value

    return type("Broken", (Recorder,), {"name": "broken", method: act})()


@pytest.mark.parametrize(
    ("ranker", "message"),
    [
        (
            broken("rank", [1.0]),
            r"at 1: its ranker broken: rank returned an array of shape \(1,\).* each of 2 waiting jobs",
        ),
        (broken("rank", [1.0, math.nan]), r"at 0: .*shape \(2,\)"),
        (broken("rank", None), "expected"),
        (broken("rank", ["first", "second"]), "rank returned .*'first'.*; expected one number for each"),
        (broken("rank", KeyError("user")), "at 0: its ranker broken raised in rank: KeyError: 'user'"),
        (broken("learn", KeyError("user")), "at 0: its ranker broken raised in learn: KeyError"),
        (broken("begin", OSError("no file")), "before the replay: its ranker broken raised in begin: OSError: no file"),
    ],
)
def test_a_broken_ranker_ends_the_replay_with_its_name(ranker, message):
    w = world(1, (0, 9, 9, 1, "a"), (1, 9, 9, 1, "a"), (1, 9, 9, 1, "b"))
    with pytest.raises(SimulationError, match=message):
        simulate(w, machine(1), Policy("easy", reservations=1, ranker=ranker))


def test_errors_of_parameters():
    with pytest.raises(PluginError, match=r"policy 'x': the argument ranker .* has no name and no begin"):
        Policy("x", by_duration, ranker="fairshare")
    for wrong in (
        lambda: Fairshare(half_life=-1),
        lambda: Fairshare(dampening=math.nan),
        lambda: Aging(max_age=0),
        lambda: WeightedSum([(-1, Aging())]),
        lambda: sl.simulate("eurora_99", dispatcher=POLICIES["easy"].with_ranker(Fairshare(shares={"nobody": 2}))),
        lambda: sl.simulate("eurora_99", dispatcher=POLICIES["easy"].with_ranker(Aging(weights={"nothing": 2}))),
        lambda: sl.simulate("eurora_99", dispatcher=POLICIES["easy"].with_ranker(QueuePriority({"debug": -2}))),
    ):
        with pytest.raises(WrongValue, match=r"expected|there is no"):
            wrong()
