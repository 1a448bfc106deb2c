"""A decomposed model inside a backend that lacks some constructs: the map between the original and the native model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ...models.language import Assignment, Integer, Interval, Model
from ...models.whole_numbers import is_real
from ..base import Backend, Compiled, Conflict, Exactness, Limits, NoConflict, Outcome, Watch, compiled_repr
from ..uses import checked_compiled, checked_solution, own_values, own_variable
from .chain import Chain
from .constructs import ALL
from .origin import Origin, needs_origin


def compile_supported(backend: Backend, model: Model, **options: Any) -> Compiled:
    """Compile a model, after replacing what the backend does not support.

    Parameters
    ----------
    backend : Backend
        The backend. Its attribute ``supports`` is the set of constructs that it takes; without it, it takes all.
    model : Model
    **options
        Options of the backend.

    Returns
    -------
    Compiled
        What the backend returns, or a `DecomposedCompiled` around it. Its ``exactness.notes`` name what was replaced.
    """
    chain = Chain(model, frozenset(getattr(backend, "supports", ALL)))
    inner = checked_compiled(backend, backend.compile(chain.model, **options))
    if not chain.steps:
        return inner
    constructs = ", ".join(sorted(chain.replaced))
    note = f"decomposed, because {backend.name} does not have them: {constructs}"
    return DecomposedCompiled(chain, inner, (note, *(n for step in chain.steps for n in step.notes)))


def compile_at_origin(model: Model, compiled: Callable[[Model], Compiled]) -> Compiled:
    """Compile a model with times from its earliest start on, where it matters (``origin.needs_origin``).

    Parameters
    ----------
    model : Model
    compiled : callable
        Compiles a model.

    Returns
    -------
    Compiled
        In the times of ``model``.
    """
    if not needs_origin(model):
        return compiled(model)
    moved = Origin(model)
    return DecomposedCompiled(moved, compiled(moved.model), (f"times are counted from {moved.shift} s on",))


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
        found = self.chain.variables(x)
        if isinstance(found, dict):
            return {name: self.inner.var(v) for name, v in found.items()}
        return self.inner.var(found)

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
        start = None if warm is None else self.chain.forward(warm)
        outcome = self.inner.run(_BackWatch(watch, self.chain), limits, start)
        if isinstance(outcome, Outcome) and is_real(outcome.bound):  # anything else is an error of the driver
            outcome.bound = self.chain.bound(outcome.bound)
        return outcome

    def conflict(self, time_limit: float | None = None) -> Conflict:
        """Find constraints that cannot hold together; those of the decomposed model have the names of the original."""
        found = self.inner.conflict(time_limit)
        if isinstance(found, NoConflict):
            return NoConflict.of(self.chain.back(found.solution))
        if found.names is None:
            return found
        origin = self.chain.origin
        known = {c.name for c in origin.constraints}
        known |= {v.name for v in origin.intervals} | {x.name for x in origin.integers}
        names = tuple(dict.fromkeys(n for n in found.names if n in known or "objective" in n))
        return Conflict(names, found.reason)


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
