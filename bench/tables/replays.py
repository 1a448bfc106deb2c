"""The replays of one workload under several dispatchers, with the offline runs on the same jobs: their rows and all their figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from statistics import fmean
from typing import Any

from ...simulation.dispatchers.production import PHASES as CYCLE
from ..grid import (
    BAD,
    UNKNOWN,
    Column,
    Grid,
    Styled,
    compact,
    count,
    mean,
    milliseconds,
    percent,
    ratio,
    short,
    time_unit,
)
from ..records.store import Record
from ..replays.settings import USUAL_FLOOR, ReplaySettings
from ..runs.view import View, replay_label
from .methods import ViewResults, by_method

RECORDED = "as recorded"
VERDICTS = {  # short, because the column is narrow
    "timeout": "cut",
    "out of memory": "memory",
    "dispatcher": "error",
    "unavailable": "none",
}


@dataclass(frozen=True)
class DispatcherRow:
    """The replays of one dispatcher, one per seed, or the schedule that the trace itself recorded.

    Attributes
    ----------
    name : str
        The dispatcher, or "as recorded".
    records : sequence of Record
        One record per seed. Figures are means over the seeds, and None unless every seed has them.
    recorded : mapping
        The metrics of the recorded schedule, if this row is about it.
    """

    name: str
    records: Sequence[Record] = ()
    recorded: Mapping[str, Any] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether the replay of every seed reached its end and passed the check."""
        return all(r["verified"] and r["status"] == "feasible" for r in self.records)

    def metric(self, name: str) -> float | None:
        """Return a figure of ``Metrics.as_dict``, the mean over the seeds."""
        if not self.whole:
            return None
        values = [m.get(name) for m in ([r["metrics"] for r in self.records] or [self.recorded])]
        if any(v is None for v in values):
            return None
        return fmean(values)

    @property
    def objective(self) -> float | None:
        """The mean objective over the seeds, None unless every seed has one."""
        values = []
        if self.whole:
            values = [r["objective"] for r in self.records]
        if values and None not in values:
            return fmean(values)
        return None

    @property
    def verdict(self) -> Styled:
        """Whether every schedule passed the check, or why there is none."""
        if not self.records:
            return Styled(UNKNOWN, "")
        causes = [r["cause"] or ("NO" if r["verified"] is False else r["status"]) for r in self.records]
        why = next((c for c in causes if c != "feasible"), "yes")
        if self.whole:
            return Styled("yes", "")
        return Styled(VERDICTS.get(why, why), BAD)

    @property
    def seconds(self) -> float:
        """The wall time of a replay in seconds, the mean over the seeds."""
        return fmean([float(r["seconds"]["total"] or 0) for r in self.records])


@dataclass(frozen=True)
class ReplayResults:
    """The replays of one workload, and the offline runs that knew all its jobs and their runtimes in advance."""

    records: Sequence[Record]
    offline: Sequence[Record] = ()

    @cached_property
    def rows(self) -> list[DispatcherRow]:
        """One row per dispatcher in the order of the records, then the recorded schedule if the trace has one."""
        recorded = next((r["simulation"]["recorded"] for r in self.records if "simulation" in r), None)
        rows = [DispatcherRow(name, members) for name, members in by_method(self.records).items()]
        if recorded:
            return [*rows, DispatcherRow(RECORDED, recorded=recorded)]
        return rows

    @cached_property
    def clairvoyant(self) -> ViewResults:
        """The results of the offline runs, with their best schedule and best bound."""
        return ViewResults(self.offline)

    @property
    def contradiction(self) -> str | None:
        """The message about a bound that a verified schedule refutes, else None."""
        same = [r for r in self.records if (r.get("simulation") or {}).get("offline")]
        return ViewResults([*self.offline, *same]).contradiction

    @property
    def best(self) -> float | None:
        """The objective of the best offline schedule, None if there is none."""
        schedule = self.clairvoyant.schedule
        if schedule is None:
            return None
        return float(schedule["objective"])

    @property
    def bound(self) -> float | None:
        """The best bound that no verified schedule refutes, None if there is none."""
        record = self.clairvoyant.bound
        if record is None:
            return None
        return float(record["bound"])

    @property
    def metrics(self) -> Sequence[str]:
        """The names of the figures in the records of the replays."""
        return next((list(r["metrics"]) for r in self.records if "metrics" in r), [])

    @property
    def bsld_floor(self) -> float:
        """The least duration in the bounded slowdown, in seconds."""
        return next((float(f) for r in self.records if (f := (r.get("metrics") or {}).get("bsld_floor"))), USUAL_FLOOR)

    @property
    def objective_name(self) -> str:
        """The name of the objective of these replays."""
        known = (r["simulation"]["objective"] for r in self.records if "simulation" in r)
        return str(next(known, "objective"))


