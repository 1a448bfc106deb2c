"""The dispatchers of schedlab by name; those in Python are imported when they are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..dardis.names import SETUPS
from ..hybrid.names import EVERY, FORECAST, METHOD, VARIANTS
from .cp.desired.names import FOLLOWING
from .cp.thesis import MODELS
from .plans.names import ORDERS
from .policy import POLICIES, WITHIN_PROFILE
from .psp import psp, psp_conservative

CP = ("pcp", "pcp1", "pcp2", "pcp3", "hcp", "hcp1", "hcp2", "hcp3", *MODELS)


def _with_backend(name: str) -> Callable[..., Any]:
    def made(backend: str, **options: Any) -> Any:
        from .cp.names import make

        return make(name, backend, **options)

    return made


def _cpmodel(backend: str, **options: Any) -> Any:
    from .production.cycle import CPModel

    return CPModel(backend, **options)


def _cpmodel_profile(backend: str, **options: Any) -> Any:
    return _cpmodel(backend, profile=True, **options)


def _portfolio(backend: str, **options: Any) -> Any:
    from .production.portfolio import Portfolio

    return Portfolio(backend, **options)


def _dardis(setup: str) -> Callable[[], Any]:
    def made() -> Any:
        from ..dardis.dispatcher import Dardis

        return Dardis(setup)

    return made


def _hybrid(percent: int) -> Callable[..., Any]:
    def made(forecast: str = FORECAST, method: str = METHOD, limit: float = 0.0, hours: float = 24.0) -> Any:
        from ..hybrid.dispatcher import Hybrid

        return Hybrid(percent, forecast, method, limit, hours)

    def all_on() -> Any:  # nothing is planned: it takes no options of plans
        from ..hybrid.dispatcher import Hybrid

        return Hybrid(percent)

    return made if percent < 100 else all_on


def _planned(
    every: float = EVERY, forecast: str = FORECAST, method: str = METHOD, limit: float = 0.0, hours: float = 24.0
) -> Any:
    from ..hybrid.planned import Planned

    return Planned(every, forecast, method, limit, hours)


OWN = {
    **POLICIES,
    **WITHIN_PROFILE,
    **{policy.name: policy for policy in ORDERS.values()},
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
}
DRAWING = {f"dardis:{name}" for name, setup in SETUPS.items() if setup.generator != "first" or setup.policy == "random"}
