"""Accounting logs of Slurm and PBS."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from schedlab.instances import Workload, WorkloadError, read_pbs, read_sacct
from schedlab.models import Chunk

Writer = Callable[[str, str], Path]


def bad_lines(workload: Workload) -> list[int]:
    return [b.line for b in workload.report.bad_lines]


# Slurm

SACCT = """\
User|JobID|JobName|Partition|State|Submit|Start|End|Elapsed|Timelimit|NNodes|NCPUS|ReqMem|AllocTRES
ann|11|lmp|batch|COMPLETED|2024-05-01T10:00:00|2024-05-01T10:05:00|2024-05-01T11:05:00|01:00:00|1-02:00:00|2|32|16G|billing=32,cpu=32,gres/gpu:a100=1,gres/gpu:v100=3,mem=16G,node=2
|11.batch|batch||COMPLETED|2024-05-01T10:05:00|2024-05-01T10:05:00|2024-05-01T11:05:00|01:00:00||1|16||cpu=16
|11.0|lmp||COMPLETED|2024-05-01T10:05:01|2024-05-01T10:05:01|2024-05-01T11:05:00|00:59:59||2|32||cpu=32
bob|12_1|sweep|batch|TIMEOUT|2024-05-01T10:01:00|2024-05-01T10:01:00|2024-05-01T10:31:10|30:10|30:00|1|3|500Mc|cpu=3
bob|12_2|sweep|batch|CANCELLED by 7|2024-05-01T10:01:00|Unknown|2024-05-01T10:02:00|00:00:00|30:00|1|3|500Mc|
eve|13|x|batch|RUNNING|2024-05-01T10:02:00|2024-05-01T10:03:00|Unknown|00:10:00|30:00|1|1|0|
eve|14|x|debug|COMPLETED|2024-05-01T10:03:00|2024-05-01T10:03:30|2024-05-01T10:03:40|00:00:10|UNLIMITED|1|1|4Gn|gres/gpu=2
eve|15|x|debug|COMPLETED|2024-05-01T10:04:00|2024-05-01T10:04:30|2024-05-01T10:04:30|00:00:00|Partition_Limit|1|1|4Gn|
"""


def test_slurm_accounting_has_one_job_per_row_without_the_steps(file: Writer) -> None:
    w = read_sacct(file("jobs.txt", SACCT))
    assert w.ids == ("11", "12_1", "13", "14", "15")
    ten = int(datetime(2024, 5, 1, 10, tzinfo=UTC).timestamp())
    assert (w.submit - ten).tolist() == [0, 60, 120, 180, 240]
    assert (w.recorded_start - ten).tolist() == [300, 60, 180, 210, 270]
    assert w.runtime.tolist() == [3600, 1810, 600, 10, 1]
    assert w.walltime.tolist() == [93600, 1800, 1800, 93600, 93600]
    assert w.resources == ("cores", "gpus", "memory")
    assert w.units.tolist() == [2, 1, 1, 1, 1]
    assert w.request.tolist() == [[16, 2, 8192], [3, 0, 1500], [1, 0, 0], [1, 2, 4096], [1, 0, 4096]]
    assert [(w.job(k).user, w.job(k).name, w.job(k).queue) for k in (0, 1)] == [
        ("ann", "lmp", "batch"),
        ("bob", "sweep", "batch"),
    ]
    assert {q.name: q.ewt for q in w.queues} == {"batch": 120, "debug": 30}


HETEROGENEOUS = """\
JobID|Submit|Start|End|Timelimit|NNodes|NCPUS|AllocTRES
20+1|2024-05-01T10:00:00|2024-05-01T10:05:00|2024-05-01T10:15:02|01:00:00|1|4|cpu=4,mem=1G,node=1
20+0|2024-05-01T10:00:00|2024-05-01T10:05:00|2024-05-01T10:15:00|01:00:00|2|32|cpu=32,gres/gpu=4,mem=64G,node=2
21|2024-05-01T10:01:00|2024-05-01T10:05:00|2024-05-01T10:15:00|01:00:00|1|4|cpu=4
22+0|2024-05-01T10:02:00|2024-05-01T10:05:00|2024-05-01T10:15:00|01:00:00|1|4|cpu=4
22+1|2024-05-01T10:02:00|2024-05-01T10:05:00|2024-05-01T10:15:00|01:00:00|2|8|cpu=8
23_7|2024-05-01T10:03:00|2024-05-01T10:05:00|2024-05-01T10:15:00|01:00:00|2|8|cpu=8
24+0|2024-05-01T10:03:00|2024-05-01T10:05:00|2024-05-01T10:15:00|01:00:00|2|8|cpu=8
24+1|2024-05-01T10:03:00|Unknown|2024-05-01T10:15:00|01:00:00|2|8|cpu=8
"""


def test_components_of_slurm_jobs_are_chunks_of_one_job(file: Writer) -> None:
    w = read_sacct(file("jobs.txt", HETEROGENEOUS))
    assert w.ids == ("20", "21", "22", "23_7")
    assert w.job(0).chunks == (
        Chunk(2, {"cores": 16, "gpus": 2, "memory": 32768}),
        Chunk(1, {"cores": 4, "gpus": 0, "memory": 1024}),
    )
    assert w.runtime.tolist() == [602, 600, 600, 600]  # up to the end of the last component
    assert (w.job(2).units, w.job(2).chunks) == (3, ())  # equal components
    assert w.job(3).array == "23"
    assert list(w.report.dropped) == [("24", "it never started")]


def test_slurm_accounting_reports_what_it_did(file: Writer) -> None:
    report = read_sacct(file("jobs.txt", SACCT)).report
    assert report.repairs == {
        "runtime 0, taken as 1 s": 1,
        "walltime without a limit, the longest walltime of the log is used instead": 2,
        "runtime over walltime, kept": 1,
        "still running when the log was written, the runtime until then is used": 1,
        "all memory of the nodes requested, of which the amount is not recorded": 1,
    }
    assert report.dropped == (("12_2", "it never started: it was cancelled in the queue"),)
    assert report.not_obeyed == {
        "requested several nodes, a replay without a site may put their shares on fewer nodes": 1
    }
    assert report.skipped == {"rows of job steps, which the rows of their jobs cover": 2}


def test_slurm_times_are_local_to_a_zone(file: Writer) -> None:
    path = file("jobs.txt", SACCT)
    earlier = read_sacct(path).submit - read_sacct(path, zone=ZoneInfo("Europe/Rome")).submit
    assert set(earlier.tolist()) == {7200}


def test_slurm_without_any_limit_takes_the_runtime(file: Writer) -> None:
    text = "JobID|Submit|Start|Elapsed|Timelimit|AllocNodes|AllocCPUS|\n1|2024-05-01T10:00:00|2024-05-01T10:00:00|02:05|UNLIMITED|1|4|\n"
    w = read_sacct(file("jobs.txt", text))
    assert (w.runtime.tolist(), w.walltime.tolist(), w.request.tolist()) == ([125], [125], [[4]])


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("ann|11|lmp|batch", "ann|11|lmp", "13 fields; the header has 14"),
        ("ann|11|lmp", "a|nn|11|lmp", "15 fields; the header has 14"),
        ("2024-05-01T10:00:00", "yesterday", "Submit is 'yesterday'"),
        ("1-02:00:00", "1-02h", "Timelimit is '1-02h'"),
        ("|2|32|16G", "|two|32|16G", "NNodes is 'two'"),
        ("32|16G|billing=32,cpu=32,gres/gpu:a100=1,gres/gpu:v100=3,mem=16G", "32|lots|cpu=32", "ReqMem is 'lots'"),
        ("mem=16G", "mem=99999999P", "more than any machine has"),
        ("mem=16G", "mem=much", "AllocTRES is 'much'"),
    ],
)
def test_a_damaged_row_of_slurm_is_told(file: Writer, old: str, new: str, expected: str) -> None:
    w = read_sacct(file("jobs.txt", SACCT.replace(old, new, 1)))
    assert w.ids == ("12_1", "13", "14", "15")
    assert bad_lines(w) == [2]
    assert expected in w.report.bad_lines[0].message


def test_slurm_accounting_without_a_column_that_is_needed(file: Writer) -> None:
    with pytest.raises(WorkloadError, match=r"line 1: there is no column Timelimit or TimelimitRaw"):
        read_sacct(file("jobs.txt", SACCT.replace("Timelimit", "Limit")))
    with pytest.raises(WorkloadError, match="empty"):
        read_sacct(file("empty.txt", ""))


# PBS


def pbs(job: str, select: str, submit: int, start: int, end: int, event: str = "E", more: str = "") -> str:
    used = "00:01:00"
    if end > start and end - start != 60:
        used = str(end - start)
    return (
        f"07/13/2012 00:10:01;{event};{job};user=ann group=hpc jobname=run queue=parallel ctime={submit} qtime={submit} "
        f"etime={submit} start={start} Resource_List.ncpus=32 {select} Resource_List.walltime=04:00:00 "
        f"session=1 end={end} Exit_status=0 resources_used.walltime={used} {more}"
    )


def test_pbs_accounting_takes_the_jobs_that_ended(file: Writer) -> None:
    lines = [
        "07/13/2012 00:00:01;Q;1.server;queue=parallel",
        pbs("1.server", "Resource_List.select=2:ncpus=16:ngpus=2:mem=14gb", 1000, 1100, 1160),
        pbs("1.server", "", 1000, 1100, 0, event="S"),
        pbs("2[1].server", "Resource_List.select=1:ncpus=1+3:ncpus=4:nmics=1:mem=512kb", 1010, 1010, 2010),
        pbs("3.server", "Resource_List.nodes=4:ppn=8+node7:ppn=8 Resource_List.mem=10gb", 1020, 1030, 1040),
        pbs("4.server", "Resource_List.nodect=2 Resource_List.mem=1024mb", 1030, 1040, 1050),
        pbs("5.server", "Resource_List.select=1:mem=128mw", 1040, 0, 0),
        pbs("6[].server", "Resource_List.select=1", 1050, 1060, 1070),
    ]
    w = read_pbs(file("20120713", "\n".join(lines)))
    assert w.ids == ("1.server", "2[1].server", "3.server", "4.server", "5.server")
    assert w.resources == ("cores", "gpus", "mics", "memory")
    assert w.units.tolist() == [2, 1, 5, 2, 1]
    assert w.request.tolist() == [[16, 2, 0, 14336], [1, 0, 0, 0], [8, 0, 0, 2048], [16, 0, 0, 512], [1, 0, 0, 1024]]
    assert w.runtime.tolist() == [60, 1000, 10, 10, 60]
    assert w.walltime.tolist() == [14400] * 5
    assert w.recorded_start.tolist() == [1100, 1010, 1030, 1040, -1]
    assert (w.job(0).user, w.job(0).name, w.job(0).queue, w.unix_start) == ("ann", "run", "parallel", 0)
    assert w.report.repairs == {}
    assert w.report.not_obeyed == {
        "requested several nodes, a replay without a site may put their shares on fewer nodes": 2
    }
    assert [(c.units, *c.request.values()) for c in w.job(1).chunks] == [(1, 1, 0, 0, 0), (3, 4, 0, 1, 1)]
    assert [(w.job(k).array, len(w.job(k).parts)) for k in range(3)] == [("", 1), ("2[].server", 2), ("", 1)]
    assert [name for name, _ in w.report.dropped] == ["6[].server"]
    assert w.report.skipped == {"records of other events than the end of a job": 2}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("what is this", "expected MM/DD/YYYY"),
        (pbs("9", "Resource_List.select=x:ncpus=2", 1, 2, 3), "select is 'x'"),
        (pbs("9", "Resource_List.select=2:ncpus=many", 1, 2, 3), "ncpus is 'many'"),
        (
            pbs("9", "Resource_List.select=2:ncpus=2+0:ncpus=1", 1, 2, 3),
            "select is '2:ncpus=2+0:ncpus=1'; expected at least 1 unit in each chunk",
        ),
        (pbs("9", "Resource_List.select=2:mem=14g5", 1, 2, 3), "mem is '14g5'; expected a size such as 14gb"),
        (pbs("9", "", 1, 2, 3).replace("ctime=1", "ctime=noon"), "ctime is 'noon'"),
        (pbs("9", "", 1, 2, 3).replace("04:00:00", "4h"), "walltime is '4h'"),
    ],
)
def test_a_damaged_record_of_pbs_is_told(file: Writer, line: str, expected: str) -> None:
    w = read_pbs(file("log", "\n".join([line, pbs("1", "Resource_List.select=1", 1, 2, 3)])))
    assert (w.ids, bad_lines(w)) == (("1",), [1])
    assert expected in w.report.bad_lines[0].message


# Torque


@pytest.mark.parametrize(
    ("resources", "chunks"),
    [
        ("nodes=2:ppn=8:gpus=1", [(2, 8, 1, 0)]),
        ("nodes=2:ppn=8:gpus=1+4:ppn=2", [(2, 8, 1, 0), (4, 2, 0, 0)]),
        ("nodes=node7:ppn=16+node8:ppn=16", [(2, 16, 0, 0)]),
        ("nodes=1:ppn=4:bigmem#shared", [(1, 4, 0, 0)]),
        ("nodes=3 Resource_List.gpus=6", [(3, 1, 2, 0)]),
        ("nodes=2:ppn=4 Resource_List.mem=8gb", [(2, 4, 0, 4096)]),
        ("procs=12", [(12, 1, 0, 0)]),
        ("procs=16 Resource_List.pmem=2gb", [(16, 1, 0, 2048)]),
        ("nodes=2:ppn=8+1:ppn=2 Resource_List.pmem=2gb", [(2, 8, 0, 16384), (1, 2, 0, 4096)]),
        ("nodes=2:ppn=8 Resource_List.pmem=2gb Resource_List.mem=8gb", [(2, 8, 0, 4096)]),
        ("select=2:ncpus=4 Resource_List.pmem=2gb", [(2, 4, 0, 0)]),
        ("nodes=1:ppn=8:bigmem:gpus=2:exclusive_process", [(1, 8, 2, 0)]),
        ("nodes=bigmem:ppn=4", [(1, 4, 0, 0)]),
        ("nodes=2:gpus=1", [(2, 1, 1, 0)]),
        ("procs=3 Resource_List.mem=3gb Resource_List.gpus=3", [(3, 1, 1, 1024)]),
        ("ncpus=6 Resource_List.ngpus=2", [(1, 6, 2, 0)]),
        ("nodect=1:ppn=24:gpu=4:big", [(1, 24, 4, 0)]),
        ("select=2:ncpus=4:ngpus=1", [(2, 4, 1, 0)]),
    ],
)
def test_resources_of_torque(file: Writer, resources: str, chunks: list[tuple[int, ...]]) -> None:
    line = pbs("1", "", 1000, 1100, 1160).replace("Resource_List.ncpus=32 ", f"Resource_List.{resources} ")
    job = read_pbs(file("log", line)).job(0)
    parts = job.chunks or (Chunk(job.units, job.request),)
    assert [(c.units, *(c.request.get(r, 0) for r in ("cores", "gpus", "memory"))) for c in parts] == chunks


@pytest.mark.parametrize(
    ("hosts", "cores"),
    [
        ("n1/0*8+n2/0*8", 16),
        ("n1/0-7+n2/0-3", 12),
        ("n1/1+n1/0+n2/0", 3),
        ("n1/0-7,12+n2/0-2,4-5,9", 15),
        ("n1+n2", 2),
        ("n1/0*8+n1/1*8+n2/0", 17),
    ],
)
def test_the_nodes_that_a_job_had_where_nothing_else_is_known(file: Writer, hosts: str, cores: int) -> None:
    line = pbs("1", "", 1000, 1100, 1160, more=f"exec_host={hosts}").replace("Resource_List.ncpus=32 ", "")
    w = read_pbs(file("log", line))
    assert (w.units.tolist(), w.request.tolist()) == ([2], [[-(-cores // 2)]])


def test_pbs_jobs_that_never_ran_and_times(file: Writer) -> None:
    lines = [
        "07/13/2012 00:00:01;Q;1.s;queue=q",
        "07/13/2012 00:00:02;D;1.s;requestor=ann@host",  # deleted in the queue
        "07/13/2012 00:00:02;D;2.s;requestor=ann@host",  # deleted while it ran
        pbs("2.s", "", 1000, 1100, 1160).replace("etime=1000", "etime=1050"),
        pbs("3.s", "", 1000, 0, 0).replace("resources_used.walltime=00:01:00", ""),
        pbs("4-7.s", "", 1000, 990, 1160).replace("04:00:00", "1:04:00:00"),
    ]
    w = read_pbs(file("log", "\n".join(lines)))
    assert w.ids == ("4-7.s", "2.s")
    assert (w.submit.tolist(), w.release.tolist(), w.recorded_start.tolist()) == ([990, 1000], [990, 1050], [990, 1100])
    assert (w.walltime.tolist(), w.job(0).array) == ([100800, 14400], "4[].s")
    assert w.report.dropped == (
        ("3.s", "it never started"),
        ("1.s", "it never started: it was deleted in the queue"),
    )
    assert w.report.skipped == {"records of other events than the end of a job": 3}
    assert w.report.repairs["submit time after the start, the start is used instead"] == 1


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("scatter:excl", ["requested several nodes", "requested whole nodes"]),
        ("pack", ["requested one node"]),
        ("exclhost", ["requested whole nodes"]),
        ("free", []),
    ],
)
def test_what_a_replay_does_not_obey_is_told(file: Writer, place: str, said: list[str]) -> None:
    w = read_pbs(file("log", pbs("1", f"Resource_List.select=2:ncpus=2 Resource_List.place={place}", 1, 2, 3)))
    assert [any(what.startswith(s) for what in w.report.not_obeyed) for s in said] == [True] * len(said)
    assert len(w.report.not_obeyed) == len(said)


# PBS: several records of one job

AGAIN = "records of earlier attempts of a job that ran again"
FEW = "Resource_List.select=1:ncpus=2"


def kept(file: Writer, *lines: str) -> tuple[list[tuple[str, int, int]], dict[str, int]]:
    """Id, start and runtime of the jobs that remain, and what was left out."""
    w = read_pbs(file("log", "\n".join([pbs("9", FEW, 1000, 9000, 9500), *lines])))
    jobs = zip(w.ids, w.recorded_start.tolist(), w.runtime.tolist(), strict=True)
    return sorted(job for job in jobs if job[0] != "9"), dict(w.report.skipped)


@pytest.mark.parametrize("kind", ["E", "R"])
def test_a_pbs_job_that_was_run_again_is_one_job(file: Writer, kind: str) -> None:
    first = pbs("1", FEW, 1000, 1100, 1160, kind, "run_count=1")
    last = pbs("1", FEW, 1000, 2000, 2300, more="run_count=2")
    for lines in ([first, last], [last, first]):
        assert kept(file, *lines) == ([("1", 2000, 300)], {AGAIN: 1})
    third = pbs("1", FEW, 1000, 4000, 4050, more="run_count=3")
    assert kept(file, first, last, third) == ([("1", 4000, 50)], {AGAIN: 2})


def test_of_a_pbs_job_the_last_attempt_that_ran_counts(file: Writer) -> None:
    ran = pbs("1", FEW, 1000, 1100, 1160, "R")
    deleted = pbs("1", FEW, 1000, 0, 0).replace("resources_used.walltime=00:01:00", "")
    assert kept(file, ran, deleted) == ([("1", 1100, 60)], {AGAIN: 1})
    assert kept(file, ran) == ([("1", 1100, 60)], {})


def test_torque_says_only_that_a_job_was_run_again(file: Writer) -> None:
    again = "07/13/2012 00:00:09;R;1;"
    assert kept(file, again, pbs("1", FEW, 1000, 2000, 2300)) == ([("1", 2000, 300)], {AGAIN: 1})


def test_a_pbs_number_that_was_used_again_is_another_job(file: Writer) -> None:
    jobs, skipped = kept(file, pbs("1", FEW, 1000, 1100, 1160), pbs("1", FEW, 5000, 5100, 5110))
    assert (jobs, skipped) == ([("1", 1100, 60), ("1.2", 5100, 10)], {})


def test_a_record_that_is_twice_in_joined_logs_is_one_job(file: Writer) -> None:
    line = pbs("1", FEW, 1000, 1100, 1160)
    assert kept(file, line, line) == ([("1", 1100, 60)], {"records that repeat a job": 1})


@pytest.mark.parametrize(
    ("more", "runs"),
    [
        ([], True),
        (["07/13/2012 00:00:09;D;1;requestor=ann@host"], True),  # its end would be the next record
        (["07/13/2012 00:00:09;A;1;"], False),
        (["07/13/2012 00:00:09;R;1;"], False),  # it waits again
        ([pbs("1", FEW, 1000, 7000, 7100)], False),
    ],
)
def test_a_job_that_still_runs_runs_until_the_log_ends(file: Writer, more: list[str], runs: bool) -> None:
    start = pbs("1", FEW, 1000, 7000, 0, "S").partition(" session=")[0]
    jobs, _ = kept(file, start, *more)
    assert (("1", 7000, 2500) in jobs) == runs
    begun_long_before = start.replace("start=7000", "start=1100").replace("04:00:00", "00:10:00")
    path = file("log", "\n".join([begun_long_before, pbs("9", FEW, 1000, 9000, 9500)]))
    both = [start, pbs("8", FEW, 1000, 7500, 0, "S").partition(" session=")[0]]
    assert read_pbs(file("both", "\n".join(both))).runtime.tolist() == [500, 1]  # only such records
    lost = "there is a record of its start and none of its end, and its walltime is over"
    assert read_pbs(path).report.dropped == (("1", lost),)


@pytest.mark.parametrize(
    ("used", "seconds", "repaired"),
    [
        ("00:30:00", 1800, True),  # it was suspended for half an hour
        ("01:00:00", 3600, False),
        ("00:59:59", 3599, False),
        ("00:00:00", 3600, False),  # nothing was measured: its node was lost
        ("01:30:00", 3600, False),  # of several attempts
    ],
)
def test_what_a_pbs_job_used_goes_before_its_span(file: Writer, used: str, seconds: int, repaired: bool) -> None:
    w = read_pbs(file("log", pbs("1", FEW, 1000, 2000, 5600).replace("walltime=3600", f"walltime={used}")))
    assert w.runtime.tolist() == [seconds]
    what = "end - start differs from resources_used.walltime (suspension, epilogue), resources_used.walltime is used"
    assert w.report.repairs.get(what, 0) == repaired


@pytest.mark.parametrize(
    ("resources", "units", "cores"),
    [
        ("Resource_List.size=64", 64, 1),
        ("Resource_List.mppwidth=64", 64, 1),
        ("Resource_List.mppwidth=64 Resource_List.mppnppn=16", 4, 16),
        ("Resource_List.mppwidth=16 Resource_List.mppnppn=4 Resource_List.mppdepth=8", 4, 32),
        ("Resource_List.size=64 Resource_List.ncpus=32", 1, 32),
        ("Resource_List.size=64 Resource_List.select=2:ncpus=16", 2, 16),
    ],
)
def test_the_cores_of_a_job_of_a_cray(file: Writer, resources: str, units: int, cores: int) -> None:
    line = pbs("1", resources, 1000, 1100, 1160, more="exec_host=n1/0").replace("Resource_List.ncpus=32 ", "", 1)
    w = read_pbs(file("log", line))
    assert (w.units.tolist(), w.request.tolist()) == ([units], [[cores]])


def test_processes_of_a_cray_of_which_no_node_has_one_are_refused(file: Writer) -> None:
    wrong = pbs("1", "Resource_List.mppwidth=8 Resource_List.mppnppn=0", 1000, 1100, 1160).replace(
        "Resource_List.ncpus=32 ", ""
    )
    with pytest.raises(WorkloadError, match="mppnppn is '0'; expected at least 1"):
        read_pbs(file("log", wrong))
