"""``bench dardis``: a log or an instance is replayed under DARDIS, with node managers in several processes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import WrongValue
from ..errors import WrongUse
from ..replays.settings import RUNS, SETTINGS
from ..runs.task import Recording, RunTask
from ..terminal import console_for
from .options import Jobs, Replaying, with_options

if TYPE_CHECKING:
    from ...simulation.dispatchers.dardis.network import Network

NETWORK = "Network"
HELP = """Replay a log under DARDIS, over MPI, Dask or in simulation.

The workload is a log or an instance, and its clock is simulated. The node managers are spread over several processes; the
protocol between them and the task manager runs over the transport:

\b
simulate  processes within this one: the same packets, but no network
mpi       ranks of an MPI job; rank 0 is the task manager (schedlab[mpi])
dask      actors on worker processes of dask.distributed (schedlab[dask])

The starts are the same with every transport and number of processes, for the same seed. A process that does not answer
before the timer ends is not asked any more: its nodes are taken out, and the jobs planned on them are planned anew.

The records are those of bench simulate, with the packets, bytes and wall time of each phase. docs/reference/dardis.md explains them.

Exit code 1 if a replay failed: an error, a crash, jobs that no remaining node can host.

Example: bench dardis eurora_330 --setups uniform/max-prob --transport mpi --processes 4 --seeds 1-3

Example: bench dardis log.swf --nodes 256 --latest-start mean-wait --desired day-night.csv --lost 0.01 --late 0.02

Example: bench dardis eurora_99 --transport dask --processes 4 --fault 2@500 --timer 5
"""

OF_LOGS = ("format", "nodes", "cores", "memory", "per_node", "zone", "columns", "window", "queue_from", "partition")
OF_JOBS = ("dependencies", "latest_start", "load", "kill", "events", "requeue", "desired", "bsld_floor")


@dataclass(frozen=True)
class NetworkOptions:
    """The network between the processes of a replay."""

    transport: Annotated[str, typer.Option(help="simulate, mpi or dask", rich_help_panel=NETWORK)] = "simulate"
    processes: Annotated[
        int,
        typer.Option(help="processes: the task manager, and the nodes spread over the others", rich_help_panel=NETWORK),
    ] = 4
    timer: Annotated[
        float | None,
        typer.Option(help="mpi, dask: seconds in which a process must answer; default: 10", rich_help_panel=NETWORK),
    ] = None
    lost: Annotated[
        float,
        typer.Option(
            help="probability that a request, an offer, a confirmation or an acknowledgement of a node is lost",
            rich_help_panel=NETWORK,
        ),
    ] = 0.0
    late: Annotated[
        float,
        typer.Option(
            help="probability that an offer or acknowledgement is late for the timer", rich_help_panel=NETWORK
        ),
    ] = 0.0
    fault: Annotated[
        str | None,
        typer.Option(
            help="PROCESS@PACKET: this process of node managers, from 1 on, stops at this packet: it is silent (simulate, "
            "mpi) or killed (dask)",
            rich_help_panel=NETWORK,
        ),
    ] = None

    def network(self) -> Network:
        """Return the network. Raises WrongUse."""
        from ...simulation.dispatchers.dardis.network import Network

        try:
            return Network(**asdict(self))
        except WrongValue as e:
            raise WrongUse(f"--{e}") from e


@with_options(SETTINGS, (*OF_LOGS, *OF_JOBS))
def dardis(
    workload: Annotated[
        str,
        typer.Argument(help="a log (SWF, sacct, ...), a folder with instance.toml, or the name of a shipped instance"),
    ],
    *,
    setups: Annotated[
        str,
        typer.Option(
            help="throughput, profile, balance or GENERATOR/POLICY: first, uniform, exponential with min-start, max-prob, "
            "min-prob, random; separated by commas",
            rich_help_panel=RUNS,
        ),
    ] = "throughput,profile,balance",
    network: NetworkOptions,
    replaying: Replaying,
    jobs: Jobs = None,
    recording: Recording,
    **settings: Any,
) -> None:
    """Replay a workload under DARDIS over a transport: the command; its help text is ``HELP``."""
    from ..replays.carry_out import carry_out
    from ..replays.launch import worker_command

    made = network.network()
    request = replaying.request(workload, dispatchers_of(setups), settings | {"network": made.text})
    task = RunTask((), replaying.limits(1, jobs), replaying.out, recording, worker_command(made))
    raise typer.Exit(carry_out(request, task, console_for(stderr=recording.as_json), console_for(stderr=True)))


def dispatchers_of(setups: str) -> list[str]:
    """Return the names of the dispatchers; ``dardis:`` before a setup may be left out. Raises WrongUse.

    Examples
    --------
    >>> dispatchers_of("throughput, dardis:uniform/max-prob")
    ['dardis:throughput', 'dardis:uniform/max-prob']
    """
    from ...simulation.dispatchers.dardis.names import SETUPS

    named = [part.strip().removeprefix("dardis:") for part in setups.split(",") if part.strip()]
    unknown = [name for name in named if name not in SETUPS]
    if unknown or not named:
        raise WrongUse(f"--setups {', '.join(unknown) or repr(setups)}: expected some of {', '.join(SETUPS)}")
    return [f"dardis:{name}" for name in named]
