"""The node policy of the hybrid: nodes follow the profile of its last plan."""

from __future__ import annotations

from ...models import DesiredProfile, Platform
from ...models.excerpt import with_short_repr
from ...models.profiles import flat
from ..node_policies.following import FollowProfile
from ..node_policies.switching import Switching


@with_short_repr
class FollowPlan(FollowProfile):
    """Follow the profile of a plan, which the dispatcher sets (``desired``); until then all nodes stay on."""

    name = "hybrid"

    def begin(self, platform: Platform, switching: Switching, desired: DesiredProfile | None) -> None:
        """Keep all nodes on; the desired profile of the replay is for its metrics only."""
        super().begin(platform, switching, flat(platform, 1.0))
