"""Checks of the options of replays with respect to the dispatchers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....backends import UnknownName
from ....models.dispatch.objectives import objective_names
from ...errors import WrongUse
from ...runs.replay_settings import OFF, ReplaySettings

if TYPE_CHECKING:
    from ....simulation.policies.registry import Named


def check_limits(replay: ReplaySettings, caps: Sequence[float], dispatchers: Sequence[Named]) -> None:
    """Raise WrongUse if a dispatcher lacks the desired use that it keeps to, or cannot keep to a power cap."""
    from ....simulation.policies.policy import POLICIES, WITHIN_PROFILE

    lacking = [d.text for d in dispatchers if d.needs_profile]
    if lacking and replay.desired is None:
        raise WrongUse(f"{lacking[0]}: keeps to a desired use; give its file with --desired FILE")
    free = [d.text for d in dispatchers if d.dispatcher not in {**POLICIES, **WITHIN_PROFILE}]
    if caps and free:
        raise WrongUse(f"--power-cap: policies such as easy keep to it, but {free[0]} chooses its starts itself")
    if replay.watts_per_core is not None and not 0 < replay.watts_per_core < float("inf"):
        raise WrongUse(f"--watts-per-core {replay.watts_per_core}: expected a number above 0, such as 12.5")


def checked_users(text: str, dispatchers: Sequence[Named]) -> str | None:
    """Return the hash of the source of a third party's users. Raises UnknownName, PluginError, WrongUse."""
    from ....simulation.users.registry import users_of, users_source

    users_of(text)
    comparing = [d.text for d in dispatchers if d.predictor == "data-driven"]
    if comparing:
        raise WrongUse(
            f"--users {text}: not possible with {comparing[0]}, whose predictor compares the walltimes of the log; "
            "use the predictor -w, -l or -r"
        )
    return users_source(text)


def check_objective(objective: str | None, dispatchers: Sequence[Named]) -> None:
    """Raise UnknownName or WrongUse if there is no such objective, or no dispatcher that the option concerns."""
    if objective is None:
        return
    if objective not in objective_names():
        raise UnknownName("objective", objective, list(objective_names()))
    if not any(d.backend is not None and d.objective is None for d in dispatchers):
        raise WrongUse(
            f"--objective {objective}: only for dispatchers with a solver whose name has no objective, such as pcp3@cpsat; "
            f"none of {', '.join(d.text for d in dispatchers)} is one"
        )


def check_stretch(max_stretch: float | str | None, dispatchers: Sequence[Named]) -> None:
    """Raise WrongUse if a dispatcher with a solver cannot obey --max-stretch."""
    from ....simulation.policies.registry import PRODUCTION

    lacking = [d.text for d in dispatchers if d.dispatcher in PRODUCTION]
    if lacking and max_stretch not in (None, OFF):
        raise WrongUse(
            f"--max-stretch {max_stretch}: for pcp and hcp only; {lacking[0]} has no reservations; leave it out"
        )
