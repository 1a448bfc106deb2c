"""Limits in minutes: known answers, and random replays whose usage is summed over all runs anew at each start."""

import math
import random
from dataclasses import replace

import numpy as np
import pytest
import schedlab as sl
from draws import some_seeds_now
from schedlab.instances import WorkloadError
from schedlab.models import (
    QOS,
    Association,
    Dispatch,
    Job,
    Limits,
    Partition,
    Queue,
    SchedulerSettings,
    Site,
    SiteNode,
    SiteRequest,
)
from schedlab.simulation import SimulationError, violations
from schedlab.simulation.features import limits_of_site, not_obeyed, on_site

PROMPT = "slurm:bf_interval=1:sched_interval=1:batch_sched_delay=0"
POLICIES = ("fcfs", "easy", "easy++", "conservative", "plan", "plan@lns:rounds=2", "sjf", "pbs-fifo", PROMPT)
ASKED = SiteRequest(account="chem", qos="normal")


def site_with(limits=None, qos=None, factor=1.0, flags=(), enforce=("limits",), **settings):
    """A site of one node with 8 CPUs, with limits of the account chem or of the QOS normal."""
    made = SchedulerSettings(accounting_enforce=enforce, **settings)
    accounts = [Association("root"), Association("chem", parent="root", limits=limits or Limits())]
    return Site(
        "s",
        [SiteNode("n1", 8)],
        [Partition("p", ("n1",))],
        [QOS("normal", limits=qos or Limits(), usage_factor=factor, flags=flags)],
        [*accounts, Association("chem", "ana")],
        scheduler=made,
    )


def job(name, submit, runtime, cores=4, walltime=None, asked=ASKED):
    return Job(name, submit, walltime or runtime, 1, {"cores": cores}, "p", runtime=runtime, user="ana", asked=asked)


def replay(site, jobs, dispatcher="easy"):
    run = sl.simulate(Dispatch(site.platform(), jobs, [Queue("p", 60)]), dispatcher=dispatcher, site=site)
    assert run.violations == []
    return run


def starts(site, jobs, dispatcher="easy"):
    run = replay(site, jobs, dispatcher)
    return dict(zip(run.workload.ids, run.start.tolist(), strict=True))


@pytest.mark.parametrize("dispatcher", [*POLICIES, "hcp3@cpsat"])
def test_what_is_left_of_the_limits_of_running_jobs_falls_with_time(dispatcher):
    """600 CPU-seconds: a holds 480 of them at its start, and b needs 480; 4 * 30 s are left of a at 90."""
    site = site_with(Limits(grp_tres_run_mins={"cpu": 10}), calc_period=45)
    jobs = [job("a", 0, 100, walltime=120), job("b", 0, 50, walltime=120)]
    next_pass = 1 if dispatcher == PROMPT else 0  # of Slurm, after what has become free in a second
    assert starts(site, jobs, dispatcher) == {"a": 0, "b": 90 + next_pass}
    seldom = site_with(Limits(grp_tres_run_mins={"cpu": 10}), calc_period=300)
    assert starts(seldom, jobs, dispatcher) == {"a": 0, "b": 100}  # an end comes before the next look


@pytest.mark.parametrize("dispatcher", POLICIES)
def test_usage_decays_until_a_job_may_start(dispatcher):
    site = site_with(Limits(grp_tres_mins={"cpu": 10}), decay_half_life=1000)
    jobs = [job("a", 0, 100), job("b", 0, 100), job("c", 100, 10)]
    used = 8 * 1000 / math.log(2) * (1 - 2**-0.1)
    due = 100 + math.floor(1000 * math.log2(used / 600)) + 1
    assert starts(site, jobs, dispatcher) == {"a": 0, "b": 0, "c": due}


def test_a_budget_without_decay_is_used_up_and_the_message_names_it():
    site = site_with(Limits(grp_tres_mins={"cpu": 10}), decay_half_life=0)
    jobs = [job("a", 0, 100), job("b", 0, 100), job("c", 100, 10)]
    with pytest.raises(SimulationError, match="grp_tres_mins cpu of account chem, in seconds"):
        replay(site, jobs)
    without = site_with(qos=Limits(grp_tres_mins={"cpu": 10}), flags=("nodecay",), decay_half_life=1000)
    with pytest.raises(SimulationError, match="grp_tres_mins cpu of QOS normal"):
        replay(without, jobs)


