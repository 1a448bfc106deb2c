"""Logs in the Standard Workload Format: reading, repairs and their numbers, reports of damaged lines."""

import gzip
import random
from collections.abc import Callable
from datetime import UTC
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from schedlab.instances import Workload, WorkloadError, read_swf
from schedlab.instances.formats import FIELDS, swf_trace
from schedlab.instances.formats.swf import LogLines
from shared_data import DATA

HEADER = """\
; Version: 2.2
; Computer: a test
; UnixStartTime: 1000
; TimeZoneString: Europe/Stockholm
; MaxNodes: 10
; MaxProcs: 160
; Queue: 1 short
; Queue: 2 long
"""
#        id submit wait run alloc cpu mem procs time mem status user group exe queue part prev think
JOB = "1 0 5 100 4 -1 -1 4 300 -1 1 7 3 12 1 -1 -1 -1"


def job(**changes: object) -> str:
    """Return the line of a job with some fields changed."""
    words = JOB.split()
    for name, value in changes.items():
        words[FIELDS.index(name.replace("_", " "))] = str(value)
    return " ".join(words)


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Workload]:
    """Read a log of these lines."""

    def of(*lines: str, **geometry: int) -> Workload:
        path = tmp_path / "log.swf"
        path.write_text(HEADER + "\n".join(lines) + "\n")
        return read_swf(path, **geometry)

    return of


def test_a_clean_log(read: Callable[..., Workload]) -> None:
    w = read(JOB, job(job_number=2, submit_time=60, wait_time=15, queue=2, requested_processors=33), cores=16)
    assert (w.name, w.ids, w.unix_start, w.resources) == ("log", ("1", "2"), 1000, ("cores",))
    assert w.submit.tolist() == w.release.tolist() == [0, 60]
    assert w.recorded_start.tolist() == [5, 75]
    assert (w.runtime.tolist(), w.walltime.tolist()) == ([100, 100], [300, 300])
    assert (w.units.tolist(), w.request.tolist()) == ([1, 3], [[4], [11]])
    assert [(q.name, q.ewt) for q in w.queues] == [("short", 5), ("long", 15)]
    assert (w.job(1).queue, w.job(1).user, w.job(1).name) == ("long", "user 7", "12")
    assert np.isnan(w.power).all()
    assert (w.report.repairs, w.report.bad_lines, w.report.dropped) == ({}, (), ())


def test_a_unit_is_a_processor_unless_nodes_have_more(read: Callable[..., Workload]) -> None:
    assert read(JOB).units.tolist() == [4]
    assert read(JOB).request.tolist() == [[1]]


@pytest.mark.parametrize(
    ("changes", "column", "value", "repair"),
    [
        ({"requested processors": -1}, "units", 4, "requested processors missing, the allocated ones taken"),
        ({"requested time": -1}, "walltime", 100, "walltime missing, the runtime is used instead"),
        ({"requested time": 0}, "walltime", 100, "walltime missing, the runtime is used instead"),
        ({"runtime": 0}, "runtime", 1, "runtime 0, taken as 1 s"),
        ({"runtime": 99.2}, "runtime", 100, "times with fractions of a second, rounded"),
        ({"requested time": 299.5}, "walltime", 300, "times with fractions of a second, rounded"),
        ({"submit time": 7.6}, "submit", 8, "times with fractions of a second, rounded"),
        ({"runtime": 301}, "runtime", 301, "runtime over walltime, kept"),
    ],
)
def test_a_repair_is_made_and_counted(
    read: Callable[..., Workload], changes: dict[str, object], column: str, value: int, repair: str
) -> None:
    w = read(job(**changes), job(job_number=2, submit_time=10))
    assert getattr(w, column)[0] == value
    assert w.report.repairs == {repair: 1}


def test_a_walltime_that_the_runtime_replaces_is_noted(read: Callable[..., Workload]) -> None:
    assert any("the runtime is used instead" in note for note in read(job(requested_time=-1)).report.notes)
    assert not any("the runtime is used instead" in note for note in read(JOB).report.notes)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"runtime": -1}, "runtime is unknown"),
        ({"requested processors": 0, "allocated processors": -1}, "no processors"),
        ({"submit time": -5}, "before second 0"),
    ],
)
def test_a_job_that_cannot_be_replayed_is_left_out_with_its_reason(
    read: Callable[..., Workload], changes: dict[str, object], why: str
) -> None:
    w = read(job(job_number=8, **changes), job(job_number=9))
    assert w.ids == ("9",)
    assert [name for name, _ in w.report.dropped] == ["8"]
    assert why in w.report.dropped[0][1]


