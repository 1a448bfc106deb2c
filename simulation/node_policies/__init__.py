"""Node policies: which nodes are switched off and on during a replay."""

from .following import FollowProfile
from .plain import AlwaysOn, Idle
from .policy import NodeDecision, NodeMoment, NodePolicy
from .switching import BOOTING, OFF, ON, SHUTTING_DOWN, STATE_NAMES, Switching

__all__ = [
    "BOOTING",
    "OFF",
    "ON",
    "SHUTTING_DOWN",
    "STATE_NAMES",
    "AlwaysOn",
    "FollowProfile",
    "Idle",
    "NodeDecision",
    "NodeMoment",
    "NodePolicy",
    "Switching",
]
