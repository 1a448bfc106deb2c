"""On-demand jobs, checkpoints and failures of replays, from their settings; the form of their part of a record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ....instances.files.own_files import content_of
from ....instances.workload import Workload
from ....models.platform import Platform
from ...errors import WrongUse
from ...records.form import NUMBER, TEXT, anything, either, fields, integer, mapping, maybe, row, several
from ...runs.replay_settings import ReplaySettings

if TYPE_CHECKING:
    from ....simulation.preemption.settings import Preemption
    from ....simulation.preemption.stream import Stream
    from .case import ReplayCase

PANEL = "On-demand jobs and failures"
STREAM, LOG = "stream", "log"
USUAL_EVICTOR, USUAL_CHECKPOINTS = "dp", "fixed:3600"

OnDemand = Annotated[
    str | None,
    typer.Option(
        help="on-demand jobs: a CSV file id,submit,nodes,start_within,duration[,notice][,power] (seconds, watts), or a random stream with options: "
        "stream:rate=4:start_within=900:seed=1 (rate: jobs a day)",
        rich_help_panel=PANEL,
    ),
]
Evictors = Annotated[
    str | None,
    typer.Option(
        "--evictor",
        help="who leaves for on-demand jobs: none, kill, greedy, dp (default), dp-knee, reserve:NODES, or a method such as "
        "cpsat:shared; several, separated by commas",
        rich_help_panel=PANEL,
    ),
]
Checkpoints = Annotated[
    str | None,
    typer.Option(
        help="application checkpoints: fixed:SECONDS (default: 3600), young:RATE, daly:RATE (failures of a node per year), "
        "none, log:FILE (id,interval)",
        rich_help_panel=PANEL,
    ),
]
Failures = Annotated[
    str | None,
    typer.Option(
        help="failures of nodes: RATE (of a node per year) with options as 0.5:repair=3600:seed=1, or a CSV file "
        "time,node[,repair]",
        rich_help_panel=PANEL,
    ),
]
Restart = Annotated[
    int | None,
    typer.Option(help="seconds that a job needs to restart after it left or failed; default: 0", rich_help_panel=PANEL),
]
Shared = Annotated[
    bool,
    typer.Option(
        "--shared-bandwidth",
        help="checkpoints share the bandwidth of the file system; default: they are written one after another",
        rich_help_panel=PANEL,
    ),
]

DEPARTURE = dict.fromkeys(("decided", "stop", "write", "end"), integer())
CANDIDATE = row(TEXT, integer(1), integer(0), NUMBER, maybe(NUMBER), NUMBER, NUMBER)
PREEMPTION = maybe(
    fields(
        {
            "first_start": mapping(integer()),
            "decisions": several(
                fields(
                    {
                        "job": TEXT,
                        "time": integer(),
                        "busy": integer(0),
                        "seconds": NUMBER,
                        "needed": maybe(integer(0)),
                        "deadline": maybe(integer(0)),
                        "candidates": maybe(several(CANDIDATE)),
                        "plan": maybe(mapping(either(TEXT, anything))),
                    }
                )
            ),
            "departures": several(
                fields({**dict.fromkeys(("job", "cause", "strategy"), TEXT), "attempt": integer(1), **DEPARTURE})
            ),
        }
    )
)
"""The form of the field ``preemption`` of a record, see ``simulation.outputs.preemption``."""


def preemption_settings(
    on_demand: str | None,
    evictors: str | None,
    checkpoints: str | None,
    failures: str | None,
    restart: int | None,
    shared: bool,
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the fields of ``ReplaySettings`` of the options, and the evictors. Raises WrongUse for impossible values."""
    names = tuple(dict.fromkeys(n.strip() for n in (evictors or "").split(",") if n.strip()))
    if not (on_demand or failures):
        given = {"--evictor": names, "--checkpoints": checkpoints, "--restart": restart, "--shared-bandwidth": shared}
        unused = next((option for option, value in given.items() if value not in (None, False, ())), None)
        if unused:
            raise WrongUse(f"{unused}: only with --on-demand or --failures; give one of them")
        return {}, ()
    if names and not on_demand:
        raise WrongUse(f"--evictor {names[0]}: only with --on-demand")
    if restart is not None and restart < 0:
        raise WrongUse(f"--restart {restart}: expected seconds of at least 0")
    found: dict[str, Any] = {
        "on_demand": on_demand,
        "on_demand_content": None if on_demand is None or _is_stream(on_demand) else _content("--on-demand", on_demand),
        "checkpoints": checkpoints or USUAL_CHECKPOINTS,
        "failures": failures,
        "restart": restart or 0,
        "shared_bandwidth": shared,
    }
    found["checkpoints_content"] = _of_log(found["checkpoints"])
    found["failures_content"] = None if failures is None else _of_failures(failures)
    names = (names or (USUAL_EVICTOR,)) if on_demand else ("none",)
    _check(found, names)
    return found, names


def _check(found: dict[str, Any], evictors: Sequence[str]) -> None:
    """Raise WrongUse, UnknownName or PluginError for values that no replay can have."""
    from ....errors import WrongValue
    from ....simulation.preemption.checkpoints import checkpoints_of
    from ....simulation.preemption.evictors import evictor_of
    from ....simulation.preemption.files import read_on_demand

    checks: tuple[tuple[str, Callable[[str], object], Sequence[str]], ...] = (
        ("--evictor", evictor_of, evictors),
        ("--checkpoints", checkpoints_of, [found["checkpoints"]]),
    )
    for option, read, texts in checks:
        try:
            for text in texts:
                read(text)
        except WrongValue as e:
            raise WrongUse(f"{option}: {e}") from e
    if found["on_demand"] is not None:
        if _is_stream(found["on_demand"]):
            _stream(found["on_demand"])
        else:
            read_on_demand(found["on_demand"])