def test_safe_starts_no_job_that_may_not_end():
    """600 CPU-seconds: a has 400, b may take 4 * 60 and does not fit beside them."""
    limits = Limits(grp_tres_mins={"cpu": 10})
    jobs = [job("a", 0, 100), job("b", 1, 10, walltime=60), job("c", 2, 10, walltime=50)]
    assert starts(site_with(limits, decay_half_life=0), jobs) == {"a": 0, "b": 1, "c": 11}
    safe = site_with(limits, decay_half_life=0, enforce=("limits", "safe"))
    with pytest.raises(SimulationError, match="job 'b'"):
        replay(safe, jobs)
    assert starts(safe, [jobs[0], jobs[2]]) == {"a": 0, "c": 2}
    with pytest.raises(WorkloadError, match="is 600, and it asks for more"):
        replay(safe, [job("d", 0, 151)])


def test_wall_clock_time_of_a_group():
    """Two jobs at once use 200 s in 100 s; the limit of 150 s is reached at 75."""
    site = site_with(Limits(grp_wall=150), decay_half_life=0)
    jobs = [job("a", 0, 100, 2), job("b", 0, 100, 2), job("c", 74, 5, 2)]
    assert starts(site, jobs)["c"] == 74
    with pytest.raises(SimulationError, match="grp_wall of account chem"):
        replay(site, [*jobs[:2], job("c", 75, 5, 2)])


def test_usage_factors_count_and_the_root_and_the_basic_priority_have_no_usage():
    limits = Limits(grp_tres_mins={"cpu": 10})
    jobs = [job("a", 0, 100), job("b", 100, 10)]
    assert starts(site_with(limits, decay_half_life=0), jobs)["b"] == 100
    with pytest.raises(SimulationError):
        replay(site_with(limits, factor=1.5, decay_half_life=0), jobs)
    four = [job(f"j{k}", 0, 100) for k in range(4)]
    assert len(starts(site_with(limits, decay_half_life=0, priority_type="basic"), four)) == 4
    site = site_with(decay_half_life=0)
    root = replace(site, associations=[replace(site.associations[0], limits=limits), *site.associations[1:]])
    assert len(starts(root, four)) == 4


def test_minutes_of_one_job_and_the_least_size_are_limits_of_each_job():
    site = site_with(qos=Limits(max_tres_mins={"cpu": 10}, min_tres={"cpu": 2}))
    run = replay(site, [job("long", 0, 151), job("small", 0, 5, 1), job("fits", 0, 150)])
    assert run.workload.ids == ("fits",)
    why = dict(run.workload.report.dropped)
    assert why["long"] == "never starts: max_tres_mins cpu of QOS normal, in seconds is 600, and it asks for more"
    assert why["small"] == "never starts: min_tres cpu of QOS normal is 2, and it asks for less"


def test_what_is_not_obeyed_is_named():
    assert not_obeyed(site_with(Limits(grp_tres_run_mins={"cpu": 1}, max_tres_mins={"cpu": 5}))) == ()
    (told,) = not_obeyed(site_with(Limits(grp_wall=60), usage_reset_period="monthly"))
    assert "usage from before the log" in told and "killed when" in told and "PriorityUsageResetPeriod" in told
    (told,) = not_obeyed(site_with(Limits(grp_wall=60), priority_type="basic"))
    assert "multifactor alone" in told


# random replays


def drawn(seed):
    """A site with limits in minutes, and jobs."""
    rng = random.Random(f"minutes {seed}")
    kind = rng.choice(["grp_tres_mins", "grp_tres_run_mins", "grp_wall", "safe"])
    most = rng.randint(4, 12)
    value = most * 30 if kind == "grp_wall" else {"cpu": most}
    limits = Limits(**{"grp_tres_mins" if kind == "safe" else kind: value})
    of_qos = rng.random() < 0.4
    site = site_with(
        None if of_qos else limits,
        limits if of_qos else None,
        factor=rng.choice([1.0, 1.0, 0.5, 2.0]),
        enforce=("limits", "safe") if kind == "safe" else ("limits",),
        decay_half_life=rng.choice([300, 1000, 5000]),
        calc_period=rng.choice([7, 60, 300]),
    )
    jobs = []
    for k in range(rng.randint(4, 14)):
        runtime = rng.randint(0, 90)
        walltime = max(1, runtime + rng.choice([0, 10, 60, -20]))
        asked = ASKED if rng.random() < 0.8 else SiteRequest(account="phys", qos="other")
        jobs.append(job(f"j{k}", rng.randint(0, 200), runtime, rng.choice([1, 2, 4]), walltime, asked))
    return kind, site, jobs


