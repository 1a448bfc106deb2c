"""Workloads of Batsim and Eurora, recognition of log formats, and parts of a log on a platform."""

import gzip
import json
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from fuzz_seeds import EURORA
from schedlab.instances import (
    Workload,
    WorkloadError,
    eurora_platform,
    open_trace,
    read_batsim,
    read_eurora,
    read_trace,
    write_batsim,
)
from schedlab.instances.log_preparation import midnight, window_of
from schedlab.instances.traces import guess_format
from shared_data import DATA

Writer = Callable[[str, str], Path]


def bad_lines(workload: Workload) -> list[int]:
    return [b.line for b in workload.report.bad_lines]


# Batsim


def batsim(*jobs: object, nb_res: object = 8, **profiles: object) -> str:
    known = {"short": {"type": "delay", "delay": 10.2}, "flops": {"type": "parallel_homogeneous", "cpu": 1e9}}
    return json.dumps({"nb_res": nb_res, "jobs": list(jobs), "profiles": {**known, **profiles}})


def batsim_job(name: object = 1, **changes: object) -> dict[str, object]:
    return {"id": name, "subtime": 5, "walltime": 60, "res": 3, "profile": "short", **changes}


def test_batsim_jobs_of_delays_are_read_on_their_platform(file: Writer) -> None:
    path = file("w.json", batsim(batsim_job(), batsim_job("w0!2", walltime=-1, subtime=7.4), {**batsim_job(3)}))
    w, platform = open_trace(path)
    assert (w.ids, w.units.tolist(), w.request.tolist()) == (("1", "3", "w0!2"), [3, 3, 3], [[1], [1], [1]])
    assert (w.submit.tolist(), w.runtime.tolist(), w.walltime.tolist()) == ([5, 5, 7], [11] * 3, [60, 60, 11])
    assert (len(platform.nodes), platform.total("cores"), w.programs) == (8, 8, ("",))


@pytest.mark.parametrize(
    ("job", "why"),
    [
        (batsim_job(9, profile="flops"), "parallel_homogeneous"),
        (batsim_job(9, profile="none"), "its profile 'none' is not among the profiles"),
        (batsim_job(9, profile=["short"]), "its profile ['short'] is not among the profiles"),
        (batsim_job(9, profile="odd"), "its profile 'odd' has the delay 'x'; expected a number of seconds"),
        (batsim_job(9, res=0), "res is 0"),
        (batsim_job(9, res=True), "res is True"),
        (batsim_job(9, subtime="soon"), "subtime is 'soon'"),
        (batsim_job(9, walltime=[1]), "walltime is [1]"),
    ],
)
def test_a_batsim_job_that_cannot_be_replayed_is_left_out(file: Writer, job: object, why: str) -> None:
    w = read_batsim(file("w.json", batsim(batsim_job(), job, odd={"type": "delay", "delay": "x"})))
    assert w.ids == ("1",)
    assert w.report.dropped[0][0] == "9"
    assert why in w.report.dropped[0][1]


def test_profiles_of_batsim_5_and_sequences_of_delays_have_a_runtime(file: Writer) -> None:
    profiles = {
        "five": {"type": "DelayProfile", "delay": 20.25},
        "twice": {"type": "SequentialCompositionProfile", "repeat": 2, "seq": ["five", "short"]},
        "older": {"type": "composed", "seq": ["twice", "short"]},
        "task": {"type": "ParallelTaskHomogeneousProfile", "cpu": 1e9, "com": 0},
        "mixed": {"type": "SequentialCompositionProfile", "seq": ["five", "task"]},
        "snake": {"type": "sequential_composition", "seq": ["tail"]},
        "tail": {"type": "sequential_composition", "seq": ["snake"]},
        "often": {"type": "composed", "seq": ["five"], "repeat": 10**12},
        "empty": {"type": "composed", "seq": []},
    }
    names = ["five", "twice", "older", "task", "mixed", "snake", "tail", "often", "empty"]
    jobs = [batsim_job(name, profile=name) for name in names]
    w = read_batsim(file("w.json", batsim(*jobs, **profiles)))
    assert dict(zip(w.ids, w.runtime.tolist(), strict=True)) == {"five": 21, "twice": 61, "older": 72}
    dropped = dict(w.report.dropped)
    assert list(dropped) == ["task", "mixed", "snake", "tail", "often", "empty"]
    for name, why in (
        ("task", "'ParallelTaskHomogeneousProfile': how long it takes depends on the simulated machine"),
        ("mixed", "its profile 'mixed' contains the profile 'task', which is of type 'ParallelTaskHomogeneousProfile'"),
        ("snake", "contains itself"),
        ("tail", "contains itself"),
        ("often", "has 'repeat' 1000000000000; expected a whole number from 1 to"),
        ("empty", "has the parts []; expected a list 'seq' of profiles"),
    ):
        assert why in dropped[name]


