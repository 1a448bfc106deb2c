"""Contradictions in the files of a site are faults with file, line and field, and say what is expected."""

from __future__ import annotations

from pathlib import Path

import pytest
from schedlab.instances.sites import SiteError, read_site

CONF = "ClusterName=lab\nNodeName=n[1-4] CPUs=16\nPartitionName=batch Nodes=ALL MaxTime=1-0\n"
BEGIN, END = "2024-05-02T10:00:00", "2024-05-01T10:00:00"
WHY = f"the reservation 'r' ends at {END}, before it begins at {BEGIN}; expected a later end"


def faults_of(folder: Path, **texts: str) -> list[str]:
    """Return the faults of files, without the folder."""
    for name, text in texts.items():
        (folder / name).write_text(text)
    with pytest.raises(SiteError) as error:
        read_site(*sorted(folder.iterdir()))
    return [str(fault).replace(f"{folder}/", "") for fault in error.value.faults]


@pytest.mark.parametrize("duration", ["", " Duration=1-00:00:00"])
def test_a_reservation_of_scontrol_that_ends_before_it_begins(tmp_path: Path, duration: str) -> None:
    record = f"ReservationName=r StartTime={BEGIN} EndTime={END}{duration}\n   Nodes=n1 NodeCnt=1 Users=root\n"
    other = "ReservationName=a StartTime=2024-05-01T00:00:00 EndTime=2024-05-01T01:00:00\n   Nodes=n2 Users=root\n\n"
    assert faults_of(tmp_path, conf=CONF, res=other + record) == [f"res, line 4: EndTime: {WHY}"]


def test_a_reservation_of_sacctmgr_that_ends_before_it_begins(tmp_path: Path) -> None:
    table = f"Cluster|Name|TRES|TimeStart|TimeEnd|UnusedWall\nlab|r|cpu=16|{BEGIN}|{END}|0\n"
    assert faults_of(tmp_path, conf=CONF, table=table) == [f"table, line 2: TimeEnd: {WHY}"]


def test_a_reservation_with_a_length_needs_no_known_end(tmp_path: Path) -> None:
    (tmp_path / "conf").write_text(CONF)
    (tmp_path / "res").write_text(
        f"ReservationName=r StartTime={BEGIN} EndTime=Unknown Duration=01:00:00\n   Nodes=n1 Users=root\n"
    )
    assert [r.duration for r in read_site(tmp_path / "conf", tmp_path / "res").reservations] == [3600]


@pytest.mark.parametrize(
    "second, why",
    [
        ("NodeName=n3 CPUs=32", "line 2 has the node 'n3' already"),
        ("NodeName=n[3-6] CPUs=16", "line 2 has the node 'n3' and 1 more node already"),
        ("NodeName=n5,n5 CPUs=16", "line 3 has the node 'n5' already"),
    ],
)
def test_a_node_in_two_lines(tmp_path: Path, second: str, why: str) -> None:
    conf = CONF.replace("PartitionName", f"{second}\nPartitionName")
    assert faults_of(tmp_path, conf=conf) == [f"conf, line 3: NodeName: {why}; expected each node in one line"]


def test_a_node_in_two_files_that_one_includes(tmp_path: Path) -> None:
    (tmp_path / "nodes.conf").write_text("NodeName=n4 CPUs=8\n")
    (tmp_path / "slurm.conf").write_text(f"{CONF}Include nodes.conf\n")
    with pytest.raises(SiteError) as error:
        read_site(tmp_path)
    assert str(error.value).replace(f"{tmp_path}/", "") == (
        "nodes.conf, line 1: NodeName: slurm.conf, line 2, has the node 'n4' already; expected each node in one line"
    )


def test_lines_of_defaults_and_other_nodes_do_not_contradict(tmp_path: Path) -> None:
    (tmp_path / "conf").write_text(
        "NodeName=DEFAULT CPUs=8\nNodeName=n[1-2]\nNodeName=DEFAULT CPUs=16\nNodeName=n[3-4]\nPartitionName=b Nodes=ALL\n"
    )
    assert [node.cpus for node in read_site(tmp_path / "conf").nodes] == [8, 8, 16, 16]


def test_a_node_in_two_entries_of_a_site_toml(tmp_path: Path) -> None:
    head = 'schema = "schedlab-site"\nversion = 1\nname = "lab"\n'
    entries = '[[nodes]]\nname = "n[1-4]"\ncores = 4\n\n[[nodes]]\nname = "n[3-4]"\ncores = 8\n'
    assert faults_of(tmp_path, **{"site.toml": head + entries}) == [
        "site.toml, line 8: nodes: the node 'n3' is given twice; expected each node in one entry"
    ]
