"""Dispatchers that solve a constraint programming model at each decision."""

from ....later import names_later

INNER = {  # module: names that other packages of schedlab read; they are not public
    "dispatcher": ("MODELS", "make"),
    "model": (
        "FOLLOWED",
        "best_start",
        "followed_by",
        "is_best",
        "origin_of",
        "planned_first",
        "problem_of",
        "running_usage",
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
