"""``bench decide``: its answer as JSON, and what is wrong in a state file."""

import json

import pytest
from machine_states import NOW, reservation, small_state, waiting


def run(bench, folder, values, *options):
    file = folder / "state.json"
    file.write_text(values if isinstance(values, str) else json.dumps(values))
    return bench("decide", file, *options)


def test_the_answer_is_json(bench, tmp_path):
    code, out, err = run(bench, tmp_path, small_state(), "--dispatcher", "easy")
    assert code == 0, err
    answer = json.loads(out)
    assert (answer["schema"], answer["version"], answer["now"], answer["waiting"]) == ("schedlab-decision", 1, NOW, 3)
    assert answer["starts"] == [{"id": "short", "nodes": {"n3": 1}}]
    assert answer["planned"] == [{"id": "wide", "time": NOW + 100, "nodes": {"n1": 1, "n2": 1, "n3": 1}}]
    code, out, err = run(bench, tmp_path, small_state(), "--out", tmp_path / "answer.json")
    assert code == 0 and "1 of 3 waiting jobs start now, 1 planned starts" in out
    assert json.loads((tmp_path / "answer.json").read_text())["starts"] == answer["starts"]


def changed(path, value):
    state = json.loads(json.dumps(small_state()))
    inside = state
    *parents, last = path
    for key in parents:
        inside = inside[key]
    if value is None:
        del inside[last]
    else:
        inside[last] = value
    return state


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (["schema"], "x", "schema: expected 'schedlab-state'"),
        (["version"], 2, "version: expected 1, the version that this schedlab reads, found 2"),
        (["now"], None, "now: expected a whole number of at least 0, found nothing"),
        (["nodes"], [], "nodes: expected 1 to "),
        (["nodes", 0, "name"], "n2", "nodes[2].name: expected each node once, found 'n2'"),
        (["nodes", 0, "state"], "on", "nodes[1].state (n1): expected one of up, "),
        (["nodes", 0, "capacity"], {"cores": 7}, "nodes[1].capacity.cores (n1): expected at least the 8 cores"),
        (["nodes", 1, "free"], {"cores": 3}, "nodes[2].free.cores (n2): expected at most 2: the capacity less the 6"),
        (["nodes", 1, "free"], {"gpus": 3}, "nodes[2].free.gpus (n2): expected a resource of its capacity"),
        (["queues", 0, "start_between"], ["18:00"], "queues[1].start_between (batch): expected a list of pairs"),
        (["running", 0, "start"], NOW + 1, "running[1].start (r): expected at most now"),
        (["running", 0, "nodes"], {"x": {"cores": 1}}, "running[1].nodes.x (r): expected a node of the list nodes"),
        (["running", 0, "nodes"], {}, "running[1].nodes (r): expected at least one node"),
        (["waiting", 2, "walltime"], 0, "waiting[3].walltime (short): expected a whole number of at least 1, found 0"),
        (["waiting", 2, "walltim"], 5, "waiting[3].walltim (short): expected 'walltime' perhaps"),
        (["waiting", 1, "queue"], "night", "waiting[2].queue (long): expected one of the queues batch"),
        (["waiting", 1, "request"], [8], "waiting[2].request (long): expected an object"),
        (["waiting", 1, "id"], "r", "waiting[2].id: expected each job once, found 'r'"),
        (["waiting"], {"a": 1}, "waiting: expected a list of objects"),
        (
            ["waiting", 0, "chunks"],
            [{"units": 1, "request": {}}],
            "waiting[1].units (wide): expected either chunks, or",
        ),
        (["reservations"], {}, "reservations: expected a list of objects"),
    ],
)
def test_a_broken_state_gets_file_field_and_what_was_expected(bench, tmp_path, path, value, said):
    code, _, err = run(bench, tmp_path, changed(path, value))
    assert code == 2 and f"state.json, {said}" in err


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"nodes": {"x": {"cores": 1}}}, ".nodes.x (m): expected a node of the list nodes, found 'x'"),
        ({"nodes": {"n1": {"gpus": 1}}}, ".nodes.n1.gpus (m): expected a resource of the node: cores, found 'gpus'"),
        (
            {"nodes": {"n1": {"cores": 9}}},
            ".nodes.n1.cores (m): expected at most the 8 cores that the node has, found 9",
        ),
        ({"nodes": {}}, ".nodes (m): expected at least one node with the amounts that are reserved"),
        ({"nodes": {"n1": 8}}, "expected an object, found 8"),
        ({"end": NOW + 5}, f".end (m): expected a time after its start, {NOW + 5}, found {NOW + 5}"),
        ({"start": NOW - 9, "end": NOW}, f".end (m): expected a time after now, {NOW}: the reservation is over"),
        ({"name": "other"}, ".name: expected each reservation once, found 'other'"),
        ({"queue": "night"}, ".queue (m): expected one of the queues batch, found 'night'"),
        ({"strat": NOW}, ".strat (m): expected 'start' perhaps"),
    ],
)
def test_a_broken_reservation_gets_file_field_and_what_was_expected(bench, tmp_path, change, said):
    listed = [reservation("other", 5, 9, {"n1": 8}), reservation("m", 5, 9, {"n1": 8}) | change]
    code, _, err = run(bench, tmp_path, small_state(reservations=listed))
    assert code == 2 and "state.json, reservations[2]" in err and said in err


