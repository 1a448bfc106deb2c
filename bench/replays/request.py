"""The replays that a user requests with ``bench simulate`` or ``dardis``: every option is checked before a workload is read.

Or those of a published study of dispatchers, read from a TOML file: a shipped one by its name, or a file of the user.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...backends import UnknownName
from ...instances import read_events
from ...instances.files.reading import content_of
from ...models.dispatch.objectives import find_objective
from ...simulation.errors import NO_STRETCH
from ..errors import WrongUse
from ..runs.view import View
from .case import (
    check_desired,
    check_site,
    check_there,
    content_of_site,
    own_desired,
    preemption_settings,
    settings_of_each,
)
from .energy import check_dispatchers, energy_settings
from .settings import OFF, SETTINGS, ReplaySettings, decision_limit, read_settings

if TYPE_CHECKING:
    from ...simulation.dispatchers.registry import Named


# --- The names of the shipped studies.

SHIPPED = Path(__file__).parents[1] / "studies"


def study_names() -> list[str]:
    """Return the names of the shipped studies."""
    return sorted(file.stem for file in SHIPPED.glob("*.toml"))


DRAWINGS = ("", "ecdf", "bars", "radar")


@dataclass(frozen=True)
class Quantity:
    """A column of a table or figure of a study.

    Parameters
    ----------
    figure
        Key of ``Metrics.as_dict``, or ``seconds.`` and a key of the seconds of a record.
    heading
        The quantity and its unit, short.
    values
        Dispatcher -> value in the study; empty: the study publishes none.
    scale
        Factor from our unit to that of the study.
    spread
        Key of the standard deviation that is printed beside our value; "": none.
    of_jobs
        Whether our figure is a mean over the jobs and the study has their sum.
    """

    figure: str
    heading: str
    values: Mapping[str, float] = field(default_factory=dict)
    scale: float = 1.0
    spread: str = ""
    of_jobs: bool = False


@dataclass(frozen=True)
class Exhibit:
    """A table or a figure of a study.

    Parameters
    ----------
    name
        Its name in the study, such as "Table 2".
    caption
        What it shows.
    dispatchers
        The dispatchers that it is about, or "as recorded" for the schedule of the log.
    quantities
        Its columns.
    drawing
        How it is drawn: "ecdf" (duration / predicted duration), "bars" (mean and standard deviation of wait and
        slowdown), "radar" (all quantities, as shares of the greatest value) or "" (not at all).
    classes
        For "bars": the classes of jobs, such as "medium_"; "": all jobs.
    case
        Name of the case whose days it is about; "": a study without cases.
    gain_over
        A dispatcher: also a table of ``(its value - value) / its value`` for the others; "": no such table.
    """

    name: str
    caption: str
    dispatchers: Sequence[str]
    quantities: Sequence[Quantity]
    drawing: str = ""
    classes: Sequence[str] = ("",)
    case: str = ""
    gain_over: str = ""


@dataclass(frozen=True)
class Order:
    """An order of dispatchers that a study states, the best one first.

    Parameters
    ----------
    where
        Where the study states it.
    chain
        Names of dispatchers, or "as recorded" for the schedule of the log.
    figures
        Keys of ``Metrics.as_dict``, of which less is better.
    reductions
        Figure -> by how many percent the first one is below the last one in the study.
    case
        Name of the case whose days it is about; "": a study without cases.
    """

    where: str
    chain: Sequence[str]
    figures: Sequence[str] = ("slowdown_mean", "wait_mean")
    reductions: Mapping[str, float] = field(default_factory=dict)
    case: str = ""


@dataclass(frozen=True)
class Case:
    """Generated days of one size, on which a study compares dispatchers day by day.

    Parameters
    ----------
    name
        Its name, also that of the folders of its days.
    generator
        A generator of ``bench generate``.
    jobs
        Number of jobs of a day.
    seeds
        The seed of each day.
    options
        Other arguments of the generator, such as ``{nodes = 4}``.
    dispatchers
        The dispatchers to replay; empty: those of the study.
    """

    name: str
    generator: str
    jobs: int
    seeds: Sequence[int]
    options: Mapping[str, float] = field(default_factory=dict)
    dispatchers: Sequence[str] = ()


@dataclass(frozen=True)
class Study:
    """A published study.

    Parameters
    ----------
    reference
        Its key in docs/appendix/references.md.
    dispatchers
        Names of the dispatchers to replay.
    decision_time
        Limit of a decision in seconds in our replays.
    exhibits
        Its tables and figures.
    orders
        The orders that it states.
    machine
        The machine of its figures: ``nodes`` and the sum of each resource over the nodes. On another machine our
        figures are printed alone. Empty: any machine.
    conditions
        Sentences about its log, machine and limits.
    cases
        Days that are generated; empty: a workload of the user is replayed.
    charge
        Whether decisions take time on the simulated clock, in a study with cases.
    """

    reference: str
    dispatchers: Sequence[str]
    decision_time: float
    exhibits: Sequence[Exhibit]
    orders: Sequence[Order] = ()
    machine: Mapping[str, int] = field(default_factory=dict)
    conditions: Sequence[str] = ()
    cases: Sequence[Case] = ()
    charge: bool = False

    def about(self, case: str) -> Study:
        """Return the tables, figures and orders of one case."""
        return replace(
            self,
            exhibits=[e for e in self.exhibits if e.case == case],
            orders=[o for o in self.orders if o.case == case],
        )


def find_study(name: str) -> Study:
    """Return a shipped study by its name, or read a file that ends in .toml.

    Raises
    ------
    UnknownName
        If there is no such study.
    WrongUse
        If the file cannot be read, or is no study.

    Examples
    --------
    >>> find_study("galleguillos2019").exhibits[0].quantities[0].values["hcp"]
    1014
    """
    if name.endswith(".toml"):
        file = Path(name)
    else:
        file = SHIPPED / f"{name}.toml"
    if file.parent == SHIPPED and name not in study_names():
        raise UnknownName("study", name, study_names())
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as e:
        raise WrongUse(f"--study {name}: cannot be read ({e.strerror})") from e
    except ValueError as e:
        raise WrongUse(f"--study {name}: no TOML ({e})") from e
    parts = {
        "exhibits": [_exhibit(each, name) for each in content.get("exhibits", ())],
        "orders": [_made(Order, each, name) for each in content.get("orders", ())],
        "cases": [_made(Case, each, name) for each in content.get("cases", ())],
    }
    study: Study = _made(Study, {**content, **parts}, name)
    return study


def _exhibit(table: Mapping[str, Any], name: str) -> Exhibit:
    quantities = [_made(Quantity, each, name) for each in table.get("quantities", ())]
    made: Exhibit = _made(Exhibit, {**table, "quantities": quantities}, name)
    if made.drawing not in DRAWINGS:
        raise WrongUse(f"--study {name}: {made.name}: drawing = {made.drawing!r}; expected {' or '.join(DRAWINGS[1:])}")
    return made


def _made(kind: Any, table: Mapping[str, Any], name: str) -> Any:
    """Return the object of a table; raise WrongUse, which says what is missing or too much."""
    known = [f.name for f in fields(kind)]
    what = "study"
    if kind is not Study:
        what = f"{kind.__name__.lower()} of the study"
    unknown = [key for key in table if key not in known]
    if unknown:
        raise WrongUse(
            f"--study {name}: {unknown[0]} is no part of a {kind.__name__.lower()}; expected {', '.join(known)}"
        )
    missing = [
        f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING and f.name not in table
    ]
    if missing:
        raise WrongUse(
            f"--study {name}: the {what} is incomplete: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
        )
    return kind(**table)


INSTANCE = "instance.toml"


@dataclass(frozen=True)
class ReplayRequest:
    """The replays that the user requests with ``bench simulate``.

    Parameters
    ----------
    path
        An instance or a trace.
    dispatchers
        Names such as ``easy``, ``hcp3-d@cpsat``.
    view
        The part of the instance that is replayed.
    replay
        Settings of the replays.
    starts
        CSV file for the start times, with those that the log records; None for no file.
    study
        A published study, whose figures are printed beside those of the replays.
    by
        Properties of jobs by whose values further tables are printed, such as user.
    caps
        Power caps in watts, of which each is replayed. Several: there is also a replay without one.
    evictors
        Evictors for on-demand jobs, of which each is replayed.
    loads
        Offered loads, of which each is replayed; none: that of the workload.
    """

    path: str
    dispatchers: Sequence[str]
    view: View
    replay: ReplaySettings
    starts: Path | None = None
    study: Study | None = None
    by: Sequence[str] = ()
    caps: Sequence[float] = ()
    evictors: Sequence[str] = ()
    loads: Sequence[float] = ()

    @property
    def all_settings(self) -> list[ReplaySettings]:
        """The settings of the replays: one for each offered load, power cap and evictor."""
        caps: Sequence[float | None]
        if len(self.caps) < 2:
            caps = self.caps
        else:
            caps = (None, *sorted(self.caps, reverse=True))
        loads = self.loads or (None,)
        each = [replace(self.replay, load=load, power_cap=cap) for load in loads for cap in caps or (None,)]
        return [with_sources(settings) for one in each for settings in settings_of_each(one, self.evictors)]


def is_trace(path: str) -> bool:
    """Return whether a path is a trace: a file other than the settings file of an instance."""
    return Path(path).is_file() and Path(path).name != INSTANCE


def replay_request(
    path: str,
    dispatchers: Iterable[str],
    view: View,
    given: Mapping[str, Any],
    starts: Path | None = None,
    by: Sequence[str] = (),
) -> ReplayRequest:
    """Check the options of ``bench simulate`` and return the request.

    Parameters
    ----------
    path
        An instance or a trace.
    dispatchers
        Comma lists of dispatchers.
    view
        The part of the instance that is replayed.
    given
        The settings as a user gives them, by the names of ``ReplaySettings``; None: not given.
    starts
        CSV file for the start times, None for no file.
    by
        Properties of jobs by whose values further tables are printed.

    Returns
    -------
    ReplayRequest
        The request.

    Raises
    ------
    UnknownName, PluginError, WrongUse
        A dispatcher, an allocator or a value is not valid.
    """
    from ...simulation.dispatchers.policy import allocator_of
    from ...simulation.dispatchers.registry import check_dispatcher
    from ...simulation.preemption import requeue_of

    names = list(dict.fromkeys(name.strip() for text in dispatchers for name in text.split(",") if name.strip()))
    if not names:
        raise WrongUse("--dispatchers: expected at least one dispatcher, such as easy")
    named = [check_dispatcher(name) for name in names]
    given, of_features = of_own(given)
    values, several = read_settings(given)
    values |= {"features": of_features}
    caps = several.get("power_cap", ())
    loads = several.get("load", ())
    values |= decision_limit(values.get("decision_time"), values.get("deterministic"))
    preempting, evictors = preemption_settings(values, several.pop("evictor", ()))
    values |= preempting | energy_settings(values)
    check_there(path)
    replay = ReplaySettings(trace=is_trace(path), **values)
    allocator_of(replay.allocator)
    check_objective(replay.objective, named)
    check_stretch(replay.max_stretch, named)
    check_predictor(replay.predictor, named)
    requeue_of(replay.requeue)
    check_dispatchers(replay, named)
    if replay.desired is None and not replay.trace:
        replay = replace(replay, desired=own_desired(path))
    if replay.events is not None:
        read_events(replay.events)
        replay = replace(replay, events_content=content_of(Path(replay.events)))
    if replay.on_unknown is not None and replay.site is None:
        raise WrongUse(f"--on-unknown {replay.on_unknown}: only with --site, whose names it is about")
    if replay.site is not None:
        check_site(replay)
        replay = replace(replay, site_content=content_of_site(replay.site))
    if replay.users is not None:
        replay = replace(replay, users_source=checked_users(replay.users))
    if starts is not None and len(loads) > 1:
        raise WrongUse(f"--starts {starts}: for one offered load; --load has {len(loads)}")
    replay = replace(replay, desired_content=check_desired(replay), most_power=min(caps, default=None))
    check_limits(replay, named)
    check_followed_site(replay, named)
    return ReplayRequest(path, names, view, replay, starts, by=by, caps=caps, evictors=evictors, loads=loads)


def of_own(given: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the settings of ours that a user gives, and the features of third parties whose settings are given. Raises WrongUse."""
    from ...simulation.settings import features_of, texts_of

    texts = texts_of({name: value for name, value in given.items() if name not in SETTINGS})
    features_of(texts)
    return {name: value for name, value in given.items() if name in SETTINGS}, texts