def extract_replays(records: Iterable[Record]) -> tuple[list[tuple[str, ReplayResults]], list[Record]]:
    """Split records into the results of replays, each with its title, and all other records.

    An offline run on the same jobs with their true runtimes belongs to the results of the replays of these jobs.
    """
    left: list[Record] = []
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for r in records:
        if r.get("replay") is None:
            left.append(r)
            continue
        groups.setdefault((r["content"], View(**r["view"]), ReplaySettings(**r["replay"]).for_policies), []).append(r)
    results = []
    for (content, view, _), members in groups.items():
        offline: list[Record] = []
        if any((r.get("simulation") or {}).get("offline") for r in members):
            offline = [r for r in left if r["content"] == content and View(**r["view"]) == view]
            left = [r for r in left if not any(r is o for o in offline)]
        label = max((replay_label(view, ReplaySettings(**r["replay"])) for r in members), key=len)
        results.append((f"{members[0]['instance']}, {label}", ReplayResults(members, offline)))
    return results, left


# --- All figures of the replays of one workload: the tables below the table of the dispatchers, and those of the HTML page.

BOUNDED = "bounded slowdown: max(1, (wait + duration) / max(duration, {:g} s))"
SPREAD = ("mean", "std", "median", "p95", "p99", "max")
CLASSES = ("short", "medium", "long")
ENDS = ("trivial", "optimal", "limit", "no-gain", "infeasible", "nothing")
WITH_TOTALS = ("start", "model", "solve", "allocate")
"""The phases of a cycle whose seconds are metrics of their own."""
NAMES = "dispatchers"  # the heading of a column with several names
OF_EWT = "wait_over_ewt_"
PART_OF_WAIT = "wait_contribution_"
USED = "decisions_used_"
DISPATCHER = Column("dispatcher", lambda row: row.name, words=True)


def metric(head: str, name: str, form: Any = count, meaning: str = "", **more: Any) -> Column:
    """Return the column of a figure of ``Metrics.as_dict``; ``more``: other fields of `Column`."""
    return Column(head, lambda row: row.metric(name), form, meaning, **more)


def metrics(heads: str, names: str, form: Any = count, prefix: str = "") -> list[Column]:
    """Return a column for each of several figures; ``heads``: separated by ``|``; ``names``: by blanks, without ``prefix``."""
    return [metric(h, f"{prefix}{n}", form) for h, n in zip(heads.split("|"), names.split(), strict=True)]


def slashed(row: DispatcherRow, names: Iterable[str], form: Any) -> str | None:
    """Return several figures with slashes in between; without "-" at the end, and None if none is known."""
    texts = [Column("", form=form).text(row.metric(name)) for name in names]
    while texts and texts[-1] == UNKNOWN:
        texts.pop()
    return "/".join(texts) or None


def by_dispatcher(results: ReplayResults, title: str, columns: Iterable[Column], meaning: str) -> Grid:
    """Return a table with a row for each dispatcher of which a figure is known."""
    return Grid.of(title, [DISPATCHER, *columns], results.rows, meaning, keep_empty=False)


