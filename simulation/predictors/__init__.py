"""Predictors of the duration of jobs: walltime, data-driven, last two runtimes, real runtime."""

from .data_driven import DataDriven
from .names import prefix
from .plain import LastTwo, Real, Walltime
from .predictor import Predictor
from .registry import PREDICTORS, predictor
from .timed import TimedPredictor

__all__ = [
    "PREDICTORS",
    "DataDriven",
    "LastTwo",
    "Predictor",
    "Real",
    "TimedPredictor",
    "Walltime",
    "predictor",
    "prefix",
]
