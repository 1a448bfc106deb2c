"""The benchmark of the metrics of groups: its log, and its parts on a small one."""

from schedlab.benchmarks.groups import PARTITIONS, QUEUES, parts, write_log
from schedlab.instances import read_swf
from schedlab.simulation import simulate


def test_the_log_has_users_queues_and_partitions_and_all_parts_are_measured(tmp_path):
    write_log(tmp_path / "log.swf", jobs=600)
    write_log(tmp_path / "again.swf", jobs=600)
    assert (tmp_path / "log.swf").read_bytes() == (tmp_path / "again.swf").read_bytes()
    jobs = read_swf(tmp_path / "log.swf")
    assert len(jobs.users) > 300 and len(jobs.queues) == QUEUES and len(jobs.partitions) == PARTITIONS
    assert [jobs.partition.tolist().count(k) for k in range(PARTITIONS)] == [150] * 4
    assert set(parts(tmp_path / "log.swf", repeats=1)) == {"read", "replay and verify", "metrics of all groups"}


def test_the_metrics_of_partitions_follow_the_log(tmp_path):
    from schedlab.instances import open_trace

    write_log(tmp_path / "log.swf", jobs=200)
    workload, platform = open_trace(tmp_path / "log.swf")
    found = simulate(workload, platform, "easy").metrics.by("partition")
    assert {name: group.jobs for name, group in found.items()} == {f"partition {k}": 50 for k in (1, 2, 3, 4)}
