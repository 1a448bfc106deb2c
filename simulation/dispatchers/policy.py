"""Policies: dispatchers without a solver, given by a priority, strictness and a number of reservations.

Allocators: how compiled policies choose the nodes of a job; ``heuristics.kernels.events.state`` carries them out.

- ``first-fit``: the nodes in the order of the platform.
- ``best-fit``: the nodes in increasing order of ``sum over resources r of free[n, r] / capacity[n, r]``; ties in the
  order of the platform [Galleguillos2019, 2.2].
- one of a third party: the nodes in its own order.

All put as many units on a node as fit before they go to the next node.

Examples
--------
The nodes with most cores last:

>>> import schedlab as sl
>>> class SmallFirst:
...     name = "small-first"
...
...     def order(self, platform):
...         return sorted(platform.nodes, key=lambda node: platform.capacity[node])
>>> sl.simulate("eurora_99", "easy", allocator=SmallFirst()).allocator
'small-first'

The dispatcher ``slurm``: which settings of its site it may be given other values of, and how a text gives them.

It takes all parameters from the site of the replay; ``slurm:bf_interval=30:default_queue_depth=50`` overrides some of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from ...errors import WrongArgument, WrongValue
from ...heuristics.kernels.events.rules import Planning
from ...instances.workload import Workload
from ...models import Platform
from ...models.arguments import is_list, is_real, is_whole, named, shown
from ...models.array_types import Floats, Ints
from ...models.comparing import hashable
from ...models.plugins import PluginError, WrongAnswer, calling, explained
from ...models.registry import Registry, WholeSeconds
from ...models.site import SchedulerSettings, Site
from ...models.site_rules import least_of
from ...models.words import excerpt, with_short_repr
from ..dispatcher import NEEDS
from ..rankers import Penalty, Ranker, check_ranker
from ..slurm.jobs import as_submitted

UNLIMITED = "unlimited"
OPTIONS: dict[str, Any] = {
    "scheduler_type": Literal["backfill", "builtin"],
    "default_queue_depth": int,
    "partition_job_depth": int,
    "sched_interval": WholeSeconds | int,
    "sched_max_job_start": int,
    "batch_sched_delay": WholeSeconds,
    "assoc_limit_stop": bool,
    "bf_interval": WholeSeconds,
    "bf_resolution": WholeSeconds,
    "bf_window": WholeSeconds,
    "bf_min_age_reserve": WholeSeconds,
    "bf_min_prio_reserve": int,
    "bf_max_job_test": int,
    "bf_max_job_part": int,
    "bf_max_job_user": int,
    "bf_max_job_user_part": int,
    "bf_max_job_assoc": int,
    "bf_max_job_start": int,
    "bf_max_job_array_resv": int,
    "bf_job_part_count_reserve": int,
    "bf_one_resv_per_job": bool,
    "bf_running_job_reserve": bool,
    "pack_serial_at_end": bool,
    "priority_type": Literal["basic", "multifactor"],
    "weight_age": int,
    "weight_assoc": int,
    "weight_fairshare": int,
    "weight_job_size": int,
    "weight_partition": int,
    "weight_qos": int,
    "max_age": WholeSeconds,
    "decay_half_life": WholeSeconds,
    "calc_period": WholeSeconds,
    "favor_small": bool,
    "fair_share_dampening": int,
    "over_time_limit": WholeSeconds | Literal["unlimited"],
    "kill_wait": WholeSeconds,
}
"""The settings that decide which job ``slurm`` starts when, and their types; the names are those of ``SchedulerSettings``."""


class Phases(NamedTuple):
    """When the two schedulers run.

    Parameters
    ----------
    main, backfill : int
        When in its period the main scheduler runs, and the backfill scheduler, in s.
    backfill_first : bool
        Whether the backfill scheduler is the first where both run in one second.
    """

    main: int = 0
    backfill: int = 0
    backfill_first: bool = False


NO_PHASES = Phases()
SPREAD = np.array([0.7548776662466927, 0.5698402909980532])  # multiples of these are spread evenly over the unit square


@dataclass(frozen=True)
class DrawnPhases:
    """When the schedulers of a replay run, and what they see of a second.

    Parameters
    ----------
    times : Phases
        When they run.
    seen : float
        The part of a second after which the main scheduler sees nothing of it.
    between : float
        The share of what it sees a second later that the backfill scheduler sees before.
    """

    times: Phases
    seen: float
    between: float


def phases_of(site: Site, seed: int) -> DrawnPhases:
    """Return when in their periods the two schedulers run; the times of a seed are far from those of the seeds near it.

    The backfill scheduler runs before or after the main one, whichever runs nearer to it. One second until the main scheduler looks
    and one period until the backfill scheduler does make 1/2 - 1/(6 period) s on average until the first of both does: this one
    sees a share of 1/(3 period) before.

    Parameters
    ----------
    site : Site
        The site, of kind ``"slurm"``.
    seed : int
        Number of the replay.
    """
    assert isinstance(site.scheduler, SchedulerSettings)
    periods = np.array([max(1, site.scheduler.sched_interval), max(1, site.scheduler.bf_interval)])
    main, backfill = ((seed + 0.5) * SPREAD % 1 * periods).tolist()
    seen = main % 1
    after_main = (backfill - seen) % 1
    second = round(backfill - seen - after_main)
    first = after_main >= 0.5
    between = 0.0
    if site.scheduler.scheduler_type == "backfill" and site.scheduler.bf_interval > 0:
        between = 1 / (3 * site.scheduler.bf_interval)
    return DrawnPhases(Phases(int(main), second + first, first), seen, between)


@hashable
@dataclass(frozen=True)
class Slurm:
    """Slurm on the site of a replay: its main scheduler, its backfill scheduler, its priorities, its choice of nodes.

    Parameters
    ----------
    overridden : tuple of (str, object)
        Settings of the site that have other values; the names are among ``OPTIONS``.
    phases : Phases, optional
        When the two schedulers run.
    draw : int, optional
        Number of a draw of these times, at least 0, as in the free replays of a calibration. None: ``phases``.

    Raises
    ------
    WrongValue
        If a value is not allowed.

    Examples
    --------
    >>> slurm(bf_interval=30).name
    'slurm'
    """

    overridden: tuple[tuple[str, Any], ...] = ()
    phases: Phases = NO_PHASES
    draw: int | None = None
    name = "slurm"
    needs = frozenset({"one-chunk"})

    def __post_init__(self) -> None:
        for name, value in self.overridden:
            if isinstance(value, int) and value < least_of(name):
                raise WrongValue(f"dispatcher slurm: {name} is {value}; expected at least {least_of(name)}")
        if self.draw is not None and self.draw < 0:
            raise WrongValue(f"dispatcher slurm: draw is {self.draw}; expected at least 0")

    def phases_on(self, site: Site) -> Phases:
        """Return when the two schedulers run on a site."""
        if self.draw is None:
            return self.phases
        return phases_of(site, self.draw).times

    def on(self, site: Site | None) -> Site:
        """Return the site of a replay, with the settings that have other values.

        Raises
        ------
        WrongValue
            If there is no site, or the site is none of Slurm.
        """
        if site is None:
            raise WrongValue(
                "dispatcher slurm follows the rules of a site; give one: simulate(..., site=read_site('slurm.conf')), "
                "bench simulate --site slurm.conf"
            )
        if not isinstance(site.scheduler, SchedulerSettings):
            raise WrongValue(f"dispatcher slurm: the site {site.name!r} is one of {site.kind}; expected one of slurm")
        return replace(site, scheduler=replace(site.scheduler, **dict(self.overridden)))

    def jobs(self, workload: Workload, site: Site | None) -> Workload:
        """Return the jobs of a log as they were submitted; see ``schedlab.simulation.slurm.jobs.as_submitted``.

        Raises
        ------
        WrongValue
            If there is no site, or the site is none of Slurm.
        """
        return as_submitted(workload, self.on(site))


def slurm(**settings: Any) -> Slurm:
    """Slurm with the settings of the site; the options override them. ``draw``: see ``Slurm``."""
    given = {name: value for name, value in settings.items() if value is not None}
    draw = given.pop("draw", None)
    if given.get("over_time_limit") == UNLIMITED:
        given["over_time_limit"] = None
    return Slurm(tuple(given.items()), draw=draw)


def _signature() -> inspect.Signature:
    kind = inspect.Parameter.KEYWORD_ONLY
    of_slurm = {**OPTIONS, "draw": int}
    options = [inspect.Parameter(name, kind, default=None, annotation=of) for name, of in of_slurm.items()]
    return inspect.Signature(options)


_named: Callable[..., Slurm] = slurm
_named.__signature__ = _signature()  # type: ignore[attr-defined]


FIRST_FIT, BEST_FIT = "first-fit", "best-fit"


class Allocator(Protocol):
    """The order in which nodes are filled.

    Attributes
    ----------
    name : str
        The allocator as a text.
    """

    @property
    def name(self) -> str:
        """The allocator as a text."""

    def order(self, platform: Platform) -> Sequence[str]:
        """Return the names of all nodes, those that are filled first first; called before the replay.

        Parameters
        ----------
        platform : Platform
            The machine.
        """


@dataclass(frozen=True)
class FirstFit:
    """The nodes in the order of the platform."""

    name = FIRST_FIT

    def order(self, platform: Platform) -> Sequence[str]:
        """Return the order of the platform."""
        return platform.nodes


@dataclass(frozen=True)
class BestFit:
    """The fullest nodes first, ties in the order of the platform [Galleguillos2019, 2.2]."""

    name = BEST_FIT

    def order(self, platform: Platform) -> Sequence[str]:
        """Return the order of nodes that are equally full."""
        return platform.nodes


ALLOCATORS: Registry[Allocator] = Registry(
    "allocator",
    "schedlab.allocators",
    {FIRST_FIT: FirstFit, BEST_FIT: BestFit},
    parts=("name", "order"),
    docs="docs/extending.md",
)
"""The allocators by name: an allocator, or a class or function that returns one."""


def allocator_of(what: str | Allocator | type[Allocator]) -> Allocator:
    """Return an allocator by its name, ``NAME[:OPTION=VALUE]...`` or ``module:attribute``; an object is checked and returned.

    Raises
    ------
    UnknownName
        If there is no such allocator or option; the message lists similar names.
    WrongOption
        If the value of an option is not allowed.
    PluginError
        If it cannot be imported or created, or lacks a part.

    Examples
    --------
    >>> allocator_of("first-fit")
    FirstFit()
    """
    return ALLOCATORS.make(what)


def rank_of(allocator: Allocator, platform: Platform) -> Ints | None:
    """Return the rank of each node in the order of a third party's allocator; None for those of schedlab.

    Raises
    ------
    PluginError, WrongAnswer
        If the allocator raises, or does not return each node once.
    """
    if isinstance(allocator, FirstFit | BestFit):
        return None
    who = f"allocator {allocator.name}: order"
    with calling(who):
        returned: object = allocator.order(platform)
    number = {node: n for n, node in enumerate(platform.nodes)}
    order = []
    if is_list(returned) and not isinstance(returned, Set):  # the order of a set differs from process to process
        order = [str(name) for name in returned]
    if len(order) != len(number) or set(order) != set(number):
        raise WrongAnswer(
            f"{who} returned {excerpt(returned)}; expected a list of the names of all {len(number)} nodes, each once"
        )
    rank = np.empty(len(order), np.int64)
    rank[[number[node] for node in order]] = np.arange(len(order))
    return rank


# --- The parameters of a policy that plans.

DAY = 86400


@dataclass(frozen=True)
class Plan:
    """How a policy plans its queue at each decision; see ``docs/reference/plans.md``.

    Parameters
    ----------
    work : float
        Weight of a job's work in its key, at least 0. 0: the key of the policy alone. Above 0: the key of the policy is
        not used, but ``arrival + work * T * own work / mean work``. The work of a job is its number of units times its
        expected duration, the mean is that of the waiting jobs, and T is the time that the whole machine needs for all
        running and waiting jobs.
    ewt : float
        Exponent, at least 0: the work of a job is multiplied by (ewt of its queue / mean ewt) ** ewt. 0: queues are
        alike.
    guard : float
        A job that has waited ``guard`` times its fair wait goes before all others; above 0, ``math.inf``: never.
    least : float
        No job goes first for that reason before it has waited this many seconds, at least 0.
    rounds : int
        Changes of the order that the search tries at each decision, at least 0.
    depth : int
        Number of jobs at the head of the plan that the search may change, at least 2.

    Raises
    ------
    ValueError
        If a parameter is not valid.
    """

    work: float = 0.0
    ewt: float = 0.0
    guard: float = np.inf
    least: float = DAY
    rounds: int = 0
    depth: int = 30

    def __post_init__(self) -> None:
        for name, least in (("work", 0), ("ewt", 0), ("least", 0)):
            value = getattr(self, name)
            if not is_real(value) or not least <= value < np.inf:
                raise WrongValue(f"plan: {name} is {shown(value)}; expected a number of at least {least}")
        if not (self.guard == np.inf or is_real(self.guard)) or not self.guard > 0:
            raise WrongValue(f"plan: guard is {shown(self.guard)}; expected a number above 0")
        for name, fewest in (("rounds", 0), ("depth", 2)):
            value = getattr(self, name)
            if not is_whole(value) or value < fewest:
                raise WrongValue(f"plan: {name} is {shown(value)}; expected a whole number of at least {fewest}")

    def planning(self, workload: Workload, seed: int) -> Planning:
        """Return the parameters as the kernels take them, for the jobs of a workload."""
        worth = np.empty(0)
        if self.work > 0:
            ewt = np.array([q.ewt for q in workload.queues], np.float64)
            worth = workload.job_arrays.all_units * ((ewt / ewt.mean()) ** self.ewt)[workload.queue]
        return Planning(
            True, float(self.work), float(self.guard), int(self.least), worth, int(self.rounds), int(self.depth), seed
        )


MINUTE, HOUR = 60, 3600
CORRECTIONS = (
    1 * MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE, 1 * HOUR, 2 * HOUR, 5 * HOUR, 10 * HOUR, 20 * HOUR, 50 * HOUR,
    100 * HOUR,
)  # fmt: skip
"""Increments of an expired prediction under EASY++ in seconds, the first one first [Gaussier2015]."""

Key = Callable[[Workload, Ints], "Floats | Ints | tuple[Floats, Floats]"]
"""Function ``key(workload, expected)`` that returns the priority of each job, an array of shape (jobs,).

