"""Names of the columns and rows of a linear form, as files in the formats LP and MPS can have them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from .form import Blocks
from .lowering import Lowered

LONGEST = 200  # characters; readers of LP files take 255
NUMBERED = 12  # characters that a number and its mark may add
# words of the format LP in which a section begins, and what it takes for numbers: "e5", "inf"
RESERVED = re.compile(
    r"(?i)^(max|min|st|s\.t\.?|subject|such|bounds?|free|inf(inity)?|bin(ar(y|ies))?|gen(erals?)?|int(egers?)?|semis?|end"
    r"|obj|e\d.*|sec|sin|sos[12]?|maxim(um|ize)|minim(um|ize))$"
)


def written(name: str) -> str:
    """Return a name in the letters that files in the formats LP and MPS can have.

    Examples
    --------
    >>> written("a on node 3"), written("3 <= a.end"), written("e5"), written("ä")
    ('a_on_node_3', '_3_a.end', '_e5', '_')
    """
    plain = re.sub(r"[^A-Za-z0-9_.]+", "_", name)[: LONGEST - NUMBERED]
    return f"_{plain}" if not plain or plain[0] in "0123456789." or RESERVED.match(plain) else plain


def distinct(names: Iterable[str]) -> list[str]:
    """Return names of which no two are equal, also if a dot counts as an underscore, as for Pyomo; equal ones are numbered.

    Examples
    --------
    >>> distinct(["lag", "a", "lag", "lag_1"])
    ['lag_2', 'a', 'lag_3', 'lag_1']
    """
    plain = [written(name) for name in names]
    count = Counter(map(_key, plain))
    taken = {key for key, times in count.items() if times == 1}
    last: Counter[str] = Counter()
    made = []
    for name in plain:
        key = _key(name)
        chosen = name
        while count[key] > 1 and (chosen == name or _key(chosen) in taken):
            last[key] += 1
            chosen = f"{name}_{last[key]}"
        taken.add(_key(chosen))
        made.append(chosen)
    return made


def _key(name: str) -> str:
    return name.replace(".", "_")


def column_names(lowered: Lowered) -> list[str]:
    """Return the name of each column: ``x`` of an integer, ``a.start``, ``a.size``, ``a.presence`` of an interval.

    A column of a start on a grid is ``a.start_is_5``; other columns are named for what the lowering uses them, such as
    ``before_7``.
    """
    blocks = lowered.form.column_blocks
    names = _of_blocks(blocks, lowered.form.size["variables"])
    for x in lowered.model.integers:
        index: Any = lowered.columns(x)
        names[index] = x.name
    for v in lowered.model.intervals:
        columns: Any = lowered.columns(v)
        parts = {"presence": columns.presence, "start": columns.start, "size": columns.size}
        for part, k in parts.items():
            if k is not None:
                names[k] = f"{v.name}.{part}"
        for time, k in zip(columns.times, columns.cells, strict=False):
            names[k] = f"{v.name}.start_is_{time}"
    return distinct(names)


def row_names(lowered: Lowered) -> list[str]:
    """Return the name of each row: that of the constraint from which it comes, numbered if several do."""
    return distinct(_of_blocks(lowered.form.row_blocks, lowered.form.size["constraints"]))


def _of_blocks(blocks: Blocks, count: int) -> list[str]:
    """Return the name of the block of each index."""
    ends = [*blocks.first[1:], count]
    names = [""] * blocks.first[0] if blocks.first else [""] * count
    for name, first, end in zip(blocks.names, blocks.first, ends, strict=True):
        names += [name] * (end - first)
    return names
