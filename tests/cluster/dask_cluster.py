"""What ends with the client or the scheduler of a Dask cluster (``make cluster``): too slow for the suite."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from bench.executors.test_dask import CLIENT, Heard, marks, perform, runs_of, wait_for
from schedlab.bench import WrongUse
from schedlab.bench.records import read
from schedlab.bench.runs import dask_executor


def test_the_workers_of_a_client_that_is_killed_end_and_the_same_command_gives_the_same_records(tmp_path):
    methods = [*(f"work:{k / 100}" for k in range(4)), "work:20"]
    here = [str(Path(__file__).parents[1] / "bench" / "executors")]
    script = tmp_path / "client.py"
    script.write_text(CLIENT.format(path=here, folder=str(tmp_path), methods=methods, address=None))
    client = subprocess.Popen([sys.executable, str(script)], stderr=subprocess.DEVNULL)
    assert wait_for(lambda: "20" in marks(tmp_path).values())
    children = psutil.Process(client.pid).children(recursive=True)
    client.send_signal(signal.SIGKILL)
    client.wait()
    assert wait_for(lambda: not any(map(psutil.pid_exists, marks(tmp_path))))
    assert len(children) >= 2 and wait_for(lambda: not any(p.is_running() for p in children))
    methods[-1] = "work:0.5"
    found = perform(tmp_path, runs_of(*methods))
    assert [r["method"] for r in found] == methods
    assert len(list((tmp_path / "out").glob("*.json"))) == 5


def test_a_scheduler_that_is_lost_ends_the_command_and_keeps_the_records(tmp_path):
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"]
    file = tmp_path / "scheduler.json"
    scheduler = subprocess.Popen([*command, "--scheduler-file", str(file)], stderr=subprocess.DEVNULL)
    assert wait_for(file.exists)
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(file), "--nthreads", "1"]
    workers = subprocess.Popen([*worker, "--no-dashboard", "--death-timeout", "5"], stderr=subprocess.DEVNULL)
    try:
        address = json.loads(file.read_text())["address"]
        heard = Heard()
        heard.on_begun = lambda run: scheduler.kill() if run.method == "work:10" else None
        with pytest.raises(WrongUse, match="the Dask scheduler is lost; the finished runs are kept"):
            perform(tmp_path, runs_of("work:0.1", "work:10"), heard, None, address)
        assert [read(p)["method"] for p in (tmp_path / "out").glob("*.json")] == ["work:0.1"]
        assert wait_for(lambda: not any(map(psutil.pid_exists, marks(tmp_path))))
    finally:
        for process in (workers, scheduler):
            process.kill()
            process.wait()


def test_a_cluster_without_workers_is_refused(tmp_path, monkeypatch):
    from distributed import LocalCluster

    monkeypatch.setattr(dask_executor, "CONNECT", 1.0)
    refused = pytest.raises(WrongUse, match="the scheduler has no worker; start some with dask worker")
    with LocalCluster(n_workers=0, dashboard_address=None) as cluster, refused:
        perform(tmp_path, runs_of("work:0"), address=cluster.scheduler_address)
