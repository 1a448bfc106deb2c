"""Instances named as ``module:attribute``: what a function of a module of the current folder returns, and its faults."""

import sys

import pytest
import schedlab as sl
from schedlab.instances import UnknownInstance
from schedlab.models import NoSuchModule, PluginError, UnnamedReference, only_named

SOURCE = """
import schedlab as sl


def build():
    model = sl.Model("two")
    a, b = model.interval("a", size=3), model.interval("b", size=4)
    model.add(sl.no_overlap([a, b]))
    model.minimize(sl.max([a.end, b.end]))
    return model


MODEL = build()


def project():
    tasks = [sl.Task.single("a", 3, {"saw": 1}), sl.Task.single("b", 4, {"saw": 1})]
    return sl.Project(tasks, [sl.Resource("saw", 1)])


def instance():
    return sl.load("eurora_99")


def of(size):
    return build()


def nothing():
    pass


def broken():
    return 1 / 0


def without_objective():
    return sl.Model("empty")
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_shop.py").write_text(SOURCE)
    yield tmp_path
    sys.modules.pop("own_shop", None)


@pytest.mark.parametrize(("name", "kind"), [("build", "model"), ("MODEL", "model"), ("project", "project")])
def test_a_model_or_a_problem_is_an_instance(folder, name, kind):
    instance = sl.load(f"own_shop:{name}")
    assert (instance.name, instance.kind) == (f"own_shop.{name}", kind)
    assert instance.path == folder / "own_shop.py" and instance.source == f"own_shop:{name}"
    assert sl.solve(f"own_shop:{name}", "cpsat", time_limit=60, threads=1).objective == 7


def test_an_instance_keeps_its_problem(folder):
    instance = sl.load("own_shop:instance")
    assert instance.name == "own_shop.instance" and len(instance.jobs) == len(sl.load("eurora_99").jobs)


@pytest.mark.parametrize(
    ("name", "error", "text"),
    [
        ("own_shop:of", PluginError, "own_shop:of cannot be called without arguments .*'size'.* expected a Model"),
        ("own_shop:nothing", PluginError, "own_shop:nothing returned None; expected a Model, a problem or an Instance"),
        ("own_shop:SOURCE", sl.UnknownName, "no object of the module own_shop called 'SOURCE'"),
        ("own_shop:sl", PluginError, "own_shop:sl is <module 'schedlab'.*expected a Model"),
        ("own_shop:broken", PluginError, r"ZeroDivisionError: division by zero \(own_shop.py, line 34\)"),
        ("own_shop:without_objective", sl.ProblemError, "own_shop:without_objective: model 'empty' has no objective"),
        ("own_shop:biuld", sl.UnknownName, "did you mean build"),
        ("nowhere:build", NoSuchModule, "no instance nowhere:build: nowhere.py is not in the current folder"),
        ("no where:build", UnknownInstance, "no instance 'no where:build'"),
    ],
)
def test_what_cannot_be_used_is_named(folder, name, error, text):
    with pytest.raises(error, match=text):
        sl.load(name)


def test_data_that_name_a_module_import_nothing(folder):
    with only_named([]), pytest.raises(UnnamedReference, match="own_shop:build"):
        sl.load("own_shop:build")
    assert "own_shop" not in sys.modules
    with only_named(["own_shop:build"]):
        assert sl.load("own_shop:build").kind == "model"


def test_a_function_imports_neighbours_of_its_module_when_it_is_called(folder):
    """bench has no current folder in its path; an installed module of the same name goes first."""
    (folder / "own_data_of_shop.py").write_text("SIZES = [3, 4]\n")
    (folder / "own_shop.py").write_text(
        "import schedlab as sl\n\ndef late():\n    from own_data_of_shop import SIZES\n\n"
        "    model = sl.Model('two')\n    model.minimize(model.interval('a', size=sum(SIZES)).end)\n    return model\n"
    )
    path = list(sys.path)
    try:
        sys.path[:] = [place for place in path if place not in ("", str(folder))]
        assert sl.solve("own_shop:late", "cpsat", time_limit=60, threads=1).objective == 7
        assert sys.path[-1] == str(folder)
    finally:
        sys.path[:] = path
        sys.modules.pop("own_data_of_shop", None)


def test_a_file_of_this_name_comes_first(folder):
    (folder / "own_shop:build").write_text("2 2\n0 3 1 2\n1 4 0 1\n")
    assert sl.load("own_shop:build").kind == "project"
