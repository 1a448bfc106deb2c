"""Environments of other programs, which are installed once under ``.cache`` and are no dependency."""

from __future__ import annotations

import shutil
import subprocess
import venv
from collections.abc import Sequence
from pathlib import Path

from schedlab.errors import SchedlabError
from schedlab.instances.files.writing import write_whole

CACHE = Path(".cache")
PATIENCE = 900.0  # seconds: time limit of an installation


class Unavailable(SchedlabError, RuntimeError):
    """Another program cannot be run on this machine; the message says why."""


def python_with(package: str, cache: Path = CACHE, others: Sequence[str] = ()) -> Path:
    """Return the Python interpreter of an environment with a package; make the environment if needed.

    Parameters
    ----------
    package
        What pip installs, such as ``accasim==1.1.3``; the folder has its name.
    cache
        The folder of the environments.
    others
        What pip installs beside it.

    Raises
    ------
    Unavailable
        If the package cannot be installed.
    """
    home = (cache / package.partition("==")[0]).resolve()
    python = home / "bin" / "python"
    ready = home / ".ready"
    wanted = [package, *others]
    if ready.exists() and set(wanted).issubset(ready.read_text().splitlines()):
        return python
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    write_whole(cache / ".gitignore", "*\n")
    try:
        venv.create(home, with_pip=True, symlinks=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted]
        subprocess.run(pip, check=True, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.CalledProcessError as e:
        output = str(e.stderr or e.stdout or e).strip().splitlines()
        raise Unavailable(f"pip could not install {package}: {output[-1] if output else e}") from None
    except (OSError, subprocess.TimeoutExpired) as e:
        raise Unavailable(f"{package} could not be installed: {e}") from None
    write_whole(ready, "\n".join(wanted))
    return python
