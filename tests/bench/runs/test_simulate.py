"""Dispatchers as methods of the bench: replays, their records and files, resuming, limits, failures."""

import contextlib
import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest
import schedlab as sl
from schedlab.bench import Run, RunRequest, View, WrongUse, key_of, plan, read_results
from schedlab.bench.cli.app import main
from schedlab.bench.records import Store, failed, plain, read
from schedlab.bench.records.record import record
from schedlab.bench.replays import ReplaySettings, replay_in_worker
from schedlab.instances import load, open_trace
from schedlab.instances.files import content_of
from schedlab.simulation import Decision, Start, is_dispatcher, simulate
from schedlab.simulation.dispatchers.registry import Named

pytestmark = pytest.mark.usefixtures("in_process")
JOBS = 60
MACHINE = ["--nodes", "8", "--cores", "1"]


def swf(jobs=JOBS, seed=5):
    """Return a log of jobs of 1 to 8 processors, an incomplete line, and a job larger than the machine."""
    draw = np.random.default_rng(seed)
    lines = ["; MaxProcs: 8", "; UnixStartTime: 0"]
    submit = 0
    for k in range(1, jobs + 1):
        submit += int(draw.integers(0, 120))
        runtime = int(draw.integers(30, 900))
        size, walltime, wait = (
            int(draw.integers(1, 9)),
            runtime + int(draw.integers(0, 300)),
            int(draw.integers(0, 500)),
        )
        lines.append(
            f"{k} {submit} {wait} {runtime} {size} -1 -1 {size} {walltime} -1 1 {k % 3 + 1} 1 {k % 4 + 1} 1 1 -1 -1"
        )
    lines += ["900 5000 10", f"901 {submit} 0 60 99 -1 -1 99 60 -1 1 1 1 1 1 1 -1 -1"]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """Return a folder with the log."""
    folder = tmp_path_factory.mktemp("here")
    (folder / "log.swf").write_text(swf())
    return folder


@pytest.fixture(scope="module")
def log(here):
    return here / "log.swf"


@pytest.fixture
def bench(bench, here, monkeypatch):
    """Return a function that runs a command in the folder of the log."""
    monkeypatch.chdir(here)
    return bench


@pytest.fixture(scope="module")
def command(log):
    return ["simulate", log, "--dispatchers", "fcfs,easy", *MACHINE]


@pytest.fixture(scope="module")
def results(command, here):
    """Return the results of the command: the folder, exit code, standard output, standard error."""
    out, err = io.StringIO(), io.StringIO()
    folder = here / "results" / "log"
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main([str(a) for a in (*command, "--out", folder, "--starts", here / "starts.csv")])
    return folder, ended.value.code or 0, out.getvalue(), err.getvalue()


def rows(path):
    with path.open(newline="") as f:
        return list(csv.reader(f))


def test_a_log_is_replayed_with_table_records_and_starts(results, log, here):
    folder, code, table, err = results
    assert code == 0 and "log, replay, 8 nodes" in table
    assert all(name in table for name in ("fcfs", "easy", "as recorded", "slow-"))
    assert "line 63" in err and "901" in err and "left out" in err and "not read: 1 line" in err
    workload, platform = open_trace(log, nodes=8, cores=1)
    header, *starts = rows(here / "starts.csv")
    assert header == ["job_id", "fcfs", "easy", "recorded"]
    assert len(starts) == JOBS + 1 and starts[-1] == ["901", "", "", ""]
    assert [int(row[3]) for row in starts[:-1]] == workload.recorded_start.tolist()
    for column, name in enumerate(header[1:3], 1):
        run = simulate(workload, platform, name)
        assert [int(row[column]) for row in starts[:-1]] == run.start.tolist()
        kept = next(read(p) for p in folder.glob(f"{name}.*.json"))
        assert kept["status"] == "feasible" and kept["verified"] is True and kept["schedule"] is None
        assert kept["metrics"]["wait_mean"] == pytest.approx(float((run.start - workload.submit).mean()))
        assert kept["objective"] == pytest.approx(kept["metrics"]["WQT"])
        assert (folder / kept["jobs_csv"]).is_file()
        assert kept["simulation"]["report"]["bad_lines"] == 1 and kept["simulation"]["report"]["dropped"] == 1
        assert kept["simulation"]["recorded"]["wait_mean"] > 0


