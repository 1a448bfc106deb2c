"""Replays of job logs: ``simulate``, dispatchers and their protocol, features of a replay, results and their check."""

from typing import TYPE_CHECKING

from ..later import names_later

if TYPE_CHECKING:
    from .dardis.dispatcher import Dardis
    from .dispatcher import Decision, Dispatcher, FailedStart, Moment, PlannedStart, Start
    from .features.requeue import Requeue, requeue_of
    from .hybrid.dispatcher import Hybrid
    from .hybrid.planned import Planned
    from .node_policies.policy import NodeDecision, NodeMoment, NodePolicy
    from .node_policies.registry import node_policy_of
    from .node_policies.switching import Switching
    from .outputs.attempts import read_attempts, write_attempts
    from .outputs.reading import JobsError, JobsTable, read_jobs
    from .outputs.writing import write_jobs
    from .policies.cp.dispatcher import CPDispatcher
    from .policies.policy import POLICIES, Policy
    from .policies.production.cycle import CPModel
    from .policies.production.portfolio import Portfolio
    from .policies.registry import check_dispatcher, dispatchers, is_dispatcher, parse_dispatcher
    from .predictors.predictor import Predictor
    from .predictors.registry import predictor_of
    from .preemption.checkpoints import CheckpointModel, checkpoints_of
    from .preemption.evictors import Evictor, evictor_of
    from .preemption.jobs import OnDemandJob
    from .preemption.settings import Preemption
    from .rankers.ranker import Ranker
    from .rankers.registry import parse_ranker
    from .result import Decisions, NodeRanges, Simulation, SimulationError
    from .shadow.decide import decide
    from .simulator import simulate
    from .users.registry import users_of
    from .users.users import Users
    from .verification import violations

LATER = {  # module: its names
    "dardis.dispatcher": ("Dardis",),
    "dispatcher": ("Decision", "Dispatcher", "FailedStart", "Moment", "PlannedStart", "Start"),
    "result": ("Decisions", "NodeRanges", "Simulation", "SimulationError"),
    "simulator": ("simulate",),
    "features.requeue": ("Requeue", "requeue_of"),
    "verification": ("violations",),
    "hybrid.dispatcher": ("Hybrid",),
    "hybrid.planned": ("Planned",),
    "node_policies.policy": ("NodeDecision", "NodeMoment", "NodePolicy"),
    "node_policies.registry": ("node_policy_of",),
    "node_policies.switching": ("Switching",),
    "outputs.attempts": ("read_attempts", "write_attempts"),
    "outputs.reading": ("JobsError", "JobsTable", "read_jobs"),
    "outputs.writing": ("write_jobs",),
    "policies.cp.dispatcher": ("CPDispatcher",),
    "policies.policy": ("POLICIES", "Policy"),
    "policies.production.cycle": ("CPModel",),
    "policies.production.portfolio": ("Portfolio",),
    "policies.registry": ("check_dispatcher", "dispatchers", "is_dispatcher", "parse_dispatcher"),
    "predictors.predictor": ("Predictor",),
    "predictors.registry": ("predictor_of",),
    "preemption.checkpoints": ("CheckpointModel", "checkpoints_of"),
    "preemption.evictors": ("Evictor", "evictor_of"),
    "preemption.jobs": ("OnDemandJob",),
    "preemption.settings": ("Preemption",),
    "rankers.ranker": ("Ranker",),
    "rankers.registry": ("parse_ranker",),
    "shadow.decide": ("decide",),
    "users.registry": ("users_of",),
    "users.users": ("Users",),
}
__getattr__ = names_later(__name__, LATER)
__all__ = [
    "CPDispatcher",
    "CPModel",
    "CheckpointModel",
    "Dardis",
    "Decision",
    "Decisions",
    "Dispatcher",
    "Evictor",
    "FailedStart",
    "Hybrid",
    "JobsError",
    "JobsTable",
    "Moment",
    "NodeDecision",
    "NodeMoment",
    "NodePolicy",
    "NodeRanges",
    "OnDemandJob",
    "POLICIES",
    "Planned",
    "PlannedStart",
    "Policy",
    "Portfolio",
    "Predictor",
    "Preemption",
    "Ranker",
    "Requeue",
    "Simulation",
    "SimulationError",
    "Start",
    "Switching",
    "Users",
    "check_dispatcher",
    "checkpoints_of",
    "decide",
    "dispatchers",
    "evictor_of",
    "is_dispatcher",
    "node_policy_of",
    "parse_dispatcher",
    "parse_ranker",
    "predictor_of",
    "read_attempts",
    "read_jobs",
    "requeue_of",
    "simulate",
    "users_of",
    "violations",
    "write_attempts",
    "write_jobs",
]


def __dir__() -> list[str]:
    """Return the public names, those that are imported when they are first used included."""
    return sorted(__all__)
