"""Names, records and folders made to do harm: every command ends with a message of one line and prints data as text."""

import json
import os
import signal
import subprocess
import sys

import pytest
import schedlab.bench
from schedlab.bench import Run, exit_code, plan
from schedlab.bench.records import Store, jobs_file, read, stem_of
from schedlab.bench.records.record import record
from schedlab.bench.records.store import first_fault
from schedlab.bench.terminal import Plain
from schedlab.instances.files import content_of

NASTY = "[/red]\x1b[31m\r\u202e:smile:$\\frac[bold]\x07\x9b2J"
SHOWN = "[/red]\\x1b[31m\\r\\u202e:smile:$\\frac[bold]\\x07\\x9b2J"

CELL = NASTY.replace("\r", "")  # a line end, in a CSV


def toml(text):
    return json.dumps(text)


SETTINGS = f"""\
kind = "dispatch"
description = {toml(NASTY)}
source = {toml(NASTY)}
[generator]
name = {toml(NASTY)}
[[platform.groups]]
name = {toml("group " + NASTY)}
count = 2
capacity = {{ cores = 4, {toml("res " + CELL)} = 1 }}
[[queues]]
name = {toml("queue " + CELL)}
ewt_s = 60
"""


@pytest.fixture
def day(tmp_path):
    """Return the folder of an instance in which all names are hostile, also that of the folder."""
    folder = tmp_path / f"day {NASTY}".replace("/", "|")
    folder.mkdir()
    (folder / "instance.toml").write_text(SETTINGS)
    header = f"id,queue,submit,units,cores,res {CELL},walltime,runtime\n"
    rows = (f"{k} {CELL},queue {CELL},{k},1,2,0,60,30\n" for k in range(3))
    (folder / "jobs.csv").write_bytes((header + "".join(rows)).encode())
    return folder


def clean(code, out, err, expected):
    """Check that a command has the expected exit code, and printed no traceback and no control character."""
    assert code in expected, err
    assert "Traceback" not in out + err
    assert all(c.isprintable() or c in "\n\t" for c in out + err)
    assert max(map(len, err.split("\n"))) < 1500


def one_record(folder, **changed):
    """Return a record of a run on an instance, with hostile texts in it."""
    run = Run("day " + NASTY, str(folder), content_of(folder), "multi-search:" + NASTY, kind="dispatch")
    found = {"status": "error", "message": NASTY, "cause": "crash", "verified": None, "sense": "minimize"}
    return record(run, found, "2026-01-01T00:00:00+00:00") | changed


def put(folder, made, name="a.json"):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(made if isinstance(made, str) else json.dumps(made))
    return folder


