"""Reading of logs: processor time and peak memory of each format, for the same generated jobs.

Run it as ``python -m benchmarks.logs``. Each log is read in a process of its own.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich import box
from rich.table import Table
from schedlab.bench.terminal import console_for
from schedlab.instances import Workload, lublin_workload, write_swf
from schedlab.instances.files.writing import whole_file
from schedlab.instances.formats.eurora import EURORA_COLUMNS

from .cost import cost_of

NODES = 64
SEED = 1
LOAD = 0.9
FIRST_DAY = np.datetime64("2014-03-31T00:00:00")
READ = "import sys; from schedlab.instances import read_trace; print(len(read_trace(*sys.argv[1:]).workload))"
NOTHING = "import sys; from schedlab.instances import read_trace"


class Row(NamedTuple):
    """A job: its number, times as texts, and its size."""

    id: int
    submit: int
    runtime: int
    walltime: int
    units: int
    submitted: str
    ended: str


def _rows(jobs: Workload) -> Iterator[Row]:
    """Yield the jobs; each starts when it is submitted."""
    stamps = [np.datetime_as_string(FIRST_DAY + s).tolist() for s in (jobs.submit, jobs.submit + jobs.runtime)]
    columns = [c.tolist() for c in (jobs.submit, jobs.runtime, jobs.walltime, jobs.units)]
    yield from map(Row, range(1, len(jobs) + 1), *columns, *stamps)


def _clock(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _sacct(r: Row) -> str:
    days = r.walltime // 86400
    clock = _clock(r.walltime % 86400)
    return f"{r.id}|{r.submitted}|{r.submitted}|{r.ended}|{days}-{clock}|{r.units}|{r.units}|u{r.id % 99}|app|batch|COMPLETED\n"


def _pbs(r: Row) -> str:
    return (
        f"03/31/2014 00:00:00;E;{r.id}.server;user=u{r.id % 99} queue=batch jobname=app ctime={r.submit} start={r.submit} "
        f"end={r.submit + r.runtime} Resource_List.select={r.units}:ncpus=1 Resource_List.walltime={_clock(r.walltime)}\n"
    )


def _eurora(r: Row) -> str:
    cores = " ".join("1" * r.units)
    others = " ".join("0" * r.units)
    memory = " ".join(["1024"] * r.units)
    times = f"{r.submitted},{r.submitted},{r.ended}"
    return f"{r.id},parallel,{times},{r.units},{_clock(r.walltime)[:-3]},app,{cores},{others},{others},{memory},100.5\n"


def _table(r: Row) -> str:
    return f"{r.id},{r.submit},{r.units},1,{r.walltime},{r.runtime},u{r.id % 99},batch\n"


OF_TABLE = "id,submit,units,cores,walltime,runtime,user,queue"
TEXTS: dict[str, tuple[str, Callable[[Row], str]]] = {
    "sacct": ("JobID|Submit|Start|End|Timelimit|NNodes|NCPUS|User|JobName|Partition|State\n", _sacct),
    "pbs": ("", _pbs),
    "eurora": (",".join(EURORA_COLUMNS) + "\n", _eurora),
    "table": (OF_TABLE + "\n", _table),
}


def write_logs(jobs: Workload, folder: Path) -> dict[str, Path]:
    """Write the jobs in each format that is read as text, and return format -> file."""
    paths = {"swf": folder / "log.swf"}
    write_swf(jobs, NODES, paths["swf"])
    for name, (head, line) in TEXTS.items():
        paths[name] = folder / f"{name}.log"
        with whole_file(paths[name]) as out:
            out.write(head)
            out.writelines(map(line, _rows(jobs)))
    return paths


def parquet_of(table: Path) -> Path:
    """Convert the table of jobs to Parquet and return the file. Needs pyarrow."""
    from pyarrow import csv, parquet

    path = table.with_suffix(".parquet")
    parquet.write_table(csv.read_csv(table), path)
    return path


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the measurements; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.logs", description="Reading of logs.")
    parser.add_argument("--jobs", type=int, default=1_000_000, help="jobs of each log (default: 1,000,000)")
    options = parser.parse_args(arguments)
    least = cost_of([sys.executable, "-c", NOTHING])
    shown = Table(
        "log", "MB on disk", "processor s", "peak MB", box=box.SIMPLE,
        title=f"reading {options.jobs:,} jobs (a process that only imports: {least.peak_mb:,.0f} MB)",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        logs = write_logs(lublin_workload(options.jobs, SEED, NODES, LOAD), Path(folder))
        logs["parquet"] = parquet_of(logs["table"])
        for name, path in logs.items():
            form = "table" if name == "parquet" else name
            spent = cost_of([sys.executable, "-c", READ, str(path), form])
            size = path.stat().st_size / 2**20
            outcome = f"{spent.peak_mb:,.0f}" if spent.code == 0 else f"exit code {spent.code}"
            shown.add_row(name, f"{size:,.0f}", f"{spent.user + spent.system:.1f}", outcome)
    console_for().print(shown)
    return 0


if __name__ == "__main__":
    sys.exit(main())
