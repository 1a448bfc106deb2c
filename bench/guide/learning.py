"""Learns the efficiency guide from days, and says how well it does: on the same days, and on days left out.

The first question of the tree is the cooling; below it stands a decision tree on the utilisation of the day before
(scikit-learn), a single threshold unless more depth is asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ...models.profit.efficiency import Day
from ...models.profit.guide import MAXIMISE, OPTIMISE, Advice, Guide, Leaf, Rule, Split
from ..errors import WrongUse
from .days import Sample

DEPTH = 1
LEAST = 100  # a threshold leaves at least one in so many days of its cooling on either side
DISTANCES = (0.0001, 0.001, 0.01, 0.1)  # of PUE, between the rows of the table of errors


def require_scikit_learn() -> None:
    """Raises WrongUse, which says what to install, if there is no scikit-learn."""
    try:
        import sklearn.tree  # noqa: F401
    except ImportError as e:
        raise WrongUse("bench guide needs scikit-learn to learn: pip install 'schedlab[guide]'") from e


def learn(days: Sequence[Day], depth: int = DEPTH, seed: int = 0, about: Mapping[str, Any] | None = None) -> Guide:
    """The guide of these days: per cooling a decision tree of at most ``depth`` questions one below the other.

    Where all days of a cooling are alike, or no threshold tells them apart, its rule is a constant. Raises WrongUse
    without any days, or without scikit-learn.
    """
    if not days:
        raise WrongUse("there are no days to learn from: two whole days one after the other are needed")
    require_scikit_learn()
    names = sorted({day.cooling for day in days})
    rules = {name: _tree([day for day in days if day.cooling == name], depth, seed) for name in names}
    return Guide(rules, {} if about is None else about)


def _tree(days: Sequence[Day], depth: int, seed: int) -> Rule:
    from sklearn.tree import DecisionTreeClassifier

    least = max(1, len(days) // LEAST)
    made = DecisionTreeClassifier(max_depth=depth, min_samples_leaf=least, random_state=seed)
    tree = made.fit([[day.utilisation] for day in days], [day.aim for day in days]).tree_

    def rule(node: int, here: Sequence[Day], tie: Advice) -> Rule:
        leaf = _leaf(here, tie)
        if tree.children_left[node] < 0:
            return leaf
        above = float(tree.threshold[node])
        less = rule(tree.children_left[node], [d for d in here if d.utilisation <= above], leaf.advice)
        more = rule(tree.children_right[node], [d for d in here if d.utilisation > above], leaf.advice)
        if isinstance(less, Leaf) and isinstance(more, Leaf) and less.advice == more.advice:
            return leaf
        return Split(above, more, less)

    return rule(0, days, OPTIMISE)


def _leaf(days: Sequence[Day], tie: Advice = OPTIMISE) -> Leaf:
    """What most of the days did; ``tie``: where as many did the one as the other."""
    aims = Counter(day.aim for day in days)
    advice: Advice = tie if aims[MAXIMISE] == aims[OPTIMISE] else max((MAXIMISE, OPTIMISE), key=aims.__getitem__)
    return Leaf(advice, len(days), aims[advice])


def right(guide: Guide, day: Day) -> bool:
    """Whether the guide's advice is what the best schedule of that day did."""
    return guide.advise(day.cooling, day.utilisation) == day.aim


class Validation(NamedTuple):
    """Days advised by a guide that was learned without them. ``unanswered``: no other day was of their cooling."""

    folds: int
    days: int
    right: int
    unanswered: int

    @property
    def accuracy(self) -> float | None:
        """The share of right answers; None if there were none."""
        return self.right / self.days if self.days else None


def leave_out(samples: Sequence[Sample], group: Callable[[Sample], Hashable], depth: int = DEPTH) -> Validation:
    """Each group of days advised by what is learned of all the others; without two groups nothing is answered."""
    groups: dict[Hashable, list[Day]] = {}
    for sample in samples:
        groups.setdefault(group(sample), []).append(sample.day)
    answered = hits = unanswered = 0
    for name, held in groups.items():
        others = [day for other, days in groups.items() if other != name for day in days]
        guide = learn(others, depth) if others else Guide({})
        known = [day for day in held if day.cooling in guide.rules]
        answered += len(known)
        hits += sum(right(guide, day) for day in known)
        unanswered += len(held) - len(known)
    return Validation(len(groups), answered, hits, unanswered)


def confusion(guide: Guide, days: Iterable[Day]) -> Counter[tuple[Advice, Advice]]:
    """How many days by (what the best schedule did, what the guide advises)."""
    return Counter((day.aim, guide.advise(day.cooling, day.utilisation)) for day in days)


class Near(NamedTuple):
    """Days at a distance from the slope-change point of at least ``low`` and less than ``high`` (of PUE)."""

    low: float
    high: float
    days: int
    wrong: int


def errors_by_distance(guide: Guide, days: Sequence[Day]) -> list[Near]:
    """How many of the days are told wrong, by how far their PUE lies from the slope-change point."""
    found = []
    for low, high in zip((0.0, *DISTANCES), (*DISTANCES, float("inf")), strict=True):
        here = [day for day in days if low <= abs(day.distance) < high]
        found.append(Near(low, high, len(here), sum(not right(guide, day) for day in here)))
    return found


def usual(days: Iterable[Day]) -> tuple[Advice, int]:
    """The advice that is right most often if it is always given, and on how many days."""
    leaf = _leaf(list(days))
    return leaf.advice, leaf.right
