"""What jobs asked of their site and what was recorded of them: from the log to instances, tables and back."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from schedlab.bench.cli.importing import log_instance
from schedlab.instances import (
    SITE_COLUMNS,
    InstanceError,
    SiteColumns,
    Workload,
    WorkloadError,
    cells_of,
    load,
    open_trace,
    read_trace,
    site_of,
    write,
)
from schedlab.instances.log_preparation import cancellations, with_partition_limits
from schedlab.models import Dependency, Gres, Platform, Recorded, RecordedAttempt, SiteRequest

Writer = Callable[[str, str], Path]
HEAD = (
    "JobID|Account|QOS|Partition|Submit|Eligible|Start|End|Elapsed|Timelimit|NNodes|NCPUS|ReqNodes|ReqCPUS|ReqMem|State|"
    "NodeList|Reason|Priority|Constraints|Reservation|ReqTRES|SubmitLine"
)
USUAL = {
    "JobID": "7", "Account": "chem", "QOS": "high", "Partition": "batch", "Submit": "2024-03-01T08:00:00",
    "Eligible": "2024-03-01T08:01:00", "Start": "2024-03-01T08:10:00", "End": "2024-03-01T09:10:00", "Elapsed": "01:00:00",
    "Timelimit": "02:00:00", "NNodes": "2", "NCPUS": "8", "ReqNodes": "1", "ReqCPUS": "8", "ReqMem": "500Mc",
    "State": "COMPLETED", "NodeList": "n[1-2]", "Reason": "Dependency", "Priority": "4711", "Constraints": "",
    "Reservation": "", "ReqTRES": "cpu=8,mem=4000M,node=1", "SubmitLine": "",
}  # fmt: skip
BEGIN = 1709280000  # 2024-03-01T08:00:00
WAITED = {
    "Start": "None", "End": "2024-03-01T09:00:00", "Elapsed": "00:00:00", "NodeList": "None assigned", "NNodes": "1",
    "State": "CANCELLED by 0", "Eligible": "Unknown",
}  # fmt: skip


def log(*rows: dict[str, str]) -> str:
    return "\n".join([HEAD, *("|".join({**USUAL, **values}[c] for c in HEAD.split("|")) for values in rows)]) + "\n"


def site(w: Workload) -> list[tuple[str, SiteRequest, Recorded]]:
    assert w.site is not None
    return [(w.ids[k], w.site.asked(k), w.site.recorded(k, int(w.recorded_start[k]))) for k in range(len(w))]


# from columns and command lines


def test_columns_tell_what_a_job_asked_and_what_was_recorded(file: Writer) -> None:
    w = read_trace(file("log", log({}))).workload
    assert w.job(0).asked == SiteRequest(
        account="chem", qos="high", partitions=("batch",), min_nodes=1, cpus=8, memory_per_cpu=500
    )
    assert w.job(0).recorded == Recorded(BEGIN + 600, BEGIN + 60, None, 4711, "n[1-2]", "COMPLETED", "Dependency")
    assert w.waiting_job(0).recorded is None  # a dispatcher does not see the future
    assert w.waiting_job(0).asked == w.job(0).asked


def test_a_command_line_tells_what_no_column_does(file: Writer) -> None:
    line = "sbatch -A other -p all,batch -N 2-4 --mem-per-cpu 1500 --exclusive --begin=now+90 -d afterok:6 --gres=gpu:a100:1 x.sh"
    job = read_trace(file("log", log({"SubmitLine": line}))).workload.job(0).asked
    assert job == SiteRequest(
        account="chem", qos="high", partitions=("all", "batch"), min_nodes=2, max_nodes=4, cpus=8, memory_per_cpu=500,
        gres=(Gres("gpu", "a100", 1, "node"),), exclusive="node", dependencies=(Dependency("afterok", ("6",)),), begin=90,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("values", "name", "value"),
    [
        ({"ReqMem": "16Gn"}, "memory_per_node", 16384),
        ({"ReqMem": "0n"}, "memory_per_node", 0),
        ({"ReqMem": "2147486648Mn"}, "memory_per_cpu", 3000),
        ({"ReqMem": "4000M"}, "memory_per_cpu", None),
        ({"ReqMem": "4000M", "SubmitLine": "sbatch --mem-per-cpu=500"}, "memory_per_cpu", 500),
        ({"Constraints": "a100&nvme"}, "features", "a100&nvme"),
        ({"Reservation": "maint"}, "reservation", "maint"),
        ({"ReqTRES": "cpu=8,gres/gpu:a100=2,gres/gpu=2"}, "gres", (Gres("gpu", "a100", 2, "job"),)),
        ({"ReqTRES": "cpu=8,gres/gpu=3"}, "gres", (Gres("gpu", "", 3, "job"),)),
        ({"Partition": "debug", "SubmitLine": "sbatch -p all"}, "partitions", ("debug",)),  # it was moved
        ({"JobID": "12_3", "SubmitLine": "sbatch -a 1-9%2"}, "array_limit", 2),
        ({"JobID": "12_[3,5%4]"}, "array_limit", 4),
        ({"JobID": "12+1", "SubmitLine": "sbatch -n 1 : -n 7 x.sh"}, "tasks", 7),
    ],
)
def test_values_of_a_request(file: Writer, values: dict[str, str], name: str, value: Any) -> None:
    asked = read_trace(file("log", log(values))).workload.job(0).asked
    assert getattr(asked, name) == value


SHORT = "JobID|Submit|Start|End|Elapsed|Timelimit|NNodes|NCPUS|State|NodeList|SubmitLine"


def test_a_command_line_gives_amounts_where_no_column_does(file: Writer) -> None:
    lines = (
        "-N 2 -n 6 -c 2 --mem-per-cpu=500 --gpus-per-task=a100:1",
        "-n 3 --gres=gpu:2 --mem=4G",
        "-n 1 -G 2",
        "x.sh",
    )
    rows = [
        f"{k}|2024-03-01T08:00:00|None|2024-03-01T09:00:00|00:00:00|10|0|0|CANCELLED by 0|None assigned|sbatch {line}"
        for k, line in enumerate(lines)
    ]
    w = read_trace(file("log", "\n".join([SHORT, *rows]))).with_cancelled().workload
    assert w.resources == ("cores", "gpus", "memory")
    assert (w.ids, w.units.tolist()) == (("0", "1", "2"), [2, 1, 1])
    assert w.request.tolist() == [[6, 3, 3000], [3, 2, 4096], [1, 2, 0]]
    assert dict(w.report.dropped) == {"3": "it has no processors or nodes, neither requested nor allocated"}


def test_columns_decide_over_the_command_line(file: Writer) -> None:
    row = log({"ReqTRES": "cpu=8,mem=4000M,node=1", "SubmitLine": "sbatch -n 99 --mem=64G --gres=gpu:4 x.sh"})
    w = read_trace(file("log", row)).workload
    assert (w.resources, w.request.tolist()) == (("cores", "memory"), [[4, 2000]])


def test_equal_requests_are_one_object(file: Writer) -> None:
    rows = [{"JobID": str(k), "QOS": ("high", "low")[k % 2]} for k in range(1, 50)]
    w = read_trace(file("log", log(*rows))).workload
    assert w.site is not None
    assert len(w.site.requests) == 2
    assert [w.job(k).asked.qos for k in (0, 1, 2)] == ["low", "high", "low"]  # type: ignore[union-attr]


def test_a_log_without_such_data_has_none(file: Writer) -> None:
    table = "id,submit,units,cores,runtime\na,0,1,4,60\n"
    assert read_trace(file("jobs.csv", table)).workload.site is None


# attempts


def test_earlier_attempts_are_kept_with_the_job(file: Writer) -> None:
    first = {"State": "NODE_FAIL", "End": "2024-03-01T08:30:00", "Elapsed": "00:20:00", "NodeList": "n9"}
    again = {"Submit": "2024-03-01T08:30:00", "Start": "2024-03-01T08:40:00", "End": "2024-03-01T09:40:00"}
    w = read_trace(file("log", log(first, again))).workload
    assert w.ids == ("7",)
    attempt = RecordedAttempt(BEGIN, BEGIN + 600, BEGIN + 1800, "NODE_FAIL", "n9")
    assert w.job(0).recorded.attempts == (attempt,)  # type: ignore[union-attr]
    moved = w.since(BEGIN).job(0).recorded
    assert moved is not None
    assert (moved.attempts[0].start, moved.start, moved.eligible) == (600, 2400, 60)


# jobs that never ran


def test_a_job_cancelled_in_the_queue_can_hold_its_place(file: Writer) -> None:
    path = file("log", log({}, {"JobID": "8", **WAITED}))
    left_out = read_trace(path).workload
    assert (left_out.ids, len(left_out.report.dropped)) == (("7",), 1)
    w = read_trace(path).with_cancelled().workload
    assert w.ids == ("7", "8")
    assert w.site is not None
    assert w.site.cancelled.tolist() == [-1, BEGIN + 3600]
    assert (w.runtime[1], w.recorded_start[1]) == (7200, -1)
    assert [(e.time, e.kind, e.subject) for e in cancellations(w)] == [(BEGIN + 3600, "delete", "8")]
    assert cancellations(left_out) == ()


def test_each_task_of_an_array_that_waited_is_a_job(file: Writer) -> None:
    w = read_trace(file("log", log({}, {"JobID": "8_[2-3,5%1]", **WAITED}))).with_cancelled().workload
    assert w.ids == ("7", "8_2", "8_3", "8_5")
    assert [w.job(k).asked.array_limit for k in range(4)] == [None, 1, 1, 1]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("tasks", "jobs"), [("[2-9%2]", [4, 5, 6, 7, 8, 9]), ("[2,3]", []), ("[3-5]", [4, 5]), ("[7]", [7])]
)
def test_a_task_that_has_a_row_of_its_own_is_one_job(file: Writer, tasks: str, jobs: list[int]) -> None:
    rows = [{"JobID": "8_2"}, {"JobID": f"8_{tasks}", **WAITED}, {"JobID": "8_3", "State": "CANCELLED by 1000"}]
    trace = read_trace(file("log", log(*rows)))
    w = trace.with_cancelled().workload
    assert sorted(w.ids) == ["8_2", "8_3", *(f"8_{k}" for k in jobs)]
    count = f"1 row of job arrays that never ran are {len(jobs)} job{'s' * (len(jobs) != 1)}, one for each task without a row"
    assert sum(note.startswith(count) for note in w.report.notes) == 1


def test_a_job_that_waited_is_spread_over_nodes_as_the_others_are(file: Writer) -> None:
    rows = [
        {},
        {"JobID": "8", **WAITED, "NCPUS": "14", "ReqCPUS": "14", "ReqTRES": "cpu=14,mem=7000M,node=1"},
        {"JobID": "9", **WAITED, "NCPUS": "14", "ReqTRES": "cpu=14", "SubmitLine": "sbatch -N 1"},
    ]
    w = read_trace(file("log", log(*rows))).with_cancelled().workload
    cores = w.request[:, w.resources.index("cores")].tolist()
    assert list(zip(w.units.tolist(), cores, strict=True)) == [(2, 4), (4, 4), (1, 14)]


def test_a_job_that_still_waits_leaves_when_the_log_ends(file: Writer) -> None:
    pending = {**WAITED, "JobID": "8", "State": "PENDING", "End": "Unknown"}
    w = read_trace(file("log", log({}, pending))).with_cancelled().workload
    assert w.job(1).recorded.cancelled == BEGIN + 4200  # type: ignore[union-attr]


def test_a_log_of_swf_has_them_too(file: Writer) -> None:
    lines = ["1 0 10 60 4 -1 -1 4 3600 -1 1 5 1 -1 -1 -1 -1 -1", "2 5 30 -1 -1 -1 -1 4 3600 -1 5 5 1 -1 -1 -1 -1 -1",
             "3 6 -1 -1 -1 -1 -1 4 3600 -1 5 5 1 -1 -1 -1 -1 -1"]  # fmt: skip
    w, _ = open_trace(file("log.swf", "\n".join(lines)), nodes=8, cores=1, cancelled=True)
    assert w.ids == ("1", "2")  # when the third one left is not known
    assert [e.time for e in cancellations(w)] == [35]


# limits of partitions


def test_a_job_without_a_limit_has_that_of_its_partition(file: Writer) -> None:
    rows = [
        {},
        {"JobID": "8", "Timelimit": "Partition_Limit"},
        {"JobID": "9", "Timelimit": "UNLIMITED", "Partition": "big"},
    ]
    trace = read_trace(file("log", log(*rows)))
    assert trace.walltime.tolist() == [7200, 7200, np.inf]
    limited = with_partition_limits(trace, {"batch": 86400.0, "big": 3600.0})
    assert limited.walltime.tolist() == [7200, 86400, 3600]
    repairs = limited.workload.report.repairs
    assert repairs["walltime without a limit, the limit of the partition is used"] == 2
    assert "walltime without a limit, the longest walltime of the partition is used instead" not in repairs
    assert with_partition_limits(trace, {"other": 1.0}).walltime.tolist() == [7200, 7200, np.inf]


# to instances, tables, and back

LINE = "sbatch -p batch -N 1-2 --exclusive=user --begin=now+90 -d afterok:6:5?singleton --gres=gpu:2 --nice=-7 -w n1 -x n9 -L m:2 x"
ROWS = (
    {"SubmitLine": LINE}, {"JobID": "8", "QOS": "low", "Constraints": 'a,"b|c"'.replace("|", "/")}, {"JobID": "9", **WAITED},
    {"JobID": "10", "State": "NODE_FAIL", "End": "2024-03-01T08:30:00", "Elapsed": "00:20:00"},
    {"JobID": "10", "Submit": "2024-03-01T08:30:00", "Start": "2024-03-01T08:40:00", "End": "2024-03-01T09:40:00"},
)  # fmt: skip


@pytest.fixture
def opened(file: Writer) -> tuple[Workload, Platform]:
    w, platform = open_trace(file("log", log(*ROWS)), nodes=4, cores=8, others={"gpus": 2}, cancelled=True)
    return w.since(BEGIN), platform


def test_an_instance_folder_keeps_all_of_it(opened: tuple[Workload, Platform], tmp_path: Path) -> None:
    w, platform = opened
    instance = log_instance(w, platform, "waiting", "lab", "test")
    write(instance, tmp_path / "lab")
    again = load(tmp_path / "lab")
    assert again.dispatch.jobs == instance.dispatch.jobs
    assert [(e.kind, e.subject) for e in again.events] == [("delete", "9")]
    assert site(Workload.of(again.dispatch)) == site(w)
    header = (tmp_path / "lab" / "jobs.csv").read_text().splitlines()[0].split(",")
    assert {"asked.account", "asked.dependencies", "recorded.start", "recorded.attempts"} <= set(header)
    assert "asked.tasks" not in header  # no job has a value


def test_a_table_of_pandas_keeps_all_of_it(opened: tuple[Workload, Platform]) -> None:
    pytest.importorskip("pandas")
    w, _ = opened
    table = w.to_pandas()
    assert len(table) == len(w)
    again = Workload.from_pandas(table)
    assert site(again) == site(w)
    for name in ("submit", "runtime", "walltime", "units", "request", "recorded_start"):
        assert np.array_equal(getattr(again, name), getattr(w, name))


def test_a_csv_file_of_the_table_is_a_log(opened: tuple[Workload, Platform], tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    w, _ = opened
    w.to_pandas().to_csv(tmp_path / "jobs.csv", index=False)
    assert site(read_trace(tmp_path / "jobs.csv").workload) == site(w)


def test_parts_of_a_workload_keep_their_rows(opened: tuple[Workload, Platform]) -> None:
    w, platform = opened
    every = {job: rest for job, *rest in site(w)}
    for part in (w.first(2), w.keep(np.array([3, 1])), w.on(platform), w.between(0, 10)):
        assert all(every[job] == rest for job, *rest in site(part))
    apart = 60 * np.arange(len(w))
    rescaled = replace(w, submit=w.submit + apart, release=w.release + apart).at_load(0.5, platform)
    assert rescaled.site is not None
    assert rescaled.site.asked(0) == w.site.asked(0)  # type: ignore[union-attr]
    assert set(rescaled.site.eligible.tolist()) == {-1}  # recorded times mean nothing there


def test_an_instance_without_these_columns_is_read(opened: tuple[Workload, Platform], tmp_path: Path) -> None:
    w, platform = opened
    write(log_instance(replace(w, site=None), platform, "waiting", "lab", "test"), tmp_path / "lab")
    header = (tmp_path / "lab" / "jobs.csv").read_text().splitlines()[0].split(",")
    assert set(header) & set(SITE_COLUMNS) == {"recorded.start"}
    again = Workload.of(load(tmp_path / "lab").dispatch)
    assert again.site is None
    assert again.recorded_start.tolist() == w.recorded_start.tolist()


@pytest.mark.parametrize(
    ("column", "cell", "expected"),
    [
        ("asked.gres", "gpu:many", "resources such as gpu:a100:2/node"),
        ("asked.tasks", "-1", "a whole number from 0"),
        ("asked.dependencies", "soon:7", "conditions such as afterok:12:13"),
        ("recorded.attempts", "1/2", "submit/start/end/state/nodes"),
        ("recorded.start", "noon", "a whole number from 0"),
    ],
)
def test_a_wrong_cell_is_told_with_its_place(
    opened: tuple[Workload, Platform], tmp_path: Path, column: str, cell: str, expected: str
) -> None:
    w, platform = opened
    write(log_instance(replace(w, site=None), platform, "waiting", "lab", "test"), tmp_path / "lab")
    path = tmp_path / "lab" / "jobs.csv"
    head, first, *others = path.read_text().splitlines()
    columns = head.split(",")
    if column in columns:
        cells = first.split(",")
        cells[columns.index(column)] = cell
        lines = [head, ",".join(cells), *others]
    else:
        lines = [f"{head},{column}", f"{first},{cell}", *(f"{line}," for line in others)]
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(InstanceError, match=expected) as raised:
        load(tmp_path / "lab")
    assert column in str(raised.value)
    assert "line 2" in str(raised.value)


def test_columns_of_another_length_are_refused(opened: tuple[Workload, Platform]) -> None:
    w, _ = opened
    with pytest.raises(WorkloadError, match="site has 1 row"):
        replace(w, site=SiteColumns.unknown(1))


# any request as cells and back

names = st.from_regex(r"[a-z][a-z0-9_\[\]-]{0,8}", fullmatch=True)
amounts = st.none() | st.integers(0, 10**9)
requests = st.builds(
    SiteRequest, account=names | st.just(""), qos=names, partitions=st.lists(names, max_size=3).map(tuple), min_nodes=amounts,
    max_nodes=amounts, cpus=amounts, tasks=amounts, tasks_per_node=amounts, cpus_per_task=amounts, memory_per_cpu=amounts,
    memory_per_node=amounts, memory_per_gpu=amounts,
    gres=st.lists(
        st.builds(Gres, names, names | st.just(""), st.integers(1, 99), st.sampled_from(["node", "task", "job"])), max_size=3
    ).map(tuple),
    exclusive=st.sampled_from(["", "node", "user", "no"]), contiguous=st.booleans(), features=names, nodes=names,
    excluded_nodes=names, licences=names, reservation=names, nice=st.integers(-(10**6), 10**6),
    dependencies=st.lists(st.builds(Dependency, st.just("afterok"), st.just(("7", "8")), st.just(0)), max_size=1).map(tuple),
    any_dependency=st.just(False), begin=st.integers(0, 10**6), array_limit=amounts, held=st.booleans(),
    requeue=st.sampled_from([None, True, False]),
)  # fmt: skip
times = st.none() | st.integers(0, 10**9)
records = st.builds(
    Recorded, times, times, times, times, names, names, names,
    st.lists(st.builds(RecordedAttempt, *[st.integers(-1, 10**9)] * 3, names, names), max_size=2).map(tuple),
)  # fmt: skip


@given(requests, records)
def test_cells_keep_any_request_and_record(asked: SiteRequest, recorded: Recorded) -> None:
    cells = cells_of(asked, recorded)
    assert set(cells) <= set(SITE_COLUMNS)
    assert site_of(cells) == (asked, recorded)
    assert site_of({name: str(value) for name, value in cells.items()}) == (asked, recorded)


@given(st.lists(st.tuples(requests | st.none(), records | st.none()), min_size=1, max_size=6), st.data())
def test_columns_keep_any_rows(jobs: list[tuple[SiteRequest | None, Recorded | None]], data: st.DataObject) -> None:
    columns = SiteColumns.of(jobs) or SiteColumns.unknown(len(jobs))
    wanted = [(a or SiteRequest(), replace(r or Recorded(), start=None)) for a, r in jobs]
    assert [(columns.asked(k), columns.recorded(k)) for k in range(len(jobs))] == wanted
    rows = data.draw(st.lists(st.integers(0, len(jobs) - 1), max_size=8))
    kept = columns.keep(rows)
    assert [(kept.asked(k), kept.recorded(k)) for k in range(len(rows))] == [wanted[k] for k in rows]
    both = kept.after(columns)
    assert [both.asked(k) for k in range(len(both))] == [a for a, _ in wanted] + [wanted[k][0] for k in rows]
