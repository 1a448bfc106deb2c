"""Instance folders, readers of classic formats, generators."""

from .classic import FormatError, read_fjsplib, read_jsplib, read_mmlib, read_patterson, read_psplib
from .folder import Fault, InstanceError
from .instance import Instance
from .registry import KINDS, UnknownInstance, generators, load, names, write

__all__ = [
    "KINDS",
    "Fault",
    "FormatError",
    "Instance",
    "InstanceError",
    "UnknownInstance",
    "generators",
    "load",
    "names",
    "read_fjsplib",
    "read_jsplib",
    "read_mmlib",
    "read_patterson",
    "read_psplib",
    "write",
]
