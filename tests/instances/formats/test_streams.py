"""Logs read block by block: the same jobs and faults whatever the size of a block, in bounded memory."""

import gzip
import tracemalloc
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from schedlab.instances import SiteColumns, TextColumn, Trace, logged, read_trace
from schedlab.instances.files import reading

Writer = Callable[[str, str], Path]

SACCT = """\

JobID|User|JobName|Partition|Submit|Start|End|Timelimit|NNodes|NCPUS|ReqMem|AllocTRES
11|ann|lmp|batch|2024-05-01T10:00:00|2024-05-01T10:05:00|2024-05-01T11:05:00|1-02:00:00|2|32|16G|gres/gpu=4
20+0|ann|lmp|batch|2024-05-01T10:01:00|2024-05-01T10:05:00|2024-05-01T10:15:00|01:00:00|2|32|16G|cpu=32
12|bob|x|batch|yesterday|2024-05-01T10:01:00|2024-05-01T10:31:10|30:00|1|3|500Mc|
12.batch||batch||2024-05-01T10:00:00|2024-05-01T10:05:00|2024-05-01T11:05:00||1|16||
13_7|bob|x|debug|2024-05-01T10:02:00|Unknown|2024-05-01T10:31:10|30:00|1|3|500Mc|
20+1|ann|lmp|batch|2024-05-01T10:01:00|2024-05-01T10:05:00|2024-05-01T10:15:02|01:00:00|1|4|1G|cpu=4
14|bob|x|debug|2024-05-01T10:02:00|2024-05-01T10:03:00|2024-05-01T10:31:10|30:00|1|three|500Mc|
13_8|eve|é|batch|2024-05-01T10:04:00|2024-05-01T10:04:00|2024-05-01T10:31:10|30:00|1|3|500Mc|
"""
PBS = """\
07/13/2012 00:00:01;Q;1.server;queue=parallel
07/13/2012 00:10:01;E;1.server;user=ann queue=q ctime=1 start=2 end=3 Resource_List.select=2:ncpus=4:mem=1gb
07/13/2012 00:10:02;E;2[1].server;user=ann ctime=1 start=2 end=3 Resource_List.select=1:ncpus=4+2:ngpus=1
what is this

07/13/2012 00:10:03;E;3.server;ctime=noon start=2 end=3 Resource_List.select=1
07/13/2012 00:10:04;E;;ctime=1 start=2 end=3 Resource_List.select=1
07/13/2012 00:10:05;E;4[].server;user=bob queue=r ctime=5 start=7 end=9 Resource_List.nodect=2
"""
EURORA = """\
job_id,queue,submit,start,end,req_nodes,walltime_req_hhmm,app_type,cores_per_node,gpus_per_node,mics_per_node,mem_per_node_raw,power_pred_w
1,parallel,2014-03-31 08:51:10,2014-03-31 10:55:42,2014-03-31 14:02:08,1,04:00,0,1,1,0,1048576,9.0
2,debug,yesterday,2014-03-31 08:52:00,2014-03-31 08:53:00,2,00:30,2,16 8,0 0,2 2,1048577 1024,
3,"de
bug",2014-03-31 08:52:00,2014-03-31 08:52:00,2014-03-31 08:53:00,2,00:30,2,16 8,0 0,2 2,1048577 1024,
4,debug,2014-03-31 08:52:00

5,debug,2014-03-31 08:52:00,2014-03-31 08:52:00,2014-03-31 08:53:00,1,00:30,2,16 8,0 0,2 2,1048577 1024,
"""
TABLE = """\
id,submit,units,cores,gpus,walltime,runtime,user,queue
a,0,2,16,1,3600,60,ann,q
b,5,x,1,0,60,9,bob,q
"c
d",7.5,1,4,,60,,bob,r
e,8,1

,9,1,4,,,12,bob,r
"""
LOGS = {"sacct": (SACCT, [5, 9]), "pbs": (PBS, [4, 6, 7]), "eurora": (EURORA, [3, 6]), "table": (TABLE, [3, 6])}


