"""The option --explain of ``bench run`` and ``bench simulate``."""

import pytest

pytestmark = pytest.mark.usefixtures("in_process")
HINT = "--explain says what each column means."


@pytest.mark.parametrize(
    ("command", "explanation"),
    [
        (("run", "eurora_99", "--methods", "multi-search"), "status: how the run ended"),
        (("run", "profit_small", "--methods", "rule:est"), "gap closed: share of the gap"),
        (("run", "theta_12", "--methods", "dp,greedy"), "answered (proven): number of deadlines"),
        (("simulate", "eurora_99", "--dispatchers", "fcfs", "--first", "20"), "wait: time from submission to start"),
    ],
)
def test_the_meaning_of_the_columns_is_printed_only_with_explain(bench, tmp_path, command, explanation):
    code, out, err = bench(*command, "--out", tmp_path)
    text = " ".join(out.split())
    assert code == 0, err
    assert HINT in text and explanation not in text
    code, out, err = bench(
        *command, "--out", tmp_path, "--explain"
    )  # the records are kept: only the tables are printed
    text = " ".join(out.split())
    assert code == 0, err
    assert HINT not in text and explanation in text
