"""Solve one file with PyJobShop or schedlab. ``benchmarks.beside_pyjobshop`` runs this file as a script in a process of its own.

The argument is a JSON object with ``package`` ("pyjobshop" or "schedlab"), ``kind`` ("jsp", "fjsp" or "rcpsp"), ``file``,
``seconds`` (time limit) and ``threads``. It prints a line of JSON: ``{"objective": 55, "proved": true}``. A job shop is
given to PyJobShop as a file of the format of flexible job shops, the only one for shops that it reads.
"""

from __future__ import annotations

import argparse
import json
from typing import Any


def with_pyjobshop(kind: str, file: str, seconds: float, threads: int) -> dict[str, Any]:
    """Return the objective and whether it is proved, by PyJobShop on OR-Tools."""
    from pyjobshop import read, solve  # type: ignore[import-not-found]

    data = read(file, "psplib" if kind == "rcpsp" else "fjsplib")
    result = solve(data, solver="ortools", time_limit=seconds, num_workers=threads, display=False)
    return {"objective": float(result.objective), "proved": result.status.value == "Optimal"}


def with_schedlab(kind: str, file: str, seconds: float, threads: int) -> dict[str, Any]:
    """Return the objective and whether it is proved, by schedlab on CP-SAT."""
    import schedlab as sl

    reader = {"jsp": sl.read_jsplib, "fjsp": sl.read_fjsplib, "rcpsp": sl.read_psplib}[kind]
    result = sl.solve(reader(file), method="cpsat:modes", time_limit=seconds, threads=threads, seed=1)
    return {"objective": result.objective, "proved": result.status == "optimal"}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("options", type=json.loads, help="the JSON object")
    given = parser.parse_args().options
    run = {"pyjobshop": with_pyjobshop, "schedlab": with_schedlab}[given.pop("package")]
    print(json.dumps(run(**given)))
