"""The names of node policies: those of schedlab and of third parties."""

from __future__ import annotations

from typing import Any

from ...backends import UnknownName
from ...errors import WrongValue
from ...models.plugins import (
    REFERENCE,
    NoSuchAttribute,
    NoSuchModule,
    PluginError,
    Registry,
    check_parts,
    explained,
    load_reference,
)
from .following import FollowProfile
from .plain import AlwaysOn, Idle
from .policy import NodePolicy

OWN: dict[str, Any] = {"always-on": AlwaysOn, "idle": Idle, "profile": FollowProfile}
NODE_POLICIES: Registry[Any] = Registry("node policy", "schedlab.node_policies", OWN)
"""The node policies by name: classes or functions that return one, called with the text after the name, if there is one."""
PARTS = ("name", "begin", "decide")


def node_policy_of(what: str | NodePolicy | type[NodePolicy]) -> NodePolicy:
    """Return a node policy by its name, or check an object.

    Parameters
    ----------
    what : str or NodePolicy
        ``"always-on"``, ``"idle:30min"``, ``"profile"``, ``"NAME"`` or ``"NAME:TEXT"`` of a third party,
        ``"module:attribute"``, or an object.

    Returns
    -------
    NodePolicy
        The policy.

    Raises
    ------
    UnknownName
        If there is no such policy; the message lists similar names.
    PluginError
        If it cannot be imported or created, or lacks a part.
    WrongValue
        If its text is wrong.

    Examples
    --------
    >>> node_policy_of("idle:30min").name
    'idle:30min'
    """
    if not isinstance(what, str):
        return _made(what, f"the argument node_policy ({what!r:.100})", ())
    name, colon, text = what.partition(":")
    texts = (text,) if text else ()
    if colon and not text:
        raise WrongValue(f"node policy {what}: nothing stands after the colon; expected {name}, or an option after it")
    if name in OWN:
        if text and OWN[name] is not Idle:
            raise WrongValue(f"node policy {what}: {name} takes no option; expected {name}")
        own: NodePolicy = OWN[name](*texts)
        return own
    if name in NODE_POLICIES:
        return _made(NODE_POLICIES[name], NODE_POLICIES.label(name), texts)
    if REFERENCE.fullmatch(what):
        try:
            return _made(load_reference(what), what, ())
        except NoSuchModule:
            note = f", and no module {name} in the current folder or installed"
            raise UnknownName("node policy", what, list(NODE_POLICIES), note) from None
        except NoSuchAttribute as e:
            raise UnknownName(f"object of the module {name} called", text, e.known) from None
    raise UnknownName("node policy", what, list(NODE_POLICIES))


def _made(found: Any, label: str, texts: tuple[str, ...]) -> NodePolicy:
    if isinstance(found, type) or (callable(found) and not hasattr(found, "decide")):
        with explained(f"{label} cannot be created"):
            found = found(*texts)
    elif texts:
        raise WrongValue(f"{label} takes no option; expected its name alone, not {texts[0]!r} after it")
    return _checked(found, label)


def _checked(found: Any, label: str) -> NodePolicy:
    lacking = [part for part in PARTS if not hasattr(found, part)]
    if lacking:
        raise PluginError(f"{label} is not a node policy: it has no {' and no '.join(lacking)} (docs/energy.md)")
    check_parts(label, found, ("begin", "decide"))
    policy: NodePolicy = found
    return policy
