"""Compiled kernels that replay jobs event by event under a rule."""

from ....later import names_later

INNER = {  # module: names that other packages of schedlab read; they are not public
    "counted_free": ("bound", "new_bounds", "note_freed", "remember"),
    "entries": ("step",),
    "machine": ("trace_of",),
    "state": ("WAITING", "new_state"),
}
__getattr__ = names_later(__name__, inner=INNER)
