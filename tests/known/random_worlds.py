"""2,000 random worlds with two or three features, each under eight of all dispatchers, in turns; the suite has a part of them.

All pairs of worlds and dispatchers: ``python -m simulation.random_worlds --count 2000`` in the folder ``tests``.
"""

import pytest
from simulation.random_worlds import check, draw_of, excluded, names

pytestmark = pytest.mark.known

EACH = 8


@pytest.mark.parametrize("first", range(0, 2000, 100))
def test_replays_of_random_worlds_have_no_fault(first):
    every = names()
    for seed in range(first, first + 100):
        for name in (every[(seed * EACH + k) % len(every)] for k in range(EACH)):
            draw = draw_of(seed)
            if not excluded(name, draw):
                assert check(draw, name) == [], (
                    f"python -m simulation.random_worlds --first {seed} --count 1 --only {name}"
                )