# --- Checks of options with respect to the dispatchers.


def check_limits(replay: ReplaySettings, dispatchers: Sequence[Named]) -> None:
    """Raise WrongUse if a dispatcher lacks the desired use that it keeps to, or the watts per core are none."""
    lacking = [d.text for d in dispatchers if d.needs_profile]
    if lacking and replay.desired is None:
        raise WrongUse(f"{lacking[0]}: keeps to a desired use; give its file with --desired FILE")
    if replay.watts_per_core is not None and not 0 < replay.watts_per_core < float("inf"):
        raise WrongUse(f"--watts-per-core {replay.watts_per_core}: expected a number above 0, such as 12.5")


def check_followed_site(replay: ReplaySettings, dispatchers: Sequence[Named]) -> None:
    """Raise WrongUse if a dispatcher follows the rules of a site and there is none, or is given predictions."""
    for each in dispatchers:
        if not each.needs_site:
            continue
        if replay.site is None:
            raise WrongUse(
                f"{each.text}: follows the rules of a site; give its files with --site, such as --site slurm.conf,dump.cfg, or --site qmgr.txt,pbsnodes.txt"
            )
        if each.names_predictor or replay.predictor not in (None, "walltime"):
            raise WrongUse(f"{each.text}: plans with the time limits of jobs; leave the predictor out")