def all_figures(results: ReplayResults) -> list[Grid]:
    """Return the tables of waits and slowdowns (all jobs and by length of job), lateness, machine use and decisions."""
    slowdown = "slowdown: (wait + duration) / duration, with durations of at least 1 s."
    bounded = f"{BOUNDED.format(results.bsld_floor)}."
    return [
        _spread(results, "wait, in seconds", "wait", count, "wait: time from submission to start."),
        _spread(results, "slowdown", "slowdown", short, slowdown),
        _spread(results, "bounded slowdown", "bounded_slowdown", short, bounded),
        _lateness(results),
        _machine(results),
        _desired(results),
        _listed(
            results, "wait / ewt, number of jobs", OF_EWT, compact,
            "number of jobs by wait / expected waiting time of the queue (ewt); 0: no wait; 0.5-0.75: above 0.5, at most 0.75.",
        ),
        _listed(
            results, "part of each queue in the mean wait", PART_OF_WAIT, short,
            "sum of the waits of the jobs of a queue / number of all started jobs, s; the sum is the mean wait.",
        ),
        _calls(results),
        _times(results),
    ]  # fmt: skip


def _spread(results: ReplayResults, title: str, name: str, form: Any, meaning: str) -> Grid:
    columns = [metric(part, f"{name}_{part}", form) for part in SPREAD]
    for kind in CLASSES:
        columns.append(metric(f"{kind}: jobs", f"{kind}_jobs"))
        columns += [metric(f"{kind}: {part}", f"{kind}_{name}_{part}", form) for part in ("mean", "max")]
    kinds = "std: standard deviation; short: jobs that took less than 1 h, medium: 1 to 5 h, long: more than 5 h."
    return by_dispatcher(results, title, columns, f"{meaning} {kinds}")


def _lateness(results: ReplayResults) -> Grid:
    columns = [
        metric("AQ s", "AQ"), metric("WQT", "WQT", short), metric("NL jobs", "NL"), metric("TR s", "TR"), metric("WT", "WT", short),
        metric("AO ms", "AO", milliseconds), metric("MO ms", "MO", milliseconds), metric("%O", "%O", short),
    ]  # fmt: skip
    meaning = (
        "ewt: expected waiting time of the queue of a job. AQ: mean wait. WQT: sum of wait / ewt. NL: jobs that waited longer "
        "than ewt. TR: sum of the wait in excess of ewt. WT: sum of (wait in excess of ewt) / ewt. AO, MO: mean and maximum time "
        "of a decision. %O: time of all decisions in percent of the makespan."
    )
    if "late_starts_share" in results.metrics:
        columns += metrics("late starts|of jobs", "count jobs", prefix="late_starts_")
        columns += [metric("share", "late_starts_share", percent), metric("tardiness s", "late_starts_tardiness")]
        meaning += (
            " late starts: jobs that started after their latest start, of the jobs that have one. tardiness: sum of the seconds "
            "after the latest starts."
        )
    return by_dispatcher(results, "lateness and overhead", columns, meaning)


def _machine(results: ReplayResults) -> Grid:
    longest = max((row.metric("makespan") or 0.0 for row in results.rows), default=0.0)
    unit, length = time_unit(longest)
    columns = [
        *metrics("jobs|killed", "started killed"), metric(f"makespan {unit}", "makespan", lambda s: f"{s / length:,.1f}"),
        metric("waiting: mean", "queue_mean", short), metric("waiting: max", "queue_max"),
        *metrics("running: mean|submitting", "running_mean running_submitting", short), metric("running: max", "running_max"),
    ]  # fmt: skip
    for resource in used_resources(results):
        columns += [
            metric(f"{resource} in use", f"in_use_{resource}", short),
            metric(f"{resource} used", f"utilisation_{resource}", percent),
            metric(f"{resource} used, submitting", f"utilisation_submitting_{resource}", percent),
        ]
    if any(row.metric("power_peak") is not None for row in results.rows):
        columns.append(metric("greatest power W", "power_peak"))
    meaning = (
        "greatest power: of all running jobs; killed: jobs killed at their walltime; makespan: from the first submission to the end of the last job; waiting: number "
        "of jobs in the queue, mean and maximum over the makespan; running: number of running jobs; in use: mean amount in use over "
        "the makespan; used: mean share of the machine in use over the makespan; "
        "used, submitting: the same from the first to the last submission."
    )
    return by_dispatcher(results, "machine and queue", columns, meaning)


