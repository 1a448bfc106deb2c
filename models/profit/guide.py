"""The efficiency of the days of a schedule, and the guide that chooses the aim of the next day from it [Bridi2018, 6.8.3]."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args

from ..arguments import checked
from ..comparing import hashable
from ..platform import ProblemError
from ..problem import Schedule
from ..step_function import DAY, HOUR
from ..words import excerpt, how_many, with_short_repr
from .problem import Profit, Segment, daily, makespan

# --- The efficiency guide: the aim of the next day's schedule, from the cooling and the utilisation of the day before.
#
# Source: [Bridi2018, 6.8.3].

Advice = Literal["maximise utilisation", "optimise cooling"]
MAXIMISE: Advice = "maximise utilisation"
OPTIMISE: Advice = "optimise cooling"
FORMAT = "schedlab guide 1"
SLACK = 1e-9  # a utilisation may exceed 1 by this much, because of rounding


@dataclass(frozen=True)
class Leaf:
    """The end of a rule: an advice, the number of days it was learned from, and on how many of them it was right."""

    advice: Advice
    days: int
    right: int


@dataclass(frozen=True)
class Split:
    """A rule with two cases: ``more`` if the utilisation of the day before is greater than ``above``, else ``less``.

    The utilisation is a share of the machine's core-hours, 0 to 1.
    """

    above: float
    more: Rule
    less: Rule


Rule = Leaf | Split


@checked(values=False)
@with_short_repr
@hashable
@dataclass(frozen=True)
class Guide:
    r"""Rules that give an advice from the utilisation of the day before, one rule per cooling.

    Parameters
    ----------
    rules : mapping of str to Leaf or Split
        The rule of each cooling, by its name.
    about : mapping, optional
        The source of the rules, as plain data.

    Examples
    --------
    >>> rules = {"air": Leaf(OPTIMISE, 9, 9), "hybrid": Split(0.8482, Leaf(MAXIMISE, 5, 5), Leaf(OPTIMISE, 5, 4))}
    >>> guide = Guide(rules)
    >>> guide.advise(cooling="hybrid", utilisation=0.86)
    'maximise utilisation'
    >>> print("\n".join(guide.sentences()))
    air: optimise cooling, whatever the utilisation of the day before
    hybrid: maximise utilisation after a day with a utilisation above 84.82 %, else optimise cooling
    """

    rules: Mapping[str, Rule]
    about: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def load(cls, path: str | Path) -> Guide:
        """Return the guide of a file written by ``bench guide --out``; raise ProblemError if it is missing or wrong."""
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as e:
            raise ProblemError(
                f"{path}: cannot be read ({e.strerror}); bench guide RESULTS --out FILE writes one"
            ) from e
        except (ValueError, RecursionError) as e:
            raise ProblemError(f"{path}: not JSON ({e}); bench guide RESULTS --out FILE writes one") from e
        try:
            return cls.from_json(data)
        except ProblemError as e:
            raise ProblemError(f"{path}: {e}") from e
        except RecursionError as e:
            raise ProblemError(f"{path}: rules: they are nested too deeply") from e

    @classmethod
    def from_json(cls, data: Any) -> Guide:
        """Return the guide of data in the form of ``as_json``; raise ProblemError that names the malformed place."""
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            if isinstance(data, dict):
                format_of_data = data.get("format")
            else:
                format_of_data = data
            raise ProblemError(f"not a guide: its format is {excerpt(format_of_data)}, {FORMAT!r} is expected")
        rules = data.get("rules")
        if not isinstance(rules, dict) or not rules:
            raise ProblemError(f"rules: expected an object with a rule per cooling, found {excerpt(rules)}")
        about = data.get("about", {})
        return cls(
            {name: _rule(rule, f"rules.{name}") for name, rule in rules.items()},
            about if isinstance(about, dict) else {},
        )

    def as_json(self) -> dict[str, Any]:
        """Return the guide as plain data for JSON; rules are nested."""
        rules = {name: _plain(rule) for name, rule in self.rules.items()}
        return {"format": FORMAT, "rules": rules, "about": dict(self.about)}

    def advise(self, cooling: str, utilisation: float) -> Advice:
        """Return the aim for the next day.

        Parameters
        ----------
        cooling : str
            The name of the cooling.
        utilisation : float
            The utilisation of the day before: a share of the machine's core-hours, 0 to 1.

        Returns
        -------
        str
            ``"maximise utilisation"`` or ``"optimise cooling"``.

        Raises
        ------
        ProblemError
            If the cooling is unknown, or the utilisation is not a share.
        """
        return self._range(cooling, utilisation)[2].advice

    def reason(self, cooling: str, utilisation: float) -> str:
        """Return a sentence that explains the advice; raise ProblemError as ``advise`` does.

        Examples
        --------
        >>> guide = Guide({"hybrid": Split(0.8482, Leaf(MAXIMISE, 5, 5), Leaf(OPTIMISE, 5, 4))})
        >>> guide.reason("hybrid", 0.86)
        'maximise utilisation: with hybrid cooling it was right on 5 of 5 days after a utilisation above 84.82 %; it was 86.00 %'
        """
        low, high, leaf = self._range(cooling, utilisation)
        return (
            f"{leaf.advice}: with {cooling} cooling it was right on {leaf.right:,} of {how_many(leaf.days, 'day', ',')} "
            f"after {_after(low, high)}; it was {percent(utilisation)}"
        )

    def ranges(self, cooling: str) -> list[tuple[float, float, Leaf]]:
        """Return the rule of a cooling as a list of (utilisation above, utilisation up to, Leaf), from 0 to 1.

        Raises
        ------
        ProblemError
            If the cooling is unknown.
        """
        return [*_ranges(self._rule_of(cooling), 0.0, 1.0)]

    def sentences(self) -> list[str]:
        """Return one sentence per cooling that states its rule."""
        return [f"{name}: {self._sentence(name)}" for name in self.rules]

    @property
    def days(self) -> int:
        """The number of days from which the guide was learned."""
        return sum(leaf.days for name in self.rules for *_, leaf in self.ranges(name))

    @property
    def accuracy(self) -> float:
        """The share of these days on which the advice is right."""
        return sum(leaf.right for name in self.rules for *_, leaf in self.ranges(name)) / max(1, self.days)

    def _range(self, cooling: str, utilisation: float) -> tuple[float, float, Leaf]:
        """Return the range of utilisation that contains the given one, and the Leaf of the rule there."""
        if not 0 <= utilisation <= 1 + SLACK:
            hint = ""
            if 1 < utilisation <= 100:
                hint = f"; for {utilisation:g} % give {utilisation / 100:g}"
            raise ProblemError(f"the utilisation is {utilisation}; a share from 0 to 1 is expected{hint}")
        known = self.ranges(cooling)
        return next((each for each in known if utilisation <= each[1]), known[-1])

    def _rule_of(self, cooling: str) -> Rule:
        if cooling not in self.rules:
            raise ProblemError(
                f"the guide does not know cooling {excerpt(cooling)}; it was learned for {', '.join(self.rules)}"
            )
        return self.rules[cooling]

    def _sentence(self, cooling: str) -> str:
        parts = self.ranges(cooling)
        last = parts[-1]
        if len(parts) == 1:
            return f"{last[2].advice}, whatever the utilisation of the day before"
        if len(parts) == 2:
            return (
                f"{last[2].advice} after a day with a utilisation above {percent(last[0])}, else {parts[0][2].advice}"
            )
        steps = [f"{leaf.advice} up to {percent(high)}" for _, high, leaf in parts[:-1]]
        return f"by the utilisation of the day before: {', '.join(steps)}, {last[2].advice} above"


def percent(share: float) -> str:
    """Return a share as a text in percent with two decimals.

    Examples
    --------
    >>> percent(0.84821)
    '84.82 %'
    """
    return f"{100 * share:.2f} %"


def _after(low: float, high: float) -> str:
    if low <= 0 and high >= 1:
        return "any utilisation"
    if high >= 1:
        return f"a utilisation above {percent(low)}"
    if low <= 0:
        return f"a utilisation of at most {percent(high)}"
    return f"{percent(low)} to {percent(high)}"


def _ranges(rule: Rule, low: float, high: float) -> Iterator[tuple[float, float, Leaf]]:
    if isinstance(rule, Leaf):
        yield low, high, rule
    else:
        yield from _ranges(rule.less, low, min(high, rule.above))
        yield from _ranges(rule.more, max(low, rule.above), high)


def _plain(rule: Rule) -> dict[str, Any]:
    if isinstance(rule, Leaf):
        return {"advice": rule.advice, "days": rule.days, "right": rule.right}
    return {"utilisation_above": rule.above, "then": _plain(rule.more), "else": _plain(rule.less)}


def _rule(data: Any, where: str) -> Rule:
    if isinstance(data, dict) and "advice" in data:
        advice: Any = data["advice"]
        days: Any = data.get("days")
        right: Any = data.get("right")
        if advice not in get_args(Advice):
            raise ProblemError(
                f"{where}: the advice is {excerpt(advice)}; one of {', '.join(get_args(Advice))} is expected"
            )
        if not (_count(days) and _count(right) and right <= days):
            raise ProblemError(
                f"{where}: right on {excerpt(right)} of {excerpt(days)} days; whole numbers are expected"
            )
        return Leaf(advice, days, right)
    if isinstance(data, dict) and {"utilisation_above", "then", "else"} <= set(data):
        above = data["utilisation_above"]
        if isinstance(above, bool) or not isinstance(above, (int, float)) or not 0 <= above <= 1:
            raise ProblemError(f"{where}: utilisation_above is {excerpt(above)}; a share from 0 to 1 is expected")
        return Split(float(above), _rule(data["then"], f"{where}.then"), _rule(data["else"], f"{where}.else"))
    raise ProblemError(
        f"{where}: expected advice, days, right, or utilisation_above, then, else; found {excerpt(data)}"
    )


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


# --- The efficiency of the days of a schedule: the PUE of a day and that of its slope-change point [Bridi2018, 6.8.3].
#
# Where the thesis leaves a choice, the definitions are:
#
# - A day is used if at least 23 hours of it, and of the day before, lie in the period. The utilisation is that of the day
#   before: its core-hours over those of the machine.
# - The PUE of a day is the energy of work and cooling over that of work.
# - The slope-change point of a day is the PUE at the slope change of the cooling curve, as the mean over its segments
#   that have one, weighted by their lengths.
# - If the PUE of a day lies above this point, efficiency was given up for profit: the near-optimal schedule maximised the
#   utilisation. A PUE equal to the point counts as below it.

ON_THE_POINT = 1e-9  # a smaller difference of PUEs is rounding
WHOLE = 23 * HOUR  # of a day: the period may end shortly before midnight, at the last submission


@dataclass(frozen=True)
class Day:
    """A day of a schedule.

    Parameters
    ----------
    begin : int
        The begin of the day in seconds.
    cooling : str
        The name of the cooling.
    utilisation : float
        The core-hours of the day before as a share of those of the machine.
    pue, slope_change : float
        The PUE of the day, and that of the slope-change point.
    """

    begin: int
    cooling: str
    utilisation: float
    pue: float
    slope_change: float

    @property
    def distance(self) -> float:
        """The PUE less that of the slope-change point."""
        return self.pue - self.slope_change

    @property
    def aim(self) -> Advice:
        """The aim that the schedule of the day followed.

        Examples
        --------
        >>> Day(86400, "hybrid", 0.9, pue=1.09, slope_change=1.08).aim
        'maximise utilisation'
        """
        if self.distance > ON_THE_POINT:
            return MAXIMISE
        return OPTIMISE


@dataclass(frozen=True)
class Days:
    """The days of a schedule that can be used, and how often each reason excluded another day."""

    days: tuple[Day, ...]
    left_out: Counter[str] = field(default_factory=Counter)


def days(problem: Profit, schedule: Schedule, to_the_end: bool = False) -> Days:
    """Return the days of a schedule up to ``horizon_end`` of the problem, or to the end of the last job.

    Parameters
    ----------
    problem : Profit
        The problem.
    schedule : Schedule
        The start of each job.
    to_the_end : bool, default False
        Whether the period ends with the last job, if that is later than ``horizon_end``.

    Returns
    -------
    Days
        The days.

    Raises
    ------
    KeyError
        If a job has no start.
    """
    end = problem.horizon_end
    if to_the_end:
        end = max(end, -(-makespan(problem, schedule) // DAY) * DAY)
    segments = problem.segments_to(end)
    known_days: list[Day] = []
    left_out: Counter[str] = Counter()
    whole = [a for a in daily(problem, schedule, end) if a.end - a.begin >= WHOLE]
    for before, today in pairwise(whole):
        point = slope_change_pue(problem, [s for s in segments if today.begin <= s.begin < today.end])
        if today.pue is None:
            left_out["nothing runs"] += 1
        elif point is None:
            left_out[f"cooling {problem.cooling.name!r} has no slope change at the temperatures of the day"] += 1
        else:
            known_days.append(Day(today.begin, problem.cooling.name, before.utilisation, today.pue, point))
    return Days(tuple(known_days), left_out)


def slope_change_pue(problem: Profit, segments: Sequence[Segment]) -> float | None:
    """Return the time-weighted mean PUE at the slope change of the segments that have one; None if none has one."""
    weighted = seconds = 0.0
    for s in segments:
        power = problem.cooling.slope_change(s.celsius)
        pue = None
        if power is not None:
            pue = problem.cooling.pue(power, s.celsius)
        if pue is not None:
            weighted += (s.end - s.begin) * pue
            seconds += s.end - s.begin
    if seconds:
        return weighted / seconds
    return None
