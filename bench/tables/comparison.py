"""The table of ``bench compare``: a row per pair of methods and quantity, the real differences marked."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...models.counts import how_many
from ..statistics.comparison import Difference, least_problems
from ..statistics.sample import Sample
from .methods import legend, percent, seconds

COLUMNS = (
    "gap: mean gap to the best objective known, 100 % without a verified schedule; time: shifted geometric mean of the seconds to "
    "the proof (with --target: to a schedule within that gap), two time limits for runs without; integral: mean gap over the "
    "time limit; first, second: the means; effect: mean of second - first in percentage points, of times the ratio second / "
    "first; interval: its bootstrap interval over the problems; less, equal, more: problems on which the second is less, "
    "equal, more; p: Wilcoxon's signed-rank test, adjusted by Holm's method. Formulas: docs/statistics.md."
)


def show_comparison(
    console: Console, sample: Sample, found: Sequence[Difference], alpha: float, explain: bool = False
) -> None:
    """Print the table, and how many problems are needed to show anything.

    Parameters
    ----------
    console
        Where it is printed.
    sample
        The runs.
    found
        The differences.
    alpha
        The level of the tests.
    explain
        Whether the meaning of the columns is printed.
    """
    for note in sample.notes:
        console.print(Text(note, style="dim"))
    for (one, other), members in _by_pair(found).items():
        title = Text(f"first: {one}; second: {other}; {how_many(len(sample.problems), 'problem')}, level {alpha:g}")
        table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=0, show_edge=False)
        for head in (
            "",
            "first",
            "second",
            "effect",
            f"{100 * (1 - alpha):g} % interval",
            "less",
            "equal",
            "more",
            "p",
            "verdict",
        ):
            table.add_column(head, justify="left" if head in ("", "verdict") else "right", no_wrap=head != "verdict")
        for d in members:
            table.add_row(*_cells(d), style="bold" if d.real else "")
        console.print(table)
    real = sum(d.real for d in found)
    tests = sum(d.less + d.more > 0 for d in found)
    console.print(f"{real} of {how_many(tests, 'tested difference', verb='are')} real")
    needed = least_problems(max(1, tests), alpha)
    if len(sample.problems) < needed:
        console.print(
            f"{how_many(len(sample.problems), 'problem', verb='are')} too few to show any of them at level {alpha:g}: at least {needed} are needed"
        )
    console.print(legend(COLUMNS, explain))


def _by_pair(found: Sequence[Difference]) -> dict[tuple[str, str], list[Difference]]:
    pairs: dict[tuple[str, str], list[Difference]] = {}
    for d in found:
        pairs.setdefault((d.one, d.other), []).append(d)
    return pairs


def _cells(d: Difference) -> list[str | Text]:
    ratio = d.quantity == "time"
    means = [seconds(v) + " s" if ratio else percent(v) for v in d.values]
    effect = f"x {d.effect:.3f}" if ratio else f"{100 * d.effect:+.2f}"
    span = (
        "-" if isnan(d.low) else f"{d.low:.3f}..{d.high:.3f}" if ratio else f"{100 * d.low:+.2f}..{100 * d.high:+.2f}"
    )
    tested = d.less + d.more > 0
    p = "-" if not tested else "< 0.0001" if d.adjusted < 1e-4 else f"{d.adjusted:.4f}"
    return [d.quantity, *means, effect, span, str(d.less), str(d.equal), str(d.more), p, Text(d.verdict)]
