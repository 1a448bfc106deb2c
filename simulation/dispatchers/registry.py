"""The names of dispatchers: policies, CP dispatchers with a backend, those of third parties; each with a predictor."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from typing import Annotated, Any, NamedTuple

from ...backends import UnknownName
from ...backends import names as backend_names
from ...backends.base import BACKENDS
from ...errors import SchedlabError
from ...models.dispatch.objectives import REGISTRY as OBJECTIVE_REGISTRY
from ...models.dispatch.objectives import find_objective
from ...models.plugins import REFERENCE, PluginError, is_module, load_reference
from ...models.registry import NamedPart, Registry, SourceOf, WrongOption
from ..rankers import Ranker, parse_ranker
from .cp.dispatcher import FOLLOWING, MODELS, split_cost
from .dardis.messages import SETUPS
from .hybrid import EVERY, FORECAST, METHOD, VARIANTS
from .pbs import PBS
from .plans import FAMILY, ORDERS, plan_named
from .policy import POLICIES, WITHIN_PROFILE, Policy, Slurm, needs_of, psp, psp_conservative, slurm

# --- The dispatchers of schedlab by name; those in Python are imported when they are made.

Forecast = Annotated[str, SourceOf("schedlab.simulation.forecasts:forecast_source")]
Method = Annotated[str, SourceOf("schedlab.methods.text:method_source")]
CP = ("pcp", "pcp1", "pcp2", "pcp3", "hcp", "hcp1", "hcp2", "hcp3", *MODELS)


def _with_backend(name: str) -> Callable[..., Any]:
    def made(backend: str, **options: Any) -> Any:
        from .cp.dispatcher import make

        return make(name, backend, **options)

    return made


def _cpmodel(backend: str, **options: Any) -> Any:
    from .production import CPModel

    return CPModel(backend, **options)


def _cpmodel_profile(backend: str, **options: Any) -> Any:
    return _cpmodel(backend, profile=True, **options)


def _portfolio(backend: str, **options: Any) -> Any:
    from .production import Portfolio

    return Portfolio(backend, **options)


def _dardis(setup: str) -> Callable[[], Any]:
    def made() -> Any:
        from .dardis.dispatcher import Dardis

        return Dardis(setup)

    return made


def _hybrid(percent: int) -> Callable[..., Any]:
    def made(forecast: Forecast = FORECAST, method: Method = METHOD, limit: float = 0.0, hours: float = 24.0) -> Any:
        """DARDIS follows the profile of a daily plan, and nodes beyond it are off."""
        from .hybrid import Hybrid

        return Hybrid(percent, forecast, method, limit, hours)

    def all_on() -> Any:  # nothing is planned: it takes no options of plans
        """DARDIS on a machine whose nodes all stay on."""
        from .hybrid import Hybrid

        return Hybrid(percent)

    if percent < 100:
        return made
    return all_on


def _planned(
    every: float = EVERY,
    forecast: Forecast = FORECAST,
    method: Method = METHOD,
    limit: float = 0.0,
    hours: float = 24.0,
) -> Any:
    """EASY in the order of a rolling offline plan."""
    from .hybrid import Planned

    return Planned(every, forecast, method, limit, hours)


OWN = {
    **POLICIES,
    **WITHIN_PROFILE,
    **{f"{FAMILY}:{name}": order for name, order in ORDERS.items()},
    "psp": psp,
    "psp-conservative": psp_conservative,
    **{name: _with_backend(name) for name in CP},
    **{name: _with_backend(name) for name in FOLLOWING},
    "cpmodel": _cpmodel,
    "cpmodel-profile": _cpmodel_profile,
    "portfolio": _portfolio,
    **{f"dardis:{setup}": _dardis(setup) for setup in SETUPS},
    **{f"hybrid:{percent}": _hybrid(percent) for percent in VARIANTS},
    "planned": _planned,
    "slurm": slurm,
    "pbs": PBS,
}
OF_SITES = ("slurm", "pbs")
DRAWING = {f"dardis:{name}" for name, setup in SETUPS.items() if setup.generator != "first" or setup.policy == "random"}


PRODUCTION = ("cpmodel", "cpmodel-profile", "portfolio")
SOLVING = (*CP, *PRODUCTION, *FOLLOWING)  # the dispatchers with a backend
PREDICTED_BY = {"w": "walltime", "d": "data-driven", "r": "real", "l": "last-two"}


class Named(NamedTuple):
    """The parts of a dispatcher's name.

    Parameters
    ----------
    text : str
        The whole name.
    dispatcher : str
        The name without predictor and backend.
    predictor : str
        Name of the predictor.
    backend : str or None
        Backend of a CP dispatcher; None for the others.
    objective : str or None
        Objective of a CP dispatcher; None: that of its version.
    ranker : NamedPart, optional
        The ranker of a policy.
    over_cost : float, optional
        The cost of an amount-hour above the desired profile; None: there is none.
    part : NamedPart, optional
        The dispatcher with its options; None: it has a backend, or plans.
    plan : Policy, optional
        The policy, if the name is that of one that plans.
    """

    text: str
    dispatcher: str
    predictor: str
    backend: str | None
    objective: str | None = None
    ranker: NamedPart[Ranker] | None = None
    over_cost: float | None = None
    part: NamedPart[Any] | None = None
    plan: Policy | None = None

    @property
    def within_profile(self) -> bool:
        """Whether a desired profile limits its starts."""
        return self.dispatcher in WITHIN_PROFILE or (self.dispatcher in FOLLOWING and self.over_cost is None)

    @property
    def needs_site(self) -> bool:
        """Whether it follows the rules of a site."""
        return self.dispatcher in OF_SITES

    @property
    def needs_profile(self) -> bool:
        """Whether it needs a desired profile."""
        return self.within_profile or self.dispatcher in FOLLOWING

    def make(self, **options: Any) -> Any:
        """Return the dispatcher; ``options`` go to those with a backend, the others take none.

        Raises
        ------
        PluginError
            If the dispatcher or the ranker cannot be imported or created, or is none; or if there is a ranker, and the
            dispatcher is not a policy without one.
        UnknownName, WrongOption
            If an option is unknown, or its value is not allowed.
        """
        if self.ranker is None:
            return self._unranked(options)
        ranker = self.ranker.make()
        policy = None
        if self.backend is None:
            policy = self._unranked(options)
        if not isinstance(policy, Policy) or policy.ranker is not None:
            why = "has a ranker of its own"
            if policy is None or not isinstance(policy, Policy):
                why = "is not a policy"
            raise PluginError(
                f"{self.text}: a ranker sorts the queue of a policy, such as easy+{self.ranker.name}; "
                f"{self.dispatcher} {why}"
            )
        return policy.with_ranker(ranker, f"{policy.name}+{self.ranker.text}")

    def _unranked(self, options: Mapping[str, Any]) -> Any:
        """Return the dispatcher without its ranker."""
        if self.plan is not None:
            return self.plan
        if self.part is not None:
            return self.part.make()
        own: dict[str, Any] = {}
        if self.objective is not None:
            own = {"objective": self.objective}
        if self.over_cost is None:
            own |= {}
        else:
            own |= {"over_cost": self.over_cost}
        return DISPATCHERS[self.dispatcher](self.backend, **{**options, **own})

    @property
    def names_predictor(self) -> bool:
        """Whether the name says which predictor is used: ``easy-d``."""
        head, dash, letter = self.text.partition("@")[0].rpartition("-")
        return bool(dash) and letter in PREDICTED_BY and f"{head}-{letter}" not in DISPATCHERS

    @property
    def seeded(self) -> bool:
        """Whether a dispatcher of schedlab without a solver draws, so that its starts depend on the seed."""
        searching = self.plan is not None and self.plan.plan is not None and self.plan.plan.rounds > 0
        return self.dispatcher in DRAWING or searching or (self.part is not None and "method" in self.part.given)

    @property
    def source(self) -> str | None:
        """A hash of the source of third parties' parts: dispatcher, forecast, method, ranker, backend; None without any."""
        parts = [
            None if self.part is None else self.part.source,
            None if self.ranker is None else self.ranker.source,
            None if self.backend is None else BACKENDS.source(self.backend),
            None if self.objective is None else OBJECTIVE_REGISTRY.source(self.objective),
        ]
        return "+".join(part for part in parts if part is not None) or None


