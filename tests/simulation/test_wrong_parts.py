"""Parts of replays that third parties write: what they get cannot be changed, and what is wrong with them is told."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import schedlab as sl
from schedlab.models import NodeEvent
from schedlab.simulation import OnDemandJob, Preemption
from schedlab.simulation.forecasts import forecast_jobs, history_at, parse_forecast

DAY = sl.instances.Workload.of(sl.load("eurora_99").dispatch).first(20)
PLATFORM = sl.load("eurora_99").platform
DOWN = [NodeEvent(DAY.submit[0] + 600, "node-down", ["gpu"]), NodeEvent(DAY.submit[0] + 9000, "node-up", ["gpu"])]
SCAN = OnDemandJob("scan", submit=5000, nodes=4, start_within=900, duration=1800)
MACHINE = sl.Platform([sl.NodeGroup("n", 8, {"cores": 1})])
BATCH = sl.instances.Workload.of(
    sl.Dispatch(
        MACHINE,
        [sl.Job(f"b{k}", 600 * k, 9000, 4, {"cores": 1}, "q", runtime=7200) for k in range(4)],
        [sl.Queue("q", 60)],
    )
)


class Predictor:
    name = "p"

    def begin(self, workload: Any) -> Any:
        self.workload = workload

    def predict(self, job: int) -> int:
        return int(self.workload.walltime[job])

    def learn(self, job: int, took: int) -> Any:
        return ()


class Ranker:
    name = "r"

    def begin(self, platform: Any, queues: Any, users: Any, seed: Any) -> None: ...
    def learn(self, news: Any) -> None: ...

    def rank(self, now: int, waiting: Any) -> Any:
        return waiting.submit


class Users:
    name: Any = "u"

    def begin(self, workload: Any) -> None:
        self.workload = workload

    def request(self, now: int, jobs: Any, start: Any) -> Any:
        return self.workload.walltime[jobs]


class Model:
    name = "c"

    def interval(self, job: str, nodes: int, writing: float) -> Any:
        return 3600


class Requeue:
    name = "q"

    def kept(self, ran: int) -> Any:
        return 0


class Evictor:
    name = "e"

    def decide(self, problem: Any) -> Any:
        return None


class NodePolicy:
    name = "n"

    def begin(self, *_: Any) -> None: ...
    def decide(self, moment: Any) -> Any: ...


class Dispatcher:
    name = "d"

    def begin(self, platform: Any, queues: Any, seed: Any) -> None: ...
    def decide(self, moment: Any) -> Any: ...


def changed(part: type, **changes: Any) -> Any:
    return type(part.__name__, (part,), changes)()


def run(**arguments: Any) -> sl.Simulation:
    return sl.simulate(DAY, PLATFORM, **{"dispatcher": "easy"} | arguments)


def on_demand(*arguments: Any, **others: Any) -> sl.Simulation:
    return sl.simulate(BATCH, MACHINE, "easy", preemption=Preemption([SCAN], *arguments, **others))


def history() -> Any:
    return history_at(DAY, int(DAY.submit[5]) + 1)


READ_ONLY = "raised .*read-only"

WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "a key that changes the jobs": (lambda: run(dispatcher=sl.Policy("x", lambda w, e: w.units.sort())), "x': its key " + READ_ONLY),
    "a key that changes durations": (lambda: run(dispatcher=sl.Policy("x", lambda w, e: e.fill(1))), "x': its key " + READ_ONLY),
    "a predictor that changes jobs": (
        lambda: run(predictor=changed(Predictor, begin=lambda self, w: w.runtime.fill(1))), "predictor p " + READ_ONLY
    ),
    "users that change jobs": (lambda: run(users=changed(Users, begin=lambda self, w: w.runtime.fill(1))), "users u " + READ_ONLY),
    "duration beyond": (lambda: run(predictor=changed(Predictor, predict=lambda self, j: 10**30)), "at least 1 s and below 2"),
    "requeue raises": (
        lambda: run(requeue=changed(Requeue, kept=lambda self, ran: 1 / 0), events=DOWN), "requeue q: kept raised ZeroDiv"
    ),
    "checkpoints raise": (
        lambda: on_demand("dp", changed(Model, interval=lambda *_: 1 / 0)), "checkpoints c: interval raised ZeroDivision"
    ),
    "checkpoints beyond": (lambda: on_demand("dp", changed(Model, interval=lambda *_: 10**30)), "whole seconds of at least 1"),
    "jobs": (lambda: Preemption(None), "jobs of Preemption is None; expected a list of OnDemandJob objects"),  # type: ignore[arg-type]
    "a job": (lambda: Preemption([None]), r"jobs\[0\] of Preemption is None; expected an OnDemandJob"),  # type: ignore[arg-type]
    "failures": (lambda: Preemption([SCAN], failures=[3]), r"failures\[0\] of Preemption is 3; expected a NodeEvent"),  # type: ignore[arg-type]
    "storage": (lambda: Preemption([SCAN], storage=3), "storage of Preemption is 3; expected a Checkpointing"),  # type: ignore[arg-type]
    "bandwidth": (lambda: Preemption([SCAN], shared_bandwidth="no"), "shared_bandwidth of Preemption is 'no'; expected True"),  # type: ignore[arg-type]
    "evictor": (lambda: Preemption([SCAN], "not_there:X"), "no evictor 'not_there:X', and no module not_there"),
    "node policy": (lambda: run(node_policy="not_there:X"), "no node policy 'not_there:X', and no module not_there"),
    "predictor": (lambda: run(predictor="not_there:X"), "no predictor 'not_there:X', and no module not_there"),
    "period": (lambda: run(period=10**30), "period is .* s; expected a whole number of at least 1 and at most 10,000,000,000"),
    "begin": (lambda: run(begin=10**30), "the begin is .* s; at most 10,000,000,000 s"),
    "a forecast by name": (lambda: forecast_jobs("weekly", history(), 0, 9), "forecast of forecast_jobs is 'weekly'; expected"),  # type: ignore[arg-type]
    "a number as a forecast": (lambda: parse_forecast(3), "forecast is 3; expected the name of a forecast"),  # type: ignore[arg-type]
    "a text as a time": (lambda: history_at(DAY, "noon"), "now of history_at is 'noon'; expected a whole number"),  # type: ignore[arg-type]
    **{
        f"name of a {what}": (call, "name is None; expected a text on one line")
        for what, call in {
            "dispatcher": lambda: run(dispatcher=changed(Dispatcher, name=None)),
            "predictor": lambda: run(predictor=changed(Predictor, name=None)),
            "ranker": lambda: run(dispatcher=sl.Policy("x", ranker=changed(Ranker, name=None))),
            "users": lambda: run(users=changed(Users, name=None)),
            "node policy": lambda: run(node_policy=changed(NodePolicy, name=None)),
            "requeue": lambda: run(requeue=changed(Requeue, name=None)),
            "evictor": lambda: on_demand(changed(Evictor, name=None)),
            "checkpoints": lambda: on_demand("dp", changed(Model, name=None)),
        }.items()
    },
    "no function": (lambda: run(dispatcher=changed(Dispatcher, decide=3)), "decide is 3; expected a function"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG)
def test_what_is_wrong_with_a_part_is_told(case: tuple[Callable[[], object], str]) -> None:
    call, words = case
    with pytest.raises(sl.SchedlabError, match=words):
        call()
    assert math.isfinite(DAY.runtime.sum()) and DAY.runtime.max() > 1  # the jobs are as before


def test_classes_stand_for_their_objects() -> None:
    easy = run().start
    assert (run(dispatcher=sl.Policy("x", reservations=1, ranker=Ranker)).violations) == []  # type: ignore[arg-type]
    assert (run(predictor=Predictor).start == easy).all() and (run(users=Users).start == easy).all()
    assert on_demand("dp", Model).violations == []


def test_a_predictor_learns_arrays_and_has_one_note() -> None:
    learning = changed(
        Predictor, learn=lambda self, job, took: np.arange(len(self.workload.users)), notes="trained once"
    )
    found = run(predictor=learning)
    assert found.violations == [] and "trained once" in found.notes
    assert run(users=changed(Users, notes="asked once")).notes[-1] == "asked once"


def test_a_predictor_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_predictors.py").write_text(
        "class Longest:\n"
        "    name = 'longest'\n"
        "    def begin(self, workload): return workload.walltime + 60\n"
        "    def predict(self, job): return 1\n"
        "    def learn(self, job, took): return ()\n"
    )
    monkeypatch.chdir(tmp_path)
    assert run(predictor="my_predictors:Longest").predictor == "longest"