def test_jobs_are_sorted_by_submit_time_and_equal_numbers_told_apart(read: Callable[..., Workload]) -> None:
    w = read(job(submit_time=50), job(job_number=2, submit_time=20), job(submit_time=20))
    assert (w.ids, w.submit.tolist()) == (("2", "1.2", "1"), [20, 20, 50])
    assert w.report.repairs == {"submit times not in order, sorted": 2, "job ids not unique, a suffix added": 1}


def test_memory_is_per_unit_requested_before_used_and_at_most_that_of_a_node(read: Callable[..., Workload]) -> None:
    w = read(
        job(requested_memory=2048, used_memory=1),
        job(job_number=2, used_memory=1025),
        job(job_number=3, requested_memory=10**7),
        job(job_number=4),
        cores=2,
        memory=1000,
    )
    assert w.resources == ("cores", "memory")
    assert w.request[:, 1].tolist() == [4, 3, 1000, 0]
    assert w.report.repairs == {
        "requested memory missing, the used one taken": 1,
        "memory above that of a node, capped": 1,
    }


def test_queues_without_names_and_without_known_waits(read: Callable[..., Workload]) -> None:
    w = read(job(wait_time=-1, queue=9), job(job_number=2, wait_time=0, queue=-1))
    assert [(q.name, q.ewt) for q in w.queues] == [("default", 1), ("queue 9", 3600)]
    assert w.recorded_start.tolist() == [-1, 0]


