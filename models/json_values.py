"""Types of the values of JSON files, with the bounds that a check of a file heeds."""

from __future__ import annotations

import sys
from typing import Annotated

from annotated_types import Ge, Le

LARGEST = 2**53  # of integers: many JSON programs represent larger ones inexactly
FINITE = sys.float_info.max

Whole = Annotated[int, Ge(-LARGEST), Le(LARGEST)]
Count = Annotated[int, Ge(0), Le(LARGEST)]
Positive = Annotated[int, Ge(1), Le(LARGEST)]
Number = Annotated[float, Ge(-FINITE), Le(FINITE)]
Value = Number | list[Number | None] | None  # one objective, several ordered objectives, or unknown
Figures = dict[str, Number | None]
