"""The choice and the sequence of decompositions for a model and a backend, and the map back to the original model."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...errors import LoweringTooLarge, SolverUnavailable
from ...models.arguments import is_real
from ...models.language import Assignment, Comparison, Integer, Interval, Linear, Model, NamedConstraint
from ...models.language.expressions import Atom, Number
from ...models.long_calls import look
from ..base import (
    MINIMAL,
    UNTRIED,
    Backend,
    Compiled,
    Conflict,
    Exactness,
    Limits,
    NoConflict,
    Outcome,
    Watch,
    checked_compiled,
    checked_solution,
    compiled_repr,
    own_values,
    own_variable,
    require_range,
)
from ..linear.form import LinearForm
from ..linear.lowering import lower
from .constraints import (
    AllOrNones,
    Alternatives,
    Cumulatives,
    ForbiddenExtents,
    Levels,
    MaximumLags,
    NoOverlaps,
    Precedences,
    Sequences,
    States,
    StepwiseCapacities,
    Structures,
    Synchronizations,
    Transitions,
    VariableDemands,
)
from .decomposition import (
    ALL,
    NOT_LINEAR,
    PRECEDENCES,
    SEQUENCES,
    STATED,
    STATES,
    Construct,
    Decomposition,
    Step,
    Variables,
    atoms_of,
    constructs_of,
)
from .expressions import Arithmetic, Functions, Optionals, Origin, Overlaps, RealNumbers, Relations, StartWindows

# --- The choice and the sequence of decompositions for a model and a backend.

ORDER: tuple[type[Decomposition], ...] = (
    Sequences,
    States,
    Structures,
    Alternatives,
    AllOrNones,
    Transitions,
    ForbiddenExtents,
    MaximumLags,
    VariableDemands,
    StepwiseCapacities,
    NoOverlaps,
    Cumulatives,
    Levels,
    Synchronizations,
    Precedences,
    StartWindows,
    Optionals,
    Arithmetic,
    Relations,
    Overlaps,
    Functions,
    RealNumbers,
)
"""A decomposition uses only constructs that every backend has, or that a later one replaces."""

# constructs for which the size 0, which stands for the absence of an interval, is not the same as its absence
_WITH_OPTIONAL = frozenset(
    [
        Construct.ALTERNATIVE,
        Construct.ALL_OR_NONE,
        Construct.SYNCHRONIZE,
        Construct.TRANSITIONS,
        *PRECEDENCES,
        *SEQUENCES,
        *STATED,
        *STATES,
    ]
)
_WITH_DIGITS = frozenset([Construct.VARIABLE_DEMAND, Construct.VARIABLE_CAPACITY])
_OF_CUMULATIVE = frozenset([Construct.STEPWISE_CAPACITY, Construct.VARIABLE_DEMAND])


class Chain:
    """Decompositions one after another.

    Parameters
    ----------
    origin : Model
        The model. It is not changed.
    supports : frozenset of Construct
        The constructs that the decomposed model may have.

    Attributes
    ----------
    model : Model
        The decomposed model; ``origin`` itself if nothing had to be replaced.
    steps : list of Step
        The decompositions, in their order.
    replaced : frozenset of Construct
        The constructs of ``origin`` that were replaced.

    Examples
    --------
    >>> import schedlab as sl
    >>> m = sl.Model("two jobs", horizon=8); a, b = m.interval("a", size=3), m.interval("b", size=4)
    >>> m.add(sl.no_overlap([a, b])); m.minimize(sl.max([a.end, b.end]))
    >>> made = Chain(m, frozenset([Construct.INTERVAL, Construct.CUMULATIVE, Construct.MAX]))
    >>> made.model.constraints[0].constraint
    Cumulative(intervals=(a, b), demands=(1, 1), steps=((0, 1),))
    """

    def __init__(self, origin: Model, supports: frozenset[Construct]) -> None:
        self.origin = self.model = origin
        self.steps: list[Step] = []
        self.replaced = constructs_of(origin) - supports
        if not self.replaced:
            return
        missing = _missing(origin, supports)
        for kind in ORDER:
            if constructs_of(self.model) & missing & kind.replaces:
                self._append(kind(self.model, missing))
        if constructs_of(self.model) - supports:  # intervals: a linear model of the original is smaller
            self.steps, self.model = [], origin
            for kind in (Sequences, States, Structures, Levels, Arithmetic, Relations):
                if constructs_of(self.model) & kind.replaces:
                    self._append(kind(self.model, NOT_LINEAR))
            self._append(LinearModel(self.model))
            if constructs_of(self.model) - supports:
                self._append(RealNumbers(self.model, frozenset([Construct.REAL])))

    def _append(self, step: Step) -> None:
        self.steps.append(step)
        self.model = step.model

    def forward(self, assignment: Assignment) -> Assignment:
        """Return the assignment of the decomposed model for one of the original."""
        for step in self.steps:
            assignment = step.forward(assignment)
        return assignment

    def back(self, assignment: Assignment) -> Assignment:
        """Return the assignment of the original for one of the decomposed model."""
        for step in reversed(self.steps):
            assignment = step.back(assignment)
        return assignment

    def bound(self, value: float) -> float:
        """Return the bound on the original's objective for one on the objective of the decomposed model."""
        for step in reversed(self.steps):
            value = step.bound(value)
        return value

    def variables(self, x: Integer | Interval) -> Variables:
        """Return what stands for a variable of the original: one variable, or several by name."""
        variables: dict[str, Integer | Interval] = {"": x}
        for step in self.steps:
            variables = {k: v for name, one in variables.items() for k, v in _named(name, step.variables(one)).items()}
        if list(variables) == [""]:
            return variables[""]
        return variables


