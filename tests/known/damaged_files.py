"""Thousands of damaged files of all formats (``make known``); a finding is repeated by ``python tests/fuzzing.py CASE``."""

import fuzzing
import pytest

COUNT, AT_ONCE = 3000, 200


@pytest.mark.known
@pytest.mark.parametrize("begin", range(0, COUNT, AT_ONCE))
def test_damaged_files(begin: int) -> None:
    assert fuzzing.batch(fuzzing.cases(COUNT)[begin : begin + AT_ONCE]) == []


@pytest.mark.known
@pytest.mark.parametrize("name", fuzzing.FORMATS)
def test_every_number_replaced(name: str) -> None:
    assert fuzzing.batch(fuzzing.fixed_cases(formats=[name])) == []
