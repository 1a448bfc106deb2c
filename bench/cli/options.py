"""The options that several commands share, as groups; how options are made from fields, and grouped in the help."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from ...backends import UnknownName
from ...models.dispatch.objectives import objective_names
from ...models.problem import Problem
from ...models.project.verification import OBJECTIVES
from ...simulation.settings import Described
from ..errors import WrongUse
from ..replays.settings import PROBLEM, RESULTS, RUNS
from ..runs.executors import LOCAL, Where
from ..runs.selection import RunRequest, parse_seeds
from ..runs.view import View, one_scenario, open_instance, parse_clock, parse_durations

if TYPE_CHECKING:
    from ..replays.request import ReplayRequest

# --- From fields to options: groups of options, and the settings of a replay.


def with_options(
    settings: Mapping[str, Described] | None = None,
    names: Iterable[str] | None = None,
    usual: Mapping[str, Any] | None = None,
    before: str = "",
) -> Callable[[Any], Any]:
    """Return a decorator of a command that makes options from fields of dataclasses.

    A parameter whose type is a dataclass, a group of options, is replaced by an option for each of its fields, which are
    annotated as parameters of a Typer command are; the command gets the group. ``**settings`` is replaced by an option for
    each setting with a help text; the command gets those that are given, as Typer converts them: an option that is not
    given has the value None, a flag False.

    Parameters
    ----------
    settings
        The settings by name; None: the command has none.
    names
        Those that the command has, in the order of its options; None: all.
    usual
        Defaults of some of them, where the command has other ones than a replay.
    before
        The option of the command before which they are listed; an empty text: they are the last ones.

    Returns
    -------
    callable
        Command -> command with the signature that Typer reads.
    """
    if settings is not None:
        described = settings
    else:
        described = {}
    if usual is not None:
        defaults = usual
    else:
        defaults = {}
    chosen = [described[name] for name in (described if names is None else names) if described[name].setting.help]

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        hints = get_type_hints(command, include_extras=True)
        groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}

        def parameters() -> Iterator[inspect.Parameter]:
            for own in inspect.signature(command).parameters.values():
                is_last = own.kind is inspect.Parameter.VAR_KEYWORD
                if own.name == before or (is_last and not before):
                    yield from (_of_setting(each, defaults.get(each.name)) for each in chosen)
                if own.name in groups:
                    yield from _of_group(groups[own.name])
                elif not is_last:
                    yield own.replace(annotation=hints[own.name], kind=inspect.Parameter.KEYWORD_ONLY)

        def run(**given: Any) -> Any:
            for name, group in groups.items():
                given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
            return command(**given)

        run.__name__ = command.__name__
        run.__doc__ = command.__doc__
        run.__module__ = command.__module__
        signature = inspect.Signature(list(parameters()))
        run.__signature__ = signature  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in signature.parameters.values()}
        return run

    return decorate


def _of_group(group: Any) -> Iterator[inspect.Parameter]:
    """Yield the parameters of a command for the fields of a group of options."""
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        yield inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )


def _of_setting(s: Described, usual: Any) -> inspect.Parameter:
    """Return the parameter of a command for a setting; ``usual``: its default, None for that of the setting."""
    shown = s.setting
    kind = shown.typed or s.types[0]
    takes: Any = kind | None
    default = shown.usual
    text = shown.help
    if usual is not None:
        default = usual
        text = text.partition("; default")[0]
    limits: dict[str, Any] = {"help": text, "rich_help_panel": shown.panel}
    if kind is int:
        limits |= {"min": shown.least, "max": shown.most}
    if kind is bool:
        takes = bool
        default = False
    option: Any = Annotated[takes, typer.Option(s.flag, **limits)]
    return inspect.Parameter(s.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=option)


class GroupedHelp(TyperCommand):
    """A command whose help lists its options in groups, by their ``rich_help_panel``.

    Typer itself shows these groups only with rich markup, in which brackets of a help text would be markup.
    """

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then each group of options in the order of its first option; options without a group last."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            row = parameter.get_help_record(ctx)
            if row is not None:
                usual = "Options"
                if parameter.param_type_name == "argument":
                    usual = "Arguments"
                groups.setdefault(getattr(parameter, "rich_help_panel", None) or usual, []).append(row)
        for title, rows in sorted(groups.items(), key=lambda group: group[0] == "Options"):
            with formatter.section(title):
                formatter.write_dl(rows)


class NamedCommands(TyperGroup):
    """Sub-commands that have the names of something; an unknown name is an error that lists similar names."""

    what = "command"

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of a name. Raises UnknownName."""
        command = super().get_command(ctx, cmd_name)
        if command is None and not cmd_name.startswith("-"):
            raise UnknownName(self.what, cmd_name, list(self.commands))
        return command


# --- Which problem: an instance, and the part of it.

InstanceName = Annotated[
    str, typer.Argument(help="name of a shipped instance, or path of a folder with an instance.toml")
]
At = Annotated[
    str | None,
    typer.Option(
        help="snapshot: only the jobs submitted by this time, none of them started; a time such as 12:00, or seconds",
        rich_help_panel=PROBLEM,
    ),
]
First = Annotated[int | None, typer.Option(min=1, help="only the first n jobs by submit time", rich_help_panel=PROBLEM)]
DurationsOption = Annotated[
    str, typer.Option(help="durations of the jobs: walltime or runtime", rich_help_panel=PROBLEM)
]
ObjectiveOption = Annotated[
    str | None,
    typer.Option(
        help=f"another objective: {', '.join(objective_names())} or my_module:OBJECTIVE; of projects {', '.join(OBJECTIVES)}",
        rich_help_panel=PROBLEM,
    ),
]
NodesNeeded = Annotated[
    int | None, typer.Option(min=0, help="eviction problems: number of nodes to free", rich_help_panel=PROBLEM)
]
Drop = Annotated[
    bool,
    typer.Option("--drop-impossible", help="leave out the jobs that can never fit", rich_help_panel=PROBLEM),
]