def content(trace: Trace) -> dict[str, Any]:
    """Return the fields of a trace as plain values."""

    def plain(value: object) -> object:
        if isinstance(value, np.ndarray):
            return value.dtype, repr(value.tolist())  # repr: NaN
        if isinstance(value, TextColumn):
            return [value.names[k] for k in value.index.tolist()], value.names
        if isinstance(value, SiteColumns):
            return [(value.asked(k), value.recorded(k)) for k in range(len(value))]
        return {k: plain(v) for k, v in value.items()} if isinstance(value, dict) else value

    return {f.name: plain(getattr(trace, f.name)) for f in fields(trace)}


@pytest.mark.parametrize("format", LOGS)
@pytest.mark.parametrize("size", [1, 7, 120, 250, 400])  # from a character to several lines
def test_the_size_of_a_block_changes_nothing(
    file: Writer, monkeypatch: pytest.MonkeyPatch, format: str, size: int
) -> None:
    path = file("log", LOGS[format][0])
    whole = content(read_trace(path, format))
    monkeypatch.setattr(reading, "CHUNK", size)
    monkeypatch.setattr(logged, "ROWS", 1 + size // 100)
    assert content(read_trace(path, format)) == whole


@pytest.mark.parametrize("format", LOGS)
@pytest.mark.parametrize("size", [100, 2**20])
def test_a_damaged_line_of_a_later_block_is_named(
    file: Writer, monkeypatch: pytest.MonkeyPatch, format: str, size: int
) -> None:
    monkeypatch.setattr(reading, "CHUNK", size)
    path = file("log", LOGS[format][0])
    bad = read_trace(path, format).report.bad_lines
    assert [b.line for b in bad] == LOGS[format][1]
    assert {b.file for b in bad} == {str(path)}


@pytest.mark.parametrize("format", LOGS)
def test_a_packed_log_is_unpacked_block_by_block(
    file: Writer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    path, packed = file("log", LOGS[format][0]), tmp_path / "packed" / "log"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress(LOGS[format][0].encode()))
    monkeypatch.setattr(reading, "CHUNK", 90)
    whole, unpacked = content(read_trace(path, format)), content(read_trace(packed, format))
    assert {k: v for k, v in unpacked.items() if k != "report"} == {k: v for k, v in whole.items() if k != "report"}


def test_components_of_a_slurm_job_may_be_far_from_each_other(file: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "CHUNK", 1)
    trace = read_trace(file("log", SACCT), "sacct")
    assert trace.ids == ("11", "20", "13_7", "13_8")
    assert [c.units for c in trace.chunks[1]] == [2, 1]
    assert trace.arrays == {2: "13", 3: "13"}
    assert trace.runtime[1] == 602


LONG = {  # many lines of which most is not kept
    "sacct": ("JobID|Submit|Start|End|Timelimit|NNodes|NCPUS|Comment\n", "{}|2024-05-01T10:00:00|2024-05-01T10:05:00|2024-05-01T11:05:00|02:00:00|2|32|{}\n"),
    "pbs": ("", "07/13/2012 00:10:01;E;{}.s;ctime=1 start=2 end=3 Resource_List.select=1 {}\n"),
    "eurora": (EURORA.splitlines()[0] + ",more\n", "{},q,2014-03-31 08:51:10,2014-03-31 10:55:42,2014-03-31 14:02:08,1,04:00,0,1,1,0,1048576,9.0,{}\n"),
}  # fmt: skip


@pytest.mark.parametrize("format", LONG)
def test_the_text_of_a_log_is_never_in_memory_as_a_whole(
    file: Writer, monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    head, line = LONG[format]
    path = file("log", head + "".join(line.format(k, "x" * 4000) for k in range(1000)))
    monkeypatch.setattr(reading, "CHUNK", 2**16)
    read_trace(file("first", head + line.format(1, "x")), format)  # first use of libraries
    tracemalloc.start()
    trace = read_trace(path, format)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(trace) == 1000
    assert peak < path.stat().st_size / 2
