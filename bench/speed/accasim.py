"""AccaSim 1.1.3 on one trace, for ``bench.speed_replay``: run as a script by the python of an environment that has it.

It imports nothing of ours. Argument: a JSON object with ``log`` (an SWF file), ``nodes``, ``cores`` (of each), ``dispatcher``
(of DISPATCHERS) and ``folder`` (for AccaSim's files). Lines of JSON come back: ``{"done": 1200}`` now and then, at the
end ``{"seconds": ..., "starts": {"1": 7, ...}}``, the processor seconds of the simulation without its start-up.
"""

from __future__ import annotations

import collections
import collections.abc
import contextlib
import json
import sys
import time
from pathlib import Path
from typing import Any

DISPATCHERS = ("fcfs", "easy", "easy, textbook")
NEWS_EVERY = 2.0  # seconds


def dispatcher(name: str) -> Any:
    """A dispatcher of AccaSim with its first-fit allocator; "easy, textbook" mends what its EASY leaves out."""
    from accasim.base.allocator_class import FirstFit  # type: ignore[import-not-found]
    from accasim.base.scheduler_class import EASYBackfilling, FirstInFirstOut  # type: ignore[import-not-found]

    class Heeding(FirstFit):  # type: ignore[misc]
        """Lets a job pass the reserved time only on processors that are extra then: 1.1.3 hands on no reserved nodes."""

        extra = passing = 0

        def _compute_reservation_overlaps(self, job: Any, now: int, reserved: int | None, nodes: Any) -> list[str]:
            late = reserved is not None and now + job.expected_duration > reserved
            self.passing = job.requested_nodes if late else 0
            return ["all"] if self.passing > self.extra else []

        def _update_resources(self, nodes: Any, request: Any) -> None:
            super()._update_resources(nodes, request)
            self.extra -= self.passing

    class Textbook(EASYBackfilling):  # type: ignore[misc]
        """Makes the reservation anew at every event: 1.1.3 keeps the first one, and does not try its job before it."""

        def scheduling_method(self, now: int, jobs: Any, known: Any) -> Any:
            self._blocked_job_id: str | None = None
            self._reserved_slot: tuple[int | None, list[str]] = (None, [])
            return super().scheduling_method(now, jobs, known)

        def _calculate_slot(self, now: int, free: Any, decided: Any, before: Any, head: Any, known: Any) -> Any:
            ends = [(known[k].start_time + known[k].expected_duration, known[k].requested_nodes)
                    for k in self.resource_manager.current_allocations]  # fmt: skip
            ends += [(now + known[k].expected_duration, known[k].requested_nodes) for _, k, _ in decided]
            idle = sum(node["core"] for node in free.values())  # before it is changed
            slot = super()._calculate_slot(now, free, decided, before, head, known)
            idle += sum(units for end, units in ends if end <= slot[0])
            self.nonauto_allocator.extra = idle - head.requested_nodes
            return slot

    if name == "fcfs":
        return FirstInFirstOut(FirstFit())
    return EASYBackfilling(FirstFit()) if name == "easy" else Textbook(Heeding())


def replay(log: str, nodes: int, cores: int, dispatcher_: str, folder: Path, tell: Any) -> dict[str, Any]:
    """Replay the log; nothing is written but the configuration that AccaSim reads."""
    collections.Mapping = collections.abc.Mapping  # type: ignore[attr-defined] # gone since Python 3.10
    from accasim.base.additional_data import AdditionalData  # type: ignore[import-not-found]
    from accasim.base.simulator_class import Simulator  # type: ignore[import-not-found]

    starts: dict[str, int] = {}

    class Starts(AdditionalData):  # type: ignore[misc]
        """Notes the starts as jobs end."""

        told = time.perf_counter()

        def exec_after_completion(self, removed_jobs: Any) -> None:
            starts.update((job.id, job.start_time) for job in removed_jobs)
            if time.perf_counter() > self.told + NEWS_EVERY:
                self.told = time.perf_counter()
                tell({"done": len(starts)})

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
    """Replay what the argument says."""
    asked = json.loads(sys.argv[1])

    def tell(news: dict[str, Any]) -> None:
        print(json.dumps(news), file=out, flush=True)

    out = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        tell(replay(asked["log"], asked["nodes"], asked["cores"], asked["dispatcher"], Path(asked["folder"]), tell))


if __name__ == "__main__":
    main()
