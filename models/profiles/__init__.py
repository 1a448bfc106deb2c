"""Desired profiles of use: how much of each resource an administrator wishes to be in use over time.

Examples
--------
>>> from schedlab.models import NodeGroup, Platform
>>> platform = Platform([NodeGroup("n", 300, {"cores": 32, "memory": 128000})])
>>> profile = daily(platform, {"08:00": 0.6, "20:00": 1.0})
>>> [profile.amount("n", "cores", hour * 3600) for hour in (0, 8, 20, 24 + 8)]
[32.0, 19.2, 32.0, 19.2]
"""

from .builders import Wish, daily, flat, from_schedule, from_temperature, power_cap, profile_of
from .extraction import extracted, joined, nodes_on, use_of
from .profile import DesiredProfile, ProfileArrays, Steps

__all__ = [
    "DesiredProfile",
    "ProfileArrays",
    "Steps",
    "Wish",
    "daily",
    "extracted",
    "flat",
    "from_schedule",
    "from_temperature",
    "joined",
    "nodes_on",
    "power_cap",
    "profile_of",
    "use_of",
]
