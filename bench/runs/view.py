"""The part of an instance that is run: a snapshot, the first n jobs, another objective, a scenario; and the usual ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ...backends import UnknownName
from ...instances import Instance, load
from ...models.arguments import seconds_of
from ...models.dispatch.jobs import DAY
from ...models.dispatch.objectives import find_objective
from ...models.problem import Problem
from ...models.words import clock, excerpt, how_many
from ..errors import WrongUse
from ..kinds import bench_object, kinds_with
from ..replays.settings import ReplaySettings
from ..terminal import say


def open_instance(path: str, drop_impossible: bool) -> Instance:
    """Load an instance and print each job that was left out, with the reason."""
    instance = load(path, drop_impossible=drop_impossible)
    for job, reason in instance.dropped:
        say(f"{instance.name}: job {job.id} is left out: {reason}", error=True)
    return instance


# --- The part of an instance that is run: a snapshot, the first n jobs, another objective, a scenario.

Durations = Literal["walltime", "runtime"]
OF_SOME = (
    "nodes_needed",
    "scenario",
    "keep",
    "desired",
    "desired_content",
    "over_cost",
)  # fields that are left out of records if they are None
ALL = "all"  # all scenarios


@dataclass(frozen=True)
class View:
    """The part of an instance that is run, and how.

    Parameters
    ----------
    at
        Second of the snapshot: only the jobs submitted by then, none of them started. None: all jobs.
    first
        Number of jobs, the first by submit time. None: all jobs.
    durations
        Durations of the jobs: "walltime" or "runtime".
    objective
        Name of the objective; None: that of the instance.
    nodes_needed
        Nodes to free; only for eviction problems.
    scenario
        Name of the scenario; only for profit problems.
    keep
        Objectives that are kept near their own optimum, by name, each with its slack: "late-jobs=1.1,waiting=1.5". None:
        no composite objective.
    desired, desired_content
        File with the desired use of a dispatching problem, and the hash of its content. None: that of the instance, if any.
    over_cost
        The cost of an amount-hour above the desired use. None: it is a limit.

    Examples
    --------
    >>> View(at=43200, first=100).label
    'at 12:00, first 100'
    """

    at: int | None = None
    first: int | None = None
    durations: Durations = "walltime"
    objective: str | None = None
    nodes_needed: int | None = None
    scenario: str | None = None
    keep: str | None = None
    desired: str | None = None
    desired_content: str | None = None
    over_cost: float | None = None

    @property
    def fields(self) -> dict[str, Any]:
        """The fields as in records and keys: those of other kinds of problems are left out if they are None."""
        return {name: v for name, v in asdict(self).items() if v is not None or name not in OF_SOME}

    @property
    def label(self) -> str:
        """The view as text, for the title of a table."""
        if self.nodes_needed is not None:
            return f"{how_many(self.nodes_needed, 'node')} needed"
        parts = []
        if self.scenario is not None:
            parts = [self.scenario]
        if self.at is None and self.first is None and self.scenario is None:
            parts.append("the whole instance")
        if self.at is not None:
            parts.append(f"at {clock(self.at)}")
        if self.first is not None:
            parts.append(f"first {self.first}")
        if self.durations != "walltime":
            parts.append("durations are the runtimes")
        if self.objective is not None:
            parts.append(f"objective {self.objective}")
        if self.keep is not None:
            parts.append(f"keeping {self.keep.replace(',', ' and ')}")
        if self.desired is not None:
            cost = "within"
            if self.over_cost is not None:
                cost = f"{self.over_cost:g} for each hour above"
            parts.append(f"{cost} {Path(self.desired).name}")
        return ", ".join(parts)

    def of(self, instance: Instance) -> Problem:
        """Return the problem of this view. Raises WrongUse if the kind of the problem has no such view, UnknownName."""
        if self == View():
            return instance.problem
        name = instance.problem.kind
        kind = bench_object(name)
        foreign = [
            f.name for f in fields(self) if getattr(self, f.name) != f.default and f.name not in kind.view_options
        ]
        if foreign:
            taking = " and ".join(kinds_with(lambda other: not set(foreign).isdisjoint(other.view_options)))
            verb = "are"
            if len(foreign) == 1:
                verb = "is"
            own = ""
            if kind.view_options:
                own = f"; its only view options are {_options(kind.view_options)}"
            raise WrongUse(f"{_options(foreign)} {verb} for {taking} problems; this is a {name} problem{own}")
        problem: Problem = kind.problem(instance, self)
        return problem


def _options(names: Sequence[str]) -> str:
    """Return fields of a view as options of the command line.

    >>> _options(["first", "nodes_needed"])
    '--first and --nodes-needed'
    """
    *others, last = (f"--{name.replace('_', '-')}" for name in names)
    if others:
        return f"{', '.join(others)} and {last}"
    return last


def scenarios_of(instance: Instance, requested: Sequence[str]) -> list[str]:
    """Return the names of the requested scenarios.

    Each text is a full name, some words of it ("winter,cheap": all scenarios with these words), or "all". Raises WrongUse
    if the instance has no scenarios or none with all these words, and UnknownName for an unknown word.
    """
    if not instance.scenarios:
        raise WrongUse(f"--scenario: {instance.name} of kind {instance.kind} has no scenarios")
    known = dict.fromkeys(word for name in instance.scenarios for word in name.split(","))
    chosen: dict[str, None] = {}
    for text in requested:
        words = {w for part in text.split(",") if (w := part.strip()) != ALL}
        for word in words:
            if word not in known:
                raise UnknownName("scenario", word, [*known, ALL])
        fitting = [name for name in instance.scenarios if words <= set(name.split(","))]
        if not fitting:
            raise WrongUse(
                f"--scenario {text}: no scenario has all of these words; known are {'; '.join(instance.scenarios)}"
            )
        chosen.update(dict.fromkeys(fitting))
    return list(chosen)


def one_scenario(view: View, instance: Instance, requested: str | None) -> View:
    """Return the view with the requested scenario. Raises WrongUse if several scenarios match, UnknownName."""
    if requested is None:
        return view
    fitting = scenarios_of(instance, [requested])
    if len(fitting) > 1:
        raise WrongUse(f"--scenario {requested}: expected one scenario, such as {fitting[0]}")
    return replace(view, scenario=fitting[0])


def replay_label(view: View, replay: ReplaySettings) -> str:
    """Return a text about the view and the settings of a replay, for the title of a table."""
    whole = "replay of the day"
    if replay.trace:
        whole = "replay"
    first = ""
    if view.first is not None:
        first = f"first {view.first}"
    aim = ""
    if view.objective is not None:
        aim = f"objective {view.objective}"
    return ", ".join(part for part in (whole, first, aim, replay.label) if part)


def parse_keep(text: str) -> str:
    """Return the kept objectives of ``--keep``, sorted by name. Raises WrongUse, UnknownName.

    Examples
    --------
    >>> parse_keep("weighted-tardiness=1.10,late-jobs=2")
    'late-jobs=2,weighted-tardiness=1.1'
    """
    slacks: dict[str, float] = {}
    for part in text.split(","):
        name, _, slack = (each.strip() for each in part.partition("="))
        if name:
            find_objective(name)
        number = _slack(slack)
        if not name or number is None or name in slacks:
            raise WrongUse(
                f"--keep {excerpt(text)}: expected objectives, each once with a slack of at least 1, such as "
                "weighted-tardiness=1.1,late-jobs=1.1"
            )
        slacks[name] = number
    return ",".join(f"{name}={slacks[name]:.15g}" for name in sorted(slacks))


def _slack(text: str) -> float | None:
    """Return a finite number of at least 1; None for any other text."""
    try:
        value = float(text)
    except ValueError:
        return None
    if 1 <= value < float("inf"):
        return value
    return None


def parse_profile(desired: str | None, profile: str | None) -> dict[str, Any]:
    """Return the fields of a view for ``--desired FILE`` and ``--profile hard`` or ``soft:COST``.

    Raises
    ------
    WrongUse
        If the mode is neither, or there is no file.
    InstanceError, WorkloadError
        If the file has faults.

    Examples
    --------
    >>> parse_profile(None, None)
    {}
    """
    from ...instances.files.profile_file import read_wishes
    from ...instances.files.reading import content_of

    if desired is None and profile is not None:
        raise WrongUse(f"--profile {excerpt(profile)}: give the file of the desired use with --desired FILE")
    if desired is None:
        return {}
    mode, colon, text = (profile or "hard").partition(":")
    cost = None
    if mode == "soft":
        cost = _cost(text)
    if (mode == "soft") != (cost is not None) or (mode != "soft" and (mode != "hard" or colon)):
        raise WrongUse(
            f"--profile {excerpt(profile or '')}: expected hard, or soft: with the cost of an amount-hour, such as soft:0.5"
        )
    read_wishes(desired)
    return {"desired": desired, "desired_content": content_of(Path(desired)), "over_cost": cost}


def _cost(text: str) -> float | None:
    """Return a finite number of at least 0; None for any other text."""
    try:
        value = float(text)
    except ValueError:
        return None
    if 0 <= value < float("inf"):
        return value
    return None


def parse_durations(text: str) -> Durations:
    """Return the value of ``--durations``. Raises UnknownName."""
    known: dict[str, Durations] = {"walltime": "walltime", "runtime": "runtime"}
    if text not in known:
        raise UnknownName("kind of durations", text, list(known))
    return known[text]


def parse_clock(text: str) -> int:
    """Return the seconds of "12:00", "12:00:30" or "43200". Raises WrongUse.

    Examples
    --------
    >>> parse_clock("12:00")
    43200
    """
    seconds = seconds_of(text)
    if seconds is None:
        raise WrongUse(f"--at {text}: expected a time of day such as 12:00, or seconds such as 43200")
    return seconds


# --- The default runs: the views of an instance, each with its methods and time limits.

SMALL = 8  # an instance with at most this many nodes gets the defaults for small instances
USUAL_LIMIT = 10.0  # time limit in seconds of a method that is not among the defaults


class Default(NamedTuple):
    """A method and its time limit in seconds."""

    method: str
    time_limit: float = USUAL_LIMIT


NOON = View(at=DAY // 2, first=100)
WHOLE = View()
DAY_REPLAYED = View(durations="runtime")  # for dispatchers, and for the clairvoyant methods they are compared with
Defaults = Mapping[View, Sequence[Default]]


def defaults(instance: Instance) -> Defaults:
    """Return the default views of an instance, each with its methods; views without jobs are left out."""
    kind = bench_object(instance.kind)
    return {v: methods for v, methods in views_known(instance).items() if not kind.is_empty(instance.problem, v)}


def views_known(instance: Instance) -> Defaults:
    """Return the views for which there are default methods and time limits, by the kind and size of the instance."""
    views: Defaults = bench_object(instance.kind).default_views(instance)
    return views
