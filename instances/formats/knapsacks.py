"""Reader of 0-1 knapsacks: items and capacity, then value and weight of each item."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from ...models.knapsack import Item, Knapsack
from ...models.words import how_many
from .numbered_lines import NumberedLine, decimal_of, end_error, numbered_lines, wholes_of


def read_knapsack(path: str | Path) -> Knapsack:
    r"""Read a 0-1 knapsack.

    The first line has the number of items and the capacity. Then follows one line per item with its value and weight, whole
    or decimal numbers. A line after them may have the solution as zeros and ones; it is not read.

    Parameters
    ----------
    path
        The text file, plain or compressed (``.gz``).

    Returns
    -------
    Knapsack
        Items are named by their numbers, from "1". Decimal numbers are read exactly.

    Raises
    ------
    FormatError
        The file does not follow the format; the message has the line.

    References
    ----------
    .. [1] D. Pisinger, "Where are the hard knapsack problems?", Computers & Operations Research 32 (2005), 2271-2284.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "two")
    ...     _ = file.write_text("2 10\n7 4\n3.5 6.25\n")
    ...     [item.weight for item in read_knapsack(file).items]
    [4, Fraction(25, 4)]
    """
    lines = numbered_lines(path)
    head = lines[0].text.split()
    counts = wholes_of(head[:1])
    capacity = decimal_of(head[-1])
    if len(head) != 2 or counts is None or capacity is None:
        raise lines[0].error("the number of items and the capacity")
    count = counts[0]
    if not count:
        raise lines[0].error("at least one item")
    if len(lines) <= count:
        raise end_error(lines, f"{how_many(count, 'line')}, one per item", f"{len(lines) - 1} of them")
    items = [Item(str(k), *_pair(line)) for k, line in enumerate(lines[1 : count + 1], 1)]
    after = [(line, word) for line in lines[count + 1 :] for word in line.text.split()]
    for k, (line, word) in enumerate(after):
        if word not in ("0", "1") or k >= count:
            raise line.error(
                f"the end of the file after {how_many(count, 'item')}, or the solution as {count} zeros and ones"
            )
    if 0 < len(after) < count:
        raise end_error(
            lines, f"the end of the file after {how_many(count, 'item')}, or {count} zeros and ones", after[0][1]
        )
    return Knapsack(items, capacity)


def _pair(line: NumberedLine) -> tuple[int | Fraction, int | Fraction]:
    words = line.text.split()
    value, weight = map(decimal_of, words) if len(words) == 2 else (None, None)
    if value is None or weight is None:
        raise line.error("value and weight of an item")
    return value, weight