@dataclass(frozen=True)
class Part:
    """The part of an instance that a command is about: the options of ``bench explain``, ``export`` and ``verify``."""

    at: At = None
    first: First = None
    durations: DurationsOption = "walltime"
    objective: ObjectiveOption = None
    nodes_needed: NodesNeeded = None
    scenario: Annotated[
        str | None,
        typer.Option(
            help="profit problems: a scenario such as air,summer,cheap; default: that of the instance",
            rich_help_panel=PROBLEM,
        ),
    ] = None
    drop_impossible: Drop = False

    def problem(self, path: str) -> Problem:
        """Load an instance and return the problem of this part. Raises UnknownName, UnknownInstance, WrongUse."""
        instance = open_instance(path, self.drop_impossible)
        at = None
        if self.at is not None:
            at = parse_clock(self.at)
        view = View(at, self.first, parse_durations(self.durations), self.objective, self.nodes_needed)
        return one_scenario(view, instance, self.scenario).of(instance)


# --- Where and how often runs are performed, and where their records go.

Jobs = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="number of runs at the same time; default: 1, on a cluster as many as it has room for",
        rich_help_panel=RUNS,
    ),
]
ReplayLimit = Annotated[float, typer.Option(min=0.001, help="seconds for a whole replay", rich_help_panel=RUNS)]
Seeds = Annotated[
    str, typer.Option(help="random seeds: a list such as 1,2,3 or a range such as 1-5", rich_help_panel=RUNS)
]
Out = Annotated[
    Path | None, typer.Option(help="folder of the records; default: results/<name>", rich_help_panel=RESULTS)
]


@dataclass(frozen=True)
class Place:
    """Where runs are performed: the options of ``bench run`` and ``simulate``."""

    executor: Annotated[
        str,
        typer.Option(
            help="where runs are performed: local, dask, slurm or one of another package (docs/reference/clusters.md)",
            rich_help_panel=RUNS,
        ),
    ] = LOCAL
    dask: Annotated[
        str | None,
        typer.Option(
            help="scheduler of a Dask cluster, such as tcp://host:8786; default: workers on this machine",
            rich_help_panel=RUNS,
        ),
    ] = None
    slurm: Annotated[
        list[str] | None,
        typer.Option(
            help="options of sbatch without dashes, and pack, the seconds of a job: partition=short,pack=600",
            rich_help_panel=RUNS,
        ),
    ] = None

    def where(self) -> Where:
        """Return the executor; ``--dask`` and ``--slurm`` alone choose theirs. Raises WrongUse, UnknownName."""
        given = {"dask": self.dask is not None, "slurm": self.slurm is not None}
        chosen = [name for name, is_given in given.items() if is_given]
        name, _, own = self.executor.partition(",")
        if len(chosen) > 1 or (chosen and name not in (LOCAL, chosen[0])):
            raise WrongUse(f"--{chosen[-1]} is for --executor {chosen[-1]}; expected one executor")
        options = []
        if own:
            options = [own]
        if self.dask is not None:
            options += [f"address={self.dask}"]
        else:
            options += self.slurm or []
        return Where.parse([chosen[0] if chosen else name, *options])


@dataclass(frozen=True)
class Replaying:
    """What is replayed and recorded: the options of ``bench simulate`` and ``dardis``."""

    first: First = None
    by: Annotated[
        list[str] | None,
        typer.Option(
            help="also tables of the largest groups of jobs: queue, user, account, qos, partition, units, core-hours, class (units and "
            "core-hours), accuracy (runtime / walltime of the job), user-accuracy (mean over the jobs of its user), "
            "separated by commas",
            rich_help_panel=RESULTS,
        ),
    ] = None
    time_limit: ReplayLimit = 3600.0
    seeds: Seeds = "1"
    out: Out = None
    starts: Annotated[
        Path | None,
        typer.Option(help="CSV file for the start times: job_id,fcfs,easy,...", rich_help_panel=RESULTS),
    ] = None
    drop_impossible: Drop = False

    def request(self, workload: str, dispatchers: Sequence[str], settings: Mapping[str, Any]) -> ReplayRequest:
        """Check the options and return the replays that they request; ``settings``: as a user gives them. Raises WrongUse."""
        from ..replays.request import replay_request
        from ..tables.dispatchers import parse_by

        view = View(first=self.first, durations="runtime")
        return replay_request(workload, dispatchers, view, settings, self.starts, parse_by(self.by or ()))

    def limits(self, threads: int, jobs: int | None) -> RunRequest:
        """Return the limits and seeds of the replays. Raises WrongUse."""
        seeds = parse_seeds(self.seeds)
        return RunRequest(
            time_limit=self.time_limit, threads=threads, seeds=seeds, jobs=jobs, drop_impossible=self.drop_impossible
        )


def check_folders(files: Mapping[str, Path | None]) -> None:
    """Raise WrongUse if a file cannot be written: it is a folder, or its folder is missing; ``files``: option -> file."""
    for option, path in files.items():
        if path is not None and path.is_dir():
            raise WrongUse(f"{option} {path}: cannot be written (it is a folder)")
        if path is not None and not path.parent.is_dir():
            raise WrongUse(f"{option} {path}: cannot be written (there is no folder {path.parent})")
