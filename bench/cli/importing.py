"""The commands that make instances: ``bench import``, ``bench generate``.

- ``import``: a log, a state or a weather file of another format is converted to an instance folder or a table. Each format is a
  sub-command.
- ``generate``: one sub-command for each generator of instances.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from random import Random
from typing import Annotated, Any

import numpy as np
import typer

from ...errors import WrongValue
from ...instances import FormatError, Instance, generators, write
from ...instances.classic import LIBRARIES, library_instance
from ...instances.files.reading import InstanceError, read_json, read_text
from ...instances.files.writing import write_whole
from ...instances.formats.eurora import BATCHES
from ...instances.formats.swf import write_swf
from ...instances.generators.eurora import KINDS, LEAST
from ...instances.generators.lublin import lublin_workload
from ...instances.generators.projects import MOST_MODES, MOST_RESOURCES, MOST_TASKS, NEAR
from ...instances.generators.theta import DEADLINE, NEEDED, SOURCE, STEP
from ...instances.instance import ENERGY_PRICE, PLANTS, PRICES, WATTS_PER_CORE, known, thesis_scenarios
from ...instances.log_preparation import cancellations, midnight
from ...instances.sites import read_site, write_site
from ...instances.sites.machine_state import Document, state_of
from ...instances.sites.of_log import site_of_trace
from ...instances.sites.pbs_state import state_from_pbs
from ...instances.sites.slurm_state import NOWHERE, free_licences, reservations_in_text, state_from_slurm
from ...instances.traces import FORMATS, open_trace
from ...instances.weather import SEASONS, Weather, read_weather, synthetic, write_weather
from ...instances.workload import Workload
from ...models import Checkpointing, Eviction
from ...models.dispatch.jobs import DAY
from ...models.dispatch.objectives import find_objective, objective_names
from ...models.platform import LATEST, MOST_NODES, Platform
from ...models.site import Site
from ...models.words import how_many, how_many_of, listed
from ..errors import WrongUse, check_file, writing
from ..replays.case import notes_on_shown, open_log, read_log, time_zone
from ..replays.settings import OF_LOGS, SETTINGS, ReplaySettings, read_settings
from ..tables import inputs as reading
from ..terminal import console_for, say
from .options import NamedCommands, with_options

FirstJobs = Annotated[int | None, typer.Option(min=1, help="only the first n jobs by submit time")]
Load = Annotated[float | None, typer.Option(help="rescale the submit times to this offered load, such as 1.2")]

# --- ``bench import`` of a log: a workload log of a machine, or a part of it, is converted to an instance folder.


@with_options(SETTINGS, (*OF_LOGS, "latest_start", "batch"), before="first")
def import_log(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="log file")],
    *,
    out: Annotated[Path, typer.Option(help="folder of the instance to write")],
    first: FirstJobs = None,
    load: Load = None,
    name: Annotated[
        str | None, typer.Option(help="name of the log in the description; default: name of the file")
    ] = None,
    objective: Annotated[
        str, typer.Option(help=f"objective of the instance: {', '.join(objective_names())}")
    ] = "waiting",
    **settings: Any,
) -> None:
    """Convert the log of a machine to an instance.

    Prints what was repaired, left out or could not be read. The instance can be used with bench show, run and simulate.

    Example: bench import swf log.swf.gz --nodes 300 --cores 32 --memory 131072 --window 2012-07-13:23d --out my_days

    Example: bench import swf log.swf.gz --latest-start mean-wait --out my_days

    Example: bench import eurora eurora_jobs_unique.csv --batch 3 --out eurora_batch3

    Example: bench import sacct jobs.txt --nodes 64 --cores 48 --per-node gpus=4 --zone Europe/Rome --out my_days
    """
    form = str(context.info_name)
    find_objective(objective)
    log = open_log(file, settings_of_log(form, settings, load), first)
    batch = settings["batch"]
    # a batch keeps the clock of the whole log
    if batch is None:
        whole = log.workload
    else:
        whole = open_trace(log.trace)[0]
    origin, day = midnight(whole, log.trace.zone)
    workload = log.workload.since(origin)
    if batch is None:
        named = name or log.trace.name
        source = f"{form} log {file.name}"
    else:
        named = name or f"eurora_batch{batch}"
        source = f"{form} log {file.name}, {log.trace.format}"
    with writing(out):
        write(log_instance(workload, log.platform, objective, named, source, day), out)
    say("\n".join(report_lines(workload, log.platform)))
    if batch is None:
        made = f"{how_many(len(workload), 'job')} on {how_many(len(log.platform.nodes), 'node')}"
    else:
        compare_batch(named, workload, batch)
        made = f"{how_many(len(workload), 'job')}, {len(workload.running)} running at the begin"
    say(f"{out}: {made}; to see it: bench show {out}")


def settings_of_log(form: str, given: Mapping[str, Any], load: float | None) -> ReplaySettings:
    """Return how a log of a format is read and which of its jobs are taken, from options. Raises WrongUse."""
    values, _ = read_settings(given)
    if "batch" in values and form != "eurora":
        raise WrongUse(f"--batch {values['batch']}: for the log of Eurora, bench import eurora; leave it out")
    if "batch" not in values:
        values["format"] = form
    return ReplaySettings(trace=True, load=load, **values)


def compare_batch(name: str, workload: Workload, number: int) -> None:
    """Print how near a batch of Eurora is to that of the thesis."""
    from ..tables.instances import Composition, show_composition

    batch = BATCHES[number]
    if batch.which != "queued":
        counted = workload
    else:
        counted = replace(workload, running=())
    ours = Composition.of_workload(counted)
    show_composition(console_for(), {name: ours}, {f"BATCH{number} (thesis)": batch.composition})


def log_instance(
    workload: Workload, platform: Platform, objective: str, name: str, source: str, day: str = ""
) -> Instance:
    """Return an instance of a dispatch problem with the jobs of a workload.

    Parameters
    ----------
    workload
        The jobs.
    platform
        The machine.
    objective
        Name of the objective.
    name
        Name of the instance.
    source
        Where the log comes from, for the description.
    day
        Date of second 0, "" if it is unknown.

    Returns
    -------
    Instance
        The instance; its repairs have names that are valid keys of a TOML file.
    """
    report = workload.report
    repairs = {re.sub(r"\W+", "_", what).strip("_"): n for what, n in report.repairs.items() if n}
    counted = {
        "lines_not_read": len(report.bad_lines),
        "rows_skipped": sum(report.skipped.values()),
        "jobs_left_out": len(report.dropped),
    }
    since = ""
    if day:
        since = f", from {day} on"
    return Instance(
        name=name,
        kind="dispatch",
        problem=workload.dispatch(platform, objective),
        description=f"{name}: {how_many(len(workload), 'job')} of a log{since}, {how_many(len(platform.nodes), 'node')}",
        source="; ".join([source, *report.notes]),
        repairs=repairs | {what: n for what, n in counted.items() if n},
        events=cancellations(workload),
    )


def report_lines(workload: Workload, platform: Platform) -> Iterator[str]:
    """Yield the lines of the report: repairs, unreadable lines, jobs left out, notes, offered load."""
    yield from reading.report_lines(workload.report, len(workload))
    yield f"offered load: {reading.load_text(workload, platform, 3)}"


# --- ``bench import curie``: the profit scenarios of [Bridi2018, 6.8], from the Curie log or another SWF log.

OF_CURIE = ("window", "nodes", "cores", "memory", "partition")
FIRST_DAY = {"summer": "07-01", "winter": "01-01"}


@with_options(SETTINGS, OF_CURIE, {"nodes": 300, "cores": 32, "memory": 131072}, before="scenario")
def import_curie(
    file: Annotated[Path, typer.Argument(help="SWF log, may be compressed (.gz)")],
    *,
    out: Annotated[Path, typer.Option(help="folder of the instance to write")],
    scenario: Annotated[
        str,
        typer.Option(
            help=f"default scenario of the instance: {'|'.join(PLANTS)},{'|'.join(SEASONS)},{'|'.join(PRICES)}"
        ),
    ] = "air,summer,cheap",
    weather: Annotated[
        Path | None,
        typer.Option(
            help="file with the temperatures of a year (EPW, PVGIS, CSV): July and January are used; default: synthetic"
        ),
    ] = None,
    first: FirstJobs = None,
    sample: Annotated[
        int | None,
        typer.Option(min=1, help="a random sample of n of these jobs, with the submit times and powers that they have"),
    ] = None,
    load: Load = None,
    seed: Annotated[
        int,
        typer.Option(help="random seed of the power of the jobs and of the sample; the same seed gives the same files"),
    ] = 1,
    name: Annotated[
        str | None, typer.Option(help="name of the log in the description; default: name of the file")
    ] = None,
    **settings: Any,
) -> None:
    """Convert a log to a profit problem with the eight scenarios of Bridi's thesis, section 6.8.

    The scenarios: air or hybrid cooling, summer or winter, 0.013 or 0.10 euro per core-hour; energy costs 0.13 euro per
    kWh. SWF logs contain no power: each job gets a random power, uniform in 7.8 to 11.11 W per core. The duration of a job
    is its runtime. Jobs that do not fit on the machine are left out and counted. The horizon is from the midnight before
    the first submission to the last submission.

    Example: bench import curie curie.swf.gz --window 2012-07-13:23d --weather tmy.epw --out curie_high
    """
    known(scenario, {"cooling": PLANTS, "season": SEASONS, "price": PRICES})
    trace, workload, platform, _ = open_log(file, settings_of_log("swf", settings, load), first)
    workload = with_power(workload, seed)  # before the sample: a job has the same power in both
    if sample is not None:
        workload = sampled(workload, sample, seed)
    origin, day = midnight(workload, trace.zone)
    workload = workload.since(origin)
    days = int(workload.submit[-1]) // DAY + 1
    seasons, about = _seasons(weather, days, seed)
    centre = thesis_scenarios(workload.dispatch(platform, "weighted-wait", "runtime"), seasons, scenario)
    low, high = WATTS_PER_CORE
    plain = log_instance(workload, platform, "weighted-wait", name or trace.name, f"swf log {file.name}", day)
    prices = " or ".join(f"{p:g}" for p in PRICES.values())
    instance = replace(
        plain,
        kind="profit",
        problem=centre.problem(centre.default),
        source=f"{plain.source}; power uniform in {low:g} to {high:g} W per core, seed {seed}; temperatures: {about}; "
        f"{prices} euro per core-hour, {ENERGY_PRICE:g} euro per kWh (T. Bridi, PhD thesis, section 6.8)",
        centre=centre,
    )
    with writing(out):
        write(instance, out)
    say("\n".join(report_lines(workload, platform)))
    say(f"temperatures: {about}" + ("" if weather else "; for those of a real place: --weather FILE"))
    for word, there in seasons.items():
        values = there.series.values
        say(f"  {word}: {how_many(days, 'day')}, {min(values):g} to {max(values):g} degrees C, mean {there.mean:.1f}")
    say(
        f"{out}: {how_many(len(workload), 'job')} on {how_many(len(platform.nodes), 'node')}, {how_many(len(centre.names), 'scenario')}; to see it: bench show {out}"
    )


def with_power(workload: Workload, seed: int) -> Workload:
    """Return the workload with a random power for each job, in W, uniform per core."""
    random = Random(seed)
    low, high = WATTS_PER_CORE
    cores = workload.units * workload.request[:, workload.resources.index("cores")]
    watts = [round(n * (low + random.random() * (high - low)), 2) for n in cores.tolist()]
    return replace(workload, power=np.array(watts, np.float64))


def sampled(workload: Workload, n: int, seed: int) -> Workload:
    """Return the workload of n jobs chosen at random. Raises WrongUse if there are fewer jobs."""
    if n > len(workload):
        raise WrongUse(f"--sample {n}: there are {how_many(len(workload), 'job')}; expected at most that many")
    kept = workload.keep(np.array(sorted(Random(seed).sample(range(len(workload)), n))))
    return kept.noted(f"a random sample of {n} of {how_many(len(workload), 'job')}, seed {seed}")


def _seasons(file: Path | None, days: int, seed: int) -> tuple[Mapping[str, Weather], str]:
    """Return the temperatures of both seasons, and a text about their source."""
    if file is None:
        about = f"synthetic, seed {seed}"
        return {w: Weather(f"a synthetic {w}", f"schedlab.instances.weather, seed {seed}", synthetic(w, days, seed))
                for w in SEASONS}, about  # fmt: skip
    whole = read_weather(file)
    try:
        by_season = {word: whole.during(f"{FIRST_DAY[word]}:{days}d") for word in SEASONS}
    except ValueError as e:
        raise WrongUse(
            f"--weather {file}: {e}; expected the temperatures of a whole year; {how_many(days, 'day')} of both seasons are needed"
        ) from e
    return by_season, f"{file.name}, {how_many(days, 'day')} from {' and '.join(FIRST_DAY[w] for w in by_season)} on"


# --- ``bench import`` of a project: a file of a benchmark library is converted to an instance folder.


def import_project(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="file of the benchmark library, plain or gz")],
    out: Annotated[Path, typer.Option(help="folder of the instance to write")],
    name: Annotated[str | None, typer.Option(help="name in the description; default: name of the file")] = None,
    number: Annotated[int | None, typer.Option(min=1, help="which problem of a file with several")] = None,
) -> None:
    """Convert a project of a benchmark library to an instance.

    The instance can be used with bench show, run, verify and plot.

    Example: bench import psplib j301_1.sm --out j301_1

    Example: bench import jsplib ft10.txt --out ft10

    Example: bench import weighted-tardiness wt40.txt --number 7 --out wt40_7
    """
    form = str(context.info_name)
    usual = file.name.removesuffix(".gz").partition(".")[0] + ("" if number is None else f"_{number}")
    instance = project_instance(file, form, name or usual, number)
    with writing(out):
        write(instance, out)
    say(f"{out}: {instance.description}; to see it: bench show {out}")


def project_instance(file: Path, form: str, name: str, number: int | None = None) -> Instance:
    """Read a file of a benchmark library, one of ``LIBRARIES``. Raises WrongUse with the line of a fault, ProblemError."""
    try:
        return library_instance(file, form, name, number)
    except FormatError as e:
        raise WrongUse(str(e)) from e


# --- ``bench import state``: the state of a machine from the JSON of Slurm or PBS.

EXPECTED = (
    "expected squeue --json with scontrol show nodes --json (or sinfo -N --json), or qstat -f -F json with "
    "pbsnodes -av -F json"
)


def import_state(
    files: Annotated[list[Path], typer.Argument(metavar="JOBS NODES", help="two JSON files: the jobs, the nodes")],
    out: Annotated[Path, typer.Option(help="file of the state to write")],
    now: Annotated[
        int | None, typer.Option(min=0, max=LATEST, help="time of the state, s since 1970; default: in the files")
    ] = None,
    ewt: Annotated[int, typer.Option(min=1, max=LATEST, help="expected waiting time of each queue in seconds")] = 3600,
    reservations: Annotated[
        Path | None, typer.Option(help="Slurm: scontrol show reservations, with or without --json; PBS: pbs_rstat -f")
    ] = None,
    zone: Annotated[
        str | None,
        typer.Option(help="time zone of PBS, and of the text of reservations, such as Europe/Rome; default: UTC"),
    ] = None,
    licences: Annotated[Path | None, typer.Option(help="Slurm: scontrol show lic, which has the free licences")] = None,
) -> None:
    """Make the state of a machine for bench decide from the JSON of Slurm or PBS.

    Slurm: squeue --json > jobs.json; scontrol show nodes --json > nodes.json (or sinfo -N --json).

    PBS: qstat -f -F json > jobs.json; pbsnodes -av -F json > nodes.json.

    With reservations: scontrol show reservations --json > reservations.json, or pbs_rstat -f > reservations.txt. With
    licences: scontrol show lic > licences.txt.

    Example: bench import state jobs.json nodes.json --out state.json

    Example: bench import state jobs.json nodes.json --reservations reservations.json --out state.json
    """
    if len(files) != 2:
        raise WrongUse(f"{how_many(len(files), 'file')}; {EXPECTED}")
    kinds = {_kind(values, file): values for file in files for values in [read_json(file)]}
    sources = " and ".join(str(file) for file in (*files, reservations, licences) if file is not None)
    try:
        made, skipped = _made(kinds, now, ewt, zone, reservations, licences)
    except WrongValue as e:
        raise WrongUse(f"{sources}: {e}") from e
    except (KeyError, TypeError, AttributeError) as e:
        raise WrongUse(
            f"{sources}: a field is missing or has another form ({type(e).__name__}: {e}); {EXPECTED}"
        ) from e
    if skipped[NOWHERE] and not made["running"]:
        nodes = listed([node["name"] for node in made["nodes"]], 3)
        raise WrongUse(
            f"{sources}: the jobs and the nodes are not of one machine: {how_many(skipped[NOWHERE], 'job', verb='run')}, and none of them on "
            f"a node of the list ({nodes}); expected the jobs and all nodes of a machine, from one time"
        )
    _require_now(made, now, sources)
    try:
        state_of(made, Document(out))
    except InstanceError as e:
        raise WrongUse(f"{sources}: bench decide could not read the state that they give; {e}") from e
    with writing(out):
        write_whole(out, json.dumps(made, indent=1) + "\n")
    for why, count in skipped.items():
        noun, rest = why.split(" ", 1)
        say(f"left out: {how_many(count, noun)} {rest}")
    say(
        f"{out}: {how_many(len(made['nodes']), 'node')}, {len(made['running'])} running and {how_many(len(made['waiting']), 'waiting job')}; "
        f"next: bench decide {out}"
    )


def _require_now(made: Mapping[str, Any], now: int | None, sources: str) -> None:
    """Raise WrongUse if a job runs that starts after the time of the state."""
    late = [job for job in made["running"] if job["start"] > made["now"]]
    if late:
        job = max(late, key=lambda job: job["start"])
        if now is None:
            given = f"the time of the files, {made['now']},"
        else:
            given = f"--now {now}"
        raise WrongUse(
            f"{sources}: {given} is before the start of job {job['id']}, which runs since {job['start']}; expected --now SECONDS "
            "since 1970, when the files were made"
        )


def _kind(values: Any, file: Path) -> str:
    """Return which output a file is."""
    if isinstance(values, dict):
        if isinstance(values.get("Jobs"), dict):
            return "qstat"
        if isinstance(values.get("jobs"), list):
            return "squeue"
        if isinstance(values.get("sinfo"), list) or isinstance(values.get("nodes"), list):
            return "slurm nodes"
        if isinstance(values.get("nodes"), dict):
            return "pbsnodes"
        if "pbs_version" in values:
            return "qstat"  # without jobs there is no object of them
    raise WrongUse(f"{file}: neither jobs nor nodes; {EXPECTED}")


def _made(
    kinds: Mapping[str, Any],
    now: int | None,
    ewt: int,
    zone: str | None,
    reservations: Path | None,
    licences: Path | None,
) -> tuple[dict[str, Any], Counter[str]]:
    if set(kinds) == {"squeue", "slurm nodes"}:
        reserved = None
        if reservations is not None:
            reserved = _reservations_of_slurm(reservations, zone)
        if zone is not None and reservations is None:
            raise WrongUse(
                "--zone: the times of Slurm's JSON have no time zone; it is for PBS, and the text of reservations"
            )
        free = None
        if licences is not None:
            free = free_licences(read_text(licences, errors="replace"))
        return state_from_slurm(kinds["squeue"], kinds["slurm nodes"], now, ewt, reserved, free)
    if set(kinds) == {"qstat", "pbsnodes"}:
        if licences is not None:
            raise WrongUse(f"--licences {licences}: for Slurm alone; licences of PBS are resources of its server")
        text = None
        if reservations is not None:
            text = read_text(reservations, errors="replace")
        return state_from_pbs(kinds["qstat"], kinds["pbsnodes"], now, ewt, time_zone(zone) or UTC, text)
    raise WrongUse(f"the files are {' and '.join(kinds)}; {EXPECTED}")


def _reservations_of_slurm(file: Path, zone: str | None) -> Mapping[str, Any]:
    """Return the reservations of the JSON or the text of ``scontrol show reservations``."""
    text = read_text(file, errors="replace")
    if not text.lstrip().startswith(("{", "[")):
        return reservations_in_text(text, time_zone(zone) or UTC)
    values = read_json(file)
    if not isinstance(values, dict) or not isinstance(values.get("reservations"), list):
        raise WrongUse(f"--reservations {file}: expected the output of scontrol show reservations --json")
    if zone is not None:
        raise WrongUse(
            "--zone: the times of Slurm's JSON have no time zone; it is for PBS, and the text of reservations"
        )
    return values


# --- ``bench import theta``: a moment of a log, whose job units are nodes, becomes an eviction instance.

EXPENDABLE = 1800  # seconds: jobs of a shorter runtime lose little [Maurya2020, IV.A]


def import_theta(
    file: Annotated[Path, typer.Argument(help="log whose job units are nodes (SWF, sacct, ...), plain or gz")],
    at: Annotated[int, typer.Option(help="the moment in seconds on the clock of the log")],
    out: Annotated[Path, typer.Option(help="folder of the instance to write")],
    nodes_needed: Annotated[int, typer.Option(min=0, help="nodes to be freed")] = 512,
    deadline: Annotated[
        int, typer.Option(min=0, max=LATEST, help="seconds within which they are to be free")
    ] = DEADLINE,
    seed: Annotated[int, typer.Option(help="seed of the memory and of the checkpoints, which logs lack")] = 1,
    plot: Annotated[Path | None, typer.Option(help="SVG picture of the jobs that run at the moment")] = None,
) -> None:
    """Convert the jobs that run at a moment of a log to an eviction instance, by their recorded starts.

    Memory and application-level checkpoints (every hour) are drawn as in [Maurya2020, IV.B].

    Example: bench import theta real_week_2.swf --at 1664163706 --out theta_12r --plot theta_12r.svg
    """
    log, _ = open_trace(str(file), nodes=None)
    instance = moment(log, at, nodes_needed, deadline, seed)
    with writing(out):
        write(instance, out)
    rows = running_rows(log, at)
    start = log.recorded_start[rows]
    end = (log.recorded_start + log.runtime)[rows]
    short = int((log.runtime[rows] < EXPENDABLE).sum())
    lasts = int(end.min() - start.max())
    say(f"{out}: {instance.description}; {short} of the jobs run for less than 30 min; all of them run for {lasts:,} s")
    if plot is not None:
        from ..pages.inputs import plot_running

        plot_running(instance.description, start, end, log.units[rows], at, plot)
        say(f"drawn: {plot}")


def running_rows(log: Workload, at: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the rows of the jobs that run at a time, by the starts that the log records."""
    start = log.recorded_start
    rows: np.ndarray[tuple[int], np.dtype[np.int64]] = np.flatnonzero(
        (start >= 0) & (start <= at) & (at < start + log.runtime)
    )
    return rows


