"""Pyomo: the linear form of a model as a ``ConcreteModel``, for users who have Pyomo solvers and models."""

from __future__ import annotations

import math
import os
import sys
import threading
from collections.abc import Mapping
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, TextIO, cast

import numpy as np

from ..errors import NoSolution, SolverUnavailable, WrongArgument, WrongValue
from ..models.language import Assignment, Integer, Interval, Model
from ..models.long_calls import look
from ..models.words import how_many, with_short_repr
from .base import (
    Availability,
    Conflict,
    Limits,
    Outcome,
    Parameter,
    Status,
    Value,
    WarmStart,
    Watch,
    argument,
    column_values,
    compiled_repr,
    fewer_threads,
    own_values,
    own_variable,
)
from .decompositions.decomposition import NOT_LINEAR
from .highs import BROKEN, HALF, INTEGRALITY, OF_OBJECTIVE, SMALL, TIGHTER, TOLERANCE, TOLERANCE_NAME, cost_unit
from .highs import check as check_highs
from .linear.form import ENTRIES_PER_SECOND, LinearForm, require_range
from .linear.lowering import Lowered, column_names, lower, require_options, row_names
from .solver_thread import SolverLog, run_in_thread

# --- Names of the options of Pyomo's solvers for seed, threads and gap; other options are passed as they are.

GAP = 1e-6  # relative gap at which an optimum is proven; defaults of solvers reach 1e-4
LARGEST_SEED = 2**31 - 1


class Names(NamedTuple):
    """The names of one solver's options.

    Parameters
    ----------
    gap : str
        Relative gap.
    threads : str or None
        Number of threads; None: the solver has one thread.
    seed : str or None
        Seed; None: the solver uses no random numbers.
    times : tuple of str
        Time limits, which cannot be given as parameters.
    """

    gap: str
    threads: str | None
    seed: str | None
    times: tuple[str, ...]


# the option names as Pyomo's interfaces take them; each is part of the name of a Pyomo solver or of its class
KNOWN = {
    "highs": Names("mip_rel_gap", "threads", "random_seed", ("time_limit",)),
    "gurobi": Names("MIPGap", "Threads", "Seed", ("TimeLimit",)),
    "cplex": Names("mip_tolerances_mipgap", "threads", "randomseed", ("timelimit",)),
    "cbc": Names("ratioGap", "threads", "randomCbcSeed", ("sec", "seconds")),
    "scip": Names("limits/gap", "lp/threads", "randomization/randomseedshift", ("limits/time",)),
    "glpk": Names("mipgap", None, None, ("tmlim",)),
}


def names_of(wanted: Any) -> Names | None:
    """Return the option names of a Pyomo solver, given by its name or as an object; None if it is not known."""
    if isinstance(wanted, str):
        text = wanted
    else:
        text = " ".join(f"{c.__module__}.{c.__name__}" for c in type(wanted).__mro__)
    return next((names for key, names in KNOWN.items() if key in text.lower()), None)


def check(given: Mapping[str, Any]) -> dict[str, Value]:
    """Return the parameters; texts become the int, float or bool that they look like."""
    return {name: Parameter("Pyomo", name, value).guessed() for name, value in given.items()}


def options(wanted: Any, limits: Limits) -> dict[str, Value]:
    """Return the options of the solver for seed, threads, gap and parameters.

    Parameters
    ----------
    wanted : str or object
        The Pyomo solver.
    limits : Limits

    Returns
    -------
    dict of str to bool, int, float or str

    Raises
    ------
    TypeError
        If threads, a gap or a seed other than 0 are given for a solver whose option names are not known.
    ValueError
        If a parameter is a time limit or a seed, or a number of threads greater than ``limits.threads``.
    UnknownName
        If a parameter of HiGHS is unknown; Pyomo does not know the names of other solvers.
    """
    names = names_of(wanted)
    given = dict(limits.parameters)
    if names is None:
        asked = {"threads": limits.threads is not None, "gap_limit": limits.gap is not None, "seed": limits.seed != 0}
        for name in (name for name, is_given in asked.items() if is_given):
            raise WrongArgument(
                f"the name of the option for {name}=... of Pyomo's solver {wanted!r} is not known; it is known for "
                f"{', '.join(KNOWN)}; for another solver give it in parameters, by its own name"
            )
        return given
    if names is KNOWN["highs"]:  # Pyomo does not notice that HiGHS refuses an option
        given = check_highs(given)
    for name in given:
        if name == names.seed or name in names.times:
            reason = argument("seed" if name == names.seed else "time_limit")
            raise WrongValue(f"the parameter {name} of {wanted!r} cannot be given: {reason}")
    values: dict[str, Value] = {names.gap: limits.gap or (0.0 if limits.exact else GAP)}
    if names.seed is not None:
        values[names.seed] = limits.seed % LARGEST_SEED
    if names.threads is not None:
        threads = fewer_threads(names.threads, given.pop(names.threads, None), limits.threads)
        if threads is not None:
            values[names.threads] = threads
    return values | given


