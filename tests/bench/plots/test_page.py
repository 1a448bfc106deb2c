"""The page of ``bench plot``: charts, tables, geometry of the Gantt chart, error messages."""

import json
import re
import sys
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import schedlab
from hypothesis import given, settings
from hypothesis import strategies as st
from schedlab.bench import Run, View
from schedlab.bench.pages import Frame
from schedlab.bench.pages.panels import chart, means
from schedlab.bench.pages.plot import OTHERS, legend_of, plot
from schedlab.bench.records import Store, plain, stem_of
from schedlab.bench.records.record import record
from schedlab.bench.replays import ReplaySettings, replay_in_worker
from schedlab.instances import load
from schedlab.instances.files import content_of
from schedlab.models import NodeGroup, Platform
from schedlab.models.gantt import rectangles, shares
from schedlab.simulation import JobsTable, Kind, NodeRanges, read_jobs

VOID = {"meta", "br", "img", "link", "input"}
ONE_CORE = (Kind(request={"cores": 1}),)
TWO = Platform([NodeGroup("a", 2, {"cores": 4, "memory": 8}), NodeGroup("b", 1, {"cores": 2})])


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The records of replays of 40 jobs of a day under two dispatchers, as the workers of the bench write them."""
    out = tmp_path_factory.mktemp("replays") / "a <day>"
    day = load("eurora_99")
    with Store(out) as store:
        for method in ("fcfs", "easy-r"):
            view = View(first=40, durations="runtime")
            run = Run(
                day.name,
                day.name,
                content_of(day.path),
                method,
                view=view,
                kind="dispatch",
                replay=ReplaySettings().for_policies,
            )
            spec = {**run.head, "out": str(out), "stem": stem_of({**run.head, "key": run.key})}
            store.write(record(run, plain(replay_in_worker(spec, lambda event: None)), "2026-01-01T00:00:00+00:00"))
    return out


@pytest.fixture(scope="module")
def page(results, tmp_path_factory):
    """The page of these replays."""
    path, count = plot(results, tmp_path_factory.mktemp("page") / "page.html")
    assert count == 2
    return path.read_text(encoding="utf-8")


@pytest.fixture
def copied(results, tmp_path):
    for path in results.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


class Page(HTMLParser):
    """Open and closing tags, attributes, texts of some elements."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.tags, self.texts = [], [], [], Counter(), {}
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.handle_startendtag(tag, attributes)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags[tag] += 1
        named = dict(attributes)
        self.ids += [named["id"]] if "id" in named else []
        self.links += [named[k] for k in ("href", "src", "xlink:href") if k in named]
        self.links += re.findall(r"url\((#[^)]*)\)", " ".join(v or "" for v in named.values()))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data.strip())


def charts_of(page):
    """Return the charts of the schedules, which stand before those of the statistics."""
    return re.findall(r"<svg .*?</svg>", page[: page.index("<h3>Statistics</h3>")], flags=re.DOTALL)


def test_a_page_has_a_chart_per_dispatcher_and_needs_no_network(page):
    page = Page(page)
    assert page.tags["svg"] == page.tags["figure"] > 2  # the charts of the schedules, then those of the statistics
    assert page.tags["script"] == page.tags["link"] == 0
    assert sorted(page.texts["b"]) == ["easy-r", "fcfs"]
    assert [link for link in page.links if not link.startswith(("#", "data:"))] == []
    assert max(Counter(page.ids).values()) == 1
    assert {link[1:] for link in page.links if link.startswith("#")} == set(page.ids)
    assert page.texts["h1"] == ["a <day>: dispatchers side by side"]
    titles = [t for t in page.texts["title"] if t.endswith((": fcfs", ": easy-r"))]
    assert len(titles) == 2


