"""All figures of the replays of one workload as grids of text, for the terminal and for the HTML page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from ...simulation.dispatchers.production_phases import PHASES as CYCLE
from .replays import BOUNDED, DispatcherRow, ReplayResults, compact, count, ratio, share, short

Writer = Callable[[float], str]
SPREAD = ("mean", "std", "median", "p95", "p99", "max")
CLASSES = ("short", "medium", "long")
ENDS = ("trivial", "optimal", "limit", "no-gain", "infeasible", "nothing")
NAMES = "dispatchers"  # the heading of a column with several names
PHASES = ("start_", "model_", "solve_", "allocate_")
OWN_METRIC = ("start", "model", "solve", "allocate")
USED = "decisions_used_"
OF_EWT, PART_OF_WAIT = "wait_over_ewt_", "wait_contribution_"
RATIOS = ("p5", "p25", "p50", "p75", "p95")


class TextGrid(NamedTuple):
    """A table of text.

    Attributes
    ----------
    title : str
        The title of the table.
    heads : sequence of str
        One heading per column.
    rows : sequence of sequences of str
        The cells, row by row.
    meaning : str
        What the columns mean.
    """

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    meaning: str


def predictions(results: ReplayResults) -> TextGrid:
    """Return the accuracy of the predicted durations: one row per predictor, and per dispatcher if its figures differ.

    A predictor that learns depends on the jobs that have already ended, and therefore on the dispatcher.
    """
    rows: dict[tuple[str, ...], list[str]] = {}
    for row in results.rows:
        if row.metric("accuracy_mae") is None or not row.records:
            continue
        figures = [_cell(row, "accuracy_mae", count)]
        figures += [_cell(row, f"accuracy_{n}", share) for n in ("under", "over", "within_quarter")]
        figures.append("/".join(_cell(row, f"accuracy_ratio_{n}", _ratio) for n in RATIOS))
        name = str(row.records[0]["simulation"]["predictor"])
        rows.setdefault((name, *figures), []).append(row.name)
    return TextGrid(
        "accuracy of the predicted durations (prediction at the start of each job)",
        ["predictor", "mean\nerror s", "too\nshort", "too\nlong", "within\na quarter", "runtime / predicted:\np5/p25/p50/p75/p95", NAMES],
        [[*figures, ", ".join(names)] for figures, names in rows.items()],
        "mean error: mean of |runtime - prediction|; too short: share of the jobs that took longer than predicted; too long: "
        "share of those that took less; within a quarter: share with runtime / prediction from 0.75 to 1.25; p5 to p95: "
        "percentiles of runtime / prediction over the jobs.",
    )  # fmt: skip


def all_figures(results: ReplayResults) -> list[TextGrid]:
    """Return the grids of waits and slowdowns (all jobs and by length of job), lateness, machine use and decisions."""
    return [
        _spread(results, "wait, in seconds", "wait", count, "wait: time from submission to start."),
        _spread(
            results,
            "slowdown",
            "slowdown",
            short,
            "slowdown: (wait + duration) / duration, with durations of at least 1 s.",
        ),
        _spread(
            results,
            "bounded slowdown",
            "bounded_slowdown",
            short,
            f"{BOUNDED.format(results.bsld_floor)}.",
        ),
        _thesis(results),
        _machine(results),
        *([_desired(results)] if any(k.startswith("desired_") for k in results.metrics) else []),
        _over_ewt(results),
        _contributions(results),
        _calls(results),
        _times(results),
    ]


def _spread(results: ReplayResults, title: str, name: str, written: Writer, meaning: str) -> TextGrid:
    keys = [f"{name}_{part}" for part in SPREAD]
    heads = ["dispatcher", *SPREAD]
    for kind in CLASSES:
        keys += [f"{kind}_jobs", f"{kind}_{name}_mean", f"{kind}_{name}_max"]
        heads += [f"{kind}: jobs", f"{kind}: mean", f"{kind}: max"]
    kinds = "std: standard deviation; short: jobs that took less than 1 h, medium: 1 to 5 h, long: more than 5 h."
    return _grid(
        results, title, heads, [(k, count if k.endswith("_jobs") else written) for k in keys], f"{meaning} {kinds}"
    )


def _thesis(results: ReplayResults) -> TextGrid:
    heads = ["dispatcher", "AQ s", "WQT", "NL jobs", "TR s", "WT", "AO ms", "MO ms", "%O"]
    figures: list[tuple[str, Writer]] = [
        ("AQ", count), ("WQT", short), ("NL", count), ("TR", count), ("WT", short),
        ("AO", _milli), ("MO", _milli), ("%O", short),
    ]  # fmt: skip
    meaning = (
        "ewt: expected waiting time of the queue of a job. AQ: mean wait. WQT: sum of wait / ewt. NL: jobs that waited longer "
        "than ewt. TR: sum of the wait in excess of ewt. WT: sum of (wait in excess of ewt) / ewt. AO, MO: mean and maximum time "
        "of a decision. %O: time of all decisions in percent of the makespan."
    )
    if "late_starts_share" in results.metrics:
        heads += ["late starts", "of jobs", "share", "tardiness s"]
        figures += [("late_starts_count", count), ("late_starts_jobs", count), ("late_starts_share", share)]
        figures.append(("late_starts_tardiness", count))
        meaning += (
            " late starts: jobs that started after their latest start, of the jobs that have one. tardiness: sum of the seconds "
            "after the latest starts."
        )
    return _grid(results, "lateness and overhead", heads, figures, meaning)


def _machine(results: ReplayResults) -> TextGrid:
    used = [k for k in results.metrics if k.startswith("utilisation_") and "submitting" not in k]
    heads = [
        "dispatcher",
        "jobs",
        "killed",
        "makespan h",
        "waiting: mean",
        "waiting: max",
        "running: mean",
        "submitting",
        "running: max",
    ]
    figures: list[tuple[str, Writer]] = [
        ("started", count), ("killed", count), ("makespan", _hours), ("queue_mean", short), ("queue_max", count),
        ("running_mean", short), ("running_submitting", short), ("running_max", count),
    ]  # fmt: skip
    for key in used:
        resource = key.removeprefix("utilisation_")
        heads += [f"{resource} in use", f"{resource} used", f"{resource} used, submitting"]
        figures += [(f"in_use_{resource}", short), (key, share), (f"utilisation_submitting_{resource}", share)]
    known = {r.metric("power_peak") for r in results.rows}
    if known != {None}:
        heads.append("greatest power W")
        figures.append(("power_peak", count))
    meaning = (
        "greatest power: of all running jobs; killed: jobs killed at their walltime; makespan: from the first submission to the end of the last job; waiting: number "
        "of jobs in the queue, mean and maximum over the makespan; running: number of running jobs; in use: mean amount in use over "
        "the makespan; used: mean share of the machine in use over the makespan; "
        "used, submitting: the same from the first to the last submission."
    )
    return _grid(results, "machine and queue", heads, figures, meaning)


def _desired(results: ReplayResults) -> TextGrid:
    kinds = {"over": count, "machine_over": count, "dissimilarity": ratio, "squared_distance": ratio}
    keys = [k for k in results.metrics if k.startswith("desired_")]
    listed = [(k, w, k.removeprefix(f"desired_{kind}_")) for k in keys for kind, w in kinds.items() if _is_of(k, kind)]
    heads = ["dispatcher", *(f"{k[8:].removesuffix(f'_{r}').replace('_', ' ')}: {r}" for k, _, r in listed)]
    meaning = (
        "over: use above the desired profile, summed over the nodes, in amount-hours; machine over: of the machine as a whole; "
        "dissimilarity: 0 if the use is the desired one times a constant; squared distance: of both, as shares of the capacity."
    )
    return _grid(results, "use beside the desired profile", heads, [(k, w) for k, w, _ in listed], meaning)


def _is_of(key: str, kind: str) -> bool:
    return key.startswith(f"desired_{kind}_")


def _calls(results: ReplayResults) -> TextGrid:
    heads = ["dispatcher", "made", "skipped", "solver", *ENDS, "gain, mean", "without gain", "urgent"]
    figures: list[tuple[str, Writer]] = [(f"decisions_{n}", compact) for n in ("made", "skipped", "solver")]
    figures += [(f"decisions_ended_{n}", compact) for n in ENDS]
    figures += [("decisions_gain_mean", _fine), ("decisions_gain_none", compact), ("decisions_urgent", compact)]
    meaning = (
        "made: calls of the dispatcher; skipped: calls left out because they could not have changed anything; solver: calls that "
        "used the solver; the next six columns: how the calls ended; gain: improvement of the solver over its warm start, relative; "
        "without gain: calls whose result is the warm start itself; urgent: jobs that max_stretch put first."
    )
    return _grid(results, "decisions", heads, figures, meaning)


def _times(results: ReplayResults) -> TextGrid:
    parts = {
        "all": "",
        "solver calls": "solver_",
        "start": "start_",
        "model": "model_",
        "solve": "solve_",
        "allocation": "allocate_",
    }
    rows = []
    for row in results.rows:
        timed = [
            "/".join(_cell(row, f"decisions_{p}seconds_{k}", _milli) for k in ("mean", "p99", "max"))
            for p in parts.values()
        ]
        known = [text.removesuffix("/-/-") for text in timed]  # a compiled policy has only the mean
        if any(text != "-" for text in known):
            rows.append([row.name, *known, _cell(row, "decisions_seconds_total", short)])
    heads = ["dispatcher", *(f"{n}: mean/p99/max" for n in parts), "sum of all, s"]
    meaning = (
        "solver calls: only the calls that used the solver; start: warm starts; model: building and lowering; solve; allocation: parts "
        "of the time of these calls."
    )
    return TextGrid("time of a decision, in milliseconds", heads, rows, meaning)


def models(results: ReplayResults) -> TextGrid:
    """Return the mean sizes of the models and the times, as table 2 of [Galleguillos2019]."""
    heads = ["dispatcher", "ms a\ncall", "prediction\ns", "replay\ns", "models", "intervals", "requested", "available"]
    figures: list[tuple[str, Writer]] = [("decisions_seconds_mean", _milli), ("prediction_seconds", short)]
    sizes = [(f"decisions_models_{n}", short) for n in ("intervals", "requested_total", "available_total")]
    rows = [
        [row.name, *(_cell(row, *each) for each in figures), short(replay_seconds(row)), _cell(row, "decisions_models_built", compact),
         *(_cell(row, *each) for each in sizes)]
        for row in results.rows
        if row.metric("decisions_models_built") is not None
    ]  # fmt: skip
    meaning = (
        "ms a call: mean time of a decision; prediction: time of the predictor; replay: time of the whole replay; models: number of "
        "models built; means over these models: intervals: waiting jobs in the model and running jobs; requested: units * request "
        "of these waiting jobs, summed over the resources; available: free amounts, summed over the resources (memory in GB)."
    )
    return TextGrid("times and sizes of the models", heads, rows, meaning)


def phases(results: ReplayResults) -> TextGrid:
    """Return the seconds of all decisions of each dispatcher by phase: warm start, model, solver, nodes, the rest."""
    rows = []
    for row in results.rows:
        whole, *inside = (row.metric(f"decisions_{name}seconds_total") for name in ("", *PHASES))
        if whole is None or None in inside[1:]:  # a compiled policy is timed as a whole
            continue
        rest = max(0.0, whole - sum(v for v in inside if v is not None))
        shares = [
            "-" if v is None else f"{short(v)} {100 * v / whole:.0f}%" if whole else short(v) for v in (*inside, rest)
        ]
        rows.append([row.name, short(whole), *shares, _cell(row, "prediction_seconds", short)])
    heads = ["dispatcher", "all\ns", "start\ns", "model\ns", "solver\ns", "nodes\ns", "other\ns", "prediction\ns"]
    meaning = (
        "all: sum over the decisions; its parts: start: warm starts (older records have them in model); model: "
        "building and compiling the models; solver; nodes: allocation of the jobs that start; other: choice of the jobs, reservations. prediction: time of the predictor, not a part of all."
    )
    return TextGrid("seconds of all decisions, by phase", heads, rows, meaning)


def cycles(results: ReplayResults) -> TextGrid:
    """Return the mean milliseconds of each phase of the scheduling cycles, as table 4.16 of [Bridi2018]."""
    rows = []
    for row in results.rows:
        made, whole = row.metric("decisions_made"), row.metric("decisions_seconds_total")
        sums = {
            key: row.metric(f"decisions_{key}_seconds_total" if key in OWN_METRIC else f"decisions_phases_{key}")
            for key in CYCLE
        }
        if not made or whole is None or all(sums[key] is None for key in CYCLE if key not in OWN_METRIC):
            continue
        used = [f"{name} {compact(calls)}" for name, calls in _used(row)]
        cells = ["-" if value is None else _milli(value / made) for value in sums.values()]
        rows.append([row.name, _milli(whole / made), *cells, ", ".join(used) or "-"])
    heads = [
        "dispatcher",
        "all\nms",
        *(f"{name}\nms".replace(" ", "\n", 1) for name in CYCLE.values()),
        "calls\nof",
    ]
    meaning = (
        "means over all calls of the dispatcher, also those that begin no cycle; the phases are those of table 4.16 of "
        "[Bridi2018]; commit: the jobs that start now, and the check that they fit. calls of: who made the decisions."
    )
    return TextGrid("phases of the scheduling cycle, in milliseconds a call", heads, rows, meaning)


def _used(row: DispatcherRow) -> list[tuple[str, float]]:
    """Return the methods of a dispatcher that has several, with the number of their calls."""
    names = {n.removeprefix(USED): n for r in row.records for n in r.get("metrics", {}) if n.startswith(USED)}
    found = [(name, row.metric(key)) for name, key in sorted(names.items())]
    return [(name, calls) for name, calls in found if calls is not None]


def replay_seconds(row: DispatcherRow) -> float:
    """Return the wall time of a replay in seconds, the mean over the seeds."""
    return fmean([float(r["seconds"]["total"] or 0) for r in row.records])


def _over_ewt(results: ReplayResults) -> TextGrid:
    names = [k for k in results.metrics if k.startswith(OF_EWT)]
    bins = [k.removeprefix(OF_EWT) for k in names]
    meaning = "number of jobs by wait / expected waiting time of the queue (ewt); 0: no wait; 0.5-0.75: above 0.5, at most 0.75."
    return _grid(results, "wait / ewt, number of jobs", ["dispatcher", *bins], [(k, compact) for k in names], meaning)


def _contributions(results: ReplayResults) -> TextGrid:
    names = [k for k in results.metrics if k.startswith(PART_OF_WAIT)]
    queues = [k.removeprefix(PART_OF_WAIT) for k in names]
    meaning = "sum of the waits of the jobs of a queue / number of all started jobs, s; the sum is the mean wait."
    return _grid(
        results, "part of each queue in the mean wait", ["dispatcher", *queues], [(k, short) for k in names], meaning
    )


def _grid(
    results: ReplayResults, title: str, heads: Sequence[str], figures: Sequence[tuple[str, Writer]], meaning: str
) -> TextGrid:
    rows = [[row.name, *(_cell(row, key, written) for key, written in figures)] for row in results.rows]
    return TextGrid(title, heads, [row for row in rows if any(cell != "-" for cell in row[1:])], meaning)


def _cell(row: DispatcherRow, name: str, written: Writer) -> str:
    value = row.metric(name)
    return "-" if value is None else written(value)


def _ratio(value: float) -> str:
    """Return a ratio with two decimals below 10 and none above.

    Examples
    --------
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


