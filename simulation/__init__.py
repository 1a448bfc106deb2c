"""Replays of job logs: ``simulate``, dispatchers and their protocol, features of a replay, results and their check."""

from typing import TYPE_CHECKING

from ..later import names_later

if TYPE_CHECKING:
    from .agenda import Rank
    from .dispatcher import Decision, Dispatcher, FailedStart, Moment, PlannedStart, Start
    from .dispatchers.cp.dispatcher import CPDispatcher
    from .dispatchers.dardis.dispatcher import Dardis
    from .dispatchers.hybrid import Hybrid, Planned
    from .dispatchers.policy import POLICIES, Policy
    from .dispatchers.production import CPModel, Portfolio
    from .dispatchers.registry import check_dispatcher, dispatcher_names, is_dispatcher, parse_dispatcher
    from .errors import SimulationError
    from .features.feature import Feature
    from .node_policies import NodeDecision, NodeMoment, NodePolicy, Switching, node_policy_of
    from .outputs import JobsError, JobsTable, read_attempts, read_jobs, write_attempts, write_jobs
    from .predictors import Predictor, predictor_of
    from .preemption import (
        CheckpointModel,
        Evictor,
        OnDemandJob,
        Preemption,
        Requeue,
        checkpoints_of,
        evictor_of,
        requeue_of,
    )
    from .rankers import Ranker, parse_ranker
    from .records import Decisions, NodeRanges, ReplayData, attempts_of
    from .result import Simulation
    from .settings import FEATURES, setting
    from .shadow import decide
    from .simulator import simulate
    from .slurm.calibration import Calibration, calibrate
    from .users import Users, users_of
    from .verify import violations

LATER = {  # module: its names
    "slurm.calibration": ("Calibration", "calibrate"),
    "agenda": ("Rank",),
    "dispatcher": ("Decision", "Dispatcher", "FailedStart", "Moment", "PlannedStart", "Start"),
    "dispatchers.cp.dispatcher": ("CPDispatcher",),
    "dispatchers.dardis.dispatcher": ("Dardis",),
    "dispatchers.hybrid": ("Hybrid", "Planned"),
    "dispatchers.policy": ("POLICIES", "Policy"),
    "dispatchers.production": ("CPModel", "Portfolio"),
    "dispatchers.registry": ("check_dispatcher", "dispatcher_names", "is_dispatcher", "parse_dispatcher"),
    "errors": ("SimulationError",),
    "features.feature": ("Feature",),
    "node_policies": ("NodeDecision", "NodeMoment", "NodePolicy", "Switching", "node_policy_of"),
    "outputs": ("JobsError", "JobsTable", "read_attempts", "read_jobs", "write_attempts", "write_jobs"),
    "predictors": ("Predictor", "predictor_of"),
    "preemption": (
        "CheckpointModel",
        "Evictor",
        "OnDemandJob",
        "Preemption",
        "Requeue",
        "checkpoints_of",
        "evictor_of",
        "requeue_of",
    ),
    "rankers": ("Ranker", "parse_ranker"),
    "records": ("Decisions", "NodeRanges", "ReplayData", "attempts_of"),
    "result": ("Simulation",),
    "settings": ("FEATURES", "setting"),
    "shadow": ("decide",),
    "simulator": ("simulate",),
    "users": ("Users", "users_of"),
    "verify": ("violations",),
}
INNER = {  # the same for names that other packages of schedlab read; they are not public
    "curves": ("desired_figures", "mean_curves"),
    "dispatchers.policy": (
        "CORRECTIONS",
        "WITHIN_PROFILE",
        "by_duration",
        "by_slowdown",
        "by_submit",
        "psp",
    ),
    "metrics": ("LARGEST", "Spread", "core_hours", "size_name", "sizes_asked"),
    "outputs": ("JOB_COLUMNS", "Kind", "write_starts"),
    "shadow": ("Answer", "compare", "comparisons_to_json", "faults"),
    "slurm.calibration": ("agreement", "not_obeyed", "one_step", "priority_begin"),
    "slurm.jobs": ("SlurmAttempt", "SlurmJob", "as_submitted", "slurm_jobs"),
    "slurm.replay": ("FreeReplay", "free_replay"),
    "verify_features": ("PreemptionRules",),
}
__getattr__ = names_later(__name__, LATER, inner=INNER)
__all__ = [
    "calibrate",
    "Calibration",
    "setting",
    "attempts_of",
    "ReplayData",
    "FEATURES",
    "Feature",
    "Rank",
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
    "dispatcher_names",
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
