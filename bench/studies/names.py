"""The names of the shipped studies."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent


def study_names() -> list[str]:
    """Return the names of the shipped studies."""
    return sorted(file.stem for file in HERE.glob("*.toml"))
