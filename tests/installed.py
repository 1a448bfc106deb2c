"""Packages that are installed beside schedlab, and processes in which they are.

The installation is a copy of the package and its entry points in the form of an installed distribution: ``pip install``
would need a network for its build tools.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

# several commands in one process: the imports, half of the time of a short command, are paid once; also for their runs,
# unless these get processes of their own
COMMANDS = """
import contextlib, io, json, sys
from schedlab.bench.cli.app import main
if sys.argv[2] == "inside":
    from in_process import Inside
    from schedlab.bench.runs import executors
    executors.Child = Inside
done = []
for words in json.loads(sys.argv[1]):
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        try:
            main(words)
        except SystemExit as end:
            done.append((end.code or 0, text.getvalue()))
print(json.dumps(done))
"""


def describe(folder: Path, name: str, version: str, groups: Mapping[str, Mapping[str, str]]) -> None:
    """Write the description of an installed distribution: its name, its version and its entry points."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [
        line for group, names in groups.items() for line in (f"[{group}]", *(f"{k} = {v}" for k, v in names.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")


class Beside:
    """Starts processes in a working folder beside packages that are installed in other folders."""

    def __init__(self, folder: Path, *packages: Path) -> None:
        self.folder, self.packages = folder, packages

    def also(self, *packages: Path) -> "Beside":
        """Return the same with further packages, which come first."""
        return Beside(self.folder, *packages, *self.packages)

    def python(self, *words: object, code: int = 0) -> str:
        """Run Python; return what it printed."""
        inherited = filter(None, [os.environ.get("PYTHONPATH")])
        path = os.pathsep.join([*map(str, self.packages), str(Path(__file__).parent), *inherited])
        done = subprocess.run(
            [sys.executable, *map(str, words)],
            capture_output=True, text=True, cwd=self.folder, env={**os.environ, "PYTHONPATH": path}, timeout=600,
        )  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def bench(self, *words: object, code: int = 0) -> str:
        """Run one command in a process of its own; return what it printed."""
        return self.python("-m", "schedlab.bench.cli.app", *words, code=code)

    def benches(self, *commands: Iterable[object], codes: Sequence[int] = (), workers: bool = False) -> list[str]:
        """Run commands, one after another in one process; return what each printed.

        ``workers``: the runs have processes of their own, as for users; else they are performed in that process too.
        """
        listed = json.dumps([[str(w) for w in c] for c in commands])
        done: list[Any] = json.loads(self.python("-c", COMMANDS, listed, "workers" if workers else "inside"))
        assert [code for code, _ in done] == list(codes or [0] * len(commands)), done
        return [text for _, text in done]
