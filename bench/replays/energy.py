"""Node policies and energy accounts of replays: their options, the settings, and their part of a record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import WrongValue
from ...instances.files.profile_file import CARBON, EURO, read_series
from ...instances.files.reading import content_of
from ...models.platform import ProblemError
from ...models.profit.problem import Cooling
from ...models.server_events import ServerEvent
from ...models.step_function import StepFunction, Tariff, check_covers
from ...models.words import how_many
from ..errors import WrongUse
from ..records.store import Number, table
from .settings import ReplaySettings

if TYPE_CHECKING:
    from ...simulation.dispatchers.registry import Named
    from ...simulation.node_policies import Switching
    from ...simulation.records import ReplayData
    from .case import ReplayCase


PRICE = 0.13  # euro per kWh, [Bridi2018, 6.8]
NO_LIMIT = 1e12  # W: the greatest power of a plant without cooling

ACCOUNT = table(
    "EnergyAccount",
    {
        **dict.fromkeys(
            ("core_hours", "gain", "busy_kwh", "idle_kwh", "boot_kwh", "cooling_kwh", "cost", "profit"), Number
        ),
        **dict.fromkeys(("kg_co2", "pue"), Number | None),
    },
    others=Number | None,
)
ENERGY = table("Energy", {"last_submission": ACCOUNT, "end": ACCOUNT, "daily": list[ACCOUNT]}) | None  # type: ignore[valid-type]
"""The type of the field ``energy`` of a record: the accounts up to the last submission, to the last end, and of each day."""


def energy_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the hashes of the files of prices and carbon intensities; check them and the node policy.

    Parameters
    ----------
    given
        The settings that a user gives, by name.

    Raises
    ------
    WrongUse, UnknownName, PluginError
        If a value is not valid.
    """
    from ...simulation.node_policies import node_policy_of

    values: dict[str, Any] = {}
    if given.get("node_policy") is not None:
        node_policy_of(given["node_policy"])
    for name, column in (("prices", EURO), ("carbon", CARBON)):
        if given.get(name) is not None:
            read_series(given[name], column)
            values[f"{name}_content"] = content_of(Path(given[name]))
    return values


def _times(replay: ReplaySettings) -> dict[str, int]:
    """Return the times of nodes that are given, in seconds."""
    given = {"boot": replay.boot, "shut_down": replay.shut_down, "min_off": replay.min_off}
    return {name: seconds for name, seconds in given.items() if seconds is not None}


def times_of(replay: ReplaySettings) -> Switching:
    """Return the times of nodes that switch, those of the settings or the usual ones."""
    from ...simulation.node_policies import Switching

    return Switching(**_times(replay))


def switching_of(replay: ReplaySettings, dispatcher: object = None) -> Switching | None:
    """Return the times of nodes; None if neither the settings nor the dispatcher have a node policy."""
    own = getattr(dispatcher, "node_policy", None)
    if replay.node_policy is None and own is None:
        return None
    return times_of(replay)


def check_dispatchers(replay: ReplaySettings, named: Sequence[Named]) -> None:
    """Raise WrongUse if nothing switches the nodes whose times are given, or a dispatcher has no prices to plan with."""
    given = list(_times(replay))
    made = [n.make() for n in named if n.backend is None]
    if given and replay.node_policy is None and all(getattr(d, "node_policy", None) is None for d in made):
        raise WrongUse(
            f"--{given[0].replace('_', '-')}: only with --node-policy, such as --node-policy idle:30min, or with a dispatcher "
            "that switches nodes, such as hybrid:70"
        )
    planning = next((d.name for d in made if getattr(d, "plans_for_profit", False) and d.centre is None), None)
    if planning is not None and replay.scenario is None:
        raise WrongUse(
            f"dispatcher {planning} plans for profit: expected a profit instance with cooling, weather and prices, and a scenario, "
            "such as --scenario air,summer,cheap"
        )


def _accounted(replay: ReplaySettings, case: ReplayCase) -> bool:
    """Return whether there are accounts: they are requested, or there is a node policy and all powers are known."""
    asked = (replay.idle_watts, replay.boot_watts, replay.prices, replay.carbon, replay.scenario)
    known = not np.isnan(case.workload.power).any()
    return any(value is not None for value in asked) or (replay.node_policy is not None and known)


def check_energy(case: ReplayCase, replay: ReplaySettings) -> None:
    """Check the settings against the workload, before any replay. Raises WrongUse."""
    from ...simulation.features.node_power import node_power

    if replay.node_policy == "profile" and replay.desired is None:
        raise WrongUse("--node-policy profile: follows a desired use; give its file with --desired FILE")
    given = list(_times(replay))
    policy = replay.node_policy
    option = f"--node-policy {replay.node_policy}"
    if policy is None and given:  # the times of a dispatcher with a node policy of its own: checked with another one
        policy = "idle"
        option = f"--{given[0].replace('_', '-')}"
    try:
        if policy is not None:
            node_power(policy, times_of(replay), case.workload, None)
    except WrongValue as e:
        raise WrongUse(f"{option}: {e}") from e
    if _accounted(replay, case):
        _check_powers(case, replay)
        _check_series(case, replay)


