"""Our replays beside the figures of a published study, on hand-made figures and on a small made-up log."""

import pytest
from schedlab.backends import UnknownName
from schedlab.bench.errors import WrongUse
from schedlab.bench.studies.study import Order, Quantity, Study, find_study, study_names
from schedlab.bench.tables.replays.results import RECORDED, DispatcherRow
from schedlab.bench.tables.replays.study import compare
from schedlab.simulation.policies.registry import check_dispatcher

WHOLE = {"verified": True, "status": "feasible"}


def row(name, seconds=1.0, **metrics):
    return DispatcherRow(name, [{**WHOLE, "method": name, "metrics": metrics, "seconds": {"total": seconds}}])


def study(quantities=(), orders=()):
    return Study("Made2020", ["a", "b", "c"], 0.2, quantities, orders)


def test_differences_and_ranks_are_those_of_the_numbers():
    times = Quantity("decisions_seconds_mean", "ms", {"a": 100, "b": 200, "c": 300, "d": 400}, 1000)
    rows = [
        row("a@cpsat", decisions_seconds_mean=0.150),
        row("b", decisions_seconds_mean=0.1),
        row("c", decisions_seconds_mean=0.3),
    ]
    found = compare(study([times]), rows)
    assert found.grids[0].rows == [
        ["ms", "a", "150", "100", "+50%", "2", "1"],
        ["", "b", "100", "200", "-50%", "1", "2"],
        ["", "c", "300", "300", "+0%", "3", "3"],
        ["", "d", "-", "400", "-", "-", "-"],
    ]
    assert found.differing == ["ms: a and b"]


def test_equal_values_are_in_no_other_order():
    times = Quantity("seconds.total", "s", {"a": 100, "b": 200, "c": 200})
    assert compare(study([times]), [row("a", 7.0), row("b", 7.0), row("c", 5.0)]).differing == ["s: a and c"]
    assert compare(study([times]), [row("a", 5.0), row("b", 7.0), row("c", 8.0)]).differing == []


def test_stated_orders_are_checked_neighbour_by_neighbour():
    order = Order("Figure 1", ["a", "b", RECORDED], ["wait_mean"], {"wait_mean": 40})
    rows = [row("a", wait_mean=60.0), row("b", wait_mean=100.0), DispatcherRow(RECORDED, recorded={"wait_mean": 90.0})]
    found = compare(study(orders=[order]), rows)
    assert found.grids[1].rows == [
        ["Figure 1", "a", "b", "wait_mean", "60.0", "100", "40%", "40%", "yes"],
        ["Figure 1", "b", RECORDED, "wait_mean", "100", "90.0", "-11%", "40%", "NO"],
    ]
    assert found.differing == ["Figure 1, wait_mean: b (100) is not better than as recorded (90.0)"]


def test_a_replay_that_failed_has_no_figures_and_no_order():
    cut = DispatcherRow(
        "a", [{"verified": None, "status": "unknown", "metrics": {"wait_mean": 1.0}, "seconds": {"total": 9.0}}]
    )
    quantities = [Quantity("wait_mean", "s", {"a": 5, "b": 4}), Quantity("seconds.total", "s", {"a": 5, "b": 4})]
    found = compare(study(quantities, [Order("text", ["a", "b"])]), [cut, row("b", wait_mean=2.0)])
    assert [line[2] for line in found.grids[0].rows] == ["-", "2.00", "-", "1.00"] and found.differing == []
    assert {line[-1] for line in found.grids[1].rows} == {"-"}


def test_the_shipped_studies_name_dispatchers_and_figures_that_exist():
    assert study_names() == ["galleguillos2019"]
    found = find_study("galleguillos2019")
    for name in found.dispatchers:
        check_dispatcher(name)
    chains = {name for order in found.orders for name in order.chain} - {RECORDED}
    valued = {name for quantity in found.quantities for name in quantity.values}
    assert chains <= set(found.dispatchers) and valued <= set(found.dispatchers)
    assert {n for order in found.orders for n in order.reductions} <= {"slowdown_mean", "wait_mean"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "incomplete"),
        ("reference = ", "no TOML"),
        ('reference = "x"\ndispatchers = []\ndecision_time = 1\nquantity = 3', "quantity is no part"),
        ('reference = "x"\ndispatchers = []\ndecision_time = 1\n[[orders]]\nwhere = "y"', "chain"),
    ],
)
def test_a_file_that_is_no_study_is_an_error(tmp_path, text, words):
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(WrongUse, match=words):
        find_study(str(tmp_path / "mine.toml"))


def test_an_unknown_study_has_near_names():
    with pytest.raises(UnknownName, match="galleguillos2019"):
        find_study("galeguillos")
    with pytest.raises(WrongUse, match="nowhere"):
        find_study("nowhere.toml")


STUDY = """\
reference = "Made2020"
dispatchers = ["fcfs", "sjf"]
decision_time = 0.1

[[quantities]]
figure = "wait_mean"
heading = "Table 1: mean wait, s"
values = { fcfs = 25, sjf = 100 }

[[orders]]
where = "text"
chain = ["fcfs", "sjf"]
"""


def test_a_small_log_is_replayed_and_compared_by_one_command(bench, tmp_path):
    """A long job before three short ones, on one node: first come waits 0, 100, 101, 102 s; shortest first 3, 0, 1, 2 s."""
    (tmp_path / "made.toml").write_text(STUDY)
    jobs = [(1, 100), (2, 1), (3, 1), (4, 1)]
    lines = [f"{k} 0 -1 {t} 1 -1 -1 1 {t} -1 1 1 1 1 1 -1 -1 -1" for k, t in jobs]
    (tmp_path / "log.swf").write_text("; MaxNodes: 1\n" + "\n".join(lines) + "\n")
    command = ("simulate", tmp_path / "log.swf", "--study", tmp_path / "made.toml", "--nodes", 1, "--cores", 1)
    code, out, err = bench(*command, "--out", tmp_path / "out")
    assert code == 0, err
    assert "[Made2020]" in out and "203%" in out  # (75.75 - 25) / 25
    assert "Table 1: mean wait, s: fcfs and sjf" in out
    assert "text, wait_mean: fcfs (75.8) is not better than sjf (1.50)" in out
