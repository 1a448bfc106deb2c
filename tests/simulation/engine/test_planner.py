"""The planner of docs/reference/own_dispatcher.md: it follows its plan exactly, and plans again if runtimes are not the walltimes."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
import schedlab as sl

PAGE = Path(sl.__file__).parent / "docs" / "reference" / "own_dispatcher.md"


@pytest.fixture(scope="module")
def day_planner():
    """The class as the page has it."""
    (block,) = (
        b for b in re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S) if "class DayPlanner" in b
    )
    space = {"sl": sl, "__name__": "page"}
    exec(compile(block.partition("\nday = ")[0], str(PAGE), "exec"), space)
    return space["DayPlanner"]


@pytest.mark.parametrize("name", ["eurora_99", "eurora_330"])
def test_a_plan_is_reproduced_if_runtimes_are_the_walltimes(day_planner, name):
    day = sl.load(name).problem
    exact = day.replace(jobs=[replace(job, runtime=job.walltime) for job in day.jobs])
    offline = sl.solve(exact, method="multi-search").schedule
    planner = day_planner(exact)
    run = sl.simulate(exact, dispatcher=planner)
    assert run.schedule() == offline
    assert run.violations == []
    assert planner.plans == 1


@pytest.mark.parametrize("factor", [0.5, 1.1])  # of the walltime; 1.1: planned starts fail
def test_plans_are_made_again_if_jobs_take_other_times(day_planner, factor):
    day = sl.load("eurora_99").problem
    other = day.replace(jobs=[replace(job, runtime=int(factor * job.walltime)) for job in day.jobs[:40]])
    planner = day_planner(other)
    run = sl.simulate(other, dispatcher=planner)
    assert run.violations == []
    assert planner.plans > 5
