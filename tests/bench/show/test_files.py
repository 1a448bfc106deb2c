"""The kinds of files that ``bench show`` shows: which recognises what, and which options it obeys."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("wishes.csv").write_text("time_s,resource,share\n0,cores,0.5\n")
    Path("log.swf").write_text("; MaxProcs: 4\n1 0 0 60 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n")
    Path("jobs.csv").write_text("1 0 0 60 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n")
    Path("mine.csv").write_text("temperature_c,it_power_w,pue\n10,1000,1.5\n")


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("wishes.csv", (), "wishes: desired use, 1 wish"),
        ("log.swf", (), "log: 1 job in 0 s on 4 nodes"),
        ("jobs.csv", ("--format", "swf"), "jobs.csv: 1 job in 0 s"),
        ("mine.csv", (), "mine: cooling from 10 to 10 degrees C"),
        ("air", (), "air: cooling from -20 to 45 degrees C"),
        ("eurora_99", (), "kind: dispatch"),
        ("nowhere", (), "there is no instance 'nowhere'"),
    ],
)
def test_the_first_kind_that_recognises_a_name_shows_it(bench, name, options, said):
    code, out, err = bench("show", name, *options)
    assert said in out + err and code == (2 if name == "nowhere" else 0)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("wishes.csv", "--forecasts", "all"), "--forecasts: for logs only; wishes.csv is no log"),
        (("wishes.csv", "--nodes", "4"), "--nodes: for logs only; wishes.csv is no log"),
        (("air", "--composition"), "--composition: for logs and instances; air is no log and no instance"),
        (("mine.csv", "--cores", "4"), "--cores: for logs only; mine.csv is no log"),
        (("eurora_99", "--plot", "x.svg"), "bench plot draws results"),
    ],
)
def test_an_option_for_other_kinds_is_refused(bench, arguments, said):
    code, out, err = bench("show", *arguments)
    assert (code, out) == (2, "") and said in err


def test_a_log_whose_format_is_named_needs_no_ending(bench):
    code, out, err = bench("show", "jobs.csv", "--format", "swf", "--nodes", "4", "--cores", "1")
    assert (code, err) == (0, "") and "jobs.csv: 1 job" in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["show", "wises.csv"], "wises.csv: there is no such file or folder; did you mean wishes.csv"),
        (["show", "site.tml"], "site.tml: there is no such file or folder; did you mean site.toml or sites.toml?"),
        (["show", "jobs.txt"], "jobs.txt: there is no such file or folder; did you mean jobs.csv?"),
        (["show", "etc/slrm.conf"], "etc/slrm.conf: there is no such file or folder; did you mean etc/slurm.conf?"),
        (["show", "ect/slurm.conf"], "ect/slurm.conf: there is no such file or folder; did you mean etc/slurm.conf?"),
        (["show", "wishes"], "wishes: there is no such file or folder; did you mean wishes.csv"),
        (["show", "eurora_98"], "there is no instance 'eurora_98'"),
        (
            ["simulate", "log.swf", "--site", "site.tml"],
            "--site site.tml: there is no file 'site.tml'; did you mean site.toml",
        ),
        (
            ["simulate", "lgo.swf", "--site", "site.toml"],
            "lgo.swf: there is no such file or folder; did you mean log.swf?",
        ),
        (
            ["calibrate", "lgo.swf", "--site", "site.toml"],
            "lgo.swf: there is no such file or folder; did you mean log.swf?",
        ),
        (
            ["leaderboard", "lgo.swf", "--dispatchers", "easy"],
            "lgo.swf: there is no such file or folder; did you mean log.swf?",
        ),
        (
            ["import", "site", "site.tml", "--out", "x.toml"],
            "site.tml: there is no such file or folder; did you mean site.toml",
        ),
        (
            ["import", "site", "--from-log", "lgo.swf", "--out", "x.toml"],
            "--from-log lgo.swf: there is no such file or folder",
        ),
        (["decide", "stat.json"], "stat.json: there is no such file or folder; did you mean state.json?"),
    ],
)
def test_a_name_with_a_spelling_error_gets_those_of_similar_files(bench, words, told):
    for name in ("site.toml", "sites.toml", "etc/slurm.conf", "state.json"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("")
    code, out, err = bench(*words)
    assert code == 2 and told in " ".join((out + err).split()), out + err
