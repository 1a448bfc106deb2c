"""The JSON of Slurm and PBS without fields that it must have: an error of ours, also from Python."""

from __future__ import annotations

from datetime import UTC
from typing import Any

import pytest
from schedlab import WrongValue
from schedlab.instances import state_from_pbs, state_from_slurm

NODES = {"nodes": [{"name": "n1", "cpus": 4, "state": ["IDLE"], "partitions": ["q"]}]}
RUNNING = {
    "job_id": 7,
    "job_state": ["RUNNING"],
    "partition": "q",
    "nodes": "n1",
    "cpus": 1,
    "start_time": 5,
    "time_limit": 9,
}


@pytest.mark.parametrize(
    ("jobs", "nodes"),
    [
        ([{key: value for key, value in RUNNING.items() if key != "job_id"}], NODES),
        ([["no job"]], NODES),
        ([RUNNING], {"nodes": [{"cpus": 4}]}),
        ([RUNNING], {"nodes": ["n1"]}),
        ([RUNNING], {"sinfo": [{"nodes": {}}]}),
    ],
)
def test_a_state_of_slurm_without_a_field(jobs: list[Any], nodes: dict[str, Any]) -> None:
    with pytest.raises(
        WrongValue, match=r"a field is missing or has another form .*expected the output of squeue --json"
    ):
        state_from_slurm({"jobs": jobs}, nodes, 100, 3600)


@pytest.mark.parametrize(
    ("jobs", "nodes"),
    [({"Jobs": {"7": ["no job"]}}, {"nodes": {"n1": {"state": "free"}}}), ({"Jobs": {}}, {"nodes": {"n1": 5}})],
)
def test_a_state_of_pbs_without_a_field(jobs: dict[str, Any], nodes: dict[str, Any]) -> None:
    with pytest.raises(
        WrongValue, match=r"a field is missing or has another form .*expected the output of qstat -f -F json"
    ):
        state_from_pbs(jobs, nodes, 100, 3600, UTC)
