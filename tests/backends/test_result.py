"""Results as charts, tables and HTML; logs of solvers are bounded, and off where nobody reads them."""

from __future__ import annotations

import sys

import pytest
import schedlab as sl
from hypothesis import given
from hypothesis import strategies as st
from schedlab.backends import Incumbent, Limits, Result
from schedlab.backends.solver_thread import LOG_CHARACTERS, SolverLog, joined
from schedlab.models.gantt import Bar, Gantt, Row, draw, gantt_of_schedule
from schedlab.simulation.dispatchers.cp import control as steps

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("pandas")
matplotlib.use("Agg")
NOON = sl.load("eurora_99").problem.at(43200, first=8)


def two_jobs(name: str = "<two>") -> sl.Model:
    m = sl.Model(name)
    a, b = m.interval("a", size=3), m.interval("b", size=2, optional=True)
    m.add(sl.no_overlap([a, b]))
    m.minimize(a.start + b.presence)
    return m


class TestCharts:
    def test_each_job_has_its_nodes_and_times(self) -> None:
        r = sl.solve(NOON, method="first-solution:est")
        chart = gantt_of_schedule(NOON, r.schedule)
        nodes = [row.label for row in chart.rows]
        assert nodes == list(NOON.platform.nodes)
        for job in NOON.jobs:
            mine = [b for b in chart.bars if b.label == job.id]
            start = r.schedule.start[job.id]
            assert {(b.start, b.end, b.group) for b in mine} == {(start, start + NOON.duration(job), job.queue)}
            covered = {nodes[k] for b in mine for k in range(b.row, b.row + max(1, round(b.high)))}
            assert covered == set(r.schedule.nodes[job.id])

    def test_running_jobs_are_hatched(self) -> None:
        job = sl.Job("before", 0, 100, 1, {"cores": 1}, "debug")
        p = NOON.replace(running=[sl.Running(job, 43100, {NOON.platform.nodes[0]: 1}, 43300)])
        chart = gantt_of_schedule(p, sl.first_solution(p, "est"))
        assert [(b.label, b.start, b.end) for b in chart.bars if b.hatched] == [("before", 43200, 43300)]
        assert [m.label for m in chart.marks] == ["now"]

    def test_many_nodes_are_a_grid_that_shows_all_work(self) -> None:
        jobs = [sl.Job(f"j{k}", 0, 100, 500, {"cores": 1}, "q") for k in range(6)]
        p = sl.Dispatch(sl.Platform([sl.NodeGroup("n", 1000, {"cores": 1})]), jobs, [sl.Queue("q", 60)])
        chart = gantt_of_schedule(p, sl.first_solution(p, "est"))
        assert chart.bars == () and chart.cells is not None and len(chart.rows) == 200
        assert chart.cells.share.mean() == pytest.approx(1)  # 6 jobs of 500 nodes fill 1,000 nodes for 300 s
        assert chart.period == (0, 300)

    def test_checkpoints_end_when_the_objective_says(self) -> None:
        p = sl.load("theta_24").problem
        r = sl.solve(p, method="dp")
        chart = gantt_of_schedule(p, r.schedule)
        loss, seconds = r.objective
        written = [b for b in chart.bars if "checkpoint" in b.group]
        assert max(b.end for b in written) == seconds and sum(b.end - b.start for b in written) == seconds
        table = r.to_pandas()
        assert table["loss"].sum() == loss and table["end"].max() == seconds
        assert table.loc[table["end"].notna(), "nodes"].sum() >= p.nodes_needed

    def test_tasks_of_a_project(self) -> None:
        p = sl.load("project_small").problem
        r = sl.solve(p, method="multi-sgs")
        assert max(b.end for b in gantt_of_schedule(p, r.schedule).bars) == r.objective
        assert r.to_pandas()["end"].max() == r.objective

    @pytest.mark.parametrize("name", ["eurora_99", "profit_small", "theta_12", "project_small", None])
    def test_every_kind_is_drawn_on_the_given_axis(self, name: str | None) -> None:
        from matplotlib.figure import Figure

        ax = Figure().subplots()
        if name is None:
            r = sl.solve(two_jobs(), backend="cpsat", time_limit=5)
        else:
            p = sl.load(name).problem
            r = sl.solve(p, method={"theta_12": "dp", "project_small": "multi-sgs"}.get(name, "first-solution:est"))
        assert r.plot(ax) is ax and r.plot(ax, legend=False, labels=False) is ax
        ax.figure.canvas.draw()
        assert ax.get_xlabel().startswith("time") and ax.get_title(loc="left")

    def test_what_cannot_be_drawn_is_said(self, monkeypatch: pytest.MonkeyPatch) -> None:
        class Line:
            kind = "line"

        with pytest.raises(TypeError, match="kind 'line' have no Gantt chart"):
            Result("feasible", "mine", None, problem=Line(), schedule=sl.Schedule({"a": 0})).plot()
        with pytest.raises(LookupError, match="nothing to draw"):
            Result("unknown", "mine", None).plot()
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        with pytest.raises(ImportError, match=r"pip install 'schedlab\[plot\]'"):
            draw(Gantt((Row("a"),), (Bar(0, 0, 3),)))