IMPORT_ORDER = (
    "pyomo.environ cannot be imported after docplex.cp; import pyomo.environ before CP Optimizer is used, "
    "or run the two in processes of their own"
)
BUSY = "the time limit ended while another thread used Pyomo, which solves one model at a time in a process"
ROUNDED = BROKEN.format("the solver")
_one = threading.RLock()  # Pyomo redirects the standard output and the log of the whole process


@with_short_repr
class Pyomo:
    """The Pyomo backend.

    The options of ``compile`` are ``solver`` (a name for Pyomo's SolverFactory, or a solver object) and those of
    ``backends.linear.lower``.
    """

    name = "pyomo"
    lacks = NOT_LINEAR
    obeys = frozenset({"parameters"})

    def availability(self) -> Availability:
        """Return the version of Pyomo, or why it cannot be used."""
        try:
            _environ()
        except (ImportError, SolverUnavailable) as e:
            return Availability(self.name, None, f"pyomo cannot be used: {e}")
        from pyomo.version import version

        return Availability(self.name, str(version))

    def check_parameters(self, parameters: Mapping[str, Any]) -> dict[str, Value]:
        """Return the values as they are, texts as the numbers that they look like: Pyomo does not know the names."""
        return check(parameters)

    def compile(self, model: Model, *, solver: Any = "appsi_highs", **options: Any) -> PyomoCompiled:
        """Lower a model, with its first objective, to a ConcreteModel.

        Raise LoweringTooLarge before a lowering that would be too large is built, and SolverUnavailable for a missing
        solver and for numbers that solvers in double precision do not compute exactly.
        """
        require_options(self.name, options)
        lowered = lower(model, **options)
        if lowered.integral:
            require_range(model, lowered.form, "Pyomo's solvers")
        with _one:
            return PyomoCompiled(model, lowered, _solver(solver), solver)


def _environ() -> Any:
    """Return the module ``pyomo.environ``; raise SolverUnavailable if docplex.cp was imported before it."""
    try:
        import pyomo.environ as environ
    except ImportError:
        raise
    except Exception as e:  # a NameError from its import hook for docplex
        if "docplex.cp" in sys.modules:
            raise SolverUnavailable(f"{IMPORT_ORDER} ({type(e).__name__}: {e})") from e
        raise
    return environ


def _solver(wanted: Any) -> Any:
    """Return a Pyomo solver, given by its name or as an object; raise SolverUnavailable if it is not available."""
    environ = _environ()
    with _quiet():  # Pyomo would print a traceback for an unknown name
        if isinstance(wanted, str):
            solver = environ.SolverFactory(wanted)
        else:
            solver = wanted
        if not solver.available(exception_flag=False):
            raise SolverUnavailable(f"Pyomo's solver {wanted!r} is not available; is it installed?")
    return solver


def _quiet() -> Any:
    """Return a context in which Pyomo prints no log."""
    from pyomo.common.log import LoggingIntercept

    return LoggingIntercept(module="pyomo")


@dataclass(frozen=True, eq=False)
class PyomoInterval:
    """The Pyomo variables of an interval.

    Attributes
    ----------
    presence, start, size : variable or None
        None where the value is constant, or where the lowering has no such variable.
    cells : dict of int to variable
        On a grid: the 0/1 variable of each start in seconds.
    """

    presence: Any
    start: Any
    size: Any
    cells: Mapping[int, Any]

    def __repr__(self) -> str:
        parts = (f"{name}={getattr(self, name)}" for name in ("presence", "start", "size"))
        return f"PyomoInterval({', '.join(parts)}, {how_many(len(self.cells), 'cell')})"