def test_with_kill_the_clairvoyant_expects_what_jobs_will_take(bench, here):
    """The first job is killed at 100 s: the third, of 99 s, would delay the second if it started at 2 s."""
    lines = ["; MaxProcs: 4", *(f"{k} {q} 0 {took} {size} -1 -1 {size} {walltime} -1 1 1 1 1 1 1 -1 -1"
             for k, q, took, size, walltime in [(1, 0, 900, 3, 100), (2, 1, 50, 4, 50), (3, 2, 99, 1, 99)])]  # fmt: skip
    (here / "over.swf").write_text("\n".join(lines) + "\n")
    starts = []
    for kill in ([], ["--kill"]):
        code, *_ = bench("simulate", "over.swf", "--dispatchers", "easy-r", *kill, "--out", "over", "--starts", "o.csv")
        assert code == 0
        starts.append([int(row[1]) for row in rows(here / "o.csv")[1:]])
    assert starts == [[0, 900, 2], [0, 100, 150]]
    killed = [read(p) for p in (here / "over").glob("*.json") if read(p)["replay"]["kill"]]
    assert [r["metrics"]["accuracy_mae"] for r in killed] == [0.0] and killed[0]["metrics"]["killed"] == 1


def test_run_again_it_keeps_what_is_there_and_writes_the_starts_all_the_same(results, bench, command, here):
    folder = results[0]
    again = here / "again.csv"
    code, out, err = bench(*command, "--starts", again, "--json")
    assert code == 0 and err.count("(kept)") == 2
    assert [json.loads(line)["method"] for line in out.splitlines()] == ["fcfs", "easy"]
    assert again.read_text() == (here / "starts.csv").read_text()
    next(folder.glob("easy.*.jobs.csv")).unlink()
    code, _, err = bench(*command)
    assert code == 0 and err.count("(kept)") == 1 and len(list(folder.glob("*.jobs.csv"))) == 2


def test_a_dry_run_prints_the_runs_and_runs_nothing(bench, command, here):
    code, out, err = bench(
        *command, "--dispatchers", "hcp3-d@cpsat", "--seeds", "1-2", "--out", here / "not", "--dry-run"
    )
    assert code == 0 and "2 runs" not in out and "4 runs" in err
    assert "0.2 s a decision: hcp3-d@cpsat, seed 2, 3600 s, 1 thread" in out and not (here / "not").exists()


def test_records_are_a_table_with_columns_of_metrics(results):
    pytest.importorskip("pandas")
    table = read_results(results[0])
    assert {"metrics.wait_mean", "metrics.slowdown_max", "replay.nodes", "simulation.predictor"} <= set(table.columns)
    assert set(table["replay.nodes"]) == {8} and set(table["simulation.predictor"]) == {"walltime"}


def copied(folder, to):
    to.mkdir()
    for path in folder.iterdir():
        if path.is_file():
            (to / path.name).write_bytes(path.read_bytes())
    return to


def edited(folder, edit):
    path = next(folder.glob("easy.*.json"))
    found = json.loads(path.read_text())
    edit(found)
    path.write_text(json.dumps(found))


def moved_start(folder):
    path = next(folder.glob("easy.*.jobs.csv"))
    header, *lines = rows(path)
    start, end = header.index("starting_time"), header.index("finish_time")
    late = max(lines, key=lambda line: int(line[header.index("waiting_time")]))
    late[start], late[end] = "0", late[header.index("execution_time")]
    with path.open("w", newline="") as f:
        csv.writer(f).writerows([header, *lines])


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (moved_start, "before its submit time"),
        (lambda folder: edited(folder, lambda r: r.update(objective=r["objective"] / 2)), "objective"),
        (lambda folder: edited(folder, lambda r: r["metrics"].update(wait_mean=1.0)), "wait_mean"),
        (lambda folder: edited(folder, lambda r: r["replay"].update(load=2.0)), "key"),
        (lambda folder: next(folder.glob("easy.*.jobs.csv")).unlink(), "jobs.csv"),
    ],
)
def test_a_record_of_a_replay_that_was_tampered_with_is_found(results, bench, tmp_path, change, word):
    out = copied(results[0], tmp_path / "copy")
    code, text, _ = bench("verify", out)
    assert code == 0 and text.endswith(f"{out}: 2 records, 2 valid, 0 not valid\n"), text
    change(out)
    code, text, err = bench("verify", out)
    assert code == 1 and word in text and "1 valid, 1 not valid" in text and not err


