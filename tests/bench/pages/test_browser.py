"""The report in headless Chromium: it is drawn without network and errors, and can be sorted, filtered and clicked."""

import json
import re

import pytest
from browser import needs_browser, noted, opened
from report_records import made
from schedlab.bench.pages import content_of, write_report
from schedlab.heuristics import first_solution
from schedlab.instances import load
from schedlab.instances.files import content_of as content_of_files

pytestmark = needs_browser
USE = """
const tables = [...document.querySelectorAll("table")], last = tables[tables.length - 1], found = {};
const column = k => [...last.tBodies[0].rows].map(r => r.cells[k].textContent);
last.tHead.rows[0].cells[4].click(); found.up = column(4);
last.tHead.rows[0].cells[4].click(); found.down = column(4);
const input = document.querySelector("input");
input.value = "eurora b"; input.dispatchEvent(new Event("input")); found.filtered = column(1);
[...tables[tables.length - 2].tBodies[0].rows].find(r => r.cells[0].textContent === "eurora_99").click();
const svg = document.querySelector("#anytime").lastChild.querySelector("svg"), r = svg.getBoundingClientRect();
found.title = svg.getAttribute("aria-label"); found.bars = svg.querySelectorAll("path[fill-opacity]").length;
const bar = svg.querySelector("path[fill-opacity]"), box = bar.getBoundingClientRect();
found.inside = box.left >= r.left && box.right <= r.right + 1 && box.top >= r.top && box.bottom <= r.bottom;
const first = bar.getAttribute("d").match(/M([\\d.]+) ([\\d.]+)h([\\d.]+)v([\\d.]+)/).slice(1).map(Number);
svg.dispatchEvent(new MouseEvent("mousemove", {clientX: r.left + first[0] + first[2] / 2, clientY: r.top + first[1] + first[3] / 2}));
found.named = svg.nextSibling.textContent;
document.body.dataset.noted = JSON.stringify(found);
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The report of two methods on two problems, one of them with schedules of jobs on nodes."""
    instance = load("eurora_99")
    schedule = first_solution(instance.problem, "est").as_json()
    records = [made(i, m, 1, v) for i, m, v in (("lost", "a", 101.0), ("lost", "b", None))]
    for method, value in (("a", 103.0), ("b", 102.0)):
        drawn = {"content": content_of_files(instance.path), "schedule": schedule}
        records.append(made("eurora_99", method, 1, value) | drawn)
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(path, content_of(records, {}, "mine"))
    return path


def test_the_page_is_drawn_without_errors(page):
    document, console = opened(page)
    assert 'data-ready="yes"' in document and console == []
    shown = re.sub(r"<script.*?</script>", "", document, flags=re.DOTALL)
    assert "NaN" not in shown and "undefined" not in shown
    assert "lost has no Gantt chart" in shown and "Gantt charts of the best runs: 1 of 2 problems" in shown


def test_tables_are_sorted_and_filtered_and_a_click_draws_the_schedule(page):
    document, console = opened(page, USE)
    found = json.loads(noted(document))
    assert console == []
    assert (found["up"], found["down"]) == (["101", "102", "103", "-"], ["103", "102", "101", "-"])
    assert found["filtered"] == ["b"]
    assert found["title"] == "eurora_99: best run, b, seed 1, objective 102"
    assert found["bars"] > 3 and found["inside"]
    assert re.match(r"\S+ \(\w+\): [\d,]+ to [\d,]+ s", found["named"])


def test_a_script_that_fails_is_noticed(page):
    _, console = opened(page, "no_such_name();")
    assert any("no_such_name is not defined" in line for line in console)
