"""Files in the formats LP, MPS and nl have the names of variables and constraints, and stand for the same model."""

from __future__ import annotations

from pathlib import Path

import pytest
import schedlab as sl
from schedlab.backends import backend


def odd_names() -> sl.Model:
    """A model whose names are hard for files: spaces, operators, keywords, numbers, repeated and long ones."""
    m = sl.Model("odd names", horizon=20)
    names = ["a on node 1", "a.on.node.1", "free", "end", "3", "x" * 300, "ä", "x" * 299, "e5", "inf"]
    v = [m.interval(name, size=(2, 3), start=(2 * k, 2 * k + 1), optional=k % 2 == 0) for k, name in enumerate(names)]
    x = [m.integer(name, 0, 9) for name in ("u", "u", "st")]
    m.add(sl.no_overlap(v[:4]), "one <= at a time")
    m.add(x[0] + x[1] >= 3, "end")
    m.add(x[0] <= x[2])
    m.add(x[0] <= 2 * x[2], "end")
    m.minimize(sl.max([i.end for i in v]) + sl.sum(x) - 5 * sl.sum([i.presence for i in v]))
    return m


@pytest.mark.parametrize("options", [{"lowering": "pairwise"}, {"lowering": "time-indexed"}])
@pytest.mark.parametrize("suffix", ["lp", "mps"])
def test_files_of_highs_have_names_and_the_same_optimum(options: dict[str, str], suffix: str, tmp_path: Path) -> None:
    import highspy

    m = odd_names()
    native = sl.compile(m, "highs", **options).named()
    path = tmp_path / f"m.{suffix}"
    native.writeModel(str(path))
    text = path.read_text()
    assert "a_on_node_1." in text and "one_at_a_time" in text and "u_1" in text and "u_2" in text and "end_2" in text
    read = highspy.Highs()
    read.setOptionValue("output_flag", False)
    read.readModel(str(path))
    read.run()
    assert round(read.getObjectiveValue()) == sl.solve(m, backend="cpsat", threads=1).objective
    assert read.getNumCol() == native.getNumCol() and read.getNumRow() == native.getNumRow()


def test_a_decomposed_model_has_the_names_too() -> None:
    m = sl.Model("m", horizon=9)
    x, y = m.integer("x", 0, 4), m.integer("y", 0, 4)
    m.add(x * y >= 6, "area")
    native = sl.compile(m, "highs").named()
    assert {"x", "y"} <= {native.getColName(k)[1] for k in range(native.getNumCol())}
    assert any(native.getRowName(k)[1].startswith("area") for k in range(native.getNumRow()))


def test_a_named_model_of_pyomo_has_names_as_indices(tmp_path: Path) -> None:
    if not backend("pyomo").availability().ok:
        pytest.skip("pyomo is not installed")
    m = odd_names()
    compiled = sl.compile(m, "pyomo", lowering="pairwise")
    named = compiled.named()
    assert "a_on_node_1.start_1" in named.x and "_end_1" in named.rows and len(named.x) == len(compiled.native.x)
    named.write(str(tmp_path / "m.lp"), io_options={"symbolic_solver_labels": True})
    assert "a_on_node_1_start_1" in (tmp_path / "m.lp").read_text()
