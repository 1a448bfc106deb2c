"""The efficiency guide: what tomorrow's schedule should aim at, by the cooling and yesterday's utilisation (thesis 6.8.3)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from ..excerpt import excerpt
from ..platform import ProblemError

Advice = Literal["maximise utilisation", "optimise cooling"]
MAXIMISE: Advice = "maximise utilisation"
OPTIMISE: Advice = "optimise cooling"
FORMAT = "schedlab guide 1"
SLACK = 1e-9  # by which a utilisation may exceed 1, of rounding


@dataclass(frozen=True)
class Leaf:
    """An advice, and of how many of the days that it was learned from it was right."""

    advice: Advice
    days: int
    right: int


@dataclass(frozen=True)
class Split:
    """``more`` after a day with a utilisation greater than ``above`` (a share of the core-hours), else ``less``."""

    above: float
    more: Rule
    less: Rule


Rule = Leaf | Split


@dataclass(frozen=True)
class Guide:
    """A rule per cooling (by name); ``about``: what it was learned from, as plain data.

    >>> rules = {"air": Leaf(OPTIMISE, 9, 9), "hybrid": Split(0.8482, Leaf(MAXIMISE, 5, 5), Leaf(OPTIMISE, 5, 4))}
    >>> guide = Guide(rules)
    >>> guide.advise(cooling="hybrid", utilisation=0.86)
    'maximise utilisation'
    >>> print("\\n".join(guide.sentences()))
    air: optimise cooling, whatever the utilisation of the day before
    hybrid: maximise utilisation after a day with a utilisation above 84.82 %, else optimise cooling
    """

    rules: Mapping[str, Rule]
    about: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def load(cls, path: str | Path) -> Guide:
        """The guide of a file that ``bench guide --out`` wrote. Raises ProblemError that says what is wrong with it."""
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
            raise ProblemError(f"{path}: rules: too many of them within each other") from e

    @classmethod
    def from_json(cls, data: Any) -> Guide:
        """A guide from the form of ``as_json``. Raises ProblemError that names the place where the form is broken."""
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            found = data.get("format") if isinstance(data, dict) else data
            raise ProblemError(f"not a guide: its format is {excerpt(found)}, {FORMAT!r} is expected")
        rules = data.get("rules")
        if not isinstance(rules, dict) or not rules:
            raise ProblemError(f"rules: expected an object with a rule per cooling, found {excerpt(rules)}")
        about = data.get("about", {})
        return cls(
            {name: _rule(rule, f"rules.{name}") for name, rule in rules.items()},
            about if isinstance(about, dict) else {},
        )

    def as_json(self) -> dict[str, Any]:
        """The guide as JSON's plain data: rules within rules."""
        rules = {name: _plain(rule) for name, rule in self.rules.items()}
        return {"format": FORMAT, "rules": rules, "about": dict(self.about)}

    def advise(self, cooling: str, utilisation: float) -> Advice:
        """What to aim at tomorrow. ``utilisation``: of the day before, a share of the machine's core-hours (0 to 1).

        Raises ProblemError for a cooling that the guide does not know, and for a utilisation that is no share.
        """
        return self._range(cooling, utilisation)[2].advice

    def reason(self, cooling: str, utilisation: float) -> str:
        """Why: a sentence for people. Raises ProblemError as ``advise`` does.

        >>> guide = Guide({"hybrid": Split(0.8482, Leaf(MAXIMISE, 5, 5), Leaf(OPTIMISE, 5, 4))})
        >>> guide.reason("hybrid", 0.86)
        'maximise utilisation: with hybrid cooling it was right on 5 of 5 days after a utilisation above 84.82 %; it was 86.00 %'
        """
        low, high, leaf = self._range(cooling, utilisation)
        return (
            f"{leaf.advice}: with {cooling} cooling it was right on {leaf.right:,} of {leaf.days:,} days "
            f"after {_after(low, high)}; it was {percent(utilisation)}"
        )

    def ranges(self, cooling: str) -> list[tuple[float, float, Leaf]]:
        """The rule of a cooling as (utilisation above, up to, end), from 0 to 1. Raises ProblemError for one unknown."""
        return [*_ranges(self._rule_of(cooling), 0.0, 1.0)]

    def sentences(self) -> list[str]:
        """The rule in words, a sentence per cooling."""
        return [f"{name}: {self._sentence(name)}" for name in self.rules]

    @property
    def days(self) -> int:
        """How many days it was learned from."""
        return sum(leaf.days for name in self.rules for *_, leaf in self.ranges(name))

    @property
    def accuracy(self) -> float:
        """The share of those days on which its advice is right."""
        return sum(leaf.right for name in self.rules for *_, leaf in self.ranges(name)) / max(1, self.days)

    def _range(self, cooling: str, utilisation: float) -> tuple[float, float, Leaf]:
        """The range of utilisation that applies, and the end of the rule there."""
        if not 0 <= utilisation <= 1 + SLACK:
            hint = f"; for {utilisation:g} % say {utilisation / 100:g}" if 1 < utilisation <= 100 else ""
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
    """A share for people, in hundredths of a percent.

    >>> percent(0.84821)
    '84.82 %'
    """
    return f"{100 * share:.2f} %"


def _after(low: float, high: float) -> str:
    if low <= 0 and high >= 1:
        return "any utilisation"
    if high >= 1:
        return f"a utilisation above {percent(low)}"
    return f"a utilisation of at most {percent(high)}" if low <= 0 else f"{percent(low)} to {percent(high)}"


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


__all__ = ["MAXIMISE", "OPTIMISE", "Advice", "Guide", "Leaf", "Rule", "Split", "percent"]
