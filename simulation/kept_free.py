"""What the simulator keeps free without a reservation that dispatchers see: for on-demand jobs, and the reserve for them."""

from __future__ import annotations

import numpy as np

from ..heuristics.kernels.profile import Ints
from .dispatcher import Moment


def kept_free(moment: Moment, unused: Ints) -> Ints:
    """Return the amounts that are kept free, shape (nodes, resources); on nodes that take no starts, all that is unused.

    ``unused``: what no running job uses, of the same shape.
    """
    left = unused - moment.free
    number = {name: n for n, name in enumerate(moment.platform.nodes)} if moment.reserved else {}
    for r in moment.reserved:
        if r.start <= moment.now:
            request = np.array([r.request.get(name, 0) for name in moment.platform.resources], np.int64)
            for name, units in r.nodes.items():
                left[number[name]] -= units * request
    kept: Ints = np.maximum(0, left)
    return kept
