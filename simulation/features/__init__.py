"""Features of a replay: components that act at their times, and are told what happens."""

from ...later import names_later

INNER = {  # module: names that other packages of schedlab read; they are not public
    "running": ("with_rows",),
    "site_limits": ("limits_of_site", "node_events_of", "not_modelled", "not_obeyed", "on_site"),
    "site_reservations": ("reservations_of",),
}
__getattr__ = names_later(__name__, inner=INNER)