def moment(log: Workload, at: int, nodes_needed: int, deadline: int, seed: int) -> Instance:
    """Return the eviction instance of a moment of a log. Raises ProblemError."""
    problem = Eviction.from_trace(log, at, nodes_needed, deadline, STEP, Checkpointing(seed=seed))
    jobs = len(problem.jobs)
    nodes = problem.nodes_in_use
    return Instance(
        name=f"moment_{at}",
        kind="eviction",
        problem=problem,
        description=f"{log.name} at {at}: {how_many(jobs, 'job')} on {how_many(nodes, 'node', ',')}, {nodes_needed:,} to be freed",
        source=SOURCE,
        nodes_compared=tuple(n for n in NEEDED if n != nodes_needed and n <= nodes),
    )


# --- ``bench import site``: the description of a machine from the files of its scheduler.


def import_site(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[PATH]...", help="files of Slurm or PBS, or folders of them, in any order"),
    ] = None,
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="file of the site to write, such as site.toml")],
    from_log: Annotated[
        Path | None,
        typer.Option(help="a log instead of files: its jobs name their nodes (sacct with NodeList, PBS)"),
    ] = None,
    zone: Annotated[
        str | None,
        typer.Option(help="time zone of reservations, events and logs, such as Europe/Rome; default: UTC"),
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="--from-log: the columns of a log without a header, as in bench simulate")
    ] = None,
    name: Annotated[str | None, typer.Option(help="name of the site; default: that of the files")] = None,
) -> None:
    """Make the description of a machine from the files of its scheduler.

    Slurm: slurm.conf and gres.conf; sacctmgr dump CLUSTER file=dump.cfg; sacctmgr -P show assoc, qos, reservation or event;
    scontrol show config, node, partition, res or lic.

    PBS: qmgr -c "print server"; pbsnodes -av, also with -F json; sched_config.

    Prints what is read, references that lead nowhere, and what no replay obeys.

    Example: bench import site slurm.conf gres.conf dump.cfg qos.txt --out site.toml

    Example: bench import site /etc/slurm --out site.toml

    Example: bench import site qmgr.txt pbsnodes.txt --out site.toml

    Example: bench import site --from-log jobs.txt --out site.toml
    """
    from ..tables.inputs import site_lines

    if from_log is None:
        if not paths:
            raise WrongUse(
                "bench import site: expected files such as slurm.conf dump.cfg, a folder of them, or --from-log LOG"
            )
        if columns is not None:
            raise WrongUse(f"--columns {columns}: only with --from-log")
        for path in paths:
            check_file(path)
        site = read_site(*paths, zone=time_zone(zone) or UTC, name=name)
    else:
        if paths:
            raise WrongUse(f"--from-log {from_log}: the site is that of the log; leave {paths[0]} out")
        site = _site_of_log(from_log, name, zone, columns)
    with writing(out):
        write_site(site, out)
    say("\n".join(site_lines(site)))
    parts = [how_many(len(site.nodes), "node", ","), how_many(len(site.partitions), "partition")]
    say(f"{out}: {', '.join(parts)}, {len(site.qos)} QOS; to see it: bench show {out}")