@pytest.mark.parametrize(
    ("chunks", "said"),
    [
        ([], "waiting[1].chunks (a): expected at least one chunk"),
        (
            [{"units": 0, "request": {}}],
            "waiting[1].chunks[1].units: expected a whole number of at least 1, found 0",
        ),
        ([{"units": 1}], "[1].request: expected an object"),
        ([{"units": 1, "request": {}, "cores": 1}], "[1].cores: expected one of units, request"),
        ([{"units": 1, "request": {"cores": 1}}] * 2, "waiting[1].chunks (a): expected no other job a+1"),
    ],
)
def test_broken_chunks_get_file_field_and_what_was_expected(bench, tmp_path, chunks, said):
    job = {"id": "a", "submit": NOW, "walltime": 60, "queue": "batch", "chunks": chunks}
    code, _, err = run(bench, tmp_path, small_state(waiting=[job, waiting("a+1", NOW, 1, 1, 60)]))
    assert code == 2 and said in err


def test_refused_dispatchers_end_with_exit_code_2(bench, tmp_path):
    one = {"units": 1, "request": {"cores": 1}}
    job = {"id": "a", "submit": NOW, "walltime": 60, "queue": "batch", "chunks": [one, one]}
    code, out, err = run(bench, tmp_path, small_state(waiting=[job]), "--dispatcher", "dardis:throughput")
    assert (code, out) == (2, "") and "has several chunks, which dispatcher dardis:throughput does not take" in err


def test_files_that_are_no_json_and_unknown_names_are_refused(bench, tmp_path):
    code, _, err = run(bench, tmp_path, "{")
    assert code == 2 and "expected JSON" in err
    code, _, err = run(bench, tmp_path, [])
    assert code == 2 and "file: expected an object" in err
    code, _, err = bench("decide", tmp_path / "none.json")
    assert code == 2 and "none.json" in err
    code, _, err = run(bench, tmp_path, small_state(), "--dispatcher", "esy")
    assert code == 2 and "easy" in err
    code, _, err = run(bench, tmp_path, small_state(), "--dispatcher", "easy-r")
    assert code == 2 and "runtimes of waiting jobs are not known" in err
    code, _, err = run(bench, tmp_path, small_state(), "--dispatcher", "slurm")
    assert code == 2 and err.startswith("error: slurm: follows the rules of a site, which a state does not have")


def test_an_impossible_answer_ends_with_exit_code_1(bench, tmp_path):
    code, out, err = run(bench, tmp_path, small_state(), "--dispatcher", "toy_states:OnDrainingNode")
    assert (code, out) == (1, "") and "job 'long' cannot start on node 'n4', which is draining" in err


def later(folder, name="next.json", **changes):
    file = folder / name
    started = [{"id": "short", "start": NOW + 9, "walltime": 90, "nodes": {"n3": {"cores": 8}}}]
    file.write_text(json.dumps(small_state(**({"now": NOW + 60, "running": started, "waiting": []} | changes))))
    return file


def test_a_decision_is_compared_with_what_the_machine_did(bench, tmp_path):
    code, out, err = run(bench, tmp_path, small_state(), "--against", later(tmp_path))
    assert code == 0, err
    assert "1 of 1 start of the machine are among the 1 of easy (100.0%" in " ".join(out.split())
    assert "0 of its starts are of jobs that the machine holds" in out and str(NOW) in out
    code, out, err = run(bench, tmp_path, small_state(), "--against", later(tmp_path), "--within", "5", "--json")
    assert code == 0, err
    (state,) = json.loads(out)["states"]
    assert (state["now"], state["until"], state["same"], state["earlier"]) == (NOW, NOW + 60, [], ["short"])


def test_each_state_of_a_folder_is_compared_with_the_next(bench, tmp_path):
    """The order is that of the times, not of the names."""
    folder = tmp_path / "states"
    folder.mkdir()
    later(folder, "a.json")
    (folder / "b.json").write_text(json.dumps(small_state()))
    later(folder, "c.json", now=NOW + 100)
    out = tmp_path / "compared.json"
    for options in ((folder,), (folder / "b.json", "--against", folder / "a.json")):
        code, text, err = bench("decide", *options, "--out", out)
        assert code == 0, err
        states = json.loads(out.read_text())["states"]
        assert [s["now"] for s in states] == [NOW, NOW + 60][: len(states)] and states[0]["same"] == ["short"]
    assert "of the machine are among" in text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--within", "5"], "--within is for a comparison; expected --against STATE too"),
        (["--json"], "--json is for a comparison"),
        (["--against", "earlier.json"], "is an earlier state than"),
        (["--against", "none.json"], "none.json"),
        (["--against", "empty"], "1 state; expected at least two"),
    ],
)
def test_wrong_comparisons_are_refused(bench, tmp_path, monkeypatch, options, said):
    monkeypatch.chdir(tmp_path)
    later(tmp_path, "earlier.json", now=NOW - 9, running=[])
    (tmp_path / "empty").mkdir()
    code, out, err = run(bench, tmp_path, small_state(), *options)
    assert (code, out) == (2, "") and said in " ".join(err.split())
