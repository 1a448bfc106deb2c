"""A part of the frozen replays, and replays of which there was none before the features combined."""

import pytest
from simulation.frozen_replays import differences, names, replay

SMALL = [name for name in names() if name.startswith("small/") and "@" not in name]


def test_replays_are_the_frozen_ones() -> None:
    assert len(SMALL) > 500
    assert differences(SMALL[::10]) == []


@pytest.mark.parametrize("feature", ["reserve", "evict-dp", "failures", "reservations", "outage"])
def test_a_model_within_a_profile_plans_beside_what_is_kept_free(feature: str) -> None:
    run = replay(f"small/hcp3-profile@cpsat/{feature}")
    assert run.violations == [] and (run.start >= 0).sum() >= len(run.workload) - 1
