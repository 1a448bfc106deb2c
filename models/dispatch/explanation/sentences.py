"""A sentence about jobs that cannot be scheduled together: which resource of which nodes they need, and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...elements.element import Element, named, plain_sentence
from ...elements.words import duration, listed, moment

if TYPE_CHECKING:
    from ..jobs import Job
    from ..problem import Dispatch

HOUR = 3600


@dataclass(frozen=True)
class Span:
    """When a job can run, in seconds: first and last start, and its duration."""

    first: int
    last: int
    size: int

    @property
    def end(self) -> int:
        """The last possible end."""
        return self.last + self.size

    @property
    def certain(self) -> tuple[int, int]:
        """The time in which it runs in every schedule, empty if the first value is not less."""
        return self.last, self.first + self.size


@dataclass(frozen=True)
class Use:
    """What jobs need of one resource of some groups of nodes.

    Parameters
    ----------
    resource : str
        The name of the resource.
    where : str
        The nodes in words, such as "the gpu nodes".
    total, most, nodes : int
        The capacity of all these nodes, the greatest one of a node, and the number of nodes.
    """

    resource: str
    where: str
    total: int
    most: int
    nodes: int


def conflict_sentence(part: Dispatch, found: Sequence[Element]) -> str:
    """Return the sentence for elements that cannot hold together.

    Parameters
    ----------
    part : Dispatch
        The problem with these elements alone.
    found : sequence of Element
        The elements.

    Returns
    -------
    str
        A sentence about a resource where one is the cause, else a list of the elements.
    """
    uses = _uses(part, named(found, "resource"))
    limits = [e.text for e in found if e.kind == "limit"]
    if limits and part.jobs:
        within = f" within {_together(uses)}" if uses else ""
        return f"{listed(named(found, 'job'))} cannot be scheduled{within}{_beside(part)} if {listed(limits)}"
    if not found or limits:
        return plain_sentence(found)
    if not part.jobs:
        return f"the running jobs {listed(named(found, 'running job'))} together exceed {_together(uses)}"
    spans = {j.id: Span(w[0][0], w[-1][1], part.duration(j)) for j in part.jobs if (w := part.start_windows(j))}
    if len(spans) < len(part.jobs) or not uses:
        none = [j.id for j in part.jobs if j.id not in spans]
        return f"{listed(none or named(found, 'job'))} has no possible start: {'; '.join(e.text for e in found)}"
    wishes = [e.text for e in found if e.kind == "desired use"]
    for use in uses if not wishes else ():
        text = _at_once(part, spans, use) or _in_turn(part, spans, use) or _in_sum(part, spans, use)
        if text:
            return text
    begin, end = min(s.first for s in spans.values()), max(s.end for s in spans.values())
    during = f"between {moment(begin)} and {moment(end)}" + _beside(part)
    return f"{listed(list(spans))} {'do' if len(spans) > 1 else 'does'} not fit {_together(uses)} {during}{f' if {listed(wishes)}' if wishes else ''}"


def _uses(part: Dispatch, names: Sequence[str]) -> list[Use]:
    """Return the resources among the elements, without the nodes that have too little for a unit of any job."""
    found = []
    for resource in part.platform.resources:
        all_groups = [g for g in part.platform.groups if f"{resource} of the {g.name} nodes" in names]
        least = min((n for j in part.jobs for p in j.parts if (n := p.request.get(resource, 0))), default=1)
        groups = [g for g in all_groups if g.capacity.get(resource, 0) >= least]
        if groups:
            total = sum(g.count * g.capacity[resource] for g in groups)
            most = max(g.capacity[resource] for g in groups)
            where = f"the {listed([g.name for g in groups])} nodes"
            found.append(Use(resource, where, total, most, sum(g.count for g in groups)))
    return found


def _together(uses: Sequence[Use]) -> str:
    return listed([f"the {u.resource} of {u.where}" for u in uses])


def _beside(part: Dispatch) -> str:
    """Return the running jobs in words, with a leading space; empty without them."""
    held = [f"{r.job.id} (until {moment(r.end)})" for r in part.running]
    return f" beside the running {'jobs' if len(held) > 1 else 'job'} {listed(held)}" if held else ""


def _need(job: Job, resource: str) -> int:
    """Return what all units of a job request together."""
    return sum(p.units * p.request.get(resource, 0) for p in job.parts)


def _at_once(part: Dispatch, spans: dict[str, Span], use: Use) -> str:
    """Return the sentence for jobs that all run at one time in every schedule, and need too much then."""
    begin, end = max(s.certain[0] for s in spans.values()), min(s.certain[1] for s in spans.values())
    held = [r for r in part.running if r.end > begin]
    end = min([end, *(r.end for r in held)])
    if begin >= end or len(held) < len(part.running):
        return ""
    units = {j.id: sum(p.units for p in j.parts) for j in part.jobs}
    per_unit = {j.id: min(p.request.get(use.resource, 0) for p in j.parts) for j in part.jobs}
    needs = {j.id: _need(j, use.resource) for j in part.jobs}
    names, during = listed(list(spans)), f"between {moment(begin)} and {moment(end)}"
    of, every = f"the {use.resource} of {use.where}", {2: "both"}.get(len(spans), "each")
    if len(spans) > 1 and not held and all(2 * needs[j] > use.total for j in spans):
        return f"{names} {every} need more than half of {of} {during}"
    need = sum(needs[j] for j in spans)
    beside = _beside(part)
    if need + sum(sum(r.nodes.values()) * r.job.request.get(use.resource, 0) for r in held) > use.total:
        verb = "need" if len(spans) > 1 else "needs"
        return f"{names} {verb} {need:,} {use.resource} {during}{beside}; {use.where} have {use.total:,}"
    if not held and all(2 * per_unit[j] > use.most for j in spans) and sum(units.values()) > use.nodes:
        return (
            f"each unit of {names} needs more than half of the {use.resource} of a node {during}: these are "
            f"{sum(units.values())} units, on {use.nodes} nodes ({use.where})"
        )
    return ""


def _in_turn(part: Dispatch, spans: dict[str, Span], use: Use) -> str:
    """Return the sentence for jobs of which no two can run at the same time, and which take too long in turn."""
    if len(spans) < 2 or part.running:
        return ""
    need = {j.id: _need(j, use.resource) for j in part.jobs}
    begin, end = min(s.first for s in spans.values()), max(s.end for s in spans.values())
    took = sum(s.size for s in spans.values())
    if not all(2 * n > use.total for n in need.values()) or took <= end - begin:
        return ""
    return (
        f"{listed(list(spans))} each need more than half of the {use.resource} of {use.where}, so that no two of them "
        f"run at the same time; they take {duration(took)} in all, but must run between {moment(begin)} and {moment(end)}"
    )


def _in_sum(part: Dispatch, spans: dict[str, Span], use: Use) -> str:
    """Return the sentence for jobs whose work exceeds what the nodes can do between the first start and the last end."""
    begin, end = min(s.first for s in spans.values()), max(s.end for s in spans.values())
    work = sum(_need(j, use.resource) * part.duration(j) for j in part.jobs)
    held = sum(
        sum(r.nodes.values()) * r.job.request.get(use.resource, 0) * max(0, min(r.end, end) - begin)
        for r in part.running
    )
    if work + held <= use.total * (end - begin):
        return ""
    unit = f"{use.resource} x h"
    return (
        f"{listed(list(spans))} need {work / HOUR:,.6g} {unit} between {moment(begin)} and {moment(end)}{_beside(part)}; "
        f"{use.where} have {use.total * (end - begin) / HOUR:,.6g} {unit}"
    )
