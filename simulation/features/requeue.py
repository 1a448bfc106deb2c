"""What happens to a job whose attempt ends before its work is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ...errors import SchedlabError, WrongValue
from ...models.arguments import is_whole
from ...models.excerpt import excerpt, with_short_repr
from ...models.plugins import PluginError
from ...models.registry import Registry, WholeSeconds


class Requeue(Protocol):
    """The rule for jobs whose attempt ends early, for example because a node goes down.

    Attributes
    ----------
    name : str
        The rule as a text, as ``requeue_of`` reads it.
    """

    @property
    def name(self) -> str:
        """The rule as a text."""

    def kept(self, ran: int) -> int | None:
        """Return the seconds of work of an attempt that are kept.

        Parameters
        ----------
        ran : int
            Seconds from the start of the attempt to its end.

        Returns
        -------
        int or None
            From 0 to ``ran``: the job comes back to its old place in the queue, and needs this much less. None: the job
            does not come back.
        """


@with_short_repr
@dataclass(frozen=True)
class Restart:
    """The job comes back and starts from zero.

    Examples
    --------
    >>> Restart().kept(5000)
    0
    """

    name = "restart"

    def kept(self, ran: int) -> int | None:
        """Return 0."""
        return 0


@with_short_repr
@dataclass(frozen=True)
class Checkpoint:
    """The job comes back and goes on from its last checkpoint; a checkpoint takes no time.

    Parameters
    ----------
    every : int
        Seconds of work between two checkpoints.

    Examples
    --------
    >>> Checkpoint(3600).kept(5000)
    3600
    """

    every: WholeSeconds

    def __post_init__(self) -> None:
        if not is_whole(self.every) or self.every < 1:
            raise WrongValue(f"checkpoint: every is {excerpt(self.every)}; expected whole seconds, at least 1")

    @property
    def name(self) -> str:
        """The rule as a text."""
        return f"checkpoint:{self.every}"

    def kept(self, ran: int) -> int | None:
        """Return the work at the last checkpoint."""
        return ran - ran % self.every


RESTART = Restart()


@with_short_repr
@dataclass(frozen=True)
class Drop:
    """The job does not come back."""

    name = "drop"

    def kept(self, ran: int) -> int | None:
        """Return None."""
        return None


def kept_by(requeue: Requeue, ran: int, job: str) -> int | None:
    """Return ``requeue.kept(ran)``, checked. Raises WrongValue."""
    try:
        kept = requeue.kept(ran)
    except SchedlabError:
        raise
    except Exception as e:
        raise PluginError(f"requeue {requeue.name} raised in kept: {type(e).__name__}: {e}") from e
    if kept is not None and not (is_whole(kept) and 0 <= kept <= ran):
        raise WrongValue(
            f"requeue {requeue.name}: kept({ran}) is {excerpt(kept)} for job {job!r}; "
            f"expected None or whole seconds from 0 to {ran}"
        )
    return kept


REQUEUE_RULES: Registry[Requeue] = Registry(
    "requeue rule",
    "schedlab.requeue",
    {"restart": Restart, "checkpoint": Checkpoint, "drop": Drop},
    parts=("name", "kept"),
    docs="docs/reference/outages.md",
    argument="requeue",
    first_value=True,
)
"""The rules by name: a rule, or a class or function that returns one."""


def requeue_of(what: str | Requeue | type[Requeue]) -> Requeue:
    """Return the rule that a text names: ``restart``, ``checkpoint:SECONDS``, ``drop``, or one of a third party.

    Parameters
    ----------
    what : str, Requeue or type
        The text; an object, or a class without arguments, is checked.

    Returns
    -------
    Requeue
        The rule.

    Raises
    ------
    UnknownName
        If there is no such rule or option; the message lists similar names.
    WrongOption
        If the value of an option is not allowed.
    PluginError
        If the object has not the parts of a rule.

    Examples
    --------
    >>> requeue_of("checkpoint:10min")
    Checkpoint(every=600)
    """
    return REQUEUE_RULES.make(what)