def test_two_queues_of_one_name_stay_two(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    path.write_text("; Queue: 1 same\n; Queue: 2 same\n" + job(queue=1) + "\n" + job(queue=2) + "\n")
    assert [q.name for q in read_swf(path).queues] == ["same (1)", "same (2)"]


def test_what_stands_in_for_the_program_is_noted(read: Callable[..., Workload]) -> None:
    assert "application number" in read(JOB).report.notes[-1]
    one_group = read(job(application=-1), job(job_number=2, application=-1))
    assert (one_group.programs, "no numbers that could be used instead" in one_group.report.notes[-1]) == (("",), True)
    two_groups = read(job(application=-1), job(job_number=2, application=-1, group=4))
    assert (two_groups.programs, "group" in two_groups.report.notes[-1]) == (("3", "4"), True)


def test_submit_times_that_are_unix_times_already(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    path.write_text("; UnixStartTime: 1668143264\n" + job(submit_time=1668143300) + "\n")
    w = read_swf(path)
    assert (w.unix_start, w.submit.tolist()) == (0, [1668143300])
    assert any("Unix times already" in note for note in w.report.notes)


def test_header_with_zone_and_sizes(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    path.write_text(HEADER + JOB)
    trace = swf_trace(path)
    assert (str(trace.zone), trace.sizes) == ("Europe/Stockholm", {"nodes": 10, "processors": 160})
    path.write_text("; TimeZoneString: Nowhere/Land\n; MaxProcs: many\n" + JOB)
    trace = swf_trace(path)
    assert (trace.zone, trace.sizes, trace.unix_start) == (UTC, {}, None)
    assert any("Nowhere/Land" in note for note in trace.report.notes)
    path.write_text("; TimeZone: -3600\n" + JOB)
    assert swf_trace(path).zone.utcoffset(None).total_seconds() == -3600


def test_windows_line_ends_blank_lines_and_comments_between_the_jobs(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    text = HEADER + JOB + "\n\n  ; a comment\n   \n" + job(job_number=2) + "\n" + "3 broken\n"
    path.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    w = read_swf(path)
    assert w.ids == ("1", "2")
    assert [(b.line, b.message) for b in w.report.bad_lines] == [(14, "2 fields; a line of SWF has 18")]


def test_a_packed_log_reads_as_the_plain_one(tmp_path: Path) -> None:
    plain, packed = tmp_path / "log.swf", tmp_path / "log.swf.gz"
    plain.write_text(HEADER + JOB)
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert read_swf(packed).job(0) == read_swf(plain).job(0)
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(WorkloadError, match="gzip data are damaged"):
        read_swf(packed)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("1 0 5", "3 fields; a line of SWF has 18"),
        (JOB + " 5", "19 fields; a line of SWF has 18"),
        (job(runtime="1o0"), "field 4 (runtime) is '1o0'; expected a number, -1 if unknown"),
        (job(runtime="nan"), "field 4 (runtime) is 'nan'; expected a number, -1 if unknown"),
        (job(wait_time="inf"), "field 3 (wait time) is 'inf'; expected a number, -1 if unknown"),
        (job(requested_time="1_000"), "field 9 (requested time) is '1_000'; expected a number, -1 if unknown"),
        (job(requested_time="1e300"), "field 9 (requested time) is '1e300'; expected at most 10000000000"),
        (job(job_number="9" * 30), f"field 1 (job number) is '{'9' * 30}'; expected at most 9007199254740992"),
        (
            job(requested_processors=3.5),
            "field 8 (requested processors) is '3.5'; expected a whole number, -1 if unknown",
        ),
    ],
)
def test_a_damaged_line_is_told_and_the_others_are_read(
    read: Callable[..., Workload], line: str, expected: str
) -> None:
    w = read(JOB, line, job(job_number=3))
    assert w.ids == ("1", "3")
    assert [(b.line, b.message) for b in w.report.bad_lines] == [(10, expected)]
    assert str(w.report.bad_lines[0]).endswith(f"log.swf, line 10: {expected}")


def test_a_field_more_in_all_lines_is_an_extension_of_the_format(read: Callable[..., Workload]) -> None:
    w = read(JOB + " 0.5", job(job_number=2) + " 0.7", job(job_number=3))
    assert w.ids == ("1", "2")
    assert [b.message for b in w.report.bad_lines] == ["18 fields; the lines of this file have 19"]
    assert any("19 fields" in note for note in w.report.notes)


@pytest.mark.parametrize("text", ["", HEADER, "\n\n", HEADER + "1 2 3\n"])
def test_a_log_without_jobs_is_an_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "log.swf"
    path.write_text(text)
    with pytest.raises(WorkloadError, match="log: no job to replay"):
        read_swf(path)


def test_a_file_that_is_not_there_and_an_impossible_node(tmp_path: Path) -> None:
    with pytest.raises(WorkloadError, match="there is no such file"):
        read_swf(tmp_path / "log.swf")
    with pytest.raises(WorkloadError, match="cannot be read"):
        read_swf(tmp_path)
    with pytest.raises(WorkloadError, match="at least 1"):
        read_swf(tmp_path, cores=0)


def damaged(line: str, rng: random.Random) -> str:
    """Damage a line: cut it, put a letter into a number, remove a field, or insert a huge value or a non-number."""
    words = line.split()
    k = rng.randrange(len(words))
    kind = rng.randrange(5)
    if kind == 0:
        return " ".join(words[: rng.randrange(1, len(words))])
    if kind == 1:
        return " ".join(words[:k] + words[k + 1 :])
    words[k] = {2: words[k] + rng.choice("abcxyzé"), 3: "9" * 40, 4: rng.choice(["nan", "inf", "-inf", "NaN"])}[kind]
    return " ".join(words)


def test_every_damaged_line_of_a_real_log_is_named_and_nothing_else_is_lost(tmp_path: Path) -> None:
    log = DATA / "kth_sp2_1996" / "KTH-SP2-1996-2.1-cln.swf"
    if not log.is_file():
        pytest.skip(f"{log} is not there")
    rng = random.Random(3)
    lines = log.read_text().splitlines()
    jobs = [n for n, line in enumerate(lines) if not line.startswith(";")]
    hit = sorted(rng.sample(jobs, len(jobs) // 20))
    numbers = {lines[n].split()[0] for n in hit}
    for n in hit:
        lines[n] = damaged(lines[n], rng)
    path = tmp_path / "kth.swf"
    path.write_text("\n".join(lines))
    whole, rest = read_swf(log), read_swf(path)
    assert [b.line for b in rest.report.bad_lines] == [n + 1 for n in hit]
    assert all(b.message for b in rest.report.bad_lines)
    assert rest.ids == tuple(name for name in whole.ids if name not in numbers)
    kept = whole.keep(np.array([name not in numbers for name in whole.ids]))
    for column in ("submit", "runtime", "walltime", "units", "recorded_start"):
        assert (getattr(rest, column) == getattr(kept, column)).all(), column


TIMES = st.one_of(st.integers(-1, 10**6), st.floats(0, 10**6).map(lambda x: round(x, 2)))
ROWS = st.tuples(*(TIMES if "time" in f or "memory" in f else st.integers(-1, 1000) for f in FIELDS))


@given(st.lists(st.tuples(ROWS, st.booleans()), max_size=20), st.integers(1, 25))
def test_lines_that_are_written_are_read_back(rows: list[tuple[tuple[float, ...], bool]], size: int) -> None:
    lines = [("  " * cut).join(f"{v} " for v in row[: 9 if cut else 18]) for row, cut in rows]
    cuts = range(0, len(lines) + 1, size)
    log = LogLines.read([lines[a : a + size] for a in cuts], "log")
    table, bad = log.table, log.bad
    assert log.line.tolist() == [n for n, (_, cut) in enumerate(rows, 1) if not cut]
    assert [b.line for b in bad] == [n for n, (_, cut) in enumerate(rows, 1) if cut]
    assert table.tolist() == [[float(v) for v in row] for row, cut in rows if not cut]
