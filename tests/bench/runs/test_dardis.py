"""``bench dardis``: node managers in real processes, over MPI and Dask, start all jobs as in simulation."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import schedlab as sl
from schedlab.bench.runs import process
from schedlab.simulation import Dardis
from schedlab.simulation.dispatchers.dardis.transport import Network

SETUP, FAULT = "first/min-start", "3@40"  # process 3 has the nodes 43 to 64
PATIENT = ("--timer", "60")  # on a busy machine, a process may answer late


@pytest.fixture
def run(bench, tmp_path, monkeypatch):
    """Return a function that runs bench dardis in an empty folder; it returns the exit code and the output."""
    monkeypatch.chdir(tmp_path)

    def of(*arguments):
        code, out, err = bench("dardis", *arguments)
        return code, " ".join((out + err).split())

    return of


def record(folder, transport):
    """Return the record of a replay over a transport."""
    found = [json.loads(path.read_text()) for path in Path(folder).glob("*.json")]
    (one,) = [r for r in found if r["replay"]["network"].startswith(transport)]
    return one


@pytest.fixture(scope="module")
def simulated():
    """The schedule of eurora_330 in simulation, with all node managers in one process."""
    return sl.simulate("eurora_330", dispatcher=f"dardis:{SETUP}").schedule()


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["mpi", "dask"])
def test_four_processes_start_the_jobs_of_eurora_330_as_in_simulation(run, bench, transport, simulated):
    code, text = run("eurora_330", "--setups", SETUP, "--transport", transport, "--out", "r", *PATIENT)
    assert code == 0 and "the protocol as measured between processes" in text, text
    found = record("r", transport)
    assert found["schedule"] == simulated.as_json()
    assert found["metrics"]["decisions_counts_silent_nodes"] == found["metrics"]["decisions_counts_timeouts"] == 0
    assert found["metrics"]["decisions_phases_wall_offers"] > found["metrics"]["decisions_phases_generation_one"] > 0
    assert bench("verify", "r")[0] == 0


@pytest.fixture(scope="module")
def broken():
    """The first 60 jobs of eurora_330 in simulation, in which a process falls silent; and its costs."""
    whole, network = sl.load("eurora_330").problem, Network(fault=FAULT)
    with network.link() as link:
        dispatcher = Dardis(SETUP, connect=network.over(link))
        found = sl.simulate(whole.replace(jobs=whole.jobs[:60]), dispatcher=dispatcher, seed=1)
    return found.schedule(), dispatcher.costs.counts


@pytest.mark.parametrize("transport", ["mpi", "dask"])
@pytest.mark.slow
def test_a_process_that_dies_in_mid_run_loses_its_nodes_and_nothing_else(run, bench, transport, broken):
    options = ("--first", "60", "--setups", SETUP, "--fault", FAULT, "--timer", "5", "--starts", "starts.csv")
    code, text = run("eurora_330", "--transport", transport, *options, "--out", "r")
    assert code == 0, text
    found, (schedule, counts) = record("r", transport), broken
    assert found["schedule"] == schedule.as_json() and len(Path("starts.csv").read_text().splitlines()) == 61
    measured = {k: found["metrics"][f"decisions_counts_{k}"] for k in counts}
    # pickle writes objects that a message has twice once; which ones are shared differs between processes
    assert measured == {**counts, "packet_bytes": pytest.approx(counts["packet_bytes"], rel=0.05)}
    assert counts["silent_nodes"] == 22 and counts["timeouts"] + counts["restarts"] > 0
    assert bench("verify", "r")[0] == 0


def test_each_seed_is_replayed(run):
    options = ("--setups", "throughput", "--seeds", "1,2", "--lost", "0.05", "--late", "0.1", "--dry-run")
    code, text = run("eurora_99", *options)
    assert code == 0 and text.count("network simulate:processes=4:lost=0.05:late=0.1") == 2


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--transport", "tcp"), "expected one of simulate, mpi, dask"),
        (("--setups", "fast"), "--setups fast: expected some of throughput"),
        (("--processes", "1"), "--processes 1: expected at least 2"),
        (("--processes", "9"), "--processes 9: expected at most 5"),
        (("--timer", "3"), "messages take no time"),
        (("--lost", "2"), "--lost 2: expected a probability"),
        (("--fault", "4@1"), "a process of node managers from 1 to 3"),
    ],
)
def test_wrong_options_are_a_sentence(run, options, why):
    code, text = run("eurora_99", *options)
    assert code == 2 and why in text, text


@pytest.mark.parametrize(("transport", "package"), [("mpi", "mpi4py"), ("dask", "distributed")])
def test_a_package_that_is_missing_is_named_with_its_installation(run, monkeypatch, transport, package):
    monkeypatch.setattr(process, "find_spec", lambda name: None)
    code, text = run("eurora_99", "--transport", transport)
    assert code == 2 and f"{package} is not installed: pip install 'schedlab[{transport}]'" in text
    monkeypatch.undo()


def test_mpi_without_mpiexec_is_a_sentence(run, monkeypatch):
    monkeypatch.setattr(process.shutil, "which", lambda name: None)
    monkeypatch.setattr(process.sys, "executable", "/nowhere/python")
    code, text = run("eurora_99", "--transport", "mpi")
    assert code == 2 and "there is no mpiexec: pip install 'schedlab[mpi]'" in text


@pytest.mark.parametrize("transport", ["mpi", pytest.param("dask", marks=pytest.mark.slow)])
def test_ctrl_c_leaves_no_process(tmp_path, transport):
    command = [sys.executable, "-m", "schedlab.bench.cli.app", "dardis", "eurora_330", "--transport", transport]
    bench = subprocess.Popen([*command, "--setups", "balance"], cwd=tmp_path, stderr=subprocess.PIPE)
    try:
        deadline = time.monotonic() + 120
        while len(family := psutil.Process(bench.pid).children(recursive=True)) < 5:  # the worker and four processes
            assert time.monotonic() < deadline and bench.poll() is None
            time.sleep(0.1)
        bench.send_signal(signal.SIGINT)
        assert bench.wait(60) == 130
        gone, alive = psutil.wait_procs(family, timeout=20)
        assert len(gone) >= 5 and alive == []
    finally:
        for process in (p for p in family if p.is_running()):
            os.kill(process.pid, signal.SIGKILL)
        bench.kill()
        bench.communicate()
