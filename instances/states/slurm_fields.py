"""Values in the JSON of Slurm: numbers, states, amounts of resources."""

from __future__ import annotations

import re
from typing import Any

MEMORY = {"K": 1 / 1024, "M": 1, "G": 1024, "T": 1024**2}


def number(value: Any) -> int | None:
    """Return a number of Slurm; None if it is not set or infinite.

    Examples
    --------
    >>> number({"set": True, "infinite": False, "number": 60}), number({"set": False, "number": 0}), number(7)
    (60, None, 7)
    """
    if isinstance(value, dict):
        known = value.get("set") and not value.get("infinite")
        return number(value.get("number")) if known else None
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def tres(text: str) -> dict[str, int]:
    """Return cores, memory in MB and generic resources of a text of trackable resources.

    Examples
    --------
    >>> tres("cpu=4,mem=4G,node=1,billing=4,gres/gpu=2,gres/gpu:a100=2")
    {'cores': 4, 'memory': 4096, 'gpus': 2}
    """
    found = {}
    for name, amount in (pair.split("=", 1) for pair in text.split(",") if "=" in pair):
        match = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGT]?)[nc]?", amount)
        if match is None:
            continue
        if name == "cpu":
            found["cores"] = int(float(match[1]))
        elif name == "mem":
            found["memory"] = int(float(match[1]) * MEMORY[match[2] or "M"])
        elif name == "gres/gpu":
            found["gpus"] = int(float(match[1]))
    return found


def gpus(text: str) -> int:
    """Return the number of GPUs in a text of generic resources.

    Examples
    --------
    >>> gpus("tmpsize:7T,gpu:l40s:4(S:0-1),gpu:2")
    6
    """
    return sum(int(n) for n in re.findall(r"(?:^|,)gpu(?::[^:,()]+)?:(\d+)(?=$|[,(])", text))


def words(value: Any) -> list[str]:
    """Return the words of a state, which is a list or a text such as "IDLE+DRAIN"."""
    words = value if isinstance(value, list) else re.split(r"[+ ]", str(value or ""))
    return [str(word).upper().rstrip("*~#!%$@^-") for word in words if word]
