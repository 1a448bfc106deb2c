"""Accounting of Slurm as users have it: jobs that never ran, exact columns, broken rows, attempts, other forms of output."""

import gzip
import json
import math
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from schedlab.instances import WorkloadError, open_trace, read_sacct, read_trace
from schedlab.instances.formats import duration, gpus_in, memory, sacct_trace, tres
from schedlab.instances.traces import guess_format

Writer = Callable[[str, str], Path]
HEAD = "JobID|Submit|Start|End|Elapsed|Timelimit|NNodes|NCPUS|State|NodeList|JobName"
USUAL = {
    "JobID": "7", "Submit": "2024-03-01T08:00:00", "Start": "2024-03-01T08:10:00", "End": "2024-03-01T09:10:00",
    "Elapsed": "01:00:00", "Timelimit": "02:00:00", "NNodes": "1", "NCPUS": "4", "State": "COMPLETED",
    "NodeList": "n1", "JobName": "run",
}  # fmt: skip


def row(*columns: str, **values: str) -> str:
    """A row with the columns of HEAD, or some others; ``values`` replaces what is usual."""
    return "|".join({**USUAL, **values}[c] for c in columns or HEAD.split("|"))


def table(*rows: str, head: str = HEAD) -> str:
    return "\n".join([head, *rows]) + "\n"


def left_out(path: Path) -> dict[str, str]:
    return dict(read_sacct(path).report.dropped)


# columns that are not there


def test_missing_columns_are_named_with_the_rules_that_need_them(file: Writer) -> None:
    def hints(head: str) -> list[str]:
        cells = {**USUAL, **dict.fromkeys(("Account", "QOS", "Eligible", "SubmitLine", "Partition"), "")}
        w = read_sacct(file("jobs.txt", f"{head}\n{'|'.join(cells[c] for c in head.split('|'))}\n"))
        return [note for note in w.report.notes if "sacct --format" in note]

    (all_of,) = hints(HEAD)
    assert all_of.startswith("the log has no columns Account, QOS, Partition, Eligible, SubmitLine: it does not tell ")
    assert "limits and fair shares of accounts" in all_of
    assert all_of.endswith("to add them: sacct --format=...,Account,QOS,Partition,Eligible,SubmitLine")
    (one,) = hints(f"{HEAD}|Account|QOS|Partition|SubmitLine")
    assert one == (
        "the log has no column Eligible: it does not tell from when jobs could start (dependencies, begin times, holds); a replay "
        "on a site cannot obey that; to add it: sacct --format=...,Eligible"
    )
    assert hints(f"{HEAD}|Account|QOS|Partition|SubmitLine|Eligible") == []


# jobs that never ran


@pytest.mark.parametrize(
    "values",
    [
        {"Start": "2024-03-01T09:00:00", "End": "2024-03-01T09:00:00", "Elapsed": "00:00:00", "NodeList": "None assigned"},
        {"Start": "None", "End": "2024-03-01T09:00:00", "Elapsed": "00:00:00", "NodeList": "None assigned"},
        {"Start": "Unknown", "End": "2024-03-01T09:00:00", "Elapsed": "INVALID", "NodeList": "None assigned", "NCPUS": "0"},
        {"Start": "2024-03-01T09:00:00", "End": "2024-03-01T09:00:00", "Elapsed": "00:00:00", "NodeList": ""},
    ],
)  # fmt: skip
@pytest.mark.parametrize("state", ["CANCELLED by 1001", "CANCELLED", "CANCELLED+", "CA", "DEADLINE"])
def test_a_job_cancelled_in_the_queue_never_ran(file: Writer, values: dict[str, str], state: str) -> None:
    path = file("jobs.txt", table(row(), row(JobID="8", State=state, **values)))
    w = read_sacct(path)
    assert w.ids == ("7",)
    assert left_out(path) == {"8": "it never started: it was cancelled in the queue"}
    assert [q.ewt for q in w.queues] == [600]