``expected`` holds the expected durations in seconds. The job with the smallest value goes first; ties go by submit
time. A pair ``(base, slope)`` of arrays is a priority that changes with time: ``base + slope * now``.
"""


def by_submit(workload: Workload, expected: Ints) -> Ints:
    """Return the submit times: first come, first served."""
    return workload.submit


def by_release(workload: Workload, expected: Ints) -> Ints:
    """Return the releases: max(submit time, earliest start) of each job."""
    return workload.release


def by_latest_start(workload: Workload, expected: Ints) -> Ints:
    """Return the latest starts: the most urgent job first; jobs without one come last, by submit time."""
    return workload.latest_start


def by_duration(workload: Workload, expected: Ints) -> Ints:
    """Return the expected durations: the shortest job first."""
    return expected


def by_profit(workload: Workload, expected: Ints) -> Floats:
    """Return a key that puts the job with the highest profit per cost first [Bridi2018, 6.3].

    See ``heuristics.rules.most_profit_first``.
    """
    from ...heuristics.rules import most_profit_first  # lazy: it imports numba

    cores = workload.job_arrays.amounts[:, _cores(workload)]
    return most_profit_first(cores, expected, workload.power)


def by_slowdown(workload: Workload, expected: Ints) -> tuple[Floats, Floats]:
    """Return a key that puts the job with the highest slowdown first [Galleguillos2019, 4].

    The slowdown at time ``now`` is ``(now - submit + d) / d``, where d is the expected duration, at least 1 s.
    """
    d = np.maximum(1, expected).astype(np.float64)
    return (workload.submit - d) / d, -1 / d


def _cores(workload: Workload) -> int:
    if "cores" in workload.resources:
        return workload.resources.index("cores")
    return 0


@named
@with_short_repr
@dataclass(frozen=True)
class Policy:
    """A dispatcher that starts waiting jobs in order of priority, with or without backfilling; compiled.

    Parameters
    ----------
    name : str
        The name in results and error messages.
    key : callable
        The priority: ``key(workload, expected)`` returns one number per job, smallest first; see ``Key``.
    strict : bool
        Only with ``reservations=0``: whether the first job that does not fit blocks all later jobs.
    reservations : int, optional
        Number of jobs that hold a reservation: the first jobs in the order that cannot start now, for lack of nodes or
        because their calendars are closed. Later jobs must not delay a reservation. 0: no backfilling. 1: EASY.
        None: all waiting jobs (conservative backfilling).
    candidates : int, optional
        Number of jobs at the head of the queue that are examined at each event. None: all.
    ranker : Ranker, optional
        Sorts the waiting jobs at each decision by what it has learned during the replay; ``key`` orders jobs of equal
        rank. See ``schedlab.simulation.rankers``. The loop of the replay is then in Python.
    shortest_first : bool
        Only with ``reservations=1``: whether the jobs behind the reservation are tried in the order of their expected
        durations, shortest first, instead of the order of the queue.
    corrections : tuple of int
        Only with ``reservations=1``: increments in seconds of a prediction that has expired, the first one first; see
        ``schedlab.simulation.dispatchers.easy``. Empty: a job that runs longer than expected is taken to end at
        once.
    predictor : str
        Name of the predictor that is used unless another one is given.
    plan : Plan, optional
        Only with ``reservations=None``: plan the whole queue anew at each decision; see ``docs/reference/plans.md``.
    within_profile : bool
        Whether jobs start only where the use stays within the desired profile of the replay at the time of the start
        [Bridi2018, 5.4, algorithm 4, corrected]. Reservations take the desired use of that time to last.

    Raises
    ------
    ValueError
        If ``plan`` is given with a number of reservations, ``reservations`` is negative, ``candidates`` is below 1, a correction is below 1 s, or ``shortest_first`` or
        ``corrections`` are given without ``reservations=1``.
    WrongArgument
        If an argument has another type: ``key`` is no function, ``reservations`` no whole number, ...
    PluginError
        If ``ranker`` is not a ranker.

    Examples
    --------
    Shortest job first with EASY backfilling, where only the first 10 jobs may start:

    >>> import schedlab as sl
    >>> from schedlab.simulation.dispatchers.policy import by_duration
    >>> policy = sl.Policy("short-easy", by_duration, reservations=1, candidates=10)
    >>> sl.simulate("eurora_99", dispatcher=policy).violations
    []
    """

    name: str
    key: Key = by_submit
    strict: bool = False
    reservations: int | None = 0
    candidates: int | None = None
    ranker: Ranker | None = None
    shortest_first: bool = False
    corrections: tuple[int, ...] = ()
    predictor: str = "walltime"
    within_profile: bool = False
    plan: Plan | None = None

    def __post_init__(self) -> None:
        self._check_types()
        if isinstance(self.ranker, type):
            with explained(f"policy {self.name!r}: the argument ranker ({self.ranker!r:.100}) cannot be created"):
                object.__setattr__(self, "ranker", self.ranker())
        if self.ranker is not None:
            check_ranker(f"policy {self.name!r}: the argument ranker ({self.ranker!r:.100})", self.ranker)
        for what, least in (("reservations", 0), ("candidates", 1)):
            value = getattr(self, what)
            if value is not None and value < least:
                raise WrongValue(f"policy {self.name!r}: {what} is {value}, expected at least {least}, or None for all")
        if (self.shortest_first or self.corrections) and self.reservations != 1:
            raise WrongValue(
                f"policy {self.name!r}: shortest_first and corrections are for EASY; expected reservations=1, "
                f"not {self.reservations}"
            )
        if any(not is_whole(step) or step < 1 for step in self.corrections):
            raise WrongValue(
                f"policy {self.name!r}: corrections is {shown(self.corrections)}; expected whole seconds of at least 1"
            )

        if self.plan is not None and self.reservations is not None:
            raise WrongValue(
                f"policy {self.name!r}: reservations is {self.reservations}; with a plan all jobs are planned, expected None"
            )

    def _check_types(self) -> None:
        """Raise WrongArgument for the first argument of another type than expected."""
        if not isinstance(self.name, str) or not self.name:
            raise WrongArgument(f"Policy: name is {excerpt(self.name)}; expected a text")
        truth = "True or False"
        wanted = (
            ("key", callable(self.key), "a function of (workload, expected) that returns one number per job"),
            ("strict", isinstance(self.strict, bool), truth),
            (
                "reservations",
                self.reservations is None or is_whole(self.reservations),
                "a whole number, or None for all",
            ),
            ("candidates", self.candidates is None or is_whole(self.candidates), "a whole number, or None for all"),
            ("shortest_first", isinstance(self.shortest_first, bool), truth),
            ("corrections", isinstance(self.corrections, tuple), "a tuple of whole seconds"),
            ("predictor", isinstance(self.predictor, str), "the name of a predictor, such as 'walltime'"),
            ("within_profile", isinstance(self.within_profile, bool), truth),
            ("plan", self.plan is None or isinstance(self.plan, Plan), "a Plan, or None"),
        )
        for argument, right, expected in wanted:
            if not right:
                value = excerpt(getattr(self, argument))
                raise WrongArgument(f"policy {self.name!r}: {argument} is {value}; expected {expected}")

    @property
    def needs(self) -> frozenset[str]:
        """What it needs beyond the moment, of ``dispatcher.NEEDS``."""
        return frozenset({"given-profile", "profile-limits"} if self.within_profile else ())

    @property
    def compiled(self) -> bool:
        """Whether one loop of compiled code can replay the policy, if durations never change and decisions take no time."""
        return not self.corrects and self.ranker is None

    @property
    def corrects(self) -> bool:
        """Whether it is EASY with corrected predictions, or with the shortest job first in backfilling."""
        return self.shortest_first or bool(self.corrections)

    @property
    def keeps_order(self) -> bool:
        """Whether its key is known not to depend on the expected durations."""
        return self.key in (by_submit, by_release, by_latest_start)

    def with_ranker(self, ranker: Ranker, name: str | None = None) -> Policy:
        """Return this policy with a ranker, which sorts the waiting jobs at each decision.

        Parameters
        ----------
        ranker : Ranker
            The ranker, for example ``schedlab.simulation.rankers.Fairshare(half_life=86400)``.
        name : str, optional
            The name of the new policy. Default: the names of the policy and the ranker, joined by "+".

        Returns
        -------
        Policy
            The new policy.

        Raises
        ------
        PluginError
            If ``ranker`` is not a ranker.
        """
        return replace(self, ranker=ranker, name=name or f"{self.name}+{getattr(ranker, 'name', '')}")


_PLAIN = (
    Policy("fcfs", by_submit, strict=True),
    Policy("sjf", by_duration, strict=True),
    Policy("rule:est", by_release),
    Policy("rule:est-strict", by_release, strict=True),
    Policy("rule:lst", by_latest_start),
    Policy("rule:lst-strict", by_latest_start, strict=True),
    Policy("rule:wt", by_duration),
    Policy("rule:wt-strict", by_duration, strict=True),
    Policy("rule:profit", by_profit),
    Policy("rule:profit-strict", by_profit, strict=True),
    Policy("rule:slowdown", by_slowdown),
    Policy("rule:slowdown-strict", by_slowdown, strict=True),
    Policy("easy", by_submit, reservations=1),
    Policy("easy:lst", by_latest_start, reservations=1),
    Policy("easy:wt", by_duration, reservations=1),
    Policy("easy++", by_submit, reservations=1, shortest_first=True, corrections=CORRECTIONS, predictor="last-two"),
    Policy("conservative", by_submit, reservations=None),
    Policy("pbs-fifo", by_submit, reservations=10),
    Policy("pbs-walltime", by_duration, reservations=400),
)
POLICIES: dict[str, Policy] = {p.name: p for p in _PLAIN}
"""The policies by name.

