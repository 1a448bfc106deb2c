"""The names of DARDIS dispatchers: three setups [Bridi2018, 5.3.3 to 5.3.5], and all combinations of their parts [Bridi2016]."""

from __future__ import annotations

from typing import NamedTuple

GENERATORS = ("first", "uniform", "exponential")
POLICIES = ("min-start", "max-prob", "min-prob", "random")


class Setup(NamedTuple):
    """A generator, a policy, and whether ends of jobs start backfilling."""

    generator: str
    policy: str
    backfilling: bool = False


SETUPS = {
    "throughput": Setup("first", "min-start", backfilling=True),
    "profile": Setup("uniform", "random"),
    "balance": Setup("exponential", "max-prob"),
    **{f"{generator}/{policy}": Setup(generator, policy) for generator in GENERATORS for policy in POLICIES},
}
