"""Reading of JSON files, with errors that say what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ...errors import WrongValue
from ...models.excerpt import excerpt


def read_json(path: Path) -> Any:
    """Return the value of a JSON file; NaN and infinities are errors. Raises ValueError that says what is wrong."""
    try:
        if path.exists() and not path.is_file():  # reading a pipe would block
            raise WrongValue(f"{path}: cannot be read (not a regular file)")
        text = path.read_text(encoding="utf-8")
    except OSError as e:
        raise WrongValue(f"{excerpt(str(path))}: cannot be read ({e.strerror})") from e
    except UnicodeDecodeError as e:
        raise WrongValue(f"{path}: not JSON ({e})") from e
    try:
        return json.loads(text, parse_constant=_no_number)
    except ValueError as e:
        raise WrongValue(f"{path}: not JSON ({e})") from e
    except RecursionError as e:
        raise WrongValue(f"{path}: not a file of the bench (objects and lists are nested too deeply)") from e


def _no_number(name: str) -> None:
    raise WrongValue(f"{name} is not a JSON number")
