"""``bench import site`` and ``bench show`` of sites: tables, pictures, what is not modelled, wrong use."""

from __future__ import annotations

import pytest
from shared_data import DATA

CONF = """ClusterName=lab
NodeName=n[1-10] CPUs=16 RealMemory=32000 Weight=10
NodeName=g[1-2] CPUs=16 RealMemory=64000 Gres=gpu:a100:2 Feature=ib State=DOWN
PartitionName=batch Nodes=n[1-10] Default=YES MaxTime=1-12 AllowQos=normal,high
PartitionName=gpu Nodes=g[1-2] PriorityTier=5 QOS=gpu OverSubscribe=EXCLUSIVE MaxNodes=2 State=DRAIN
TopologyPlugin=topology/tree
Licenses=matlab:20
"""
QOS = "Name|Priority|UsageFactor|MaxJobsPU|GrpTRES\nnormal|10|1.0|3|cpu=64\nhigh|100|1.0||\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "slurm.conf").write_text(CONF)
    (tmp_path / "etc" / "qos.txt").write_text(QOS)
    return tmp_path / "etc"


def cells(out, first):
    """The words of the row that begins with a word."""
    return next(line.split() for line in out.splitlines() if line.split()[:1] == [first])


def test_a_site_is_imported_and_shown(bench, folder, tmp_path):
    site = tmp_path / "site.toml"
    code, out, err = bench("import", "site", folder, "-o", site, "--name", "mine")
    assert code == 0, err
    assert "licences: 20 matlab" in out and "not modelled: TopologyPlugin=topology/tree" in out
    assert "fault: partition gpu: there is no QOS 'gpu'; known are normal, high" in out
    assert out.splitlines()[-1] == f"{site}: 12 nodes, 2 partitions, 2 QOS; to see it: bench show {site}"
    code, shown, err = bench("show", site)
    assert code == 0, err
    assert shown.splitlines()[0] == "mine (slurm): 12 nodes, 192 CPUs, 4 GPUs, 2 partitions"
    assert cells(shown, "n[1-10]")[1:4] == ["10", "16", "32,000"]
    assert cells(shown, "g[1-2]")[1:6] == ["2", "16", "64,000", "2", "a100"]
    assert "2 down" in shown
    assert cells(shown, "batch") == [
        "batch",
        "(default)",
        "10",
        "160",
        "36",
        "h",
        "1",
        "1",
        "only",
        "QOS",
        "normal,",
        "high",
    ]
    assert cells(shown, "gpu")[:6] == ["gpu", "2", "32", "-", "5", "1"]
    assert "state drain; 1 to 2 nodes; whole nodes; limits of QOS gpu" in " ".join(shown.split())
    assert cells(shown, "normal") == ["normal", "10", "grp_tres", "cpu=64,", "max_jobs_per_user", "3", "-", "-"]
    assert "not modelled: TopologyPlugin=topology/tree" in shown


def test_a_folder_and_a_file_of_slurm_are_shown_as_they_are(bench, folder):
    for path in (folder, folder / "slurm.conf"):
        code, out, err = bench("show", path)
        assert code == 0, err
        assert out.startswith("lab (slurm): 12 nodes")


