"""The code of a user in ``user_code.py`` runs; ``.ci/run`` checks its types."""

import user_code


def test_the_code_of_a_user_runs() -> None:
    lines = user_code.main()
    assert lines[0].startswith("feasible: ")
    assert any(line.startswith("optimal: ") for line in lines)
    assert any("gap_limit" in line for line in lines)
