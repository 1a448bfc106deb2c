"""The eviction problem: losses and checkpoint times, verification of plans, wrong data, logs, formulations."""

import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
import schedlab as sl
from draws import some_now
from random_evictions import applications, best_by_enumeration, random_eviction, random_shared
from schedlab import BatchJob, Eviction, EvictionCandidate, EvictionPlan, ProblemError
from schedlab.models import Checkpointing, Schedule
from schedlab.models.eviction import checkpoint_seconds
from shared_data import DATA

THETA = DATA / "theta_2022" / "real_week_1.swf"
BACKENDS = ["cpsat", "highs", "cpo"]
LINE = "{id} {submit} {wait} {runtime} {nodes} -1 -1 {nodes} 7200 -1 1 5 1 -1 -1 -1 -1 -1\n"


def needs(backend: str) -> None:
    known = sl.backends.available()[backend]
    if not known.ok:
        pytest.skip(f"{backend}: {known.reason}")


def two_jobs(**changes: object) -> Eviction:
    jobs = [EvictionCandidate("a", 64, 7200, 90, None), EvictionCandidate("b", 64, 3600, 300, 200)]
    return Eviction(jobs, nodes_needed=100, deadline_s=180).replace(**changes)


class TestLossAndCheckpoints:
    def test_many_nodes_share_the_file_system_and_few_are_bound_by_their_own_bandwidth(self) -> None:
        assert checkpoint_seconds(500, 70_000, 250_000, 700) == 500 * Fraction(70_000, 250_000)
        assert checkpoint_seconds(100, 70_000, 250_000, 700) == 100

    def test_what_is_lost_counts_from_the_last_checkpoint_or_the_start(self) -> None:
        one = BatchJob(
            "a", 10, start=100, last_checkpoint=700, next_checkpoint=1300, memory=7000, application_share=0.5
        )
        new = BatchJob("b", 10, start=900, last_checkpoint=None, next_checkpoint=None, memory=0, application_share=0)
        p = Eviction([one, new], 0, 900, now=1000, file_system_mb_s=35_000, node_mb_s=700)
        a, b = p.candidates
        assert (a.loss, b.loss) == (3000, 1000)
        assert (a.system_s, a.application_s, a.wait_s) == (10, 305, 300)
        assert (b.system_s, b.application_s) == (0, None)
        assert a.mb_s == 7000

    def test_times_are_rounded_up_to_whole_steps_and_the_deadline_down(self) -> None:
        jobs = [EvictionCandidate("a", 1, 0, 60, 60.001), EvictionCandidate("b", 1, 0, 0, Fraction(1, 3))]
        p = Eviction(jobs, 0, deadline_s=179, step_s=60)
        assert p.checkpoint_steps == {"a": {"app": 2, "sys": 1}, "b": {"app": 1, "sys": 0}}
        assert p.steps == 2

    def test_a_tenth_is_a_tenth(self) -> None:
        p = Eviction([EvictionCandidate("a", 1, 0, 0.1 * 3, 0.3)], 0, deadline_s=9, step_s=1)
        job = BatchJob("b", 1, 0, None, 10, memory=1000, application_share=0.3)
        assert p.checkpoint_steps["a"] == {"app": 1, "sys": 1}
        assert job.candidate(10, 100, 100).application_s == 3

    def test_an_application_checkpoint_writes_from_its_moment_on(self) -> None:
        job = BatchJob("a", 1, 0, None, 100, memory=50, application_share=1)
        p = Eviction([job], 0, 900, step_s=60, file_system_mb_s=1, node_mb_s=1)
        assert p.checkpoint_steps["a"] == {"app": 3, "sys": 1}
        assert p.writing_steps["a"] == {"app": 1, "sys": 1}


