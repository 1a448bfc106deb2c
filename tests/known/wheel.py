"""A wheel of ``make wheel``: no first use compiles anything, and answers are those of kernels compiled here; two minutes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import schedlab
from schedlab.benchmarks.uses import USES
from schedlab.benchmarks.wheel import build, tag
from schedlab.models.compiling.cache import FOLDER

COUNTED = """
from schedlab.models.compiled import watching
seen = []
with watching(seen.append):
    exec({code!r})
print("compiled", len(seen))
"""
ANSWERS = """
import schedlab as sl
from schedlab.heuristics.lns.search import lns
day, profit = (sl.load(name).problem for name in ("eurora_99", "profit_small"))
print(sl.solve(day, method="multi-search", threads=1).objective.hex())
for p in (day, profit):
    found = lns(p, rounds=30, seed=1)
    print(found.objective.hex(), sorted(found.schedule.start.items()))
for name in ("fcfs", "easy", "conservative", "easy++"):
    print(name, sl.simulate("eurora_99", dispatcher=name).metrics.wait.mean.hex())
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return build(Path(schedlab.__file__).parent, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The wheel in a folder, with the dependencies of this environment."""
    folder = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), str(wheel)]
    subprocess.run(command, check=True, timeout=120)
    return folder


def run(code, folder, cache):
    """Run code with the package in a folder, or with this one, and an own cache of compiled functions."""
    own = {"NUMBA_CACHE_DIR": str(cache), **({} if folder is None else {"PYTHONPATH": str(folder)})}
    command = [sys.executable, "-P", "-c", code]
    done = subprocess.run(command, env={**os.environ, **own}, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_is_for_this_python_and_system(wheel, installed):
    assert wheel.name == f"schedlab-{schedlab.__version__}-{tag()}.whl"
    info = installed / f"schedlab-{schedlab.__version__}.dist-info" / "WHEEL"
    assert {"Root-Is-Purelib: false", f"Tag: {tag()}"} <= set(info.read_text().splitlines())
    assert (installed / "schedlab" / FOLDER / "about.json").is_file()


@pytest.mark.parametrize("label", USES)
def test_a_first_use_compiles_nothing(label, installed, tmp_path):
    assert run(COUNTED.format(code=USES[label]), installed, tmp_path).endswith("compiled 0\n")


def test_answers_are_those_of_kernels_compiled_here(installed, tmp_path):
    assert run(ANSWERS, installed, tmp_path / "with") == run(ANSWERS, None, tmp_path / "without")
