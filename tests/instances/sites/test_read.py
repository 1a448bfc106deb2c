"""``read_site``: files are recognised by their content, and merged in an order that does not depend on how they are given."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import pytest
from schedlab.instances.sites import SiteError, read_site, write_site
from schedlab.models import Site, SiteNode
from shared_data import DATA

Writer = Callable[[str, str], Path]
LAB = DATA / "slurm_lab" / "full"
CONF = "ClusterName=c\nNodeName=n1 CPUs=4 Gres=gpu:1\nPartitionName=p Nodes=n1 MaxTime=10\n"


def test_the_order_of_the_files_does_not_matter(file: Writer) -> None:
    paths = [
        file("a", CONF),
        file("b", "Name=gpu Type=v100 File=/dev/nvidia0\n"),
        file("c", "Name|Priority|UsageFactor\nnormal|3|1.0\n"),
        file("d", "PartitionName=p\n   MaxTime=00:20:00 Nodes=n1\n   TotalNodes=1\n"),
    ]
    sites = [read_site(*order) for order in permutations(paths)]
    assert all(site == sites[0] for site in sites)
    site = sites[0]
    assert (site.partition("p").max_time, site.nodes[0].gpus, site.quality("normal").priority) == (1200, {"v100": 1}, 3)


def test_files_may_be_compressed_and_named(tmp_path: Path) -> None:
    path = tmp_path / "conf.gz"
    path.write_bytes(gzip.compress(CONF.encode()))
    assert read_site(path, name="mine").name == "mine"


def test_other_files_of_a_folder_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "notes.txt").write_text("buy milk\n")
    (tmp_path / "picture.png").write_bytes(bytes(range(256)) * 50)
    (tmp_path / "cgroup.conf").write_text("ConstrainCores=yes\n")
    (tmp_path / "inner").mkdir()
    assert [n.name for n in read_site(tmp_path).nodes] == ["n1"]


def test_included_files_of_a_folder_are_read_in_their_places(tmp_path: Path) -> None:
    (tmp_path / "a_partitions.conf").write_text("PartitionName=p Nodes=n1 MaxTime=10\n")
    (tmp_path / "nodes.conf").write_text("NodeName=n1 CPUs=4\n")
    text = "ClusterName=c\nNodeName=DEFAULT RealMemory=7\nInclude nodes.conf\n  include /etc/slurm/a_partitions.conf\n"
    (tmp_path / "slurm.conf").write_text(text)
    site = read_site(tmp_path)
    assert (site.nodes[0].memory, site.partition("p").nodes) == (7, ("n1",))


def test_a_folder_may_have_a_site_toml(tmp_path: Path) -> None:
    site = Site("s", [SiteNode("a", 1)])
    write_site(site, tmp_path / "site.toml")
    assert read_site(tmp_path) == site


def test_what_is_no_site_is_refused(file: Writer, tmp_path: Path) -> None:
    notes = file("notes.txt", "buy milk\n")
    with pytest.raises(SiteError, match=r"notes.txt: it is no description of a site; expected site.toml, .*pbsnodes"):
        read_site(notes)
    with pytest.raises(SiteError, match=r"nothing.conf: "):
        read_site(tmp_path / "nothing.conf")
    with pytest.raises(SiteError, match="the folder has no file that describes a site"):
        read_site(tmp_path)
    with pytest.raises(SiteError, match="no file describes nodes"):
        read_site(file("qos.txt", "Name|Priority|UsageFactor\nnormal|3|1.0\n"))
    write_site(Site("s", [SiteNode("a", 1)]), tmp_path / "site.toml")
    with pytest.raises(SiteError, match=r"a site\.toml is read alone; leave out"):
        read_site(tmp_path / "site.toml", file("slurm.conf", CONF))
    with pytest.raises(SiteError, match="expected paths of files or folders"):
        read_site()


def test_two_clusters_are_refused(file: Writer) -> None:
    with pytest.raises(SiteError, match=r"two.conf, line 1: ClusterName=d: .*one.conf is of the cluster c"):
        read_site(file("one.conf", CONF), file("two.conf", CONF.replace("=c", "=d")))


def test_faults_of_all_files_are_told_together(file: Writer) -> None:
    with pytest.raises(SiteError) as e:
        read_site(
            file("slurm.conf", CONF.replace("MaxTime=10", "MaxTime=x")),
            file("qos.txt", "Name|Priority|UsageFactor\nnormal|y|1.0\n"),
        )
    assert [(Path(f.where.file).name, f.where.line, f.field) for f in e.value.faults] == [
        ("slurm.conf", 3, "MaxTime"),
        ("qos.txt", 2, "Priority"),
    ]


@pytest.mark.skipif(not LAB.is_dir(), reason="the data of developers are missing")
def test_the_files_of_a_site_one_by_one_are_its_folder() -> None:
    kinds = ("slurm.conf", "gres.conf", "dump.cfg", "qos.txt", "assoc.txt", "config.txt", "partitions.txt", "nodes.txt",
             "events.txt", "reservations.txt", "res_02.txt")  # fmt: skip
    assert read_site(*(LAB / name for name in reversed(kinds))) == read_site(LAB)
