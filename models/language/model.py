"""Models, which hold variables, constraints and objectives."""

from __future__ import annotations

import copy
import numbers
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Never

import numpy as np

from ...errors import WrongArgument
from ..arguments import named, refuse
from ..long_calls import THIS_CALL, look
from ..words import hint, how_many, one_line
from . import calendars
from .constraints import (
    SCHEDULING,
    AllDifferent,
    AllOrNone,
    Alternative,
    Assignment,
    Constraint,
    Cumulative,
    DirectTransitions,
    ForbidExtent,
    Level,
    NamedConstraint,
    NoIdle,
    NoOverlap,
    Order,
    Precedence,
    SameSequence,
    Sense,
    Stated,
    StateFunction,
    Synchronize,
    Table,
    Violation,
    expressions_of,
    intervals_of,
    some,
)
from .expressions import (
    LARGEST,
    Comparison,
    Expression,
    Integer,
    Interval,
    Linear,
    ModelError,
    Number,
    Window,
    brief,
    common_model,
    linear,
    listed,
    number,
    pair,
    told,
    whole,
    windows_of,
)
from .horizon import UNLIMITED, Derivation, Horizon

SUFFIXES = 8  # last starts of an answer that are tried as the first one of those without end
LONGEST_NAME = 200  # characters of a name that is made from an expression


NO_SIZE: Any = None  # a default value, so that a misspelt keyword is named, and not the missing size