# --- The figures of replays with on-demand jobs as a grid of text: a row for each dispatcher and evictor.

COLUMNS = (
    ("missed", "missed", count),
    ("delay\nmean s", "delay_mean", count),
    ("delay\nmax s", "delay_max", count),
    ("lost\nnode h", "lost_node_hours", count),
    ("re-\npeated", "repeated_node_hours", count),
    ("writing", "writing_node_hours", count),
    ("restart", "restart_node_hours", count),
    ("killed", "killed", count),
    ("app", "application", count),
    ("sys", "system", count),
    ("failed", "failed", count),
    ("batch\nwait s", "batch_wait_mean", count),
    ("batch\nslow-\ndown", "batch_slowdown_mean", short),
    ("ms a\ndecision", "decision_ms_mean", short),
)
MEANING = (
    "missed: on-demand jobs that started after their latest start, or not; delay: from their submission to their start; lost: "
    "node-hours of batch jobs that did not count, the sum of repeated work, of writing checkpoints to leave, and of restarts; "
    "killed, app, sys: batch jobs that left, killed, after an application-level or a system-level checkpoint; failed: runs "
    "that ended as a node failed; batch: mean wait and slowdown of batch jobs."
)


def preemption_grid(results: ReplayResults) -> TextGrid:
    """Return the figures of one workload; no rows without on-demand jobs and failures."""
    return evictor_grid([r for row in results.rows for r in row.records])


