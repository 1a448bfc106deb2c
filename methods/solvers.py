"""The methods that solve a formulation of a problem, or a model, by a solver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..backends import UnknownName, backend
from ..backends.base import GridOption, LoweringName, Side
from ..models import Problem
from ..models.arguments import Positive, named
from ..models.comparing import hashable
from .lowerings import lowering_text
from .method import ARGUMENT, LOWERING, OPTION, PARAMETERS, START, Method, Start
from .values import Parameters, Value

MOST_NONZEROS = 20_000_000


@named
@hashable
@dataclass(frozen=True)
class SolverMethod(Method):
    """The base class of methods that use a solver; its fields come first in each of them."""

    formulation: str | None = field(default=None, metadata=ARGUMENT)
    warm_start: Start | Method | str | None = field(default=None, metadata=START)
    parameters: Mapping[str, Value] = field(default_factory=Parameters, metadata=PARAMETERS)

    @property
    def backend_name(self) -> str:
        """Name of the backend."""
        return self.name

    @property
    def compile_options(self) -> dict[str, Any]:
        """Keyword arguments of the backend's ``compile``."""
        return {name: getattr(self, name) for name in self.options() if getattr(self, name) is not None}

    @classmethod
    def obeyed(cls) -> frozenset[str]:
        """Return the start, the gap, and what the backend says."""
        more: frozenset[str] = getattr(backend(cls.name), "obeys", frozenset())
        return frozenset(("warm_start", "gap_limit")) | more

    def check(self, problem: Problem) -> None:
        """Raise UnknownName for an unknown formulation."""
        known = list(problem.formulations)
        if self.formulation is not None and self.formulation not in known:
            raise UnknownName(f"formulation of {problem.kind} problems", self.formulation, known, f" in {self.text!r}")

    def warm_up(self, problem: Problem, start: str | None = None) -> None:
        """Compile the kernels that are needed, and import the solver's package if its backend has a function for it."""
        super().warm_up(problem, start)
        load = getattr(backend(self.name), "load", None)
        if load is not None:
            load()


@named
@hashable
@dataclass(frozen=True)
class CpSat(SolverMethod):
    """OR-Tools CP-SAT.

    Parameters
    ----------
    formulation : str or None
        Name of a formulation of the problem, such as "counts"; None: its first one. None for a model.
    warm_start : str, Method, Start or None
        The heuristic to start from: ``"usual"``, a text such as ``"lns/5s"``, ``Lns()``, or ``Start(Lns(), 5)``.
    parameters : mapping of str to bool, int, float or str
        Fields of CP-SAT's ``SatParameters``, such as ``{"linearization_level": 2}``.

    Examples
    --------
    >>> import schedlab as sl
    >>> sl.methods.CpSat("counts", warm_start="lns/5s", parameters={"num_workers": 1}).text
    'cpsat:counts+warm=lns/5s:num_workers=1'
    """

    name: ClassVar[str] = "cpsat"


@named
@hashable
@dataclass(frozen=True)
class CpOptimizer(SolverMethod):
    """IBM CP Optimizer.

    Parameters
    ----------
    formulation : str or None
        Name of a formulation of the problem, such as "pool"; None: its first one. None for a model.
    warm_start : str, Method, Start or None
        The heuristic to start from: ``"usual"``, a text such as ``"lns/5s"``, ``Lns()``, or ``Start(Lns(), 5)``.
    parameters : mapping of str to bool, int, float or str
        Parameters of CP Optimizer, such as ``{"SearchType": "Restart"}``.

    Examples
    --------
    >>> import schedlab as sl
    >>> sl.methods.CpOptimizer("pool", parameters={"SearchType": "Restart"}).text
    'cpo:pool:SearchType=Restart'
    """

    name: ClassVar[str] = "cpo"


