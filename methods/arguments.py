"""The arguments of ``solve``: the method that they give, and a TypeError for each that the method does not obey."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..backends import Limits
from ..backends.base import MOST_THREADS
from ..errors import WrongArgument, WrongValue
from ..heuristics.method import Method, Parameters, Value, fields_of
from ..models.arguments import is_real, is_whole
from ..models.unknown_names import similar
from .solvers import SolverMethod
from .text import all_classes, parse_method

ARGUMENTS = (  # of ``solve``
    "method",
    "backend",
    "time_limit",
    "threads",
    "seed",
    "warm_start",
    "gap_limit",
    "deterministic_limit",
    "parameters",
    "on_incumbent",
)


def chosen_method(
    method: Method | str | None,
    backend: str | None,
    parameters: Mapping[str, Value] | None,
    options: Mapping[str, Any],
    usual: str,
) -> Method:
    """Return the method that the arguments of ``solve`` describe.

    Parameters
    ----------
    method : Method, str or None
    backend : str or None
        Name of a backend, in place of a method.
    parameters : mapping or None
        Parameters of the solver, added to those of the method.
    options : mapping
        Other values of the method's fields.
    usual : str
        The method if neither a method nor a backend is given.

    Returns
    -------
    Method

    Raises
    ------
    TypeError
        If both a method and a backend are given, or the method does not have an option. The message names the methods
        that have it.
    UnknownName
        If a part of the method does not exist.
    ValueError
        If two values of one parameter are given, or a value is wrong.
    """
    if method is not None and backend is not None:
        raise WrongArgument(f"method={str(method)!r} and backend={backend!r} are both given; give one of them")
    if parameters is not None and not isinstance(parameters, Mapping):
        raise WrongArgument(
            f"parameters is {parameters!r:.80}; expected a mapping {{name of a parameter: value}} or None"
        )
    if not isinstance(method, (Method, str, type(None))):
        raise WrongArgument(
            f"method is {method!r:.80}; expected a text such as 'cpsat:counts+warm', or an object of sl.methods"
        )
    chosen = method if isinstance(method, Method) else parse_method(method or backend or usual)
    for name in options:
        if name not in chosen.options():
            raise WrongArgument(_refusal(name, chosen))
    return _with_parameters(chosen.with_options(**options), parameters)


def _with_parameters(method: Method, parameters: Mapping[str, Value] | None) -> Method:
    if parameters is None:
        return method
    if not fields_of(type(method), "parameters"):
        raise WrongArgument(_refusal("parameters", method))
    for name, value in method.solver_parameters.items():
        if parameters.get(name, value) != value:
            raise WrongValue(
                f"parameter {name} is {value!r} in {method.text!r}, and {parameters[name]!r} in parameters="
            )
    return method.with_options(parameters=Parameters({**method.solver_parameters, **parameters}))


def check_arguments(method: Method, given: Mapping[str, object]) -> None:
    """Raise TypeError for an argument that is given and that the method does not obey.

    Parameters
    ----------
    method : Method
    given : mapping of str to object
        Values of ``warm_start``, ``gap_limit``, ``deterministic_limit`` and ``parameters``; None or empty: not given.
    """
    for name, value in given.items():
        is_given = value is not None and not (isinstance(value, Mapping) and not value)
        if is_given and name not in method.obeyed():
            raise WrongArgument(_refusal(name, method))


def _refusal(argument: str, method: Method) -> str:
    """Return the message about an argument that a method does not obey, with the methods that do."""
    obeying = [c.name for c in all_classes() if argument in c.options() or argument in c.obeyed()]
    if obeying and argument not in method.options():
        return f"{method.text} does not obey {argument}; methods that do: {', '.join(obeying)}"
    options = method.options()
    own = f"its options are {', '.join(options)}" if options else "it has no options"
    near = similar(argument, [*options, *ARGUMENTS])
    own += f"; did you mean {' or '.join(near)}?" if near else ""
    if isinstance(method, SolverMethod):
        own += f"; parameters of the solver are given as parameters={{{argument!r}: value}}"
    return f"{method.text} has no option {argument}; {own}"


def call_limits(
    time_limit: float | None,
    threads: int | None,
    seed: int,
    gap_limit: float | None,
    deterministic_limit: float | None,
    parameters: Mapping[str, Value],
) -> Limits:
    """Return the limits of a call; raise TypeError or ValueError, with the argument, for a wrong value."""
    for name, value in (
        ("time_limit", time_limit),
        ("gap_limit", gap_limit),
        ("deterministic_limit", deterministic_limit),
    ):
        if value is None:
            continue
        if not is_real(value):
            raise WrongArgument(f"{name} is {value!r:.80}; expected a number")
        if math.isnan(value) or value < 0:
            raise WrongValue(f"{name} is {value}; expected a number of at least 0")
    for name, whole, least in (("threads", threads, 1), ("seed", seed, 0)):
        if whole is None and name == "threads":
            continue
        if not is_whole(whole):
            raise WrongArgument(f"{name} is {whole!r:.80}; expected a whole number")
        if whole < least:
            raise WrongValue(f"{name} is {whole}; expected at least {least}")
    if threads is not None and threads > MOST_THREADS:
        raise WrongValue(f"threads is {threads}; expected at most {MOST_THREADS:,}")
    time_limit = None if time_limit == math.inf else time_limit  # solvers and searches turn it into whole numbers
    return Limits(time_limit, threads, seed, gap_limit, deterministic_limit, dict(parameters))