def test_records_of_a_log_that_was_moved_are_checked_where_it_is_now(results, bench, log, here, tmp_path, monkeypatch):
    out = copied(results[0], tmp_path / "copy")
    moved = tmp_path / log.name
    for path in out.glob("*.json"):
        kept = json.loads(path.read_text())
        path.write_text(json.dumps({**kept, "path": "elsewhere/log.swf"}))
    code, text, _ = bench("verify", out)
    assert (
        code == 1
        and text.count("its trace elsewhere/log.swf does not exist; if it was moved, give its path with --instance")
        == 2
    )
    moved.write_bytes(log.read_bytes())
    code, text, _ = bench("verify", out, "--instance", moved)
    assert code == 0 and text.endswith(f"{out}: 2 records, 2 valid, 0 not valid\n"), text
    moved.write_text(moved.read_text().replace(" 8 ", " 7 "))
    code, text, _ = bench("verify", out, "--instance", moved)
    assert code == 1 and "not the one that was run" in text


def test_an_instance_is_replayed_beside_the_offline_methods_that_it_is_measured_against(bench, here):
    day = ["run", "eurora_99", "--first", "12", "--methods", "easy,fcfs,multi-search", "--durations", "runtime"]
    code, out, _ = bench(*day, "--out", here / "day")
    assert code == 0 and "replay of the day, first 12" in out and "regret" in out
    assert "best offline schedule, every runtime known in advance" in out and "by multi-search, verified" in out
    easy = next(read(p) for p in (here / "day").glob("easy.*.json"))
    problem = View(first=12, durations="runtime").of(load("eurora_99"))
    schedule = sl.Schedule.from_json(easy["schedule"])
    assert problem.verify(schedule) == [] and easy["objective"] == pytest.approx(problem.value(schedule))
    assert bench("verify", here / "day")[1].endswith("3 records, 3 valid, 0 not valid\n")


def test_the_default_day_shows_the_dispatchers_where_runtimes_are_known():
    day = load("eurora_99")
    methods = [r.method for r in plan(day, "eurora_99", RunRequest()) if r.replay is not None]
    assert {"fcfs", "easy-r", "conservative", "pbs-fifo", "hcp3-d@cpsat", "pcp3@cpsat"} <= set(methods)
    jobs = [replace(day.jobs[0], runtime=None), *day.jobs[1:]]
    unknown = replace(day, problem=day.dispatch.replace(jobs=jobs))
    assert not any(r.replay for r in plan(unknown, "eurora_99", RunRequest()))


RUN = Run("log", "log.swf", "c0ffee", "hcp3-d@cpsat", replay=ReplaySettings(trace=True), kind="dispatch")


@pytest.mark.parametrize(
    "change",
    [
        {"format": "swf"}, {"nodes": 8}, {"cores": 2}, {"memory": 100}, {"window": "2012-07-13:23d"}, {"load": 1.2},
        {"decision_time": 0.3}, {"deterministic": 0.3}, {"objective": "waiting"}, {"max_stretch": 50.0}, {"max_stretch": "off"},
        {"allocator": "first-fit"}, {"kill": True}, {"charge": True}, {"period": 60},
    ],
)  # fmt: skip
def test_whatever_decides_a_replay_changes_its_key(change):
    other = replace(RUN, replay=replace(RUN.replay, **change))
    assert other.key != RUN.key and key_of(json.loads(json.dumps(other.head))) == other.key
    assert "format" in change or other.replay.label != RUN.replay.label


