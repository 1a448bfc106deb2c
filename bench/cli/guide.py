"""``bench guide``: when it pays to maximise utilisation and when to optimise cooling, learned from results."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import WrongUse
from ..terminal import console_for

if TYPE_CHECKING:
    from rich.table import Table

    from ...models.profit.efficiency import Day
    from ...models.profit.guide import Guide
    from ..guide.days import Collection
    from ..guide.learning import Validation


def guide(
    results: Annotated[list[Path], typer.Argument(help="folders of records with runs of profit problems")],
    method: Annotated[
        str | None, typer.Option(help="learn from this method; by default the best verified search of each scenario")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="the guide as JSON: sl.Guide.load(FILE).advise(...)")] = None,
    plot: Annotated[Path | None, typer.Option(help="the days, told right and wrong, as an SVG file")] = None,
    depth: Annotated[int, typer.Option(min=1, max=5, help="questions on the utilisation, one below the other")] = 1,
    to_the_end: Annotated[
        bool, typer.Option("--to-the-end", help="also the days after the horizon, on which the last jobs run")
    ] = False,
    instance: Annotated[
        list[str] | None, typer.Option(help="where an instance is now that is not where it was; repeatable")
    ] = None,
) -> None:
    """Learns from results when to fill the machine, when to cool best.

    Every whole day of the best schedule of each scenario counts: where its PUE lies above the point at which the slope of
    cooling power changes, it maximised utilisation. A decision tree tells that from the cooling and from the utilisation
    of the day before. Printed are the rule, its accuracy on these days and on days that it was not learned from, and its
    errors. Needs scikit-learn.

    Example: bench guide results/profit_medium --out guide.json --plot guide.svg
    """
    from ..guide.days import collect
    from ..guide.learning import learn, require_scikit_learn
    from ..plots.guide import plot_guide

    require_scikit_learn()
    found = collect(results, method, instance or (), to_the_end)
    days = [sample.day for sample in found.samples]
    if not days:
        raise WrongUse("\n".join(["no day to learn from", *_left_out(found)]))
    made = learn(days, depth, about=_about(found))
    console = console_for()
    console.print(_sources(found))
    for line in (*_left_out(found), "", *made.sentences(), "", *_accuracy(made, found, depth)):
        console.print(line, soft_wrap=True)
    console.print(_confusion(made, days))
    console.print(_errors(made, days))
    if out is not None:
        _save(made, out)
        console.print(f"{out}: the guide of {made.days} days", soft_wrap=True)
    if plot is not None:
        plot_guide(made, days, plot)
        console.print(f"{plot}: the days", soft_wrap=True)


def _save(made: Guide, out: Path) -> None:
    from ..records.store import write_whole

    try:
        write_whole(out, json.dumps(made.as_json(), indent=1, allow_nan=False) + "\n")
    except OSError as e:
        raise WrongUse(f"--out {out}: cannot be written ({e.strerror})") from e


def _about(found: Collection) -> dict[str, Any]:
    """What the guide was learned from, for its file."""
    return {
        "scenarios": [
            {"instance": c.record["instance"], "scenario": c.scenario, "method": c.record["method"],
             "objective": c.record["objective"], "key": c.record["key"], "days": len(c.samples)}
            for c in found.chosen
        ],
    }  # fmt: skip


def _sources(found: Collection) -> Table:
    """The schedule that speaks for each scenario, and what its days did."""
    from ...models.profit.guide import MAXIMISE

    table = _table("instance", "scenario", "best search", "profit EUR", "days", "maximise", "optimise")
    for each in found.chosen:
        most = sum(sample.day.aim == MAXIMISE for sample in each.samples)
        counts = (len(each.samples), most, len(each.samples) - most)
        profit = f"{float(each.record['objective']):,.2f}"
        row = (each.record["instance"], each.scenario, each.record["method"], profit, *(f"{n:,}" for n in counts))
        table.add_row(*row)
    return table


def _left_out(found: Collection) -> Iterator[str]:
    for what, count in found.left_out.items():
        yield f"left out: {count} {what}"


def _accuracy(made: Guide, found: Collection, depth: int) -> Iterator[str]:
    """On the days that it was learned from, and on days left out; beside them what a constant answer does."""
    from ...models.profit.guide import percent
    from ..guide.learning import leave_out, usual

    samples = found.samples
    aim, count = usual(sample.day for sample in samples)
    yield f"days: {made.days:,}; always {aim} is right on {percent(count / made.days)}"
    if count == made.days:
        yield "all days are of one kind: the guide is a constant; it takes scenarios of other loads to learn more"
    yield f"accuracy on the days that it was learned from: {percent(made.accuracy)}"
    twins = leave_out(samples, lambda s: s.twins, depth)
    yield _validation("scenarios left out one at a time (those that differ in prices alone together)", twins)
    if len({sample.instance for sample in samples}) > 1:
        yield _validation("instances left out one at a time", leave_out(samples, lambda s: s.instance, depth))
    else:
        yield "accuracy on other jobs: unknown, as all scenarios share theirs; add the results of a second instance"


def _validation(what: str, found: Validation) -> str:
    from ...models.profit.guide import percent

    if found.accuracy is None:
        return f"accuracy on {what}: unknown, nothing else of that cooling is there to learn from"
    rest = f"; {found.unanswered:,} days of a cooling that no other has" if found.unanswered else ""
    return f"accuracy on {what}: {percent(found.accuracy)} of {found.days:,} days, {found.folds} times{rest}"


def _confusion(made: Guide, days: Sequence[Day]) -> Table:
    from ...models.profit.guide import MAXIMISE, OPTIMISE
    from ..guide.learning import confusion

    counts = confusion(made, days)
    table = _table("the best schedule did", f"advised: {MAXIMISE}", f"advised: {OPTIMISE}")
    for did in (MAXIMISE, OPTIMISE):
        table.add_row(did, *(f"{counts[did, told]:,}" for told in (MAXIMISE, OPTIMISE)))
    return table


def _errors(made: Guide, days: Sequence[Day]) -> Table:
    from ...models.profit.guide import percent
    from ..guide.learning import errors_by_distance

    table = _table("distance of PUE from slope change", "days", "wrong", "share")
    for low, high, count, wrong in errors_by_distance(made, days):
        name = f"{low:g} to {high:g}" if high < float("inf") else f"{low:g} and more"
        table.add_row(name, f"{count:,}", f"{wrong:,}", percent(wrong / count) if count else "-")
    return table


def _table(*columns: str) -> Table:
    from rich import box
    from rich.table import Table

    words = ("instance", "scenario", "best search")
    made = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for k, name in enumerate(columns):
        made.add_column(name, justify="left" if k == 0 or name in words else "right")
    return made
