"""Parameters of CP-SAT by name: ``SatParameters`` of ortools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.protobuf import text_format
from ortools.sat import sat_parameters_pb2
from ortools.sat.python import cp_model

from ..parameters.limits import Value
from ..parameters.values import Parameter, argument, check_all

SOLVER = "CP-SAT"
LOGGED = "schedlab reads the log of the solver, which is in the result"
REFUSED = {
    "max_time_in_seconds": argument("time_limit"),
    "max_deterministic_time": argument("deterministic_limit"),
    "random_seed": argument("seed"),
    "log_search_progress": LOGGED,
    "log_to_stdout": LOGGED,
    "log_to_response": LOGGED,
    "log_prefix": LOGGED,
    "catch_sigint_signal": "Ctrl-C ends a call with the best solution so far, in schedlab",
    "subsolver_params": "its entries are messages, which a value cannot express; change the native model's solver",
}


def check(given: Mapping[str, Any]) -> dict[str, Value]:
    """Convert parameters to their types; enumerations become names, lists texts with entries separated by "+"."""
    fields = sat_parameters_pb2.SatParameters.DESCRIPTOR.fields_by_name
    found = check_all(SOLVER, given, fields, REFUSED, lambda p: _convert(p, fields[p.name]))
    if found:
        _require_valid(found)
    return found


def set_all(parameters: Any, values: Mapping[str, Value]) -> None:
    """Set converted values in the parameters of a ``CpSolver``; entries of lists are added to those that are there."""
    text = text_format.MessageToString(_message(values))
    if hasattr(parameters, "merge_text_format"):  # since ortools 9.15
        parameters.merge_text_format(text)
    else:
        text_format.Merge(text, parameters)


def _convert(p: Parameter, field: Any) -> Value:
    if _repeated(field):
        entries = [Parameter(p.solver, p.name, entry) for entry in p.as_text().split("+")]
        return "+".join(str(_convert_one(entry, field)) for entry in entries)
    return _convert_one(p, field)


def _convert_one(p: Parameter, field: Any) -> Value:
    if field.type == field.TYPE_ENUM:
        numbers = {str(v.number): v.name for v in field.enum_type.values}
        names = [v.name for v in field.enum_type.values]
        number = isinstance(p.value, (int, str)) and not isinstance(p.value, bool) and str(p.value).strip()
        return numbers[number] if number in numbers else p.as_choice(names)
    if field.type == field.TYPE_BOOL:
        return p.as_bool()
    if field.type in (field.TYPE_STRING, field.TYPE_BYTES):
        return p.as_text()
    if field.type in (field.TYPE_DOUBLE, field.TYPE_FLOAT):
        return p.as_float()
    bits = 31 if field.type == field.TYPE_INT32 else 63
    return p.as_int(-(2**bits), 2**bits - 1)


def _repeated(field: Any) -> bool:
    # is_repeated since protobuf 6, which warns at label
    return bool(field.is_repeated if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED)


def _message(values: Mapping[str, Value]) -> Any:
    message = sat_parameters_pb2.SatParameters()
    for name, value in values.items():
        field = message.DESCRIPTOR.fields_by_name[name]
        texts = str(value).split("+") if _repeated(field) else None
        if field.type == field.TYPE_ENUM:
            numbers = [field.enum_type.values_by_name[t].number for t in texts or [str(value)]]
            if texts is None:
                setattr(message, name, numbers[0])
            else:
                getattr(message, name).extend(numbers)
        elif texts is not None:
            getattr(message, name).extend(texts)
        else:
            setattr(message, name, value)
    return message


def _require_valid(values: Mapping[str, Value]) -> None:
    """Raise ValueError if CP-SAT calls the parameters invalid when it solves an empty model."""
    for name, value in values.items():
        solver = cp_model.CpSolver()
        set_all(solver.parameters, {name: value})
        if name not in ("num_workers", "num_search_workers"):
            solver.parameters.num_workers = 1
        if solver.solve(cp_model.CpModel()) == cp_model.MODEL_INVALID:
            reason = solver.response_proto.solution_info
            raise Parameter(SOLVER, name, value).wrong(f"another value: {reason}")
