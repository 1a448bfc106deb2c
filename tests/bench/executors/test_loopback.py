"""Dask clusters that are started here: only this machine reaches them, and only with the certificate of the cluster."""

import psutil
import pytest

pytest.importorskip("distributed")
from distributed import Client
from schedlab.simulation.dispatchers.dardis import transport as workers
from schedlab.simulation.dispatchers.dardis.transport import LOOPBACK, local_cluster, temporary_security


def listening():
    """Return the addresses at which this process and its children listen."""
    me = psutil.Process()
    every = (c for p in (me, *me.children(recursive=True)) for c in p.net_connections("inet"))
    return {connection.laddr.ip for connection in every if connection.status == psutil.CONN_LISTEN}


@pytest.fixture
def cluster():
    with local_cluster(2, 1) as made:
        yield made


@pytest.mark.slow
def test_all_processes_listen_on_the_loopback_interface(cluster):
    with Client(cluster, set_as_default=False) as client:
        assert client.submit(sum, [1, 2]).result() == 3
        assert listening() == {LOOPBACK}


@pytest.mark.skipif(temporary_security() is None, reason="cryptography is missing: there is no authentication")
@pytest.mark.slow
def test_a_client_without_the_certificate_is_refused(cluster):
    assert cluster.scheduler_address.startswith("tls://")
    with pytest.raises(OSError):
        Client(cluster.scheduler_address.replace("tls://", "tcp://"), timeout=2, set_as_default=False)
    with pytest.raises((OSError, TypeError)):  # it has no certificate
        Client(cluster.scheduler_address, timeout=2, set_as_default=False)
    with pytest.raises(OSError):
        Client(cluster.scheduler_address, timeout=2, set_as_default=False, security=temporary_security())


def test_the_executor_says_that_there_is_no_authentication(bench, tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "temporary_security", lambda: None)
    monkeypatch.chdir(tmp_path)
    command = [
        "run",
        "eurora_99",
        "--at",
        "12:00",
        "--first",
        5,
        "--methods",
        "first-solution:est",
        "--executor",
        "dask",
    ]
    code, _, err = bench(*command, "--jobs", 1, "--out", "out")
    assert code == 0 and " ".join(workers.OPEN.split()) in " ".join(err.split())