def test_a_fork_join_of_delays_takes_as_long_as_its_longest_part(file: Writer) -> None:
    """Batsim's protocol names the parts ``profile_ids`` and the repetitions ``repetition_count``."""
    profiles = {
        "long": {"type": "DelayProfile", "delay": 30},
        "fork": {"type": "ForkJoinCompositionProfile", "profile_ids": ["short", "long"]},
        "nested": {"type": "sequential_composition", "profile_ids": ["fork", "short"], "repetition_count": 3},
        "older": {"type": "forkjoin_composition", "seq": ["nested", "long", "short"]},
        "mixed": {"type": "forkjoin_composition", "seq": ["long", "fork", "flops"]},
        "merged": {"type": "ParallelTaskMergeCompositionProfile", "profile_ids": ["short"]},
        "none": {"type": "forkjoin_composition"},
    }
    jobs = [batsim_job(name, profile=name) for name in profiles]
    w = read_batsim(file("w.json", batsim(*jobs, **profiles)))
    assert dict(zip(w.ids, w.runtime.tolist(), strict=True)) == {"long": 30, "fork": 30, "nested": 121, "older": 121}
    dropped = dict(w.report.dropped)
    assert "'mixed' contains the profile 'flops', which is of type 'parallel_homogeneous'" in dropped["mixed"]
    assert dropped["merged"].endswith(
        "depends on the simulated machine; expected a delay, or a sequence or fork-join of delays"
    )
    assert dropped["none"] == "its profile 'none' has the parts None; expected a list 'seq' of profiles"


@pytest.mark.parametrize("kind", ["ptask", "ptask_homogeneous", "msg_par_hg", "TraceReplayProfile", "send", "smpi"])
def test_profiles_that_need_the_machine_are_named_as_such(file: Writer, kind: str) -> None:
    w = read_batsim(file("w.json", batsim(batsim_job(), batsim_job(2, profile="p"), p={"type": kind})))
    assert dict(w.report.dropped)["2"].startswith(f"its profile 'p' is of type '{kind}': how long it takes depends")


def test_long_chains_of_sequences_end(file: Writer) -> None:
    chain = {f"p{k}": {"type": "composed", "seq": [f"p{k + 1}"] * 2} for k in range(3000)}
    deep = {f"q{k}": {"type": "composed", "seq": [f"q{k + 1}"] * 2} for k in range(20)}
    profiles = {**chain, **deep, "q20": {"type": "delay", "delay": 1}}
    w = read_batsim(file("w.json", batsim(batsim_job("p", profile="p0"), batsim_job("q", profile="q0"), **profiles)))
    assert (w.ids, w.runtime.tolist()) == (("q",), [2**20])
    assert "more than 50 levels" in w.report.dropped[0][1]


