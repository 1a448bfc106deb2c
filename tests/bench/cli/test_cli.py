"""The command line: its output, its exit codes, and its messages about wrong use."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import schedlab as sl
from rich.console import Console
from schedlab.bench.cli import doctor
from schedlab.bench.records import read
from schedlab.instances import load
from schedlab.simulation import dispatcher_names

SNAPSHOT = ["eurora_99", "--at", "12:00", "--first", "12"]
QUICK = ["--methods", "multi-search,cpsat:pool+warm", "--time-limit", "3", "--threads", "1"]
ENVIRONMENT = {**os.environ, "PYTHONDEVMODE": ""}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Return records of a snapshot of 12 jobs by a heuristic and a solver, and the output of the command."""
    out = tmp_path_factory.mktemp("results")
    command = [sys.executable, "-m", "schedlab.bench.cli.app", "run", *SNAPSHOT, *QUICK, "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=out)
    assert done.returncode == 0, done.stderr
    return out, done.stdout, done.stderr


def copied(results, folder):
    out = folder / "copy"
    out.mkdir()
    for path in results[0].glob("*.json"):
        (out / path.name).write_text(path.read_text())
    return out


def change(folder, method, edit):
    path = next(folder.glob(f"{method}*.json"))
    record = json.loads(path.read_text())
    edit(record)
    path.write_text(json.dumps(record))


def test_a_run_prints_the_table_and_leaves_verified_records(results):
    out, table, lines = results
    assert "at 12:00, first 12" in table and "best true bound" in table and "* " in table
    assert "[1/2]" in lines and "multi-search" in lines and f"bench verify {out}" in lines
    records = [read(p) for p in out.glob("*.json")]
    assert len(records) == 2 and all(r["verified"] and r["status"] in ("feasible", "optimal") for r in records)
    start = next(r for r in records if r["method"] == "cpsat:pool+warm")
    assert start["warm_start"]["fate"] == "accepted" and start["bound"] is not None
    assert start["seconds"]["total"] is not None and start["version"] and start["threads"] == 1
    assert start["view"] == {"at": 43200, "first": 12, "durations": "walltime", "objective": None}


def test_run_again_it_keeps_what_is_there_and_gives_json_lines(results, bench):
    code, out, err = bench("run", *SNAPSHOT, *QUICK, "--out", results[0], "--json")
    assert code == 0 and err.count("(kept)") == 2
    found = [json.loads(line) for line in out.splitlines()]
    assert sorted(r["key"] for r in found) == sorted(read(p)["key"] for p in results[0].glob("*.json"))


def test_records_hold_until_somebody_changes_them(results, bench, folder):
    code, text, _ = bench("verify", results[0])
    assert code == 0 and text.endswith(f"{results[0]}: 2 records, 2 valid, 0 not valid\n")
    out = copied(results, folder)
    change(out, "multi-search", lambda r: r.update(objective=r["objective"] / 2))
    code, text, _ = bench("verify", out)
    assert code == 1 and "it has objective" in text and "1 valid, 1 not valid" in text


@pytest.mark.parametrize(
    ("edit", "word"),
    [
        (lambda r: r.update(seed=99), "key"),
        (lambda r: r.update(content="other"), "instance is not the one"),
        (lambda r: next(iter(r["schedule"].values())).update(start=0), "cpsat_pool"),
        (lambda r: r["schedule"].popitem(), "cpsat_pool"),
        (lambda r: r.update(bound=r["objective"] * 2), "is wrong"),
        (lambda r: r.update(verified=None), "verified"),
        (lambda r: r.update(schedule=None), "no valid schedule"),
        (lambda r: r.update(schedule={"j": 3}), "job 'j'"),
        (lambda r: r.pop("view"), "view"),
        (lambda r: r.update(path="eurora_9"), "no instance"),
    ],
)
def test_a_record_that_was_tampered_with_is_found(results, bench, folder, edit, word):
    out = copied(results, folder)
    change(out, "cpsat_pool", edit)
    code, text, _ = bench("verify", out)
    assert code == 1 and word in text


def test_a_schedule_of_somebody_else_is_checked(bench, folder):
    problem = load("eurora_99").problem.at(43200, first=12)
    schedule = sl.solve(problem, method="multi-search").schedule.as_json()
    mine = folder / "mine.json"
    mine.write_text(json.dumps(schedule))
    code, out, _ = bench("verify", mine, "--instance", "eurora_99", "--at", "12:00", "--first", 12)
    assert code == 0 and out.startswith("verified, objective ")
    job = max(schedule, key=lambda j: schedule[j]["start"])
    schedule[job]["start"] = 43200
    mine.write_text(json.dumps(schedule))
    code, out, _ = bench("verify", mine, "--instance", "eurora_99", "--at", "12:00", "--first", 12)
    assert code == 1 and "violations" in out
    mine.write_text("[1")
    assert bench("verify", mine, "--instance", "eurora_99")[0] == 2
    mine.write_text("[1]")
    assert bench("verify", mine, "--instance", "eurora_99")[0] == 2


def test_a_dry_run_prints_the_runs_and_runs_nothing(bench, folder):
    code, out, err = bench("run", "eurora_700", "--dry-run")
    assert code == 0 and "at 12:00, first 100: cpsat:counts+warm, seed 1, 10 s" in out
    assert "minutes" in err and not (folder / "results").exists()


def test_two_spellings_of_a_method_are_one_run(bench):
    spellings = "cpsat:counts+warm=lns/5s:num_workers=1,cpsat:counts:num_workers=1+warm=lns/5.0s"
    code, out, _ = bench("run", "eurora_99", "--dry-run", "--methods", spellings)
    assert code == 0 and out.count("cpsat:counts+warm=lns/5s:num_workers=1, seed 1") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "eurora_70"], ["eurora_70", "did you mean eurora_700"]),
        (["run", "eurora_99", "--methods", "cpsatt:counts"], ["cpsatt", "cpsat"]),
        (["run", "eurora_99", "--methods", "cpsat:count"], ["count", "counts"]),
        (["run", "eurora_99", "--methods", "multi-serch"], ["multi-search"]),
        (["run", "eurora_99", "--methods", "first-solution:durations"], ["first-solution", "duration"]),
        (["run", "eurora_99", "--methods", "multi-search:est"], ["multi-search", "none"]),
        (["run", "eurora_99", "--methods", "cpsat:pool@900s"], ["lowering of cpsat", "@900s"]),
        (["run", "eurora_99", "--methods", "highs:pool@soon"], ["@soon", "@900s"]),
        (["run", "eurora_99", "--methods", ","], ["--methods"]),
        (["run", "eurora_99", "--methods", "lns:rounds=x"], ["rounds", "a whole number"]),
        (["run", "eurora_99", "--methods", "lns:rounds=-3"], ["rounds", "at least 1"]),
        (["run", "eurora_99", "--methods", "cpsat:counts+warm=lns/0s"], ["start", "seconds above 0"]),
        (["run", "eurora_99", "--methods", "cpsat:counts:pool"], ["'counts:pool'", "name=value"]),
        (["run", "eurora_99", "--methods", "cpsat:counts:num_worker=1"], ["num_worker", "num_workers"]),
        (["run", "eurora_99", "--methods", "cpsat:counts:num_workers=x"], ["num_workers", "a whole number"]),
        (
            ["run", "eurora_99", "--methods", "highs:pool:mip_heuristic_effort=2"],
            ["mip_heuristic_effort", "bound of 1"],
        ),
        (
            ["run", "eurora_99", "--methods", "cpsat:counts:num_workers=4", "--threads", "2"],
            ["num_workers=4", "threads=2"],
        ),
        (["run", "eurora_99", "--objective", "makespn"], ["makespn", "makespan"]),
        (["run", "eurora_99", "--durations", "real"], ["walltime", "runtime"]),
        (["run", "eurora_99", "--at", "noon"], ["noon", "12:00"]),
        (["run", "eurora_99", "--seeds", "x"], ["--seeds"]),
        (["run", "eurora_99", "--jobs", "0"], ["--jobs"]),
        (["run", "eurora_99", "--out", "file/results"], ["--out", "cannot be written"]),
        (["run"], ["instances"]),
        (["frobnicate"], ["frobnicate"]),
        (["show", "eurora"], ["eurora_99"]),
        (["verify", "nowhere"], ["nowhere", "no such folder"]),
        (["verify", "file"], ["--instance"]),
        (["verify", "empty"], ["there are no records", "bench simulate"]),
        (["export", "eurora_99", "--format", "mp", "--out", "x.mps"], ["mps"]),
        (["export", "eurora_99", "--formulation", "pool", "--format", "cpo", "--out", "file/x"], ["--out"]),
        (["generate", "eurorra", "--out", "day"], ["eurora"]),
        (["generate", "eurora", "--jobs", "5", "--out", "file/day"], ["--out"]),
    ],
)
def test_wrong_use_is_a_sentence_and_exit_code_2(bench, folder, arguments, words):
    (folder / "file").write_text("")
    (folder / "empty").mkdir()
    code, out, err = bench(*arguments)
    assert code == 2 and "Traceback" not in err
    assert all(word in err.lower() for word in words), err
    assert "table" not in out


