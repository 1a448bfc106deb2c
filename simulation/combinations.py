"""The options of a replay that contradict each other in meaning, each with the reason."""

from __future__ import annotations

from ..errors import WrongValue
from .features.requeue import Drop, Requeue, Restart
from .predictors import Predictor
from .predictors.data_driven import DataDriven


def check_combinations(
    predictor: Predictor, requeue: Requeue, on_demand: bool, users: bool, reservations: bool, power: bool
) -> None:
    """Raise WrongValue for options that contradict each other.

    Parameters
    ----------
    predictor, requeue : Predictor, Requeue
        As in ``simulate``.
    on_demand, users, reservations : bool
        Whether there are on-demand jobs, users and reservations.
    power : bool
        Whether the power of the running jobs is limited.
    """
    if power and reservations:
        raise WrongValue(
            "reservations and a limit on power cannot be combined: jobs inside reservations start at their times, "
            "whatever power the others take"
        )
    if on_demand and not isinstance(requeue, Restart | Drop):
        raise WrongValue(
            f"preemption and requeue={requeue.name} cannot be combined: what a failed job keeps is given by "
            'preemption.checkpoints; expected requeue="restart" or "drop"'
        )
    if users and isinstance(predictor, DataDriven):
        raise WrongValue("users: not possible with the predictor data-driven, which compares the walltimes of the log")
