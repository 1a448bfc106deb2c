"""The store: files are written completely, one bench at a time writes, records are read as a table."""

import json
import os
import shutil
import sys
from dataclasses import replace

import pytest
from schedlab.bench import Run, WrongUse, read_results
from schedlab.bench.records import Store, files, name_of, platform_of, read
from schedlab.bench.records.record import record
from schedlab.instances.sites import write_site
from schedlab.models import Partition, Site, SiteNode

RUN = Run("day", "day", "c", "highs:pool@900s+warm", 3, kind="dispatch")
FOUND = {"status": "feasible", "objective": 2.5, "verified": True, "sense": "minimize", "schedule": {}}


def one(**fields):
    return record(RUN, {**FOUND, **fields}, "2026-01-01T00:00:00+00:00")


def test_a_record_is_found_by_its_key_and_its_file_can_be_read_by_people(tmp_path):
    with Store(tmp_path / "results" / "day") as store:
        path = store.write(one())
        assert store.find(RUN.key) == one() == read(path)
        assert store.find("another") is None
        store.write(one(objective=2.0))
        assert store.find(RUN.key)["objective"] == 2.0
    assert path.name == f"highs_pool@900s+warm.3.{RUN.key}.json" == name_of(one())
    assert files(path.parent) == [path]


def test_a_second_bench_on_the_same_folder_gets_the_process_id_of_the_first(tmp_path):
    with Store(tmp_path), pytest.raises(WrongUse, match=rf"\(process {os.getpid()}\)"), Store(tmp_path):
        pass
    with Store(tmp_path):
        pass


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(WrongUse, match="cannot be written"), Store(tmp_path / "file" / "results"):
        pass


def test_a_record_never_holds_infinity_or_nan(tmp_path):
    made = one(bound=float("inf"), seconds={"build": float("nan"), "lower": 0.1, "solve": None, "total": 1.0})
    assert made["bound"] is None and made["seconds"]["build"] is None and made["gap"] is None
    with Store(tmp_path) as store:
        json.loads(store.write(made).read_text(), parse_constant=pytest.fail)


LOG = """\
; MaxProcs: 68
; UnixStartTime: 0
1 0 0 50 32 -1 -1 32 60 -1 1 1 1 1 1 -1 -1 -1
2 5 0 50 32 -1 -1 32 60 -1 1 1 1 1 1 -1 -1 -1
"""


@pytest.mark.parametrize(
    ("names", "written"),
    [
        (("r1i0n1", "r1i0n0", "login-a", "n007"), "r1i0n[1,0],login-a,n007"),
        (("v[0]", "v[1]", "x[0]", "x[1]"), ["v[0]", "v[1]", "x[0]", "x[1]"]),
    ],
)
def test_a_record_of_a_replay_keeps_the_names_of_the_nodes(bench, in_process, tmp_path, names, written):
    nodes = [*(SiteNode(name, 16) for name in names), SiteNode("fat", 4)]
    partition = Partition("1", tuple(node.name for node in nodes), default=True)
    write_site(Site("machine", nodes, [partition]), tmp_path / "site.toml")
    (tmp_path / "log.swf").write_text(LOG)
    words = ["--site", tmp_path / "site.toml", "--dispatchers", "fcfs", "--jobs", 1, "--out", tmp_path / "out"]
    code, _, err = bench("simulate", tmp_path / "log.swf", *words)
    assert code == 0, err
    groups = read(files(tmp_path / "out")[0])["simulation"]["platform"]
    assert [group["names"] for group in groups] == [written, "fat"]
    assert platform_of(groups).nodes == (*names, "fat")
    assert bench("verify", tmp_path / "out")[0] == 0


@pytest.mark.parametrize(
    ("text", "word"), [("{", "not JSON"), ("[]", "not a record"), ('{"key": 1}', "missing fields")]
)
def test_what_is_no_record_is_reported(tmp_path, text, word):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(ValueError, match=word):
        read(tmp_path / "x.json")


def test_results_as_a_table(tmp_path):
    with Store(tmp_path) as store:
        store.write(one(seconds={"build": 0.1, "lower": 0.2, "solve": 3.0, "total": 3.3}))
    table = read_results(tmp_path)
    assert len(table) == 1
    row = table.iloc[0]
    assert (row["method"], row["seed"], row["objective"], row["seconds.solve"]) == ("highs:pool@900s+warm", 3, 2.5, 3.0)
    assert row["view.at"] is None and row["schedule"] == {}


def test_a_table_without_pandas_or_without_the_folder_is_a_clear_error(tmp_path, monkeypatch):
    with pytest.raises(WrongUse, match="no such folder"):
        read_results(tmp_path / "nowhere")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"schedlab\[pandas\]"):
        read_results(tmp_path)


@pytest.fixture
def reads(monkeypatch):
    """Return the list of the folders that are read."""
    found = []
    for name in ("scandir", "listdir"):
        plain = getattr(os, name)
        monkeypatch.setattr(f"os.{name}", lambda path=".", plain=plain: found.append(path) or plain(path))
    return found


def test_the_folder_is_read_once_for_all_runs(tmp_path, reads):
    runs = [replace(RUN, seed=k) for k in range(40)]
    with Store(tmp_path) as store:
        for run in runs[:30]:
            store.write(record(run, FOUND, "2026-01-01T00:00:00+00:00"))
    reads.clear()
    with Store(tmp_path) as store:
        assert [store.find(run.key) is not None for run in runs] == [True] * 30 + [False] * 10
        assert [store.has(run.key) for run in runs] == [True] * 30 + [False] * 10
        store.write(record(runs[-1], FOUND, "2026-01-01T00:00:00+00:00"))
        assert store.find(runs[-1].key)["seed"] == 39
    assert reads == [tmp_path]


def test_a_valid_record_is_found_beside_a_damaged_one_with_the_same_key(tmp_path):
    with Store(tmp_path) as store:
        store.write(one())
    (tmp_path / f"a.1.{RUN.key}.json").write_text("{")
    with Store(tmp_path) as store:
        assert store.find(RUN.key) == one()


def test_a_folder_of_folders_of_records_is_verified_as_a_whole(bench, profit_results, tmp_path):
    for name in ("b", "a/deeper"):
        shutil.copytree(profit_results, tmp_path / name)
    (tmp_path / "c" / "notes.json").parent.mkdir()
    (tmp_path / "c" / "notes.json").write_text("{}")
    code, out, err = bench("verify", tmp_path)
    lines = out.splitlines()
    each = len(files(profit_results))
    assert code == 0, (out, err)
    assert lines[-1] == f"{tmp_path}: {2 * each} records in 2 folders, {2 * each} valid, 0 not valid or not checked"
    assert [f"{tmp_path / name}: {each} records" in out for name in ("a/deeper", "b", "c")] == [True, True, False]
    files(tmp_path / "b")[0].write_text("{}")
    code, out, _ = bench("verify", tmp_path)
    assert code == 1 and out.splitlines()[-1].endswith(f"{2 * each - 1} valid, 1 not valid or not checked")


@pytest.mark.parametrize("words", [["statistics"], ["report"], ["merge", "--out", "x"], ["plot"]])
def test_a_folder_of_folders_of_records_says_which_it_has(bench, profit_results, tmp_path, words):
    pytest.importorskip("matplotlib")
    shutil.copytree(profit_results, tmp_path / "inner")
    code, _, err = bench(words[0], tmp_path, *words[1:])
    assert code == 2 and f"give one of them: {tmp_path / 'inner'}" in err, err
