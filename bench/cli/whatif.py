"""``bench whatif``: what a change of a site would have done to the waits of a log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from ...instances.files.writing import to_csv, write_whole
from ...models.words import how_many
from ..errors import WrongUse, writing
from ..grid import WARNING
from ..missing_files import check_file
from ..pages import Section, rendered
from ..replays.settings import RESULTS, RUNS, SETTINGS, ReplaySettings, read_settings
from ..runs.supervision import resume_command
from ..terminal import console_for
from .options import with_options

if TYPE_CHECKING:
    from ...models.site import Site
    from ..whatif import Variant, VariantComparison


@with_options(SETTINGS, ("site", "on_unknown", "format", "zone", "columns"))
def whatif(
    *,
    log: Annotated[Path, typer.Argument(help="log of the site, such as the output of sacct -D --parsable2 -o ALL")],
    change: Annotated[
        list[str],
        typer.Option(
            help='a change, such as "qos.limited.MaxJobsPerUser = 6" (docs/site.md); several are made alone and together'
        ),
    ],
    dispatchers: Annotated[
        str,
        typer.Option(
            help="slurm (the rules of the site), and dispatchers of bench simulate, separated by commas",
            rich_help_panel=RUNS,
        ),
    ] = "slurm",
    replays: Annotated[
        int,
        typer.Option(min=1, help="slurm: replays, which differ in what no log records", rich_help_panel=RUNS),
    ] = 8,
    seed: Annotated[int, typer.Option(min=0, help="random seed of the replays", rich_help_panel=RUNS)] = 0,
    out: Annotated[
        Path | None,
        typer.Option(help="folder in which the replays are kept; default: results/whatif", rich_help_panel=RESULTS),
    ] = None,
    page: Annotated[Path | None, typer.Option(help="HTML file to write", rich_help_panel=RESULTS)] = None,
    csv: Annotated[
        Path | None,
        typer.Option(help="CSV file to write: a row for each change and group of jobs", rich_help_panel=RESULTS),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="print what each column means", rich_help_panel=RESULTS)
    ] = False,
    **settings: Any,
) -> None:
    """Answer what a change of a site would have done.

    The log is replayed on the site as it is, with each change alone, and with all of them. The waits of the same jobs are
    compared, for all jobs and for each partition, account and user, with intervals from a bootstrap over blocks of days.
    bench calibrate says first whether replays of this log are to be believed.

    Replays are kept: the same command again, also after Ctrl-C, makes only what is missing.

    Example: bench whatif jobs.txt --site slurm.conf,dump.cfg --change "qos.limited.MaxJobsPerUser = 6"

    Example: bench whatif jobs.txt --site site.toml --change "partition.debug.nodes += n[3-4]" --change "nodes.batch * 1.2"
    --dispatchers slurm,easy,conservative --page answer.html
    """
    from ...instances.files.folder import content_of
    from ...simulation.dispatchers.registry import check_dispatcher
    from ..replays.case import required_site
    from ..replays.open_log import log_on_site
    from ..show.logs import report_lines
    from ..whatif import SLURM, Question, VariantComparison, VariantReplay, job_groups, variants

    for option, path in {"--page": page, "--csv": csv}.items():
        if path is not None and not path.parent.is_dir():
            raise WrongUse(f"{option} {path}: cannot be written (there is no folder {path.parent})")
    names = list(dict.fromkeys(name.strip() for name in dispatchers.split(",") if name.strip()))
    for name in names:
        if name != SLURM:
            check_dispatcher(name)
    check_file(log)
    values, _ = read_settings(settings)
    replay = ReplaySettings(trace=True, **values)
    described = required_site(replay, "bench whatif")
    if described.kind != "slurm" and SLURM in names:
        raise WrongUse(f"--dispatchers slurm: the site is one of {described.kind}; name other dispatchers")
    asked = variants(described, change)
    for variant in asked[1:]:
        check_obeyed(described, variant, names)
    workload = log_on_site(log, replay, described)
    question = Question(workload, content_of(log), out or Path("results") / "whatif", replays, seed)
    notes = console_for(stderr=True)
    for line in (
        f"{workload.name}: {how_many(len(workload), 'job', ',')}",
        *report_lines(workload.report, len(workload)),
    ):
        notes.print(line, soft_wrap=True, markup=False, highlight=False)
    answers: list[VariantReplay] = []
    pairs = [(variant, name) for name in names for variant in asked]
    try:
        with Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=notes
        ) as bar:
            task = bar.add_task("replays", total=sum(question.steps(name) for _, name in pairs))
            for variant, name in pairs:
                bar.update(task, description=f"{name}, {variant.change or 'as it is'}")
                answers.append(question.answer(variant, name, lambda: bar.advance(task)))
    except KeyboardInterrupt:
        notes.print(f"\nstopped; the replays so far are kept. To continue: {resume_command()}", soft_wrap=True)
        raise typer.Exit(130) from None
    comparison = VariantComparison(answers, job_groups(workload))
    said = remarks(comparison, not_modelled_by([variant.site for variant in asked], names))
    if SLURM in names and replays < ENOUGH_REPLAYS:
        said.append(
            f"{how_many(replays, 'replay')}: the intervals hardly contain the chaos of replays; expected 8 or more"
        )
    print_tables(comparison, said, console_for(), explain)
    if csv is not None:
        write_csv(comparison, csv, notes)
    if page is not None:
        write_page(comparison, said, page, f"{workload.name} on {described.name}")
        notes.print(f"{page}: {how_many(len(asked) - 1, 'question')}", soft_wrap=True)


ENOUGH_REPLAYS = 4
SHOWN = 5  # jobs that are named
KINDS = ("partition", "account", "user")
PRINTED = ("partition", "account")  # on the terminal; page and CSV have users, too


def print_tables(comparison: VariantComparison, said: Sequence[str], console: Console, explain: bool) -> None:
    """Print the tables of the groups of each change, then that of all changes, and remarks."""
    from ..whatif import changes_grid, effects_grid

    for answer in comparison.answers[1:]:
        for kind in PRINTED:
            grid = effects_grid(comparison, answer, kind)
            if len(grid.rows) > 1:
                console.print(grid)
                console.print()
    changes_grid(comparison).show(console, explain)
    for line in said:
        console.print(Text(line, style=WARNING))


def not_modelled_by(sites: Sequence[Site], dispatchers: Sequence[str]) -> dict[str, list[str]]:
    """Return what the dispatchers do not obey of the site as it is and with each change: slurm alone, the others together."""
    from ...simulation.features.site_limits import not_modelled
    from ...simulation.slurm.calibration import not_obeyed
    from ..whatif import SLURM

    by: dict[str, list[str]] = {}
    if SLURM in dispatchers:
        by[SLURM] = list(dict.fromkeys(name for site in sites for name in (*site.not_modelled, *not_obeyed(site))))
    others = [name for name in dispatchers if name != SLURM]
    if others:
        by[", ".join(others)] = list(dict.fromkeys(name for site in sites for name in not_modelled(site)))
    return by


def _limits_changed(site: Site, changed: Site, by_slurm: bool) -> list[str]:
    """Return the limits that a change gives another value, and that slurm, or else the other dispatchers, does not obey."""
    from ...simulation.features.site_limits import OBEYED
    from ...simulation.slurm.calibration import UNOBEYED_LIMITS

    def given(of: Site) -> dict[str, object]:
        owners = [*((f"QOS {q.name}", q.limits) for q in of.qos), *((a.label, a.limits) for a in of.associations)]
        return {
            f"{name} of {label}": value
            for label, limits in owners
            for name, value in limits.given()
            if (name in UNOBEYED_LIMITS if by_slurm else name not in OBEYED)
        }

    before, after = given(site), given(changed)
    return [name for name in {**before, **after} if before.get(name) != after.get(name) and name in before]


def check_obeyed(site: Site, variant: Variant, dispatchers: Sequence[str]) -> None:
    """Raise WrongUse for a change that a dispatcher does not obey: its answer would be that nothing changes."""
    from ..whatif import SLURM

    states = {node.name: node.state for node in site.nodes}
    changed = [n.name for n in variant.site.nodes if n.state != states.get(n.name, n.state) and n.state != "future"]
    if changed:
        raise WrongUse(
            f"--change {variant.change!r}: a replay does not obey the states of nodes ({', '.join(changed[:5])}), which are those "
            'of the time when the site was described; State = FUTURE takes nodes away, and so does "nodes.PARTITION - 2"'
        )
    before = not_modelled_by([site], dispatchers)
    for who, names in not_modelled_by([variant.site], dispatchers).items():
        added = [name for name in names if name not in before[who]]
        added += [name for name in _limits_changed(site, variant.site, who == SLURM) if name not in added]
        if added:
            advice = ""
            if who == SLURM:
                advice = "; slurm:bf_interval=30 (slurm with any option) is replayed as by bench simulate, which may"
            raise WrongUse(f"--change {variant.change!r}: dispatcher {who} does not obey {', '.join(added)}{advice}")


def remarks(comparison: VariantComparison, not_modelled: Mapping[str, Sequence[str]]) -> list[str]:
    """Return what a reader must know beside the tables; ``not_modelled``: dispatchers -> what they do not obey."""
    lines = []
    for answer in comparison.answers[1:]:
        never = comparison.never_started(answer)
        if never:
            shown = ", ".join(never[:SHOWN]) + (", ..." if len(never) > SHOWN else "")
            lines.append(
                f"{comparison.title(answer)}: {how_many(len(never), 'job', ',')} never start{'s' * (len(never) == 1)} any more: {shown}"
            )
    if comparison.left_out:
        lines.append(f"{how_many(comparison.left_out, 'job', ',')} that did not start in every replay are left out")
    for who, names in not_modelled.items():
        if names:
            lines.append(f"not modelled{'' if len(not_modelled) == 1 else f' ({who})'}: {', '.join(names)}")
    return lines


def write_csv(comparison: VariantComparison, path: Path, notes: Console) -> None:
    """Write a row for each replay and group of jobs."""
    from dataclasses import asdict, fields

    from ..whatif import Effect, effects

    heads = ["by", *(field.name for field in fields(Effect)), "verdict"]
    rows = [
        [kind or "all", *asdict(effect).values(), effect.verdict]
        for answer in comparison.answers[1:]
        for kind in ("", *KINDS)
        for effect in effects(comparison, answer, kind)
    ]
    with writing(path, "--csv"):
        write_whole(path, to_csv(heads, rows))
    notes.print(f"{path}: {how_many(len(rows), 'row')}", soft_wrap=True)


def write_page(comparison: VariantComparison, said: Sequence[str], path: Path, title: str) -> None:
    """Write the answers as one HTML page."""
    from ..whatif import changes_grid, effects, effects_grid, sentence

    table = changes_grid(comparison)
    sections = [Section("The answer", lead=table.title, table=table, notes=[table.meaning, *said])]
    for answer in comparison.answers[1:]:
        [effect] = effects(comparison, answer)
        grids = [effects_grid(comparison, answer, kind) for kind in KINDS]
        sections.append(
            Section(
                effect.title,
                lead=sentence(effect, comparison.unit),
                grids=[grid for grid in grids if len(grid.rows) > 1],
            )
        )
    with writing(path, "--page"):
        html = [section.html() for section in sections]
        write_whole(path, rendered("plot.html", title=title, what="what if", sections=html))