@named
class Model:
    """Variables, constraints and objectives, independent of any solver.

    Parameters
    ----------
    name : str
        The name that messages use.
    horizon : int, optional
        The latest start in seconds of intervals that are declared without ``start``. None: nothing is cut off. A time
        by which some optimal solution has started all of them is derived from the model (``language.horizon``: how, and
        for which models). Where none can be derived, times are as good as unlimited: backends that need a horizon ask for
        one, and an objective that becomes better without end gives the status "unbounded".

    Examples
    --------
    >>> import schedlab as sl
    >>> m = sl.Model("two jobs")
    >>> a, b = m.interval("a", size=3), m.interval("b", size=4, start=(0, 20))
    >>> m.add(sl.no_overlap([a, b]))
    >>> m.minimize(sl.max([a.end, b.end]))
    >>> m.value(m.objectives[0], sl.Assignment(m, {a: 0, b: 3}))
    7
    """

    def __init__(self, name: str, horizon: int | None = None) -> None:
        if type(name) is str:
            self.name = name
        else:
            self.name = _checked_name(name, "a model")
        self.intervals: list[Interval] = []
        self.integers: list[Integer] = []
        self.constraints: list[NamedConstraint] = []
        self.objectives: list[Linear] = []
        self.sense: Sense = "minimize"
        if horizon is None:
            self._horizon = None
        else:
            self._horizon = whole(horizon, f"the horizon of {name}")
        if self._horizon is not None and self._horizon < 0:
            raise ModelError(f"model {name!r}: the horizon is {self._horizon}; it must be >= 0")
        # of a model without a declared horizon; copies with other constraints share it: their intervals are the same
        if self._horizon is not None:
            self._derivation = None
        else:
            self._derivation = Derivation(self)

    @property
    def horizon(self) -> int:
        """The latest start in seconds of intervals that are declared without ``start``; as declared, else derived."""
        derived = self.derived_horizon
        if derived is not None:
            return derived.value
        assert self._horizon is not None  # a model without a declared horizon has a derived one
        return self._horizon

    @property
    def derived_horizon(self) -> Horizon | None:
        """The horizon that is derived from the model, and whether it is proved to suffice; None if one is declared."""
        if self._derivation is None:
            return None
        return self._derivation.horizon()

    def blank(self) -> Model:
        """Return a model of the same name and horizon without variables, constraints and objectives."""
        made = Model(self.name, self._horizon)
        made._derivation = self._derivation
        return made

    def with_horizon(self, horizon: int | None) -> Model:
        """Return a copy with another horizon, or none; it has variables of its own, in the same order."""
        from . import text_forms

        return text_forms.read(type(self), {**text_forms.write(self), "horizon": horizon})

    @property
    def declared_horizon(self) -> int | None:
        """The horizon as declared; None if it is derived."""
        return self._horizon

    def copy(self, name: str | None = None) -> Model:
        """Return a copy with variables of its own, in the same order; a change of one model does not change the other.

        Parameters
        ----------
        name : str, optional
            The name of the copy. None: that of the model.

        Returns
        -------
        Model
            ``copied.intervals[v.index]`` is the copy of the interval v, ``copied.integers[x.index]`` that of the integer x.

        Examples
        --------
        >>> m = Model("m", horizon=9); a = m.interval("a", size=3); m.add(a.start >= 2, "late"); m.minimize(a.end)
        >>> n = m.copy("relaxed"); n.remove("late"); n.intervals[a.index].model is n, n, m
        (True, Model('relaxed': 1 interval, 0 integers, 0 constraints), Model('m': 1 interval, 0 integers, 1 constraint))
        """
        made = self.with_horizon(self._horizon)
        if name is not None:
            made.name = _checked_name(name, "a model")
        return made

    def interval(
        self,
        name: str,
        size: int | tuple[int, int] = NO_SIZE,
        start: int | Window | Sequence[Window] | None = None,
        optional: bool = False,
        *,
        end: int | Window | Sequence[Window] | None = None,
        work: int | tuple[int, int] | None = None,
        intensity: int | Sequence[tuple[int, int]] | None = None,
        **unknown: Never,
    ) -> Interval:
        """Declare an interval variable.

        Parameters
        ----------
        name : str
            The name that messages use.
        size : int or (int, int)
            The size in seconds, the end minus the start; or (lo, hi) for a variable size. With ``work`` it may be left
            out, and is derived.
        start : int, (int, int), sequence of (int, int), or None
            A fixed start in seconds; a window (lo, hi) of the start, both ends included; a list of windows (a
            calendar); or None for 0 to the horizon.
        optional : bool, default False
            Whether the interval may be absent.
        end : int, (int, int), sequence of (int, int), or None
            The same for the end: the model gets the constraint ``in_domain(v.end, windows, interval=v)``.
        work : int, (int, int) or None
            The work in seconds at full intensity, with ``intensity``: the model gets ``intensity(v, work, intensity)``.
        intensity : int, sequence of (int, int), or None
            The intensity in percent, or steps [(time in seconds, percent), ...].

        Returns
        -------
        Interval
            The variable.

        Raises
        ------
        ModelError
            If a size is negative, or a window has lo > hi, or no greatest size can be derived from the intensity.

        Examples
        --------
        >>> m = Model("m")
        >>> m.interval("night job", size=(60, 120), start=[(0, 100), (400, 500)], optional=True)
        night job
        >>> a = m.interval("repair", work=8, intensity=[(0, 100), (16, 0), (32, 50)], end=(0, 60))
        >>> (a.size_lo, a.size_hi), [c.name for c in m.constraints]
        ((8, 33), ['intensity of repair', 'end of repair'])
        """
        if work is not None or intensity is not None or end is not None:
            return self._in_calendar(name, size, start, optional, end, work, intensity, unknown)
        if type(name) is not str or (optional is not False and optional is not True) or unknown:
            name, optional = _checked_interval(name, optional, unknown)
        if (
            type(size) is int and size <= LARGEST
        ):  # the common case, kept fast: models have tens of thousands of intervals
            lo = hi = size
        else:
            if size is NO_SIZE:
                raise ModelError(f"interval {name!r} has no size; expected size=SECONDS or size=(LEAST, GREATEST)")
            if isinstance(size, (tuple, list, np.ndarray)):
                ends = pair(size, f"the size of {name}")
            else:
                ends = (size, size)
            if any(isinstance(s, bool) for s in ends):
                raise ModelError(f"the size of {name} must be a finite number, not {size!r}")
            lo, hi = (whole(s, f"the size of {name}") for s in ends)
        if lo < 0 or hi < lo:
            raise ModelError(f"interval {name!r}: the size must be 0 <= lo <= hi, not {(lo, hi)}")
        windows = None
        if start is not None:
            windows = windows_of(name, start)
        if THIS_CALL.end is not None:
            look()
        made = Interval(self, len(self.intervals), name, (lo, hi), windows, optional)
        self.intervals.append(made)
        return made

    def _in_calendar(
        self,
        name: str,
        size: Any,
        start: Any,
        optional: bool,
        end: Any,
        work: Any,
        intensity: Any,
        unknown: dict[str, Any],
    ) -> Interval:
        """Declare an interval with end windows, or with a work and an intensity."""
        if (work is None) != (intensity is None):
            missing = "intensity"
            if work is None:
                missing = "work"
            raise ModelError(f"interval {name!r}: work and intensity belong together; {missing} is missing")
        if work is not None:
            trial = calendars.intensity(
                Interval(self, -1, _checked_name(name, "an interval"), (0, 0), None, True), work, intensity
            )
            if size is NO_SIZE:
                size = calendars.lengths(trial.work, trial.steps)
                if size is None:
                    raise ModelError(
                        f"interval {name!r}: its intensity is 0 at the begin or the end of time, so that no greatest size "
                        "can be derived; give it, as in size=(LEAST, GREATEST)"
                    )
        windows = None
        if end is not None:
            windows = windows_of(_checked_name(name, "an interval"), end, "end")
        made = self.interval(name, size, start, optional, **unknown)
        if work is not None:
            self.add(calendars.Intensity(made, trial.work, trial.steps), f"intensity of {name}")
        if windows is not None:
            self.add(calendars.in_domain(made.end, windows, made), f"end of {name}")
        return made

    def integer(self, name: str, lo: int, hi: int, **unknown: Never) -> Integer:
        """Declare an integer variable in [lo, hi]; raise ModelError if lo > hi.

        Examples
        --------
        >>> Model("m").integer("units on node 3", 0, 4)
        units on node 3
        """
        if type(name) is not str or unknown:
            name = _checked_integer(name, unknown)
        if not (
            type(lo) is type(hi) is int and -LARGEST <= lo <= hi <= LARGEST
        ):  # else no texts are made: models have tens of thousands of integers
            lo = whole(lo, f"the lower bound of {name}")
            hi = whole(hi, f"the upper bound of {name}")
        if lo > hi:
            raise ModelError(f"integer {name!r}: the lower bound {lo} is above the upper bound {hi}")
        if THIS_CALL.end is not None:
            look()
        made = Integer(self, len(self.integers), name, lo, hi)
        self.integers.append(made)
        return made

    def boolean(self, name: str) -> Integer:
        """Declare an integer variable that is 0 or 1."""
        return self.integer(name, 0, 1)

    def add(self, constraint: Constraint, name: str | None = None) -> None:
        """Add a constraint to the model.

        Parameters
        ----------
        constraint : Constraint
            A comparison, or a constraint made by a function such as ``no_overlap``.
        name : str, optional
            The name that messages use. None: a name is made from the intervals or the expression of the constraint.

        Raises
        ------
        ModelError
            If the first argument is no constraint, or has variables of another model.
        """
        look()
        self._owned(constraint)
        if name is not None and type(name) is not str:
            name = _checked_name(name, "a constraint")
        self.constraints.append(NamedConstraint(describe(constraint) if name is None else name, constraint))

    def _owned(self, constraint: Constraint) -> None:
        """Raise ModelError for what is no constraint, or one of another model."""
        if isinstance(constraint, Comparison):
            owner = constraint.model
        elif isinstance(constraint, SCHEDULING):
            members = intervals_of(constraint)
            if members:
                owner = members[0].model
            else:
                owner = _owner_of_expressions(constraint)
        else:
            raise ModelError(f"model {self.name!r}: {told(constraint)} is not a constraint{_not_added(constraint)}")
        if owner is not None and owner is not self:
            raise ModelError(f"model {self.name!r}: {describe(constraint)} contains variables of model {owner.name!r}")

    def remove(self, constraint: Constraint | NamedConstraint | str) -> None:
        """Remove a constraint from the model.

        Parameters
        ----------
        constraint : Constraint, NamedConstraint or str
            The constraint that was added, an entry of ``constraints``, or its name if no other constraint has it.

        Raises
        ------
        ModelError
            If the model has no such constraint, or several of that name.

        Examples
        --------
        >>> m = Model("m", horizon=9); a = m.interval("a", size=3)
        >>> late = a.start >= 2; m.add(late); m.add(a.end <= 8, "deadline")
        >>> m.remove(late); m.remove("deadline"); m.constraints
        []
        """
        k = self._place(constraint, "remove")
        self._change([*self.constraints[:k], *self.constraints[k + 1 :]])

    def replace(self, constraint: Constraint | NamedConstraint | str, by: Constraint) -> None:
        """Put another constraint in the place of one of the model; it gets the name of the old one.

        Parameters
        ----------
        constraint : Constraint, NamedConstraint or str
            The constraint that was added, an entry of ``constraints``, or its name if no other constraint has it.
        by : Constraint
            The new constraint.

        Raises
        ------
        ModelError
            If the model has no such constraint, or several of that name, or ``by`` is no constraint of this model.

        Examples
        --------
        >>> m = Model("m", horizon=9); a = m.interval("a", size=3); m.add(a.end <= 8, "deadline")
        >>> m.replace("deadline", a.end <= 6); m.constraints
        [NamedConstraint(name='deadline', constraint=a.end <= 6)]
        """
        k = self._place(constraint, "replace")
        self._owned(by)
        self._change([*self.constraints[:k], NamedConstraint(self.constraints[k].name, by), *self.constraints[k + 1 :]])

    def _place(self, given: object, what: str) -> int:
        """Return the position of a constraint that is given by itself, by its entry or by its name."""
        if not isinstance(given, NamedConstraint):
            wanted = given
        else:
            wanted = given.constraint
        if isinstance(wanted, str):
            places = [k for k, c in enumerate(self.constraints) if c.name == wanted]
        else:
            places = [k for k, c in enumerate(self.constraints) if c.constraint is wanted]
        if len(places) == 1 or (places and not isinstance(wanted, str)):
            return places[0]
        if isinstance(wanted, str):
            message = f"{how_many(len(places), 'constraint')} are named {wanted!r}; give the constraint itself"
            missing = hint(wanted, [c.name for c in self.constraints], "its constraints are", "it has none")
            raise ModelError(
                f"model {self.name!r}: {what}(): {message if places else f'{wanted!r} is no constraint; {missing}'}"
            )
        raise ModelError(
            f"model {self.name!r}: {what}({told(given)}): the model has no such constraint; give the object that was "
            "added, an entry of model.constraints, or a name"
        )

    def _change(self, constraints: list[NamedConstraint]) -> None:
        self.constraints = constraints
        if self._derivation is not None:
            self._derivation.forget()

    def minimize(
        self, objective: Expression | Number | Sequence[Expression | Number], *, replace: bool = False
    ) -> None:
        """Set the objective to minimize: an expression, or a list of expressions in lexicographic order.

        Raises
        ------
        ModelError
            If the model has an objective already, and ``replace`` is False.
        """
        self._set_objectives("minimize", objective, replace)

    def maximize(
        self, objective: Expression | Number | Sequence[Expression | Number], *, replace: bool = False
    ) -> None:
        """Set the objective to maximize: an expression, or a list of expressions in lexicographic order.

        Raises
        ------
        ModelError
            If the model has an objective already, and ``replace`` is False.
        """
        self._set_objectives("maximize", objective, replace)

    def _set_objectives(
        self, sense: Sense, objective: Expression | Number | Sequence[Expression | Number], replace: bool
    ) -> None:
        several = isinstance(objective, (Sequence, Iterator, np.ndarray)) and not isinstance(objective, (str, bytes))
        given: list[Any]
        if several:
            given = listed(objective, f"the objectives of {sense}()")
        else:
            given = [objective]
        objectives = [linear(e) for e in given]
        if not objectives:
            raise ModelError(f"model {self.name!r}: {sense}() needs at least one expression; the list is empty")
        owner = common_model((a for e in objectives for a in e.terms), f"{sense}()")
        if owner is not None and owner is not self:
            raise ModelError(f"model {self.name!r}: {sense}() contains variables of model {owner.name!r}")
        if self.objectives and not replace:
            raise ModelError(
                f"model {self.name!r}: {sense}({_several(objectives)}) would replace {self.sense}"
                f"({_several(self.objectives)}); for objectives in order give one list, such as minimize([first, -second]) "
                f"with a minus for what is maximized, or {sense}(..., replace=True)"
            )
        self.objectives, self.sense = objectives, sense

    def check(self, assignment: Assignment) -> list[Violation]:
        """Return the violations of an assignment with their amounts, without a solver; an empty list for a solution."""
        from .semantics import check

        self._own(assignment)
        return check(self, assignment)

    def value(self, expression: Expression | Number, assignment: Assignment) -> Number:
        """Return the value of an expression under an assignment; it is exact for integers.

        Raises
        ------
        UndefinedValue
            If the argument of an ``element`` or ``piecewise`` is outside of its range.
        """
        from .semantics import Evaluator

        self._own(assignment)
        if not isinstance(expression, Expression):
            return number(expression, "the expression of value()")
        owner = common_model(expression.linear().terms, "value()")
        if owner is not None and owner.intervals is not self.intervals:
            raise ModelError(f"model {self.name!r}: {expression} contains variables of model {owner.name!r}")
        return Evaluator(assignment).value(expression)

    def _own(self, assignment: Assignment) -> None:
        """Raise ModelError for an assignment of another model; stages of a lexicographic solve share the variables."""
        if not isinstance(assignment, Assignment):
            raise WrongArgument(f"the assignment is {told(assignment)}; expected an Assignment of {self!r}")
        if assignment.model.intervals is not self.intervals:
            raise ModelError(f"model {self.name!r}: the assignment belongs to model {assignment.model.name!r}")

    def listing(self, limit: int | None = 200) -> str:
        """Return the model as text: objectives, variables and constraints, one per line; ``print(model)`` shows it.

        Parameters
        ----------
        limit : int or None, default 200
            The number of entries to list, of at most 200 characters each. None: everything.

        Examples
        --------
        >>> import schedlab as sl
        >>> m = sl.Model("one job"); a = m.interval("a", size=3); m.add(a.start >= 1, "late"); m.minimize(a.end)
        >>> print(m)
        Model 'one job': 1 objective, 1 interval, 0 integers, 1 constraint; horizon 4
        minimize:
          a.end
        intervals:
          a: size 3, start 0 to 4
        constraints:
          late: a.start >= 1
        """
        if limit is not None and not (isinstance(limit, numbers.Integral) and limit >= 0):
            raise WrongArgument(f"limit of listing is {told(limit)}; expected a whole number of at least 0, or None")
        from .text_forms import listing  # here and below: importing schedlab stays quick

        return listing(self, limit, describe)

    def to_json(self) -> str:
        """Return the model as JSON text, which ``Model.from_json`` and other programs read; docs/models.md explains it."""
        from . import text_forms

        return text_forms.text(text_forms.write(self))

    @classmethod
    def from_json(cls, data: str | bytes | Mapping[str, Any]) -> Model:
        """Return the model of a JSON text of ``to_json``, or of the dict that it contains.

        Raises
        ------
        ModelError
            If the text is no model, or was written by a newer version; the message names the place.
        """
        from . import text_forms

        return text_forms.read(cls, data)

    def __str__(self) -> str:
        return self.listing()

    def __repr__(self) -> str:
        name = one_line(repr(self.name), 40)
        counts = f"{how_many(len(self.intervals), 'interval')}, {how_many(len(self.integers), 'integer')}, {how_many(len(self.constraints), 'constraint')}"
        return f"Model({name}: {counts})"


