"""The commands about folders of results: ``bench compare``, ``merge``, ``report``, ``statistics``, ``plot``, ``verify``."""

from __future__ import annotations

import os
import shutil
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from ...backends import UnknownName
from ...instances import load
from ...instances.files.writing import sync_folder, whole_file
from ...models.plugins import only_named
from ...models.words import how_many
from ..errors import WrongUse
from ..records.record import failed
from ..records.store import (
    Record,
    faults_of_manifest,
    jobs_file,
    name_of,
    read,
    some_files,
    stem_of,
    write_manifest,
)
from ..runs.selection import key_of, parse_methods
from ..runs.suites import BestKnown, keep_known, keep_new, known_values, new_bests
from ..statistics.comparison import ALPHA
from ..statistics.measures import SHIFT, Goal, records_of
from ..terminal import console_for, say
from .options import Part, with_options

if TYPE_CHECKING:
    from ..statistics.measures import Sample


# --- The options that the commands about results share.

Folder = Annotated[Path, typer.Argument(help="folder of records, such as results/classic")]
Methods = Annotated[list[str] | None, typer.Option(help="only these methods, separated by commas")]
PROBLEMS = "Which problems"
TIMES = "Which times"


@dataclass(frozen=True)
class Chosen:
    """Which problems a comparison is about."""

    instances: Annotated[
        list[str] | None,
        typer.Option(
            help="only these problems: patterns of their names, separated by commas: la*,ta* or jsp/*",
            rich_help_panel=PROBLEMS,
        ),
    ] = None
    subset: Annotated[
        str | None,
        typer.Option(
            help="all: every run has reached the goal; any: some run has; admitted: no run was refused (licence, no solver); 1..60: some run has within 60 s, and the slowest "
            "took at least 1 s",
            rich_help_panel=PROBLEMS,
        ),
    ] = None
    unproven: Annotated[
        bool,
        typer.Option(
            "--unproven", help="only the problems that no run of these methods proved", rich_help_panel=PROBLEMS
        ),
    ] = False

    def part(self, sample: Sample, goal: Goal) -> Sample:
        """Return these problems of a sample. Raises WrongUse if there are none."""
        from ..statistics.measures import matching, subset, unproven

        if self.instances is None:
            chosen = sample
        else:
            chosen = matching(sample, self.instances)
        if self.unproven:
            chosen = unproven(chosen)
        if self.subset is None:
            return chosen
        return subset(chosen, self.subset, goal)


@dataclass(frozen=True)
class Timing:
    """What the times of a comparison count to."""

    target: Annotated[
        float | None,
        typer.Option(
            help="count the seconds to a schedule within this gap to the best known, such as 0.01, not those to the proof",
            rich_help_panel=TIMES,
        ),
    ] = None
    time: Annotated[
        str,
        typer.Option(
            help="total: the whole run; solver: without the seconds in which the model was built and lowered",
            rich_help_panel=TIMES,
        ),
    ] = "total"
    shift: Annotated[
        float,
        typer.Option(min=0.0, help="seconds added to times before their geometric mean", rich_help_panel=TIMES),
    ] = SHIFT
    floor: Annotated[
        float, typer.Option(min=0.0, help="seconds as which shorter times count", rich_help_panel=TIMES)
    ] = 0.0

    def goal(self) -> Goal:
        """Return what the times count to. Raises WrongUse."""
        if self.time not in ("total", "solver"):
            raise WrongUse(f"--time {self.time:.50}: expected total or solver")
        return Goal(self.target, self.time == "solver", self.shift, self.floor)


# --- Reading a folder of records for the commands about results.


def records_with(folder: Path, methods: Sequence[str] | None) -> list[Record]:
    """Return the records of a folder, only those of some methods if these are given. Raises WrongUse, UnknownName."""
    records = records_of(folder)
    if methods is None:
        return records
    chosen = parse_methods(methods)
    known = list(dict.fromkeys(r["method"] for r in records))
    for name in chosen:
        if name not in known:
            raise UnknownName("method", name, known, f" in {folder}")
    return [r for r in records if r["method"] in chosen]


def known_of(folder: Path) -> dict[str, float]:
    """Return the best-known values beside the records."""
    return {name: known.value for name, known in known_values(folder).items()}