@pytest.mark.parametrize(
    ("state", "node", "ran"),
    [
        ("CANCELLED by 7", "n3", True),  # it had a node when it was cancelled
        ("FAILED", "n3", True),
        ("FAILED", "None assigned", False),
        ("COMPLETED", "n3", True),
        ("BOOT_FAIL", "None assigned", False),
        ("PENDING", "None assigned", False),
        ("REVOKED", "None assigned", False),
    ],
)
def test_a_job_of_no_time_ran_if_it_had_a_node(file: Writer, state: str, node: str, ran: bool) -> None:
    at = "2024-03-01T09:00:00"
    path = file(
        "jobs.txt", table(row(), row(JobID="8", Start=at, End=at, Elapsed="00:00:00", State=state, NodeList=node))
    )
    assert ("8" in read_sacct(path).ids) == ran
    assert ("8" in left_out(path)) == (not ran)


@pytest.mark.parametrize(("tres_of", "ran"), [("", False), ("cpu=4,node=1", True)])
def test_without_node_lists_allocated_resources_tell_whether_a_job_ran(file: Writer, tres_of: str, ran: bool) -> None:
    head = "JobID|Submit|Start|End|Timelimit|NNodes|NCPUS|State|AllocTRES"
    at = "2024-03-01T09:00:00"
    lines = [row(*head.split("|"), AllocTRES=text, **more) for text, more in (("cpu=4", {}), (tres_of, {"JobID": "8", "Start": at, "End": at, "State": "CANCELLED by 0"}))]  # fmt: skip
    assert ("8" in read_sacct(file("jobs.txt", table(*lines, head=head))).ids) == ran


def test_a_cancelled_job_that_ran_has_its_elapsed_time(file: Writer) -> None:
    lines = [
        row(State="CANCELLED by 3", End="Unknown", Elapsed="00:00:17"),
        row(JobID="8", State="NODE_FAIL", Elapsed="INVALID"),
    ]
    assert read_sacct(file("jobs.txt", table(*lines))).runtime.tolist() == [17, 3600]


def test_a_running_job_runs_to_the_end_of_the_log(file: Writer) -> None:
    lines = [
        row(),
        row(JobID="8", State="RUNNING", End="Unknown", Elapsed="00:20:00"),
        row(JobID="9", State="RUNNING", End="Unknown", Elapsed="", Start="2024-03-01T09:00:00"),
    ]
    w = read_sacct(file("jobs.txt", table(*lines)))
    assert dict(zip(w.ids, w.runtime.tolist(), strict=True)) == {"7": 3600, "8": 1200, "9": 600}
    assert w.report.repairs["still running when the log was written, the runtime until then is used"] == 2


# times


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("7", 420), ("7:30", 450), ("7:30:00", 27000), ("2-00", 172800), ("1-12:30", 131400), ("1-12:30:15", 131415),
        ("0-00:01", 60), ("00:00:01.5", 1.5), ("UNLIMITED", math.inf), ("Partition_Limit", math.inf), ("INFINITE", math.inf),
    ],
)  # fmt: skip
def test_durations_of_slurm(text: str, seconds: float) -> None:
    assert duration(text) == seconds


def test_elapsed_decides_over_end_minus_start(file: Writer) -> None:
    lines = [
        row(Elapsed="00:30:00"),  # suspended for half an hour
        row(
            JobID="8", Start="2024-03-01T09:40:00", End="2024-03-01T09:20:00", Elapsed="00:40:00"
        ),  # the clock was set back
        row(JobID="9", Elapsed="-00:00:10"),
        row(JobID="10", Start="2024-03-01T09:40:00", End="2024-03-01T09:20:00", Elapsed=""),
    ]
    path = file("jobs.txt", table(*lines))
    w = read_sacct(path)
    assert dict(zip(w.ids, w.runtime.tolist(), strict=True)) == {"7": 1800, "8": 2400, "9": 3600}
    assert left_out(path) == {"10": "its runtime is unknown"}
    head = HEAD.replace("Elapsed", "ElapsedRaw")
    raw = read_sacct(file("raw.txt", table(row(*head.split("|"), ElapsedRaw="95"), head=head)))
    assert raw.runtime.tolist() == [95]


