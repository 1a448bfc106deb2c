"""What pending jobs of Slurm ask for, and what holds them: decisions for states of a few nodes, and for a real Slurm."""

import gzip
import json
from datetime import UTC
from pathlib import Path

import pytest
from schedlab import WrongValue
from schedlab.instances import free_licences, reservations_in_text, state_from_slurm
from schedlab.instances.formats import waiting_tasks
from schedlab.instances.sites.machine_state import Document, state_of
from schedlab.instances.sites.slurm_state import SlurmNode, node_words
from schedlab.simulation import decide, faults
from shared_data import DATA

NOW = 1_700_000_000
CASES, LAB = DATA.parent / "cases" / "states", DATA / "slurm_lab" / "full"
POLICIES = ("fcfs", "easy", "conservative")


def n(value):
    return {"set": True, "infinite": False, "number": value}


def pending(number, **more):
    return {
        "job_id": number, "job_state": ["PENDING"], "state_reason": "Resources", "partition": "batch", "cpus": n(4),
        "node_count": n(1), "submit_time": n(NOW - 100 + number), "time_limit": n(60), "priority": n(100),
        "tres_req_str": "cpu=4,mem=8000M,node=1,billing=4",
    } | more  # fmt: skip


def running(number, nodes, **more):
    return pending(number, **{"job_state": ["RUNNING"], "nodes": nodes, "start_time": n(NOW - 60), "state_reason": "None",
                              "tres_alloc_str": "cpu=4,mem=8000M,node=1"} | more)  # fmt: skip


def node(name, **more):
    return {
        "name": name, "cpus": 16, "real_memory": 64000, "alloc_cpus": 0, "alloc_memory": 0, "gres": "", "gres_used": "",
        "state": ["IDLE"], "partitions": ["batch"], "threads": 1,
    } | more  # fmt: skip


def made(jobs, nodes):
    values, skipped = state_from_slurm({"jobs": jobs, "last_update": n(NOW)}, {"nodes": nodes}, None, 3600)
    return state_of(values, Document(Path("state.json"))), skipped


LICENCES = """LicenseName=matlab
    Total=20 Used=18 Free=2 Reserved=0 Remote=no
LicenseName=ansys@server
    Total=4 Used=4 Free=0 Reserved=0 Remote=yes
"""


def test_jobs_with_licences_start_while_some_are_free():
    """``scontrol show lic`` says how many; without it, such jobs are held, as they are by another reason or licence."""
    asks = [("matlab:1", "Licenses"), ("matlab", "Resources"), ("matlab:1", "Priority"), ("ansys@server:1", "Licenses"),
            ("idl", "Licenses"), ("matlab|idl", "Resources"), ("matlab:1", "Dependency")]  # fmt: skip
    jobs = [
        pending(k, licenses=asked, state_reason=why, cpus=n(1), tres_req_str="cpu=1,node=1")
        for k, (asked, why) in enumerate(asks, 1)
    ]
    nodes = {"nodes": [node("c1")]}
    values, _ = state_from_slurm(
        {"jobs": jobs, "last_update": n(NOW)}, nodes, None, 3600, None, free_licences(LICENCES)
    )
    state = state_of(values, Document(Path("state.json")))
    assert [s.job for s in decide(state, "easy").starts] == ["1", "2"]
    assert [job.id for job in state.waiting] == ["1", "2", "3"]
    assert state.left_out["4"] == "asks for 1 licence of 'ansys@server', of which 0 are free"
    assert state.left_out["6"] == "asks for licences, whose free number is not known: matlab|idl"
    assert state.left_out["7"] == "Dependency" and "5" in state.left_out
    without, _ = made(jobs, [node("c1")])
    assert without.waiting == ()
    with pytest.raises(WrongValue, match="licence 'matlab': Free is ''; expected a number"):
        free_licences("LicenseName=matlab Total=20")


def starts(jobs, nodes, dispatcher="easy"):
    state, _ = made(jobs, nodes)
    return {s.job: dict(s.nodes) for s in decide(state, dispatcher).starts}


