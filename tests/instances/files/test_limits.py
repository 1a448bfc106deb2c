"""Malicious files (long lines, gzip bombs, huge numbers): reading ends in bounded time, with the place of the fault."""

import gzip
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from schedlab.bench import WrongUse, parse_seeds
from schedlab.instances import (
    FormatError,
    InstanceError,
    WorkloadError,
    load,
    open_trace,
    read_batsim,
    read_eurora,
    read_fjsplib,
    read_patterson,
    read_pbs,
    read_psplib,
    read_sacct,
    read_swf,
    read_weather,
)
from schedlab.instances.files import read_lines
from schedlab.instances.files import reading as limits
from schedlab.instances.formats import EURORA_COLUMNS, read_cooling
from schedlab.models import Dispatch, Job, NodeGroup, Platform, ProblemError, Queue

Writer = Callable[[str, str], Path]
PBS = "04/01/2024 10:00:00;E;1.srv;ctime=1 start=2 end=9 Resource_List.ncpus=4 {}\n"
SETTINGS = """\
kind = "dispatch"
[[platform.groups]]
name = "n"
count = 2
capacity = { cores = 4 }
[[queues]]
name = "q"
ewt_s = 60
start_between = ["18:00", "08:00"]
"""
JOBS = "id,queue,submit,units,cores,walltime,runtime\na,q,0,1,2,60,30\nb,q,5,1,2,60,30\n"


@pytest.fixture(autouse=True)
def soon() -> Iterator[None]:
    begin = time.process_time()
    yield
    assert time.process_time() - begin < 5


def folder(tmp_path: Path, *changes: tuple[str, str]) -> Path:
    texts = {"instance.toml": SETTINGS, "jobs.csv": JOBS}
    for old, new in changes:
        assert any(old in text for text in texts.values())
        texts = {name: text.replace(old, new) for name, text in texts.items()}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_long_token_of_a_pbs_record_is_read_in_linear_time(file: Writer) -> None:
    assert read_pbs(file("log", PBS.format("x" * 900_000))).ids == ("1.srv",)
    assert read_pbs(file("log", PBS.format(" ".join(["x"] * 400_000)))).ids == ("1.srv",)


@pytest.mark.parametrize("long", ["; a:" + " " * 900_000 + "x", "1" * 900_000 + "x", "1 " * 400_000])
def test_long_lines_of_swf_are_read_in_linear_time(file: Writer, long: str) -> None:
    job = "1 0 10 60 24 -1 -1 24 3600 -1 1 5 1 -1 -1 -1 -1 -1"
    assert read_swf(file("log", f"{long}\n{job}\n")).ids == ("1",)


def test_a_long_line_of_settings_is_read_in_linear_time(tmp_path: Path) -> None:
    with pytest.raises(InstanceError, match="syntax"):
        load(folder(tmp_path, ("[[queues]]", "[" + " " * 500_000)))


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("ends", [b"\n", b"\r\n", b"\r"])
def test_a_line_beyond_the_limit_has_its_number(tmp_path: Path, packed: bool, ends: bytes) -> None:
    data = b"a" * limits.LONGEST_LINE + ends
    (path := tmp_path / "log").write_bytes(gzip.compress(b"first" + ends + data) if packed else b"first" + ends + data)
    assert [len(line) for line in read_lines(path)] == [5, limits.LONGEST_LINE]
    path.write_bytes(gzip.compress(b"first" + ends + b"aa" + data) if packed else b"first" + ends + b"aa" + data)
    with pytest.raises(WorkloadError, match=r"log, line 2: expected at most 1,048,576 bytes in a line, found more"):
        read_lines(path)


def test_a_gzip_bomb_is_not_unpacked(tmp_path: Path) -> None:
    (path := tmp_path / "log.swf.gz").write_bytes(gzip.compress(bytes(10**8), 1) * 90)  # 9 GB
    with pytest.raises(WorkloadError, match="line 1: expected at most 1,048,576 bytes in a line"):
        read_swf(path)


def test_size_and_lines_of_a_file_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path := tmp_path / "log.gz").write_bytes(gzip.compress(b"ab\n" * 1000))
    monkeypatch.setattr(limits, "MOST_LINES", 999)
    with pytest.raises(WorkloadError, match="expected at most 999 lines"):
        read_lines(path)
    with pytest.raises(WorkloadError, match=r"at most 2,999 bytes \(unpacked\), found more"):
        limits.read_text(path, most=2999)
    monkeypatch.setattr(limits, "MOST_LINES", 1000)
    assert len(limits.read_text(path, most=3000)) == 3000


