"""Every method returns within its time limit plus 5 % or 0.5 s; ``known/time_limits.py`` walks all of them."""

import limit_walk
import pytest
import schedlab as sl
from schedlab.backends import solver_thread
from schedlab.models import Deadline

HERE = sl.backends.available()
CASES = [
    ("eurora_700", "multi-search"),
    ("eurora_700", "delay-search"),
    ("eurora_700", "relaxation-search@cpsat"),
    ("eurora_700", "lns"),
    ("eurora_700", "cpsat:units"),
    ("eurora_700", "cpsat:pool+warm"),
    ("eurora_700", "highs:pool@600s..36000s-energy"),
    ("eurora_330", "highs:pool@60s..3600s-lp"),
    ("eurora_99", "highs:pool@pairwise"),
    ("eurora_99", "cpo:pool"),
    ("profit_medium", "lns@highs"),
    ("profit_medium", "cpsat:fluid"),
    ("profit_small", "highs:classes@lp"),
    ("profit_small", "pyomo:pool@pairwise"),
    ("project_small", "cpsat:modes"),
    ("project_small", "highs:modes@pairwise"),
    ("project_small", "multi-sgs"),
    ("theta_24", "backtracking"),
    ("theta_24", "dp"),
    ("theta_24", "cpsat:serial"),
    ("theta_24", "highs:serial@pairwise"),
]
SECONDS = 0.2


@pytest.mark.parametrize(("name", "method"), CASES)
def test_a_method_keeps_its_limit(name, method):
    backend = method.partition(":")[0]
    if backend in HERE and not HERE[backend].ok:
        pytest.skip(f"{backend}: {HERE[backend].reason}")
    found = limit_walk.patiently(limit_walk.problem(name), method, SECONDS)
    assert not isinstance(found.result, Exception), found
    assert found.kept or found.excused, found


@pytest.mark.parametrize(("limit", "grace"), [(0.1, 0.3), (20.0, 0.8), (1000.0, 3.0)])
def test_a_solver_gets_less_than_the_tolerance_to_stop(limit, grace):
    """A long run may exceed its limit by 5 %: its solver gets longer to stop, as an abandoned one holds memory."""
    assert solver_thread.grace(limit) == pytest.approx(grace) and grace < max(0.5, 0.05 * limit)


def test_a_solver_that_does_not_stop_does_not_exceed_the_limit():
    class Owner:
        pass

    watch = sl.backends.driver.Recorder(m := sl.Model("m"), m, sl.backends.Exactness(), Deadline(), None, None)
    limits = sl.backends.Limits(0.2)
    end = limit_walk.threading.Event()
    outcome = solver_thread.run_in_thread(Owner(), lambda _: end.wait(30), lambda: None, watch, limits)
    left_running = outcome.running  # false if the call waited for the 30 s
    end.set()
    assert left_running
