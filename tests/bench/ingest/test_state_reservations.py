"""Reservations and heterogeneous jobs in the output of Slurm and PBS Professional, made into states."""

import json

import pytest
from schedlab.instances.sites.machine_state import read_state

NOW = 1_755_290_400


def n(value):
    return {"set": True, "infinite": False, "number": value}


def slurm_node(name, state=("IDLE",)):
    return {
        "name": name, "cpus": 8, "alloc_cpus": 0, "real_memory": 16000, "alloc_memory": 0, "gres": "", "gres_used": "",
        "state": list(state), "partitions": ["cpu"], "threads": 2,
    }  # fmt: skip


def pending(number, cpus, **more):
    return {
        "job_id": number, "job_state": ["PENDING"], "partition": "cpu", "cpus": n(cpus), "node_count": n(1),
        "submit_time": n(NOW - 50), "time_limit": n(60), "tres_req_str": f"cpu={cpus},mem=1000M,node=1",
    } | more  # fmt: skip


SLURM_NODES = {"nodes": [slurm_node("c1"), slurm_node("c2", ("IDLE", "RESERVED")), slurm_node("c3", ("IDLE", "MAINT"))]}
SLURM_JOBS = {
    "last_update": n(NOW),
    "jobs": [
        pending(10, 8, het_job_id=n(10), het_job_offset=n(0), het_job_id_set="10-11"),
        pending(12, 2, resv_name="course", het_job_id=n(0), het_job_offset=n(0)),
        pending(13, 2, resv_name="unknown"),
        pending(11, 4, node_count=n(2), time_limit=n(90), het_job_id=n(10), het_job_offset=n(1), submit_time=n(NOW - 70)),
        {
            "job_id": 14, "job_state": ["RUNNING"], "partition": "cpu", "nodes": "c2", "cpus": n(4), "node_count": n(1),
            "start_time": n(NOW - 60), "submit_time": n(NOW - 90), "time_limit": n(10), "resv_name": "course",
            "tres_alloc_str": "cpu=4,mem=1000M,node=1",
        },
    ],
}  # fmt: skip
SLURM_RESERVATIONS = {
    "reservations": [
        {"name": "course", "start_time": n(NOW - 100), "end_time": n(NOW + 5000), "node_list": "c2", "flags": []},
        {"name": "half", "start_time": n(NOW + 100), "end_time": n(NOW + 200), "node_list": "c[1-2]",
         "core_specializations": [{"node": "c1", "core": "0-1"}, {"node": "c2", "core": "0,1,2-3"}]},
        {"name": "past", "start_time": n(NOW - 100), "end_time": n(NOW), "node_list": "c1"},
        {"name": "licences", "start_time": n(NOW), "end_time": n(NOW + 9), "node_list": "", "licenses": "matlab:3"},
    ]
}  # fmt: skip


def imported(bench, folder, jobs, nodes, reservations, *options):
    (folder / "jobs.json").write_text(json.dumps(jobs))
    (folder / "nodes.json").write_text(json.dumps(nodes))
    text = reservations if isinstance(reservations, str) else json.dumps(reservations)
    (folder / "reservations").write_text(text)
    return bench(
        "import", "state", folder / "jobs.json", folder / "nodes.json", "--out", folder / "state.json",
        "--reservations", folder / "reservations", *options,
    )  # fmt: skip


def read(bench, folder, *files):
    code, out, err = imported(bench, folder, *files)
    assert code == 0, err
    return read_state(folder / "state.json"), out


def test_reservations_of_slurm(bench, tmp_path):
    """A core has two threads: cores 0 and 1 of c1 are 4 of its 8; all 4 cores of c2 are the whole node."""
    state, out = read(bench, tmp_path, SLURM_JOBS, SLURM_NODES, SLURM_RESERVATIONS)
    whole = {"cores": 8, "memory": 16000}
    assert {(r.name, r.start - NOW, r.end - NOW, *r.nodes, *sorted(r.request.items())) for r in state.reserved} == {
        ("course", -100, 5000, "c2", *whole.items()), ("half", 100, 200, "c1", ("cores", 4)),
        ("half", 100, 200, "c2", *whole.items()),
    }  # fmt: skip
    assert "left out: 1 reservation in the past" in out and "left out: 1 reservation without nodes of the list" in out
    assert state.states == ("up", "up", "draining"), "c2 is up: its reservation tells what is not free"
    assert [r.job.queue for r in state.running] == ["reservation course"]
    assert state.left_out == {
        "12": "queue reservation course is private to reservation course", "13": "in reservation unknown"
    }  # fmt: skip


