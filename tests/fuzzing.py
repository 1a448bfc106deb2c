"""A fuzzer of everything that is read from files: each reader gives what the file holds, or an error of the project.

``batch`` examines damaged files in a process of its own, which may take 1 GB more than it has after its imports; a case
may take 5 s of processor time. A case has a format and a number, and is the same on every machine:
``python tests/fuzzing.py swf 17`` repeats one alone, ``python tests/fuzzing.py --keep FOLDER swf 17`` keeps its files.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import fuzz_records as records
import fuzz_seeds as seeds
from mutations import PLACES, damaged, replaced_numbers, whole_file
from rich.console import Console
from schedlab import Guide
from schedlab.bench.cli.app import main
from schedlab.bench.errors import WRONG_USE
from schedlab.instances import (
    FormatError,
    load,
    read_classic,
    read_events,
    read_fjsplib,
    read_imopse,
    read_jsplib,
    read_knapsack,
    read_mmlib,
    read_mslib,
    read_patterson,
    read_progen_max,
    read_psplib,
    read_weather,
    write,
    write_weather,
)
from schedlab.instances.files.profile_file import read_series, read_wishes
from schedlab.instances.formats import cooling_csv, read_cooling
from schedlab.instances.formats.shops import (
    read_aircraft_landing,
    read_flow_shop,
    read_taillard_job_shop,
    read_taillard_open_shop,
    read_weighted_tardiness,
)
from schedlab.simulation import JobsError, read_jobs

FIXED = 1_000_000  # from this number on, cases are the damages that are the same for all formats
CLEAN = (*WRONG_USE, FormatError, JobsError)
SECONDS, BYTES = 5, 2**30

Examine = Callable[[Path], object]


class Hang(BaseException):
    """A case took too long; not an Exception, so that nothing takes it for a fault of the file."""


@dataclass(frozen=True)
class Format:
    """Files of a folder, of which one is damaged, and what reads them: ``examine`` gets the damaged one.

    ``places``: of how many numbers of the file each is replaced in turn.
    """

    files: Callable[[], Mapping[str, bytes]]
    examine: Examine
    places: int = PLACES


def _single(name: str, text: str | bytes, examine: Examine) -> Format:
    data = text if isinstance(text, bytes) else text.encode()
    return Format(lambda: {name: data}, examine)


def _command(*arguments: object) -> int:
    """A command of the bench in this process; what it prints is thrown away. Returns the exit code."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            main([str(a) for a in arguments])
        except SystemExit as e:
            code = int(e.code or 0)
    if code not in (0, 1, 2) or "Traceback" in err.getvalue():
        raise AssertionError(f"exit code {code}: {err.getvalue()[-2000:]}")
    return code


def _log(form: str, *options: object) -> Examine:
    """Import: reads the log, writes the folder, reads that; an instance that was written can be loaded."""

    def examine(path: Path) -> None:
        out = path.parent / "imported"
        if _command("import", form, path, "--out", out, *options) == 0:
            load(out)
        elif out.exists():
            raise AssertionError("an import that failed has left a folder")

    return examine


def _folder(path: Path) -> None:
    found = load(path.parent, drop_impossible=True)
    copy = path.parent.parent / "copy"
    write(found, copy)
    load(copy)


def _weather(path: Path) -> None:
    found = read_weather(path)
    write_weather(found, path.parent / "again.csv")


def _cooling(path: Path) -> None:
    cooling_csv(read_cooling(path))


def _simulated(path: Path) -> None:
    _command("simulate", path, "--dry-run", "--nodes", 4, "--cores", 16)


def _dependent(path: Path) -> None:
    _command("simulate", path, "--dry-run", "--nodes", 64, "--dependencies")


def _records(path: Path) -> None:
    _command("verify", path.parent)
    _command("plot", path.parent, "--out", path.parent.parent / "page.html")


def _resumed(path: Path) -> None:
    console = Console(file=io.StringIO())
    if records.resumed(path.parent, console) not in (0, 1):
        raise AssertionError("another exit code than 0 or 1")


def _state(path: Path) -> None:
    """Import of the files of a folder, in the order of their names, and a decision."""
    out = path.parent.parent / "state.json"
    files = sorted(path.parent.iterdir())
    more = ("--reservations", files[2]) if len(files) > 2 else ()
    if _command("import", "state", *files[:2], "--out", out, *more) == 0:
        _command("decide", out)


def _decided(path: Path) -> None:
    _command("decide", path)


def _shown(path: Path) -> None:
    _command("show", path)


