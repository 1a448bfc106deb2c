"""The command line. Exit codes: 0 done, 1 a run failed or a check found something, 2 wrong use, 130 Ctrl-C, 141 nobody reads."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ... import __version__
from ...backends import UnknownName
from ...instances import Instance, UnknownInstance, load, names
from ..errors import WrongUse
from ..runs.selection import RunRequest, parse_methods, parse_seeds
from ..runs.view import Durations, View, one_scenario, parse_clock
from ..terminal import PLAIN_WIDTH, console_for, say
from .ending import carried, exit_code
from .generate import generate_app
from .guide import guide
from .importing import import_app
from .options import At, Drop, DurationsOption, Explain, First, InstanceName, Nodes, ObjectiveOption, Retry, Scenario
from .simulate import simulate

BEFORE = {"import": "verify", "generate": "plot"}  # groups, and the commands before which they stand


class Commands(TyperGroup):
    """The commands in the order of their use; Typer puts those that have commands of their own last."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Read the words; the help is printed here."""
        return carried(lambda: super(Commands, self).make_context(*args, **kwargs))

    def invoke(self, ctx: Any) -> Any:
        """Carry out the command; how it ends is not left to Typer."""
        return carried(lambda: super(Commands, self).invoke(ctx))

    def list_commands(self, ctx: Any) -> list[str]:
        """The names in the order of the overview."""
        names = [name for name in super().list_commands(ctx) if name not in BEFORE]
        for group, command in BEFORE.items():
            names.insert(names.index(command), group)
        return names


app = typer.Typer(
    name="bench",
    cls=Commands,
    no_args_is_help=True,
    context_settings={"max_content_width": PLAIN_WIDTH, "help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command ``bench``: a wrong use is a sentence on the standard error and exit code 2."""
    words = None if arguments is None else list(arguments)
    sys.exit(exit_code(lambda: app(args=words, prog_name="bench", standalone_mode=False)))


def opened(path: str, drop_impossible: bool) -> Instance:
    """The instance; says which jobs were left out."""
    instance = load(path, drop_impossible=drop_impossible)
    for job, why in instance.dropped:
        say(f"{instance.name}: job {job.id} is left out: {why}", error=True)
    return instance


def view_of(at: str | None, first: int | None, durations: str, objective: str | None, nodes: int | None) -> View:
    """The view that the options ask for, but for the scenario."""
    return View(None if at is None else parse_clock(at), first, _durations(durations), objective, nodes)


def _durations(text: str) -> Durations:
    known: dict[str, Durations] = {"walltime": "walltime", "runtime": "runtime"}
    if text not in known:
        raise UnknownName("kind of durations", text, list(known))
    return known[text]


def _version(wanted: bool) -> None:
    if wanted:
        say(f"bench {__version__}")
        raise typer.Exit


@app.callback()
def bench(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="print the version and exit")
    ] = False,
) -> None:
    """Runs scheduling problems, replays logs of machines, checks every schedule, keeps the records, prints tables.

    \b
    bench doctor                                      what works here
    bench run eurora_700                              a shipped day, solved
    bench simulate log.swf --dispatchers fcfs,easy    a log, replayed
    bench plot results/log                            replays side by side

    Every command explains itself: bench simulate --help.
    """


@app.command("list")
def list_() -> None:
    """Lists the shipped instances.

    Example: bench list
    """
    from ..show.instances import list_instances

    list_instances(console_for(), [load(name) for name in names()])


@app.command()
def show(
    instance: InstanceName,
    drop_impossible: Drop = False,
    plot: Annotated[Path | None, typer.Option(help="of a cooling table: draw it to this file, such as air.svg")] = None,
) -> None:
    """Shows an instance: platform, queues, jobs, objective.

    Or a cooling table, shipped (air, hybrid) or of a CSV file: PUE and cooling power over temperature and IT power.

    Example: bench show eurora_700

    Example: bench show air --plot air.svg
    """
    from ..show.cooling import is_cooling, meant, show_cooling
    from ..show.instances import show_instance

    if is_cooling(instance):
        show_cooling(console_for(), instance, plot)
        return
    try:
        found = opened(instance, drop_impossible)
    except UnknownInstance as e:
        raise meant(e, instance) from e
    if plot is not None:
        raise WrongUse(
            f"--plot {plot}: of {instance} there is no picture, only of a cooling table; bench plot draws runs"
        )
    show_instance(console_for(), found, instance)


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
    scenario: Annotated[
        list[str] | None, typer.Option(help="of a profit instance: air,summer,cheap; repeatable; all for all of them")
    ] = None,
    memory: Annotated[
        float | None, typer.Option(min=0.01, help="GB per run; by default 0.9 of the machine / jobs")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="folder of the records; by default results/<instance>")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="only say what would run, and the worst case")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="records as JSON lines on the standard output")] = False,
    retry: Retry = False,
    again: Annotated[bool, typer.Option("--again", help="run everything again, whatever is there")] = False,
    drop_impossible: Drop = False,
    explain: Explain = False,
) -> None:
    """Runs instances by methods x seeds, and prints tables.

    Each run has a process of its own. Without options: the methods, views and limits that suit the instance. --at or --first: that view alone. --methods
    alone: the whole instance. Records that are there are kept: run again, it resumes. The records as a table of pandas:
    schedlab.read_results("results/eurora_700"). A record that was changed, or does not hold, is run again, and the
    reason is said.

    A run that is killed (5 s beyond its limit, or out of memory) or crashes keeps its best schedule, checked, with the
    cause in the table.

    Exit code 1 if a run failed: an error, a crash, a schedule that does not hold, or killed with neither a schedule nor a
    bound. A solver that ends by itself and has found nothing (unknown), and one that is unavailable, have not failed.

    Example: bench run eurora_700 --at 12:00 --first 100 --methods cpsat:counts,cpsat:counts+warm --seeds 1-5
    """
    from ..runs.run import RunTask, carry_out

    asked = RunRequest(
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
        scenarios=scenario or (),
        drop_impossible=drop_impossible,
    )
    found = [(path, opened(path, drop_impossible)) for path in dict.fromkeys(instances)]
    task = RunTask(found, asked, out, dry_run, as_json, retry, again, explain=explain)
    raise typer.Exit(carry_out(task, console_for(stderr=as_json), console_for(stderr=True)))