def _owner_of_expressions(constraint: Constraint) -> Any:
    """Return the model of a constraint without intervals of its own."""
    atoms = (a for e in expressions_of(constraint) for a in e.terms)
    return common_model(atoms, type(constraint).__name__)


def _checked_name(name: object, what: str) -> str:
    """Return a name as a text; raise ModelError if it is none."""
    if not isinstance(name, str):
        raise ModelError(f"the name of {what} is {told(name)}; expected a text")
    return str(name)


def _not_added(value: object) -> str:
    """Return what to do in place of adding a value that is no constraint."""
    if isinstance(value, (bool, np.bool_)):
        return ": it compares numbers or texts, not expressions of variables; a level has <=, >= and sl.always_in"
    if isinstance(value, tuple) and len(value) == 4 and isinstance(value[0], Interval):
        return "; sl.state_function([...]) takes what a state must be"
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return "; add each constraint by itself"
    return ""


def _checked_interval(name: object, optional: object, unknown: Mapping[str, Any]) -> tuple[str, bool]:
    """Return the checked arguments of ``Model.interval``."""
    if unknown:
        refuse(Model.interval, unknown)
    text = _checked_name(name, "an interval")
    if not isinstance(optional, (bool, np.bool_)):
        raise ModelError(f"interval {text!r}: optional is {optional!r:.100}; expected True or False")
    return text, bool(optional)


