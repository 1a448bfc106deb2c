"""Names that packages import when they are first used."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from types import ModuleType

import pytest
import schedlab
from schedlab import heuristics, simulation


@pytest.mark.parametrize("package", [schedlab, heuristics, simulation])
def test_each_later_name_is_found_and_none_is_that_of_a_module(package: ModuleType) -> None:
    names = [name for some in package.LATER.values() for name in some]
    assert len(names) == len(set(names)) > 10
    assert all(getattr(package, name) is not None for name in names)
    within = {module.name for module in pkgutil.iter_modules(package.__path__)}
    assert not within.intersection(names)
    assert set(package.__all__) >= set(names)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"module 'schedlab\.heuristics' has no attribute 'anealing'"):
        _ = heuristics.anealing


def test_a_command_imports_no_other_command() -> None:
    script = """
    import sys
    from schedlab.bench.cli.app import main
    try:
        main(["explain", "eurora_99", "--help"])
    except SystemExit:
        pass
    print([m for m in sys.modules if m.startswith(("schedlab.bench.replays.carry_out", "schedlab.heuristics.lns", "numba"))])
    """.replace("\n    ", "\n")
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert answer.stdout.splitlines()[-1] == "[]"


def in_new_process(script: str) -> str:
    """Return the last line that a script prints."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize("first", ["schedlab.instances.generators.eurora", "schedlab.instances.registry", "schedlab"])
def test_the_generators_are_a_table_whatever_is_imported_first(first: str) -> None:
    script = f"import {first}\nfrom schedlab.instances import generators\nprint(sorted(generators)[0])"
    assert in_new_process(script) == "centre"


def test_a_small_project_needs_no_compiled_code_and_no_graphs() -> None:
    script = """
import sys
import schedlab as sl
work = [sl.Task(n, [sl.Mode("1", 2, {"a": 1}), sl.Mode("2", 3, {"b": 1})]) for n in "xyz"]
project = sl.Project(work, [sl.Resource("a", 1), sl.Resource("b", 1)], [("x", "y")])
result = sl.solve(project, "cpsat:modes", threads=1)
print(result.objective, [m for m in ("numba", "networkx", "scipy") if m in sys.modules])
"""
    assert in_new_process(script) == "4 []"
