"""What users' code returns during a replay is checked where it is returned; the error names the object and the value."""

import re

import numpy as np
import pytest
import schedlab as sl
from schedlab.models import WrongAnswer
from schedlab.simulation import POLICIES, Decision, NodeDecision, OnDemandJob, Preemption, Switching, by_submit
from schedlab.simulation.forecasts import forecast_jobs

NAN = float("nan")
SHORT = Switching(boot=1, shut_down=1, min_off=1)  # seconds
MACHINE = sl.Platform([sl.NodeGroup("n", 2, {"cores": 1})])
JOBS = [sl.Job(f"j{k}", k, 20, 1 + k % 2, {"cores": 1}, "q", runtime=10, user=f"u{k % 2}") for k in range(4)]
LOG = sl.Dispatch(MACHINE, JOBS, [sl.Queue("q", 60)], durations="runtime")


def refusal(**options):
    """Return the message of the error with which a replay of four jobs ends."""
    with pytest.raises(sl.SchedlabError) as caught:
        sl.simulate(LOG, **options)
    assert isinstance(caught.value, sl.SimulationError)
    return str(caught.value)


# ---- keys of policies

KEYS = [
    (lambda w, e: w.units[:3], r"shape \(3,\).*one number for each of 4 jobs, shape \(4,\)"),
    (lambda w, e: w.units[:0], r"shape \(0,\).*one number for each of 4 jobs"),
    (lambda w, e: np.append(w.units, 1), r"shape \(5,\).*one number for each of 4 jobs"),
    (lambda w, e: w.units[:, None], r"shape \(4, 1\)"),
    (lambda w, e: 3, "its key returned 3; expected one number"),
    (lambda w, e: None, "its key returned None; expected one number"),
    (lambda w, e: [1, 2, NAN, 4], "its key returned NaN at position 2"),
    (lambda w, e: np.ma.masked_all(4), "its key returned masked_array"),
    (lambda w, e: [1, 2, "x", 4], "its key returned"),
    (lambda w, e: [1, 2, None, 4], "its key returned None at position 2"),
    (lambda w, e: w.units * 1j, "its key returned an array of type complex128"),
    (lambda w, e: w.units.astype("M8[s]"), "its key returned an array of type datetime64"),
    (lambda w, e: [[1], [2, 3], [4], [5]], "its key returned"),
    (lambda w, e: (w.units, w.units, w.units), "a tuple of 3 values.*pair"),
    (lambda w, e: (w.units, w.units[:2]), r"a pair \(base, slope\), returned an array of shape \(2,\)"),
    (lambda w, e: (w.units, w.units * np.inf), r"a pair \(base, slope\), returned inf at position 0"),
    (lambda w, e: w.nothing, "its key raised AttributeError"),
    (lambda w: w.units, "its key raised TypeError"),
]


@pytest.mark.parametrize(("key", "why"), KEYS)
@pytest.mark.parametrize("reservations", [0, 1, 3, None])
def test_a_key_that_is_not_one_number_per_job(key, why, reservations):
    message = refusal(dispatcher=sl.Policy("mine", key, reservations=reservations))
    assert message.startswith("policy 'mine': its key") and re.search(why, message)


@pytest.mark.parametrize(
    "options",
    [
        {"predictor": "last-two"},
        {"charge_decisions": True},
        {"node_policy": "idle:1s", "switching": SHORT},
        {"period": 3},
    ],
)
def test_a_key_is_checked_in_replays_that_are_not_compiled(options):
    wrong = sl.Policy("mine", lambda w, e: w.units[:3], reservations=1)
    assert "policy 'mine': its key returned an array of shape (3,)" in refusal(dispatcher=wrong, **options)


def test_a_key_is_checked_where_a_dispatcher_leaves_the_decision_to_a_policy():
    class Leaving:
        name = "leaving"

        def begin(self, platform, queues, seed):
            pass

        def decide(self, moment):
            return Decision((), policy=sl.Policy("mine", lambda w, e: w.units[:3]))

    assert "policy 'mine': its key returned an array of shape (3,)" in refusal(dispatcher=Leaving())