def decompose(model: Model, *constructs: Construct) -> Chain:
    """Replace constructs of a model by simpler ones.

    Parameters
    ----------
    model : Model
        The model. It is not changed.
    *constructs : Construct
        The constructs to replace. Others are replaced with them if they cannot stay, such as an alternative without
        optional intervals.

    Returns
    -------
    Chain
        ``model`` is the decomposed model; ``back`` and ``forward`` convert assignments.

    Examples
    --------
    >>> import schedlab as sl
    >>> m = sl.Model("two jobs", horizon=8); a, b = m.interval("a", size=3), m.interval("b", size=3)
    >>> m.add(sl.synchronize(a, [b]))
    >>> [c.name for c in decompose(m, Construct.SYNCHRONIZE).model.constraints]
    ['synchronize a with b', 'synchronize a with b', 'synchronize a with b', 'synchronize a with b']
    """
    return Chain(model, frozenset(Construct) - frozenset(constructs))


def _named(name: str, variables: Variables) -> dict[str, Integer | Interval]:
    if not isinstance(variables, dict):
        return {name: variables}
    return {part if name in ("", "interval") else f"{name} {part}": v for part, v in variables.items()}


def _missing(model: Model, supports: frozenset[Construct]) -> frozenset[Construct]:
    """Return the constructs to replace, with those that depend on another missing one."""
    present = constructs_of(model)
    missing = frozenset(Construct) - supports
    if Construct.NO_OVERLAP in missing:
        missing |= {Construct.TRANSITIONS}
    if Construct.CUMULATIVE in missing:
        missing |= _OF_CUMULATIVE
    digits = Construct.VARIABLE_DEMAND in missing and bool(present & _WITH_DIGITS)  # these bring optional intervals
    if Construct.OPTIONAL in missing and (Construct.OPTIONAL in present or digits):
        missing |= _WITH_OPTIONAL
    if missing & (REAL_FUNCTIONS | {Construct.REAL}) and any(not a.integral for a in atoms_of(model)):
        missing |= REAL_FUNCTIONS
    return missing


# --- A decomposed model inside a backend that lacks some constructs: the map between the original and the native model.


def compile_supported(backend: Backend, model: Model, **options: Any) -> Compiled:
    """Compile a model, after replacing what the backend does not support.

    Parameters
    ----------
    backend : Backend
        The backend. Its attribute ``supports`` is the set of constructs that it takes; without it, it takes all but those
        of its attribute ``lacks``.
    model : Model
    **options
        Options of the backend.

    Returns
    -------
    Compiled
        What the backend returns, or a `DecomposedCompiled` around it. Its ``exactness.notes`` name what was replaced.
    """
    chain = Chain(model, frozenset(getattr(backend, "supports", ALL - getattr(backend, "lacks", frozenset()))))
    inner = checked_compiled(backend, backend.compile(chain.model, **options))
    if not chain.steps:
        return inner
    constructs = ", ".join(sorted(chain.replaced))
    note = f"decomposed, because {backend.name} does not have them: {constructs}"
    return DecomposedCompiled(chain, inner, (note, *(n for step in chain.steps for n in step.notes)))


