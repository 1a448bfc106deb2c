"""The names of policies that plan: ``plan[:ORDER[:OPTION=VALUE]...][@lns[:OPTION=VALUE]...]``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ....backends import UnknownName
from ....errors import SchedlabError
from ....models.plugins import PluginError
from ..policy import Policy, by_duration, by_slowdown, by_submit
from .settings import Plan

FAMILY, SEARCH, USUAL = "plan", "lns", "weighted"
ROUNDS = 20  # of the search, unless the name says otherwise
ORDERS = {
    name: Policy(f"{FAMILY}:{name}", key, reservations=None, plan=plan)
    for name, key, plan in (
        ("submit", by_submit, Plan()),
        ("wt", by_duration, Plan(guard=1.0)),
        ("slowdown", by_slowdown, Plan(guard=1.0)),
        (USUAL, by_submit, Plan(work=1.0, ewt=1.0, guard=1.0)),
    )
}
"""The policies by order, without search."""
OPTIONS = ("work", "ewt", "guard", "least")
SEARCH_OPTIONS = {"rounds": ROUNDS, "depth": Plan.depth}


def is_plan(name: str) -> bool:
    """Return whether a name is that of a policy that plans."""
    return name.partition(":")[0] == FAMILY


def plan_named(name: str, search: str | None) -> Policy:
    """Return the policy of a name.

    Parameters
    ----------
    name : str
        ``plan[:ORDER][:OPTION=VALUE]...``. ``ORDER`` is a key of ``ORDERS``, by default ``weighted``; the options are
        ``work`` and ``ewt`` (of ``weighted``), ``guard`` and ``least``, see ``Plan``.
    search : str or None
        ``lns[:OPTION=VALUE]...`` with the options ``rounds`` and ``depth``; None: no search.

    Returns
    -------
    Policy
        The policy; its name is ``name``, and ``search`` after "@".

    Raises
    ------
    UnknownName
        If the order, the search or an option is unknown; the message lists similar names.
    PluginError
        If a value is not valid.

    Examples
    --------
    >>> policy = plan_named("plan:weighted:work=2", "lns:rounds=50")
    >>> policy.name, policy.plan.work, policy.plan.rounds
    ('plan:weighted:work=2@lns:rounds=50', 2.0, 50)
    """
    text = name if search is None else f"{name}@{search}"
    _, *parts = name.split(":")
    order = parts.pop(0) if parts and "=" not in parts[0] else USUAL
    if order not in ORDERS:
        raise UnknownName("order of a plan called", order, list(ORDERS))
    policy = ORDERS[order]
    known = [o for o in OPTIONS if order == USUAL or o in ("guard", "least")]
    values: dict[str, Any] = dict(_values(text, parts, known))
    usual = policy.plan
    assert usual is not None
    _check_effect(text, values, "least", "guard", np.inf, usual.guard)
    _check_effect(text, values, "ewt", "work", 0, usual.work)
    if search is not None:
        what, *more = search.split(":")
        if what != SEARCH:
            if what.startswith(f"{SEARCH}-"):  # the predictor stands before the search
                raise UnknownName("dispatcher", text, [f"{name}{what[len(SEARCH) :]}@{SEARCH}"])
            raise UnknownName("search of a plan called", what, [SEARCH])
        given = _values(text, more, list(SEARCH_OPTIONS))
        _check_effect(text, given, "depth", "rounds", 0, ROUNDS)
        found = SEARCH_OPTIONS | given
        for option, value in found.items():
            if not float(value).is_integer():
                raise PluginError(f"dispatcher {text}: {option} is {value:g}, expected a whole number")
        values |= {option: int(value) for option, value in found.items()}
    try:
        return replace(policy, name=text, plan=replace(usual, **values))
    except SchedlabError as e:
        raise PluginError(f"dispatcher {text}: {e}") from e


def _check_effect(text: str, given: Mapping[str, float], option: str, switch: str, off: float, usual: float) -> None:
    """Raise PluginError if an option is given that has no effect, because another one is off."""
    value = given.get(switch, usual)
    if option in given and value == off:
        raise PluginError(f"dispatcher {text}: {option} has no effect, as {switch} is {value:g}; leave one of them out")


def _values(text: str, parts: list[str], known: list[str]) -> dict[str, float]:
    """Return the options as numbers."""
    found: dict[str, float] = {}
    for part in parts:
        option, equals, value = part.partition("=")
        if option not in known:
            raise UnknownName(f"option of dispatcher {text} called", option, known)
        if option in found or not equals:
            raise PluginError(f"dispatcher {text}: expected options as NAME=VALUE after a colon, each once")
        try:
            found[option] = float(value)
        except ValueError:
            raise PluginError(f"dispatcher {text}: {option} is {value!r}, expected a number") from None
    return found
