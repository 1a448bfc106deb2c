"""The machine that runs are performed on, for their records."""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path
from typing import Any

from ..processes import machine_memory

CPU_INFO = Path("/proc/cpuinfo")
NAMES = ("model name", "cpu model", "Hardware")  # of the field with the model: x86, MIPS and POWER, ARM


@cache
def host() -> dict[str, Any]:
    """Return the machine of this process.

    Returns
    -------
    dict
        ``cpu``: model of the processor; ``cores``: number of logical cores; ``memory_gb``: main memory in GB (2^30
        bytes), None if it cannot be read; ``system``: operating system, its release and the architecture.

    Examples
    --------
    >>> sorted(host())
    ['cores', 'cpu', 'memory_gb', 'system']
    """
    memory = machine_memory()
    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count() or 1,
        "memory_gb": None if memory is None else round(memory / 2**30, 1),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }


def cpu_model() -> str:
    """Return the model of the processor; the architecture if the model is not known.

    The platform module knows it on Windows and macOS; on Linux it returns the architecture only.
    """
    try:
        lines = CPU_INFO.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    fields = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return next((fields[name] for name in NAMES if fields.get(name)), platform.processor() or platform.machine())
