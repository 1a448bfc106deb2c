"""The benchmark of replays: its trace, its output without AccaSim, the cost of a command."""

import io
import subprocess
import sys

import pytest
from rich.console import Console
from schedlab.benchmarks import environments
from schedlab.benchmarks.cost import cost_of
from schedlab.benchmarks.environments import Unavailable, python_with
from schedlab.benchmarks.replay import ACCASIM, beside_accasim, write_trace
from schedlab.instances import read_swf


def test_the_trace_is_the_same_every_time_and_fits_the_machine(tmp_path):
    for name in ("a.swf", "b.swf"):
        write_trace(tmp_path / name, jobs=500, processors=64, load=0.8)
    assert (tmp_path / "a.swf").read_bytes() == (tmp_path / "b.swf").read_bytes()
    jobs = read_swf(tmp_path / "a.swf")
    assert not jobs.report.repairs
    assert jobs.units.max() <= 64
    assert (jobs.runtime <= jobs.walltime).all()
    span = jobs.submit[-1] - 1000  # the last arrival ends the span
    assert (jobs.units * jobs.runtime).sum() / (64 * span) == pytest.approx(0.8, rel=0.01)


def test_without_a_network_the_reason_is_printed_and_schedlab_is_still_measured(tmp_path, monkeypatch):
    def refused(command, **options):
        raise subprocess.CalledProcessError(1, command, "", "ERROR: no index within reach\n")

    def without_pip(home, **options):
        (home / "bin").mkdir(parents=True)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(environments.venv, "create", without_pip)
    monkeypatch.setattr(environments.subprocess, "run", refused)
    write_trace(tmp_path / "log.swf", jobs=100)
    said = io.StringIO()
    beside_accasim(Console(file=said, width=120), tmp_path / "log.swf")
    assert (
        "AccaSim is not measured: pip could not install accasim==1.1.3: ERROR: no index within reach" in said.getvalue()
    )
    rows = [line.split() for line in said.getvalue().splitlines() if line.strip().startswith(("fcfs", "easy"))]
    assert [row[0] for row in rows] == ["fcfs", "easy"] * 2
    assert all(float(row[3].replace(",", "")) > 0 and row[2] == "-" for row in rows)
    with pytest.raises(Unavailable):
        python_with(ACCASIM)  # an installation that failed is not taken for one that is there
    assert (tmp_path / ".cache" / ".gitignore").read_text() == "*\n"


def test_the_cost_of_a_command_counts_the_memory_of_its_children():
    hungry = "import time; block = bytearray(90_000_000); block[::4096] = b'x' * len(block[::4096]); time.sleep(0.6)"
    both = f"import subprocess, sys; {hungry[13:]}; subprocess.run([sys.executable, '-c', {hungry!r}])"
    spent = cost_of([sys.executable, "-c", "import time; " + both])
    assert spent.code == 0
    assert spent.wall > 1.2
    assert spent.peak_mb > 170 or not sys.platform.startswith("linux")
    assert cost_of([sys.executable, "-c", "raise SystemExit(3)"]).code == 3