@pytest.mark.parametrize(
    "more",
    [
        *({"state_reason": reason} for reason in (
            "QOSMaxJobsPerUserLimit", "AssocGrpCpuLimit", "PartitionTimeLimit", "Licenses", "BadConstraints", "Cleaning",
            "JobHoldMaxRequeue", "ReqNodeNotAvail, UnavailableNodes:c1", "launch failed requeued held", "Reservation",
            "MaxMemPerLimit", "DeadLine", "a reason of a later version",
        )),
        {"priority": n(0)}, {"hold": True}, {"job_state": ["PENDING", "REQUEUE_HOLD"]}, {"licenses": "matlab:2"},
        {"job_state": ["COMPLETING", "PENDING"]}, {"state_reason": "None", "dependency": "afterok:196(unfulfilled)"},
        {"burst_buffer": "capacity=9"}, {"resv_name": "course"}, {"core_spec": n(2)}, {"features": "a*2&b"},
        {"features": "a|b&c"}, {"required_nodes": "c1,c2"}, {"excluded_nodes": "c[1-2]"}, {"features": "ib"},
        {"partition": "gpu"}, {"contiguous": True, "node_count": n(2)}, {"tres_per_node": "gres:gpu:9999999999999999:1"},
        {"tres_req_str": "cpu=4,mem=8000Q"}, {"minimum_tmp_disk_per_node": n(10)}, {"sockets_per_node": n(4)},
    ],
)  # fmt: skip
def test_a_job_that_is_held_or_not_understood_does_not_start(more):
    jobs = [pending(1, **more), pending(2, state_reason="Priority")]
    state, _ = made(jobs, [node("c1"), node("c2")])
    assert [job.id for job in state.waiting] == ["2"]
    reason = more.get("state_reason", "None")
    if reason != "None":
        assert state.left_out["1"] == reason


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"hold": True, "priority": n(100)}, "JobHeld: its field hold is true"),
        ({"hold": True, "priority": n(0)}, "JobHeld: its priority is 0"),
        ({"priority": n(0)}, "JobHeld: its priority is 0"),
        ({"priority": "0"}, "JobHeld: its priority is 0"),
    ],
)
def test_the_reason_of_a_held_job_names_what_holds_it(more, reason):
    state, _ = made([pending(1, **more), pending(2)], [node("c1")])
    assert state.left_out == {"1": reason}


@pytest.mark.parametrize("reason", ["None", "Resources", "Priority", ""])
def test_these_reasons_let_a_job_start(reason):
    assert starts([pending(1, state_reason=reason)], [node("c1")]) == {"1": {"c1": 1}}


@pytest.mark.parametrize("dispatcher", POLICIES)
@pytest.mark.parametrize("limit", ["in the text", "in its field"])
def test_no_more_tasks_of_an_array_start_than_its_limit_leaves(dispatcher, limit):
    """Three may run at once and one does; one of another array starts as well."""
    tasks = (
        {"array_task_string": "2-9%3"}
        if limit == "in the text"
        else {"array_task_string": "2-9", "array_max_tasks": n(3)}
    )
    jobs = [
        running(11, "c1", array_job_id=n(10), array_task_id=n(1), array_max_tasks=n(3)),
        pending(10, array_job_id=n(10), cpus=n(1), tres_req_str="cpu=1,node=1", **tasks),
        pending(20, array_job_id=n(20), array_task_id=n(7), cpus=n(1), tres_req_str="cpu=1,node=1", array_max_tasks=n(1)),
    ]  # fmt: skip
    state, _ = made(jobs, [node("c1"), node("c2")])
    answer = decide(state, dispatcher)
    assert [s.job for s in answer.starts] == ["10_2", "10_3", "20_7"]
    assert answer.left_out["10_4"].startswith("JobArrayTaskLimit: at most 3 tasks of array 10 run at once, 1 run now")
    assert not faults(state, answer)


def test_the_check_counts_the_tasks_of_an_array():
    state, _ = made([pending(10, array_job_id=n(10), array_task_string="1-4%2")], [node("c1")])
    answer = decide(state, "fcfs")
    assert len(answer.starts) == 2
    object.__setattr__(state, "may_start", {"10": 1})
    assert faults(state, answer) == ["2 tasks of array '10' start; at most 1 may, beside those that run"]