MACHINE = ("--nodes", 4, "--cores", 16, "--memory", 65536, "--per-node", "gpus=2")
FORMATS: dict[str, Format] = {
    "swf": _single("log.swf", seeds.SWF, _log("swf", "--nodes", 4, "--cores", 16)),
    "swf-header": _single("log.swf", seeds.SWF, _log("swf")),
    "swf-partitions": _single(
        "log.swf", seeds.SWF_PARTITIONS, _log("swf", "--nodes", 4, "--queue-from", "partition", "--partition", "3,large")
    ),
    "swf-dependencies": _single("log.swf", seeds.SWF_PARTITIONS, _dependent),
    "swf.gz": _single("log.swf.gz", seeds.packed(seeds.SWF), _log("swf", "--nodes", 4, "--cores", 16, "--memory", 4096)),
    "sacct": _single("jobs.txt", seeds.SACCT, _log("sacct", *MACHINE, "--zone", "Europe/Rome")),
    "sacct-attempts": _single("jobs.txt", seeds.SACCT_ATTEMPTS, _log("sacct", *MACHINE, "--zone", "Europe/Rome")),
    "sacct-json": _single("jobs.json", seeds.SACCT_JSON, _log("sacct", *MACHINE)),
    "jobcomp": _single("jobcomp.txt", seeds.JOBCOMP, _log("sacct", *MACHINE, "--zone", "Europe/Rome")),
    "pbs": _single("pbs.log", seeds.PBS, _log("pbs", *MACHINE)),
    "pbs-again": _single("pbs.log", seeds.PBS_AGAIN, _log("pbs", *MACHINE)),
    "torque": _single("pbs.log", seeds.TORQUE, _log("pbs", *MACHINE)),
    "eurora": _single("eurora.csv", seeds.EURORA, _log("eurora")),
    "table": _single("jobs.csv", seeds.JOB_TABLE, _log("table", *MACHINE)),
    "batsim": _single("w.json", seeds.BATSIM, _log("batsim")),
    "curie": _single("log.swf", seeds.SWF, _log("curie", "--nodes", 4, "--first", 2)),
    "guessed": _single("some.log", seeds.SACCT, _simulated),
    "epw": _single("w.epw", seeds.EPW, _weather),
    "pvgis": _single("tmy.csv", seeds.PVGIS, _weather),
    "weather-seconds": _single("w.csv", seeds.WEATHER_SECONDS, _weather),
    "weather-hours": _single("w.csv", seeds.WEATHER_HOURS, _weather),
    "weather-stamps": _single("w.csv", seeds.WEATHER_STAMPS, _weather),
    "cooling": _single("c.csv", seeds.COOLING, _cooling),
    "prices": _single("p.csv", seeds.PRICES, read_series),
    "psplib": _single("x.mm", seeds.PSPLIB, read_psplib),
    "patterson": _single("x.rcp", seeds.PATTERSON, read_patterson),
    "jsplib": _single("x.txt", seeds.JOB_SHOP, read_jsplib),
    "fjsplib": _single("x.fjs", seeds.FLEXIBLE, read_fjsplib),
    "psplib-import": _single("x.mm", seeds.PSPLIB, _log("psplib")),
    "mmlib": _single("x.txt", seeds.PSPLIB, read_mmlib),
    "progen-max": _single("x.sch", seeds.TIME_LAGS, read_progen_max),
    "knapsack": _single("x.kp", seeds.KNAPSACK, read_knapsack),
    "flow-shop": _single("x.txt", seeds.FLOW_SHOP, read_flow_shop),
    "taillard": _single("x.txt", seeds.TAILLARD, read_taillard_job_shop),
    "taillard-open": _single("x.txt", seeds.TAILLARD, read_taillard_open_shop),
    "imopse": _single("x.def", seeds.IMOPSE, read_imopse),
    "mslib": _single("x.msrcp", seeds.MSLIB, read_mslib),
    "weighted-tardiness": _single("x.txt", seeds.WEIGHTED_TARDINESS, read_weighted_tardiness),
    "aircraft-landing": _single("x.txt", seeds.LANDING, read_aircraft_landing),
    "classic-imopse": _single("x", seeds.IMOPSE, read_classic),
    "classic-landing": _single("x", seeds.LANDING, read_classic),
    "classic-jsp": _single("x", seeds.JOB_SHOP, read_classic),
    "classic-fjsp": _single("x", seeds.FLEXIBLE, read_classic),
    "classic-rcp": _single("x", seeds.PATTERSON, read_classic),
    "classic-taillard": _single("x", seeds.TAILLARD, read_classic),
    "classic-knapsack": _single("x", seeds.KNAPSACK, read_classic),
    "classic-max": _single("x", seeds.TIME_LAGS, read_classic),
    "shown-rcp": _single("x.rcp", seeds.PATTERSON, _shown),
    "carbon": _single("p.csv", seeds.CARBON, lambda path: read_series(path, "g_co2_per_kwh")),
    "profile": _single("profile.csv", seeds.PROFILE, read_wishes),
    "events": _single("events.csv", seeds.EVENTS, read_events),
    "running": Format(lambda: seeds.DISPATCH_RUNNING, _folder),
    "slurm-state": Format(lambda: seeds.SLURM_STATE, _state),
    "slurm-sinfo": Format(lambda: seeds.SLURM_SINFO, _state),
    "pbs-state": Format(lambda: seeds.PBS_STATE, _state),
    "decide": _single("state.json", seeds.STATE, _decided),
    "dispatch": Format(lambda: seeds.DISPATCH, _folder),
    "eviction": Format(lambda: seeds.EVICTION, _folder),
    "eviction-physical": Format(lambda: seeds.EVICTION_PHYSICAL, _folder),
    "project": Format(lambda: seeds.PROJECT, _folder),
    "shop": Format(lambda: seeds.SHOP, _folder),
    "profit": Format(lambda: seeds.PROFIT, _folder),
    "jobs": _single("jobs.csv", seeds.BATSIM_JOBS, read_jobs),
    "record": Format(records.of_a_run, _records),
    "resume": Format(records.of_a_run, _resumed),
    "replay": Format(records.of_a_replay, _records, places=4),  # a case draws eight pictures, 0.7 s
    "guide": _single("guide.json", seeds.GUIDE, lambda path: Guide.load(path).sentences()),
}  # fmt: skip


