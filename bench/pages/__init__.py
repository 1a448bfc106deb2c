"""Pages and pictures. Here the HTML pages: templates of jinja2, which write every text of the data as text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...instances.files.writing import write_whole
from ...later import names_later
from ..errors import writing
from ..grid import Grid

if TYPE_CHECKING:
    from jinja2 import Environment


class Card(NamedTuple):
    """A picture with its caption.

    Attributes
    ----------
    title, text
        The caption; the title is bold.
    svg
        The picture, an SVG element.
    failure
        Why it is not complete, or "".
    """

    title: str
    text: str
    svg: str
    failure: str = ""


@dataclass(frozen=True)
class Section:
    """What a page shows about one subject, from top to bottom.

    Attributes
    ----------
    title, lead
        The heading, and the sentence below it.
    table
        The main table.
    notes
        Lines below it.
    grids
        Further tables; those without rows are left out.
    details, folded
        The heading of tables that are folded, and these.
    colours
        What colours mean: the heading, then pairs of a colour and its meaning.
    cards, remarks
        Pictures, and the lines below them.
    statistics
        Further pictures.
    """

    title: str
    lead: str = ""
    table: Grid | None = None
    notes: Sequence[str] = ()
    grids: Sequence[Grid] = ()
    details: str = ""
    folded: Sequence[Grid] = ()
    colours: tuple[str, Sequence[tuple[str, str]]] = ("", ())
    cards: Sequence[Card] = ()
    remarks: Sequence[str] = ()
    statistics: Sequence[Card] = ()

    def html(self) -> str:
        """Return the section as HTML."""
        return rendered("section.html", section=self)


def write_page(path: Path, title: str, what: str, sections: Iterable[Section]) -> None:
    """Write sections as one HTML page; ``what``: what it shows, in the title. Raises WrongUse if it cannot be written."""
    with writing(path, "--page"):
        html = [section.html() for section in sections]
        write_whole(path, rendered("plot.html", title=title, what=what, sections=html))


def rendered(template: str, **values: Any) -> str:
    """Return a template of this folder with these values. The same values give the same text."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # only where a page is written

    made = Environment(
        loader=PackageLoader(__package__, ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["unbroken"] = lambda head: re.sub(
        " (?=m?s$)", "\N{NO-BREAK SPACE}", head
    )  # between a name and its unit
    made.globals["zip"] = zip
    made.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    return made


INNER = {  # module: names that several files read; they are not public
    "figures": ("grouped_bars",),
    "panels": ("FrontierPoint", "Frame", "add_legend", "draw_histogram", "node_curves"),
    "report": ("content_of", "write_latex", "write_report"),
}
__getattr__ = names_later(__name__, inner=INNER)
