"""Dispatchers beside a real scheduler."""
