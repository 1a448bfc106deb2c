"""The OR-Tools CP-SAT backend."""

from ...later import names_later

INNER = {  # module: names that other files of schedlab read; they are not public
    "backend": ("CpSat",),
    "lowering": ("CpSatLowering",),
    "expressions": ("Form", "NativeModel"),
}
__getattr__ = names_later(__name__, inner=INNER)
