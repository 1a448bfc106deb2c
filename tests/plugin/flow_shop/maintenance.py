"""A feature of replays: on some days of the week, the nodes of a rack take no jobs, and jobs that run there end early."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from schedlab.models import NodeGroup
from schedlab.models.language import Violation
from schedlab.simulation import Feature, Rank, attempts_of, setting

DAY = 86_400
PANEL = "Maintenance"


@dataclass
class Maintenance(Feature):
    """The maintenance of a rack: a group of nodes is closed on every n-th day."""

    maintenance_rack: str = setting("", "the group of nodes that is maintained", PANEL, label="rack {} is maintained")
    maintenance_every: int = setting(7, "days from one maintenance to the next", PANEL, least=1)

    follows_nodes = True

    def begin(self, engine):
        """Put the begin and the end of each maintenance on the agenda."""
        self._engine = engine
        self._mask = np.array([node in self._nodes(engine.platform.groups) for node in engine.platform.nodes])
        first, last = int(engine.workload.submit.min()), int(engine.workload.submit.max())
        for begin in range(self._first(first), last + 7 * DAY, self.maintenance_every * DAY):
            engine.agenda.add(begin, Rank.NODE_STATE, lambda: self._close(True), waits_for_jobs=True)
            engine.agenda.add(begin + DAY, Rank.NODE_STATE, lambda: self._close(False), waits_for_jobs=True)

    def _nodes(self, groups: Iterable[NodeGroup]) -> set[str]:
        return {node for group in groups if group.name == self.maintenance_rack for node in group.nodes}

    def _first(self, time: int) -> int:
        return time // (self.maintenance_every * DAY) * self.maintenance_every * DAY

    def _close(self, closed: bool) -> None:
        engine = self._engine
        if closed:
            for j in engine.running:
                if self._mask[engine.ledger.places_of(j)].any():
                    engine.fail(j, "maintenance")
        names = ["maintained" if hit and closed else "up" for hit in self._mask]
        engine.timeline.close("maintenance", self._mask & closed, names)

    def stops(self, replay) -> Iterator[tuple[str, int]]:
        """Yield the nodes of the rack with the begin of each maintenance."""
        last = int(replay.end.max())
        for begin in range(self._first(int(replay.workload.submit.min())), last + 1, self.maintenance_every * DAY):
            for node in self._nodes(replay.platform.groups):
                yield node, begin

    def check(self, replay) -> Iterator[Violation]:
        """Yield a violation for each attempt that ran on the rack during a maintenance."""
        rack = self._nodes(replay.platform.groups)
        for attempt in attempts_of(replay):
            if rack.isdisjoint(attempt.nodes):
                continue
            begin = self._first(attempt.start)
            if attempt.start < begin + DAY or attempt.end > begin + self.maintenance_every * DAY:
                yield Violation("maintenance", 1.0, f"job {attempt.job!r} ran on the rack during its maintenance")
