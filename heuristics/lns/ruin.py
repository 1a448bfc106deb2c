"""Operator "ruin": remove some jobs from a schedule and insert them again; all others stay."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from ...errors import WrongValue
from ...models import Profit
from ...models.arguments import checked
from ...models.comparing import hashable
from ...models.excerpt import excerpt, with_short_repr
from ...models.returned import returned_indices, returned_numbers
from ...models.whole_numbers import is_number
from ..arrays import Placement
from ..kernels.costs import EARNINGS, LAST_END, Costs, objective
from ..kernels.earnings import profit
from ..kernels.placement import POSTPONED
from ..kernels.profile import Floats, Ints
from ..kernels.ruin.arrays import Known, Places, new_room
from ..kernels.ruin.destroy import GIVEN, NOISE, DestroyRow, chosen_alone
from ..kernels.ruin.recreate import BY_GIVEN, Steps, profile_of, ruin_and_recreate
from .acceptance import Acceptance, Threshold
from .destroy import CompiledDestroy, Destroy, usual_destroy
from .repair import InsertBy, Repair, usual_repair

if TYPE_CHECKING:
    from .state import LnsSearch

NO_JOBS, NO_KEYS = np.zeros(0, np.int64), np.zeros(0)


@with_short_repr
@hashable
@checked
@dataclass(frozen=True)
class RuinAndRecreate:
    """Operator "ruin": remove some jobs from the schedule and insert them again; all others stay [Shaw1998].

    Each step takes a destroy and a repair operator at random, by their weights. Steps whose operators are compiled run
    in compiled code without a break. It keeps a schedule of its own, which may be worse than the best one. It does not
    support the objective "makespan", which is no sum over jobs.

    Parameters
    ----------
    destroy
        The destroy operators, see ``lns.destroy``; None: ``usual_destroy``.
    repair
        The repair operators, see ``lns.repair``; None: ``usual_repair``.
    acceptance
        When a step is kept, if the search has no acceptance criterion for all operators.
    restart
        Start again from the best schedule when its own one is worse by more than this share of the best objective.
    most_jobs
        Most jobs that a step removes.
    steps
        Steps in a turn without a clock.
    most_steps
        Most steps in a turn with a clock.
    name
        Its name in the results.
    """

    destroy: Sequence[Destroy | CompiledDestroy] | None = None
    repair: Sequence[Repair | InsertBy] | None = None
    acceptance: Acceptance = field(default_factory=Threshold)
    restart: float = 1e-4
    most_jobs: int = 40
    steps: int = 100
    most_steps: int = 2000
    name: str = "ruin"

    def start(self, search: LnsSearch) -> Callable[[float | None], None]:
        """Return the function that takes the turns. Raises ValueError for the objective "makespan"."""
        if search.arrays.costs.mode == LAST_END:
            raise WrongValue(f"operator {self.name!r} does not support makespan: it is no sum over jobs")
        return OwnSchedule(self, search).turn


class OwnSchedule:
    """The schedule that the operator changes in one search, with its profile.

    Parameters
    ----------
    settings
        The operator.
    search
        The search.
    """

    def __init__(self, settings: RuinAndRecreate, search: LnsSearch) -> None:
        a = search.arrays
        self.settings, self.search = settings, search
        self.destroy = usual_destroy(a.costs.mode == EARNINGS) if settings.destroy is None else tuple(settings.destroy)
        self.repair = usual_repair(a.costs.mode == EARNINGS) if settings.repair is None else tuple(settings.repair)
        if a.costs.mode != EARNINGS and any(
            isinstance(one, InsertBy) and one.key == "power-per-profit" for one in self.repair
        ):
            raise WrongValue('the key "power-per-profit" needs a profit problem')
        self.rows = np.array(
            [one.row() if isinstance(one, CompiledDestroy) else DestroyRow(GIVEN) for one in self.destroy], float
        )
        self.places = Places(search.best.starts.copy(), search.best.nodes.copy(), search.best.joules.copy())
        self.record = Places(search.best.starts.copy(), search.best.nodes.copy(), NO_KEYS)
        self.room = new_room(a.machine, a.jobs, self.places, settings.most_jobs)
        self.profile = profile_of(a.machine, a.jobs, self.places)
        self.value = np.inf
        self.seen = Placement(a, _read_only(self.places.starts), _read_only(self.places.nodes))
        self.end = search.problem.horizon_end if isinstance(search.problem, Profit) else None
        self.by_release = np.argsort(a.jobs.release, kind="stable")
        _check_weights("destroy", self.destroy)
        _check_weights("repair", self.repair)
        self.rank = _rank(a.costs)
        self.each = 0.0  # seconds of one step, measured

    def turn(self, seconds: float | None) -> None:
        """Make a batch of steps, in about ``seconds``; None: a fixed number."""
        s = self.search
        self.begin()
        number = self.settings.steps
        if seconds is not None:
            each = self.each or 20 * s.trial_seconds / max(1, s.best.starts.size)
            number = int(np.clip(seconds / max(1e-7, each), 1, self.settings.most_steps))
        s.check()
        steps = self.draw(number)
        began = time.perf_counter()
        self.make(steps)
        self.each = (time.perf_counter() - began) / number
        if self.value < s.best_value:
            exact = float(objective(s.arrays.costs, s.arrays.jobs, self.places.starts))
            s.keep(exact, self.places.starts, self.places.nodes)
            self.value = exact

    def begin(self) -> None:
        """Start again from the best schedule if the own one is much worse."""
        s = self.search
        if self.value <= s.best_value + self.settings.restart * abs(s.best_value):
            return
        self.places.starts[:], self.places.nodes[:] = s.best.starts, s.best.nodes
        self.value = float(s.best_value)
        if self.places.joules.size:
            profit(s.arrays.costs.ledger, s.arrays.jobs.duration, self.places.starts, self.places.joules)
        self.profile = profile_of(s.arrays.machine, s.arrays.jobs, self.places)
        self.room.blocks[0] = 0

    def draw(self, number: int) -> Steps:
        """Draw the operators and the random numbers of the next steps; ``repair`` is an index of ``self.repair``."""
        rng = self.search.rng
        return Steps(
            self.rows,
            _drawn_by_weight([one.weight for one in self.destroy], number, rng),
            _drawn_by_weight([one.weight for one in self.repair], number, rng),
            np.zeros(number),
            rng.random((number, NOISE + self.settings.most_jobs)),
            *self.search.tolerances(self.settings.acceptance, number),
            NO_JOBS,
            NO_KEYS,
        )

    def make(self, steps: Steps) -> None:
        """Make the steps: those with compiled operators together, each other one alone."""
        compiled_destroy = np.array([isinstance(one, CompiledDestroy) for one in self.destroy])
        numbers = np.array([one.number if isinstance(one, InsertBy) else BY_GIVEN for one in self.repair])
        spreads = np.array([one.spread if isinstance(one, InsertBy) else 0.0 for one in self.repair])
        together = compiled_destroy[steps.destroy] & (numbers[steps.repair] != BY_GIVEN)
        known = self._known()
        for simple, group in groupby(range(together.size), key=lambda d: bool(together[d])):
            part = list(group)
            which = steps.repair[part]
            some = steps._replace(
                destroy=steps.destroy[part],
                repair=numbers[which],
                spread=spreads[which],
                draws=steps.draws[part],
                over_current=steps.over_current[part],
                over_best=steps.over_best[part],
            )
            if simple:
                self._run(some, known)
            else:
                for d in range(len(part)):
                    self._run(self._alone(some, d, self.repair[which[d]], known), known)
            if self.search.clock.stop[0] != 0:
                return

    def _alone(self, steps: Steps, d: int, repair: Repair | InsertBy, known: Known) -> Steps:
        """Return step d alone, with the jobs and keys that the operators in Python have chosen."""
        destroy, rng = self.destroy[steps.destroy[d]], self.search.rng
        jobs = self._chosen(steps, d, known) if isinstance(destroy, CompiledDestroy) else self._checked(destroy, rng)
        keys = NO_KEYS
        if not isinstance(repair, InsertBy):
            returned = repair.keys(self.seen, jobs, rng)
            keys = returned_numbers(f"repair operator {excerpt(repair)}: keys", returned, jobs.size, "removed jobs")
        return steps._replace(
            rows=np.array([DestroyRow(GIVEN)], float),
            destroy=np.zeros(1, np.int64),
            repair=steps.repair[d : d + 1],
            spread=steps.spread[d : d + 1],
            draws=steps.draws[d : d + 1],
            over_current=steps.over_current[d : d + 1],
            over_best=steps.over_best[d : d + 1],
            given=jobs,
            given_keys=keys,
        )

    def _chosen(self, steps: Steps, d: int, known: Known) -> Ints:
        """Return the jobs that a compiled destroy operator chooses."""
        a, row = self.search.arrays, steps.rows[steps.destroy[d]]
        size = chosen_alone(self.profile, a.machine, a.jobs, self.places, known, self.room, row, steps.draws[d])
        jobs = self.room.free[:size].copy()
        self.room.is_free[jobs] = False
        return jobs

    def _checked(self, destroy: Destroy, rng: np.random.Generator) -> Ints:
        """Return the jobs that an operator in Python chooses, at most ``most_jobs``. Raises WrongAnswer."""
        who, returned = f"destroy operator {excerpt(destroy)}: jobs", destroy.jobs(self.seen, rng)
        return returned_indices(who, returned, self.places.starts.size, "jobs")[: self.settings.most_jobs].copy()

    def _run(self, steps: Steps, known: Known) -> None:
        s, a = self.search, self.search.arrays
        self.profile, change, best = ruin_and_recreate(
            a.machine,
            a.jobs,
            a.costs,
            self.places,
            self.profile,
            known,
            self.room,
            steps,
            self.value,
            s.best_value,
            self.record,
            s.clock.stop,
        )
        self.value += float(change)
        if a.costs.bounds.mode.size:  # sums with the large penalties of broken limits are inexact
            self.value = float(objective(a.costs, a.jobs, self.places.starts))
        if best < s.best_value:
            s.keep(float(objective(a.costs, a.jobs, self.record.starts)), self.record.starts, self.record.nodes)

    def _known(self) -> Known:
        a, starts = self.search.arrays, self.places.starts
        scheduled = np.flatnonzero(starts != POSTPONED)
        by_start = scheduled[np.argsort(starts[scheduled], kind="stable")]
        last = int(starts.max(initial=a.machine.now)) + 1
        return Known(
            by_start,
            self.by_release,
            self.rank,
            int(a.jobs.duration.max(initial=0)),
            a.shares,
            a.machine.now,
            last if self.end is None else self.end,
        )


def _rank(costs: Costs) -> Floats:
    """Return the power per profit of each job; zeros if the objective is no profit."""
    if costs.mode != EARNINGS:
        return np.zeros(costs.submit.size)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(costs.ledger.gain > 0, costs.ledger.watts / costs.ledger.gain, np.inf)


def _read_only(numbers: Ints) -> Ints:
    found = numbers.view()
    found.flags.writeable = False
    return found


def _check_weights(what: str, operators: Sequence[object]) -> None:
    """Raise WrongValue if there is no operator, a weight is no number of at least 0, or all of them are 0."""
    weights = [getattr(one, "weight", None) for one in operators]
    for one, weight in zip(operators, weights, strict=True):
        if not is_number(weight) or weight < 0:
            why = f"weight is {excerpt(weight)}; expected a number of at least 0"
            raise WrongValue(f"{what} operator {excerpt(one)}: {why}")
    if not any(weights):
        raise WrongValue(f"ruin and recreate needs a {what} operator with a weight above 0, not {excerpt(operators)}")


def _drawn_by_weight(weights: Sequence[float], number: int, rng: np.random.Generator) -> Ints:
    """Draw indices of the weights at random, by weight."""
    ends = np.cumsum(np.array(weights, float))
    found: Floats = rng.random(number) * ends[-1]
    return np.searchsorted(ends, found, side="right").astype(np.int64)