def evictor_grid(records: Iterable[Mapping[str, Any]]) -> TextGrid:
    """Return a row for each dispatcher and evictor, with the means over the seeds."""
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for r in records:
        if r.get("preemption") is not None and r.get("metrics") is not None:
            found.setdefault((r["method"], r["replay"].get("evictor") or "none"), []).append(r["metrics"])
    rows = []
    for names, metrics in found.items():
        cells = []
        for _, name, written in COLUMNS:
            known = [m.get(f"preemption_{name}") for m in metrics]
            values = [v for v in known if v is not None]
            cells.append(written(fmean(values)) if len(values) == len(known) else "-")
        rows.append([" ".join(names), *cells])
    return TextGrid("on-demand jobs and losses", ["dispatcher\nand evictor", *(h for h, *_ in COLUMNS)], rows, MEANING)


# --- Reservations and server events of replays as grids of text.

DELETED = "deleted"


def production_grids(results: ReplayResults) -> list[TextGrid]:
    """Return what became of the reservations and of the jobs that server events changed; of the first seed of each."""
    kept = _kept(results)
    return [_bookings(kept), _jobs(kept)]


def _bookings(kept: Mapping[str, Mapping[str, Any]]) -> TextGrid:
    """Return a row for each repetition of a reservation, and for each of its fates if dispatchers differ."""
    rows: dict[tuple[int, tuple[str, ...]], list[str]] = {}
    for name, production in kept.items():
        runs = Counter(run["booking"] for run in production["private"])
        for k, b in enumerate(production["bookings"]):
            cells = (b["label"], f"{b['start']:,}", *_fate(b), f"{runs[k]:,}")
            rows.setdefault((k, cells), []).append(name)
    listed = [[*cells, ", ".join(names)] for (_, cells), names in sorted(rows.items(), key=lambda row: row[0][0])]
    meaning = (
        "requested: accepted or refused; started: the second in which its nodes were free for its jobs, in time for all that "
        "were accepted; ended: the second in which they were given back; runs: of jobs inside."
    )
    heads = ["reservation", "start s", "requested", "started", "ended", "runs", NAMES]
    return TextGrid("reservations", heads, listed, meaning)