app.command("simulate")(simulate)
app.add_typer(import_app, name="import")


@app.command()
def verify(
    results: Annotated[Path, typer.Argument(help="a folder of records, or a JSON file with a schedule")],
    instance: Annotated[
        str | None, typer.Option(help="the instance of a schedule; of records: where their instance or log is now")
    ] = None,
    at: At = None,
    first: First = None,
    durations: DurationsOption = "walltime",
    objective: ObjectiveOption = None,
    nodes_needed: Nodes = None,
    scenario: Scenario = None,
    drop_impossible: Drop = False,
) -> None:
    """Checks records, or a schedule made elsewhere.

    A schedule is {job: {"start": seconds, "nodes": {node: units}}}. Of a folder, each record is checked against its
    instance or log: schedule or replay, objective, key and bound. Exit code 1 if something is wrong.

    Example: bench verify results/eurora_700

    Example: bench verify mine.json --instance eurora_700 --at 12:00 --first 100
    """
    from ..records import verify as checks

    if results.is_file() and instance is not None:
        where = opened(instance, drop_impossible)
        view = one_scenario(view_of(at, first, durations, objective, nodes_needed), where, scenario)
        problem = view.of(where)
        try:
            value, faults = checks.check(problem, checks.read_schedule(results))
        except ValueError as e:
            raise WrongUse(f"{results}: {e}") from e
        say("\n".join([*faults, f"{results}: {len(faults)} violations"]) if faults else f"verified, objective {value}")
        raise typer.Exit(1 if faults else 0)
    if results.is_file():
        raise WrongUse(f"{results} is a file: say with --instance which instance its schedule is for")
    count, wrong = checks.verify_records(
        results, lambda path, drop: load(instance or path, drop_impossible=drop), instance
    )
    for name, fault in wrong:
        say(f"{name}: {fault}")
    bad = len({name for name, _ in wrong})
    say(f"{results}: {count} records, {count - bad} hold, {bad} do not")
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
    scenario: Scenario = None,
    drop_impossible: Drop = False,
) -> None:
    """Writes a formulation in a solver's file format.

    Example: bench export eurora_99 --formulation pool@900s --format mps --out pool.mps
    """
    from .export import FORMATS
    from .export import export as write_model

    if form not in FORMATS:
        raise UnknownName("format", form, list(FORMATS))
    where = opened(instance, drop_impossible)
    problem = one_scenario(view_of(at, first, durations, objective, nodes_needed), where, scenario).of(where)
    size = write_model(problem, formulation, form, out)
    say(f"{out}: " + ", ".join(f"{n:,} {what}" for what, n in size.items()))


app.add_typer(generate_app, name="generate")


@app.command()
def plot(
    results: Annotated[Path, typer.Argument(help="a folder of records with replays, evictions or profits")],
    out: Annotated[Path | None, typer.Option(help="the page to write; by default plot.html in the folder")] = None,
    colour: Annotated[str | None, typer.Option(help="what the colour of a job tells: queue, user or length")] = None,
    methods: Annotated[
        list[str] | None, typer.Option(help="of a profit problem, side by side: lns,rule:est; by default the best two")
    ] = None,
) -> None:
    """Draws replays side by side on one HTML page.

    Gantt charts, what is in use and how many jobs wait over time, and tables of all figures. Needs matplotlib.

    Of an eviction problem: loss against deadline, the extra loss of greedy, response times.

    Of a profit problem: power, temperature, PUE and use of the cores over time for the best search beside the best rule, what each method earns, and how soon.

    Example: bench plot results/eurora_700 --out eurora.html
    """
    from ..plots.page import plot as draw

    path, count = draw(results, out, colour, () if methods is None else parse_methods(methods))
    say(f"{path}: {count} runs")


app.command("guide")(guide)


@app.command()
def doctor() -> None:
    """Says which solvers work here, in which version.

    Cores, memory and every known trap that it finds, too. Exit code 1 if a solver that is installed does not work.

    Example: bench doctor
    """
    from .doctor import examine

    raise typer.Exit(0 if examine(console_for()) else 1)


if __name__ == "__main__":
    main()
