"""The plan of the house: which room may import which, and that the examples in the docstrings are true."""

import ast
import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest
import schedlab

ROOT = Path(schedlab.__file__).parent
ALLOWED = {
    "models": set(),
    "instances": {"models"},
    "heuristics": {"models", "backends"},
    "backends": {"models"},
    "solve": {"models", "heuristics", "backends"},
    "dispatch": {"models", "instances", "heuristics", "backends", "solve"},
    "bench": {"models", "instances", "heuristics", "backends", "solve", "dispatch"},
}
MODULES = sorted(
    name
    for _, name, _ in pkgutil.walk_packages([str(ROOT)], "schedlab.")
    if name.split(".")[1] in ALLOWED and not name.endswith("__main__")
)


def rooms_imported(module):
    """The rooms that a module's relative imports reach."""
    source = Path(importlib.util.find_spec(module).origin)
    package = module.split(".") if source.name == "__init__.py" else module.split(".")[:-1]
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            target = [*base, *(node.module or "").split(".")]
            named = [target[1]] if len(target) > 1 and target[1] else [a.name for a in node.names]
            yield from (n for n in named if n in ALLOWED)


@pytest.mark.parametrize("module", MODULES)
def test_no_import_goes_up(module):
    room = module.split(".")[1]
    assert set(rooms_imported(module)) - {room} <= ALLOWED[room]


@pytest.mark.parametrize("module", ["schedlab", *MODULES])
def test_examples_are_true(module):
    failures, _ = doctest.testmod(importlib.import_module(module), optionflags=doctest.ELLIPSIS)
    assert failures == 0
