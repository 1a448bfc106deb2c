"""The typed code of ``docs/reference/own_code.md`` with each backend; ``.ci/run`` checks its types."""

import subprocess
import sys
from pathlib import Path

import pytest
import schedlab
from schedlab.backends import backend

HERE = Path(__file__).parent
PAGE = Path(schedlab.__file__).parent / "docs" / "reference" / "own_code.md"
BACKENDS = ["cpsat", "highs", "pyomo", "cpo"]


@pytest.mark.parametrize("name", BACKENDS)
def test_a_formulation_with_a_constraint_of_ones_own(name: str) -> None:
    """In a process of its own: Pyomo cannot be imported after docplex."""
    if not backend(name).availability().ok:
        pytest.skip(f"{name} is not installed")
    code = (
        f"import user_models; p = user_models.small(); s = user_models.answer(p, {name!r}); print(s.start, p.value(s))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=HERE, check=True)
    assert done.stdout.splitlines()[-1] == "{'a': 0, 'b': 50, 'c': 0} 50"


@pytest.mark.parametrize("name", ["highs", "pyomo"])
def test_the_constraints_of_ones_own_find_a_variable_of_each_start(name: str) -> None:
    """A lowering on a grid has none for intervals that no expression names."""
    if not backend(name).availability().ok:
        pytest.skip(f"{name} is not installed")
    code = f"""
import schedlab as sl
import user_models

model = sl.Model("three", horizon=9)
a, b, c = (model.interval(n, size=size) for n, size in (("a", 3), ("b", 4), ("c", 1)))
model.add(sl.cumulative([a, b, c], [1, 1, 1], 2))
model.minimize(c.end)
assert sl.compile(model, {name!r}).var(a).start is None
answer = user_models.SOLVE[{name!r}](user_models.compiled(model, {name!r}), a, b)
print(model.check(answer), answer[b].start >= answer[a].end)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=HERE, check=True)
    assert done.stdout.splitlines()[-1] == "[] True"


def test_the_page_shows_this_code() -> None:
    code = (HERE / "user_models.py").read_text(encoding="utf-8").split("from __future__ import annotations\n\n")[1]
    assert f"```python\n{code.rstrip()}\n```" in PAGE.read_text(encoding="utf-8")