def sources_of(folder: Path, records: Sequence[Record]) -> list[str]:
    """Return a line for each source of the best-known values of the instances of some records."""
    run = {r["instance"] for r in records}
    used = Counter(known.source for name, known in known_values(folder).items() if name in run)
    return [
        f"best-known values of {how_many(n, 'instance')}: {source or 'no source given'}" for source, n in used.items()
    ]


# --- ``bench compare``: which differences between methods, or between two folders of records, are real.


@with_options()
def compare(
    results: Folder,
    other: Annotated[
        Path | None, typer.Argument(help="a second folder: methods of the same name are compared with each other")
    ] = None,
    methods: Methods = None,
    alpha: Annotated[
        float, typer.Option(min=1e-6, max=0.5, help="chance of reporting any difference where there is none")
    ] = ALPHA,
    *,
    chosen: Chosen,
    timing: Timing,
    scatter: Annotated[
        Path | None,
        typer.Option(help="SVG file to write: the times of two methods, a point per problem; needs matplotlib"),
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(help="CSV file to write: a row per pair of methods and quantity, with all digits")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="print what each column means")] = False,
) -> None:
    """Print which differences between methods are real.

    Gap, time and primal integral are compared by paired tests over the instances.

    With one folder, all pairs of its methods are compared; with two, the methods of the same name. Each instance counts once,
    with the mean over its seeds. Wilcoxon's signed-rank test, corrected by Holm's method for the number of tests. Runs without
    an answer count against their method: gap and integral 1, the time limit.

    Example: bench compare results/classic --methods cpsat:modes,cpsat:modes+warm

    Example: bench compare results/before results/after
    """
    from ..statistics import measures as samples
    from ..statistics.comparison import compare as compared
    from ..statistics.comparison import two_folders
    from ..tables.methods import show_comparison, write_differences

    goal = timing.goal()
    pairs = None
    if other is None:
        sample = samples.required(samples.sample_of(records_with(results, methods), known_of(results)), results)
        if len(sample.methods) < 2:
            raise WrongUse(f"{results}: expected at least two methods to compare, found only {sample.methods[0]}")
    else:
        if results.resolve() == other.resolve():
            raise WrongUse(f"{other}: expected another folder than the first")
        if results.name != other.name:
            names = (results.name, other.name)
        else:
            names = (str(results), str(other))
        named = () if methods is None else parse_methods(methods)
        known = known_of(other) | known_of(results)
        sample, pairs = two_folders(samples.records_of(results), samples.records_of(other), names, named, known)
    sample = chosen.part(samples.required(sample, results), goal)
    if scatter is not None and len(sample.methods) != 2:
        raise WrongUse(f"--scatter: expected two methods, such as --methods {','.join(sample.methods[:2])}")
    differences = compared(sample, pairs, alpha, goal)
    show_comparison(console_for(), sample, differences, alpha, explain)
    if csv is not None:
        write_differences(csv, differences, len(sample.problems), alpha)
        say(f"{csv}: {how_many(len(differences), 'difference')}")
    if scatter is not None:
        from ..pages.figures import write_scatter

        one, two = sample.methods
        write_scatter(scatter, sample, (one, two), goal)
        say(f"{scatter}: the times of {one} and {two}")


# --- ``bench merge``: folders of records of several machines as one folder.

SHOWN = 20  # runs that are present several times and listed


def merge(
    results: Annotated[list[Path], typer.Argument(help="folders of records, such as results/classic")],
    out: Annotated[Path, typer.Option(help="new folder")],
) -> None:
    """Merge folders of records of several machines.

    The records are copied into a new folder with a manifest. Of a run that is present several times one record is kept: one that did not fail before one that failed, then the one that
    started first. Folders are refused if the same instance has other files, or if versions of schedlab or of a solver differ. A damaged
    record is named with its reason; then nothing is written, and the exit code is 1. manifest.json has the SHA-256 and the size of each
    file; bench verify checks them.

    Example: bench merge machine1/classic machine2/classic --out results/classic
    """
    if len({folder.resolve() for folder in results}) < len(results):
        raise WrongUse("a folder is given twice")
    folders, faults = read_folders(results)
    for path, fault in faults:
        say(f"{path}: {fault}")
    if faults:
        say(f"{how_many(len({path for path, _ in faults}), 'file')} with faults; nothing was written")
        raise typer.Exit(1)
    made = merge_records(results, folders, out)
    for run in made.twice[:SHOWN]:
        r = run.kept.record
        say(
            f"{r['instance']}, {r['method']}, seed {r['seed']}: kept {run.kept.path}, not {', '.join(map(str, run.others))}"
        )
    more = ""
    if len(made.twice) > SHOWN:
        more = f" ({len(made.twice) - SHOWN:,} more)"
    twice = ""
    if made.twice:
        twice = f", {how_many(len(made.twice), 'run', ',')} present several times{more}"
    say(f"{out}: {how_many(made.records, 'record', ',')} of {how_many(len(results), 'folder')}{twice}")