class DecomposedCompiled:
    """A compiled model that was decomposed before; see `Compiled` for its methods.

    Parameters
    ----------
    chain : Chain or Origin
        Converts between the original and the decomposed model.
    inner : Compiled
        The decomposed model, compiled.
    notes : iterable of str
        What a reader of the result should know.
    """

    __repr__ = compiled_repr

    def __init__(self, chain: Chain | Origin, inner: Compiled, notes: Iterable[str]) -> None:
        self.chain = chain
        self.inner = inner
        self.native = inner.native
        self.size = inner.size
        self.exactness = Exactness(inner.exactness.kind, (*inner.exactness.notes, *notes))

    def var(self, x: Interval | Integer) -> Any:
        """Return the native variable of a variable; a dict by name if several stand for it."""
        own_variable(x, self.chain.origin)
        variables = self.chain.variables(x)
        if isinstance(variables, dict):
            return {name: self.inner.var(v) for name, v in variables.items()}
        return self.inner.var(variables)

    def named(self) -> Any:
        """Return the native model with names; those of backends of third parties may have none."""
        inner: Any = self.inner
        if hasattr(inner, "named"):
            return inner.named()
        return self.native

    def assignment(self, answer: Any) -> Assignment:
        """Convert the solver's native answer to an assignment of the original."""
        return self.chain.back(self.inner.assignment(answer))

    def hint(self, assignment: Assignment) -> Any:
        """Return the values of all native variables."""
        own_values(assignment, self.chain.origin, "hint")
        return self.inner.hint(self.chain.forward(assignment))

    def fix(self, assignment: Assignment) -> None:
        """Fix every native variable to its value in ``hint(assignment)``."""
        own_values(assignment, self.chain.origin, "fix")
        self.inner.fix(self.chain.forward(assignment))

    def run(self, watch: Watch, limits: Limits, warm: Assignment | None = None) -> Outcome:
        """Solve the native model."""
        start = None
        if warm is not None:
            start = self.chain.forward(warm)
        outcome = self.inner.run(_BackWatch(watch, self.chain), limits, start)
        if isinstance(outcome, Outcome) and is_real(outcome.bound):  # anything else is an error of the driver
            outcome.bound = self.chain.bound(outcome.bound)
        return outcome

    def conflict(self, time_limit: float | None = None) -> Conflict:
        """Find constraints that cannot hold together; those of the decomposed model have the names of the original."""
        conflict = self.inner.conflict(time_limit)
        if isinstance(conflict, NoConflict):
            return NoConflict.of(self.chain.back(conflict.solution))
        if conflict.names is None:
            return conflict
        origin = self.chain.origin
        known = {c.name for c in origin.constraints}
        known |= {v.name for v in origin.intervals} | {x.name for x in origin.integers}
        names = tuple(dict.fromkeys(n for n in conflict.names if n in known or "objective" in n))
        if not names:
            return Conflict(None, f"{conflict.reason}, without a name in this model")
        parts = Counter(c.name for c in self.chain.model.constraints)
        whole = conflict.reason != MINIMAL or all(parts[name] <= 1 for name in names)
        return Conflict(names, conflict.reason if whole else UNTRIED)  # some parts of a constraint may suffice


class _BackWatch:
    """A watch that converts solutions and bounds of the decomposed model to those of the original."""

    def __init__(self, watch: Watch, chain: Chain | Origin) -> None:
        self._watch = watch
        self._chain = chain

    def solution(self, assignment: Assignment, bound: float | None = None) -> bool:
        """Report a solution."""
        checked_solution(assignment, bound, self._chain.model)
        return self._watch.solution(self._chain.back(assignment), None if bound is None else self._chain.bound(bound))

    def bound(self, value: float) -> bool:
        """Report a bound on the objective."""
        return self._watch.bound(self._chain.bound(value))


# --- A model as integer variables and linear comparisons alone, made by the pairwise lowering of ``backends.linear``.
#
# All columns of that lowering take whole values, except those of functions with real values (a max of real operands, a
# piecewise-linear function, an element of an array with real entries). These functions are replaced by choices before
# (``functions``). So every column becomes an integer variable, and every row a comparison, with whole coefficients
# wherever those of the row are whole.


LARGEST = 2.0**53  # the lowering computes in double precision
MAX_NONZEROS = 5_000_000  # about 1 GB of Python objects
REAL_FUNCTIONS = frozenset([Construct.MAX, Construct.MIN, Construct.ELEMENT, Construct.PIECEWISE])


