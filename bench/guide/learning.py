"""Learn the efficiency guide from days, and measure its accuracy on these days and on days left out.

The first question of the guide is the cooling. For each cooling there is a decision tree (scikit-learn) on the utilisation
of the day before; by default it has a single threshold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ...models.profit.efficiency import Day
from ...models.profit.guide import MAXIMISE, OPTIMISE, Advice, Guide, Leaf, Rule, Split
from ..errors import WrongUse
from .days import Sample

DEPTH = 1  # greatest depth of a tree, by default
LEAST = 100  # a threshold has at least 1 / LEAST of the days of its cooling on each side
DISTANCES = (0.0001, 0.001, 0.01, 0.1)  # of PUE: limits between the rows of the table of errors


def require_scikit_learn() -> None:
    """Raise WrongUse, with the command that installs it, if scikit-learn is missing."""
    try:
        import sklearn.tree  # noqa: F401
    except ImportError as e:
        raise WrongUse("bench guide needs scikit-learn to learn: pip install 'schedlab[guide]'") from e


def learn(days: Sequence[Day], depth: int = DEPTH, seed: int = 0, about: Mapping[str, Any] | None = None) -> Guide:
    """Return the guide that is learned from some days: a decision tree per cooling.

    The rule of a cooling is a constant if the best schedules did the same on all its days, or if no threshold separates
    them.

    Parameters
    ----------
    days : sequence of Day
        The days.
    depth : int
        The greatest number of questions on the utilisation, one below the other.
    seed : int
        The random seed of the tree.
    about : mapping, optional
        Notes on the origin of the days, for the file of the guide.

    Returns
    -------
    Guide
        The guide.

    Raises
    ------
    WrongUse
        If there are no days, or scikit-learn is missing.
    """
    if not days:
        raise WrongUse("there are no days to learn from: at least two consecutive whole days are needed")
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
    """Return what the best schedules did on most of the days; ``tie`` if both are equally frequent."""
    aims = Counter(day.aim for day in days)
    advice: Advice = tie if aims[MAXIMISE] == aims[OPTIMISE] else max((MAXIMISE, OPTIMISE), key=aims.__getitem__)
    return Leaf(advice, len(days), aims[advice])


def right(guide: Guide, day: Day) -> bool:
    """Return whether the advice of the guide is what the best schedule did on that day."""
    return guide.advise(day.cooling, day.utilisation) == day.aim


class Validation(NamedTuple):
    """The accuracy of guides on days that they were not learned from.

    Attributes
    ----------
    folds : int
        The number of groups of days.
    days : int
        The number of days with an advice.
    right : int
        The number of days on which the advice is right.
    unanswered : int
        The number of days without an advice, because no other group has a day of their cooling.
    """

    folds: int
    days: int
    right: int
    unanswered: int

    @property
    def accuracy(self) -> float | None:
        """The share of days on which the advice is right; None if there is no advice."""
        return self.right / self.days if self.days else None


def leave_out(samples: Sequence[Sample], group: Callable[[Sample], Hashable], depth: int = DEPTH) -> Validation:
    """Test each group of days with a guide that is learned from all other groups; this needs at least two groups."""
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
    """Count the days by (what the best schedule did, what the guide advises)."""
    return Counter((day.aim, guide.advise(day.cooling, day.utilisation)) for day in days)


class Near(NamedTuple):
    """The days whose PUE has a distance of at least ``low`` and less than ``high`` from the slope-change point.

    ``days`` is their number, ``wrong`` the number of those with a wrong advice.
    """

    low: float
    high: float
    days: int
    wrong: int


def errors_by_distance(guide: Guide, days: Sequence[Day]) -> list[Near]:
    """Count the days with a wrong advice, by the distance of their PUE from the slope-change point."""
    found = []
    for low, high in zip((0.0, *DISTANCES), (*DISTANCES, float("inf")), strict=True):
        here = [day for day in days if low <= abs(day.distance) < high]
        found.append(Near(low, high, len(here), sum(not right(guide, day) for day in here)))
    return found


def usual(days: Iterable[Day]) -> tuple[Advice, int]:
    """Return the constant advice that is right most often, and on how many days it is right."""
    leaf = _leaf(list(days))
    return leaf.advice, leaf.right