def test_times_are_iso_epoch_or_with_a_zone(file: Writer) -> None:
    at = datetime(2024, 3, 1, 8, tzinfo=UTC).timestamp()
    texts = [
        "2024-03-01T08:00:00",
        "2024-03-01T08:00",
        f"{at:.0f}",
        "2024-03-01T08:00:00Z",
        "2024-03-01T10:00:00+02:00",
    ]
    lines = [row(JobID=str(k), Submit=text) for k, text in enumerate(texts)]
    assert set(read_sacct(file("jobs.txt", table(*lines))).submit.tolist()) == {int(at)}


def test_a_start_in_the_second_of_two_equal_hours(file: Writer) -> None:
    line = row(Submit="2023-10-29T02:40:00", Start="2023-10-29T02:10:00", End="2023-10-29T02:50:00", Elapsed="00:40:00")
    path = file("jobs.txt", table(line))
    w = read_sacct(path, ZoneInfo("Europe/Rome"))
    assert (w.recorded_start - w.submit).tolist() == [1800]
    w = read_sacct(path)  # without a zone the clock has no second hour
    assert (w.recorded_start - w.submit).tolist() == [0]
    assert w.report.repairs["submit time after the start, the start is used instead"] == 1


def test_a_job_without_a_limit_has_the_longest_of_its_partition(file: Writer) -> None:
    head = f"{HEAD}|Partition"
    lines = [
        f"{row(JobID=str(k), Timelimit=limit, **more)}|{partition}"
        for k, (limit, partition, more) in enumerate(
            [
                ("04:00:00", "short", {}),
                ("Partition_Limit", "short", {}),
                ("9-00", "long", {}),
                ("UNLIMITED", "long", {}),
                ("Partition_Limit", "none", {}),
                ("06:00:00", "short", {"State": "CANCELLED", "Start": "Unknown", "Elapsed": "00:00:00"}),
            ]
        )
    ]
    w = read_sacct(file("jobs.txt", table(*lines, head=head)))
    assert [t / 3600 for t in w.walltime.tolist()] == [4, 6, 216, 216, 216]


def test_eligible_times_release_jobs_and_both_waits_are_told(file: Writer) -> None:
    lines = [f"{row()}|2024-03-01T08:06:00", f"{row(JobID='8')}|Unknown"]
    w = read_sacct(file("jobs.txt", table(*lines, head=f"{HEAD}|Eligible")))
    assert (w.release - w.submit).tolist() == [360, 0]
    assert any("600 s from the submit time, 420 s" in note for note in w.report.notes)


# resources

REQUESTS = "JobID|Submit|Start|End|Timelimit|NNodes|NCPUS|ReqMem|ReqTRES|AllocTRES"


