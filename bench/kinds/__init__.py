"""The parts of the bench for single problem kinds, each an object that is found by the name of its kind.

Their protocol is ``base.BenchKind``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ...later import names_later
from ...models import kind as problem_kinds

PLAIN = "..bench.kinds.plain:PLAIN"  # for kinds without an object of their own


@cache
def bench_object(name: str) -> Any:
    """Return what the bench needs to know about a problem kind, a ``base.BenchKind``.

    Parameters
    ----------
    name
        Name of the kind: the ``kind`` of a problem, an instance or a record.

    Raises
    ------
    UnknownKind
        If there is no such kind. The message gives similar names.
    """
    return problem_kinds.resolve(problem_kinds.find(name).bench or PLAIN)


def kinds_with(test: Callable[[Any], bool]) -> list[str]:
    """Return the names of the kinds with a property, for messages."""
    return [name for name in problem_kinds.having("name") if test(bench_object(name))]


INNER = {  # module: names that other packages of schedlab read; they are not public
    "dispatch": ("run_composite",),
}
__getattr__ = names_later(__name__, inner=INNER)
