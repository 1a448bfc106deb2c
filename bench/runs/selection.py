"""What is run: the views of an instance's problem, the methods, limits and seeds; and the key of each run."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from ... import __version__
from ...backends import UnknownName, backend, names
from ...instances import Instance
from ...instances.files.own_files import content_of
from ...methods import Method, parse_method
from ...models.dispatch.problem import Dispatch
from ...models.problem import Problem
from ...models.profit.problem import Profit
from ..errors import WrongUse
from .defaults import DAY_REPLAYED, NOON, USUAL_LIMIT, WHOLE, Default, defaults, views_known
from .replay_settings import ReplaySettings
from .view import Durations, View, scenarios_of

KILL_AFTER = 5.0  # seconds beyond its limit that a run may take before it is killed
MOST_THREADS = 8
SEED = re.compile(r"\d{1,9}", re.ASCII)  # solvers take 31 bits
MOST_SEEDS = 10_000


@dataclass(frozen=True)
class RunRequest:
    """What the user asks for; None: the defaults decide."""

    methods: Sequence[str] | None = None
    time_limit: float | None = None
    threads: int | None = None
    seeds: Sequence[int] = (1,)
    jobs: int = 1
    memory_gb: float | None = None
    at: int | None = None
    first: int | None = None
    durations: Durations = "walltime"
    objective: str | None = None
    nodes_needed: int | None = None
    scenarios: Sequence[str] = ()
    drop_impossible: bool = False


@dataclass(frozen=True)
class Run:
    """One run and all that decides its outcome. ``path``: the instance or trace as the user named it.

    ``replay``: of a run whose method is a dispatcher; its time limit is that of the whole replay.
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
    kind: str | None = None  # of the problem

    @property
    def head(self) -> dict[str, Any]:
        """The fields of the record that are known before the run; ``key`` is computed from them."""
        return asdict(self) | {"view": self.view.fields}

    @property
    def key(self) -> str:
        """A hash of everything that decides the outcome."""
        return key_of(self.head)


KEY_FIELDS = (
    "content", "method", "seed", "time_limit", "threads", "solver", "version", "schedlab", "memory_gb",
    "drop_impossible", "view",
)  # fmt: skip


