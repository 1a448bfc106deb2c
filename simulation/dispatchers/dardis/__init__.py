"""DARDIS: distributed and randomized dispatching with node managers and a task manager [Bridi2018, 5] [Bridi2016]."""

from ....later import names_later

INNER = {  # module: names that other packages of schedlab read; they are not public
    "messages": (
        "Answering",
        "Extend",
        "GENERATORS",
        "Limits",
        "POLICIES",
        "Placement",
        "Release",
        "Request",
        "SETUPS",
        "Wish",
        "joined",
    ),
    "nodes": ("NodeManagers", "limits_of"),
}
__getattr__ = names_later(__name__, inner=INNER)
