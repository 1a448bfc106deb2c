"""The generator of profit instances: it follows the distributions of the log, and reproduces the shipped instances."""

import random
from itertools import pairwise
from pathlib import Path
from statistics import mean, median

import pytest
from schedlab.instances import load, write
from schedlab.instances.formats import cooling
from schedlab.instances.generators.computing_centre import HOURS, generate, offered_load
from schedlab.models import Job

DAY = 86400  # seconds

SHIPPED = {
    "profit_small": {"jobs": 60, "seed": 25, "nodes": 8, "days": 2, "shortest": 600, "step": 60},
    "profit_medium": {"jobs": 1000, "seed": 4, "nodes": 60, "days": 5},
}


@pytest.fixture(scope="module")
def month() -> list[Job]:
    """4,000 jobs in four weeks, at a load for which the factor of the runtimes is near 1."""
    return list(generate(4000, seed=3, nodes=100, days=28, load=0.55).jobs)


def sizes_days(name: str) -> int:
    return SHIPPED[name]["days"]


def cores(job: Job) -> int:
    return job.units * job.request["cores"]


@pytest.mark.parametrize("name", SHIPPED)
class TestShipped:
    def test_the_folder_is_what_the_generator_makes(self, name: str, tmp_path: Path) -> None:
        random.seed(99)
        write(generate(**SHIPPED[name]), tmp_path / name)
        shipped = load(name).path
        assert shipped is not None
        files = sorted(p.name for p in shipped.iterdir())
        assert files == ["instance.toml", "jobs.csv", "summer.csv", "winter.csv"]
        for file in files:
            assert (tmp_path / name / file).read_bytes() == (shipped / file).read_bytes(), file

    def test_load_sizes_and_times_are_as_documented(self, name: str) -> None:
        instance, sizes = load(name), SHIPPED[name]
        assert len(instance.jobs) == sizes["jobs"] and len(instance.platform.nodes) == sizes["nodes"]
        assert abs(offered_load(instance.profit.dispatch) - 1.5) <= 0.1
        assert instance.jobs[0].submit == 0
        assert sizes["days"] - 0.1 < instance.profit.horizon_end / DAY <= sizes["days"]
        for job in instance.jobs:
            assert job.runtime is not None and sizes.get("shortest", 1) <= job.runtime <= job.walltime <= DAY
            assert 0 < job.units <= sizes["nodes"] // 2 and job.request["cores"] <= 32
            assert job.power is not None and 7.79 < job.power / cores(job) < 11.12
            assert job.submit % sizes.get("step", 1) == job.runtime % sizes.get("step", 1) == 0

    def test_every_scenario_can_be_asked_for(self, name: str) -> None:
        instance = load(name)
        problems = [instance.scenario(s) for s in instance.scenarios]
        assert len(problems) == 8 and instance.problem is problems[0]
        scale = instance.platform.total("cores") / 9600
        assert instance.profit.cooling.most == pytest.approx(cooling("air").most * scale)
        assert len(instance.profit.segments) >= 2 * sizes_days(name)


class TestDistributions:
    def test_arrivals_follow_the_hours_of_the_week(self, month: list[Job]) -> None:
        later = [j for j in month if j.submit >= 3600]
        weekdays = [j for j in later if j.submit // DAY % 7 < 5]
        assert 0.85 < len(weekdays) / len(later) < 0.91  # the log: 0.86
        by_day = [j for j in weekdays if 9 <= j.submit % DAY // 3600 < 18]
        expected = sum(HOURS[0][9:18]) / sum(HOURS[0])
        assert abs(len(by_day) / len(weekdays) - expected) < 0.05
        assert 0.08 < mean(j.submit < 3600 for j in month) < 0.12  # waiting already, nearly all

    def test_sizes_are_mostly_powers_of_two(self, month: list[Job]) -> None:
        exact = mean(cores(j).bit_count() == 1 for j in month)
        assert 0.78 < exact < 0.90  # the log: 0.83
        assert 0.15 < mean(cores(j) == 1 for j in month) < 0.26  # the log: 0.21
        assert max(cores(j) for j in month) > 1024

    def test_runtimes_have_a_long_tail(self, month: list[Job]) -> None:
        times = [j.runtime or 0 for j in month]
        assert mean(times) > 10 * median(times)  # the log: 50 times
        assert 0.35 < mean(t < 60 for t in times) < 0.55  # the log: 0.45
        assert 0.06 < mean(t > 4 * 3600 for t in times) < 0.15  # the log: 0.10

    def test_users_send_one_job_after_another(self, month: list[Job]) -> None:
        again = mean(a.user == b.user for a, b in pairwise(month))
        assert 0.45 < again < 0.65  # the log: 0.57
        shares = sorted((sum(j.user == u for j in month) / len(month) for u in {j.user for j in month}), reverse=True)
        assert 0.2 < sum(shares[:10]) < 0.4  # the log: 0.28

    def test_walltimes_are_asked_for_generously(self, month: list[Job]) -> None:
        assert 0.3 < mean(j.walltime == DAY for j in month) < 0.5  # the log: 0.35 of exactly a day
        assert median((j.runtime or 0) / j.walltime for j in month) < 0.1
        assert 0.01 < mean(j.runtime == j.walltime for j in month) < 0.06


@pytest.mark.parametrize("load", [0.5, 1.2, 3.0])
def test_the_offered_load_is_what_was_asked_for(load: float) -> None:
    made = generate(500, seed=1, nodes=30, days=5, load=load)
    assert offered_load(made.profit.dispatch) == pytest.approx(load, rel=0.01)


def test_other_seeds_give_other_batches() -> None:
    assert generate(50, seed=1, nodes=8, days=2).jobs != generate(50, seed=2, nodes=8, days=2).jobs


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"jobs": 1}, "jobs is 1"),
        ({"nodes": 0}, "nodes is 0"),
        ({"days": 0}, "days is 0"),
        ({"load": 0.0}, "load is 0"),
        ({"shortest": DAY}, "shortest is 86400"),
        ({"load": 1e4}, "cannot have this offered load"),
        ({"load": 1e-9}, "cannot have this offered load"),
    ],
)
def test_numbers_that_make_no_batch_are_told(change: dict[str, float], word: str) -> None:
    sizes = {"jobs": 50, "seed": 1, "nodes": 8, "days": 2} | change
    with pytest.raises(ValueError, match=word):
        generate(**sizes)  # type: ignore[arg-type]
