"""Parameters of HiGHS by name: its options."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..parameters.limits import Value
from ..parameters.values import Parameter, argument, check_all
from .quiet import new_highs

SOLVER = "HiGHS"
LOGGED = "schedlab reads the log of the solver, which is in the result"
FILES = "schedlab passes models, starts and answers without files; use the native model of sl.compile"
PASSED = "HiGHS uses it when it takes the model, before it gets parameters"
REFUSED = {
    "time_limit": argument("time_limit"),
    "mip_max_nodes": argument("deterministic_limit"),
    "random_seed": argument("seed"),
    **dict.fromkeys(("output_flag", "log_to_console", "log_file"), LOGGED),
    **dict.fromkeys(
        ("read_basis_file", "read_solution_file", "solution_file", "write_basis_file", "write_model_file"), FILES
    ),
    **dict.fromkeys(("write_model_to_file", "write_presolved_model_file", "write_solution_to_file"), FILES),
    **dict.fromkeys(("write_solution_style", "glpsol_cost_row_location"), FILES),
    **dict.fromkeys(("infinite_bound", "infinite_cost", "small_matrix_value", "large_matrix_value"), PASSED),
    "objective_bound": "HiGHS would call a model infeasible that has no better answer than it",
    "solve_relaxation": "use a lowering without integrality, such as @lp, which is reported as a relaxation",
    "user_objective_scale": "schedlab scales the objective itself",
    "user_bound_scale": "schedlab scales the rows itself",
    "blend_multi_objectives": "HiGHS gets one objective at a time",
    "ranging": "schedlab reads no ranging information",
}
OF_OBJECTIVE = ("mip_abs_gap", "objective_target")  # options in the unit of the objective


def check(given: Mapping[str, Any]) -> dict[str, Value]:
    """Convert parameters to the types of HiGHS's options, and try each of them on a new ``Highs``."""
    import highspy

    options = highspy.HighsOptions()
    known = [n for n in dir(options) if not n.startswith("_") and not callable(getattr(options, n))]
    return check_all(SOLVER, given, known, REFUSED, _convert)


def _convert(p: Parameter) -> Value:
    import highspy

    highs = new_highs()
    highs.setOptionValue("log_to_console", False)
    highs.setOptionValue("log_file", os.devnull)
    kinds = highspy.HighsOptionType
    kind = highs.getOptionType(p.name)[1]
    value: Value
    if kind == kinds.kBool:
        value = p.as_bool()
    elif kind == kinds.kInt:
        value = p.as_int(-(2**31), 2**31 - 1)
    elif kind == kinds.kDouble:
        value = p.as_float()
    else:
        value = p.as_text()
    said: list[str] = []
    highs.cbLogging.subscribe(lambda event: said.append(event.message))
    if highs.setOptionValue(p.name, value) != highspy.HighsStatus.kOk:
        reason = " ".join(said).partition("ERROR:")[2].strip().removeprefix("checkOptionValue: ")
        raise p.wrong(f"another value: {reason}")
    return value
