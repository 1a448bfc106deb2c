"""PBS's order of jobs on a site: ``job_sort_formula`` or ``job_sort_key``, queue by queue, with strict order and backfilling.

With ``strict_ordering`` the first ``backfill_depth`` jobs that do not fit hold reservations, around which the others start; with a
depth of 0 nothing starts before them. Without it each job that fits starts, in the order of the jobs [PBSDoc].
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import WrongValue
from ...instances.workload import Workload
from ...models.array_types import Floats, Ints
from ...models.site import PBSSettings, Site
from ...models.words import excerpt
from .policy import Policy, by_release

# --- Formulas: Python expressions of numbers and names, whose values are arrays with one number per job.

BINARY: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: np.true_divide, ast.FloorDiv: np.floor_divide,
    ast.Mod: np.mod, ast.Pow: np.power,
}  # fmt: skip
COMPARED: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Lt: np.less, ast.LtE: np.less_equal, ast.Gt: np.greater, ast.GtE: np.greater_equal, ast.Eq: np.equal, ast.NotEq: np.not_equal,
}  # fmt: skip
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "abs": np.abs, "sqrt": np.sqrt, "log": np.log, "log10": np.log10, "exp": np.exp, "floor": np.floor, "ceil": np.ceil, "pow": np.power,
    "min": np.minimum, "max": np.maximum,
}  # fmt: skip
UNKNOWN = (
    "fairshare_perc",
    "fair_share_perc",
    "fairshare_tree_usage",
    "fairshare_factor",
    "accrue_type",
    "preempt_priority",
)
EXPECTED = "expected numbers, resources, eligible_time and queue_priority with + - * / ** and parentheses"


def formula_value(formula: str, names: Mapping[str, Floats], jobs: int) -> Floats:
    """Return the value of a formula for each job, shape (jobs,); a name that is not given is 0, as a resource that no job asks for.

    Raises
    ------
    WrongValue
        The text is no formula, or it has what a replay does not know, such as shares.

    Examples
    --------
    >>> formula_value("10 * ncpus + (5 if walltime > 60 else 0)", {"ncpus": np.array([1, 2]), "walltime": np.array([60, 61])}, 2).tolist()
    [10.0, 25.0]
    """
    try:
        tree = ast.parse(formula.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise WrongValue(f"job_sort_formula is {excerpt(formula)}; {EXPECTED}") from None
    with np.errstate(all="ignore"):
        value = _value(tree, formula, names)
    every = np.broadcast_to(np.asarray(value, np.float64), (jobs,))
    if not np.isfinite(every).all():
        raise WrongValue(f"job_sort_formula {excerpt(formula)} has no finite value for each job")
    return every.copy()


def _value(tree: ast.expr, formula: str, names: Mapping[str, Floats]) -> Any:
    """Return the value of a part of a formula: a number, or an array with one number per job."""

    def of(part: ast.expr) -> Any:
        return _value(part, formula, names)

    if isinstance(tree, ast.Constant) and isinstance(tree.value, int | float):
        return float(tree.value)
    if isinstance(tree, ast.Name) and tree.id not in UNKNOWN:
        return names.get(tree.id, 0.0)
    if isinstance(tree, ast.BinOp) and type(tree.op) in BINARY:
        return BINARY[type(tree.op)](of(tree.left), of(tree.right))
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.UAdd | ast.USub):
        if isinstance(tree.op, ast.UAdd):
            return of(tree.operand)
        return -of(tree.operand)
    if isinstance(tree, ast.IfExp):
        return np.where(np.asarray(of(tree.test)) != 0, of(tree.body), of(tree.orelse))
    if isinstance(tree, ast.Compare) and len(tree.ops) == 1 and type(tree.ops[0]) in COMPARED:
        return np.asarray(COMPARED[type(tree.ops[0])](of(tree.left), of(tree.comparators[0])), np.float64)
    if (
        isinstance(tree, ast.Call)
        and isinstance(tree.func, ast.Name)
        and tree.func.id in FUNCTIONS
        and not tree.keywords
    ):
        try:
            return FUNCTIONS[tree.func.id](*map(of, tree.args))
        except (TypeError, ValueError):
            pass
    part = ast.unparse(tree)
    unknown = ""
    if part in UNKNOWN:
        unknown = " (a replay knows no shares and no preemption of PBS)"
    raise WrongValue(f"job_sort_formula {excerpt(formula)} has {excerpt(part)}{unknown}; {EXPECTED}")


# --- The order of the jobs of a site.

DAY = 86_400
KB = 1024  # of a MB: sizes in a formula are in KB


@dataclass(frozen=True)
class PBS:
    """PBS on the site of a replay: the order of its jobs, its strict order and its backfilling.

    Its limits, queues and nodes are those of every dispatcher on the site. What it does not obey, as fair share, is listed by
    ``schedlab.simulation.features.not_modelled``.

    Examples
    --------
    >>> site = Site("s", scheduler=PBSSettings(strict_ordering=True, backfill_depth=5), kind="pbs")
    >>> policy = PBS().on(site)
    >>> policy.name, policy.strict, policy.reservations
    ('pbs', False, 5)
    """

    name = "pbs"
    needs = frozenset[str]()

    def on(self, site: Site | None) -> Policy:
        """Return the policy on a site.

        Raises
        ------
        WrongValue
            If there is no site, or the site is none of PBS.
        """
        if site is None:
            raise WrongValue(
                "dispatcher pbs follows the rules of a site; give one: simulate(..., site=read_site('qmgr.txt', 'pbsnodes.txt')), "
                "bench simulate --site qmgr.txt,pbsnodes.txt"
            )
        settings = site.scheduler
        if not isinstance(settings, PBSSettings):
            raise WrongValue(f"dispatcher pbs: the site {site.name!r} is one of {site.kind}; expected one of pbs")
        depth = 0
        if settings.strict_ordering:
            depth = settings.backfill_depth
        strict = settings.strict_ordering and depth == 0
        return Policy(self.name, PBSOrder(site, settings), strict=strict, reservations=depth)


@dataclass(frozen=True, eq=False)
class PBSOrder:
    """The key of the jobs of a site: the job with the smallest value goes first.

    Parameters
    ----------
    site : Site
        The site.
    settings : PBSSettings
        Those of the site.
    """

    site: Site
    settings: PBSSettings

    def __call__(self, workload: Workload, expected: Ints) -> Floats | Ints | tuple[Floats, Floats]:
        """Return the place of each job in an order that does not change, or base and slope of one that does, shape (jobs,)."""
        if not len(workload):
            return np.zeros(0, np.int64)
        queue = self._queues(workload)
        value, slope = self._formula(workload, queue)
        # stable: of equal jobs, the one that was eligible first
        columns: list[Floats | Ints] = [by_release(workload, expected), *reversed(self._keys(workload, queue))]
        if self.settings.by_queue:
            of_queue = -queue
        else:
            of_queue = 0 * queue
        if not slope.any():
            return _places([*columns, -value, of_queue])
        ties = _places(columns) / (4.0 * len(workload))  # below 1 s of eligible time
        least = float(np.abs(slope[slope != 0]).min())
        base = -(value - slope * workload.release) + least * ties
        span = 2 * (np.abs(base).max() + float(np.abs(slope).max()) * (int(workload.submit.max()) + 3650 * DAY))
        return base + of_queue * span, -slope

    def _queues(self, workload: Workload) -> Ints:
        """Return the priority of the queue of each job."""
        tiers = {p.name: p.tier for p in self.site.partitions}
        first = [tiers.get(q.name.partition(" in ")[0], 0) for q in workload.queues]
        own = np.array(first, np.int64)[workload.queue]
        if workload.partitions:
            named = np.array([tiers.get(name, -1) for name in workload.partitions], np.int64)[workload.partition]
            own = np.where(named >= 0, named, own)
        return own

    def _formula(self, workload: Workload, queue: Ints) -> tuple[Floats, Floats]:
        """Return the value of the formula at the time at which each job became eligible, and its growth in each second."""
        n = len(workload)
        formula = self.settings.job_sort_formula
        if not formula:
            return np.zeros(n), np.zeros(n)
        names = self._names(workload, queue)
        if not self.settings.eligible_time:
            return formula_value(formula, names, n), np.zeros(n)
        at = [formula_value(formula, {**names, "eligible_time": np.full(n, float(t))}, n) for t in (0, DAY, 7 * DAY)]
        slope = (at[1] - at[0]) / DAY
        if not np.allclose(at[0] + 7 * DAY * slope, at[2], rtol=1e-9, atol=1e-6):
            raise WrongValue(
                f"job_sort_formula {excerpt(formula)} does not grow evenly with eligible_time, which is not modelled"
            )
        return at[0], slope

    def _names(self, workload: Workload, queue: Ints) -> dict[str, Floats]:
        """Return what a formula can name: the amounts of whole jobs, sizes in KB, and the priority of the queue."""
        amounts = workload.job_arrays.amounts
        spelled = {"cores": ("ncpus", 1), "gpus": ("ngpus", 1), "memory": ("mem", KB)}
        names: dict[str, Floats] = {
            "walltime": workload.walltime.astype(np.float64),
            "queue_priority": queue.astype(np.float64),
        }
        for k, resource in enumerate(workload.resources):
            name, factor = spelled.get(resource, (resource, 1))
            names[name] = amounts[:, k].astype(np.float64) * factor
        return names

    def _keys(self, workload: Workload, queue: Ints) -> list[Floats]:
        """Return the columns of ``job_sort_key``, the first key first, each from low to high."""
        names = self._names(workload, queue)
        columns = []
        for text in self.settings.job_sort_key:
            name, _, direction = text.partition(" ")
            own = names.get(name, np.zeros(len(workload)))
            columns.append(own if direction.strip().upper() == "LOW" else -own)
        return columns


def _places(columns: Sequence[Floats | Ints]) -> Ints:
    """Return the place of each job by several columns, the last one first; equal jobs have one place.

    >>> _places([np.array([3, 1, 1]), np.array([0, 5, 5])]).tolist()
    [0, 1, 1]
    """
    order = np.lexsort(columns)
    stacked = np.array([np.asarray(column, np.float64)[order] for column in columns])
    new = (np.diff(stacked, axis=1) != 0).any(axis=0)
    places = np.empty(len(order), np.int64)
    places[order] = np.concatenate([[0], np.cumsum(new)])
    return places
