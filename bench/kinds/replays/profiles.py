"""The desired use and the power cap of a replay, from its settings: reading, and the check of a record."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....instances.files.own_files import content_of
from ....instances.files.profile_file import read_profile, read_wishes
from ....instances.kinds.dispatch import DESIRED
from ....instances.registry import folder_of
from ....models.platform import Platform
from ....models.profiles import DesiredProfile, power_cap
from ...errors import WrongUse
from ...runs.replay_settings import ReplaySettings

if TYPE_CHECKING:
    from ....simulation.result import Simulation
    from ....simulation.verify.runs import Replay
    from .case import ReplayCase

UNITS = {"": 1.0, "w": 1.0, "kw": 1e3, "mw": 1e6}
POWER = re.compile(r"(\d+(?:\.\d+)?(?:e\d+)?)\s*([a-z]*)", re.IGNORECASE)


def parse_caps(text: str | None) -> tuple[float, ...]:
    """Return the watts of --power-cap: powers separated by commas, such as 700kW,650kW. Raises WrongUse.

    Examples
    --------
    >>> parse_caps("0.7MW, 650kW,500"), parse_caps(None)
    ((700000.0, 650000.0, 500.0), ())
    """
    found = []
    for part in () if text is None else text.split(","):
        parts = POWER.fullmatch(part.strip())
        if parts is None or parts[2].lower() not in UNITS or float(parts[1]) <= 0:
            raise WrongUse(f"--power-cap {part.strip():.60}: expected a power above 0 such as 600kW, 1.2MW or 500W")
        found.append(float(parts[1]) * UNITS[parts[2].lower()])
    return tuple(dict.fromkeys(found))


def own_desired(path: str) -> str | None:
    """Return the file of the desired use in the folder of an instance; None if there is none."""
    file = folder_of(path) / DESIRED
    return str(file) if isfile(file) else None


def check_desired(replay: ReplaySettings) -> str | None:
    """Return the hash of the file of --desired, None without one. Raises InstanceError, WorkloadError for a faulty file."""
    if replay.desired is None:
        return None
    read_wishes(replay.desired)
    return content_of(Path(replay.desired))


def desired_of(replay: ReplaySettings, platform: Platform) -> DesiredProfile | None:
    """Return the desired use of the settings. Raises ValueError, also if the file has been changed since."""
    if replay.desired is None:
        return None
    if content_of(Path(replay.desired)) != replay.desired_content:
        raise WrongUse(f"--desired {replay.desired}: the file was changed after the replay")
    return read_profile(replay.desired, platform)


def limits_of(replay: ReplaySettings, platform: Platform, dispatcher: str) -> tuple[DesiredProfile, ...]:
    """Return the profiles to which the starts of a dispatcher must keep, for the check of a record."""
    from ....simulation.policies.registry import parse_dispatcher

    found = []
    desired = desired_of(replay, platform)
    if desired is not None and parse_dispatcher(dispatcher).within_profile:
        found.append(desired)
    if replay.power_cap is not None:
        found.append(power_cap(platform, replay.power_cap))
    return tuple(found)


def check_limits(case: ReplayCase, caps: Sequence[float]) -> None:
    """Check the desired use and the power caps against the workload, before any replay.

    Raises
    ------
    WrongUse
        If the desired use covers nothing of the workload, or a cap cannot be enforced; the message says why.
    """
    from ....simulation.features import limits

    if case.desired is None and not caps:
        return
    workload, platform = case.workload, case.platform
    try:
        limits.desired_of(case.desired, platform, workload)
        for cap in caps:
            limits.check_power(workload, power_cap(platform, cap))
    except ValueError as e:
        raise WrongUse(f"{'--power-cap' if caps else '--desired'}: {e}") from e


def figures_of(replay: Replay, desired: DesiredProfile | None) -> dict[str, float | None]:
    """Return the figures of a replay beside its desired use, and its greatest power, by their names in records."""
    from ....simulation.desired.figures import desired_figures, power_peak

    found = desired_figures(replay, desired)
    flat = {f"desired_{what}_{name}": value for what, of in found.items() for name, value in of.items()}
    return {**flat, "power_peak": power_peak(replay)}


def use_of(simulation: Simulation) -> Mapping[str, Any] | None:
    """Return the use and the desired use of the machine over time, for the plots of a record; None without a profile.

    The curves have at most ``MOST`` steps: means over equal intervals.
    """
    from ....simulation.desired.figures import mean_curves

    found = mean_curves(simulation, MOST)
    return found or None


MOST = 400  # steps of a curve in a record
