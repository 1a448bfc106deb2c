"""Energy over time: prices and carbon intensity."""

from .tariff import Tariff, integral

__all__ = ["Tariff", "integral"]
