"""The comparison with PyJobShop: files of job shops in its format, and the table, without PyJobShop."""

import schedlab as sl
from schedlab.benchmarks.beside_pyjobshop import Run, as_flexible, chosen, printed, summary

SHOP = "# a job shop\n2 3\n0 5 1 3 2 4\n2 1 0 6 1 2\n"


def test_a_job_shop_in_the_format_of_flexible_job_shops_is_the_same_project(tmp_path):
    (tmp_path / "shop.txt").write_text(SHOP)
    (tmp_path / "flexible.txt").write_text(as_flexible(SHOP))
    one, other = sl.read_jsplib(tmp_path / "shop.txt"), sl.read_fjsplib(tmp_path / "flexible.txt")
    values = [sl.solve(p, method="cpsat:modes", threads=1, seed=1, time_limit=20).objective for p in (one, other)]
    assert values[0] == values[1] == 13  # the first job on machine 0 first


def test_unproved_files_count_with_the_time_limit():
    runs = [
        Run("jsp", "a", "pyjobshop", 2.0, 5, True), Run("jsp", "b", "pyjobshop", 9.0, None, False),
        Run("jsp", "a", "schedlab", 1.0, 5, True), Run("jsp", "b", "schedlab", 4.0, 6, True),
    ]  # fmt: skip
    assert summary(runs, 32.0)[1] == ["jsp", "2", "1", "2", "8.0", "2.0"]
    assert printed(summary(runs, 32.0)).splitlines()[1].split() == ["jsp", "2", "1", "2", "8.0", "2.0"]


def test_the_files_are_spread_over_all(tmp_path):
    (tmp_path / "jsp").mkdir()
    for name in ("SOURCE.txt", *(f"{k}.txt" for k in range(7))):
        (tmp_path / "jsp" / name).write_text(SHOP)
    assert [p.name for p in chosen(tmp_path, "jsp", 3)] == ["0.txt", "2.txt", "4.txt"]
    assert len(chosen(tmp_path, "jsp", 99)) == 7