def _checked_integer(name: object, unknown: Mapping[str, Any]) -> str:
    """Return the checked name of ``Model.integer``."""
    if unknown:
        refuse(Model.integer, unknown)
    return _checked_name(name, "an integer")


def _several(objectives: Sequence[Linear]) -> str:
    """Return the text of one objective or a list of objectives."""
    if len(objectives) == 1:
        return str(objectives[0])
    return f"[{', '.join(map(str, objectives))}]"


def describe(constraint: Constraint) -> str:
    """Return a name for a constraint that was added without one."""
    match constraint:
        case Precedence(a, b, delay, kind, at_most):
            lags = ""
            if at_most is not None:
                lags = f" ({delay:+d} to {at_most:+d})"
            return f"{kind} {a} -> {b}" + (lags or (f" ({delay:+d})" if delay else ""))
        case Alternative(a, options, k):
            return f"alternative of {a}: {k} of {len(options)}"
        case Cumulative(intervals, _, steps):
            return f"cumulative of {some(intervals)} within {steps[0][1]}{' (stepwise)' if len(steps) > 1 else ''}"
        case NoOverlap(intervals, transitions):
            return f"no overlap of {some(intervals)}{' with transitions' if transitions else ''}"
        case AllOrNone(intervals):
            return f"all or none of {some(intervals)}"
        case ForbidExtent(a, windows):
            return f"forbid extent of {a} in {how_many(len(windows), 'window')}"
        case Synchronize(a, others):
            return f"synchronize {a} with {some(others)}"
        case AllDifferent(expressions):
            return f"all different: {some(expressions)}"
        case Table(expressions, tuples):
            return f"table of {some(expressions)} with {how_many(len(tuples), 'tuple')}"
        case Level(changes, _, lo, hi):
            bounds = " and ".join(f"{sign} {b}" for sign, b in ((">=", lo), ("<=", hi)) if b is not None)
            return f"level of {some([v for _, v, _ in changes])} {bounds}"
        case Order(intervals, one, kind, other):
            whom = one if other is None else f"{one}, {other}"
            return f"{kind} of {some(intervals)}: {whom}"
        case DirectTransitions(intervals):
            return f"direct transitions of {some(intervals)}"
        case StateFunction(uses):
            return f"state of {some([v for v, _, _, _ in uses])}"
        case NoIdle(intervals):
            return f"no idle time of {some(intervals)}"
        case SameSequence(intervals, others):
            return f"same sequence of {some(intervals)} and {some(others)}"
        case Stated():
            return constraint.described()[:LONGEST_NAME]
        case _:
            return brief(constraint.pieces(), LONGEST_NAME)