class FoundRecord(NamedTuple):
    """A record and the file that it is from."""

    path: Path
    record: Record


class Twice(NamedTuple):
    """A run with several records: the one that is kept, and the files of the others."""

    kept: FoundRecord
    others: Sequence[Path]


class Merged(NamedTuple):
    """What was merged: the number of records, and the runs that were present several times."""

    records: int
    twice: Sequence[Twice]


def read_folders(folders: Sequence[Path]) -> tuple[list[FoundRecord], list[tuple[Path, str]]]:
    """Return the records of some folders, and pairs of a file and a fault. Raises WrongUse if a folder has no records.

    A fault is a damaged record, a key that does not fit its record, or what contradicts the manifest of its folder. Schedules are not
    checked against their instances: ``bench verify`` does that.
    """
    from ..records.verify import OTHER_KEY, faults_of_form  # the kinds of problems

    records = []
    faults = []
    for folder in folders:
        for path in some_files(folder):
            try:
                record = read(path)
                wrong = []
                if key_of(record) != record["key"]:
                    wrong = [OTHER_KEY]
                wrong += faults_of_form(record)
                if record.get("jobs_csv") is not None:
                    jobs_file(folder, record)
            except ValueError as e:
                wrong = [str(e).removeprefix(f"{path}: ")]
            else:
                records.append(FoundRecord(path, record))
            faults += [(path, fault) for fault in wrong]
        faults += [(folder / name, fault) for name, fault in faults_of_manifest(folder)]
    return records, faults


