"""Rows as a table of pandas or as HTML for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from ..errors import MissingPackage, WrongArgument
from .platform import ProblemError
from .words import hint, how_many

if TYPE_CHECKING:
    import pandas

# --- Rows as a table of pandas, which is optional (``pip install 'schedlab[pandas]'``).

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
    table = pandas.DataFrame(rows, columns=list(rows[0]) if rows else list(empty))
    for name in table.columns:
        types = {type(row[name]) for row in rows}
        if type(None) in types and (types == {int, type(None)} or (name in TIMES and types == {type(None)})):
            table[name] = table[name].astype("Int64")
    return table


# --- Small HTML tables for notebooks. All texts are escaped.

SHOWN = 20  # rows of a table
LONGEST = 60  # characters of a cell


def cell(value: object) -> str:
    """Return a value as text of at most ``LONGEST`` characters; a dictionary as "key: value, ...", None as "".

    Examples
    --------
    >>> cell({"n1": 2, "n2": 1}), cell(1 / 3), cell(None), cell(True)
    ('n1: 2, n2: 1', '0.333333', '', 'yes')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        if value:
            return "yes"
        return "no"
    if isinstance(value, Mapping):
        text = ", ".join(f"{k}: {v}" for k, v in value.items())
    elif isinstance(value, tuple):
        text = ", ".join(cell(v) or "unknown" for v in value)
    elif isinstance(value, float):
        if abs(value) < 1e6:
            text = f"{value:.6g}"
        else:
            text = f"{value:,.0f}"
    else:
        text = str(value)
    if len(text) <= LONGEST:
        return text
    return f"{text[: LONGEST - 1]}…"


def table(rows: Sequence[Mapping[str, object]], what: str) -> str:
    """Return the first ``SHOWN`` rows as a table, and how many there are.

    Parameters
    ----------
    rows : sequence of mapping
        All have the same keys, which are the heads of the columns.
    what : str
        What a row is, in the plural.

    Returns
    -------
    str

    Examples
    --------
    >>> table([{"job": "<b>", "start": 3}], "jobs")
    '<table><tr><th>job</th><th>start</th></tr><tr><td>&lt;b&gt;</td><td>3</td></tr></table>'
    """
    if not rows:
        return f"<p>no {escape(what)}</p>"
    head = "".join(f"<th>{escape(str(name))}</th>" for name in rows[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell(value))}</td>" for value in row.values()) + "</tr>" for row in rows[:SHOWN]
    )
    more = ""
    if len(rows) > SHOWN:
        more = f"<p>the first {SHOWN} of {len(rows):,} {escape(what)}</p>"
    return f"<table><tr>{head}</tr>{body}</table>{more}"


def pairs(values: Iterable[tuple[str, object]]) -> str:
    """Return a table with a line per name and value; lines without a value are left out."""
    lines = (
        f"<tr><th>{escape(name)}</th><td>{escape(cell(v))}</td></tr>" for name, v in values if v is not None and v != ""
    )
    return f"<table>{''.join(lines)}</table>"


# --- Tables of pandas as rows of plain values, with errors that name the column and the row.


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
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