def test_a_log_of_which_nothing_is_left_says_why(file: Writer) -> None:
    jobs = [batsim_job(k, profile="flops") for k in range(3)] + [batsim_job(4, res=0)]
    with pytest.raises(WorkloadError) as caught:
        read_batsim(file("w.json", batsim(*jobs)))
    head, *reasons = str(caught.value).splitlines()
    assert head == "w: no job to replay; 4 jobs were left out"
    assert reasons[0].startswith(
        "  3 jobs: its profile 'flops' is of type 'parallel_homogeneous': how long it takes depends"
    )
    assert reasons[1].startswith("  1 job: its res is 0")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{", "not a JSON file: .*line 1"),
        ("[]", "expected a JSON object"),
        ('{"nb_res": 3}', 'list "jobs"'),
        (batsim(nb_res=0), '"nb_res" is 0'),
        (batsim(nb_res=10**12), '"nb_res" is 10+; expected the number of resources, 1 to 2,000,000'),
        (batsim(), "no job to replay"),
        (batsim("job"), "1 job was left out"),
    ],
)
def test_a_file_that_is_no_batsim_workload(file: Writer, text: str, expected: str) -> None:
    with pytest.raises(WorkloadError, match=expected):
        read_batsim(file("w.json", text))


def test_a_batsim_workload_survives_writing_and_reading(file: Writer, tmp_path: Path) -> None:
    w = read_batsim(file("w.json", batsim(batsim_job(), batsim_job(2, subtime=9, res=1))))
    write_batsim(w, 8, tmp_path / "again.json")
    again, platform = open_trace(tmp_path / "again.json")
    assert [again.job(k) for k in range(2)] == [w.job(k) for k in range(2)]
    assert len(platform.nodes) == 8
    swf = file("log.swf", "1 0 5 100 8 -1 -1 8 300 -1 1 7 3 12 1 -1 -1 -1")
    with pytest.raises(WorkloadError, match="one core per unit"):
        write_batsim(open_trace(swf, nodes=2, cores=4)[0], 8, tmp_path / "no.json")


# Eurora


def test_eurora_jobs(file: Writer) -> None:
    w = read_eurora(file("jobs.csv", EURORA))
    assert (w.ids, w.units.tolist()) == (("1", "2"), [1, 2])
    assert w.resources == ("cores", "gpus", "mics", "memory")
    assert w.request.tolist() == [[1, 1, 0, 1024], [16, 0, 2, 1025]]
    assert w.submit.tolist() == [31870, 31920]
    assert w.recorded_start.tolist() == [39342, 31920]
    assert (w.runtime.tolist(), w.walltime.tolist()) == ([11186, 60], [14400, 1800])
    assert (w.power[0], np.isnan(w.power[1])) == (9.0, True)
    assert {q.name: q.ewt for q in w.queues} == {"parallel": 21600, "debug": 3600}
    assert w.unix_start == datetime(2014, 3, 31, tzinfo=ZoneInfo("Europe/Rome")).timestamp()
    assert w.report.repairs == {"units of a job that differ, all replaced by the largest": 1}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("2014-03-31 08:51:10", "31.3.2014", "submit is '31.3.2014'"),
        (",04:00,", ",4,", "walltime_req_hhmm is '4'"),
        (",1,1,0,1048576,9.0", ",1,1,0,x,9.0", "mem_per_node_raw is 'x'"),
        (",1,1,0,1048576,9.0", ",1,1 1,0,1048576,9.0", "gpus_per_node is '1 1'; expected 1 number"),
        ("1048576,9.0", "1048576,nan", "power_pred_w is 'nan'"),
        ("1048576,9.0", "1048576", "expected 16 fields"),
    ],
)
def test_a_damaged_row_of_eurora_is_told(file: Writer, old: str, new: str, expected: str) -> None:
    w = read_eurora(file("jobs.csv", EURORA.replace(old, new, 1)))
    assert (w.ids, bad_lines(w)) == (("2",), [2])
    assert expected in w.report.bad_lines[0].message


def test_a_table_without_the_columns_of_eurora(file: Writer) -> None:
    with pytest.raises(WorkloadError, match="no column app_type"):
        read_eurora(file("jobs.csv", EURORA.replace("app_type", "kind")))