def test_components_of_a_heterogeneous_job_of_slurm_are_its_chunks(bench, tmp_path):
    (job,) = read(bench, tmp_path, SLURM_JOBS, SLURM_NODES, SLURM_RESERVATIONS)[0].waiting
    assert (job.id, job.submit, job.walltime) == ("10", NOW - 70, 5400)
    assert [(c.units, dict(c.request)) for c in job.chunks] == [
        (1, {"cores": 8, "memory": 1000}), (2, {"cores": 2, "memory": 500, "different nodes for 11": 1})
    ]  # fmt: skip


def test_the_decision_leaves_the_reserved_nodes_free(bench, tmp_path):
    """The job needs a whole node (c4) and 2 cores on two others: c1, and c2 after its reservation."""
    nodes = {"nodes": [*SLURM_NODES["nodes"], slurm_node("c4")]}
    read(bench, tmp_path, SLURM_JOBS, nodes, SLURM_RESERVATIONS)
    code, out, err = bench("decide", tmp_path / "state.json", "--dispatcher", "conservative")
    assert code == 0, err
    answer = json.loads(out)
    assert answer["starts"] == []
    assert [(p["id"], p["time"] - NOW) for p in answer["planned"]] == [("10", 5000)]


PBS_JOBS = {
    "timestamp": 1479277336, "pbs_version": "14.1",
    "Jobs": {
        "2.vbox": {
            "job_state": "Q", "queue": "workq", "ctime": "Wed Nov 16 06:00:00 2016",
            "Resource_List": {"select": "2:ncpus=4:ngpus=1+1:ncpus=2", "walltime": "00:30:00"},
        },
        "3.vbox": {
            "job_state": "Q", "queue": "R77", "ctime": "Wed Nov 16 06:00:00 2016",
            "Resource_List": {"select": "1:ncpus=1", "walltime": "00:30:00"},
        },
    },
}  # fmt: skip
PBS_NODES = {
    "nodes": {
        name: {"state": state, "resources_available": {"ncpus": 8, "mem": "16777216kb", "ngpus": 1}}
        for name, state in [("a", "free"), ("b", "resv-exclusive"), ("c", "free")]
    },
}  # fmt: skip
PBS_RESERVATIONS = """Resv ID: R77.vbox
Reserve_Name = course
Reserve_Owner = root@vbox
reserve_state = RESV_RUNNING
reserve_start = Wed Nov 16 06:00:00 2016
reserve_end = Wed Nov 16 08:00:00 2016
queue = R77
Resource_List.select = 1:ncpus=8+1:ncpus=2
resv_nodes = (b:ncpus=8:ngpus=1)+(c:ncpus=2:mem=1048576kb)
Authorized_Users = +ada,+bob

Resv ID: R78.vbox
Reserve_Name = NULL
reserve_state = RESV_CONFIRMED
reserve_start = Wed Nov 16 08:00:00 2016
reserve_duration = 900
resv_nodes = (a:ncpus=8)
\t+(b:ncpus=8)

Resv ID: R79.vbox
reserve_state = RESV_UNCONFIRMED
reserve_start = Wed Nov 16 08:00:00 2016
reserve_end = Wed Nov 16 09:00:00 2016

"""


def test_reservations_and_chunks_of_pbs(bench, tmp_path):
    """It is 06:22:16 UTC."""
    state, out = read(bench, tmp_path, PBS_JOBS, PBS_NODES, PBS_RESERVATIONS)
    assert {
        (r.name, r.queue, r.end - r.start, *r.nodes, *sorted(r.request.items())) for r in state.reserved
    } == {
        ("R77.vbox", "R77", 7200, "b", ("cores", 8), ("gpus", 1)),
        ("R77.vbox", "R77", 7200, "c", ("cores", 2), ("memory", 1024)),
        ("R78.vbox", "R78", 900, "a", "b", ("cores", 8)),
    }  # fmt: skip
    assert "left out: 1 reservation in state UNCONFIRMED" in out and state.states == ("up", "up", "up")
    assert state.left_out == {"3.vbox": "queue R77 is private to reservation R77.vbox"}
    (job,) = state.waiting
    assert [(c.units, dict(c.request)) for c in job.chunks] == [
        (2, {"cores": 4, "gpus": 1, "memory": 0}), (1, {"cores": 2, "gpus": 0, "memory": 0})
    ]  # fmt: skip
    rome, _ = read(bench, tmp_path, PBS_JOBS, PBS_NODES, PBS_RESERVATIONS, "--zone", "Europe/Rome")
    assert min(r.start for r in rome.reserved) == state.reserved[0].start - 3600


