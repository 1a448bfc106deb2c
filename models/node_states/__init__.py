"""States of nodes over time: up, down, draining, reserved; made from events such as ``node-down``.

Examples
--------
>>> from schedlab.models import NodeGroup, Platform
>>> platform = Platform([NodeGroup("n", 2, {"cores": 8})])
>>> states = NodeStates(platform, [NodeEvent(10, "node-down", ("n-1",)), NodeEvent(60, "node-up", ("n-1",))])
>>> states.at("n-1", 9), states.at("n-1", 10), states.at("n-1", 60)
('up', 'down', 'up')
"""

from .events import EventKind, NodeEvent, event_kinds, register_event_kind
from .states import NodeState, node_states, register_node_state
from .timeline import NodeStates

__all__ = [
    "EventKind",
    "NodeEvent",
    "NodeState",
    "NodeStates",
    "event_kinds",
    "node_states",
    "register_event_kind",
    "register_node_state",
]