def test_lists_and_truth_values_are_numbers():
    by_list = sl.simulate(LOG, dispatcher=sl.Policy("list", lambda w, e: [4, 3, 2, 1]))
    by_mask = sl.simulate(LOG, dispatcher=sl.Policy("wide first", lambda w, e: w.units < 2))
    by_number = sl.simulate(LOG, dispatcher=sl.Policy("wide first", lambda w, e: (w.units < 2).astype(float)))
    assert by_list.violations == by_mask.violations == []
    assert by_mask.start.tolist() == by_number.start.tolist()


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("key", 3),
        ("key", None),
        ("key", "submit"),
        ("strict", 1),
        ("reservations", 1.5),
        ("reservations", True),
        ("reservations", "1"),
        ("candidates", 2.0),
        ("shortest_first", "no"),
        ("corrections", 60),
        ("predictor", None),
        ("within_profile", 0),
        ("plan", "submit"),
        ("name", ""),
        ("name", 7),
    ],
)
def test_arguments_of_a_policy_are_checked_when_it_is_made(argument, value):
    with pytest.raises(sl.SchedlabError, match=rf"{argument} is {re.escape(repr(value))}; expected") as caught:
        sl.Policy(**({"name": "x"} | {argument: value}))
    assert isinstance(caught.value, TypeError)


# ---- predictors


class Predicting:
    """A predictor that returns the given values."""

    name = "mine"

    def __init__(self, begin=None, predict=5, learn=()):
        self.values = begin, predict, learn

    def begin(self, workload):
        return self.values[0]

    def predict(self, job):
        return self.values[1]

    def learn(self, job, took):
        return self.values[2]


@pytest.mark.parametrize(
    ("predictor", "why"),
    [
        (Predicting([5, 5, -4, 5]), "the duration of job 'j2' is -4 s; at least 1 s is expected"),
        (Predicting([5, 5, 0, 5]), "the duration of job 'j2' is 0 s; at least 1 s is expected"),
        (Predicting([5, 5, NAN, 5]), "the duration of job 'j2' is nan"),
        (Predicting([5, 5, 4.5, 5]), "the duration of job 'j2' is 4.5"),
        (Predicting([5, 5, None, 5]), "the duration of job 'j2' is None"),
        (Predicting([5, 5, 5]), r"begin returned an array of shape \(3,\)"),
        (Predicting(np.ones((4, 1), int)), r"begin returned an array of shape \(4, 1\)"),
        (Predicting(5), "begin returned 5"),
        (Predicting("5555"), "begin returned '5555'"),
        (Predicting(predict=-4), "the duration of job 'j0' is -4 s; at least 1 s is expected"),
        (Predicting(predict=0), "the duration of job 'j0' is 0 s"),
        (Predicting(predict=NAN), "the duration of job 'j0' is nan"),
        (Predicting(predict=4.5), "the duration of job 'j0' is 4.5"),
        (Predicting(predict=None), "the duration of job 'j0' is None"),
        (Predicting(predict=True), "the duration of job 'j0' is True"),
        (Predicting(predict=2**63), "the duration of job 'j0' is 9223372036854775808 s"),
        (Predicting(learn=None), "learn returned None; expected the numbers of the users"),
        (Predicting(learn=("u0",)), r"learn returned \('u0',\).*each from 0 to 1"),
        (Predicting(learn=(2,)), r"learn returned \(2,\).*each from 0 to 1"),
        (Predicting(learn=(-1,)), r"learn returned \(-1,\)"),
    ],
)
@pytest.mark.parametrize("dispatcher", ["easy", "conservative", "hcp3@cpsat"])
def test_a_prediction_that_is_no_duration(predictor, why, dispatcher):
    message = refusal(dispatcher=dispatcher, predictor=predictor)
    assert message.startswith("predictor mine: ") and re.search(why, message)


