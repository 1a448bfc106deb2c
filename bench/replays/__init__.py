"""Replays in the bench: their settings, the replayed workload, the replay in the worker, its record, published studies."""

from ...later import names_later

INNER = {  # module: names that other packages of schedlab read; they are not public
    "carry_out": ("paired", "student"),
    "case": ("replay_case",),
    "settings": ("OF_LOGS", "ReplaySettings", "SETTINGS"),
    "request": ("Exhibit", "Order", "Quantity", "Study", "find_study", "study_names"),
    "worker": ("replay_in_worker",),
}
__getattr__ = names_later(__name__, inner=INNER)