``pbs-fifo`` and ``pbs-walltime`` are the two PBS configurations of [Bridi2018, 4.5], with backfill depth 10 and 400.
The backfill depth is taken as in PBS Professional: the number of jobs that hold a reservation, while all later jobs may
start if they delay none of them. It could also mean the number of jobs that are examined; that is ``candidates``.
"""
WITHIN = "-profile"
WITHIN_PROFILE: dict[str, Policy] = {
    f"{p.name}{WITHIN}": replace(p, name=f"{p.name}{WITHIN}", within_profile=True) for p in _PLAIN
}
"""The same policies, named ``easy-profile`` etc., which keep to the desired profile of the replay at each start."""


# --- The dispatcher of one replay: a policy, or an object in Python.


EARLIER = {
    "always": "always",
    "prepare": "log",
    "follows_profile": "given-profile",
    "within_profile": "profile-limits",
    "node_policy": "node-policy",
    "takes_chunks": "one-chunk",
    "why_waiting": "reasons",
}
"""Attributes that declared needs before there was a set of them, and these needs."""


def needs_of(dispatcher: Any) -> frozenset[str]:
    """Return what a dispatcher declares that it needs, checked.

    Raises
    ------
    PluginError
        If it needs something unknown, lacks the attribute of a need, or declares a need by an attribute as earlier
        versions of schedlab expected.
    """
    name = dispatcher.name
    needs = getattr(dispatcher, "needs", None)
    if needs is None:
        earlier = [what for what in EARLIER if hasattr(dispatcher, what)]
        if not earlier:
            return frozenset()
        expected = ", ".join(repr(EARLIER[what]) for what in earlier)
        raise PluginError(
            f"dispatcher {name} has {', '.join(earlier)}, and no set of its needs; expected an attribute "
            f"needs = frozenset({{{expected}}}), or needs = frozenset() if schedlab is to take no notice of it"
        )
    unknown = not isinstance(needs, set | frozenset) or [need for need in needs if need not in NEEDS]
    if unknown:
        raise PluginError(
            f"dispatcher {name}: needs is {excerpt(needs)}; expected a set of {', '.join(map(repr, NEEDS))}"
        )
    for need in needs:
        if NEEDS[need] and not hasattr(dispatcher, NEEDS[need]):
            raise PluginError(f"dispatcher {name} needs {need!r}, but has no attribute {NEEDS[need]}")
    return frozenset(needs)


@dataclass(frozen=True, eq=False)
class Chosen:
    """The dispatcher of a replay.

    Parameters
    ----------
    name : str
        Its name in results and messages.
    predictor : str
        Name of the predictor that is used unless another one is given.
    needs : frozenset of str
        What it needs beyond the moment, of ``dispatcher.NEEDS``.
    policy : Policy or None
        It, if it is one that decides in compiled code.
    dispatcher
        It, if it is one in Python, which has the attributes of its needs; else None.
    scheduler
        It, if it is ``Slurm``, which is made for the site of each replay; else None.
    """

    name: str
    predictor: str
    needs: frozenset[str]
    policy: Policy | None = None
    dispatcher: Any = None
    scheduler: Slurm | None = None

    @property
    def made(self) -> Any:
        """The dispatcher, of whichever kind."""
        return self.policy or self.dispatcher or self.scheduler

    @classmethod
    def of(cls, made: Any, name: str | None = None, predictor: str | None = None) -> Chosen:
        """Return a dispatcher, with the name and the predictor of the text that names it. Raises PluginError."""
        if isinstance(made, Policy):
            return cls(name or made.name, predictor or made.predictor, made.needs, policy=made)
        if isinstance(made, Slurm):
            return cls(name or made.name, predictor or "walltime", made.needs, scheduler=made)
        return cls(name or made.name, predictor or "walltime", needs_of(made), dispatcher=made)


# --- The penalty scheduling policy under EASY and under conservative backfilling [Rocchetti2015, 4].


def psp() -> Policy:
    """Return EASY with jobs of accurate users first; the same as ``easy+psp``, a new ranker for each call.

    Examples
    --------
    >>> psp().ranker
    Penalty(last=10, classes=5, first_class='best', aging=inf)
    """
    return POLICIES["easy"].with_ranker(Penalty(), "psp")


def psp_conservative() -> Policy:
    """Return conservative backfilling with jobs of accurate users first; the same as ``conservative+psp``."""
    return POLICIES["conservative"].with_ranker(Penalty(), "psp-conservative")
