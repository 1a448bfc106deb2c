"""Ctrl-C, and time limits that a solver ignores; solves in callbacks of other solves and in several threads."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
import time

import pytest
import schedlab as sl
from schedlab.backends import INTERRUPTED, Limits, Outcome, Recorder
from schedlab.backends.solver_thread import GRACE, MAX_ABANDONED, StillRunning, run_in_thread
from schedlab.models import Deadline, OutOfTime, within

HERE = sl.backends.available()
HEAD = """
import os, random, signal, sys, threading, time
from itertools import pairwise
import schedlab as sl

def job_shop(seed, jobs, machines):
    rng, m, ends = random.Random(seed), sl.Model("shop"), []
    on = [[] for _ in range(machines)]
    for j in range(jobs):
        tasks = []
        for k in rng.sample(range(machines), machines):
            tasks.append(m.interval(f"{j} on {k}", size=rng.randint(3, 20), start=(0, 300)))
            on[k].append(tasks[-1])
        for a, b in pairwise(tasks):
            m.add(sl.end_before_start(a, b))
        ends.append(tasks[-1].end)
    for tasks in on:
        m.add(sl.no_overlap(tasks))
    m.minimize(sl.max(ends))
    return m

backend = sys.argv[1]
options = {"lowering": "pairwise"} if backend in ("highs", "pyomo") else {}

def press():
    os.kill(os.getpid(), signal.SIGINT)
"""


def usable(*names: str) -> list[object]:
    return [pytest.param(n, marks=pytest.mark.skipif(not HERE[n].ok, reason=f"{n}: {HERE[n].reason}")) for n in names]


def in_a_process(backend: str, script: str) -> list[str]:
    """Return the lines that a script prints; it must end without an error within two minutes."""
    code = HEAD + textwrap.dedent(script)
    done = subprocess.run(
        [sys.executable, "-c", code, backend], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("backend", usable("highs", "cpsat", "cpo"))
def test_ctrl_c_returns_the_best_so_far_and_the_next_one_is_raised(backend: str) -> None:
    status, message, next_one = in_a_process(
        backend,
        """
        pressed = []
        def first(news):
            if news.objective is not None and not pressed:
                pressed.append(True)
                press()
        r = sl.solve(job_shop(6, 14, 9), backend=backend, time_limit=60, threads=2, on_incumbent=first, **options)
        print(r.status, r.message, sep="\\n")
        try:
            press()
            time.sleep(20)
        except KeyboardInterrupt:
            print("raised")
        """,
    )
    assert (status, message, next_one) == ("feasible", INTERRUPTED, "raised")


@pytest.mark.slow
@pytest.mark.parametrize("backend", usable("pyomo"))
def test_ctrl_c_with_a_solver_that_reports_only_its_end(backend: str) -> None:
    status, message, objective = in_a_process(
        backend,
        """
        def later():
            while "schedlab solver" not in [t.name for t in threading.enumerate()]:
                time.sleep(0.05)
            time.sleep(1)
            press()
        threading.Thread(target=later, daemon=True).start()
        r = sl.solve(job_shop(6, 14, 9), backend=backend, time_limit=60, **options)
        print(r.status, r.message, sep="\\n")
        print(sl.solve(job_shop(1, 3, 2), backend=backend, **options).status)
        """,
    )
    assert status in ("feasible", "unknown") and (message, objective) == (INTERRUPTED, "optimal")


@pytest.mark.slow
@pytest.mark.parametrize("backend", usable("highs", "cpsat", "cpo", "pyomo"))
def test_solves_in_a_callback_and_in_four_threads(backend: str) -> None:
    lines = in_a_process(
        backend,
        """
        inner, found = [], [None] * 4
        def within(news):
            if len(inner) < 2:
                inner.append(sl.solve(job_shop(7, 3, 2), backend=backend, time_limit=60, **options).status)
        outer = sl.solve(job_shop(1, 5, 3), backend=backend, time_limit=60, threads=2, on_incumbent=within, **options)
        def one(k):
            found[k] = sl.solve(job_shop(k, 3, 3), backend=backend, time_limit=60, **options).objective
        threads = [threading.Thread(target=one, args=(k,)) for k in range(4)]
        for t in threads: t.start()
        for t in threads: t.join()
        alone = [sl.solve(job_shop(k, 3, 3), backend=backend, time_limit=60, **options).objective for k in range(4)]
        print(outer.status, set(inner), found == alone and None not in found)
        """,
    )
    assert lines == ["optimal {'optimal'} True"]


def a_watch() -> Recorder:
    m = sl.Model("empty")
    return Recorder(m, m, sl.backends.Exactness(), Deadline(), None, None)


class Owner:
    """Stands for a compiled model."""


@pytest.fixture
def stubborn():  # type: ignore[no-untyped-def]
    """Return the work of a solver that does not stop until the end of the test."""
    end = threading.Event()

    def work(_: object) -> Outcome:
        end.wait(60)
        return Outcome("optimal")

    work.end = end  # type: ignore[attr-defined]
    yield work
    end.set()


def test_a_solver_that_ignores_its_time_limit_is_abandoned(stubborn) -> None:  # type: ignore[no-untyped-def]
    owner, halted = Owner(), threading.Event()
    began = time.perf_counter()
    outcome = run_in_thread(owner, stubborn, halted.set, a_watch(), Limits(0.1))
    took = time.perf_counter() - began
    assert (outcome.status, outcome.running) == ("unknown", True) and "has not stopped" in outcome.message
    assert halted.is_set() and took > GRACE
    with pytest.raises(StillRunning, match="compile the model again"):
        run_in_thread(owner, stubborn, halted.set, a_watch(), Limits(0.1))
    stubborn.end.set()
    while outcome.running:  # until its thread ended
        try:
            outcome = run_in_thread(owner, stubborn, halted.set, a_watch(), Limits(5))
        except StillRunning:
            time.sleep(0.01)
    assert outcome.status == "optimal"


def test_ctrl_c_leaves_a_solver_that_does_not_stop_and_a_second_one_is_raised() -> None:
    lines = in_a_process(
        "cpsat",
        """
        from schedlab.backends import Exactness, Limits, Outcome
        from schedlab.backends.solver_thread import run_in_thread
        from schedlab.backends.solver_thread import new_call
        from schedlab.backends.result import Recorder
        class Owner: pass
        end = threading.Event()
        m = sl.Model("empty")
        from schedlab.models.long_calls import Deadline
        watch = Recorder(m, m, Exactness(), Deadline(), None, None)
        def stubborn(_):
            press()
            end.wait(30)
            return Outcome("optimal")
        new_call()
        outcome = run_in_thread(Owner(), stubborn, lambda: None, watch, Limits(None))
        print(outcome.message, outcome.running)
        new_call()
        try:
            run_in_thread(Owner(), stubborn, press, watch, Limits(None))
        except KeyboardInterrupt:
            print("raised")
        end.set()
        """,
    )
    assert lines == ["interrupted True", "raised"]


def test_ctrl_c_works_after_a_direct_use_of_or_tools() -> None:
    """OR-Tools leaves the system's handler of SIGINT, which ends the process."""
    lines = in_a_process(
        "cpsat",
        """
        from ortools.sat.python import cp_model
        cp_model.CpSolver().solve(cp_model.CpModel())
        r = sl.solve(sl.load("eurora_99").problem, method="first-solution:est", on_incumbent=lambda _: press())
        print(r.status, r.message)
        """,
    )
    assert lines == ["feasible interrupted"]


