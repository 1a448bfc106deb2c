"""Values in the output of PBS: amounts of resources, times, nodes with amounts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Mapping
from datetime import datetime, tzinfo
from typing import Any

from ..files.numbers import json_whole_of, wrong
from ..formats.pbs import NAMES, amount_of

EXPECTED = "a time such as Fri Nov 11 17:57:05 2016"
Values = Mapping[str, Any]


def amounts(resources: Values) -> dict[str, int]:
    """Return cores, GPUs and so on of the resources of PBS."""
    return {ours: amount_of(theirs, str(resources[theirs])) for theirs, ours in NAMES.items() if theirs in resources}


def moment(job: Values, zone: tzinfo, *keys: str) -> int | None:
    """Return the first of these times that the job has, in seconds since 1970."""
    for key in keys:
        text = job.get(key)
        if not text:
            continue
        if not isinstance(text, str):
            seconds = json_whole_of(text)
            if seconds is None:
                raise wrong(key, text, EXPECTED)
            return seconds
        try:
            return int(datetime.strptime(text, "%a %b %d %H:%M:%S %Y").replace(tzinfo=zone).timestamp())
        except (ValueError, OverflowError):  # OverflowError: year 1 or 9999 in another time zone
            raise wrong(key, text, EXPECTED) from None
    return None


def amounts_on(text: str, nodes: Container[str]) -> dict[str, Counter[str]]:
    """Return node -> amounts of a text such as ``(a:ncpus=2)+(a:ncpus=2+b:ncpus=1)``; other nodes are left out.

    Examples
    --------
    >>> amounts_on("(a:ncpus=2:mem=1gb)+(a:ncpus=1)+(c:ncpus=4)", {"a", "b"})
    {'a': Counter({'memory': 1024, 'cores': 3})}
    """
    found: dict[str, Counter[str]] = {}
    for chunk in re.findall(r"[^()+]+", text):
        node, *pairs = chunk.split(":")
        if node in nodes:
            asked = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
            others = {k: amount_of(k, v) for k, v in asked.items() if k not in NAMES and v.isascii() and v.isdigit()}
            found.setdefault(node, Counter()).update(amounts(asked) | others)
    return found
