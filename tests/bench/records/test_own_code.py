"""Records of somebody else: nothing that they name is imported, unless the user names it."""

import json

import pytest

pytestmark = pytest.mark.usefixtures("in_process")
TRAP = """
from pathlib import Path

Path("imported").write_text("")


class Own:
    name = "own"
"""
REPLAYS = {  # of each field of a replay that may name code: its value in the record of somebody else
    "users": "trap:Own",
    "node_policy": "trap:Own",
    "evictor": "trap:Own",
    "checkpoints": "trap:Own",
    "allocator": "trap:Own",
    "objective": "trap:Own",
}
READERS = {
    "verify": [],
    "plot": ["--out", "p.html"],
    "statistics": [],
    "compare": [],
    "report": ["--out", "r.html"],
    "merge": ["--out", "merged"],
    "guide": [],
}


@pytest.fixture
def records(bench, tmp_path, monkeypatch):
    """Return the folder of a record of a replay with on-demand jobs; a module in the current folder leaves a file if imported."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trap.py").write_text(TRAP)
    jobs = (
        f"{k} {900 * k} -1 {3600 + k} {1 + k % 3} -1 -1 {1 + k % 3} 7200 -1 1 1 1 -1 1 -1 -1 -1" for k in range(1, 40)
    )
    (tmp_path / "log.swf").write_text("\n".join(jobs) + "\n")
    options = ["--nodes", 4, "--cores", 1, "--on-demand", "stream:rate=40:start_within=900:seed=1", "--out", "out"]
    assert bench("simulate", "log.swf", "--dispatchers", "easy", *options)[0] == 0
    return tmp_path / "out"


def rewritten(folder, edit):
    """Change a record as somebody would who wants it to be read: its key fits."""
    from schedlab.bench import key_of
    from schedlab.bench.records import name_of

    path = next(folder.glob("*.json"))
    record = json.loads(path.read_text())
    edit(record)
    record["key"] = key_of(record)
    path.unlink()
    (folder / name_of(record)).write_text(json.dumps(record))


@pytest.mark.parametrize("reader", READERS)
def test_no_reader_imports_what_a_record_names(bench, records, tmp_path, reader):
    def edit(record):
        record["replay"].update(REPLAYS)
        record["method"] = "trap:Own"
        record["view"]["objective"] = "trap:Own"

    rewritten(records, edit)
    code, out, err = bench(reader, "out", *READERS[reader])
    assert code in (0, 1, 2) and "Traceback" not in out + err
    assert not (tmp_path / "imported").exists()


@pytest.mark.parametrize("reader", READERS)
def test_no_reader_imports_a_formulation_that_a_record_names(bench, tmp_path, monkeypatch, reader):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trap.py").write_text(TRAP)
    options = ["--at", "12:00", "--first", 3, "--methods", "cpsat:pool", "--time-limit", 2, "--out", "out"]
    assert bench("run", "eurora_99", *options)[0] == 0
    rewritten(tmp_path / "out", lambda record: record.update(method="cpsat:trap:Own+warm"))
    code, out, err = bench(reader, "out", *READERS[reader])
    assert code in (0, 1, 2) and "Traceback" not in out + err
    assert not (tmp_path / "imported").exists()


@pytest.mark.parametrize("field", [*REPLAYS, "method"])
def test_verify_imports_nothing_that_one_field_names(bench, records, tmp_path, field):
    rewritten(records, lambda r: (r if field == "method" else r["replay"]).update({field: "trap:Own"}))
    code, out, err = bench("verify", "out")
    assert code in (0, 1) and "Traceback" not in out + err
    assert not (tmp_path / "imported").exists()


USERS = """
class Doubled:
    name = "doubled"

    def begin(self, workload):
        self.workload = workload

    def request(self, now, jobs, start):
        return 2 * self.workload.runtime[jobs] + 1
"""


def test_a_record_of_ones_own_code_is_checked_when_the_code_is_named(bench, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "doubled_users.py").write_text(USERS)
    options = ["--first", 8, "--dispatchers", "easy", "--users", "doubled_users:Doubled", "--out", "out"]
    assert bench("simulate", "eurora_99", *options)[0] == 0
    code, out, _ = bench("verify", "out")
    assert code == 1 and "not checked: it names doubled_users:Doubled" in out and "--own doubled_users:Doubled" in out
    assert "1 record, 0 valid, 0 not valid, 1 not checked" in out
    assert bench("verify", "out", "--own", "doubled_users:Doubled")[0] == 0
    assert "(kept)" in bench("simulate", "eurora_99", *options)[2]
