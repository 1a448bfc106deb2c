"""Jobs that request no amount of any resource, while some nodes take no starts.

The free amounts of such nodes are 0, which is enough for these jobs; so they are started here, and not by a model.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import compress

from ....models.node_states import node_states
from ...engine.moment import Moment, Start


def start_empty(moment: Moment) -> tuple[list[Start], Moment]:
    """Return the starts of the jobs without requests, and the moment without these jobs.

    On a machine whose nodes all take starts, they are jobs like the others: no starts, and the moment itself.
    """
    takes = [node_states()[state].starts for state in moment.states]
    empty = [not any(job.request.values()) for job in moment.waiting]
    if all(takes) or not any(empty):
        return [], moment
    node = next(compress(moment.platform.nodes, takes), None)
    allowed = zip(moment.waiting, empty, moment.may_start.tolist(), strict=True)
    starts = [
        Start(job.id, {node: job.units}) for job, is_empty, may in allowed if is_empty and may and node is not None
    ]
    others = [not is_empty for is_empty in empty]
    rest = replace(moment, waiting=tuple(compress(moment.waiting, others)), may_start=moment.may_start[others])
    return starts, rest
