"""Forecasts of jobs: known answers on logs with days of known pattern, what a forecast may see, and bad input."""

from dataclasses import replace

import numpy as np
import pytest
import schedlab as sl
from schedlab.instances import Workload
from schedlab.simulation.forecasts import (
    EmptyForecast,
    Perfect,
    Persistence,
    Weekly,
    forecast_jobs,
    history_at,
    parse_forecast,
    score,
)

HOUR, DAY = 3600, 86400
MACHINE = sl.Platform([sl.NodeGroup("n", 4, {"cores": 8})])


def log(submits: list[int], runtime: int = 600) -> Workload:
    """Jobs of two units of 3 cores, the k-th of which runs for ``runtime + k`` seconds."""
    jobs = [
        sl.Job(f"j{k}", s, 7200, 2, {"cores": 3}, "q", runtime=runtime + k, power=50.0) for k, s in enumerate(submits)
    ]
    return Workload.of(sl.Dispatch(MACHINE, jobs, [sl.Queue("q", 60)]), "log")


def weeks(number: int, seed: int = 0) -> Workload:
    """Whole weeks: 3 jobs per hour from 8:00 to 18:00 from Monday to Friday, 1 at night and at the weekend."""
    rng = np.random.default_rng(seed)
    hours = [(d, h) for d in range(7 * number) for h in range(24)]
    many = {(d, h): 3 if d % 7 < 5 and 8 <= h < 18 else 1 for d, h in hours}
    return log(sorted(int(d * DAY + h * HOUR + s) for d, h in hours for s in rng.integers(0, HOUR, many[d, h])))


def test_persistence_repeats_the_last_day_and_weekly_the_same_weekday() -> None:
    w = log([0, 5000, 6 * DAY + 100, 6 * DAY + 90000 - 7200, 7 * DAY + 7])
    history = history_at(w, 7 * DAY)
    assert history.ids == ("j0", "j1", "j2", "j3")
    yesterday = forecast_jobs(Persistence(), history, 7 * DAY, 8 * DAY)
    assert (yesterday.submit - 7 * DAY).tolist() == [100, 82800]
    assert yesterday.ids == ("forecast-1", "forecast-2")
    assert yesterday.runtime.tolist() == [602, 603]
    assert yesterday.walltime.tolist() == [7200, 7200]
    assert yesterday.request.tolist() == [[3], [3]]
    assert yesterday.power.tolist() == [50, 50]
    week = forecast_jobs(Weekly(), history, 7 * DAY, 8 * DAY)
    assert (week.submit - 7 * DAY).tolist() == [0, 5000]
    morning = forecast_jobs(Persistence(), history, 7 * DAY, 7 * DAY + 6 * HOUR)
    assert (morning.submit - 7 * DAY).tolist() == [100]
    two_days = forecast_jobs(Weekly(), history, 7 * DAY, 9 * DAY)
    assert two_days.submit.tolist() == [7 * DAY, 7 * DAY + 5000]


def test_forecast_jobs_can_be_planned_by_the_profit_problem() -> None:
    """The jobs of a forecast have all that an offline problem needs; its schedule is verified."""
    w = weeks(1)
    expected = forecast_jobs(Persistence(), history_at(w, DAY), DAY, 2 * DAY)
    jobs = expected.dispatch(MACHINE, durations="runtime").replace(now=DAY)
    air = sl.load("profit_small").scenario("air,summer,cheap")
    problem = sl.Profit(jobs, air.temperature, air.cooling, 0.013, 0.13, horizon_end=2 * DAY)
    schedule = sl.first_solution(problem, "est")
    assert problem.verify(schedule) == []
    assert problem.value(schedule) > 0


def test_runtimes_of_jobs_that_have_not_ended_are_not_known() -> None:
    w = log([0, 100], runtime=1000)  # by the submit times the jobs end at 1000 and 1101
    assert history_at(w, 1000).runtime.tolist() == [1000, 7200]
    recorded = replace(w, recorded_start=np.array([500, -1]))  # -1: unknown
    assert history_at(recorded, 1200).runtime.tolist() == [7200, 1001]
    assert history_at(w, 1000, ended=np.array([False, True])).runtime.tolist() == [7200, 1001]


class TheFuture:
    """A forecast that looks into the history for what it cannot know."""

    name = "spy"

    def begin(self, workload: Workload) -> None:
        self.length = len(workload)

    def jobs(self, history: Workload, now: int, end: int) -> Workload:
        assert history.submit.max() < now
        assert len(history) < self.length
        return replace(history, submit=np.full(len(history), now), release=np.full(len(history), now))