def _site_of_log(path: Path, name: str | None, zone: str | None, columns: str | None) -> Site:
    """Return the site that a log shows, and say what it does not tell. Raises WorkloadError, WrongUse."""
    check_file(path, "--from-log")
    trace = read_log(path, ReplaySettings(trace=True, zone=zone, columns=columns))
    site = site_of_trace(trace)
    for line in notes_on_shown(trace, site):
        say(f"note: {line}")
    if name is None:
        return site
    return replace(site, name=name)


# --- ``bench import weather``: the hourly temperatures of a weather file, or of some days of it, are written as CSV.

HOUR = 3600  # seconds


def import_weather(
    file: Annotated[Path, typer.Argument(help="weather file: EPW, typical year of PVGIS, or CSV")],
    out: Annotated[Path, typer.Option(help="CSV file to write, with the columns time_s,temperature_c")],
    window: Annotated[
        str | None,
        typer.Option(help="only some days: 07-15:7d (7 days from July 15, 0:00), 12-28:10d"),
    ] = None,
) -> None:
    """Convert a weather file to a CSV table of temperatures.

    A CSV file needs a column of temperatures, such as temperature_c or drybulb_c. Times are in a column time_s, in the
    columns month,day,hour_ending, or given as dates with times; a file without times has one row per hour. The time zone
    of the file is kept (PVGIS: UTC). Gaps and missing values are reported with their lines.

    Example: bench import weather tmy.epw --window 07-15:7d --out july.csv
    """
    weather = read_weather(file, window)
    with writing(out):
        write_weather(weather, out)
    s = weather.series
    since = ""
    if weather.first_day:
        since = " from {:02}-{:02} on".format(*weather.first_day)
    say(f"mean {weather.mean:.2f} degrees C, least {min(s.values):g}, greatest {max(s.values):g}")
    say(f"{out}: {how_many((s.end - s.begin) / HOUR, 'hour', ',g')}{since}, {how_many(len(s.values), 'value', ',')}")


