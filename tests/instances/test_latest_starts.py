"""Latest starts: of a log by a rule, in workloads and in instance folders."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import schedlab as sl
from fuzz_seeds import SWF_PARTITIONS
from schedlab.instances import Instance, Workload, WorkloadError, load, open_trace, write
from schedlab.instances.log_preparation import latest_start_rule
from schedlab.instances.workload import NEVER
from schedlab.models import Dispatch, Job, NodeGroup, Platform, ProblemError, Queue


@pytest.fixture
def swf(tmp_path: Path) -> Path:
    path = tmp_path / "log.swf"
    path.write_text(SWF_PARTITIONS)
    return path


def test_the_latest_start_is_the_submit_time_plus_the_mean_wait_of_the_partition(swf: Path) -> None:
    workload, _ = open_trace(swf, latest_start="mean-wait")
    assert workload.latest_start.tolist() == [0 + 20, 10 + 100, 20 + 20, 30 + 5, 40 + 7]
    assert any("mean recorded wait of its partition" in note for note in workload.report.notes)
    assert workload.job(1).latest_start == 110


def test_the_means_are_those_of_the_whole_log(swf: Path) -> None:
    workload, _ = open_trace(swf, latest_start="mean-wait", partitions=["batch"], first=1)
    assert workload.ids == ("1",) and workload.latest_start.tolist() == [20]


def test_without_partitions_the_queue_counts(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    waits = [10, 20, -1, 7]
    rows = [f"{k} 0 {w} 60 4 -1 -1 4 3600 -1 1 5 1 -1 {1 + k // 4} -1 -1 -1" for k, w in enumerate(waits, 1)]
    path.write_text("; MaxProcs: 4\n" + "\n".join(rows) + "\n")
    workload, _ = open_trace(path, latest_start="mean-wait")
    assert workload.latest_start.tolist() == [15, 15, 15, 7]
    assert any("mean recorded wait of its queue" in note for note in workload.report.notes)


def test_a_queue_without_a_recorded_wait_has_no_latest_start(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    rows = [f"{k} 0 {wait} 60 4 -1 -1 4 3600 -1 1 5 1 -1 {k} -1 -1 -1" for k, wait in ((1, 10), (2, -1))]
    path.write_text("; MaxProcs: 4\n" + "\n".join(rows) + "\n")
    workload, _ = open_trace(path, latest_start="mean-wait")
    assert workload.latest_start.tolist() == [10, NEVER]
    assert workload.job(1).latest_start is None
    assert workload.report.repairs["no recorded wait in the partition or queue, no latest start"] == 1
    path.write_text("; MaxProcs: 4\n1 0 -1 60 4 -1 -1 4 3600 -1 1 5 1 -1 1 -1 -1 -1\n")
    with pytest.raises(WorkloadError, match=r"log: the log records no waiting time.*give a number of seconds"):
        open_trace(path, latest_start="mean-wait")


def test_seconds_after_the_submit_time(swf: Path) -> None:
    assert open_trace(swf, latest_start=600)[0].latest_start.tolist() == [600, 610, 620, 630, 640]
    for wrong in (-1, 2**60, "sometimes", 1.5):
        with pytest.raises(WorkloadError, match=r"the latest start .*expected"):
            open_trace(swf, latest_start=wrong)  # type: ignore[arg-type]
    with pytest.raises(WorkloadError, match="expected mean-wait, or seconds after the submit time such as 3600"):
        latest_start_rule("1h")


def test_latest_starts_move_with_the_submit_times(swf: Path) -> None:
    workload, platform = open_trace(swf, latest_start=600)
    assert workload.since(10).latest_start.tolist() == [590, 600, 610, 620, 630]
    slower = workload.at_load(workload.load(platform) / 2, platform)
    assert (slower.latest_start - slower.submit).tolist() == [600] * 5
    assert open_trace(swf)[0].since(10).latest_start.tolist() == [NEVER] * 5


JOBS = [
    Job("a", 0, 10, 1, {"cores": 1}, "q", runtime=10, latest_start=5),
    Job("b", 0, 10, 1, {"cores": 1}, "q", runtime=10),
    Job("c", 1, 10, 1, {"cores": 1}, "q", runtime=10, latest_start=9),
]
PLATFORM = Platform([NodeGroup("n", 1, {"cores": 1})])


def day(jobs: list[Job]) -> Dispatch:
    return Dispatch(PLATFORM, jobs, [Queue("q", 60)], "waiting")


def test_instance_files_hold_latest_starts_and_are_unchanged_without_them(tmp_path: Path) -> None:
    write(Instance("day", "dispatch", day(JOBS)), tmp_path / "day")
    text = (tmp_path / "day" / "jobs.csv").read_text()
    assert text.splitlines() == [
        "id,queue,submit,units,cores,walltime,runtime,latest_start",
        "a,q,0,1,1,10,10,5", "b,q,0,1,1,10,10,", "c,q,1,1,1,10,10,9",
    ]  # fmt: skip
    assert [j.latest_start for j in load(tmp_path / "day").dispatch.jobs] == [5, None, 9]
    write(Instance("day", "dispatch", day([replace(j, latest_start=None) for j in JOBS])), tmp_path / "plain")
    assert "latest_start" not in (tmp_path / "plain" / "jobs.csv").read_text()


def test_a_problem_does_not_enforce_them_and_checks_their_numbers() -> None:
    problem = day(JOBS)
    assert problem.verify(sl.Schedule({"a": 20, "b": 0, "c": 10}, {n: {"n-1": 1} for n in "abc"})) == []
    with pytest.raises(ProblemError, match=r"job 'a': latest_start is 0\.5; a whole number, or None, is expected"):
        day([replace(JOBS[0], latest_start=0.5)])  # type: ignore[arg-type]


def test_workloads_and_problems_convert_into_each_other() -> None:
    workload = Workload.of(day(JOBS))
    assert workload.latest_start.tolist() == [5, NEVER, 9]
    assert [j.latest_start for j in workload.dispatch(PLATFORM).jobs] == [5, None, 9]
    assert workload.keep(np.array([1, 2])).latest_start.tolist() == [NEVER, 9]
    with pytest.raises(WorkloadError, match=r"job 'b': latest_start is 9\.5"):
        replace(workload, latest_start=np.array([5, 9.5, 7]))
