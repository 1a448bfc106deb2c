"""``bench guide``: the efficiency guide, learned from the days of verified schedules: when to fill the machine, when to save cooling."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

import typer

from ...instances import Instance, load
from ...instances.files.reading import content_of
from ...models.profit.guide import MAXIMISE, OPTIMISE, Advice, Day, Guide, Leaf, Rule, Split, days, percent
from ...models.profit.problem import Profit
from ...models.words import how_many, how_many_of
from ..errors import WrongUse, writing
from ..kinds.base import bench_kind
from ..pages.panels import GREY, INK, styled, write_picture
from ..records.store import Record, files, read
from ..records.verify import Checker
from ..runs.view import View
from ..terminal import console_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from rich.table import Table


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
    rest = ""
    if validation.unanswered:
        rest = f"; {how_many(validation.unanswered, 'day', ',', verb='have')} a cooling that no training day has"
    return f"accuracy on {method}: {percent(validation.accuracy)} of {how_many(validation.days, 'day', ',')}, {how_many(validation.folds, 'time')}{rest}"


def _confusion(made: Guide, days: Sequence[Day]) -> Table:
    from ...models.profit.guide import MAXIMISE, OPTIMISE

    counts = confusion(made, days)
    table = _table("the best schedule did", f"advised: {MAXIMISE}", f"advised: {OPTIMISE}")
    for actual in (MAXIMISE, OPTIMISE):
        table.add_row(actual, *(f"{counts[actual, advised]:,}" for advised in (MAXIMISE, OPTIMISE)))
    return table


def _errors(made: Guide, days: Sequence[Day]) -> Table:
    from ...models.profit.guide import percent

    table = _table("distance of PUE from slope change", "days", "wrong", "share")
    for low, high, count, wrong in errors_by_distance(made, days):
        if high < float("inf"):
            name = f"{low:g} to {high:g}"
        else:
            name = f"{low:g} and more"
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


# --- Collect the days that the efficiency guide is learned from: those of the best verified search of each scenario.

RULES = "rule:"  # prefix of methods that do not count, because their schedules are not near the optimum
NEEDED = ("content", "path", "view", "objective", "verified")


class DayOfScenario(NamedTuple):
    """A day of a scenario.

    Attributes
    ----------
    day : Day
        The day.
    instance, scenario : str
        The names of the instance and the scenario.
    twins : int
        A number that scenarios of one instance have in common if they differ only in prices.
    """

    day: Day
    instance: str
    scenario: str
    twins: int


@dataclass(frozen=True)
class BestOfScenario:
    """The record that is used for a scenario, and its days."""

    record: Record
    scenario: str
    samples: Sequence[DayOfScenario]


@dataclass
class Collection:
    """The records used from folders of results, and the counts of what was left out, by reason."""

    chosen: list[BestOfScenario] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def samples(self) -> list[DayOfScenario]:
        """The days of all scenarios."""
        return [sample for each in self.chosen for sample in each.samples]


class Filed(NamedTuple):
    """A record and its file."""

    path: Path
    record: Record


def collect(
    folders: Iterable[Path], method: str | None = None, instances: Iterable[str] = (), to_the_end: bool = False
) -> Collection:
    """Return the days of the best verified search of each instance and scenario in folders of results.

    Parameters
    ----------
    folders : iterable of Path
        The folders of the records.
    method : str, optional
        Use the schedules of this method instead of those of the best search.
    instances : iterable of str
        The present paths of instances that were moved since they were run.
    to_the_end : bool
        Whether days after the horizon count too.

    Returns
    -------
    Collection
        The records that are used, their days, and what was left out.

    Raises
    ------
    WrongUse
        If there are no records of profit problems, none of them counts, they belong to several versions of an instance,
        or a record fails its check.
    UnknownInstance
        If the instance of a record is not found.
    """
    filed = [Filed(path, _read(path)) for folder in dict.fromkeys(folders) for path in files(folder)]
    source = _Source(instances)
    profits = [f for f in filed if bench_kind(f.record["kind"]).guided]
    if not profits:
        raise WrongUse(
            f"{how_many(len(filed), 'record')}, none of them of a profit problem; run an instance of that kind (bench run profit_medium) "
            "and give the folder of its results"
        )
    _one_version([f.record for f in profits])
    collection = Collection()
    twins: dict[Any, int] = {}
    for group in _by_scenario(profits).values():
        best = _best(group, method, collection.left_out)
        if best is not None:
            collection.chosen.append(
                _chosen(best, source.instance(best.record), twins, collection.left_out, to_the_end)
            )
    if not collection.chosen:
        wanted = "searches (rules do not count)"
        if method is not None:
            wanted = repr(method)
        names = ", ".join(dict.fromkeys(str(f.record["method"]) for f in profits))
        raise WrongUse(
            f"there is no verified schedule by {wanted} in the {how_many(len(profits), 'record')} of profit problems; they are by {names}"
        )
    return collection


def _read(path: Path) -> Record:
    try:
        record = read(path)
    except ValueError as e:
        raise WrongUse(f"{e}; remove the file from the folder of results, or run it again") from e
    missing = [name for name in NEEDED if name not in record]
    if missing:
        raise WrongUse(
            f"{path}: the record lacks {', '.join(missing)}; remove the file from the folder, or run it again"
        )
    return record


class _Source:
    """Loads the instances of records, each only once."""

    def __init__(self, moved: Iterable[str]) -> None:
        given = [load(path) for path in moved]
        self._moved = {content_of(i.path): str(i.path) for i in given if i.path is not None}
        self._known: dict[tuple[str, bool], Instance] = {}

    def instance(self, record: Mapping[str, Any]) -> Instance:
        path = self._moved.get(str(record.get("content")), str(record.get("path")))
        drop_impossible = bool(record.get("drop_impossible"))
        if (path, drop_impossible) not in self._known:
            self._known[path, drop_impossible] = load(path, drop_impossible)
        return self._known[path, drop_impossible]


def _one_version(records: Iterable[Record]) -> None:
    """Raise WrongUse if records of one instance name have different contents."""
    known: dict[str, str] = {}
    for r in records:
        if known.setdefault(r["instance"], r["content"]) != r["content"]:
            raise WrongUse(
                f"the records of {r['instance']} are of several versions of that instance; give only folders with results of "
                "one version, or run the others again"
            )


def _by_scenario(filed: Iterable[Filed]) -> dict[str, list[Filed]]:
    groups: dict[str, list[Filed]] = {}
    for f in filed:
        scenario = [f.record[name] for name in ("instance", "content", "view")]
        key = json.dumps([*scenario, f.record.get("drop_impossible")], sort_keys=True)
        groups.setdefault(key, []).append(f)
    return groups


def _best(group: Sequence[Filed], method: str | None, left_out: Counter[str]) -> Filed | None:
    """Return the best verified record of a scenario that counts; None if there is none."""
    fit = [f for f in group if _counts(f.record, method)]
    if not fit:
        wanted = "search"
        if method is not None:
            wanted = method
        left_out[f"scenarios of {group[0].record['instance']} without a verified schedule by {wanted}"] += 1
        return None
    return max(fit, key=lambda f: float(f.record["objective"]))


def _counts(record: Record, method: str | None) -> bool:
    """Return whether a record has a verified schedule by a method; None: by any method that is no rule."""
    if not record.get("verified") or record.get("objective") is None:
        return False
    if method is None:
        return not record["method"].startswith(RULES)
    return bool(record["method"] == method)


def _chosen(
    best: Filed, instance: Instance, twins: dict[Any, int], left_out: Counter[str], to_the_end: bool
) -> BestOfScenario:
    record = best.record
    for fault in Checker(best.path.parent, lambda path, drop: instance).faults(record):
        raise WrongUse(f"{best.path}: {fault}; bench verify {best.path.parent} lists all faults of that folder")
    problem = cast(Profit, View(**record["view"]).of(instance))
    days_planned = days(problem, problem.read(record["schedule"]), to_the_end)
    left_out.update({f"days: {why}": count for why, count in days_planned.left_out.items()})
    alike = (record["content"], problem.cooling, problem.temperature)
    twin = twins.setdefault(alike, len(twins))
    scenario = scenario_of(record, instance)
    return BestOfScenario(
        record, scenario, [DayOfScenario(day, record["instance"], scenario, twin) for day in days_planned.days]
    )


def scenario_of(record: Mapping[str, Any], instance: Instance) -> str:
    """Return the scenario of a record as text; the default of the instance if the record names none."""
    view = View(**record["view"])
    own = ""
    if instance.centre is not None:
        own = instance.centre.default
    name = view.scenario or own
    if view.first is None:
        return name
    return f"{name}, first {view.first}"


# --- Learn the efficiency guide from days, and measure its accuracy on these days and on days left out.
#
# The first question of the guide is the cooling. For each cooling there is a decision tree (scikit-learn) on the utilisation
# of the day before; by default it has a single threshold.

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
    advice: Advice
    if aims[MAXIMISE] == aims[OPTIMISE]:
        advice = tie
    else:
        advice = max((MAXIMISE, OPTIMISE), key=aims.__getitem__)
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
        if self.days:
            return self.right / self.days
        return None


def leave_out(
    samples: Sequence[DayOfScenario], group: Callable[[DayOfScenario], Hashable], depth: int = DEPTH
) -> Validation:
    """Test each group of days with a guide that is learned from all other groups; this needs at least two groups."""
    groups: dict[Hashable, list[Day]] = {}
    for sample in samples:
        groups.setdefault(group(sample), []).append(sample.day)
    answered = hits = unanswered = 0
    for name, held in groups.items():
        others = [day for other, days in groups.items() if other != name for day in days]
        if others:
            guide = learn(others, depth)
        else:
            guide = Guide({})
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
    entries = []
    for low, high in zip((0.0, *DISTANCES), (*DISTANCES, float("inf")), strict=True):
        here = [day for day in days if low <= abs(day.distance) < high]
        entries.append(Near(low, high, len(here), sum(not right(guide, day) for day in here)))
    return entries


def usual(days: Iterable[Day]) -> tuple[Advice, int]:
    """Return the constant advice that is right most often, and on how many days it is right."""
    leaf = _leaf(list(days))
    return leaf.advice, leaf.right


# --- The chart of the days behind an efficiency guide: distance from the slope-change point, right and wrong advice.
#
# The upper charts correspond to figure 6.8 of [Bridi2018], the lower ones, with the wrong advice alone, to figure 6.9.

COLOURS = {MAXIMISE: "#e45756", OPTIMISE: "#4c78a8"}
LINEAR = 0.001  # distances (of PUE) up to this are drawn on a linear scale, greater ones on a log scale
WIDTH = 4.6  # inches: the chart of one cooling
HEIGHT = 3.6


def plot_guide(guide: Guide, days: Sequence[Day], path: Path) -> None:
    """Draw the days to an SVG file. The same guide and days give the same bytes.

    Parameters
    ----------
    guide : Guide
        The guide.
    days : sequence of Day
        The days that it was learned from.
    path : Path
        The file; its name ends in .svg.

    Raises
    ------
    WrongUse
        If matplotlib is missing, the ending is another one, or the file cannot be written.
    """
    write_picture(path, lambda: _picture(guide, days))


def _picture(guide: Guide, days: Sequence[Day]) -> bytes:
    picture = BytesIO()
    with styled("guide"):
        _figure(guide, days).savefig(picture, format="svg", metadata=dict.fromkeys(("Date", "Creator")))
    return picture.getvalue()


def _figure(guide: Guide, days: Sequence[Day]) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH * len(guide.rules), 2 * HEIGHT), layout="constrained")
    low = min((day.utilisation for day in days), default=0.0)
    upper, lower = figure.subplots(2, len(guide.rules), squeeze=False)
    for above, below, name in zip(upper, lower, guide.rules, strict=True):
        mine = [day for day in days if day.cooling == name]
        wrong = [day for day in mine if guide.advise(name, day.utilisation) != day.aim]
        _days(above, guide, mine, name, f"{name}: {_number(mine)}")
        _days(below, guide, wrong, name, f"{name}: wrong advice on {_number(wrong)}")
        for ax in (above, below):
            ax.set_xlim(100 * low - 2, 102)
        below.set_yscale("linear")  # errors are near the slope change
        if not wrong:
            below.set_ylim(-LINEAR, LINEAR)
    kinds = [(aim, colour, marker) for aim, colour in COLOURS.items() for marker in "ox"]
    figure.legend(
        handles=[_key(aim, colour, marker) for aim, colour, marker in kinds],
        frameon=False,
        loc="outside lower center",
        ncols=2 if len(guide.rules) == 1 else len(kinds),
        title="what the best schedule did, and the advice of the guide",
    )
    return figure


def _number(days: Sequence[Day]) -> str:
    return how_many(len(days), "day", ",")


def _days(ax: Axes, guide: Guide, days: Sequence[Day], cooling: str, title: str) -> None:
    ax.axhline(0, color=INK, linewidth=0.8)
    edges = [high for _, high, _ in guide.ranges(cooling)[:-1]]
    for edge in edges:
        ax.axvline(100 * edge, color=GREY, linewidth=0.8, linestyle=(0, (4, 2)))
    for aim, colour in COLOURS.items():
        for marker in "ox":
            mine = [
                d for d in days if d.aim == aim and (guide.advise(cooling, d.utilisation) == aim) is (marker == "o")
            ]
            x = [100 * d.utilisation for d in mine]
            y = [d.distance for d in mine]
            ax.plot(x, y, **_style(colour, marker))
    threshold = ""
    if edges:
        threshold = f", threshold {', '.join(map(percent, edges))}"
    ax.set_title(f"{title}{threshold}", loc="left", fontsize=8)
    ax.set_xlabel("utilisation of the day before, %")
    ax.set_ylabel("PUE minus PUE at the slope change")
    ax.set_yscale("symlog", linthresh=LINEAR)
    ax.yaxis.set_major_formatter("{x:.3g}")


def _style(colour: str, marker: str) -> dict[str, Any]:
    return {
        "color": colour,
        "marker": marker,
        "linestyle": "none",
        "markersize": 5,
        "markerfacecolor": "none" if marker == "o" else colour,
        "markeredgewidth": 0.9 if marker == "o" else 1.5,
    }


def _key(aim: str, colour: str, marker: str) -> Line2D:
    from matplotlib.lines import Line2D

    return Line2D([], [], label=f"{aim}, {'right' if marker == 'o' else 'wrong'}", **_style(colour, marker))