def test_all_of_the_eurora_trace_is_read_and_fits_its_machine() -> None:
    path = DATA / "eurora_2014" / "eurora_jobs_unique.csv"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    w, platform = open_trace(path)
    assert (len(w), w.report.bad_lines, w.report.dropped) == (5930, (), ())
    assert (len(platform.nodes), platform.total("cores"), platform.total("gpus")) == (64, 1024, 64)
    config = path.parent / "system_configs" / "nodes_#64"
    rows = sorted(tuple(int(v) for v in line.split()[1:5]) for line in config.read_text().splitlines() if line.strip())
    ours = sorted((c, g, m, kb * 1024) for c, g, m, kb in (_ordered(platform, n) for n in platform.nodes))
    assert ours == rows


def _ordered(platform: Any, node: str) -> tuple[int, ...]:
    named = dict(zip(platform.resources, platform.capacity[node], strict=True))
    return tuple(named[r] for r in ("cores", "gpus", "mics", "memory"))


# formats and platforms

SACCT = """\
JobID|User|JobName|Partition|Submit|Start|End|Timelimit|NNodes|NCPUS|ReqMem|AllocTRES
11|ann|lmp|batch|2024-05-01T10:00:00|2024-05-01T10:05:00|2024-05-01T11:05:00|1-02:00:00|2|32|16G|gres/gpu=4
12|bob|x|batch|2024-05-01T10:01:00|2024-05-01T10:01:00|2024-05-01T10:31:10|30:00|1|3|500Mc|
"""
PBS = "07/13/2012 00:10:01;E;1.server;ctime=1 start=2 end=3 Resource_List.select=1 Resource_List.walltime=01:00:00"

SWF = (
    "; UnixStartTime: 1342130400\n; TimeZoneString: Europe/Paris\n; MaxProcs: 8\n; MaxNodes: 4\n"  # 13 July 2012, 00:00
)


def swf(*submits: int, processors: int = 2, runtime: int = 3600) -> str:
    jobs = (
        f"{k} {t} 0 {runtime} -1 -1 -1 {processors} 7200 1024 1 1 1 -1 1 -1 -1 -1" for k, t in enumerate(submits, 1)
    )
    return SWF + "\n".join(jobs) + "\n"


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("swf", swf(0)),
        ("swf", swf(0).splitlines()[-1]),
        ("sacct", SACCT),
        ("pbs", PBS),
        ("batsim", batsim(batsim_job())),
        ("eurora", EURORA),
        ("table", "id,submit,units,cores,runtime\n1,0,2,4,60\n"),
    ],
)
def test_a_format_is_told_by_what_the_text_looks_like(file: Writer, tmp_path: Path, format: str, text: str) -> None:
    path = file("log", text)
    assert guess_format(path) == format
    packed = tmp_path / "log.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert read_trace(packed).workload.ids == read_trace(path, format).workload.ids


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_an_empty_file_is_called_empty(file: Writer, text: str) -> None:
    path = file("log", text)
    with pytest.raises(WorkloadError, match=r"log: the file is empty; expected a log of jobs$"):
        read_trace(path)


def test_a_log_in_utf_16_is_read(tmp_path: Path) -> None:
    """As > of PowerShell writes it on Windows."""
    text = "JobID|Submit|Start|End|Timelimit|NNodes|NCPUS\r\n7|2024-05-01T10:00:00|2024-05-01T10:05:00|2024-05-01T11:05:00|02:00:00|2|32\r\n"
    path = tmp_path / "jobs.txt"
    path.write_bytes(text.encode("utf-16"))
    w = read_trace(path).workload
    assert (w.ids, w.runtime.tolist(), w.report.bad_lines) == (("7",), [3600], ())
    path.write_bytes('{"jobs": []}'.encode("utf-16"))
    with pytest.raises(WorkloadError, match="the JSON of this file"):
        read_trace(path)


