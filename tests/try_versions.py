"""Try other versions of the packages that schedlab needs: ``make versions``.

    python tests/try_versions.py oldest     # the lower bounds of pyproject.toml
    python tests/try_versions.py newest     # the newest versions that pip finds
    python tests/try_versions.py excluded   # each version that pyproject.toml excludes still fails its test

Each has an environment of its own in ``.cache/versions``, for each version of Python another one. No file lists versions:
the oldest ones are stated in pyproject.toml, and a list of the newest ones would be out of date at the next release.
The exit code is 0 if all is well, 1 if tests fail or an exclusion is no longer needed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FOLDER = ROOT / ".cache" / "versions"
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
EXTRAS = (
    "cpoptimizer",
    "dask",
    "guide",
    "mpi",
    "pandas",
    "parquet",
    "plot",
)  # of users; test and wheel are of developers
TOOLS = ("hypothesis>=6", "pytest>=8", "pytest-timeout>=2", "pytest-xdist>=3")
PINS = ("tests/test_versions.py",)  # what the exclusions protect against
# all that calls a solver or numba's compiler, and one file or two for each other package
TESTS = (
    *PINS,
    "tests/backends/conformance",
    "tests/backends/cpo",
    "tests/backends/cpsat",
    "tests/backends/highs",
    "tests/backends/pyomo",
    "tests/backends/test_bounds.py",
    "tests/backends/test_parameters.py",
    "tests/backends/test_result.py",
    "tests/bench/executors/test_dask.py",
    "tests/bench/guide",
    "tests/bench/plots/test_panels.py",
    "tests/bench/statistics",
    "tests/instances/formats/test_job_table.py",
    "tests/models/project/test_project.py",
    "tests/models/test_compiled.py",
    "tests/test_documents.py::test_the_code_of_a_page_runs[README]",
)
# the suite's own environment has a version of numba whose private interfaces are known; these may have another one
NOT_HERE = ("models/test_compiled.py::test_the_installed_version_of_numba_is_known",)  # relative to tests/pytest.ini


def requirements(extras: Sequence[str] = EXTRAS) -> list[str]:
    """Return the requirements of schedlab and of some of its extras, as pyproject.toml states them."""
    return [*PROJECT["dependencies"], *(line for extra in extras for line in PROJECT["optional-dependencies"][extra])]


def name_of(requirement: str) -> str:
    """Return the name of the package of a requirement.

    >>> name_of("highspy>=1.11,!=1.13.*")
    'highspy'
    """
    return re.split(r"[<>=!~\[; ]", requirement)[0]


def lower_bound(requirement: str) -> str:
    """Return the lower bound of a requirement; empty if it has none.

    >>> lower_bound("highspy!=1.13.*,>=1.11")
    '1.11'
    """
    stated = re.search(r">=\s*([^,;\s]+)", requirement)
    return stated[1] if stated else ""


def exclusions() -> list[str]:
    """Return the versions that pyproject.toml excludes, such as "highspy==1.13.*"."""
    return [
        f"{name_of(line)}=={version}" for line in requirements() for version in re.findall(r"!=\s*([^,;\s]+)", line)
    ]


def oldest() -> list[str]:
    """Return constraints for pip: the lower bound of each requirement."""
    return sorted({f"{name_of(line)}=={lower_bound(line)}" for line in requirements()})


def environment(kind: str, constraints: Sequence[str]) -> Path:
    """Return the Python of an environment with schedlab and the versions that pip chooses within constraints."""
    place = FOLDER / f"{kind}-{PYTHON}"
    python = place / "bin" / "python"
    if not python.with_name("pip").exists():
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
        (FOLDER / ".gitignore").write_text("*\n")
    limits = place / "constraints.txt"
    limits.write_text("".join(f"{line}\n" for line in constraints))
    pip = [python, "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--upgrade"]
    subprocess.run([*pip, "pip>=24"], check=True)
    schedlab = ("--editable", f"{ROOT}[{','.join(EXTRAS)}]")
    subprocess.run([*pip, "--upgrade-strategy", "eager", "--constraint", limits, *schedlab, *TOOLS], check=True)
    show = f"from importlib.metadata import version as v; print(*(n + ' ' + v(n) for n in {names()!r}), sep=', ')"
    print(f"{kind} with Python {PYTHON}: ", end="", flush=True)
    subprocess.run([python, "-I", "-c", show], check=True)
    return python


def names() -> list[str]:
    """Return the names of the packages."""
    return sorted(set(map(name_of, requirements())))


def pytest(python: Path, tests: Sequence[str], *options: str, path: Path | None = None) -> int:
    """Run tests in an environment, with the packages in the folder ``path`` before its own; return the exit code."""
    variables = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    if path is not None:
        variables["PYTHONPATH"] = str(path)
    return subprocess.run([python, "-m", "pytest", "-q", *options, *tests], cwd=ROOT, env=variables).returncode


def try_versions(kind: str) -> int:
    """Run ``TESTS`` with the oldest or the newest versions; return the exit code."""
    needed = lower_bound(f"python{PROJECT['requires-python']}")
    if kind == "oldest" and needed != PYTHON:
        print(f"oldest: left out, as packages of that age are made for Python {needed}, and this one is {PYTHON}")
        return 0
    python = environment(kind, oldest() if kind == "oldest" else ())
    deselected = [word for test in NOT_HERE for word in ("--deselect", test)]
    # with a numba whose interfaces are not known, the first replay compiles for minutes: more than pytest.ini allows for a test
    return min(1, pytest(python, TESTS, "-n", "2", "--dist", "loadfile", "--timeout", "3600", *deselected))


def try_excluded() -> int:
    """Return 0 if each excluded version, with the newest ones of all other packages, fails the tests of ``PINS``."""
    python = environment("newest", ())
    code = 0
    for excluded in exclusions():
        place = FOLDER / f"excluded-{PYTHON}" / excluded.replace("==", "-").removesuffix(".*")
        if not place.exists():
            pip = [python, "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-deps"]
            subprocess.run([*pip, "--target", place, excluded], check=True)
        if pytest(python, PINS, "--no-header", "--tb=no", path=place) == 1:
            print(f"{excluded}: fails, as it should: it stays excluded")
        else:
            print(
                f"{excluded}: passes {' '.join(PINS)}; allow it in pyproject.toml, or add a test of what is wrong with it"
            )
            code = 1
    return code


if __name__ == "__main__":
    choices = {
        "oldest": lambda: try_versions("oldest"),
        "newest": lambda: try_versions("newest"),
        "excluded": try_excluded,
    }
    if len(sys.argv) != 2 or sys.argv[1] not in choices:
        sys.exit(f"one of {', '.join(choices)} is expected")
    sys.exit(choices[sys.argv[1]]())
