"""The command line. Exit codes: 0 done, 1 a run failed or a check found something, 2 wrong use, 130 Ctrl-C."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from .. import __version__
from ..backends import LoweringTooLarge, SolverUnavailable, UnknownName
from ..instances import Instance, InstanceError, UnknownInstance, generators, load, names, write
from ..instances.workload import WorkloadError
from ..models import ProblemError
from ..models.dispatch import OBJECTIVES
from .faults import WrongUse
from .importing import import_
from .replay import parse_stretch
from .selection import Asked, Durations, View, parse_clock, parse_methods, parse_seeds

WRONG_USE = (
    WrongUse,
    UnknownName,
    UnknownInstance,
    InstanceError,
    WorkloadError,
    ProblemError,
    LoweringTooLarge,
    SolverUnavailable,
)
PLAIN_WIDTH = 120  # of tables that do not go to a terminal

app = typer.Typer(
    name="bench",
    help="Runs scheduling problems by methods x seeds, checks every schedule, keeps the records, prints tables.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
)

InstanceName = Annotated[str, typer.Argument(help="a folder with an instance.toml, or the name of a shipped instance")]
At = Annotated[str | None, typer.Option(help="snapshot: the jobs submitted by 12:00 (or second 43200), none started")]
First = Annotated[int | None, typer.Option(min=1, help="only so many jobs, the first by submit time")]
DurationsOption = Annotated[str, typer.Option(help="a job takes its walltime or its runtime")]
ObjectiveOption = Annotated[str | None, typer.Option(help=f"another objective: {', '.join(OBJECTIVES)}")]
Nodes = Annotated[int | None, typer.Option(min=0, help="of an eviction instance: so many nodes are to be freed")]
Drop = Annotated[bool, typer.Option("--drop-impossible", help="go on without the jobs that can never fit")]


def main(arguments: Sequence[str] | None = None) -> None:
    """The command ``bench``: a wrong use is a sentence on the standard error and exit code 2."""
    try:
        app(args=None if arguments is None else list(arguments), prog_name="bench")
    except WRONG_USE as e:
        print(f"error: {e}", file=sys.stderr)
        sys.exit(2)


def console_for(stderr: bool = False) -> Console:
    """A console; what does not go to a terminal is 120 columns wide."""
    made = Console(stderr=stderr)
    return made if made.is_terminal else Console(stderr=stderr, width=PLAIN_WIDTH)


def opened(path: str, drop_impossible: bool) -> Instance:
    """The instance; says which jobs were left out."""
    instance = load(path, drop_impossible=drop_impossible)
    for job, why in instance.dropped:
        print(f"{instance.name}: job {job.id} is left out: {why}", file=sys.stderr)
    return instance


def view_of(at: str | None, first: int | None, durations: str, objective: str | None, nodes: int | None) -> View:
    """The view that the options ask for."""
    return View(None if at is None else parse_clock(at), first, _durations(durations), objective, nodes)


def _durations(text: str) -> Durations:
    known: dict[str, Durations] = {"walltime": "walltime", "runtime": "runtime"}
    if text not in known:
        raise UnknownName("kind of durations", text, list(known))
    return known[text]


def _version(wanted: bool) -> None:
    if wanted:
        print(f"bench {__version__}")
        raise typer.Exit


@app.callback()
def bench(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="print the version and exit")
    ] = False,
) -> None:
    """Runs scheduling problems by methods x seeds, checks every schedule, keeps the records, prints tables."""


@app.command("list")
def list_() -> None:
    """Lists the shipped instances.

    Example: bench list
    """
    from .show import list_instances

    list_instances(console_for(), [load(name) for name in names()])


@app.command()
def show(instance: InstanceName, drop_impossible: Drop = False) -> None:
    """Shows an instance: platform, queues, jobs, objective, repairs, formulations.

    Example: bench show eurora_700
    """
    from .show import show_instance

    show_instance(console_for(), opened(instance, drop_impossible), instance)


@app.command()
def run(
    instances: Annotated[list[str], typer.Argument(help="folders with an instance.toml, or names of shipped ones")],
    methods: Annotated[
        list[str] | None, typer.Option(help="comma list, repeatable: multi-search,cpsat:counts+warm,highs:pool@900s")
    ] = None,
    time_limit: Annotated[float | None, typer.Option(min=0.001, help="seconds per run, for all methods")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="per run; by default the cores (8 at most) / jobs")] = None,
    seeds: Annotated[str, typer.Option(help="a list such as 1,2,3 or a range such as 1-5")] = "1",
    jobs: Annotated[int, typer.Option(min=1, help="runs side by side")] = 1,
    at: At = None,
    first: First = None,
    durations: DurationsOption = "walltime",
    objective: ObjectiveOption = None,
    nodes_needed: Nodes = None,
    memory: Annotated[
        float | None, typer.Option(min=0.01, help="GB per run; by default 0.9 of the machine / jobs")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="folder of the records; by default results/<instance>")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="only say what would run, and the worst case")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="records as JSON lines on the standard output")] = False,
    retry: Annotated[bool, typer.Option("--retry", help="also run again what crashed or ran out of memory")] = False,
    again: Annotated[bool, typer.Option("--again", help="run everything again, whatever is there")] = False,
    drop_impossible: Drop = False,
) -> None:
    """Runs an instance's methods x seeds, each in a process of its own, and prints the tables.

    Without options: the methods, views and limits that suit the instance. --at or --first: that view alone. --methods
    alone: the whole instance. Records that are there are kept: run again, it resumes.

    Exit code 1 if a run failed: an error, a crash, or a schedule that does not hold.

    Example: bench run eurora_700 --at 12:00 --first 100 --methods cpsat:counts,cpsat:counts+warm --seeds 1-5
    """
    from .run import Task, carry_out

    asked = Asked(
        methods=None if methods is None else parse_methods(methods),
        time_limit=time_limit,
        threads=threads,
        seeds=parse_seeds(seeds),
        jobs=jobs,
        memory_gb=memory,
        at=None if at is None else parse_clock(at),
        first=first,
        durations=_durations(durations),
        objective=objective,
        nodes_needed=nodes_needed,
        drop_impossible=drop_impossible,
    )
    found = [(path, opened(path, drop_impossible)) for path in dict.fromkeys(instances)]
    task = Task(found, asked, out, dry_run, as_json, retry, again)
    raise typer.Exit(carry_out(task, console_for(stderr=as_json), console_for(stderr=True)))


@app.command()
def simulate(
    workload: Annotated[str, typer.Argument(help="a trace (SWF, ...), a folder with an instance.toml, or its name")],
    dispatchers: Annotated[
        list[str] | None, typer.Option(help="comma list, repeatable: fcfs,easy-d,hcp3-d@cpsat; by default fcfs,easy")
    ] = None,
    form: Annotated[
        str | None, typer.Option("--format", help="of a trace: swf, sacct, pbs, eurora, batsim; by default by its look")
    ] = None,
    nodes: Annotated[int | None, typer.Option(min=1, help="of a trace: how many nodes the machine has")] = None,
    cores: Annotated[int | None, typer.Option(min=1, help="of a trace: per node")] = None,
    memory: Annotated[int | None, typer.Option(min=1, help="of a trace: MB per node")] = None,
    first: First = None,
    window: Annotated[str | None, typer.Option(help="of a trace: the jobs of 2012-07-13:23d")] = None,
    load_: Annotated[float | None, typer.Option("--load", help="arrivals rescaled to this offered load")] = None,
    decision_time: Annotated[float, typer.Option(min=0.001, help="seconds of a decision that asks a solver")] = 0.2,
    deterministic: Annotated[
        bool, typer.Option("--deterministic", help="decisions limited by the solver's own measure, not by the clock")
    ] = False,
    max_stretch: Annotated[str | None, typer.Option(help="a slowdown beyond which a job goes first, or off")] = None,
    allocator: Annotated[str, typer.Option(help="best-fit or first-fit")] = "best-fit",
    kill: Annotated[bool, typer.Option("--kill", help="jobs end at their walltime")] = False,
    charge: Annotated[
        bool, typer.Option("--charge", help="the time of a decision passes on the simulated clock")
    ] = False,
    period: Annotated[int | None, typer.Option(min=1, help="decide also every so many seconds")] = None,
    time_limit: Annotated[float, typer.Option(min=0.001, help="seconds of a whole replay")] = 3600.0,
    threads: Annotated[int, typer.Option(min=1, help="of the solver of a decision")] = 1,
    seeds: Annotated[str, typer.Option(help="a list such as 1,2,3 or a range such as 1-5")] = "1",
    jobs: Annotated[int, typer.Option(min=1, help="replays side by side")] = 1,
    out: Annotated[Path | None, typer.Option(help="folder of the records; by default results/<name>")] = None,
    starts: Annotated[Path | None, typer.Option(help="a CSV of the starts to write: job_id,fcfs,easy,...")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="only say what would run, and the worst case")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="records as JSON lines on the standard output")] = False,
    retry: Annotated[bool, typer.Option("--retry", help="also run again what crashed or ran out of memory")] = False,
    again: Annotated[bool, typer.Option("--again", help="run everything again, whatever is there")] = False,
    drop_impossible: Drop = False,
) -> None:
    """Replays a trace or an instance under dispatchers, checks every start, and prints the table.

    A dispatcher is NAME[-w|-d|-r|-l][@BACKEND]: durations by walltime, by the user's earlier jobs, the real ones, the
    user's last two. Records that are there are kept: run again, it resumes. Exit code 1 if a replay failed.

    Example: bench simulate log.swf --dispatchers fcfs,easy,hcp3-d@cpsat --nodes 256 --cores 1 --starts starts.csv

    Example: bench simulate eurora_700 --dispatchers easy-r,hcp3-r@cpsat --load 1.2 --decision-time 0.2
    """
    from . import simulate as work
    from .run import Task

    asked = work.asked(
        workload,
        dispatchers or ["fcfs,easy"],
        View(first=first, durations="runtime"),
        starts,
        {
            "format": form,
            "nodes": nodes, "cores": cores, "memory": memory, "window": window, "load": load_,
            "decision_time": decision_time, "deterministic": deterministic,
            "max_stretch": parse_stretch(max_stretch), "allocator": allocator,
            "kill": kill, "charge": charge, "period": period,
        },
    )  # fmt: skip
    limits = Asked(
        time_limit=time_limit, threads=threads, seeds=parse_seeds(seeds), jobs=jobs, drop_impossible=drop_impossible
    )
    task = Task((), limits, out, dry_run, as_json, retry, again)
    raise typer.Exit(work.carry_out(asked, task, console_for(stderr=as_json), console_for(stderr=True)))


app.command("import")(import_)


@app.command()
def verify(
    results: Annotated[Path, typer.Argument(help="a folder of records, or a JSON file with a schedule")],
    instance: Annotated[str | None, typer.Option(help="the instance of a schedule (or of all the records)")] = None,
    at: At = None,
    first: First = None,
    durations: DurationsOption = "walltime",
    objective: ObjectiveOption = None,
    nodes_needed: Nodes = None,
    drop_impossible: Drop = False,
) -> None:
    """Checks records, or a schedule that somebody else made, against the instance. Exit code 1 if something is wrong.

    A schedule is {job: {"start": seconds, "nodes": {node: units}}}. Of a folder, each record is checked: its schedule,
    objective, key and bound.

    Example: bench verify results/eurora_700

    Example: bench verify mine.json --instance eurora_700 --at 12:00 --first 100
    """
    from . import verify as checks

    if results.is_file() and instance is not None:
        problem = view_of(at, first, durations, objective, nodes_needed).of(opened(instance, drop_impossible).problem)
        try:
            value, faults = checks.check(problem, checks.read_schedule(results))
        except ValueError as e:
            raise WrongUse(f"{results}: {e}") from e
        print(
            "\n".join([*faults, f"{results}: {len(faults)} violations"]) if faults else f"verified, objective {value}"
        )
        raise typer.Exit(1 if faults else 0)
    if results.is_file():
        raise WrongUse(f"{results} is a file: say with --instance which instance its schedule is for")
    count, wrong = checks.verify_records(results, lambda path, drop: load(instance or path, drop_impossible=drop))
    for name, fault in wrong:
        print(f"{name}: {fault}")
    bad = len({name for name, _ in wrong})
    print(f"{results}: {count} records, {count - bad} hold, {bad} do not")
    raise typer.Exit(1 if bad else 0)


@app.command()
def export(
    instance: InstanceName,
    out: Annotated[Path, typer.Option(help="the file to write")],
    formulation: Annotated[str, typer.Option(help="as in a method: counts, classes, pool@900s")] = "",
    form: Annotated[
        str, typer.Option("--format", help="mps, lp, cpo, cpsat (text, or binary .pb) or pyomo (nl)")
    ] = "mps",
    at: At = None,
    first: First = None,
    durations: DurationsOption = "walltime",
    objective: ObjectiveOption = None,
    nodes_needed: Nodes = None,
    drop_impossible: Drop = False,
) -> None:
    """Writes a formulation of an instance in a solver's file format.

    Example: bench export eurora_99 --formulation pool@900s --format mps --out pool.mps
    """
    from .export import FORMATS
    from .export import export as write_model

    if form not in FORMATS:
        raise UnknownName("format", form, list(FORMATS))
    problem = view_of(at, first, durations, objective, nodes_needed).of(opened(instance, drop_impossible).problem)
    size = write_model(problem, formulation, form, out)
    print(f"{out}: " + ", ".join(f"{n:,} {what}" for what, n in size.items()))


@app.command()
def generate(
    generator: Annotated[str, typer.Argument(help=f"one of {', '.join(generators)}")],
    out: Annotated[Path, typer.Option(help="the folder to write")],
    jobs: Annotated[int, typer.Option(min=1, help="how many jobs")] = 700,
    seed: Annotated[int, typer.Option(help="the same seed gives the same bytes")] = 7,
    nodes: Annotated[int | None, typer.Option(min=1, help="how many nodes; by default the generator's own")] = None,
) -> None:
    """Makes an instance.

    Example: bench generate eurora --jobs 700 --seed 7 --out my_day
    """
    if generator not in generators:
        raise UnknownName("generator", generator, list(generators))
    sizes: dict[str, Any] = {} if nodes is None else {"nodes": nodes}
    try:
        write(generators[generator](jobs, seed, **sizes), out)
    except OSError as e:
        raise WrongUse(f"--out {out}: cannot be written ({e.strerror})") from e
    except ValueError as e:
        raise WrongUse(f"{generator}: {e}") from e
    print(f"{out}: {jobs} jobs, seed {seed}; bench show {out}")


@app.command()
def plot(
    results: Annotated[Path, typer.Argument(help="a folder of records with replays or evictions")],
    out: Annotated[Path | None, typer.Option(help="the page to write; by default plot.html in the folder")] = None,
    colour: Annotated[str | None, typer.Option(help="what the colour of a job tells: queue, user or length")] = None,
) -> None:
    """Draws replays side by side on one HTML page: Gantt charts, what is in use, how many jobs wait. Needs matplotlib.

    Of an eviction problem: loss against deadline, the extra loss of greedy, response times.

    Example: bench plot results/eurora_700 --out eurora.html
    """
    from .plot import plot as draw

    path, count = draw(results, out, colour)
    print(f"{path}: {count} runs")


@app.command()
def doctor() -> None:
    """Says which solvers work in which version, cores, memory, and every known trap that it finds.

    Exit code 1 if a solver that is installed does not work.

    Example: bench doctor
    """
    from .doctor import examine

    raise typer.Exit(0 if examine(console_for()) else 1)


if __name__ == "__main__":
    main()
