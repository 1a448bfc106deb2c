"""Measures of runs, their means over seeds and problems, and profiles; formulas and sources are in docs/statistics.md.

They are computed from a sample, the runs of a folder or of some of its problems: problems x methods x seeds, with the runs that
are missing.

A *problem* is a view of an instance. The time limit of a problem is the greatest of its runs, so that methods with other
limits are measured on one scale. A method has the seeds of all its records; a seed that it lacks on a problem is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from math import floor, inf, log, log10
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...backends.result import close, refutes
from ...models.array_types import Floats
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
    if by_list:
        best = f"the best-known value {number(problem.best)} of the list"
    else:
        best = f"a verified schedule of {number(problem.best)}"
    advice = "bench verify names them"
    if by_list:
        advice = "check the list, and that it is of this problem"
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
    notes = []
    if less:
        notes = [f"{how_many(less, 'problem')} that a run proved are left out"]
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
    if several:
        return "runs with several ordered objectives"
    return ""


def _problem(
    name: str, records: Sequence[Mapping[str, Any]], seeds: Mapping[str, Sequence[int]], known: Mapping[str, float]
) -> tuple[ProblemRuns, int]:
    """Return the runs of a problem, and how many of them have a bound or a proof that the best answer known refutes."""
    sign = 1
    if any(r["sense"] == "maximize" for r in records):
        sign = -1
    sense = "minimize"
    if sign < 0:
        sense = "maximize"
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
        state: State = "solved"
        if outcome.state != "proven":
            state = outcome.state
        return outcome._replace(state=state, bound=None, bounds=())
    return outcome


def outcome_of(record: Mapping[str, Any]) -> RunOutcome:
    """Return how a run ended.

    The objectives of its trace are those that its method reported. They count only if the schedule that it ended with is
    verified, and none counts that is better than this schedule.
    """
    sign = 1
    if record["sense"] == "maximize":
        sign = -1
    seconds = record["seconds"].get("total")
    state = _state(record)
    objective = None
    if state in ANSWERED:
        objective = record["objective"]
    bound = None
    if state not in ("failed", "unverified"):
        bound = record["bound"]
    trace = record["incumbents"]
    steps: tuple[Step, ...] = ()
    if objective is not None:
        improvements = [(e["seconds"], e["objective"]) for e in trace if isinstance(e["objective"], (int, float))]
        sound = [(t, v) for t, v in improvements if sign * v >= sign * objective or close(v, objective)]
        if record["best_s"] is not None:
            end = record["best_s"]
        else:
            end = seconds
        steps = _improving([*sound, (record["time_limit"] if end is None else end, objective)], sign)
    bounds: tuple[Step, ...] = ()
    if bound is not None:
        improvements = [(e["seconds"], e["bound"]) for e in trace if isinstance(e["bound"], (int, float))]
        if seconds is None:
            end = record["time_limit"]
        else:
            end = seconds
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
        if record["status"] == "optimal":
            return "proven"
        return "solved"
    if record["cause"] is not None:
        return "failed"
    return "unsolved"


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
        if by == "folder":
            name = p.folder
        else:
            name = LETTERS.sub("", p.name)
        members.setdefault(name or "others", []).append(p)
    return [(name, replace(sample, problems=problems, notes=())) for name, problems in members.items()]


def part_of(sample: Sample, test: Callable[[ProblemRuns], bool], what: str) -> Sample:
    """Return the problems of which a test is true; ``what``: what they are, for a note and a message. Raises WrongUse if there is none."""
    kept: Sequence[ProblemRuns] = [p for p in sample.problems if test(p)]
    if not kept:
        raise WrongUse(f"none of the {how_many(len(sample.problems), 'problem')} is one that {what}")
    note = f"{len(kept)} of {how_many(len(sample.problems), 'problem')} that {what}"
    return replace(sample, problems=kept, notes=[*sample.notes, note])


# --- Measures of one run, and means of them over seeds and problems; formulas and sources are in docs/statistics.md.

Measure = Callable[[ProblemRuns, RunOutcome], float]
SHIFT = 1.0  # seconds that are added to times before their geometric mean
EQUAL = 1e-9  # differences of gaps below it are none


def primal_gap(value: float | None, reference: float | None) -> float:
    """Return the gap of a value to a reference value, from 0 to 1 [Berthold2013, 2].

    It is ``|value - reference| / max(|value|, |reference|)``; 0 if both are 0, 1 if their signs differ or one is unknown.

    Examples
    --------
    >>> primal_gap(110, 100), primal_gap(None, 100), primal_gap(-1, 1), primal_gap(0, 0)
    (0.09090909090909091, 1.0, 1.0, 0.0)
    """
    if value is None or reference is None or value * reference < 0:
        return 1.0
    largest = max(abs(value), abs(reference))
    if largest == 0:
        return 0.0
    return abs(value - reference) / largest


def gap(problem: ProblemRuns, run: RunOutcome) -> float:
    """Return the gap of the schedule of a run to the best one known; 1 without a verified schedule.

    A proof that there is no schedule is an answer: its gap is 0.
    """
    if _is_infeasible(run):
        return 0.0
    return primal_gap(run.objective, problem.best)


def gap_to_bound(problem: ProblemRuns, run: RunOutcome) -> float:
    """Return the gap of the schedule of a run to the best bound of all runs; 1 without a verified schedule or a bound."""
    if _is_infeasible(run):
        return 0.0
    return primal_gap(run.objective, problem.bound)


def gap_to_known(problem: ProblemRuns, run: RunOutcome) -> float:
    """Return the signed gap to the best-known value of the literature, below 0 if better; 1 without a verified schedule.

    NaN for a problem without such a value.
    """
    if problem.known is None:
        return float("nan")
    gap = primal_gap(run.objective, problem.known)
    better = run.objective is not None and problem.sign * run.objective < problem.sign * problem.known
    if better:
        return -gap
    return gap


def seconds(problem: ProblemRuns, run: RunOutcome) -> float:
    """Return the seconds to the proof of an optimum or of infeasibility; infinity without a proof."""
    if run.state != "proven":
        return inf
    if run.seconds is None:
        return problem.limit
    return run.seconds


def seconds_to(target: float) -> Measure:
    """Return the measure of the seconds to a schedule whose gap to the best one known is at most ``target``.

    Infinity if the run has found none.
    """

    def measure(problem: ProblemRuns, run: RunOutcome) -> float:
        if _is_infeasible(run):
            return seconds(problem, run)
        within = (t for t, value in run.steps if primal_gap(value, problem.best) <= target + EQUAL)
        return next(within, inf)

    return measure


def primal_integral(problem: ProblemRuns, run: RunOutcome) -> float:
    """Return the mean of the primal gap over the time limit, from 0 to 1 [Berthold2013, 3].

    The gap is 1 until the first schedule, and for runs without a verified schedule; after the end of the run it stays.
    """
    if _is_infeasible(run):
        return 0.0
    return _integral(run.steps, problem.best, problem.limit)


def dual_integral(problem: ProblemRuns, run: RunOutcome) -> float:
    """Return the mean over the time limit of the gap of the bound to the best objective known; 1 until the first bound."""
    if _is_infeasible(run):
        return 0.0
    return _integral(run.bounds, problem.best, problem.limit)


def penalized(factor: float, measure: Measure = seconds) -> Measure:
    """Return a measure of times in which ``factor`` x time limit stands for infinity: PAR2, PAR10 [Hutter2009].

    A time above the limit counts as the limit.
    """

    def penalized_measure(problem: ProblemRuns, run: RunOutcome) -> float:
        value = measure(problem, run)
        if value == inf:
            return factor * problem.limit
        return min(value, problem.limit)

    return penalized_measure


def by_problem(sample: Sample, measure: Measure) -> Floats:
    """Return the mean of a measure over the seeds: an array of problems x methods."""
    values = [[fmean([measure(p, run) for run in p.runs[m]]) for m in sample.methods] for p in sample.problems]
    return np.array(values, np.float64).reshape(len(sample.problems), len(sample.methods))


def by_run(sample: Sample, measure: Measure, method: str) -> list[Floats]:
    """Return a measure of all runs of a method: an array over the seeds for each problem."""
    return [np.array([measure(p, run) for run in p.runs[method]], np.float64) for p in sample.problems]


def logs(sample: Sample, measure: Measure, shift: float = SHIFT) -> Floats:
    """Return the mean over the seeds of ``log(measure + shift)``: an array of problems x methods."""
    return by_problem(sample, lambda p, run: log(measure(p, run) + shift))


def shifted_geometric_mean(values: ArrayLike, shift: float = SHIFT) -> float:
    """Return ``exp(mean(log(values + shift))) - shift`` [Achterberg2007, A.3]; NaN without values.

    Examples
    --------
    >>> round(shifted_geometric_mean([0.0, 3.0], shift=1.0), 6)
    1.0
    """
    array = np.asarray(values, np.float64)
    if array.size == 0:
        return float("nan")
    return float(np.exp(np.mean(np.log(array + shift))) - shift)


def _integral(steps: Sequence[tuple[float, float]], reference: float | None, limit: float) -> float:
    """Return the mean over the time limit of the gap of a step function, which is 1 before its first step."""
    total = 0.0
    now = 0.0
    current = 1.0
    for t, value in (*steps, (limit, None)):
        total += current * (min(t, limit) - now)
        now = min(t, limit)
        current = primal_gap(value, reference)
    return total / limit


def _is_infeasible(run: RunOutcome) -> bool:
    return run.state in ANSWERED and run.objective is None


# --- Performance profiles, data profiles, runtime distributions: step functions that count runs without an answer as never.


class Curve(NamedTuple):
    """A step function that rises at ``x`` (ascending) to ``y``, from 0 to 1, for each method."""

    method: str
    x: Floats
    y: Floats

    def at(self, x: float) -> float:
        """Return the value at x."""
        k = int(np.searchsorted(self.x, x, side="right"))
        if k == 0:
            return 0.0
        return float(self.y[k - 1])


def performance_profiles(sample: Sample, measure: Measure) -> list[Curve]:
    """Return the performance profile of each method [DolanMore2002].

    Its value at tau is the share of the problems on which the measure of the method, the median over its seeds, is at most
    tau times that of the best method. The median is infinite if half of the seeds or more do not reach the goal; the method
    then never reaches this problem, which stays in the denominator. Equal zeros have the ratio 1; a positive value over zero
    is never reached.

    Parameters
    ----------
    sample
        The runs.
    measure
        A measure of at least 0, such as the seconds to a proof; a smaller one is better.

    Returns
    -------
    list of Curve
    """
    columns = [
        [float(np.median(measured_values)) for measured_values in by_run(sample, measure, m)] for m in sample.methods
    ]
    values = np.array(columns, np.float64).reshape(len(sample.methods), len(sample.problems)).T
    best = values.min(axis=1, keepdims=True, initial=np.inf)
    ratio = np.full_like(values, np.inf)
    np.divide(values, best, out=ratio, where=(best > 0) & np.isfinite(values))
    ratio[(best == 0) & (values == 0)] = 1.0
    return [_steps(method, ratio[:, k], len(sample.problems)) for k, method in enumerate(sample.methods)]


def data_profiles(sample: Sample, measure: Measure) -> list[Curve]:
    """Return the data profile of each method [MoreWild2009]: the share of the runs, seeds included, that are done in x seconds.

    The share is taken per problem and averaged over the problems, so that each problem has the same weight.
    """
    return [runtime_distribution(sample, measure, method) for method in sample.methods]


def below_one(curves: Sequence[Curve]) -> list[Curve]:
    """Return data profiles of gaps without the gap of 1, which stands for no verified schedule and is never reached."""
    return [Curve(c.method, c.x[c.x < 1], c.y[c.x < 1]) for c in curves]


def runtime_distribution(sample: Sample, measure: Measure, method: str, problem: str | None = None) -> Curve:
    """Return the distribution function of the times of a method over its seeds [HoosStutzle2004, 4.2].

    Parameters
    ----------
    sample
        The runs.
    measure
        Seconds to a proof or to a target; infinity for a run that does not reach it.
    method
        The method.
    problem
        Name of one problem; None: the mean of the distributions of all problems.

    Returns
    -------
    Curve
    """
    runs = by_run(sample, measure, method)
    if problem is not None:
        runs = [runs_of_problem for runs_of_problem, p in zip(runs, sample.problems, strict=True) if p.name == problem]
    weights = np.concatenate(
        [np.full(runs_of_problem.size, 1 / (runs_of_problem.size * len(runs))) for runs_of_problem in runs]
        or [np.empty(0)]
    )
    times = np.concatenate(runs or [np.empty(0)])
    return _weighted(method, times, weights)


def _steps(method: str, values: Floats, count: int) -> Curve:
    return _weighted(method, values, np.full(values.size, 1 / max(1, count)))


def _weighted(method: str, values: Floats, weights: Floats) -> Curve:
    """Return the curve of the weights of the finite values; equal values make one step."""
    done = np.isfinite(values)
    x, inverse = np.unique(values[done], return_inverse=True)
    return Curve(method, x, np.cumsum(np.bincount(inverse, weights[done], x.size)))


# --- What the times of a comparison count to, and how: to the proof or to a gap, with or without building and lowering.


@dataclass(frozen=True)
class Goal:
    """What the times of a comparison count to; formulas: docs/statistics.md.

    Attributes
    ----------
    target
        The gap to the best objective known that a schedule must have; None: the proof.
    solver_alone
        Whether the seconds of building and lowering the model are taken off each time.
    shift
        Seconds that are added to times before their geometric mean.
    floor
        Times below it count as it, in seconds: the noise of shorter ones would be large in ratios.

    Raises
    ------
    WrongUse
        The target is no gap from 0 to 1.
    """

    target: float | None = None
    solver_alone: bool = False
    shift: float = SHIFT
    floor: float = 0.0

    def __post_init__(self) -> None:
        if self.target is not None and not 0 <= self.target < 1:
            raise WrongUse(f"--target {self.target:g}: expected a gap from 0 to 1, such as 0.01")

    @property
    def measure(self) -> Measure:
        """The measure of seconds; infinity for a run that does not reach the goal."""
        if self.target is not None:
            reached = seconds_to(self.target)
        else:
            reached = seconds

        def measured(problem: ProblemRuns, run: RunOutcome) -> float:
            time = reached(problem, run)
            if time == inf:
                return inf
            return max(self.floor, time - (run.building if self.solver_alone else 0.0))

        return measured

    @property
    def until(self) -> str:
        """What is reached: "the proof", "a gap of 1 %"."""
        if self.target is None:
            return "the proof"
        return f"a gap of {100 * self.target:g} %"

    @property
    def text(self) -> str:
        """The measure in words, as the label of an axis has it.

        Examples
        --------
        >>> Goal(0.01, solver_alone=True, floor=0.1).text
        'seconds to a gap of 1 %, without building and lowering, at least 0.1 s'
        """
        parts = [f"seconds to {self.until}"]
        if self.solver_alone:
            parts += ["without building and lowering"]
        if self.floor:
            parts += [f"at least {self.floor:g} s"]
        return ", ".join(parts)


PROOF = Goal()


# --- Parts of a sample by what the methods have reached.

BRACKET = re.compile(r"(?P<low>\d+(\.\d+)?)\.\.(?P<high>\d+(\.\d+)?)?", re.ASCII)


def subset(sample: Sample, text: str, goal: Goal) -> Sample:
    """Return the problems on which methods have reached the goal.

    Parameters
    ----------
    sample
        The runs.
    text
        ``all``: each run has reached it. ``any``: some run has. ``admitted``: no solver, licence or limit of size has refused a
        run. ``T0..T1``: some run has within T1 seconds, and the slowest
        run took at least T0 (one that has not reached it: its time limit); T1 may be left out.
    goal
        The goal of the times.

    Raises
    ------
    WrongUse
        If the text is none of these, or there is no such problem.
    """

    def times(problem: ProblemRuns) -> list[float]:
        return [goal.measure(problem, run) for runs in problem.runs.values() for run in runs]

    bracket = BRACKET.fullmatch(text)
    if text == "all":
        return part_of(sample, lambda p: max(times(p)) < inf, f"all runs have brought to {goal.until}")
    if text == "any":
        return part_of(sample, lambda p: min(times(p)) < inf, f"some run has brought to {goal.until}")
    if text == "admitted":
        return part_of(
            sample, lambda p: all(r.state != "refused" for runs in p.runs.values() for r in runs), "no run refused"
        )
    if bracket is None:
        raise WrongUse(f"--subset {text:.50}: expected all, any, admitted, or seconds such as 1..60 or 10..")
    low = float(bracket["low"])
    if bracket["high"] is None:
        high = inf
    else:
        high = float(bracket["high"])
    if high < low:
        raise WrongUse(f"--subset {text:.50}: expected first the less number of seconds")

    def within(problem: ProblemRuns) -> bool:
        taken = times(problem)
        slowest = max(min(t, problem.limit) for t in taken)
        return min(taken) <= high and min(taken) < inf and slowest >= low

    return part_of(sample, within, f"some run has brought to {goal.until} and are in the bracket {text} s")


# --- The charts of profiles as plain data, the same on a page, in a picture and in a paper: curves from the axis to the limit.


MOST = 200  # points of a curve
LEAST_GAP = 1e-4  # at the left end of the axis of gaps: 0.01 %
LEAST_SECONDS = 1e-3  # at the left end of the axis of seconds


class ProfileLine(NamedTuple):
    """A step function: ``y`` (0 to 1) holds from its ``x`` to the next one; the first and the last ``x`` are the ends of the axis."""

    name: str
    x: Sequence[float]
    y: Sequence[float]


class ProfileChart(NamedTuple):
    """Step functions over a logarithmic axis.

    Attributes
    ----------
    key
        Name of a file for it.
    title
        The title or caption.
    label, share
        What the axes show.
    begin, end
        The ends of the horizontal axis.
    lines
        A line per method.
    """

    key: str
    title: str
    label: str
    share: str
    begin: float
    end: float
    lines: Sequence[ProfileLine]

    def as_json(self) -> dict[str, Any]:
        """Return the chart as JSON can represent it; ``of_json`` makes the same chart of it."""
        return self._asdict() | {"lines": [line._asdict() for line in self.lines]}

    @classmethod
    def of_json(cls, data: dict[str, Any]) -> ProfileChart:
        """Return the chart of ``as_json``."""
        return cls(**{**data, "lines": [ProfileLine(**line) for line in data["lines"]]})


def profile_charts(sample: Sample, goal: Goal) -> list[ProfileChart]:
    """Return the performance profile, the data profile and the distribution of the gaps of a sample.

    Parameters
    ----------
    sample
        The runs.
    goal
        What the times count to.
    """
    performance = performance_profiles(sample, goal.measure)
    data = data_profiles(sample, goal.measure)
    gaps = [Curve(c.method, 100 * c.x, c.y) for c in below_one(data_profiles(sample, gap))]
    problems = how_many(len(sample.problems), "problem")
    limit = max(p.limit for p in sample.problems)
    ratio = max([2.0, *(float(c.x[-1]) for c in performance if c.x.size)])
    quickest = min([limit / 10, *(float(c.x[0]) for c in data if c.x.size)])
    first = 10.0 ** floor(log10(max(quickest, LEAST_SECONDS)))
    return [
        _chart(
            "performance-profile",
            f"Performance profile: {goal.text}; {problems}",
            f"{goal.text}: times those of the best method",
            "problems, %",
            (1.0, 1.05 * ratio),
            performance,
        ),
        _chart("data-profile", f"Data profile: {goal.text}; {problems}", goal.text, "runs, %", (first, limit), data),
        _chart(
            "gaps",
            f"Gap to the best objective known at the end; {problems}",
            "gap to the best objective known, at most, %",
            "runs, %",
            (100 * LEAST_GAP, 100.0),
            gaps,
        ),
    ]


def _chart(
    key: str, title: str, label: str, share: str, axis: tuple[float, float], curves: Sequence[Curve]
) -> ProfileChart:
    begin, end = axis
    return ProfileChart(key, title, label, share, begin, end, [_line(curve, begin, end) for curve in curves])


def _line(curve: Curve, begin: float, end: float) -> ProfileLine:
    """Return a curve from the begin to the end of the axis; what it reaches before the begin is its height there."""
    inside = np.flatnonzero((curve.x > begin) & (curve.x <= end))
    chosen = inside[np.unique(np.linspace(0, max(0, inside.size - 1), min(MOST, inside.size)).astype(np.int64))]
    x = [begin, *curve.x[chosen].tolist(), end]
    y = [curve.at(begin), *curve.y[chosen].tolist(), curve.at(end)]
    return ProfileLine(curve.method, [_six_digits(v) for v in x], [_six_digits(v) for v in y])


def _six_digits(value: float) -> float:
    return float(f"{value:.6g}")