@named
@hashable
@dataclass(frozen=True)
class LinearMethod(SolverMethod):
    """The base class of methods that use a linear lowering."""

    lowering: LoweringName | None = field(default=None, metadata=LOWERING)
    grid: GridOption | None = field(default=None, metadata=LOWERING)
    side: Side = field(default="restrict", metadata=LOWERING)
    integral: bool = field(default=True, metadata=LOWERING)
    max_nonzeros: Positive = field(default=MOST_NONZEROS, metadata=OPTION)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.lowering == "time-indexed" and self.grid is not None:  # the same as the grid alone
            object.__setattr__(self, "lowering", None)
        if isinstance(self.grid, list):
            object.__setattr__(self, "grid", tuple(self.grid))
        lowering_text(self.lowering, self.grid, self.side, self.integral)  # raises ValueError

    @property
    def lowering_text(self) -> str:
        """The text after the @ of a formulation."""
        return lowering_text(self.lowering, self.grid, self.side, self.integral)

    @property
    def compile_options(self) -> dict[str, Any]:
        """Keyword arguments of ``schedlab.backends.linear.lower`` that differ from its defaults."""
        usual = {"side": "restrict", "integral": True, "max_nonzeros": MOST_NONZEROS}
        return {name: value for name, value in super().compile_options.items() if value != usual.get(name)}


@named
@hashable
@dataclass(frozen=True)
class Highs(LinearMethod):
    """HiGHS, on a mixed-integer linear form of the model.

    Parameters
    ----------
    formulation : str or None
        Name of a formulation of the problem, such as "pool"; None: its first one. None for a model.
    warm_start : str, Method, Start or None
        The heuristic to start from: ``"usual"``, a text such as ``"lns/5s"``, ``Lns()``, or ``Start(Lns(), 5)``.
    parameters : mapping of str to bool, int, float or str
        Options of HiGHS, such as ``{"mip_heuristic_effort": 0.2}``.
    lowering : {"pairwise", "time-indexed", "energy"} or None
        "pairwise" is exact. "time-indexed" is exact on a grid of 1 s. "energy" is a relaxation with a strong bound and
        needs a ``grid``. None: "time-indexed" if a ``grid`` is given or if the form is small, else "pairwise".
    grid : int, tuple of two ints, or None
        Step in seconds, or (fine, coarse): a step that grows from ``fine`` to ``coarse``.
    side : {"restrict", "relax"}
        On a grid: whether each answer is feasible for the model ("restrict"), or the optimum is a bound ("relax").
    integral : bool
        False: the linear relaxation, for a fast bound.
    max_nonzeros : int
        Most non-zeros of the form.

    Examples
    --------
    >>> import schedlab as sl
    >>> sl.methods.Highs("pool", grid=(60, 3600), lowering="energy", integral=False).text
    'highs:pool@60s..3600s-energy'
    """

    name: ClassVar[str] = "highs"


@named
@hashable
@dataclass(frozen=True)
class Pyomo(LinearMethod):
    """A solver that Pyomo can call, on the same linear form as HiGHS.

    Parameters
    ----------
    formulation : str or None
        Name of a formulation of the problem, such as "pool"; None: its first one. None for a model.
    warm_start : str, Method, Start or None
        The heuristic to start from: ``"usual"``, a text such as ``"lns/5s"``, ``Lns()``, or ``Start(Lns(), 5)``.
    parameters : mapping of str to bool, int, float or str
        Options that are passed to the solver as they are.
    lowering : {"pairwise", "time-indexed", "energy"} or None
        As of ``Highs``.
    grid : int, tuple of two ints, or None
        As of ``Highs``, in seconds.
    side : {"restrict", "relax"}
        As of ``Highs``.
    integral : bool
        False: the linear relaxation, for a fast bound.
    max_nonzeros : int
        Most non-zeros of the form.
    solver : object
        Name for Pyomo's ``SolverFactory``, such as "cbc"; or a solver object, which has no text.

    Examples
    --------
    >>> import schedlab as sl
    >>> sl.methods.Pyomo("pool", lowering="pairwise", solver="cbc").text
    'pyomo:pool@pairwise:solver=cbc'
    """

    name: ClassVar[str] = "pyomo"
    solver: Any = field(default="appsi_highs", metadata=OPTION)