def test_a_requeued_task_has_the_limit_of_its_array_too():
    jobs = [
        pending(10, array_job_id=n(10), array_task_string="5-6%2"),
        pending(12, array_job_id=n(10), array_task_id=n(2), array_max_tasks=n(2)),
        pending(13, array_job_id=n(10), array_task_id=n(3), array_max_tasks=n(2)),
    ]
    assert len(starts(jobs, [node("c1")])) == 2


@pytest.mark.parametrize("text", ["1-1000000", "1-1000000%5000", "0-999999999:3", "1-5,7,9,...", "1-5,7-9,1...%4"])
def test_long_lists_of_tasks_are_read_as_far_as_they_may_start(text):
    state, skipped = made([pending(10, array_job_id=n(10), array_task_string=text)], [node("c1")])
    assert len(state.waiting) + len(state.left_out) <= 1000
    assert [job.id for job in state.waiting][:1] == [f"10_{waiting_tasks(text, 1).indices[0]}"]
    assert any(why.startswith(("task of array 10 after", "array whose list of tasks was cut")) for why in skipped)


GPU_NODE = {"gres": "gpu:a100:4(S:0-1)", "gres_used": "gpu:a100:0(IDX:N/A)"}


@pytest.mark.parametrize(
    "asks",
    [
        {"tres_req_str": "cpu=4,mem=8000M,node=1,gres/gpu:a100=4"},
        {"tres_req_str": "cpu=4,mem=8000M,node=1,gres/gpu=4,gres/gpu:a100=4"},
        {"tres_req_str": "cpu=4,mem=8000M,node=1,gres/gpu=4"},
        {"tres_per_node": "gres:gpu:a100:4"}, {"tres_per_node": "gres/gpu:a100:4"}, {"tres_per_node": "gres/gpu=4"},
        {"tres_per_node": "gpu:4"}, {"tres_per_job": "gres:gpu:4"}, {"tres_per_job": "gres/gpu:a100=4"},
        {"tres_per_task": "gres:gpu:1", "tasks": n(4)}, {"tres_per_task": "cpu=1,gres/gpu:2", "tasks_per_node": n(2)},
        {"tres_per_socket": "gres:gpu:2", "sockets_per_node": n(2)}, {"tres_per_node": "gres:gpu:a100:2,gres:gpu:2"},
    ],
)  # fmt: skip
def test_every_way_of_asking_for_gpus(asks):
    """A node has four: one of the jobs starts, on the node that has them."""
    jobs = [pending(k, **asks) for k in range(1, 4)]
    nodes = [
        node("c0"),
        node("c1", sockets=2, **GPU_NODE),
        node("c2", sockets=2, gres="gpu:v100:1", gres_used="gpu:v100:0"),
    ]
    assert starts(jobs, nodes) == {"1": {"c1": 1}}


def test_a_gpu_of_another_type_does_not_do():
    nodes = [
        node("c1", gres="gpu:a100:2,gpu:v100:2", gres_used="gpu:a100:2(IDX:0,1),gpu:v100:0(IDX:N/A)", alloc_cpus=4)
    ]
    used = running(9, "c1", gres_detail=["gpu:a100:2(IDX:0,1)"])
    assert starts([used, pending(1, tres_per_node="gres:gpu:a100:1")], nodes) == {}
    assert starts([used, pending(1, tres_per_node="gres:gpu:v100:2")], nodes) == {"1": {"c1": 1}}
    assert starts([used, pending(1, tres_per_node="gres:gpu:2"), pending(2, tres_per_node="gres:gpu:1")], nodes) == {
        "1": {"c1": 1}
    }
    untyped = running(9, "c1", tres_alloc_str="cpu=4,mem=8000M,gres/gpu=2")  # gres_used tells the type
    assert starts([untyped, pending(1, tres_per_node="gres:gpu:a100:1")], nodes) == {}


def test_other_generic_resources_and_cpus_per_gpu():
    nodes = [node("c1", gres="shard:8,tmpsize:7T,gpu:2", gres_used="shard:5,gpu:0")]
    assert starts([pending(1, tres_per_node="gres:shard:4")], nodes) == {}
    assert starts([pending(1, tres_per_node="gres:shard:3")], nodes) == {"1": {"c1": 1}}
    assert starts([pending(1, tres_per_node="gres:fpga:1")], nodes) == {}
    job = pending(1, tres_per_node="gres:gpu:2", cpus_per_tres="gres:gpu:9")
    assert starts([job], nodes) == {}


