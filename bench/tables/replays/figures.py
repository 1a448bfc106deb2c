"""All figures of the replays of a board as grids of text, for the terminal and for the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from .board import DispatcherRow, ReplayResults
from .columns import compact, count, share, short

Writer = Callable[[float], str]
SPREAD = ("mean", "std", "median", "p95", "p99", "max")
CLASSES = ("short", "medium", "long")
ENDS = ("trivial", "optimal", "limit", "no-gain", "infeasible", "nothing")
RATIOS = ("p5", "p25", "p50", "p75", "p95")


class TextGrid(NamedTuple):
    """A table of text: its title, the heads of its columns, its rows, and what the columns mean."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    meaning: str


def predictions(board: ReplayResults) -> TextGrid:
    """How well the durations were foretold, one row per predictor; per dispatcher where they differ.

    What a predictor that learns says of a job depends on what has ended by then, and so on the dispatcher.
    """
    rows: dict[tuple[str, ...], list[str]] = {}
    for line in board.lines:
        if line.metric("accuracy_mae") is None or not line.records:
            continue
        figures = [_cell(line, "accuracy_mae", count)]
        figures += [_cell(line, f"accuracy_{n}", share) for n in ("under", "over", "within_quarter")]
        figures.append("/".join(_cell(line, f"accuracy_ratio_{n}", _ratio) for n in RATIOS))
        name = str(line.records[0]["simulation"]["predictor"])
        rows.setdefault((name, *figures), []).append(line.name)
    return TextGrid(
        "durations as predicted when the jobs started, and as they took",
        ["predictor", "mean\nerror s", "too\nshort", "too\nlong", "within\na quarter", "took / predicted:\np5/p25/p50/p75/p95", "of"],
        [[*figures, ", ".join(names)] for figures, names in rows.items()],
        "too short: share of the jobs that took longer than predicted; too long: less; within a quarter: took / predicted "
        "in 0.75 to 1.25; p5 to p95: its percentiles over the jobs.",
    )  # fmt: skip


def all_figures(board: ReplayResults) -> list[TextGrid]:
    """Waits and slowdowns, by class of durations too; lateness and the machine; the decisions."""
    return [
        _spread(board, "wait, in seconds", "wait", count, "From submission to start."),
        _spread(board, "slowdown", "slowdown", short, "(wait + duration) / duration, durations of at least 1 s."),
        _spread(
            board,
            "bounded slowdown",
            "bounded_slowdown",
            short,
            "max(1, (wait + duration) / max(duration, 10 s)).",
        ),
        _thesis(board),
        _machine(board),
        _calls(board),
        _times(board),
    ]


def _spread(board: ReplayResults, title: str, name: str, written: Writer, meaning: str) -> TextGrid:
    keys = [f"{name}_{part}" for part in SPREAD]
    heads = ["dispatcher", *SPREAD]
    for kind in CLASSES:
        keys += [f"{kind}_jobs", f"{kind}_{name}_mean", f"{kind}_{name}_max"]
        heads += [f"{kind}: jobs", f"{kind}: mean", f"{kind}: max"]
    kinds = "std: standard deviation; short: jobs that took less than 1 h, medium: 1 to 5 h, long: more than 5 h."
    return _grid(
        board, title, heads, [(k, count if k.endswith("_jobs") else written) for k in keys], f"{meaning} {kinds}"
    )


def _thesis(board: ReplayResults) -> TextGrid:
    heads = ["dispatcher", "AQ s", "WQT", "NL jobs", "TR s", "WT", "AO ms", "MO ms", "%O"]
    asked: list[tuple[str, Writer]] = [
        ("AQ", count), ("WQT", short), ("NL", count), ("TR", count), ("WT", short),
        ("AO", _milli), ("MO", _milli), ("%O", short),
    ]  # fmt: skip
    meaning = (
        "With ewt the expected waiting time of a job's queue: AQ mean wait, WQT sum of wait / ewt, NL jobs that waited longer "
        "than ewt, TR sum of the wait beyond ewt, WT the same / ewt, AO and MO mean and greatest time of a decision, %O time "
        "of all decisions in percent of the makespan."
    )
    return _grid(board, "lateness and overhead", heads, asked, meaning)


