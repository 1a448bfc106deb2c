"""The package of a third party, installed in a folder of its own."""

import shutil
import tomllib
from pathlib import Path

import pytest
from installed import Beside, describe

HERE = Path(__file__).parent
SETTINGS = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """Return a folder in which the package is installed."""
    folder = tmp_path_factory.mktemp("installed")
    shutil.copytree(HERE / "flow_shop", folder / "flow_shop", ignore=shutil.ignore_patterns("__pycache__"))
    describe(folder, SETTINGS["name"], SETTINGS["version"], SETTINGS["entry-points"])
    return folder


@pytest.fixture
def beside(package, tmp_path):
    """Return processes in an empty folder beside the package."""
    return Beside(tmp_path, package)
