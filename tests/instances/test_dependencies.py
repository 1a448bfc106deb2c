"""Dependencies of an SWF log: a job waits for its preceding job and the think time."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import schedlab as sl
from hypothesis import given, settings
from hypothesis import strategies as st
from schedlab.instances import Workload, WorkloadError, open_trace, read_trace
from schedlab.instances.log_preparation import arrived
from schedlab.simulation import Decision, Start, violations


def line(job: int, submit: int, runtime: int, cores: int, after: int = -1, think: int = -1, **more: int) -> str:
    fields = [job, submit, -1, runtime, cores, -1, -1, cores, more.get("walltime", runtime), -1, 1, 1, -1, -1, -1, -1]
    return " ".join(map(str, [*fields, after, think]))


def log(folder: Path, *lines: str) -> Path:
    path = folder / "log.swf"
    path.write_text("; MaxProcs: 4\n" + "\n".join(lines) + "\n")
    return path


def starts(path: Path, dispatcher: Any = "fcfs", **options: Any) -> dict[str, int]:
    run = sl.simulate(*open_trace(path, dependencies=True, **options), dispatcher=dispatcher)
    assert run.violations == []
    return dict(zip(run.workload.ids, run.start.tolist(), strict=True))


class FirstFit:
    """A dispatcher in Python: jobs in order of arrival, as far as they fit."""

    name = "first-fit"

    def begin(self, platform: Any, queues: Any, seed: int) -> None:
        self.seen: list[tuple[int, str, int]] = []

    def decide(self, moment: Any) -> Decision:
        free, found = moment.free[:, 0].copy(), []
        for job in moment.waiting:
            self.seen.append((moment.now, job.id, job.submit))
            nodes = np.flatnonzero(free > 0)[: job.units]
            if len(nodes) == job.units:
                free[nodes] = 0
                found.append(Start(job.id, {moment.platform.nodes[n]: 1 for n in nodes}))
        return Decision(found)


CHAIN = (line(1, 0, 100, 2), line(2, 10, 50, 1, after=1, think=30), line(3, 20, 5, 1, after=2), line(4, 25, 7, 1))


@pytest.mark.parametrize("dispatcher", ["fcfs", "easy", "easy++", "conservative", "rule:wt", FirstFit, "hcp@cpsat"])
def test_a_job_arrives_at_the_end_of_its_preceding_job_plus_the_think_time(tmp_path: Path, dispatcher: Any) -> None:
    assert starts(log(tmp_path, *CHAIN), dispatcher) == {"1": 0, "2": 130, "3": 180, "4": 25}


def test_a_job_never_arrives_before_its_submit_time(tmp_path: Path) -> None:
    assert starts(log(tmp_path, line(1, 0, 10, 1), line(2, 500, 5, 1, after=1, think=3))) == {"1": 0, "2": 500}


def test_the_wait_begins_at_the_arrival(tmp_path: Path) -> None:
    run = sl.simulate(*open_trace(log(tmp_path, *CHAIN), dependencies=True), dispatcher="easy")
    assert run.workload.submit.tolist() == [0, 130, 180, 25]
    assert run.metrics.wait.max == 0
    dispatcher = FirstFit()
    sl.simulate(*open_trace(log(tmp_path, *CHAIN), dependencies=True), dispatcher=dispatcher)
    assert dispatcher.seen == [(0, "1", 0), (25, "4", 25), (130, "2", 130), (180, "3", 180)]


def test_first_come_is_the_order_of_arrival(tmp_path: Path) -> None:
    # job 2 was submitted before job 3, but arrives after it; both need the whole machine, which job 4 has until 300
    path = log(tmp_path, line(1, 0, 50, 1), line(2, 1, 9, 4, after=1, think=50), line(3, 60, 9, 4), line(4, 0, 300, 3))
    assert starts(path, "fcfs") == {"1": 0, "2": 309, "3": 300, "4": 0}


def test_dependencies_are_ignored_and_noted_without_the_option(tmp_path: Path) -> None:
    workload, platform = open_trace(log(tmp_path, *CHAIN))
    assert any("2 jobs have a preceding job" in note and "ignored" in note for note in workload.report.notes)
    assert sl.simulate(workload, platform, "fcfs").start.tolist() == [0, 10, 20, 25]


def test_killed_jobs_end_at_their_walltime(tmp_path: Path) -> None:
    path = log(tmp_path, line(1, 0, 100, 1, walltime=40), line(2, 0, 5, 1, after=1, think=1))
    run = sl.simulate(*open_trace(path, dependencies=True), "fcfs", kill_at_walltime=True)
    assert run.violations == []
    assert run.start.tolist() == [0, 41]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ((line(1, 0, 9, 1), line(2, 0, 9, 1, after=7)), "line 3: job '2' waits for job '7', which is not in the log"),
        ((line(1, 0, 9, 1, after=1),), "line 2: job '1' waits for itself"),
        ((line(1, 0, 9, 1, after=2), "; a comment", line(2, 0, 9, 1, after=1)), "jobs 1, 2 wait for each other"),
        ((line(1, 0, 9, 1), line(1, 0, 9, 1), line(2, 0, 9, 1, after=1)), "job numbers must be unique"),
        ((line(1, 0, 9, 1),), "no job has a preceding job"),
    ],
)
def test_faults_are_errors_with_job_and_line(tmp_path: Path, lines: tuple[str, ...], message: str) -> None:
    path = log(tmp_path, *lines)
    with pytest.raises(WorkloadError, match=message):
        open_trace(path, dependencies=True)
    assert len(open_trace(path)[0]) == sum(not text.startswith(";") for text in lines)  # ignored by default


def test_jobs_do_not_wait_for_jobs_that_are_not_replayed(tmp_path: Path) -> None:
    lines = (line(1, 0, -1, 1), line(2, 5, 9, 1, after=1), line(3, 6, 9, 9), line(4, 7, 9, 1, after=3, think=5))
    workload, _ = open_trace(log(tmp_path, *lines), dependencies=True)
    assert (workload.ids, dict(workload.after)) == (("2", "4"), {})
    assert workload.report.repairs["preceding job not replayed, the job does not wait for it"] == 2
    kept = Workload.keep(open_trace(log(tmp_path, *CHAIN), dependencies=True)[0], np.array([1, 2, 3]))
    assert dict(kept.after) == {1: (0, 0)}  # 3 still waits for 2, 2 no longer for 1


def test_the_line_is_that_of_the_job_behind_damaged_lines(tmp_path: Path) -> None:
    trace = read_trace(log(tmp_path, "1 2 3", "", line(1, 0, 9, 1), "; note", line(2, 0, 9, 1, after=1, think=4)))
    assert trace.preceding == {"2": ("1", 4, 6)}


def test_the_verifier_finds_jobs_that_start_too_early(tmp_path: Path) -> None:
    run = sl.simulate(*open_trace(log(tmp_path, *CHAIN), dependencies=True), dispatcher="easy")
    run.start[1] -= 1
    run.end[1] -= 1
    run.workload.submit[1] = run.workload.release[1] = 0
    found = [v.message for v in violations(run)]
    assert found == ["job '2' starts at 129, before 130: its preceding job '1' ends at 100, the think time is 30 s"]


def test_a_job_whose_preceding_job_can_never_start_is_named(tmp_path: Path) -> None:
    workload, platform = open_trace(log(tmp_path, *CHAIN), dependencies=True)
    never = Never()
    with pytest.raises(sl.SimulationError, match=r"job '1' waits forever.*and 2 jobs wait for the end of another job"):
        sl.simulate(workload, platform, never)


class Never(FirstFit):
    """Starts all jobs but job 1."""

    def decide(self, moment: Any) -> Decision:
        decision = super().decide(moment)
        decision.starts = [s for s in decision.starts if s.job != "1"]
        return decision


job = st.tuples(st.integers(0, 200), st.integers(1, 60), st.integers(1, 4), st.integers(0, 40))


@given(st.lists(job, min_size=2, max_size=25), st.data())
@settings(max_examples=25, deadline=None)
def test_random_dependencies_hold(
    tmp_path_factory: pytest.TempPathFactory, jobs: list[tuple[int, int, int, int]], data: st.DataObject
) -> None:
    lines, before = [], dict[int, int]()
    for k, (submit, runtime, cores, think) in enumerate(jobs, 1):
        if k > 1 and data.draw(st.booleans()):
            before[k] = data.draw(st.integers(1, k - 1))
        lines.append(line(k, submit, runtime, cores, before.get(k, -1), think))
    if not before:
        return
    workload, platform = open_trace(log(tmp_path_factory.mktemp("log"), *lines), dependencies=True)
    for dispatcher in ("easy", "rule:slowdown", "easy-l", FirstFit):
        run = sl.simulate(workload, platform, dispatcher)
        start = {int(i): s for i, s in zip(run.workload.ids, run.start.tolist(), strict=True)}
        arrival = {
            k: max(submit, start[before[k]] + jobs[before[k] - 1][1] + think) if k in before else submit
            for k, (submit, _, _, think) in enumerate(jobs, 1)
        }
        assert run.violations == []
        assert {int(i): s for i, s in zip(run.workload.ids, run.workload.submit.tolist(), strict=True)} == arrival
        assert all(start[k] >= arrival[k] for k in start)
        assert arrived(workload, run.end).submit.tolist() == run.workload.submit.tolist()


def test_the_recorded_schedule_is_measured_from_the_same_arrivals_as_replays(tmp_path: Path) -> None:
    """Job 2 arrives 30 s after the end of job 1, at 130, and job 3 started before job 2 ended: it did not wait for it."""
    from schedlab.simulation.metrics import metrics, recorded

    waits = {1: 0, 2: 120, 3: 115, 4: 5}  # field 3: from the submit time of the log
    rows = [row.split() for row in CHAIN]
    made = [" ".join([*row[:2], str(waits[int(row[0])]), *row[3:]]) for row in rows]
    workload, platform = open_trace(log(tmp_path, *made), dependencies=True)
    assert workload.recorded_start.tolist() == [0, 130, 135, 30]
    found = recorded(workload, platform)
    assert found is not None and (found.wait.max, found.wait.mean) == (5, 5 / 4)
    plain = recorded(*open_trace(log(tmp_path, *made)))
    assert plain is not None and plain.wait.mean == (0 + 120 + 115 + 5) / 4
    # a replay with the recorded starts has the same waits, but of job 3, which waits there
    replayed = metrics(sl.simulate(workload, platform, "fcfs"))
    assert replayed.wait.mean == 0 and found.queue_max == 1
