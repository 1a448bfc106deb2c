"""``bench import theta``: an eviction problem of the jobs that run at a moment of a log."""

import schedlab as sl
from schedlab.models import Checkpointing, Eviction

LOG = "; MaxProcs: 100\n" + "\n".join(
    f"{k} {100 * k} 50 {runtime} {nodes} -1 -1 {nodes} 9000 -1 1 1 1 1 1 1 -1 -1"
    for k, (runtime, nodes) in enumerate([(7000, 40), (1000, 10), (9000, 30), (9000, 20)])
)


def test_a_moment_becomes_an_instance_that_can_be_run(bench, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.swf").write_text(LOG + "\n")
    options = ("--at", "300", "--nodes-needed", "50", "--out", "moment", "--plot", "moment.svg")
    code, out, err = bench("import", "theta", "log.swf", *options)
    text = " ".join((out + err).split())
    assert code == 0, text
    assert "3 jobs on 80 nodes, 50 to be freed; 1 of the jobs run for less than 30 min" in text
    assert "all of them run for 900 s" in text  # from 250 to 1150
    assert "<svg" in (tmp_path / "moment.svg").read_text()
    problem = sl.load("moment").problem
    log, _ = sl.instances.traces.open_trace("log.swf")
    assert problem.candidates == Eviction.from_trace(log, 300, 50, checkpointing=Checkpointing(seed=1)).candidates
    code, out, err = bench("import", "theta", "log.swf", "--at", "99999999", "--out", "none")
    assert code == 2 and "no job runs at 99999999 s" in out + err
