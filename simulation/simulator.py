"""The trace-driven simulator: ``simulate`` replays a workload under a dispatcher.

At each event jobs end first, then jobs arrive, then one decision is made [Bridi2018, 4.3] [Galleguillos2019, 2.1].
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import WrongArgument, WrongValue
from ..instances import Instance, Trace, load
from ..instances.files.reading import WorkloadError
from ..instances.workload import Workload
from ..models import DesiredProfile, Dispatch, Job, NodeEvent, NodeStates, Platform, Profit, Running
from ..models.arguments import Natural, checked, expect, is_whole, shown, value_shown
from ..models.compiled import progress_line
from ..models.platform import LATEST
from ..models.reservations import Reservation
from ..models.server_events import ServerEvent
from ..models.site import Site
from .dispatcher import Dispatcher
from .dispatchers.pbs import PBS
from .dispatchers.policy import BEST_FIT, Allocator, Chosen, Policy, Slurm, allocator_of, needs_of, rank_of
from .dispatchers.registry import DISPATCHERS, parse_dispatcher
from .engine import STOPPED, Engine, OnProgress, set_up
from .errors import ONE_REQUEST
from .features.batch_server import NodeEvents, batch_server, split_events
from .features.feature import Feature
from .features.limits import Limits, LimitsOf, RunningLimits, desired_of, lent, licences_of, limits_of
from .features.node_power import node_power
from .features.on_demand import OnDemand
from .features.running import Dependencies, RunningAtBegin, UserRequests, nodes_that_run
from .features.site_limits import limits_of_site, node_events_of, on_site
from .features.site_reservations import reservations_of, site_reservations
from .node_policies import NodePolicy, Switching
from .predictors import Predictor, Real, TimedPredictor, predictor_of
from .preemption import Preemption, Requeue, kept_by, requeue_of
from .result import Simulation
from .settings import features_of
from .users import Users, users_of

# --- Which dispatchers take heterogeneous jobs.


def check_takes_chunks(
    jobs: Workload, dispatcher: Policy | Dispatcher | Slurm, name: str, private: Collection[str] = ()
) -> None:
    """Raise WorkloadError if a job has several chunks and the dispatcher, called ``name``, does not take such jobs.

    ``private``: queues whose jobs the dispatcher never sees.
    """
    if "one-chunk" not in needs_of(dispatcher):
        return
    seen = next((k for k in sorted(jobs.chunks) if jobs.queues[int(jobs.queue[k])].name not in private), None)
    if seen is not None:
        raise WorkloadError(
            f"{jobs.name}: job {jobs.ids[seen]!r} has several chunks, which dispatcher {name} does not take: {ONE_REQUEST}; "
            "the rules, easy, conservative and the CP dispatchers take them, with all their variants"
        )


def check_takes_all_nodes(jobs: Workload, dispatcher: Policy | Dispatcher | Slurm, name: str) -> None:
    """Raise WorkloadError if jobs may not use all nodes, and the dispatcher, called ``name``, places them anywhere.

    Dispatchers in Python do not see that a job which requests nothing is on a node.
    """
    if any(t.whole_nodes for t in jobs.node_terms) and not isinstance(dispatcher, Policy | Slurm):
        empty = np.flatnonzero(~jobs.request.any(axis=1))
        if empty.size:
            raise WorkloadError(
                f"{jobs.name}: job {jobs.ids[int(empty[0])]!r} requests nothing, and other jobs have whole nodes; only policies "
                f"take both, dispatcher {name} does not"
            )
    if "all-nodes" not in needs_of(dispatcher):
        return
    asked = next((f"queue {q.name!r} has nodes of its own" for q in jobs.queues if q.nodes), "")
    names = ("nodes", "features", "per_node", "whole_nodes")
    asked = asked or next(
        (f"jobs ask for {field}" for t in jobs.node_terms for field in names if getattr(t, field)), ""
    )
    if asked:
        raise WorkloadError(
            f"{jobs.name}: {asked}, which dispatcher {name} does not obey; policies, plans and the CP dispatchers do"
        )


# --- What ``simulate`` replays: the jobs and the machine of what a user gives.

EXPECTED = "expected a Workload, a log from read_trace, a dispatching problem, an Instance or its name"


class ReplayInput(NamedTuple):
    """The jobs, the machine, and the events, reservations and desired use of an instance or problem."""

    jobs: Workload
    platform: Platform
    events: Sequence[NodeEvent | ServerEvent] = ()
    reservations: Sequence[Reservation] = ()
    desired: DesiredProfile | None = None


def replay_input(what: object, platform: Platform | None, site: Site | None = None) -> ReplayInput:
    """Return the jobs and the machine of a replay.

    Parameters
    ----------
    what : Workload, Trace, Dispatch, Instance, str or Path
        What the user gives.
    platform : Platform, optional
        The machine; None: that of the instance, the problem or the log.
    site : Site, optional
        The machine with its partitions, instead of a platform.

    Raises
    ------
    WrongArgument
        If it is anything else.
    WorkloadError
        If a platform is needed and missing, or there is no job to replay.
    """
    if platform is not None and not isinstance(platform, Platform):
        raise WrongArgument(f"platform of simulate is {platform!r:.80}; expected a Platform or None")
    if not isinstance(what, (str, Path)):
        given = what
    else:
        given = load(what)
    if site is not None:
        jobs, machine = on_site(_jobs_of(given), site)
        return ReplayInput(jobs, machine, node_events_of(site, jobs, machine))
    if isinstance(given, Instance):
        machine = platform or given.platform
        desired = _desired(given.dispatch, machine)
        jobs = Workload.of(given.dispatch, given.name)
        return ReplayInput(jobs.on(machine), machine, given.events, given.reservations, desired)
    if isinstance(given, Dispatch):
        machine = platform or given.platform
        return ReplayInput(Workload.of(given).on(machine), machine, desired=_desired(given, machine))
    own = None
    if isinstance(given, Trace):
        own, given = given.platform, given.workload
    if not isinstance(given, Workload):
        raise WrongArgument(f"workload of simulate is {value_shown(given)}; {EXPECTED}{_advice(given)}")
    machine_or_none = platform or own
    if machine_or_none is None:
        raise WorkloadError(f"{given.name}: a log has no platform of its own; pass one as the argument platform")
    return ReplayInput(given.checked().on(machine_or_none), machine_or_none)


def _jobs_of(given: object) -> Workload:
    """Return the jobs of what a user gives, for a machine that is given apart."""
    if isinstance(given, Instance):
        return Workload.of(given.dispatch, given.name)
    if isinstance(given, Dispatch):
        return Workload.of(given)
    if isinstance(given, Trace):
        given = given.workload
    if not isinstance(given, Workload):
        raise WrongArgument(f"workload of simulate is {value_shown(given)}; {EXPECTED}{_advice(given)}")
    return given.checked()


def _desired(problem: Dispatch, machine: Platform) -> DesiredProfile | None:
    if machine == problem.platform:
        return problem.desired
    return None


def _advice(given: Any) -> str:
    """Return what the user can do instead, for a message."""
    if hasattr(given, "itertuples"):
        return "; a table of pandas is read by Workload.from_pandas"
    if isinstance(given, Profit):
        return "; the jobs of a profit problem p are p.dispatch"
    if isinstance(given, (list, tuple)) and given and all(isinstance(j, Job) for j in given):
        return "; jobs need a machine and queues: Dispatch(platform, jobs, queues)"
    return ""


@checked(
    values=False,
    deep=False,
    skip=(
        "workload",
        "platform",
        "dispatcher",
        "predictor",
        "running",
        "desired",
        "users",
        "requeue",
        "node_policy",
        "features",
        "allocator",
    ),
)
def simulate(
    workload: Workload | Trace | Dispatch | Instance | str | Path,
    platform: Platform | str | Policy | None = None,
    dispatcher: str | Policy | Dispatcher | Slurm | type[Dispatcher] = "easy",
    *,
    predictor: str | Predictor | type[Predictor] | None = None,
    allocator: str | Allocator | type[Allocator] = BEST_FIT,
    seed: int = 0,
    kill_at_walltime: bool = False,
    charge_decisions: bool = False,
    period: int | None = None,
    events: Iterable[NodeEvent | ServerEvent] | None = None,
    reservations: Iterable[Reservation] | None = None,
    requeue: str | Requeue | type[Requeue] = "restart",
    desired: DesiredProfile | str | Path | None = None,
    power_cap: float | DesiredProfile | None = None,
    on_progress: OnProgress | None = None,
    running: Iterable[Running] | None = None,
    begin: int | None = None,
    users: str | Users | type[Users] | None = None,
    preemption: Preemption | None = None,
    node_policy: str | NodePolicy | type[NodePolicy] | None = None,
    switching: Switching | None = None,
    features: Iterable[str | Feature | type[Feature]] = (),
    site: Site | None = None,
) -> Simulation:
    """Replay a workload on a platform under a dispatcher, and verify the result.

    At each time jobs end first, then jobs arrive, then the dispatcher is called once. It sees walltimes and expected
    durations, never a runtime. A job of runtime 0 frees its nodes at the time of its start. The verification of the
    whole replay shares no code with the dispatchers.

    Parameters
    ----------
    workload : Workload, Trace, Dispatch, Instance, str or Path
        The jobs: a workload or a log (``read_trace``), an instance or its name, or a dispatch problem. Every job needs a
        runtime.
    platform : Platform, str or Policy, optional
        The machine. Default: the platform of the instance, problem or log. Required for a ``Workload``. Jobs that the
        platform cannot hold are left out and listed in ``Simulation.workload.report.dropped``. A text or a policy in this
        place is the dispatcher: ``simulate("eurora_99", "easy")``.
    dispatcher : str, Policy or Dispatcher
        A name such as ``"easy"``, ``"pbs-fifo"`` or ``"hcp3-d@cpsat"`` (see
        ``schedlab.simulation.parse_dispatcher``), ``"my_module:MyDispatcher"``, a ``Policy``, or an
        object of your own, or its class, that follows the protocol in ``schedlab.simulation.dispatcher``.
    predictor : str or Predictor, optional
        The source of the expected durations: ``"walltime"``, ``"data-driven"``, ``"last-two"``, ``"real"``, or an
        object that follows ``schedlab.simulation.predictors.Predictor``, or ``"my_module:MyPredictor"``. Default: the predictor in the dispatcher's
        name or the policy, else ``"walltime"``.
    allocator : str or Allocator
        How policies choose nodes: ``"first-fit"``, ``"best-fit"``, or an object that follows
        ``schedlab.simulation.dispatchers.policy.Allocator``, or its name. Dispatchers other than policies choose the nodes
        themselves.
    seed : int
        Passed to ``Dispatcher.begin``. Policies do not use it, except ``plan@lns``.
    kill_at_walltime : bool
        Whether a job that reaches its walltime ends there.
    charge_decisions : bool
        Whether the wall time of each decision passes on the simulated clock, in whole seconds.
    period : int, optional
        While jobs wait, decide also at each multiple of this number of seconds, at least 1. Default: at events only.
    events : iterable of NodeEvent and ServerEvent, optional
        Changes of the states of nodes, such as ``NodeEvent(3600, "node-down", ["n-1"])``, and events of the batch
        server, such as ``ServerEvent(3600, "stop-queue", "night")``; also the result of
        ``schedlab.instances.read_events``. Default: the events of the instance, or the changes of node states of the site.
        Dispatchers do not know them before they happen.
    reservations : iterable of Reservation, optional
        Reservations of the machine, examined when they are submitted. Default: those of the instance. An accepted one
        starts in time; the result is in ``Simulation.production``.
    requeue : str or Requeue
        What happens to jobs whose node goes down, or that ``slurm`` preempts: ``"restart"`` (back into the queue, from zero),
        ``"checkpoint:SECONDS"`` (back, with the work of the last checkpoint), ``"drop"``, or an object that follows
        ``schedlab.simulation.Requeue``. Jobs that come back have their old place in the queue.
    desired : DesiredProfile, str or Path, optional
        How much of each resource an administrator wishes to be in use, or its CSV file. Metrics compare the use with
        it; policies whose names end in ``-profile`` keep to it at each start. A dispatcher of your own that
        needs ``"profile"`` has it in its attribute ``desired`` during the replay. Default: that of the instance or problem on its own platform.
    power_cap : float or DesiredProfile, optional
        Greatest power of all running jobs in watts, or a profile of power: no job starts if the power is then above it. A
        job inside a reservation, too, waits until there is power for it. Policies plan with it; a start that another
        dispatcher decides, and that exceeds it, is put off. Every job needs a power.
    on_progress : callable, optional
        Called with a ``Progress`` from time to time: in a compiled replay at least every 20,000 events, else about every 0.2 s
        of wall time. If it returns False, the replay stops and returns the result so far, with a note in
        ``Simulation.notes``.
    running : iterable of Running, optional
        The jobs that run at ``begin``: nodes, start, and expected end. They end by their runtimes (``job.runtime``), or
        at the expected end if the runtime is None. A job with ``nodes={}`` gets nodes from the allocator; without room
        it is left out and listed in ``Simulation.workload.report.dropped``. Metrics leave these jobs out; utilisation
        and the verification count them. Default: those of the workload or problem. A job whose node goes down and that
        comes back (``requeue``) is a row of ``Simulation.workload``, and its run from before is its first attempt.
    begin : int, optional
        The time in seconds at which the replay begins; no job starts before. Jobs submitted earlier wait. Default:
        ``Workload.begin`` or ``Dispatch.now``; with ``running``, else the first submit time.
    users : str or Users, optional
        Users who choose the walltime of each job when they submit it: ``"be"``, ``"ge"``, ``"cf"``, ``"cfg"``, ``"di"``,
        ``"hdi"``, ``"impatient"`` (see ``schedlab.simulation.users``), or an object that follows
        ``schedlab.simulation.users.Users``. The result has these walltimes in ``Simulation.workload``. Default:
        the walltimes of the workload.
    preemption : Preemption, optional
        On-demand jobs, which must start soon and for which running jobs leave; checkpoints and failures of nodes. A job
        whose node fails keeps the work of its last checkpoint, or what ``requeue`` keeps if that is more.
    node_policy : str or NodePolicy, optional
        Which nodes are switched off and on: ``"always-on"``, ``"idle:30min"``, ``"profile"`` (as many as ``desired``
        needs), or an object that follows ``schedlab.simulation.node_policies.NodePolicy``. Default: that of the
        dispatcher (if it needs ``"node-policy"``), else all nodes are on.
    switching : Switching, optional
        How long nodes boot, shut down, and are off at least; only with a node policy.
    features : iterable of str, Feature or type
        Features of third parties: objects that derive from ``schedlab.simulation.features.feature.Feature``, or their
        names, as ``NAME[:OPTION=VALUE]...`` or ``"my_module:MyFeature"``. They go together with all other options; their
        checks are part of the verification.
    site : Site, optional
        The machine as its administrator describes it, instead of ``platform``: jobs have the nodes of their partitions, and
        the limits of partitions, licences, accounts, users and QOS and the reservations hold under every dispatcher
        (``read_site``). What is not obeyed is told in the report of the workload.

    Returns
    -------
    Simulation
        Start, end and nodes of each job, statistics of the decisions, and violations (empty if the replay is valid).

    Raises
    ------
    SimulationError
        If the dispatcher raises, returns an invalid decision (a job twice, a full node, ...), or leaves jobs in the
        queue when no event is left; or if a predictor returns something other than whole seconds. ``partial`` holds the
        replay so far.
    WorkloadError
        If there is no job to replay, a job has no runtime, a platform is needed and missing, or the running jobs
        contradict each other or the platform.
    UnknownName
        If no dispatcher, predictor, backend or instance has the given name.
    PluginError
        If a dispatcher of your own cannot be imported or created, or lacks a method.
    ValueError
        If ``allocator``, ``period``, ``events``, ``reservations``, ``requeue``, ``desired`` or ``power_cap`` is not
        valid; or if options exclude each other (``schedlab.simulation.errors``).

    Examples
    --------
    >>> import schedlab as sl
    >>> run = sl.simulate("eurora_99", dispatcher="easy")
    >>> len(run.start), run.violations
    (99, [])
    >>> run.metrics.wait.mean <= sl.simulate("eurora_99", dispatcher="fcfs").metrics.wait.mean
    True
    """
    if isinstance(platform, (str, Policy)):
        if not isinstance(dispatcher, str) or dispatcher != "easy":
            raise WrongArgument(
                f"platform of simulate is {platform!r:.80}, a dispatcher, and dispatcher is {dispatcher!r:.80}; give the "
                "dispatcher once"
            )
        dispatcher, platform = platform, None
    expect("seed of simulate", seed, Natural)
    expect("begin of simulate", begin, int | None)
    expect("site of simulate", site, Site | None)
    if site is not None and platform is not None:
        raise WrongArgument("simulate has a platform and a site; give one of them, the site has nodes of its own")
    jobs, machine, own_events, reserved, own_desired = replay_input(workload, platform, site)
    if running is not None or begin is not None:
        if begin is None:
            if jobs.begin is None:
                begin = int(jobs.submit[0])
            else:
                begin = jobs.begin
        jobs = jobs.beginning(begin, jobs.running if running is None else running)
    chosen = _dispatcher(dispatcher)
    if isinstance(chosen.dispatcher, PBS):
        chosen = Chosen.of(chosen.dispatcher.on(site), chosen.name, chosen.predictor)
    scheduler = None
    if chosen.scheduler is not None:
        from .slurm.scheduler import SlurmScheduler, counts_cpus

        place = chosen.scheduler.on(site)
        scheduler = SlurmScheduler(place, chosen.scheduler.phases_on(place))
    listed = list(own_events if events is None else events)
    if listed:
        of_nodes, of_server = split_events(listed)
    else:
        of_nodes = []
        of_server = []
    reserved = list(reserved if reservations is None else reservations)
    rule = requeue_of(requeue)
    expect("preemption of simulate", preemption, Preemption | None)
    placing = allocator_of(allocator)
    if period is not None and (not is_whole(period) or not 1 <= period <= LATEST):
        raise WrongValue(f"period is {shown(period)} s; expected a whole number of at least 1 and at most {LATEST:,}")
    predicting = predictor_of(chosen.predictor if predictor is None else predictor, kill_at_walltime)
    if scheduler is not None and predicting.name != "walltime":
        raise WrongValue(
            f"predictor {predicting.name}: dispatcher slurm plans with the time limits of jobs; leave the predictor out"
        )
    if preemption is not None:
        failures = preemption.failures
    else:
        failures = ()
    states = None
    if of_nodes or failures:
        states = NodeStates(machine, of_nodes, failures) or None
    wished = own_desired if desired is None else desired
    if wished is not None:
        wished = desired_of(wished, machine, jobs)
    within: tuple[DesiredProfile, ...] = ()
    if chosen.needs or power_cap is not None:
        within = limits_of(wished, power_cap, chosen, machine)
    server = None
    if of_server or reserved:
        urgent = () if preemption is None else [job.id for job in preemption.jobs]
        server = batch_server(
            of_server, reserved, jobs, machine, events is None, "one-chunk" not in chosen.needs, urgent
        )
    on_demand = None
    if preemption is not None and (preemption.jobs or preemption.failures or preemption.reserved):
        on_demand = OnDemand(preemption, rule)
    if node_policy is None and "node-policy" in chosen.needs:
        node_policy = chosen.dispatcher.node_policy
    power = None
    if node_policy is not None or switching is not None:
        power = node_power(node_policy, switching, jobs, wished)
    if jobs.chunks:
        private = () if server is None else server.private
        check_takes_chunks(jobs, chosen.made, chosen.name, private)
    check_takes_all_nodes(jobs, chosen.made, chosen.name)
    added = []
    if features:
        added = features_of(features)
    reserving = None
    if site is not None and scheduler is None:
        submits = () if preemption is None else (job.submit for job in preemption.jobs)
        reserving = site_reservations(site, jobs, machine, submits)
    alone = not (states or server or on_demand or added or reserving) and (power is None or power.still)
    rank = rank_of(placing, machine)
    by_count = chosen.policy is not None and alone and rank is None
    at_begin = None
    if jobs.running:
        at_begin = RunningAtBegin(
            kill_at_walltime, isinstance(predicting, Real), by_count, placing.name == BEST_FIT,
            nodes_that_run(states, jobs.begin), rank,
        )  # fmt: skip

    def rows_at_begin() -> Collection[int]:
        if at_begin is None:
            return ()
        return at_begin.rows_at_begin

    limits: list[LimitsOf] = []
    if machine.licences:
        limits = [licences_of]
    if site is not None:
        limits.append(limits_of_site(site))
    parts: list[Feature] = [
        *([at_begin] if at_begin is not None else []),
        *([reserving] if reserving is not None else []),
        *([NodeEvents(states)] if states is not None else []),
        *([server] if server is not None else []),
        *([on_demand] if on_demand is not None else []),
        *([Limits(within, rows_at_begin, chosen.policy is not None)] if within else []),
        *([power] if power is not None else []),
        *([Dependencies()] if jobs.after else []),
        *([RunningLimits(limits)] if limits else []),
        *([scheduler] if scheduler is not None else []),
    ]
    parts += added
    if users is not None:
        others = tuple(parts)

        def hidden(workload: Workload) -> set[int]:
            return {row for f in others for row in f.absent(workload)}

        parts.append(UserRequests(users_of(users), hidden))
    for feature in parts:
        jobs = feature.jobs(jobs, machine)
    setup = set_up(
        jobs, machine, parts, chosen, TimedPredictor(predicting), placing, seed=seed, period=int(period or 0),
        charge=charge_decisions, kill=kill_at_walltime, whole_nodes=on_demand is not None, fixed=users is None,
    )  # fmt: skip
    lending: AbstractContextManager[None] = nullcontext()
    if wished is not None and "profile" in chosen.needs:
        lending = lent(wished, chosen.dispatcher)
    with progress_line(), lending:
        engine = Engine(setup, parts, on_progress, scheduler)
        engine.kept_work = lambda row, ran: kept_by(rule, ran, engine.workload.ids[row])
        simulation = engine.run()
    simulation.desired = wished
    from .verify import violations
    from .verify_features import PreemptionRules

    on_each_node = chosen.policy is None
    stops = [stop for feature in added for stop in feature.stops(simulation)]
    partial = STOPPED in simulation.notes
    simulation.verified = True
    simulation.violations = violations(
        simulation,
        partial=partial,
        within=within,
        on_each_node=on_each_node,
        stops=stops,
        limits_of=None if site is None else limits_of_site(site),
        of_whole_nodes=None if scheduler is None else counts_cpus,
        reserved_of=None if site is None else reservations_of(site),
        preempted=None if scheduler is None else PreemptionRules(scheduler.site, rule),
    )
    for feature in added:
        simulation.violations += feature.check(simulation)
    return simulation


def _dispatcher(what: str | Policy | Dispatcher | Slurm | type[Dispatcher]) -> Chosen:
    if isinstance(what, str):
        named = parse_dispatcher(what)
        return Chosen.of(named.make(), what, named.predictor)
    return Chosen.of(DISPATCHERS.make(what))
