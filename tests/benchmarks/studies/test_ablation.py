"""The table of the parts of the large-neighbourhood search."""

import pytest
from schedlab.benchmarks.studies.ablation import VARIANTS, main, objectives
from schedlab.heuristics import first_solution
from schedlab.instances import generators


def test_each_variant_is_a_search_on_the_same_day():
    problem = generators["eurora"](40, seed=3).problem
    first = problem.value(first_solution(problem, "submit-weighted-area"))  # the first order of all searches
    found = objectives(3, 0.05, jobs=40)
    assert list(found) == list(VARIANTS)
    assert all(0 < value <= first for value in found.values())


@pytest.mark.parametrize("wrong", [["--days", "0"], ["--jobs", "0"], ["--processes", "0"], ["--seconds", "0"]])
def test_numbers_are_checked(wrong, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(wrong)
    assert "at least 1" in capsys.readouterr().err
