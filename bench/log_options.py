"""The values of the options that describe a log, the same in ``bench show``, ``import`` and ``simulate``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from zoneinfo import ZoneInfo

from ..instances import UnknownInstance, names
from .errors import WrongUse


def time_zone(text: str | None) -> ZoneInfo | None:
    """Return the time zone of an option; None without a text. Raises WrongUse."""
    if text is None:
        return None
    try:
        return ZoneInfo(text)
    except (ValueError, LookupError, OSError) as e:
        raise WrongUse(f"--zone {text}: unknown time zone; expected a name such as Europe/Rome") from e


def resources_per_node(text: str | None) -> Mapping[str, int]:
    """Return the resources of a text such as ``gpus=2,mics=1``. Raises WrongUse.

    >>> resources_per_node("gpus=2,mics=1")
    {'gpus': 2, 'mics': 1}
    """
    found = {}
    for pair in filter(None, (part.strip() for part in (text or "").split(","))):
        name, _, amount = (part.strip() for part in pair.partition("="))
        if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) or not re.fullmatch(r"\d{1,9}", amount, re.ASCII):
            raise WrongUse(f"--per-node {text}: expected names and whole numbers such as gpus=2,mics=1")
        if name in ("cores", "memory"):
            raise WrongUse(f"--per-node {text}: use the option --{name} for {name}")
        found[name] = int(amount)
    return found


def column_names(text: str | None) -> tuple[str, ...]:
    """Return the names of columns in a list with commas, as ``sacct --format`` takes them; widths are left out.

    >>> column_names("JobID,Submit%20, Start")
    ('JobID', 'Submit', 'Start')
    """
    return tuple(name.strip().partition("%")[0] for name in (text or "").split(",") if name.strip())


def check_there(path: str) -> None:
    """Raise WrongUse or UnknownInstance if there is neither a file, nor a folder, nor a shipped instance of this name."""
    named = Path(path)
    if named.exists() or path in names():
        return
    if named.suffix or len(named.parts) > 1:
        raise WrongUse(f"{path}: there is no such file or folder")
    raise UnknownInstance(path)
