"""The report of 10,000 records is small and usable in the browser; the seconds that it takes are printed."""

import json
import time

import numpy as np
import pytest
from browser import needs_browser, noted, opened
from report_records import made
from schedlab.bench.kinds.project import fields
from schedlab.bench.records import Store
from schedlab.heuristics import first_solution, serial_sgs
from schedlab.instances import generators, load
from schedlab.instances.files import content_of

METHODS, SEEDS = [f"m{k}" for k in range(10)], (1, 2, 3, 4, 5)
READY = "document.body.getBoundingClientRect(); document.body.dataset.noted = performance.now();"  # ms since the page was opened


def schedules():
    """Yield the fields of the schedules of 200 problems: 196 projects of 30 to 120 tasks, and days of Eurora."""
    for k in range(196):
        project = generators["project"](30 + 30 * (k % 4), k).project
        schedule = serial_sgs(project)
        yield f"project{k}", {"kind": "project", "schedule": schedule.as_json(), **fields(project, schedule)}
    for name in ("eurora_99", "eurora_330", "eurora_700", "eurora_production"):
        instance = load(name)
        schedule = first_solution(instance.problem, "est")
        yield name, {"content": content_of(instance.path), "schedule": schedule.as_json()}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Return a folder of 10,000 records with traces of 60 steps, about, and schedules."""
    folder, dice = tmp_path_factory.mktemp("results") / "many", np.random.default_rng(1)
    with pytest.MonkeyPatch.context() as patch, Store(folder) as store:
        patch.setattr("os.fsync", lambda number: None)  # 10,000 syncs take longer than the test
        for name, found in schedules():
            for method in METHODS:
                for seed in SEEDS:
                    steps = int(dice.integers(20, 100))
                    record = made(name, method, seed, float(dice.integers(100, 200)), steps=steps) | found
                    store.write(record)
    return folder


@pytest.fixture(scope="module")
def page(bench_command, results):
    """Return the report, the seconds that the command took, and what it said."""
    path = results.parent / "report.html"
    began = time.monotonic()
    said = bench_command("report", results, "--out", path)
    return path, time.monotonic() - began, said


@pytest.fixture(scope="module")
def bench_command():
    """Return a function that runs a command in a process of its own and returns its output."""
    import subprocess
    import sys

    def run(*words):
        command = [sys.executable, "-m", "schedlab.bench.cli.app", *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    return run


def test_it_is_built_and_is_small(page):
    path, seconds, said = page
    size = path.stat().st_size / 1e6
    print(f"{said.strip()}; built in {seconds:.1f} s, {size:.2f} MB")
    assert "10,000 runs" in said and size <= 15


@needs_browser
def test_it_is_usable(page):
    document, console = opened(page[0], READY)
    seconds = float(noted(document)) / 1000
    print(f"drawn {seconds:.2f} s after it was opened")
    assert console == [] and 'data-ready="yes"' in document


@needs_browser
def test_10_000_rows_are_sorted_and_filtered(page):
    script = """
    const tables = [...document.querySelectorAll("table")], last = tables[tables.length - 1], times = {};
    const timed = (name, act) => { const t = performance.now(); act(); document.body.getBoundingClientRect(); times[name] = performance.now() - t; };
    timed("sort", () => last.tHead.rows[0].cells[4].click());
    const input = document.querySelector("input");
    timed("filter", () => { input.value = "project1 m3"; input.dispatchEvent(new Event("input")); });
    timed("draw", () => [...tables[tables.length - 2].tBodies[0].rows].pop().click());
    document.body.dataset.noted = JSON.stringify(times);
    """
    times = json.loads(noted(opened(page[0], script)[0]))
    print({name: f"{milliseconds:.0f} ms" for name, milliseconds in times.items()})
    assert times.keys() == {"sort", "filter", "draw"}
