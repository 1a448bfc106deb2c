"""Speed of multi-search on a profit problem of 31,713 jobs: the high workload of [Bridi2018], from the Curie log.

Run it as ``python -m benchmarks.profit``. The times do not contain the compilation of the kernels.
"""

from __future__ import annotations

import time
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from schedlab.bench.cli.importing import import_curie
from schedlab.heuristics import first_solution, multi_search, warm_up
from schedlab.instances import load
from schedlab.models import Profit

from .benchmark import without_arguments
from .cost import peak_mb
from .heuristics import CURIE


def curie(path: Path = CURIE) -> Profit:
    """Return the high workload: 300 nodes of 32 cores, scenario air, summer, cheap, synthetic temperatures."""
    with TemporaryDirectory() as folder, redirect_stdout(StringIO()):
        import_curie(file=path, out=Path(folder), nodes=300, cores=32, memory=131072)
        return load(folder).profit


def all_orderings(problem: Profit) -> dict[str, Any]:
    """Measure one ordering and multi-search; return their seconds, the best schedule and the peak memory in MB."""
    warm_up()
    began = time.perf_counter()
    first_solution(problem, "est")
    one = time.perf_counter() - began
    began = time.perf_counter()
    result = multi_search(problem)
    return {
        "jobs": len(problem.jobs),
        "one_seconds": one,
        "seconds": time.perf_counter() - began,
        "objective": result.objective,
        "order": result.details["order"],
        "violations": len(result.violations),
        "peak_mb": peak_mb(),
    }


def main() -> None:
    """Print the measurements with their targets."""
    if not CURIE.exists():
        print(f"profit on the Curie log: not measured, as {CURIE} is missing (run this at the root of the repository)")
        return
    result = all_orderings(curie())
    print(
        f"profit on the Curie log, {result['jobs']} jobs: ordering est {result['one_seconds']:.1f} s (target: at most 10 s), "
        f"multi-search {result['seconds']:.0f} s (target: at most 180 s), best ordering {result['order']}, "
        f"{result['objective']:,.1f} euro"
    )
    print(f"  peak memory {result['peak_mb']:.0f} MB (target: at most 3072 MB); violations: {result['violations']}")


if __name__ == "__main__":
    without_arguments(__doc__)
    main()