def test_a_predictor_that_raises_is_named():
    class Raising(Predicting):
        def predict(self, job):
            raise KeyError("user")

    assert refusal(predictor=Raising()) == "predictor mine raised in predict: KeyError: 'user'"


def test_what_is_no_predictor_is_refused_before_the_replay():
    with pytest.raises(sl.SchedlabError, match="is not a predictor: it has no name and no begin and no predict"):
        sl.simulate(LOG, predictor=7)
    assert sl.simulate(LOG, predictor=Predicting).violations == []  # a class without arguments


# ---- users


class Users:
    """Users who request what the given function returns."""

    name = "mine"

    def __init__(self, answer):
        self.answer = answer

    def begin(self, workload):
        pass

    def request(self, now, jobs, start):
        return self.answer(jobs)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (lambda jobs: None, "request returned None"),
        (lambda jobs: [-4] * len(jobs), "request returned -4 at position 0"),
        (lambda jobs: [0] * len(jobs), "request returned 0 at position 0"),
        (lambda jobs: [NAN] * len(jobs), "request returned nan at position 0"),
        (lambda jobs: [5] * (len(jobs) + 1), r"request returned an array of shape \(2,\)"),
        (lambda jobs: [[5], [5, 6]], "request returned"),
        (lambda jobs: 5, "request returned 5"),
        (lambda jobs: [True], "request returned True at position 0"),
    ],
)
def test_a_walltime_that_is_none(answer, why):
    message = refusal(users=Users(answer))
    assert message.startswith("users mine: ") and re.search(why, message)


# ---- rankers


class Ranking:
    """A ranker that returns what the given function returns."""

    name = "mine"

    def __init__(self, answer):
        self.answer = answer

    def begin(self, platform, queues, users, seed):
        pass

    def learn(self, news):
        pass

    def rank(self, now, waiting):
        return self.answer(len(waiting))


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (lambda n: None, "rank returned None"),
        (lambda n: 1.0, "rank returned 1.0"),
        (lambda n: [1.0] * (n + 1), r"rank returned an array of shape \(2,\)"),
        (lambda n: [NAN] * n, "rank returned NaN"),
        (lambda n: ["1"] * n, "rank returned an array of type"),
        (lambda n: [None] * n, "rank returned None at position 0"),
    ],
)
def test_ranks_that_are_not_one_number_per_waiting_job(answer, why, inside):
    from schedlab.simulation.rankers import WeightedSum

    ranker = WeightedSum([(1.0, Ranking(answer))]) if inside else Ranking(answer)
    message = refusal(dispatcher=POLICIES["easy"].with_ranker(ranker))
    assert "ranker mine: " in message and re.search(why, message)


# ---- node policies


def node_policy(answer):
    class Mine:
        name = "mine"

        def begin(self, platform, switching, desired):
            pass

        def decide(self, moment):
            return answer(moment)

    return Mine()


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (lambda m: None, "it returned None; expected a NodeDecision"),
        (lambda m: NodeDecision(off=m.may_switch_off), "off returned a mask of truth values"),
        (lambda m: NodeDecision(off=None), "off returned None"),
        (lambda m: NodeDecision(on=[2]), "on returned 2 at position 0.*from 0 to 1"),
        (lambda m: NodeDecision(on=[-1]), "on returned -1 at position 0"),
        (lambda m: NodeDecision(on=[0.5]), "on returned 0.5 at position 0"),
        (lambda m: NodeDecision(wake=NAN), "wake is nan"),
        (lambda m: m.nothing, "raised at 0: AttributeError"),
    ],
)
def test_a_decision_about_nodes_that_is_none(answer, why):
    message = refusal(node_policy=node_policy(answer), switching=SHORT)
    assert message.startswith("node policy mine ") and re.search(why, message)


# ---- evictors


def evictor(answer):
    class Mine:
        name = "mine"

        def decide(self, problem):
            return answer(problem)

    return Mine()