@pytest.mark.parametrize(
    ("words", "state"),
    [
        ("IDLE", "up"), ("MIXED", "up"), ("ALLOCATED", "up"), ("IDLE+CLOUD+POWERED_DOWN", "up"), ("idle~", "up"),
        ("IDLE+CLOUD+POWER", "up"), ("mix#", "up"), ("IDLE+CLOUD+NOT_RESPONDING+POWERING_UP", "up"), ("IDLE+PLANNED", "up"),
        ("idle-", "up"), ("plnd", "up"), ("IDLE+COMPLETING", "up"), ("comp", "up"), ("allocated+", "up"),
        ("IDLE+CLOUD+POWERED_DOWN+POWER_UP", "up"), ("IDLE+DYNAMIC_NORM", "up"), ("IDLE+UNDRAIN", "up"),
        ("idle*", "down"), ("IDLE+NOT_RESPONDING", "down"), ("DOWN", "down"), ("down~", "down"), ("idle%", "down"),
        ("DOWN+CLOUD+POWERED_DOWN+NOT_RESPONDING", "down"), ("IDLE+CLOUD+POWERING_DOWN", "down"), ("FUTURE", "down"),
        ("ERROR", "down"), ("UNKNOWN", "down"), ("IDLE+FAIL", "down"), ("IDLE+INVALID_REG", "down"), ("inval", "down"),
        ("idle!", "draining"), ("IDLE+POWER_DOWN", "draining"), ("IDLE+POWER_DRAIN", "draining"), ("drain~", "draining"),
        ("IDLE+DRAIN", "draining"), ("drng", "draining"), ("drained*", "down"), ("MIXED+DRAIN", "draining"),
        ("maint", "draining"), ("idle$", "draining"), ("IDLE+MAINT", "draining"), ("idle@", "draining"),
        ("MIXED+REBOOT_REQUESTED", "draining"), ("idle^", "draining"), ("npc", "draining"), ("IDLE+BLOCKED", "draining"),
        ("IDLE+A_FLAG_OF_A_LATER_VERSION", "draining"), ("", "draining"), ("IDLE+RESERVED", "reserved"), ("resv", "reserved"),
    ],
)  # fmt: skip
def test_states_of_nodes(words, state):
    assert SlurmNode("c1", {}, {}, {}, node_words(words)).state == state
    takes = starts([pending(1)], [node("c1", state=words), node("c2", state="DOWN")])
    assert takes == ({"1": {"c1": 1}} if state == "up" else {})


def test_flags_in_a_field_of_their_own_and_nodes_of_one_user():
    """As Slurm 22.05 prints them."""
    assert starts([pending(1)], [node("c1", state="idle", state_flags=["DRAIN"])]) == {}
    assert starts([pending(1)], [node("c1", state="idle", state_flags=["CLOUD", "POWERED_DOWN"])]) == {"1": {"c1": 1}}
    assert starts([pending(1)], [node("c1", owner="ann")]) == {}


def test_nodes_that_a_job_may_use():
    nodes = [
        node("c1", partitions=["batch", "debug"]), node("c2", active_features="ib,fast", features="ib,fast"),
        node("c3", active_features=["ib"], temporary_disk=500), node("c4", partitions=["debug"]),
    ]  # fmt: skip
    for more, where in (
        ({"features": "ib&fast"}, {"c2"}), ({"features": "fast|slow"}, {"c2"}), ({"features": "[fast|slow]"}, {"c2"}), ({"features": "[slow|ib]", "node_count": n(2)}, {"c2", "c3"}), ({"features": "slow|fast&ib"}, {"c2"}),
        ({"features": "ib", "excluded_nodes": "c2"}, {"c3"}), ({"required_nodes": "c3"}, {"c3"}),
        ({"required_nodes": ["c3"]}, {"c3"}), ({"minimum_tmp_disk_per_node": n(400)}, {"c3"}),
        ({"partition": "debug", "excluded_nodes": "c1"}, {"c4"}), ({"required_nodes": "c4"}, set()),
        ({"partition": "batch,debug", "required_nodes": "c4"}, {"c4"}),
        ({"node_count": n(2), "required_nodes": "c[2-3]"}, {"c2", "c3"}),
        ({"node_count": n(3), "partition": "debug,batch"}, {"c1", "c2", "c3"}),
        ({"node_count": n(4), "partition": "debug,batch"}, set()), ({"partition": "none"}, set()),
    ):  # fmt: skip
        assert set().union(*starts([pending(1, **more)], nodes).values()) == where, more


