"""Texts of one job on one node have the singular: "1 job", not "1 jobs"."""

import re

import pytest
import schedlab as sl

pytestmark = pytest.mark.usefixtures("in_process")

LOG = "; MaxNodes: 1\n; MaxProcs: 1\n1 0 0 100 1 -1 -1 1 200 -1 1 1 1 1 1 1 -1 -1\n"
WRONG = re.compile(
    r"(?<![\d.,:/=-])1 (?:[a-z]+ )?(?!(?:is|has|was|does|less|times as|pass)\b)[a-z]+[a-z]s\b(?! (?:of|than))"
)


def texts_of(*texts):
    """Return what looks like a plural after the number 1."""
    return [found[0] for text in texts for found in WRONG.finditer(" ".join(text.split()))]


@pytest.mark.slow
def test_commands(bench, tmp_path):
    (tmp_path / "log.swf").write_text(LOG)
    log, made, results = tmp_path / "log.swf", tmp_path / "made", tmp_path / "results"
    commands = [
        ("show", log),
        ("import", "swf", log, "--out", made),
        ("show", made),
        ("run", made, "--methods", "lns", "--time-limit", 1, "--out", tmp_path / "runs"),
        ("verify", tmp_path / "runs"),
        ("simulate", log, "--dispatchers", "easy", "--jobs", 1, "--out", results),
        ("verify", results),
        ("plot", results, "--out", tmp_path / "page.html"),
        ("report", results, "--out", tmp_path / "report.html"),
        ("merge", results, "--out", tmp_path / "merged"),
        ("generate", "project", "--tasks", 1, "--modes", 1, "--out", tmp_path / "project"),
        ("show", tmp_path / "project"),
    ]
    for command in commands:
        code, out, err = bench(*command)
        assert code == 0, (command, out, err)
        assert texts_of(out, err) == [], command
    assert "1 job of a log, 1 node" in (made / "instance.toml").read_text()


def test_objects():
    m = sl.Model("one")
    a = m.interval("a", size=3, start=(0, 9))
    m.add(a.start >= 1)
    m.minimize(sl.piecewise(a.end, [(0, 0), (20, 9)]))
    replay = sl.simulate("eurora_99", "fcfs")
    assert texts_of(repr(m), str(m), repr(replay), repr(sl.load("eurora_99").problem)) == []
    with pytest.raises(sl.SchedlabError) as caught:
        sl.cumulative([a], [], 1)
    assert "1 interval but 0 demands" in str(caught.value)
