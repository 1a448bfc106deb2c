"""CP dispatchers by name: the versions of [Galleguillos2019] and the six models of [Bridi2018, tables 3.4 and 3.5]."""

from __future__ import annotations

from typing import Any

from ....errors import WrongArgument
from ....models.dispatch.composite import SLACK
from .desired import FOLLOWING, PROFILE
from .dispatcher import CPDispatcher
from .model import Family

# --- The six models of [Bridi2018, tables 3.4 and 3.5] as names of dispatchers: the objective, then what is kept.

FUNCTIONS = {"mks": "makespan", "wt": "weighted-tardiness", "nl": "late-jobs"}
MODELS = {
    name: tuple(FUNCTIONS[part] for part in name.split("+"))
    for name in ("mks", "wt", "nl", "mks+wt+nl", "nl+mks+wt", "wt+mks+nl")
}
"""For each dispatcher its objective, and the objectives that are kept within a slack of their own optimum."""


ALL_JOBS = 1_000_000  # more than ever wait
PLANNED = 40  # jobs in a model of the thesis
SOFT = 30  # jobs in a model with a cost of the desired use, which grows with jobs times steps of the use
QUICK = {"cpsat": {"cp_model_presolve": False, "linearization_level": 0, "symmetry_level": 0}}
"""Backend -> parameters with which it begins to search at once: the presolve of a node model takes 0.01 of CP-SAT's units."""


NO_PRESOLVE = {"cpsat": {"cp_model_presolve": False}}


def make(name: str, backend: str | None = None, **options: Any) -> CPDispatcher:
    """Return a CP dispatcher by its name.

    Parameters
    ----------
    name : str
        ``"pcp"``, ``"hcp"``, or one of them with the version: ``"pcp1"`` to ``"hcp3"``, and with ``-profile``; or one of the six models of the
        thesis, see the module.
    backend : str, optional
        Name of the solver's backend, by default ``"cpsat"``.
    **options
        Other arguments of ``CPDispatcher``. Composite models of the thesis take ``slack``, by default 1.1, for both kept
        objectives.

    Returns
    -------
    CPDispatcher
        A new dispatcher.

    Raises
    ------
    TypeError
        If a model of the thesis gets another objective.

    Examples
    --------
    >>> make("pcp1", "highs").name
    'pcp1@highs'
    >>> make("mks+wt+nl", "cpo").slack
    {'weighted-tardiness': 1.1, 'late-jobs': 1.1}
    """
    if name in MODELS:
        return _of_thesis(name, backend or "cpsat", **options)
    if name in FOLLOWING:
        name = name.removesuffix(PROFILE)
        options = {**options, "profile": True}
    family: Family = "pcp" if name.startswith("pcp") else "hcp"
    version = int(name.removeprefix(family) or 0)
    backend = backend or "cpsat"
    soft = options.get("over_cost") is not None
    if soft and not options.get("adaptive"):  # the presolve of such a model ignores the deterministic limit
        options = {"m": SOFT, "parameters": NO_PRESOLVE.get(backend), **options}
    return CPDispatcher(family, version, backend, **options)


def _of_thesis(name: str, backend: str, slack: float | None = None, **options: Any) -> CPDispatcher:
    """Return the dispatcher of one of the six models."""
    main, *kept = MODELS[name]
    if options.pop("objective", main) not in (main, None):
        raise WrongArgument(f"{name} has the objective {main}; pcp@{backend}:OBJECTIVE takes another one")
    if slack is not None and not kept:
        raise WrongArgument(f"{name} keeps no objectives, so that it takes no slack; mks+wt+nl does")
    keep = dict.fromkeys(kept, SLACK if slack is None else slack)
    usual = {"m": ALL_JOBS, "planned": PLANNED, "parameters": QUICK.get(backend)}
    dispatcher = CPDispatcher("pcp", 0, backend, objective=main, keep=keep, **{**usual, **options})
    dispatcher.name = f"{name}@{backend}"
    return dispatcher