@pytest.mark.parametrize(
    ("jobs", "nodes", "reservations", "why"),
    [
        (SLURM_JOBS, SLURM_NODES, {"x": 1}, "expected the output of scontrol show reservations --json"),
        (SLURM_JOBS, SLURM_NODES, {"reservations": [{"name": "r"}]}, "reservation 'r' has no start_time"),
        (SLURM_JOBS, SLURM_NODES, {"reservations": [{"start_time": 1}]}, "a field is missing"),
        (PBS_JOBS, PBS_NODES, "{}", "the line '{}' of the reservations; expected the output of pbs_rstat -f"),
        (PBS_JOBS, PBS_NODES, "reserve_start = x", "the reservations begin without 'Resv ID: ...'"),
        (PBS_JOBS, PBS_NODES, "Resv ID: R1.x\nqueue = R1", "reservation 'R1.x' has no reserve_start"),
        (PBS_JOBS, PBS_NODES, "Resv ID: R1.x\nreserve_start = now", "expected a time such as"),
    ],
)
def test_what_is_not_understood_is_said(bench, tmp_path, jobs, nodes, reservations, why):
    code, _, err = imported(bench, tmp_path, jobs, nodes, reservations)
    assert code == 2 and why in err and "reservations" in err


TEXT = """ReservationName=course StartTime=2025-08-15T22:38:20 EndTime=2025-08-16T00:03:20 Duration=01:25:00
   Nodes=c2 NodeCnt=1 CoreCnt=4 Features=(null) PartitionName=(null) Flags=SPEC_NODES
   TRES=cpu=8
   Users=root Groups=(null) Accounts=(null) Licenses=(null) State=ACTIVE BurstBuffer=(null) Watts=n/a

ReservationName=half StartTime=2025-08-15T22:41:40 EndTime=2025-08-15T22:43:20 Duration=00:01:40
   Nodes=c[1-2] NodeCnt=2 CoreCnt=6 Flags=SPEC_NODES
     NodeName=c1 CoreIDs=0-1
     NodeName=c2 CoreIDs=0,1,2-3
   TRES=cpu=12

ReservationName=past StartTime=2025-08-15T22:38:20 EndTime=2025-08-15T22:40:00 Nodes=c1 Flags=
ReservationName=licences StartTime=2025-08-15T22:40:00 EndTime=2025-08-15T22:40:09 Nodes=(null) Licenses=matlab:3
"""


def test_the_text_of_reservations_is_read_as_their_json(bench, tmp_path):
    """Versions before 23.02 print no JSON; the times are those of a zone, here two hours east."""
    by_json, told = read(bench, tmp_path, SLURM_JOBS, SLURM_NODES, SLURM_RESERVATIONS)
    code, out, err = imported(bench, tmp_path, SLURM_JOBS, SLURM_NODES, TEXT, "--zone", "Europe/Rome")
    assert code == 0, err
    assert read_state(tmp_path / "state.json") == by_json and out == told


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("slurm_load_reservations error", "has no ReservationName; expected scontrol show reservations"),
        ("ReservationName=a StartTime=now EndTime=2025-08-15T22:40:00 Nodes=c1", "StartTime of a reservation is 'now'"),
        ("ReservationName=a Nodes=c1", "reservation 'a' has no start_time"),
    ],
)
def test_a_malformed_text_of_reservations_is_an_error(bench, tmp_path, text, said):
    code, _, err = imported(bench, tmp_path, SLURM_JOBS, SLURM_NODES, text)
    assert code == 2 and said in " ".join(err.split())


def test_no_reservations(bench, tmp_path):
    code, _, err = imported(bench, tmp_path, SLURM_JOBS, SLURM_NODES, "No reservations in the system\n")
    assert code == 0, err
    assert read_state(tmp_path / "state.json").reserved == ()
