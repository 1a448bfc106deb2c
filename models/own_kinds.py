"""The registration of the kinds of problems of schedlab."""

from __future__ import annotations

from .dispatch.problem import Dispatch
from .eviction.problem import Eviction
from .kind import ProblemKind
from .knapsack import Knapsack
from .model_problem import ModelProblem
from .profit.problem import Profit
from .project.problem import Project, ProjectMax

DISPATCH = ProblemKind(
    "dispatch",
    Dispatch,
    reader="..instances.files.dispatch_folder:read",
    writer="..instances.files.dispatch_folder:write",
    start="multi-search",
    portfolio="..methods.portfolio:dispatch_steps",
    solver_warm_up=("..heuristics.list_scheduling:warm_up_moves",),
    solver_warm_up_late=(
        "..heuristics.list_scheduling:warm_up_late",
        "..heuristics.list_scheduling:warm_up_moves_late",
    ),
    allocator="..heuristics.allocation:Allocator",
    elements=".dispatch.display:DispatchElements",
    bench="..bench.kinds.dispatch:DISPATCH",
    formulations=("counts", "units", "classes", "pool"),
    gantt=".dispatch.display:gantt",
    rows=".dispatch.display:rows",
    columns=("job", "queue", "user", "submit", "start", "end", "wait", "duration", "units", "nodes", "node_list"),
)

PROFIT = ProblemKind(
    "profit",
    Profit,
    reader="..instances.files.profit_folder:read",
    writer="..instances.files.profit_folder:write",
    start="multi-search",
    portfolio="..methods.portfolio:profit_steps",
    warm_up=(".profit.formulations:warm_up",),
    solver_warm_up=("..heuristics.list_scheduling:warm_up_moves",),
    solver_warm_up_late=(
        "..heuristics.list_scheduling:warm_up_late",
        "..heuristics.list_scheduling:warm_up_moves_late",
    ),
    allocator="..heuristics.allocation:Allocator",
    elements=".profit.problem:ProfitElements",
    formulations=("counts", "units", "classes", "pool", "fluid"),
    bench="..bench.kinds.profit:PROFIT",
    gantt=".profit.problem:gantt",
    rows=".profit.problem:rows",
    columns=(
        "job",
        "queue",
        "user",
        "submit",
        "start",
        "end",
        "wait",
        "duration",
        "units",
        "nodes",
        "node_list",
        "watts",
    ),
)

EVICTION = ProblemKind(
    "eviction",
    Eviction,
    reader="..instances.files.eviction_folder:read",
    writer="..instances.files.eviction_folder:write",
    start="greedy",
    portfolio="..methods.portfolio:eviction_steps",
    solver_warm_up=("..heuristics.eviction:warm_up",),
    elements=".eviction.display:EvictionElements",
    formulations=("serial", "shared"),
    bench="..bench.kinds.eviction:EVICTION",
    gantt=".eviction.display:gantt",
    rows=".eviction.display:rows",
    columns=("job", "strategy", "start", "nodes", "writes", "end", "loss"),
)

PROJECT = ProblemKind(
    "project",
    Project,
    reader="..instances.files.project_folder:read",
    writer="..instances.files.project_folder:write",
    start="multi-sgs",
    portfolio="..methods.portfolio:project_steps",
    allocator="..heuristics.project.serial_sgs:ProjectAllocator",
    bound="..heuristics.project.bound_for_solvers:bound_for_solvers",
    bound_warm_up="..heuristics.project.bound_for_solvers:warm_up_for_solvers",
    elements=".project.display:elements",
    formulations=("modes",),
    bench="..bench.kinds.project:PROJECT",
    gantt=".project.display:gantt",
    rows=".project.display:rows",
    columns=("job", "mode", "start", "end", "duration", "demands", "nodes"),
)

PROJECT_MAX = ProblemKind(
    "project-max",
    ProjectMax,
    bound="..heuristics.project.bound_for_solvers:bound_for_solvers",
    bound_warm_up="..heuristics.project.bound_for_solvers:warm_up_for_solvers",
    formulations=("modes",),
    bench="..bench.kinds.project:PROJECT_MAX",
    gantt=".project.display:gantt",
    rows=".project.display:rows",
    columns=("job", "mode", "start", "end", "duration", "demands", "nodes"),
)

KNAPSACK = ProblemKind("knapsack", Knapsack, bench="..bench.kinds.plain:KNAPSACK", formulations=("items",))

MODEL = ProblemKind("model", ModelProblem, bench="..bench.kinds.plain:MODEL", formulations=("model",))
