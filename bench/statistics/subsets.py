"""Parts of a sample: problems by their name or folder, and by what the methods have reached on them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from math import inf

from ...models.words import how_many
from ..errors import WrongUse
from .measures import Goal
from .sample import ProblemRuns, Sample

BRACKET = re.compile(r"(?P<low>\d+(\.\d+)?)\.\.(?P<high>\d+(\.\d+)?)?", re.ASCII)
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

    return _part(sample, has, f"match --instances {','.join(wanted)}")


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
        return _part(sample, lambda p: max(times(p)) < inf, f"all runs have brought to {goal.until}")
    if text == "any":
        return _part(sample, lambda p: min(times(p)) < inf, f"some run has brought to {goal.until}")
    if text == "admitted":
        return _part(
            sample, lambda p: all(r.state != "refused" for runs in p.runs.values() for r in runs), "no run refused"
        )
    if bracket is None:
        raise WrongUse(f"--subset {text:.50}: expected all, any, admitted, or seconds such as 1..60 or 10..")
    low = float(bracket["low"])
    high = inf if bracket["high"] is None else float(bracket["high"])
    if high < low:
        raise WrongUse(f"--subset {text:.50}: expected first the less number of seconds")

    def within(problem: ProblemRuns) -> bool:
        taken = times(problem)
        slowest = max(min(t, problem.limit) for t in taken)
        return min(taken) <= high and min(taken) < inf and slowest >= low

    return _part(sample, within, f"some run has brought to {goal.until} and are in the bracket {text} s")


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


def _part(sample: Sample, test: Callable[[ProblemRuns], bool], what: str) -> Sample:
    kept: Sequence[ProblemRuns] = [p for p in sample.problems if test(p)]
    if not kept:
        raise WrongUse(f"none of the {how_many(len(sample.problems), 'problem')} is one that {what}")
    note = f"{len(kept)} of {how_many(len(sample.problems), 'problem')} that {what}"
    return replace(sample, problems=kept, notes=[*sample.notes, note])
