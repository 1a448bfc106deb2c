"""Rows as a table of pandas, which is optional (``pip install 'schedlab[pandas]'``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...errors import MissingPackage

if TYPE_CHECKING:
    import pandas

TIMES = ("start", "end", "writes")  # columns of whole numbers, also where all of them are unknown


def frame(rows: Sequence[Mapping[str, object]], empty: Sequence[str]) -> pandas.DataFrame:
    """Return rows as a table; whole numbers stay whole where some are unknown.

    Parameters
    ----------
    rows : sequence of mapping
        All have the same keys.
    empty : sequence of str
        The columns if there are no rows.

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    ImportError
        If pandas is not installed.
    """
    try:
        import pandas
    except ImportError as e:
        raise MissingPackage("a table needs pandas: pip install 'schedlab[pandas]'") from e
    found = pandas.DataFrame(rows, columns=list(rows[0]) if rows else list(empty))
    for name in found.columns:
        types = {type(row[name]) for row in rows}
        if type(None) in types and (types == {int, type(None)} or (name in TIMES and types == {type(None)})):
            found[name] = found[name].astype("Int64")
    return found