@pytest.mark.parametrize(
    ("values", "megabytes"),
    [
        ({"ReqMem": "2147487648Mn"}, 32000),  # the flag "per CPU" and 4,000 MB
        ({"ReqMem": "9223372036854779808M"}, 33280),  # the flag of 64 bits; the text has 4,000 MB, the float 4,160
        ({"ReqMem": "0n", "AllocTRES": "cpu=8,mem=128000M,node=1"}, 128000),
        ({"ReqMem": "0", "ReqTRES": "cpu=8,mem=0,node=1"}, 0),
        ({"ReqMem": "64Gn", "AllocTRES": "cpu=8,mem=32G,node=1"}, 32768),
        ({"ReqMem": "64Gn", "ReqTRES": "cpu=8,mem=16G,node=1"}, 16384),
        ({"ReqMem": "2Gc"}, 16384),
        ({"ReqMem": "0.5T?"}, 524288),
        ({"ReqMem": ""}, 0),
        ({"ReqMem": "any", "AllocTRES": "cpu=8,mem=62.50G,node=1"}, 64000),
    ],
)
def test_the_exact_column_decides_about_memory(file: Writer, values: dict[str, str], megabytes: int) -> None:
    usual = {"NCPUS": "8", "ReqTRES": "", "AllocTRES": ""}
    lines = [row(*REQUESTS.split("|"), **{**usual, **values}), row(*REQUESTS.split("|"), JobID="8", ReqMem="1Gn", ReqTRES="", AllocTRES="")]  # fmt: skip
    w = read_sacct(file("jobs.txt", table(*lines, head=REQUESTS)))
    if values["ReqMem"].startswith("92"):  # 2**63 + 4000 is no exact float: its neighbours are 1,024 or 2,048 apart
        assert abs(w.request[0, 1] - 32000) <= 8 * 2048
        return
    assert w.request[0].tolist() == [8, megabytes]
    whole = "all memory of the nodes requested, of which the amount is not recorded"
    assert w.report.repairs.get(whole, 0) == (values["ReqMem"] == "0" and not megabytes)


def test_gpus_are_counted_once_and_keep_their_types(file: Writer) -> None:
    texts = [
        "cpu=4,gres/gpu:a100=4,gres/gpu=4,node=1",
        "cpu=4,gres/gpu=2,node=1",
        "cpu=4,gres/gpu:a100=1,gres/gpu:v100=2,node=1",
        "cpu=4,node=1",
    ]
    lines = [row(*REQUESTS.split("|"), JobID=str(k), ReqMem="", ReqTRES="", AllocTRES=t) for k, t in enumerate(texts)]
    trace = sacct_trace(file("jobs.txt", table(*lines, head=REQUESTS)))
    assert trace.request[:, trace.resources.index("gpus")].tolist() == [4, 2, 3, 0]
    assert trace.gpu_types is not None
    types = [trace.gpu_types.names[k] for k in trace.gpu_types.index.tolist()]
    assert types == ["a100=4", "", "a100=1,v100=2", ""]
    assert any("a100: 2 jobs, v100: 1 job" in note for note in trace.report.notes)
    kept = trace.keep(trace.submit >= 0).gpu_types
    assert kept is not None and kept.names == trace.gpu_types.names


def test_gpus_of_older_versions_are_per_node(file: Writer) -> None:
    head = HEAD.replace("JobName", "AllocGRES")
    lines = [row(*head.split("|"), NNodes="2", NodeList="n[1-2]", AllocGRES="gpu:tesla:2")]
    assert read_sacct(file("jobs.txt", table(*lines, head=head))).request.tolist() == [[2, 2]]


def test_jobs_of_several_nodes_are_counted(file: Writer) -> None:
    path = file(
        "jobs.txt", table(row(), row(JobID="8", NNodes="2", NCPUS="8"), row(JobID="9", NodeList="n[1-3]", NNodes=""))
    )
    w, _ = open_trace(path, nodes=4, cores=64)
    assert w.units.tolist() == [1, 2, 3]
    assert w.report.not_obeyed == {
        "requested several nodes, a replay without a site may put their shares on fewer nodes": 2
    }


def test_allocated_cpus_decide_over_requested_ones(file: Writer) -> None:
    head = "JobID|Submit|Start|End|Timelimit|AllocTRES|ReqCPUS"
    lines = [
        row(*head.split("|"), AllocTRES="cpu=64,node=2", ReqCPUS="5"),
        row(*head.split("|"), JobID="8", AllocTRES="", ReqCPUS="5"),
    ]
    w = read_sacct(file("jobs.txt", table(*lines, head=head)))
    assert (w.units.tolist(), w.request.tolist()) == ([2, 1], [[32], [5]])