def _check_powers(case: ReplayCase, replay: ReplaySettings) -> None:
    """Raise WrongUse if a job has no power, or less than its cores take when they are idle."""
    from ...simulation.energy import Machine

    w = case.workload
    missing = np.flatnonzero(np.isnan(w.power))
    if missing.size:
        raise WrongUse(
            f"energy accounts: job {w.ids[int(missing[0])]!r} has no power ({how_many(missing.size, 'such job', ',')}); give --watts-per-core"
        )
    if "cores" not in case.platform.resources:
        raise WrongUse("energy accounts: the nodes have no cores, to which the idle power belongs")
    cores = w.job_arrays.amounts[:, w.resources.index("cores")]
    idle = Machine(case.platform, **_watts(replay)).idle_watts
    low = np.flatnonzero((cores > 0) & (w.power < idle * cores * (1 - 1e-9)))
    if low.size:
        k = int(low[0])
        raise WrongUse(
            f"--idle-watts {idle:g}: above the power of job {w.ids[k]!r}, {w.power[k] / cores[k]:g} W per core; give less"
        )


def _check_series(case: ReplayCase, replay: ReplaySettings) -> None:
    """Raise WrongUse if prices or carbon intensities do not cover the least time of a replay."""
    w = case.workload
    if w.begin is None:
        begin = int(w.submit.min())
    else:
        begin = w.begin
    end = earliest_end(case)
    for name, column, what in (("prices", EURO, "energy prices"), ("carbon", CARBON, "carbon intensities")):
        series = _series(replay, name, column)
        try:
            if series is not None:
                check_covers(what, series, begin, end)
        except ProblemError as e:
            least = "the least time of any replay of these jobs"
            raise WrongUse(f"--{name}: {e}, {least}, in {getattr(replay, name)}") from e


def earliest_end(case: ReplayCase) -> int:
    """Return a time in seconds before which no replay of a case can end, whatever the dispatcher.

    No job ends before its release and its runtime, and the jobs that are released from a time on need at least their
    work divided by the capacity of the machine, for each resource.
    """
    w = case.workload
    if case.kill:
        runtime = np.minimum(w.runtime, w.walltime)
    else:
        runtime = w.runtime
    deleted = {e.subject for e in case.events if isinstance(e, ServerEvent) and e.kind == "delete"}
    stays = np.array([name not in deleted for name in w.ids], np.bool_)
    if w.begin is None:
        begin = int(w.submit.min())
    else:
        begin = w.begin
    release = np.maximum(w.release, begin)[stays]
    ends = [begin, *(r.true_end for r in w.running), *(release + runtime[stays]).tolist()]
    order = np.argsort(-release, kind="stable")
    for r, resource in enumerate(w.resources):
        total = case.platform.total(resource)
        work = (w.job_arrays.amounts[stays, r] * runtime[stays])[order].astype(np.float64)
        if total > 0 and work.size:
            ends.append(int(np.floor((release[order] + np.cumsum(work) / total).max())))
    return int(max(ends))


def _watts(replay: ReplaySettings) -> dict[str, Any]:
    idle = {}
    if replay.idle_watts is not None:
        idle = {"idle_watts": replay.idle_watts}
    return {**idle, "boot_watts": replay.boot_watts}


def centre_of(case: ReplayCase, replay: ReplaySettings, end: int) -> Any:
    """Return cooling, weather and prices up to ``end`` in seconds. Raises WrongUse if a file has been changed since."""
    from ...simulation.energy import Centre

    carbon = _lasting(_series(replay, "carbon", CARBON), end)
    prices = _lasting(_series(replay, "prices", EURO), end)
    if case.centre is None:
        plant = Cooling("none", (-90, 65), (0, NO_LIMIT), ((0, 0), (0, 0)))
        if case.workload.begin is None:
            begin = int(case.workload.submit.min())
        else:
            begin = case.workload.begin
        weather = StepFunction.constant(0, begin, max(end, begin + 1))
        return Centre(plant, weather, Tariff(PRICE if prices is None else prices, carbon), 0.0)
    p = case.centre
    own = p.energy_price.lasting(end) if isinstance(p.energy_price, StepFunction) else p.energy_price
    return Centre(p.cooling, p.temperature.lasting(end), Tariff(own if prices is None else prices, carbon), p.price)


def lend_centre(dispatcher: Any, case: ReplayCase, replay: ReplaySettings) -> None:
    """Give a dispatcher whose attribute ``centre`` is None cooling, weather and prices of the scenario, if there is one."""
    if case.centre is not None and getattr(dispatcher, "centre", case) is None:
        dispatcher.centre = centre_of(case, replay, int(case.workload.submit.max()))


def _lasting(series: StepFunction | None, end: int) -> StepFunction | None:
    """Return a series that covers the time to ``end`` in seconds: its last day is repeated."""
    if series is None:
        return None
    return series.lasting(max(end, series.end))


def _series(replay: ReplaySettings, name: str, column: str) -> StepFunction | None:
    path = getattr(replay, name)
    if path is None:
        return None
    if content_of(Path(path)) != getattr(replay, f"{name}_content"):
        raise WrongUse(f"--{name} {path}: the file was changed after the replay")
    return read_series(path, column)


def energy_json(case: ReplayCase, replay: ReplaySettings, replayed: ReplayData) -> dict[str, Any] | None:
    """Return the accounts of a replay for its record; None if there are none.

    Raises
    ------
    ProblemError
        If weather or prices do not cover the replay.
    """
    if not _accounted(replay, case) or not (replayed.start >= 0).any():
        return None
    from ...simulation.energy import Machine, replay_energy

    ends = [int(replayed.end.max()), *(r.true_end for r in replayed.workload.running)]
    energy = replay_energy(replayed, centre_of(case, replay, max(ends)), Machine(case.platform, **_watts(replay)))
    return {
        "last_submission": _account(energy.last_submission),
        "end": _account(energy.end),
        "daily": [_account(day) for day in energy.daily],
    }


def _account(account: Any) -> dict[str, Any]:
    return {**asdict(account), "profit": account.profit, "pue": account.pue}