def test_the_table_has_the_figures_of_the_records(results, page):
    for kept in (json.loads(p.read_text()) for p in results.glob("*.json")):
        row = re.search(rf"<tr><th>{kept['method']}</th>(.*?)</tr>", page).group(1)
        cells = [re.sub("<.*?>", "", c) for c in row.split("</td>")]
        assert cells[0] == f"{kept['metrics']['jobs']}"
        assert cells[1] == f"{kept['metrics']['wait_mean']:,.0f}"
        assert cells[2] == f"{kept['metrics']['wait_max']:,.0f}"
        assert f"mean wait {kept['metrics']['wait_mean'] / 3600:,.2f} h" in page
    assert '<td class="best">' in page


def test_the_command_writes_the_same_bytes_again(results, page, tmp_path, bench):
    code, out, _ = bench("plot", results, "--out", tmp_path / "page.html")
    assert (code, out) == (0, f"{tmp_path / 'page.html'}: 2 runs\n")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page


def test_the_page_has_all_figures_and_what_they_mean(results, page):
    figures = page[page.index("<summary>All figures") : page.index("</details>")]
    for kept in (json.loads(p.read_text()) for p in results.glob("*.json")):
        known = kept["metrics"]
        for name in ("wait_std", "wait_p99", "short_wait_max", "TR"):
            assert f"<td>{known[name]:,.0f}</td>" in figures, name
        assert f"<td>{100 * known['utilisation_gpus']:.1f}%</td>" in figures
    assert "AQ: mean wait" in figures and "std: standard deviation" in figures
    for predictor in ("walltime", "real"):
        assert f"<tr><th>{predictor}</th>" in page
    assert 'title="slowdown: (wait + duration) / duration">mean slowdown</th>' in page


def test_all_charts_of_a_day_have_the_same_axes(page):
    ticks = [re.findall(r">(\d+)</text>", svg) for svg in charts_of(page)]
    assert len(ticks) == 2 and len(ticks[0]) > 10
    assert ticks[0] == ticks[1]


def test_a_replay_that_broke_off_says_so(copied, tmp_path):
    path = next(copied.glob("fcfs*.json"))
    record = json.loads(path.read_text())
    path.write_text(json.dumps({**record, "status": "error", "cause": "dispatcher", "message": "job <7> at 5"}))
    text = plot(copied)[0].read_text(encoding="utf-8")
    assert '<p class="failed">job &lt;7&gt; at 5</p>' in text


def test_every_colour_that_is_drawn_is_explained(results, page):
    legend = re.search(r'<ul class="legend">(.*?)</ul>', page).group(1)
    replays = [read_jobs(p) for p in sorted(results.glob("*.csv"))]
    assert re.findall(r"background:(#\w+)", legend) == list(legend_of(replays, None).colours)
    for colour in ("queue", "user", "length"):
        known = legend_of(replays, colour)
        assert all(set(known.category(jobs).tolist()) <= set(range(len(known.colours))) for jobs in replays)


def jobs_of(rows, kinds=ONE_CORE, kind=None):
    """Return a table of jobs from rows (submit, start, end, units, [(low, high, units on each)])."""
    low, high, units = np.array([r for *_, ranges in rows for r in ranges], np.int64).reshape(-1, 3).T
    columns = [np.array(c, np.int64) for c in zip(*(row[:4] for row in rows), strict=True)]
    submit, start, end, sizes = columns
    first = np.cumsum([0, *(len(row[4]) for row in rows)])
    none = np.zeros(len(rows), np.int64)
    return JobsTable(
        [f"j{k}" for k in range(len(rows))], submit, start, end, none - 1, sizes, none > 0,
        NodeRanges(first, low, high, units), none if kind is None else np.array(kind), kinds,
    )  # fmt: skip


def test_of_many_users_the_most_active_have_colours_and_the_others_one():
    kinds = [Kind(user=f"u{k:02}") for k in range(12)]
    jobs = jobs_of([(0, 0, 5, 1, [(0, 0, 1)])] * 15, kinds, [*range(12), 11, 11, 10])
    legend = legend_of([jobs], "user")
    assert (legend.values[-1], legend.colours[-1]) == ("3 others", OTHERS)
    assert {"u10", "u11"} <= set(legend.values)
    category = legend.category(jobs).tolist()
    assert category.count(len(legend.values) - 1) == 3
    assert len({category[k] for k in (11, 12, 13)}) == 1


