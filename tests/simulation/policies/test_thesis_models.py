"""The six models of the thesis as dispatchers: pure and composite objectives at each decision [Bridi2018, 3.3.1 to 3.4]."""

import numpy as np
import pytest
import schedlab as sl
from schedlab.backends import UnknownName, backend
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue, Running
from schedlab.models.dispatch import limit_of
from schedlab.models.dispatch.objectives import find_objective
from schedlab.simulation import Moment, check_dispatcher, is_dispatcher, parse_dispatcher
from schedlab.simulation.dispatchers.cp import MODELS, make
from schedlab.simulation.dispatchers.cp.control import Control, Solver

TWO = Platform([NodeGroup("n", 2, {"cores": 4})])
QUEUES = (Queue("fast", 4), Queue("slow", 15))
SOLVERS = [name for name in ("cpsat", "highs", "cpo") if backend(name).availability().ok]


def problem(seed, now=5000):
    """The waiting and the running jobs of one moment."""
    rng = np.random.default_rng(seed)
    jobs = [
        Job(
            f"j{k}", now - int(rng.integers(0, 12)), int(rng.integers(2, 15)), 1, {"cores": int(rng.integers(2, 5))},
            str(rng.choice(["fast", "slow"])),
        )
        for k in range(5)
    ]  # fmt: skip
    held = Running(Job("held", now - 9, 14, 1, {"cores": 3}, "slow"), now - 9, {"n-1": 1}, now + 5)
    return Dispatch(TWO, jobs, QUEUES, "makespan", now, [held])


def moment(p):
    free = np.array([[4], [4]], np.int64)
    for r in p.running:
        free[0, 0] -= r.job.request["cores"]
    expected = {j.id: j.walltime for j in p.jobs} | {r.job.id: r.end - r.start for r in p.running}
    return Moment(
        p.now, TWO, QUEUES, tuple(p.jobs), expected, np.ones(len(p.jobs), np.bool_), tuple(p.running), free
    )  # fmt: skip


def solver(name="cpsat"):
    return Solver(name, "counts", Control(1e6, 1e6, deterministic=True), searched=True)


def values(p, schedule):
    return {name: find_objective(name).value(p, schedule) for (name, *_) in MODELS.values()}


@pytest.mark.parametrize("seed", range(3))
def test_at_one_moment_each_pure_model_is_best_on_its_own_and_composites_keep_their_bounds(seed):
    p = problem(seed)
    pure = {}
    for main, *kept in MODELS.values():
        if not kept:
            found = solver().solve(p.replace(objective=main), lambda: None, 1, 0.0, len(p.jobs))
            assert found.ended == "optimal" and p.verify(found.schedule) == []
            pure[main] = values(p, found.schedule)
    for name, own in pure.items():
        assert all(own[name] <= other[name] + 1e-9 for other in pure.values())
    for main, *kept in MODELS.values():
        if not kept:
            continue
        answers = set()
        for backend_name in SOLVERS:
            found = solver(backend_name).solve_keeping(
                p.replace(objective=main), dict.fromkeys(kept, 1.1), lambda: None, 1, 0.0, len(p.jobs)
            )
            assert found.ended in ("optimal", "infeasible") and p.verify(found.schedule) == []
            if found.ended == "optimal":
                reached = values(p, found.schedule)
                for name in kept:
                    assert reached[name] <= limit_of(p, name, pure[name][name], 1.1) + 1e-9
                assert reached[main] >= pure[main][main] - 1e-9
                answers.add(round(reached[main], 6))
            else:
                answers.add(None)
        assert len(answers) == 1


