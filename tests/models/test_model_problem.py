"""Models as problems: the answer has all values, and is checked by the model; files of models are instances."""

import json
from pathlib import Path

import pytest
import schedlab as sl
from schedlab.backends.conformance import brute_force, random_model
from schedlab.models import ModelProblem, ProblemError, Schedule


def painter() -> sl.Model:
    m = sl.Model("painter")
    jobs = [m.interval(f"job {k}", size=s) for k, s in enumerate((3, 2, 4))]
    x = m.integer("x", -1, 3)
    dry = m.interval("dry", size=(1, 4), optional=True)
    m.add(sl.no_overlap([*jobs, dry]), "machine")
    m.add(x + 2 * dry.presence >= 2, "dry or costs")
    m.minimize(sl.max([j.end for j in [*jobs, dry]]) + 2 * x)
    return m


def test_the_answer_has_the_values_of_all_variables():
    problem = ModelProblem(painter())
    r = sl.solve(problem, method="cpsat:model", time_limit=20, threads=1)
    assert (r.status, r.objective) == ("optimal", 10)
    answer = r.schedule.as_json()
    assert answer["dry"]["nodes"] == {"size": 1} and answer["x"] == {"start": 0, "nodes": {}}
    again = problem.read(json.loads(json.dumps(answer)))
    assert problem.verify(again) == [] and problem.value(again) == 10


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.start.update({"job 0": s.start["job 1"]}), "while job"),
        (lambda s: s.start.pop("job 2"), "interval 'job 2' is not optional and has no start"),
        (lambda s: s.start.pop("x"), "integer 'x' has no value"),
        (lambda s: s.start.update(y=1), "the model has no variable 'y'"),
        (lambda s: s.nodes.pop("dry"), "interval 'dry' has no size"),
        (lambda s: s.nodes.update(dry={"size": 5}), "size"),
        (lambda s: s.start.update(x=-1), "dry or costs"),
    ],
)
def test_a_wrong_answer_is_named(change, message):
    problem = ModelProblem(painter())
    answer = sl.solve(problem, method="cpsat:model", time_limit=20, threads=1).schedule
    change(answer)
    assert message in " ".join(f"{v.constraint} {v.message}" for v in problem.verify(answer))


def test_variables_of_one_name_are_told_apart():
    m = sl.Model("twins")
    for size in (2, 3):
        m.interval("a", size=size)
    m.add(sl.no_overlap(m.intervals))
    m.minimize([sl.max([v.end for v in m.intervals]), m.intervals[0].start])
    problem = ModelProblem(m)
    r = sl.solve(problem, method="highs:model", time_limit=20)
    assert r.objective == (5, 0) and r.schedule.start == {"a": 0, "a#2": 2}
    m.integer("a#2", 0, 1)
    with pytest.raises(ProblemError, match="two variables would be called 'a#2'"):
        ModelProblem(m).verify(Schedule({}))


def test_a_model_without_an_objective_is_refused():
    with pytest.raises(ProblemError, match=r"has no objective; m.minimize\(0\)"):
        ModelProblem(sl.Model("none"))


@pytest.mark.parametrize("seed", [k for k in range(60) if random_model(k).model.objectives][:25])
def test_files_of_random_models_have_their_optima(seed: int, tmp_path: Path):
    model = random_model(seed).model
    (tmp_path / "m.json").write_text(model.to_json())
    problem = sl.load(str(tmp_path / "m.json")).problem
    truth = brute_force(model)
    r = sl.solve(problem, method="cpsat:model", time_limit=20, threads=1)
    assert r.status == ("optimal" if truth.best is not None else "infeasible")
    if truth.best is not None:
        found = r.objective if isinstance(r.objective, tuple) else (r.objective,)
        assert found == pytest.approx(truth.objectives)
        assert problem.verify(r.schedule) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t[:200], "m.json: the model is no JSON text"),
        (lambda t: t.replace('"no_overlap"', '"no_overlaps"'), r"m.json: constraints\[0\].type: expected one of"),
        (lambda t: sl.Model("none").to_json(), "m.json: model 'none' has no objective"),
    ],
)
def test_a_fault_of_a_file_is_named(change, message, tmp_path: Path):
    (tmp_path / "m.json").write_text(change(painter().to_json()))
    with pytest.raises(ProblemError, match=message):
        sl.load(str(tmp_path / "m.json"))
