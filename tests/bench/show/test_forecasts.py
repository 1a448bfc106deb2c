"""``bench show LOG --forecasts``: a row per forecast, and what is refused."""

from pathlib import Path

import pytest

DAY = 86400


@pytest.fixture
def log(tmp_path: Path) -> str:
    """Ten equal days with a job of 4 processors for an hour at 10:00 and at 15:00."""
    lines = ["; UnixStartTime: 0", "; MaxProcs: 8"]
    for k in range(20):
        submit = k // 2 * DAY + (36000 if k % 2 == 0 else 54000)
        lines.append(f"{k + 1} {submit} 0 3600 4 -1 -1 4 7200 -1 1 1 1 1 1 1 -1 -1")
    path = tmp_path / "days.swf"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_scores_are_printed_beside_what_came(bench, log: str) -> None:
    code, text, _ = bench("show", log, "--forecasts", "persistence,weekly,perfect")
    assert code == 0, text
    assert "what came: 2.0 jobs and 8 core-hours a day" in text
    rows = {line.split()[0]: line.split() for line in text.splitlines() if line.startswith((" p", " w"))}
    assert rows["persistence"][1:] == ["2.0", "8", "0.00", "0.0", "0.0%", "-"]  # no error, so no skill relative to it
    assert rows["weekly"][1:6] == rows["perfect"][1:6] == ["2.0", "8", "0.00", "0.0", "0.0%"]
    assert "weekly: no forecast on 6 days" in text


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--forecasts", "persistance"), "did you mean"),
        (("--forecasts", "learned:days=3"), "days is 3; at least 7 are expected"),
        (("--forecasts", "weekly", "--composition"), "--forecasts: a table of its own"),
    ],
)
def test_wrong_names_and_options_are_errors_in_a_line(bench, log: str, args: tuple[str, ...], message: str) -> None:
    code, _, text = bench("show", log, *args)
    assert code == 2
    assert message in text


def test_an_instance_has_no_history(bench) -> None:
    code, _, text = bench("show", "eurora_99", "--forecasts", "all")
    assert code == 2
    assert "--forecasts: for logs only" in text
