"""The choice and the sequence of decompositions for a model and a backend."""

from __future__ import annotations

from ...models.language import Assignment, Integer, Interval, Model
from .capacities import Cumulatives, StepwiseCapacities, VariableDemands
from .constructs import PRECEDENCES, Construct, atoms_of, constructs_of
from .decomposition import Decomposition, Step, Variables
from .functions import Functions, Overlaps
from .intervals import Optionals, StartWindows
from .linear import REAL_FUNCTIONS, LinearModel
from .real_numbers import RealNumbers
from .scheduling import AllOrNones, Alternatives, MaximumLags, NoOverlaps, Precedences, Synchronizations
from .transitions import ForbiddenExtents, Transitions

ORDER: tuple[type[Decomposition], ...] = (
    Alternatives,
    AllOrNones,
    Transitions,
    ForbiddenExtents,
    MaximumLags,
    VariableDemands,
    StepwiseCapacities,
    NoOverlaps,
    Cumulatives,
    Synchronizations,
    Precedences,
    StartWindows,
    Optionals,
    Overlaps,
    Functions,
    RealNumbers,
)
"""A decomposition uses only constructs that every backend has, or that a later one replaces."""

# constructs for which the size 0, which stands for the absence of an interval, is not the same as its absence
_WITH_OPTIONAL = frozenset(
    [Construct.ALTERNATIVE, Construct.ALL_OR_NONE, Construct.SYNCHRONIZE, Construct.TRANSITIONS, *PRECEDENCES]
)
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
            self._append(LinearModel(origin))
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
        found: dict[str, Integer | Interval] = {"": x}
        for step in self.steps:
            found = {k: v for name, one in found.items() for k, v in _named(name, step.variables(one)).items()}
        return found[""] if list(found) == [""] else found


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


def _named(name: str, found: Variables) -> dict[str, Integer | Interval]:
    if not isinstance(found, dict):
        return {name: found}
    return {part if name in ("", "interval") else f"{name} {part}": v for part, v in found.items()}


def _missing(model: Model, supports: frozenset[Construct]) -> frozenset[Construct]:
    """Return the constructs to replace, with those that depend on another missing one."""
    present = constructs_of(model)
    missing = frozenset(Construct) - supports
    if Construct.NO_OVERLAP in missing:
        missing |= {Construct.TRANSITIONS}
    if Construct.CUMULATIVE in missing:
        missing |= _OF_CUMULATIVE
    digits = Construct.VARIABLE_DEMAND in present & missing  # these bring optional intervals
    if Construct.OPTIONAL in missing and (Construct.OPTIONAL in present or digits):
        missing |= _WITH_OPTIONAL
    if missing & (REAL_FUNCTIONS | {Construct.REAL}) and any(not a.integral for a in atoms_of(model)):
        missing |= REAL_FUNCTIONS
    return missing