class TestNames:
    def test_markup_and_control_characters_are_shown_as_text(self, bench, day):
        code, out, err = bench("show", day)
        clean(code, out, err, {0, 2})
        assert SHOWN in out + err

    def test_what_is_planned(self, bench, day, tmp_path):
        code, out, err = bench("run", day, "--dry-run", "--methods", "multi-search", "--out", tmp_path / NASTY[7:])
        clean(code, out, err, {0})
        assert SHOWN.replace("/", "|") in out

    @pytest.mark.parametrize(
        "words",
        [
            ("show", NASTY),
            ("show", "x" * 5000),
            ("show", "x" * 300 + ".csv"),
            ("run", "eurora_99", "--methods", NASTY),
            ("run", "eurora_99", "--methods", "y" * 5000),
            ("run", "eurora_99", "--objective", "y" * 5000),
            ("run", "eurora_99", "--out", "z" * 5000, "--methods", "multi-search"),
            ("run", "profit_small", "--scenario", NASTY),
            ("simulate", "x" * 5000),
            ("simulate", "eurora_99", "--dispatchers", NASTY),
            ("simulate", "eurora_99", "--allocator", NASTY),
            ("verify", "x" * 5000),
            ("verify", NASTY),
            ("export", "eurora_99", "--out", "x", "--format", NASTY),
            ("generate", NASTY, "--out", "x"),
            ("generate", "eurora", "--jobs", "2", "--out", "x" * 5000),
            ("import", NASTY, "x"),
            ("import", "swf", "x" * 5000, "--out", "y"),
            ("import", "weather", NASTY, "--out", "y"),
            ("import", "curie", NASTY, "--out", "y"),
            ("plot", "x" * 5000),
            ("guide", NASTY),
            ("doctor", NASTY),
            (NASTY,),
            ("show", "--" + NASTY),
        ],
        ids=lambda words: " ".join(words)[:30].encode("unicode_escape").decode(),
    )
    def test_words_of_the_command_line(self, bench, words):
        clean(*bench(*words), {2})

    def test_a_null_character_in_a_path(self, bench):
        for command in ("show", "verify", "plot", "simulate", "guide"):
            clean(*bench(command, "a\0b"), {2})

    def test_a_message_of_a_run(self, bench, day, tmp_path, monkeypatch):
        """The table of ``bench run`` shows the message of an earlier record."""
        results = tmp_path / "results"
        monkeypatch.setattr("schedlab.bench.runs.executors.Child", None)  # no run is started
        from schedlab.bench import RunRequest
        from schedlab.instances import load

        [run] = plan(load(day), str(day), RunRequest(methods=["multi-search"], first=2))
        found = {"status": "error", "message": NASTY, "cause": "crash", "sense": "minimize"}
        with Store(results) as store:
            store.write(record(run, found, "2026"))
        code, out, err = bench("run", day, "--methods", "multi-search", "--first", "2", "--out", results)
        clean(code, out, err, {1})
        assert SHOWN[:10] in out and "(kept)" in err

    def test_a_console_of_ours_knows_no_markup_and_no_emoji(self, capsys):
        from rich.table import Table
        from rich.text import Text

        table = Table(NASTY, title=NASTY)
        table.add_row(NASTY)
        table.add_row(Text(NASTY))
        for what in (NASTY, table, Text(NASTY)):
            Plain(width=200).print(what)
            out = capsys.readouterr().out
            assert "[/red]\\x1b[31m" in out and ":smile:" in out and out.replace("\n", "").isprintable()


DEEP = "[" * 100_000
RECORDS = {
    "five fields": '{"key": 1, "instance": 2, "method": 3, "status": 4, "schedule": 5}',
    "five texts": '{"key": "1", "instance": "2", "method": "3", "status": "4", "schedule": {}}',
    "deep nesting": DEEP,
    "deep nesting in a field": '{"key": ' + DEEP,
    "not a number": '{"objective": NaN}',
    "a huge number": '{"key": ' + "9" * 5000 + "}",
    "no text": b"\xff\xfe\x00",
    "a list": "[]",
}


