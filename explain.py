"""Explain an infeasible problem: a minimal set of its elements that cannot hold together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .backends import Limits, LoweringTooLarge, SolverUnavailable, run
from .backends import backend as find_backend
from .backends.result import close
from .backends.solver_thread import INTERRUPTED, catch_first, new_call
from .errors import WrongArgument
from .methods.text import call_limits
from .models import Problem, kind
from .models.arguments import checked, is_real
from .models.elements import Answer, ConstraintElements, Element, Elements, Explanation, Progress, minimal_set
from .models.kind import all_formulations
from .models.language import Model
from .models.language.constraints import NamedConstraint
from .models.long_calls import OutOfTime, within
from .models.plugins import is_false
from .models.problem import objective_of, violations_of
from .models.words import how_many
from .solve import model_or_problem

if TYPE_CHECKING:
    from .instances import Instance

SHARE, LEAST = 0.2, 0.5  # a check after the first one gets this share of the time that is left, or these seconds
LATE = "the time limit ended"
SECOND = 2.0  # greatest wall time (s) of another backend that checks a proof
UNDECIDED = "the solver did not decide in the time given whether there is a solution"


OnProgress = Callable[[Progress], Any]


@checked(values=False, skip=("objective_limit",))
def explain(
    what: Problem | Model | Instance | str,
    *,
    objective_limit: float | Sequence[float | None] | None = None,
    backend: str = "cpsat",
    time_limit: float | None = None,
    threads: int | None = None,
    seed: int = 0,
    on_progress: OnProgress | None = None,
) -> Explanation:
    """Find a minimal set of elements of a problem that cannot hold together, and say why.

    The elements of a problem are its jobs, resources, windows, deadlines and so on; its kind declares them. Those of a
    model, and of a problem whose kind declares none, are the constraints. Parts of the problem are checked by their data,
    by relaxations, and by an exact formulation on the backend. Ctrl-C ends the call with the smallest infeasible set so
    far.

    A set that only a solver calls infeasible is checked by a second backend for up to 2 s of the time that is left, and
    the constraints of a model are held against all solutions found in the call. If a verified answer satisfies the set,
    the solver is wrong, and the status is "error".

    Parameters
    ----------
    what : Problem, Model, Instance or str
        The problem; a text is the name of an instance, or the path of its folder.
    objective_limit : float or sequence of float or None, optional
        Explain why no answer has an objective at least as good as this; with several objectives, one limit for each, None
        for no limit. The limit is one more element. Not for objectives that may become worse if an element is removed,
        such as the profit.
    backend : str
        Name of the backend that checks whether parts are feasible.
    time_limit : float, optional
        Wall time of the call in seconds; None: no limit. If it ends, the smallest infeasible set so far is returned.
    threads : int, optional
        Greatest number of threads of the solver; None: its default.
    seed : int
        Seed of random numbers of the solver.
    on_progress : callable, optional
        Called with a ``Progress`` after each check; returning False ends the call.

    Returns
    -------
    Explanation

    Raises
    ------
    UnknownName
        If there is no such backend.
    SolverUnavailable
        If the solver is missing or cannot take the problem.
    TypeError
        If ``objective_limit`` is given and the objective cannot be limited, or if an argument has a wrong type.
    ValueError
        If an argument has a wrong value.

    References
    ----------
    [Junker2004].

    Examples
    --------
    >>> from schedlab.models import Project, Resource, Task
    >>> tasks = [Task.single("a", 3, {"crane": 1}), Task.single("b", 4, {"crane": 1}), Task.single("c", 1)]
    >>> print(explain(Project(tasks, [Resource("crane", 1)]), objective_limit=6))
    infeasible: a and b cannot be done with 1 of crane if the makespan is at most 6
    These 4 cannot hold together; without any one of them, the others can:
      resource: the project has 1 of crane at any time
      task: b takes 4 with 1 of crane
      task: a takes 3 with 1 of crane
      limit: the makespan is at most 6
    """
    parts = elements_of(model_or_problem(what))
    limits = _limits(parts, objective_limit)
    solver = call_limits(time_limit, threads, seed, None, None, {}).begun()
    new_call()
    search = _Search(parts, limits, backend, solver, on_progress)
    try:
        with within(solver.deadline):
            search.run()
    except _Stopped as e:
        search.why = str(e)
    except OutOfTime:
        search.why = LATE
    except KeyboardInterrupt as e:
        catch_first(e)
        search.why = INTERRUPTED
    return search.explanation()


def elements_of(what: Problem | Model) -> Elements:
    """Return the elements that the kind of a problem declares, else the constraints of its first formulation."""
    if isinstance(what, Model):
        return ConstraintElements(what)
    found = kind.known(what.kind)
    if found is not None and found.elements is not None:
        made: Elements = kind.resolve(found.elements)(what)
        return made
    encodings = [make() for make in all_formulations(what).own.values()]
    exact = [e for e in encodings if not e.relaxation]
    if not exact:
        raise WrongArgument(
            f"problems of kind {what.kind!r} have no exact formulation, so that no part can be proven feasible"
        )
    return ConstraintElements(exact[0].model)


def _limits(parts: Elements, given: float | Sequence[float | None] | None) -> dict[Element, tuple[int, float]]:
    """Return the elements of the objective limits, each with the number of its objective and its value."""
    if given is None:
        return {}
    if isinstance(given, Sequence):
        values = list(given)
    else:
        values = [given]
    for value in values:
        if value is not None and not is_real(value):
            raise WrongArgument(
                f"objective_limit is {given!r:.80}; expected a number, or None or a number per objective"
            )
    if len(values) > len(parts.objectives):
        names = ", ".join(parts.objectives) or "none, as removing an element could make the objective worse"
        raise WrongArgument(
            f"objective_limit has {how_many(len(values), 'value')}; objectives that can be limited: {names}"
        )
    found, word = {}, "least" if parts.maximized else "most"
    for k, (name, value) in enumerate(zip(parts.objectives, values, strict=False)):
        if value is not None:
            found[Element("limit", name, f"the {name} is at {word} {value:,.10g}")] = (k, float(value))
    return found


class _Stopped(Exception):
    """The search ended before its set was proven minimal; the message says why."""


class _Search:
    """The search for a minimal infeasible set."""

    def __init__(
        self,
        parts: Elements,
        limits: dict[Element, tuple[int, float]],
        backend: str,
        solver: Limits,
        on_progress: OnProgress | None,
    ) -> None:
        self.parts, self.limits, self.backend, self.solver = parts, limits, backend, solver
        self.on_progress = on_progress
        if not limits:
            harmless = parts.harmless
        else:
            harmless = frozenset()
        # limits come first: a conflict without them is found in any case, as the set is minimal
        self.all = [*limits, *(e for e in parts.all if e not in harmless)]
        self.best: list[Element] | None = None  # the smallest set that is proven infeasible
        self.status: Answer = "unknown"
        self.feasible: list[frozenset[Element]] = []
        self.infeasible: list[frozenset[Element]] = []
        self.answers: list[Any] = []  # assignments of the feasible parts of a model
        self.checks, self.minimal, self.why = 0, False, ""

    def run(self) -> None:
        """Decide whether the problem is feasible; if not, make ``best`` minimal, with cheap proofs first."""
        for prove in (self._by_data, *map(self._by_relaxation, self._relaxations())):
            if prove(self.smallest):
                self._shrink(prove)
        if self.best is None:
            self.status = self._answer(self.all, share=1.0)
            if self.status != "infeasible":
                if self.status == "unknown":
                    self.why = self.why or UNDECIDED
                else:
                    self.why = ""
                return
        self._shrink(lambda some: self._answer(some) == "infeasible")
        self._doubt()
        doubtful = self._without_each()
        self._hold_against_answers()
        self.minimal = not doubtful
        if doubtful:
            self.why = self.why or f"{UNDECIDED} without {doubtful} of them, one at a time"
        else:
            self.why = ""

    def _without_each(self) -> int:
        """Check the set without each one of its elements; return how often it stays unknown whether the others can hold.

        A set that turns out to be infeasible without one of them is made smaller, and checked again.
        """
        checked: list[Element] = []
        doubtful = 0
        while checked != self.smallest:
            checked, doubtful = list(self.smallest), 0
            for e in checked:
                found = self._answer([other for other in checked if other != e])
                if found == "infeasible":
                    break  # the smallest set is now another one
                doubtful += found == "unknown"
        return doubtful

    @property
    def smallest(self) -> list[Element]:
        """The smallest set that may be infeasible: ``best``, or all elements."""
        if self.best is None:
            return self.all
        return self.best

    def _shrink(self, refuted: Callable[[Sequence[Element]], bool]) -> None:
        """Make the infeasible set as small as ``refuted`` can prove."""
        self._note(self.smallest)
        self._note(minimal_set(self.smallest, refuted, self._note))

    def _doubt(self) -> None:
        """Hold the infeasible set against all answers so far, and against another backend; raise _Stopped if one contradicts."""
        if self.parts.refuted(self._part(self.smallest)):
            return  # by the data, without a solver
        self._hold_against_answers()
        other = "cpsat"
        if self.backend == "cpsat":
            other = "highs"
        if find_backend(other).availability().ok:
            try:
                found = self._exact(self._part(self.smallest), self.smallest, SHARE, other)
            except (LoweringTooLarge, SolverUnavailable):
                return
            if found == "feasible":
                self._contradicted(f"{other} found")

    def _hold_against_answers(self) -> None:
        """Raise _Stopped if an answer to another question satisfies the infeasible set."""
        part = self._part(self.smallest)
        if not isinstance(part, Model):
            return  # a schedule of other jobs says nothing about these
        if any(self._keeps(answer, part, self.smallest) for answer in self.answers):
            self._contradicted("a check of another part found")

    def _contradicted(self, who: str) -> None:
        """End the search: an infeasible set has a solution."""
        self.status = "error"
        some = "a part of the problem"
        if len(self.smallest) == len(self.all):
            some = "the problem"
        other = "highs"
        if self.backend != "cpsat":
            other = "cpsat"
        raise _Stopped(
            f"{self.backend} calls {some} infeasible, which is a fault of this backend: {who} a solution, which was "
            f"verified; try backend={other!r}"
        )

    def _keeps(self, answer: Any, part: Model, some: Sequence[Element]) -> bool:
        """Return whether an assignment satisfies a part and the limits among ``some``."""
        if answer.model.intervals is not part.intervals or part.check(answer):
            return False
        if self.limits:
            values = tuple(part.value(e, answer) for e in part.objectives)
        else:
            values = ()
        return self._beyond(values, some) is None

    def _beyond(self, values: Any, some: Sequence[Element]) -> float | None:
        """Return the first value of an objective that is worse than its limit among ``some``; None if there is none."""
        if isinstance(values, tuple):
            each = values
        else:
            each = (values,)
        for e in some:
            k, most = self.limits.get(e, (0, None))
            if most is not None and not close(each[k], most):
                if self.parts.maximized:
                    worse = each[k] < most
                else:
                    worse = each[k] > most
                if worse:
                    return float(each[k])
        return None

    def _note(self, some: Sequence[Element]) -> None:
        """Keep a set that is proven infeasible if it is smaller than the best one."""
        self.status = "infeasible"
        if self.best is None or len(some) < len(self.best):
            self.best = list(some)
            self.infeasible.append(frozenset(some))

    def _known(self, some: Sequence[Element]) -> Answer:
        """Return what earlier answers imply: more elements of an infeasible set stay infeasible, fewer of a feasible one feasible."""
        kept = frozenset(some)
        if any(kept <= known for known in self.feasible):
            return "feasible"
        if any(known <= kept for known in self.infeasible):
            return "infeasible"
        return "unknown"

    def _by_data(self, some: Sequence[Element]) -> bool:
        return self.parts.refuted(self._part(some))

    def _relaxations(self) -> list[str]:
        """Return the names of the formulations that are relaxations, the last one first: it is the coarsest."""
        part = self._part(())
        if isinstance(part, Model):
            return []
        made = {name: make() for name, make in all_formulations(part).own.items()}
        return [name for name, encoding in reversed(made.items()) if encoding.relaxation]

    def _by_relaxation(self, name: str) -> Callable[[Sequence[Element]], bool]:
        """Return the function that tells whether a relaxation proves that elements cannot hold together."""

        def refuted(some: Sequence[Element]) -> bool:
            known = self._known(some)
            if known == "unknown":
                model = self._part(some).formulations[name]().model
                known = self._solve(model, some, SHARE)[0]
                self._report()
            return known == "infeasible"

        return refuted

    def _report(self) -> None:
        """Call the caller's ``on_progress``."""
        size = None
        if self.best is not None:
            size = len(self.best)
        progress = Progress(self.solver.deadline.elapsed, self.checks, size)
        if self.on_progress is not None and is_false(self.on_progress(progress)):
            raise _Stopped("on_progress ended the call")

    def _answer(self, some: Sequence[Element], share: float = SHARE) -> Answer:
        """Return whether these elements can hold together."""
        found = self._known(some)
        if found == "unknown":
            part = self._part(some)
            found = "infeasible"
            if not self.parts.refuted(part):
                found = self._exact(part, some, share)
            {"feasible": self.feasible, "infeasible": self.infeasible}.get(found, []).append(frozenset(some))
            if found == "infeasible":
                self._note(some)
            self._report()
        return found

    def _part(self, some: Sequence[Element]) -> Any:
        return self.parts.part([e for e in some if e not in self.limits])

    def _exact(self, part: Any, some: Sequence[Element], share: float, backend: str | None = None) -> Answer:
        """Solve a part without its objective; an answer is verified by the data. ``backend``: another one, for a short time."""
        if isinstance(part, Model):
            status, answer = self._solve(part, some, share, backend)
            if status == "feasible":
                self.answers.append(answer)
            return status
        encoding = next(e for e in (make() for make in all_formulations(part).own.values()) if not e.relaxation)
        status, answer = self._solve(encoding.model, some, share, backend)
        if status != "feasible":
            return status
        schedule = encoding.read(answer)
        faults = violations_of(part, schedule)
        if faults:
            self.why = f"an answer of {backend or self.backend} violates the problem: {faults[0].message}"
            return "unknown"
        value = self._beyond(objective_of(part, schedule), some)
        if value is not None:
            self.why = f"an answer of {backend or self.backend} exceeds the limit of the objective: {value:g}"
            return "unknown"
        return "feasible"

    def _solve(
        self, model: Model, some: Sequence[Element], share: float, backend: str | None = None
    ) -> tuple[Answer, Any]:
        """Solve a model with the limits among ``some`` instead of its objectives."""
        left = self.solver.deadline.remaining
        if left is not None:
            if left == 0:
                raise _Stopped(LATE)
            left = min(left, max(LEAST, share * left))
        if backend is not None:
            if left is None:
                left = SECOND
            else:
                left = min(left, SECOND)
        objectives, model.objectives = model.objectives, []
        bounds = [(self.limits[e], e.name) for e in some if e in self.limits]
        best = model.sense == "maximize"
        rows = [NamedConstraint(n, objectives[k] >= v if best else objectives[k] <= v) for (k, v), n in bounds]
        model.constraints = [*model.constraints, *rows]
        limits = Limits(left, self.solver.threads, self.solver.seed)
        self.checks += 1
        result = run(model, backend or self.backend, limits, conflict=False)
        if result.message == INTERRUPTED:
            raise _Stopped(INTERRUPTED)
        if result.status == "unavailable":
            raise SolverUnavailable(f"backend {backend or self.backend!r} cannot be used: {result.message}")
        if result.status in ("optimal", "feasible") and result.exactness.kind != "relaxation":
            return "feasible", result.assignment
        if result.status == "error":
            self.why = f"{backend or self.backend}: {result.message}"
        return ("infeasible" if result.status == "infeasible" else "unknown"), None

    def explanation(self) -> Explanation:
        """Return what was found so far."""
        order = {e: k for k, e in enumerate(self.parts.all)}
        if self.status != "infeasible":
            self.best = None
        found = sorted(self.best or (), key=lambda e: order.get(e, len(order)))  # limits of the objective last
        if self.status == "infeasible":
            message = self.parts.sentence(found)
        elif self.status == "feasible":
            message = "; ".join(filter(None, ["a solution was found and verified", self.parts.harmless_because]))
        else:
            message = self.why
        seconds = self.solver.deadline.elapsed
        return Explanation(self.status, tuple(found), message, self.minimal, self.why, seconds, self.checks, self.parts)


__all__ = ["Explanation", "Progress", "elements_of", "explain"]
