"""``bench import curie``: the profit scenarios of [Bridi2018, 6.8], from the Curie log or another SWF log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Annotated

import numpy as np
import typer

from ...instances import write
from ...instances.generators.climate import SEASONS, synthetic
from ...instances.logs.partitions import partition_names
from ...instances.logs.windows import midnight
from ...instances.scenarios import ENERGY_PRICE, PLANTS, PRICES, WATTS_PER_CORE, known, thesis_scenarios
from ...instances.traces import open_trace, read_trace
from ...instances.weather import Weather, read_weather
from ...instances.workload import Workload
from ...models.dispatch.jobs import DAY
from ..errors import WrongUse
from ..terminal import say
from .log import as_instance, report_lines

FIRST_DAY = {"summer": "07-01", "winter": "01-01"}


def import_curie(
    file: Annotated[Path, typer.Argument(help="SWF log, may be compressed (.gz)")],
    out: Annotated[Path, typer.Option(help="folder of the instance to write")],
    window: Annotated[
        str | None,
        typer.Option(
            help="only the jobs submitted in this time (clock of the log): 2012-07-13:23d or 2012-07-13T12:00:6h"
        ),
    ] = None,
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
    nodes: Annotated[int, typer.Option(min=1, help="number of nodes")] = 300,
    cores: Annotated[int, typer.Option(min=1, help="cores of a node")] = 32,
    memory: Annotated[int, typer.Option(min=1, help="memory of a node in MB")] = 131072,
    partition: Annotated[
        str | None, typer.Option(help="only the jobs of these partitions, names or SWF numbers: 3,4")
    ] = None,
    first: Annotated[int | None, typer.Option(min=1, help="only the first n jobs by submit time")] = None,
    sample: Annotated[
        int | None,
        typer.Option(min=1, help="a random sample of n of these jobs, with the submit times and powers that they have"),
    ] = None,
    load: Annotated[
        float | None, typer.Option(help="rescale the submit times to this offered load, such as 1.5")
    ] = None,
    seed: Annotated[
        int,
        typer.Option(help="random seed of the power of the jobs and of the sample; the same seed gives the same files"),
    ] = 1,
    name: Annotated[
        str | None, typer.Option(help="name of the log in the description; default: name of the file")
    ] = None,
) -> None:
    """Convert a log to a profit problem with the eight scenarios of Bridi's thesis, section 6.8.

    The scenarios: air or hybrid cooling, summer or winter, 0.013 or 0.10 euro per core-hour; energy costs 0.13 euro per
    kWh. SWF logs contain no power: each job gets a random power, uniform in 7.8 to 11.11 W per core. The duration of a job
    is its runtime. Jobs that do not fit on the machine are left out and counted. The horizon is from the midnight before
    the first submission to the last submission.

    Example: bench import curie curie.swf.gz --window 2012-07-13:23d --weather tmy.epw --out curie_high
    """
    known(scenario, {"cooling": PLANTS, "season": SEASONS, "price": PRICES})
    trace = read_trace(file, "swf", cores=cores, memory=memory)
    workload, platform = open_trace(
        trace, nodes=nodes, cores=cores, memory=memory, window=window, load=load, first=first,
        partitions=partition_names(partition),
    )  # fmt: skip
    workload = with_power(workload, seed)  # before the sample: a job has the same power in both
    if sample is not None:
        workload = sampled(workload, sample, seed)
    origin, day = midnight(workload, trace.zone)
    workload = workload.since(origin)
    days = int(workload.submit[-1]) // DAY + 1
    seasons, about = _seasons(weather, days, seed)
    centre = thesis_scenarios(workload.dispatch(platform, "weighted-wait", "runtime"), seasons, scenario)
    low, high = WATTS_PER_CORE
    plain = as_instance(workload, platform, "weighted-wait", name or trace.name, f"swf log {file.name}", day)
    prices = " or ".join(f"{p:g}" for p in PRICES.values())
    instance = replace(
        plain,
        kind="profit",
        problem=centre.problem(centre.default),
        source=f"{plain.source}; power uniform in {low:g} to {high:g} W per core, seed {seed}; temperatures: {about}; "
        f"{prices} euro per core-hour, {ENERGY_PRICE:g} euro per kWh (T. Bridi, PhD thesis, section 6.8)",
        centre=centre,
    )
    try:
        write(instance, out)
    except OSError as e:
        raise WrongUse(f"--out {out}: cannot be written ({e.strerror})") from e
    say("\n".join(report_lines(workload, platform)))
    say(f"temperatures: {about}" + ("" if weather else "; for those of a real place: --weather FILE"))
    for word, there in seasons.items():
        values = there.series.values
        say(f"  {word}: {days} days, {min(values):g} to {max(values):g} degrees C, mean {there.mean:.1f}")
    say(
        f"{out}: {len(workload)} jobs on {len(platform.nodes)} nodes, {len(centre.names)} scenarios; to see it: bench show {out}"
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
        raise WrongUse(f"--sample {n}: there are {len(workload)} jobs; expected at most that many")
    kept = workload.keep(np.array(sorted(Random(seed).sample(range(len(workload)), n))))
    return kept.noted(f"a random sample of {n} of {len(workload)} jobs, seed {seed}")


def _seasons(file: Path | None, days: int, seed: int) -> tuple[Mapping[str, Weather], str]:
    """Return the temperatures of both seasons, and a text about their source."""
    if file is None:
        about = f"synthetic, seed {seed}"
        return {w: Weather(f"a synthetic {w}", f"schedlab.instances.generators.climate, seed {seed}", synthetic(w, days, seed))
                for w in SEASONS}, about  # fmt: skip
    whole = read_weather(file)
    try:
        found = {word: whole.during(f"{FIRST_DAY[word]}:{days}d") for word in SEASONS}
    except ValueError as e:
        raise WrongUse(
            f"--weather {file}: {e}; expected the temperatures of a whole year; {days} days of both seasons are needed"
        ) from e
    return found, f"{file.name}, {days} days from {' and '.join(FIRST_DAY[w] for w in found)} on"