def _near(text: str) -> list[str]:
    """Return texts that an unknown one may have meant; ``pcp3:waiting`` lacks the backend before its objective."""
    head, colon, objective = text.partition(":")
    if colon and head.partition("-")[0] in SOLVING:
        return [f"{head}@cpsat:{objective}"]
    return []


DISPATCHERS: Registry[Any] = Registry(
    "dispatcher",
    "schedlab.dispatchers",
    OWN,
    parts=("name", "begin", "decide"),
    docs="docs/reference/own_dispatcher.md",
    finished=lambda found: isinstance(found, Policy | Slurm | PBS),
    near=_near,
)
"""The dispatchers by name: a ``Policy``, a dispatcher, or a class or function that returns one."""


def is_plan(name: str) -> bool:
    """Return whether a name is that of a policy that plans."""
    return name.partition(":")[0] == FAMILY


def dispatcher_names() -> list[str]:
    """Return the names of all dispatchers, without predictor and backend.

    Returns
    -------
    list of str
        The names, in the order of the documentation.
    """
    return list(DISPATCHERS)


def is_dispatcher(text: str) -> bool:
    """Return whether a text names a dispatcher, with or without a predictor and a backend.

    A name ``module:attribute`` counts if there is such a module and no heuristic or backend of that name, unless it is a
    heuristic or a backend itself; what is wrong with it is said where it is used.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    bool
        Whether it names one.

    Examples
    --------
    >>> is_dispatcher("easy-r"), is_dispatcher("cpsat:counts")
    (True, False)
    """
    from ...heuristics import HEURISTICS

    head = text.partition("@")[0]
    names = [head, head.rpartition("-")[0]]
    names += [name.partition("+")[0] for name in names]
    if any(DISPATCHERS.name_in(name) is not None or is_plan(name) for name in names):
        return True
    module = head.partition(":")[0]
    if module in HEURISTICS or module in backend_names():
        return False
    references = [":".join(name.split(":")[:2]) for name in names]
    reference = next((text for text in references if REFERENCE.fullmatch(text)), None)
    return reference is not None and is_module(module) and not _is_method(reference)


