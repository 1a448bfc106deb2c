"""Energy accounts of a replay, recomputed from its jobs and the states of its nodes."""

from .accounts import Centre, EnergyAccount, account, at_the_end, daily
from .power import BOOTING, OFF, SHUTTING_DOWN, Machine, NodeStates, Power, Runs, power_of
from .replays import ReplayEnergy, replay_energy

__all__ = [
    "BOOTING",
    "OFF",
    "SHUTTING_DOWN",
    "Centre",
    "EnergyAccount",
    "Machine",
    "NodeStates",
    "Power",
    "ReplayEnergy",
    "Runs",
    "account",
    "at_the_end",
    "daily",
    "power_of",
    "replay_energy",
]
