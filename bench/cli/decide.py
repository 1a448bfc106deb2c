"""``bench decide``: the decision of a dispatcher for the state of a real machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ...errors import WrongValue
from ...models.counts import how_many
from ..errors import FAILED, WrongUse, writing
from ..processes import seconds_since_start
from ..terminal import say


def decide(
    state: Annotated[Path, typer.Argument(help="state of the machine: JSON, see docs/decide.md")],
    dispatcher: Annotated[
        str,
        typer.Option(help="a dispatcher as in bench simulate: easy, conservative, hcp3@cpsat, my_module:MyDispatcher"),
    ] = "easy",
    decision_time: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            help="seconds from the start of the command to the decision, for dispatchers with a solver; default: limit of "
            "its own for the decision",
        ),
    ] = None,
    allocator: Annotated[str, typer.Option(help="nodes that policies choose: best-fit or first-fit")] = "best-fit",
    seed: Annotated[int, typer.Option(min=0, help="random seed")] = 0,
    threads: Annotated[int, typer.Option(min=1, help="threads of the solver")] = 1,
    out: Annotated[Path | None, typer.Option(help="file to write; default: the standard output")] = None,
) -> None:
    """Decide which jobs of a real machine start now.

    The state (nodes, running and waiting jobs) comes from Slurm or PBS with bench import state. Nothing is started: the
    answer is for comparison with the real scheduler. It is checked before it is printed: capacities, queues, states of
    the nodes. Planned starts are the reservations of the dispatcher, if it has any.

    Example: bench decide state.json --dispatcher conservative

    Example: bench decide state.json --dispatcher hcp3@cpsat --decision-time 1 --out decision.json
    """
    from ...instances.files.writing import write_whole
    from ...instances.states.machine_state import read_state
    from ...simulation.errors import SimulationError
    from ...simulation.shadow import SMALLEST_PART
    from ...simulation.shadow import decide as decide_for

    machine = read_state(state)
    if decision_time is not None:  # start of the process and reading count, but leave a part for the decision
        decision_time = max(SMALLEST_PART * decision_time, decision_time - seconds_since_start())
    try:
        answer = decide_for(
            machine,
            dispatcher,
            decision_time=decision_time,
            allocator=allocator,
            seed=seed,
            threads=threads,
        )
    except WrongValue as e:
        raise WrongUse(f"{dispatcher}: {e}") from e
    except SimulationError as e:
        say(f"error: {e}", error=True)
        raise typer.Exit(FAILED) from e
    text = json.dumps(answer.to_json(), indent=1)
    if out is None:
        say(text)
        return
    with writing(out):
        write_whole(out, text + "\n")
    started = len(answer.starts)
    planned = len(answer.planned)
    say(
        f"{out}: {started} of {how_many(len(answer.expected), 'waiting job', verb='start')} now, {planned} planned starts"
    )
