"""Methods as typed objects and as text: a heuristic, or a solver with a formulation, a lowering, a start and parameters.

======================================  ================================================================================
``auto``                                the portfolio of the problem's kind
``multi-search``, ``lns``, ``dp``       a heuristic
``first-solution:est``, ``rule:wt``     a heuristic with an argument
``lns@cpsat:rounds=30``                 a heuristic with a backend and an option
``cpsat:counts``, ``cpo:pool``          a formulation on CP-SAT, on CP Optimizer
``cpsat:classes+warm``                  with a warm start: the usual heuristic of this kind of problem
``cpsat:classes+warm=lns/5s``           with a warm start by ``lns``, 5 s of the time limit
``cpsat:counts:num_workers=1``          with parameters of the solver, by its own names
``highs:pool@900s``                     with a lowering of the linear backends, see ``schedlab.methods.text``
``highs@pairwise``                      for a model, which needs no formulation
======================================  ================================================================================

Each class gives the same text by ``text``; `parse_method` gives the object of a text.
"""

from typing import TYPE_CHECKING

from ..heuristics.method import Heuristic, Method, Parameters, Start
from ..later import names_later
from .text import (
    Auto,
    CpOptimizer,
    CpSat,
    Highs,
    LinearMethod,
    Pyomo,
    SolverMethod,
    all_classes,
    method_class,
    parse_method,
    parse_start,
)

if TYPE_CHECKING:
    from ..heuristics.own import (
        Backtracking,
        Bounds,
        BranchAndBound,
        DelaySearch,
        DynamicProgram,
        FirstSolution,
        Greedy,
        Lagrangian,
        Lns,
        MultiSearch,
        MultiSgs,
        RelaxationSearch,
        Rule,
        SerialSgs,
    )

__all__ = [
    "Auto",
    "Backtracking",
    "BranchAndBound",
    "Bounds",
    "CpOptimizer",
    "CpSat",
    "DelaySearch",
    "DynamicProgram",
    "FirstSolution",
    "Greedy",
    "Heuristic",
    "Highs",
    "LinearMethod",
    "Lagrangian",
    "Lns",
    "Method",
    "MultiSearch",
    "MultiSgs",
    "Parameters",
    "Pyomo",
    "RelaxationSearch",
    "Rule",
    "SerialSgs",
    "SolverMethod",
    "Start",
    "all_classes",
    "method_class",
    "parse_method",
    "parse_start",
]

# the heuristics take 5 ms to import; a solver of a model needs none of them
__getattr__ = names_later(
    __name__,
    {
        ".heuristics.own": (
            "Backtracking",
            "Bounds",
            "BranchAndBound",
            "DelaySearch",
            "DynamicProgram",
            "FirstSolution",
            "Greedy",
            "Lagrangian",
            "Lns",
            "MultiSearch",
            "MultiSgs",
            "RelaxationSearch",
            "Rule",
            "SerialSgs",
        )
    },
)


def __dir__() -> list[str]:
    """Return the public names, those that are imported when they are first used included."""
    return sorted(__all__)
