"""Accounting of Slurm in forms that are less usual: columns that tell that a job never ran, equal hours, joined files, old versions."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from schedlab.instances import Trace, read_sacct, read_trace
from schedlab.instances.formats import gres_gpus_of_job, memory
from schedlab.models import RecordedAttempt, SiteRequest

Writer = Callable[[str, str], Path]
TIMES = "2024-05-01T08:00:00|2024-05-01T08:00:00|2024-05-01T12:00:00|04:00:00|06:00:00"
HEAD = "JobID|Submit|Start|End|Elapsed|Timelimit|NNodes|NCPUS|State"
ROW = f"1|{TIMES}|1|4|COMPLETED"
ONCE_MORE = "rows of earlier attempts of a requeued job"
REPEATED = "rows that repeat a job"
RESIZED = "size changed while the job ran, the largest is used from the first start to the end"


@pytest.mark.parametrize(
    ("columns", "cells", "ran"),
    [
        ("AllocCPUS|AllocNodes|ReqCPUS", "0|0|8", False),
        ("AllocTRES|ReqTRES", "|cpu=8,node=2", False),
        ("AllocTRES|ReqTRES", "cpu=8,node=2|cpu=8,node=2", True),
        ("NCPUS|NNodes", "8|2", True),  # these columns have what was requested, too
        ("AllocCPUS|NodeList", "8|None assigned", False),
        ("AllocCPUS|NodeList", "8|n[1-2]", True),
    ],
)
def test_a_job_that_failed_in_the_queue_never_ran(file: Writer, columns: str, cells: str, ran: bool) -> None:
    """Such as one whose dependency was never satisfied: Slurm records FAILED and a start at its end."""
    at = "2024-05-01T08:00:00|2024-05-01T09:00:00|2024-05-01T09:00:00|00:00:00|02:00:00"
    usual = "|".join(
        {"AllocTRES": "cpu=4,node=1", "ReqTRES": "cpu=4,node=1", "NodeList": "n1"}.get(c, "1")
        for c in columns.split("|")
    )
    head = f"JobID|Submit|Start|End|Elapsed|Timelimit|State|{columns}"
    w = read_sacct(file("jobs.txt", f"{head}\n1|{TIMES}|COMPLETED|{usual}\n2|{at}|FAILED|{cells}\n"))
    assert ("2" in w.ids) == ran
    assert w.report.dropped == (() if ran else (("2", "it never started"),))


def test_a_list_of_waiting_tasks_that_was_cut_is_no_step(file: Writer) -> None:
    waits = "8_[1,3,5,...%2]|2024-05-01T08:00:00|Unknown|Unknown|00:00:00|06:00:00|1|4|PENDING"
    w = read_sacct(file("jobs.txt", f"{HEAD}\n{ROW}\n{waits}\n"))
    assert dict(w.report.dropped) == {"8_[1,3,5,...%2]": "it never started: it still waited when the log was written"}
    assert w.report.skipped == {}


def test_files_that_were_joined_repeat_their_header(file: Writer) -> None:
    w = read_sacct(file("jobs.txt", f"{HEAD}\n{ROW}\n{HEAD}\n2{ROW[1:]}\n"))
    assert w.ids == ("1", "2")
    assert (w.report.bad_lines, w.report.skipped) == ((), {"lines that repeat the header": 1})


@pytest.mark.parametrize("head", [HEAD.replace("JobID", "JobIDRaw"), HEAD.lower(), HEAD.upper()])
def test_columns_have_any_case_and_a_raw_number_is_the_number_of_a_job(file: Writer, head: str) -> None:
    path = file("jobs.txt", f"{head}\n{ROW}\n1.batch{ROW[1:]}\n")
    assert read_trace(path).workload.ids == ("1",)
    without = file("rows.txt", f"{ROW}\n")
    assert read_trace(without, columns=head.split("|")).workload.ids == ("1",)


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        (["a|b|1", "first\nsecond|2", "|3", "||4"], ["a|b", "first second", "", "|"]),
        (["one\ntwo\nthree|1", "x|2"], ["one two three", "x"]),
    ],
)
def test_a_name_in_the_first_column_has_several_lines(file: Writer, rows: list[str], names: list[str]) -> None:
    text = "\n".join(f"{r}|{TIMES}|1|4|COMPLETED" for r in rows)
    w = read_sacct(file("jobs.txt", f"JobName|{HEAD}\n{text}\n"))
    assert [w.job(k).name for k in range(len(w))] == names
    assert w.report.bad_lines == ()


# times


@pytest.mark.parametrize(
    ("start", "end", "elapsed", "began"),
    [
        ("02:40:00", "03:30:00", "00:50:00", 1698543600),  # in the second of the two equal hours
        ("02:40:00", "03:30:00", "01:50:00", 1698540000),  # in the first
        ("02:10:00", "02:40:00", "01:30:00", 1698538200),
        ("02:10:00", "02:40:00", "00:30:00", 1698538200),
    ],
)
def test_elapsed_tells_in_which_of_two_equal_hours_a_job_started(
    file: Writer, start: str, end: str, elapsed: str, began: int
) -> None:
    line = f"1|2023-10-29T01:00:00|2023-10-29T{start}|2023-10-29T{end}|{elapsed}|02:00:00|1|4|COMPLETED"
    w = read_sacct(file("jobs.txt", f"{HEAD}\n{line}\n"), ZoneInfo("Europe/Rome"))
    assert w.recorded_start.tolist() == [began]
    assert not any("Elapsed" in what for what, n in w.report.repairs.items() if n)


def test_without_elapsed_a_suspension_is_no_part_of_the_runtime(file: Writer) -> None:
    head = "JobID|Submit|Start|End|Suspended|Timelimit|NNodes|NCPUS|State"
    times = "2024-05-01T08:00:00|2024-05-01T09:00:00|2024-05-01T11:00:00"
    w = read_sacct(file("jobs.txt", f"{head}\n1|{times}|00:30:00|06:00:00|1|4|COMPLETED\n"))
    assert w.runtime.tolist() == [5400]
    assert w.report.repairs["End - Start without the time of suspension is used"] == 1


# attempts


def component(k: int, nodes: int, state: str, day: int, elapsed: str = "00:10:00", start: str | None = None) -> str:
    at = f"2024-05-{day:02}T08"
    begun = f"{at}:01:00" if start is None else start
    return f"5+{k}|{at}:00:00|{begun}|{at}:11:00|{elapsed}|06:00:00|{nodes}|{4 * nodes}|{state}"


def test_attempts_of_a_heterogeneous_job_are_counted(file: Writer) -> None:
    rows = [component(k, 1 + k, "COMPLETED", 2, "00:20:00") for k in (0, 1)]
    rows += [component(0, 1, "NODE_FAIL", 1), component(1, 2, "CANCELLED", 1)]
    w = read_sacct(file("jobs.txt", "\n".join([HEAD, *rows]) + "\n"))
    assert (w.ids, w.runtime.tolist(), w.report.skipped) == (("5",), [1200], {ONCE_MORE: 2})


def test_of_a_heterogeneous_job_the_attempt_that_ran_counts(file: Writer) -> None:
    rows = [component(k, 1 + k, "REQUEUED", 1) for k in (0, 1)]
    rows += [component(k, 1 + k, "CANCELLED by 7", 2, "00:00:00", "Unknown") for k in (0, 1)]
    w = read_sacct(file("jobs.txt", "\n".join([HEAD, *rows]) + "\n"))
    assert (w.ids, w.runtime.tolist(), w.report.skipped) == (("5",), [600], {ONCE_MORE: 2})


def test_a_heterogeneous_job_whose_number_was_used_again_is_another_job(file: Writer) -> None:
    rows = [component(k, nodes, "COMPLETED", day) for day, nodes in ((1, 1), (9, 3)) for k in (0, 1)]
    w = read_sacct(file("jobs.txt", "\n".join([HEAD, *rows, *rows[:2]]) + "\n"))
    assert w.ids == ("5", "5.2")
    assert w.units.tolist() == [2, 6]
    assert w.report.skipped == {REPEATED: 2}


# values of old versions


def test_flags_in_amounts_of_memory_are_exact() -> None:
    for text in ("2147486648Mn", "9223372036854778808Mn", "9223372036854778808"):
        assert memory(text) == (3000.0, "cpu")


def test_gpus_by_the_number_of_their_plugin() -> None:
    assert gres_gpus_of_job("7696487:2", 1) == (2, {}, True)
    assert gres_gpus_of_job("7696487:a100:4,7168:1", 2) == (8, {"a100": 8}, True)


def entry(**more: Any) -> dict[str, Any]:
    """A job as ``sacct --json`` of Slurm 21.08 has it: plain numbers, null for what is not set."""
    time = {"elapsed": 3600, "eligible": 1714550400, "start": 1714554000, "end": 1714557600, "submission": 1714550400}
    job: dict[str, Any] = {
        "job_id": 7, "name": "a", "user": "ann", "partition": "p", "cluster": "c", "nodes": "n[1-2]", "allocation_nodes": 2,
        "required": {"CPUs": 8, "memory": 2**63 + 3000}, "array": {"job_id": 0, "task_id": None, "task": None},
        "het": {"job_id": 0, "job_offset": None}, "state": {"current": "COMPLETED", "reason": "None"},
        "time": time | {"suspended": 0, "limit": 120}, "tres": {"allocated": [{"type": "cpu", "name": None, "id": 1, "count": 8}, {"type": "energy", "name": None, "id": 3, "count": -2}]},
    }  # fmt: skip
    return job | more


def read_json(file: Writer, *jobs: Any) -> Any:
    return read_trace(file("jobs.json", json.dumps({"meta": {}, "jobs": list(jobs), "errors": []})))


@pytest.mark.parametrize(("required", "megabytes"), [({"CPUs": 8, "memory": 2**63 + 3000}, 12000), ({"CPUs": 8, "memory": 3000}, 3000), ({"memory_per_cpu": 100}, 400)])  # fmt: skip
def test_memory_in_json_of_old_versions(file: Writer, required: dict[str, Any], megabytes: int) -> None:
    w = read_json(file, entry(required=required)).workload
    assert w.request.tolist() == [[4, megabytes]]


@pytest.mark.parametrize(
    ("limit", "seconds"),
    [
        (120, 7200),
        (2**32 - 1, 36000),
        ("INFINITE", 36000),
        ({"set": False, "infinite": True, "number": 0}, 36000),
        (2**32 - 2, 3600),
        (None, 3600),
        ({"set": False, "infinite": False, "number": 0}, 3600),
    ],
)
def test_limits_in_json(file: Writer, limit: Any, seconds: int) -> None:
    """Without a limit a job has the longest of its partition; without a known one its runtime."""
    long = entry(job_id=8, time=entry()["time"] | {"limit": 600})
    w = read_json(file, long, entry(time=entry()["time"] | {"limit": limit})).workload
    assert dict(zip(w.ids, w.walltime.tolist(), strict=True)) == {"8": 36000, "7": seconds}


@pytest.mark.parametrize(
    ("job", "message"),
    [
        (entry(job_id=None), "there is no job_id"),
        (entry(job_id=10**40), "job_id is 1000"),
        (entry(job_id=float("nan")), "job_id is nan; expected a whole number"),
        (entry(job_id=True), "job_id is True; expected a whole number"),
        (entry(time=None), "time is None; expected an object with submission, start, end and elapsed"),
        (entry(required=5), "required is 5; expected an object"),
        (entry(tres={"allocated": [3]}), "tres is 3; expected an object with type, name and count"),
        (entry(time=entry()["time"] | {"elapsed": [1]}), "time.elapsed is [1]; expected a whole number"),
        ("x", "the job is 'x'; expected an object"),
        (None, "the job is None; expected an object"),
    ],
)
def test_a_damaged_entry_of_json_is_told(file: Writer, job: Any, message: str) -> None:
    trace = read_json(file, entry(job_id=3), job)
    assert trace.workload.ids == ("3",)
    assert [b.line for b in trace.report.bad_lines] == [2]
    assert f"entry 2 of the list of jobs: {message}" in str(trace.report.bad_lines[0])
    assert read_json(file, job, entry(job_id=3)).workload.ids == ("3",)


# components, attempts and sizes


def line(job: str, submit: str, start: str, end: str, elapsed: str, state: str, limit: str = "02:00:00", nodes: int = 1, hosts: str = "n1") -> str:  # fmt: skip
    times = "|".join(f"2024-05-01T{clock}" for clock in (submit, start, end))
    return f"{job}|{times}|{elapsed}|{limit}|{nodes}|{4 * nodes}|{state}|{hosts}"


def read_lines(file: Writer, *lines: str, head: str = f"{HEAD}|NodeList") -> Trace:
    return read_trace(file("jobs.txt", "\n".join([head, *lines]) + "\n"))


@pytest.mark.parametrize(("limits", "walltime"), [(("01:00:00", "03:00:00"), 10800), (("03:00:00", "01:00:00"), 10800), (("", "03:00:00"), 10800)])  # fmt: skip
def test_the_walltime_of_a_heterogeneous_job_is_the_longest_of_its_components(
    file: Writer, limits: tuple[str, str], walltime: int
) -> None:
    w = read_lines(
        file,
        line("12+0", "08:00:00", "08:10:00", "09:00:00", "00:50:00", "COMPLETED", limits[0]),
        line("12+1", "08:00:00", "08:10:00", "10:10:00", "02:00:00", "COMPLETED", limits[1], hosts="n[2-3]", nodes=2),
    ).workload
    assert (w.walltime.tolist(), w.runtime.tolist()) == ([walltime], [7200])
    assert w.job(0).recorded.nodes == "n1,n[2-3]"


def test_a_requeued_heterogeneous_job_has_its_attempts_as_a_plain_one(file: Writer) -> None:
    def lines(*names: str) -> list[str]:
        first = [line(name, "08:00:00", "08:05:00", "08:20:00", "00:15:00", "REQUEUED") for name in names]
        again = [line(name, "08:20:00", "08:30:00", "09:30:00", "01:00:00", "COMPLETED") for name in names]
        return [*first, *again]

    plain, hets = (read_lines(file, *lines(*names)).workload for names in (["12"], ["12+0", "12+1"]))
    assert (plain.ids, hets.ids) == (("12",), ("12",))
    assert hets.submit.tolist() == plain.submit.tolist() == [1714550400]
    assert hets.job(0).recorded.attempts == plain.job(0).recorded.attempts
    assert plain.job(0).recorded.attempts == (RecordedAttempt(1714550400, 1714550700, 1714551600, "REQUEUED", "n1"),)
    assert hets.queues == plain.queues  # the time of the first run is no part of the wait
    other = read_lines(
        file, *lines("12+0", "12+1"), line("13+0", "08:00:00", "08:05:00", "08:20:00", "00:15:00", "COMPLETED")
    )
    assert [len(other.workload.job(k).recorded.attempts) for k in range(2)] == [1, 0]


@pytest.mark.parametrize(
    "state", ["SPECIAL_EXIT", "REQUEUE_HOLD", "REQUEUE_FED", "REVOKED", "RESV_DEL_HOLD", "SE", "PENDING"]
)
def test_elapsed_decides_whether_a_job_ran_whatever_its_state(file: Writer, state: str) -> None:
    w = read_lines(
        file,
        line("1", "08:00:00", "08:10:00", "08:20:00", "00:10:00", state),
        line("2", "08:00:00", "08:10:00", "08:10:00", "00:00:00", state, hosts="None assigned"),
        line("3", "08:00:00", "08:10:00", "08:20:00", "00:10:00", "COMPLETED"),
    ).workload
    assert (w.ids, w.runtime.tolist()) == (("1", "3"), [600, 600])
    assert [job for job, _ in w.report.dropped] == ["2"]


@pytest.mark.parametrize("state", ["SPECIAL_EXIT", "REQUEUE_HOLD"])
def test_a_job_that_was_held_and_ran_again_is_one_job(file: Writer, state: str) -> None:
    w = read_lines(
        file,
        line("1", "08:00:00", "08:10:00", "08:20:00", "00:10:00", state),
        line("1", "08:20:00", "09:10:00", "09:30:00", "00:20:00", "COMPLETED"),
    ).workload
    assert (w.ids, w.runtime.tolist(), w.submit.tolist()) == (("1",), [1200], [1714550400])
    assert [each.state for each in w.job(0).recorded.attempts] == [state]


def test_a_job_that_was_resized_ran_from_its_first_start_to_its_end(file: Writer) -> None:
    """Slurm begins another row, submitted and started when the size changes."""
    rows = [
        line("1", "08:00:00", "08:10:00", "08:20:00", "00:10:00", "RESIZING", nodes=2, hosts="n[1-2]"),
        line("1", "08:20:00", "08:20:00", "08:40:00", "00:20:00", "RESIZING", nodes=3, hosts="n[1-3]"),
        line("1", "08:40:00", "08:40:00", "09:10:00", "00:30:00", "COMPLETED"),
    ]
    for order in (rows, rows[::-1], rows * 2):
        w = read_lines(file, *order).workload
        assert (w.ids, w.submit.tolist(), w.recorded_start.tolist()) == (("1",), [1714550400], [1714551000])
        assert (w.runtime.tolist(), w.walltime.tolist(), w.units.tolist(), w.request.tolist()) == (
            [3600],
            [7200],
            [3],
            [[4]],
        )
        assert (w.job(0).recorded.attempts, w.job(0).recorded.state) == ((), "COMPLETED")
        assert w.report.repairs[RESIZED] == 1
        copies = {REPEATED: 3} if len(order) > 3 else {}
        assert w.report.skipped == {"rows of other sizes of a job that was resized": 2} | copies


def test_a_resized_job_may_have_earlier_attempts(file: Writer) -> None:
    w = read_lines(
        file,
        line("1", "07:00:00", "07:10:00", "07:20:00", "00:10:00", "RESIZING", nodes=2),
        line("1", "07:20:00", "07:20:00", "07:50:00", "00:30:00", "NODE_FAIL"),
        line("1", "07:50:00", "08:10:00", "08:20:00", "00:10:00", "RESIZING", nodes=2),
        line("1", "08:20:00", "08:20:00", "09:10:00", "00:50:00", "COMPLETED"),
    ).workload
    assert (w.ids, w.submit.tolist(), w.runtime.tolist(), w.units.tolist()) == (("1",), [1714546800], [3600], [2])
    assert [(each.end - each.start, each.state) for each in w.job(0).recorded.attempts] == [(2400, "NODE_FAIL")]


# what jobs asked for


@pytest.mark.parametrize(
    ("text", "per_node", "untold"),
    [
        ("PER_NODE:gpu:2", 2, False),
        ("PER_NODE:gpu:a100:2", 2, False),
        ("PER_NODE:gres:gpu:2", 2, False),
        ("PER_JOB:gpu:4", 2, False),
        ("PER_JOB:gpu:2 PER_NODE:gpu:1", 1, False),
        ("PER_NODE:gpu:2 PER_TASK:gpu:1", 2, False),
        ("PER_TASK:gpu:1", 1, True),
        ("PER_SOCKET:gpu:1", 1, True),
        ("PER_NODE:craynetwork:1", 0, False),
        ("NONE", 0, False),
        ("gpu:2", 2, False),
    ],
)
@pytest.mark.parametrize("column", ["AllocGRES", "ReqGRES"])
def test_gpus_of_a_node_of_a_job_and_of_a_task_in_slurm_19_and_20(
    file: Writer, column: str, text: str, per_node: int, untold: bool
) -> None:
    row = f"1|{TIMES}|2|8|COMPLETED|{text}"
    w = read_lines(file, row, head=f"{HEAD}|{column}").workload
    assert dict(w.job(0).request).get("gpus", 0) == per_node
    what = "GPUs for each task or socket, of which the number is not recorded, counted once for each node"
    assert w.report.repairs.get(what, 0) == untold


def test_gpus_of_a_task_count_for_each_task_where_a_line_tells_them(file: Writer) -> None:
    row = f"1|{TIMES}|2|8|COMPLETED|PER_TASK:gpu:1|sbatch -n 8 run.sh"
    assert read_lines(file, row, head=f"{HEAD}|ReqGRES|SubmitLine").workload.job(0).request["gpus"] == 4


def test_a_limit_of_the_partition_that_no_job_tells_is_the_runtime(file: Writer) -> None:
    known = "the dispatcher knows the runtime of such a job exactly"
    for limit in ("Partition_Limit", "UNLIMITED"):
        w = read_lines(file, line("1", "08:00:00", "08:10:00", "08:20:00", "00:10:00", "COMPLETED", limit)).workload
        assert w.walltime.tolist() == w.runtime.tolist() == [600]
        repairs = {what: n for what, n in w.report.repairs.items() if "walltime" in what and n}
        assert repairs == {"walltime without a limit, as of all jobs of the log, the runtime is used instead": 1}
        assert any(known in note for note in w.report.notes)
    other = line("2", "08:00:00", "08:10:00", "08:20:00", "00:10:00", "COMPLETED", "01:00:00")
    w = read_lines(file, line("1", "08:00:00", "08:10:00", "08:20:00", "00:10:00", "COMPLETED", limit), other).workload
    assert w.walltime.tolist() == [3600, 3600]
    assert not any(known in note for note in w.report.notes)


@pytest.mark.parametrize(
    ("cells", "licences"),
    [
        (("cpu=4,node=1,license/matlab=2", "", "", ""), "matlab:2"),
        (("", "cpu=4,node=1,license/matlab=2,license/ansys@db=1", "", ""), "matlab:2,ansys@db:1"),
        (("license/matlab=1", "license/matlab=2", "", ""), "matlab:1"),
        (("license/matlab=1", "", "matlab:1,ansys:3", ""), "matlab:1,ansys:3"),  # not all are tracked
        (("license/matlab=1", "", "", "sbatch -L matlab:1,ansys:3 x"), "matlab:1,ansys:3"),
        (("cpu=4,node=1", "", "", ""), ""),
    ],
)
def test_licences_among_trackable_resources(file: Writer, cells: tuple[str, ...], licences: str) -> None:
    head = f"{HEAD}|AllocTRES|ReqTRES|Licenses|SubmitLine"
    w = read_lines(file, "|".join([f"1|{TIMES}|1|4|COMPLETED", *cells]), head=head).workload
    assert (w.job(0).asked or SiteRequest()).licences == licences


@pytest.mark.parametrize("field", ["job_id", "elapsed", "limit"])
def test_whole_numbers_of_json_that_are_texts_are_read(file: Writer, field: str) -> None:
    if field == "job_id":
        job = entry(job_id="7")
    else:
        job = entry(time=entry()["time"] | {field: {"elapsed": "3600", "limit": "120"}[field]})
    w = read_json(file, job).workload
    assert (w.ids, w.runtime.tolist(), w.walltime.tolist()) == (("7",), [3600], [7200])


@pytest.mark.parametrize(
    ("job", "message"),
    [
        (entry(job_id="7a"), "job_id is '7a'; expected a whole number"),
        (entry(time=entry()["time"] | {"elapsed": "01:00:00"}), "time.elapsed is '01:00:00'; expected a whole number"),
    ],
)
def test_other_texts_in_json_are_told(file: Writer, job: Any, message: str) -> None:
    trace = read_json(file, entry(job_id=3), job)
    assert message in str(trace.report.bad_lines[0])
