"""Neighbourhoods of schedules by the ids of their jobs, for tests of the models and of the searches that use them."""

from collections.abc import Collection
from typing import Any

from schedlab.heuristics import improve_placed
from schedlab.models import Dispatch, Encoding, Neighbourhoods, Profit, Schedule
from schedlab.models.language import Assignment

Problem = Dispatch | Profit


def neighbourhood(
    problem: Problem,
    schedule: Schedule,
    free: Collection[str],
    keep_nodes: Collection[str] = (),
    nodes: Collection[str] | None = None,
    **window: int,
) -> Encoding:
    """The model in which some jobs may move, by ids of jobs and names of nodes: ``Neighbourhoods.model``."""
    around = Neighbourhoods(problem)
    flat = around.flat
    placed = flat.placed(schedule)
    some, keep = ([flat.index[i] for i in ids] for ids in (free, keep_nodes))
    where = None if nodes is None else [flat.nodes.index[n] for n in nodes]
    made = around.model(placed, some, keep, where, **window)

    def read(assignment: Assignment) -> Schedule:
        return flat.schedule(made.read(assignment, placed))

    def write(whole: Schedule) -> Assignment:
        return made.write(flat.placed(whole))

    return Encoding(made.model, read, write)


def improve(
    problem: Problem, schedule: Schedule, free: Collection[str], keep_nodes: Collection[str] = (), **options: Any
) -> Schedule | None:
    """A better schedule in which only some jobs have moved, or None: ``improve_placed``."""
    around = Neighbourhoods(problem)
    flat = around.flat
    some, keep = ([flat.index[i] for i in ids] for ids in (free, keep_nodes))
    better = improve_placed(around, flat.placed(schedule), some, keep_nodes=keep, **options)
    return None if better is None else flat.schedule(better.placement)
