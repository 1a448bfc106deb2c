"""The table of ``bench compare``: a row per pair of methods and quantity, the real differences marked."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from rich.console import Console
from rich.text import Text

from ...models.counts import how_many
from ..grid import DIM, Column, Grid, percent, seconds
from ..statistics.comparison import Difference, least_problems
from ..statistics.sample import Sample

MEANING = (
    "gap: mean gap to the best objective known, 100 % without a verified schedule; time: shifted geometric mean of the seconds to "
    "the proof (with --target: to a schedule within that gap), the time limit for runs without; integral: mean gap over the "
    "time limit; first, second: the means; effect: mean of second - first in percentage points, of times the ratio second / "
    "first; interval: its bootstrap interval over the problems; less, equal, more: problems on which the second is less, "
    "equal, more; p: Wilcoxon's signed-rank test, adjusted by Holm's method. Formulas: docs/statistics.md."
)


def show_comparison(
    console: Console, sample: Sample, differences: Sequence[Difference], alpha: float, explain: bool = False
) -> None:
    """Print a table for each pair of methods, and how many problems are needed to show anything.

    ``alpha``: the level of the tests; ``explain``: whether the meaning of the columns is printed.
    """
    problems = len(sample.problems)
    for note in sample.notes:
        console.print(Text(note, style=DIM))
    for one, other in dict.fromkeys((d.one, d.other) for d in differences):
        title = f"first: {one}; second: {other}; {how_many(problems, 'problem')}, level {alpha:g}"
        own = [d for d in differences if (d.one, d.other) == (one, other)]
        console.print(Grid.of(title, columns(alpha), own, MEANING, style=lambda d: "bold" if d.real else ""))
    tests = sum(d.less + d.more > 0 for d in differences)
    real = sum(d.real for d in differences)
    console.print(f"{real} of {how_many(tests, 'tested difference', verb='are')} real")
    needed = least_problems(max(1, tests), alpha)
    if problems < needed:
        console.print(
            f"{how_many(problems, 'problem', verb='are')} too few to show any of them at level {alpha:g}: at least {needed} are needed"
        )
    console.print(Grid("", (), meaning=MEANING).key(explain))


def columns(alpha: float) -> list[Column]:
    """Return the columns; their values are texts, as a time is compared by a ratio and a gap by a difference."""
    return [
        Column("", lambda d: d.quantity, words=True),
        Column("first", lambda d: _mean(d, 0)),
        Column("second", lambda d: _mean(d, 1)),
        Column("effect", lambda d: f"x {d.effect:.3f}" if d.quantity == "time" else f"{100 * d.effect:+.2f}"),
        Column(f"{100 * (1 - alpha):g} % interval", _interval),
        Column("less", lambda d: d.less),
        Column("equal", lambda d: d.equal),
        Column("more", lambda d: d.more),
        Column(
            "p", lambda d: d.adjusted if d.less + d.more else None, lambda p: "< 0.0001" if p < 1e-4 else f"{p:.4f}"
        ),
        Column("verdict", lambda d: d.verdict, words=True, least=12),
    ]


def _mean(d: Difference, k: int) -> str:
    return f"{seconds(d.values[k])} s" if d.quantity == "time" else percent(d.values[k])


def _interval(d: Difference) -> str | None:
    if isnan(d.low):
        return None
    return f"{d.low:.3f}..{d.high:.3f}" if d.quantity == "time" else f"{100 * d.low:+.2f}..{100 * d.high:+.2f}"
