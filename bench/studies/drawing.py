"""The figures of a published study, drawn from our replays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...instances.files.atomic import write_whole
from ..errors import WrongUse
from ..plots.picture import side_by_side
from ..plots.statistics import bars, ecdf
from ..plots.svg import require_matplotlib
from ..tables.replays.results import DispatcherRow
from .comparison import by_name
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
        svg = _drawn(exhibit, rows)
        if not svg:
            continue
        path = folder / f"{exhibit.name.lower().replace(' ', '-')}.svg"
        try:
            write_whole(path, side_by_side([(f"{exhibit.name}: {exhibit.caption}", svg)]))
        except OSError as e:
            raise WrongUse(f"{path}: cannot be written ({e.strerror})") from e
        written.append(path)
    return written


def _drawn(exhibit: Exhibit, rows: Sequence[DispatcherRow]) -> str:
    """Return a figure as an SVG element with the dispatchers in its order; "" if there is nothing to draw."""
    known = by_name(rows)
    mine = [known[name] for name in exhibit.dispatchers if name in known]
    if exhibit.drawing == "ecdf":
        return ecdf(mine)
    return bars(mine, exhibit.classes) if exhibit.drawing == "bars" else ""
