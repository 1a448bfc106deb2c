"""The selection of runs: views, methods, time limits and seeds; and the key of each run."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from ... import __version__
from ...backends import Limits, UnknownName, backend, names
from ...backends.base import checked_limits
from ...errors import WrongArgument, WrongValue
from ...instances import Instance
from ...instances.files.reading import content_of
from ...instances.registry import built_source
from ...methods import Method, parse_method
from ...methods.text import method_source
from ...models.dispatch.objectives import REGISTRY as OBJECTIVES
from ...models.kind import KINDS
from ...models.problem import Problem
from ..errors import WrongUse
from ..kinds.base import bench_kind
from ..replays.settings import ReplaySettings
from .process import cores
from .view import DAY_REPLAYED, NOON, USUAL_LIMIT, WHOLE, Default, Durations, View, defaults, scenarios_of, views_known

MOST_THREADS = 8  # default for a run on a machine with more cores
SEED = re.compile(r"\d{1,9}", re.ASCII)  # solvers accept 31 bits
MOST_SEEDS = 10_000


@dataclass(frozen=True)
class RunRequest:
    """The runs that the user requests; a value of None is replaced by the default of the instance.

    Parameters
    ----------
    methods
        Names of methods or dispatchers, such as ``cpsat:counts+warm``.
    time_limit
        Seconds of each run.
    threads
        Threads of each run; None: the cores of the machine (at most 8), shared by parallel runs.
    seeds
        Random seeds. Methods without randomness are run with the first one only.
    jobs
        Number of runs in parallel; None: one, on a cluster as many as it has room for.
    memory_gb
        Memory limit of each run in GB.
    at
        Second of the snapshot.
    first
        Number of jobs, the first by submit time.
    durations
        Durations of the jobs: "walltime" or "runtime".
    objective
        Name of another objective.
    nodes_needed
        Nodes to free, of an eviction problem.
    scenarios
        Scenarios of a profit problem.
    drop_impossible
        Whether jobs that can never fit are left out.
    keep, profile
        Kept objectives; fields ``desired``, ``desired_content``, ``over_cost`` of a view. See ``View``.
    """

    methods: Sequence[str] | None = None
    time_limit: float | None = None
    threads: int | None = None
    seeds: Sequence[int] = (1,)
    jobs: int | None = None
    memory_gb: float | None = None
    at: int | None = None
    first: int | None = None
    durations: Durations = "walltime"
    objective: str | None = None
    nodes_needed: int | None = None
    scenarios: Sequence[str] = ()
    drop_impossible: bool = False
    keep: str | None = None
    profile: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """One run: everything that determines its outcome.

    Parameters
    ----------
    instance
        Name of the instance or trace.
    path
        The instance or trace as the user named it.
    content
        Hash of its files.
    method
        Method or dispatcher.
    seed
        Random seed.
    time_limit
        Seconds of the run, or of the whole replay.
    threads
        Threads of the solver.
    solver
        Name of the backend, "schedlab" for methods without a solver.
    version
        Version of the solver, None if it is not installed.
    schedlab
        Version of schedlab.
    memory_gb
        Memory limit in GB, None for the default.
    drop_impossible
        Whether jobs that can never fit are left out.
    view
        The part of the instance that is run.
    replay
        Settings of a replay; None if the method is not a dispatcher.
    kind
        Kind of the problem.
    source
        Hash of the source of third parties' parts: instance, method, kind of problem, objective; None if all are of schedlab.
    """

    instance: str
    path: str
    content: str
    method: str
    seed: int = 1
    time_limit: float = USUAL_LIMIT
    threads: int = 1
    solver: str = "schedlab"
    version: str | None = __version__
    schedlab: str = __version__
    memory_gb: float | None = None
    drop_impossible: bool = False
    view: View = field(default_factory=View)
    replay: ReplaySettings | None = None
    kind: str = field(kw_only=True)
    source: str | None = None

    @property
    def head(self) -> dict[str, Any]:
        """The fields of the record that are known before the run; the key is computed from them."""
        fields = asdict(self) | {"view": self.view.fields, "replay": self.replay and self.replay.fields}
        if self.source is None:
            del fields["source"]
        return fields

    @cached_property
    def key(self) -> str:
        """A hash of everything that determines the outcome."""
        return key_of(
            {**vars(self), "view": self.view.fields, "replay": self.replay and self.replay.fields}
        )  # asdict(self) takes most of the time


KEY_FIELDS = (
    "content", "method", "seed", "time_limit", "threads", "solver", "version", "schedlab", "memory_gb",
    "drop_impossible", "view",
)  # fmt: skip


def key_of(head: Mapping[str, Any]) -> str:
    """Return the key of a record: a hash of ``KEY_FIELDS``, and of ``replay`` and ``source`` if they are not null."""
    values = [head.get(name) for name in KEY_FIELDS]
    values += [head[name] for name in ("replay", "source") if head.get(name) is not None]
    text = json.dumps(values, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


@cache
def solver_version(solver: str) -> str | None:
    """Return the version of a solver, None if it is not installed."""
    if solver == "schedlab":
        return __version__
    return backend(solver).availability().version


def plan(instance: Instance, path: str, request: RunRequest) -> list[Run]:
    """Return the requested runs of an instance, in order. Raises UnknownName, WrongUse."""
    planned = []
    pattern = Run(instance.name, path, content_of(Path(instance.path or path)), "", kind=instance.problem.kind)
    pattern = replace(pattern, memory_gb=request.memory_gb, drop_impossible=request.drop_impossible)
    from ...simulation.dispatchers.registry import is_dispatcher

    for view, chosen in _views(instance, request):
        problem = view.of(instance)
        for text, limit in chosen:
            here = replace(pattern, view=view, time_limit=limit)
            if is_dispatcher(text) and not _is_heuristic(text, problem):
                if not bench_kind(problem.kind).replayed:
                    raise WrongUse(
                        f"{text} is a dispatcher: it needs a dispatch problem, {instance.name} is a {problem.kind} problem"
                    )
                planned += replays(here, text, request, ReplaySettings())
                continue
            if instance.reservations:
                why = "has reservations, which only replays obey: give dispatchers, such as easy or cpmodel@cpsat"
                raise WrongUse(f"{text}: instance {instance.name!r} {why}; sl.solve takes its jobs without them")
            method = _method(text, problem, _threads(request))
            source = _joined(
                built_source(path),
                method_source(method),
                KINDS.source(problem.kind),
                _objective_source(getattr(problem, "objective", None)),
            )
            run = replace(here, method=method.text, threads=_threads(request), source=source)
            for seed in request.seeds if method.seeded else request.seeds[:1]:
                planned.append(_with_solver(replace(run, seed=seed), method.program))
    return list({run.key: run for run in planned}.values())  # a method may be given in two spellings


def replays(pattern: Run, text: str, request: RunRequest, replay: ReplaySettings) -> list[Run]:
    """Return the runs of one dispatcher: one for each seed if it uses a solver or draws, else one.

    Parameters
    ----------
    pattern
        A run with the other fields of these runs.
    text
        Name of the dispatcher, such as ``hcp3-d@cpsat``.
    request
        Seeds and threads.
    replay
        Settings of the replay.

    Returns
    -------
    list of Run
        The runs.

    Raises
    ------
    UnknownName, WrongUse
        The dispatcher is unknown, or the view is a snapshot.
    """
    from ...simulation.dispatchers.registry import check_dispatcher

    for option, why in (("keep", "mks+wt+nl keeps objectives by itself"), ("desired", "use bench simulate")):
        if getattr(pattern.view, option) is not None:
            raise WrongUse(f"{text}: --{option} is for offline methods; {why}")
    if pattern.view.at is not None:
        raise WrongUse(
            f"{text}: a dispatcher replays the whole day, not a snapshot; leave out --at, also where a suite has it, or name offline "
            "methods; --first takes fewer jobs, and bench simulate --window a part of a log"
        )
    named = check_dispatcher(text)
    if named.needs_site and replay.site is None:
        raise WrongUse(f"{text}: follows the rules of a site; use bench simulate LOG --site FILES")
    objective = None
    if named.backend is not None and named.objective is None:
        objective = replay.objective
    source = _joined(named.source, _objective_source(objective))
    view = replace(pattern.view, durations="runtime")
    run = replace(pattern, method=text, view=view, source=source)
    if (solver := named.backend) is None:
        drawn = named.seeded or replay.network is not None or source is not None  # a third party's may use the seed
        if drawn:
            seeds = request.seeds
        else:
            seeds = request.seeds[:1]
        run = replace(run, replay=replay.for_policies)
        return [_with_solver(replace(run, seed=seed), "schedlab") for seed in seeds]
    # the name has its own
    if named.objective is not None:
        replay = replace(replay, objective=None)
    # the problem of one decision is small: one thread is as fast as many, and more repeatable
    run = replace(run, threads=request.threads or 1, replay=replay)
    return [_with_solver(replace(run, seed=seed), solver) for seed in request.seeds]


def _joined(*sources: str | None) -> str | None:
    """Return the hashes of the source of third parties' parts as one text; None without any."""
    return "-".join(filter(None, sources)) or None


