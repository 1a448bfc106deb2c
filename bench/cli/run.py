"""``bench run``: instances are solved by methods, with several seeds.

The words of the command line become instances and requests, which are run and compared with best-known values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from glob import glob
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ...errors import SchedlabError
from ...heuristics import NotForThisProblem
from ...instances import Instance, UnknownInstance, names
from ...instances.classic import READABLE, classic_form, is_classic, library_name
from ...instances.files.reading import SETTINGS, content_of
from ...models.words import excerpt, how_many, similar
from ..errors import WrongUse, near_files
from ..grid import number
from ..records.record import failed
from ..records.store import Record
from ..replays.settings import PROBLEM, RESULTS, RUNS
from ..runs.executors import Recording, RunTask
from ..runs.process import WORKER
from ..runs.selection import Run, RunRequest, parse_methods, parse_seeds, plan
from ..runs.suites import (
    NewBest,
    RunGroup,
    Suite,
    collected,
    is_suite,
    keep_known,
    keep_new,
    known_values,
    new_bests,
    read_suite,
    shipped_suites,
)
from ..runs.supervision import Plans, conclude, perform
from ..runs.view import open_instance, parse_clock, parse_durations, parse_keep, parse_profile
from ..runs.worker import LOG
from ..tables.methods import show_instances
from ..terminal import console_for
from .options import (
    At,
    Drop,
    DurationsOption,
    First,
    Jobs,
    NodesNeeded,
    ObjectiveOption,
    Out,
    Place,
    with_options,
)

Open = Callable[[str], Instance]
GLOB = frozenset("*?[")


@dataclass(frozen=True)
class Part:
    """Instances that are run with one request: pairs of the path given by the user and the loaded instance."""

    instances: Sequence[tuple[str, Instance]]
    request: RunRequest


@dataclass(frozen=True)
class Chosen:
    """What ``bench run`` runs.

    Attributes
    ----------
    parts
        Instances with their requests.
    suites
        The suites among them.
    folder
        The name of the folder of results if all records go to one; None: one folder for each instance.
    notes
        What the user should know, such as files that are no instances.
    """

    parts: Sequence[Part]
    suites: Sequence[Suite]
    folder: str | None
    notes: Sequence[str]

    @property
    def instances(self) -> list[tuple[str, Instance]]:
        """All instances, each once."""
        return list({path: (path, instance) for part in self.parts for path, instance in part.instances}.values())


def choose(words: Sequence[str], given: RunRequest, has_seeds: bool, data: Path | None, open_one: Open) -> Chosen:
    """Load what the words of the command line name.

    Parameters
    ----------
    words
        Names of shipped instances and suites; instance folders; files of benchmark libraries; folders of these; suites
        as TOML files; patterns of paths; ``module:attribute``, a function that makes a model or a problem.
    given
        The options of the command line. Those that are given replace the settings of a suite.
    has_seeds
        Whether ``--seeds`` was given.
    data
        The folder of ``--data``; None if it was not given.
    open_one
        Function that loads an instance.

    Returns
    -------
    Chosen

    Raises
    ------
    WrongUse, UnknownName, InstanceError, FormatError
        A word or a suite is wrong, or has no instance.
    """
    parts: list[Part] = []
    suites: list[Suite] = []
    notes: list[str] = []
    folders: list[str] = []
    loaded: dict[str, Instance] = {}

    def load_once(path: str) -> tuple[str, Instance]:
        if path not in loaded:
            loaded[path] = open_one(path)
        return path, loaded[path]

    plain: list[tuple[str, Instance]] = []
    words = _expanded(words)
    for word in words:
        if word not in names() and is_suite(word):
            suite = read_suite(word, data)
            suites.append(suite)
            folders.append(suite.name)
            recognised = _recognised(suite, data, notes)
            for group in suite.groups:
                if group.formats:
                    paths = [path for path, form in recognised.items() if form in group.formats]
                else:
                    paths = list(_paths(group, suite, notes))
                request = request_of(suite, group, given, has_seeds)
                if paths:
                    parts += [Part([load_once(path) for path in paths], request)]
        elif _is_collection(word):
            plain += [load_once(path) for path in _members(Path(word), notes)]
            folders.append(Path(word).resolve().name)
        else:
            try:
                plain.append(load_once(word))
            except UnknownInstance as e:
                raise _unknown(word) from e
    if data is not None and not suites:
        raise WrongUse(f"--data {data}: for suites, such as: bench run classic --data {data}")
    if plain:
        parts += [Part(plain, given)]
    _refuse_same_names(loaded)
    return Chosen(parts, suites, folders[0] if len(folders) == 1 and len(words) == 1 else None, notes)


def _unknown(word: str) -> WrongUse:
    """Return the error for a word that names nothing: what is similar beside it or is shipped, else all that is shipped."""
    near = similar(word, [*names(), *shipped_suites()]) or list(map(str, near_files(Path(word))))
    said = f"the shipped instances are {', '.join(names())}; the shipped suites are {', '.join(shipped_suites())}"
    if near:
        said = f"did you mean {' or '.join(near)}?"
    return WrongUse(f"there is no instance or suite {excerpt(word)}, and no file or folder of this name; {said}")


def _expanded(words: Sequence[str]) -> list[str]:
    """Return the words, each once; a pattern in quotes, which the shell has not expanded, as the paths that match it."""
    paths: list[str] = []
    for word in words:
        pattern = not GLOB.isdisjoint(word) and not Path(word).exists()
        paths += (sorted(glob(word)) if pattern else []) or [word]
    return list(dict.fromkeys(paths))


def request_of(suite: Suite, group: RunGroup, given: RunRequest, has_seeds: bool) -> RunRequest:
    """Return the request of a group of a suite; options of the command line come first."""
    own = {name: value for name, value in group.options.items() if name not in ("methods", "at", "durations", "keep")}
    own |= _parsed(group, "methods", parse_methods) | _parsed(group, "at", parse_clock)
    own |= _parsed(group, "durations", parse_durations) | _parsed(group, "keep", parse_keep)
    own |= {"threads": suite.threads, "memory_gb": suite.memory_gb}
    if not has_seeds and suite.seeds is not None:
        own["seeds"] = parse_seeds(suite.seeds)
    usual = RunRequest()
    return replace(
        given, **{name: value for name, value in own.items() if getattr(given, name) == getattr(usual, name)}
    )


def _parsed(group: RunGroup, name: str, parse: Callable[[Any], Any]) -> dict[str, Any]:
    if name in group.options:
        return {name: parse(group.options[name])}
    return {}


def _paths(group: RunGroup, suite: Suite, notes: list[str]) -> Iterator[str]:
    """Yield the instances of a group, and note files that are none. Raises WrongUse for a pattern without any."""
    for pattern in group.patterns:
        if pattern in names():
            yield pattern
            continue
        base = group.base
        if GLOB.isdisjoint(pattern):
            matching = [base / pattern]
        else:
            matching = sorted(base.glob(pattern))
        chosen = [path for path in matching if _is_instance(path)]
        if not chosen:
            raise WrongUse(
                f"suite {suite.name}: {pattern}: no instance; expected the name of a shipped instance, or folders with an "
                f"{SETTINGS} and files of benchmark libraries in {base}"
            )
        notes += _no_instances(f"suite {suite.name}: {pattern}", matching, chosen)
        yield from map(str, chosen)


def _recognised(suite: Suite, data: Path | None, notes: list[str]) -> dict[str, str]:
    """Return the files of the data folder and its folders that the groups of a suite take by their format: path -> format.

    Other files are counted and named in a note. Raises WrongUse if no file is left.
    """
    taken = {form for group in suite.groups for form in group.formats}
    if data is None or not taken:
        return {}
    inside = [path for path in sorted(data.rglob("*")) if path.is_file() and not _is_hidden(path.relative_to(data))]
    forms = {path: form for path in inside if (form := classic_form(path)) in taken and form is not None}
    if not forms:
        raise WrongUse(
            f"--data {data}: none of its {how_many(len(inside), 'file')} is an instance; expected files in one of the formats {READABLE}"
        )
    notes += _no_instances(f"--data {data}", inside, list(forms))
    return {str(path): form for path, form in forms.items()}


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _refuse_same_names(loaded: Mapping[str, Instance]) -> None:
    """Raise WrongUse if two files with other contents give instances of one name: their results could not be told apart."""
    seen: dict[str, str] = {}
    for path, instance in loaded.items():
        other = seen.setdefault(instance.name, path)
        files = [Path(loaded[each].path or each) for each in (other, path)]
        if other != path and content_of(files[0]) != content_of(files[1]):
            raise WrongUse(f"{other} and {path} are both called {instance.name}: rename one of them")


def _no_instances(what: str, every: Sequence[Path], chosen: Sequence[Path]) -> list[str]:
    """Return a note about what is not run, none if everything is."""
    known = set(chosen)
    others = [path.name for path in every if path not in known]
    shown = ", ".join(others[:5]) + (f" and {len(others) - 5} more" if len(others) > 5 else "")
    if others:
        return [f"{what}: {how_many(len(chosen), 'instance')}; {len(others)} left out, no instance: {shown}"]
    return []


def _is_collection(word: str) -> bool:
    return word not in names() and Path(word).is_dir() and not Path(word, SETTINGS).is_file()


def _members(folder: Path, notes: list[str]) -> list[str]:
    """Return the instances in a folder, sorted: instance folders and files of benchmark libraries; note what else is there."""
    inside = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    instances = [path for path in inside if _is_instance(path)]
    if not instances:
        raise WrongUse(
            f"{folder}: no instance: expected an {SETTINGS} in it, or folders with one, or files of benchmark libraries "
            "(job shop, flow shop, PSPLIB, MMLIB, Patterson, RCPSP/max, knapsack)"
        )
    notes += _no_instances(str(folder), inside, instances)
    return list(map(str, instances))


def _is_instance(path: Path) -> bool:
    if path.is_dir():
        return (path / SETTINGS).is_file()
    return is_classic(path)


def plans_of(chosen: Chosen, folder_of: Callable[[Instance], Path], notes: list[str]) -> Plans:
    """Return the folders of records with their runs, everything checked.

    A method is left out for the instances whose kind does not know it, with a note, if another instance takes it.

    Raises
    ------
    UnknownName, WrongUse
        A method is unknown to the kinds of all instances, or an instance has no method left.
    """
    return [
        (folder_of(instance), runs)
        for part in chosen.parts
        for (_, instance), runs in zip(part.instances, planned(part, notes, chosen.parts), strict=True)
        if runs
    ]


def planned(part: Part, notes: list[str], parts: Sequence[Part] = ()) -> list[list[Run]]:
    """Return the runs of each instance of a part; none for an instance whose methods are all for other ``parts``."""
    try:
        return [_plan_of(part, path, instance) for path, instance in part.instances]
    except SchedlabError:
        kinds = {instance.problem.kind for _, instance in part.instances}
        elsewhere = _taken_by([other for other in parts if other is not part], part.request.methods or ())
        if (len(kinds) < 2 and not elsewhere) or not part.request.methods:
            raise
    taken = {kind: _methods_of(part, kind) for kind in kinds}
    for method in part.request.methods:
        refusals = {kind: fault for kind, faults in taken.items() if (fault := faults[method]) is not None}
        if len(refusals) == len(kinds) and method not in elsewhere:
            raise next(iter(refusals.values()))
        notes += [f"{method} is not run on {kind} problems: {fault}" for kind, fault in refusals.items()]
    runs = []
    for path, instance in part.instances:
        own = [method for method, fault in taken[instance.problem.kind].items() if fault is None]
        if not own and not elsewhere.issuperset(part.request.methods):
            raise WrongUse(
                f"{path}: none of the methods {', '.join(part.request.methods)} takes {instance.kind} problems"
            )
        runs.append(plan(instance, path, replace(part.request, methods=own)) if own else [])
    return runs


def _plan_of(part: Part, path: str, instance: Instance) -> list[Run]:
    """Return the runs of an instance; among several ones, the error names the one that a method does not take."""
    try:
        return plan(instance, path, part.request)
    except NotForThisProblem as e:
        if len(part.instances) == 1:
            raise
        raise WrongUse(f"{instance.name}: {e}") from e


def _taken_by(parts: Sequence[Part], methods: Sequence[str]) -> set[str]:
    """Return those of the methods that the first instance of a kind in one of some parts takes."""
    taken: set[str] = set()
    for part in parts:
        same = replace(part, request=replace(part.request, methods=list(methods)))
        for kind in {instance.problem.kind for _, instance in part.instances}:
            taken |= {method for method, fault in _methods_of(same, kind).items() if fault is None}
    return taken


def _methods_of(part: Part, kind: str) -> dict[str, SchedlabError | None]:
    """Return for each method why it cannot be run on the first instance of a kind, None if it can."""
    path, instance = next(each for each in part.instances if each[1].problem.kind == kind)
    refusals: dict[str, SchedlabError | None] = {}
    for method in part.request.methods or ():
        try:
            plan(instance, path, replace(part.request, methods=[method]))
            refusals[method] = None
        except SchedlabError as e:
            refusals[method] = e
    return refusals


# --- ``bench run`` of suites, folders and files: everything is checked, run, and compared with the best-known values.


FULL_TABLES = 8  # instances up to which the table of methods of each one is printed


def carry_out_chosen(chosen: Chosen, task: RunTask, tables: Console, notes: Console) -> int:
    """Plan and run what was chosen, print tables and notes, and return the exit code.

    Parameters
    ----------
    chosen
        Instances with their requests.
    task
        The options. Its request has the number of parallel runs.
    tables, notes
        Consoles of tables and of progress.

    Returns
    -------
    int
        0, 1 if a run failed or two results contradict each other, 130 after Ctrl-C.
    """
    task = replace(task, instances=chosen.instances)
    said = list(chosen.notes)
    best = collected(table for suite in chosen.suites for table in suite.best)
    plans = plans_of(chosen, lambda instance: _folder(chosen, task, instance), said)
    for note in said:
        notes.print(note, soft_wrap=True)
    folders = list(dict.fromkeys(folder for folder, _ in plans))
    run = {library_name(instance.name) for _, instance in chosen.instances}
    best |= {name: value for name, value in task.known.items() if name in run}
    if not task.recording.dry_run:
        for folder in folders:
            keep_known(folder, best)
    records = perform(plans, task, tables, notes)
    if isinstance(records, int):
        return records
    if task.recording.as_json:
        return conclude(plans, records, task, tables, notes)
    many = len({(r["instance"], str(r["view"])) for r in records}) > FULL_TABLES
    if many:
        code = _conclude_shortly(plans, records, notes)
    else:
        code = conclude(plans, records, task, tables, notes)
    return _compare(plans, records, tables, notes, many, task.recording.explain) or code


def _folder(chosen: Chosen, task: RunTask, instance: Instance) -> Path:
    return task.out or Path("results") / (chosen.folder or instance.name)


def _conclude_shortly(plans: Plans, records: Sequence[Record], notes: Console) -> int:
    for folder in dict.fromkeys(folder for folder, _ in plans):
        notes.print(f"The records are in {folder}. To check them: bench verify {folder}", soft_wrap=True)
        notes.print(f"Statistics over all instances: bench statistics {folder}", soft_wrap=True)
    if any(map(failed, records)):
        return 1
    return 0


def _compare(
    plans: Plans, records: Sequence[Record], tables: Console, notes: Console, many: bool, explain: bool
) -> int:
    """Print the table of instances if there are many or best-known values; keep new best schedules. Return 1 for a contradiction."""
    keys = {folder: {run.key for at, runs in plans if at == folder for run in runs} for folder, _ in plans}
    wrong = 0
    for folder, own in keys.items():
        mine = [r for r in records if r["key"] in own]
        values = known_values(folder)
        if many or values:
            wrong += len(show_instances(tables, mine, values, explain))
        better = new_bests(mine, values)
        keep_new(folder, better)
        for new in better:
            notes.print(_sentence(new, folder), soft_wrap=True)
        wrong += sum(new.refuted for new in better)
    if wrong:
        return 1
    return 0


def _sentence(new: NewBest, folder: Path) -> str:
    r = new.record
    known = new.known
    text = (
        f"new best of {r['instance']}: {number(r['objective'])} by {r['method']}, verified; best known: {number(known.value)} "
        f"({known.source}); its schedule is in {folder}/new_best/{r['instance']}.json"
    )
    if not new.refuted:
        return text
    return f"{text}. It refutes the bound {number(known.bound)} of this source: one of them is wrong"


@dataclass(frozen=True)
class Solving:
    """Which methods are run, for how long and how often."""

    methods: Annotated[
        list[str] | None,
        typer.Option(help="methods, separated by commas: cpsat:counts+warm,highs:pool@900s", rich_help_panel=RUNS),
    ] = None
    time_limit: Annotated[
        float | None, typer.Option(min=0.001, help="seconds for each run, same for all methods", rich_help_panel=RUNS)
    ] = None
    threads: Annotated[
        int | None,
        typer.Option(min=1, help="threads of a run; default: number of cores (at most 8) / jobs", rich_help_panel=RUNS),
    ] = None
    seeds: Annotated[
        str | None,
        typer.Option(
            help="random seeds: a list such as 1,2,3 or a range such as 1-5; default: 1, or those of the suite",
            rich_help_panel=RUNS,
        ),
    ] = None
    jobs: Jobs = None
    log: Annotated[
        bool,
        typer.Option(
            "--log",
            help="show the logs of the solvers while they run, and keep each beside its record (METHOD.SEED.KEY.log)",
            rich_help_panel=RESULTS,
        ),
    ] = False


@dataclass(frozen=True)
class Problems:
    """Which part of the instances is run, and with which objective."""

    at: At = None
    first: First = None
    durations: DurationsOption = "walltime"
    objective: ObjectiveOption = None
    keep: Annotated[
        str | None,
        typer.Option(
            help="composite objective: other objectives stay within a slack of their own optimum, such as "
            "weighted-tardiness=1.1,late-jobs=1.1",
            rich_help_panel=PROBLEM,
        ),
    ] = None
    desired: Annotated[
        str | None,
        typer.Option(
            help="CSV file of the desired use, time_s,resource,share[,nodes]: a limit on each node, or see --profile",
            rich_help_panel=PROBLEM,
        ),
    ] = None
    profile: Annotated[
        str | None,
        typer.Option(
            help="how the desired use counts: hard (default), or soft:COST with the cost of a core-hour above it",
            rich_help_panel=PROBLEM,
        ),
    ] = None
    nodes_needed: NodesNeeded = None
    scenario: Annotated[
        list[str] | None,
        typer.Option(
            help="profit problems: a scenario such as air,summer,cheap, or all; repeatable", rich_help_panel=PROBLEM
        ),
    ] = None
    drop_impossible: Drop = False
    known: Annotated[
        list[str] | None,
        typer.Option(
            help="best-known values: literature, or a CSV file with the columns instance, value and, if known, bound, source, "
            "date; repeatable",
            rich_help_panel=RESULTS,
        ),
    ] = None


@with_options()
def run(
    instances: Annotated[
        list[str],
        typer.Argument(
            help="shipped instances or suites by name; instance folders, files of benchmark libraries, folders of these; suites "
            "(TOML); my_module:build, a function of your own that returns a model or a problem"
        ),
    ],
    *,
    solving: Solving,
    data: Annotated[
        Path | None,
        typer.Option(help="suites: folder of their files that are not shipped", rich_help_panel=PROBLEM),
    ] = None,
    place: Place,
    problems: Problems,
    memory: Annotated[
        float | None,
        typer.Option(min=0.01, help="GB of memory of a run; default: 0.9 of the machine / jobs", rich_help_panel=RUNS),
    ] = None,
    out: Out = None,
    recording: Recording,
) -> None:
    """Run methods on instances and print tables.

    A method is BACKEND:FORMULATION or a heuristic. A warm start follows after +, options and parameters of the solver as
    NAME=VALUE after colons: cpsat:counts+warm=lns/5s:num_workers=1, lns:rounds=30, highs:pool@900s.

    Without options, each instance is run with the methods, views and time limits that suit it. With --at or --first, only
    that part of the instance is run. With --methods alone, the whole instance is run.

    Each run has its own process. A run that is killed (5 s after its time limit, or out of memory) or crashes keeps its
    best schedule, if that passes the check; the table shows the cause.

    Each run writes one record. The same command again runs only what has no valid record. Records as a pandas table:
    schedlab.read_results("results/eurora_700").

    Exit code 1 if a run failed: an error, a crash, a wrong schedule, or killed without a schedule or bound. A solver that
    ends without a solution (unknown) or is not installed (unavailable) is no failure.

    With --keep, each run first optimizes each kept objective alone (half of its time limit), then the objective, with the
    kept ones limited to their slack times the value reached: bench run eurora_99 --at 12:00 --first 40 --objective makespan
    --keep weighted-tardiness=1.1,late-jobs=1.1

    INSTANCES may be a suite: smoke (two minutes), eurora, profit, theta, classic (small examples of the formats of benchmark
    libraries; with --data DIR their files), or a TOML file of your own. Shops, projects (PSPLIB,
    MMLIB, Patterson, RCPSP/max) and knapsacks are read directly; their format is recognised by the content. Best-known
    values of a suite are compared with the results, and a better schedule is kept in the folder new_best beside the records.

    Example: bench run smoke

    Example: bench run ft06.txt j30/*.sm --methods cpsat:modes --known literature

    Example: bench run my_module:build --methods cpsat,highs --time-limit 60

    Example: bench run eurora_99 --at 12:00 --first 20 --desired day-night.csv --profile soft:0.5

    Example: bench run eurora_700 --at 12:00 --first 100 --methods cpsat:counts,cpsat:counts+warm --seeds 1-5
    """
    from ..runs.suites import given

    where = place.where()
    request = RunRequest(
        methods=None if solving.methods is None else parse_methods(solving.methods),
        time_limit=solving.time_limit,
        threads=solving.threads,
        seeds=parse_seeds(solving.seeds or "1"),
        jobs=solving.jobs,
        memory_gb=memory,
        at=None if problems.at is None else parse_clock(problems.at),
        first=problems.first,
        durations=parse_durations(problems.durations),
        objective=problems.objective,
        nodes_needed=problems.nodes_needed,
        scenarios=problems.scenario or (),
        drop_impossible=problems.drop_impossible,
        keep=None if problems.keep is None else parse_keep(problems.keep),
        profile=parse_profile(problems.desired, problems.profile),
    )
    has_seeds = solving.seeds is not None
    chosen = choose(instances, request, has_seeds, data, lambda path: open_instance(path, problems.drop_impossible))
    worker = (*WORKER, LOG) if solving.log else WORKER
    task = RunTask(chosen.instances, request, out, recording, worker, where, given(problems.known or ()))
    tables = console_for(stderr=recording.as_json)
    notes = console_for(stderr=True)
    raise typer.Exit(carry_out_chosen(chosen, task, tables, notes))
