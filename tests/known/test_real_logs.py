"""Real logs of Slurm and PBS and small cases, read by our readers and by a plain one written for this test."""

import csv
import gzip
import math
import re
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from schedlab.instances import Workload, read_trace
from schedlab.instances.formats import sacct_trace

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from shared_data import DATA

CASES = DATA.parent / "cases"


def here(path: Path) -> Path:
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    return path


def figures(w: Workload) -> tuple[int, int, float]:
    """Number of jobs, core-seconds, mean recorded wait in s."""
    cores = w.job_arrays.amounts[:, w.resources.index("cores")]
    return len(w), int((cores * w.runtime).sum()), float((w.recorded_start - w.submit).mean())


def seconds(text: str) -> int:
    days, _, clock = text.rpartition("-")
    h, m, s = map(int, clock.split(":"))
    return int(days or 0) * 86400 + 3600 * h + 60 * m + s


def plain_figures(path: Path) -> tuple[int, int, float]:
    """The same figures by a plain reader of rows that are whole and jobs that are not heterogeneous."""
    last: dict[str, dict[str, str]] = {}
    first: dict[str, str] = {}  # submit time of the first attempt
    text = gzip.decompress(path.read_bytes()).decode()
    for values in csv.DictReader(text.split("\n"), delimiter="|", quoting=csv.QUOTE_NONE):
        if "." in values["JobID"] or values["NodeList"] == "None assigned":
            continue
        first[values["JobID"]] = min(values["Submit"], first.get(values["JobID"], values["Submit"]))
        before = last.get(values["JobID"])
        if before is None or before["Submit"] <= values["Submit"]:
            last[values["JobID"]] = values
    waits, work = [], 0
    for job, values in last.items():
        times = (first[job], values["Start"])
        submit, start = (datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() for text in times)
        waits.append(start - submit)
        nodes = int(re.search(r"node=(\d+)", values["AllocTRES"])[1])  # type: ignore[index]
        cpus = int(re.search(r"cpu=(\d+)", values["AllocTRES"])[1])  # type: ignore[index]
        work += nodes * math.ceil(cpus / nodes) * max(1, seconds(values["Elapsed"]))
    return len(last), work, sum(waits) / len(waits)


@pytest.mark.parametrize(
    ("name", "never", "wait"),
    [
        ("slurm_logs/phillips.sacct.gz", 239, 16754.3),
        ("slurm_lab/full/sacct_all.txt.gz", 38, 204.5),
        ("slurm_lab/full/sacct_duplicates.txt.gz", 38, 205.5),  # from the first submission of requeued jobs
    ],
)
def test_a_real_log_has_the_figures_of_a_plain_reader(name: str, never: int, wait: float) -> None:
    path = here(DATA / name)
    w = read_trace(path).workload
    jobs, work, mean = plain_figures(path)
    assert (len(w), figures(w)[1]) == (jobs, work)
    assert figures(w)[2] == pytest.approx(mean, abs=1e-6) == pytest.approx(wait, abs=0.1)
    assert len(w.report.dropped) == never and not w.report.bad_lines


@pytest.mark.parametrize(
    ("name", "jobs", "never", "skipped", "lines"),
    [
        ("sacct_dump2101.log", 6, 6, 2, 1),  # the last line is the end of a row whose begin was cut off
        ("sacct_dump2110.log", 1, 0, 6, 0),
        ("sacct_simple.log", 4, 0, 0, 0),
        ("sacct_submitline_multiline.log", 2, 0, 11, 0),
        ("xd_pbs.log", 9, 0, 0, 0),
    ],
)
def test_every_row_of_broken_logs_is_accounted_for(name: str, jobs: int, never: int, skipped: int, lines: int) -> None:
    w = read_trace(here(DATA / "slurm_logs" / name)).workload
    report = w.report
    found = (len(w), len(report.dropped), sum(report.skipped.values()), len(report.bad_lines))
    assert found == (jobs, never, skipped, lines)


def test_a_log_without_a_header() -> None:
    path = here(DATA / "slurm_logs" / "xd_accounting-logs-with-job-arrays.log")
    columns = (
        "JobID,JobIDRaw,Cluster,Partition,QOS,Account,Group,GID,User,UID,Submit,Eligible,Start,End,Elapsed,ExitCode,State,"
        "NNodes,NCPUS,ReqCPUS,ReqMem,ReqTRES,AllocTRES,Timelimit,NodeList,JobName"
    )
    w = sacct_trace(path, columns=columns.split(",")).workload
    assert (len(w), set(w.units.tolist()), set(w.runtime.tolist()), w.job(0).name) == (6, {32}, {259200}, "1AbC-2-3")


def test_the_record_of_job_completion_agrees_with_what_was_submitted() -> None:
    w = read_trace(here(DATA / "slurm_lab" / "simple" / "jobcomp.txt")).workload
    assert (len(w), w.report.bad_lines) == (220, ())
    assert figures(w)[2] == pytest.approx(132.0, abs=0.1)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cancel.txt", {"20": (14400, 4), "22": (3600, 4), "25": (17, 4), "26": (300, 4)}),
        ("dst.txt", {"1": (5400, 4), "2": (14400, 4), "3": (2400, 4), "4": (3600, 4)}),
        ("nodes2.txt", {"1": (14400, 16), "2": (3600, 8), "3": (3600, 4)}),
        ("dhhmm.txt", {"1": (131400, 40), "2": (3600, 20), "3": (3000, 20)}),
        ("pipe.txt", {"30": (14400, 4), "31": (14400, 4), "32": (14400, 4)}),
    ],
)
def test_small_cases_of_sacct(name: str, expected: dict[str, tuple[int, int]]) -> None:
    w = read_trace(here(CASES / "sacct" / name)).workload
    cores = w.job_arrays.amounts[:, 0].tolist()
    assert dict(zip(w.ids, zip(w.runtime.tolist(), cores, strict=True), strict=True)) == expected


def test_small_cases_of_memory_and_parts() -> None:
    w = read_trace(here(CASES / "sacct" / "reqmem.txt")).workload
    memory = w.request[:, w.resources.index("memory")].tolist()
    assert memory == [24000, 24000, 24000, 24576, 190000, 190000, 4096, 16384, 1572864]
    w = read_trace(here(CASES / "swf" / "partial.swf")).workload
    assert (w.ids, w.runtime.tolist()) == (("1", "2", "3"), [600, 3000, 300])