@pytest.mark.parametrize(
    "field", [{"exclusive": ["true"]}, {"shared": "none"}, {"shared": ["none"]}, {"exclusive": ["user"]}]
)
def test_exclusive_jobs_take_whole_nodes(field):
    nodes = [node("c1", alloc_cpus=4, alloc_memory=8000), node("c2"), node("c3", state=["IDLE", "COMPLETING"])]
    jobs = [running(9, "c1"), pending(1, **field), pending(2), pending(3, **field)]
    assert starts(jobs, nodes) == {"1": {"c2": 1}, "2": {"c1": 1}}
    assert starts(jobs[:2], nodes[::2]) == {}, "c3 is not yet cleaned up"
    assert starts([pending(1, exclusive=[], shared=[])], nodes[:1]) == {"1": {"c1": 1}}


def test_the_units_of_a_job_are_on_different_nodes():
    assert starts([pending(1, node_count=n(2), tres_req_str="cpu=2,node=2")], [node("c1"), node("c2")]) == {
        "1": {"c1": 1, "c2": 1}
    }
    assert starts([pending(1, node_count=n(2), tres_req_str="cpu=2,node=2")], [node("c1")]) == {}


@pytest.mark.skipif(not CASES.exists(), reason="../shared/cases is missing")
@pytest.mark.parametrize(
    ("k", "started"),
    [(1, {"7": ["c1"], "14": ["c2"]}), (2, {"20": ["c1", "c2"], "21": ["c1"]}), (4, {"40": ["c1"], "41": ["c2"]})],
)
def test_cases(k, started):
    """Each of two nodes has four GPUs: one job of four starts on each; two nodes are booted for the job that needs two."""
    jobs, nodes = (json.loads((CASES / f"{what}{k}.json").read_text()) for what in ("jobs", "nodes"))
    state = state_of(state_from_slurm(jobs, nodes, None, 3600)[0], Document(Path("state.json")))
    assert {s.job: sorted(s.nodes) for s in decide(state, "easy").starts} == started


@pytest.mark.skipif(not LAB.exists(), reason="../shared/data is missing")
@pytest.mark.parametrize("k", range(1, 9))
def test_no_job_starts_that_a_real_slurm_holds(k):
    times = dict(line.split() for line in (LAB / "snaps.txt").read_text().splitlines())
    jobs, nodes = (
        json.loads(gzip.decompress((LAB / f"{what}_{k:02d}.txt.gz").read_bytes())) for what in ("squeue", "sinfo")
    )
    values, _ = state_from_slurm(jobs, nodes, int(float(times[str(k)])), 3600)
    state = state_of(values, Document(Path("state.json")))
    reasons = {}
    for job in jobs["jobs"]:
        if job["job_state"] == "PENDING":
            task = job["array_task_id"]
            name = str(job["job_id"]) if task is None else f"{job['array_job_id']}_{task}"
            reasons[name] = job["state_reason"]
    assert {"None", "Priority", "Resources"} < set(reasons.values()) | {"None", "Priority", "Resources"}
    for dispatcher in POLICIES:
        answer = decide(state, dispatcher)
        told = [reasons.get(s.job, reasons.get(s.job.split("_")[0])) for s in answer.starts]
        assert set(told) <= {"None", "Priority", "Resources"}


def test_a_job_that_runs_elsewhere_and_a_malformed_array_stop_nothing():
    jobs = [
        running(5, "elsewhere[1-2]"),
        pending(6, array_job_id=n(6), array_task_string="1_0-20"),
        pending(7, array_job_id=n(7), array_task_string="9" * 5000),
        pending(8, state_reason="(Priority)"),
    ]
    state, skipped = made(jobs, [node("c1")])
    assert ([job.id for job in state.waiting], state.running) == (["8"], ())
    assert skipped == {"job that runs on no node of the list": 1}
    assert all("expected numbers and ranges" in state.left_out[job] for job in ("6", "7"))


