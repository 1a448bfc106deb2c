"""Tables of other people: a map of columns, PM100, F-DATA, Philly, and the table of jobs of Slurm's accounting database."""

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from schedlab.instances import WorkloadError, read_trace
from schedlab.instances.formats.job_table import column_map
from schedlab.instances.traces import guess_format
from schedlab.models import Gres, RecordedAttempt

Writer = Callable[[str, str], Path]
TABLE = """\
job,sent,begun,ended,limit,nodes,cpus,gb,gpus,group,level
a,2024-05-01T10:00:00,2024-05-01T10:10:00,2024-05-01T11:10:00,120,2,30,64,4,debug,high
b,2024-05-01T10:05:00Z,2024-05-01T10:05:00+00:00,1714561800,1-00:00:00,1,4,1.5,,batch,
c,2024-05-01 10:06,,,,1,4,2,,batch,low
d,noon,2024-05-01T10:05:00Z,1714561800,60,1,4,2,,batch,low
"""
MAP = (
    "id=job", "submit=sent", "start=begun", "end=ended", "walltime=60*limit", "units=nodes", "cores=cpus/units",
    "memory=1024*gb/units", "gpus=gpus/units", "queue=group", "asked.qos=level",
)  # fmt: skip
ROME = ZoneInfo("Europe/Rome")


def test_a_map_names_the_columns_their_units_and_the_share_of_a_unit(file: Writer) -> None:
    trace = read_trace(file("log.csv", TABLE), columns=MAP, zone=ROME)
    w = trace.workload
    row = {job: k for k, job in enumerate(w.ids)}
    assert (trace.format, trace.resources, sorted(row)) == ("table", ("cores", "memory", "gpus"), ["a", "b"])
    a, b = row["a"], row["b"]
    assert w.submit[[a, b]].tolist() == [datetime(2024, 5, 1, 10, tzinfo=ROME).timestamp(), 1714557900]
    assert (w.recorded_start - w.submit)[[a, b]].tolist() == [600, 0]
    assert (w.runtime[[a, b]].tolist(), w.walltime[[a, b]].tolist()) == ([3600, 3900], [7200, 86400])
    assert w.request[[a, b]].tolist() == [[15, 32768, 2], [4, 1536, 0]]
    assert (w.job(a).asked.qos, w.unix_start) == ("high", 0)  # type: ignore[union-attr]
    assert dict(w.report.dropped) == {"c": "it never started"}
    assert [(bad.line, "sent is 'noon'" in bad.message) for bad in w.report.bad_lines] == [(5, True)]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["id=job", "submit=when", "end=ended", "cores=cpus"], "there is no column when; its columns are job, sent"),
        (["submit=sent", "end=ended"], "there is no resource"),
        (["submit=sent", "cores=cpus"], "neither runtime nor end"),
        (["submit=sent", "submit=begun", "end=ended", "cores=cpus"], "submit is given twice"),
        (["submit=sent", "end=", "cores=cpus"], "expected NAME=COLUMN"),
    ],
)
def test_a_wrong_map_is_told(file: Writer, columns: list[str], message: str) -> None:
    with pytest.raises(WorkloadError, match=message):
        read_trace(file("log.csv", TABLE), columns=columns)


def test_a_factor_and_the_share_of_a_unit() -> None:
    sources = column_map(["submit=t", "runtime=0.001*ms", "cores = 2 * all cores/units"], ROME).sources
    assert (sources["runtime"].column, sources["runtime"].factor) == ("ms", 0.001)
    assert (sources["cores"].column, sources["cores"].factor, sources["cores"].per_unit) == ("all cores", 2, True)


def parquet(path: Path, **columns: list[Any]) -> Path:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pandas.DataFrame(columns).to_parquet(path)
    return path


