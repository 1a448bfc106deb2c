"""``bench whatif``: what a change of a site would have done to the waits of a log.

The log is replayed on the site as it is and with changes, each replay is kept, and they are compared.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.text import Text

from ... import __version__
from ...instances.files.reading import read_text
from ...instances.files.writing import to_csv, write_whole
from ...instances.log_preparation import cancellations
from ...instances.sites import site_text
from ...instances.sites.changes import parse_change, with_changes
from ...instances.sites.slurm_conf import DEFAULT_INTERVAL, LONGEST_INTERVAL, whole
from ...instances.workload import Workload
from ...models.array_types import Bools, Floats, Ints
from ...models.node_states import NodeEvent
from ...models.server_events import ServerEvent
from ...models.site import SchedulerSettings, Site
from ...models.words import how_many
from ..errors import WrongUse, check_file, writing
from ..grid import WARNING, Column, Grid, short, signed
from ..pages import Section, write_page
from ..replays.settings import RESULTS, RUNS, SETTINGS, ReplaySettings, read_settings
from ..runs.progress import step_bar
from ..runs.supervision import resume_command
from ..statistics.comparison import Blocks
from ..terminal import console_for
from .options import check_folders, with_options

if TYPE_CHECKING:
    from ...simulation.slurm.jobs import SlurmJob


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
    from ...instances.files.reading import content_of
    from ...simulation.dispatchers.registry import check_dispatcher
    from ..replays.case import log_on_site, required_site
    from ..tables.inputs import print_report

    check_folders({"--page": page, "--csv": csv})
    names = list(dict.fromkeys(name.strip() for name in dispatchers.split(",") if name.strip()))
    if not names:
        raise WrongUse("--dispatchers: expected at least one dispatcher, such as slurm")
    for name in names:
        if name != SLURM:
            check_dispatcher(name)
    folder = out or Path("results") / "whatif"
    if folder.exists() and not folder.is_dir():
        raise WrongUse(f"--out {folder}: cannot be written (it is a file); choose another folder")
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
    question = Question(workload, content_of(log), folder, replays, seed)
    notes = console_for(stderr=True)
    notes.print(f"{workload.name}: {how_many(len(workload), 'job', ',')}", soft_wrap=True)
    print_report(notes, workload)
    answers: list[VariantReplay] = []
    pairs = [(variant, name) for name in names for variant in asked]
    try:
        with step_bar(notes) as bar:
            task = bar.add_task("replays", total=sum(len(question.seeds(name)) for _, name in pairs))
            for variant, name in pairs:
                bar.update(task, description=f"{name}, {variant.change or 'as it is'}")
                answers.append(question.answer(variant, name, lambda: bar.advance(task)))
    except KeyboardInterrupt:
        notes.print(f"\nstopped; the replays so far are kept. To continue: {resume_command()}", soft_wrap=True)
        raise typer.Exit(130) from None
    comparison = VariantComparison(answers, job_groups(workload))
    said = [*rounded_numbers(described, change)]
    said += without_effect(described, asked[1 : 1 + len(change)], names)
    said += remarks(comparison, not_modelled_by([variant.site for variant in asked], names))
    if SLURM in names and replays < ENOUGH_REPLAYS:
        said.append(
            f"{how_many(replays, 'replay')}: the intervals hardly contain the chaos of replays; expected 8 or more"
        )
    print_tables(comparison, said, console_for(), explain)
    if csv is not None:
        write_csv(comparison, csv, notes)
    if page is not None:
        write_answers(comparison, said, page, f"{workload.name} on {described.name}")
        notes.print(f"{page}: {how_many(len(asked) - 1, 'question')}", soft_wrap=True)


ENOUGH_REPLAYS = 4
SHOWN = 5  # jobs that are named
KINDS = ("partition", "account", "user")
PRINTED = ("partition", "account")  # on the terminal; page and CSV have users, too


def rounded_numbers(site: Site, changes: Sequence[str]) -> Iterator[str]:
    """Yield what a reader must know of numbers that are taken as others: nodes that are no whole ones, intervals of backfilling.

    Examples
    --------
    >>> from schedlab.models.site import Partition, SiteNode
    >>> site = Site("s", [SiteNode(f"n{k}", 4) for k in range(3)], [Partition("p", ("n0", "n1", "n2"))])
    >>> list(rounded_numbers(site, ["nodes.p * 1.5", "nodes.p * 2"]))
    ['nodes.p * 1.5: 4.5 nodes, taken as 4']
    """
    for change in map(parse_change, changes):
        if change.subject == "nodes" and change.sign == "*=":
            exact = len(site.partition(change.name).nodes) * float(change.value)
            if not exact.is_integer():
                yield f"{change.text}: {exact:g} nodes, taken as {round(exact)}"
        if change.field.replace("_", "").lower() == "bfinterval" and change.sign == "=" and change.value != "-1":
            asked = whole(change.value)
            if not 1 <= asked <= LONGEST_INTERVAL:
                yield (
                    f"{change.text}: Slurm takes its default of {DEFAULT_INTERVAL} s for what is not within 1 to "
                    f"{LONGEST_INTERVAL:,} s; -1: no backfilling"
                )


PRIORITIES = (  # settings of the multifactor priority beside its weights
    "max_age", "decay_half_life", "calc_period", "usage_reset_period", "favor_small", "priority_flags", "fair_share_dampening",
)  # fmt: skip
OF_ORDER = (  # settings that the dispatcher slurm alone obeys, beside those of weights and of backfilling
    "default_queue_depth", "partition_job_depth", "sched_interval", "sched_min_interval", "sched_max_job_start", "batch_sched_delay",
    "defer", "assoc_limit_stop", "max_age", "favor_small", "priority_flags", "fair_share_dampening", "pack_serial_at_end",
)  # fmt: skip
WEIGHTED = {  # what a weight is for -> the setting with the weight, and Slurm's name of it
    "priorities of QOS": ("weight_qos", "PriorityWeightQOS"),
    "factors of partitions": ("weight_partition", "PriorityWeightPartition"),
    "shares": ("weight_fairshare", "PriorityWeightFairshare"),
    "the greatest age": ("weight_age", "PriorityWeightAge"),
}


def without_effect(site: Site, changes: Sequence[Variant], dispatchers: Sequence[str]) -> Iterator[str]:
    """Yield a note for each change of settings that the site, or a dispatcher, does not use: its answer is that nothing changes.

    Examples
    --------
    >>> from schedlab.models.site import SchedulerSettings
    >>> before, after = (Site("s", scheduler=SchedulerSettings(priority_type="basic", weight_age=n)) for n in (0, 10))
    >>> list(without_effect(before, [Variant("scheduler.PriorityWeightAge = 10", after)], ["slurm"]))
    ['scheduler.PriorityWeightAge = 10: without effect, as the site has PriorityType=priority/basic, which has no weights']
    """
    orders = [name for name in dispatchers if name.partition(":")[0] != SLURM]
    for variant in changes:
        changed = _settings_changed(site, variant.site)
        why = _unused(changed, variant.site)
        if why:
            yield f"{variant.change}: without effect, as {why}"
        elif changed and orders and _is_of_order(changed, site, variant.site):
            yield f"{variant.change}: without effect under {', '.join(orders)}, with an order of its own: slurm alone obeys it"


def _settings_changed(site: Site, changed: Site) -> dict[str, str]:
    """Return what a change of settings and priorities changes, with what each of them is for, empty for settings of the scheduler."""
    old, new = site.scheduler, changed.scheduler
    names: dict[str, str] = {}
    if isinstance(old, SchedulerSettings) and isinstance(new, SchedulerSettings):
        names |= {
            f.name: "the greatest age" if f.name == "max_age" else ""
            for f in fields(old)
            if getattr(old, f.name) != getattr(new, f.name)
        }
    listed = (
        ("priorities of QOS", [q.priority for q in site.qos], [q.priority for q in changed.qos]),
        ("factors of partitions", [p.job_factor for p in site.partitions], [p.job_factor for p in changed.partitions]),
        ("shares", [a.shares for a in site.associations], [a.shares for a in changed.associations]),
    )
    return names | {what: what for what, before, after in listed if before != after}


def _unused(changed: Mapping[str, str], site: Site) -> str:
    """Return why a site of Slurm uses nothing of what a change changes; empty if it uses a part of it, or nothing is changed."""
    settings = site.scheduler
    if not isinstance(settings, SchedulerSettings) or not changed:
        return ""
    reasons = []
    for name, what in changed.items():
        ranks = bool(what) or name in PRIORITIES or name.startswith("weight_")
        weight, spelled = WEIGHTED.get(what, ("", ""))
        if ranks and settings.priority_type == "basic":
            reasons.append("the site has PriorityType=priority/basic, which has no weights")
        elif weight and not getattr(settings, weight):
            reasons.append(f"{spelled} of the site is 0")
        elif name.startswith("bf_") and settings.scheduler_type == "builtin":
            reasons.append("the site has SchedulerType=sched/builtin, which does not backfill")
        elif name.startswith("preempt_") and settings.preempt_type == "none":
            reasons.append("the site has PreemptType=preempt/none")
        else:
            return ""
    return ", and ".join(dict.fromkeys(reasons))


def _is_of_order(changed: Mapping[str, str], site: Site, after: Site) -> bool:
    """Return whether a change is one of the order of jobs and of the passes of Slurm alone, not of limits, nodes and the like."""
    settings = [name for name, what in changed.items() if name not in WEIGHTED and what in ("", "the greatest age")]
    if not all(name in OF_ORDER or name.startswith(("bf_", "weight_")) for name in settings):
        return False
    plain = replace(
        after,
        scheduler=site.scheduler,
        qos=[replace(q, priority=old.priority) for q, old in zip(after.qos, site.qos, strict=False)],
        partitions=[
            replace(p, job_factor=old.job_factor) for p, old in zip(after.partitions, site.partitions, strict=False)
        ],
        associations=[
            replace(a, shares=old.shares) for a, old in zip(after.associations, site.associations, strict=False)
        ],
    )
    return plain == site and "decay_half_life" not in changed  # by which past usage decays, also in limits


def print_tables(comparison: VariantComparison, said: Sequence[str], console: Console, explain: bool) -> None:
    """Print the tables of the groups of each change, then that of all changes, and remarks."""
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
    first = comparison.answers[0]
    replays = len(first.wait)
    for answer in comparison.answers[1:]:
        title = comparison.title(answer)
        lost = comparison.lost_starts(answer)
        always = [job for job, times in lost.items() if times == replays]
        sometimes = [f"{job} ({times})" for job, times in lost.items() if times < replays]
        if always:
            jobs = how_many(len(always), "job", ",", verb="start")
            if replays == 1:
                jobs = how_many(len(always), "job", ",")
                where = f"without a start in its one replay, with one in that of the site {comparison.title(first)}, which may be chance"
            else:
                where = f"in none of its replays, but in all of those of the site {comparison.title(first)}"
            lines.append(f"{title}: {jobs} {where}: {_some(always)}")
        if sometimes:
            jobs = how_many(len(sometimes), "job", ",", verb="start")
            lines.append(
                f"{title}: {jobs} in none of its replays, but in some of the {replays} of the site {comparison.title(first)} (in how many), "
                f"which may be chance: {_some(sometimes)}"
            )
    if comparison.left_out:
        lines.append(
            f"{how_many(comparison.left_out, 'job', ',')} that did not start in every replay, to its end or until they were cancelled, are left out"
        )
    for who, names in not_modelled.items():
        if names:
            lines.append(f"not modelled{'' if len(not_modelled) == 1 else f' ({who})'}: {', '.join(names)}")
    return lines


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")


def write_csv(comparison: VariantComparison, path: Path, notes: Console) -> None:
    """Write a row for each replay and group of jobs."""
    from dataclasses import asdict

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


def write_answers(comparison: VariantComparison, said: Sequence[str], path: Path, title: str) -> None:
    """Write the answers as one HTML page."""
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
    write_page(path, title, "what if", sections)


# --- The replays of a log on a site as it is and with changes; each is kept.


SLURM = "slurm"
TOGETHER = "all together"
HEADS = ("job", "submit", "took", "wait")


@dataclass(frozen=True)
class Variant:
    """A site with changes; ``change``: their text, empty for the site as it is."""

    change: str
    site: Site


def variants(site: Site, changes: Sequence[str]) -> list[Variant]:
    """Return the site as it is, with each change alone, and with all of them if there are several. Raises WrongChange."""
    alone = [Variant(change, with_changes(site, [change])) for change in changes]
    several = []
    if len(changes) > 1:
        several = [Variant(TOGETHER, with_changes(site, changes))]
    return [Variant("", site), *alone, *several]


@dataclass(frozen=True, eq=False)
class VariantReplay:
    """The replay of a log on a site under a dispatcher.

    Parameters
    ----------
    change : str
        The change of the site; "" for the site as it is.
    dispatcher : str
        Its name.
    ids : sequence of str
        The jobs.
    submit, took : ndarray of int64, shape (jobs,)
        Submit times and durations in s.
    wait : ndarray of int64, shape (replays, jobs)
        The waits in s, before all attempts, in each of several replays, which differ in what no log records; -1: the job
        never started.
    """

    change: str
    dispatcher: str
    ids: Sequence[str]
    submit: Ints
    took: Ints
    wait: Ints

    @property
    def started(self) -> Bools:
        """Which jobs started in all its replays; shape (jobs,)."""
        return np.asarray((self.wait >= 0).all(axis=0), np.bool_)


@dataclass(frozen=True)
class Question:
    """A log, and how it is replayed.

    Parameters
    ----------
    log : Workload
        The jobs, with those that were cancelled in the queue.
    content : str
        A hash of the file.
    folder : Path
        Where the replays are kept.
    replays : int
        Replays by the rules of Slurm, which differ in what no log records; a job's wait is the mean over them.
    seed : int
        The seed of the first one.
    begins : dict of str to int or None
        Change -> Unix time of a CalcPeriod of the priorities, for the changes that were replayed.
    """

    log: Workload
    content: str
    folder: Path
    replays: int
    seed: int
    begins: dict[str, int | None] = field(default_factory=dict)

    def answer(self, variant: Variant, dispatcher: str, on_step: Callable[[], None]) -> VariantReplay:
        """Return the replays of a variant, those that are kept from their files; ``on_step`` is called after each of them."""
        replayed = []
        for seed in self.seeds(dispatcher):
            replayed.append(self._kept(variant, dispatcher, seed))
            on_step()
        return replace(replayed[0], wait=np.concatenate([each.wait for each in replayed]))

    def seeds(self, dispatcher: str) -> range:
        """Return the seeds of the replays under a dispatcher."""
        return range(self.seed, self.seed + (self.replays if dispatcher == SLURM else 1))

    def file(self, variant: Variant, dispatcher: str, seed: int) -> Path:
        """Return the file of a replay; its name has a hash of all that determines it."""
        parts = (__version__, *HEADS, self.content, site_text(variant.site), dispatcher, seed)
        key = hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:12]
        return self.folder / f"{dispatcher.replace(':', '_').replace('/', '_')}.{seed}.{key}.csv"

    def _kept(self, variant: Variant, dispatcher: str, seed: int) -> VariantReplay:
        """Return a replay from its file; if there is none, it is made and written."""
        path = self.file(variant, dispatcher, seed)
        if path.exists():
            return _read(path, variant.change, dispatcher)
        if dispatcher == SLURM:
            made = self._by_slurm(variant, seed)
        else:
            made = self._simulated(variant, dispatcher, seed)
        columns = [made.submit.tolist(), made.took.tolist(), made.wait[0].tolist()]
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(path, to_csv(HEADS, list(zip(made.ids, *columns, strict=True))))
        return made

    def _by_slurm(self, variant: Variant, seed: int) -> VariantReplay:
        """Return a replay by the rules of Slurm."""
        from ...simulation.slurm.calibration import priority_begin  # numba: half of the start of the command line
        from ...simulation.slurm.jobs import slurm_jobs
        from ...simulation.slurm.replay import free_replay

        jobs = slurm_jobs(self.log)
        if variant.change not in self.begins:
            self.begins[variant.change] = priority_begin(jobs, variant.site)
        begin = self.begins[variant.change]
        waits = free_replay(self.log, variant.site, seed=seed, begin=begin).waits(jobs)
        waited = np.where(np.isnan(waits), -1, np.rint(waits)).astype(np.int64)
        submit = np.array([job.submit for job in jobs], np.int64)
        took = np.array([_took(job) for job in jobs], np.int64)
        return VariantReplay(variant.change, SLURM, [job.id for job in jobs], submit, took, waited[None, :])

    def _simulated(self, variant: Variant, dispatcher: str, seed: int) -> VariantReplay:
        """Return the replay under a dispatcher of ``simulate``."""
        from ...simulation.features.site_limits import node_events_of
        from ...simulation.simulator import simulate  # numba: half of the start of the command line

        of_nodes = node_events_of(variant.site, self.log, variant.site.platform())
        events: list[NodeEvent | ServerEvent] = [*of_nodes, *cancellations(self.log)]
        run = simulate(self.log, dispatcher=dispatcher, site=variant.site, seed=seed, events=events)
        took = np.where(run.start < 0, 0, run.end - run.start)
        waited = np.where(run.start < 0, -1, run.wait)
        return VariantReplay(variant.change, dispatcher, run.workload.ids, run.workload.submit, took, waited[None, :])


def _took(job: SlurmJob) -> int:
    """Return the seconds that a job ran, as recorded; its time limit if it never did."""
    if not job.attempts:
        return job.limit or 0
    return job.attempts[-1].end - job.attempts[-1].start


def _read(path: Path, change: str, dispatcher: str) -> VariantReplay:
    """Return a replay that was kept. Raises WrongUse."""
    head, *lines = csv.reader(read_text(path).splitlines()) or [[]]
    if tuple(head) != HEADS:
        raise WrongUse(f"{path}: its first line is not that of a replay; delete it, and run again")
    try:
        columns = [np.array([int(line[k]) for line in lines], np.int64) for k in range(1, len(head))]
    except (ValueError, IndexError) as e:
        raise WrongUse(f"{path}: it is damaged ({e}); delete it, and run again") from e
    submit, took, waited = columns
    return VariantReplay(change, dispatcher, [line[0] for line in lines], submit, took, waited[None, :])


def job_groups(log: Workload) -> dict[str, dict[str, str]]:
    """Return the partition, the account and the user of each job, by the name of what they are."""
    from ...simulation.slurm.jobs import slurm_jobs

    jobs = slurm_jobs(log)
    return {
        "partition": {job.id: ",".join(job.request.partitions) for job in jobs},
        "account": {job.id: job.request.account for job in jobs},
        "user": {job.id: job.user for job in jobs},
    }


# --- What a change of a site would have done to a log: differences per group of jobs, job by job, with intervals.

UNITS = (("s", 1.0), ("min", 60.0), ("h", 3600.0))
LARGE = 600.0  # of a unit, from which on the next one is taken
LARGEST = 10  # groups of one kind that have a row
ALL = "all jobs"
P95 = 0.95
FLOOR = 10.0  # s, the least duration in the bounded slowdown


@dataclass(frozen=True, eq=False)
class VariantComparison:
    """The replays of the same jobs, those that started in all of them.

    Parameters
    ----------
    answers : sequence of VariantReplay
        The replays; the first one is what the others are compared with.
    groups : mapping of str to mapping of str to str
        Kind of group, such as ``partition`` -> job -> name of its group; a job that is missing has none.
    """

    answers: Sequence[VariantReplay]
    groups: Mapping[str, Mapping[str, str]]

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The jobs that started in all replays, in the order of the first one."""
        started = [{a.ids[k] for k in np.flatnonzero(a.started).tolist()} for a in self.answers]
        common = set.intersection(*started)
        return tuple(job for job in self.answers[0].ids if job in common)

    @property
    def left_out(self) -> int:
        """How many jobs started in some of the replays, and not in all."""
        some = {a.ids[k] for a in self.answers for k in np.flatnonzero((a.wait >= 0).any(axis=0)).tolist()}
        return len(some) - len(self.ids)

    def lost_starts(self, answer: VariantReplay) -> dict[str, int]:
        """Return the jobs that start in no replay of this answer, and in how many of the first answer they do.

        Jobs that start in none of these either are no loss.
        """
        first = self.answers[0]
        started = {answer.ids[k] for k in np.flatnonzero((answer.wait >= 0).any(axis=0)).tolist()}
        times = zip(first.ids, (first.wait >= 0).sum(axis=0).tolist(), strict=True)
        return {job: count for job, count in times if count and job not in started}

    def title(self, answer: VariantReplay) -> str:
        """Return the name of a replay in tables; the dispatcher is told if there are several."""
        change = answer.change or "as it is"
        several = len({a.dispatcher for a in self.answers}) > 1
        if several:
            return f"{change}, {answer.dispatcher}"
        return change

    @cached_property
    def submit(self) -> Ints:
        """The submit times of the jobs in s."""
        return self._column(self.answers[0], self.answers[0].submit)

    @cached_property
    def blocks(self) -> Blocks:
        """The resamples of the log, the same for all replays."""
        return Blocks.of(self.submit)

    def _column(self, answer: VariantReplay, values: Ints) -> Ints:
        row = {job: k for k, job in enumerate(answer.ids)}
        return values[..., np.array([row[job] for job in self.ids], np.int64)]

    def wait(self, answer: VariantReplay) -> Floats:
        """Return the waits of the jobs in s, shape (replays, jobs)."""
        return self._column(answer, answer.wait).astype(np.float64)

    def slowdown(self, answer: VariantReplay) -> Floats:
        """Return the bounded slowdowns of the jobs, shape (replays, jobs)."""
        took = self._column(answer, answer.took)
        return np.maximum(1.0, (self.wait(answer) + took) / np.maximum(took, FLOOR))

    @cached_property
    def unit(self) -> tuple[str, float]:
        """The unit of waits in tables, and its seconds."""
        mean = max(float(self.wait(a).mean()) if self.ids else 0.0 for a in self.answers)
        return next((pair for pair in UNITS if mean < LARGE * pair[1]), UNITS[-1])

    def masks(self, kind: str) -> dict[str, Bools]:
        """Return the largest groups of a kind: name -> mask of its jobs."""
        names = np.array([self.groups[kind].get(job, "") for job in self.ids])
        known, counts = np.unique(names[names != ""], return_counts=True)
        order = np.lexsort((known, -counts))[:LARGEST]
        return {str(known[k]): names == known[k] for k in order.tolist()}