@pytest.mark.parametrize("text", RECORDS.values(), ids=RECORDS)
@pytest.mark.parametrize("command", ["verify", "plot", "guide"])
def test_files_that_are_no_records(bench, tmp_path, command, text):
    (tmp_path / "a.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    clean(*bench(command, tmp_path), {1, 2})
    with Store(tmp_path) as store:
        assert store.find("a") is None


@pytest.mark.parametrize("text", [DEEP, "[]", '{"a": {"start": 1e999}}', '{"[/red]\\u001b": 5}', '{"a": ' + DEEP])
def test_a_schedule_that_is_none(bench, tmp_path, text):
    clean(*bench("verify", put(tmp_path / "s", text) / "a.json", "--instance", "eurora_99"), {2})


FIELDS = {
    "view": [None, {}, {"at": "x"}, {"at": 10**400, "first": None, "durations": "walltime", "objective": None}],
    "replay": [5, {"frob": 1}, {"trace": 1}],
    "seconds": [None, {}, {"total": "x"}],
    "threads": ["x", None, -1],
    "method": [None, 5, ["a"]],
    "objective": ["x", float("inf"), {"a": 1}, [[1]]],
    "incumbents": [None, [5], [{"seconds": "x"}]],
    "warm_start": [5, {}, {"fate": 1, "returned": True}],
    "schedule": [5, "x", []],
    "sense": ["most"],
    "simulation": [5, {}, {"platform": [5]}],
    "metrics": [[], {"wait_mean": "x"}],
    "jobs_csv": [5, ["x"]],
    "deadlines": [5, [[1]], [["a", "b", "c"]]],
    "account": [5, {}, {"horizon": {}, "end": {}}],
    "operation": [5, {}, {"begin": 0}],
    "daily": [5, [5], [{}]],
}

OF_KIND = {"deadlines": "eviction", "account": "profit", "operation": "profit", "daily": "profit"}


@pytest.mark.parametrize("name", FIELDS)
def test_a_field_of_another_form_is_named(day, tmp_path, name):
    whole = {**one_record(day), "kind": OF_KIND.get(name, "dispatch")}
    assert first_fault(whole) is None
    for value in FIELDS[name]:
        fault = first_fault({**whole, name: value})
        assert fault is not None and name in str(fault)
        with pytest.raises(ValueError, match="not"):
            read(put(tmp_path / "r", {**whole, name: value}) / "a.json")


def test_a_replay_without_its_figures_is_no_record(day):
    whole = one_record(day, replay={"trace": False}, status="feasible")
    assert str(first_fault(whole)) == "the field metrics is missing"


@pytest.mark.parametrize("command", ["verify", "plot", "guide"])
def test_hostile_texts_in_a_record(bench, day, tmp_path, command):
    code, out, err = bench(command, put(tmp_path / "results", one_record(day)))
    clean(code, out, err, {0, 1, 2})


@pytest.mark.parametrize(
    "name", ["../outside.csv", "/etc/passwd", "link.csv", "/dev/zero", "pipe.csv", "a\0b", "x" * 3000]
)
def test_the_jobs_of_a_replay_lie_beside_its_record(day, tmp_path, name):
    results = tmp_path / "results"
    results.mkdir()
    (tmp_path / "outside.csv").write_text("secret")
    (results / "link.csv").symlink_to("../outside.csv")
    os.mkfifo(results / "pipe.csv")
    made = one_record(day, jobs_csv=name)
    with pytest.raises(ValueError, match="jobs_csv"):
        jobs_file(results, made)
    put(results, made, f"x.{made['key']}.json")
    with Store(results) as store, pytest.raises(ValueError, match="jobs_csv"):
        store.find(made["key"])


class TestFolders:
    def test_a_folder_with_the_name_of_a_temporary_file_or_a_record(self, bench, tmp_path):
        for name in (".a.json.1.tmp", "a.json", ".lock.tmp"):
            (tmp_path / name).mkdir()
        (tmp_path / ".b.json.1.tmp").write_text("")
        with Store(tmp_path) as store:
            assert store.find("a") is None
        assert not (tmp_path / ".b.json.1.tmp").exists() and (tmp_path / ".a.json.1.tmp").is_dir()
        for command in ("verify", "plot", "guide"):
            clean(*bench(command, tmp_path), {1, 2})

    def test_a_pipe_with_the_name_of_a_record_is_not_waited_for(self, bench, tmp_path):
        os.mkfifo(tmp_path / "a.json")
        for command in ("verify", "plot", "guide"):
            clean(*bench(command, tmp_path), {1, 2})

    def test_a_lock_that_is_a_folder(self, bench, tmp_path):
        (tmp_path / ".lock").mkdir()
        clean(*bench("run", "eurora_99", "--methods", "multi-search", "--out", tmp_path), {2})

    def test_a_method_with_a_long_name_has_a_short_file(self, day):
        made = one_record(day, method="cpsat:counts:" + "num_workers=1:" * 100)
        assert len(f".{stem_of(made)}.jobs.csv.1234567.tmp") < 255

    @pytest.mark.parametrize("command", ["list", "show", "verify", "plot", "guide", "simulate"])
    def test_files_in_the_place_of_folders(self, bench, tmp_path, command):
        (tmp_path / "file").write_bytes(b"\x00\x1b[31m" * 100)
        clean(*bench(command, tmp_path / "file"), {2})
        clean(*bench(command, tmp_path / "file" / "inside"), {2})

    @pytest.mark.parametrize(
        "words",
        [
            ("generate", "eurora", "--jobs", "3", "--out"),
            ("export", "eurora_99", "--formulation", "pool@900s", "--out"),
            ("show", "air", "--plot"),
        ],
        ids=lambda words: words[0],
    )
    def test_outputs_that_cannot_be_written(self, bench, tmp_path, words):
        (tmp_path / "file").write_text("")
        code, out, err = bench(*words, tmp_path / "file" / "out.svg")
        clean(code, out, err, {2})
        assert "cannot be written" in err or "Not a directory" in err


class TestStops:
    @pytest.mark.parametrize(
        ("place", "words"),
        [
            ("schedlab.bench.replays.case.read_trace", ("import", "swf", "x", "--out", "out")),
            ("schedlab.bench.cli.importing.write", ("import", "swf", "log.swf", "--out", "out")),
            ("schedlab.bench.cli.importing.read_weather", ("import", "weather", "x", "--out", "out")),
            ("schedlab.bench.replays.case.read_trace", ("import", "curie", "x", "--out", "out")),
            ("schedlab.bench.cli.importing.write", ("generate", "eurora", "--jobs", "3", "--out", "out")),
            ("schedlab.bench.runs.view.load", ("show", "eurora_99")),
            ("schedlab.bench.pages.plot.files", ("plot", "out")),
            ("schedlab.bench.cli.guide.files", ("guide", "out")),
            ("schedlab.bench.records.store.files", ("verify", "out")),
            (
                "schedlab.bench.cli.instances.lower",
                ("export", "eurora_99", "--formulation", "pool@900s", "--out", "out"),
            ),
        ],
        ids=lambda words: " ".join(words)[:15] if isinstance(words, tuple) else "",
    )
    def test_ctrl_c_is_a_line_and_130(self, bench, tmp_path, monkeypatch, place, words):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "log.swf").write_text("; UnixStartTime: 0\n1 0 10 60 4 -1 -1 4 3600 -1 1 5 1 -1 -1 -1 -1 -1\n")

        def stop(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr(place, stop)
        more = ("--nodes", 1, "--cores", 4) if "swf" in words else ()
        assert bench(*words, *more) == (130, "", "\nstopped\n")
        assert not (tmp_path / "out").exists()

    def test_a_file_that_cannot_be_used_is_a_line_and_a_bug_is_not(self, capsys):
        def missing():
            open("/nowhere/[red]\x1b")  # noqa: SIM115

        def bug():
            raise KeyError("x")

        assert exit_code(missing) == 2
        assert capsys.readouterr().err == "error: '/nowhere/[red]\\x1b': No such file or directory\n"
        with pytest.raises(KeyError):
            exit_code(bug)


BENCH = [sys.executable, "-c", "from schedlab.bench.cli.app import main; main()"]


@pytest.mark.slow
@pytest.mark.parametrize("words", [["list"], ["--help"]])
def test_outputs_that_are_full_or_closed(words):
    with open("/dev/full", "w") as full:
        ended = subprocess.run([*BENCH, *words], stdout=full, stderr=subprocess.PIPE, text=True)
    assert ended.returncode == 2 and ended.stderr.count("\n") == 1, ended.stderr
    closed = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *BENCH, *words], stderr=subprocess.PIPE, text=True)
    assert closed.returncode == 0 and "Traceback" not in closed.stderr
    reading, writing = os.pipe()
    os.close(reading)
    unread = subprocess.run([*BENCH, *words], stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert unread.returncode == 128 + signal.SIGPIPE
    assert "Traceback" not in unread.stderr and "Exception" not in unread.stderr


@pytest.mark.slow
def test_an_output_that_cannot_hold_a_character_gets_it_escaped(day):
    latin = {**os.environ, "PYTHONIOENCODING": "ascii"}
    ended = subprocess.run([*BENCH, "show", "profit_small"], env=latin, capture_output=True, text=True)
    assert ended.returncode == 0 and "\\xb0C" in ended.stdout and not ended.stderr


def test_nothing_in_the_bench_prints_past_the_terminal():
    """``print`` and other consoles would print data unchanged."""
    import ast
    from pathlib import Path

    root = Path(schedlab.bench.__file__).parent
    for path in root.rglob("*.py"):
        if "speed" in path.relative_to(root).parts or path.name == "terminal.py":
            continue
        calls = [
            n.func.id
            for n in ast.walk(ast.parse(path.read_text()))
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
        ]
        assert not {"print", "Console"} & set(calls), path.name


@pytest.mark.parametrize("word, near", [
    ("clasic", "classic"), ("smok", "smoke"), ("eurora_9", "eurora_99 or eurora or"), ("dat", "data"),
    ("data/on.txt", "data/one.txt"), ("mine.tml", "mine.toml"),
])  # fmt: skip
def test_a_misspelt_word_of_run_proposes_instances_suites_files_and_folders(bench, tmp_path, monkeypatch, word, near):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "one.txt").write_text("")
    (tmp_path / "mine.toml").write_text("")
    code, _, err = bench("run", word)
    assert code == 2 and f"there is no instance or suite '{word}'" in err
    assert f"did you mean {near}" in err and "the shipped suites" not in err, err
    code, _, err = bench("run", "xyzzy")
    assert code == 2 and "the shipped suites are classic, eurora" in err