def merge_records(folders: Sequence[Path], found: Sequence[FoundRecord], out: Path) -> Merged:
    """Write records into a new folder with a manifest, with the files and best-known values beside them.

    Records are of the same run if they have the same key: instance, method, seed, limits and versions. One of them is kept:
    one that did not fail before one that failed, then the one that started first; its objective plays no role, which would make
    results better that were computed twice.

    Parameters
    ----------
    folders
        The folders.
    found
        Their records.
    out
        The new folder. It is made beside its final name, so that it is there completely or not at all.

    Raises
    ------
    WrongUse
        The folder exists and is not empty, or cannot be written; or the records cannot be compared: the same instance with other
        content, other versions of schedlab, of a solver or of a third party's method, other best-known values.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise WrongUse(f"--out {out}: expected a new folder or an empty one")
    _refuse_mixtures(found)
    known = _known(folders)
    runs: dict[str, list[FoundRecord]] = {}
    for each in found:
        runs.setdefault(each.record["key"], []).append(each)
    twice = []
    for same in runs.values():
        same.sort(key=lambda f: (failed(f.record), str(f.record["started"])))
        if len(same) > 1:
            twice.append(Twice(same[0], [f.path for f in same[1:]]))
    kept = [same[0] for same in runs.values()]
    made = out.parent / f".{out.name}.{os.getpid()}.tmp"
    try:
        made.mkdir(parents=True)
        names = {folder: sorted(os.listdir(folder)) for folder in {f.path.parent for f in kept}}
        for path, record in kept:
            _copy(path, made / name_of(record))
            for name in _beside(names[path.parent], stem_of(record)):
                if name != path.name and not name.endswith(".json"):
                    _copy(path.parent / name, made / name)
        keep_known(made, known)
        keep_new(made, new_bests([f.record for f in kept], known))
        write_manifest(made)
        if out.exists():
            out.rmdir()
        made.rename(out)
        sync_folder(out.parent)
    except OSError as e:
        raise WrongUse(f"--out {out}: cannot be written ({e.strerror})") from e
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return Merged(len(kept), twice)


def _copy(source: Path, target: Path) -> None:
    with whole_file(target, "wb", durable=False) as f:
        f.write(source.read_bytes())


def _beside(names: Sequence[str], stem: str) -> Iterator[str]:
    """Yield the names in a sorted list that begin with the name of a record."""
    for name in names[bisect_left(names, f"{stem}.") :]:
        if not name.startswith(f"{stem}."):
            return
        yield name


Fields = Callable[[Record], str]
ALIKE: Mapping[str, tuple[Fields, Fields]] = {  # what is compared: its name, the value that must be equal
    "the files of instance": (lambda r: r["instance"], lambda r: r["content"]),
    "the version of": (lambda r: r["solver"], lambda r: r["version"] or "not installed"),
    "the version of schedlab for the method": (lambda r: r["method"], lambda r: r["schedlab"]),
    "the source of the method": (lambda r: r["method"], lambda r: r.get("source") or "schedlab"),
}


def _refuse_mixtures(found: Sequence[FoundRecord]) -> None:
    """Raise WrongUse if records that share a name were computed from different data or by different programs."""
    for what, (name, value) in ALIKE.items():
        seen: dict[str, FoundRecord] = {}
        for each in found:
            first = seen.setdefault(name(each.record), each)
            if value(first.record) != value(each.record):
                raise WrongUse(
                    f"the folders cannot be merged, since {what} {name(each.record)} differs: {value(first.record)} in {first.path}, "
                    f"{value(each.record)} in {each.path}; run one of them again with the same data and versions"
                )


def _known(folders: Sequence[Path]) -> dict[str, BestKnown]:
    """Return the best-known values of all folders. Raises WrongUse if they contradict each other."""
    values: dict[str, tuple[BestKnown, Path]] = {}
    for folder in folders:
        for name, known in known_values(folder).items():
            first, where = values.setdefault(name, (known, folder))
            if first.value != known.value:
                raise WrongUse(
                    f"the folders cannot be merged, since the best-known value of {name} differs: {first.value:g} in {where}, "
                    f"{known.value:g} in {folder}; make them equal in best_known.csv"
                )
    return {name: known for name, (known, _) in values.items()}


# --- ``bench report``: a folder of records as one HTML page without network.


@with_options()
def report(
    results: Folder,
    out: Annotated[Path | None, typer.Option(help="HTML file to write; default: report.html in the folder")] = None,
    methods: Methods = None,
    *,
    chosen: Chosen,
    timing: Timing,
    latex: Annotated[
        Path | None,
        typer.Option(
            help="folder for LaTeX tables (booktabs), PDF figures, and a CSV file behind each; needs matplotlib"
        ),
    ] = None,
    parquet: Annotated[
        Path | None, typer.Option(help="Parquet file to write: a row per run with its measures; needs pyarrow")
    ] = None,
) -> None:
    """Write a report as one HTML page that needs no network.

    Runs of methods have sortable tables of methods, problems and runs, performance and data profiles, the objective over time on each
    problem with the Gantt chart of its best run; replays have the tables and pictures of bench plot. Then follow the machines and
    versions, and the commands that run everything again. With
    --latex, its tables and profiles are also written for a paper, with --parquet its runs for other programs.

    Example: bench report results/classic --out report.html

    Example: bench report results/classic --latex paper/figures --parquet runs.parquet
    """
    from ..pages.plot import replay_sections
    from ..pages.report import content_of, write_latex, write_report
    from ..tables.methods import write_parquet

    path = out or results / "report.html"
    if path.suffix.lower() not in (".html", ".htm"):
        raise WrongUse(f"--out {path}: the report is a page; expected a name that ends in .html")
    if not path.parent.is_dir():
        raise WrongUse(f"--out {path}: cannot be written (there is no folder {path.parent})")
    records = records_with(results, methods)
    known = known_of(results)
    if parquet is not None:  # first: a missing library ends the command before the page is made
        say(f"{parquet}: {how_many(write_parquet(parquet, records, known), 'run', ',')}")
    goal = timing.goal()
    name = results.resolve().name
    sources = sources_of(results, records)
    content = content_of(records, known, name, None, goal, lambda sample: chosen.part(sample, goal), sources)
    if latex is not None and not content["problems"]:
        raise WrongUse(f"--latex: its tables are about runs of methods, and {results} has none; leave it out")
    replays = [r for r in records if r["replay"] is not None]
    size = write_report(path, content, replay_sections(results, replays))
    counts = [(len(records) - len(replays), "run"), (len(replays), "replay")]
    say(f"{path}: {', '.join(how_many(n, what, ',') for n, what in counts if n)}, {size / 1e6:.2f} MB")
    if latex is not None:
        say(f"{latex}: {how_many(len(write_latex(latex, content)), 'file')}")


# --- ``bench statistics``: statistics of the methods over all instances and seeds of a folder of records.


@with_options()
def statistics(
    results: Folder,
    methods: Methods = None,
    *,
    chosen: Chosen,
    timing: Timing,
    by: Annotated[
        str | None,
        typer.Option(
            help="also a table per group of problems: folder (of the file of the instance), letters (la of la21)",
            rich_help_panel=PROBLEMS,
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="SVG file to write: performance profiles, data profiles, shares over the gap")
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option(help="CSV file to write: a row per run with its measures; with --target also seconds_to_target"),
    ] = None,
    parquet: Annotated[
        Path | None, typer.Option(help="Parquet file to write: a row per run with its measures; needs pyarrow")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="print what each column means")] = False,
) -> None:
    """Print statistics over instances and seeds.

    These are solved and proven runs, times, gaps, primal and dual integrals, wins, and the virtual best method.

    No run disappears in a mean. A run without a verified schedule (failed, missing, not verified) has the gap 1, the primal
    integral 1, and a multiple of the time limit as its time. The formulas are in docs/statistics.md.

    Example: bench statistics results/classic

    Example: bench statistics results/classic --methods cpsat:modes,lns@cpsat --unproven

    Example: bench statistics results/classic --target 0.01 --plot profiles.svg

    Example: bench statistics results/jsp --subset 1.. --time solver --by letters
    """
    from ..statistics import measures as samples
    from ..tables.methods import show_statistics, write_csv, write_parquet

    records = records_with(results, methods)
    known = known_of(results)
    sample = samples.required(samples.sample_of(records, known), results)
    goal = timing.goal()
    sample = chosen.part(sample, goal)
    if chosen != Chosen():
        kept = {problem.name for problem in sample.problems}
        records = [r for r in records if samples.name_of(r) in kept]
    show_statistics(console_for(), sample, goal, by, explain)
    if plot is not None:
        from ..pages.figures import write_profiles

        write_profiles(plot, sample, goal)
        say(f"{plot}: profiles of {how_many(len(sample.methods), 'method')}")
    for path, write in ((csv, write_csv), (parquet, write_parquet)):
        if path is not None:
            say(f"{path}: {how_many(write(path, records, known, goal.target), 'run')}")


# --- ``bench plot``: records are drawn on one HTML page.


def plot(
    results: Annotated[
        Path, typer.Argument(help="folder of records of replays, eviction or profit problems, projects")
    ],
    out: Annotated[Path | None, typer.Option(help="HTML file to write; default: plot.html in the folder")] = None,
    colour: Annotated[str | None, typer.Option(help="colour of the jobs by queue, user or length")] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(help="profit problems: methods to compare, such as lns,rule:est; default: the best two"),
    ] = None,
    figure: Annotated[
        str | None,
        typer.Option(
            help="replays: one figure as SVG (--out FILE.svg): ecdf (duration / predicted duration), bars (mean and deviation "
            "of wait and slowdown), bars-by-length, waits (wait / ewt), ecdf-wait, ecdf-slowdown, running (jobs over time), "
            "accuracy (mean wait by accuracy of the users), desired (use and desired use), frontier (mean bounded slowdown "
            "against longest wait), nodes (nodes that are on and that run jobs, of replays with a node policy)"
        ),
    ] = None,
) -> None:
    """Draw the results of a folder on one HTML page.

    Replays: Gantt charts side by side, used resources and waiting jobs over time, tables of all metrics, and figures of statistics.

    Eviction problems: loss over deadline, extra loss of the greedy method, response times.

    Profit problems: power, temperature, PUE and utilisation over time for the best search and the best rule; the profit of
    each method, and when it was found.

    Projects: Gantt charts with a band per resource, of the best schedule and of the best one without a solver.

    Needs matplotlib.

    Example: bench plot results/eurora_700 --out eurora.html

    Example: bench plot results/log --figure bars --out bars.svg
    """
    from ..pages.plot import plot as draw

    path, count = draw(results, out, colour, () if methods is None else parse_methods(methods), figure)
    say(f"{path}: {how_many(count, 'run')}")


# --- ``bench verify``: records, or a schedule made by another program, are checked against their instance.


@with_options()
def verify(
    results: Annotated[
        Path, typer.Argument(help="a folder of records or of such folders, or a JSON file with a schedule")
    ],
    *,
    instance: Annotated[
        str | None,
        typer.Option(help="instance of the schedule; for records: the place to which their instance or log was moved"),
    ] = None,
    part: Part,
    own: Annotated[
        list[str] | None,
        typer.Option(
            help="code that you trust and that records may name, such as my_module:MyUsers; separated by commas; "
            "default: nothing that a record names is imported"
        ),
    ] = None,
    manifest: Annotated[
        bool,
        typer.Option(
            "--manifest", help="if all records are valid, write manifest.json: the SHA-256 and size of each file"
        ),
    ] = False,
) -> None:
    """Check records, or a schedule made by another program.

    A record is checked against its instance or log: schedule or replay, objective, key. Status, bound, times and trace must
    not contradict each other, the method, or a schedule of another record; a line counts what else the records only
    claim. A record that names code of its author, such as my_module:MyUsers, is not checked unless --own names it. If the folder has a
    manifest, missing, changed and further files are named. A schedule has the form
    {job: {"start": seconds, "nodes": {node: units}}}. Exit code 1 if a fault is found or a record was not checked.

    Example: bench verify results/eurora_700

    Example: bench verify results

    Example: bench verify mine.json --instance eurora_700 --at 12:00 --first 100
    """
    from ..records import verify as checks
    from ..records.store import folders_of_records

    if results.is_file() and manifest:
        raise WrongUse(f"{results} is a file: --manifest needs a folder of records")
    if results.is_file() and instance is not None:
        with only_named([instance]):
            problem = part.problem(instance)
        try:
            value, faults = checks.check(problem, checks.read_schedule(results))
        except ValueError as e:
            raise WrongUse(f"{results}: {e}") from e
        say(
            "\n".join([*faults, f"{results}: {how_many(len(faults), 'violation')}"])
            if faults
            else f"verified, objective {value}"
        )
        raise typer.Exit(1 if faults else 0)
    if results.is_file():
        raise WrongUse(f"{results} is a file with a schedule: name its instance with --instance")
    trusted = []
    if instance is not None:
        trusted = [instance]
    trusted += [name.strip() for text in own or () for name in text.split(",") if name.strip()]
    folders = folders_of_records(results) or [results]
    verdicts = [_verified(folder, instance, trusted, manifest) for folder in folders]
    if len(folders) > 1:
        records, valid = (sum(counts) for counts in zip(*verdicts, strict=True))
        inside = f"{how_many(records, 'record')} in {how_many(len(folders), 'folder')}"
        say(f"{results}: {inside}, {valid} valid, {records - valid} not valid or not checked")
    raise typer.Exit(0 if all(each.valid == each.records for each in verdicts) else 1)


class FolderVerdict(NamedTuple):
    """How many records a folder has, and how many of them are valid."""

    records: int
    valid: int


def _verified(folder: Path, instance: str | None, trusted: Sequence[str], manifest: bool) -> FolderVerdict:
    """Check the records of a folder and print their faults; write its manifest if that is wanted and there are none."""
    from ..records import verify as checks
    from ..records.store import NAME, Store, files, write_manifest

    count, wrong, unchecked, claimed = checks.verify_records(
        folder, lambda path, drop: load(instance or path, drop_impossible=drop), instance, trusted
    )
    for name, fault in wrong:
        say(f"{name}: {fault}")
    for name, reason in unchecked:
        say(f"{name}: not checked: {reason}")
    records = {path.name for path in files(folder)}
    bad = len({name for name, _ in wrong if name in records})
    others = len({name for name, _ in wrong if name not in records})
    beside = ""
    if others:
        beside = f"; other files with faults: {others}"
    if claimed:
        parts = ", ".join(f"{what} of {how_many(n, 'record')}" for what, n in claimed.items())
        say(f"claimed, not checked: {parts}")
    valid = count - bad - len(unchecked)
    left = ""
    if unchecked:
        left = f", {len(unchecked)} not checked"
    say(f"{folder}: {how_many(count, 'record')}, {valid} valid, {bad} not valid{left}{beside}")
    if manifest and not wrong and not unchecked:
        with Store(folder):  # no other bench writes meanwhile
            say(f"{folder / NAME}: {how_many(write_manifest(folder), 'file')}")
    return FolderVerdict(count, valid)