def used_resources(results: ReplayResults) -> list[str]:
    """Return the resources whose mean use is among the figures."""
    names = [name for name in results.metrics if name.startswith("utilisation_") and "submitting" not in name]
    return [name.removeprefix("utilisation_") for name in names]


def _desired(results: ReplayResults) -> Grid:
    kinds = {"over": count, "machine_over": count, "dissimilarity": ratio, "squared_distance": ratio}
    columns = []
    for key in results.metrics:
        for kind, form in kinds.items():
            if key.startswith(f"desired_{kind}_"):
                resource = key.removeprefix(f"desired_{kind}_")
                columns.append(metric(f"{kind.replace('_', ' ')}: {resource}", key, form))
    meaning = (
        "over: use above the desired profile, summed over the nodes, in amount-hours; machine over: of the machine as a whole; "
        "dissimilarity: 0 if the use is the desired one times a constant; squared distance: of both, as shares of the capacity."
    )
    return by_dispatcher(results, "use beside the desired profile", columns, meaning)


def _listed(results: ReplayResults, title: str, prefix: str, form: Any, meaning: str) -> Grid:
    """Return a table with a column for each figure whose name begins with ``prefix``."""
    names = [name for name in results.metrics if name.startswith(prefix)]
    return by_dispatcher(results, title, [metric(n.removeprefix(prefix), n, form) for n in names], meaning)


def _calls(results: ReplayResults) -> Grid:
    columns = [
        *(metric(n, f"decisions_{n}", compact) for n in ("made", "skipped", "solver")),
        *(metric(n, f"decisions_ended_{n}", compact) for n in ENDS),
        metric("gain, mean", "decisions_gain_mean", partial(percent, decimals=2)),
        metric("without gain", "decisions_gain_none", compact), metric("urgent", "decisions_urgent", compact),
    ]  # fmt: skip
    meaning = (
        "made: calls of the dispatcher; skipped: calls left out because they could not have changed anything; solver: calls that "
        "used the solver; the next six columns: how the calls ended; gain: improvement of the solver over its warm start, relative; "
        "without gain: calls whose result is the warm start itself; urgent: jobs that max_stretch put first."
    )
    return by_dispatcher(results, "decisions", columns, meaning)


def _times(results: ReplayResults) -> Grid:
    parts = {
        "all": "",
        "solver calls": "solver_",
        "start": "start_",
        "model": "model_",
        "solve": "solve_",
        "allocation": "allocate_",
    }

    def timed(row: DispatcherRow, part: str) -> str | None:
        return slashed(row, (f"decisions_{part}seconds_{k}" for k in ("mean", "p99", "max")), milliseconds)

    columns = [Column(f"{name}: mean/p99/max", partial(timed, part=part)) for name, part in parts.items()]
    meaning = (
        "solver calls: only the calls that used the solver; start: warm starts; model: building and lowering; solve; allocation: parts "
        "of the time of these calls."
    )
    total = metric("sum of all, s", "decisions_seconds_total", short)
    return by_dispatcher(results, "time of a decision, in milliseconds", [*columns, total], meaning)