# --- The formats as sub-commands.


class Formats(NamedCommands):
    """The formats; an unknown name is an error that lists similar names."""

    what = "format"


import_app = typer.Typer(cls=Formats, no_args_is_help=True, subcommand_metavar="FORMAT FILE [OPTIONS]")


@import_app.callback()
def import_() -> None:
    """Convert a workload log or a project to an instance.

    A log is that of a machine, a project a file of a benchmark library such as PSPLIB. A weather file is converted to a
    table of temperatures, which profit problems use.

    Help for one format: bench import swf --help

    Example: bench import swf log.swf.gz --nodes 300 --cores 32 --memory 131072 --window 2012-07-13:23d --out my_days

    Example: bench import psplib j301_1.sm --out j301_1
    """


for _name, _format in FORMATS.usable():
    import_app.command(_name, short_help=f"log: {_format.about}")(import_log)
for _name, _library in LIBRARIES.items():
    if _library.folder:
        import_app.command(_name, short_help=_library.about)(import_project)
import_app.command("weather", short_help="temperatures: EPW, PVGIS, CSV")(import_weather)
import_app.command("curie", short_help="profit scenarios of Bridi's thesis, from an SWF log")(import_curie)
import_app.command("theta", short_help="eviction problem of a moment of a log")(import_theta)
import_app.command("state", short_help="state of a machine from Slurm or PBS, for bench decide")(import_state)
import_app.command("site", short_help="description of a machine, from files of Slurm or PBS")(import_site)


