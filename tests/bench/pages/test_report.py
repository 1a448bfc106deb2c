"""The report: one page without network, small, with everything that the records say; its script runs."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from report_records import made
from schedlab.bench import View
from schedlab.bench.pages import content_of
from schedlab.bench.pages.report import commands, page_of
from schedlab.bench.records import Store

HOSTILE = "</script><b>$x"


RECORDS = [
    made(i, m, s, None if (i, m) == ("p2", "b") else 100.0 + s + 10 * (m == "b"))
    for i in ("p1", "p2")
    for m in "ab"
    for s in (1, 2)
]


def content(page):
    return json.loads(re.search(r'<script id="content"[^>]*>(.*?)</script>', page, re.DOTALL)[1])


def test_the_page_has_all_runs_and_no_network():
    page = page_of(content_of(RECORDS, {"p1": 99.0}, "mine"))
    found = content(page)
    assert len(found["runs"]) == 8
    assert [p[0] for p in found["problems"]] == ["p1", "p2"]
    assert found["problems"][0][3:] == [101, None, 99, 99]
    assert not re.search(r"(src|href)=|@import|fetch\(|XMLHttp", page)
    assert re.findall(r"https?://[^\"' ]+", page) == [
        "http://www.w3.org/2000/svg"
    ]  # a name, not an address that is read
    assert page_of(content_of(RECORDS, {"p1": 99.0}, "mine")) == page


def test_names_cannot_leave_the_data():
    page = page_of(content_of([made(HOSTILE, HOSTILE, 1, 5.0)], {}, HOSTILE))
    assert HOSTILE not in page
    assert content(page)["problems"][0][0] == HOSTILE
    assert page.count("</script>") == 2


def test_missing_runs_are_rows():
    found = content_of(RECORDS[:-1], {}, "mine")
    assert sorted(found["states"][r[3]] for r in found["runs"]) == ["failed", "missing"] + ["solved"] * 6


def test_traces_are_shortened_but_keep_their_ends():
    (run,) = content_of([made("p", "a", 1, 100.0, steps=5000)], {}, "mine")["runs"]
    steps = list(zip(run[10][::2], run[10][1::2], strict=True))
    assert len(steps) == 100
    assert (steps[0], steps[-1]) == ((1, 5099), (5000, 100))


def test_200_runs_are_small():
    records = [made(f"p{k}", m, s, 100.0 + s, steps=200) for k in range(20) for m in "ab" for s in range(5)]
    assert len(page_of(content_of(records, {}, "mine"))) < 2_000_000


def test_the_commands_run_the_same_again():
    runs = [*RECORDS, made("p1", "b", 3, 5.0, view=View(at=43200, first=20), threads=2, time_limit=2.5)]
    assert commands(runs) == [
        "bench run p1 p2 --methods a,b --seeds 1,2 --time-limit 10 --threads 1",
        "bench run p1 --methods b --seeds 3 --time-limit 2.5 --threads 2 --at 43200 --first 20",
    ]


def test_the_command_writes_the_page(bench, tmp_path):
    with Store(tmp_path / "mine") as store:
        for r in RECORDS:
            store.write(r)
    code, text, _ = bench("report", tmp_path / "mine", "--methods", "a")
    assert code == 0 and "report.html: 4 runs" in text
    assert content((tmp_path / "mine" / "report.html").read_text())["methods"] == ["a"]
    assert bench("report", tmp_path / "mine", "--out", tmp_path / "no" / "r.html")[0] == 2


@pytest.mark.skipif(shutil.which("node") is None, reason="node is missing: nothing runs the script of the page")
def test_the_script_makes_tables_and_charts(tmp_path):
    (tmp_path / "r.html").write_text(page_of(content_of(RECORDS, {}, "mine")))
    script = Path(__file__).parent / "page.js"
    made = subprocess.run(["node", str(script), str(tmp_path / "r.html")], capture_output=True, text=True, check=True)
    found = json.loads(made.stdout)
    assert (found["ready"], found["bad"], found["runs"]) == ("yes", 0, 8)
    assert [len(heads) for heads in found["tables"]] == [18, 3, 9, 11]
    assert [row[:5] for row in found["methods"]] == [["a", "4", "4", "0", "-"], ["b", "4", "2", "0", "2f"]]
    assert len(found["charts"]) == 5
    assert (found["up"], found["down"]) == (["101", "101", "102"], ["112", "111", "102"])
    assert found["filtered"] == [["p2", "b", "failed"]] * 2
    assert found["picked"] == "p2: objective over time"


@pytest.fixture
def replays(bench, in_process, tmp_path, monkeypatch):
    """Return a folder with the records of two replays."""
    monkeypatch.chdir(tmp_path)
    assert (
        bench("simulate", "eurora_99", "--first", 12, "--dispatchers", "fcfs,easy", "--kill", "--out", "days")[0] == 0
    )
    return tmp_path / "days"


def test_replays_have_tables_pictures_and_their_command(bench, replays):
    pytest.importorskip("matplotlib")
    code, text, _ = bench("report", replays)
    page = (replays / "report.html").read_text()
    assert code == 0 and "report.html: 2 replays" in text
    assert "<th>easy</th>" in page and page.count("<figure>") > 4 and "mean wait" in page
    (command,) = content(page)["commands"]
    assert (
        command
        == "bench simulate eurora_99 --dispatchers fcfs,easy --seeds 1 --kill --first 12 --time-limit 3600 --threads 1"
    )
    assert not re.search(r"(src|href)=\"h|@import|fetch\(|XMLHttp", page)


def test_a_folder_of_runs_and_replays_has_both(bench, replays):
    pytest.importorskip("matplotlib")
    with Store(replays) as store:
        for r in RECORDS:
            store.write(r)
    code, text, _ = bench("report", replays)
    page = (replays / "report.html").read_text()
    assert code == 0 and "report.html: 8 runs, 2 replays" in text
    assert len(content(page)["runs"]) == 8 and "<th>easy</th>" in page


@pytest.mark.parametrize(
    "arguments",
    [
        ["statistics", "days"],
        ["statistics", "days", "--plot", "p.svg"],
        ["statistics", "days", "--unproven"],
        ["compare", "days"],
        ["compare", "days", "--methods", "easy"],
        ["compare", "days", "copy"],
        ["report", "days", "--latex", "paper"],
    ],
)
def test_commands_about_runs_say_that_there_are_only_replays(bench, replays, tmp_path, arguments):
    shutil.copytree(replays, tmp_path / "copy")
    code, out, err = bench(*arguments)
    assert code == 2 and "Traceback" not in out + err
    assert "replays" in err or "has none" in err
    assert not err.rstrip().endswith((":", ",", "found", "none of"))


@pytest.mark.parametrize("command", ["plot", "report"])
def test_a_jobs_file_that_was_cut_off_is_not_drawn(bench, replays, command):
    pytest.importorskip("matplotlib")
    path = next(replays.glob("*.jobs.csv"))
    path.write_text("\n".join(path.read_text().split("\n")[:5]) + "\n")
    code, _, err = bench(command, replays)
    assert code == 2 and "it has 4 of 12 jobs" in err and path.name in err
