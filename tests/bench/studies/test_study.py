"""Our replays beside the figures of a published study, on hand-made figures and on a small made-up log."""

import pytest
from schedlab.backends import UnknownName
from schedlab.bench import WrongUse
from schedlab.bench.replays import Exhibit, Order, Quantity, Study, find_study, study_names
from schedlab.bench.replays.carry_out import compare, draw_figures
from schedlab.bench.tables import RECORDED, DispatcherRow
from schedlab.simulation import check_dispatcher

pytestmark = pytest.mark.usefixtures("in_process")
WHOLE = {"verified": True, "status": "feasible"}


NODES = [{"name": "node", "count": 3, "capacity": {"cores": 4}}]


def row(name, seconds=1.0, ratio=(), **metrics):
    simulation = {"platform": NODES, "predictor": "walltime"}
    record = {**WHOLE, "method": name, "metrics": metrics, "seconds": {"total": seconds}, "simulation": simulation}
    return DispatcherRow(name, [{**record, "percentiles": {"ratio": list(ratio)}}])


def study(quantities=(), orders=(), **more):
    exhibits = [Exhibit("Table 1", "times", ["a", "b", "c", "d"], quantities)] if quantities else []
    return Study("Made2020", ["a", "b", "c"], 0.2, exhibits, orders, **more)


def test_the_values_of_the_study_stand_beside_ours():
    times = Quantity("decisions_seconds_mean", "ms a\ndecision", {"a": 100, "b": 200, "c": 300, "d": 400}, 1000)
    waits = Quantity("wait_mean", "wait", spread="wait_std")
    rows = [
        row("a@cpsat", decisions_seconds_mean=0.150, wait_mean=10.0, wait_std=2.0),
        row("b", decisions_seconds_mean=0.1, wait_mean=20.0),
        row("c", decisions_seconds_mean=0.3),
    ]
    found = compare(study([times, waits]), rows)
    assert found.grids[0].heads == ["dispatcher", "ms a decision", "study", "wait"]
    assert found.grids[0].rows == [
        ["a", "150", "100", "10.0 ± 2.00"],
        ["b", "100", "200", "20.0"],
        ["c", "300", "300", "-"],
        ["d", "-", "400", "-"],
    ]
    assert found.differing == ["Table 1, ms a decision: ours b < a < c; study a < b < c"]


def test_equal_values_are_in_no_other_order():
    times = study([Quantity("seconds.total", "s", {"a": 100, "b": 200, "c": 200})])
    assert compare(times, [row("a", 7.0), row("b", 7.0), row("c", 5.0)]).differing == [
        "Table 1, s: ours c < a = b; study a < b = c"
    ]
    assert compare(times, [row("a", 5.0), row("b", 7.0), row("c", 8.0)]).differing == []


def test_on_another_machine_ours_stand_alone_and_the_recorded_schedule_is_not_ordered():
    """The replays are on 3 nodes with 12 cores in total; the values of the study are of 13 cores."""
    orders = [Order("text", ["a", "b"], ["wait_mean"]), Order("text", ["a", RECORDED], ["wait_mean"])]
    waits = [Quantity("wait_mean", "wait", {"a": 5, "b": 9})]
    rows = [row("a", wait_mean=2.0), row("b", wait_mean=1.0), DispatcherRow(RECORDED, recorded={"wait_mean": 1.0})]
    same = compare(study(waits, orders, machine={"nodes": 3, "cores": 12}), rows)
    assert same.grids[0].rows == [["a", "2.00", "5.00"], ["b", "1.00", "9.00"]] and len(same.differing) == 3
    other = compare(study(waits, orders, machine={"nodes": 3, "cores": 13}), rows)
    assert other.grids[0].rows == [["a", "2.00"], ["b", "1.00"]] and len(other.grids[1].rows) == 1
    assert other.differing == ["text, wait_mean: a (2.00) is not better than b (1.00)"]


