"""One table in all its forms: the same values, aligned decimals, and texts that stay texts."""

import csv
import io
import re

import pytest
from rich.console import Console
from schedlab.bench import GOOD, Column, Grid, Styled, number, percent
from schedlab.bench.pages import Card, Section

HOSTILE = '</td><script>alert("$&%_#{}~^\\")</script>'
ROWS = [{"name": HOSTILE, "value": 41.0, "share": 0.5}, {"name": "lns", "value": 2.75, "share": None}]
COLUMNS = [
    Column("method", lambda row: row["name"], words=True),
    Column("objec\xad\ntive", lambda row: row["value"], number, "objective: of the schedule", best=min),
    Column("gap to\nit", lambda row: row["share"], percent, "gap to it: relative", spare=1),
]


@pytest.fixture
def grid():
    return Grid.of("results", COLUMNS, ROWS)


def printed(grid, width):
    console = Console(file=io.StringIO(), width=width)
    console.print(grid)
    return console.file.getvalue()


def test_values_are_kept_and_texts_have_the_form_of_their_column(grid):
    assert grid.heads == ["method", "objective", "gap to it"]
    assert grid.values == [[HOSTILE, 41.0, 0.5], ["lns", 2.75, None]]
    assert grid.texts == [[HOSTILE, "41", "50.0%"], ["lns", "2.7500", "-"]]
    assert grid.meaning == "objective: of the schedule; gap to it: relative."


def test_decimal_points_are_aligned_on_the_terminal_and_the_best_value_is_marked(grid):
    first, second = printed(grid, 120).splitlines()[-2:]
    assert first.index("41") + len("41") == second.index(".")
    assert "2.7500*" in second and "41 " in first


def test_columns_that_do_not_fit_are_left_out_and_no_line_is_too_wide(grid):
    text = printed(grid, 55)
    assert "gap to" not in text and "2.7500*" in text
    assert max(map(len, text.splitlines())) <= 55
    assert [column.name for column in grid.fitted(55)[1]] == ["gap to it"]


def test_columns_that_are_left_out_are_named(grid):
    out = io.StringIO()
    grid.show(Console(file=out, width=55))
    assert "Not shown, as the terminal is too narrow: gap to it." in out.getvalue()
    out = io.StringIO()
    grid.show(Console(file=out, width=120))
    assert "Not shown" not in out.getvalue()


def test_csv_json_and_a_frame_have_the_values(grid):
    assert list(csv.reader(io.StringIO(grid.as_csv()))) == [
        ["method", "objective", "gap to it"], [HOSTILE, "41.0", "0.5"], ["lns", "2.75", ""],
    ]  # fmt: skip
    kept = grid.as_json()
    assert kept["rows"] == grid.values and kept["columns"][2]["meaning"] == "gap to it: relative"
    assert pytest.importorskip("pandas") and grid.frame()["objective"].tolist() == [41.0, 2.75]


def test_in_latex_no_text_is_a_command_and_the_float_has_caption_and_notes(grid):
    text = grid.as_latex_float()
    assert r"\caption{results}" in text and r"\footnotesize objective: of the schedule" in text
    cell = next(line for line in text.splitlines() if "script" in line).split(" & ")[0]
    assert not re.sub(r"\\text\w+\{\}|\\[&%$#_{}]", "", cell).count("\\")
    assert r"41\phantom{.7500}" in text and "& -- " in text


def test_in_html_no_text_is_an_element(grid):
    page = Section(HOSTILE, lead=HOSTILE, table=grid, notes=[HOSTILE], cards=[Card(HOSTILE, HOSTILE, "<svg/>")]).html()
    assert "<script" not in page and page.count("&lt;script&gt;") == 6 and "<svg/>" in page
    assert '<th title="objective: of the schedule">objective</th>' in page and '<td class="best">2.7500</td>' in page


def test_nothing_is_marked_where_all_are_equal_or_one_is_known():
    for values in ((1.0, 1.0), (1.0, None)):
        grid = Grid.of("", [Column("a", lambda v: v, number, best=min)], values)
        assert not any(isinstance(value, Styled) for row in grid.rows for value in row)
    won = Grid.of("", [Column("a", lambda v: v, number, best=max)], (1.0, 2.0, 3.0), rival=lambda v: v < 3)
    assert won.rows == [[1.0], [Styled(2.0, GOOD)], [3.0]]


def printed_lines(grid, width=80):
    """Return the lines of a table on a terminal of this width."""
    console = Console(width=width, file=io.StringIO())
    console.print(grid)
    return [line.rstrip() for line in console.file.getvalue().splitlines() if line.strip()]


def test_names_are_broken_after_separators_alone():
    name = "cpsat:modes+warm=multi-sgs/1s:num_workers=1"
    figures = [Column(f"figure {k}") for k in range(5)]
    grid = Grid("runs", [Column("method", words=True, least=20), *figures], [[name, *[1] * 5], ["lns", *[2] * 5]])
    rows = [line.split()[0] for line in printed_lines(grid)[3:]]
    assert rows == ["cpsat:modes+warm=multi-sgs/1s:", "num_workers=1", "lns"]
    assert "".join(rows[:-1]) == name and printed_lines(grid, 120)[3].startswith(name)


def test_the_mark_is_explained_where_it_stands_and_nowhere_else(grid):
    console = Console(file=io.StringIO(), width=120)
    grid.show(console)
    Grid.of("equal", COLUMNS, ROWS[:1]).show(console)
    text = console.file.getvalue()
    assert text.count("*: the best of its column. --explain") == 1 and text.count("--explain") == 2
    narrow = Console(file=io.StringIO(), width=120)
    spare = [COLUMNS[0], Column("objective", lambda row: row["value"], number, best=min, spare=1)]
    Grid.of("narrow", [*spare, Column("x" * 75, lambda row: "")], ROWS).show(narrow)
    assert "the best" not in narrow.file.getvalue()


def test_a_title_is_not_broken_to_the_width_of_a_narrow_table():
    title = "one step: what starts next, asked at each recorded event"
    assert printed(Grid.of_texts(title, ["a", "b"], [["x", 1]]), 80).splitlines()[0] == title


def test_a_title_of_a_column_stands_where_its_neighbours_may_be_missing():
    spread = Grid.of("", [Column("wait\nmean"), Column("\np95", title="wait p95")], [(1, 2)])
    assert spread.heads == ["wait mean", "wait p95"] and spread.as_json()["columns"][1]["name"] == "wait p95"
    assert "wait p95" not in printed(spread, 80) and "wait p95" in Section("x", table=spread).html()


def test_columns_of_one_pair_are_left_out_together_and_no_number_is_broken():
    columns = [
        Column("change", lambda row: row[0], words=True, least=24),
        Column("interval, s", lambda row: row[1], words=True),
        Column("p95 before", lambda row: row[2], spare=2),
        Column("p95 after", lambda row: row[3], spare=2),
    ]
    wide = Grid.of("t", columns, [("nodes.batch * 1.2", "-74.38..-36.02", 1, 2)])
    assert [column.name for column in wide.fitted(45)[1]] == ["p95 before", "p95 after"]
    for width in (28, 30, 45):
        assert "-74.38..-36.02" in printed(wide, width), width
