"""Slurm: a replay that schedules as Slurm does."""

from ...later import names_later

INNER = {  # module: names that several files of this package read; they are not public
    "columns": ("ELIGIBLE",),
    "events": ("PassTimes",),
    "node_bits": (
        "add_node",
        "has_node",
        "intersection",
        "is_within",
        "lowest",
        "meets",
        "number_in",
        "number_in_both",
        "packed",
        "words_for",
    ),
    "priority": ("JobPriorities",),
    "state": ("ENDED", "REQUEUE_DELAY", "RUNNING", "SlurmStart", "SlurmState", "Victim"),
}
__getattr__ = names_later(__name__, inner=INNER)
