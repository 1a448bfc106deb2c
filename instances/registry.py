"""Instances by name or folder, their kinds, and the generators."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from os.path import isdir, isfile
from pathlib import Path

from ..models.excerpt import MOST, excerpt
from .files.folder import SETTINGS, Folder
from .generators import computing_centre, eurora, theta
from .instance import Instance
from .kinds import dispatch as dispatching
from .kinds import eviction as evicting
from .kinds import profit as profiting

SHIPPED = Path(__file__).parent
KINDS: dict[str, Callable[[Folder, bool], Instance]] = {
    "dispatch": dispatching.read,
    "eviction": evicting.read,
    "profit": profiting.read,
}
WRITERS: dict[str, Callable[[Instance, str | Path], None]] = {
    "dispatch": dispatching.write,
    "eviction": evicting.write,
    "profit": profiting.write,
}
generators: dict[str, Callable[..., Instance]] = {
    "eurora": eurora.generate,
    "theta": theta.generate,
    "centre": computing_centre.generate,
}


class UnknownInstance(LookupError):
    """Neither a folder nor a shipped instance; ``near`` are the shipped names that look like it."""

    def __init__(self, name: str) -> None:
        known = names()
        self.near = difflib.get_close_matches(name[:MOST], known, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(self.near)}?" if self.near else f"shipped are {', '.join(known)}"
        name = excerpt(name)
        super().__init__(f"there is no instance {name}: no folder with an {SETTINGS}, no shipped instance; {hint}")


def names() -> list[str]:
    """Names of the shipped instances.

    >>> "eurora_700" in names()
    True
    """
    return sorted(
        (p.parent.name for p in SHIPPED.glob(f"*/{SETTINGS}")), key=lambda n: (n.rstrip("0123456789"), len(n), n)
    )


def load(folder: str | Path, drop_impossible: bool = False) -> Instance:
    """The instance in a folder, or the shipped one of that name.

    ``drop_impossible``: go on without the jobs that can never fit (they are listed in ``dropped``). Raises
    UnknownInstance with the near names, and InstanceError with every fault of the files: file, line, field, what was
    expected and what was found.

    >>> load("eurora_700").problem.at(12 * 3600, first=100).now
    43200
    """
    path = Path(folder)
    if path.name == SETTINGS and isfile(path):  # of os.path: False for a name that no file can have
        path = path.parent
    if not isfile(path / SETTINGS) and str(folder) in names():
        path = SHIPPED / str(folder)
    if not isdir(path):
        raise UnknownInstance(str(folder))
    files = Folder(path)
    if not files.faults:
        kind = files.settings.text("kind")
        if kind in KINDS:
            return KINDS[kind](files, drop_impossible)
        files.settings.add_fault("kind", f"one of {', '.join(KINDS)}", kind)
    files.raise_faults()
    raise AssertionError("a folder without a known kind has a fault")


def write(instance: Instance, folder: str | Path) -> None:
    """Write an instance as a folder: byte for byte the same for the same instance, never half a file.

    What is written is read once before it is renamed into place. Raises ValueError for what the files cannot hold,
    NotReadable for what could not be read again.
    """
    if instance.kind not in WRITERS:
        raise ValueError(f"instances of kind {instance.kind!r} cannot be written; expected one of {', '.join(WRITERS)}")
    WRITERS[instance.kind](instance, folder)