def predictions(results: ReplayResults) -> Grid:
    """Return the accuracy of the predicted durations: one row per predictor, and per dispatcher if its figures differ.

    A predictor that learns depends on the jobs that have already ended, and therefore on the dispatcher.
    """
    columns = [
        Column("predictor", lambda row: str(row.records[0]["simulation"]["predictor"]), words=True),
        metric("mean\nerror s", "accuracy_mae"),
        *metrics("too\nshort|too\nlong|within\na quarter", "under over within_quarter", percent, "accuracy_"),
        Column(
            "runtime / predicted:\np5/p25/p50/p75/p95",
            lambda row: slashed(row, (f"accuracy_ratio_{n}" for n in ("p5", "p25", "p50", "p75", "p95")), _ratio),
        ),
    ]
    meaning = (
        "mean error: mean of |runtime - prediction|; too short: share of the jobs that took longer than predicted; too long: "
        "share of those that took less; within a quarter: share with runtime / prediction from 0.75 to 1.25; p5 to p95: "
        "percentiles of runtime / prediction over the jobs."
    )
    rows = [row for row in results.rows if row.records and row.metric("accuracy_mae") is not None]
    grid = Grid.of("", columns, rows, meaning)
    names: dict[tuple[str, ...], list[str]] = {}
    for row, texts in zip(rows, grid.texts, strict=True):
        names.setdefault(tuple(texts), []).append(row.name)
    title = "accuracy of the predicted durations (prediction at the start of each job)"
    kept = [[*values, ", ".join(names[tuple(texts)])] for values, texts in zip(grid.rows, grid.texts, strict=True)]
    return Grid(
        title,
        [*columns, Column(NAMES, words=True)],
        list({tuple(map(str, row)): row for row in kept}.values()),
        meaning,
    )


def _ratio(value: float) -> str:
    """Return a ratio with two decimals below 10 and none above.

    >>> _ratio(0.034), _ratio(1.0), _ratio(153.2)
    ('0.03', '1.00', '153')
    """
    if abs(value) < 10:
        return f"{value:.2f}"
    return f"{value:,.0f}"


def models(results: ReplayResults) -> Grid:
    """Return the mean sizes of the models and the times, as table 2 of [Galleguillos2019]."""
    columns = [
        metric("ms a\ncall", "decisions_seconds_mean", milliseconds), metric("prediction\ns", "prediction_seconds", short),
        Column("replay\ns", lambda row: row.seconds, short), metric("models", "decisions_models_built", compact),
        *metrics("intervals|requested|available", "intervals requested_total available_total", short, "decisions_models_"),
    ]  # fmt: skip
    rows = [row for row in results.rows if row.metric("decisions_models_built") is not None]
    meaning = (
        "ms a call: mean time of a decision; prediction: time of the predictor; replay: time of the whole replay; models: number of "
        "models built; means over these models: intervals: waiting jobs in the model and running jobs; requested: units * request "
        "of these waiting jobs, summed over the resources; available: free amounts, summed over the resources (memory in GB)."
    )
    return Grid.of("times and sizes of the models", [DISPATCHER, *columns], rows, meaning)


def phases(results: ReplayResults) -> Grid:
    """Return the seconds of all decisions of each dispatcher by phase: warm start, model, solver, nodes, the rest."""
    parts = ("start", "model", "solve", "allocate")
    rows = []
    for row in results.rows:
        whole = row.metric("decisions_seconds_total")
        inside = [row.metric(f"decisions_{part}_seconds_total") for part in parts]
        if whole is None or None in inside[1:]:  # a compiled policy is timed as a whole
            continue
        rest = max(0.0, whole - sum(v for v in inside if v is not None))
        rows.append(
            [row.name, short(whole), *(_part(v, whole) for v in (*inside, rest)), _text(row, "prediction_seconds")]
        )
    heads = ["dispatcher", "all\ns", "start\ns", "model\ns", "solver\ns", "nodes\ns", "other\ns", "prediction\ns"]
    meaning = (
        "all: sum over the decisions; its parts: start: warm starts (older records have them in model); model: "
        "building and compiling the models; solver; nodes: allocation of the jobs that start; other: choice of the jobs, reservations. prediction: time of the predictor, not a part of all."
    )
    return Grid.of_texts("seconds of all decisions, by phase", heads, rows, meaning)


