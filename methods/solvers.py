"""The methods that solve a formulation of a problem, or a model, by a solver, and the text of a linear lowering."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, get_args

from ..backends import UnknownName, backend
from ..backends.base import GridOption, LoweringName, Side
from ..errors import WrongValue
from ..heuristics.method import ARGUMENT, LOWERING, OPTION, PARAMETERS, START, Method, Parameters, Start, Value
from ..models import Problem
from ..models.arguments import Positive, named
from ..models.comparing import hashable
from ..models.formulations import find_formulation

# --- The text of a linear lowering, after the @ of a method.
#
# ============================  ==========================================================================================
# ``pairwise``                  0-1 variables for the order of each pair of intervals; exact
# ``time-indexed``              a grid of 1 s; exact
# ``900s``                      a grid of 900 s; its answers are feasible
# ``900s-relax``                a relaxed grid of 900 s; its optimum is a bound
# ``60s..3600s-lp``             linear relaxation of a relaxed grid from 60 s (early) to 3,600 s (late)
# ``60s..3600s-energy``         linear relaxation by the energy in each grid cell; usually the strongest bounds
# ``60s..3600s-energy-integral``  the same with whole numbers
# ``lp``                        linear relaxation of the pairwise lowering
# ``auto-lp``                   linear relaxation of the lowering that is chosen by default
# ============================  ==========================================================================================

GRID = re.compile(
    r"(?P<fine>[1-9]\d*)s(\.\.(?P<coarse>[1-9]\d*)s)?(-(?P<form>relax|lp|energy|energy-integral))?", re.ASCII
)
WORDS: dict[str, dict[str, Any]] = {
    "": {},
    "pairwise": {"lowering": "pairwise"},
    "time-indexed": {"lowering": "time-indexed"},
    "lp": {"lowering": "pairwise", "integral": False},
    "auto-lp": {"integral": False},
}
FORMS: dict[str | None, dict[str, Any]] = {
    None: {},
    "relax": {"side": "relax"},
    "lp": {"side": "relax", "integral": False},
    "energy": {"lowering": "energy", "integral": False},
    "energy-integral": {"lowering": "energy"},
}
EXAMPLES = ["@pairwise", "@lp", "@time-indexed", "@900s", "@900s-relax", "@900s-lp", "@600s..36000s-energy"]
FIELDS = {"lowering": None, "grid": None, "side": "restrict", "integral": True}


def parse_lowering(text: str, where: str = "") -> dict[str, Any]:
    """Return the fields of a linear method for the text after the @.

    Parameters
    ----------
    text : str
        The text, such as "900s-relax".
    where : str
        Added to the message of an error: the whole method.

    Returns
    -------
    dict
        Values of ``lowering``, ``grid``, ``side`` and ``integral`` that are not the default.

    Raises
    ------
    UnknownName
        If the text is no lowering.

    Examples
    --------
    >>> parse_lowering("60s..900s-relax")
    {'grid': (60, 900), 'side': 'relax'}
    """
    if text in WORDS:
        return dict(WORDS[text])
    grid = GRID.fullmatch(text)
    if grid is None:
        raise UnknownName("lowering", f"@{text}", EXAMPLES, where)
    fine = int(grid["fine"])
    coarse = grid["coarse"]
    return {"grid": (fine, int(coarse)) if coarse else fine} | FORMS[grid["form"]]


def lowering_text(lowering: LoweringName | None, grid: GridOption | None, side: Side, integral: bool) -> str:
    """Return the text of a lowering.

    Raises
    ------
    ValueError
        If the values contradict each other.
    """
    if lowering is not None and lowering not in get_args(LoweringName):
        raise WrongValue(f"lowering is {lowering!r}; expected one of {', '.join(map(repr, get_args(LoweringName)))}")
    if side not in ("restrict", "relax"):
        raise WrongValue(f"side is {side!r}; expected 'restrict' or 'relax'")
    given = {"lowering": lowering, "side": side, "integral": integral}
    fields = {name: value for name, value in given.items() if value != FIELDS[name]}
    if grid is None:
        word = next((word for word, options in WORDS.items() if options == fields), None)
        if word is None:
            raise WrongValue(
                f"no lowering has {_shown(fields)} without a grid; give grid=seconds or grid=(fine, coarse)"
            )
        return word
    form = next((form for form, options in FORMS.items() if options == fields), "?")
    if form == "?":
        raise WrongValue(f"no lowering on a grid has {_shown(fields)}; {_advice(fields)}")
    steps = grid if isinstance(grid, tuple) else (grid,)
    if len(steps) not in (1, 2) or not all(type(s) is int and s > 0 for s in steps):
        raise WrongValue(f"grid is {grid!r}; expected seconds above 0, or a tuple (fine, coarse) of them")
    return "..".join(f"{s}s" for s in steps) + (f"-{form}" if form else "")


def _shown(fields: dict[str, Any]) -> str:
    return " with ".join(f"{name}={value!r}" for name, value in fields.items())


def _advice(fields: dict[str, Any]) -> str:
    if fields.get("lowering") == "pairwise":
        return "a grid belongs to lowering='time-indexed' or 'energy'"
    if fields == {"integral": False}:
        return "integral=False is for bounds, and a restriction has none: use side='relax'"
    return "a side belongs to lowering='time-indexed'"


# --- The methods that solve a formulation of a problem, or a model, by a solver.

MOST_NONZEROS = 20_000_000


@named
@hashable
@dataclass(frozen=True)
class SolverMethod(Method):
    """The base class of methods that use a solver; its fields come first in each of them.

    Parameters
    ----------
    post_bound : bool
        Whether the solver is given the bound that schedlab proves for the kind of problem (``ProblemKind.bound``), as a
        constraint on the objective of an exact formulation of the kind.
    """

    formulation: str | None = field(default=None, metadata=ARGUMENT)
    warm_start: Start | Method | str | None = field(default=None, metadata=START)
    parameters: Mapping[str, Value] = field(default_factory=Parameters, metadata=PARAMETERS)
    post_bound: bool = field(default=True, metadata=OPTION, kw_only=True)

    @property
    def backend_name(self) -> str:
        """Name of the backend."""
        return self.name

    @property
    def compile_options(self) -> dict[str, Any]:
        """Keyword arguments of the backend's ``compile``."""
        names = (name for name in self.options() if name != "post_bound")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    @property
    def takes_bound(self) -> bool:
        """Whether a proved bound is posted: not in a relaxation, which is solved for a bound of its own."""
        return self.post_bound

    @classmethod
    def obeyed(cls) -> frozenset[str]:
        """Return the start, the gap, and what the backend says."""
        more: frozenset[str] = getattr(backend(cls.name), "obeys", frozenset())
        return frozenset(("warm_start", "gap_limit")) | more

    def check(self, problem: Problem) -> None:
        """Raise UnknownName for an unknown formulation."""
        if self.formulation is not None:
            find_formulation(problem, self.formulation, f" in {self.text!r}")

    def load(self) -> None:
        """Import the solver's package if its backend has a function for it."""
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
        Name of a formulation of the problem, such as "counts", or ``module:attribute``; None: its first one. None for a model.
    warm_start : str, Method, Start or None
        The heuristic to start from: ``"usual"``, a text such as ``"lns/5s"``, ``Lns()``, or ``Start(Lns(), 5)``.
    parameters : mapping of str to bool, int, float or str
        Fields of CP-SAT's ``SatParameters``, such as ``{"linearization_level": 2}``.
    post_bound : bool
        Whether the solver is given the bound that schedlab proves, as a constraint; for projects.

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
        Name of a formulation of the problem, such as "pool", or ``module:attribute``; None: its first one. None for a model.
    warm_start : str, Method, Start or None
        The heuristic to start from: ``"usual"``, a text such as ``"lns/5s"``, ``Lns()``, or ``Start(Lns(), 5)``.
    parameters : mapping of str to bool, int, float or str
        Parameters of CP Optimizer, such as ``{"SearchType": "Restart"}``.
    post_bound : bool
        Whether the solver is given the bound that schedlab proves, as a constraint; for projects.

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
    def takes_bound(self) -> bool:
        """Whether a proved bound is posted: not in a relaxation, which is solved for a bound of its own."""
        relaxed = not self.integral or self.side == "relax" or self.lowering == "energy"
        return self.post_bound and not relaxed

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
        Name of a formulation of the problem, such as "pool", or ``module:attribute``; None: its first one. None for a model.
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
    post_bound : bool
        Whether the solver is given the bound that schedlab proves, as a constraint; for projects.

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
        Name of a formulation of the problem, such as "pool", or ``module:attribute``; None: its first one. None for a model.
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
    post_bound : bool
        Whether the solver is given the bound that schedlab proves, as a constraint; for projects.

    Examples
    --------
    >>> import schedlab as sl
    >>> sl.methods.Pyomo("pool", lowering="pairwise", solver="cbc").text
    'pyomo:pool@pairwise:solver=cbc'
    """

    name: ClassVar[str] = "pyomo"
    solver: Any = field(default="appsi_highs", metadata=OPTION)


# --- The method ``auto`` as an object.


@named
@dataclass(frozen=True)
class Auto(Method):
    """The portfolio of the problem's kind: heuristics, a relaxation for the bound, a solver on what is small enough.

    The steps run one after another, each with all threads and from the best schedule so far, until the gap is closed or
    the time is over. ``Result.details["steps"]`` has the outcome of each.

    Parameters
    ----------
    warm_start : str, Method, Start or None
        A heuristic whose schedule is the first one.

    Examples
    --------
    >>> import schedlab as sl
    >>> r = sl.solve(sl.load("eurora_99").problem.at(43200, first=5), "auto", time_limit=60)
    >>> r.status, r.gap
    ('optimal', 0.0)
    """

    name: ClassVar[str] = "auto"
    warm_start: Start | Method | str | None = field(default=None, metadata=START)

    @classmethod
    def obeyed(cls) -> frozenset[str]:
        """Return the start and the gap."""
        return frozenset(("warm_start", "gap_limit"))
