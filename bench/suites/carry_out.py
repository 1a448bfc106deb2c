"""``bench run`` of suites, folders and files: everything is checked, run, and compared with the best-known values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from ...instances import Instance
from ...instances.classic import library_name
from ..grid import number
from ..records.record import failed
from ..records.store import Record
from ..runs.supervision import Plans, conclude, perform
from ..runs.task import RunTask
from ..tables.methods import show_instances
from .best_known import NewBest, collected, keep_known, keep_new, known_values, new_bests
from .choice import Chosen, plans_of

FULL_TABLES = 8  # instances up to which the table of methods of each one is printed


def carry_out_chosen(chosen: Chosen, task: RunTask, tables: Console, notes: Console) -> int:
    """Plan and run what was chosen, print tables and notes, and return the exit code.

    Parameters
    ----------
    chosen
        Instances with their requests.
    task
        The options. Its request has the number of parallel runs.
    tables, notes
        Consoles of tables and of progress.

    Returns
    -------
    int
        0, 1 if a run failed or two results contradict each other, 130 after Ctrl-C.
    """
    task = replace(task, instances=chosen.instances)
    said = list(chosen.notes)
    best = collected(table for suite in chosen.suites for table in suite.best)
    plans = plans_of(chosen, lambda instance: _folder(chosen, task, instance), said)
    for note in said:
        notes.print(note, soft_wrap=True)
    folders = list(dict.fromkeys(folder for folder, _ in plans))
    run = {library_name(instance.name) for _, instance in chosen.instances}
    best |= {name: value for name, value in task.known.items() if name in run}
    if not task.recording.dry_run:
        for folder in folders:
            keep_known(folder, best)
    records = perform(plans, task, tables, notes)
    if isinstance(records, int):
        return records
    if task.recording.as_json:
        return conclude(plans, records, task, tables, notes)
    many = len({(r["instance"], str(r["view"])) for r in records}) > FULL_TABLES
    code = _conclude_shortly(plans, records, notes) if many else conclude(plans, records, task, tables, notes)
    return _compare(plans, records, tables, notes, many) or code


def _folder(chosen: Chosen, task: RunTask, instance: Instance) -> Path:
    return task.out or Path("results") / (chosen.folder or instance.name)


def _conclude_shortly(plans: Plans, records: Sequence[Record], notes: Console) -> int:
    for folder in dict.fromkeys(folder for folder, _ in plans):
        notes.print(f"The records are in {folder}. To check them: bench verify {folder}", soft_wrap=True)
        notes.print(f"Statistics over all instances: bench statistics {folder}", soft_wrap=True)
    return 1 if any(map(failed, records)) else 0


def _compare(plans: Plans, records: Sequence[Record], tables: Console, notes: Console, many: bool) -> int:
    """Print the table of instances if there are many or best-known values; keep new best schedules. Return 1 for a contradiction."""
    keys = {folder: {run.key for at, runs in plans if at == folder for run in runs} for folder, _ in plans}
    wrong = 0
    for folder, own in keys.items():
        mine = [r for r in records if r["key"] in own]
        values = known_values(folder)
        if many or values:
            wrong += len(show_instances(tables, mine, values))
        better = new_bests(mine, values)
        keep_new(folder, better)
        for new in better:
            notes.print(_sentence(new, folder), soft_wrap=True)
        wrong += sum(new.refuted for new in better)
    return 1 if wrong else 0


def _sentence(new: NewBest, folder: Path) -> str:
    r = new.record
    known = new.known
    text = (
        f"new best of {r['instance']}: {number(r['objective'])} by {r['method']}, verified; best known: {number(known.value)} "
        f"({known.source}); its schedule is in {folder}/new_best/{r['instance']}.json"
    )
    if not new.refuted:
        return text
    return f"{text}. It refutes the bound {number(known.bound)} of this source: one of them is wrong"