@dataclass(frozen=True)
class Effect:
    """What a change does to the waits of a group of jobs.

    Parameters
    ----------
    title : str
        The replay.
    group : str
        The group.
    jobs : int
        Their number.
    before, after : float
        Mean wait in s, in the first replay and in this one.
    p95_before, p95_after : float
        95th percentiles of the wait in s.
    slowdown : float
        Mean bounded slowdown in this one.
    difference : float
        ``after - before``.
    low, high : float
        Its 95 % interval in s, over resamples of blocks of days and of replays.
    """

    title: str
    group: str
    jobs: int
    before: float
    after: float
    p95_before: float
    p95_after: float
    slowdown: float
    difference: float
    low: float
    high: float

    @property
    def relative(self) -> float | None:
        """The difference as a share of the wait before; None if nothing waited."""
        if self.before:
            return self.difference / self.before
        return None

    @property
    def verdict(self) -> str:
        """``shorter``, ``longer``, ``equal``, or ``open`` if the interval contains 0."""
        if self.low == self.high == 0:
            return "equal"
        if self.high < 0:
            return "shorter"
        if self.low > 0:
            return "longer"
        return "open"


def sentence(effect: Effect, unit: tuple[str, float]) -> str:
    """Return an effect in words.

    >>> effect = Effect("more nodes", "all jobs", 100, 7200, 5400, 9e4, 8e4, 4.0, -1800, -2520, -1080)
    >>> sentence(effect, ("h", 3600.0))
    'The mean wait of the same 100 jobs falls from 2.00 to 1.50 h (-25.00%); the interval of the difference is -0.70 to -0.30 h.'
    """
    name, seconds = unit
    how = "rises"
    if effect.difference < 0:
        how = "falls"
    if effect.verdict == "equal":
        how = "stays"
    waits = f"{short(effect.before / seconds)} to {short(effect.after / seconds)} {name}"
    text = f"The mean wait of the same {effect.jobs:,} jobs {how} from {waits}"
    if effect.relative is not None:
        text += f" ({signed(effect.relative)})"
    if np.isnan(effect.low):
        return f"{text}."
    text += f"; the interval of the difference is {effect.low / seconds:+.2f} to {effect.high / seconds:+.2f} {name}"
    if effect.verdict == "open":
        return f"{text}, so that its sign is open."
    return f"{text}."