MOST_JOBS = 1_000_000
MOST_LOGGED = 5_000_000
MOST_DAYS = 36_525
Out = Annotated[Path, typer.Option(help="folder of the instance to write")]
Seed = Annotated[int, typer.Option(help="random seed; the same seed gives the same files")]


class Generators(NamedCommands):
    """The generators as sub-commands; an unknown name is an error that lists similar names."""

    what = "generator"


generate_app = typer.Typer(cls=Generators, no_args_is_help=True, subcommand_metavar="GENERATOR [OPTIONS]")


@generate_app.callback()
def generate() -> None:
    """Generate an instance from the statistics of a machine.

    Help for one generator: bench generate centre --help

    Example: bench generate eurora --jobs 700 --seed 7 --out my_day
    """


def machine(
    context: typer.Context,
    out: Out,
    jobs: Annotated[int, typer.Option(min=1, max=MOST_JOBS, help="number of jobs")] = 700,
    seed: Seed = 7,
    nodes: Annotated[
        int | None, typer.Option(min=1, max=MOST_NODES, help="number of nodes; default: that of the real machine")
    ] = None,
) -> None:
    """Generate a moment of Theta (eviction problem).

    Example: bench generate theta --jobs 24 --seed 1 --out my_moment
    """
    sizes = {}
    if nodes is not None:
        sizes = {"nodes": nodes}
    _generate(str(context.info_name), out, jobs, seed, sizes)


