"""The text below a table that says how to read it."""

from __future__ import annotations

from rich.text import Text

HINT = "--explain says what each column means."


def legend(columns: str, explain: bool, always: str = "") -> Text:
    """Return the dim text below a table.

    Parameters
    ----------
    columns : str
        The full explanation of the columns, one sentence or clause each.
    explain : bool
        Whether the user gave ``--explain``. Without it, the text names that option instead of ``columns``.
    always : str
        A short remark that stands first in both forms.

    Examples
    --------
    >>> legend("wait: from submission to start.", explain=False, always="*: the best.").plain
    '*: the best. --explain says what each column means.'
    """
    return Text(" ".join(filter(None, (always, columns if explain else HINT))), style="dim")
