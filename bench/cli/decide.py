"""``bench decide``: the decision of a dispatcher for the state of a real machine, and what the machine did then."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import WrongValue
from ...models.words import how_many
from ..errors import FAILED, WrongUse, check_file, writing
from ..runs.process import seconds_since_start
from ..terminal import console_for, say
from .options import with_options

if TYPE_CHECKING:
    from ...instances.sites.machine_state import MachineState
    from ...simulation.shadow import Answer, Comparison
    from ..grid import Grid

Decide = Callable[["MachineState"], "Answer"]


@dataclass(frozen=True)
class Deciding:
    """How a dispatcher decides."""

    decision_time: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            help="seconds from the start of the command to the decision, for dispatchers with a solver; default: limit of "
            "its own for the decision",
        ),
    ] = None
    allocator: Annotated[str, typer.Option(help="nodes that policies choose: best-fit or first-fit")] = "best-fit"
    priorities: Annotated[
        bool, typer.Option("--priorities", help="a policy takes the jobs by their priorities in the state")
    ] = False
    seed: Annotated[int, typer.Option(min=0, help="random seed")] = 0
    threads: Annotated[int, typer.Option(min=1, help="threads of the solver")] = 1


@with_options()
def decide(
    state: Annotated[
        Path,
        typer.Argument(
            help="state of the machine: JSON, see docs/reference/decide.md; or a folder of states, each against the next"
        ),
    ],
    dispatcher: Annotated[
        str,
        typer.Option(help="a dispatcher as in bench simulate: easy, conservative, hcp3@cpsat, my_module:MyDispatcher"),
    ] = "easy",
    *,
    deciding: Deciding,
    against: Annotated[
        Path | None,
        typer.Option(help="a later state, or a folder of them: print what the machine started until then, compared"),
    ] = None,
    within: Annotated[
        int | None, typer.Option(min=0, help="seconds by which starts may differ and are the same; default: 30")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print the comparison as JSON")] = False,
    out: Annotated[Path | None, typer.Option(help="file to write; default: the standard output")] = None,
) -> None:
    """Decide which jobs of a real machine start now.

    The state (nodes, running and waiting jobs) comes from Slurm or PBS with bench import state. Nothing is started: the
    answer is for comparison with the real scheduler. It is checked before it is printed: capacities, queues, states of
    the nodes. Planned starts are the reservations of the dispatcher, if it has any.

    With --against, or for a folder of states, a table says which starts the machine made until the next state.

    Example: bench decide state.json --dispatcher conservative

    Example: bench decide state.json --dispatcher hcp3@cpsat --decision-time 1 --out decision.json

    Example: bench decide state.json --against five_minutes_later.json
    """
    from ...simulation.errors import SimulationError
    from ...simulation.shadow import SMALLEST_PART
    from ...simulation.shadow import decide as decide_for

    for path in filter(None, (state, against)):
        check_file(path)
    compares = against is not None or state.is_dir()
    if not compares and (within is not None or as_json):
        raise WrongUse(
            f"{'--json' if within is None else '--within'} is for a comparison; expected --against STATE too"
        )

    def answer_to(machine: MachineState) -> Answer:
        left = deciding.decision_time
        if (
            left is not None and not compares
        ):  # start of the process and reading count, but leave a part for the decision
            left = max(SMALLEST_PART * left, left - seconds_since_start())
        return decide_for(
            machine,
            dispatcher,
            decision_time=left,
            allocator=deciding.allocator,
            priorities=deciding.priorities,
            seed=deciding.seed,
            threads=deciding.threads,
        )

    try:
        if compares:
            _compare([state, *([] if against is None else [against])], dispatcher, answer_to, within, as_json, out)
        else:
            _answer(state, answer_to, out)
    except WrongValue as e:
        why = str(e)
        raise WrongUse(why if why.startswith(f"{dispatcher}: ") else f"{dispatcher}: {why}") from e
    except SimulationError as e:
        say(f"error: {e}", error=True)
        raise typer.Exit(FAILED) from e


def _answer(state: Path, answer_to: Decide, out: Path | None) -> None:
    """Print or write the answer to a state."""
    from ...instances.sites.machine_state import read_state

    answer = answer_to(read_state(state))
    if not _written(answer.to_json(), out):
        return
    started = len(answer.starts)
    planned = len(answer.planned)
    say(
        f"{out}: {started} of {how_many(len(answer.expected), 'waiting job', verb='start')} now, {planned} planned starts"
    )


def _written(values: Any, out: Path | None) -> bool:
    """Write values as JSON to a file, or print them; return whether they were written."""
    from ...instances.files.writing import write_whole

    text = json.dumps(values, indent=1)
    if out is None:
        say(text)
        return False
    with writing(out):
        write_whole(out, text + "\n")
    return True


def _compare(
    places: Sequence[Path], dispatcher: str, answer_to: Decide, within: int | None, as_json: bool, out: Path | None
) -> None:
    """Compare the answers to states with what the machine did, and print it."""
    from ...simulation.shadow import WITHIN, compare, comparisons_to_json

    seconds = WITHIN if within is None else within
    states = _states(places)
    compared = []
    for machine, following in pairwise(states):
        compared.append(compare(machine, answer_to(machine), following, seconds))
    values = comparisons_to_json(dispatcher, seconds, compared)
    if out is not None:
        _written(values, out)
    if as_json:
        say(json.dumps(values, indent=1))
    else:
        _grid(dispatcher, seconds, compared).show(console_for(), explain=True)
        say(_summary(dispatcher, compared))


def _states(places: Sequence[Path]) -> list[MachineState]:
    """Return the states of files and folders, by time. Raises WrongUse if there are fewer than two, or two of one time."""
    from ...instances.sites.machine_state import read_state

    files = [
        file
        for place in places
        for file in (sorted(p for p in place.iterdir() if SUFFIXES & {*p.suffixes}) if place.is_dir() else [place])
    ]
    read = {file: read_state(file) for file in files}
    ordered = sorted(read, key=lambda file: read[file].now - read[file].shift)
    if places[0] in read and ordered[0] != places[0]:
        raise WrongUse(f"{ordered[0]} is an earlier state than {places[0]}; expected later ones after --against")
    if len(ordered) < 2:
        raise WrongUse(
            f"{places[0]}: {how_many(len(ordered), 'state')}; expected at least two, to compare each with the next"
        )
    return [read[file] for file in ordered]


SUFFIXES = {".json"}


def _grid(dispatcher: str, within: int, compared: Sequence[Comparison]) -> Grid:
    """Return the table of comparisons, with their sum."""
    from ..grid import Column, Grid

    rows: list[tuple[str, Sequence[Comparison]]] = [(str(c.now), [c]) for c in compared]
    rows += [("all", compared)] if len(compared) > 1 else []

    def of(head: str, meaning: str, count: Callable[[Comparison], int]) -> Column:
        return Column(
            head, lambda row: sum(count(c) for c in row[1]), meaning=f"{head.replace(chr(10), ' ')}: {meaning}"
        )

    columns = [
        Column("state", lambda row: row[0], words=True, meaning="state: its time in s"),
        of("until\nthe next", "seconds", lambda c: c.until - c.now),
        of("starts", "those of the machine until the next state, of jobs that the dispatcher saw", lambda c: c.machine),
        of(
            "same",
            f"of these, started or planned by the dispatcher within {within} s of that time",
            lambda c: len(c.same),
        ),
        of("earlier", "by the dispatcher", lambda c: len(c.earlier)),
        of("later", "by the dispatcher, or without a start", lambda c: len(c.later)),
        of("soon", f"those of the machine within {within} s of the state", lambda c: len(c.soon)),
        of("soon,\nours", "of these, starts of the dispatcher now", lambda c: c.soon_ours),
        of("were\nheld", "starts of jobs that the state holds", lambda c: len(c.was_held)),
        of("new", "starts of jobs that were submitted later", lambda c: c.submitted),
        of("ours", "starts of the dispatcher now", lambda c: len(c.ours)),
        of("also\nmade", "of these, by the machine until the next state", lambda c: len(c.also_made)),
        of("not\nmade", "the others", lambda c: len(c.not_made)),
        of("held\nnow", "of ours, held by the state", lambda c: len(c.held)),
        of("held\nthen", "of ours, held by the next state", lambda c: len(c.held_next)),
    ]
    return Grid.of(f"{dispatcher} and the machine", columns, rows)


def _summary(dispatcher: str, compared: Sequence[Comparison]) -> str:
    """Return the shares of common starts, and how many starts are of jobs that the machine holds."""
    from ..grid import percent

    machine = sum(c.machine for c in compared)
    ours = sum(len(c.ours) for c in compared)
    also = sum(len(c.also_made) for c in compared)
    held = sum(len(c.held) for c in compared)

    def share_of(starts: int) -> float | None:
        return also / starts if starts else None

    return (
        f"{also} of {how_many(machine, 'start')} of the machine are among the {ours} of {dispatcher} "
        f"({percent(share_of(machine))}; of its own: {percent(share_of(ours))}); "
        f"{held} of its starts are of jobs that the machine holds"
    )
