"""``bench show LOG``: jobs and nodes per hour, and their picture."""

import pytest


def log(path, jobs):
    lines = [
        f"{k} {submit} 0 {took} {nodes} -1 -1 {nodes} {took} -1 1 1 1 1 1 -1 -1 -1"
        for k, (submit, took, nodes) in enumerate(jobs, 1)
    ]
    path.write_text("; MaxNodes: 4\n; MaxProcs: 4\n" + "\n".join(lines) + "\n")
    return path


def test_the_largest_hour_of_a_log_is_printed(bench, tmp_path):
    """Three nodes for two hours, and a fourth one in the first half of the second hour."""
    code, out, err = bench("show", log(tmp_path / "log.swf", [(0, 7200, 3), (3600, 1800, 1)]))
    assert code == 0, err
    assert ["largest", "1.0", "1.5", "3.5"] in [line.split() for line in out.splitlines()]


def test_the_load_of_jobs_that_arrive_together_is_unknown(bench, tmp_path):
    path = log(tmp_path / "log.swf", [(60, 100, 1)])
    for command in (["show", path], ["import", "swf", path, "--out", tmp_path / "day"]):
        code, out, err = bench(*command)
        assert code == 0 and "all jobs have the same submit time" in " ".join((out + err).split())
        assert " inf" not in out + err


@pytest.mark.parametrize(("days", "by_days"), [(25, False), (26, True)])
def test_a_long_log_is_drawn_by_days(bench, tmp_path, days, by_days):
    """A log of more hours than a picture can show is drawn by its daily means, whose text says so."""
    jobs = [(day * 86400, 600, 1) for day in range(days)] + [(days * 86400 - 60, 30, 1)]
    code, out, err = bench("show", log(tmp_path / "log.swf", jobs), "--plot", tmp_path / "hours.svg")
    assert code == 0, err
    assert "hours.svg: jobs and nodes per hour" in out
    picture = (tmp_path / "hours.svg").read_text(encoding="utf-8")
    assert ("mean of a day" in picture) == by_days and "days since the first submission" in picture


def test_the_picture_of_a_short_log_has_a_unit_that_fits_it(bench, tmp_path):
    words = ["show", log(tmp_path / "log.swf", [(0, 60, 1), (1800, 60, 1)]), "--plot", tmp_path / "hours.svg"]
    assert bench(*words)[0] == 0
    assert "minutes since the first submission" in (tmp_path / "hours.svg").read_text(encoding="utf-8")


def test_the_picture_of_a_log_is_svg(bench, tmp_path):
    """A name such as hours.png would get a file with SVG inside."""
    code, _, err = bench("show", log(tmp_path / "log.swf", [(0, 60, 1)]), "--plot", tmp_path / "hours.png")
    assert code == 2 and "expected a file name that ends in .svg" in err


def test_a_desired_use_is_shown_with_its_times(bench, tmp_path):
    (tmp_path / "full.csv").write_text("time_s,resource,share\n7200,cores,1\n")
    code, out, err = bench("show", tmp_path / "full.csv")
    assert code == 0, err
    assert "desired use, 1 wish, without end" in out and "from h" in out
    assert ["cores", "7,200", "2", "100%", "*"] in [line.split() for line in out.splitlines()]