def test_by_default_one_queue_is_no_colour():
    one = jobs_of([(0, 0, 3599, 1, []), (0, 0, 3600, 1, []), (0, 0, 18000, 1, []), (0, 0, 18001, 1, [])], [Kind("q")])
    legend = legend_of([one], None)
    assert legend.what == "length"
    assert legend.category(one).tolist() == [0, 1, 1, 2]
    assert legend_of([jobs_of([(0, 0, 1, 1, [])] * 2, [Kind("q"), Kind("r")], [0, 1])], None).what == "queue"


def requests_of(jobs, platform):
    return {r: np.array([jobs.kinds[k].request.get(r, 0) for k in jobs.kind]) for r in platform.resources}


def test_rectangles_by_hand():
    """Job 0 fills both nodes of four cores; then jobs 1 and 2 use half of the first node each, job 3 half of the small one."""
    kinds = [Kind(request={"cores": 4}), Kind(request={"cores": 2}), Kind(request={"cores": 1})]
    rows = [
        (0, 0, 10, 2, [(0, 1, 1)]),
        (0, 10, 20, 1, [(0, 0, 1)]),
        (0, 12, 20, 1, [(0, 0, 1)]),
        (0, 5, 9, 1, [(2, 2, 1)]),
        (0, 5, 5, 1, [(2, 2, 1)]),
    ]
    jobs = jobs_of(rows, kinds, [0, 1, 1, 2, 2])
    assert rectangles(jobs, TWO, requests_of(jobs, TWO)) == [
        (0, 0, 10, 0, 2),
        (1, 10, 20, 0, 0.5),
        (2, 12, 20, 0.5, 1),
        (3, 5, 9, 2, 2.5),
    ]


def test_jobs_that_hold_more_than_a_node_together_are_flatter():
    """At the same time one job uses all the memory, the other half the cores: two thirds and one third of the row."""
    kinds = [Kind(request={"memory": 8}), Kind(request={"cores": 2})]
    jobs = jobs_of([(0, 0, 9, 1, [(0, 0, 1)]), (0, 3, 9, 1, [(0, 0, 1)])], kinds, [0, 1])
    first, second = rectangles(jobs, TWO, requests_of(jobs, TWO))
    assert (first.top, first.bottom, second.bottom) == (0, pytest.approx(2 / 3), pytest.approx(1))


@st.composite
def crowds(draw):
    """Jobs at random times on random nodes; together they may need more than a node has."""
    kinds = [Kind(request={"cores": c, "memory": m}) for c in (1, 2, 4) for m in (0, 4)]
    rows = []
    for _ in range(draw(st.integers(1, 10))):
        start, low = draw(st.integers(0, 9)), draw(st.integers(0, 2))
        rows.append(
            (0, start, start + draw(st.integers(0, 5)), 1, [(low, draw(st.integers(low, 2)), draw(st.integers(1, 2)))])
        )
    return jobs_of(rows, kinds, [draw(st.integers(0, len(kinds) - 1)) for _ in rows])


@given(crowds())
@settings(max_examples=70, deadline=None)
def test_rectangles_never_overlap_and_show_every_job_on_its_nodes(jobs):
    found = rectangles(jobs, TWO, requests_of(jobs, TWO))
    for k, one in enumerate(found):
        for other in found[k + 1 :]:
            apart = one.bottom <= other.top + 1e-6 or other.bottom <= one.top + 1e-6
            assert apart or one.end <= other.start or other.end <= one.start
    for j in range(len(jobs)):
        nodes = {n for r in found if r.job == j for n in range(int(r.top), int(np.ceil(r.bottom - 1e-9)))}
        low, high = int(jobs.placement.low[j]), int(jobs.placement.high[j])
        assert nodes == (set(range(low, high + 1)) if jobs.end[j] > jobs.start[j] else set())


