"""The measurement of large replays, on small ones."""

from rich.console import Console
from schedlab.benchmarks import scale as replays


def test_the_cost_of_each_doubling_is_printed(capsys):
    replays.doublings(Console(width=120), 200, 2, ("fcfs", "easy"))
    shown = capsys.readouterr().out
    assert "158,976 nodes" in shown
    rows = [line.split() for line in shown.splitlines() if line.strip()[:3].isdigit()]
    assert [row[0] for row in rows] == ["200", "400"]
    cost = [[float(row[k]) for k in (1, 3)] for row in rows]
    assert all(value > 0 for row in cost for value in row)
    assert abs(float(rows[1][2]) - cost[1][0] / cost[0][0]) < 0.1
