"""Runs on a cluster of ``dask.distributed``: workers on this machine, or those of a scheduler that is given.

Each task is sent to a worker with enough free threads, where it supervises the process of its run. A worker that is lost
takes its processes with it; its runs are sent to others.
"""

from __future__ import annotations

import json
import os
import queue
import select
import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from ...models.words import how_many, with_short_repr
from ...simulation.dispatchers.dardis.transport import OPEN, local_cluster
from ..errors import WrongUse
from ..records.store import Record
from .executors import (
    MOST_LOST,
    POLL,
    Needed,
    RunProcess,
    Setting,
    Task,
    failed_record,
    lacking,
    needed,
    run_of,
    spec_of,
)
from .process import cores

CONNECT = 5.0  # seconds to reach a scheduler
NO_WORKER = 60.0  # seconds without any worker after which the runs are given up
SHORT = 10.0  # seconds: of runs with at most this time limit, some wait at each worker
AHEAD = 2  # number of them
CHECK = 1.0  # seconds between two looks at the workers


@with_short_repr
class DaskExecutor:
    """Runs on Dask workers. Option: ``address`` of a scheduler; without it, workers are started on this machine."""

    options = ("address",)

    def __init__(self, setting: Setting) -> None:
        try:
            import distributed
        except ImportError as e:
            raise WrongUse(f"--executor dask needs distributed: pip install 'schedlab[dask]' ({e})") from e
        self._distributed: Any = distributed
        self.setting = setting
        self.address = setting.options.get("address")
        self._cluster: Any = None
        self._client: Any = None
        self._topic = f"schedlab-{uuid4().hex}"
        self._news: queue.SimpleQueue[tuple[str, dict[str, Any] | None]] = queue.SimpleQueue()
        self._threads: dict[str, int] = {}  # threads of each worker, by its address
        self._active: dict[str, tuple[Task, str, Any]] = {}  # key of Dask: task, address of its worker, future
        self._waiting: deque[Task] = deque()  # tasks of lost workers
        self._lost: Counter[Task] = Counter()
        self._begun: set[str] = set()
        self._ahead = 0  # threads of runs that may wait at a worker
        self._checked = self._seen = 0.0

    def open(self, tasks: Sequence[Task]) -> None:
        """Connect, start workers if no scheduler is given, and check that all of them can perform the runs."""
        if not tasks:
            return
        most = max(task.run.threads for task in tasks)
        self._client = self._connected(most)
        self._client.subscribe_topic(self._topic, lambda event: self._news.put(event[1]))
        try:
            self._client.wait_for_workers(1, timeout=CONNECT)
        except TimeoutError:
            raise WrongUse(f"--dask {self.address}: the scheduler has no worker; start some with dask worker") from None
        self._look()
        if most > max(self._threads.values()):
            raise WrongUse(
                f"a run has {how_many(most, 'thread')}, the largest Dask worker {max(self._threads.values())}: start workers with "
                f"--nthreads {most}, or choose fewer --threads"
            )
        if max(task.run.time_limit for task in tasks) <= SHORT:
            self._ahead = AHEAD * most
        with needed(tasks) as need:
            self._probe(need)

    def _connected(self, threads: int) -> Any:
        if self.address is None:
            self._cluster = local_cluster(self.setting.jobs or max(1, cores() // threads), threads)
            if not self._cluster.security.require_encryption:
                self.setting.say(OPEN)
            return self._distributed.Client(self._cluster, set_as_default=False)
        _check_reachable(self.address)
        try:
            return self._distributed.Client(self.address, timeout=CONNECT, set_as_default=False)
        except (OSError, ValueError, TypeError) as e:
            raise WrongUse(f"--dask {self.address}: there is no Dask scheduler ({e})") from e

    def _probe(self, need: Needed) -> None:
        try:
            answers = self._client.run(_probed, tuple(need))
        except Exception as e:  # whatever a worker raises that cannot import or read this
            raise WrongUse(f"a Dask worker cannot perform runs of this schedlab: {type(e).__name__}: {e}") from e
        for address, fault in answers.items():
            if fault:
                raise WrongUse(f"the Dask worker {address} {fault}")

    def has_room(self) -> bool:
        """Return whether a worker has a free thread and the number of runs is below ``--jobs``."""
        if self._waiting or (self.address and self.setting.jobs and len(self._active) >= self.setting.jobs):
            return False
        used = self._used()
        return any(used[address] < threads + self._ahead for address, threads in self._threads.items())

    def _used(self) -> Counter[str]:
        used: Counter[str] = Counter()
        for task, address, _ in self._active.values():
            used[address] += task.run.threads
        return used

    def submit(self, task: Task) -> None:
        """Send a task to the worker with most free threads; it waits if it needs more than any has."""
        self._waiting.append(task)
        self._send()

    def _send(self) -> None:
        used = self._used()
        while self._waiting and self._threads:
            task = self._waiting[0]
            free = {a: n + self._ahead - used[a] for a, n in self._threads.items()}
            address = max(free, key=lambda a: free[a])
            if free[address] < task.run.threads:
                return
            self._waiting.popleft()
            used[address] += task.run.threads
            key = f"schedlab-{task.run.key}-{uuid4().hex[:8]}"
            on_host = sum(n for a, n in self._threads.items() if _host(a) == _host(address))
            work = {
                "spec": spec_of(task.run, task.folder),
                "command": list(self.setting.command),
                "cwd": os.getcwd(),
                "threads": self._threads[address],
                "share": task.run.threads / on_host,
                "topic": self._topic,
                "key": key,
            }
            future = self._client.submit(
                perform, json.dumps(work), key=key, workers=[address], allow_other_workers=False, pure=False
            )
            self._active[key] = (task, address, future)
            future.add_done_callback(lambda future: self._news.put((future.key, None)))

    def events(self, seconds: float) -> Iterator[tuple[Task, Mapping[str, Any]]]:
        """Wait for the news of the workers, send the runs of lost workers to others, and yield the news."""
        now = time.monotonic()
        if now > self._checked + CHECK:
            self._look()
            yield from self._drop_lost()
            self._send()
        try:
            news = [self._news.get(block=seconds > 0, timeout=seconds)]
        except queue.Empty:
            return
        with suppress(queue.Empty):
            while True:
                news.append(self._news.get_nowait())
        for key, event in news:
            if key not in self._active:  # of a worker that was taken for lost
                continue
            if event is None:
                yield from self._ended(key)
            else:
                if event["event"] == "begun":
                    self._begun.add(key)
                yield self._active[key][0], event
        self._send()

    def _ended(self, key: str) -> Iterator[tuple[Task, Mapping[str, Any]]]:
        task, _, future = self._active[key]
        if future.status == "finished":
            del self._active[key]
            yield task, {"event": "ended", "record": json.loads(future.result())}
        elif future.status == "error" and not isinstance(future.exception(), self._distributed.scheduler.KilledWorker):
            raise WrongUse(
                f"a Dask worker cannot perform {task.run.method} on {task.run.instance}: {future.exception()!r}"
            )
        else:  # its worker was lost, or the scheduler
            self._look()
            yield from self._again(key)

    def _again(self, key: str) -> Iterator[tuple[Task, Mapping[str, Any]]]:
        """Let a run begin again that was lost; give it up if that happens too often."""
        task, _, future = self._active.pop(key)
        future.release()
        if key in self._begun:
            self._lost[task] += 1
        if self._lost[task] < MOST_LOST:
            self._waiting.append(task)
            return
        message = f"its Dask worker was lost {MOST_LOST} times while it was running"
        yield task, {"event": "ended", "record": failed_record(task.run, "crash", message)}

    def _drop_lost(self) -> Iterator[tuple[Task, Mapping[str, Any]]]:
        lost = [key for key, (_, address, _) in self._active.items() if address not in self._threads]
        for key in lost:
            task, address, future = self._active[key]
            self.setting.say(
                f"the Dask worker {address} is lost: {task.run.method} on {task.run.instance} is run again"
            )
            future.cancel()
            yield from self._again(key)

    def _look(self) -> None:
        """Read the workers. Raises WrongUse if the scheduler is lost, or no worker is left for a long time."""
        self._checked = time.monotonic()
        try:
            self._threads = dict(self._client.nthreads())
        except (OSError, TimeoutError) as e:
            raise WrongUse("the Dask scheduler is lost; the finished runs are kept: give the same command again") from e
        if self._threads:
            self._seen = self._checked
        elif self._checked > self._seen + NO_WORKER:
            raise WrongUse(f"no Dask worker is left for {NO_WORKER:g} s; the finished runs are kept")

    def close(self) -> None:
        """Cancel the active runs and end the workers that were started here."""
        if self._client is not None:
            with suppress(Exception):  # the scheduler may no longer run
                if self._active:
                    self._client.cancel([future for _, _, future in self._active.values()], force=True)
                self._client.close()
        if self._cluster is not None:
            with suppress(Exception):
                self._cluster.close()


def _host(address: str) -> str | None:
    return urlsplit(address).hostname


def _check_reachable(address: str) -> None:
    """Raise WrongUse if nothing listens at a TCP address; Dask itself would try for half a minute."""
    parts = urlsplit(address if "://" in address else f"tcp://{address}")
    try:
        port = parts.port
    except ValueError:
        port = None
    if parts.hostname is None or port is None:
        raise WrongUse(f"--dask {address}: expected the address of a scheduler, such as tcp://host:8786")
    try:
        socket.create_connection((parts.hostname, port), timeout=CONNECT).close()
    except OSError as e:
        raise WrongUse(f"--dask {address}: cannot be reached within {CONNECT:g} s ({e})") from e


def _probed(need: tuple[Any, ...]) -> str:
    """Return what this worker lacks."""
    return lacking(Needed(*need))


class Gate:
    """Lets the runs of this worker begin that its threads suffice for; the others wait."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._used = 0

    def enter(self, threads: int, most: int, is_cancelled: Callable[[], bool]) -> bool:
        """Take threads out of ``most``; return False if the run is cancelled while it waits."""
        with self._changed:
            while self._used + threads > most:
                self._changed.wait(POLL)
                if is_cancelled():
                    return False
            self._used += threads
        return True

    def leave(self, threads: int) -> None:
        """Give threads back."""
        with self._changed:
            self._used -= threads
            self._changed.notify_all()


GATE = Gate()


def perform(text: str) -> bytes:
    """Perform a run on this worker and return its record as JSON; null if the client has cancelled it or is gone.

    Dask would go through all values of dictionaries, to look for other tasks and for types that it packs itself.
    """
    from distributed import get_worker

    work = json.loads(text)
    worker = get_worker()
    threads = work["spec"]["threads"]
    if not GATE.enter(threads, work["threads"], lambda: _is_cancelled(worker, work["key"])):
        return b"null"
    try:
        worker.log_event(work["topic"], (work["key"], {"event": "begun"}))
        return json.dumps(_performed(work, worker)).encode()
    finally:
        GATE.leave(threads)


def _performed(work: Mapping[str, Any], worker: Any) -> Record | None:
    folder = Path(work["spec"]["out"])
    process = RunProcess(
        run_of(work["spec"]), folder, work["command"], work["share"], environment=_environment(), cwd=work["cwd"]
    )
    try:
        while not process.over:
            select.select([process.out], [], [], POLL)
            for event in process.step():
                worker.log_event(work["topic"], (work["key"], event))
            if _is_cancelled(worker, work["key"]):
                return None
        return process.end()
    finally:
        process.stop()


def _is_cancelled(worker: Any, key: str) -> bool:
    """Return whether the scheduler has released the task, as it does if its client is gone."""
    task = worker.state.tasks.get(key)
    return task is None or task.state in ("cancelled", "resumed")


def _environment() -> dict[str, str]:
    """Return the environment without the limits of threads that Dask sets for its workers."""
    from dask import config

    preset = {**config.get("distributed.nanny.pre-spawn-environ", {}), **config.get("distributed.nanny.environ", {})}
    return {name: value for name, value in os.environ.items() if str(preset.get(name)) != value}
