"""Partitions of a log: as queues and as a filter."""

from pathlib import Path

import pytest
from fuzz_seeds import PBS, SACCT, SWF_PARTITIONS
from schedlab.instances import WorkloadError, open_trace, read_trace


@pytest.fixture
def swf(tmp_path: Path) -> Path:
    path = tmp_path / "log.swf"
    path.write_text(SWF_PARTITIONS)
    return path


def queues(path: Path, **options: object) -> dict[str, str]:
    workload, _ = open_trace(path, **options)  # type: ignore[arg-type]
    return {job: workload.queues[k].name for job, k in zip(workload.ids, workload.queue.tolist(), strict=True)}


def test_partitions_become_queues_with_the_names_of_the_header(swf: Path) -> None:
    assert set(queues(swf).values()) == {"default"}
    assert queues(swf, queue_from="partition") == {
        "1": "batch", "2": "large", "3": "batch", "4": "none", "5": "partition 9",
    }  # fmt: skip


def test_the_expected_wait_of_a_queue_is_the_mean_wait_of_its_partition(swf: Path) -> None:
    workload, _ = open_trace(swf, queue_from="partition")
    assert {q.name: q.ewt for q in workload.queues} == {"batch": 20, "large": 100, "none": 5, "partition 9": 7}


@pytest.mark.parametrize("names", [("3", "9"), ("batch", "partition 9")])
def test_jobs_of_other_partitions_are_left_out_and_counted(swf: Path, names: tuple[str, ...]) -> None:
    workload, _ = open_trace(swf, partitions=names)
    assert workload.ids == ("1", "3", "5")
    assert workload.report.repairs["in other partitions, left out"] == 2
    assert any("large: 1, none: 1" in note for note in workload.report.notes)


def test_an_unknown_partition_is_an_error_that_lists_the_others(swf: Path) -> None:
    with pytest.raises(WorkloadError, match=r"in the partition 'bach'; did you mean batch\? the partitions are "):
        open_trace(swf, partitions=("bach",))
    with pytest.raises(WorkloadError, match=r"no job is in the partition '5'; the partitions are .*large \(4\)"):
        open_trace(swf, partitions=["3", "5"])
    with pytest.raises(WorkloadError, match="queues cannot be taken from 'user'"):
        open_trace(swf, queue_from="user")


def test_a_log_without_partitions_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    path.write_text("; MaxProcs: 4\n1 0 10 60 4 -1 -1 4 3600 -1 1 5 1 -1 -1 -1 -1 -1\n")
    for options in ({"queue_from": "partition"}, {"partitions": ["1"]}):
        with pytest.raises(WorkloadError, match="the log has no partitions"):
            open_trace(path, **options)  # type: ignore[arg-type]


def test_the_partitions_of_sacct_and_pbs_are_their_queues(tmp_path: Path) -> None:
    for text, names, ids in ((SACCT, ["debug"], ("14",)), (PBS, ["work"], ("1.srv",))):
        path = tmp_path / "log"
        path.write_text(text)
        trace = read_trace(path)
        assert trace.partition is not None
        assert open_trace(path, nodes=4, cores=64, memory=10**6, others={"gpus": 8}, partitions=names)[0].ids == ids
