"""What waiting jobs of PBS ask for beyond amounts, and what holds them: decisions for states of a few nodes."""

from collections import Counter
from datetime import UTC
from pathlib import Path

import pytest
from schedlab import WrongValue
from schedlab.instances import state_from_pbs
from schedlab.instances.sites.machine_state import Document, state_of
from schedlab.simulation import decide

NOW = 1_479_277_336


def job(select="1:ncpus=2", place="", listed=None, **more):
    asked = {"select": select, "walltime": "00:30:00"} | ({"place": place} if place else {}) | (listed or {})
    return {"job_state": "Q", "queue": "workq", "ctime": NOW - 100, "Hold_Types": "n", "Resource_List": asked} | more


def node(state="free", has=None, **more):
    return {
        "state": state,
        "resources_available": {"ncpus": 8, "mem": "16gb"} | (has or {}),
        "resources_assigned": {},
    } | more


def state(jobs, nodes):
    values = state_from_pbs({"timestamp": NOW, "Jobs": jobs}, {"nodes": nodes}, None, 3600, UTC)
    return state_of(values[0], Document(Path("state.json"))), values[1]


def starts(jobs, nodes, dispatcher="easy"):
    found = {}
    for start in decide(state(jobs, nodes)[0], dispatcher).starts:
        found[start.job] = dict(sum((Counter(chunk) for chunk in (start.nodes, *start.further)), Counter()))
    return found


RUNS = {
    "job_state": "R",
    "queue": "workq",
    "ctime": NOW - 99,
    "stime": NOW - 90,
    "Resource_List": {"walltime": "1:00:00"},
}
RUNNING = {"r": RUNS | {"exec_vnode": "(a:ncpus=2)"}}
NODES = {"a": node(resources_assigned={"ncpus": 2}), "b": node(has={"switch": "s2", "arch": "linux", "gpfs": "True"})}


@pytest.mark.parametrize("place", ["excl", "exclhost", "free:excl", "pack:exclhost", "scatter:excl"])
def test_a_job_that_takes_whole_nodes(place):
    """It starts on the node without a job, and no other job starts there."""
    jobs = RUNNING | {"1": job(place=place), "2": job("1:ncpus=8"), "3": job("1:ncpus=2")}
    assert starts(jobs, NODES) == {"1": {"b": 1}, "3": {"a": 1}}


@pytest.mark.parametrize("sharing", ["force_excl", "default_excl", "force_exclhost"])
def test_a_node_that_is_never_shared(sharing):
    nodes = {"a": node(sharing=sharing, resources_assigned={"ncpus": 2}), "b": node(sharing=sharing)}
    assert starts(RUNNING | {"1": job(), "2": job()}, nodes) == {"1": {"b": 1}}


@pytest.mark.parametrize(
    ("select", "place", "nodes"),
    [
        ("2:ncpus=2", "free", 1), ("2:ncpus=2", "", 1), ("2:ncpus=2", "scatter", 2), ("2:ncpus=2", "vscatter", 2),
        ("2:ncpus=2", "pack", 1), ("2:ncpus=4", "pack", 1), ("2:ncpus=5", "pack", 0), ("2:ncpus=5", "free", 2),
        ("1:ncpus=4+1:ncpus=2", "scatter", 2), ("1:ncpus=4+1:ncpus=3:mem=1gb", "pack", 1), ("3:ncpus=1", "scatter", 0),
        ("2:ncpus=2", "group=host", 1), ("2:ncpus=5", "group=host", 0), ("2:ncpus=2", "group=switch", 0),
        ("1:ncpus=2", "group=switch", 1), ("2:ncpus=2", "scatter:group=arch", 0), ("2:ncpus=2", "sideways", 0),
    ],
)  # fmt: skip
def test_the_arrangement_of_chunks(select, place, nodes):
    found = starts({"1": job(select, place)}, {"a": node(), "b": NODES["b"]})
    assert len(found.get("1", ())) == nodes


@pytest.mark.parametrize(
    ("select", "where"),
    [
        ("1:ncpus=2:host=b", {"b"}), ("1:ncpus=2:vnode=a", {"a"}), ("1:ncpus=2:host=c", set()), ("1:ncpus=2:arch=linux", {"b"}),
        ("1:ncpus=2:gpfs=true", {"b"}), ("1:ncpus=2:gpfs=False", set()), ("1:ncpus=2:host=a+1:ncpus=2:host=b", {"a", "b"}),
        ("1:ncpus=2:mpiprocs=2:ompthreads=1:host=a", {"a"}), ("1:ncpus=2:fpga=1", set()),
    ],
)  # fmt: skip
def test_hosts_vnodes_and_resources_of_nodes(select, where):
    found = starts({"1": job(select)}, {"a": node(), "b": NODES["b"]})
    assert set(found.get("1", ())) == where


def test_the_defaults_of_a_queue_are_in_schedselect():
    nodes = {"a": node(has={"Qlist": "long"}), "b": node(has={"Qlist": "workq,short"})}
    assert starts({"1": job(schedselect="1:ncpus=2:Qlist=workq")}, nodes) == {"1": {"b": 1}}


def test_nodes_of_a_queue():
    nodes = {"a": node(queue="other"), "b": node()}
    assert starts({"1": job("1:ncpus=8"), "2": job("1:ncpus=8", queue="other"), "3": job()}, nodes) == {
        "1": {"b": 1}, "2": {"a": 1}
    }  # fmt: skip