# rows


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        ([row(JobName="a|b"), row(JobID="8")], ["a|b", "run"]),
        ([row(JobName="a||b|"), row(JobID="8")], ["a||b|", "run"]),
        ([row(JobName="one\ntwo"), row(JobID="8")], ["one two", "run"]),
        ([row(JobName="one\n\ntwo\nthree"), row(JobID="8", JobName="x\ny")], ["one two three", "x y"]),
        ([row(JobName="one\ntw|o"), row(JobID="8")], ["one", "run"]),  # the rest may belong to anything
    ],
)
def test_names_with_delimiters_and_line_ends_in_the_last_column(
    file: Writer, rows: list[str], names: list[str]
) -> None:
    w = read_sacct(file("jobs.txt", table(*rows)))
    assert [w.job(k).name for k in range(len(w))] == names


@pytest.mark.parametrize("name", ["a|b", "|", "a\nb", "a|\n|b", "x|COMPLETED|y", "\n", "a\nb|c\nd"])
@pytest.mark.parametrize("head", [HEAD, "JobName|" + HEAD.removesuffix("|JobName"), "JobID|JobName|" + HEAD[6:-8]])
def test_every_job_is_read_whatever_its_name(file: Writer, name: str, head: str) -> None:
    columns = head.split("|")
    lines = [
        row(*columns),
        row(*columns, JobID="8", JobName=name),
        row(*columns, JobID="9"),
        row(*columns, JobID="10", JobName=name),
    ]
    w = read_sacct(file("jobs.txt", table(*lines, head=head)))
    assert sorted(w.ids, key=int) == ["7", "8", "9", "10"]
    assert set(w.runtime.tolist()) == {3600}


@pytest.mark.parametrize("wanted", ["old|new", "[rack1|rack2]", "a&b|c"])
def test_a_constraint_with_alternatives_is_put_together(file: Writer, wanted: str) -> None:
    head = HEAD.removesuffix("|JobName") + "|Constraints|Container|CPUTime|SubmitLine"
    cells = {"Constraints": wanted, "Container": "", "CPUTime": "01:00:00", "SubmitLine": f"sbatch -C {wanted} job.sh"}
    w = read_sacct(file("jobs.txt", table(row(*head.split("|"), **cells), head=head)))
    assert w.site is not None
    assert w.site.asked(0).features == wanted


def test_options_that_no_replay_obeys_are_counted(file: Writer) -> None:
    head = HEAD.removesuffix("|JobName") + "|SubmitLine"
    lines = [
        row(*head.split("|"), JobID=str(k), SubmitLine=f"sbatch {options} job.sh")
        for k, options in enumerate(("--switches=1 -n 4", "--switches 1 --hint=nomultithread", "-n 4"), 1)
    ]
    w = read_sacct(file("jobs.txt", table(*lines, head=head)))
    assert w.report.not_obeyed == {"asked for --switches": 2, "asked for --hint": 1}


def test_lines_that_are_no_rows_are_counted(file: Writer) -> None:
    text = table("rest of something", row(), "broken|row", row(JobID="8", Submit="noon"), row(JobID="9"))
    report = read_sacct(file("jobs.txt", text)).report
    assert [(b.line, b.message.split(";")[0]) for b in report.bad_lines] == [
        (2, "1 field"), (4, "2 fields"), (5, "Submit is 'noon'"),
    ]  # fmt: skip


@pytest.mark.parametrize("delimiter", ["|", ",", ";", "\t", "^|^", "#"])
@pytest.mark.parametrize("end", ["", "DELIMITER"])
def test_any_delimiter_with_and_without_one_at_the_end(file: Writer, delimiter: str, end: str) -> None:
    end = end.replace("DELIMITER", delimiter)
    head = REQUESTS.replace("|", delimiter) + end
    lines = [
        row(*REQUESTS.split("|"), JobID=str(k), ReqMem="1G", ReqTRES="cpu=4", AllocTRES="cpu=4,mem=2G,node=1").replace("|", delimiter) + end
        for k in range(3)
    ]  # fmt: skip
    path = file("jobs.txt", table(*lines, head=head))
    assert guess_format(path) == "sacct"
    w = read_trace(path).workload
    assert (len(w), w.request.tolist(), w.report.bad_lines) == (3, [[4, 2048]] * 3, ())