def key_of(head: Mapping[str, Any]) -> str:
    """The key of a record: the same for two runs exactly if nothing that decides the outcome differs."""
    values = [head.get(name) for name in KEY_FIELDS]
    if head.get("replay") is not None:
        values.append(head["replay"])
    text = json.dumps(values, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


@cache
def solver_version(solver: str) -> str | None:
    """The version of a method's solver, None if it is not installed."""
    return __version__ if solver == "schedlab" else backend(solver).availability().version


def plan(instance: Instance, path: str, asked: RunRequest) -> list[Run]:
    """The runs of an instance, in order. Raises UnknownName, WrongUse."""
    found = []
    pattern = Run(instance.name, path, content_of(Path(instance.path or path)), "")
    pattern = replace(
        pattern, memory_gb=asked.memory_gb, drop_impossible=asked.drop_impossible, kind=instance.problem.kind
    )
    for view, chosen in _views(instance, asked):
        problem = view.of(instance)
        for text, limit in chosen:
            here = replace(pattern, view=view, time_limit=limit)
            if is_dispatcher(text) and not _is_heuristic(text, problem):
                if not isinstance(problem, Dispatch):
                    raise WrongUse(f"{text} is a dispatcher: for dispatch problems, not for {problem.kind} problems")
                found += replays(here, text, asked, ReplaySettings())
                continue
            method = _method(text, problem)
            for seed in asked.seeds if _by_chance(method) else asked.seeds[:1]:
                found.append(_by(replace(here, method=method.text, seed=seed, threads=_threads(asked)), method.solver))
    return found


def replays(pattern: Run, text: str, asked: RunRequest, replay: ReplaySettings) -> list[Run]:
    """The replays of one dispatcher: one per seed if it asks a solver, else one. Raises UnknownName, WrongUse."""
    from ...simulation.policies.registry import parse_dispatcher

    if pattern.view.at is not None:
        raise WrongUse(f"{text}: a dispatcher replays the whole day; leave --at out")
    solver = parse_dispatcher(text).backend
    run = replace(pattern, method=text, view=replace(pattern.view, durations="runtime"))
    if solver is None:
        return [_by(replace(run, seed=asked.seeds[0], replay=replay.for_policies), "schedlab")]
    # the problems of a moment are small: one thread is as good as many, and more repeatable
    run = replace(run, threads=asked.threads or 1, replay=replay)
    return [_by(replace(run, seed=seed), solver) for seed in asked.seeds]


def is_dispatcher(text: str) -> bool:
    """Whether a method is meant to be a dispatcher, by its name before a predictor and a backend."""
    from ...simulation.policies.registry import dispatchers

    head = text.partition("@")[0]
    return head in dispatchers() or head.rpartition("-")[0] in dispatchers()


def _is_heuristic(text: str, problem: Problem) -> bool:
    """Whether a rule is meant as a heuristic: profit problems are not replayed."""
    from ...heuristics import HEURISTICS

    return isinstance(problem, Profit) and text.partition(":")[0] in HEURISTICS


def _by_chance(method: Method) -> bool:
    """Whether the seed matters."""
    from ...heuristics import HEURISTICS

    return method.heuristic is None or HEURISTICS[method.heuristic].seeded


def _method(text: str, problem: Problem) -> Method:
    """A method; where the name is none, the near names of dispatchers count too."""
    from ...heuristics import HEURISTICS
    from ...simulation.policies.registry import dispatchers

    try:
        return parse_method(text, problem)
    except UnknownName:
        if ":" in text or text in HEURISTICS:
            raise
        raise UnknownName("method, backend or dispatcher", text, [*HEURISTICS, *names(), *dispatchers()]) from None


def _by(run: Run, solver: str) -> Run:
    return replace(run, solver=solver, version=solver_version(solver))


def _threads(asked: RunRequest) -> int:
    return asked.threads or max(1, min(MOST_THREADS, cores()) // asked.jobs)


def _views(instance: Instance, asked: RunRequest) -> Iterator[tuple[View, list[Default]]]:
    """The views to run, each with its methods and limits: what is asked for alone, else the defaults."""
    known = views_known(instance)
    views: Iterable[View] = defaults(instance)
    begin = next(iter(known))  # of a profit instance: its own scenario
    if asked.at is not None or asked.first is not None:
        views = [replace(begin, at=asked.at, first=asked.first)]
    elif asked.nodes_needed is not None:
        views = [View(nodes_needed=asked.nodes_needed)]
    elif asked.methods is not None:
        views = [WHOLE if WHOLE in known else begin]
    if asked.scenarios:
        views = [replace(v, scenario=name) for name in scenarios_of(instance, asked.scenarios) for v in views]
    for view in views:
        stand_in = NOON if view.at is not None and NOON in known else WHOLE
        usual = known.get(view) or known.get(stand_in) or known[begin]
        limits = {**dict(known.get(DAY_REPLAYED, ())), **dict(usual)}
        texts = asked.methods if asked.methods is not None else [text for text, _ in usual]
        chosen = [Default(t, asked.time_limit or limits.get(t, USUAL_LIMIT)) for t in texts]
        durations = "runtime" if view == DAY_REPLAYED else asked.durations
        yield replace(view, durations=durations, objective=asked.objective), chosen


def cores() -> int:
    """The cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        return os.cpu_count() or 1


def parse_seeds(text: str) -> tuple[int, ...]:
    """Seeds from "1,2,7" or ranges "1-5". Raises WrongUse.

    >>> parse_seeds("1-3,9")
    (1, 2, 3, 9)
    """
    found: list[int] = []
    for part in text.split(","):
        lo, dash, hi = part.strip().partition("-")
        if not SEED.fullmatch(lo) or (dash and not SEED.fullmatch(hi)) or (dash and int(hi) < int(lo)):
            raise WrongUse(f"--seeds {text:.200}: expected a list such as 1,2,3 or a range such as 1-5, below 10^9")
        if len(found) + int(hi or lo) - int(lo) >= MOST_SEEDS:
            raise WrongUse(f"--seeds {text:.200}: expected at most {MOST_SEEDS:,} seeds")
        found.extend(range(int(lo), int(hi or lo) + 1))
    return tuple(dict.fromkeys(found))


def parse_methods(texts: Iterable[str]) -> list[str]:
    """Methods from comma lists; the comma inside a criterion, as in "power-per-profit,duration", is kept.

    >>> parse_methods(["multi-search,cpsat:pool", "first-solution:power-per-profit,-duration"])
    ['multi-search', 'cpsat:pool', 'first-solution:power-per-profit,-duration']
    """
    found: list[str] = []
    for part in (p.strip() for text in texts for p in text.split(",")):
        if part in ("duration", "-duration") and found and found[-1].endswith("power-per-profit"):
            found[-1] += f",{part}"
        elif part:
            found.append(part)
    if not found:
        raise WrongUse("--methods: expected at least one method, such as cpsat:counts+warm")
    return list(dict.fromkeys(found))
