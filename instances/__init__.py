"""Instance folders, readers of classic formats, generators."""

from .folder import Fault, InstanceError
from .instance import Instance
from .registry import KINDS, UnknownInstance, generators, load, names, write

__all__ = ["KINDS", "Fault", "Instance", "InstanceError", "UnknownInstance", "generators", "load", "names", "write"]