@pytest.mark.parametrize("magic", [b"BZh91AY", b"\xfd7zXZ\x00", b"PK\x03\x04.."])
def test_other_packed_files_are_told(tmp_path: Path, magic: bytes) -> None:
    (path := tmp_path / "log").write_bytes(magic)
    with pytest.raises(WorkloadError, match="data: unpack it first"):
        read_lines(path)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([("a,q,0", f"{'x' * 200_000},q,0")], r"jobs.csv, line 2, row: expected CSV with fields of at most 131,072"),
        (
            [("a,q,0", f"a,q,{2**64}")],
            r"jobs.csv, line 2, submit: .* at most 10000000000, found '18446744073709551616'",
        ),
        ([("a,q,0", f"a,q,{'9' * 5000}")], r"jobs.csv, line 2, submit: expected a whole number"),
        ([("0,1,2,60", "0,1,2,99999999999")], r"jobs.csv, line 2, walltime: .* at most 10000000000"),
        ([("count = 2", "count = 2147483648")], r"instance.toml, line 4, platform.groups\[1\].count: .* most 2000000"),
        ([("count = 2", f"count = {'9' * 5000}")], r"instance.toml, line 4, syntax: expected numbers of 64 bits"),
        (
            [("count = 2", f"count = 0x{'f' * 9000}")],
            r"line 4, platform.groups\[1\].count: expected a number of 64 bits",
        ),
        ([("ewt_s = 60", "ewt_s = 1e400")], r"line 8, queues\[1\].ewt_s: expected a whole number"),
        ([("ewt_s = 60", f"ewt_s = {'[' * 5000}")], r"instance.toml, syntax: expected TOML with at most 20 levels"),
        ([("ewt_s = 60", "ewt_s = 60 # " + "x" * 2**21)], r"instance.toml, line 8, line: expected at most 1,048,576"),
    ],
)
def test_a_folder_with_numbers_or_texts_beyond_all_data(
    tmp_path: Path, changes: list[tuple[str, str]], expected: str
) -> None:
    with pytest.raises(InstanceError, match=expected):
        load(folder(tmp_path, *changes))


def test_groups_that_are_too_large_together(tmp_path: Path) -> None:
    group = '[[platform.groups]]\nname = "n2"\ncount = 1999999\ncapacity = { cores = 4 }\n'
    with pytest.raises(InstanceError, match="more than 2,000,000 nodes"):
        load(folder(tmp_path, ("[[queues]]", group + "[[queues]]")))


def test_a_problem_with_times_or_nodes_beyond_all_data_is_refused() -> None:
    machine = Platform([NodeGroup("n", 1, {"cores": 1})])
    job = Job("a", 2**64, 1, 1, {"cores": 1}, "q")
    with pytest.raises(ProblemError, match=r"job 'a': a time beyond 10,000,000,000 s"):
        Dispatch(machine, [job], [Queue("q", 1, ((64800, 115200),))])
    with pytest.raises(ProblemError, match="more than 2,000,000 nodes"):
        Platform([NodeGroup("n", 2**31, {"cores": 1})])


def test_fields_of_csv_beyond_the_limit(file: Writer) -> None:
    long = '"' + "x" * 200_000 + '"'
    with pytest.raises(
        WorkloadError, match=r"jobs.csv, line 2: expected CSV with fields of at most 131,072 characters"
    ):
        read_eurora(file("jobs.csv", f"{','.join(EURORA_COLUMNS)}\n{long}\n"))
    with pytest.raises(InstanceError, match=r"w.csv, line 2, row: expected CSV with fields of at most 131,072"):
        read_weather(file("w.csv", f"time_s,temperature_c\n0,{long}\n"))