def _objective_source(name: object) -> str | None:
    """Return the hash of the source of a third party's objective; None for those of schedlab, and for other kinds."""
    if isinstance(name, str):
        return OBJECTIVES.source(name)
    return None


def _is_heuristic(text: str, problem: Problem) -> bool:
    """Return whether a text names a heuristic and no dispatcher: a rule on a problem that cannot be replayed."""
    from ...heuristics import HEURISTICS

    heuristic = HEURISTICS.get(text.partition(":")[0])
    return heuristic is not None and not bench_kind(problem.kind).replayed and heuristic.takes(problem)


def _method(text: str, problem: Problem, threads: int) -> Method:
    """Parse a method and check its parameters; the error for an unknown name also suggests dispatchers."""
    from ...heuristics import HEURISTICS

    try:
        method = parse_method(text, problem)
        if method.solver_parameters and backend(method.backend_name).availability().ok:
            limits = Limits(None, threads, 0, parameters=dict(method.solver_parameters))
            checked_limits(backend(method.backend_name), limits)
        return method
    except (WrongValue, WrongArgument) as e:
        raise WrongUse(f"{text}: {e}") from None
    except UnknownName:
        if ":" in text or text in HEURISTICS:
            raise
        from ...simulation.dispatchers.registry import dispatcher_names

        raise UnknownName("method, backend or dispatcher", text, [*HEURISTICS, *names(), *dispatcher_names()]) from None