def test_the_picture_of_a_site(bench, folder, tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "site.svg"
    code, out, err = bench("show", folder, "--plot", picture)
    assert code == 0, err
    text = picture.read_text()
    assert f"{picture}: nodes and partitions" in out
    for label in ("n[1-10]", "g[1-2]", "batch", "gpu", "CPUs of each node"):
        assert label in text
    code, _, err = bench("show", folder, "--plot", tmp_path / "site.png")
    assert code == 2 and "ends in .svg" in err


@pytest.mark.parametrize("option", [("--composition",), ("--nodes", "4"), ("--forecasts", "weekly")])
def test_options_of_other_files_are_refused(bench, folder, option):
    code, _, err = bench("show", folder, *option)
    assert code == 2 and option[0] in err


def test_the_zone_is_that_of_reservations(bench, folder, tmp_path):
    (folder / "res.txt").write_text(
        "ReservationName=r StartTime=2026-06-01T10:00:00 Duration=01:00:00 Nodes=n1 Flags=MAINT Users=root\n"
    )
    site = tmp_path / "site.toml"
    code, out, err = bench("import", "site", folder, "--out", site, "--zone", "Europe/Rome")
    assert code == 0, err
    assert "reservation r: n1 for 1 h (maint)" in out and "start = 1780300800" in site.read_text()
    code, out, err = bench("show", folder, "--zone", "Europe/Rome")
    assert code == 0, err
    code, _, err = bench("show", folder, "--zone", "Nowhere")
    assert code == 2 and "Nowhere" in err


def test_faults_are_told_and_nothing_is_written(bench, folder, tmp_path):
    (folder / "slurm.conf").write_text(CONF.replace("1-12", "soon").replace("CPUs=16", "CPUs=x"))
    site = tmp_path / "site.toml"
    code, _, err = bench("import", "site", folder, "--out", site)
    assert code == 2 and not site.exists()
    assert err.startswith("error: the description of the site has 3 faults:")
    assert "slurm.conf, line 2: CPUs is 'x'" in err and "slurm.conf, line 4: MaxTime is 'soon'" in err
    code, _, err = bench("show", folder)
    assert code == 2 and "MaxTime is 'soon'" in err


def test_a_path_that_does_not_exist_and_a_folder_that_cannot_be_written(bench, folder, tmp_path):
    code, _, err = bench("import", "site", tmp_path / "none", "--out", tmp_path / "site.toml")
    assert code == 2 and "none" in err
    code, _, err = bench("import", "site", folder, "--out", tmp_path / "a" / "site.toml")
    assert code == 2 and "cannot be written" in err


@pytest.mark.skipif(not DATA.is_dir(), reason="the data of developers are missing")
def test_a_site_and_its_logs_are_told_apart(bench):
    code, out, err = bench("show", DATA / "slurm_lab" / "full")
    assert code == 0, err
    assert out.startswith("lab (slurm): 12 nodes, 192 CPUs, 4 GPUs, 4 partitions")
    code, out, err = bench("show", DATA / "slurm_lab" / "full" / "sacct_all.txt.gz", "--nodes", "12", "--cores", "16")
    assert code == 0, err
    assert out.startswith("sacct_all.txt.gz: ")


def test_names_sorted_as_text_are_shown_in_ranges_of_numbers(bench, tmp_path):
    """As a program lists them: n1, n10, n11, n12, n2, ..."""
    names = sorted(f"n{k}" for k in range(1, 13))
    lines = [f"NodeName={name} CPUs=4" for name in names]
    (tmp_path / "slurm.conf").write_text("\n".join(["ClusterName=lab", *lines, "PartitionName=b Nodes=ALL"]) + "\n")
    code, out, err = bench("show", tmp_path / "slurm.conf")
    assert code == 0 and cells(out, "n[1-12]")[1:3] == ["12", "4"], out + err


def test_the_limits_of_accounts_and_users_are_shown(bench, tmp_path):
    (tmp_path / "slurm.conf").write_text(
        "ClusterName=lab\nNodeName=n[1-2] CPUs=4\nPartitionName=b Nodes=ALL Default=YES\n"
    )
    (tmp_path / "dump.cfg").write_text(
        "Cluster - 'lab':Fairshare=1\nParent - 'root'\nAccount - 'chem':GrpTRES=cpu=112:MaxJobs=4\nAccount - 'free'\n"
        "Parent - 'chem'\nUser - 'eva':MaxSubmitJobs=9\n"
    )
    code, out, err = bench("show", tmp_path)
    assert code == 0, err
    assert cells(out, "chem") == ["chem", "-", "grp_tres", "cpu=112,", "max_jobs", "4"]
    assert ["chem", "eva", "max_submit", "9"] in [line.split() for line in out.splitlines()]
    assert "free" not in out


def test_a_log_is_shown_on_its_site(bench, folder, tmp_path):
    log = tmp_path / "jobs.txt"
    log.write_text(
        "JobID|User|Partition|Submit|Start|End|State|AllocCPUS|NNodes|Timelimit\n"
        + "".join(
            f"{k}|u|batch|2024-01-01T00:0{k}:00|2024-01-01T00:0{k}:30|2024-01-01T01:00:00|COMPLETED|16|1|02:00:00\n"
            for k in (1, 2)
        )
    )
    code, out, err = bench("show", log, "--site", folder)
    assert code == 0, err
    assert (
        out.startswith("jobs.txt: 2 jobs in 1.0 min on 12 nodes, offered load") or "2 jobs in 60 s on 12 nodes" in out
    )
    assert "nodes in use" in out
    code, out, err = bench("show", log)
    assert code == 0 and "--site site.toml" in out
    code, _, err = bench("show", "eurora_99", "--site", folder)
    assert code == 2 and "--site: for logs only" in err
