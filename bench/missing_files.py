"""What is said of a file that is not there: the names of similar ones beside it."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from ..models.excerpt import similar
from .errors import WrongUse

SIMILAR = 0.6  # least similarity of a name that is proposed, 0 to 1
MOST = 10_000  # names of a folder that are looked at


def check_file(path: Path, option: str = "") -> None:
    """Raise WrongUse, with the names of similar files, if there is neither a file nor a folder of this name.

    Parameters
    ----------
    path
        The name.
    option
        The option that names it; "": an argument.
    """
    try:
        is_there = path.exists()
    except (OSError, ValueError):  # a name that no file can have
        is_there = False
    if not is_there:
        at = f"{option} {path}" if option else str(path)
        raise WrongUse(f"{at}: there is no such file or folder{question(path)}")


def question(path: Path) -> str:
    """Return what a message about a missing file says of similar ones; "" if there are none.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "site.toml").write_text("")
    ...     question(Path(folder, "site.tml")).replace(folder, "etc"), question(Path(folder, "x"))
    ('; did you mean etc/site.toml?', '')
    """
    near = near_files(path)
    return f"; did you mean {' or '.join(map(str, near))}?" if near else ""


def near_files(path: Path) -> list[Path]:
    """Return the files and folders whose names differ little from one that is not there, the most similar one first."""
    try:
        missing = next((part for part in reversed([path, *path.parents]) if not part.exists()), path)
        beside = [entry.name for entry in islice(missing.parent.iterdir(), MOST)]
        found = [
            missing.parent / name / path.relative_to(missing) for name in similar(missing.name, beside, cutoff=SIMILAR)
        ]
        return [each for each in found if each.exists()]
    except (OSError, ValueError):
        return []