class LinearModel:
    """A model that has only integer variables and linear comparisons, and the conversion of assignments.

    Parameters
    ----------
    origin : Model
        The model. It is not changed.

    Attributes
    ----------
    model : Model
        The linear model; its comparisons have the names of the constraints that they come from.
    """

    notes: tuple[str, ...] = ("lowering pairwise",)

    def __init__(self, origin: Model) -> None:
        require_range(origin, "the decomposition to linear comparisons", LARGEST, "it computes in double precision")
        if not _has_real_functions(origin):
            self._before = None
        else:
            self._before = Functions(origin, REAL_FUNCTIONS, real_only=True)
        if self._before is None:
            source = origin
        else:
            source = self._before.model
        try:
            self._lowered = lower(source, lowering="pairwise", max_nonzeros=MAX_NONZEROS)
        except LoweringTooLarge as e:
            advice = "use a backend that has interval variables"
            raise LoweringTooLarge(e.rows, e.columns, e.nonzeros, MAX_NONZEROS, advice) from None
        self.model = _model_of(self._lowered.form, origin)

    def forward(self, assignment: Assignment) -> Assignment:
        """Return the assignment of the linear model for one of the original."""
        made = Assignment(self.model)
        if self._before is None:
            inner = assignment
        else:
            inner = self._before.forward(assignment)
        values = np.rint(self._lowered.hint(inner)).astype(np.int64).tolist()
        made.integer = values + [0] * (len(self.model.integers) - len(values))
        return made

    def back(self, assignment: Assignment) -> Assignment:
        """Return the assignment of the original for one of the linear model."""
        solution = self._lowered.read(np.array(assignment.integer, dtype=np.float64))
        if self._before is None:
            return solution
        return self._before.back(solution)

    def bound(self, value: float) -> float:
        """Return the bound on the original's objective, which is the same."""
        return value

    def variables(self, x: Integer | Interval) -> Variables:
        """Return the integer variable of an integer; of an interval a dict of its "presence", "start" and "size".

        Parts that are constant have no variable.
        """
        inner = x
        if self._before is not None:
            if isinstance(x, Integer):
                inner = self._before.integers[x]
            else:
                inner = self._before.intervals[x]
        columns = self._lowered.columns(inner)
        of = self.model.integers
        if isinstance(columns, int):
            return of[columns]
        one = {"presence": columns.presence, "start": columns.start, "size": columns.size}
        return {name: of[k] for name, k in one.items() if k is not None}


def linear_model(model: Model) -> LinearModel:
    """Return a model as integer variables and linear comparisons alone.

    Parameters
    ----------
    model : Model
        The model. It is not changed.

    Returns
    -------
    LinearModel
        ``model`` is the linear model, ``back`` and ``forward`` convert assignments.

    Raises
    ------
    LoweringTooLarge
        If the linear model would be too large; nothing is built then.
    SolverUnavailable
        If its numbers would be too large for double precision.

    Examples
    --------
    >>> import schedlab as sl
    >>> m = sl.Model("two jobs", horizon=8); a, b = m.interval("a", size=3), m.interval("b", size=4)
    >>> m.add(sl.no_overlap([a, b]), "one at a time"); m.minimize(sl.max([a.end, b.end]))
    >>> made = linear_model(m)
    >>> made.model
    Model('two jobs': 0 intervals, 5 integers, 5 constraints)
    >>> made.back(made.forward(sl.Assignment(m, {a: 4, b: 0})))
    Assignment(a: 4..7, b: 0..4)
    """
    return LinearModel(model)


def _has_real_functions(model: Model) -> bool:
    return any(not a.integral for a in atoms_of(model))


def _model_of(form: LinearForm, origin: Model) -> Model:
    """Return the model whose integer variables are the columns of a form, and whose comparisons are its rows."""
    m = Model(origin.name, 0)
    for k, (lo, hi) in enumerate(zip(form.column_lo.tolist(), form.column_hi.tolist(), strict=True)):
        m.integer(f"{form.column_blocks.name(k)} {k}", math.ceil(lo), math.floor(hi))
    x = list(m.integers)
    start = form.start.tolist()
    index = form.index.tolist()
    value = _numbers(form.value.tolist())
    for i, (lo, hi) in enumerate(zip(form.row_lo.tolist(), form.row_hi.tolist(), strict=True)):
        look()
        entries = range(start[i], start[i + 1])
        terms: dict[Atom, Number] = {x[index[k]]: value[k] for k in entries}
        name = form.row_blocks.name(i)
        if terms:
            _require_exact(terms, name)
            m.constraints.append(NamedConstraint(name, Comparison(Linear(terms), _side(lo), _side(hi))))
        elif not lo <= 0 <= hi:
            m.constraints.append(NamedConstraint(name, m.integer("never", 0, 0) >= 1))
    if origin.objectives:
        cost = _numbers(form.cost.tolist())
        objective = Linear({x[k]: c for k, c in enumerate(cost) if c}, _side(form.offset))
        m.maximize(objective) if form.maximize else m.minimize(objective)
    return m


def _require_exact(terms: dict[Atom, Number], name: str) -> None:
    reach = sum(abs(c) * max(abs(x.lo), abs(x.hi)) for x, c in terms.items() if isinstance(x, Integer))
    if reach > LARGEST:
        raise SolverUnavailable(
            f"{name}: a linear comparison reaches {float(reach):.3g}, beyond {LARGEST:.3g}, which is computed exactly; "
            "use smaller units or coefficients"
        )


def _side(x: float) -> Number:
    if x.is_integer():
        return int(x)
    return x


def _numbers(values: list[float]) -> list[Number]:
    return [_side(v) for v in values]