def eurora(
    out: Out,
    jobs: Annotated[int, typer.Option(min=1, max=MOST_JOBS, help="number of jobs")] = 700,
    seed: Seed = 7,
    nodes: Annotated[int | None, typer.Option(min=1, max=MOST_NODES, help="number of nodes: 65 (default) or 4")] = None,
    kinds: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=len(KINDS),
            help=f"number of kinds of resources, the first of {', '.join(KINDS)}; each but cores is on half of the nodes "
            "and requested by 30 % of the jobs; default: cores, GPUs, MICs and memory as on Eurora",
        ),
    ] = None,
    units_factor: Annotated[
        float | None,
        typer.Option(
            help="factor of the number of units of each job; walltimes stay, so that the workload grows with it"
        ),
    ] = None,
) -> None:
    """Generate a day of Eurora (dispatch problem).

    Example: bench generate eurora --jobs 700 --seed 7 --out my_day

    Example: bench generate eurora --jobs 100 --nodes 4 --kinds 3 --out my_small_day

    Example: bench generate eurora --jobs 700 --units-factor 1.5 --out my_heavy_day
    """
    given = {"nodes": nodes, "kinds": kinds, "units_factor": units_factor}
    _generate("eurora", out, jobs, seed, {name: value for name, value in given.items() if value is not None})