@given(crowds(), st.integers(1, 3), st.integers(1, 7))
@settings(max_examples=70, deadline=None)
def test_shares_of_cells_are_those_of_a_sum_over_nodes_and_seconds(jobs, each, columns):
    """Compare with a grid of single nodes and 1/60 s, which contains all edges of 1 to 7 cells in 14 s."""
    begin, end, fine = 0, 14, 60
    rows = -(-3 // each)
    requests = requests_of(jobs, TWO)
    category = np.arange(len(jobs)) % 2
    found = shares(jobs, TWO, requests, category, 2, (rows, columns), each, begin, end)
    capacity = np.array(list(TWO.capacity.values()), float)
    grid = np.zeros((2, 3, end * fine))
    for j in range(len(jobs)):
        low, high, units = (int(a[j]) for a in jobs.placement[1:])
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = [units * requests[r][j] / capacity[low, k] for k, r in enumerate(TWO.resources) if capacity[low, k]]
        share = min(max(parts), 1) or 1
        grid[category[j], low : high + 1, jobs.start[j] * fine : min(jobs.end[j], end) * fine] += share
    for row in range(rows):
        for column in range(columns):
            cell = grid[:, row * each : (row + 1) * each]
            edges = [round(k * end * fine / columns) for k in (column, column + 1)]
            expected = cell[:, :, edges[0] : edges[1]].mean(axis=(1, 2))
            assert found[:, row, column] == pytest.approx(expected, abs=1e-9)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9)), min_size=1, max_size=8, unique_by=lambda x: x[0]))
def test_means_of_a_curve_are_those_of_its_seconds(steps):
    times, values = (np.array(c) for c in zip(*sorted(steps), strict=True))
    second = [next((v for t, v in zip(times[::-1], values[::-1], strict=True) if t <= s), 0) for s in range(40)]
    edges = [0, 7, 8, 25, 40]
    expected = [np.mean(second[a:b]) for a, b in pairwise(edges)]
    assert means(times, values.astype(float), np.array(edges, float)) == pytest.approx(expected)


def test_large_machines_are_drawn_as_cells_with_a_note():
    platform = Platform([NodeGroup("n", 1000, {"cores": 1})])
    jobs = jobs_of([(0, 0, 7200, 1000, [(0, 999, 1)]), (0, 7200, 9000, 500, [(0, 499, 1)])])
    picture = chart(Frame(platform, 0, 9000, 1), jobs, np.zeros(2, np.int64), ["#ff0000"], "large")
    assert "each row of the Gantt chart is 5 nodes" in picture.notes[0]
    assert picture.svg.count("<image") == 1
    small = Platform([NodeGroup("n", 100, {"cores": 10})])
    jobs = jobs_of([(0, 0, 7200, 100, [(0, 99, 1)])])
    drawn = chart(Frame(small, 0, 9000, 1), jobs, np.zeros(1, np.int64), ["#ff0000"], "small")
    assert "<image" not in drawn.svg


def shown(platform, jobs=None):
    """Return the chart of a platform, by default with one job on its first node."""
    jobs = jobs or jobs_of([(0, 0, 7200, 1, [(0, 0, 1)])])
    return chart(Frame(platform, 0, 7200, 1), jobs, np.zeros(len(jobs), np.int64), ["#ff0000"], "a").svg


def test_nodes_are_counted_in_whole_numbers():
    svg = shown(Platform([NodeGroup("n", 3, {"cores": 1})]))
    gantt = svg[: svg.index("jobs on nodes")]
    assert re.findall(r">(\d+)</text>", gantt) == ["0", "1", "2", "3"]


