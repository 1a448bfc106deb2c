"""The hash of a module's source, which tells a changed plug-in from the one that was run before."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

LENGTH = 20  # hexadecimal digits


def source_hash(module: str) -> str:
    """Return a hash of the source files of a module.

    It covers the file of the module; if the module is part of a package, all Python files of the package; and, for a
    module in the current folder, the modules in this folder that it imports, directly or not. Other libraries that it
    imports are not covered.

    Parameters
    ----------
    module : str
        Name of a module, such as "my_module" or "my_package.dispatchers". It can be found from the current folder.

    Returns
    -------
    str
        20 hexadecimal digits.

    Examples
    --------
    >>> source_hash("schedlab.models.source_hash") == source_hash("schedlab")
    True
    """
    digest = hashlib.sha256()
    for name, files in sorted(_modules(module.partition(".")[0]).items()):
        for file in files:
            data = file.read_bytes()
            digest.update(f"{name} {file.name} {len(data)}\n".encode() + data)
    return digest.hexdigest()[:LENGTH]


def _modules(first: str) -> dict[str, list[Path]]:
    """Return the files of a top-level module, and of the modules beside it in the current folder that it imports."""
    files_by_module: dict[str, list[Path]] = {}
    todo = [first]
    while todo:
        name = todo.pop()
        here = _files_here(name)
        files_by_module[name] = here or _files_installed(name)
        todo += [
            other for file in here for other in _imported(file) if other not in files_by_module and _files_here(other)
        ]
    return files_by_module


def _files_here(name: str) -> list[Path]:
    """Return the files of a module in the current folder."""
    package = Path(name)
    if (package / "__init__.py").is_file():
        return sorted(package.rglob("*.py"))
    file = Path(f"{name}.py")
    return [file] if file.is_file() else []


def _files_installed(name: str) -> list[Path]:
    spec = find_spec(name)
    if spec is None:
        return []
    if spec.submodule_search_locations is not None:
        return sorted(file for place in spec.submodule_search_locations for file in Path(place).rglob("*.py"))
    return [Path(spec.origin)] if spec.origin is not None and Path(spec.origin).is_file() else []


def _imported(file: Path) -> Iterator[str]:
    """Yield the names of the top-level modules that a file imports."""
    try:
        tree = ast.parse(file.read_bytes())
    except SyntaxError:  # a file that nothing imports so far
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.partition(".")[0]
