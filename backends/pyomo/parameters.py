"""Names of the options of Pyomo's solvers for seed, threads and gap; other options are passed as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ...errors import WrongArgument, WrongValue
from ..base import Limits
from ..highs.parameters import check as check_highs
from ..parameters.limits import Value
from ..parameters.obeyed import fewer_threads
from ..parameters.values import Parameter, argument

GAP = 1e-6  # relative gap at which an optimum is proven; defaults of solvers reach 1e-4
LARGEST_SEED = 2**31 - 1


class Names(NamedTuple):
    """The names of one solver's options.

    Parameters
    ----------
    gap : str
        Relative gap.
    threads : str or None
        Number of threads; None: the solver has one thread.
    seed : str or None
        Seed; None: the solver uses no random numbers.
    times : tuple of str
        Time limits, which cannot be given as parameters.
    """

    gap: str
    threads: str | None
    seed: str | None
    times: tuple[str, ...]


# the option names as Pyomo's interfaces take them; each is part of the name of a Pyomo solver or of its class
KNOWN = {
    "highs": Names("mip_rel_gap", "threads", "random_seed", ("time_limit",)),
    "gurobi": Names("MIPGap", "Threads", "Seed", ("TimeLimit",)),
    "cplex": Names("mip_tolerances_mipgap", "threads", "randomseed", ("timelimit",)),
    "cbc": Names("ratioGap", "threads", "randomCbcSeed", ("sec", "seconds")),
    "scip": Names("limits/gap", "lp/threads", "randomization/randomseedshift", ("limits/time",)),
    "glpk": Names("mipgap", None, None, ("tmlim",)),
}


def names_of(wanted: Any) -> Names | None:
    """Return the option names of a Pyomo solver, given by its name or as an object; None if it is not known."""
    text = wanted if isinstance(wanted, str) else " ".join(f"{c.__module__}.{c.__name__}" for c in type(wanted).__mro__)
    return next((names for key, names in KNOWN.items() if key in text.lower()), None)


def check(given: Mapping[str, Any]) -> dict[str, Value]:
    """Return the parameters; texts become the int, float or bool that they look like."""
    return {name: Parameter("Pyomo", name, value).guessed() for name, value in given.items()}


def options(wanted: Any, limits: Limits) -> dict[str, Value]:
    """Return the options of the solver for seed, threads, gap and parameters.

    Parameters
    ----------
    wanted : str or object
        The Pyomo solver.
    limits : Limits

    Returns
    -------
    dict of str to bool, int, float or str

    Raises
    ------
    TypeError
        If threads, a gap or a seed other than 0 are given for a solver whose option names are not known.
    ValueError
        If a parameter is a time limit or a seed, or a number of threads greater than ``limits.threads``.
    UnknownName
        If a parameter of HiGHS is unknown; Pyomo does not know the names of other solvers.
    """
    names, given = names_of(wanted), dict(limits.parameters)
    if names is None:
        asked = {"threads": limits.threads is not None, "gap_limit": limits.gap is not None, "seed": limits.seed != 0}
        for name in (name for name, is_given in asked.items() if is_given):
            raise WrongArgument(
                f"the name of the option for {name}=... of Pyomo's solver {wanted!r} is not known; it is known for "
                f"{', '.join(KNOWN)}; for another solver give it in parameters, by its own name"
            )
        return given
    if names is KNOWN["highs"]:  # Pyomo does not notice that HiGHS refuses an option
        given = check_highs(given)
    for name in given:
        if name == names.seed or name in names.times:
            reason = argument("seed" if name == names.seed else "time_limit")
            raise WrongValue(f"the parameter {name} of {wanted!r} cannot be given: {reason}")
    found: dict[str, Value] = {names.gap: limits.gap or (0.0 if limits.exact else GAP)}
    if names.seed is not None:
        found[names.seed] = limits.seed % LARGEST_SEED
    if names.threads is not None:
        threads = fewer_threads(names.threads, given.pop(names.threads, None), limits.threads)
        if threads is not None:
            found[names.threads] = threads
    return found | given