def test_a_number_that_is_none_names_the_job_and_the_field():
    for value in (float("nan"), 10**30, 1e300):
        with pytest.raises(WrongValue, match="job 1: the number"):
            made([pending(1, time_limit=n(value))], [node("c1")])
    for text in ("cpu=nan", "cpu=1_0", "cpu=٣", "cpu=4,mem=infM", "cpu=4,gres/gpu=" + "9" * 5000):
        state, _ = made([pending(1, tres_req_str=text)], [node("c1")])
        assert "expected" in state.left_out["1"] and len(state.left_out["1"]) < 200


@pytest.mark.parametrize(
    "limit", [2**32 - 1, 2**32 - 2, n(2**32 - 1), n(10**13), {"set": False, "infinite": True}, None]
)
def test_a_job_without_a_limit_may_start(limit):
    """Old versions print the numbers that stand for "unlimited" and "not set"."""
    assert starts([pending(1, time_limit=limit)], [node("c1")]) == {"1": {"c1": 1}}


def test_many_long_arrays_take_bounded_memory():
    jobs = [pending(k, array_job_id=n(k), array_task_string="0-999999999") for k in range(1, 300)]
    values, skipped = state_from_slurm({"jobs": jobs, "last_update": n(NOW)}, {"nodes": [node("c1")]}, None, 3600)
    assert len(values["waiting"]) == 100_000
    assert sum(skipped.values()) == 299 * 10**9 - 100_000


SPREAD = {
    "tasks": n(24),
    "cpus": n(24),
    "node_count": n(2),
    "max_nodes": n(0),
    "tres_req_str": "cpu=24,mem=24000M,node=1",
}


def test_a_job_that_asks_for_tasks_alone_is_spread_over_any_number_of_nodes():
    """8 cores are free on each of three nodes; ``-n 24`` takes them, ``-N 2 -n 24`` needs 12 on each of two."""
    busy = [running(k, f"c{k}", cpus=n(8), tres_alloc_str="cpu=8,mem=8000M,node=1") for k in (1, 2, 3)]
    nodes = [node(f"c{k}", alloc_cpus=8, alloc_memory=8000) for k in (1, 2, 3)]
    assert starts([*busy, pending(9, **SPREAD)], nodes) == {"9": {"c1": 8, "c2": 8, "c3": 8}}
    for more in (
        {"max_nodes": n(2)},
        {"tres_req_str": "cpu=24,mem=24000M,node=2"},
        {"tasks_per_node": n(12)},
        {"memory_per_node": n(100)},
        {"minimum_cpus_per_node": n(12)},
        {"tres_per_node": "gres:gpu:1"},
        {"contiguous": True},
        {"shared": "none"},
    ):
        state, _ = made([pending(9, **(SPREAD | more))], [node(f"c{k}", gres="gpu:4") for k in (1, 2)])
        assert [job.units for job in state.waiting] == [2] or more == {"contiguous": True}, more


def test_tasks_with_several_cores_stay_whole():
    """Four tasks of 3 cores on nodes of 16: five tasks fit on each, with 2,000 MB each."""
    job = pending(9, tasks=n(4), cpus=n(12), tres_req_str="cpu=12,mem=8000M,node=1", minimum_cpus_per_node=n(3))
    (read,) = made([job], [node("c1")])[0].waiting
    assert (read.units, read.request["cores"], read.request["memory"]) == (4, 3, 2000)


def test_jobs_that_have_ended_and_priorities_are_in_the_state():
    old = {
        "node_count": n(1),
        "nodes": "c1",
        "submit_time": n(NOW - 900),
        "start_time": n(NOW - 600),
        "end_time": n(NOW - 5),
    }
    jobs = [
        pending(1, priority=n(77)),
        old | {"job_id": 2, "job_state": ["COMPLETED"]},
        old | {"job_id": 3, "job_state": "TIMEOUT", "array_job_id": n(3), "array_task_id": n(4)},
        old | {"job_id": 4, "job_state": ["CANCELLED"], "nodes": "", "start_time": n(NOW - 5)},
        old | {"job_id": 5, "job_state": ["FAILED"], "end_time": n(NOW + 5)},
    ]
    state, skipped = made(jobs, [node("c1")])
    assert [tuple(e) for e in state.ended] == [(name, NOW - 600, NOW - 5) for name in ("2", "3_4")]
    assert state.priority == {"1": 77}
    assert skipped == {"job in state CANCELLED": 1, "job in state FAILED": 1}