class TestPlans:
    def test_a_plan_that_holds(self) -> None:
        p, plan = two_jobs(), EvictionPlan({"a": "sys", "b": "kill"})
        assert p.verify(plan) == []
        assert p.value(plan) == (3600, 120)
        assert plan.evicted == ["a", "b"]

    @pytest.mark.parametrize(
        ("strategy", "said"),
        [
            ({"a": "kill", "b": "keep"}, "64 nodes are freed, 100 are needed"),
            ({"a": "app", "b": "kill"}, "job 'a' cannot take a checkpoint of kind 'app'"),
            ({"a": "kill", "b": "sys"}, "the checkpoints take 300 s, the deadline is 180 s"),
            ({"a": "kill"}, "job 'b' must be one of keep, kill, app, sys; given is None"),
            ({"a": "kill", "b": "stop"}, "given is 'stop'"),
            ({"a": "kill", "b": "kill", "c": "keep"}, "job 'c' is not one of the problem"),
        ],
    )
    def test_what_breaks_a_plan(self, strategy: dict[str, str], said: str) -> None:
        broken = two_jobs().verify(EvictionPlan(strategy))
        assert any(said in v.message for v in broken)
        assert all(v.amount > 0 for v in broken)

    def test_a_schedule_of_another_kind_is_no_plan(self) -> None:
        assert "EvictionPlan" in two_jobs().verify(Schedule({"a": 0}))[0].message

    def test_plans_survive_json(self) -> None:
        plan = EvictionPlan({"a": "sys", "b": "kill"}, {"a": 60})
        assert plan.as_json() == {"a": {"strategy": "sys", "start": 60}, "b": "kill"}
        assert two_jobs().read(plan.as_json()) == plan
        assert EvictionPlan({"a": "kill", "b": "keep"}).as_json() == {"a": "kill", "b": "keep"}

    @pytest.mark.parametrize("data", [[], {"a": "stop"}, {"a": {"strategy": "sys"}}, {"a": {"start": 5}}])
    def test_broken_json_is_reported(self, data: object) -> None:
        with pytest.raises(ValueError, match="plan"):
            EvictionPlan.from_json(data)


class TestBadData:
    @pytest.mark.parametrize(
        ("job", "said"),
        [
            (EvictionCandidate("a", 0, 1, 1, 1), "job 'a': nodes is 0"),
            (EvictionCandidate("a", -3, 1, 1, 1), "job 'a': nodes is -3"),
            (EvictionCandidate("a", 1, -1, 1, 1), "job 'a': loss is -1"),
            (EvictionCandidate("a", 1, 1, -1, 1), "job 'a': system_s is -1"),
            (EvictionCandidate("a", 1, 1, float("nan"), 1), "job 'a': system_s is nan"),
            (EvictionCandidate("a", 1, 1, 1, 1, wait_s=2), "job 'a': wait_s is 2"),
            (
                BatchJob("a", 1, 0, 200, 300, 1, 0.5),
                "last_checkpoint is 200; expected is a time from its start, 0, to now",
            ),
            (BatchJob("a", 1, 50, 20, 300, 1, 0.5), "last_checkpoint is 20"),
            (BatchJob("a", 1, 0, 20, 90, 1, 0.5), "next_checkpoint is 90"),
            (BatchJob("a", 1, 101, None, 300, 1, 0.5), "start is 101"),
            (BatchJob("a", 1, 0, None, 300, -1, 0.5), "memory is -1"),
            (BatchJob("a", 1, 0, None, 300, 1, 1.5), "application_share is 1.5"),
        ],
    )
    def test_a_job_that_contradicts_itself_is_named_with_the_field(
        self, job: BatchJob | EvictionCandidate, said: str
    ) -> None:
        with pytest.raises(ProblemError) as caught:
            Eviction([job], 0, 900, now=100, file_system_mb_s=1, node_mb_s=1)
        assert said in str(caught.value)

    def test_more_nodes_than_can_be_freed(self) -> None:
        with pytest.raises(ProblemError, match=r"129 nodes are needed.*at most 128 can be freed"):
            two_jobs(nodes_needed=129)

    def test_a_job_listed_twice(self) -> None:
        with pytest.raises(ProblemError, match="job 'a' is listed 2 times"):
            two_jobs(jobs=[EvictionCandidate("a", 1, 1, 1, 1)] * 2, nodes_needed=1)

    @pytest.mark.parametrize("changes", [{"nodes_needed": -1}, {"deadline_s": -1}, {"step_s": 0}, {"step_s": 1.5}])
    def test_settings_that_make_no_sense(self, changes: dict[str, object]) -> None:
        with pytest.raises(ProblemError, match=next(iter(changes))):
            two_jobs(**changes)

    def test_memory_without_bandwidth(self) -> None:
        with pytest.raises(ProblemError, match="file_system_mb_s is missing"):
            Eviction([BatchJob("a", 1, 0, None, None, 5, 0.5)], 0, 900)

    def test_bandwidth_is_shared_only_where_it_is_known(self) -> None:
        with pytest.raises(ProblemError, match="file_system_mb_s"):
            two_jobs(shared_bandwidth=True)
        with pytest.raises(ProblemError, match=r"job 'a'.*mb_s"):
            two_jobs(shared_bandwidth=True, file_system_mb_s=100)


