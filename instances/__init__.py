"""Instance folders, readers of classic formats and of the logs of machines, generators."""

from .batsim import read_batsim, write_batsim
from .classic import FormatError, read_fjsplib, read_jsplib, read_mmlib, read_patterson, read_psplib
from .eurora_trace import eurora_platform, read_eurora
from .folder import Fault, InstanceError
from .instance import Instance
from .pbs import read_pbs
from .registry import KINDS, UnknownInstance, generators, load, names, write
from .repair import Trace
from .sacct import read_sacct
from .scenarios import Scenarios, UnknownScenario
from .swf import read_swf
from .traces import open_trace, read_trace
from .workload import Workload, WorkloadError

__all__ = [
    "KINDS",
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
    "read_fjsplib",
    "read_jsplib",
    "read_mmlib",
    "read_patterson",
    "read_pbs",
    "read_psplib",
    "read_sacct",
    "read_swf",
    "read_trace",
    "write",
    "write_batsim",
]
