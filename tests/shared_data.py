"""Where the data are that tests of real logs and of the literature read; they are not part of the project."""

from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