def with_sources(replay: ReplaySettings) -> ReplaySettings:
    """Return the settings with the hashes of the source of the third parties' parts that they name, users apart."""
    from ...instances.traces import FORMATS
    from ...simulation.dispatchers.policy import ALLOCATORS
    from ...simulation.node_policies import NODE_POLICIES
    from ...simulation.predictors import PREDICTORS
    from ...simulation.preemption import CHECKPOINTS, REQUEUE_RULES, evictor_source
    from ...simulation.settings import FEATURES

    sources: dict[str, Callable[[str], str | None]] = {
        "allocator": lambda text: ALLOCATORS.find(text).source,
        "checkpoints": lambda text: CHECKPOINTS.find(text).source,
        "evictor": evictor_source,
        "format": FORMATS.source,
        "node_policy": lambda text: NODE_POLICIES.find(text).source,
        "predictor": lambda text: PREDICTORS.find(text).source,
        "requeue": lambda text: REQUEUE_RULES.find(text).source,
    }
    given = {name: getattr(replay, name) for name in sources if getattr(replay, name) is not None}
    hashed = {name: sources[name](text) for name, text in given.items()}
    hashed |= {f"feature {text}": FEATURES.find(text).source for text in replay.features or ()}
    hashes = [f"{name}={source}" for name, source in hashed.items() if source is not None]
    return replace(replay, parts_source=",".join(hashes) or None)


