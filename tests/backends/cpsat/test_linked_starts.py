"""Branching on the order of intervals in CP-SAT: on where it is proved to be sound, off elsewhere; the models it got wrong."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import schedlab as sl
from schedlab.backends import Limits
from schedlab.backends.cpsat import CpSatLowering
from schedlab.backends.cpsat import backend as search
from schedlab.backends.cpsat.backend import may_branch_on_order

UNSOUND = {"use_dynamic_precedence_in_disjunctive": True}


def on(m: sl.Model) -> bool:
    return may_branch_on_order(m, CpSatLowering(m).choices)


def options(m, *names, size=2):
    return [m.interval(n, size=size, optional=True) for n in names]


def two_workers():
    m = sl.Model("two workers")
    t0, t1 = m.interval("t0", size=2), m.interval("t1", size=2)
    a, b, c, d, e = options(m, "t0 w1", "t0 w2", "t1 w2 A", "t1 w1 B", "t1 w2 B")
    m.add(sl.alternative(t0, [a, b], count=2))
    m.add(sl.alternative(t1, [c]))
    m.add(sl.alternative(t1, [d, e]))
    m.add(sl.no_overlap([a, d]))
    m.add(sl.no_overlap([b, c, e]))
    m.minimize(sl.max([t0.end, t1.end]))
    return m


def option_and_master():
    """With the parameter, this model ends the process: "adding conflicting constraint at positive level"."""
    m = sl.Model("option and master", horizon=5)
    v0, v1, v2 = (m.interval(f"v{k}", size=size, optional=True) for k, size in enumerate([(1, 1), (3, 4), (1, 3)]))
    m.add(sl.alternative(v1, [v2, v0]))
    m.add(sl.no_overlap([v2, v1]))
    m.maximize(v1.size - 3 * v0.end)
    return m


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_models_that_it_got_wrong(threads):
    for seed in range(3):
        for make, best in ((two_workers, 4), (option_and_master, 0)):
            r = sl.solve(make(), backend="cpsat", threads=threads, seed=seed, time_limit=60)
            assert (r.status, r.objective) == ("optimal", best)


def without_waits():
    """With the parameter, the model of this project ends the process: an order decided on m0 moves tasks of m1."""
    one = [("j0t0", 3, "m0"), ("j0t1", 5, "m2"), ("j0t2", 5, "m1"), ("j1t1", 5, "m0"), ("j3t2", 3, "m2")]
    two = [("j1t2", 2, 4, "m1"), ("j2t1", 2, 2, "m1"), ("j3t0", 1, 4, "m1"), ("j3t1", 1, 4, "m0")]
    due = {"j1t2": 7, "j3t2": 7}
    tasks = [sl.Task(name, [sl.Mode("only", d, {on: 1})], due=due.get(name)) for name, d, on in one]
    for name, short, long, machine in two:
        modes = [sl.Mode("short", short, {machine: 1}), sl.Mode("long", long, {machine: 1})]
        tasks.append(sl.Task(name, modes, due=due.get(name)))
    pairs = [("j0t0", "j0t1"), ("j0t1", "j0t2"), ("j1t1", "j1t2"), ("j3t0", "j3t1"), ("j3t1", "j3t2")]
    tasks = sorted((replace(t, release=3) if t.name == "j0t0" else t for t in tasks), key=lambda t: t.name)
    lags = [(a, b, int(a == "j1t1")) for a, b in pairs]
    machines = [sl.Resource(name, 1) for name in ("m0", "m1", "m2")]
    return sl.Project(tasks, machines, lags, no_wait=pairs, objective="weighted-tardiness")


def fixed_without_waits():
    """The same, where all tasks have one mode."""
    rows = [("j0t0", 3, 2), ("j0t1", 5, 1), ("j0t2", 2, 1), ("j1t0", 5, 2), ("j1t1", 6, 2), ("j2t0", 6, 1)]
    due = {"j0t1": 12, "j0t2": 7, "j1t0": 7, "j1t1": 12, "j2t0": 7}
    weight = {"j1t1": 2, "j2t0": 2}
    tasks = [sl.Task.single(n, d, {f"m{m}": 1}, due=due.get(n), weight=weight.get(n, 1)) for n, d, m in rows]
    lags = [("j0t0", "j0t1", 0), ("j0t1", "j0t2", 1), ("j1t0", "j1t1", 0)]
    pairs = [("j0t0", "j0t1"), ("j1t0", "j1t1")]
    machines = [sl.Resource("m1", 1), sl.Resource("m2", 1)]
    return sl.Project(tasks, machines, lags, no_wait=pairs, objective="weighted-tardiness")


@pytest.mark.parametrize("make", [without_waits, fixed_without_waits])
def test_an_order_that_moves_tasks_of_another_machine(make):
    r = sl.solve(make(), backend="cpsat", threads=1, time_limit=120)
    assert r.status == "optimal"
    assert r.objective == sl.solve(make(), backend="highs", time_limit=120).objective


END = """
import schedlab as sl
m = sl.Model("both or none")
a, b = (m.interval(n, 1, (1, 5), optional=True) for n in "ab")
m.add({})
m.add(sl.no_overlap([a, b]))
m.maximize(a.end)
print(sl.solve(m, backend="cpsat", threads=1).objective)
"""


@pytest.mark.parametrize("link", ["sl.all_or_none([a, b])", "a.presence == b.presence"])
def test_intervals_with_one_presence_do_not_end_the_process(link):
    done = subprocess.run(
        [sys.executable, "-c", END.format(link)], capture_output=True, text=True, cwd=Path(__file__).parent
    )
    assert (done.returncode, done.stdout) == (0, "6\n"), done.stderr


HELD = """
import schedlab as sl
m = sl.Model("a machine is held until the next task starts", horizon=12)
a, c = m.interval("a", 1, (0, 6)), m.interval("c", 2, (2, 10))
b, held = m.interval("b", (1, 3), (1, 11)), m.interval("a until b", (1, 12), (0, 6))
fast, slow = m.interval("b fast", (1, 3), (1, 11), optional=True), m.interval("b slow", 3, (1, 9), optional=True)
m.add(sl.alternative(b, [fast, slow]))
m.add(held.start == a.start)
m.add(sl.start_before_end(b, held))
m.add(sl.no_overlap([held, fast, slow, c]))
m.add(sl.end_before_start(a, b))
m.add(sl.end_before_start(a, c, 1, at_most=1))
m.add(sl.in_domain(fast.end, [(0, 1), (4, 30)], interval=fast))
m.minimize(sl.max([b.end, c.end]) + 2 * sl.positive_part(2 - a.end) + 2 * sl.positive_part(5 - c.end))
print(*(sl.solve(m, backend="cpsat", threads=1, seed=seed).objective for seed in range(3)))
"""


def test_sizes_that_decisions_change_do_not_end_the_process():
    """Two intervals that are always present, related in both directions, exclude both orders for some sizes alone."""
    done = subprocess.run([sys.executable, "-c", HELD], capture_output=True, text=True, cwd=Path(__file__).parent)
    assert (done.returncode, done.stdout) == (0, "6 6 6\n"), done.stderr


def shop(m, jobs=3, machines=2, options=1, precedence=sl.end_before_start):
    """Add a job shop, with ``options`` machines for each operation; return its makespan."""
    of = [[] for _ in range(machines)]
    ends = []
    for j in range(jobs):
        before = None
        for k in range(machines):
            v = m.interval(f"{j}.{k}", size=1 + (j + k) % 3)
            if options == 1:
                of[(j + k) % machines].append(v)
            else:
                some = [m.interval(f"{j}.{k} on {n}", size=v.size_lo, optional=True) for n in range(options)]
                m.add(sl.alternative(v, some))
                for n, o in enumerate(some):
                    of[(j + k + n) % machines].append(o)
            if before is not None:
                m.add(precedence(before, v))
            before = v
        ends.append(before.end)
    for some in of:
        m.add(sl.no_overlap(some))
    return sl.max(ends)


def pairs(m):
    """Return two optional intervals, each an option of a task of its own, in one no_overlap."""
    tasks = [m.interval(n, size=2, start=(0, 20)) for n in "ab"]
    made = [options(m, f"{v} here", f"{v} there") for v in tasks]
    for v, some in zip(tasks, made, strict=True):
        m.add(sl.alternative(v, some))
    m.add(sl.no_overlap([some[0] for some in made]))
    return (*tasks, *(some[0] for some in made))


class TestOn:
    def test_job_shops_and_flexible_job_shops(self):
        for count in (1, 2):
            m = sl.Model("shop")
            m.minimize(shop(m, options=count))
            assert on(m)

    def test_precedences_as_comparisons_a_makespan_variable_and_lags(self):
        m = sl.Model("shop")
        makespan = shop(m, options=2, precedence=lambda v, w: v.end + 1 <= w.start)
        x = m.integer("makespan", 0, 99)
        m.add(x >= makespan)
        m.minimize(x)
        assert on(m)
        m = sl.Model("no wait")
        m.minimize(shop(m, precedence=lambda v, w: sl.end_before_start(v, w, at_most=0)))
        assert not on(m)

    def test_each_stage_of_ordered_objectives(self):
        from schedlab.backends.driver import keep, stage_of

        m = sl.Model("shop")
        makespan = shop(m, options=2)
        m.minimize([makespan, sl.sum([v.end for v in m.intervals])])
        assert on(stage_of(m, 1, [keep(m, 0, 9)]))

    def test_options_of_a_task_that_are_one_native_interval(self):
        m = sl.Model("same machine")
        v = m.interval("v", size=(1, 3))
        some = [m.interval(f"o{k}", size=k, optional=True) for k in (1, 3)]
        m.add(sl.alternative(v, some))
        m.add(sl.no_overlap([*some, m.interval("w", size=2)]))
        assert on(m)


class TestOff:
    def test_without_a_no_overlap(self):
        m = sl.Model("cumulative")
        m.add(sl.cumulative([m.interval(n, size=2) for n in "ab"], [1, 1], 1))
        assert not on(m)

    @pytest.mark.parametrize("make", [two_workers, option_and_master])
    def test_models_that_it_got_wrong(self, make):
        assert not on(make())

    @pytest.mark.parametrize(
        "link",
        [
            lambda m, a, b, x, y: m.add(a.start == b.start),
            lambda m, a, b, x, y: m.add(x.start + 1 == y.start),
            lambda m, a, b, x, y: [m.add(a.start <= b.start), m.add(b.start <= a.start + 1)],
            lambda m, a, b, x, y: m.add(sl.start_before_start(a, b, at_most=1)),
            lambda m, a, b, x, y: m.add(sl.synchronize(a, [b])),
            lambda m, a, b, x, y: m.add(sl.implies(x.presence, sl.holds(a.start == b.start))),
            lambda m, a, b, x, y: m.add(sl.max([a.start, b.start]) <= sl.min([a.start, b.start])),
            lambda m, a, b, x, y: [m.add(v.start == 3 * m.integers[0]) for v in (a, b)],
            lambda m, a, b, x, y: m.minimize(a.start - b.start),
            lambda m, a, b, x, y: m.add(sl.element([0, 2, 4], a.start) == b.start),
            lambda m, a, b, x, y: m.add(sl.no_overlap([a, x])),
            lambda m, a, b, x, y: m.add(sl.no_overlap([a, x], [[0, 1], [1, 0]])),
            lambda m, a, b, x, y: m.add(sl.cumulative([a, x], [1, 1], 1)),
        ],
        ids=range(13),
    )
    def test_starts_related_in_both_directions(self, link):
        m = sl.Model("linked")
        m.integer("x", 0, 3)
        a, b, x, y = pairs(m)
        assert on(m)
        link(m, a, b, x, y)
        assert not on(m)

    @pytest.mark.parametrize(
        "link",
        [
            lambda m, a, b, x, y: m.add(sl.all_or_none([x, y])),
            lambda m, a, b, x, y: m.add(x.presence == y.presence),
            lambda m, a, b, x, y: [m.add(sl.implies(v.presence, w.presence)) for v, w in ((x, y), (y, x))],
            lambda m, a, b, x, y: m.add(x.presence + y.presence >= 1),
            lambda m, a, b, x, y: m.add(x.size == y.size),
            lambda m, a, b, x, y: [m.add(v.presence == m.integers[0]) for v in (x, y)],
            lambda m, a, b, x, y: m.minimize(x.presence - y.presence),
            lambda m, a, b, x, y: m.minimize(sl.holds(x.presence + y.presence == 1)),
            lambda m, a, b, x, y: m.add(sl.holds(x.presence + y.presence == 1) <= 0),
            lambda m, a, b, x, y: m.add(m.intervals[3].presence == y.presence),  # the other option of the task of x
        ],
        ids=range(10),
    )
    def test_presences_that_are_related(self, link):
        m = sl.Model("linked")
        m.integer("x", 0, 1)
        a, b, x, y = pairs(m)
        link(m, a, b, x, y)
        assert not on(m)

    def test_a_variable_demand(self):
        m = sl.Model("demand")
        a, b, x, _ = pairs(m)
        need = m.integer("need", 0, 2)
        m.add(sl.cumulative([a, b], [need, 0], 2))
        assert on(m)
        m.add(sl.cumulative([a, x], [need, 1], 2))
        assert not on(m)

    def test_a_chain_of_masters(self):
        m = sl.Model("nested")
        task = m.interval("task", size=2)
        a, b, c, d = options(m, "a", "b", "c", "d")
        m.add(sl.alternative(task, [a, b]))
        m.add(sl.alternative(a, [c, d]))
        m.add(sl.no_overlap([b, c]))
        assert not on(m)

    def test_several_workers_on_one_task(self):
        m = sl.Model("crew")
        task, some = m.interval("task", size=2), options(m, "a", "b", "c")
        m.add(sl.alternative(task, some, count=2))
        m.add(sl.no_overlap(some[:2]))
        assert not on(m)

    def test_optional_intervals_of_variable_size(self):
        m = sl.Model("variable")
        m.add(sl.no_overlap([m.interval(n, size=(1, 3), optional=True) for n in "ab"]))
        assert not on(m)

    def test_constraints_that_the_user_adds_to_the_native_model(self, monkeypatch):
        chosen = []
        init = search.CpSatRun.__init__

        def noted(self, limits, orders, overlaps):
            chosen.append(orders)
            init(self, limits, orders, overlaps)

        monkeypatch.setattr(search.CpSatRun, "__init__", noted)
        m = sl.Model("native")
        a, b, *_ = pairs(m)
        compiled = sl.compile(m, "cpsat")

        class Ignore:
            def solution(self, assignment, bound=None):
                return True

            def bound(self, value):
                return True

        compiled.run(Ignore(), Limits(threads=1))
        compiled.native.add(compiled.var(a).start == compiled.var(b).start)
        compiled.run(Ignore(), Limits(threads=1))
        assert chosen == [True, False]


def test_a_user_may_ask_for_it():
    m = sl.Model("shop")
    m.minimize(shop(m))
    solver = search.CpSatRun(Limits(parameters={**UNSOUND}), orders=False).solver()
    assert solver.parameters.use_dynamic_precedence_in_disjunctive
    assert sl.solve(m, backend="cpsat", parameters=UNSOUND).status == "optimal"
    off = search.CpSatRun(Limits(parameters=dict.fromkeys(UNSOUND, False)), orders=True).solver()
    assert not off.parameters.use_dynamic_precedence_in_disjunctive
