"""Forecasts of the jobs that will be submitted: persistence, weekly, perfect, learned; and their scores on a log."""

from .forecast import EmptyForecast, Forecast, forecast_jobs, history_at
from .plain import Perfect, Persistence, Weekly
from .registry import FORECASTS, parse_forecast
from .scores import Score, score

__all__ = [
    "FORECASTS",
    "EmptyForecast",
    "Forecast",
    "Perfect",
    "Persistence",
    "Score",
    "Weekly",
    "forecast_jobs",
    "history_at",
    "parse_forecast",
    "score",
]
