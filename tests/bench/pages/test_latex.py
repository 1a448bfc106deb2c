"""The tables and figures of a report for a paper: valid LaTeX, PDF, CSV files with the same values, the same bytes again."""

import csv
import re

import pytest
from report_records import made
from schedlab.bench.pages import content_of, write_latex
from schedlab.bench.pages.report import (
    LIBRARIES,
    MOST_BOXES,
    WHOLE,
    figures_grid,
    packed,
    report_grids,
    rows_of_boxes,
    tikz,
)
from schedlab.models.gantt import Bar, Closed, Gantt, Mark, Row

NAMES = r"a_b%c&d#e{f}g\h~i^j<k>$l"
RECORDS = [made(i, m, s, 100.0 + s + 10 * (m == "b")) for i in ("p_1", "p2") for m in ("a", "b") for s in (1, 2, 3)]


def rows_of(tex):
    """The cells of a table, by the characters that LaTeX takes for the ends of cells and rows."""
    lines = [line for line in tex.splitlines() if line.endswith(r" \\")]
    return [re.split(r"(?<!\\)&", line.removesuffix(r" \\")) for line in lines]


def test_all_files_are_there_and_written_equally_again(tmp_path):
    content = content_of(RECORDS, {"p2": 99.0}, "mine")
    files = write_latex(tmp_path / "paper", content)
    first = {f: f.read_bytes() for f in files}
    assert {f.suffix for f in files} == {".tex", ".csv", ".pdf"} and set((tmp_path / "paper").iterdir()) == set(files)
    assert all(f.with_suffix(".csv") in first for f in files if f.name != WHOLE)
    assert {f: f.read_bytes() for f in write_latex(tmp_path / "paper", content)} == first
    assert all(first[f].startswith(b"%PDF-") for f in files if f.suffix == ".pdf")


def test_tables_and_their_csv_files_have_the_same_cells(tmp_path):
    content = content_of(RECORDS, {"p2": 99.0}, "mine")
    write_latex(tmp_path, content)
    for tex in set(tmp_path.glob("*.tex")) - {tmp_path / WHOLE}:
        kept = list(csv.reader(tex.with_suffix(".csv").open()))
        cells = rows_of(tex.read_text())
        assert [len(row) for row in cells] == [len(row) for row in kept]
        assert len({len(row) for row in kept}) == 1
    known = (tmp_path / "problems.csv").read_text().splitlines()
    assert known[0] == "problem,kind,limit s,best found,bound,best known,solved,proven,runs"
    assert known[2].endswith(",101,,99,6,0,6")


def test_objectives_are_medians_over_the_seeds_and_missing_if_a_run_failed():
    failed = [made("p_1", "b", 4, None)]
    grid = report_grids(content_of(RECORDS, {}, "mine"))["objectives-dispatch"]
    assert (grid.heads, grid.rows) == (["problem", "a", "b"], [["p_1", 102, 112], ["p2", 102, 112]])
    grid = report_grids(content_of(RECORDS + failed, {}, "mine"))["objectives-dispatch"]
    assert grid.rows[0] == ["p_1", 102, None]


def test_characters_with_a_meaning_in_latex_are_written_as_text():
    cells = rows_of(figures_grid("", [NAMES, "gap %"], [[NAMES, None], ["x", 12345.6789]]).as_latex())
    assert cells[0][1].strip() == r"gap \%"
    assert cells[1][1].strip() == "--" and cells[2][1].strip() == "12,345.68"
    plain = re.sub(r"\\text\w+\{\}|\\[&%$#_{}]", "", cells[1][0])
    assert plain.strip() == "abcdefghijkl"