def wrong(kind, site, run):
    """The starts that the limit forbids, with usage and plans summed over all runs."""
    settings = site.scheduler
    limits = [a.limits for a in site.associations] + [q.limits for q in site.qos]
    (limit,) = [x for x in limits if x]
    most = limit.grp_wall if kind == "grp_wall" else 60 * next(v for _, v in limit.given())["cpu"]
    every = [run.workload.job(k) for k in range(len(run.workload))]
    runs = [
        (
            start,
            start + j.runtime,
            j.walltime,
            1 if kind == "grp_wall" else j.request["cores"] * site.qos[0].usage_factor,
        )
        for j, start in zip(every, run.start.tolist(), strict=True)
        if j.asked == ASKED
    ]
    half = settings.decay_half_life
    for start, end, walltime, amount in runs:
        used = sum(
            a * half / math.log(2) * (2 ** (-(start - min(e, start)) / half) - 2 ** (-(start - s) / half))
            for s, e, _, a in runs
            if s < start
        )
        planned = sum(a * max(0, s + w - start) for s, e, w, a in runs if s <= start < e)
        planned += amount * walltime if start == end else 0
        if kind == "grp_tres_run_mins":
            used = 0
        if kind in ("grp_tres_run_mins", "safe"):
            if used + planned > most + 1e-3:
                yield start, used, planned
        elif used >= most + 1e-3:
            yield start, used


@pytest.mark.parametrize("seeds", some_seeds_now(16, 40))
@pytest.mark.parametrize("dispatcher", [*POLICIES, "hcp3@cpsat"])
def test_no_start_breaks_a_limit_and_the_check_finds_those_that_do(dispatcher, seeds):
    found = 0
    for seed in seeds[: 6 if "@" in dispatcher else None]:
        kind, site, jobs = drawn(seed)
        try:
            run = replay(site, jobs, dispatcher)
        except WorkloadError:
            continue
        assert list(wrong(kind, site, run)) == [], seed
        early = replace(run, start=run.workload.submit.copy(), end=run.workload.submit + run.end - run.start)
        limits = limits_of_site(site)
        told = [v for v in violations(early, limits_of=limits) if "in seconds at" in v.message]
        assert bool(told) == bool(list(wrong(kind, site, early))), seed
        found += bool(told)
    assert found > 0


def test_held_jobs_start_as_soon_as_they_may():
    """On a machine with room for all, first come, first served: each start is at a submission, an end, or a time of retry."""
    _, site, _ = drawn(3)
    site = replace(site_with(Limits(grp_tres_run_mins={"cpu": 20}), calc_period=1), nodes=[SiteNode("n1", 1000)])
    rng = random.Random(4)
    jobs = [job(f"j{k}", rng.randint(0, 100), rng.randint(5, 60), rng.randint(1, 8)) for k in range(25)]
    found = starts(site, jobs)
    made = {j.id: j for j in jobs}
    for name, start in found.items():
        before = start - 1
        if before < made[name].submit:
            continue
        running = [(s, made[n]) for n, s in found.items() if s <= before < s + made[n].runtime and n != name]
        planned = sum(j.request["cores"] * (s + j.walltime - before) for s, j in running)
        assert planned + made[name].request["cores"] * made[name].walltime > 1200, name


def test_the_jobs_of_a_limit_are_those_of_its_owner():
    site = site_with(Limits(grp_wall=60))
    jobs = [job("a", 0, 5), job("b", 0, 5, asked=SiteRequest(account="phys", qos="normal"))]
    made = on_site(sl.Workload.of(Dispatch(site.platform(), jobs, [Queue("p", 60)])), site)
    (limit,) = limits_of_site(site)(*made)
    assert limit.rows.tolist() == [0] and limit.amounts.tolist() == [1] and limit.most == 60
    assert np.array_equal(limit.minutes.used, [1.0]) and not limit.minutes.plans
