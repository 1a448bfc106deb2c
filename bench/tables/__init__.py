"""What is shown in the terminal: tables of results, instances, logs and sites."""

from ...later import names_later

INNER = {  # module: names that other packages of schedlab read; they are not public
    "dispatchers": ("dispatcher_columns", "parse_by"),
    "inputs": ("Shown",),
    "instances": ("Composition",),
    "methods": ("ViewResults", "group_by_view", "status"),
    "replays": (
        "DispatcherRow",
        "RECORDED",
        "ReplayResults",
        "all_figures",
        "cycles",
        "extract_replays",
        "models",
        "network",
        "phases",
        "protocol",
    ),
}
__getattr__ = names_later(__name__, inner=INNER)
