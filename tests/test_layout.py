"""The package layout: layers, import cycles, the list of packages; and examples that are true."""

from __future__ import annotations

import ast
import doctest
import importlib
import pkgutil
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import networkx as nx
import pytest
import schedlab

ROOT = Path(schedlab.__file__).parent
ALLOWED = {
    "errors": set(),
    "later": set(),
    "models": {"errors", "later"},
    "instances": {"errors", "later", "models"},
    "backends": {"errors", "later", "models"},
    "heuristics": {"errors", "later", "models", "backends"},
    "methods": {"errors", "later", "models", "heuristics", "backends"},
    "solve": {"errors", "models", "instances", "heuristics", "backends", "methods"},
    "composite": {"errors", "models", "instances", "backends", "methods", "solve"},
    "explain": {"errors", "models", "instances", "backends", "methods", "solve"},
    "simulation": {"errors", "later", "models", "instances", "heuristics", "backends", "methods", "solve"},
    "bench": {
        "errors",
        "later",
        "models",
        "instances",
        "heuristics",
        "backends",
        "methods",
        "solve",
        "composite",
        "explain",
        "simulation",
    },
}
FILES = sorted(p for top in ALLOWED for p in [ROOT / f"{top}.py", *(ROOT / top).rglob("*.py")] if p.is_file())
MODULES = sorted(
    name
    for _, name, _ in pkgutil.walk_packages([str(ROOT)], "schedlab.")
    if name.split(".")[1] in {*ALLOWED, "benchmarks"} and not name.endswith("__main__")
)


def name_of(file: Path) -> str:
    """The module of a file, without ``schedlab``."""
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


NAMES = {name_of(p) for p in FILES}


@cache
def imports(file: Path) -> tuple[str, ...]:
    """The modules that a file imports, lazily or not, also for types alone."""
    return tuple(_imports(file))


def _imports(file: Path) -> Iterator[str]:
    module = name_of(file)
    package = module.split(".") if file.name == "__init__.py" else module.split(".")[:-1]
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = [*package[: len(package) - node.level + 1], *(node.module or "").split(".")]
            target = ".".join(filter(None, base))
            for alias in node.names:
                inner = f"{target}.{alias.name}".strip(".")
                yield inner if inner in NAMES else target


def test_no_import_goes_up() -> None:
    upward = []
    for file in FILES:
        layer = name_of(file).split(".")[0]
        for target in imports(file):
            top = target.split(".")[0]
            if top in ALLOWED and top != layer and top not in ALLOWED[layer]:
                upward.append(f"{name_of(file)} imports {target}")
    assert upward == []


def test_there_are_no_import_cycles() -> None:
    edges = [(name_of(f), to) for f in FILES for to in imports(f) if to in NAMES]
    packages = {name_of(f) for f in FILES if f.name == "__init__.py"}
    graph = nx.DiGraph((a, b) for a, b in edges if b not in packages)
    assert [sorted(found) for found in nx.strongly_connected_components(graph) if len(found) > 1] == []


def test_the_package_does_not_need_the_benchmarks() -> None:
    """They are not in the wheel."""
    used = re.compile(r"^\s*(from|import)\s+(schedlab\.|\.+)?benchmarks\b", re.MULTILINE)
    assert [name_of(file) for file in FILES if used.search(file.read_text(encoding="utf-8"))] == []


def test_every_folder_with_code_is_installed() -> None:
    assert [str(f.parent) for f in FILES if not (f.parent / "__init__.py").is_file()] == []


def exports(*tables: str) -> dict[str, set[str]]:
    """Module, without ``schedlab`` -> the names of it that its package, or one above it, has in one of these tables."""
    found: dict[str, set[str]] = {}
    for file in FILES:
        if file.name == "__init__.py":
            package = importlib.import_module(f"schedlab.{name_of(file)}")
            for table in tables:
                for place, names in getattr(package, table, {}).items():
                    found.setdefault(f"{name_of(file)}.{place}", set()).update(names)
    return found


def test_tests_import_from_packages_what_these_have() -> None:
    inner = []
    had = exports("LATER", "INNER")
    for file in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                names = had.get((node.module or "").removeprefix("schedlab."), set())
                names = names.intersection(alias.name for alias in node.names)
                inner += [f"{file.relative_to(ROOT)}: {name} of {node.module}" for name in sorted(names)]
    assert inner == []


def test_no_package_has_a_name_for_the_tests_alone() -> None:
    """Each name that packages have for each other is used by another file of the package or of the benchmarks."""
    used = Counter(word for file in [*FILES, *(ROOT / "benchmarks").rglob("*.py")] for word in read_words(file))
    inner = exports("INNER").items()
    assert [f"{name} of {module}" for module, names in inner for name in names if used[name] < 2] == []


def test_each_name_of_a_package_is_found_and_is_not_that_of_a_module() -> None:
    for module, names in exports("LATER", "INNER").items():
        assert not [name for name in names if not hasattr(importlib.import_module(f"schedlab.{module}"), name)]
    for file in FILES:
        if file.name == "__init__.py":
            package = importlib.import_module(f"schedlab.{name_of(file)}")
            names = {
                name for table in ("LATER", "INNER") for some in getattr(package, table, {}).values() for name in some
            }
            modules = {module.name for module in pkgutil.iter_modules([str(file.parent)])}
            assert names & modules <= {"generators"}  # instances/__init__.py keeps the table in the place of the folder


def read_words(file: Path) -> set[str]:
    """Return the words of a file; none of an ``__init__.py``, which only lists names."""
    return set() if file.name == "__init__.py" else set(re.findall(r"\w+", file.read_text(encoding="utf-8")))


def has_examples(module: str) -> bool:
    """Return whether the file of a module has examples for doctest."""
    place = ROOT.joinpath(*module.split(".")[1:])
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    return ">>>" in file.read_text(encoding="utf-8")


def test_every_module_is_imported() -> None:
    assert all(importlib.import_module(module) for module in MODULES)


@pytest.mark.parametrize("module", list(filter(has_examples, ["schedlab", *MODULES])))
def test_examples_are_true(module: str) -> None:
    failures, _ = doctest.testmod(importlib.import_module(module), optionflags=doctest.ELLIPSIS)
    assert failures == 0