def test_what_a_policy_does_not_heed_does_not_tell_its_runs_apart(bench, command, results):
    code, _, err = bench(*command, "--decision-time", 3, "--max-stretch", 9, "--threads", 2, "--seeds", "1-4")
    assert code == 0 and err.count("(kept)") == 2 and "2 runs" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.swf"], ["nowhere.swf", "no such file"]),
        (["nowhere.swf", "--nodes", "4", "--cores", "1"], ["nowhere.swf", "no such file"]),
        (["logs/nowhere", "--nodes", "4"], ["logs/nowhere", "no such file"]),
        (["eurora_70", "--nodes", "4"], ["did you mean eurora_700"]),
        (["eurora_70"], ["did you mean eurora_700"]),
        (["log.swf", "--dispatchers", "eazy"], ["eazy", "did you mean", "easy"]),
        (["log.swf", "--dispatchers", "hcp3@cpsatt"], ["cpsatt", "cpsat"]),
        (["log.swf", "--dispatchers", ","], ["--dispatchers"]),
        (["log.swf", "--allocator", "worst-fit"], ["worst-fit", "best-fit"]),
        (["log.swf", "--max-stretch", "never"], ["--max-stretch", "off"]),
        (["log.swf", "--load", "0"], ["--load"]),
        (["log.swf", "--window", "soon"], ["soon", "2012-07-13:23d"]),
        (["log.swf", "--nodes", "0"], ["--nodes"]),
        (["log.swf", "--format", "swg"], ["swg", "swf"]),
        (["empty.swf"], ["empty", "no job"]),
        (["eurora_99", "--nodes", "8"], ["--nodes", "logs only"]),
        (["eurora_99", "--seeds", "x"], ["--seeds"]),
    ],
)
def test_wrong_use_is_a_sentence_and_exit_code_2(bench, log, here, arguments, words):
    (here / "empty.swf").write_text("; MaxProcs: 4\n")
    code, _, err = bench("simulate", *arguments, "--out", here / "never")
    assert code == 2 and "Traceback" not in err and not (here / "never").exists()
    assert all(word in err.lower() for word in words), err


def test_a_dispatcher_replays_a_whole_day_only():
    with pytest.raises(WrongUse, match=r"not a snapshot; leave out --at.*--first takes fewer jobs.*--window"):
        plan(load("eurora_99"), "eurora_99", RunRequest(methods=["easy"], at=43200))
    with pytest.raises(sl.UnknownName, match="easy"):
        plan(load("eurora_99"), "eurora_99", RunRequest(methods=["eazy"]))
    assert is_dispatcher("rule:wt-strict-d") and is_dispatcher("hcp3@nothing") and not is_dispatcher("cpsat:pool")


class Planted:
    """A dispatcher that starts one job at a time on the first free nodes, and fails at its third."""

    def __init__(self, fault):
        self.name, self.fault, self.calls = "planted", fault, 0

    def begin(self, platform, queues, seed):
        self.nodes = platform.nodes

    def decide(self, moment):
        self.calls += 1
        job = moment.waiting[0]
        free = [n for n, left in zip(self.nodes, moment.free[:, 0].tolist(), strict=True) if left > 0]
        if self.calls > 3 and self.fault == "raises":
            raise ZeroDivisionError("no reason")
        if self.calls > 3 and self.fault == "overfills":
            free = [self.nodes[0]] * job.units
            return Decision([Start(job.id, {self.nodes[0]: job.units})])
        return Decision([Start(job.id, dict.fromkeys(free[: job.units], 1))] if len(free) >= job.units else [])


def spec_of(log, out, **fields):
    run = Run("log", str(log), "c0ffee", "hcp3@cpsat", kind="dispatch", view=View(durations="runtime"), time_limit=60.0,
              replay=ReplaySettings(trace=True, nodes=8, cores=1))  # fmt: skip
    return replace(run, **fields), {**replace(run, **fields).head, "out": str(out), "stem": "planted"}


@pytest.mark.parametrize("fault", ["raises", "overfills"])
def test_a_dispatcher_that_fails_is_reported_with_job_node_and_time_and_what_was_done_is_kept(
    log, tmp_path, monkeypatch, fault
):
    monkeypatch.setattr(Named, "make", lambda self, **options: Planted(fault))
    run, spec = spec_of(log, tmp_path)
    kept = record(run, plain(replay_in_worker(spec, lambda event: None)), "2026-01-01T00:00:00+00:00")
    assert (kept["status"], kept["cause"], kept["objective"], kept["verified"]) == ("error", "dispatcher", None, None)
    assert failed(kept) and "of 60 jobs had started" in kept["message"]
    assert "ZeroDivisionError" in kept["message"] or ("node-1" in kept["message"] and "free" in kept["message"])
    done = [row for row in rows(tmp_path / kept["jobs_csv"])[1:] if row[8]]
    assert 0 < len(done) < JOBS and kept["metrics"]["started"] == len(done)


