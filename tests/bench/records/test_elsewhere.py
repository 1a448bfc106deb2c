"""Records are verified from any folder: relative paths in them are taken from the folders above the records, too."""

from pathlib import Path

import pytest
from schedlab.instances.sites import write_site
from schedlab.models import Partition, Site, SiteNode

HEAD = "JobID|User|Account|Partition|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|State|NNodes|ReqCPUS|AllocCPUS|NodeList"
ROWS = """\
1|ana|a|p|1970-01-02T00:00:10|1970-01-02T00:00:10|1970-01-02T00:00:10|1970-01-02T00:00:50|40|00:01:00|COMPLETED|1|4|4|n1
2|ana|a|p|1970-01-02T00:01:00|1970-01-02T00:01:00|1970-01-02T00:01:00|1970-01-02T00:01:20|20|00:01:00|COMPLETED|2|8|8|n[1-2]
"""


@pytest.fixture
def study(tmp_path, monkeypatch, bench, in_process):
    """Replay a log on a site with an event, and solve a copied instance, with relative paths; then go elsewhere."""
    here = tmp_path / "study"
    here.mkdir()
    monkeypatch.chdir(here)
    (here / "jobs.txt").write_text(HEAD + "\n" + ROWS)
    (here / "events.csv").write_text("time,kind,nodes\n86420,node-down,n2\n86425,node-up,n2\n")
    nodes = ("n1", "n2")
    write_site(Site("s", [SiteNode(n, 4) for n in nodes], [Partition("p", nodes, default=True)]), "site.toml")
    words = ["jobs.txt", "--site", "site.toml", "--events", "events.csv", "--dispatchers", "easy"]
    code, _, err = bench("simulate", *words, "--out", "results/log")
    assert code == 0, err
    (here / "shop.txt").write_text("2 2\n0 3 1 2\n1 2 0 4\n")
    code, _, err = bench("run", "shop.txt", "--methods", "lns", "--time-limit", "1", "--out", "results/shop")
    assert code == 0, err
    monkeypatch.chdir(tmp_path)
    return here


def test_records_with_relative_paths_are_verified_from_another_folder(study, bench):
    code, out, err = bench("verify", study / "results")
    assert code == 0 and "2 valid, 0 not valid" in out, out + err
    code, out, err = bench("verify", Path("study/results/log"))
    assert code == 0 and "1 valid" in out, out + err


def test_a_file_that_is_not_here_is_told(study, bench):
    (study / "shop.txt").rename(study.parent / "moved.txt")
    code, out, _ = bench("verify", study / "results" / "shop")
    assert code == 1 and "not checked: its instance shop.txt is not here; run the command in the folder" in out
    assert "0 valid, 0 not valid, 1 not checked" in out
    code, out, _ = bench("verify", study / "results" / "shop", "--instance", study.parent / "moved.txt")
    assert "not checked: its instance" not in out


@pytest.mark.parametrize("name", ["jobs.txt", "site.toml", "events.csv", "shop.txt"])
def test_files_that_were_changed_are_not_taken_from_there(study, bench, name):
    with (study / name).open("a") as f:
        f.write("\n# another file\n")
    code, out, _ = bench("verify", study / "results")
    assert code == 1 and "1 valid, 1 not valid" in out


@pytest.mark.parametrize("beside", [False, True])
def test_a_site_with_a_relative_path_is_found_beside_an_absolute_log(study, bench, monkeypatch, beside):
    monkeypatch.chdir(study)
    words = [study / "jobs.txt", "--site", "site.toml", "--events", "events.csv", "--dispatchers", "easy,fcfs"]
    code, _, err = bench("simulate", *words, "--out", "results/absolute")
    assert code == 0, err
    (study.parent / "elsewhere").mkdir()
    monkeypatch.chdir(study.parent / "elsewhere")
    if beside:  # a file of the same name that the replay did not read
        Path("site.toml").write_text("schema = 1")
    code, out, err = bench("verify", "../study/results/absolute")
    assert code == 0 and "2 valid, 0 not valid" in out, out + err
