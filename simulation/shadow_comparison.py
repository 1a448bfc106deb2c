"""The starts of a machine after a state, compared with the answer of a dispatcher to that state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

from ..errors import WrongValue
from ..instances.states.machine_state import MachineState
from ..models.comparing import hashable
from ..models.excerpt import with_short_repr
from .shadow_answer import Answer

SCHEMA, VERSION = "schedlab-decision-comparison", 1
WITHIN = 30  # seconds by which a start may differ and be the same: schedulers look for starts about twice a minute


@with_short_repr
@hashable
@dataclass(frozen=True)
class Comparison:
    """What a machine did from a state to the next one, and the answer of a dispatcher to the first; jobs are named by their ids.

    A start is compared by its time: that of the dispatcher is now, or the time for which it is planned. Jobs that a state
    holds or leaves out, and jobs that were submitted later, are not among ``same``, ``earlier`` and ``later``: the dispatcher did not
    see them.

    Parameters
    ----------
    now, until : int
        The times of the states in seconds, as in their files.
    same : sequence of str
        The machine started it, and the dispatcher at about the same time.
    earlier : sequence of str
        The machine started it, and the dispatcher earlier.
    later : sequence of str
        The machine started it, and the dispatcher later, or it has no start for it.
    soon : sequence of str
        Those of these three that the machine started at about the time of the first state.
    was_held : sequence of str
        The machine started it, and the first state holds it or leaves it out.
    submitted : int
        The number of the jobs that the machine started, and that were not in the queue at the first state.
    ours : sequence of str
        The starts of the dispatcher now.
    also_made : sequence of str
        Those of them that the machine made until the next state.
    not_made : sequence of str
        Those that it did not make.
    held : sequence of str
        Those that the first state holds or leaves out.
    held_next : sequence of str
        Those that the next state holds or leaves out.
    """

    now: int
    until: int
    same: Sequence[str] = ()
    earlier: Sequence[str] = ()
    later: Sequence[str] = ()
    soon: Sequence[str] = ()
    was_held: Sequence[str] = ()
    submitted: int = 0
    ours: Sequence[str] = ()
    also_made: Sequence[str] = ()
    not_made: Sequence[str] = ()
    held: Sequence[str] = ()
    held_next: Sequence[str] = ()

    @property
    def machine(self) -> int:
        """The number of starts of the machine that are compared."""
        return len(self.same) + len(self.earlier) + len(self.later)

    @property
    def soon_ours(self) -> int:
        """The number of ``soon`` that are starts of the dispatcher, too."""
        return len({*self.soon} & {*self.ours})

    def to_json(self) -> dict[str, Any]:
        """Return the fields; jobs are lists of their ids."""
        shown = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value if isinstance(value, int) else list(value) for name, value in shown.items()}


def compare(state: MachineState, answer: Answer, following: MachineState, within: int = WITHIN) -> Comparison:
    """Return what the machine did from a state to the following one, compared with the answer to the first.

    Parameters
    ----------
    state : MachineState
        The state that the dispatcher has seen.
    answer : Answer
        Its answer.
    following : MachineState
        A later state of the same machine. Its running jobs, and those that have ended, tell what has started.
    within : int
        Seconds by which two starts may differ and are the same.

    Raises
    ------
    WrongValue
        If the second state is not later than the first.
    """
    until = following.now - following.shift + state.shift
    if until <= state.now:
        raise WrongValue(
            f"the time of the next state is {following.now - following.shift}; expected one after that of the first, "
            f"{state.now - state.shift}"
        )
    ours = {p.job: int(p.time) for p in answer.planned} | {s.job: state.now for s in answer.starts}
    waiting = {job.id for job in state.waiting}
    known = {*waiting, *state.left_out, *(r.job.id for r in state.running)}
    started = dict(_started(following, state))
    compared = [(job, time) for job, time in started.items() if job in waiting]
    starts = [s.job for s in answer.starts]
    return Comparison(
        now=state.now - state.shift,
        until=until - state.shift,
        same=[job for job, time in compared if job in ours and abs(ours[job] - time) <= within],
        earlier=[job for job, time in compared if job in ours and ours[job] < time - within],
        later=[job for job, time in compared if job not in ours or ours[job] > time + within],
        soon=[job for job, time in compared if time <= state.now + within],
        was_held=[job for job in started if job in state.left_out],
        submitted=sum(job not in known for job in started),
        ours=starts,
        also_made=[job for job in starts if job in started],
        not_made=[job for job in starts if job not in started],
        held=[job for job in starts if job in state.left_out],
        held_next=[job for job in starts if job in following.left_out],
    )


def _started(following: MachineState, state: MachineState) -> Iterator[tuple[str, int]]:
    """Yield (id, time) of the jobs that have started since a state, on its clock."""
    later = state.shift - following.shift
    times = [(r.job.id, r.start + later) for r in following.running] + [
        (e.job, e.start + later) for e in following.ended
    ]
    return ((job, time) for job, time in times if time >= state.now)


def comparisons_to_json(dispatcher: str, within: int, compared: Sequence[Comparison]) -> dict[str, Any]:
    """Return comparisons as an object of the schema ``schedlab-decision-comparison`` (docs/decide.md)."""
    listed = [c.to_json() for c in compared]
    return {"schema": SCHEMA, "version": VERSION, "dispatcher": dispatcher, "within": within, "states": listed}