class TestLogs:
    @pytest.fixture
    def log(self, tmp_path: Path) -> Path:
        path = tmp_path / "log.swf"
        rows = [
            (1, 0, 0, 5000, 8),
            (2, 0, 100, 9000, 4),
            (3, 0, 4000, 10, 2),
            (4, 500, -1, 9000, 1),
            (5, 0, 4001, 10, 2),
        ]
        names = ("id", "submit", "wait", "runtime", "nodes")
        path.write_text("; UnixStartTime: 0\n" + "".join(LINE.format(**dict(zip(names, r, strict=True))) for r in rows))
        return path

    def test_the_jobs_that_run_at_that_moment(self, log: Path) -> None:
        p = Eviction.from_trace(log, at=4000, nodes_needed=5)
        assert [(j.id, j.nodes) for j in p.jobs] == [("1", 8), ("2", 4), ("3", 2)]
        assert [(j.last_checkpoint, j.next_checkpoint) for j in p.jobs] == [(3600, 7200), (3700, 7300), (None, 7600)]
        assert [c.loss for c in p.candidates] == [8 * 400, 4 * 300, 0]
        assert all(0.4 * 196_608 - 1 <= j.memory <= 0.9 * 196_608 and 0.2 <= j.application_share <= 0.6 for j in p.jobs)
        assert p == Eviction.from_trace(sl.read_swf(log), at=4000, nodes_needed=5)

    def test_a_log_is_read_by_its_path_before_any_instance_was_read(self, log: Path) -> None:
        script = (
            f"import schedlab as sl; print(len(sl.Eviction.from_trace({str(log)!r}, at=4000, nodes_needed=5).jobs))"
        )
        assert (
            subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "3\n"
        )

    def test_another_seed_draws_other_memory_and_keeps_the_rest(self, log: Path) -> None:
        one, other = (Eviction.from_trace(log, 4000, 5, checkpointing=Checkpointing(seed=s)) for s in (1, 2))
        assert [j.memory for j in one.jobs] != [j.memory for j in other.jobs]
        assert [j.nodes for j in one.jobs] == [j.nodes for j in other.jobs]

    def test_a_moment_at_which_nothing_runs(self, log: Path) -> None:
        with pytest.raises(ProblemError, match=r"no job runs at 99999 s; its starts are from 0 s to 4001 s"):
            Eviction.from_trace(log, at=99999, nodes_needed=1)

    @pytest.mark.skipif(not THETA.exists(), reason="../shared/data/theta_2022 is missing")
    def test_a_moment_of_theta(self) -> None:
        p = Eviction.from_trace(THETA, at=1669195969, nodes_needed=1024)
        assert (len(p.jobs), p.nodes_in_use) == (17, 4358)
        answer = sl.solve(p, method="dp")
        assert answer.status == "optimal" and p.verify(answer.schedule) == []


