"""Solve a model on a backend, or a problem by a method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .backends import Incumbent, Limits, Outcome, Result, backend, run
from .backends.driver import complete
from .backends.solver_thread import INTERRUPTED, catch_first, new_call
from .errors import ObjectiveDisagrees, WrongArgument
from .heuristics.method import Heuristic, Method, Start, Value, start_text
from .methods.run_solver import OnIncumbent, without_solver
from .methods.text import (
    Auto,
    SolverMethod,
    call_limits,
    check_arguments,
    check_method,
    chosen_method,
    parse_method,
    parse_start,
    start_method,
)
from .models import Problem, Schedule
from .models.arguments import checked
from .models.kind import given_problem, is_problem
from .models.language import Assignment, Model
from .models.problem import check_problem

if TYPE_CHECKING:
    from .instances import Instance


@checked(values=False, skip=("method", "warm_start"))
def solve(
    what: Model | Problem | Instance | str | Path,
    method: Method | str | None = None,
    *,
    backend: str | None = None,
    time_limit: float | None = None,
    threads: int | None = None,
    seed: int = 0,
    warm_start: Assignment | Mapping[Any, Any] | Schedule | Start | Method | str | None = None,
    gap_limit: float | None = None,
    deterministic_limit: float | None = None,
    parameters: Mapping[str, Value] | None = None,
    on_incumbent: OnIncumbent | None = None,
    **options: Any,
) -> Result:
    """Solve a model on a backend, or a problem by a method.

    Every method obeys ``time_limit``, ``threads``, ``seed`` and ``on_incumbent``. Each other argument is obeyed, or it
    raises a TypeError that names the methods that obey it. Every answer is verified by code that is independent of the
    solvers. Ctrl-C ends the call: it returns the best solution so far, with the message "interrupted".

    Parameters
    ----------
    what : Model, Problem, Instance, str or Path
        What is solved; a text is the name of an instance, or the path of its folder.
    method : Method, str or None
        How it is solved: an object such as ``sl.methods.CpSat("counts", warm_start="usual")``, or its text:

        - ``"BACKEND:FORMULATION"``, for example ``"cpsat:counts"``; the backends are "cpsat", "highs", "cpo", "pyomo"
          and those of third parties, the formulations of a problem p are ``list(p.formulations)``. For a model:
          ``"BACKEND"``. Without the formulation the first one is used.
        - ``"highs:FORMULATION@LOWERING"``, for example ``"highs:pool@900s"``; see ``sl.methods.Highs``.
        - with a warm start: ``"cpsat:counts+warm"`` by the usual heuristic of the problem's kind,
          ``"cpsat:counts+warm=lns/5s"`` by another one and for a limited time.
        - with parameters of the solver: ``"cpsat:counts:linearization_level=2"``.
        - a heuristic: "multi-search", "first-solution:ORDER", "rule:RULE", "delay-search", "relaxation-search", "lns"
          (dispatching and profit problems), "dp", "greedy", "backtracking" (evictions), "serial-sgs:RULE", "multi-sgs"
          (projects), and those of third parties; options as in ``"lns@cpsat:rounds=30"``.

        - "auto": the portfolio of the problem's kind, see ``sl.methods.Auto``.

        None: the ``backend``; without one "auto" for a problem, and "cpsat" for a model.
    backend : str or None
        Name of a backend, in place of a method.
    time_limit : float or None
        Wall time of the whole call in seconds, lowering included; None: no limit. The compilation of heuristics before
        their first use in a process is not counted.
    threads : int or None
        Greatest number of threads; None: the solver's default.
    seed : int
        Seed of random numbers, at least 0.
    warm_start : Assignment, dict, Schedule, str, Method, Start or None
        Where to start from: an Assignment of a model, or a dict ``{variable or its name: value}`` of some of its
        variables; a Schedule of a problem, or a heuristic such as ``"lns/5s"``. The result is never worse than a start
        that holds. It replaces the start of the method's text. In a dict, an interval has a start, a pair (start, end),
        True (present at any time) or None (absent); the backend first finds values for what is missing, and
        ``result.warm_start`` says so if there are none.
    gap_limit : float or None
        Relative gap between objective and bound at which the solver stops.
    deterministic_limit : float or None
        Limit in the solver's own reproducible unit. CP-SAT: its deterministic time; HiGHS: nodes; CP Optimizer:
        branches.
    parameters : mapping of str to bool, int, float or str, or None
        Parameters of the solver by its own names, for example ``{"linearization_level": 2}`` of CP-SAT.
    on_incumbent : callable or None
        Called with each Incumbent, which has ``seconds``, ``objective`` and ``bound``, and gives the answer by
        ``schedule()`` or ``assignment()``. Its ``objective`` is None while only a bound is known. Returning False ends the
        call with the best answer so far, before the first answer with that one; an exception ends it and is raised.
    **options
        Values of further fields of the method, for example ``rounds=30`` of ``sl.methods.Lns``, or
        ``lowering="pairwise"`` of ``sl.methods.Highs``.

    Returns
    -------
    Result
        If the solver cannot be used, its ``status`` is "unavailable" and its ``message`` says why.

    Raises
    ------
    UnknownName
        If there is no such instance, backend, method, formulation, heuristic or parameter. The message gives similar
        names.
    LoweringTooLarge
        If the lowering would be larger than its limit. It is raised before the lowering is built.
    TypeError
        If the method does not obey an argument, or an argument has a wrong type.
    ValueError
        If an argument has a wrong value.
    KeyboardInterrupt
        At a second Ctrl-C.

    Examples
    --------
    >>> import schedlab as sl
    >>> m = sl.Model("one"); a = m.interval("a", size=3, start=(2, 9)); m.minimize(a.end)
    >>> sl.solve(m, backend="cpsat").objective
    5
    >>> sl.solve("eurora_99", "multi-search").status
    'feasible'
    """
    solved = model_or_problem(what)
    usual = "auto"
    if isinstance(solved, Model):
        usual = "cpsat"
    chosen = chosen_method(method, backend, parameters, options, usual)
    given = {
        "warm_start": warm_start,
        "gap_limit": gap_limit,
        "deterministic_limit": deterministic_limit,
        "parameters": chosen.solver_parameters,
    }
    check_arguments(chosen, given)
    limits = call_limits(time_limit, threads, seed, gap_limit, deterministic_limit, chosen.solver_parameters).begun()
    new_call()
    try:
        if isinstance(solved, Model):
            return _solve_model(solved, chosen, limits, warm_start, on_incumbent)
        return _solve_problem(solved, chosen, limits, warm_start, on_incumbent)
    except KeyboardInterrupt as e:
        catch_first(e)
        return without_solver(solved, chosen.text, limits.deadline, INTERRUPTED)
    except ObjectiveDisagrees as e:
        wrong = without_solver(solved, chosen.text, limits.deadline, "")
        wrong.fail(str(e))
        return wrong


def model_or_problem(what: Model | Problem | Instance | str | Path) -> Model | Problem:
    """Return the problem of an instance or of its name; a model or a problem as it is; raise TypeError for anything else."""
    if isinstance(what, Model):
        return what
    if not isinstance(what, (str, Path)) and not is_problem(what) and not is_problem(getattr(what, "problem", None)):
        raise WrongArgument(f"{what!r:.80} cannot be solved; expected a Model, a problem, an Instance or its name")
    found: Problem = given_problem(what)
    return found


def _solve_model(
    model: Model,
    method: Method,
    limits: Limits,
    warm_start: object,
    on_incumbent: OnIncumbent | None,
) -> Result:
    """Solve a model; raise TypeError for what only a problem has."""
    if not isinstance(method, SolverMethod):
        raise WrongArgument(f"{method.text} solves problems; a model takes a backend, such as backend='cpsat'")
    if method.formulation is not None:
        raise WrongArgument(f"{method.text}: a model has no formulations; give the backend alone: {method.name!r}")
    if method.start is not None or not isinstance(warm_start, (Assignment, Mapping, type(None))):
        raise WrongArgument(
            "a model takes an Assignment, or a dict of values by variable or name, as its warm_start; schedules and "
            "heuristics are for problems"
        )
    options = method.compile_options
    if not isinstance(warm_start, Mapping):
        return run(model, method.name, limits, warm_start=warm_start, on_incumbent=on_incumbent, **options)
    start, fate = complete(model, warm_start, method.name, limits, **options)
    result = run(model, method.name, limits, warm_start=start, on_incumbent=on_incumbent, **options)
    if fate.fate == "rejected" or (fate.fate == "repaired" and result.warm_start.fate == "accepted"):
        result.warm_start = replace(fate, returned=result.warm_start.returned)
    return result


def _solve_problem(
    problem: Problem, method: Method, limits: Limits, warm_start: object, on_incumbent: OnIncumbent | None
) -> Result:
    from .methods.run_solver import run_search, run_solver, warm_up_method

    check_problem(problem)
    check_method(method, problem)
    if isinstance(warm_start, (Assignment, Mapping)):
        what = "an Assignment"
        if isinstance(warm_start, Mapping):
            what = "a dict"
        raise WrongArgument(f"the warm_start of a problem is a Schedule or a heuristic, not {what}")
    given = _given_start(method, warm_start)
    start = None
    if isinstance(given, Start):
        start = start_method(problem, given).name
    if isinstance(method, Auto):
        from .methods.portfolio import run_auto, warm_up

        warm_up(method, problem, start)
        return run_auto(problem, method, limits.lasting(limits.time), given, on_incumbent)
    warm_up_method(method, problem, start)
    limits = limits.lasting(limits.time)  # what is compiled does not count
    if isinstance(method, Heuristic):
        return run_search(problem, method, limits, given, on_incumbent)
    assert isinstance(method, SolverMethod)
    return run_solver(problem, method, limits, given, on_incumbent)


def _given_start(method: Method, warm_start: object) -> Schedule | Start | None:
    """Return the start that the call gives, else that of the method's text; None if there is none."""
    if isinstance(warm_start, Schedule):
        return warm_start
    text = method.start if warm_start is None else start_text(warm_start)  # type: ignore[arg-type]
    if text is None:
        return None
    return parse_start(text)


__all__ = ["Incumbent", "Method", "Outcome", "backend", "parse_method", "solve"]