def check_predictor(text: str | None, dispatchers: Sequence[Named]) -> None:
    """Raise UnknownName, WrongOption or PluginError for a predictor that cannot be made, WrongUse beside one in a name."""
    from ...simulation.predictors import predictor_of

    if text is None:
        return
    predictor_of(text)
    named = next((d for d in dispatchers if d.names_predictor), None)
    if named is not None:
        raise WrongUse(f"--predictor {text}: {named.text} names the predictor {named.predictor}; give one of them")


def checked_users(text: str) -> str | None:
    """Return the hash of the source of a third party's users. Raises UnknownName, PluginError, WrongOption."""
    from ...simulation.users import USERS

    named = USERS.find(text)
    named.make()
    return named.source


def check_objective(objective: str | None, dispatchers: Sequence[Named]) -> None:
    """Raise UnknownName or WrongUse if there is no such objective, or no dispatcher that the option concerns."""
    if objective is None:
        return
    find_objective(objective)
    if not any(d.backend is not None and d.objective is None for d in dispatchers):
        raise WrongUse(
            f"--objective {objective}: only for dispatchers with a solver whose name has no objective, such as pcp3@cpsat; "
            f"none of {', '.join(d.text for d in dispatchers)} is one"
        )


def check_stretch(max_stretch: float | str | None, dispatchers: Sequence[Named]) -> None:
    """Raise WrongUse if a dispatcher with a solver cannot obey --max-stretch."""
    from ...simulation.dispatchers.registry import PRODUCTION

    lacking = [d.text for d in dispatchers if d.dispatcher in PRODUCTION]
    if lacking and max_stretch not in (None, OFF):
        raise WrongUse(f"--max-stretch {max_stretch}: not with {lacking[0]}; {NO_STRETCH}; leave it out")
