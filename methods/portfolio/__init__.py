"""The method ``auto``: the portfolio of a problem's kind, step by step."""

from .method import Auto

__all__ = ["Auto"]