def _machine(board: ReplayResults) -> TextGrid:
    used = [k for k in board.metrics if k.startswith("utilisation_") and "submitting" not in k]
    heads = ["dispatcher", "jobs", "killed", "makespan h", "waiting: mean", "waiting: max"]
    asked: list[tuple[str, Writer]] = [
        ("started", count), ("killed", count), ("makespan", _hours), ("queue_mean", short), ("queue_max", count),
    ]  # fmt: skip
    for key in used:
        resource = key.removeprefix("utilisation_")
        heads += [f"{resource} used", f"{resource} used, submitting"]
        asked += [(key, share), (f"utilisation_submitting_{resource}", share)]
    meaning = (
        "makespan: from the first submission to the last end; waiting: jobs in the queue, mean over the makespan; used: share "
        "of what the machine has over the makespan, and from the first to the last submission."
    )
    return _grid(board, "machine and queue", heads, asked, meaning)


def _calls(board: ReplayResults) -> TextGrid:
    heads = ["dispatcher", "made", "skipped", "solver", *ENDS, "gain, mean", "without gain", "urgent"]
    asked: list[tuple[str, Writer]] = [(f"decisions_{n}", compact) for n in ("made", "skipped", "solver")]
    asked += [(f"decisions_ended_{n}", compact) for n in ENDS]
    asked += [("decisions_gain_mean", _fine), ("decisions_gain_none", compact), ("decisions_urgent", compact)]
    calls = (
        "skipped: calls that could not have changed anything; solver: calls that reached it; then how the calls ended; gain: of "
        "the solver over its warm start, relative; without gain: calls that ended with the warm start itself; urgent: jobs that "
        "max_stretch put first."
    )
    return _grid(board, "decisions", heads, asked, calls)


def _times(board: ReplayResults) -> TextGrid:
    parts = {
        "all": "",
        "of the solver's calls": "solver_",
        "model": "model_",
        "solve": "solve_",
        "allocation": "allocate_",
    }
    rows = []
    for line in board.lines:
        timed = [
            "/".join(_cell(line, f"decisions_{p}seconds_{k}", _milli) for k in ("mean", "p99", "max"))
            for p in parts.values()
        ]
        known = [text.removesuffix("/-/-") for text in timed]  # a compiled policy knows the mean alone
        if any(text != "-" for text in known):
            rows.append([line.name, *known, _cell(line, "decisions_seconds_total", short)])
    heads = ["dispatcher", *(f"{n}: mean/p99/max" for n in parts), "all together, s"]
    meaning = "The calls that reached the solver stand apart; model, solve and allocation: what the calls went into."
    return TextGrid("time of a decision, in milliseconds", heads, rows, meaning)


def _grid(
    board: ReplayResults, title: str, heads: Sequence[str], asked: Sequence[tuple[str, Writer]], meaning: str
) -> TextGrid:
    rows = [[line.name, *(_cell(line, key, written) for key, written in asked)] for line in board.lines]
    return TextGrid(title, heads, [row for row in rows if any(cell != "-" for cell in row[1:])], meaning)


def _cell(line: DispatcherRow, name: str, written: Writer) -> str:
    value = line.metric(name)
    return "-" if value is None else written(value)


def _ratio(value: float) -> str:
    """A ratio with at most two decimals.

    >>> _ratio(0.034), _ratio(1.0), _ratio(153.2)
    ('0.03', '1.00', '153')
    """
    return f"{value:.2f}" if abs(value) < 10 else f"{value:,.0f}"


def _milli(seconds: float) -> str:
    return short(1000 * seconds)


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:,.1f}"


def _fine(value: float) -> str:
    return f"{100 * value:.2f}%"
