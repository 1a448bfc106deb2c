"""Replays of instances with reservations and events of the batch server: records, verification, pictures."""

import json
import shutil
from dataclasses import replace

import pytest
import schedlab as sl
from schedlab.bench.cli.app import main
from schedlab.models import NodeEvent, Queue
from schedlab.models.reservations import Reservation
from schedlab.models.server_events import ServerEvent

pytestmark = pytest.mark.usefixtures("in_process")


def exit_code(arguments):
    """Run the command; return its exit code."""
    try:
        main(arguments)
    except SystemExit as e:
        return e.code or 0
    return 0


@pytest.fixture(scope="module")
def replayed(tmp_path_factory):
    """Return a folder with eurora_99, two reservations, an outage and server events; and the record of its replay."""
    instance = sl.instances.load("eurora_99")
    jobs = instance.dispatch.jobs
    private = [replace(j, queue="course") if k in (3, 4) else j for k, j in enumerate(jobs)]
    problem = instance.dispatch.replace(
        jobs=private, queues=[*instance.dispatch.queues, Queue("course", 3600), Queue("other", 3600)]
    )
    held = Reservation("r", "course", 90_000, 80_000, 1, {"cores": 16, "gpus": 2, "memory": 14_000})
    refused = Reservation("big", "other", 100_000, 600, 2, {"cores": 1, "gpus": 2})
    events = [
        NodeEvent(50_000, "node-down", [instance.platform.nodes[-1]]),
        NodeEvent(60_000, "node-up", [instance.platform.nodes[-1]]),
        ServerEvent(40_000, "stop-queue", "parallel"), ServerEvent(45_000, "start-queue", "parallel"),
        ServerEvent(46_000, "delete", jobs[49].id), ServerEvent(47_000, "move", jobs[40].id, "np_longpar"),
        ServerEvent(1_000, "walltime", jobs[50].id, 5000), ServerEvent(48_000, "walltime", jobs[60].id, 5000),
    ]  # fmt: skip
    folder = tmp_path_factory.mktemp("booked")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        sl.instances.write(replace(instance, problem=problem, reservations=(held, refused), events=events), "mine")
        assert exit_code(["simulate", "mine", "--dispatchers", "fcfs", "--out", "r"]) == 0
    return folder


@pytest.fixture
def booked(replayed, tmp_path, monkeypatch):
    """Return a copy of the folder as the current folder."""
    shutil.copytree(replayed, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_reservations_and_server_events_are_recorded_and_verified(booked, capsys):
    assert exit_code(["simulate", "mine", "--dispatchers", "fcfs,cpmodel@cpsat", "--out", "r"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "reservations" in printed and "jobs changed by the server" in printed
    assert exit_code(["verify", "r"]) == 0
    (path,) = (p for p in (booked / "r").glob("fcfs*.json"))
    record = json.loads(path.read_text())
    made = record["production"]
    assert [b["outcome"] for b in made["bookings"]] == ["over", "refused"]
    assert "1 of 2 units" in made["bookings"][1]["why"] and len(made["private"]) == 1
    assert "deleted" in made["left"].values() and made["moves"] and made["walltimes"] and made["refused"]
    assert [(o["state"], o["start"], o["end"]) for o in record["outages"]] == [("down", 50_000, 60_000)]
    assert record["verified"] and record["objective"] is None  # a job was deleted
    assert made["left_at"].keys() == made["left"].keys()
    assert [made["left_at"][job] for job, why in made["left"].items() if why == "deleted"] == [46_000]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda r: r["production"]["bookings"].pop(), "bookings are not those"),
        (lambda r: r["production"]["bookings"][0].update(start=1), "has not the times"),
        (lambda r: r["production"]["bookings"][0].update(outcome="fine"), "outcome: expected one of"),
        (lambda r: r["production"]["bookings"][0].update(nodes={}), "has 0 units on nodes"),
        (lambda r: r["production"]["private"].clear(), "outside of a reservation"),
        (lambda r: r["production"]["left"].clear(), "never started"),
        (lambda r: r["production"]["left_at"].clear(), "has left at None; expected a time at which it waits"),
        (
            lambda r: r["production"]["left_at"].update(dict.fromkeys(r["production"]["left"], 0)),
            "has left at 0; expected",
        ),
        (
            lambda r: r["production"]["left_at"].update(dict.fromkeys(r["production"]["left"], 46_001)),
            "still had starts",
        ),
        (lambda r: r["production"]["walltimes"][0].update(after=7), "without an event"),
        (lambda r: r["production"]["moves"].clear(), "was not changed at 47000 (move to np_longpar)"),
        (lambda r: r["production"]["private"][0].update(job="x9"), "is no job of the replay"),
        (lambda r: r["production"]["private"][0].update(booking="x"), "expected an integer"),
        (lambda r: r.update(production=None), "field production is missing"),
        (lambda r: r["outages"].clear(), "its outages are not those of the events"),
    ],
)
def test_changed_records_of_reservations_are_found(booked, capsys, change, fault):
    (path,) = (booked / "r").glob("fcfs*.json")
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))
    capsys.readouterr()
    assert exit_code(["verify", "r"]) == 1
    captured = capsys.readouterr()
    assert fault in " ".join((captured.out + captured.err).split())


def test_reservations_with_other_loads_and_offline_methods_are_refused(booked, capsys):
    assert exit_code(["simulate", "mine", "--load", "1.1", "--out", "r"]) == 2
    assert "times of reservations" in " ".join(capsys.readouterr().err.split())
    assert exit_code(["run", "mine", "--methods", "multi-search", "--out", "r"]) == 2
    assert "which only replays obey" in " ".join(capsys.readouterr().err.split())
    assert exit_code(["simulate", "mine", "--first", "20", "--dispatchers", "easy", "--out", "first"]) == 0
    assert exit_code(["verify", "first"]) == 0  # events of the other jobs are left out
    assert exit_code(["show", "mine"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "stopped queue" in printed and "16 cores, 2 gpus" in printed


def test_reservations_and_outages_are_hatched_and_deleted_jobs_leave_the_queue(booked):
    assert exit_code(["plot", "r"]) == 0
    page = (booked / "r" / "plot.html").read_text()
    (record,) = (json.loads(p.read_text()) for p in (booked / "r").glob("fcfs*.json"))
    assert f"jobs in the queue (maximum: {record['metrics']['queue_max']})" in page
    assert "Hatched with lines: nodes of a reservation" in page and "Hatched with crosses: nodes that take no" in page
    assert page.count("<pattern") == 2
