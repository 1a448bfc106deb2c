"""Production features: reservations with private queues, stopped queues, changed, moved and deleted jobs; their checks.

The source is [Bridi2018, 4].
"""

from .events import ServerEvent, ServerEventKind, server_event_kinds
from .reservations import Occurrence, Repeat, Reservation

__all__ = ["Occurrence", "Repeat", "Reservation", "ServerEvent", "ServerEventKind", "server_event_kinds"]