def effects(comparison: VariantComparison, answer: VariantReplay, kind: str = "") -> list[Effect]:
    """Return the effects on the groups of a kind, the largest first; without a kind, on all jobs.

    Examples
    --------
    >>> submit = np.arange(0, 40 * 86_400, 7_200)
    >>> ids = [str(k) for k in range(submit.size)]
    >>> def waiting(change, wait):
    ...     return VariantReplay(change, "easy", ids, submit, 0 * submit + 60, 0 * submit[None, :] + wait)
    >>> one, other = waiting("", 7200), waiting("x", 3600)
    >>> [effect] = effects(VariantComparison([one, other], {}), other)
    >>> effect.before, effect.after, effect.low, effect.verdict
    (7200.0, 3600.0, -3600.0, 'shorter')
    """
    before = comparison.wait(comparison.answers[0])
    after = comparison.wait(answer)
    slowdown = comparison.slowdown(answer)
    if kind:
        masks = comparison.masks(kind)
    else:
        masks = {ALL: np.ones(len(comparison.ids), np.bool_)}
    listed = []
    for group, mask in masks.items():
        if not mask.any():
            continue
        submit = comparison.submit[mask]
        own_before = before[:, mask]
        own_after = after[:, mask]
        drawn = _drawn_means(comparison.blocks, submit, own_after, 1) - _drawn_means(
            comparison.blocks, submit, own_before, 2
        )
        low, high = Blocks.interval(drawn)
        listed.append(
            Effect(
                title=comparison.title(answer),
                group=group,
                jobs=int(mask.sum()),
                before=float(own_before.mean()),
                after=float(own_after.mean()),
                p95_before=float(np.quantile(own_before.mean(axis=0), P95)),
                p95_after=float(np.quantile(own_after.mean(axis=0), P95)),
                slowdown=float(slowdown[:, mask].mean()),
                difference=float(own_after.mean() - own_before.mean()),
                low=low,
                high=high,
            )
        )
    return listed