def test_a_misspelt_folder_of_results_proposes_the_one_beside_it(bench, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    code, _, err = bench("statistics", "resluts")
    assert code == 2 and "did you mean results?" in err, err


def test_misspelt_words_of_toml_files_propose_the_right_ones(bench, tmp_path):
    (tmp_path / "instance.toml").write_text('knid = "dispatch"\n')
    code, _, err = bench("show", tmp_path)
    assert code == 2 and err.count("kind:") == 1 and "(is 'knid' meant?)" in err and "1 fault" in err, err
    (tmp_path / "suite.toml").write_text('sedes = "1"\n[[runs]]\ninstances = ["eurora_99"]\n')
    code, _, err = bench("run", tmp_path / "suite.toml")
    assert code == 2 and "did you mean seeds?" in err, err
    (tmp_path / "site.toml").write_text('name = "lab"\n[[nodes]]\nname = "n1"\ncores = 4\n')
    code, _, err = bench("show", tmp_path / "site.toml")
    assert code == 2 and 'a site.toml has the line schema = "schedlab-site"' in err, err


def test_what_is_no_instance_is_said_to_be_none(bench, tmp_path):
    (tmp_path / "empty").mkdir()
    code, _, err = bench("show", tmp_path / "empty")
    assert code == 2 and "neither an instance (instance.toml) nor a site (site.toml" in err, err
    (tmp_path / "blob").write_bytes(bytes(range(256)) * 4)
    for command in ("show", "run"):
        code, _, err = bench(command, tmp_path / "blob")
        assert code == 2 and "expected a text file in UTF-8, found 'the byte 0x80 at position 128" in err, err
        assert "codec" not in err


def test_a_limit_below_0_is_refused_with_its_range(bench, tmp_path):
    (tmp_path / "slurm.conf").write_text("ClusterName=lab\nNodeName=n1 CPUs=4\nPartitionName=b Nodes=n1\n")
    (tmp_path / "dump.cfg").write_text("Cluster - 'lab':Fairshare=1\nParent - 'root'\nAccount - 'chem':MaxJobs=-5\n")
    code, _, err = bench("show", tmp_path)
    assert code == 2 and "line 3: MaxJobs is '-5'; expected a whole number of at least 0" in err, err