def test_long_numbers_of_logs_are_told_with_their_line(file: Writer) -> None:
    digits = "9" * 5000
    good = PBS.format("")
    report = read_pbs(file("log", good + good.replace("ncpus=4", f"ncpus={digits}"))).report
    assert [(b.line, b.message.startswith("ncpus is '999")) for b in report.bad_lines] == [(2, True)]
    sacct = "JobID|Submit|Start|End|Timelimit|NNodes|NCPUS|AllocTRES\n"
    row = "{}|2024-05-01T10:00:00|2024-05-01T10:00:00|2024-05-01T11:00:00|01:00:00|1|{}|gres/gpu={}\n"
    report = read_sacct(file("log", sacct + row.format(1, 4, 1) + row.format(2, digits, 1))).report
    assert [b.line for b in report.bad_lines] == [3]
    with pytest.raises(WorkloadError, match=r"w.json, line 3: expected numbers of at most 4,300 digits"):
        read_batsim(file("w.json", f'{{"nb_res": 3,\n"jobs":\n[{digits}]}}'))


def test_times_of_a_log_beyond_all_data_are_left_out_with_the_reason(file: Writer) -> None:
    row = "{}|{}|{}|{}|01:00:00|1|4\n"
    text = "JobID|Submit|Start|End|Timelimit|NNodes|NCPUS\n" + row.format(1, *["2024-05-01T10:00:00"] * 3)
    text += row.format(2, *["2999-05-01T10:00:00"] * 3) + row.format(3, *["0001-01-01T00:00:00+14:00"] * 3)
    assert read_sacct(file("log", text)).report.dropped == (
        ("2", "one of its times is beyond 10,000,000,000 s (317 years)"),
        ("3", "its submit time is before second 0 of the log"),
    )


def test_deep_nesting_of_json(file: Writer) -> None:
    with pytest.raises(WorkloadError, match="not a JSON file: too deep nesting"):
        read_batsim(file("w.json", "[" * 100_000))


@pytest.mark.parametrize(
    ("read", "text", "line"),
    [
        (read_fjsplib, "0 9999999999\n", 1),
        (read_fjsplib, "1 ²\n1 1 1 1\n", 1),
        (read_patterson, f"1 1\n5\n{'9' * 5000} 1 0\n", 3),
        (read_psplib, "RESOURCES\n- renewable : 999999999\n", 2),
    ],
)
def test_classic_formats_with_numbers_beyond_all_data(
    file: Writer, read: Callable[[Path], object], text: str, line: int
) -> None:
    with pytest.raises(FormatError) as caught:
        read(file("x.txt", text))
    assert caught.value.line == line


def test_a_cooling_table_with_many_holes_tells_some_of_them(file: Writer) -> None:
    rows = "".join(f"{k},{k},{k}\n" for k in range(1, 3000))
    with pytest.raises(InstanceError) as caught:
        read_cooling(file("c.csv", f"temperature_c,it_power_w,cooling_power_w\n{rows}"))
    assert len(caught.value.faults) == 11


@pytest.mark.parametrize("text", ["1-99999999999", "1-99999999", ",".join(["1-5000"] * 3), "²", "1-3,12345678901234"])
def test_seeds_are_limited(text: str) -> None:
    with pytest.raises(WrongUse, match="--seeds"):
        parse_seeds(text)


def test_arrivals_are_not_stretched_beyond_all_times(file: Writer) -> None:
    jobs = "".join(f"{k} {k} 0 60 1 -1 -1 1 60 -1 1 1 1 -1 -1 -1 -1 -1\n" for k in range(1, 4))
    for load_ in (1e-12, float("nan"), float("inf")):
        with pytest.raises(WorkloadError, match="offered load"):
            open_trace(file("log.swf", jobs), nodes=1, cores=1, load=load_)


def test_offered_load_does_not_overflow(file: Writer) -> None:
    job = "{} {} 0 9999999999 99999999 -1 -1 99999999 60 -1 1 1 1 -1 -1 -1 -1 -1\n"
    w = read_swf(file("log.swf", "".join(job.format(k, 9_000_000_000 * (k > 1)) for k in range(1, 40))), cores=100)
    load_ = w.load(Platform([NodeGroup("n", 100, {"cores": 1_000_000})]))
    assert load_ == pytest.approx(39 * 9999999999 / 9e9, rel=1e-6)


def test_batsim_numbers_are_those_of_a_platform(file: Writer) -> None:
    with pytest.raises(WorkloadError, match="1 to 2,000,000"):
        read_batsim(file("w.json", json.dumps({"nb_res": 10**9, "jobs": [], "profiles": {}})))
