"""The dispatcher ``slurm``: which settings of its site it may be given other values of, and how a text gives them.

It takes all parameters from the site of the replay; ``slurm:bf_interval=30:default_queue_depth=50`` overrides some of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from ...errors import WrongValue
from ...instances.workload import Workload
from ...models.comparing import hashable
from ...models.registry import WholeSeconds
from ...models.site import SchedulerSettings, Site
from ...models.site_rules import least_of
from ..slurm.jobs import as_submitted

UNLIMITED = "unlimited"
OPTIONS: dict[str, Any] = {
    "scheduler_type": Literal["backfill", "builtin"],
    "default_queue_depth": int,
    "partition_job_depth": int,
    "sched_interval": WholeSeconds | int,
    "sched_max_job_start": int,
    "batch_sched_delay": WholeSeconds,
    "assoc_limit_stop": bool,
    "bf_interval": WholeSeconds,
    "bf_resolution": WholeSeconds,
    "bf_window": WholeSeconds,
    "bf_min_age_reserve": WholeSeconds,
    "bf_min_prio_reserve": int,
    "bf_max_job_test": int,
    "bf_max_job_part": int,
    "bf_max_job_user": int,
    "bf_max_job_user_part": int,
    "bf_max_job_assoc": int,
    "bf_max_job_start": int,
    "bf_max_job_array_resv": int,
    "bf_job_part_count_reserve": int,
    "bf_one_resv_per_job": bool,
    "bf_running_job_reserve": bool,
    "pack_serial_at_end": bool,
    "priority_type": Literal["basic", "multifactor"],
    "weight_age": int,
    "weight_assoc": int,
    "weight_fairshare": int,
    "weight_job_size": int,
    "weight_partition": int,
    "weight_qos": int,
    "max_age": WholeSeconds,
    "decay_half_life": WholeSeconds,
    "calc_period": WholeSeconds,
    "favor_small": bool,
    "fair_share_dampening": int,
    "over_time_limit": WholeSeconds | Literal["unlimited"],
    "kill_wait": WholeSeconds,
}
"""The settings that decide which job ``slurm`` starts when, and their types; the names are those of ``SchedulerSettings``."""


class Phases(NamedTuple):
    """When the two schedulers run.

    Parameters
    ----------
    main, backfill : int
        When in its period the main scheduler runs, and the backfill scheduler, in s.
    backfill_first : bool
        Whether the backfill scheduler is the first where both run in one second.
    """

    main: int = 0
    backfill: int = 0
    backfill_first: bool = False


NO_PHASES = Phases()


@hashable
@dataclass(frozen=True)
class Slurm:
    """Slurm on the site of a replay: its main scheduler, its backfill scheduler, its priorities, its choice of nodes.

    Parameters
    ----------
    overridden : tuple of (str, object)
        Settings of the site that have other values; the names are among ``OPTIONS``.
    phases : Phases, optional
        When the two schedulers run.

    Raises
    ------
    WrongValue
        If a value is not allowed.

    Examples
    --------
    >>> slurm(bf_interval=30).name
    'slurm'
    """

    overridden: tuple[tuple[str, Any], ...] = ()
    phases: Phases = NO_PHASES
    name = "slurm"
    needs = frozenset({"one-chunk"})

    def __post_init__(self) -> None:
        for name, value in self.overridden:
            if isinstance(value, int) and value < least_of(name):
                raise WrongValue(f"dispatcher slurm: {name} is {value}; expected at least {least_of(name)}")

    def on(self, site: Site | None) -> Site:
        """Return the site of a replay, with the settings that have other values.

        Raises
        ------
        WrongValue
            If there is no site, or the site is none of Slurm.
        """
        if site is None:
            raise WrongValue(
                "dispatcher slurm follows the rules of a site; give one: simulate(..., site=read_site('slurm.conf')), "
                "bench simulate --site slurm.conf"
            )
        if not isinstance(site.scheduler, SchedulerSettings):
            raise WrongValue(f"dispatcher slurm: the site {site.name!r} is one of {site.kind}; expected one of slurm")
        return replace(site, scheduler=replace(site.scheduler, **dict(self.overridden)))

    def jobs(self, workload: Workload, site: Site | None) -> Workload:
        """Return the jobs of a log as they were submitted; see ``schedlab.simulation.slurm.jobs.as_submitted``.

        Raises
        ------
        WrongValue
            If there is no site, or the site is none of Slurm.
        """
        return as_submitted(workload, self.on(site))


def slurm(**settings: Any) -> Slurm:
    """Slurm with the settings of the site; the options override them."""
    given = {name: value for name, value in settings.items() if value is not None}
    if given.get("over_time_limit") == UNLIMITED:
        given["over_time_limit"] = None
    return Slurm(tuple(given.items()))


def _signature() -> inspect.Signature:
    kind = inspect.Parameter.KEYWORD_ONLY
    options = [inspect.Parameter(name, kind, default=None, annotation=of) for name, of in OPTIONS.items()]
    return inspect.Signature(options)


_named: Callable[..., Slurm] = slurm
_named.__signature__ = _signature()  # type: ignore[attr-defined]
