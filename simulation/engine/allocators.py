"""The names of the allocators that a replay may use; ``heuristics.event_fit`` is what they do."""

from __future__ import annotations

ALLOCATORS = ("first-fit", "best-fit")
"""first-fit: nodes in their order; best-fit: in increasing sum of free amounts, each as a share of the node's capacity,
ties by their order (Galleguillos 2.2). Either fills a node with as many units as it holds."""
