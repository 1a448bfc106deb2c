"""The files of ours that a use of the package enters: ``python tests/files_entered.py [USE ...]``.

A file is entered if one of its functions is called, in any thread, after its module was imported. What runs while a
module is imported (its body, its decorators, its dataclasses) is not counted as entered, whether the import is early or
lazy; the second figure counts it. Compiled code calls no Python, so the files of kernels count only where Python calls
into them. Each use runs in a new process; the processes that it starts are counted too, and printed by themselves.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NoReturn

USES = {  # name: (most files, its code)
    "simulate": (25, 'import schedlab as sl\nsl.simulate("eurora_99", "easy")'),
    "bench simulate": (60, "BENCH simulate m.swf --dispatchers easy --again --out out"),
    "solve": (40, 'import schedlab as sl\nsl.solve(sl.load("eurora_330"), "cpsat:counts+warm", time_limit=10)'),
    "model": (
        18,
        'import schedlab as sl\nm = sl.Model("two jobs")\na, b = m.interval("a", size=3), m.interval("b", size=4)\n'
        'm.add(sl.no_overlap([a, b]))\nm.minimize(sl.max([a.end, b.end]))\nsl.solve(m, backend="cpsat")',
    ),
    "bench run": (55, "BENCH run eurora_99 --methods multi-search --time-limit 5 --again --out out"),
}
FOLDER = "SCHEDLAB_FILES_ENTERED"
BENCH = "import sys\nfrom schedlab.bench.cli.app import main\ntry:\n    main(sys.argv[1:])\nfinally:\n    sys.setprofile(None)"


def count(folder: str) -> None:
    """Count calls by file in this process, and write them into a folder when it ends."""
    import atexit
    import threading

    root = os.environ[FOLDER + "_ROOT"]
    others = tuple(f"{root}{name}{os.sep}" for name in (".venv", "tests"))
    after: Counter[str] = Counter()
    during: Counter[str] = Counter()
    functions: Counter[tuple[str, str]] = Counter()
    local = threading.local()

    def profile(frame, event, _):  # type: ignore[no-untyped-def]
        code = frame.f_code
        file = code.co_filename
        if not file.startswith(root) or file.startswith(others):
            return
        body = code.co_name == "<module>"
        importing = getattr(local, "importing", 0)
        if body and event in ("call", "return"):
            local.importing = importing + (1 if event == "call" else -1)
        if event == "call" and (body or importing):
            during[file] += 1
        elif event == "call":
            after[file] += 1
            functions[file, code.co_qualname] += 1

    def write() -> None:
        sys.setprofile(None)
        calls = [[f, q, n] for (f, q), n in functions.items()]
        Path(folder, f"{os.getpid()}.json").write_text(
            json.dumps({"argv": sys.argv[:4], "after": after, "during": during, "functions": calls})
        )

    leave = os._exit

    def written(code: int) -> NoReturn:
        write()
        leave(code)

    os._exit = written  # type: ignore[assignment]  # processes that are forked end by it
    os.register_at_fork(after_in_child=lambda: [calls.clear() for calls in (after, during, functions)])
    atexit.register(write)
    threading.setprofile(profile)
    sys.setprofile(profile)


def entered(code: str) -> list[dict]:
    """Run a use, and return the counts of its processes, that of the use first."""
    import schedlab

    root = Path(schedlab.__file__).parent
    with tempfile.TemporaryDirectory() as work:
        counts, hook = Path(work, "counts"), Path(work, "hook")
        counts.mkdir()
        hook.mkdir()
        (hook / "sitecustomize.py").write_text(Path(__file__).read_text())
        lines = ["; 3 jobs", "; MaxNodes: 4", "; MaxProcs: 4"]
        lines += [f"{j} {j * 10} -1 {20 + j} 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1" for j in range(1, 10)]
        Path(work, "m.swf").write_text("\n".join(lines) + "\n")
        words = code.split()[1:] if code.startswith("BENCH") else []
        end = "\nimport sys\nsys.setprofile(None)"  # what runs at the exit of the interpreter is no part of the use
        run = [sys.executable, "-c", BENCH if words else code + end, *words]
        environment = os.environ | {
            "PYTHONPATH": f"{hook}{os.pathsep}{os.environ.get('PYTHONPATH', '')}".rstrip(os.pathsep),
            FOLDER: str(counts), FOLDER + "_ROOT": str(root) + os.sep,
        }  # fmt: skip
        process = subprocess.Popen(run, cwd=work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        out, _ = process.communicate()
        if process.returncode:
            raise SystemExit(f"{code}: exit code {process.returncode}\n{out.decode()}")
        found = {p.stem: json.loads(p.read_text()) for p in counts.glob("*.json")}
        for one in found.values():
            for key in ("after", "during"):
                one[key] = {str(Path(f).relative_to(root)): n for f, n in one[key].items()}
            one["functions"] = [[str(Path(f).relative_to(root)), q, n] for f, q, n in one["functions"]]
        return [found.pop(str(process.pid)), *found.values()]


def main(names: list[str]) -> None:
    """Print the files of each use, the most called first."""
    detail = "-v" in names
    for name in [n for n in names if n != "-v"] or USES:
        most, code = USES[name]
        processes = entered(code)
        for k, one in enumerate(processes):
            after, loaded = one["after"], set(one["after"]) | set(one["during"])
            who = name if k == 0 else f"  a process of it ({' '.join(one['argv'])})"
            print(f"\n{who}: {len(after)} files entered (at most {most}), {len(loaded)} entered or imported")
            for file, calls in sorted(after.items(), key=lambda item: -item[1]):
                print(f"  {calls:8,}  {file}")
                if detail:
                    for f, q, n in sorted(one["functions"], key=lambda row: -row[2]):
                        if f == file:
                            print(f"              {n:8,} {q}")
        if len(processes) > 1:
            every = {f for one in processes for f in one["after"]}
            print(f"  together: {len(every)} files entered")


if __name__ == "__main__":
    main(sys.argv[1:])
elif FOLDER in os.environ:
    count(os.environ[FOLDER])
