"""Two thousand damaged files of all formats (``make known``); a finding is repeated by ``python tests/fuzzing.py CASE``."""

import fuzzing
import pytest

COUNT, AT_ONCE = 2000, 200


@pytest.mark.known
@pytest.mark.parametrize("begin", range(0, COUNT, AT_ONCE))
def test_damaged_files(begin: int) -> None:
    assert fuzzing.batch(fuzzing.cases(COUNT)[begin : begin + AT_ONCE]) == []
