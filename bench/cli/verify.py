"""``bench verify``: records, or a schedule made by another program, are checked against their instance."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...instances import load
from ...models.plugins import only_named
from ...models.words import how_many
from ..errors import WrongUse
from ..terminal import say
from .options import Part, with_options


@with_options()
def verify(
    results: Annotated[Path, typer.Argument(help="a folder of records, or a JSON file with a schedule")],
    *,
    instance: Annotated[
        str | None,
        typer.Option(help="instance of the schedule; for records: the place to which their instance or log was moved"),
    ] = None,
    part: Part,
    own: Annotated[
        list[str] | None,
        typer.Option(
            help="code that you trust and that records may name, such as my_module:MyUsers; separated by commas; "
            "default: nothing that a record names is imported"
        ),
    ] = None,
    manifest: Annotated[
        bool,
        typer.Option(
            "--manifest", help="if all records are valid, write manifest.json: the SHA-256 and size of each file"
        ),
    ] = False,
) -> None:
    """Check records, or a schedule made by another program.

    A record is checked against its instance or log: schedule or replay, objective, key. Status, bound, times and trace must
    not contradict each other, the method, or a schedule of another record; a line counts what else the records only
    claim. A record that names code of its author, such as my_module:MyUsers, is not checked unless --own names it. If the folder has a
    manifest, missing, changed and further files are named. A schedule has the form
    {job: {"start": seconds, "nodes": {node: units}}}. Exit code 1 if a fault is found or a record was not checked.

    Example: bench verify results/eurora_700

    Example: bench verify mine.json --instance eurora_700 --at 12:00 --first 100
    """
    from ..records import verify as checks
    from ..records.store import NAME, Store, files, write_manifest

    if results.is_file() and manifest:
        raise WrongUse(f"{results} is a file: --manifest needs a folder of records")
    if results.is_file() and instance is not None:
        with only_named([instance]):
            problem = part.problem(instance)
        try:
            value, faults = checks.check(problem, checks.read_schedule(results))
        except ValueError as e:
            raise WrongUse(f"{results}: {e}") from e
        say(
            "\n".join([*faults, f"{results}: {how_many(len(faults), 'violation')}"])
            if faults
            else f"verified, objective {value}"
        )
        raise typer.Exit(1 if faults else 0)
    if results.is_file():
        raise WrongUse(f"{results} is a file with a schedule: name its instance with --instance")
    trusted = [] if instance is None else [instance]
    trusted += [name.strip() for text in own or () for name in text.split(",") if name.strip()]
    count, wrong, unchecked, claimed = checks.verify_records(
        results, lambda path, drop: load(instance or path, drop_impossible=drop), instance, trusted
    )
    for name, fault in wrong:
        say(f"{name}: {fault}")
    for name, reason in unchecked:
        say(f"{name}: not checked: {reason}")
    records = {path.name for path in files(results)}
    bad, others = (len({name for name, _ in wrong if (name in records) is of}) for of in (True, False))
    beside = f"; other files with faults: {others}" if others else ""
    if claimed:
        parts = ", ".join(f"{what} of {how_many(n, 'record')}" for what, n in claimed.items())
        say(f"claimed, not checked: {parts}")
    left = f", {len(unchecked)} not checked" if unchecked else ""
    say(f"{results}: {how_many(count, 'record')}, {count - bad - len(unchecked)} valid, {bad} not valid{left}{beside}")
    if manifest and not wrong and not unchecked:
        with Store(results):  # no other bench writes meanwhile
            say(f"{results / NAME}: {how_many(write_manifest(results), 'file')}")
    raise typer.Exit(1 if bad or unchecked else 0)
