"""``bench calibrate``: whether the rules of a site, as schedlab knows them, start jobs when its scheduler did."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.text import Text

from ...instances.files.writing import to_csv, write_whole
from ...models.array_types import Floats
from ...models.words import how_many
from ..errors import WrongUse, check_file, writing
from ..grid import DIM, WARNING, Column, Grid, count, percent, ratio, short, signed
from ..pages import Card, Section, write_page
from ..pages.svg import COLOURS, require_matplotlib, time_axis
from ..replays.settings import RESULTS, RUNS, SETTINGS, ReplaySettings, read_settings
from ..runs.progress import step_bar
from ..terminal import console_for
from .options import check_folders, with_options

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ...simulation.slurm.calibration import Agreement, Calibration, WrongInstant
    from ...simulation.slurm.jobs import SlurmJob


@with_options(SETTINGS, ("site", "on_unknown", "format", "zone", "columns"))
def calibrate(
    *,
    log: Annotated[Path, typer.Argument(help="log of the site, such as the output of sacct -D --parsable2 -o ALL")],
    replays: Annotated[
        int, typer.Option(min=1, help="free replays, which differ in what no log records", rich_help_panel=RUNS)
    ] = 8,
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
    for sentence in sentences_on_starts(result):
        console.print(Text(sentence))
    if result.not_modelled:
        console.print(Text(f"not modelled: {', '.join(result.not_modelled)}", style=WARNING))
    console.print(Text(f"{result}"))
    console.print(Text(result.rule, style=DIM))


def sentences_on_starts(result: Calibration) -> Iterator[str]:
    """Yield which jobs are not compared: those that did not start in the record and in every replay."""
    if result.not_compared:
        lacking = len(result.not_compared)
        are, they = ("is", "it") if lacking == 1 else ("are", "they")
        yield (
            f"{lacking:,} of {how_many(len(result.jobs) + lacking, 'job', ',')} that started in the record {are} not compared, as {they} "
            f"did not start in every replay: {_first_of(result.not_compared)}"
        )
    if result.only_replayed:
        count = how_many(len(result.only_replayed), "job", ",")
        yield f"{count} started in a replay and not in the record: {_first_of(result.only_replayed)}"


def _first_of(jobs: Sequence[str]) -> str:
    more = f" and {len(jobs) - FIRST:,} more" if len(jobs) > FIRST else ""
    return f"{', '.join(jobs[:FIRST])}{more}"


def write_answer(result: Any, page: Path, title: str) -> None:
    """Write the verdict, the tables and the pictures as one HTML page."""
    one = one_step_grid(result)
    free = free_grid(result)
    omitted = f"Not modelled: {', '.join(result.not_modelled)}." if result.not_modelled else ""
    sections = [
        Section(
            f"The verdict: {result.verdict}",
            lead=f"{result}. {omitted}",
            notes=(*sentences_on_starts(result), result.rule),
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