def broken_instance(bench, folder):
    assert bench("generate", "eurora", "--jobs", 6, "--seed", 3, "--out", "day")[0] == 0
    return folder / "day"


def test_a_broken_instance_tells_every_fault_with_its_place_and_nothing_runs(bench, folder):
    jobs = broken_instance(bench, folder) / "jobs.csv"
    lines = jobs.read_text().splitlines()
    header = lines[0].split(",")
    for k, (field, value) in enumerate([("walltime", "soon"), ("units", "-1"), ("queue", "fast")], 1):
        cells = lines[k].split(",")
        cells[header.index(field)] = value
        lines[k] = ",".join(cells)
    jobs.write_text("\n".join(lines) + "\n")
    code, _, err = bench("run", "day")
    assert code == 2 and not (folder / "results").exists()
    for line, word in ((2, "soon"), (3, "-1"), (4, "fast")):
        assert any(f"line {line}" in text and word in text for text in err.splitlines()), err


def test_a_job_that_can_never_fit_is_named_or_left_out_on_request(bench, folder):
    jobs = broken_instance(bench, folder) / "jobs.csv"
    lines = jobs.read_text().splitlines()
    header = lines[0].split(",")
    cells = lines[1].split(",")
    cells[header.index("cores")] = "99"
    jobs.write_text("\n".join([lines[0], ",".join(cells), *lines[2:]]) + "\n")
    code, _, err = bench("run", "day", "--dry-run")
    assert code == 2 and cells[0] in err and "cores" in err
    code, _, err = bench("run", "day", "--dry-run", "--drop-impossible", "--methods", "multi-search")
    assert code == 0 and cells[0] in err and "left out" in err