def every(problem, strategy, **more):
    return sl.EvictionPlan({c.id: strategy for c in problem.candidates} | more)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (lambda p: 5, "it returned 5; expected an EvictionPlan"),
        (lambda p: {"j1": "kill"}, "it returned {'j1': 'kill'}; expected an EvictionPlan"),
        (lambda p: every(p, "keep"), "nodes are freed"),
        (lambda p: every(p, "kill", other="kill"), "job 'other' is not one of the problem"),
        (lambda p: every(p, "shoot"), "given is 'shoot'"),
        (lambda p: sl.EvictionPlan({}), "given is None"),
        (lambda p: p.nothing, "it raised AttributeError"),
    ],
)
def test_a_plan_of_an_evictor_that_is_none(answer, why):
    urgent = Preemption([OnDemandJob("u", 3, 2, 0, 10)], evictor(answer))
    message = refusal(preemption=urgent)
    assert message.startswith("evictor mine at 3, for on-demand job 'u': ") and re.search(why, message)


# ---- forecasts


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (lambda h: None, "returned None; expected a Workload"),
        (lambda h: [1, 2], r"returned \[1, 2\]; expected a Workload"),
        (lambda h: h, "has a job that is submitted at 0 s"),
        (lambda h: h.nothing, "raised AttributeError"),
    ],
)
def test_a_forecast_that_is_no_workload(answer, why):
    class Mine:
        name = "mine"

        def begin(self, workload):
            pass

        def jobs(self, history, now, end):
            return answer(history)

    from schedlab.instances import Workload

    with pytest.raises(sl.SchedlabError, match=f"the forecast mine.*{why}"):
        forecast_jobs(Mine(), Workload.of(LOG), 100, 200)


# ---- decisions


def deciding(**fields):
    class Mine:
        name = "mine"

        def begin(self, platform, queues, seed):
            pass

        def decide(self, moment):
            return Decision((), **fields)

    return Mine()


@pytest.mark.parametrize(
    "fields",
    [
        {"gain": NAN},
        {"gain": True},
        {"seconds": {"solve": NAN}},
        {"seconds": {"solve": -1.0}},
        {"seconds": {"solve": float("inf")}},
        {"urgent": -1},
        {"urgent": True},
        {"jobs": -3},
        {"jobs": 2.0},
        {"counts": {"cuts": NAN}},
        {"counts": [1]},
        {"requested": {"cores": 1.5}},
        {"wake": NAN},
        {"wake": True},
        {"withdrawn": [1]},
        {"plan": {"j0": 3}},
        {"policy": "easy"},
    ],
)
def test_fields_of_a_decision_are_checked(fields):
    (name,) = fields
    assert re.search(rf"dispatcher mine at 0: Decision\.{name} ", refusal(dispatcher=deciding(**fields)))


# ---- objectives


@pytest.mark.parametrize(
    ("value", "shown"), [(None, "None"), (NAN, "nan"), ("7", "'7'"), (float("inf"), "inf"), ([1, 2], r"\[1, 2\]")]
)
def test_an_objective_whose_value_is_no_number(value, shown):
    from schedlab.models.dispatch.objectives import Excess, Objective

    mine = Objective("mine", "nothing", lambda p: Excess(np.ones(4)), lambda p, s: value)
    with pytest.raises(WrongAnswer, match=f"objective 'mine': value returned {shown}; expected a finite number"):
        mine.value_of(LOG, None)


def test_an_objective_whose_costs_are_none():
    from schedlab.models.dispatch.objectives import Objective

    mine = Objective("mine", "nothing", lambda p: [1, 1, 1, 1], lambda p, s: 0)
    with pytest.raises(WrongAnswer, match=r"objective 'mine': costs returned \[1, 1, 1, 1\]; expected .* Excess, Late"):
        mine.costs_of(LOG)


def test_the_plain_order_has_not_changed():
    own = sl.simulate(LOG, dispatcher=sl.Policy("own", by_submit, reservations=1))
    assert own.start.tolist() == sl.simulate(LOG, dispatcher="easy").start.tolist()