def test_figures_are_drawn_with_the_dispatchers_in_the_order_of_the_study(tmp_path):
    figures = [
        Exhibit("Figure 1", "a caption that is much longer than the picture is wide, so that its letters are smaller " * 2, ["b"], [], "ecdf"),
        Exhibit("Figure 2", "waits", ["b", RECORDED, "a", "gone"], [], "bars", ["", "long_"]),
        Exhibit("Figure 3", "nothing", ["gone"], [], "bars"),
        Exhibit("Table 1", "no picture", ["a"], []),
    ]  # fmt: skip
    known = {"wait_mean": 3.0, "wait_std": 1.0, "slowdown_mean": 2.0, "slowdown_std": 0.5}
    rows = [
        row("a", ratio=(0.5, 1, 2), **known),
        row("b", ratio=(0.1, 1, 1), **known),
        DispatcherRow(RECORDED, recorded=known),
    ]
    paths = draw_figures(Study("Made2020", ["a", "b"], 0.2, figures), rows, tmp_path)
    assert [path.name for path in paths] == ["figure-1.svg", "figure-2.svg"]
    curves, bars = (path.read_text(encoding="utf-8") for path in paths)
    assert "b (walltime)" in curves and "a (walltime)" not in curves
    places = [bars.index(f">{name}<") for name in ("b", RECORDED, "a")]
    assert places == sorted(places) and "gone" not in bars


def test_stated_orders_are_checked_neighbour_by_neighbour():
    order = Order("Figure 1", ["a", "b", RECORDED], ["wait_mean"], {"wait_mean": 40})
    rows = [row("a", wait_mean=60.0), row("b", wait_mean=100.0), DispatcherRow(RECORDED, recorded={"wait_mean": 90.0})]
    found = compare(study(orders=[order]), rows)
    assert found.grids[0].rows == [
        ["Figure 1", "a", "b", "wait_mean", "60.0", "100", "40%", "40%", "yes"],
        ["Figure 1", "b", RECORDED, "wait_mean", "100", "90.0", "-11%", "40%", "NO"],
    ]
    assert found.differing == ["Figure 1, wait_mean: b (100) is not better than as recorded (90.0)"]


def test_a_sum_over_the_jobs_stands_beside_the_sum_of_the_study():
    """20 jobs that wait 1.5 days in the mean wait 30 days in sum, the unit of the study."""
    waits = Quantity("wait_mean", "days", {"a": 31, "b": 10}, 1 / 86400, of_jobs=True)
    rows = [row("a", wait_mean=1.5 * 86400, started=20), row("b", wait_mean=86400.0)]
    assert compare(study([waits]), rows).grids[0].rows == [["a", "30.0", "31.0"], ["b", "-", "10.0"]]


def test_a_radar_chart_is_drawn_beside_that_of_the_study_and_has_no_table(tmp_path):
    names = ["a", "b"]
    quantities = [Quantity(f"figure_{k}", f"quantity\n{k}", {"a": k, "b": 2.0}) for k in (1, 2, 3)]
    radar = Exhibit("Figure 5.3", "shares", names, quantities, "radar")
    made = Study("Made2020", names, 0.2, [radar], machine={"nodes": 3, "cores": 12})
    rows = [row("a", figure_1=0.0, figure_2=2.0, figure_3=3.0), row("b", figure_1=1.0, figure_2=1.0, figure_3=9.0)]
    (path,) = draw_figures(made, rows, tmp_path)
    drawn = path.read_text(encoding="utf-8")
    assert drawn.count(">quantity 3<") == 2 and ">ours<" in drawn and ">[Made2020]<" in drawn
    assert compare(made, rows).grids == []
    elsewhere = Study("Made2020", names, 0.2, [radar], machine={"nodes": 4})
    (path,) = draw_figures(elsewhere, rows, tmp_path)
    assert ">[Made2020]<" not in path.read_text(encoding="utf-8")
    assert draw_figures(made, rows[:1], tmp_path) == []  # a value is missing


