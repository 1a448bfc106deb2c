"""Tables of jobs in CSV and Parquet."""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow
import pytest
import schedlab as sl
from pyarrow import parquet
from schedlab.instances import Workload, WorkloadError, load, open_trace, read_job_table, read_trace
from schedlab.instances.formats import job_table
from schedlab.instances.traces import guess_format

Writer = Callable[[str, str], Path]
COLUMNS = {
    "id": ["a", "b", "c", "d", "e"],
    "queue": ["q", None, "r", "q", "q"],
    "submit": [0.0, 5.5, 7.0, -5.0, 8.0],
    "start": [10, 10, None, 10, 10],
    "units": [2, 1, 1, 1, 0],
    "cores": [16, 4, 1, 1, 1],
    "gpus": [1, None, 0, 0, 0],
    "walltime": [3600.0, None, 60.0, 60.0, 60.0],
    "runtime": [60.0, 12.0, 90.0, 60.0, 60.0],
    "power": [200.5, None, None, None, None],
}


def csv_of(columns: dict[str, list[object]]) -> str:
    rows = [list(columns), *zip(*columns.values(), strict=True)]
    return "".join(",".join("" if c is None else str(c) for c in row) + "\n" for row in rows)


@pytest.fixture(params=["csv", "parquet"])
def read(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Workload]:
    """Write columns in a format and read them."""

    def of(columns: dict[str, list[object]]) -> Workload:
        path = tmp_path / f"jobs.{request.param}"
        if request.param == "csv":
            path.write_text(csv_of(columns))
        else:
            parquet.write_table(pyarrow.table(columns), path, row_group_size=2)
        assert guess_format(path) == "table"
        return read_job_table(path)

    return of


def test_a_table_has_the_jobs_with_all_its_other_columns_as_resources(read: Callable[..., Workload]) -> None:
    w = read(COLUMNS)
    assert (w.name, w.ids, w.resources) == ("jobs", ("a", "b", "c"), ("cores", "gpus"))
    assert (w.submit.tolist(), w.recorded_start.tolist()) == ([0, 6, 7], [10, 10, -1])
    assert (w.walltime.tolist(), w.runtime.tolist()) == ([3600, 12, 60], [60, 12, 90])
    assert (w.units.tolist(), w.request.tolist()) == ([2, 1, 1], [[16, 1], [4, 0], [1, 0]])
    assert [w.queues[k].name for k in w.queue] == ["q", "default", "r"]
    assert w.power[0] == 200.5 and np.isnan(w.power[1:]).all()
    assert [name for name, _ in w.report.dropped] == ["d", "e"]
    assert w.report.repairs == {
        "walltime missing, the runtime is used instead": 1,
        "runtime over walltime, kept": 1,
        "times with fractions of a second, rounded": 1,
    }


@pytest.mark.parametrize("batch", [1, 2, 3, 100])
def test_rows_of_later_batches_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int) -> None:
    monkeypatch.setattr(job_table, "BATCH", batch)
    columns = {
        "id": [*"abcd"],
        "submit": [0, 1, 2, 3],
        "units": [1, 1, 1, -1],
        "cores": [1, 1.5, 1, 1],
        "runtime": [9] * 4,
    }
    parquet.write_table(pyarrow.table(columns), tmp_path / "log")
    w = read_job_table(tmp_path / "log")
    assert w.ids == ("a", "c")
    assert [(b.line, b.message) for b in w.report.bad_lines] == [
        (2, "cores is 1.5; expected a whole number from 0 to 10000000000"),
        (4, "units is -1; expected a whole number from 0 to 10000000000"),
    ]


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("id,submit,units,cores", "line 1: expected columns id, submit, units, runtime, found no column runtime"),
        ("id,submit,units,cores,runtime,cores", "each column once, found cores 2 times"),
        ("id,submit,units,cores,runtime,deadline", "a log, which has no deadline; load the folder of the instance"),
        ("id,submit,units,runtime,user", "a column per resource, such as cores"),
        ("", "no column id, submit"),
    ],
)
def test_a_table_with_other_columns_is_refused(file: Writer, header: str, expected: str) -> None:
    with pytest.raises(WorkloadError, match=expected):
        read_trace(file("jobs.csv", f"{header}\n"), "table")


def test_the_jobs_of_an_instance_are_a_log(tmp_path: Path) -> None:
    instance = load("eurora_99")
    assert instance.path is not None
    w, platform = open_trace(
        instance.path / "jobs.csv", nodes=64, cores=16, memory=32768, others={"gpus": 2, "mics": 2}
    )
    assert w.ids == tuple(j.id for j in instance.dispatch.jobs)
    assert len(platform.nodes) == 64


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("a,0,x,1,9", "units is 'x'; expected a whole number from 0 to 10000000000"),
        ("a,0,1,1e11,9", "cores is '1e11'; expected a whole number"),
        ("a,soon,1,1,9", "submit is 'soon'; expected a number of at most 10000000000, or an empty cell"),
        ("a,0,1,1,inf", "runtime is 'inf'; expected a number"),
        ("a,0,1,1", "4 fields; the header has 5"),
    ],
)
def test_a_damaged_row_is_named(file: Writer, row: str, expected: str) -> None:
    w = read_trace(file("jobs.csv", f"id,submit,units,cores,runtime\n{row}\nb,0,1,1,9\n"), "table").workload
    assert (w.ids, [b.line for b in w.report.bad_lines]) == (("b",), [2])
    assert w.report.bad_lines[0].message.startswith(expected)


def test_damaged_parquet_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"PAR1" + b"x" * 100)
    with pytest.raises(WorkloadError, match="expected a Parquet file"):
        read_trace(path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(sl.SchedlabError, match="schedlab\\[parquet\\]"):
        read_trace(path)
