"""Fixtures: files for the tests of the readers."""

from collections.abc import Callable
from pathlib import Path

import pytest

Writer = Callable[[str, str], Path]


@pytest.fixture
def file(tmp_path: Path) -> Writer:
    """Return a function that writes a file: (name, text) -> path."""

    def of(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return of