def test_the_orders_of_the_study_of_dardis_are_those_of_its_table():
    found = find_study("bridi2018-dardis")
    for name in found.dispatchers:
        check_dispatcher(name)
    table, radar = found.exhibits
    values = {quantity.figure: quantity.values for quantity in table.quantities}
    assert [q.figure for q in radar.quantities] == list(values) and radar.drawing == "radar"
    for order in found.orders:
        for figure in order.figures:
            chain = [values[figure][name] for name in order.chain]
            assert chain == sorted(chain), (order.where, figure)
            less = 100 * (1 - chain[0] / chain[-1])
            assert order.reductions.get(figure, less) == pytest.approx(less, abs=0.05)


def test_a_replay_that_failed_has_no_figures_and_no_order():
    cut = DispatcherRow(
        "a", [{"verified": None, "status": "unknown", "metrics": {"wait_mean": 1.0}, "seconds": {"total": 9.0}}]
    )
    quantities = [Quantity("wait_mean", "s", {"a": 5, "b": 4}), Quantity("seconds.total", "s", {"a": 5, "b": 4})]
    found = compare(study(quantities, [Order("text", ["a", "b"])]), [cut, row("b", wait_mean=2.0)])
    assert found.grids[0].rows == [["a", "-", "5.00", "-", "5.00"], ["b", "2.00", "4.00", "1.00", "4.00"]]
    assert found.differing == []
    assert {line[-1] for line in found.grids[1].rows} == {"-"}


def test_the_shipped_studies_name_dispatchers_and_figures_that_exist():
    assert study_names() == ["bridi2018-dardis", "bridi2018-models", "bridi2018-production", "galleguillos2019"]
    found = find_study("galleguillos2019")
    for name in found.dispatchers:
        check_dispatcher(name)
    chains = {name for order in found.orders for name in order.chain} - {RECORDED}
    shown = {name for exhibit in found.exhibits for name in exhibit.dispatchers} - {RECORDED}
    assert chains <= set(found.dispatchers) and shown == set(found.dispatchers)
    for exhibit in found.exhibits:
        assert all(set(quantity.values) <= set(exhibit.dispatchers) for quantity in exhibit.quantities)
    assert [exhibit.name for exhibit in found.exhibits if exhibit.drawing] == [f"Figure {k}" for k in (1, 2, 3, 4)]
    assert all(set(order.reductions) <= set(order.figures) for order in found.orders)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "incomplete"),
        ("reference = ", "no TOML"),
        ('reference = "x"\ndispatchers = []\ndecision_time = 1\nquantity = 3', "quantity is no part"),
        ('reference = "x"\ndispatchers = []\ndecision_time = 1\n[[orders]]\nwhere = "y"', "chain"),
        (
            '[[exhibits]]\nname = "F1"\ncaption = ""\ndispatchers = []\ndrawing = "pie"',
            "F1: drawing = 'pie'; expected ecdf or bars",
        ),
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

conditions = ["Its log has ten jobs."]

[[exhibits]]
name = "Table 1"
caption = "waits"
dispatchers = ["fcfs", "sjf"]
drawing = "bars"
quantities = [{ figure = "wait_mean", heading = "mean\\nwait, s", values = { fcfs = 25, sjf = 100 } }]

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
    assert "[Made2020]: Its log has ten jobs." in out and "orders that differ from [Made2020]: 3" in out
    assert ["fcfs", "75.8", "25.0"] in [line.split() for line in out.splitlines()]
    assert "Table 1, mean wait, s: ours sjf < fcfs; study fcfs < sjf" in out
    assert "text, wait_mean: fcfs (75.8) is not better than sjf (1.50)" in out
    assert (tmp_path / "out" / "table-1.svg").read_text(encoding="utf-8").startswith("<svg")
