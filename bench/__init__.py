"""The benchmark harness: command line, runs in separate processes, records of results, tables and plots."""

from typing import TYPE_CHECKING

from ..later import names_later

if TYPE_CHECKING:
    from .errors import WrongUse
    from .records.store import read_results

__all__ = ["WrongUse", "read_results"]

LATER = {"errors": ("WrongUse",), "records.store": ("read_results",)}
INNER = {  # module: names that other packages of schedlab read; they are not public
    "errors": ("exit_code",),
    "grid": ("Column", "GOOD", "Grid", "Styled", "number", "percent"),
    "cli.run": ("choose",),
    "runs.process": ("UNREADABLE",),
    "runs.progress": ("how_long",),
    "runs.selection": ("Run", "RunRequest", "key_of", "parse_methods", "parse_seeds", "plan"),
    "runs.suites": ("BestKnown", "collected", "new_bests", "read_suite", "shipped_suites"),
    "runs.supervision": ("FolderPlan", "supervise", "supervise_all"),
    "runs.executors": ("Recording", "RunTask"),
    "runs.view": ("DAY_REPLAYED", "NOON", "View", "WHOLE", "defaults", "one_scenario", "parse_clock", "scenarios_of"),
}
__getattr__ = names_later(__name__, LATER, inner=INNER)
