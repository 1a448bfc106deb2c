"""What is packed into wheels and source distributions."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import schedlab

ROOT = Path(schedlab.__file__).parent


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Return a copy of the sources."""
    ignored = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info")
    return Path(shutil.copytree(ROOT, tmp_path / "source", ignore=ignored))


def test_a_wheel_has_nothing_of_an_older_build(source: Path, tmp_path: Path) -> None:
    stale = source / "build" / "lib" / "schedlab" / "removed"
    stale.mkdir(parents=True)
    (stale / "module.py").write_text("")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    names = zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist()
    assert "schedlab/solve.py" in names
    assert [
        n
        for n in names
        if "removed" in n or n.endswith("/setup.py") or n.startswith(("schedlab/tests", "schedlab/benchmarks"))
    ] == []
