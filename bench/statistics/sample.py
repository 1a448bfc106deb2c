"""The runs of a folder, or of some of its problems, as a sample: problems x methods x seeds, with the runs that are missing.

A *problem* is a view of an instance. The time limit of a problem is the greatest of its runs, so that methods with other
limits are measured on one scale. A method has the seeds of all its records; a seed that it lacks on a problem is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from math import inf
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ...backends.result import close, refutes
from ...models.words import how_many, how_many_of
from ..errors import WrongUse
from ..grid import number
from ..records.store import Record, read, some_files
from ..runs.view import View

State = Literal["proven", "solved", "unsolved", "failed", "unverified", "missing", "refused"]
STATES: tuple[State, ...] = ("proven", "solved", "unsolved", "failed", "unverified", "missing", "refused")
ANSWERED: tuple[State, ...] = ("proven", "solved")
Step = tuple[float, float]  # seconds, value


class RunOutcome(NamedTuple):
    """How a run ended.

    Attributes
    ----------
    state
        ``proven``: an optimal verified schedule, or a proof that there is none; ``solved``: a verified schedule;
        ``unsolved``: it ended without a schedule; ``failed``: an error, a crash, killed without a schedule, or a proof
        that there is none although another run has one;
        ``unverified``: its schedule did not pass the check; ``missing``: there is no record; ``refused``: the solver is not
        installed, or its licence or its limits do not admit the model.
    objective, bound
        Of the verified schedule; the proven bound. None if unknown, and for a proof that there is no schedule.
    seconds
        Wall time of the run; None if unknown.
    steps, bounds
        The trace: seconds and objective (or bound), each better than the one before. Empty unless solved or proven
        (``steps``).
    building
        Seconds of ``seconds`` in which the model was built and lowered.
    """

    state: State
    objective: float | None = None
    bound: float | None = None
    seconds: float | None = None
    steps: tuple[Step, ...] = ()
    bounds: tuple[Step, ...] = ()
    building: float = 0.0


MOST_REFUTED = 5  # problems with refuted bounds that are named
MISSING = RunOutcome("missing")


@dataclass(frozen=True)
class ProblemRuns:
    """A view of an instance, and its runs.

    Attributes
    ----------
    name
        Instance and view.
    kind
        Kind of the problem.
    sign
        1 if the objective is minimized, -1 if it is maximized.
    limit
        The greatest time limit of its runs in seconds.
    best
        The best objective known: of all verified schedules, and of the literature; None if there is none.
    known
        The best-known value of the literature, None if there is none.
    bound
        The best bound of all runs that no schedule refutes; None if there is none.
    runs
        Method -> its outcomes, one per seed, in the order of the seeds.
    folder
        Name of the folder of the instance; "" for a shipped one.
    """

    name: str
    kind: str
    sign: int
    limit: float
    best: float | None
    known: float | None
    bound: float | None
    runs: Mapping[str, Sequence[RunOutcome]]
    folder: str = ""


@dataclass(frozen=True)
class Sample:
    """Runs of methods on problems.

    Attributes
    ----------
    methods
        The methods, in the order of their first records.
    problems
        The problems; each has outcomes of all methods.
    seeds
        Method -> its seeds.
    notes
        What is not part of the sample, and why.
    """

    methods: Sequence[str]
    problems: Sequence[ProblemRuns]
    seeds: Mapping[str, Sequence[int]]
    notes: Sequence[str] = ()


def records_of(folder: Path) -> list[Record]:
    """Return the records of a folder, oldest first. Raises WrongUse if one cannot be read, or there is none."""
    try:
        return sorted(map(read, some_files(folder)), key=lambda r: str(r["started"]))
    except ValueError as e:
        raise WrongUse(str(e)) from e


def sample_of(records: Iterable[Mapping[str, Any]], known: Mapping[str, float] | None = None) -> Sample:
    """Return the sample of some records.

    Parameters
    ----------
    records
        Records of runs. Replays and runs with several objectives are left out, with a note.
    known
        Instance -> best-known value of the whole instance with its own objective.

    Returns
    -------
    Sample
    """
    groups: dict[str, list[Mapping[str, Any]]] = {}
    seeds: dict[str, dict[int, None]] = {}
    left_out = {"replays": 0, "runs with several ordered objectives": 0, "runs of a composite objective": 0}
    for r in records:
        reason = _why_not(r)
        if reason:
            left_out[reason] += 1
            continue
        groups.setdefault(name_of(r), []).append(r)
        seeds.setdefault(r["method"], {})[r["seed"]] = None
    ordered = {method: sorted(seeds_of_method) for method, seeds_of_method in seeds.items()}
    problems = []
    refuted = []
    for name, members in groups.items():
        problem, runs = _problem(name, members, ordered, known or {})
        problems.append(problem)
        if runs:
            refuted.append(_told_refutation(problem, runs))
    notes = [
        f"{how_many_of(n, what)} {'is' if n == 1 else 'are'} no part of the statistics"
        for what, n in left_out.items()
        if n
    ]
    notes += refuted[:MOST_REFUTED]
    if len(refuted) > MOST_REFUTED:
        notes.append(f"the same holds for runs on {how_many(len(refuted) - MOST_REFUTED, 'more problem')}")
    return Sample(list(ordered), problems, ordered, notes)


def _told_refutation(problem: ProblemRuns, runs: int) -> str:
    """Return a note on the runs of a problem whose bound, or proof, the best answer known refutes."""
    found = [o.objective for outcomes in problem.runs.values() for o in outcomes if o.objective is not None]
    by_list = problem.known is not None and not any(close(value, problem.known) for value in found)
    best = (
        f"the best-known value {number(problem.best)} of the list"
        if by_list
        else f"a verified schedule of {number(problem.best)}"
    )
    advice = "check the list, and that it is of this problem" if by_list else "bench verify names them"
    return (
        f"{problem.name}: bounds and proofs of {how_many(runs, 'run')} do not count, as {best} refutes them: {advice}"
    )


def required(sample: Sample, where: object) -> Sample:
    """Return a sample that has problems.

    Parameters
    ----------
    sample
        The sample.
    where
        The folder of its records, for the message.

    Raises
    ------
    WrongUse
        No record is part of it; the message says which commands show replays.
    """
    if sample.problems:
        return sample
    raise WrongUse(
        f"{where}: {'; '.join(sample.notes)}, and there are no other records; bench report {where} and bench plot {where} "
        "show replays, bench run writes runs of methods"
    )


def unproven(sample: Sample) -> Sample:
    """Return the problems that no run proved, with a note on the others.

    Raises
    ------
    WrongUse
        If each problem is proven.
    """
    kept = [p for p in sample.problems if all(o.state != "proven" for outcomes in p.runs.values() for o in outcomes)]
    if not kept:
        raise WrongUse(
            f"all {how_many(len(sample.problems), 'problem', verb='are')} proven by some run; leave out --unproven"
        )
    less = len(sample.problems) - len(kept)
    notes = [f"{how_many(less, 'problem')} that a run proved are left out"] if less else []
    return replace(sample, problems=kept, notes=[*sample.notes, *notes])


def name_of(record: Mapping[str, Any]) -> str:
    """Return the name of the problem of a record: its instance, and its view unless that is the whole instance."""
    label = View(**record["view"]).label
    return record["instance"] if label == "the whole instance" else f"{record['instance']}, {label}"


def _why_not(record: Mapping[str, Any]) -> str:
    if record["replay"] is not None:
        return "replays"
    if record["view"].get("keep") is not None:  # each run has limits of its own
        return "runs of a composite objective"
    several = any(isinstance(record[name], list) for name in ("objective", "bound"))
    return "runs with several ordered objectives" if several else ""


def _problem(
    name: str, records: Sequence[Mapping[str, Any]], seeds: Mapping[str, Sequence[int]], known: Mapping[str, float]
) -> tuple[ProblemRuns, int]:
    """Return the runs of a problem, and how many of them have a bound or a proof that the best answer known refutes."""
    sign = -1 if any(r["sense"] == "maximize" for r in records) else 1
    sense = "maximize" if sign < 0 else "minimize"
    claimed = {(r["method"], r["seed"]): outcome_of(r) for r in records}  # of two records of a run, the later one
    value = known.get(name)
    objectives = [o.objective for o in claimed.values() if o.objective is not None] + ([] if value is None else [value])
    best = min(objectives, key=lambda v: sign * v, default=None)
    of_run = {run: _held_against(outcome, best, sense) for run, outcome in claimed.items()}
    runs = {m: [of_run.get((m, seed), MISSING) for seed in seeds_of_method] for m, seeds_of_method in seeds.items()}
    bounds = [o.bound for o in of_run.values() if o.bound is not None]
    bound = max(bounds, key=lambda v: sign * v, default=None)
    limit = max(float(r["time_limit"]) for r in records)
    folder = Path(records[0]["path"]).parent.name
    refuted = sum(of_run[run] != outcome for run, outcome in claimed.items())
    return ProblemRuns(name, records[0]["kind"], sign, limit, best, value, bound, runs, folder), refuted


def _held_against(outcome: RunOutcome, best: float | None, sense: str) -> RunOutcome:
    """Return an outcome without what the best answer known refutes: its bound, its proof that there is no schedule."""
    if best is None:
        return outcome
    if outcome.state == "proven" and outcome.objective is None:
        return outcome._replace(state="failed")
    if outcome.bound is not None and refutes(best, outcome.bound, sense):
        state: State = "solved" if outcome.state == "proven" else outcome.state
        return outcome._replace(state=state, bound=None, bounds=())
    return outcome


def outcome_of(record: Mapping[str, Any]) -> RunOutcome:
    """Return how a run ended.

    The objectives of its trace are those that its method reported. They count only if the schedule that it ended with is
    verified, and none counts that is better than this schedule.
    """
    sign = -1 if record["sense"] == "maximize" else 1
    seconds = record["seconds"].get("total")
    state = _state(record)
    objective = record["objective"] if state in ANSWERED else None
    bound = record["bound"] if state not in ("failed", "unverified") else None
    trace = record["incumbents"]
    steps: tuple[Step, ...] = ()
    if objective is not None:
        improvements = [(e["seconds"], e["objective"]) for e in trace if isinstance(e["objective"], (int, float))]
        sound = [(t, v) for t, v in improvements if sign * v >= sign * objective or close(v, objective)]
        end = record["best_s"] if record["best_s"] is not None else seconds
        steps = _improving([*sound, (record["time_limit"] if end is None else end, objective)], sign)
    bounds: tuple[Step, ...] = ()
    if bound is not None:
        improvements = [(e["seconds"], e["bound"]) for e in trace if isinstance(e["bound"], (int, float))]
        end = record["time_limit"] if seconds is None else seconds
        bounds = _improving([*((t, b) for t, b in improvements if sign * b <= sign * bound), (end, bound)], -sign)
    phases = [record["seconds"].get(phase) for phase in ("build", "lower")]
    building = sum(s for s in phases if isinstance(s, (int, float)))
    return RunOutcome(state, objective, bound, seconds, steps, bounds, building)


def _state(record: Mapping[str, Any]) -> State:
    if record["verified"] is False:
        return "unverified"
    if record["status"] == "infeasible":
        return "proven"
    if record["status"] == "unavailable":
        return "refused"
    if record["status"] == "error":
        return "failed"
    if record["verified"] and record["objective"] is not None:
        return "proven" if record["status"] == "optimal" else "solved"
    return "failed" if record["cause"] is not None else "unsolved"


def _improving(steps: Sequence[Step], sign: int) -> tuple[Step, ...]:
    """Return the steps in the order of time without those that improve nothing."""
    better_steps: list[Step] = []
    least = inf
    for t, value in sorted(steps, key=lambda s: (s[0], sign * s[1])):
        if sign * value < least:
            better_steps.append((t, value))
            least = sign * value
    return tuple(better_steps)


# --- Parts of a sample: problems by their name or folder.

LETTERS = re.compile(r"[\W\d_].*", re.DOTALL)  # all from the first character that is no letter
BY = ("folder", "letters")


def matching(sample: Sample, patterns: Iterable[str]) -> Sample:
    """Return the problems whose name, or ``folder/name``, matches one of some patterns with ``*`` and ``?``.

    Parameters
    ----------
    sample
        The runs.
    patterns
        Comma lists of patterns, such as "la*,ta*" or "jsp/*".

    Raises
    ------
    WrongUse
        If none matches.
    """
    wanted = [part.strip() for text in patterns for part in text.split(",") if part.strip()]

    def has(problem: ProblemRuns) -> bool:
        names = (problem.name, problem.name.partition(",")[0])
        return any(fnmatchcase(full, w) for w in wanted for n in names for full in (n, f"{problem.folder}/{n}"))

    return part_of(sample, has, f"match --instances {','.join(wanted)}")


def groups(sample: Sample, by: str) -> list[tuple[str, Sample]]:
    """Return the problems in groups, each with its name, in the order of the first problem.

    Parameters
    ----------
    sample
        The runs.
    by
        "folder": of the file of the instance. "letters": those that its name begins with, as ``la`` of la21.

    Raises
    ------
    WrongUse
        If it is something else.
    """
    if by not in BY:
        raise WrongUse(f"--by {by:.50}: expected {' or '.join(BY)}")
    members: dict[str, list[ProblemRuns]] = {}
    for p in sample.problems:
        name = p.folder if by == "folder" else LETTERS.sub("", p.name)
        members.setdefault(name or "others", []).append(p)
    return [(name, replace(sample, problems=problems, notes=())) for name, problems in members.items()]


def part_of(sample: Sample, test: Callable[[ProblemRuns], bool], what: str) -> Sample:
    """Return the problems of which a test is true; ``what``: what they are, for a note and a message. Raises WrongUse if there is none."""
    kept: Sequence[ProblemRuns] = [p for p in sample.problems if test(p)]
    if not kept:
        raise WrongUse(f"none of the {how_many(len(sample.problems), 'problem')} is one that {what}")
    note = f"{len(kept)} of {how_many(len(sample.problems), 'problem')} that {what}"
    return replace(sample, problems=kept, notes=[*sample.notes, note])