def _is_stream(text: str) -> bool:
    return text.partition(":")[0] == STREAM


def _stream(text: str) -> Stream:
    """Return the stream of a text ``stream:OPTION=VALUE...``. Raises WrongUse."""
    from ....simulation.preemption.stream import Stream

    known = ("rate", "start_within", "shortest", "longest", "notice", "seed")
    values: dict[str, float] = {}
    for part in text.split(":")[1:]:
        name, _, value = part.partition("=")
        try:
            if name not in known:
                raise WrongUse(f"--on-demand {text}: expected the options {', '.join(known)}, found {part!r}")
            values[name] = float(value)
        except ValueError:
            raise WrongUse(f"--on-demand {text}: {name}: expected a number, found {value!r}") from None
    try:
        return Stream(**values)  # type: ignore[arg-type]
    except ValueError as e:
        raise WrongUse(f"--on-demand {text}: {e}") from e


def _content(option: str, path: str) -> str:
    if not Path(path).is_file():
        raise WrongUse(f"{option} {path}: there is no such file")
    return content_of(Path(path))


def _of_log(text: str) -> str | None:
    name, _, path = text.partition(":")
    return _content("--checkpoints", path) if name == LOG else None


def _of_failures(text: str) -> str | None:
    from ....simulation.preemption.failures import rate_of

    try:
        return None if rate_of(text) is not None else _content("--failures", text)
    except ValueError as e:
        raise WrongUse(f"--failures: {e}") from e


def preemption_of(replay: ReplaySettings, workload: Workload, platform: Platform) -> Preemption | None:
    """Return the on-demand jobs, checkpoints and failures of a replay; None without any. Raises WrongUse, InstanceError."""
    from ....simulation.preemption.failures import failures_of
    from ....simulation.preemption.files import read_on_demand
    from ....simulation.preemption.settings import Preemption

    if replay.on_demand is None and replay.failures is None:
        return None
    if replay.requeue.startswith("checkpoint"):
        raise WrongUse(
            f"--requeue {replay.requeue}: not with --on-demand or --failures, where --checkpoints says what jobs keep; "
            "expected restart or drop"
        )
    _check_contents(replay)
    begin, end = int(workload.submit.min()), int(workload.submit.max())
    jobs: Sequence[Any] = ()
    if replay.on_demand is not None and _is_stream(replay.on_demand):
        jobs = _stream(replay.on_demand).draw(begin, end, len(platform.nodes))
    elif replay.on_demand is not None:
        jobs = read_on_demand(replay.on_demand, platform)
    if replay.watts_per_core is not None:
        cores = next(iter(platform.groups)).capacity.get("cores", 0)
        watts = {n: float(replay.watts_per_core * cores * n) for n in {j.nodes for j in jobs}}
        jobs = [j if j.power is not None else replace(j, power=watts[j.nodes]) for j in jobs]
    failures = () if replay.failures is None else failures_of(replay.failures, platform, begin, 2 * end - begin)
    return Preemption(
        tuple(jobs),
        replay.evictor or "none",  # type: ignore[arg-type]
        replay.checkpoints or USUAL_CHECKPOINTS,  # type: ignore[arg-type]
        restart=replay.restart or 0,
        shared_bandwidth=bool(replay.shared_bandwidth),
        failures=failures,
    )


def _check_contents(replay: ReplaySettings) -> None:
    """Raise WrongUse if a file was changed since the replay."""
    log = (replay.checkpoints or "").partition(":")[2]
    pairs = (
        ("--on-demand", replay.on_demand, replay.on_demand_content),
        ("--failures", replay.failures, replay.failures_content),
        ("--checkpoints", log, replay.checkpoints_content),
    )
    for option, path, content in pairs:
        if content is not None and path and content_of(Path(path)) != content:
            raise WrongUse(f"{option} {path}: the file was changed after the replay")


def with_jobs(workload: Workload, platform: Platform, preemption: Preemption) -> tuple[Workload, tuple[int, ...]]:
    """Return the workload of a replay with its on-demand jobs, and their rows. Raises WrongUse."""
    from ....errors import WrongValue
    from ....simulation.features.on_demand import OnDemand

    made = OnDemand(preemption)
    try:
        whole = made.jobs(workload, platform)
        return whole, tuple(made.absent(whole))
    except WrongValue as e:
        raise WrongUse(f"--on-demand: {e}") from e


def settings_of_each(replay: ReplaySettings, evictors: Sequence[str]) -> list[ReplaySettings]:
    """Return the settings of the replays: one for each evictor."""
    return [replace(replay, evictor=name) for name in evictors] or [replay]


def check_preemption(path: str, case: ReplayCase, settings: Sequence[ReplaySettings]) -> None:
    """Check before any replay that on-demand jobs, evictors, jobs and machine fit together. Raises WrongUse."""
    if case.preemption is None:
        return
    for one in settings:
        made = preemption_of(one, case.workload, case.platform)
        assert made is not None
        with_jobs(case.workload, case.platform, made)