def test_a_forecast_sees_the_history_only() -> None:
    found = score(weeks(1), [TheFuture(), Perfect()])
    assert found[0].days == 6  # each midnight after the first day, from which on a whole day is in the log
    assert found[1].work_error == 0


def test_scores_of_a_log_with_equal_days_are_perfect() -> None:
    w = log([d * DAY + s for d in range(4) for s in (10, 5000, 40000)], runtime=600)
    w = replace(w, runtime=np.full(len(w), 600))
    (s,) = score(w, [Persistence()])
    assert (s.jobs, s.jobs_came, s.jobs_error, s.work_error, s.day_error) == (3, 3, 0, 0, 0)
    assert s.work == pytest.approx(3 * 6 * 600 / 3600)


def test_errors_are_means_over_the_hours() -> None:
    """Two jobs of an hour on 6 cores each at 0:00 of the first day, one at 1:00 of the second, one later."""
    w = log([5, 9, DAY + HOUR, 2 * DAY + 5])
    w = replace(w, runtime=np.full(4, 3600))
    (s,) = score(w, [Persistence()])
    assert s.days == 1
    assert (s.jobs, s.jobs_came) == (2, 1)
    assert s.jobs_error == pytest.approx(3 / 24)
    assert s.work_error == pytest.approx((12 + 6) / 24)
    assert s.day_error == pytest.approx((12 - 6) / 6)
    assert s.skill == 0


def test_learned_is_better_than_persistence_after_weekends_and_deterministic() -> None:
    w = weeks(5)
    names = ["persistence", "weekly", "learned", "perfect"]
    made = score(w, [parse_forecast(n).make() for n in names])
    error = {s.name: s.jobs_error for s in made}
    assert made[0].days == 26  # learned has eight days of history at 26 midnights
    assert error["perfect"] == error["weekly"] == 0  # the weeks are equal, but for the seconds
    assert 0 < error["learned"] < 0.7 * error["persistence"]
    again = score(w, [parse_forecast("learned").make(), parse_forecast("weekly").make()])[0]
    assert (again.jobs, again.work, again.jobs_error) == (made[2].jobs, made[2].work, made[2].jobs_error)


def test_the_jobs_of_learned_have_the_core_hours_of_the_last_week() -> None:
    w = weeks(3)
    now = 14 * DAY
    history = history_at(w, now)
    made = forecast_jobs(parse_forecast("learned").make(), history, now, now + DAY)
    last = history.between(now - 7 * DAY, now)
    assert set(made.runtime.tolist()) <= set(last.runtime.tolist())
    assert made.runtime.mean() == pytest.approx(last.runtime.mean(), rel=0.01)


@pytest.mark.parametrize(
    ("name", "at", "message"),
    [
        (
            "persistence",
            3 * DAY,
            r"forecast persistence of 259200 s to 345600 s repeats 172800 s .* no job was submitted",
        ),
        ("weekly", DAY, r"repeats -518400 s to -432000 s, in which no job was submitted; the history begins at 50 s"),
        ("learned", 3 * DAY, r"learned has 3.0 days of history before 259200 s; at least 8 are expected"),
        ("perfect", 3 * DAY, r"no job is submitted from 259200 s to 345600 s"),
    ],
)
def test_an_empty_forecast_is_an_error_with_its_reason(name: str, at: int, message: str) -> None:
    w = log([50, 60, 9 * DAY])
    forecast = parse_forecast(name).make()
    forecast.begin(w)
    with pytest.raises(EmptyForecast, match=message):
        forecast_jobs(forecast, history_at(w, at), at, at + DAY)


def test_without_history_or_common_days_there_is_nothing_to_forecast_from() -> None:
    w = log([50, 60, 9 * DAY])
    with pytest.raises(EmptyForecast, match=r"no job was submitted before 50 s \(the first one at 50 s\)"):
        history_at(w, 50)
    with pytest.raises(EmptyForecast, match=r"no day for which all forecasts have jobs: .*persistence"):
        score(log([50, 3 * DAY, 5 * DAY, 5 * DAY + 1]), [Persistence(), Weekly()])


def test_jobs_outside_of_the_period_are_refused() -> None:
    class Late(Perfect):
        name = "late"

        def jobs(self, history: Workload, now: int, end: int) -> Workload:
            return replace(history, submit=history.submit + end)

    w = log([50, 60, 9 * DAY])
    with pytest.raises(
        ValueError, match="forecast late from 86400 s to 172800 s has a job that is submitted at 172850 s"
    ):
        forecast_jobs(Late(), history_at(w, DAY), DAY, 2 * DAY)
