"""``bench import``: a log is converted to an instance folder, and all changes to it are reported."""

import csv
import json
import re
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from fuzz_seeds import EURORA as TWO_JOBS
from schedlab.bench.cli.app import main
from schedlab.instances import load

Bench = Callable[..., tuple[int, str, str]]
HEADER = "; UnixStartTime: 1342130400\n; TimeZoneString: Europe/Paris\n; MaxProcs: 8\n"  # 13 July 2012, 00:00 in Paris
EURORA = "".join(TWO_JOBS.splitlines(keepends=True)[:2])  # its first job


def swf(*jobs: Sequence[object]) -> str:
    """Return a log of jobs (submit, runtime, processors)."""
    lines = (f"{k} {q} 10 {d} -1 -1 -1 {p} 7200 1024 1 5 1 3 1 -1 -1 -1" for k, (q, d, p) in enumerate(jobs, 1))
    return HEADER + "\n".join(lines) + "\n"


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Bench:
    """Return a function that runs a command in an empty folder and returns its exit code, standard output and error."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return run


def test_days_of_a_log_become_an_instance(bench: Bench) -> None:
    Path("log.swf").write_text(swf((0, 60, 4), (90000, 0, 5), (90061, 7300, 6), (90062, 60, 100), (200000, 60, 1)))
    nodes = ["--nodes", 4, "--cores", 4, "--memory", 1000]
    code, out, err = bench("import", "swf", "log.swf", *nodes, "--window", "2012-07-14:1d", "--out", "mine")
    assert (code, err) == (0, "")
    instance = load("mine")
    assert [(j.id, j.submit, j.runtime, j.units) for j in instance.jobs] == [("2", 3600, 1, 2), ("3", 3661, 7300, 2)]
    assert [dict(j.request) for j in instance.jobs] == [{"cores": 3, "memory": 3}] * 2
    assert [(j.user, j.name) for j in instance.jobs] == [("user 5", "3")] * 2
    assert [(g.name, g.count, dict(g.capacity)) for g in instance.platform.groups] == [
        ("node", 4, {"cores": 4, "memory": 1000})
    ]
    assert instance.repairs == {
        "runtime_0_taken_as_1_s": 1,
        "runtime_over_walltime_kept": 1,
        "larger_than_the_platform_left_out": 1,
        "jobs_left_out": 1,
    }
    assert "from 2012-07-14 on" in instance.description
    assert "log.swf" in instance.source
    assert instance.dispatch.objective == "waiting"
    assert "repaired: runtime 0, taken as 1 s: 1 job\n" in out
    assert "left out: 1 job\n  job 4: asks for 25 units" in out
    assert "note: the log has no program names: the application number is used instead\n" in out
    assert "offered load: " in out
    assert out.endswith("mine: 2 jobs on 4 nodes; to see it: bench show mine\n")


NASTY = "\x1b[31mq\x00\x85\u2028\x7f\\ \"\t,'#"


@pytest.mark.parametrize("queue", ["a\x1bb", NASTY, "[x]", "é\ud800", " ", "a\rb\n"])
def test_a_name_with_any_character_is_written_as_it_can_be_read(bench: Bench, queue: str) -> None:
    job = {"id": "1" + queue, "subtime": 0, "walltime": 9, "res": 1, "profile": "p"}
    workload = {"nb_res": 2, "jobs": [job, job], "profiles": {"p": {"type": "DelayProfile", "delay": 3}}}
    Path("w.json").write_text(json.dumps(workload))
    code, _, err = bench("import", "batsim", "w.json", "--out", "mine", "--name", queue.replace("\r", ""))
    assert (code, err) == (0, "")
    name = "1" + queue.replace("\ud800", "\ufffd").rstrip()
    assert [j.id for j in load("mine").jobs] == [name, f"{name}.2"]
    assert load("mine").repairs == {"job_ids_not_unique_a_suffix_added": 1}


@pytest.mark.parametrize("queue", ["a\x1bb", "a\x00b", "'a b,\"'", "' '", "é\xa0"])
def test_a_queue_of_pbs_with_any_character_is_written_as_it_can_be_read(bench: Bench, queue: str) -> None:
    line = "04/01/2024 10:00:00;E;1.srv;queue={} user=\x1b ctime=1711958400 start=1711958401 end=1711958500 Resource_List.ncpus=4\n"
    Path("log").write_text(line.format(queue) + line.replace("1.srv", " 2.srv\x1b ").format("other"))
    assert bench("import", "pbs", "log", "--nodes", 2, "--cores", 4, "--out", "mine")[::2] == (0, "")
    instance = load("mine")
    assert {q.name for q in instance.queues} == {queue.strip("'").strip() or "default", "other"}
    assert [(j.id, j.user) for j in instance.jobs] == [("1.srv", "\x1b"), ("2.srv\x1b", "\x1b")]


def test_what_could_not_be_read_again_is_not_written(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("log.swf").write_text(swf((0, 60, 4)))
    assert bench("import", "swf", "log.swf", "--out", "mine")[0] == 0
    before = {p.name: p.read_bytes() for p in Path("mine").iterdir()}
    monkeypatch.setattr("schedlab.instances.files.dispatch_folder.to_toml", lambda *_: "kind =")
    for out in ("mine", "other"):
        code, _, err = bench("import", "swf", "log.swf", "--out", out)
        assert (code, err.count("Traceback")) == (2, 0)
        assert f"error: {out}: not written, as it could not be read again: {out}: " in err
    assert {p.name: p.read_bytes() for p in Path("mine").iterdir()} == before
    assert not Path("other").exists()


def test_weather_is_read_once_before_it_is_in_place(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "a\nb\x1b.csv"
    Path(name).write_text("time_s,temperature_c\n0,20\n3600,22\n")
    assert bench("import", "weather", name, "--out", "w.csv")[0] == 0
    assert Path("w.csv").read_text().splitlines()[0] == "# a b ; source: a b .csv"
    monkeypatch.setattr("schedlab.instances.weather.to_csv", lambda *_: "0")
    assert bench("import", "weather", name, "--out", "w.csv")[0] == 2
    assert Path("w.csv").read_text().endswith("3600,22.0\n")


def test_an_instance_of_a_log_can_be_shown(bench: Bench) -> None:
    Path("log.swf").write_text(swf((0, 60, 4), (10, 60, 4)))
    assert bench("import", "swf", "log.swf", "--out", "mine", "--objective", "slowdown", "--name", "Test log")[0] == 0
    code, out, _ = bench("show", "mine")
    assert code == 0
    assert "Test log: 2 jobs of a log" in out
    assert "objective: slowdown" in out


def test_an_instance_whose_first_job_comes_after_noon_can_be_shown_and_run(bench: Bench) -> None:
    Path("log.swf").write_text(swf((50000, 60, 4), (60000, 60, 4)))
    bench("import", "swf", "log.swf", "--out", "mine")
    code, out, err = bench("show", "mine")
    assert (code, err) == (0, "")
    assert "bench run does by default: the whole instance;" in out
    assert re.search(r"share of the machine over a day +8%", out)  # twice half of the machine for 2 h
    code, out, err = bench("run", "mine", "--dry-run")
    assert code == 0
    assert "at 12:00" not in out
    assert "the whole instance: cpsat" in out


def test_of_a_log_of_many_days_the_offered_load_is_shown(bench: Bench) -> None:
    """On 8 processors in 2.5 days, each job requests 4 x 2 h; the jobs use 4 x 12 h, 4 x 6 h, 4 x 1 min."""
    Path("log.swf").write_text(swf((0, 43200, 4), (90000, 21600, 4), (216000, 60, 4)))
    _, message, _ = bench("import", "swf", "log.swf", "--out", "mine")
    code, out, _ = bench("show", "mine")
    rows = {name.strip(): share for name, share in re.findall(r"^ (.*?) +(\d+%)", out, re.MULTILINE)}
    assert code == 0
    assert rows == {
        "offered load over 2.5 days, by walltime": "5%",
        "offered load over 2.5 days, by runtime": "15%",
    }
    assert "offered load: 0.150\n" in message


def test_the_first_jobs_at_an_offered_load(bench: Bench) -> None:
    Path("log.swf").write_text(swf((0, 3600, 4), (3600, 3600, 4), (7200, 3600, 4), (9000, 3600, 4)))
    _, out, _ = bench("import", "swf", "log.swf", "--first", 3, "--load", 1.2, "--out", "mine")
    assert "offered load: 1.200\n" in out
    assert [j.submit for j in load("mine").jobs] == [0, 2250, 4500]


def test_the_same_log_gives_the_same_bytes(bench: Bench) -> None:
    Path("log.swf").write_text(swf((0, 60, 4), (5, 60, 2)))
    for out in ("one", "two"):
        bench("import", "swf", "log.swf", "--out", out)
    for name in ("instance.toml", "jobs.csv"):
        assert Path("one", name).read_bytes() == Path("two", name).read_bytes()


def test_lines_that_cannot_be_read_are_reported_the_first_ten_of_them(bench: Bench) -> None:
    Path("log.swf").write_text(swf((0, 60, 4)) + "broken\n" * 12)
    _, out, _ = bench("import", "swf", "log.swf", "--out", "mine")
    message = [line for line in out.splitlines() if line.startswith("  log.swf, line ")]
    assert message == [f"  log.swf, line {n}: 1 field; a line of SWF has 18" for n in range(5, 15)]
    assert "not read: 12 lines, the first 10 of them\n" in out
    assert load("mine").repairs == {"lines_not_read": 12}


def test_jobs_left_out_for_one_reason_are_reported_together(bench: Bench) -> None:
    Path("log.swf").write_text(swf((0, 60, 4), *[(k, -1, 4) for k in range(1, 6)], (7, 60, 9)))
    _, out, _ = bench("import", "swf", "log.swf", "--out", "mine")
    assert "left out: 6 jobs\n  jobs 2, 3, 4 and 2 more: its runtime is unknown\n  job 7: asks for 9 units" in out


def test_a_log_that_brings_its_machine_with_power(bench: Bench) -> None:
    Path("jobs.csv").write_text(EURORA)
    code, _, err = bench("import", "eurora", "jobs.csv", "--out", "mine")
    assert (code, err) == (0, "")
    instance = load("mine")
    assert [(g.name, g.count) for g in instance.platform.groups] == [("gpu", 32), ("mic", 32)]
    assert [(j.submit, j.power, j.queue) for j in instance.jobs] == [(31870, 9.0, "parallel")]
    with Path("mine", "jobs.csv").open() as table:
        assert next(csv.reader(table))[-2:] == ["name", "power"]
    assert tomllib.loads(Path("mine", "instance.toml").read_text())["queues"] == [{"name": "parallel", "ewt_s": 21600}]


def test_nodes_with_more_than_cores_and_memory(bench: Bench) -> None:
    header = "JobID|Submit|Start|End|Timelimit|NNodes|NCPUS|AllocTRES\n"
    rows = "1|2024-05-01T10:00:00|2024-05-01T10:05:00|2024-05-01T11:05:00|02:00:00|1|8|gres/gpu=2\n"
    Path("jobs.txt").write_text(header + rows)
    machine = ["--nodes", 2, "--cores", 8, "--per-node", "gpus=4"]
    code, _, err = bench("import", "sacct", "jobs.txt", *machine, "--zone", "Europe/Rome", "--out", "mine")
    assert (code, err) == (0, "")
    instance = load("mine")
    assert dict(instance.jobs[0].request) == {"cores": 8, "gpus": 2}
    assert instance.jobs[0].submit == 36000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["swg", "log.swf"], "swg"),
        (["swf", "none.swf"], "none.swf: there is no such file"),
        (["swf", "empty.swf"], "empty: no job to replay"),
        (["swf", "log.swf", "--window", "July"], "expected a date and a number of days"),
        (["swf", "log.swf", "--window", "2013-07-14:1d"], "no job was submitted"),
        (["swf", "log.swf", "--nodes", "1"], "the platform can hold none of the 1 job"),
        (["swf", "log.swf", "--load", "-1"], "an offered load of -1.0 cannot be reached"),
        (["swf", "log.swf", "--load", "1"], "the offered load is undefined"),
        (["swf", "log.swf", "--objective", "fame"], "fame"),
        (["swf", "log.swf", "--zone", "Mars/Base"], "unknown time zone"),
        (["swf", "log.swf", "--per-node", "gpus"], "expected names and whole numbers such as gpus=2,mics=1"),
        (["swf", "log.swf", "--per-node", "cores=3"], "use the option --cores"),
        (["sacct", "log.swf"], "there is no column JobID"),
        (["batsim", "log.swf"], "not a JSON file"),
        (["eurora", "log.swf"], "there is no column job_id"),
        (["pbs", "log.swf", "--nodes", "2", "--cores", "2"], "no job to replay; 4 lines could not be read"),
    ],
)
def test_a_wrong_use_is_a_sentence(bench: Bench, arguments: list[str], message: str) -> None:
    Path("log.swf").write_text(swf((0, 60, 4)))
    Path("empty.swf").write_text("")
    code, out, err = bench("import", *arguments, "--out", "mine")
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert message in err
    assert not Path("mine").exists()


def test_a_folder_that_cannot_be_written(bench: Bench) -> None:
    Path("log.swf").write_text(swf((0, 60, 4)))
    Path("taken").write_text("")
    code, _, err = bench("import", "swf", "log.swf", "--out", "taken")
    assert (code, err) == (2, "error: --out taken: cannot be written (File exists)\n")
