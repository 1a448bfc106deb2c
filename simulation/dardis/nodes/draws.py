"""Random numbers that are functions of what they are drawn for.

A draw depends on the seed, the job, the window and the node, never on earlier draws. So decisions do not depend on how
node managers are spread over processes, nor on the order of messages. The mixing function is that of SplitMix64 [Steele2014].
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np

from ....models.compiled import compiled, internal_borrowing

STEP = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
S30, S27, S31, S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
UNIT = 1.0 / (1 << 53)


def key_of(*parts: object) -> int:
    """Return a number from 0 to 2**63 - 1 for a text; the same on every machine.

    Examples
    --------
    >>> key_of(1, "job-7") == key_of(1, "job-7"), key_of(1, "job-7") == key_of(2, "job-7")
    (True, False)
    """
    digest = blake2b("/".join(map(str, parts)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


@internal_borrowing
def mixed(key: int, number: int) -> Any:
    """Return 64 random bits for a key and a number."""
    x = np.uint64(key) + (np.uint64(number) + np.uint64(1)) * STEP
    x = (x ^ (x >> S30)) * FIRST
    x = (x ^ (x >> S27)) * SECOND
    return x ^ (x >> S31)


@internal_borrowing
def uniform(key: int, number: int) -> float:
    """Return a random number in [0, 1) for a key and a number."""
    return float(mixed(key, number) >> S11) * UNIT


@internal_borrowing
def below(key: int, number: int, end: int) -> int:
    """Return a random integer in [0, end)."""
    return min(end - 1, int(uniform(key, number) * end))


@compiled
def chances(key: int, numbers: Any) -> Any:
    """Return a random number in [0, 1) for a key and each of an array of numbers."""
    found = np.empty(numbers.size)
    for k in range(numbers.size):
        found[k] = uniform(key, numbers[k])
    return found
