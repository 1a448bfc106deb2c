"""Speed of resuming: the seconds until the first run begins in a folder with 20,000 records of earlier runs.

Run it as ``python -m benchmarks.store``. All runs are of 12 jobs of one instance; the last one has no record.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from schedlab.bench.records.record import answer, plain, record
from schedlab.bench.records.store import Record, Store, name_of
from schedlab.bench.records.verify import Checker
from schedlab.bench.runs.selection import Run, RunRequest, plan
from schedlab.bench.runs.supervision import supervise
from schedlab.instances import load
from schedlab.solve import solve

from .benchmark import without_arguments

INSTANCE = "eurora_99"
RECORDS = 20_000
TARGET_SECONDS = 2.0


class _Begun(Exception):
    """Ends the supervision when the first run begins."""


class _Watch:
    """An observer that counts the records that are used, and ends the supervision when a run begins."""

    def __init__(self) -> None:
        self.kept = 0

    def begun(self, run: Run) -> None:
        raise _Begun

    def compiling(self, run: Run) -> None: ...
    def log(self, run: Run, event: Mapping[str, Any]) -> None: ...
    def incumbent(self, run: Run, event: Mapping[str, Any]) -> None: ...
    def progress(self, run: Run, event: Mapping[str, Any]) -> None: ...

    def ended(self, run: Run, record: Record, kept: bool) -> None:
        self.kept += kept

    def refused(self, run: Run, reason: str) -> None:
        raise AssertionError(reason)


def resume(count: int = RECORDS) -> tuple[float, float]:
    """Measure resuming.

    Parameters
    ----------
    count : int
        The number of records.

    Returns
    -------
    tuple of float
        The seconds from entering the store until the first run begins, and the seconds to check one record.
    """
    request = RunRequest(["multi-search"], time_limit=5.0, threads=1, at=12 * 3600, first=12)
    instance = load(INSTANCE)
    (run,) = plan(instance, INSTANCE, request)
    problem = run.view.of(instance)
    run_record = plain(answer(problem, solve(problem, method=run.method)))
    runs = [replace(run, seed=k) for k in range(count + 1)]
    with TemporaryDirectory() as folder:
        for each in runs[:-1]:
            made = record(each, run_record, "2026-01-01T00:00:00+00:00")
            Path(folder, name_of(made)).write_text(json.dumps(made, indent=1), encoding="utf-8")
        runs = [replace(each) for each in runs]  # without the keys that are computed above
        began = time.perf_counter()
        with Store(Path(folder)) as store:
            check = Checker(Path(folder), lambda path, drop: load(path, drop_impossible=drop))
            try:
                supervise(runs, store, _Watch(), fault=check.reason)
            except _Begun:
                first = time.perf_counter() - began
            watch = _Watch()
            few = runs[: min(count, 500)]
            began = time.perf_counter()
            supervise(few, store, watch, fault=check.reason)
            each_check = (time.perf_counter() - began) / len(few)
    assert watch.kept == len(few)
    return first, each_check


def main() -> None:
    """Print the measurement with its target."""
    first, check = resume()
    print(
        f"resuming a folder of {RECORDS:,} records: the first run begins after {first:.2f} s (target: at most "
        f"{TARGET_SECONDS:g} s); checking an earlier record of 12 jobs takes {check * 1000:.1f} ms"
    )


if __name__ == "__main__":
    without_arguments(__doc__)
    main()