def _drawn_means(blocks: Blocks, submit: Ints, waits: Floats, seed: int) -> Floats:
    """Return the mean wait in each resample: of blocks of days, and of as many replays as there are, drawn among them."""
    each = np.array([blocks.means(submit, wait) for wait in waits])  # replays x resamples
    replays, resamples = each.shape
    drawn = np.random.default_rng(seed).integers(replays, size=(replays, resamples))
    return np.asarray(np.take_along_axis(each, drawn, axis=0).mean(axis=0), np.float64)


def changes_grid(comparison: VariantComparison) -> Grid:
    """Return the table of the replays: a row for each, compared with the first one over all jobs."""
    first, *others = comparison.answers
    rows = [effect for answer in others for effect in effects(comparison, answer)]
    title = f"{how_many(len(comparison.ids), 'job', ',')}, compared with: {comparison.title(first)}"
    return Grid.of(title, [Column("change", lambda e: e.title, words=True, least=24), *_columns(comparison)], rows)


def effects_grid(comparison: VariantComparison, answer: VariantReplay, kind: str) -> Grid:
    """Return the table of the effects of a change on the groups of a kind."""
    rows = effects(comparison, answer, kind)
    columns = [Column(kind, lambda e: e.group, words=True), Column("jobs", lambda e: e.jobs, lambda n: f"{n:,}")]
    return Grid.of(f"{comparison.title(answer)}: by {kind}", [*columns, *_columns(comparison)], rows)