def _is_method(reference: str) -> bool:
    """Return whether ``module:attribute`` is a heuristic or a backend; what is wrong with it is said where it is used."""
    from ...heuristics import Heuristic

    try:
        part = load_reference(reference)
    except SchedlabError:
        return False
    is_heuristic = isinstance(part, type) and issubclass(part, Heuristic)
    return is_heuristic or all(hasattr(part, method) for method in ("availability", "compile"))


def check_dispatcher(text: str) -> Named:
    """Return the parts of a dispatcher's name, like ``parse_dispatcher``; create it, unless it needs a backend.

    What a third party's module prints when it is imported goes to the standard error.

    Parameters
    ----------
    text : str
        The name, such as ``"easy-d"``, ``"cp@cpsat"`` or ``"my_module:MyDispatcher"``.

    Returns
    -------
    Named
        The parts of the name.

    Raises
    ------
    UnknownName
        If a part is unknown.
    PluginError
        If the dispatcher of a third party cannot be imported or created, or is not a dispatcher.
    """
    with redirect_stdout(sys.stderr):
        named = parse_dispatcher(text)
        if named.backend is None or named.ranker is not None:
            needs_of(named.make())
    return named


def parse_dispatcher(text: str) -> Named:
    """Split the name of a dispatcher, ``NAME[+RANKER][-w|-d|-r|-l][@BACKEND[:OBJECTIVE]]``, into its parts.

    The name of a dispatcher without a solver may have options: ``hybrid:70:forecast=weekly``.

    A dispatcher ``module:attribute`` is imported, from the current folder or an installed package, but not created.

    Parameters
    ----------
    text : str
        ``NAME`` is one of ``dispatcher_names()``, or ``module:attribute``, a dispatcher, or a class or function without
        arguments that returns one. ``RANKER`` sorts the queue of a policy, see ``parse_ranker``. The letter selects the
        predictor: ``w`` walltime (default; ``easy++``: last-two), ``d`` data-driven, ``r`` real (the runtimes), ``l``
        last-two. ``BACKEND`` is the solver of a CP dispatcher, by default ``cpsat``, and ``OBJECTIVE`` its objective, by
        default that of its version; ``mks`` and the other models of the thesis (``cp.dispatcher``) have their own. ``NAME`` with
        ``-profile`` keeps to the desired profile; a CP dispatcher with ``-profile:COST`` pays for each amount-hour above it.

        ``plan:ORDER[:OPTION=VALUE]...[@lns]`` are the policies of ``plans.names``.

    Returns
    -------
    Named
        The parts of the name.

    Raises
    ------
    UnknownName
        If a part is unknown; the message lists similar names.
    WrongOption
        If an option has no value, or is given twice.
    PluginError
        If the module of a dispatcher ``module:attribute`` cannot be imported.

    Examples
    --------
    >>> named = parse_dispatcher("hcp3-d@cpsat")
    >>> named.dispatcher, named.predictor, named.backend, named.objective
    ('hcp3', 'data-driven', 'cpsat', None)
    >>> parse_dispatcher("hcp3-profile:0.5@cpsat").over_cost
    0.5
    >>> parse_dispatcher("pcp3@highs:weighted-wait").objective
    'weighted-wait'
    >>> named = parse_dispatcher("easy+fairshare:half_life=86400-d")
    >>> named.dispatcher, named.ranker.name, named.predictor
    ('easy', 'fairshare', 'data-driven')
    """
    head, at, solver = text.partition("@")
    backend, colon, objective = solver.partition(":")
    name, dash, letter = head.rpartition("-")
    if head in DISPATCHERS or letter not in PREDICTED_BY or not dash:
        name, letter = head, ""
    if is_plan(name):
        return _plan(text, name, PREDICTED_BY.get(letter, "walltime"), solver if at else None)
    over_cost = None
    if name.partition(":")[0] in FOLLOWING:
        try:
            name, over_cost = split_cost(name)
        except ValueError:
            raise UnknownName("dispatcher", text, [f"{name.partition(':')[0]}:0.5@{backend or 'cpsat'}"]) from None
    if name not in DISPATCHERS and name.partition("+")[0] in MODELS:
        raise UnknownName("dispatcher", text, list(MODELS))
    name, ranked_by = _split_ranker(name)
    ranker = None
    if ranked_by is not None:
        ranker = parse_ranker(ranked_by)
    part = DISPATCHERS.find(name)
    if part.name not in SOLVING:
        if at:
            raise UnknownName("dispatcher", text, [head])
        own = {**POLICIES, **WITHIN_PROFILE}.get(part.name)
        usual = "walltime"
        if own is not None:
            usual = own.predictor
        return Named(text, part.name, PREDICTED_BY.get(letter, usual), None, None, ranker, part=part)
    if part.given:
        raise UnknownName("dispatcher", text, [f"{part.name}@{backend or 'cpsat'}"])
    backend = backend or "cpsat"
    if backend not in backend_names():
        solver, dash, of_job = backend.rpartition("-")
        moved = []
        if dash and of_job in PREDICTED_BY and solver in backend_names():
            moved = [f"{name}-{of_job}@{solver}"]
        raise UnknownName("backend", backend, [*moved, *backend_names()])
    if colon:
        find_objective(objective)
    if colon and name in MODELS:
        raise UnknownName("dispatcher", text, [text.rpartition(":")[0], f"pcp@{backend}:{objective}"])
    if not colon:
        chosen = MODELS.get(name, (None,))[0]
    else:
        chosen = objective
    return Named(text, name, PREDICTED_BY.get(letter, "walltime"), backend, chosen, ranker, over_cost)


def _plan(text: str, name: str, predictor: str, search: str | None) -> Named:
    """Return the parts of the name of a policy that plans."""
    name, plus, ranked_by = name.partition("+")
    ranker = None
    if plus:
        ranker = parse_ranker(ranked_by)
    planning = plan_named(name, search)
    if plus and planning.plan is not None and planning.plan.work > 0:
        raise WrongOption(f"dispatcher {text}: it has an order of its own; a ranker sorts plan:submit+{ranked_by}")
    return Named(text, name, predictor, None, ranker=ranker, plan=planning)


def _split_ranker(text: str) -> tuple[str, str | None]:
    """Return the text of a dispatcher and that of its ranker; None: it has none.

    >>> _split_ranker("easy+psp:aging=1d"), _split_ranker("easy++"), _split_ranker("easy+++psp")
    (('easy', 'psp:aging=1d'), ('easy++', None), ('easy++', 'psp'))
    """
    name = DISPATCHERS.name_in(text)
    if "=" not in text:
        plus = text.rpartition("+")
    else:
        plus = text[: text.index("=")].rpartition("+")
    if not plus[1] or (name is not None and "+" not in text.removeprefix(name)):
        return text, None
    return plus[0], text[len(plus[0]) + 1 :]