def test_the_command_writes_the_page_and_the_folder(bench, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = bench(
        "run", "eurora_99", "--first", "5", "--methods", "multi-search", "--time-limit", "1", "--out", "r"
    )
    assert code == 0, err
    code, out, err = bench("report", "r", "--latex", "paper/figures")
    assert code == 0, err
    assert (tmp_path / "paper/figures/methods-dispatch.tex").is_file() and "files" in out
    (tmp_path / "taken").write_text("")
    code, _, err = bench("report", "r", "--latex", "taken")
    assert (code, "--latex taken: cannot be written" in err) == (2, True)


@pytest.mark.parametrize("value, text", [(3, "3"), (1234567, "1,234,567"), (0.00012345, "0.0001234"), (999.96, "1000")])
def test_numbers_have_four_digits(value, text):
    assert rows_of(figures_grid("", ["a", "b"], [["x", value]]).as_latex())[1][1].strip() == text


# --- Gantt charts in TikZ.


def shop(times=((0, 3, "job 1 step 1"), (3, 9, "job 2 step 1 (fast)")), **more):
    bars = tuple(Bar(k % 2, start, end, label, label[:5]) for k, (start, end, label) in enumerate(times))
    groups = tuple(dict.fromkeys(bar.group for bar in bars))
    return packed(Gantt((Row("machine_1"), Row("machine 2")), bars, groups, seconds=False, start=0, **more))


def test_a_gantt_chart_has_bars_rows_ticks_a_legend_and_its_makespan():
    picture = tikz(shop(), "makespan")
    assert picture.count(r"\filldraw") == 2 and picture.startswith(r"\begin{tikzpicture}")
    assert r"(0,0) rectangle (3.333," in picture and r"(3.333," in picture and "rectangle (10," in picture
    assert r"{machine\_1};" in picture and "{1.1};" in picture and "{2.1};" in picture and "makespan 9};" in picture
    assert re.findall(r"node\[below, font=\\scriptsize\] \{([\d.]+)\}", picture) == ["0", "2", "4", "6", "8"]
    assert r"\,job 1" in picture and r"\,job 2" in picture and "{time};" in picture


def test_what_is_fixed_is_hatched_a_moment_is_a_diamond_and_seconds_have_a_unit():
    bars = (Bar(0, 0, 7200, "a", "q", hatched=True), Bar(0, 7200, 7200, "b", "q"), Bar(0, 0, 36000, "c", "q"))
    chart = packed(
        Gantt((Row("n"),), bars, ("q",), marks=(Mark(3600, "now"),), closed=(Closed(9000, 9900, "weekend"),))
    )
    picture = tikz(chart)
    assert (
        "pattern=north east lines" in picture
        and r"(2,-0.22) +(0,0.1) -- +(0.1,0)" in picture
        and "time (hours)" in picture
    )
    assert r"\draw[red] (1,0)" in picture and "{now};" in picture and r"\fill[black!8] (2.5,0)" in picture


def test_the_file_of_a_gantt_chart_has_its_rectangles():
    assert rows_of_boxes(shop()) == [
        ("machine_1", "job 1 step 1", "job 1", 0, 3),
        ("machine 2", "job 2 step 1 (fast)", "job 2", 3, 9),
    ]


def test_the_document_shows_the_charts_of_a_size_for_a_page(tmp_path, monkeypatch):
    content = content_of(RECORDS, {}, "mine")
    drawn = {"method": "a_b", "seed": 2, "objective": 9, "chart": shop()}
    large = drawn | {"chart": shop([(k, k + 1, "") for k in range(2 * MOST_BOXES)])}
    content["charts"] = [drawn, large]
    files = {f.name for f in write_latex(tmp_path, content)}
    assert {"gantt-1-p-1.tex", "gantt-1-p-1.csv"} <= files and not any(name.startswith("gantt-2") for name in files)
    text = (tmp_path / WHOLE).read_text()
    assert r"\input{gantt-1-p-1}" in text and r"by a\_b, seed 2, objective 9. 3.2: job 3, step 2.}" in text
    assert "1 Gantt chart of more than 1,500 rectangles: on the page alone" in text and LIBRARIES in text
    assert (tmp_path / "gantt-1-p-1.csv").read_text().splitlines()[0] == "row,label,group,start,end"


def test_each_table_of_a_report_has_a_caption_of_its_own() -> None:
    titles = [grid.title for grid in report_grids(content_of(RECORDS, {}, "mine")).values()]
    assert len(set(titles)) == len(titles)
    assert "Quality of schedules and bounds on dispatch problems, by method" in titles
