"""The kinds of files that ``bench show`` shows: which recognises what, and which options it obeys."""

from pathlib import Path

import pytest
from schedlab.bench.replays.settings import SETTINGS
from schedlab.bench.show.files import KINDS, Shown

LOGS = dict.fromkeys(("format", "nodes", "cores", "memory", "per_node", "zone", "columns"))


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("wishes.csv").write_text("time_s,resource,share\n0,cores,0.5\n")
    Path("log.swf").write_text("; MaxProcs: 4\n1 0 0 60 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n")
    Path("jobs.csv").write_text("1 0 0 60 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n")
    Path("mine.csv").write_text("temperature_c,it_power_w,pue\n10,1000,1.5\n")


@pytest.mark.parametrize(
    ("name", "given", "kind"),
    [
        ("wishes.csv", {}, "desired profile"),
        ("log.swf", {}, "log"),
        ("jobs.csv", {"format": "swf"}, "log"),
        ("mine.csv", {}, "cooling table"),
        ("air", {}, "cooling table"),
        ("eurora_99", {}, "instance"),
        ("nowhere", {}, "instance"),  # which says that there is none
    ],
)
def test_the_first_kind_that_recognises_a_name_shows_it(name, given, kind):
    assert set(given) <= set(SETTINGS)
    shown = Shown(name, LOGS | given)
    assert next(k.what for k in KINDS if k.recognises(shown)) == kind


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