def test_rows_without_a_header_need_their_columns(file: Writer) -> None:
    path = file("jobs.txt", row() + "\n" + row(JobID="8", JobName="a|b") + "\n")
    with pytest.raises(WorkloadError, match=r"no column JobID.*--columns"):
        read_trace(path)
    w = read_trace(path, columns=HEAD.split("|")).workload
    assert (w.ids, w.runtime.tolist()) == (("7", "8"), [3600, 3600])
    with pytest.raises(WorkloadError, match="not the 3 columns"):
        read_trace(path, columns=["JobID", "Submit", "Start"])
    with pytest.raises(WorkloadError, match="there is a header"):
        read_trace(file("head.txt", table(row())), columns=HEAD.split("|"))


def test_columns_of_fixed_width_are_refused(file: Writer) -> None:
    text = "JobID           Submit      State\n------------ ---------- ----------\n7            2024-03-01  COMPLETED\n"
    with pytest.raises(WorkloadError, match="fixed width"):
        read_trace(file("jobs.txt", text))


# one job in several rows


def test_attempts_of_a_requeued_job_are_one_job(file: Writer) -> None:
    again = {
        "Submit": "2024-03-01T09:10:00",
        "Start": "2024-03-01T09:20:00",
        "End": "2024-03-01T09:30:00",
        "Elapsed": "00:10:00",
    }
    lines = [
        row(State="NODE_FAIL"),
        row(JobID="8_1", State="REQUEUED"),
        row(JobID="8_1", State="COMPLETED", **again),
        row(State="PREEMPTED", **again),
        row(Submit="2024-03-01T09:30:00", Start="2024-03-01T10:00:00", End="2024-03-01T12:00:00", Elapsed="02:00:00"),
        row(JobID="9", State="REQUEUED"),
        row(JobID="9", State="PENDING", Start="Unknown", End="Unknown", Elapsed="00:00:00", NodeList="None assigned"),
        row(JobID="10"),
        row(JobID="10", **again),  # the number was used again: another job
        row(JobID="11"),
        row(JobID="11"),  # in two files that were joined
    ]
    path = file("jobs.txt", table(*lines))
    w = read_sacct(path)
    assert dict(zip(w.ids, w.runtime.tolist(), strict=True)) == {
        "7": 7200, "8_1": 600, "9": 3600, "10": 3600, "10.2": 600, "11": 3600,
    }  # fmt: skip
    assert w.report.skipped == {"rows of earlier attempts of a requeued job": 4, "rows that repeat a job": 1}
    reversed_rows = read_sacct(file("reversed.txt", table(*lines[::-1])))
    assert sorted(reversed_rows.runtime.tolist()) == sorted(w.runtime.tolist())


def test_a_requeued_heterogeneous_job_is_not_doubled(file: Writer) -> None:
    again = {
        "Submit": "2024-03-01T09:10:00",
        "Start": "2024-03-01T09:20:00",
        "End": "2024-03-01T09:30:00",
        "Elapsed": "00:10:00",
    }
    lines = [
        row(JobID=f"5+{k}", NCPUS=str(4 + k), State=state, **more)
        for state, more in (("REQUEUED", {}), ("COMPLETED", again))
        for k in (0, 1)
    ]
    w = read_sacct(file("jobs.txt", table(*lines)))
    assert (w.ids, w.runtime.tolist()) == (("5",), [600])
    assert [(c.units, c.request["cores"]) for c in w.job(0).chunks] == [(1, 4), (1, 5)]


def test_jobs_of_two_clusters_may_have_one_number(file: Writer) -> None:
    lines = [f"{row(State=state)}|{cluster}" for state, cluster in (("NODE_FAIL", "a"), ("COMPLETED", "b"))]
    assert len(read_sacct(file("jobs.txt", table(*lines, head=f"{HEAD}|Cluster")))) == 2