def production(
    out: Out,
    jobs: Annotated[
        int, typer.Option(min=LEAST, max=MOST_JOBS, help="number of jobs, arrays counted once, without the course")
    ] = 400,
    seed: Seed = 7,
) -> None:
    """Generate a week of Eurora in production (dispatch problem): reservations, outages, job arrays, heterogeneous jobs.

    What is added to the days of Eurora is described in schedlab/instances/generators.

    Example: bench generate eurora-production --jobs 400 --seed 7 --out my_week
    """
    _generate("eurora-production", out, jobs, seed, {})


def centre(
    out: Out,
    jobs: Annotated[int, typer.Option(min=1, max=MOST_JOBS, help="number of jobs")] = 1000,
    nodes: Annotated[int, typer.Option(min=1, max=MOST_NODES, help="number of nodes, each with 32 cores")] = 60,
    days: Annotated[
        int,
        typer.Option(min=1, max=MOST_DAYS, help="number of days on which jobs are submitted; the first is a Monday"),
    ] = 5,
    load: Annotated[float, typer.Option(help="offered load: work of the jobs / capacity of the machine")] = 1.5,
    seed: Seed = 7,
    shortest: Annotated[int, typer.Option(min=1, max=LATEST, help="least runtime of a job in seconds")] = 1,
    step: Annotated[int, typer.Option(min=1, max=LATEST, help="all times are multiples of this, in seconds")] = 1,
) -> None:
    """Generate jobs of a computing centre: a profit problem with the eight scenarios of Bridi's thesis.

    Submit times, sizes, runtimes and users follow the Curie log; the measured statistics are in
    schedlab/instances/generators.

    Example: bench generate centre --jobs 1000 --nodes 60 --days 5 --load 1.5 --seed 4 --out my_batch

    Example: bench generate centre --jobs 60 --nodes 8 --days 2 --seed 25 --shortest 600 --step 60 --out my_small_batch
    """
    _generate(
        "centre", out, jobs, seed, {"nodes": nodes, "days": days, "load": load, "shortest": shortest, "step": step}
    )


def project(
    out: Out,
    tasks: Annotated[int, typer.Option(min=1, max=MOST_TASKS, help="number of tasks")] = 30,
    modes: Annotated[int, typer.Option(min=1, max=MOST_MODES, help="number of modes of a task")] = 3,
    renewable: Annotated[int, typer.Option(min=0, max=MOST_RESOURCES, help="number of renewable resources")] = 2,
    nonrenewable: Annotated[int, typer.Option(min=0, max=MOST_RESOURCES, help="number of non-renewable resources")] = 2,
    complexity: Annotated[float, typer.Option(min=0, max=NEAR, help="precedences per task")] = 1.5,
    factor: Annotated[float, typer.Option(min=0, max=1, help="probability that a task uses a resource")] = 0.75,
    strength: Annotated[
        float,
        typer.Option(min=0, max=1, help="capacities: 0 for the least possible ones, 1 for the greatest useful ones"),
    ] = 0.25,
    seed: Seed = 1,
) -> None:
    """Generate a project with modes and resources (RCPSP, MRCPSP), after ProGen.

    Example: bench generate project --tasks 30 --modes 1 --nonrenewable 0 --out my_project

    Example: bench generate project --tasks 16 --modes 2 --seed 3 --out my_small_project
    """
    sizes = {"modes": modes, "renewable": renewable, "nonrenewable": nonrenewable}
    ratios = {"complexity": complexity, "factor": factor, "strength": strength}
    _generate("project", out, tasks, seed, sizes | ratios, "tasks")


