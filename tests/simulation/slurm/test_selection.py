"""Which nodes a job gets."""

from __future__ import annotations

import pytest
from schedlab.models import Gres, Partition, SiteNode
from simulation.slurm.small_slurm import job, settings, site, started, state_with


def test_the_fullest_node_that_is_large_enough_is_taken() -> None:
    running = [(job(1, 1), -10, ["n1"]), (job(2, 2), -10, ["n2"])]
    assert started(state_with(site(), [job(3, 2)], running)) == {"3": ("n2",)}


def test_the_smallest_run_of_neighbours_that_suffices_is_taken() -> None:
    running = [(job(1, 4), -10, ["n4"])]  # runs of three and two nodes
    assert started(state_with(site(nodes=6), [job(2, 8)], running)) == {"2": ("n5", "n6")}


def test_a_job_that_no_run_can_hold_takes_several_from_the_largest_on() -> None:
    running = [(job(1, 4), -10, ["n4"])]
    assert started(state_with(site(nodes=6), [job(2, 16)], running)) == {"2": ("n1", "n2", "n3", "n5")}


def test_nodes_of_low_weight_come_first() -> None:
    machine = [SiteNode("n1", 4, weight=50), SiteNode("n2", 4, weight=10)]
    assert started(state_with(site(nodes=2, machine=machine), [job(1, 1)])) == {"1": ("n2",)}


def test_tasks_per_node_and_nodes() -> None:
    running = [(job(1, 3), -10, ["n2"])]
    state = state_with(site(), [job(2, 6, min_nodes=3, max_nodes=3, tasks_per_node=2)], running)
    assert started(state) == {"2": ("n1", "n3", "n4")}
    assert [row[1:].tolist()[0] for row in state.tables.pieces_of(1)] == [2, 2, 2]


def test_cpus_are_dealt_in_turns() -> None:
    state = state_with(site(), [job(1, 5, min_nodes=2, max_nodes=2)])
    assert started(state) == {"1": ("n1", "n2")}
    assert [int(row[1]) for row in state.tables.pieces_of(0)] == [4, 1]  # the first node keeps one CPU for the second


def test_an_exclusive_job_needs_an_empty_node_and_takes_all_of_it() -> None:
    running = [(job(1, 1), -10, ["n1"])]
    state = state_with(site(nodes=2), [job(2, 1, exclusive="node", min_nodes=1, max_nodes=1), job(3, 1)], running)
    assert started(state) == {"2": ("n2",), "3": ("n1",)}
    assert state.tables.free[:, 0].tolist() == [2, 0]


def test_memory_per_cpu_limits_the_cpus_of_a_node() -> None:
    machine = [SiteNode(f"n{k}", 4, memory=4000) for k in (1, 2)]
    place = site(nodes=2, machine=machine, scheduler=settings(select_parameters=("cr_cpu_memory",)))
    state = state_with(place, [job(1, 4, memory_per_cpu=2000)])
    assert started(state) == {"1": ("n1", "n2")}
    assert state.tables.free.tolist() == [[2, 0], [2, 0]]


def test_gpus_by_type() -> None:
    machine = [SiteNode("n1", 4, gpus={"v100": 2}), SiteNode("n2", 4, gpus={"a100": 2})]
    waiting = [job(1, gres=(Gres("gpu", "a100", 2, "node"),)), job(2, gres=(Gres("gpu", "", 1, "node"),))]
    assert started(state_with(site(nodes=2, machine=machine), waiting)) == {"1": ("n2",), "2": ("n1",)}


@pytest.mark.parametrize(
    ("asked", "nodes"),
    [
        ({"features": "ib&ssd"}, ("n3",)),
        ({"features": "ssd"}, ("n2",)),
        ({"excluded_nodes": "n[1-2]"}, ("n3",)),
        ({"nodes": "n2"}, ("n2",)),
    ],
)
def test_features_and_lists_of_nodes(asked: dict[str, str], nodes: tuple[str, ...]) -> None:
    has = ((), ("ssd",), ("ib", "ssd"))
    machine = [SiteNode(f"n{k}", 4, features=names) for k, names in enumerate(has, 1)]
    assert started(state_with(site(nodes=3, machine=machine), [job(1, **asked)])) == {"1": nodes}


def test_contiguous_nodes() -> None:
    running = [(job(1, 4), -10, ["n3"])]
    waiting = [job(2, 12, contiguous=True), job(3, 8, contiguous=True)]
    assert started(state_with(site(nodes=5), waiting, running)) == {}  # the first one stops the partition
    assert started(state_with(site(nodes=5), waiting[1:], running)) == {"3": ("n1", "n2")}


def test_the_least_loaded_node() -> None:
    running = [(job(1, 1), -10, ["n1"]), (job(2, 2), -10, ["n2"])]
    parts = [Partition("p", ("n1", "n2"), default=True, least_loaded=True)]
    assert started(state_with(site(nodes=2, parts=parts), [job(3, 1)], running)) == {"3": ("n1",)}


def test_cores_with_two_threads_are_given_whole() -> None:
    machine = [SiteNode("n1", cores=4, threads=2)]
    state = state_with(site(nodes=1, machine=machine, scheduler=settings(select_parameters=("cr_core",))), [job(1, 3)])
    assert started(state) == {"1": ("n1",)}
    assert state.tables.free[:, 0].tolist() == [4]
