"""The text of a linear lowering, after the @ of a method.

============================  ==========================================================================================
``pairwise``                  0-1 variables for the order of each pair of intervals; exact
``time-indexed``              a grid of 1 s; exact
``900s``                      a grid of 900 s; its answers are feasible
``900s-relax``                a relaxed grid of 900 s; its optimum is a bound
``60s..3600s-lp``             linear relaxation of a relaxed grid from 60 s (early) to 3,600 s (late)
``60s..3600s-energy``         linear relaxation by the energy in each grid cell; usually the strongest bounds
``60s..3600s-energy-integral``  the same with whole numbers
``lp``                        linear relaxation of the pairwise lowering
``auto-lp``                   linear relaxation of the lowering that is chosen by default
============================  ==========================================================================================
"""

from __future__ import annotations

import re
from typing import Any, get_args

from ..backends import UnknownName
from ..backends.base import GridOption, LoweringName, Side
from ..errors import WrongValue

GRID = re.compile(
    r"(?P<fine>[1-9]\d*)s(\.\.(?P<coarse>[1-9]\d*)s)?(-(?P<form>relax|lp|energy|energy-integral))?", re.ASCII
)
WORDS: dict[str, dict[str, Any]] = {
    "": {},
    "pairwise": {"lowering": "pairwise"},
    "time-indexed": {"lowering": "time-indexed"},
    "lp": {"lowering": "pairwise", "integral": False},
    "auto-lp": {"integral": False},
}
FORMS: dict[str | None, dict[str, Any]] = {
    None: {},
    "relax": {"side": "relax"},
    "lp": {"side": "relax", "integral": False},
    "energy": {"lowering": "energy", "integral": False},
    "energy-integral": {"lowering": "energy"},
}
EXAMPLES = ["@pairwise", "@lp", "@time-indexed", "@900s", "@900s-relax", "@900s-lp", "@600s..36000s-energy"]
FIELDS = {"lowering": None, "grid": None, "side": "restrict", "integral": True}


def parse_lowering(text: str, where: str = "") -> dict[str, Any]:
    """Return the fields of a linear method for the text after the @.

    Parameters
    ----------
    text : str
        The text, such as "900s-relax".
    where : str
        Added to the message of an error: the whole method.

    Returns
    -------
    dict
        Values of ``lowering``, ``grid``, ``side`` and ``integral`` that are not the default.

    Raises
    ------
    UnknownName
        If the text is no lowering.

    Examples
    --------
    >>> parse_lowering("60s..900s-relax")
    {'grid': (60, 900), 'side': 'relax'}
    """
    if text in WORDS:
        return dict(WORDS[text])
    found = GRID.fullmatch(text)
    if found is None:
        raise UnknownName("lowering", f"@{text}", EXAMPLES, where)
    fine, coarse = int(found["fine"]), found["coarse"]
    return {"grid": (fine, int(coarse)) if coarse else fine} | FORMS[found["form"]]


def lowering_text(lowering: LoweringName | None, grid: GridOption | None, side: Side, integral: bool) -> str:
    """Return the text of a lowering.

    Raises
    ------
    ValueError
        If the values contradict each other.
    """
    if lowering is not None and lowering not in get_args(LoweringName):
        raise WrongValue(f"lowering is {lowering!r}; expected one of {', '.join(map(repr, get_args(LoweringName)))}")
    if side not in ("restrict", "relax"):
        raise WrongValue(f"side is {side!r}; expected 'restrict' or 'relax'")
    given = {"lowering": lowering, "side": side, "integral": integral}
    fields = {name: value for name, value in given.items() if value != FIELDS[name]}
    if grid is None:
        word = next((word for word, options in WORDS.items() if options == fields), None)
        if word is None:
            raise WrongValue(
                f"no lowering has {_shown(fields)} without a grid; give grid=seconds or grid=(fine, coarse)"
            )
        return word
    form = next((form for form, options in FORMS.items() if options == fields), "?")
    if form == "?":
        raise WrongValue(f"no lowering on a grid has {_shown(fields)}; {_advice(fields)}")
    steps = grid if isinstance(grid, tuple) else (grid,)
    if len(steps) not in (1, 2) or not all(type(s) is int and s > 0 for s in steps):
        raise WrongValue(f"grid is {grid!r}; expected seconds above 0, or a tuple (fine, coarse) of them")
    return "..".join(f"{s}s" for s in steps) + (f"-{form}" if form else "")


def _shown(fields: dict[str, Any]) -> str:
    return " with ".join(f"{name}={value!r}" for name, value in fields.items())


def _advice(fields: dict[str, Any]) -> str:
    if fields.get("lowering") == "pairwise":
        return "a grid belongs to lowering='time-indexed' or 'energy'"
    if fields == {"integral": False}:
        return "integral=False is for bounds, and a restriction has none: use side='relax'"
    return "a side belongs to lowering='time-indexed'"