def without_end(model: Model, assignment: Assignment) -> str:
    """Return what is wrong with an answer that becomes better if its late intervals start later still; "" if nothing is."""
    derived = model.derived_horizon
    if derived is None or not derived.endless or not model.objectives:
        return ""
    end = derived.value - UNLIMITED // 2
    late = [v for v in model.intervals if assignment.present[v.index] and assignment.start[v.index] > end]
    if not late:
        return ""
    later = copy.deepcopy(assignment, {id(assignment.model): assignment.model})
    for v in late:
        later.set(v, assignment.start[v.index] + UNLIMITED, assignment.end[v.index] + UNLIMITED)
    if model.check(later):  # first: an objective may have no value so late
        return ""
    values = [tuple(model.value(e, s) for e in model.objectives) for s in (assignment, later)]
    if model.sense == "minimize":
        better = values[0] > values[1]
    else:
        better = values[0] < values[1]
    if not better:
        return ""
    return (
        f"the objective becomes better without end, the later {late[0]} starts: give the model a horizon, as in "
        "Model(name, horizon=86400), or a constraint that bounds the time"
    )


def latest_without_end(model: Model, assignment: Assignment) -> Assignment | None:
    """Return an answer whose last intervals start as late as possible, if it shows that the objective has no end.

    A solver may otherwise go from each answer to one that is a second later. Only the ``SUFFIXES`` last starts are tried,
    and the first one.
    """
    derived = model.derived_horizon
    if derived is None or not derived.endless or not model.objectives:
        return None
    present = [v for v in model.intervals if assignment.present[v.index]]
    starts = sorted({assignment.start[v.index] for v in present}, reverse=True)
    for first in dict.fromkeys([*starts[:SUFFIXES], *starts[-1:]]):
        later = copy.deepcopy(assignment, {id(assignment.model): assignment.model})
        shift = derived.value - starts[0]
        for v in present:
            if assignment.start[v.index] >= first:
                later.set(v, assignment.start[v.index] + shift, assignment.end[v.index] + shift)
        if not model.check(later) and without_end(model, later):
            return later
    return None