def test_the_pages_of_list_and_show(bench):
    code, out, _ = bench("list")
    assert code == 0 and "eurora_700" in out and "700" in out and "65" in out
    code, out, _ = bench("show", "eurora_700")
    assert code == 0
    for word in ("np_longpar", "18:00-08:00", "86,400", "weighted-wait", "repairs", "classes", "16,384", "memory MB"):
        assert word in out
    assert bench("--version")[:2] == (0, f"bench {sl.__version__}\n")


COMMANDS = [
    "list",
    "show",
    "explain",
    "run",
    "simulate",
    "dardis",
    "decide",
    "calibrate",
    "whatif",
    "import",
    "verify",
    "export",
    "generate",
    "plot",
    "statistics",
    "compare",
    "leaderboard",
    "report",
    "merge",
    "guide",
    "doctor",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_an_example_and_fits_80_columns(bench, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = bench(command, "--help")
    assert code == 0 and f"Example: bench {command}" in out
    assert max(map(len, out.splitlines())) <= 80 and "\b" not in out


def test_the_overview_says_of_every_command_what_it_does(bench, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = bench("--help")
    summaries = dict(line.split(maxsplit=1) for line in out.partition("Commands:")[2].strip().splitlines())
    assert code == 0 and list(summaries) == COMMANDS
    assert all(text.endswith(".") and not text.endswith("...") for text in summaries.values())
    assert max(map(len, out.splitlines())) <= 80


def test_the_help_of_simulate_names_every_dispatcher_and_backend(bench):
    out = bench("simulate", "--help")[1]
    for name in dispatcher_names():
        name = re.sub(r"^dardis:\w+/.*", "dardis:GENERATOR/POLICY", name.removesuffix("-profile"))
        name = re.sub(r"^plan:(submit|wt|slowdown|weighted)$", r"\1", name)  # plan:ORDER of ...
        assert re.search(rf"(?<!\w){re.escape(name.removesuffix('-strict'))}(?!\w)", out), name
    assert all(name in out for name in ("cpsat", "highs", "cpo", "-w", "-d", "-l", "-r", "strict"))


@pytest.mark.parametrize(
    ("form", "formulation", "word"),
    [
        ("mps", "pool@3600s", "ROWS"),
        ("lp", "pool@3600s", "min"),
        ("cpo", "pool", "pulse"),
        ("cpsat", "pool", "cumulative"),
    ],
)
def test_models_are_exported(bench, folder, form, formulation, word):
    code, out, _ = bench(
        "export", *SNAPSHOT, "--formulation", formulation, "--format", form, "--out", folder / f"model.{form}"
    )
    assert code == 0 and "variables" in out
    assert word in (folder / f"model.{form}").read_text()
    assert [p.name for p in folder.iterdir()] == [f"model.{form}"]


def test_a_model_file_is_exported_as_minizinc(bench, folder):
    assert bench("export", *SNAPSHOT, "--to", "json", "--out", folder / "m.json")[0] == 0
    code, out, _ = bench("export", folder / "m.json", "--to", "mzn", "--out", folder / "m.mzn")
    assert code == 0 and "intervals" in out
    text = (folder / "m.mzn").read_text()
    assert "cumulative(" in text and "solve minimize objective;" in text


def test_a_model_is_exported_as_json(bench, folder):
    code, out, _ = bench(
        "export", *SNAPSHOT, "--formulation", "pool", "--format", "json", "--out", folder / "pool.json"
    )
    assert code == 0 and "intervals" in out and "constraints" in out
    again = sl.Model.from_json((folder / "pool.json").read_text())
    snapshot = sl.load("eurora_99").problem.at(12 * 3600, first=12)
    assert again.listing(limit=None) == snapshot.formulations["pool"]().model.listing(limit=None)


@pytest.mark.slow
def test_a_solver_that_is_missing_is_unavailable_and_the_rest_runs(folder):
    patch = "import schedlab.backends.cpo as c; c.find_engine = lambda: None\n"
    (folder / "sitecustomize.py").write_text(patch)
    environment = {**ENVIRONMENT, "PYTHONPATH": str(folder)}
    methods = ["--methods", "cpo:pool,multi-search", "--time-limit", "3"]
    command = [sys.executable, "-m", "schedlab.bench.cli.app", "run", *SNAPSHOT, *methods, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    missing, heuristic = map(json.loads, done.stdout.splitlines())
    assert (missing["status"], missing["cause"], missing["version"]) == ("unavailable", "unavailable", None)
    assert missing["message"] and heuristic["verified"]


def started(*options):
    """Start a bench that runs for a minute; return its process and the process id of its worker."""
    command = [sys.executable, "-m", "schedlab.bench.cli.app", "run", "eurora_330", "--time-limit", "61.5", *options]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for path in Path("/proc").glob("[0-9]*/stat"):
            fields = _stat(path)
            if fields and int(fields[1]) == child.pid and int(fields[2]) != os.getpgid(child.pid):
                return child, int(path.parent.name)
        time.sleep(0.05)
    child.kill()
    raise AssertionError(f"no worker was started: {child.communicate()[1]}")


def _stat(path):
    try:
        return path.read_text().rpartition(")")[2].split()
    except OSError:
        return []


def members(group):
    """Return the living processes of a group."""
    found = [(_stat(p), p.parent.name) for p in Path("/proc").glob("[0-9]*/stat")]
    return [pid for fields, pid in found if fields and int(fields[2]) == group and fields[0] != "Z"]


def wait_until(condition, seconds=120):
    """Return whether the condition became true in time; a fresh clone compiles kernels before the solver starts."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return False


@pytest.mark.slow
def test_ctrl_c_says_how_to_resume_and_leaves_nothing_running():
    child, worker = started("--methods", "cpsat:counts")
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=30)
    assert child.returncode == 130 and "Traceback" not in err
    assert "bench run eurora_330 --time-limit 61.5 --methods cpsat:counts" in err
    assert wait_until(lambda: not members(worker))


@pytest.mark.slow
def test_a_killed_bench_leaves_no_engine_of_cp_optimizer_behind():
    if not sl.backends.available()["cpo"].ok:
        pytest.skip("the engine of CP Optimizer is not installed")
    child, worker = started("--methods", "cpo:pool", "--first", "100")
    assert wait_until(lambda: any("cpoptimizer" in _command(pid) for pid in members(worker)))
    child.kill()
    child.communicate()
    assert wait_until(lambda: not members(worker))


def _command(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def test_a_closed_pipe_is_no_traceback(folder):
    command = f"{sys.executable} -m schedlab.bench.cli.app show eurora_700 | head -c 1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert "Traceback" not in done.stderr and len(done.stdout) == 1


@pytest.mark.slow
def test_the_doctor_finds_the_solvers_and_the_traps(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr(doctor, "_edition", lambda: "edition not tried")  # ten starts of the engine
    console = Console(file=io.StringIO(), width=120)
    assert doctor.examine(console)
    out = console.file.getvalue()
    assert "ok       cpsat" in out and "ok       highs" in out
    assert "OMP_NUM_THREADS=1" in out and "cores" in out and "memory" in out


def test_the_doctor_says_that_a_formulation_with_a_name_of_ours_is_ignored(tmp_path):
    """An entry point project.modes was listed as ok, although it is never called; project.mine is."""
    info = tmp_path / "red_paint-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: red_paint\nVersion: 1.0\n")
    lines = ["[schedlab.formulations]", "project.modes = red_paint:made", "project.mine = red_paint:made"]
    (info / "entry_points.txt").write_text("\n".join(lines))
    (tmp_path / "red_paint.py").write_text("def made(problem):\n    return None\n")
    code = (
        "from schedlab.bench.cli import doctor; print([t for _, t in doctor.third_parties() if 'red_paint' in t]); "
        "print([t for t in doctor.ignored() if 'red_paint' in t])"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    listed, ignored = done.stdout.splitlines()
    assert "project.mine" in listed and "project.modes" not in listed
    assert "project.modes" in ignored and "is ignored" in ignored and "project.mine" not in ignored


@pytest.mark.parametrize(
    ("installed", "warned"), [("1.14.0", True), ("1.16.0", False), ("1.140.0", False), ("-", False)]
)
def test_the_doctor_names_installed_versions_that_are_excluded(monkeypatch, installed, warned):
    monkeypatch.setattr(doctor, "requires", lambda _: ["numpy>=1.26", "highspy!=1.14.*,>=1.11"])
    monkeypatch.setattr(doctor, "_version", {"schedlab": "0.1.0", "numpy": "1.26.0", "highspy": installed}.__getitem__)
    expected = ["highspy 1.14.0 gives wrong answers or none: pip install --upgrade highspy"]
    assert list(doctor.excluded_versions()) == (expected if warned else [])