def test_numbers_of_other_resources_are_used_up():
    nodes = {"a": node(has={"scratch": 10}, resources_assigned={"scratch": 4}), "b": node()}
    jobs = {"1": job("1:ncpus=1:scratch=7"), "2": job("1:ncpus=1:scratch=4"), "3": job("1:ncpus=1:scratch=3")}
    assert starts(jobs, nodes) == {"2": {"a": 1}}
    holds = {"r": RUNS | {"exec_vnode": "(a:ncpus=2:scratch=8)"}}
    assert starts(holds | {"2": job("1:ncpus=1:scratch=4"), "3": job("1:ncpus=1:scratch=2")}, nodes) == {"3": {"a": 1}}


@pytest.mark.parametrize(
    "more",
    [
        {"job_state": "H", "Hold_Types": "u"}, {"Hold_Types": "s"}, {"listed": {"matlab": "2"}},
        {"comment": "Not Running: Queue workq per-user limit reached on resource ncpus"},
        {"comment": "Not Running: Server job limit has been reached."}, {"comment": "Can Never Run: Insufficient amount"},
        {"comment": "Not Running: Queue not started"}, {"depend": "afterok:7.srv@srv"},
    ],
)  # fmt: skip
def test_held_jobs(more):
    found, _ = state({"1": job(**more), "2": job()}, {"a": node()})
    assert [j.id for j in found.waiting] == ["2"] and found.left_out["1"]


@pytest.mark.parametrize(
    "more",
    [
        {"comment": "Not Running: Insufficient amount of resource: ncpus (R: 4 A: 0 T: 8)"},
        {"comment": "Not Running: Job would conflict with reservation or top job"}, {"comment": "a note of the user"},
        {"depend": "beforeok:9.srv@srv"}, {"listed": {"min_walltime": "00:10:00", "nodect": 1}},
    ],
)  # fmt: skip
def test_jobs_that_wait_for_resources(more):
    assert starts({"1": job(**more)}, {"a": node()}) == {"1": {"a": 1}}


@pytest.mark.parametrize(
    "word", ["down", "offline", "stale", "busy", "sleep", "wait-provisioning", "resv-exclusive", "new-word"]
)
def test_only_known_states_of_nodes_take_jobs(word):
    assert starts({"1": job()}, {"a": node(word), "b": node(f"free,{word}")}) == {}
    assert starts({"1": job()}, {"a": node("job-busy")}) == {"1": {"a": 1}}


def test_limits_and_long_lists_of_arrays():
    array = job("1:ncpus=1", array="True", job_state="B", array_indices_remaining="2-1000000", max_run_subjobs=3)
    first = RUNS | {"exec_vnode": "(a:ncpus=1)"}
    found, skipped = state({"3[].srv": array, "3[1].srv": first}, {"a": node()})
    assert [j.id for j in found.waiting] == ["3[2].srv", "3[3].srv"]
    assert len(found.left_out) == 998 and sum(skipped.values()) == 998_999


@pytest.mark.parametrize("place", ["excl", "free:excl", "free"])
@pytest.mark.parametrize("sharing", ["force_excl", "default_excl"])
def test_a_job_that_takes_whole_nodes_starts_on_one_that_is_never_shared(sharing, place):
    nodes = {"a": node(sharing=sharing), "b": node()}
    asked = {"1": job("1:ncpus=2:vnode=a", place), "2": job("1:ncpus=2:vnode=a"), "3": job("1:ncpus=2:vnode=b")}
    assert starts(asked, nodes) == {"1": {"a": 1}, "3": {"b": 1}}


def test_a_node_that_ignores_exclusive_places_is_shared():
    nodes = {"a": node(sharing="ignore_excl", resources_assigned={"ncpus": 2})}
    asked = {"1": job(place="excl"), "2": job(), "3": job(place="excl")}
    assert starts(RUNNING | asked, nodes) == {"1": {"a": 1}, "2": {"a": 1}, "3": {"a": 1}}


def test_two_jobs_on_a_node_that_is_never_shared_leave_no_room():
    nodes = {"a": node(sharing="force_excl", resources_assigned={"ncpus": 4})}
    both = RUNNING | {"s": RUNS | {"exec_vnode": "(a:ncpus=2)"}}
    assert starts(both | {"1": job()}, nodes) == {}


def test_a_job_that_runs_elsewhere_and_a_malformed_array_stop_nothing():
    jobs = {
        "r": RUNS | {"exec_vnode": "(elsewhere:ncpus=2)"},
        "3[].s": job(array="True", array_indices_remaining="2-x"),
        "1": job(),
    }
    found, skipped = state(jobs, {"a": node()})
    assert ([j.id for j in found.waiting], found.running) == (["1"], ())
    assert skipped == {"job that runs on no node of the list": 1}
    assert "'2-x': expected numbers and ranges" in found.left_out["3[].s"]


@pytest.mark.parametrize("value", [True, 1e300, float("nan"), [1], -5, "noon", "Thu Nov 11 17:57:05 0000"])
def test_a_time_that_is_none_names_the_job(value):
    with pytest.raises(WrongValue, match=r"job 1: ctime is .*; expected a time such as"):
        state({"1": job(ctime=value)}, {"a": node()})
    with pytest.raises(WrongValue, match="timestamp is"):
        state_from_pbs({"timestamp": value, "Jobs": {}}, {"nodes": {"a": node()}}, None, 3600, UTC)
