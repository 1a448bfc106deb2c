"""The help text of ``bench simulate``, and checks of its options with respect to the dispatchers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...models.dispatch.objectives import find_objective
from ...simulation.exclusions import NO_STRETCH
from ..errors import WrongUse
from .settings import OFF, ReplaySettings

if TYPE_CHECKING:
    from ...simulation.dispatchers.registry import Named


# --- The help text of ``bench simulate``.

HELP = """Replay a log or an instance under dispatchers.

Every start is checked. The metrics are printed as a table and kept as records; the jobs of each replay are written to a
Batsim jobs.csv.

\b
A dispatcher is NAME[-w|-d|-r|-l][@BACKEND[:OBJECTIVE]], such as easy-d,
hcp3-r@cpsat or pcp3@cpsat:weighted-wait.
NAME     blocking:     fcfs, sjf
         rules:        rule:est (earliest start), rule:wt (shortest expected
                       duration), rule:lst (latest start), rule:profit,
                       rule:slowdown; strict variants: rule:wt-strict, ...
         backfilling:  easy, conservative, pbs-fifo, pbs-walltime,
                       easy++ (predicted durations, shortest first),
                       easy:lst, easy:wt (by latest start, by duration)
         by rank:      psp, psp-conservative (users with accurate walltimes
                       first); easy+RANKER, conservative+RANKER, ... with
                       fairshare, aging, job-size, multifactor, psp and
                       their options: easy+psp:aging=86400
         plans:        plan (all waiting jobs are planned anew at each
                       decision), plan@lns (with search);
                       plan:ORDER of submit, wt, slowdown, weighted, with
                       options as plan:weighted:work=2:guard=1@lns:rounds=50
                       (docs/plans.md)
         ...-profile:  any policy above plans, within --desired at each start;
                       pcp2, pcp3, hcp2, hcp3, cpmodel: for the whole run,
                       or at a cost for each core-hour above it:
                       hcp3-profile@cpsat, hcp3-profile:0.5@cpsat
         with solver:  pcp, pcp1, pcp2, pcp3 (model of every node),
                       hcp, hcp1, hcp2, hcp3 (model of the whole machine),
                       mks, wt, nl (pcp: makespan, weighted tardiness,
                       late jobs of the waiting jobs), mks+wt+nl, nl+mks+wt,
                       wt+mks+nl (the first one, the others kept within
                       10 % of their optimum), such as mks+wt+nl@cpo
                       cpmodel (scheduling cycle with adaptive limits),
                       portfolio (cpmodel, or pbs-walltime under heavy load)
         distributed:  dardis:throughput, dardis:profile, dardis:balance;
                       dardis:GENERATOR/POLICY: first, uniform, exponential
                       with min-start, max-prob, min-prob, random
         hybrid:       hybrid:100, hybrid:70, hybrid:50 (daily offline plan,
                       profile, DARDIS), with options:
                       hybrid:70:forecast=weekly:hours=48;
                       planned (a plan every 6 hours, EASY in its order),
                       planned:every=24:method=lns:limit=10
         your own:     my_module:MyDispatcher, a class or an object in
                       my_module.py in the current folder or installed;
                       a name that another installed package adds
expected duration of a job
         -w  its walltime (default; of easy++: -l)
         -d  runtimes of similar jobs of the user
         -l  mean runtime of the user's last two jobs
         -r  its real runtime
BACKEND  of dispatchers with a solver: cpsat (default), highs, cpo
OBJECTIVE of these dispatchers: makespan, waiting, weighted-wait,
         weighted-tardiness, late-jobs, queue-priority-wait, slowdown;
         default: that of the version, slowdown for pcp3 and hcp3,
         weighted-wait for cpmodel and portfolio

The same command again runs only what has no valid record; a dispatcher of
your own is run again if its source has changed. Records as pandas tables:
schedlab.read_results("results/log"), one row per replay with the columns metrics.wait_mean, ...; the jobs:
pandas.read_csv("results/log/easy.1.<key>.jobs.csv").

Exit code 1 if a replay failed: an error, a crash, or killed. A replay that stops at its time limit is no failure.

Example: bench simulate log.swf --dispatchers fcfs,easy,hcp3-d@cpsat --nodes 256 --cores 1 --starts starts.csv

Example: bench simulate eurora_700 --dispatchers easy-r,hcp3-r@cpsat --load 1.2 --decision-time 0.2

Example: bench simulate log.swf --study galleguillos2019 --deterministic 0.01 --out results/study

Example: bench simulate --study bridi2018-production --out results/production

Example: bench simulate eurora_99 --dispatchers pbs-fifo,pbs-walltime,cpmodel@cpsat,portfolio@cpsat --charge

Example: bench simulate log.swf --nodes 300 --latest-start mean-wait --dispatchers dardis:throughput,dardis:uniform/max-prob

Example: bench simulate log.swf --nodes 256 --events events.csv --requeue checkpoint:3600

Example: bench simulate log.swf --dispatchers psp,easy,easy+fairshare --users hdi --by user-accuracy,accuracy

Example: bench simulate eurora_99 --dispatchers easy,easy-profile --desired day-night.csv

Example: bench simulate profit_medium --dispatchers easy --node-policy idle:30min --scenario air,summer,cheap

Example: bench simulate theta.swf --nodes 4360 --dispatchers easy --on-demand stream:rate=4 --evictor dp,greedy,kill
"""


# --- Checks of the options of replays with respect to the dispatchers.


def check_limits(replay: ReplaySettings, dispatchers: Sequence[Named]) -> None:
    """Raise WrongUse if a dispatcher lacks the desired use that it keeps to, or the watts per core are none."""
    lacking = [d.text for d in dispatchers if d.needs_profile]
    if lacking and replay.desired is None:
        raise WrongUse(f"{lacking[0]}: keeps to a desired use; give its file with --desired FILE")
    if replay.watts_per_core is not None and not 0 < replay.watts_per_core < float("inf"):
        raise WrongUse(f"--watts-per-core {replay.watts_per_core}: expected a number above 0, such as 12.5")


def with_sources(replay: ReplaySettings) -> ReplaySettings:
    """Return the settings with the hashes of the source of the third parties' parts that they name, users apart."""
    from ...instances.traces import FORMATS
    from ...simulation.allocators import ALLOCATORS
    from ...simulation.features.named import FEATURES
    from ...simulation.features.requeue import REQUEUE_RULES
    from ...simulation.node_policies import NODE_POLICIES
    from ...simulation.predictors import PREDICTORS
    from ...simulation.preemption.evictors import evictor_source
    from ...simulation.preemption.settings import CHECKPOINTS

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
    found = {name: sources[name](text) for name, text in given.items()}
    found |= {f"feature {text}": FEATURES.find(text).source for text in replay.features or ()}
    hashes = [f"{name}={source}" for name, source in found.items() if source is not None]
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
