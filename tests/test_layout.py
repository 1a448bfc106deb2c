"""The package layout: layers, import cycles, the list of packages; and examples that are true."""

from __future__ import annotations

import ast
import doctest
import importlib
import pkgutil
import re
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


def test_tests_import_from_packages_what_these_export() -> None:
    packages = [
        importlib.import_module(f"schedlab.{top}") for top in ("models", "instances", "heuristics", "simulation")
    ]
    exported = {f"{p.__name__}.{place}": set(names) for p in packages for place, names in p.LATER.items()}
    inner = []
    for file in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                names = exported.get(node.module or "", set()).intersection(alias.name for alias in node.names)
                inner += [f"{file.relative_to(ROOT)}: {name} of {node.module}" for name in sorted(names)]
    assert inner == []


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
