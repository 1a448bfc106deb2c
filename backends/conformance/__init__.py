"""Conformance test of backends: compare their answers on small random models with complete enumeration."""

from typing import TYPE_CHECKING

from ...later import names_later

if TYPE_CHECKING:
    from .agreement import Contender, examine_one, judge
    from .enumeration import EnumerationError, Truth, brute_force
    from .random_constructs import (
        ARITHMETIC,
        RandomArithmetic,
        RandomLevels,
        RandomSequences,
        RandomStates,
        RandomStructures,
    )
    from .random_models import PATTERNS, RandomPattern, general_model, random_model
    from .run import CONSTRUCTS

__all__ = [
    "ARITHMETIC",
    "CONSTRUCTS",
    "Contender",
    "EnumerationError",
    "PATTERNS",
    "RandomArithmetic",
    "RandomLevels",
    "RandomPattern",
    "RandomSequences",
    "RandomStates",
    "RandomStructures",
    "Truth",
    "brute_force",
    "examine_one",
    "general_model",
    "judge",
    "random_model",
]

LATER = {  # module: its names
    "agreement": ("Contender", "examine_one", "judge"),
    "enumeration": ("EnumerationError", "Truth", "brute_force"),
    "random_constructs": (
        "ARITHMETIC",
        "RandomArithmetic",
        "RandomLevels",
        "RandomSequences",
        "RandomStates",
        "RandomStructures",
    ),
    "random_models": ("PATTERNS", "RandomPattern", "general_model", "random_model"),
    "run": ("CONSTRUCTS",),
}
INNER = {  # the same for names that other packages of schedlab read; they are not public
    "agreement": ("fixed",),
    "enumeration": ("domain",),
    "planted": ("FAULTS", "PARAMETERS", "caught_by", "faulty", "known_to_be_wrong"),
    "run": ("declaration",),
}
__getattr__ = names_later(__name__, LATER, inner=INNER)