def test_a_text_of_no_known_format_says_which_are_known(file: Writer) -> None:
    with pytest.raises(WorkloadError, match=r"format of this log is not recognised.*sacct.*batsim"):
        read_trace(file("log", "dear diary,\n"))
    with pytest.raises(WorkloadError, match="no log format 'gwf'; did you mean swf"):
        read_trace(file("log", "dear diary,\n"), "gwf")


def test_an_swf_log_without_nodes_gets_those_of_its_header(file: Writer) -> None:
    path = file("log", swf(0))
    w, platform = open_trace(path)
    assert (len(platform.nodes), platform.total("cores"), w.units.tolist()) == (8, 8, [2])
    assert "from MaxProcs" in w.report.notes[-1]
    w, platform = open_trace(path, cores=2)
    assert (len(platform.nodes), platform.total("cores"), w.units.tolist()) == (4, 8, [1])
    assert "from MaxNodes" in w.report.notes[-1]


def test_a_log_without_a_machine_asks_for_one(file: Writer) -> None:
    with pytest.raises(WorkloadError, match="how many processors the machine has; give the number of nodes"):
        open_trace(file("log", swf(0).splitlines()[-1]))
    with pytest.raises(WorkloadError, match="how many processors"):
        open_trace(file("log", SACCT))
    with pytest.raises(WorkloadError, match="number of cores of a node"):
        open_trace(file("log", SACCT), nodes=3)
    with pytest.raises(WorkloadError, match="have their own platform"):
        open_trace(file("log", EURORA), nodes=3, cores=16)
    with pytest.raises(WorkloadError, match="0 gpus"):
        open_trace(file("log", SACCT), nodes=3, cores=16, others={"gpus": 0})


def test_what_the_platform_cannot_hold_is_left_out_and_named(file: Writer) -> None:
    w, _ = open_trace(file("log", SACCT), nodes=2, cores=16)
    assert (w.resources, w.ids) == (("cores",), ("12",))
    assert any("gpus" in why for _, why in w.report.dropped)
    assert any("memory requests of the jobs are ignored" in note for note in w.report.notes)
    w, _ = open_trace(file("log", SACCT), nodes=2, cores=16, memory=8192, others={"gpus": 2})
    assert (w.ids, w.report.dropped) == (("11", "12"), ())
    with pytest.raises(WorkloadError, match=r"can hold none of the 1 job; .*3 units"):
        open_trace(file("log", swf(0, processors=3)), nodes=2)


def test_swf_memory_counts_only_if_the_nodes_have_some(file: Writer) -> None:
    path = file("log", swf(0))
    assert open_trace(path, nodes=2, cores=2)[0].resources == ("cores",)
    assert open_trace(path, nodes=2, cores=2, memory=64)[0].request.tolist() == [[2, 2]]


def ids(path: Path, **part: Any) -> Sequence[str]:
    return open_trace(path, **part)[0].ids


def test_a_window_is_by_the_clock_of_the_log(file: Writer) -> None:
    path = file("log", swf(0, 3600, 86399, 86400, 90000))
    assert ids(path, window="2012-07-13:1d") == ("1", "2", "3")
    assert ids(path, window="2012-07-14:2d") == ("4", "5")
    assert ids(path, window="2012-07-13T01:00:23h") == ("2", "3")
    assert ids(path, window="2012-07-13:1d", first=2) == ("1", "2")


def test_a_day_of_a_window_is_one_of_the_calendar(file: Writer) -> None:
    trace = read_trace(file("log", swf(0)))  # summer time ends on 28 October 2012
    begin, end = window_of("2012-10-28:1d", trace)
    assert end - begin == 25 * 3600


@pytest.mark.parametrize(
    "window", ["2012-07-13", "13.7.2012:1d", "2012-07-13:0d", "2012-13-01:1d", "2012-07-13:3w", ""]
)
def test_a_window_that_is_not_understood(file: Writer, window: str) -> None:
    with pytest.raises(WorkloadError, match=r"is malformed; expected .* such as 2012-07-13:23d"):
        open_trace(file("log", swf(0)), window=window)