def fing(
    out: Out,
    jobs: Annotated[int, typer.Option(min=1, max=MOST_JOBS, help="number of jobs")] = 1000,
    nodes: Annotated[int, typer.Option(min=2, max=MOST_NODES, help="number of nodes, each with 12 cores")] = 37,
    users: Annotated[int, typer.Option(min=1, max=MOST_JOBS, help="number of users, with uneven shares")] = 20,
    load: Annotated[
        float, typer.Option(help="offered load: work of the jobs / capacity of the machine; the jobs are few and long")
    ] = 4.0,
    estimates: Annotated[
        str,
        typer.Option(
            help="how users estimate walltimes: cf (as on Cluster FING), cfg (half of the users well), be (all badly), "
            "ge (all well)"
        ),
    ] = "cf",
    seed: Seed = 1,
) -> None:
    """Generate a workload of Cluster FING (dispatch problem), for the penalty scheduling policy.

    bench simulate --users replaces its walltimes by those of users who learn.

    Example: bench generate fing --load 6 --seed 1 --out my_fing

    Example: bench simulate my_fing --dispatchers psp,easy --users di --by user-accuracy
    """
    _generate("fing", out, jobs, seed, {"nodes": nodes, "users": users, "load": load, "estimates": estimates})


def lublin(
    out: Annotated[Path, typer.Option(help="folder of the instance to write, or a log: a file that ends in .swf")],
    jobs: Annotated[int, typer.Option(min=1, max=MOST_LOGGED, help="number of jobs")] = 10_000,
    nodes: Annotated[int, typer.Option(min=2, max=MOST_NODES, help="number of identical nodes")] = 512,
    load: Annotated[float, typer.Option(help="offered load: work of the jobs / capacity of the machine")] = 0.8,
    largest: Annotated[int | None, typer.Option(min=2, help="nodes of the largest job; default: all nodes")] = None,
    longest: Annotated[int, typer.Option(min=300, help="longest runtime and walltime in s")] = 86_400,
    users: Annotated[int, typer.Option(min=1, max=MOST_JOBS, help="number of users, with uneven shares")] = 100,
    cores: Annotated[int, typer.Option(min=1, help="cores of a node; each job takes whole nodes")] = 1,
    seed: Seed = 1,
) -> None:
    """Generate rigid jobs on identical nodes after Lublin and Feitelson: an instance (dispatch problem), or a log.

    Example: bench generate lublin --jobs 10000 --nodes 512 --load 0.9 --out my_jobs

    Example: bench generate lublin --jobs 1300000 --nodes 158976 --largest 256 --out month.swf
    """
    sizes: dict[str, Any] = {
        "nodes": nodes,
        "load": load,
        "largest": largest,
        "longest": longest,
        "users": users,
        "cores": cores,
    }
    if out.suffix != ".swf":
        if jobs > MOST_JOBS:
            raise WrongUse(
                f"--jobs {jobs}: expected at most {MOST_JOBS} for an instance; more fit in a log (--out {out}.swf)"
            )
        _generate("lublin", out, jobs, seed, sizes)
        return
    try:
        with writing(out):
            write_swf(lublin_workload(jobs, seed, **sizes), nodes, out, cores)
    except ValueError as e:
        raise WrongUse(f"lublin: {e}") from e
    say(f"{out}: {how_many(jobs, 'job')}, seed {seed}; to replay it: bench simulate {out}")


def _generate(name: str, out: Path, jobs: int, seed: int, sizes: dict[str, Any], what: str = "jobs") -> None:
    try:
        with writing(out):
            write(generators[name](jobs, seed, **sizes), out)
    except ValueError as e:
        raise WrongUse(f"{name}: {e}") from e
    say(f"{out}: {how_many_of(jobs, what)}, seed {seed}; to see it: bench show {out}")


ABOUT = {
    "eurora": "days of the Eurora supercomputer (dispatch problems)",
    "eurora-production": "a week of Eurora with reservations, outages and server events (dispatch problem)",
    "theta": "moments of the Theta supercomputer (eviction problems)",
    "centre": "jobs of a computing centre (profit problems)",
    "fing": "workloads of Cluster FING (dispatch problems)",
    "lublin": "rigid jobs on identical nodes: dispatch problems, or logs of millions of jobs",
    "project": "projects with modes and resources (RCPSP, MRCPSP)",
}
OWN: dict[str, Callable[..., None]] = {
    "eurora": eurora,
    "eurora-production": production,
    "centre": centre,
    "project": project,
    "fing": fing,
    "lublin": lublin,
}
for _name in generators:
    generate_app.command(_name, short_help=ABOUT.get(_name, _name))(OWN.get(_name, machine))
