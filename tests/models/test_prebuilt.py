"""Machine code in wheels: when it is used, and that it computes what freshly compiled functions compute."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import schedlab
from schedlab.benchmarks.wheel import compile_into
from schedlab.models.compiling import cache as prebuilt
from schedlab.models.compiling.cache import ABOUT, FOLDER, Prebuilt, Processor, common_processor, runtime

KERNELS = """
import numpy as np
from ..models.compiled import compiled, internal, native

@internal
def share(value, count):
    if count == 0:
        raise ValueError("no parts")
    return value / count

@native
def sums(values):
    total = 0.0
    for k in range(values.size):
        total += values[k] * values[k] / 3.0
    return total

@compiled
def norm(values, count):
    return share(np.sqrt(sums(values)) + sums(values[1:]), count)
"""
USE = """
import numpy as np
from schedlab.heuristics.small import norm
from schedlab.models.compiled import watching
values = np.random.default_rng(1).random(100) - 0.5
seen = []
with watching(seen.append):
    try:
        norm(values, 0)
    except ValueError as e:
        print(e, end=" ")
    print(norm(values, 7).hex(), norm(values[::2], 3).hex() if {strided} else "", len(seen))
"""
PROCESSORS = (common_processor(), Processor("generic"))
HERE = next(
    p for p in PROCESSORS if Prebuilt(Path(), runtime(), p).misfit() is None
)  # generic on a processor without AVX2


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of the parts of the package that compile, with small kernels and their machine code."""
    source, copy = Path(schedlab.__file__).parent, tmp_path_factory.mktemp("wheel") / "schedlab"
    shutil.copytree(source / "models", copy / "models", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(source / "errors.py", copy)
    (copy / "heuristics").mkdir()
    for name, text in {"__init__.py": "", "heuristics/__init__.py": "", "heuristics/small.py": KERNELS}.items():
        (copy / name).write_text(text)
    compile_into(copy, [USE.format(strided=False)], HERE)
    return copy


@pytest.fixture
def installed(package, tmp_path):
    """An own copy for a test that changes it."""
    return shutil.copytree(package, tmp_path / "schedlab")


def used(package, strided=False, **environment):
    """Use the kernels of a package; return what they computed and the number of functions that were compiled."""
    caches = {"NUMBA_CACHE_DIR": str(package.parent / "cache"), "PYTHONPATH": str(package.parent)}
    command = [sys.executable, "-P", "-c", USE.format(strided=strided)]
    env = {**os.environ, **caches, **environment}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    *results, compiled = done.stdout.split()
    return results, int(compiled)


def change(package, part, name, value):
    """Change what a package says its machine code was made for."""
    file = package / FOLDER / ABOUT
    about = json.loads(file.read_text())
    about[part][name] = value
    file.write_text(json.dumps(about))


@pytest.mark.slow
def test_nothing_is_compiled_and_the_results_are_those_of_compiled_functions(installed):
    found, compiled = used(installed)
    assert compiled == 0
    shutil.rmtree(installed / FOLDER)
    assert used(installed) == (found, 3)


@pytest.mark.slow
def test_other_types_of_arguments_are_compiled_beside_the_machine_code_of_the_wheel(installed):
    before = sorted(installed.rglob("*.nb?"))
    assert used(installed, strided=True)[1] == 2  # norm and sums; their code contains that of share in the wheel
    assert sorted(installed.rglob("*.nb?")) == before  # in the user's cache


@pytest.mark.slow
def test_machine_code_is_loaded_where_no_cache_can_be_written(installed):
    (installed / "heuristics" / "__pycache__").write_text("a file instead of a folder")
    nowhere = {"NUMBA_CACHE_DIR": "", "XDG_CACHE_HOME": os.devnull}
    assert used(installed, **nowhere)[1] == 0


@pytest.mark.slow
def test_machine_code_for_features_that_this_processor_lacks_is_not_used(installed):
    change(installed, "processor", "features", [*HERE.features, "not-a-feature"])
    assert used(installed)[1] == 3


@pytest.mark.parametrize("name", runtime())
def test_machine_code_of_another_version_or_system_is_not_used(name, tmp_path):
    code = Prebuilt(tmp_path, runtime(), HERE)
    assert code.misfit() is None
    assert f"{name} is {runtime()[name]}, not other" in code._replace(runtime={**runtime(), name: "other"}).misfit()


def test_machine_code_is_not_used_without_avx(tmp_path, monkeypatch):
    monkeypatch.setattr(prebuilt.NUMBA, "ENABLE_AVX", 0)
    assert "lacks avx, avx2" in Prebuilt(tmp_path, runtime(), common_processor("x86_64")).misfit()
    assert Prebuilt(tmp_path, runtime(), Processor("generic")).misfit() is None


@pytest.mark.slow
def test_machine_code_is_not_used_if_the_source_of_a_called_function_has_changed(installed):
    file = installed / "heuristics" / "small.py"
    file.write_text(file.read_text().replace("/ 3.0", "/ 4.0"))
    assert used(installed)[1] == 3


def test_machine_code_is_not_used_if_the_user_has_chosen_a_processor(tmp_path, monkeypatch):
    monkeypatch.setattr(prebuilt.NUMBA, "CPU_NAME", "generic")
    assert "NUMBA_CPU_NAME" in Prebuilt(tmp_path, runtime(), Processor("generic")).misfit()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"runtime": {}}', '{"runtime": {}, "processor": {"name": "x"}}'])
def test_a_folder_that_says_nothing_is_no_error(text, tmp_path):
    assert Prebuilt.read(tmp_path) is None
    (tmp_path / ABOUT).write_text(text)
    assert Prebuilt.read(tmp_path) is None


def test_what_a_folder_is_made_for_is_read_as_it_was_written(tmp_path):
    code = Prebuilt(tmp_path, runtime(), Processor("x86-64-v3", ("avx2",)))
    (tmp_path / ABOUT).write_text(code.about())
    assert Prebuilt.read(tmp_path) == code