class TestTables:
    def test_jobs_have_their_data(self) -> None:
        table = sl.solve(NOON, method="first-solution:est").to_pandas().set_index("job")
        for job in NOON.jobs:
            row = table.loc[job.id]
            assert (row["queue"], row["submit"], row["units"]) == (job.queue, job.submit, job.units)
            assert row["end"] - row["start"] == NOON.duration(job) and row["wait"] == row["start"] - job.submit

    def test_the_trace_has_gaps(self) -> None:
        trace = [Incumbent(0.5, 20.0, None), Incumbent(1.0, 20.0, 18.0)]
        table = Result("feasible", "mine", None, incumbents=trace).trace_to_pandas()
        assert list(table.columns) == ["seconds", "objective", "bound", "gap"]
        assert table["gap"].isna().tolist() == [True, False] and table["gap"][1] == pytest.approx(0.1)
        several = Result("feasible", "mine", None, incumbents=[Incumbent(1, (4.0, 3.0), (4.0, None))]).trace_to_pandas()
        assert several["gap_1"].tolist() == [0] and several["gap_2"].isna().all()

    def test_html_is_escaped_and_short(self) -> None:
        jobs = {f"<job {k}>": k for k in range(50)}
        html = Result("feasible", "<mine>", None, objective=1.5, schedule=sl.Schedule(jobs))._repr_html_()
        assert "&lt;mine&gt;" in html and "<mine>" not in html and "<job" not in html
        assert html.count("&lt;job") == 20 and "the first 20 of 50 jobs" in html
        assert sl.Schedule(jobs)._repr_html_().count("&lt;job") == 20

    def test_a_repr_is_one_line_of_120_characters(self) -> None:
        long = "x" * 200
        things = [Result("feasible", long, None), sl.Schedule({long: 1, "a\nb": 2}), sl.EvictionPlan({long: "kill"})]
        assert all(len(repr(x)) <= 120 and "\n" not in repr(x) for x in things)


class TestLogs:
    @given(st.lists(st.text("ab\n", max_size=30), max_size=20), st.integers(1, 20))
    def test_begin_and_end_are_kept(self, parts: list[str], half: int) -> None:
        log, whole = SolverLog(2 * half), "".join(parts)
        for part in parts:
            log.write(part)
        left = len(whole) - 2 * half
        if left <= 0:
            assert log.text() == whole
        else:
            out = "1 character" if left == 1 else f"{left:,} characters"
            assert log.text() == f"{whole[:half]}\n... {out} of the log left out ...\n{whole[-half:]}"

    def test_logs_of_several_stages_are_bounded(self) -> None:
        assert joined("a", "b") == "ab"
        assert len(joined("a" * LOG_CHARACTERS, "b" * LOG_CHARACTERS)) < LOG_CHARACTERS + 100

    @pytest.mark.parametrize("backend", ["cpsat", "highs", "cpo"])
    def test_a_log_is_given_unless_it_is_off(self, backend: str) -> None:
        if not sl.backends.backend(backend).availability().ok:
            pytest.skip(f"{backend} is not installed")
        limits = {log: sl.backends.run(two_jobs("m"), backend, Limits(5, 1, log=log)) for log in (True, False)}
        assert limits[True].log and not limits[False].log
        assert limits[True].objective == limits[False].objective == 0

    def test_decisions_of_a_replay_collect_no_logs(self) -> None:
        kinds = [c for c in vars(steps).values() if isinstance(c, type) and "limits" in vars(c)]
        for deterministic in (True, False):
            (control,) = (c(1.0, 2.0, deterministic=deterministic) for c in kinds)
            assert not control.limits(1.0, 1).log


def shop(jobs: int = 12, machines: int = 8) -> sl.Model:
    """Return a job shop with a sum of ends, whose optimum no solver proves at once."""
    m = sl.Model("shop")
    on: list[list[sl.Interval]] = [[] for _ in range(machines)]
    ends = []
    for j in range(jobs):
        before = None
        for k in range(machines):
            v = m.interval(f"{j}.{k}", size=1 + (7 * j + 5 * k) % 23)
            on[(j * k + 3 * j + k) % machines].append(v)
            if before is not None:
                m.add(sl.end_before_start(before, v))
            before = v
        assert before is not None
        ends.append(before.end)
    for some in on:
        m.add(sl.no_overlap(some))
    m.minimize(sl.sum(ends))
    return m


@pytest.mark.parametrize("backend", ["cpsat", "highs", "cpo"])
class TestWhyItEnded:
    def test_the_time_limit(self, backend: str) -> None:
        r = sl.solve(shop(), backend=backend, threads=1, time_limit=0.3)
        assert r.status in ("feasible", "unknown") and "time" in r.message

    def test_the_gap_limit(self, backend: str) -> None:
        r = sl.solve(shop(), backend=backend, threads=1, gap_limit=0.9)
        assert (r.status, r.message) == ("feasible", "the gap limit of 0.9 was reached")

    def test_the_callback(self, backend: str) -> None:
        r = sl.solve(shop(), backend=backend, threads=1, on_incumbent=lambda news: False)
        assert (r.status, r.message) == ("feasible", "on_incumbent ended the call")