def test_names_of_groups_of_nodes_are_not_written_over_each_other_and_have_room():
    groups = [("fat", 1), ("gpu", 1), ("thin", 60), ("a name that is longer than any other", 38)]
    platform = Platform([NodeGroup(name, count, {"cores": 1}) for name, count in groups])
    svg = shown(platform)
    named = [
        name for name in ("fat (1)", "gpu (1)", "thin (60)", "a name that is long… (38)") if f">{name}</text>" in svg
    ]
    assert named == ["fat (1)", "thin (60)", "a name that is long… (38)"]
    end = float(re.search(r'text-anchor:end[^>]* x="([\d.]+)"[^>]*>a name', svg).group(1))
    assert 8 * 0.6 * 25 < end < 200  # points, for 25 letters of 8 points


def test_a_day_without_requests_has_no_curves_of_use():
    jobs = jobs_of([(0, 0, 10, 1, [(0, 0, 1)])], [Kind()])
    picture = chart(Frame(TWO, 0, 10, 0), jobs, np.zeros(1, np.int64), ["#ff0000"], "bare")
    assert "no curves of use" in picture.notes[-1]
    assert "in use (capacity" not in picture.svg


def failing(bench, *arguments):
    code, out, err = bench(*arguments)
    assert (code, out) == (2, "")
    assert "Traceback" not in err
    return err


def test_files_of_other_kinds_are_refused(bench, results, tmp_path):
    for name in ("page.pdf", "page.png", "page"):
        assert "expected a name that ends in .html or .svg" in failing(bench, "plot", results, "--out", tmp_path / name)
        assert "expected a name that ends in .html" in failing(bench, "report", results, "--out", tmp_path / name)
        assert not (tmp_path / name).exists()


def test_without_replays_it_says_where_they_come_from(bench, tmp_path):
    assert "no replays among its records, and no runs of an eviction or profit problem" in failing(
        bench, "plot", tmp_path
    )
    assert "there is no such folder" in failing(bench, "plot", tmp_path / "nowhere")


def test_without_matplotlib_it_says_what_to_install(bench, results, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "pip install 'schedlab[plot]'" in failing(bench, "plot", results)


def test_what_cannot_be_used_is_named(bench, copied):
    csv = next(copied.glob("easy-r.*.csv"))
    whole = csv.read_text()
    csv.write_text(whole.replace("COMPLETED_SUCCESSFULLY,", "COMPLETED_SUCCESSFULLY,x", 1))
    assert f"{csv}, line 2: starting_time is 'x" in failing(bench, "plot", copied)
    csv.unlink()
    err = failing(bench, "plot", copied)
    assert str(csv) in err and "run it again" in err
    csv.write_text(whole)
    assert "expected queue, user or length" in failing(bench, "plot", copied, "--colour", "size")
    assert "there is no folder" in failing(bench, "plot", copied, "--out", copied / "no" / "page.html")
    next(copied.glob("easy-r.*.json")).write_text(
        '{"key": 1, "instance": 2, "method": 3, "status": 4, "schedule": 5, "replay": {}}'
    )
    assert "of this version of the bench" in failing(bench, "plot", copied)
    next(copied.glob("easy-r.*.json")).write_text("{")
    assert "not JSON" in failing(bench, "plot", copied)


def test_the_template_is_part_of_the_package():
    import schedlab.bench

    assert (Path(schedlab.bench.pages.__file__).parent / "plot.html").is_file()


def test_replays_as_one_picture(bench, results, tmp_path):
    first, again = tmp_path / "replays.svg", tmp_path / "again.svg"
    for path in (first, again):
        code, _, err = bench("plot", results, "--out", path)
        assert code == 0, err
    text = first.read_text()
    assert text == again.read_text() and ElementTree.fromstring(text).tag.endswith("svg")
    assert [name for name in ("fcfs", "easy-r") if f">{name}</text>" not in text] == []


def test_the_picture_of_the_readme_is_in_the_order_of_its_command():
    root = Path(schedlab.__file__).parent
    command = re.search(
        r"`bench simulate eurora_99 --dispatchers (\S+) ", (root / "README.md").read_text(encoding="utf-8")
    )
    picture = (root / "docs" / "eurora_99.svg").read_text(encoding="utf-8")
    names = command[1].split(",")
    assert sorted(names, key=lambda name: picture.index(f">{name}<")) == names