def test_a_compiled_model_can_be_solved_again() -> None:
    """HiGHS keeps the last value that a callback sets: a second run ended as soon as it began."""
    m = sl.Model("jobs")
    jobs = [m.interval(f"j{k}", size=3 + k % 5, start=(0, 90)) for k in range(12)]
    m.add(sl.cumulative(jobs, [2 + k % 3 for k in range(12)], 5))
    m.minimize(sl.sum([j.end for j in jobs], weights=[1 + (k * 7) % 5 for k in range(12)]))
    compiled = sl.compile(m, "highs", lowering="pairwise")
    for _ in range(2):
        watch = Recorder(m, m, compiled.exactness, Deadline(), None, None)
        assert "Interrupted" not in compiled.run(watch, Limits(0.3, 1)).message


@pytest.mark.parametrize("backend", usable("highs", "cpsat", "cpo", "pyomo"))
def test_a_lowering_looks_at_the_clock(backend: str) -> None:
    m = sl.Model("jobs")
    jobs = [m.interval(f"j{k}", size=3, start=(0, 9)) for k in range(3)]
    m.add(sl.cumulative(jobs, [1, 1, 1], 2))
    m.minimize(sl.max([j.end for j in jobs]))
    with within(Deadline(-1)), pytest.raises(OutOfTime):
        sl.compile(m, backend)
    start = sl.solve(m, backend="cpsat").assignment
    r = sl.solve(m, backend=backend, time_limit=1e-9, warm_start=start)
    assert (r.status, r.size, r.message) == ("feasible", {}, "the time limit ended before the solver began")


def test_a_formulation_looks_at_the_clock() -> None:
    problem = sl.load("eurora_99").problem
    r = sl.solve(problem, method="cpsat:units+warm", time_limit=1e-9)
    assert (r.status, r.size, r.message) == ("feasible", {}, "the time limit ended before the solver began")
    assert problem.verify(r.schedule) == []


def test_a_run_is_refused_while_too_many_solvers_have_not_stopped(stubborn) -> None:  # type: ignore[no-untyped-def]
    """The third call waited for ever."""
    for _ in range(MAX_ABANDONED):
        run_in_thread(Owner(), stubborn, lambda: None, a_watch(), Limits(0.05))
    m = sl.Model("one")
    a = m.interval("a", size=3, start=(2, 9))
    m.minimize(a.end)
    with pytest.raises(sl.SchedlabError, match="2 solvers of earlier calls have not stopped since their time limits"):
        sl.solve(m, backend="cpsat", time_limit=1)
    start = sl.Assignment(m)
    start.set(a, 4, 7)
    kept = sl.solve(m, backend="cpsat", time_limit=1, warm_start=start)
    assert kept.objective == 7 and "have not stopped" in kept.message
    assert sl.solve(m, backend="cpsat").objective == 5, "a call without a limit waits for its own solver alone"
