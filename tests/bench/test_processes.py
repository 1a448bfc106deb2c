"""Process groups: their memory, whether they are suspended, their end."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest
from schedlab.bench.runs import process

GROUP = """
import subprocess, sys, time
held = bytearray(60_000_000)
held[::4096] = b"x" * len(held[::4096])
inner = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"])
print(inner.pid, flush=True)
time.sleep(60)
"""


@pytest.fixture
def group():
    """Return a process that leads a group and holds 60 MB, and the id of its child."""
    command = [sys.executable, "-S", "-c", GROUP]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as leader:
        yield leader, int(leader.stdout.readline())
        process.kill_group(leader.pid)


def test_the_memory_of_a_group_is_that_of_all_its_processes(group):
    leader, inner = group
    assert {p.pid for p in process.members(leader.pid)} == {leader.pid, inner}
    alone = psutil.Process(leader.pid).memory_info().rss
    assert 60e6 < alone < process.group_memory(leader.pid)
    assert process.tree_memory(leader.pid) == pytest.approx(process.group_memory(leader.pid), rel=0.1)


def test_a_stopped_process_of_the_group_is_noticed(group):
    leader, inner = group
    assert not process.is_suspended(leader.pid)
    os.kill(inner, signal.SIGSTOP)
    deadline = time.monotonic() + 10
    while not process.is_suspended(leader.pid):
        assert time.monotonic() < deadline


def test_a_group_is_killed_with_all_its_processes_and_then_has_no_memory(group):
    leader, inner = group
    process.kill_group(leader.pid)
    leader.wait()
    psutil.wait_procs([psutil.Process(inner)] if psutil.pid_exists(inner) else [], timeout=10)
    assert process.group_memory(leader.pid) == process.tree_memory(leader.pid) == 0
    process.kill_group(leader.pid)  # no error


APART = """
import subprocess, sys, time
inner = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"], start_new_session=True)
print(inner.pid, flush=True)
time.sleep(60)
"""


def test_processes_that_a_group_starts_in_sessions_of_their_own_belong_to_it():
    with subprocess.Popen(
        [sys.executable, "-S", "-c", APART], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as leader:
        inner = psutil.Process(int(leader.stdout.readline()))
        assert {p.pid for p in process.members(leader.pid)} == {leader.pid, inner.pid}
        process.kill_group(leader.pid)
    assert psutil.wait_procs([inner], timeout=10)[1] == []


def test_a_group_is_killed_without_reading_all_processes_of_the_machine(monkeypatch, group):
    """A machine may have thousands; a run ends with this call."""
    leader, inner = group
    child = psutil.Process(inner)
    monkeypatch.setattr(psutil, "pids", lambda: pytest.fail("read"))
    process.kill_group(leader.pid)
    assert leader.wait(timeout=10) == -signal.SIGKILL and psutil.wait_procs([child], timeout=10)[1] == []


def test_the_memory_of_the_machine_is_known_here():
    assert process.is_memory_readable() and process.machine_memory() > 2**28


def test_without_psutil_memory_is_unknown(monkeypatch, group):
    leader, _ = group
    monkeypatch.setattr(process, "psutil", None)
    assert process.group_memory(leader.pid) == process.tree_memory(leader.pid) == 0
    assert not process.is_memory_readable() and not process.is_suspended(leader.pid)
    assert process.machine_memory() is None
