"""The HTML page of a report: a template with the content as JSON; its script sorts, filters and draws in the browser."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files as package_files
from pathlib import Path
from string import Template
from typing import Any

from ...instances.files.atomic import write_whole
from ..errors import WrongUse

TEMPLATE = "report.html"


def page_of(content: Mapping[str, Any], replays: Sequence[str] = ()) -> str:
    """Return the page for ``content.content_of``. The same content gives the same text.

    ``replays``: HTML sections about replays, which need no script.
    """
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    for character, written in (("<", "\\u003c"), ("\u2028", "\\u2028"), ("\u2029", "\\u2029")):
        text = text.replace(character, written)  # a name in the data cannot end the script element
    template = Template(package_files(__package__).joinpath(TEMPLATE).read_text(encoding="utf-8"))
    return template.substitute(title=escape(content["title"]), content=text, replays="\n".join(replays))


def write_report(path: Path, content: Mapping[str, Any], replays: Sequence[str] = ()) -> int:
    """Write the page and return its size in bytes. Raises WrongUse."""
    text = page_of(content, replays)
    try:
        write_whole(path, text)
    except OSError as e:
        raise WrongUse(f"--out {path}: cannot be written ({e.strerror})") from e
    return len(text.encode())
