"""Instances of kind "profit": platform, queues and jobs as for kind "dispatch", and power, cooling, seasons, prices.

``jobs.csv`` has a column ``power``: the power of the whole job in W. The duration of a job is its runtime, or its
walltime if it has no runtime. ``running.csv`` has the jobs that run at the begin, as for kind "dispatch"; they end by
their runtimes, if they have one. Besides platform, queues and ``begin_s``, ``instance.toml`` has::

    scenario = "air,summer,cheap"        # the default scenario
    [profit]
    energy_price = 0.13                  # euro per kWh, may be negative; or a CSV file of the folder (time_s,euro_per_kwh)
    until_s = 432000                     # end of the period in which profit counts; default: the last submit time
    watts_per_core = 9.0                 # power of jobs without a value in column power; default: such a job is a fault
    [profit.cooling.air]
    table = "air"                        # a shipped table, or a file of the folder
    scale = 0.2                          # factor of the IT power and cooling power of the table; default: 1
    [profit.season.summer]
    temperatures = "summer.csv"          # time_s,temperature_c, or another weather file that read_weather reads
    [profit.price.cheap]
    core_hour = 0.013                    # euro

The scenarios are all combinations of cooling, season and price. Profit counts from ``begin_s`` on, by default 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any, TypeVar

from ...errors import WrongValue
from ...models.dispatch.jobs import Running
from ...models.dispatch.problem import Dispatch
from ...models.platform import LATEST, ProblemError
from ...models.profit.problem import Profit, cores
from ...models.step_function import StepFunction
from ...models.words import excerpt, how_many
from ..formats.cooling_tables import UnknownCooling, cooling, cooling_csv, cooling_names, read_cooling
from ..instance import Instance, Plant, Scenarios, Season, UnknownScenario, known
from ..weather import read_weather, weather_csv
from .dispatch_folder import (
    JOBS,
    RUNNING,
    Batch,
    job_files,
    machine_tables,
    origin_tables,
    read_batch,
    read_running_jobs,
)
from .profile_file import EURO, TIME, read_series
from .reading import SETTINGS, Folder, ForeignFile, InstanceError, Table, WorkloadError, own_file, read_lines
from .writing import to_csv, to_toml, write_files

PRICES_FILE = "energy_prices.csv"
WORD = re.compile(r"[\w-]+", re.ASCII)
SHOWN = 10  # faults of the same kind in the error message
HEADING = """\
An instance of schedlab. Times are in seconds, 0 is midnight of the first day; memory is in MB, power in watts.
The jobs are in jobs.csv: a column per resource holds what one unit requests; all units of a job start together.
Profit is what jobs pay for their core-hours, less the energy of their work and of its cooling."""
T = TypeVar("T")


def read(folder: Folder, drop_impossible: bool = False) -> Instance:
    """Read an instance folder; the problem is that of its default scenario. Raises InstanceError with all faults."""
    s = folder.settings
    s.only(
        "kind", "description", "source", "scenario", "begin_s", "profit", "platform", "queues", "generator", "repairs"
    )
    description = s.text("description", "")
    source = s.text("source", "")
    repairs = s.wholes("repairs", needed=False)
    generator = s.table("generator").values
    profit = s.table("profit")
    profit.only("watts_per_core", "until_s", "energy_price", "cooling", "season", "price")
    plants = dict(_each(profit, "cooling", _plant))
    seasons = dict(_each(profit, "season", _season))
    prices = dict(_each(profit, "price", _price))
    energy = _energy_price(profit)
    horizon_end = None
    if "until_s" in profit.values:
        horizon_end = profit.whole("until_s", 1, most=LATEST)
    watts = _number(profit, "watts_per_core", 0, None)
    default = _default(s, {"cooling": plants, "season": seasons, "price": prices})
    batch = read_batch(folder, drop_impossible)
    begin = s.whole("begin_s", 0, 0, LATEST)
    running = [replace(r, end=r.true_end) for r in read_running_jobs(folder, batch, begin)]
    _check_jobs(folder, batch, watts)
    _check_running(folder, running, watts)
    folder.raise_faults()
    jobs = Dispatch(batch.platform, batch.jobs, batch.queues, now=begin, running=running, durations="runtime")
    plants_read = {word: plant for word, plant in plants.items() if plant}
    seasons_read = {word: season for word, season in seasons.items() if season}
    centre = Scenarios(jobs, plants_read, seasons_read, prices, energy, default, horizon_end, watts)
    problem = _made(folder, centre)
    name = folder.path.resolve().name
    return Instance(
        name,
        "profit",
        problem,
        folder.path,
        description,
        source,
        generator,
        repairs,
        dropped=tuple(batch.dropped),
        centre=centre,
    )


def _each(profit: Table, axis: str, read_one: Callable[[Table, str], T]) -> Iterator[tuple[str, T]]:
    """Yield (key, content) of each table [profit.AXIS.KEY]."""
    tables = profit.table(axis)
    if not tables.values:
        profit.add_fault(axis, f"at least one table [profit.{axis}.KEY]", None)
    for word in tables.values:
        if not WORD.fullmatch(word):
            tables.add_fault(word, "a key of letters, digits, - and _", word)
        yield word, read_one(tables.table(word), word)


def _number(table: Table, key: str, least: float, default: float | None, expected: str = "") -> float | None:
    """Return a number of at least ``least``; the default if the key is missing."""
    value = table.values.get(key, default)
    if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool) and least <= value < inf):
        return value
    table.add_fault(key, expected or f"a number of at least {least:g}", value)
    return default


def _plant(table: Table, word: str) -> Plant | None:
    table.only("table", "scale")
    name = table.text("table")
    scale = table.values.get("scale", 1)
    if not isinstance(scale, (int, float)) or isinstance(scale, bool) or not 0 < scale < inf:
        table.add_fault("scale", "a number above 0", scale)
        scale = 1
    if not name:
        return None
    try:
        if name in cooling_names():
            return Plant(name, cooling(name), float(scale))
        path = own_file(table.folder.path, name)
        return Plant(name, read_cooling(path), float(scale), _text(path))
    except FileNotFoundError:
        expected = f"a file of the folder, or a shipped table ({', '.join(cooling_names())})"
        near = UnknownCooling(name).near
        table.add_fault("table", expected + (f"; {near[0]} perhaps" if near else ""), name)
    except (InstanceError, WorkloadError, ForeignFile) as e:
        _add_file_faults(table, "table", e)
    return None


def _season(table: Table, word: str) -> Season | None:
    table.only("temperatures")
    file = table.text("temperatures")
    if not file:
        return None
    try:
        path = own_file(table.folder.path, file)
        return Season(file, read_weather(path), _text(path))
    except (InstanceError, WorkloadError, ForeignFile, FileNotFoundError) as e:
        _add_file_faults(table, "temperatures", e)
    return None


def _text(path: Path) -> str:
    """Return the text of a file with its comments, for a copy of it."""
    return "\n".join(read_lines(path)) + "\n"


def _add_file_faults(table: Table, key: str, error: Exception) -> None:
    """Record the faults of a file whose name is the value of ``key``."""
    if isinstance(error, InstanceError):
        table.folder.faults += error.faults
    elif isinstance(error, WorkloadError):
        table.add_fault(key, "a file of the folder that can be read", str(error))
    else:
        why = "there is no such file"
        if not isinstance(error, FileNotFoundError):
            why = str(error)
        table.add_fault(key, f"a regular file of the folder ({why})", table.values.get(key))


def _price(table: Table, word: str) -> float:
    table.only("core_hour")
    price = _number(table, "core_hour", 0, None, "euro per core-hour, a number of at least 0")
    if "core_hour" not in table.values:
        table.add_fault("core_hour", "euro per core-hour", None)
    return price or 0.0


def _energy_price(profit: Table) -> StepFunction | float:
    value = profit.values.get("energy_price")
    if isinstance(value, str):
        try:
            return read_series(own_file(profit.folder.path, value))
        except (InstanceError, WorkloadError, ForeignFile, FileNotFoundError) as e:
            _add_file_faults(profit, "energy_price", e)
            return 0.0
    energy_price = _number(profit, "energy_price", -inf, None, f"euro per kWh, or a file ({TIME},{EURO})")
    if value is None:
        profit.add_fault("energy_price", f"euro per kWh, or a file ({TIME},{EURO})", None)
    return energy_price or 0.0


def _default(settings: Table, axes: Mapping[str, Mapping[str, object]]) -> str:
    name = settings.text("scenario")
    try:
        if name:
            return ",".join(known(name, axes))
        return ""
    except UnknownScenario as e:
        settings.add_fault("scenario", ",".join(axes), str(e))
        return ""


def _check_jobs(folder: Folder, batch: Batch, watts_per_core: float | None) -> None:
    """Record as faults: jobs without a power, and jobs with a power but without cores."""
    missing = []
    if watts_per_core is None:
        missing = [j for j in batch.jobs if j.power is None]
    for job in missing[:SHOWN]:
        batch.rows[job.id].add_fault(
            "power", "the power of the job in W (or watts_per_core in [profit] of instance.toml)", None
        )
    if len(missing) > SHOWN:
        folder.add_fault(JOBS, None, "power", "a power for every job", f"{how_many(len(missing), 'job')} without one")
    for job in [j for j in batch.jobs if j.power and not cores(j)][:SHOWN]:
        batch.rows[job.id].add_fault(
            "cores", f"at least 1, as the job has a power of {job.power:g} W and pays per core", 0
        )


def _check_running(folder: Folder, running: Iterable[Running], watts_per_core: float | None) -> None:
    """Record as faults: running jobs without a power."""
    for r in running:
        if r.job.power is None and watts_per_core is None:
            expected = "the power of each running job in W (or watts_per_core in [profit] of instance.toml)"
            folder.add_fault(RUNNING, None, "power", expected, f"job {r.job.id} without one")


def _made(folder: Folder, centre: Scenarios) -> Profit:
    """Return the default problem, after a check of every season with every cooling plant."""
    if centre.horizon_end is None:
        last = max((j.submit for j in centre.jobs.jobs), default=0)
    else:
        last = centre.horizon_end
    begin = centre.jobs.now
    if last <= begin:
        expected = (
            f"the end of the period in which profit counts, as no job is submitted after the begin, second {begin}"
        )
        folder.settings.table("profit").add_fault("until_s", expected, None)
    if "cores" not in centre.jobs.platform.resources:
        folder.settings.add_fault(
            "platform", "nodes with cores, as jobs pay per core", ", ".join(centre.jobs.platform.resources)
        )
    covering = {season.file: season.weather.series for season in centre.season.values()}
    if isinstance(centre.energy_price, StepFunction):
        covering[str(folder.settings.table("profit").values["energy_price"])] = centre.energy_price
    for file, series in covering.items():
        if series.begin > begin or series.end < last:
            expected = f"values from {begin} s to {last} s, the period in which profit counts"
            folder.add_fault(file, None, TIME, expected, f"values from {series.begin} s to {series.end} s")
    folder.raise_faults()
    price = next(iter(centre.price))
    reported = set()
    for plant in centre.cooling:
        for season in centre.season:
            try:
                centre.problem(f"{plant},{season},{price}")
            except ProblemError as e:
                if str(e) not in reported:
                    cooling_tables = folder.settings.table("profit").table("cooling")
                    cooling_tables.add_fault(plant, "a problem without contradictions", str(e))
                reported.add(str(e))
    folder.raise_faults()
    return centre.problem(centre.default)


def write(instance: Instance, folder: str | Path) -> None:
    """Write a profit instance as a folder; the same instance gives the same bytes.

    Parameters
    ----------
    instance
        The instance.
    folder
        The folder to write to; created if it does not exist.

    Raises
    ------
    ValueError
        The instance has no scenarios, start windows of single jobs, running jobs without nodes, or two different files
        of one name.
    """
    centre = instance.centre
    if centre is None:
        raise WrongValue(
            f"instance {instance.name!r} has no scenarios (cooling, season, price), which an instance folder needs"
        )
    named = [(season.file, season.text or weather_csv(season.weather)) for season in centre.season.values()]
    own = [plant for plant in centre.cooling.values() if plant.table not in cooling_names()]
    named += [(plant.table, plant.text or cooling_csv(plant.cooling)) for plant in own]
    files: dict[str, str] = {}
    for file, text in named:
        taken = _name(file) in (JOBS, RUNNING, SETTINGS, PRICES_FILE, *cooling_names())
        if taken or files.setdefault(_name(file), text) != text:
            raise WrongValue(f"instance {instance.name!r}: {excerpt(file)} needs another name: {_name(file)} is in use")
    if isinstance(centre.energy_price, StepFunction):
        files[PRICES_FILE] = to_csv(
            (TIME, EURO), zip(centre.energy_price.times, centre.energy_price.values, strict=True)
        )
    files |= {**job_files(instance.name, centre.jobs), SETTINGS: to_toml(_settings(instance, centre), HEADING)}
    write_files(Path(folder), files, lambda path: read(Folder(path)))


def _name(file: str) -> str:
    """Return the name of a file in the written folder, where files are not compressed."""
    return Path(file).name.removesuffix(".gz")


def _settings(instance: Instance, centre: Scenarios) -> dict[str, Any]:
    head: dict[str, Any] = {
        "kind": "profit",
        "description": instance.description,
        "source": instance.source,
        "scenario": centre.default,
        "begin_s": centre.jobs.now,
    }
    energy = PRICES_FILE if isinstance(centre.energy_price, StepFunction) else centre.energy_price
    profit: dict[str, Any] = {"energy_price": energy}
    if centre.horizon_end is None:
        profit |= {}
    else:
        profit |= {"until_s": centre.horizon_end}
    if centre.watts_per_core is None:
        profit |= {}
    else:
        profit |= {"watts_per_core": centre.watts_per_core}
    profit["cooling"] = {word: _plant_table(plant) for word, plant in centre.cooling.items()}
    profit["season"] = {word: {"temperatures": _name(season.file)} for word, season in centre.season.items()}
    profit["price"] = {word: {"core_hour": price} for word, price in centre.price.items()}
    origin = origin_tables(instance)
    return {k: v for k, v in head.items() if v} | {"profit": profit} | machine_tables(centre.jobs) | origin


def _plant_table(plant: Plant) -> dict[str, object]:
    return {"table": _name(plant.table)} | ({} if plant.scale == 1 else {"scale": plant.scale})