def _part(value: float | None, whole: float) -> str:
    """Return seconds, and which percentage of the whole they are."""
    if value is None:
        return UNKNOWN
    if whole:
        return f"{short(value)} {100 * value / whole:.0f}%"
    return short(value)


def _text(row: DispatcherRow, name: str) -> str:
    value = row.metric(name)
    if value is None:
        return UNKNOWN
    return short(value)


def cycles(results: ReplayResults) -> Grid:
    """Return the mean milliseconds of each phase of the scheduling cycles, as table 4.16 of [Bridi2018]."""
    own = [key for key in CYCLE if key in WITH_TOTALS]
    names = {key: f"decisions_{key}_seconds_total" if key in own else f"decisions_phases_{key}" for key in CYCLE}

    def of_call(row: DispatcherRow, name: str) -> float | None:
        total = row.metric(name)
        calls = row.metric("decisions_made")
        if calls and total is not None:
            return total / calls
        return None

    def of_cycle(head: str, name: str) -> Column:
        return Column(f"{head}\nms".replace(" ", "\n", 1), partial(of_call, name=name), milliseconds)

    rows = [
        row
        for row in results.rows
        if of_call(row, "decisions_seconds_total") is not None
        and any(row.metric(name) is not None for key, name in names.items() if key not in own)
    ]
    columns = [of_cycle("all", "decisions_seconds_total"), *(of_cycle(CYCLE[key], name) for key, name in names.items())]
    meaning = (
        "means over all calls of the dispatcher, also those that begin no cycle; the phases are those of table 4.16 of "
        "[Bridi2018]; commit: the jobs that start now, and the check that they fit. calls of: who made the decisions."
    )
    title = "phases of the scheduling cycle, in milliseconds a call"
    return Grid.of(title, [DISPATCHER, *columns, Column("calls\nof", _used)], rows, meaning)


def _used(row: DispatcherRow) -> str | None:
    """Return the methods of a dispatcher that has several, with the number of their calls."""
    names = sorted({name for r in row.records for name in r.get("metrics", {}) if name.startswith(USED)})
    known = [(name.removeprefix(USED), row.metric(name)) for name in names]
    return ", ".join(f"{name} {compact(calls)}" for name, calls in known if calls is not None) or None


# --- On-demand jobs: a row for each dispatcher and evictor.

EVICTED = (
    ("missed", "missed", count), ("delay\nmean s", "delay_mean", count), ("delay\nmax s", "delay_max", count),
    ("lost\nnode h", "lost_node_hours", count), ("re\xad\npeated", "repeated_node_hours", count),
    ("writing", "writing_node_hours", count), ("restart", "restart_node_hours", count), ("killed", "killed", count),
    ("app", "application", count), ("sys", "system", count), ("failed", "failed", count),
    ("batch\nwait s", "batch_wait_mean", count), ("batch\nslow\xad\ndown", "batch_slowdown_mean", short),
    ("ms a\ndecision", "decision_ms_mean", short),
)  # fmt: skip
EVICTED_MEANING = (
    "missed: on-demand jobs that started after their latest start, or not; delay: from their submission to their start; lost: "
    "node-hours of batch jobs that did not count, the sum of repeated work, of writing checkpoints to leave, and of restarts; "
    "killed, app, sys: batch jobs that left, killed, after an application-level or a system-level checkpoint; failed: runs "
    "that ended as a node failed; batch: mean wait and slowdown of batch jobs."
)