class PyomoCompiled:
    """A model as a Pyomo ``ConcreteModel`` (``native``), with variables ``x[column]`` and constraints ``rows[row]``."""

    __repr__ = compiled_repr

    def __init__(self, model: Model, lowered: Lowered, solver: Any, wanted: Any) -> None:
        self.model = model
        self.wanted = wanted  # the name of the solver, or the solver
        self.lowered = lowered
        self.form = lowered.form
        self.size = lowered.form.size
        self.exactness = lowered.exactness
        self.solver = solver
        self.unit = cost_unit(lowered.form)  # solvers take costs that are small beside their tolerances for 0
        self._output: _Output | None = None
        with _quiet():  # Pyomo would print a message at Ctrl-C
            self.native = _concrete(lowered.form, model.name, integral=lowered.integral)
            self._objective = self.native.objective.expr
            self._scaled = _cost(lowered.form, list(self.native.x.values()), self.unit)

    def var(self, x: Interval | Integer) -> Any:
        """Return the variable of an integer, or the `PyomoInterval` of an interval."""
        own_variable(x, self.model)
        columns = self.lowered.columns(x)
        v = self.native.x
        if isinstance(columns, int):
            return v[columns]
        presence, start, size = (None if k is None else v[k] for k in (columns.presence, columns.start, columns.size))
        cells = {}
        if columns.cells:
            cells = {int(t): v[k] for t, k in zip(columns.times, columns.cells, strict=True)}
        return PyomoInterval(presence, start, size, cells)

    def assignment(self, answer: Any) -> Assignment:
        """Convert column values (an array) or a solved ConcreteModel to an assignment.

        Raises
        ------
        NoSolution
            If no solver has given the ConcreteModel values.
        """
        if hasattr(answer, "x") and hasattr(answer.x, "values"):
            columns = list(answer.x.values())
            in_rows = np.unique(self.form.index).tolist()
            if any(columns[k].value is None for k in in_rows if k < len(columns)):
                raise NoSolution("the ConcreteModel holds no solution: no solver has given its variables values")
            answer = [_value(v) for v in columns]
        return self.lowered.read(column_values(answer, self.size["variables"], "a solved ConcreteModel"))

    def named(self) -> Any:
        """Return another ``ConcreteModel``: its ``x`` and ``rows`` have the names of variables and constraints as indices.

        ``named().write("model.lp", io_options={"symbolic_solver_labels": True})`` writes them.
        """
        names = column_names(self.lowered), row_names(self.lowered)
        with _quiet():
            return _concrete(self.form, self.model.name, integral=self.lowered.integral, names=names)

    def rebuilt(self, assignment: Assignment) -> Assignment:
        """Return the assignment whose columns ``hint`` returns: on a restricting grid, the one moved onto the grid."""
        return self.lowered.rebuilt(assignment)

    def hint(self, assignment: Assignment) -> Any:
        """Return the value of every column."""
        own_values(assignment, self.model, "hint")
        return self.lowered.hint(assignment)

    def fix(self, assignment: Assignment) -> None:
        """Fix every variable to its hinted value."""
        for v, value in zip(self.native.x.values(), self.hint(assignment).tolist(), strict=True):
            v.fix(value)

    def run(self, watch: Watch, limits: Limits, warm: Assignment | None = None) -> Outcome:
        """Solve by the Pyomo solver, which reports only its final answer.

        A process solves one model at a time; other threads wait, within their time limits. Raise TypeError for threads,
        a gap or a seed if the names of the solver's options for them are not known.
        """
        chosen = options(self.wanted, limits)
        if names_of(self.wanted) is KNOWN["highs"] and self.size["nonzeros"] <= SMALL:
            chosen = {"presolve": "off", **chosen}  # as in the backend of HiGHS itself, for the same fault
        if names_of(self.wanted) is KNOWN["highs"]:
            chosen |= {name: float(chosen[name]) * self.unit for name in OF_OBJECTIVE if name in chosen}
        if len(self.native.x) == 0:  # solvers end as "unknown"
            return self._without_variables(watch)
        try:
            return run_in_thread(
                self, lambda threaded: self._run(threaded, limits, chosen, warm), self._halt, watch, limits
            )
        finally:
            if self._output is not None:  # the run was abandoned
                self._output.restore()

    def _without_variables(self, watch: Watch) -> Outcome:
        answer = self.assignment([])
        if self.model.check(answer):
            return Outcome("infeasible")
        value = None
        if self.model.objectives:
            value = self.model.value(self.model.objectives[0], answer)
        watch.solution(answer, value)
        return Outcome("optimal", bound=value)

    def _run(self, watch: Watch, limits: Limits, chosen: dict[str, Value], warm: Assignment | None) -> Outcome:
        """Do the work of ``run`` in the current thread."""
        # the interfaces named appsi forget the options of the solver for those of the call
        if type(self.solver.options) is dict:
            before = self.solver.options
        else:
            before = {}
        keywords: dict[str, Any] = {"tee": limits.log, "load_solutions": False, "options": {**before, **chosen}}
        log = SolverLog()
        deadline = limits.deadline
        if not _one.acquire(timeout=-1 if limits.time is None else min(limits.time, threading.TIMEOUT_MAX)):
            return Outcome("unknown", message=BUSY)
        try:
            if limits.time is not None:
                keywords["timelimit"] = deadline.remaining
            fate = WarmStart()
            if warm is not None:
                fate = self._start(warm, keywords)
            with (
                _Output() as self._output,
                redirect_stdout(cast(TextIO, log)),
            ):  # Pyomo copies the solver's output there
                answer = self._solve(limits, keywords)
            with _quiet():  # Pyomo would print a warning at every limit
                outcome, assignment = self._outcome(answer, fate)
            tighter = TIGHTER if names_of(self.wanted) is KNOWN["highs"] and TOLERANCE_NAME not in chosen else ()
            for tolerance in tighter:  # as in the backend of HiGHS itself, for the same fault
                if not (str(answer.solver.termination_condition) == "error" or outcome.message == ROUNDED):
                    break
                if limits.time is not None:
                    keywords["timelimit"] = deadline.remaining
                keywords["options"] = {**keywords["options"], TOLERANCE_NAME: tolerance}
                with _Output() as self._output, redirect_stdout(cast(TextIO, log)):
                    answer = self._solve(limits, keywords)
                with _quiet():
                    outcome, assignment = self._outcome(answer, fate)
        finally:
            self._output = None
            _one.release()
        outcome.log = log.text()
        if assignment is not None:  # outside the lock: the caller may solve by Pyomo too
            watch.solution(assignment, outcome.bound)
        return outcome

    def _solve(self, limits: Limits, keywords: dict[str, Any]) -> Any:
        own = self.solver.options
        # other interfaces forget those of a call
        kept = None
        if callable(getattr(own, "reset", None)):
            kept = own.value()
        objective = self.native.objective
        # a user may have given the native model another objective
        scaled = self.unit != 1.0 and objective.expr is self._objective
        if scaled:
            objective.set_value(self._scaled)
        try:
            return self.solver.solve(self.native, **keywords)
        except (AttributeError, LookupError, TypeError, ValueError) as e:
            if not limits.parameters:
                raise
            given = ", ".join(f"{name}={value}" for name, value in limits.parameters.items())
            raise WrongValue(f"Pyomo's solver {self.wanted!r} failed with the parameters {given}: {e}") from e
        finally:
            if scaled:
                objective.set_value(self._objective)
            if kept is not None:
                own.reset()
                own.set_value(kept)

    def _halt(self) -> None:
        """Stop HiGHS inside Pyomo. Other solvers cannot be stopped; one in a process of its own gets Ctrl-C itself."""
        inside: Any = getattr(self.solver, "_solver_model", None)
        if hasattr(inside, "setOptionValue"):
            inside.setOptionValue("output_flag", False)
            inside.setOptionValue("time_limit", 0.0)

    def conflict(self, time_limit: float | None = None) -> Conflict:
        """Return no conflict, as Pyomo's common interface has none."""
        return Conflict(None, "Pyomo has no common interface to irreducible infeasible subsets")

    def _start(self, warm: Assignment, keywords: dict[str, Any]) -> WarmStart:
        x = self.hint(warm)
        for v, value in zip(self.native.x.values(), x.tolist(), strict=True):
            v.set_value(value, skip_validation=True)
        amount, where = self.form.violation(x)
        if amount > 1e-6:
            return WarmStart("rejected", f"in the linear form, the start violates {where!r} by {amount:g}")
        if not self.solver.warm_start_capable():
            return WarmStart("rejected", "Pyomo's interface to this solver takes no start")
        keywords["warmstart"] = True
        return WarmStart("accepted")

    def _outcome(self, results: Any, fate: WarmStart) -> tuple[Outcome, Assignment | None]:
        condition = str(results.solver.termination_condition)
        if self.form.maximize:
            bound = results.problem.upper_bound
        else:
            bound = results.problem.lower_bound
        if isinstance(bound, (int, float)) and math.isfinite(bound):
            bound = float(bound) / self.unit
        else:
            bound = None
        has_solution = len(results.solution) > 0
        answer = None
        if has_solution:
            self.native.solutions.load_from(results)
            values = np.array([_value(v) for v in self.native.x.values()])
            whole = values[self.form.integral > 0]
            if self.lowered.integral or np.all(np.abs(whole - np.rint(whole)) < 1e-6):
                answer = self.assignment(values)
        if answer is not None and self._rounded_away(answer):
            return Outcome("unknown", bound, "", ROUNDED, fate), None
        ends: dict[str, Status] = {"optimal": "optimal", "infeasible": "infeasible", "unbounded": "unbounded"}
        return Outcome(
            ends.get(condition, "feasible" if has_solution else "unknown"), bound, "", condition, fate
        ), answer

    def _rounded_away(self, answer: Assignment) -> bool:
        """Return whether an answer violates the model because its columns are whole only within a tolerance."""
        exact = self.lowered.integral and self.exactness.kind != "relaxation"
        return exact and bool((self.form.slack(INTEGRALITY) > HALF).any()) and bool(self.model.check(answer))


