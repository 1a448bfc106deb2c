"""Instances: instance folders, readers of benchmark formats and of job logs, and generators."""

from importlib import import_module
from typing import TYPE_CHECKING

from ..later import names_later

if TYPE_CHECKING:
    from .classic import read_classic, read_knapsack
    from .files.dispatch_folder import read_events, write_events
    from .files.reading import Fault, FormatError, InstanceError, WorkloadError
    from .formats.batsim import read_batsim, write_batsim
    from .formats.eurora import eurora_platform, read_eurora
    from .formats.job_table import read_job_table
    from .formats.pbs import read_pbs
    from .formats.projects import read_imopse, read_mmlib, read_mslib, read_patterson, read_progen_max, read_psplib
    from .formats.sacct import read_sacct
    from .formats.shops import read_fjsplib, read_jsplib
    from .formats.swf import read_swf, write_swf
    from .generators.lublin import lublin_workload
    from .instance import Instance, Scenarios, UnknownScenario
    from .logged import Trace
    from .registry import UnknownInstance, generators, load, names, write
    from .traces import open_trace, read_trace
    from .weather import read_weather
    from .workload import Workload

__all__ = [
    "lublin_workload",
    "read_knapsack",
    "read_classic",
    "Fault",
    "FormatError",
    "Instance",
    "InstanceError",
    "Scenarios",
    "Trace",
    "UnknownInstance",
    "UnknownScenario",
    "Workload",
    "WorkloadError",
    "eurora_platform",
    "generators",
    "load",
    "names",
    "open_trace",
    "read_batsim",
    "read_eurora",
    "read_events",
    "read_fjsplib",
    "read_imopse",
    "read_job_table",
    "read_jsplib",
    "read_mmlib",
    "read_mslib",
    "read_patterson",
    "read_pbs",
    "read_progen_max",
    "read_psplib",
    "read_sacct",
    "read_swf",
    "read_trace",
    "read_weather",
    "write",
    "write_batsim",
    "write_events",
    "write_swf",
]

LATER = {  # module: its names
    "generators.lublin": ("lublin_workload",),
    "classic": ("read_classic", "read_knapsack"),
    "files.dispatch_folder": ("read_events", "write_events"),
    "files.reading": ("Fault", "FormatError", "InstanceError", "WorkloadError"),
    "formats.batsim": ("read_batsim", "write_batsim"),
    "formats.eurora": ("eurora_platform", "read_eurora"),
    "formats.job_table": ("read_job_table",),
    "formats.pbs": ("read_pbs",),
    "formats.projects": (
        "read_imopse",
        "read_mmlib",
        "read_mslib",
        "read_patterson",
        "read_progen_max",
        "read_psplib",
    ),
    "formats.sacct": ("read_sacct",),
    "formats.shops": ("read_fjsplib", "read_jsplib"),
    "formats.swf": ("read_swf", "write_swf"),
    "instance": ("Instance", "Scenarios", "UnknownScenario"),
    "logged": ("Trace",),
    "registry": ("UnknownInstance", "generators", "load", "names", "write"),
    "traces": ("open_trace", "read_trace"),
    "weather": ("read_weather",),
    "workload": ("Workload",),
}
INNER = {  # the same for names that other packages of schedlab read; they are not public
    "classic": ("LIBRARIES", "is_classic"),
    "logged": ("Logged", "TextColumn"),
    "site_columns": ("SITE_COLUMNS", "SiteColumns", "cells_of", "dependencies_of", "site_of"),
    "sites.of_log": ("shows_nodes", "site_of_trace", "without_nodes"),
    "sites.pbs_state": ("state_from_pbs",),
    "sites.slurm_state": ("free_licences", "reservations_in_text", "state_from_slurm"),
    "weather": ("SEASONS", "Weather", "synthetic", "weather_csv", "write_weather"),
}
__getattr__ = names_later(__name__, LATER, inner=INNER)

import_module(
    f"{__name__}.generators"
)  # once, so that no later import puts this folder in the place of the table of its name
del globals()["generators"]


def __dir__() -> list[str]:
    """Return the public names, those that are imported when they are first used included."""
    return sorted(__all__)
