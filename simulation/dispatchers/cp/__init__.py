"""Dispatchers that solve a constraint programming model at each decision."""

from ....later import names_later

INNER = {  # module: names that other files of schedlab read; they are not public
    "dispatcher": ("MODELS", "make"),
    "model": (
        "FOLLOWED",
        "Guard",
        "Held",
        "best_start",
        "followed_by",
        "is_best",
        "origin_of",
        "planned_first",
        "pooled_start",
        "problem_of",
        "running_usage",
        "windows_of_model",
        "without_horizon",
    ),
    "placing": (
        "NodeTimeline",
        "Register",
        "can_start_now",
        "on_open_nodes",
        "requested",
        "requests_of",
        "start_empty",
    ),
}
__getattr__ = names_later(__name__, inner=INNER)