def _columns(comparison: VariantComparison) -> list[Column]:
    unit, seconds = comparison.unit

    def of(value: float) -> str:
        return short(value / seconds)

    def plus(value: float) -> str:
        return f"{value / seconds:+,.2f}"

    replays = max(len(answer.wait) for answer in comparison.answers)
    resampled = "resamples of blocks of days"
    if replays > 1:
        resampled += f" and of the {replays} replays"
    return [
        Column(f"wait\nbefore, {unit}", lambda e: e.before, of, "wait: mean time from submission to start"),
        Column(f"wait\nafter, {unit}", lambda e: e.after, of),
        Column(
            f"differ\xad\nence, {unit}", lambda e: e.difference, plus, "difference: after - before, of the same jobs"
        ),
        Column("rela\xad\ntive", lambda e: e.relative, signed, "relative: difference / before"),
        Column(
            f"95 %\ninterval, {unit}",
            lambda e: None if np.isnan(e.low) else f"{plus(e.low)}..{plus(e.high)}",
            meaning=f"interval: of the difference, from 1,000 {resampled} [Kunsch1989]",
            words=True,
        ),
        Column("verdict", lambda e: e.verdict, meaning="open: the interval contains 0", words=True),
        Column(f"p95\nbefore, {unit}", lambda e: e.p95_before, of, "p95: 95th percentile of the wait", spare=2),
        Column(f"p95\nafter, {unit}", lambda e: e.p95_after, of, spare=2),
        Column("slow\xad\ndown", lambda e: e.slowdown, short, "slowdown: mean bounded slowdown after", spare=3),
    ]
