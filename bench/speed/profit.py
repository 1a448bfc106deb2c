"""Speed of multi-search on a profit problem of 33,278 jobs: the high workload of Bridi's thesis, from the Curie log.

Run it as ``python -m schedlab.bench.speed.profit``. Compiling the kernels is outside the seconds.
"""

from __future__ import annotations

import resource
import sys
import time
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ...heuristics import first_solution, multi_search, warm_up
from ...instances import load
from ...models import Profit
from ..ingest.curie import import_curie
from .heuristics import CURIE


def curie(path: Path = CURIE) -> Profit:
    """The high workload: 300 nodes of 32 cores, scenario air, summer, cheap, synthetic temperatures."""
    with TemporaryDirectory() as folder, redirect_stdout(StringIO()):
        import_curie(
            path, Path(folder), None, "air,summer,cheap", None, nodes=300, cores=32, memory=131072,
            first=None, load=None, seed=1, name=None,
        )  # fmt: skip
        problem = load(folder).problem
    assert isinstance(problem, Profit)
    return problem


def all_orderings(problem: Profit) -> dict[str, Any]:
    """Seconds of one ordering and of all of them, what they found, and the peak memory in MB."""
    warm_up()
    began = time.perf_counter()
    first_solution(problem, "est")
    one = time.perf_counter() - began
    began = time.perf_counter()
    found = multi_search(problem)
    return {
        "jobs": len(problem.jobs),
        "one_seconds": one,
        "seconds": time.perf_counter() - began,
        "objective": found.objective,
        "order": found.order,
        "violations": len(problem.verify(found.schedule)),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2),
    }


def main() -> None:
    """Print the figures beside what is asked for."""
    if not CURIE.exists():
        print(f"profit on the Curie log: skipped, {CURIE} is missing (run at the root of the repository)")
        return
    found = all_orderings(curie())
    print(
        f"profit on the Curie log, {found['jobs']} jobs: est {found['one_seconds']:.1f} s (asked: 10 s), all orderings "
        f"{found['seconds']:.0f} s (asked: 180 s), best {found['order']}, {found['objective']:,.1f} euro;"
    )
    print(f"  peak {found['peak_mb']:.0f} MB (asked: 3072 MB), violations: {found['violations']}")


if __name__ == "__main__":
    main()