def examined(name: str, number: int, keep: Path | None = None) -> str | None:
    """What is wrong with a case, None if nothing is. With ``keep`` its files stay there."""
    rng = random.Random(f"{name} {number}")
    kind = FORMATS[name]
    with tempfile.TemporaryDirectory() as temporary:
        folder = (keep or Path(temporary)) / "case"
        folder.mkdir(parents=True)
        files = kind.files()
        target = rng.choice(list(files))
        for file, data in files.items():
            bad: bytes | None
            if number < FIXED:
                bad = damaged(rng, data)
            else:
                listed = _fixed(kind, data)
                bad = listed[(number - FIXED) % len(listed)]
            if file == target and bad is None:
                (folder / file).mkdir()
            else:
                (folder / file).write_bytes(bad if file == target and bad is not None else data)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            kind.examine(folder / target)
            return None
        except CLEAN as e:
            return None if _placed(str(e), folder / target) else f"it says only {str(e)[:300]!r}"
        except Hang:
            return f"more than {SECONDS} s:\n{traceback.format_exc(limit=-4)}"
        except BaseException:
            return traceback.format_exc(limit=-6)[-3000:]
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)


def _fixed(kind: Format, data: bytes) -> list[bytes | None]:
    """Return the damages that are the same for all formats; None: a directory."""
    return [*whole_file(data), *replaced_numbers(data, kind.places)]


def fixed_cases(whole_files_only: bool = False, formats: Sequence[str] = ()) -> list[tuple[str, int]]:
    """Return the cases of the damages that are the same for all formats."""
    found = []
    for name in formats or FORMATS:
        data = next(iter(FORMATS[name].files().values()))
        count = len(whole_file(data) if whole_files_only else _fixed(FORMATS[name], data))
        found += [(name, FIXED + k) for k in range(count)]
    return found


def _placed(told: str, path: Path) -> bool:
    """Whether an error names the file, or the folder of it."""
    return path.name in told or path.stem in told or str(path.parent) in told or path.parent.name in told


def batch(cases: Iterable[tuple[str, int]], script: str | Path = __file__) -> list[str]:
    """The findings among some cases, examined in a process of its own under its limits."""
    asked = [f"{name} {number}" for name, number in cases]
    if not asked:
        return []
    child = subprocess.run(
        [sys.executable, str(script), "--batch"], input=json.dumps(asked), capture_output=True, text=True,
        timeout=60 + 2 * SECONDS * len(asked), env=os.environ | {"MPLBACKEND": "Agg", "PYTHONPATH": str(Path(__file__).parent)}, check=False,
    )  # fmt: skip
    done = [json.loads(line) for line in child.stdout.splitlines() if line.startswith('{"case"')]
    findings = [f"{d['case']}: {d['finding']}" for d in done if d["finding"]]
    if len(done) < len(asked):  # the process died: the case after the last one did it
        findings.append(f"{asked[len(done)]}: the process ended with {child.returncode}: {child.stderr[-2000:]}")
        findings += batch([_case(text) for text in asked[len(done) + 1 :]], script)
    return findings


def cases(count: int, formats: Sequence[str] = ()) -> list[tuple[str, int]]:
    """So many cases, of all formats in turn."""
    names = list(formats or FORMATS)
    return [(names[k % len(names)], k // len(names)) for k in range(count)]


def _case(text: str) -> tuple[str, int]:
    name, _, number = text.rpartition(" ")
    return name, int(number)


def _limited() -> None:
    """Set the limits of this process, whose modules are loaded."""

    def over(*_: Any) -> None:
        raise Hang

    signal.signal(signal.SIGPROF, over)
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + BYTES, taken + BYTES))


def _main(arguments: list[str]) -> None:
    keep = Path(arguments[1]) if arguments[0] == "--keep" else None
    named = arguments[2:] if keep else arguments
    texts: list[str] = json.load(sys.stdin) if named == ["--batch"] else [" ".join(named)]
    out = sys.stdout
    for name in dict.fromkeys(_case(text)[0] for text in texts):  # undamaged: loads the modules, and must be readable
        with tempfile.TemporaryDirectory() as temporary:
            (folder := Path(temporary, "case")).mkdir()
            files = FORMATS[name].files()
            for file, data in files.items():
                (folder / file).write_bytes(data)
            FORMATS[name].examine(folder / next(iter(files)))
    _limited()
    for text in texts:
        print(json.dumps({"case": text, "finding": examined(*_case(text), keep)}), file=out, flush=True)


if __name__ == "__main__":
    _main(sys.argv[1:])