def test_a_replay_is_stopped_at_its_limit_with_what_is_done(log, tmp_path, monkeypatch):
    monkeypatch.setattr(Named, "make", lambda self, **options: Planted(""))
    monkeypatch.setattr("schedlab.simulation.engine.TELL_EVERY", 0.0)
    run, spec = spec_of(log, tmp_path, time_limit=1e-9)
    kept = record(run, plain(replay_in_worker(spec, lambda event: None)), "2026-01-01T00:00:00+00:00")
    assert (kept["status"], kept["cause"], kept["verified"]) == ("unknown", "timeout", None) and not failed(kept)
    assert "stopped at its limit" in kept["message"] and kept["metrics"]["started"] < JOBS


@pytest.mark.parametrize(("fault", "limit"), [("raises", 60.0), ("", 1e-9)])
def test_what_a_replay_did_before_it_broke_off_is_checked_without_the_jobs_that_it_did_not_start(
    bench, log, tmp_path, monkeypatch, fault, limit
):
    monkeypatch.setattr(Named, "make", lambda self, **options: Planted(fault))
    monkeypatch.setattr("schedlab.simulation.engine.TELL_EVERY", 0.0)
    run, spec = spec_of(log, tmp_path, time_limit=limit, content=content_of(log))
    kept = record(run, plain(replay_in_worker(spec, lambda event: None)), "2026-01-01T00:00:00+00:00")
    Store(tmp_path).write(kept)
    assert 0 < kept["metrics"]["started"] < JOBS
    code, text, _ = bench("verify", tmp_path)
    assert code == 0 and text.endswith(f"{tmp_path}: 1 record, 1 valid, 0 not valid\n")
    path = tmp_path / kept["jobs_csv"]
    header, *lines = rows(path)
    lines[0][header.index("allocated_resources")] = "99"
    with path.open("w", newline="") as f:
        csv.writer(f).writerows([header, *lines])
    code, text, _ = bench("verify", tmp_path)
    assert code == 1 and "the platform has nodes 0 to 7" in text and "never started" not in text


def test_the_worker_tells_how_far_it_is(log, tmp_path, monkeypatch):
    monkeypatch.setattr(Named, "make", lambda self, **options: Planted(""))
    monkeypatch.setattr("schedlab.simulation.engine.TELL_EVERY", 0.0)
    monkeypatch.setattr("schedlab.bench.replays.worker.NEWS_EVERY", 0.0)
    events = []
    found = replay_in_worker(spec_of(log, tmp_path)[1], events.append)
    assert found["status"] == "feasible" and events[0] == {"event": "begin", "sense": "minimize", "jobs": JOBS}
    progress = [e for e in events if e["event"] == "progress"]
    assert progress and all(e["total"] == JOBS for e in progress)
    assert [e["done"] for e in progress] == sorted(e["done"] for e in progress)


def exit_code(arguments):
    """Run the command; return its exit code."""
    try:
        main(arguments)
    except SystemExit as e:
        return e.code or 0
    return 0


def test_events_are_obeyed_recorded_and_verified(tmp_path, monkeypatch, capsys):
    """An outage makes jobs fail; their attempts are in a file beside the jobs, and a change of it is found."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.csv").write_text("time,kind,nodes\n40000,node-down,gpu\n45000,node-up,gpu\n")
    command = ["simulate", "eurora_99", "--dispatchers", "easy", "--events", "e.csv", "--out", "results"]
    assert exit_code([*command, "--requeue", "checkpoint:600"]) == 0
    (attempts,) = (tmp_path / "results").glob("*.attempts.csv")
    assert "j05,1,28133,40000,0:1,down: gpu-1,11400,1" in attempts.read_text()
    assert exit_code(["verify", "results"]) == 0
    attempts.write_text(attempts.read_text().replace("11400", "11399"))
    assert exit_code(["verify", "results"]) == 1
    assert exit_code([*command, "--requeue", "again"]) == 2
    assert "there is no requeue rule 'again'; known are restart, checkpoint, drop" in capsys.readouterr().err
