"""``bench calibrate``."""

from pathlib import Path

import pytest
from schedlab.bench.cli.app import main

CONF = """ClusterName=lab
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
PriorityType=priority/basic
NodeName=n[1-2] CPUs=4
PartitionName=batch Nodes=n[1-2] Default=YES MaxTime=60
"""
LOG = """JobID|Partition|Submit|Start|End|Timelimit|NNodes|NCPUS|NodeList|State|User
1|batch|2026-05-01T10:00:00|2026-05-01T10:00:00|2026-05-01T10:10:00|00:20:00|2|8|n[1-2]|COMPLETED|ana
2|batch|2026-05-01T10:01:00|2026-05-01T10:10:00|2026-05-01T10:15:00|00:20:00|2|8|n[1-2]|COMPLETED|ana
3|batch|2026-05-01T10:02:00|2026-05-01T10:20:00|2026-05-01T10:25:00|00:20:00|1|4|n1|COMPLETED|ben
"""


def run(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert not ended.value.code
    return capsys.readouterr().out


def test_a_late_start_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "jobs.txt").write_text(LOG)
    out = run(
        ["calibrate", str(tmp_path / "jobs.txt"), "--site", str(tmp_path / "slurm.conf"), "--replays", "2", "--csv", str(tmp_path / "waits.csv")],
        capsys,
    )  # fmt: skip
    assert "2026-05-01 10:15:00  job 3 in batch: main would start it; it started 300 s later" in out
    assert "one step: 3 of 4 predicted starts came true, 3 of 3 recorded starts were predicted" in out
    assert (tmp_path / "waits.csv").read_text().splitlines()[1].startswith("all,,3,")