def test_pm100_is_recognised(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    submit = pandas.to_datetime(["2020-05-01T10:00:00Z", "2020-05-01T11:00:00Z"])
    start = submit + pandas.Timedelta("60s")
    path = parquet(
        tmp_path / "jobs.parquet", job_id=[1, 2], submit_time=submit, eligible_time=submit, start_time=start,
        end_time=start + pandas.Timedelta("3600s"), run_time=[3600, 3600], time_limit=[120.0, float("nan")],
        num_nodes_alloc=[2, 1], num_cores_alloc=[256, 32], num_gpus_alloc=[8, 1], partition=["1", "2"], user_id=[7, 8],
        qos=["a", "b"], num_nodes_req=[2, 1], num_cores_req=[256, 32], num_tasks=[8.0, float("nan")], priority=[100, 200],
        job_state=["COMPLETED", "FAILED"], state_reason=["None", "x"],
    )  # fmt: skip
    assert guess_format(path) == "pm100"
    w = read_trace(path).workload
    assert (w.submit.tolist(), w.recorded_start.tolist()) == ([1588327200, 1588330800], [1588327260, 1588330860])
    assert (w.units.tolist(), w.request.tolist(), w.walltime.tolist()) == ([2, 1], [[128, 4], [32, 1]], [7200, 3600])
    assert w.job(0).asked.tasks == 8  # type: ignore[union-attr]
    assert w.job(1).asked.tasks is None  # type: ignore[union-attr]
    assert w.job(1).recorded.state == "FAILED"  # type: ignore[union-attr]


def test_f_data_is_recognised(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    submit = pandas.to_datetime(["2023-04-01 10:00:00+09:00"])
    path = parquet(
        tmp_path / "23_04.parquet", jid=["x1"], usr=["u"], jnam=["run"], adt=submit, qdt=submit,
        sdt=submit + pandas.Timedelta("1h"), edt=submit + pandas.Timedelta("3h"), duration=[7200.0], elpl=[10800],
        nnumr=[4], cnumr=[192], **{"exit state": ["completed"]},
    )  # fmt: skip
    assert guess_format(path) == "fdata"
    w = read_trace(path).workload
    assert (w.units.tolist(), w.request.tolist(), w.runtime.tolist(), w.walltime.tolist()) == (
        [4],
        [[48]],
        [7200],
        [10800],
    )
    assert w.recorded_start.tolist() == [1680310800 + 3600]


DATABASE = """\
id_job,id_array_job,id_array_task,id_user,nodes_alloc,nodelist,cpus_req,array_max_tasks,constraints,mem_req,partition,priority,\
state,timelimit,time_submit,time_eligible,time_start,time_end,time_suspended,tres_alloc,tres_req
10,0,4294967294,7,1,n[2],20,0,xeon,9223372036854784308,normal,100,3,1440,1610000000,1610000000,1610000100,1610003700,0,\
"1=20,2=170000,4=1,5=20,1002=2","1=20,2=170000,4=1,1002=2"
12,11,3,8,2,None assigned,80,4,,0,normal,100,4,4294967295,1610000000,1610000000,0,1610000700,0,,"1=80,4=2"
13,0,4294967294,8,1,n3,4,0,,4000,normal,100,6,10,1610000000,1610000000,1610000000,1610000900,300,"1=4,2=4000,4=1",
14,0,4294967294
"""


def test_the_jobs_of_the_accounting_database_are_those_of_sacct(file: Writer) -> None:
    trace = read_trace(file("slurm-log.csv", DATABASE))
    w = trace.workload
    assert (trace.format, w.ids, w.resources) == ("sacct", ("10", "13"), ("cores", "gpus", "memory"))
    assert (w.request.tolist(), w.runtime.tolist()) == ([[20, 2, 170000], [4, 0, 4000]], [3600, 600])
    assert w.walltime.tolist() == [86400, 600]
    asked = w.job(0).asked
    assert asked is not None
    assert (asked.memory_per_cpu, asked.features, asked.gres) == (8500, "xeon", (Gres("gpu", "volta", 2, "job"),))
    assert dict(w.report.dropped) == {"11_3": "it never started: it was cancelled in the queue"}
    assert [bad.line for bad in w.report.bad_lines] == [5]


def philly(*jobs: dict[str, Any]) -> str:
    usual = {"status": "Pass", "vc": "ee9e8c", "jobid": "a_1", "submitted_time": "2017-10-07 01:11:39", "user": "ce"}
    return json.dumps([{**usual, **job} for job in jobs])


def attempt(start: str | None, end: str | None, **gpus: int) -> dict[str, Any]:
    detail = [{"ip": ip, "gpus": [f"gpu{k}" for k in range(n)]} for ip, n in gpus.items()]
    return {"start_time": start, "end_time": end, "detail": detail}


def test_philly_has_servers_with_gpus_and_attempts(file: Writer) -> None:
    first = attempt("2017-10-07 01:12:00", "2017-10-07 01:13:00", m1=8)
    second = attempt("2017-10-07 01:14:00", "2017-10-07 03:14:00", m2=8, m3=8, m4=2)
    text = philly(
        {"attempts": [first, second]},
        {"jobid": "a_2", "status": "Killed", "attempts": []},
        {"jobid": "a_3", "attempts": [attempt("yesterday", None)]},
        {"jobid": "a_4", "attempts": [attempt("2017-10-07 01:12:00", None, m1=1)]},
    )
    path = file("cluster_job_log", text)
    assert guess_format(path) == "philly"
    w = read_trace(path).workload
    assert (w.ids, w.runtime.tolist(), w.resources) == (("a_1",), [7200], ("gpus",))
    assert [(c.units, dict(c.request)) for c in w.chunks[0]] == [(2, {"gpus": 8}), (1, {"gpus": 2})]
    recorded = w.job(0).recorded
    assert recorded is not None
    assert recorded.nodes == "m2,m3,m4"
    assert recorded.attempts == (RecordedAttempt(1507338699, 1507338720, 1507338780, "REQUEUED", "m1"),)
    assert dict(w.report.dropped) == {"a_2": "it never started", "a_4": "its runtime is unknown"}
    assert "start_time is 'yesterday'" in w.report.bad_lines[0].message


def test_another_list_is_not_philly(file: Writer) -> None:
    with pytest.raises(WorkloadError, match="expected cluster_job_log"):
        read_trace(file("log", "[1, 2]"), "philly")