def evictor_grid(records: Iterable[Mapping[str, Any]]) -> Grid:
    """Return a row for each dispatcher and evictor, with the means over the seeds; none without on-demand jobs and failures."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for r in records:
        if r.get("preemption") is not None and r.get("metrics") is not None:
            groups.setdefault((r["method"], r["replay"].get("evictor") or "none"), []).append(r["metrics"])

    def of_all(group: tuple[Any, Sequence[Mapping[str, Any]]], name: str) -> float | None:
        values = [metrics.get(f"preemption_{name}") for metrics in group[1]]
        if None in values:
            return None
        return mean(values)

    columns = [Column(head, partial(of_all, name=name), form) for head, name, form in EVICTED]
    names = Column("dispatcher\nand evictor", lambda group: " ".join(group[0]), words=True)
    return Grid.of("on-demand jobs and losses", [names, *columns], groups.items(), EVICTED_MEANING)


# --- Reservations and server events of replays; of the first seed of each dispatcher.

DELETED = "deleted"


def _production(results: ReplayResults) -> dict[str, Mapping[str, Any]]:
    first = {row.name: row.records[0] for row in results.rows if row.records}
    return {name: r["production"] for name, r in first.items() if r.get("production") is not None}


def bookings(results: ReplayResults) -> Grid:
    """Return a row for each repetition of a reservation, and for each of its fates if dispatchers differ."""
    names: dict[tuple[int, tuple[str, ...]], list[str]] = {}
    for name, production in _production(results).items():
        runs = Counter(run["booking"] for run in production["private"])
        for k, b in enumerate(production["bookings"]):
            cells = (b["label"], f"{b['start']:,}", *_fate(b), f"{runs[k]:,}")
            names.setdefault((k, cells), []).append(name)
    rows = [[*cells, ", ".join(names[k, cells])] for k, cells in sorted(names, key=lambda key: key[0])]
    meaning = (
        "requested: accepted or refused; started: the second in which its nodes were free for its jobs, in time for all that "
        "were accepted; ended: the second in which they were given back; runs: of jobs inside."
    )
    heads = ["reservation", "start s", "requested", "started", "ended", "runs", NAMES]
    return Grid.of_texts("reservations", heads, rows, meaning, (NAMES,))


def _fate(booking: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return whether a booking was accepted, and when it started and ended."""
    ended = booking["ended"]
    outcome = booking["outcome"]
    accepted = booking["accepted"] is not None
    answer = "accepted"
    if not accepted:
        answer = {"refused": "refused", "cancelled": "cancelled"}.get(outcome, "open")
    started = accepted and (outcome in ("started", "over") or (ended or 0) > booking["start"])
    if started:
        begun = f"{booking['start']:,}"
    else:
        begun = UNKNOWN
    if ended is None:
        over = UNKNOWN
    else:
        over = f"{ended:,}"
    return answer, begun, over


def refusals(results: ReplayResults) -> dict[str, list[str]]:
    """Return why reservations were refused or cancelled -> the dispatchers."""
    names: dict[str, list[str]] = {}
    for name, production in _production(results).items():
        for b in production["bookings"]:
            if b["why"]:
                if b["outcome"] == "refused":
                    text = b["why"]
                else:
                    text = f"reservation {b['label']!r} was {b['why']}"
                names.setdefault(str(text), []).append(name)
    return names


def changed_jobs(results: ReplayResults) -> Grid:
    """Return the numbers of jobs that left, moved or were changed, and of events that were not possible; no rows without any."""
    rows = []
    for name, p in _production(results).items():
        deleted = sum(why == DELETED for why in p["left"].values())
        changes = (len(p[part]) for part in ("moves", "walltimes", "refused"))
        rows.append([name, deleted, len(p["left"]) - deleted, *changes])
    meaning = (
        "deleted: waiting jobs; left: jobs of private queues without a further reservation; moved to another queue; new "
        "walltimes; server events that were not possible at their time (jobs that had ended, and so on)."
    )
    heads = ["dispatcher", "deleted", "left", "moved", "new\nwalltimes", "events\nnot possible"]
    shown = []
    if any(any(row[1:]) for row in rows):
        shown = rows
    return Grid.of_texts("jobs changed by the server", heads, shown, meaning)