@pytest.mark.skipif(not LAB.exists(), reason="../shared/data is missing")
@pytest.mark.parametrize("k", range(1, 9))
def test_every_job_of_a_real_slurm_is_read(k):
    """Each job of squeue is in the state once, or was cancelled or failed before it ran; each node of sinfo is there."""
    times = dict(line.split() for line in (LAB / "snaps.txt").read_text().splitlines())
    jobs, nodes = (
        json.loads(gzip.decompress((LAB / f"{what}_{k:02d}.txt.gz").read_bytes())) for what in ("squeue", "sinfo")
    )
    text = (LAB / f"res_{k:02d}.txt").read_text()
    reserved = reservations_in_text(text, UTC)
    values, skipped = state_from_slurm(jobs, nodes, int(float(times[str(k)])), 3600, reserved)
    expected = []
    never_ran = 0
    for job in jobs["jobs"]:
        task, array = job["array_task_id"], job["array_job_id"]
        name = str(job["job_id"]) if task is None else f"{array}_{task}"
        if job["array_task_string"]:
            expected += [f"{array}_{i}" for i in waiting_tasks(job["array_task_string"], 10**6).indices]
        elif job["job_state"] in ("PENDING", "RUNNING") or job["nodes"]:
            expected.append(name)
        else:
            never_ran += 1
    read = [job["id"] for what in ("waiting", "running", "ended") for job in values.get(what, ())]
    assert sorted(read) == sorted(expected)
    assert sum(count for why, count in skipped.items() if why.startswith("job")) == never_ran
    assert [each["name"] for each in values["nodes"]] == [each["name"] for each in nodes["nodes"]]
    assert sum(each["capacity"].get("gpus", 0) for each in values["nodes"]) == 4
    assert [list(r["nodes"]) for r in values["reservations"]] == ([["n9", "n10"]] if k == 2 or k == 3 else [])


def test_where_a_job_may_run_is_in_fields_of_the_state():
    """Partitions are nodes of queues; what a job asks for beyond them is its own."""
    nodes = [node("c1", partitions=["batch", "debug"], features=["ib"]), node("c2"), node("g1", partitions=["gpu"])]
    jobs = [
        pending(1),
        pending(2, features="ib"),
        pending(3, node_count=n(2), shared="none", excluded_nodes="g1"),
        pending(4, partition="gpu,debug"),
        pending(5, partition="none"),
    ]
    state, _ = made(jobs, nodes)
    assert {q.name: q.nodes for q in state.queues if q.nodes} == {"batch": ("c1", "c2"), "gpu+debug": ("c1", "g1")}
    assert {j.id: (j.queue, j.nodes, j.per_node, j.whole_nodes) for j in state.waiting} == {
        "1": ("batch", (), None, False),
        "2": ("batch", ("c1",), None, False),
        "3": ("batch", (), 1, True),
        "4": ("gpu+debug", (), None, False),
    }
    assert state.platform.resources == ("cores", "memory") and "no node is in none" in state.left_out["5"]


def test_the_components_of_a_heterogeneous_job_stay_in_their_partitions():
    nodes = [node("c1"), node("g1", partitions=["gpu"], alloc_cpus=8, alloc_memory=0)]
    jobs = [
        running(9, "g1", partition="gpu", tres_alloc_str="cpu=8,mem=0M,node=1"),
        pending(1, het_job_id=n(1), het_job_offset=n(0), partition="gpu"),
        pending(2, het_job_id=n(1), het_job_offset=n(1), cpus=n(16), tres_req_str="cpu=16,mem=8000M,node=1"),
    ]
    (start,) = decide(made(jobs, nodes)[0], "easy").starts
    assert (start.nodes, start.further) == ({"g1": 1}, ({"c1": 1},))