def reasons(results: ReplayResults) -> dict[str, list[str]]:
    """Return why reservations were refused or cancelled -> the dispatchers."""
    found: dict[str, list[str]] = {}
    for name, production in _kept(results).items():
        for b in production["bookings"]:
            if b["why"]:
                text = b["why"] if b["outcome"] == "refused" else f"reservation {b['label']!r} was {b['why']}"
                found.setdefault(str(text), []).append(name)
    return found


def _kept(results: ReplayResults) -> dict[str, Mapping[str, Any]]:
    return {
        row.name: record["production"]
        for row in results.rows
        for record in row.records[:1]
        if record.get("production") is not None
    }


def _fate(booking: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return whether a booking was accepted, and when it started and ended."""
    accepted = booking["accepted"] is not None
    started = accepted and (booking["outcome"] in ("started", "over") or (booking["ended"] or 0) > booking["start"])
    answer = (
        "accepted" if accepted else {"refused": "refused", "cancelled": "cancelled"}.get(booking["outcome"], "open")
    )
    ended = "-" if booking["ended"] is None else f"{booking['ended']:,}"
    return answer, f"{booking['start']:,}" if started else "-", ended


def _jobs(kept: Mapping[str, Mapping[str, Any]]) -> TextGrid:
    """Return the numbers of jobs that left, moved or were changed, and of events that were not possible."""
    rows = [
        [
            name,
            str(sum(why == DELETED for why in p["left"].values())),
            str(sum(why != DELETED for why in p["left"].values())),
            *(str(len(p[part])) for part in ("moves", "walltimes", "refused")),
        ]
        for name, p in kept.items()
    ]
    heads = ["dispatcher", "deleted", "left", "moved", "new\nwalltimes", "events\nnot possible"]
    meaning = (
        "deleted: waiting jobs; left: jobs of private queues without a further reservation; moved to another queue; new "
        "walltimes; server events that were not possible at their time (jobs that had ended, and so on)."
    )
    return TextGrid(
        "jobs changed by the server", heads, rows if any(set(row[1:]) != {"0"} for row in rows) else [], meaning
    )


# --- What distributed dispatching over processes measures: packets, bytes, and the wall time of each phase.


def network(results: ReplayResults) -> TextGrid:
    """Return the packets and wall times of each dispatcher that measures them."""
    rows = []
    for row in results.rows:
        jobs, runs, packets, size, silent = (
            row.metric(f"decisions_counts_{name}") or 0.0
            for name in ("dardis_jobs", "dardis_runs", "packets", "packet_bytes", "silent_nodes")
        )
        if not jobs or not runs or not packets:
            continue
        offers, selection, reserving, events, one = (
            row.metric(f"decisions_phases_{name}") or 0.0
            for name in ("wall_offers", "wall_selection", "wall_reservation", "wall_events", "generation_one")
        )
        times = [one / runs, offers / runs, selection / runs, reserving / jobs, events / jobs]
        in_sum = (offers + selection + reserving + events) / jobs
        kilobytes = short(size / 1000 / jobs)
        rows.append(
            [
                row.name,
                f"{packets / jobs:,.1f}",
                kilobytes,
                *(short(1e3 * s) for s in (*times, in_sum)),
                compact(silent),
            ]
        )
    heads = [
        "dispatcher",
        "packets\na job",
        "KB\na job",
        "one node\nms a run",
        "offers\nms a run",
        "selection\nms a run",
        "reserve\nms a job",
        "events\nms a job",
        "in sum\nms a job",
        "silent\nnodes",
    ]
    meaning = (
        "packets: between the processes, of requests and answers, which have the messages for all nodes of a process; KB: their "
        "size; one node: processor time of the generation on one node, which is all that phases 1 to 3 take if messages take no "
        "time and each node has a processor of its own; offers: wall time of phases 1 to 3, until the last offer has arrived; "
        "selection: phase 4; reserve: phases 5 and 6, until the chosen nodes have acknowledged; events: extensions of "
        "reservations; silent nodes: those whose process did not answer before the timer ended."
    )
    return TextGrid("the protocol as measured between processes, wall time in milliseconds", heads, rows, meaning)


# --- The cost of distributed dispatching, as table 5.2 of [Bridi2018]: times of the protocol's phases, and messages.

COUNTS = ("dardis_jobs", "dardis_runs", "messages", "timeouts", "restarts")
SECONDS = ("generation_one", "node_selection", "reservation", "generation_all")


def protocol(results: ReplayResults) -> TextGrid:
    """Return the mean cost of the protocol of each dispatcher that reports it."""
    rows = []
    for row in results.rows:
        counts = [row.metric(f"decisions_counts_{name}") or 0.0 for name in COUNTS]
        jobs, runs, messages, timeouts, restarts = counts
        if not jobs or not runs:
            continue
        one, selection, reserving, every = (row.metric(f"decisions_phases_{name}") or 0.0 for name in SECONDS)
        times = [one / runs, selection / runs, reserving / jobs, (one + selection + reserving) / jobs, every / runs]
        micro = [short(1e6 * seconds) for seconds in times]
        rates = [f"{runs / jobs:.2f}", f"{messages / jobs:,.0f}"]
        rows.append([row.name, compact(jobs), *rates, *micro, compact(timeouts), compact(restarts)])
    heads = [
        "dispatcher",
        "jobs",
        "runs\na job",
        "messages\na job",
        "generation\nus a node",
        "selection\nus",
        "reserve\nus a job",
        "in sum\nus a job",
        "all nodes\nus a run",
        "time-\nouts",
        "re-\nstarts",
    ]
    meaning = (
        "jobs: also those that are planned anew; runs of the protocol: one for each window that is tried, and for each job that "
        "backfilling looks at; messages: requests, offers, confirmations, notifications; generation: of starts, mean over the "
        "node managers; selection: of a start and nodes, by the task manager; reserve: on all chosen nodes; in sum: as if each "
        "node had a processor of its own and messages took no time; all nodes: generation on all nodes, one after the other; "
        "timeouts: runs in which not all node managers had answered in time; restarts: runs without an acknowledgement."
    )
    return TextGrid("cost of the protocol, in microseconds", heads, rows, meaning)
