"""Tables of pandas as rows of plain values, with errors that name the column and the row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..errors import WrongArgument
from .counts import how_many
from .platform import ProblemError
from .unknown_names import hint


def table_rows(
    table: Any,
    function: str,
    needed: Sequence[str],
    optional: Sequence[str] = (),
    others: Iterable[str] = (),
    same: dict[str, str] | None = None,
) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the columns of a table of pandas and its rows; a cell without a value is None.

    Parameters
    ----------
    table : pandas.DataFrame
        The table.
    function : str
        The function that takes it, for messages.
    needed, optional : sequence of str
        The columns that it must have, and those that it may have.
    others : iterable of str
        Further columns that it may have, such as resources.
    same : dict of str to str, optional
        Other names of columns -> the name that is used here: {"job": "id"}.

    Raises
    ------
    WrongArgument
        If it is no table of pandas.
    ProblemError
        If a column is missing, unknown or there twice.

    Examples
    --------
    >>> import pandas
    >>> table_rows(pandas.DataFrame({"job": ["a"], "units": [None]}), "f", ["id"], ["units"], same={"job": "id"})
    (['id', 'units'], [{'id': 'a', 'units': None}])
    """
    if not hasattr(table, "itertuples") or not hasattr(table, "columns"):
        raise WrongArgument(f"table of {function} is {table!r:.80}; expected a pandas.DataFrame")
    renamed = same or {}
    names = [renamed.get(str(name), str(name)) for name in table.columns]
    known = list(dict.fromkeys([*needed, *optional, *others]))
    missing = [name for name in needed if name not in names]
    if missing:
        has = ", ".join(names) or "none"
        raise ProblemError(f"{function}: the table has no column {missing[0]!r}; its columns are {has}")
    for name in names:
        if name not in known:
            raise ProblemError(f"{function}: unknown column {name!r}; {hint(name, known, both=True)}")
        if names.count(name) > 1:
            raise ProblemError(f"{function}: column {name!r} is there {how_many(names.count(name), 'time')}")
    columns = []
    for k in range(len(names)):
        column = table.iloc[:, k]
        columns.append(column.astype(object).where(column.notna(), None).tolist())
    return names, [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def whole_cell(value: Any) -> Any:
    """Return a float of a whole number as an integer: pandas turns a column of integers with a gap into floats.

    Examples
    --------
    >>> whole_cell(3.0), whole_cell(3.5), whole_cell("x")
    (3, 3.5, 'x')
    """
    return int(value) if isinstance(value, float) and value.is_integer() else value
