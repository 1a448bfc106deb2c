"""``bench guide``: learn from results on which days to maximise utilisation and on which to optimise cooling."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...models.words import how_many, how_many_of
from ..errors import WrongUse, writing
from ..terminal import console_for

if TYPE_CHECKING:
    from rich.table import Table

    from ...models.profit.guide import Day, Guide
    from ..guide import Collection, Validation


def guide(
    results: Annotated[list[Path], typer.Argument(help="folders of records of profit problems")],
    method: Annotated[
        str | None,
        typer.Option(
            help="learn from the schedules of this method; default: the best verified search of each scenario"
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="JSON file for the guide; use it with sl.Guide.load(FILE).advise(...)")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="SVG file with a picture of the days, classified correctly or wrongly")
    ] = None,
    depth: Annotated[
        int, typer.Option(min=1, max=5, help="depth of the decision tree: questions about the utilisation")
    ] = 1,
    to_the_end: Annotated[
        bool, typer.Option("--to-the-end", help="also use the days after the horizon, on which the last jobs run")
    ] = False,
    instance: Annotated[list[str] | None, typer.Option(help="folder of an instance that was moved; repeatable")] = None,
) -> None:
    """Learn when to fill the machine, and when to save cooling.

    The data are all whole days of the best schedule of each scenario. If the PUE of a day is above the point where the
    slope of the cooling power changes, the schedule maximised utilisation on that day; else it optimised cooling. A
    decision tree predicts this from the type of cooling and the utilisation of the day before.

    Printed are the rule, its accuracy on the training days and in cross-validation, and its errors. Needs scikit-learn.

    Example: bench guide results/profit_medium --out guide.json --plot guide.svg
    """
    from ..guide import collect, learn, plot_guide, require_scikit_learn

    require_scikit_learn()
    collection = collect(results, method, instance or (), to_the_end)
    days = [sample.day for sample in collection.samples]
    if not days:
        raise WrongUse("\n".join(["there are no days to learn from", *_left_out(collection)]))
    made = learn(days, depth, about=_about(collection))
    console = console_for()
    console.print(_sources(collection))
    for line in (*_left_out(collection), "", *made.sentences(), "", *_accuracy(made, collection, depth)):
        console.print(line, soft_wrap=True)
    console.print(_confusion(made, days))
    console.print(_errors(made, days))
    if out is not None:
        _save(made, out)
        console.print(f"{out}: the guide of {how_many(made.days, 'day')}", soft_wrap=True)
    if plot is not None:
        plot_guide(made, days, plot)
        console.print(f"{plot}: the days", soft_wrap=True)


def _save(made: Guide, out: Path) -> None:
    from ...instances.files.writing import write_whole

    with writing(out):
        write_whole(out, json.dumps(made.as_json(), indent=1, allow_nan=False) + "\n")


def _about(collection: Collection) -> dict[str, Any]:
    """Return the training data of the guide, which are written to its file."""
    return {
        "scenarios": [
            {"instance": c.record["instance"], "scenario": c.scenario, "method": c.record["method"],
             "objective": c.record["objective"], "key": c.record["key"], "days": len(c.samples)}
            for c in collection.chosen
        ],
    }  # fmt: skip


def _sources(collection: Collection) -> Table:
    """Return a table of the schedule of each scenario, with the number of its days of each kind."""
    from ...models.profit.guide import MAXIMISE

    table = _table("instance", "scenario", "best search", "profit EUR", "days", "maximise", "optimise")
    for each in collection.chosen:
        maximised = sum(sample.day.aim == MAXIMISE for sample in each.samples)
        counts = (len(each.samples), maximised, len(each.samples) - maximised)
        profit = f"{float(each.record['objective']):,.2f}"
        row = (each.record["instance"], each.scenario, each.record["method"], profit, *(f"{n:,}" for n in counts))
        table.add_row(*row)
    return table


def _left_out(collection: Collection) -> Iterator[str]:
    for reason, count in collection.left_out.items():
        yield f"left out: {how_many_of(count, reason)}"


def _accuracy(made: Guide, collection: Collection, depth: int) -> Iterator[str]:
    """Yield the accuracy of a constant answer, on the training days, and in cross-validation."""
    from ...models.profit.guide import percent
    from ..guide import leave_out, usual

    samples = collection.samples
    aim, count = usual(sample.day for sample in samples)
    yield f"days: {made.days:,}; always {aim} is right on {percent(count / made.days)}"
    if count == made.days:
        yield "all days are of one kind: the guide is a constant; to learn more, add scenarios with other loads"
    yield f"accuracy on the days that it was learned from: {percent(made.accuracy)}"
    twins = leave_out(samples, lambda s: s.twins, depth)
    yield _validation("scenarios left out one at a time (those that differ in prices alone together)", twins)
    if len({sample.instance for sample in samples}) > 1:
        yield _validation("instances left out one at a time", leave_out(samples, lambda s: s.instance, depth))
    else:
        yield "accuracy on other jobs: unknown, as all scenarios have the same jobs; add the results of a second instance"


def _validation(method: str, validation: Validation) -> str:
    from ...models.profit.guide import percent

    if validation.accuracy is None:
        return f"accuracy on {method}: unknown, there are no other days with that cooling to learn from"
    rest = (
        f"; {how_many(validation.unanswered, 'day', ',', verb='have')} a cooling that no training day has"
        if validation.unanswered
        else ""
    )
    return f"accuracy on {method}: {percent(validation.accuracy)} of {how_many(validation.days, 'day', ',')}, {how_many(validation.folds, 'time')}{rest}"


def _confusion(made: Guide, days: Sequence[Day]) -> Table:
    from ...models.profit.guide import MAXIMISE, OPTIMISE
    from ..guide import confusion

    counts = confusion(made, days)
    table = _table("the best schedule did", f"advised: {MAXIMISE}", f"advised: {OPTIMISE}")
    for actual in (MAXIMISE, OPTIMISE):
        table.add_row(actual, *(f"{counts[actual, advised]:,}" for advised in (MAXIMISE, OPTIMISE)))
    return table


def _errors(made: Guide, days: Sequence[Day]) -> Table:
    from ...models.profit.guide import percent
    from ..guide import errors_by_distance

    table = _table("distance of PUE from slope change", "days", "wrong", "share")
    for low, high, count, wrong in errors_by_distance(made, days):
        name = f"{low:g} to {high:g}" if high < float("inf") else f"{low:g} and more"
        table.add_row(name, f"{count:,}", f"{wrong:,}", percent(wrong / count) if count else "-")
    return table


def _table(*columns: str) -> Table:
    from rich import box
    from rich.table import Table

    texts = ("instance", "scenario", "best search")
    made = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for k, name in enumerate(columns):
        made.add_column(name, justify="left" if k == 0 or name in texts else "right")
    return made