def test_a_window_without_jobs_or_without_dates(file: Writer) -> None:
    with pytest.raises(
        WorkloadError, match=r"no job was submitted from 172800 s to 259200 s of the log; .* 0 s to 7 s"
    ):
        open_trace(file("log", swf(0, 7)), window="2012-07-15:1d")
    with pytest.raises(WorkloadError, match="has no date of its second 0"):
        open_trace(file("log", swf(0).splitlines()[-1]), nodes=2, window="2012-07-15:1d")
    with pytest.raises(WorkloadError, match="after the year 9999"):
        open_trace(file("log", swf(0)), window="9999-07-15:99999d")


def test_of_a_window_without_jobs_the_dates_of_the_log_are_told_as_a_window_takes_them(file: Writer) -> None:
    log = file("log", swf(3600, 7 * 86400 + 119))
    with pytest.raises(WorkloadError) as caught:
        open_trace(log, window="2013-01-01:1d")
    said = str(caught.value)
    assert "in its time zone from 2012-07-13T01:00 to 2012-07-20T00:01" in said
    assert "the window of all jobs is 2012-07-13:8d" in said
    assert ids(log, window="2012-07-13:8d") == ("1", "2")
    assert ids(log, window="2012-07-20T00:01:1h") == ("2",)


def test_a_log_that_lies_beyond_the_calendar_has_no_dates_to_tell(file: Writer) -> None:
    with pytest.raises(WorkloadError, match=r"submissions run from 0 s to 60 s$"):
        open_trace(file("log", swf(0, 60).replace("1342130400", "999999999999")), window="2013-01-01:1d")


def test_repairs_are_counted_over_the_jobs_that_are_used(file: Writer) -> None:
    lines = swf(0, 10, 20, 30).replace(" 3600 -1 ", " 0 -1 ")
    w, _ = open_trace(file("log", lines), first=2)
    assert (len(w), w.report.repairs) == (2, {"runtime 0, taken as 1 s": 2})


def test_first_counts_the_jobs_that_can_be_replayed(file: Writer) -> None:
    text = swf(30, 20, 10, 0).replace("4 0 0 3600", "4 0 0 -1")
    assert ids(file("log", text), first=2) == ("3", "2")


def test_arrivals_are_rescaled_to_an_offered_load(file: Writer) -> None:
    w, platform = open_trace(file("log", swf(0, 3600, 7200)), load=1.5)
    assert w.load(platform) == pytest.approx(1.5, abs=1e-3)
    assert any("rescaled" in note for note in w.report.notes)


def test_the_day_of_the_first_submission_becomes_the_origin(file: Writer) -> None:
    trace = read_trace(file("log", swf(90000)))
    origin, day = midnight(trace.workload, trace.zone)
    w = trace.workload.since(origin)
    assert (origin, day) == (86400, "2012-07-14")
    assert (w.submit.tolist(), w.recorded_start.tolist(), w.unix_start) == ([3600], [3600], 1342130400 + 86400)
    batsim_log = read_trace(file("w.json", batsim(batsim_job(subtime=90000))))
    assert midnight(batsim_log.workload, batsim_log.zone) == (86400, "")


def test_the_machine_of_eurora_has_both_kinds_of_accelerators() -> None:
    groups = {g.name: (g.count, g.capacity["gpus"], g.capacity["mics"]) for g in eurora_platform().groups}
    assert groups == {"gpu": (32, 2, 0), "mic": (32, 0, 2)}


def test_many_jobs_of_one_id_get_numbers(tmp_path: Path) -> None:
    """As many as logs have that were joined without their ids: the numbers go up, and spare ids that are taken."""
    path = tmp_path / "jobs.csv"
    rows = ["7"] * 30_000 + ["7.3"]
    path.write_text("id,submit,units,cores,runtime\n" + "".join(f"{name},0,1,1,5\n" for name in rows))
    expected = ["7", "7.2", *(f"7.{number}" for number in range(4, 30_002)), "7.3"]
    assert list(read_trace(path).workload.ids) == expected
