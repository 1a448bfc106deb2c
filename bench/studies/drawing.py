"""The figures of a published study, drawn from our replays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...instances.files.atomic import write_whole
from ..errors import WrongUse
from ..plots.panels.radar import Shape, draw_radar
from ..plots.picture import side_by_side
from ..plots.statistics import PANEL, bars, ecdf, figure
from ..plots.svg import require_matplotlib
from ..tables.replays.results import DispatcherRow
from .comparison import by_name, in_its_unit, on_its_machine
from .study import Exhibit, Study


def draw_figures(study: Study, rows: Sequence[DispatcherRow], folder: Path) -> list[Path]:
    """Write the figures of a study as ``figure-1.svg``, ... into a folder.

    Parameters
    ----------
    study : Study
        The study.
    rows : sequence of DispatcherRow
        Our replays of one workload.
    folder : Path
        Where the pictures are written.

    Returns
    -------
    list of Path
        The pictures. A figure of whose dispatchers no replay ended is not drawn.

    Raises
    ------
    WrongUse
        If matplotlib is missing, or a file cannot be written.
    """
    require_matplotlib()
    written = []
    for exhibit in study.exhibits:
        svg = _drawn(exhibit, study, rows)
        if not svg:
            continue
        path = folder / f"{exhibit.name.lower().replace(' ', '-')}.svg"
        try:
            write_whole(path, side_by_side([(f"{exhibit.name}: {exhibit.caption}", svg)]))
        except OSError as e:
            raise WrongUse(f"{path}: cannot be written ({e.strerror})") from e
        written.append(path)
    return written


def _drawn(exhibit: Exhibit, study: Study, rows: Sequence[DispatcherRow]) -> str:
    """Return a figure as an SVG element with the dispatchers in its order; "" if there is nothing to draw."""
    known = by_name(rows)
    if exhibit.drawing == "radar":
        return _radar(exhibit, study, rows)
    mine = [known[name] for name in exhibit.dispatchers if name in known]
    if exhibit.drawing == "ecdf":
        return ecdf(mine)
    return bars(mine, exhibit.classes) if exhibit.drawing == "bars" else ""


def _radar(exhibit: Exhibit, study: Study, rows: Sequence[DispatcherRow]) -> str:
    """Return our radar chart, beside that of the study if it is of the same machine; "" if a value is missing."""
    known, names = by_name(rows), [_without_unit(q.heading) for q in exhibit.quantities]
    found = {name: [in_its_unit(known.get(name), q) for q in exhibit.quantities] for name in exhibit.dispatchers}
    mine = {name: [v for v in values if v is not None] for name, values in found.items()}
    if not all(len(values) == len(names) for values in mine.values()):
        return ""
    charts: list[tuple[str, Shape]] = [("ours", mine)]
    if on_its_machine(study, rows) and all(set(exhibit.dispatchers) <= set(q.values) for q in exhibit.quantities):
        theirs = {name: [q.values[name] for q in exhibit.quantities] for name in exhibit.dispatchers}
        charts.append((f"[{study.reference}]", theirs))
    panels = [lambda ax, title=title, shapes=shapes: draw_radar(ax, shapes, names, title) for title, shapes in charts]
    return figure(f"{exhibit.name}: {exhibit.caption}", panels, len(panels), 1.55 * PANEL)


def _without_unit(heading: str) -> str:
    r"""Return a heading in one line, without its unit.

    Examples
    --------
    >>> _without_unit("tardi-\nness,\nyears")
    'tardiness'
    """
    return heading.replace("-\n", "").replace("\n", " ").partition(",")[0]