def test_the_decision_starts_what_the_composite_starts():
    """A decision of mks+wt+nl keeps the bounds: what it starts now can be completed within them."""
    for seed in range(3):
        p = problem(seed)
        found = sl.composite(p, "makespan", {"weighted-tardiness": 1.1, "late-jobs": 1.1}, "cpsat:counts")
        dispatcher = make("mks+wt+nl", deterministic=1e6)
        dispatcher.begin(TWO, QUEUES, 1)
        decision = dispatcher.decide(moment(p))
        assert decision.starts and decision.ended in ("trivial", "optimal", "infeasible")
        if found.result.status == "optimal":
            begun = {s.job: dict(s.nodes) for s in decision.starts}
            fixed = [
                Job(j.id, j.submit, j.walltime, j.units, j.request, j.queue, windows=((p.now, p.now),) if j.id in begun else ())
                for j in p.jobs
            ]  # fmt: skip
            bounded = p.replace(jobs=fixed, limits={**found.limits, "makespan": found.result.objective})
            assert sl.solve(bounded, "cpsat:counts").status == "optimal"


def test_without_a_composite_solution_the_nearest_pure_schedule_is_used():
    """One node: short jobs first keep few late, the heavy queue first keeps the tardiness low; no slack at all."""
    jobs = [
        Job("long", 0, 30, 1, {"cores": 4}, "fast"),
        *(Job(f"s{k}", 0, 10, 1, {"cores": 4}, "fast") for k in range(3)),
    ]
    p = Dispatch(TWO, jobs, QUEUES, "late-jobs")
    found = solver().solve_keeping(p, {"makespan": 1.0, "weighted-tardiness": 1.0}, lambda: None, 1, 0.0, len(p.jobs))
    assert found.ended == "infeasible" and p.verify(found.schedule) == []


@pytest.mark.parametrize("name", MODELS)
def test_a_small_replay_is_verified_and_repeated_alike(name):
    day = sl.load("eurora_99")
    morning = sl.Workload.of(day.dispatch).first(16)
    one, two = (sl.simulate(morning, day.platform, make(name, deterministic=0.02)) for _ in range(2))
    assert one.violations == [] and (one.start >= 0).all()
    assert one.start.tolist() == two.start.tolist()
    assert set(one.decisions.ended) & {"optimal", "limit", "no-gain", "infeasible"}, "no decision used the solver"


def test_the_time_of_a_composite_decision_is_kept():
    day = sl.load("eurora_99")
    run = sl.simulate(sl.Workload.of(day.dispatch).first(30), day.platform, make("mks+wt+nl", limit=0.4))
    seconds = run.decisions.seconds
    spent = (seconds["model"] + seconds["solve"])[seconds["solve"] > 0]
    assert run.violations == [] and spent.size and np.median(spent) < 1.0


def test_names_have_a_backend_a_predictor_and_their_own_objective():
    for name, (main, *kept) in MODELS.items():
        assert is_dispatcher(name) and check_dispatcher(f"{name}@highs").objective == main
        named = parse_dispatcher(f"{name}-d@cpo")
        assert (named.dispatcher, named.predictor, named.backend) == (name, "data-driven", "cpo")
        made = named.make()
        assert made.name == f"{name}@cpo" and made.objective == main and made.slack == dict.fromkeys(kept, 1.1)
        assert made.version == 0 and made.family == "pcp" and made.formulation == "counts"
    assert make("nl+mks+wt", slack=1.5).slack == {"makespan": 1.5, "weighted-tardiness": 1.5}
    assert parse_dispatcher("mks").objective == "makespan"


@pytest.mark.parametrize(
    ("make_it", "error", "words"),
    [
        (lambda: parse_dispatcher("mks@cpsat:waiting"), UnknownName, "pcp@cpsat:waiting"),
        (lambda: parse_dispatcher("mks+wt"), UnknownName, "mks"),
        (lambda: parse_dispatcher("mks+wt+nl@cpsa"), UnknownName, "cpsat"),
        (lambda: make("mks", objective="waiting"), TypeError, "mks has the objective makespan"),
        (lambda: make("mks", slack=1.1), TypeError, "takes no slack"),
        (lambda: make("wt+mks+nl", slack=0.5), sl.SchedlabError, "at least 1"),
    ],
)
def test_wrong_names_and_options_are_errors(make_it, error, words):
    with pytest.raises(error, match=words):
        make_it()