def _with_solver(run: Run, solver: str) -> Run:
    return replace(run, solver=solver, version=solver_version(solver))


def _threads(request: RunRequest) -> int:
    return request.threads or max(1, min(MOST_THREADS, cores()) // (request.jobs or 1))


def _views(instance: Instance, request: RunRequest) -> Iterator[tuple[View, list[Default]]]:
    """Yield the views to run, each with its methods and time limits: the requested one, else the default ones."""
    known = views_known(instance)
    views: Iterable[View] = defaults(instance)
    begin = next(iter(known))  # for a profit problem: with the scenario of the instance
    if request.at is not None or request.first is not None:
        views = [replace(begin, at=request.at, first=request.first)]
    elif request.nodes_needed is not None:
        views = [View(nodes_needed=request.nodes_needed)]
    elif request.methods is not None:
        views = [WHOLE if WHOLE in known else begin]
    if request.scenarios:
        views = [replace(v, scenario=name) for name in scenarios_of(instance, request.scenarios) for v in views]
    for view in (v for v in views if v != DAY_REPLAYED or (request.keep is None and not request.profile)):
        similar = NOON if view.at is not None and NOON in known else WHOLE
        usual = known.get(view) or known.get(similar) or known[begin]
        limits = {**dict(known.get(DAY_REPLAYED, ())), **dict(usual)}
        texts = request.methods if request.methods is not None else [text for text, _ in usual]
        chosen = [Default(t, request.time_limit or limits.get(t, USUAL_LIMIT)) for t in texts]
        if view != DAY_REPLAYED:
            durations = request.durations
        else:
            durations = "runtime"
        view = replace(view, durations=durations, objective=request.objective, keep=request.keep, **request.profile)
        yield view, chosen


def parse_seeds(text: str) -> tuple[int, ...]:
    """Parse seeds such as "1,2,7" or ranges such as "1-5". Raises WrongUse.

    Examples
    --------
    >>> parse_seeds("1-3,9")
    (1, 2, 3, 9)
    """
    seeds: list[int] = []
    for part in text.split(","):
        lo, dash, hi = part.strip().partition("-")
        if not SEED.fullmatch(lo) or (dash and not SEED.fullmatch(hi)) or (dash and int(hi) < int(lo)):
            raise WrongUse(f"--seeds {text:.200}: expected a list such as 1,2,3 or a range such as 1-5, below 10^9")
        if len(seeds) + int(hi or lo) - int(lo) >= MOST_SEEDS:
            raise WrongUse(f"--seeds {text:.200}: expected at most {MOST_SEEDS:,} seeds")
        seeds.extend(range(int(lo), int(hi or lo) + 1))
    return tuple(dict.fromkeys(seeds))


def parse_methods(texts: Iterable[str]) -> list[str]:
    """Split comma lists of methods.

    Examples
    --------
    >>> parse_methods(["multi-search,cpsat:pool", "lns"])
    ['multi-search', 'cpsat:pool', 'lns']
    """
    methods = [part.strip() for text in texts for part in text.split(",") if part.strip()]
    if not methods:
        raise WrongUse("--methods: expected at least one method, such as cpsat:counts+warm")
    return list(dict.fromkeys(methods))
