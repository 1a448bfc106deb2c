"""Recordings of a real Slurm, and logs of real centres: every row is a job, or is left out for a reason."""

import json
import sys
from collections import Counter
from pathlib import Path

import pytest
from schedlab.instances import Trace, read_trace
from schedlab.models import Dependency

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from shared_data import DATA

XDMOD = [
    "JobID",
    "JobIDRaw",
    "Cluster",
    "Partition",
    "QOS",
    "Account",
    "Group",
    "GID",
    "User",
    "UID",
    "Submit",
    "Eligible",
    "Start",
    "End",
    "Elapsed",
    "ExitCode",
    "State",
    "NNodes",
    "NCPUS",
    "ReqCPUS",
    "ReqMem",
    "ReqTRES",
    "AllocTRES",
    "Timelimit",
    "NodeList",
    "JobName",
]
CANCELLED = "it never started: it was cancelled in the queue"
STEPS = "rows of job steps, which the rows of their jobs cover"
FILES: dict[str, tuple[int, dict[str, int], dict[str, int], int]] = {
    "slurm_lab/simple/jobcomp.txt": (220, {}, {}, 0),
    "slurm_lab/full/sacct_all.txt.gz": (513, {CANCELLED: 37, "it never started": 1}, {STEPS: 513}, 0),
    "slurm_lab/full/sacct_duplicates.txt.gz": (
        513, {CANCELLED: 37, "it never started": 1}, {"rows of earlier attempts of a requeued job": 2}, 0,
    ),
    "slurm_logs/phillips.sacct.gz": (4046, {CANCELLED: 239}, {}, 0),
    "slurm_logs/sacct_dump2101.log": (6, {CANCELLED: 6}, {STEPS: 2}, 1),  # the last line is cut
    "slurm_logs/sacct_dump2110.log": (1, {}, {STEPS: 2, "rows that repeat a job": 4}, 0),
    "slurm_logs/sacct_simple.log": (4, {}, {}, 0),
    "slurm_logs/sacct_submitline_multiline.log": (2, {}, {STEPS: 7, "rows that repeat a job": 4}, 0),
    "slurm_logs/xd_accounting-logs-with-job-arrays.log": (6, {}, {}, 0),
    "slurm_logs/xd_pbs.log": (9, {}, {}, 0),
}  # fmt: skip  # file -> jobs, left out by reason, rows that are no jobs, lines not read


def read(name: str) -> Trace:
    path = DATA / name
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    return read_trace(path, columns=XDMOD if "with-job-arrays" in name else ())


@pytest.mark.parametrize("name", FILES)
def test_every_row_is_a_job_or_has_a_reason(name: str) -> None:
    trace = read(name)
    w = trace.workload
    jobs, left_out, skipped, bad = FILES[name]
    assert len(w) == jobs
    assert Counter(why for _, why in w.report.dropped) == left_out
    assert dict(w.report.skipped) == skipped
    assert len(w.report.bad_lines) == bad
    assert len(trace) == jobs + sum(left_out.values())


def expected(args: list[str]) -> dict[str, object]:
    """What the options that a recording submitted with ask for, by a plain reading of them."""
    given = {}
    words = iter(args)
    for word in words:
        name, sign, value = word.lstrip("-").partition("=")
        given[name] = value if sign or name == "exclusive" else next(words)
    fields: dict[str, object] = {"partitions": (given["p"],), "qos": given["q"]}
    fields["exclusive"] = "node" if "exclusive" in given else ""
    for name, field in (("n", "tasks"), ("ntasks-per-node", "tasks_per_node"), ("mem-per-cpu", "memory_per_cpu")):
        fields[field] = int(given[name]) if name in given else None
    if "N" in given:
        fields |= {"min_nodes": int(given["N"]), "max_nodes": int(given["N"])}
    limit = given.get("array", "").partition("%")[2]
    fields["array_limit"] = int(limit) if limit else None
    fields["begin"] = int(given.get("begin", "now+0").removeprefix("now+"))
    kind, _, job = given.get("dependency", "").partition(":")
    fields["dependencies"] = (Dependency(kind, (job,)),) if kind else ()
    return fields


def test_what_was_submitted_is_what_is_read() -> None:
    trace = read("slurm_lab/full/sacct_duplicates.txt.gz")
    assert trace.site is not None
    rows: dict[str, list[int]] = {}
    for k, job in enumerate(trace.ids):
        rows.setdefault(job.partition("_")[0], []).append(k)
    compared = 0
    for line in (DATA / "slurm_lab/full/submitted.jsonl").read_text().splitlines():
        job = json.loads(line)
        for k in rows.get(job["id"], []):
            asked = trace.site.asked(k)
            assert {name: getattr(asked, name) for name in expected(job["args"])} == expected(job["args"])
            compared += 1
    assert compared == 548  # of 551 jobs: two were submitted before, one was refused


def test_what_the_scheduler_recorded_is_kept() -> None:
    trace = read("slurm_lab/full/sacct_duplicates.txt.gz")
    assert trace.site is not None
    row = {job: k for k, job in enumerate(trace.ids)}
    record = trace.site.recorded(row["324_3"])
    assert (record.nodes, record.state, record.reason, record.priority) == (
        "n[4-6]",
        "COMPLETED",
        "AssocGrpCpuLimit",
        3437,
    )
    attempts = {job: [each.state for each in trace.site.attempts.get(k, ())] for job, k in row.items()}
    assert {job: states for job, states in attempts.items() if states} == {"355": ["REQUEUED"], "300": ["NODE_FAIL"]}
    everyone = trace.with_cancelled().workload
    assert len(everyone) == 561  # 513, and 48 that never ran: 38 rows, of which some are arrays