# --- Distributed dispatching: what it measures between processes, and its cost as table 5.2 of [Bridi2018].


def network(results: ReplayResults) -> Grid:
    """Return the packets and wall times of each dispatcher that measures them."""
    rows = []
    for row in results.rows:
        jobs, runs, packets, size, silent = _counts(row, "dardis_jobs dardis_runs packets packet_bytes silent_nodes")
        if not jobs or not runs or not packets:
            continue
        phases = _phases(row, "wall_offers wall_selection wall_reservation wall_events generation_one")
        offers, selection, reserving, events, one = phases
        times = [one / runs, offers / runs, selection / runs, reserving / jobs, events / jobs, sum(phases[:4]) / jobs]
        cells = [f"{packets / jobs:,.1f}", short(size / 1000 / jobs), *map(milliseconds, times), compact(silent)]
        rows.append([row.name, *cells])
    heads = (
        "dispatcher|packets\na job|KB\na job|one node\nms a run|offers\nms a run|selection\nms a run|reserve\nms a job|"
        "events\nms a job|in sum\nms a job|silent\nnodes"
    )
    meaning = (
        "packets: between the processes, of requests and answers, which have the messages for all nodes of a process; KB: their "
        "size; one node: processor time of the generation on one node, which is all that phases 1 to 3 take if messages take no "
        "time and each node has a processor of its own; offers: wall time of phases 1 to 3, until the last offer has arrived; "
        "selection: phase 4; reserve: phases 5 and 6, until the chosen nodes have acknowledged; events: extensions of "
        "reservations; silent nodes: those whose process did not answer before the timer ended."
    )
    title = "the protocol as measured between processes, wall time in milliseconds"
    return Grid.of_texts(title, heads.split("|"), rows, meaning)


def protocol(results: ReplayResults) -> Grid:
    """Return the mean cost of the protocol of each dispatcher that reports it."""
    rows = []
    for row in results.rows:
        jobs, runs, messages, timeouts, restarts = _counts(row, "dardis_jobs dardis_runs messages timeouts restarts")
        if not jobs or not runs:
            continue
        one, selection, reserving, every = _phases(row, "generation_one node_selection reservation generation_all")
        times = [one / runs, selection / runs, reserving / jobs, (one + selection + reserving) / jobs, every / runs]
        rates = [f"{runs / jobs:.2f}", f"{messages / jobs:,.0f}", *(short(1e6 * seconds) for seconds in times)]
        rows.append([row.name, compact(jobs), *rates, compact(timeouts), compact(restarts)])
    heads = (
        "dispatcher|jobs|runs\na job|messages\na job|generation\nus a node|selection\nus|reserve\nus a job|in sum\nus a job|"
        "all nodes\nus a run|time\xad\nouts|re\xad\nstarts"
    )
    meaning = (
        "jobs: also those that are planned anew; runs of the protocol: one for each window that is tried, and for each job that "
        "backfilling looks at; messages: requests, offers, confirmations, notifications; generation: of starts, mean over the "
        "node managers; selection: of a start and nodes, by the task manager; reserve: on all chosen nodes; in sum: as if each "
        "node had a processor of its own and messages took no time; all nodes: generation on all nodes, one after the other; "
        "timeouts: runs in which not all node managers had answered in time; restarts: runs without an acknowledgement."
    )
    return Grid.of_texts("cost of the protocol, in microseconds", heads.split("|"), rows, meaning)


def _counts(row: DispatcherRow, names: str) -> list[float]:
    return [row.metric(f"decisions_counts_{name}") or 0.0 for name in names.split()]


def _phases(row: DispatcherRow, names: str) -> list[float]:
    return [row.metric(f"decisions_phases_{name}") or 0.0 for name in names.split()]
