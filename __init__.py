"""schedlab: declare HPC scheduling problems once, solve them by CP-SAT, HiGHS or CP Optimizer, verify every answer.

>>> import schedlab as sl
>>> m = sl.Model("two jobs")
>>> a, b = m.interval("a", size=3), m.interval("b", size=4)
>>> m.add(sl.no_overlap([a, b]))
>>> m.minimize(sl.max([a.end, b.end]))
>>> sl.solve(m, backend="cpsat").objective
7
"""

from typing import TYPE_CHECKING

from . import backends, methods
from .backends import Conflict, Incumbent, LoweringTooLarge, Result, SolverUnavailable, UnknownName
from .backends import compile as compile  # an attribute, not part of __all__: it would shadow a builtin
from .composite import Composite, composite
from .errors import SchedlabError, WrongArgument, WrongValue
from .explain import explain
from .later import names_later
from .models.language import (
    Assignment,
    Integer,
    Interval,
    Model,
    ModelError,
    all_different,
    all_of,
    all_or_none,
    alternative,
    always_constant,
    always_equal,
    always_in,
    any_of,
    at_end,
    at_start,
    breaks,
    count,
    cumulative,
    element,
    end_before_end,
    end_before_start,
    forbid_end,
    forbid_extent,
    forbid_start,
    holds,
    implies,
    in_domain,
    intensity,
    isomorphism,
    no_overlap,
    overlap,
    piecewise,
    positive_part,
    product,
    pulse,
    quotient,
    remainder,
    same_sequence,
    sequence,
    span,
    start_before_end,
    start_before_start,
    state_function,
    step_at,
    synchronize,
    table,
)
from .models.language import max as max
from .models.language import min as min
from .models.language import sum as sum
from .models.problem import Value
from .solve import solve

if TYPE_CHECKING:
    from .bench import read_results
    from .heuristics import delay_search, first_solution, multi_search, relaxation_search, trade_off
    from .heuristics.lns.search import lns
    from .instances import Instance, InstanceError, Workload, WorkloadError, load, read_swf, read_trace
    from .instances.formats.projects import read_mmlib, read_patterson, read_psplib
    from .instances.formats.shops import read_fjsplib, read_jsplib
    from .models import (
        BatchJob,
        Checkpointing,
        Cooling,
        DesiredProfile,
        Dispatch,
        Eviction,
        EvictionCandidate,
        EvictionPlan,
        Job,
        Mode,
        NodeGroup,
        Platform,
        Problem,
        ProblemError,
        Profit,
        Project,
        Queue,
        Resource,
        Running,
        Schedule,
        StepFunction,
        Task,
    )
    from .models.elements import Explanation
    from .models.kind import register_formulation
    from .models.profit.guide import Guide
    from .models.profit.problem import account
    from .simulation.dispatchers.policy import Policy
    from .simulation.errors import SimulationError
    from .simulation.result import Simulation
    from .simulation.simulator import simulate

__version__ = "0.1.0"
LATER = {  # module: its names
    "bench.records.store": ("read_results",),
    "heuristics": ("delay_search", "first_solution", "multi_search", "relaxation_search", "trade_off"),
    "heuristics.lns.search": ("lns",),
    "instances": ("Instance", "InstanceError", "Workload", "WorkloadError", "load", "read_swf", "read_trace"),
    "instances.formats.projects": ("read_mmlib", "read_patterson", "read_psplib"),
    "instances.formats.shops": ("read_fjsplib", "read_jsplib"),
    "models": (
        "BatchJob",
        "Checkpointing",
        "Cooling",
        "DesiredProfile",
        "Dispatch",
        "Eviction",
        "EvictionCandidate",
        "EvictionPlan",
        "Job",
        "Mode",
        "NodeGroup",
        "Platform",
        "Problem",
        "ProblemError",
        "Profit",
        "Project",
        "Queue",
        "Resource",
        "Running",
        "Schedule",
        "StepFunction",
        "Task",
    ),
    "models.elements": ("Explanation",),
    "models.kind": ("register_formulation",),
    "models.profit.guide": ("Guide",),
    "models.profit.problem": ("account",),
    "simulation.dispatchers.policy": ("Policy",),
    "simulation.errors": ("SimulationError",),
    "simulation.result": ("Simulation",),
    "simulation.simulator": ("simulate",),
}
PACKAGES = ("backends", "bench", "heuristics", "instances", "methods", "simulation")


__getattr__ = names_later(__name__, LATER, PACKAGES)  # readers of files take 0.1 s to import, numba 0.5 s


def __dir__() -> list[str]:
    """Return the public names, those that are imported when they are first used included."""
    return sorted({*__all__, "compile", "max", "min", "sum", *PACKAGES, "models", "errors", "__version__", "__doc__"})


__all__ = [
    "Assignment",
    "BatchJob",
    "EvictionCandidate",
    "Checkpointing",
    "Composite",
    "Conflict",
    "Cooling",
    "DesiredProfile",
    "Dispatch",
    "Eviction",
    "EvictionPlan",
    "Explanation",
    "Guide",
    "Incumbent",
    "Instance",
    "Integer",
    "Interval",
    "InstanceError",
    "Job",
    "LoweringTooLarge",
    "Model",
    "ModelError",
    "Mode",
    "Resource",
    "Task",
    "NodeGroup",
    "Platform",
    "Policy",
    "Problem",
    "ProblemError",
    "Profit",
    "Project",
    "Queue",
    "Result",
    "Running",
    "SchedlabError",
    "Schedule",
    "StepFunction",
    "Simulation",
    "SimulationError",
    "SolverUnavailable",
    "UnknownName",
    "Value",
    "Workload",
    "WorkloadError",
    "WrongArgument",
    "WrongValue",
    "account",
    "all_different",
    "all_of",
    "all_or_none",
    "alternative",
    "always_constant",
    "always_equal",
    "always_in",
    "any_of",
    "at_end",
    "at_start",
    "breaks",
    "backends",
    "composite",
    "count",
    "cumulative",
    "delay_search",
    "element",
    "end_before_end",
    "end_before_start",
    "explain",
    "first_solution",
    "forbid_end",
    "forbid_extent",
    "forbid_start",
    "holds",
    "implies",
    "in_domain",
    "intensity",
    "isomorphism",
    "lns",
    "load",
    "methods",
    "multi_search",
    "no_overlap",
    "overlap",
    "piecewise",
    "positive_part",
    "product",
    "pulse",
    "quotient",
    "read_fjsplib",
    "read_jsplib",
    "read_mmlib",
    "read_patterson",
    "read_psplib",
    "read_results",
    "read_swf",
    "read_trace",
    "register_formulation",
    "relaxation_search",
    "remainder",
    "same_sequence",
    "sequence",
    "span",
    "simulate",
    "solve",
    "start_before_end",
    "start_before_start",
    "state_function",
    "step_at",
    "synchronize",
    "table",
    "trade_off",
]
