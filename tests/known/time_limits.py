"""Every method keeps its time limit, plus 5 % or 0.5 s, on every shipped instance and a large generated one.

Run by hand on a quiet machine, as it measures wall time: ``pytest tests/known/time_limits.py -s``, or for a part
``python tests/known/time_limits.py "eurora_700,theta_24" 0.2,1 highs`` (instances, limits, a part of the method).
"""

import contextlib
import sys
from pathlib import Path

import pytest
import schedlab as sl

with contextlib.suppress(ImportError):
    import pyomo.environ  # noqa: F401  (before docplex.cp, after which it cannot be imported)

sys.path.insert(0, str(Path(__file__).parent.parent))
import limit_walk

LIMITS = (0.2, 1.0, 3.0)
INSTANCES = (*sl.instances.names(), limit_walk.LARGE)


def walk(name, limits, part=""):
    """Yield the measurements of all methods; a call that is late is repeated twice."""
    p = limit_walk.problem(name)
    for method in (*limit_walk.heuristics(p), *limit_walk.backends(p)):
        for limit in limits if part in method else ():
            found = limit_walk.patiently(p, method, limit)
            print(name, found, flush=True)
            yield found


@pytest.mark.known
@pytest.mark.parametrize("name", INSTANCES)
def test_every_method_keeps_its_limit(name):
    late = [str(m) for m in walk(name, LIMITS) if not m.kept]
    assert late == []


if __name__ == "__main__":
    names, limits, part = [*sys.argv[1:], "", "", ""][:3]
    chosen = names.split(",") if names else INSTANCES
    for name in chosen:
        given = [float(x) for x in limits.split(",") if x]
        for _ in walk(limit_walk.LARGE if name == "large" else name, given or LIMITS, part):
            pass  # each is printed