def test_steps_arrays_and_federated_numbers(file: Writer) -> None:
    names = ["7", "7.batch", "7.extern", "7.0", "7.interactive", "8_3", "8_3.batch", "9+0", "9+1", "9+0.0", "67109080"]
    lines = [row(JobID=name) for name in names]
    lines.append(row(JobID="8_[5-9%2]", State="PENDING", Start="Unknown", End="Unknown", Elapsed="00:00:00"))
    path = file("jobs.txt", table(*lines))
    w = read_sacct(path)
    assert w.ids == ("7", "8_3", "9", "67109080")
    assert [w.job(k).array for k in range(4)] == ["", "8", "", ""]
    assert w.report.skipped == {"rows of job steps, which the rows of their jobs cover": 6}
    assert left_out(path) == {"8_[5-9%2]": "it never started: it still waited when the log was written"}


def test_a_job_without_cpus_is_left_out(file: Writer) -> None:
    assert left_out(file("jobs.txt", table(row(), row(JobID="8", NCPUS="0")))) == {
        "8": "it has no CPUs, neither allocated nor requested"
    }


# other forms of the same data


def json_job(number: int, **more: object) -> dict[str, object]:
    job: dict[str, object] = {
        "job_id": number, "name": f"job {number}", "user": "ann", "partition": "p", "cluster": "c", "nodes": "n[1-2]",
        "allocation_nodes": 2, "required": {"CPUs": 8, "memory": 4000}, "steps": [],
        "array": {"job_id": 0, "task_id": {"set": False, "infinite": False, "number": 0}, "task": ""},
        "het": {"job_id": 0, "job_offset": {"set": False, "infinite": False, "number": 0}},
        "state": {"current": ["COMPLETED"], "reason": "None"},
        "time": {
            "elapsed": 3000, "eligible": 1714550400, "start": 1714550460, "end": 1714554060, "submission": 1714550400,
            "suspended": 600, "limit": {"set": True, "infinite": False, "number": 90},
        },
        "tres": {
            "allocated": [
                {"type": "cpu", "name": "", "id": 1, "count": 8}, {"type": "mem", "name": "", "id": 2, "count": 4000},
                {"type": "node", "name": "", "id": 4, "count": 2}, {"type": "gres", "name": "gpu", "id": 1001, "count": 4},
                {"type": "gres", "name": "gpu:a100", "id": 1002, "count": 4},
            ],
            "requested": [],
        },
    }  # fmt: skip
    return {**job, **more}


def test_json_of_sacct_is_recognised_and_read(file: Writer) -> None:
    never = {"elapsed": 0, "start": 1714554000, "end": 1714554000, "submission": 1714550400, "limit": 90}
    jobs = [
        json_job(1),
        json_job(
            2,
            state={"current": "CANCELLED", "reason": "None"},
            time=never,
            nodes="None assigned",
            tres={"allocated": []},
        ),
        json_job(3, array={"job_id": 40, "task_id": 3, "task": ""}),
        json_job(5, het={"job_id": 5, "job_offset": {"set": True, "infinite": False, "number": 0}}),
        json_job(6, het={"job_id": 5, "job_offset": {"set": True, "infinite": False, "number": 1}}),
        {"job_id": 7},
    ]
    for indent in (None, 1):
        path = file("jobs.json", json.dumps({"meta": {"slurm": {}}, "jobs": jobs, "errors": []}, indent=indent))
        assert guess_format(path) == "sacct"
        w = read_trace(path).workload
        assert w.ids == ("1", "40_3", "5")
        assert (w.runtime.tolist(), w.walltime.tolist()) == ([3000] * 3, [5400] * 3)
        assert (w.units.tolist(), w.request.tolist()) == ([2, 2, 4], [[4, 2, 2000]] * 3)
        assert w.report.dropped == (("2", "it never started: it was cancelled in the queue"),)
        assert [b.line for b in w.report.bad_lines] == [6]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"jobs": [{"job_id": 1, "job_state": ["PENDING"], "submit_time": 5}]}, "bench import state"),
        ({"Valid output": ["x", 0]}, "that of no log"),
        ([1, 2], "not recognised"),
    ],
)
def test_json_of_something_else_is_no_log(file: Writer, values: object, message: str) -> None:
    with pytest.raises(WorkloadError, match=message):
        read_trace(file("x.json", json.dumps(values)))


