"""Compiled kernels over flat arrays: node profiles, placement, earnings, evictions, ruin and recreate."""

from ...later import names_later

INNER = {  # module: names that other packages of schedlab read; they are not public
    "aggregate": ("new_aggregate", "no_aggregate"),
    "costs": ("objective", "profit", "profits"),
    "earliest": ("new_scratch",),
    "orders": ("Mover", "OrderResult"),
    "placement": ("KINDS", "fill", "new_hopeless", "same_for"),
    "profile": ("NEVER", "move_items", "new_profile"),
    "project_schedules": ("generate", "new_room"),
    "ruin": ("AROUND", "CONSECUTIVE", "ROOM", "chosen_alone"),
}
__getattr__ = names_later(__name__, inner=INNER)
