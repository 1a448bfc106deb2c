"""Merging of folders of records, such as those of several machines, into a new folder with a manifest."""

from __future__ import annotations

import os
import shutil
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ...instances.files.writing import sync_folder, whole_file
from ..errors import WrongUse
from ..runs.selection import key_of
from ..runs.suites import BestKnown, keep_known, keep_new, known_values, new_bests
from .record import failed
from .store import Record, faults_of_manifest, files, jobs_file, name_of, no_records, read, stem_of, write_manifest
from .verify import OTHER_KEY, faults_of_form


class FoundRecord(NamedTuple):
    """A record and the file that it is from."""

    path: Path
    record: Record


class Twice(NamedTuple):
    """A run with several records: the one that is kept, and the files of the others."""

    kept: FoundRecord
    others: Sequence[Path]


class Merged(NamedTuple):
    """What was merged: the number of records, and the runs that were present several times."""

    records: int
    twice: Sequence[Twice]


def read_folders(folders: Sequence[Path]) -> tuple[list[FoundRecord], list[tuple[Path, str]]]:
    """Return the records of some folders, and pairs of a file and a fault. Raises WrongUse if a folder has no records.

    A fault is a damaged record, a key that does not fit its record, or what contradicts the manifest of its folder. Schedules are not
    checked against their instances: ``bench verify`` does that.
    """
    records = []
    faults = []
    for folder in folders:
        paths = files(folder)
        if not paths:
            raise no_records(folder)
        for path in paths:
            try:
                record = read(path)
                wrong = [] if key_of(record) == record["key"] else [OTHER_KEY]
                wrong += faults_of_form(record)
                if record.get("jobs_csv") is not None:
                    jobs_file(folder, record)
            except ValueError as e:
                wrong = [str(e).removeprefix(f"{path}: ")]
            else:
                records.append(FoundRecord(path, record))
            faults += [(path, fault) for fault in wrong]
        faults += [(folder / name, fault) for name, fault in faults_of_manifest(folder)]
    return records, faults


def merge(folders: Sequence[Path], found: Sequence[FoundRecord], out: Path) -> Merged:
    """Write records into a new folder with a manifest, with the files and best-known values beside them.

    Records are of the same run if they have the same key: instance, method, seed, limits and versions. One of them is kept:
    one that did not fail before one that failed, then the one that started first; its objective plays no role, which would make
    results better that were computed twice.

    Parameters
    ----------
    folders
        The folders.
    found
        Their records.
    out
        The new folder. It is made beside its final name, so that it is there completely or not at all.

    Raises
    ------
    WrongUse
        The folder exists and is not empty, or cannot be written; or the records cannot be compared: the same instance with other
        content, other versions of schedlab, of a solver or of a third party's method, other best-known values.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise WrongUse(f"--out {out}: expected a new folder or an empty one")
    _refuse_mixtures(found)
    known = _known(folders)
    runs: dict[str, list[FoundRecord]] = {}
    for each in found:
        runs.setdefault(each.record["key"], []).append(each)
    twice = []
    for same in runs.values():
        same.sort(key=lambda f: (failed(f.record), str(f.record["started"])))
        if len(same) > 1:
            twice.append(Twice(same[0], [f.path for f in same[1:]]))
    kept = [same[0] for same in runs.values()]
    made = out.parent / f".{out.name}.{os.getpid()}.tmp"
    try:
        made.mkdir(parents=True)
        names = {folder: sorted(os.listdir(folder)) for folder in {f.path.parent for f in kept}}
        for path, record in kept:
            _copy(path, made / name_of(record))
            for name in _beside(names[path.parent], stem_of(record)):
                if name != path.name and not name.endswith(".json"):
                    _copy(path.parent / name, made / name)
        keep_known(made, known)
        keep_new(made, new_bests([f.record for f in kept], known))
        write_manifest(made)
        if out.exists():
            out.rmdir()
        made.rename(out)
        sync_folder(out.parent)
    except OSError as e:
        raise WrongUse(f"--out {out}: cannot be written ({e.strerror})") from e
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return Merged(len(kept), twice)


def _copy(source: Path, target: Path) -> None:
    with whole_file(target, "wb", durable=False) as f:
        f.write(source.read_bytes())


def _beside(names: Sequence[str], stem: str) -> Iterator[str]:
    """Yield the names in a sorted list that begin with the name of a record."""
    for name in names[bisect_left(names, f"{stem}.") :]:
        if not name.startswith(f"{stem}."):
            return
        yield name


Fields = Callable[[Record], str]
ALIKE: Mapping[str, tuple[Fields, Fields]] = {  # what is compared: its name, the value that must be equal
    "the files of instance": (lambda r: r["instance"], lambda r: r["content"]),
    "the version of": (lambda r: r["solver"], lambda r: r["version"] or "not installed"),
    "the version of schedlab for the method": (lambda r: r["method"], lambda r: r["schedlab"]),
    "the source of the method": (lambda r: r["method"], lambda r: r.get("source") or "schedlab"),
}


def _refuse_mixtures(found: Sequence[FoundRecord]) -> None:
    """Raise WrongUse if records that share a name were computed from different data or by different programs."""
    for what, (name, value) in ALIKE.items():
        seen: dict[str, FoundRecord] = {}
        for each in found:
            first = seen.setdefault(name(each.record), each)
            if value(first.record) != value(each.record):
                raise WrongUse(
                    f"the folders cannot be merged, since {what} {name(each.record)} differs: {value(first.record)} in {first.path}, "
                    f"{value(each.record)} in {each.path}; run one of them again with the same data and versions"
                )


def _known(folders: Sequence[Path]) -> dict[str, BestKnown]:
    """Return the best-known values of all folders. Raises WrongUse if they contradict each other."""
    values: dict[str, tuple[BestKnown, Path]] = {}
    for folder in folders:
        for name, known in known_values(folder).items():
            first, where = values.setdefault(name, (known, folder))
            if first.value != known.value:
                raise WrongUse(
                    f"the folders cannot be merged, since the best-known value of {name} differs: {first.value:g} in {where}, "
                    f"{known.value:g} in {folder}; make them equal in best_known.csv"
                )
    return {name: known for name, (known, _) in values.items()}
