"""SWF: jobs that were cancelled, partial executions, and -1 in every field."""

from collections.abc import Callable
from pathlib import Path

import pytest
from schedlab.instances import read_swf
from schedlab.instances.formats import swf_trace

Writer = Callable[[str, str], Path]


def line(
    job: int, submit: int = 0, wait: int = 0, runtime: int = 60, allocated: int = 4, status: int = 1, **other: int
) -> str:
    fields = [
        job,
        submit,
        wait,
        runtime,
        allocated,
        -1,
        -1,
        other.get("requested", 4),
        600,
        -1,
        status,
        1,
        1,
        1,
        1,
        1,
        -1,
        -1,
    ]
    return " ".join(map(str, fields))


COVERED = "lines of partial executions, which the lines of their whole jobs cover"
FURTHER = "lines of further partial executions, joined to the first one of their job"
CANCELLED = "it never started: it was cancelled in the queue"


@pytest.mark.parametrize("status", [0, 1, -1])
@pytest.mark.parametrize("last", [False, True])
def test_the_line_of_a_whole_job_covers_its_parts(file: Writer, status: int, last: bool) -> None:
    parts = [line(2, 10, 5, 100, status=2), line(2, -1, 50, 40, status=2), line(2, -1, 70, 30, status=3)]
    whole = line(2, 10, 5, 170, status=status)
    lines = [line(1), *([*parts, whole] if last else [whole, *parts]), line(3, 20, status=4, runtime=9)]
    w = read_swf(file("log.swf", "\n".join(lines)))
    assert (w.ids, w.submit.tolist(), w.runtime.tolist()) == (("1", "2", "3"), [0, 10, 20], [60, 170, 9])
    assert (w.report.skipped, w.report.dropped) == ({COVERED: 3}, ())


@pytest.mark.parametrize("end", [3, 4])
def test_parts_without_their_whole_job_are_joined(file: Writer, end: int) -> None:
    lines = [
        line(1), line(5, 30, 7, 11, status=2), line(2, 10, 5, 100, status=2), line(2, -1, 50, 40, status=2),
        line(2, -1, 70, 30, status=end), line(5, -1, 7, 2, status=end),
    ]  # fmt: skip
    w = read_swf(file("log.swf", "\n".join(lines)))
    assert (w.ids, w.submit.tolist(), w.runtime.tolist()) == (("1", "2", "5"), [0, 10, 30], [60, 170, 13])
    assert w.recorded_start.tolist() == [0, 15, 37]
    assert w.report.skipped == {FURTHER: 3}
    assert w.report.repairs["partial executions joined to a job: runtimes added"] == 2


@pytest.mark.parametrize(
    ("runtime", "allocated", "ran"),
    [(0, 0, False), (0, -1, False), (-1, -1, False), (-1, 4, False), (0, 4, False), (1, 4, True), (600, 4, True)],
)
def test_a_cancelled_job_ran_only_if_it_has_a_runtime(file: Writer, runtime: int, allocated: int, ran: bool) -> None:
    lines = [line(1, wait=10), line(2, 5, 5000, runtime, allocated, status=5)]
    trace = swf_trace(file("log.swf", "\n".join(lines)))
    w = trace.workload
    assert w.ids == (("1", "2") if ran else ("1",))
    assert w.report.dropped == (() if ran else (("2", CANCELLED),))
    assert [q.ewt for q in w.queues] == [2505 if ran else 10]


def test_a_line_without_any_value(file: Writer) -> None:
    unknown = " ".join(["-1"] * 18)
    no_number = line(-1, 3)
    no_submit = line(8, -1)
    w = read_swf(file("log.swf", "\n".join([line(1), unknown, no_number, no_submit, line(9, -5)])))
    assert w.ids == ("1", "job 3")
    assert w.report.dropped == (
        ("job 2", "it has no submit time"),
        ("8", "it has no submit time"),
        ("9", "its submit time is before second 0 of the log"),
    )
    assert w.report.repairs["job id missing, the position in the log is used instead"] == 1


@pytest.mark.parametrize("field", range(18))
def test_minus_one_in_one_field(file: Writer, field: int) -> None:
    fields = line(2, 7).split()
    fields[field] = "-1"
    w = read_swf(file("log.swf", "\n".join([line(1), " ".join(fields)])), cores=2, memory=1000)
    assert len(w) == (1 if field in (1, 3) else 2)
    if field == 2:
        assert w.recorded_start.tolist() == [0, -1]


def test_parts_in_any_order_have_the_submit_time_of_the_first(file: Writer) -> None:
    lines = [line(1), line(2, -1, 70, 30, status=3), line(2, 10, 5, 100, status=2), line(2, -1, 50, 40, status=2)]
    w = read_swf(file("log.swf", "\n".join(lines)))
    assert (w.ids, w.submit.tolist(), w.runtime.tolist()) == (("1", "2"), [0, 10], [60, 170])
    assert w.recorded_start.tolist() == [0, 15]


def test_a_whole_job_without_a_runtime_has_that_of_its_parts(file: Writer) -> None:
    lines = [line(1), line(2, 10, 5, -1), line(2, 10, 5, 100, status=2), line(2, -1, 50, 40, status=4), line(3, 20, runtime=-1)]  # fmt: skip
    w = read_swf(file("log.swf", "\n".join(lines)))
    assert (w.ids, w.runtime.tolist(), w.report.skipped) == (("1", "2"), [60, 140], {COVERED: 2})
    assert w.report.dropped == (("3", "its runtime is unknown"),)


def test_parts_without_a_number_are_jobs_of_their_own(file: Writer) -> None:
    lines = [line(-1, 0, 5, 10, status=2), line(-1, 3, 5, 20, status=3), line(-1, 7, 5, 30)]
    w = read_swf(file("log.swf", "\n".join(lines)))
    assert (w.submit.tolist(), w.runtime.tolist()) == ([0, 3, 7], [10, 20, 30])
