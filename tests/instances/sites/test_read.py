"""``read_site``: files are recognised by their content, and merged in an order that does not depend on how they are given."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
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


SAMPLES = {
    "slurm.conf": CONF
    + "SchedulerParameters=bf_window=60,defer\nPriorityMaxAge=1-0\nLicenses=a:2\nNodeSet=s Feature=x\n",
    "dump.cfg": "Cluster - 'c':QOS='normal'\nParent - 'root'\nAccount - 'a':GrpTRES=cpu=4:Fairshare=3\nUser - 'u':MaxJobs=2\n",
    "assoc": "Cluster|Account|User|Share|QOS|GrpTRES|MaxWall\nc|a||1|normal|cpu=4|1-0\nc|a|u|parent|||\n",
    "qos": "Name|Priority|UsageFactor|MaxTRESPU|Flags\nnormal|1|1.0|cpu=4,mem=4G|DenyOnLimit\n",
    "event": "NodeName|TimeStart|TimeEnd|State\nn1|2026-01-01T00:00:00|2026-01-01T01:00:00|DOWN\n",
    "script": "add qos q Priority=3\nadd account a Fairshare=2\nadd user u Account=a\nmodify user u set qos+=q MaxJobs=2\n",
    "nodes": "NodeName=n1 CPUAlloc=0 CPUTot=4 Gres=gpu:a100:2(S:0) State=IDLE+DRAIN RealMemory=100 Weight=3\n",
    "partitions": "PartitionName=p Nodes=n1 MaxTime=1-00:00:00 TotalNodes=1 OverSubscribe=FORCE:2 TRESBillingWeights=CPU=1.0\n",
    "res": "ReservationName=r StartTime=2026-01-01T00:00:00 Duration=01:00:00 Nodes=n1 Flags=MAINT Licenses=a:1\n",
    "config": "Configuration data as of now\nKillWait = 30 sec\nPriorityWeightTRES = CPU=1,Mem=.5\n",
    "pbsnodes": "a\n     state = free\n     resources_available.ncpus = 4\n     resources_available.mem = 4gb\n     queue = q\n",
    "qmgr": "create queue q\nset queue q max_run = [u:PBS_GENERIC=3]\nset queue q resources_max.walltime = 1:00:00\n",
    "site.toml": "schema = 'schedlab-site'\n[[nodes]]\nname = 'n[1-3]'\ncores = 4\ngpus = {a100 = 2}\n[scheduler]\nbf_interval = 3\n",
}
PIECES = [*"=:|,[]-+'\"\\\n #09a\0é%{}", "99999999999999999999", "-1", "nan", "n[1-999999]", "]]", "=="]
ALONE = ("slurm.conf", "nodes", "pbsnodes", "site.toml")


@settings(deadline=None, max_examples=100)
@given(
    st.sampled_from(sorted(SAMPLES)),
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 9), st.sampled_from(PIECES)), max_size=6),
)
def test_damaged_files_are_sites_or_faults(name: str, changes: list[tuple[int, int, str]]) -> None:
    """Nothing but SiteError is raised; what is read can be written and read again."""
    text = SAMPLES[name]
    for place, length, piece in changes:
        at = place % (len(text) + 1)
        text = text[:at] + piece + text[at + length :]
    with tempfile.TemporaryDirectory() as folder:
        damaged, beside, again = (Path(folder, each) for each in ("damaged", "beside", "again"))
        damaged.write_text(text, encoding="utf-8")
        beside.write_text(SAMPLES["pbsnodes" if name == "qmgr" else "slurm.conf"])
        paths = [damaged] if name in ALONE else [damaged, beside]
        try:
            site = read_site(*paths)
        except SiteError:
            return
        write_site(site, again)
        assert read_site(again) == site
        site.faults()


@pytest.mark.parametrize("name", SAMPLES)
def test_the_undamaged_samples_are_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "sample").write_text(SAMPLES[name])
    (tmp_path / "beside").write_text(SAMPLES["pbsnodes" if name == "qmgr" else "slurm.conf"])
    paths = [tmp_path / "sample"] if name in ALONE else [tmp_path / "sample", tmp_path / "beside"]
    site = read_site(*paths)
    assert site.nodes and not any("not known" in what for what in site.not_modelled)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ("AccountingStorageEnforce=limits\nPriorityWeightFairshare=5", ("limits of accounts", "fair shares")),
        ("AccountingStorageEnforce=safe", ("limits of accounts",)),
        ("PriorityType=priority/multifactor\nPriorityWeightFairshare=5", ("fair shares",)),
        ("PriorityType=priority/basic\nPriorityWeightFairshare=5", ()),
        ("AccountingStorageEnforce=associations", ()),
    ],
)
def test_rules_that_need_accounts_are_told_where_no_file_has_any(
    tmp_path: Path, settings: str, told: tuple[str, ...]
) -> None:
    conf = tmp_path / "slurm.conf"
    conf.write_text(f"ClusterName=lab\nNodeName=a CPUs=4\nPartitionName=p Nodes=a\n{settings}\n")
    without = read_site(conf).not_modelled
    assert len(without) == bool(told)
    assert all(rule in without[0] for rule in told)
    assert ("fair shares" in "".join(without)) == ("fair shares" in told)
    dump = tmp_path / "dump.cfg"
    dump.write_text("Cluster - 'lab'\nParent - 'root'\nAccount - 'chem'\n")
    assert read_site(conf, dump).not_modelled == ()
