"""The commands that compare a real machine with schedlab: ``bench calibrate``, ``bench decide``.

- ``calibrate``: whether the rules of a site, as schedlab knows them, start jobs when its scheduler did.
- ``decide``: the decision of a dispatcher for the state of a real machine, and what the machine did then.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.text import Text

from ...errors import WrongValue
from ...instances.files.writing import to_csv, write_whole
from ...models.array_types import Floats
from ...models.words import how_many
from ..errors import FAILED, WrongUse, check_file, writing
from ..grid import DIM, WARNING, Column, Grid, count, percent, ratio, short, signed
from ..pages import Card, Section, write_page
from ..pages.panels import COLOURS, require_matplotlib, time_axis
from ..replays.settings import RESULTS, RUNS, SETTINGS, ReplaySettings, read_settings
from ..runs.process import seconds_since_start
from ..runs.progress import step_bar
from ..terminal import console_for, say
from .options import check_folders, with_options

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ...instances.sites.machine_state import MachineState
    from ...simulation.shadow import Answer, Comparison
    from ...simulation.slurm.calibration import Agreement, Calibration, WrongInstant
    from ...simulation.slurm.jobs import SlurmJob
    from ..grid import Grid


Decide = Callable[["MachineState"], "Answer"]


@dataclass(frozen=True)
class Deciding:
    """How a dispatcher decides."""

    decision_time: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            help="seconds from the start of the command to the decision, for dispatchers with a solver; default: limit of "
            "its own for the decision",
        ),
    ] = None
    allocator: Annotated[str, typer.Option(help="nodes that policies choose: best-fit or first-fit")] = "best-fit"
    priorities: Annotated[
        bool, typer.Option("--priorities", help="a policy takes the jobs by their priorities in the state")
    ] = False
    seed: Annotated[int, typer.Option(min=0, help="random seed")] = 0
    threads: Annotated[int, typer.Option(min=1, help="threads of the solver")] = 1


@with_options()
def decide(
    state: Annotated[
        Path,
        typer.Argument(
            help="state of the machine: JSON, see docs/reference/decide.md; or a folder of states, each against the next"
        ),
    ],
    dispatcher: Annotated[
        str,
        typer.Option(help="a dispatcher as in bench simulate: easy, conservative, hcp3@cpsat, my_module:MyDispatcher"),
    ] = "easy",
    *,
    deciding: Deciding,
    against: Annotated[
        Path | None,
        typer.Option(help="a later state, or a folder of them: print what the machine started until then, compared"),
    ] = None,
    within: Annotated[
        int | None, typer.Option(min=0, help="seconds by which starts may differ and are the same; default: 30")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the comparison as JSON")] = False,
    out: Annotated[Path | None, typer.Option(help="file to write; default: the standard output")] = None,
) -> None:
    """Decide which jobs of a real machine start now.

    The state (nodes, running and waiting jobs) comes from Slurm or PBS with bench import state. Nothing is started: the
    answer is for comparison with the real scheduler. It is checked before it is printed: capacities, queues, states of
    the nodes. Planned starts are the reservations of the dispatcher, if it has any.

    With --against, or for a folder of states, a table says which starts the machine made until the next state.

    Example: bench decide state.json --dispatcher conservative

    Example: bench decide state.json --dispatcher hcp3@cpsat --decision-time 1 --out decision.json

    Example: bench decide state.json --against five_minutes_later.json
    """
    from ...simulation.errors import SimulationError
    from ...simulation.shadow import SMALLEST_PART
    from ...simulation.shadow import decide as decide_for

    for path in filter(None, (state, against)):
        check_file(path)
    compares = against is not None or state.is_dir()
    if not compares and (within is not None or as_json):
        raise WrongUse(
            f"{'--json' if within is None else '--within'} is for a comparison; expected --against STATE too"
        )

    def answer_to(machine: MachineState) -> Answer:
        left = deciding.decision_time
        if (
            left is not None and not compares
        ):  # start of the process and reading count, but leave a part for the decision
            left = max(SMALLEST_PART * left, left - seconds_since_start())
        return decide_for(
            machine,
            dispatcher,
            decision_time=left,
            allocator=deciding.allocator,
            priorities=deciding.priorities,
            seed=deciding.seed,
            threads=deciding.threads,
        )

    try:
        if compares:
            _compare([state, *([] if against is None else [against])], dispatcher, answer_to, within, as_json, out)
        else:
            _answer(state, answer_to, out)
    except WrongValue as e:
        why = str(e)
        raise WrongUse(why if why.startswith(f"{dispatcher}: ") else f"{dispatcher}: {why}") from e
    except SimulationError as e:
        say(f"error: {e}", error=True)
        raise typer.Exit(FAILED) from e


def _answer(state: Path, answer_to: Decide, out: Path | None) -> None:
    """Print or write the answer to a state."""
    from ...instances.sites.machine_state import read_state

    answer = answer_to(read_state(state))
    if not _written(answer.to_json(), out):
        return
    started = len(answer.starts)
    planned = len(answer.planned)
    say(
        f"{out}: {started} of {how_many(len(answer.expected), 'waiting job', verb='start')} now, {planned} planned starts"
    )


def _written(values: Any, out: Path | None) -> bool:
    """Write values as JSON to a file, or print them; return whether they were written."""
    from ...instances.files.writing import write_whole

    text = json.dumps(values, indent=1)
    if out is None:
        say(text)
        return False
    with writing(out):
        write_whole(out, text + "\n")
    return True


def _compare(
    places: Sequence[Path], dispatcher: str, answer_to: Decide, within: int | None, as_json: bool, out: Path | None
) -> None:
    """Compare the answers to states with what the machine did, and print it."""
    from ...simulation.shadow import WITHIN, compare, comparisons_to_json

    if within is None:
        seconds = WITHIN
    else:
        seconds = within
    states = _states(places)
    compared = []
    for machine, following in pairwise(states):
        compared.append(compare(machine, answer_to(machine), following, seconds))
    values = comparisons_to_json(dispatcher, seconds, compared)
    if out is not None:
        _written(values, out)
    if as_json:
        say(json.dumps(values, indent=1))
    else:
        _grid(dispatcher, seconds, compared).show(console_for(), explain=True)
        say(_summary(dispatcher, compared))


def _states(places: Sequence[Path]) -> list[MachineState]:
    """Return the states of files and folders, by time. Raises WrongUse if there are fewer than two, or two of one time."""
    from ...instances.sites.machine_state import read_state

    files = [
        file
        for place in places
        for file in (sorted(p for p in place.iterdir() if SUFFIXES & {*p.suffixes}) if place.is_dir() else [place])
    ]
    read = {file: read_state(file) for file in files}
    ordered = sorted(read, key=lambda file: read[file].now - read[file].shift)
    if places[0] in read and ordered[0] != places[0]:
        raise WrongUse(f"{ordered[0]} is an earlier state than {places[0]}; expected later ones after --against")
    if len(ordered) < 2:
        raise WrongUse(
            f"{places[0]}: {how_many(len(ordered), 'state')}; expected at least two, to compare each with the next"
        )
    return [read[file] for file in ordered]


SUFFIXES = {".json"}


def _grid(dispatcher: str, within: int, compared: Sequence[Comparison]) -> Grid:
    """Return the table of comparisons, with their sum."""
    from ..grid import Column, Grid

    rows: list[tuple[str, Sequence[Comparison]]] = [(str(c.now), [c]) for c in compared]
    if len(compared) > 1:
        rows += [("all", compared)]

    def of(head: str, meaning: str, count: Callable[[Comparison], int]) -> Column:
        return Column(
            head, lambda row: sum(count(c) for c in row[1]), meaning=f"{head.replace(chr(10), ' ')}: {meaning}"
        )

    columns = [
        Column("state", lambda row: row[0], words=True, meaning="state: its time in s"),
        of("until\nthe next", "seconds", lambda c: c.until - c.now),
        of("starts", "those of the machine until the next state, of jobs that the dispatcher saw", lambda c: c.machine),
        of(
            "same",
            f"of these, started or planned by the dispatcher within {within} s of that time",
            lambda c: len(c.same),
        ),
        of("earlier", "by the dispatcher", lambda c: len(c.earlier)),
        of("later", "by the dispatcher, or without a start", lambda c: len(c.later)),
        of("soon", f"those of the machine within {within} s of the state", lambda c: len(c.soon)),
        of("soon,\nours", "of these, starts of the dispatcher now", lambda c: c.soon_ours),
        of("were\nheld", "starts of jobs that the state holds", lambda c: len(c.was_held)),
        of("new", "starts of jobs that were submitted later", lambda c: c.submitted),
        of("ours", "starts of the dispatcher now", lambda c: len(c.ours)),
        of("also\nmade", "of these, by the machine until the next state", lambda c: len(c.also_made)),
        of("not\nmade", "the others", lambda c: len(c.not_made)),
        of("held\nnow", "of ours, held by the state", lambda c: len(c.held)),
        of("held\nthen", "of ours, held by the next state", lambda c: len(c.held_next)),
    ]
    return Grid.of(f"{dispatcher} and the machine", columns, rows)


def _summary(dispatcher: str, compared: Sequence[Comparison]) -> str:
    """Return the shares of common starts, and how many starts are of jobs that the machine holds."""
    from ..grid import percent

    machine = sum(c.machine for c in compared)
    ours = sum(len(c.ours) for c in compared)
    also = sum(len(c.also_made) for c in compared)
    held = sum(len(c.held) for c in compared)

    def share_of(starts: int) -> float | None:
        if starts:
            return also / starts
        return None

    return (
        f"{also} of {how_many(machine, 'start')} of the machine are among the {ours} of {dispatcher} "
        f"({percent(share_of(machine))}; of its own: {percent(share_of(ours))}); "
        f"{held} of its starts are of jobs that the machine holds"
    )


@with_options(SETTINGS, ("site", "on_unknown", "format", "zone", "columns"))
def calibrate(
    *,
    log: Annotated[Path, typer.Argument(help="log of the site, such as the output of sacct -D --parsable2 -o ALL")],
    replays: Annotated[
        int, typer.Option(min=1, help="free replays, which differ in what no log records", rich_help_panel=RUNS)
    ] = 16,
    seed: Annotated[int, typer.Option(min=0, help="random seed of the replays", rich_help_panel=RUNS)] = 0,
    page: Annotated[
        Path | None,
        typer.Option(help="HTML file to write, with pictures; needs matplotlib", rich_help_panel=RESULTS),
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(help="CSV file to write: a row for each job with both waits", rich_help_panel=RESULTS)
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="print what each column means", rich_help_panel=RESULTS)
    ] = False,
    **settings: Any,
) -> None:
    """Compare what a Slurm did with what its rules would have done.

    One step: at each recorded event the recorded state is set, and asked what starts now. A wrong rule shows itself at once.

    Free: the whole log is replayed from its submissions on. One other decision moves all that follow, so several replays
    are made, and how far they are from each other is printed beside how far they are from the record.

    The verdict (exact, good, usable, not usable) says whether to believe what-if questions on this log. What the site has and
    the replay does not obey is listed.

    Example: bench calibrate jobs.txt --site slurm.conf,dump.cfg --zone Europe/Rome --page calibration.html
    """
    from ...simulation.slurm.calibration import calibrate as compare
    from ..replays.case import log_on_site, required_site
    from ..tables.inputs import print_report

    check_folders({"--page": page, "--csv": csv})
    if page is not None:
        require_matplotlib()
    check_file(log)
    values, _ = read_settings(settings)
    replay = ReplaySettings(trace=True, **values)
    described = required_site(replay, "bench calibrate")
    if described.kind != "slurm":
        raise WrongUse(f"--site: the site is one of {described.kind}; a calibration knows the rules of Slurm alone")
    notes = console_for(stderr=True)
    workload = log_on_site(log, replay, described)
    notes.print(f"{workload.name}: {how_many(len(workload), 'job', ',')}", soft_wrap=True)
    print_report(notes, workload)
    try:
        with step_bar(notes) as bar:
            task = bar.add_task("one step", total=replays + 1)
            result = compare(
                workload,
                described,
                replays=replays,
                seed=seed,
                on_progress=lambda done, total: bar.update(task, completed=done, description=f"replay {done}"),
            )
            bar.update(task, completed=replays + 1)
    except KeyboardInterrupt:
        notes.print("\nstopped; nothing of a calibration is kept: the same command begins anew", soft_wrap=True)
        raise typer.Exit(130) from None
    show(result, console_for(), explain)
    if csv is not None:
        with writing(csv, "--csv"):
            write_whole(csv, to_csv(HEADS, list(rows_of_jobs(result))))
        notes.print(f"{csv}: {how_many(len(result.jobs), 'job', ',')}", soft_wrap=True)
    if page is not None:
        write_answer(result, page, f"{workload.name} on {described.name}")
        notes.print(f"{page}: the verdict is {result.verdict}", soft_wrap=True)


def show(result: Any, console: Console, explain: bool) -> None:
    """Print the verdict and the tables."""
    one_step_grid(result).show(console, explain)
    console.print()
    free_grid(result).show(console, explain)
    for grid in (wrong_grid(result), worst_grid(result)):
        if grid.rows:
            console.print()
            console.print(grid)
    console.print()
    for sentence in (*sentences_on_starts(result), sentence_on_chance(result)):
        console.print(Text(sentence))
    if result.not_modelled:
        console.print(Text(f"not modelled: {', '.join(result.not_modelled)}", style=WARNING))
    console.print(Text(f"{result}"))
    console.print(Text(result.rule, style=DIM))


def sentences_on_starts(result: Calibration) -> Iterator[str]:
    """Yield which jobs did not start in the record, or not in every replay: they count as waiting until they were cancelled."""
    counted = "counted as waiting until cancelled"
    if result.not_replayed:
        lacking = how_many(len(result.not_replayed), "job", ",")
        yield f"{lacking} started in the record and not in every replay ({counted} there): {_first_of(result.not_replayed)}"
    if result.only_replayed:
        further = how_many(len(result.only_replayed), "job", ",")
        yield f"{further} started in a replay and not in the record ({counted} there): {_first_of(result.only_replayed)}"


def sentence_on_chance(result: Calibration) -> str:
    """Return where the recorded mean wait is among those of the replays, which differ by chance."""
    means = sorted(each.replayed for each in result.single)
    longer = sum(mean > result.free.recorded for mean in means)
    return f"mean waits of the replays: {means[0]:,.1f} to {means[-1]:,.1f} s, {longer} of {len(means)} longer than the recorded one"


def _first_of(jobs: Sequence[str]) -> str:
    more = ""
    if len(jobs) > FIRST:
        more = f" and {len(jobs) - FIRST:,} more"
    return f"{', '.join(jobs[:FIRST])}{more}"


def write_answer(result: Any, page: Path, title: str) -> None:
    """Write the verdict, the tables and the pictures as one HTML page."""
    one = one_step_grid(result)
    free = free_grid(result)
    omitted = ""
    if result.not_modelled:
        omitted = f"Not modelled: {', '.join(result.not_modelled)}."
    sections = [
        Section(
            f"The verdict: {result.verdict}",
            lead=f"{result}. {omitted}",
            notes=(*sentences_on_starts(result), sentence_on_chance(result), result.rule),
            grids=(one, free),
            details="Where the rules differ from the record",
            folded=(wrong_grid(result), worst_grid(result)),
            cards=calibration_cards(result),
        )
    ]
    write_page(page, title, "calibration", sections)


# --- The tables and pictures of ``bench calibrate``: how well the rules of a site predict what its scheduler did.


FIRST = 10  # wrong instants, and jobs, that are listed
CHANCE = "two replays differ"  # the row that tells what chance alone does
SINGLE = "one replay"
ALL = "all jobs"


@dataclass(frozen=True)
class AgreementRow:
    """The agreement of some jobs; ``kind``: what they have in common, ``name``: its value."""

    kind: str
    name: str
    agreement: Agreement


def one_step_grid(calibration: Calibration) -> Grid:
    """Return the table of the predictions from recorded states."""
    one = calibration.one_step
    columns = [
        Column("starts\nre\xad\ncorded", lambda o: o.starts, count, "from each recorded state, the starts of the next "
               f"{one.within} s are predicted; recall: share of the recorded starts that were predicted"),
        Column("fore\xad\nseen", lambda o: o.foreseen, count),
        Column("recall", lambda o: o.recall, ratio),
        Column("starts\npre\xad\ndicted", lambda o: o.predicted, count, "precision: share of the predictions that came true"),
        Column("right", lambda o: o.right, count),
        Column("preci\xad\nsion", lambda o: o.precision, ratio),
    ]  # fmt: skip
    return Grid.of("one step: what starts next, asked at each recorded event", columns, [one])


def free_grid(calibration: Calibration) -> Grid:
    """Return the table of the waits that were recorded and replayed, for all jobs and for each group."""
    rows = [
        AgreementRow(ALL, "", calibration.free),
        AgreementRow(SINGLE, "", _mean(calibration.single)),
        *([AgreementRow(CHANCE, "", _mean(calibration.between))] if calibration.between else []),
        *_groups(calibration.by),
    ]
    columns = [
        Column("figures of", lambda r: r.kind, words=True),
        Column("group", lambda r: r.name, words=True),
        Column("jobs", lambda r: r.agreement.jobs, count),
        Column("mean\nre\xad\ncorded", lambda r: r.agreement.recorded, short, unit="s"),
        Column("mean\nre\xad\nplayed", lambda r: r.agreement.replayed, short, unit="s"),
        Column(
            "devia\xad\ntion", lambda r: r.agreement.deviation, signed, "deviation: mean replayed / mean recorded - 1"
        ),
        Column("median\nre\xad\ncorded", lambda r: r.agreement.median_recorded, short, unit="s", spare=3),
        Column("median\nre\xad\nplayed", lambda r: r.agreement.median_replayed, short, unit="s", spare=3),
        Column("p95\nre\xad\ncorded", lambda r: r.agreement.p95_recorded, short, unit="s", spare=2),
        Column("p95\nre\xad\nplayed", lambda r: r.agreement.p95_replayed, short, "p95: 95th percentile", "s", spare=2),
        Column(
            "mean\nerror", lambda r: r.agreement.mean_error, short, "error: absolute difference of a job's waits", "s"
        ),
        Column(
            "within\n10 s", lambda r: r.agreement.within_10_s, _share, "within: share of the jobs with such an error"
        ),
        Column("within\n1 min", lambda r: r.agreement.within_1_min, _share, spare=1),
        Column("within\n10 min", lambda r: r.agreement.within_10_min, _share, spare=1),
        Column("rank\ncorr.", lambda r: r.agreement.rank_correlation, ratio, "rank corr.: Spearman's, of the waits"),
    ]
    grid = Grid.of("free: the whole log, replayed by the rules of the site; waits in s", columns, rows)
    further = (
        f"{ALL}: a job's wait is its mean over {len(calibration.single)} replays, which differ in what no log records, such as "
        f"fractions of seconds; {SINGLE}: the mean figures of single replays; {CHANCE}: those of one replay against another, so "
        "no model can be expected to agree better with the record"
    )
    return Grid(grid.title, grid.columns, grid.rows, f"{grid.meaning.removesuffix('.')}; {further}.")


def worst_grid(calibration: Calibration) -> Grid:
    """Return the table of the jobs with the largest errors."""
    columns = [
        Column("job", lambda w: w.job, words=True),
        Column("re\xad\ncorded", lambda w: w.recorded, count, unit="s"),
        Column("re\xad\nplayed", lambda w: w.replayed, count, unit="s"),
        Column("why it waited last, in a replay", lambda w: w.why, words=True, least=20),
    ]
    return Grid.of("the largest errors; waits in s", columns, calibration.worst)


def wrong_grid(calibration: Calibration) -> Grid:
    """Return the table of the first instants at which a prediction from the recorded state is wrong."""
    columns = [
        Column("time, UTC", lambda w: _clock(w.time), words=True),
        Column("job", lambda w: w.job, words=True),
        Column("partition", lambda w: w.partition, words=True),
        Column("what", _what, words=True),
        Column("scheduler, or\nwhat held it", lambda w: w.why, words=True, least=20),
    ]
    wrong = calibration.one_step.wrong
    title = f"the first {min(FIRST, len(wrong))} of {len(wrong)} wrong answers of one step"
    return Grid.of(title, columns, wrong[:FIRST])


def rows_of_jobs(calibration: Calibration) -> Iterator[tuple[str, str, str, str, str, int, float, float]]:
    """Yield a row for each job: job, partition, QOS, account, user, submit time, waits recorded and replayed in s."""
    for job, recorded, replayed in zip(calibration.jobs, calibration.recorded, calibration.replayed, strict=True):
        yield (*_names(job), job.user, job.submit, float(recorded), float(replayed))


HEADS = ("job", "partition", "qos", "account", "user", "submit", "wait_recorded", "wait_replayed")


def _names(job: SlurmJob) -> tuple[str, str, str, str]:
    return job.id, ",".join(job.request.partitions), job.request.qos, job.request.account


def _groups(by: Mapping[str, Mapping[str, Agreement]]) -> Iterator[AgreementRow]:
    for kind, members in by.items():
        if len(members) > 1:
            for name, agreement in members.items():
                yield AgreementRow(kind, name or "none", agreement)


def _mean(several: Sequence[Agreement]) -> Agreement:
    """Return the mean of each figure."""
    names = [field.name for field in fields(several[0]) if field.name != "jobs"]
    figures: dict[str, Any] = {name: fmean(getattr(agreement, name) for agreement in several) for name in names}
    return replace(several[0], **figures)


def _share(value: float) -> str:
    return percent(value, 0)


def _clock(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")


def _what(wrong: WrongInstant) -> str:
    if not wrong.predicted:
        return "started, was not predicted"
    if wrong.recorded is None:
        return "predicted, never started"
    return f"predicted, started {wrong.recorded - wrong.time:,} s later"


# --- The pictures of ``bench calibrate``: waits job by job, and the queue over time, recorded and replayed.

LEAST = 1.0  # s: shorter waits are drawn here, as the axes are logarithmic


def calibration_cards(calibration: Calibration) -> list[Card]:
    """Return the pictures of a calibration. Needs matplotlib."""
    from ..pages.figures import PANEL, figure  # numba: half of the start of the command line

    pictures = figure("waits and queue", [_scatter(calibration), _queue(calibration)], 2, 1.5 * PANEL)
    text = "of each job, on the line where the replays agree with the record; the number of waiting jobs over time"
    return [Card("Waits and queue", text, pictures)]


def _scatter(calibration: Calibration) -> Callable[[Axes], object]:
    def draw(ax: Axes) -> None:
        recorded = np.maximum(calibration.recorded, LEAST)
        replayed = np.maximum(calibration.replayed, LEAST)
        most = float(max(recorded.max(), replayed.max()))
        ax.plot([LEAST, most], [LEAST, most], color="0.6", linewidth=0.8)
        partitions = [",".join(job.request.partitions) for job in calibration.jobs]
        for k, name in enumerate(dict.fromkeys(partitions)):
            own = np.array([partition == name for partition in partitions])
            ax.plot(
                recorded[own], replayed[own], ".", markersize=3, color=COLOURS[k % len(COLOURS)], label=name or "none"
            )
        ax.set_xscale("log")
        ax.set_yscale("log")
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(lambda value, _: f"{value:,.0f}")
            axis.set_minor_formatter(lambda value, _: "")
        ax.set_xlabel("wait recorded, s")
        ax.set_ylabel("wait replayed, s")
        ax.legend(frameon=False, fontsize=7)

    return draw


def _queue(calibration: Calibration) -> Callable[[Axes], object]:
    submit = np.array([job.submit for job in calibration.jobs], np.float64)
    first = float(submit.min())
    unit, length = time_axis(float(submit.max()) - first)

    def draw(ax: Axes) -> None:
        for k, (label, waits) in enumerate((("recorded", calibration.recorded), ("replayed", calibration.replayed))):
            times, waiting = queue_length(submit, waits)
            ax.step((times - first) / length, waiting, where="post", color=COLOURS[k], linewidth=0.9, label=label)
        ax.set_ylim(bottom=0)
        ax.set_xlabel(f"time since the first submission, {unit}")
        ax.set_ylabel("waiting jobs")
        ax.legend(frameon=False, fontsize=7)

    return draw


def queue_length(submit: Floats, wait: Floats) -> tuple[Floats, Floats]:
    """Return the times at which the number of waiting jobs changes, and that number from each of them on.

    Examples
    --------
    >>> times, waiting = queue_length(np.array([0.0, 5.0]), np.array([10.0, 2.0]))
    >>> times.tolist(), waiting.tolist()
    ([0.0, 5.0, 7.0, 10.0], [1.0, 2.0, 1.0, 0.0])
    """
    times = np.concatenate([submit, submit + wait])
    change = np.concatenate([np.ones(submit.size), -np.ones(wait.size)])
    distinct, at = np.unique(times, return_inverse=True)
    return distinct, np.cumsum(np.bincount(at.reshape(-1), change))
