"""Replay one trace with AccaSim 1.1.3. ``benchmarks.replay`` runs this file as a script in an environment with AccaSim.

The script imports nothing of schedlab. Its argument is a JSON object with ``log`` (an SWF file), ``nodes``, ``cores`` (per
node), ``dispatcher`` (one of DISPATCHERS) and ``folder`` (for the files of AccaSim). It prints lines of JSON: ``{"done":
1200}`` (ended jobs) every two seconds, and at the end ``{"seconds": ..., "starts": {"1": 7, ...}}``: the processor seconds
of the simulation without its start-up, and the start in seconds of each job.
"""

from __future__ import annotations

import argparse
import collections
import collections.abc
import contextlib
import json
import sys
import time
from pathlib import Path
from typing import Any

DISPATCHERS = ("fcfs", "easy", "easy, textbook")
PROGRESS_EVERY = 2.0  # seconds


def dispatcher(name: str) -> Any:
    """Return a dispatcher of AccaSim with its first-fit allocator; "easy, textbook" corrects its EASY backfilling."""
    from accasim.base.allocator_class import FirstFit  # type: ignore[import-not-found]
    from accasim.base.scheduler_class import EASYBackfilling, FirstInFirstOut  # type: ignore[import-not-found]

    class ReservingFirstFit(FirstFit):  # type: ignore[misc]
        """First fit that respects the reservation; in 1.1.3 the allocator gets no reserved nodes.

        A job may run beyond the reserved time only on processors that the reserved job does not need.
        """

        extra = passing = (
            0  # processors that are free besides the reservation; those that the present job would use of them
        )

        def _compute_reservation_overlaps(self, job: Any, now: int, reserved: int | None, nodes: Any) -> list[str]:
            late = reserved is not None and now + job.expected_duration > reserved
            self.passing = job.requested_nodes if late else 0
            return ["all"] if self.passing > self.extra else []

        def _update_resources(self, nodes: Any, request: Any) -> None:
            super()._update_resources(nodes, request)
            self.extra -= self.passing

    class Textbook(EASYBackfilling):  # type: ignore[misc]
        """EASY that renews the reservation at every event; 1.1.3 keeps the first one and does not try its job earlier."""

        def scheduling_method(self, now: int, jobs: Any, known: Any) -> Any:
            self._blocked_job_id: str | None = None
            self._reserved_slot: tuple[int | None, list[str]] = (None, [])
            return super().scheduling_method(now, jobs, known)

        def _calculate_slot(self, now: int, free: Any, decided: Any, before: Any, head: Any, known: Any) -> Any:
            ends = [(known[k].start_time + known[k].expected_duration, known[k].requested_nodes)
                    for k in self.resource_manager.current_allocations]  # fmt: skip
            ends += [(now + known[k].expected_duration, known[k].requested_nodes) for _, k, _ in decided]
            idle = sum(node["core"] for node in free.values())  # before super() changes it
            slot = super()._calculate_slot(now, free, decided, before, head, known)
            idle += sum(units for end, units in ends if end <= slot[0])
            self.nonauto_allocator.extra = idle - head.requested_nodes
            return slot

    if name == "fcfs":
        return FirstInFirstOut(FirstFit())
    return EASYBackfilling(FirstFit()) if name == "easy" else Textbook(ReservingFirstFit())


def replay(log: str, nodes: int, cores: int, dispatcher_: str, folder: Path, on_progress: Any) -> dict[str, Any]:
    """Replay the log. The only file that is written is the configuration of the machine that AccaSim reads.

    Parameters
    ----------
    log : str
        The SWF file.
    nodes, cores : int
        The number of nodes, and of cores per node.
    dispatcher_ : str
        One of DISPATCHERS.
    folder : Path
        The folder for the files of AccaSim.
    on_progress : callable
        Called with ``{"done": number of ended jobs}`` every PROGRESS_EVERY seconds.

    Returns
    -------
    dict
        ``seconds``: processor seconds of the simulation; ``starts``: start in seconds by id of the job.
    """
    collections.Mapping = collections.abc.Mapping  # type: ignore[attr-defined] # AccaSim uses it; Python 3.10 removed it
    from accasim.base.additional_data import AdditionalData  # type: ignore[import-not-found]
    from accasim.base.simulator_class import Simulator  # type: ignore[import-not-found]

    starts: dict[str, int] = {}

    class Starts(AdditionalData):  # type: ignore[misc]
        """Records the start of each job when it ends."""

        last_progress = time.perf_counter()

        def exec_after_completion(self, removed_jobs: Any) -> None:
            starts.update((job.id, job.start_time) for job in removed_jobs)
            if time.perf_counter() > self.last_progress + PROGRESS_EVERY:
                self.last_progress = time.perf_counter()
                on_progress({"done": len(starts)})

        def exec_before_dispatching(self, job_dict: Any, queued_jobs: Any) -> None: ...
        def exec_after_dispatching(self, job_dict: Any, to_dispatch_jobs: Any, rejected_jobs: Any) -> None: ...
        def exec_before_submission(self, es: Any) -> None: ...
        def exec_after_submission(self) -> None: ...
        def exec_before_completion(self) -> None: ...
        def stop(self) -> None: ...

    machine = folder / "machine.json"
    groups = {"groups": {"all": {"core": cores}}, "resources": {"all": nodes}}
    machine.write_text(json.dumps({**groups, "equivalence": {"processor": {"core": 1}}}))
    quiet = {"scheduling_output": False, "statistics_output": False, "show_statistics": False, "LOG_LEVEL": "ERROR"}
    simulator = Simulator(
        log, str(machine), dispatcher(dispatcher_), additional_data=[Starts], RESULTS_FOLDER_PATH=str(folder), **quiet
    )
    began = time.process_time()
    simulator.start_simulation()
    return {"seconds": time.process_time() - began, "starts": starts}


def main() -> None:
    """Replay the trace that the argument names, and print progress and result as lines of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("options", type=json.loads, help="the JSON object")
    options = parser.parse_args().options

    def emit(message: dict[str, Any]) -> None:
        print(json.dumps(message), file=out, flush=True)

    out = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        folder = Path(options["folder"])
        emit(replay(options["log"], options["nodes"], options["cores"], options["dispatcher"], folder, emit))


if __name__ == "__main__":
    main()