class _Output:
    """A copy of standard output and standard error; Pyomo redirects both during a solve."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # an abandoned solve may end while its caller undoes the redirection

    def __enter__(self) -> _Output:
        self.streams = sys.stdout, sys.stderr
        self.copies: list[tuple[int, int]] = []
        for number in (1, 2):
            with suppress(OSError):  # closed
                self.copies.append((number, os.dup(number)))
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            while self.copies:
                os.close(self.copies.pop()[1])

    def restore(self) -> None:
        """Undo the redirection while the solve goes on; do nothing if the solve has ended, and undone it itself."""
        with self._lock:
            if self.copies:
                sys.stdout, sys.stderr = self.streams
            for number, copy in self.copies:
                os.dup2(copy, number)


def _value(v: Any) -> float:
    """Return the value of a variable.

    A variable that is in no row does not reach the solver and has no value: it gets a value within its bounds.
    """
    if v.value is not None:
        return float(v.value)
    return min(max(0.0, -math.inf if v.lb is None else v.lb), math.inf if v.ub is None else v.ub)


def _concrete(form: LinearForm, name: str, *, integral: bool, names: tuple[list[str], list[str]] | None = None) -> Any:
    """Return a ConcreteModel with a variable ``x`` per column, a constraint ``rows`` per row, and ``objective``.

    The rows are scaled as those of HiGHS. The indices of ``x`` and ``rows`` are numbers, or the given names.
    """
    environ = _environ()
    from pyomo.core.expr.numeric_expr import LinearExpression

    look(len(form.value) / ENTRIES_PER_SECOND)
    m = environ.ConcreteModel(name=name)
    lo = form.column_lo.tolist()
    hi = form.column_hi.tolist()
    if integral:
        kinds = form.integral.tolist()
    else:
        kinds = [0] * len(lo)

    columns, rows = names or (range(len(lo)), range(len(form.row_lo)))
    column = {key: k for k, key in enumerate(columns)}
    place = {key: i for i, key in enumerate(rows)}

    def bounds(m: Any, key: Any) -> tuple[float, float]:
        look()
        return lo[column[key]], hi[column[key]]

    m.x = environ.Var(
        columns,
        bounds=bounds,
        domain=lambda m, key: environ.Integers if kinds[column[key]] else environ.Reals,
    )
    x = list(m.x.values())
    if any(kinds):
        scales = form.row_scales()
    else:
        scales = np.ones(len(form.row_lo))
    index = form.index.tolist()
    start = form.start.tolist()
    value = form.scaled_values(scales).tolist()
    row_lo = (form.row_lo * scales).tolist()
    row_hi = (form.row_hi * scales).tolist()

    def row(m: Any, key: Any) -> Any:
        look()
        i = place[key]
        entries = range(start[i], start[i + 1])
        body = LinearExpression(
            constant=0.0, linear_coefs=[value[k] for k in entries], linear_vars=[x[index[k]] for k in entries]
        )
        sides = [None if math.isinf(side) else side for side in (row_lo[i], row_hi[i])]
        if not entries:
            holds = form.row_lo[i] <= TOLERANCE and form.row_hi[i] >= -TOLERANCE  # as HiGHS holds rows
            if holds:
                return environ.Constraint.Feasible
            return environ.Constraint.Infeasible
        return sides[0], body, sides[1]

    m.rows = environ.Constraint(rows, rule=row)
    m.objective = environ.Objective(
        expr=_cost(form, x, 1.0), sense=environ.maximize if form.maximize else environ.minimize
    )
    return m


def _cost(form: LinearForm, x: list[Any], unit: float) -> Any:
    """Return the objective of a form, multiplied by ``unit``, as an expression of the variables ``x``."""
    from pyomo.core.expr.numeric_expr import LinearExpression

    used = np.flatnonzero(form.cost).tolist()
    return LinearExpression(
        constant=form.offset * unit,
        linear_coefs=[form.cost[k].item() * unit for k in used],
        linear_vars=[x[k] for k in used],
    )