def test_the_text_file_of_job_completion(file: Writer) -> None:
    text = (
        "JobId=5 UserId=ann(7) GroupId=g(7) Name=my job JobState=COMPLETED Partition=p TimeLimit=3 StartTime=2024-03-01T08:01:00 "
        "EndTime=2024-03-01T08:02:00 NodeList=n[1-2] NodeCnt=2 ProcCnt=8 WorkDir=/home/a b ReservationName= Tres=cpu=8,mem=1G,node=1 "
        "Account= QOS= SubmitTime=2024-03-01T08:00:00 EligibleTime=2024-03-01T08:00:00 DerivedExitCode=0:0 ExitCode=0:0 \n"
        "JobId=6 UserId=ann(7) Name=x JobState=CANCELLED Partition=p TimeLimit=UNLIMITED StartTime=2024-03-01T08:09:00 "
        "EndTime=2024-03-01T08:09:00 NodeList=(null) NodeCnt=1 ProcCnt=8 SubmitTime=2024-03-01T08:00:00\n"
    )
    path = file("jobcomp.txt", text)
    w = read_trace(path).workload
    assert (w.ids, w.units.tolist(), w.request.tolist(), w.runtime.tolist(), w.walltime.tolist()) == (
        ("5",), [2], [[4, 512]], [60], [180],
    )  # fmt: skip
    assert (w.job(0).name, w.job(0).user) == ("my job", "ann")
    assert list(left_out(path)) == ["6"]


@pytest.mark.parametrize("option", [{"zone": UTC}, {"columns": ["JobID"]}])
def test_options_of_another_format_are_refused(file: Writer, option: dict[str, object]) -> None:
    log = file("log.swf", "1 0 0 60 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n")
    with pytest.raises(WorkloadError, match=r"has no use for|no column"):
        read_trace(log, "swf", **option)  # type: ignore[arg-type]


def test_values_of_slurm() -> None:
    assert memory("2147486648Mn") == (3000.0, "cpu")
    assert gpus_in(tres("gres/gpu=2")) == (2, {})


def test_a_file_of_broken_lines_is_read_line_by_line(file: Writer) -> None:
    """A row may span a few lines only, so that the work for each line is bounded."""
    lines = [row(JobName="x", JobID="no number")[:-9]] * 400
    report = sacct_trace(file("jobs.txt", table(*lines, row()))).report
    assert len(report.bad_lines) == 400


def test_compressed_json(tmp_path: Path) -> None:
    path = tmp_path / "jobs.json.gz"
    path.write_bytes(gzip.compress(json.dumps({"jobs": [json_job(1)]}).encode()))
    assert Counter(read_trace(path).workload.ids) == {"1": 1}


@pytest.mark.parametrize(
    ("columns", "nodes"),
    [
        ({}, 2),  # nothing tells what was asked for: the nodes that it got
        ({"ReqNodes": "1"}, 1),
        ({"ReqTRES": "cpu=8,node=1"}, 1),
        ({"ReqTRES": "cpu=8"}, 2),
        ({"SubmitLine": "sbatch -n 8 run.sh"}, None),
        ({"SubmitLine": "sbatch -N 2 run.sh"}, 2),
    ],
)
def test_the_nodes_that_a_job_asked_for(file: Writer, columns: dict[str, str], nodes: int | None) -> None:
    head = "|".join([HEAD, *columns])
    path = file("jobs.txt", table(row(*head.split("|"), NNodes="2", NCPUS="8", **columns), head=head))
    assert read_trace(path).workload.job(0).asked.min_nodes == nodes
