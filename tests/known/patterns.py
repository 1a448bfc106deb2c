"""Crews, machines, masters and points (``make known``): every backend, with 1, 2 and 8 threads, agrees with enumeration."""

import pytest
import schedlab as sl
from schedlab.backends import Limits
from schedlab.backends.conformance import PATTERNS, Contender, RandomPattern, brute_force, judge

pytestmark = pytest.mark.known
LABELS = ("cpsat", "highs:pairwise", "highs:time-indexed", "pyomo", "cpo")  # Pyomo cannot be imported after docplex


@pytest.mark.parametrize("threads", [1, 2, 8])
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("label", LABELS)
def test_patterns(label: str, pattern: str, threads: int) -> None:
    contender = Contender(label)
    if not sl.backends.available()[contender.backend].ok:
        pytest.skip(f"{contender.backend} is not installed")
    for seed in range(150 if label == "cpsat" else 30):
        m = RandomPattern(pattern, seed).model
        wrong = judge(m, brute_force(m), contender.solve(m, Limits(time=60, threads=threads, seed=seed)))
        assert wrong == [], f"{pattern} {seed}"
