"""Rows as a table of pandas or as HTML for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from ...errors import MissingPackage

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
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        text = ", ".join(f"{k}: {v}" for k, v in value.items())
    elif isinstance(value, tuple):
        text = ", ".join(cell(v) or "unknown" for v in value)
    elif isinstance(value, float):
        text = f"{value:.6g}" if abs(value) < 1e6 else f"{value:,.0f}"
    else:
        text = str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


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
    more = f"<p>the first {SHOWN} of {len(rows):,} {escape(what)}</p>" if len(rows) > SHOWN else ""
    return f"<table><tr>{head}</tr>{body}</table>{more}"


def pairs(values: Iterable[tuple[str, object]]) -> str:
    """Return a table with a line per name and value; lines without a value are left out."""
    lines = (
        f"<tr><th>{escape(name)}</th><td>{escape(cell(v))}</td></tr>" for name, v in values if v is not None and v != ""
    )
    return f"<table>{''.join(lines)}</table>"
