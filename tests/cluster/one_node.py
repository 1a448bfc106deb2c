"""A SLURM cluster of one node on this machine: munged, slurmctld and slurmd as processes, in a folder of their own.

It needs Debian's packages slurmctld, slurmd, slurm-client and munge, and root. Nothing of an installed cluster is used:
configuration, key, ports, states and logs are in the folder.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

import psutil

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel")
NODE = "testnode"
CONF = """\
ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ctld}
SlurmdPort={slurmd}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerType=sched/backfill
SchedulerParameters=sched_min_interval=100000,batch_sched_delay=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
MaxArraySize=20000
MaxJobCount=20000
SlurmdTimeout=5
SlurmctldTimeout=5
ReturnToService=2
RebootProgram=/bin/true
KillWait=2
InactiveLimit=0
MinJobAge=300
DefMemPerCPU=2000
NodeName={node} NodeAddr=127.0.0.1 NodeHostname={host} CPUs={cores} RealMemory={memory} State=UNKNOWN
PartitionName=main Nodes={node} Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> list[str]:
    """Return the programs that are not installed."""
    return [name for name in PROGRAMS if shutil.which(name, path=_path()) is None]


def _path() -> str:
    return f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class OneNode:
    """The cluster, as a context manager; commands of SLURM use it while it is entered (``SLURM_CONF``)."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.daemons: dict[str, subprocess.Popen[bytes]] = {}
        self._environment: dict[str, str | None] = {}

    def __enter__(self) -> OneNode:
        for name in ("state", "spool"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        for path in (key, self.folder):
            path.chmod(0o700)
        host = socket.gethostname().partition(".")[0]
        memory = psutil.virtual_memory().total // 2**20 - 512
        conf = CONF.format(
            host=host, node=NODE, folder=self.folder, ctld=_free_port(), slurmd=_free_port(),
            cores=len(os.sched_getaffinity(0)), memory=memory,
        )  # fmt: skip
        (self.folder / "slurm.conf").write_text(conf)
        for name, value in (("SLURM_CONF", str(self.folder / "slurm.conf")), ("PATH", _path())):
            self._environment[name] = os.environ.get(name)
            os.environ[name] = value
        try:
            self._start("munged", "--foreground", "--force", f"--socket={self.folder}/munge.socket",
                        f"--key-file={key}", f"--pid-file={self.folder}/munged.pid",
                        f"--seed-file={self.folder}/munged.seed", f"--log-file={self.folder}/munged.log")  # fmt: skip
            self._wait("the socket of munged", lambda: (self.folder / "munge.socket").exists())
            self._start("slurmctld", "-D", "-c")
            self.start_node()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *ignored: object) -> None:
        with contextlib.suppress(OSError):
            subprocess.run(["scancel", "--quiet", "--user=root"], check=False, capture_output=True, timeout=20)
        self.kill_node()
        for name in ("slurmctld", "munged"):
            if name in self.daemons:
                self.daemons[name].kill()
                self.daemons[name].wait()
        for name, value in self._environment.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value

    def start_node(self) -> None:
        """Start the daemon of the node and wait until the node is idle."""
        self._start("slurmd", "-D", "-N", NODE)
        self._wait("the node", lambda: self.state() in ("idle", "mixed", "allocated"))

    def kill_node(self) -> None:
        """Kill the daemon of the node and all processes of its jobs, as a power cut does."""
        daemon = self.daemons.pop("slurmd", None)
        if daemon is not None:
            for process in [psutil.Process(daemon.pid), *self._of_jobs()]:
                with contextlib.suppress(psutil.Error):
                    process.kill()
            daemon.wait()

    def start_requeued(self) -> None:
        """Let jobs start that SLURM has requeued; it would wait two minutes, in which the node clears up after them."""
        time.sleep(3)
        jobs = subprocess.run(["squeue", "-h", "-r", "-o", "%F_%K"], check=True, capture_output=True, text=True).stdout
        for job in jobs.split():
            subprocess.run(["scontrol", "update", f"JobId={job}", "StartTime=now"], check=False, capture_output=True)

    def state(self) -> str:
        """Return the state of the node: idle, mixed, allocated, down, ..."""
        done = subprocess.run(["sinfo", "-h", "-o", "%T"], check=False, capture_output=True, text=True, timeout=20)
        return done.stdout.strip().rstrip("*")

    def _of_jobs(self) -> list[psutil.Process]:
        """Return the processes of the jobs of this cluster and those that supervise them, which are no children of slurmd."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                variables = process.environ()
                if "SLURM_JOB_ID" in variables and variables.get("SLURM_CONF") == os.environ["SLURM_CONF"]:
                    above = [p for p in process.parents() if p.name().startswith("slurmstepd")]
                    found += [*above, process]
        return list(dict.fromkeys(found))

    def _start(self, name: str, *arguments: str) -> None:
        log = (self.folder / f"{name}.out").open("ab")
        program = shutil.which(name, path=_path())
        assert program is not None, f"{name} is not installed"
        self.daemons[name] = subprocess.Popen([program, *arguments], stdout=log, stderr=log, start_new_session=True)

    def _wait(self, what: str, ready: object, seconds: float = 60.0) -> None:
        assert callable(ready)
        end = time.monotonic() + seconds
        while not ready():
            if time.monotonic() > end:
                raise TimeoutError(f"{what} was not ready after {seconds:g} s; the logs are in {self.folder}")
            time.sleep(0.2)