class TestFormulations:
    @pytest.mark.parametrize("backend", BACKENDS)
    @pytest.mark.parametrize("seed", some_now(range(8), 4))
    def test_solvers_find_what_enumeration_finds(self, backend: str, seed: int) -> None:
        needs(backend)
        p = random_eviction(random.Random(seed), jobs=5)
        found = sl.solve(p, backend=backend, threads=1, time_limit=30)
        assert found.status == "optimal", found.message
        assert p.verify(found.schedule) == []
        assert (*found.objective, -applications(found.schedule)) == best_by_enumeration(p)
        assert found.bound == pytest.approx(found.objective)

    @pytest.mark.parametrize("backend", BACKENDS)
    def test_nothing_needed_and_nobody_running(self, backend: str) -> None:
        needs(backend)
        assert sl.solve(two_jobs(nodes_needed=0), backend=backend).schedule.evicted == []
        assert sl.solve(Eviction([], 0, 900), backend=backend).objective == (0, 0)

    def test_the_trace_of_ordered_objectives_falls(self) -> None:
        p = random_eviction(random.Random(5), jobs=12)
        found = sl.solve(p, backend="cpsat", threads=1)
        values = [i.objective for i in found.incumbents if i.objective is not None]
        assert values == sorted(values, reverse=True) and values[-1][:2] == found.objective
        assert found.incumbents[-1].bound[:2] == found.objective

    def test_a_greedy_plan_is_a_start(self) -> None:
        found = sl.solve(random_eviction(random.Random(5), jobs=12), method="cpsat:serial+warm", threads=1)
        assert (found.status, found.warm_start.fate) == ("optimal", "accepted")
        cold = sl.solve(random_eviction(random.Random(5), jobs=12), method="cpsat:serial", threads=1)
        assert (cold.status, cold.warm_start.fate) == ("optimal", "none")

    def test_a_method_for_other_problems_is_refused_with_those_that_fit(self) -> None:
        with pytest.raises(sl.UnknownName, match="eviction problems 'multi-search'"):
            sl.solve(two_jobs(), method="multi-search")


class TestSharedBandwidth:
    def side_by_side(self, bandwidth: int = 200) -> Eviction:
        jobs = [EvictionCandidate(x, 2, 100, 60, 120, wait_s=90, mb_s=100) for x in "abc"]
        return Eviction(jobs, 4, 60, 60, file_system_mb_s=bandwidth, shared_bandwidth=True)

    @pytest.mark.parametrize("backend", ["cpsat", "cpo", "highs"])
    def test_two_checkpoints_at_once(self, backend: str) -> None:
        needs(backend)
        assert sl.solve(self.side_by_side(), backend=backend, threads=1).objective == (0, 60)
        assert sl.solve(self.side_by_side(199), backend=backend, threads=1).objective == (100, 60)

    def test_what_breaks_a_plan(self) -> None:
        p = self.side_by_side()
        ok = EvictionPlan({"a": "sys", "b": "sys", "c": "keep"}, {"a": 0, "b": 0})
        assert p.verify(ok) == []
        missing = EvictionPlan(ok.strategy, {"a": 0})
        assert "no start" in p.verify(missing)[0].message
        crowded = EvictionPlan(dict.fromkeys("abc", "sys"), dict.fromkeys("abc", 0))
        assert "at 0 s checkpoints use 300 MB/s, but the file system has 200" in p.verify(crowded)[0].message
        early = EvictionPlan({"a": "app", "b": "sys", "c": "keep"}, {"a": 0, "b": 0})
        assert "60 s before the earliest time" in p.verify(early)[0].message
        late = EvictionPlan(ok.strategy, {"a": 0, "b": 60})
        assert "take 120 s" in p.verify(late)[0].message

    @pytest.mark.parametrize("seed", range(6))
    def test_solvers_agree_and_lose_no_more_than_one_after_another(self, seed: int) -> None:
        needs("cpo")
        p = random_shared(random.Random(seed), jobs=5)
        serial = sl.solve(p.replace(shared_bandwidth=False), method="dp").objective
        found = [sl.solve(p, backend=b, threads=1, time_limit=30) for b in ("cpsat", "cpo")]
        assert [f.status for f in found] == ["optimal", "optimal"]
        assert found[0].objective == found[1].objective <= serial

    @pytest.mark.parametrize("method", ["dp", "greedy", "backtracking"])
    def test_plans_made_one_after_another_hold_here(self, method: str) -> None:
        for seed in range(6):
            p = random_shared(random.Random(seed), jobs=6)
            found = sl.solve(p, method=method)
            assert (found.status, found.violations) == ("feasible", [])

    def test_on_theta_it_loses_strictly_less(self) -> None:
        p = sl.load("theta_24").problem
        serial = sl.solve(p, method="dp").objective
        shared = p.replace(shared_bandwidth=True)

        def until_better(news: sl.Incumbent) -> bool:
            return news.objective is None or news.objective[0] >= serial[0]

        found = sl.solve(shared, method="cpsat:shared+warm", time_limit=60, on_incumbent=until_better)
        assert shared.verify(found.schedule) == []
        assert found.objective[0] < serial[0]
