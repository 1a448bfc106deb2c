"""A limit of a QOS takes the place of that of the account: its jobs are not checked against the latter, but count in it."""

import random

import pytest
import schedlab as sl
from schedlab.instances import Workload
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
from schedlab.simulation import violations
from schedlab.simulation.features import limits_of_site, on_site

DISPATCHERS = ["fcfs", "easy", "conservative", "plan@lns", "hcp3@cpsat", "slurm"]
SLURM = SchedulerSettings(accounting_enforce=("limits", "qos"), bf_interval=1, sched_interval=1, batch_sched_delay=0)


def site_with(chem, high, scheduler=SLURM):
    """A node with room for all, the account chem, the QOS high."""
    return Site(
        "s", [SiteNode("n1", 64)], [Partition("p", ("n1",))], [QOS("normal"), QOS("high", limits=high)],
        [Association("root"), Association("chem", parent="root", limits=chem), Association("chem", "ana")],
        scheduler=scheduler,
    )  # fmt: skip


def job(name, submit, length, qos="normal", cores=1):
    asked = SiteRequest(account="chem", qos=qos)
    return Job(name, submit, length, 1, {"cores": cores}, "p", runtime=length, user="ana", asked=asked)


def replay(jobs, site, dispatcher):
    run = sl.simulate(Dispatch(site.platform(), jobs, [Queue("p", 60)]), dispatcher=dispatcher, site=site)
    assert run.violations == []
    return dict(zip(run.workload.ids, run.start.tolist(), strict=True))


JOBS = [
    job("a", 0, 10),
    job("h", 1, 30, "high"),
    job("b", 2, 10),
    job("g", 3, 5, "high"),
    job("c", 12, 5),
]


@pytest.mark.parametrize("dispatcher", DISPATCHERS)
@pytest.mark.parametrize(
    "limits",
    [
        (Limits(grp_jobs=2), Limits(grp_jobs=9)),
        (Limits(grp_tres={"cpu": 2}), Limits(grp_tres={"cpu": 9})),
        (Limits(max_jobs=2), Limits(max_jobs_per_user=9)),
        (Limits(max_jobs=2), Limits(max_jobs_per_account=9)),
    ],
)
def test_a_job_with_a_limit_of_its_qos_counts_in_that_of_its_account(limits, dispatcher):
    """At 2 a and h run: b waits for a, although h is not checked; g starts in spite of them; c waits for b."""
    found = replay(JOBS, site_with(*limits), dispatcher)
    assert [found[name] for name in "ahgb"] == [0, 1, 3, 10]
    assert found["c"] == 20


def test_minutes_of_such_jobs_are_used_up_for_others():
    """h uses 3,000 s in 50 min; the 40 min that chem may use are over at 2,400 s, before b comes."""
    settings = SchedulerSettings(
        accounting_enforce=("limits", "qos"), priority_type="multifactor", decay_half_life=0, calc_period=60
    )
    site = site_with(Limits(grp_tres_mins={"cpu": 40}), Limits(grp_tres_mins={"cpu": 900}), scheduler=settings)
    jobs = [job("h", 0, 3000, "high"), job("a", 10, 60), job("b", 2500, 60)]
    with pytest.raises(sl.SchedlabError, match="used up: grp_tres_mins cpu of account chem"):
        replay(jobs, site, "easy")
    more = [*jobs[:2], job("g", 2500, 60, "high")]
    assert replay(more, site, "easy") == {"h": 0, "a": 10, "g": 2500}


def test_the_verification_counts_them():
    """Both b and h run while a does; only the start of b is a fault."""
    site = site_with(Limits(grp_jobs=2), Limits(grp_jobs=9))
    free = site_with(Limits(), Limits())
    run = sl.simulate(Dispatch(free.platform(), JOBS[:3], [Queue("p", 60)]), dispatcher="easy", site=free)
    told = violations(run, limits_of=limits_of_site(site))
    assert [v.constraint for v in told] == ["b"] and "3 are held, 2 is the limit" in told[0].message
    swapped = sl.simulate(
        Dispatch(free.platform(), [JOBS[0], job("b", 1, 30), job("h", 2, 10, "high")], [Queue("p", 60)]),
        dispatcher="easy",
        site=free,
    )
    assert violations(swapped, limits_of=limits_of_site(site)) == []


def test_a_job_beyond_the_limit_of_its_account_runs_if_its_qos_has_one():
    site = site_with(Limits(grp_tres={"cpu": 2}), Limits(grp_tres={"cpu": 9}))
    assert replay([job("h", 0, 10, "high", 4), job("a", 1, 5)], site, "easy") == {"h": 0, "a": 10}
    made = on_site(
        Workload.of(Dispatch(site.platform(), [job("a", 0, 5), job("h", 0, 5, "high", 4)], [Queue("p", 60)])), site
    )
    (limit,) = (x for x in limits_of_site(site)(*made) if "chem" in x.name)
    assert limit.checks.tolist() == [True, False] and limit.never().size == 0


@pytest.mark.parametrize("dispatcher", ["fcfs", "easy", "conservative", "plan@lns", "dardis:balance", "slurm"])
def test_starts_are_those_of_a_queue_by_hand(dispatcher):
    """40 random logs with room for all: each job starts as soon as its own limit leaves room, in order of arrival."""
    rng = random.Random(3)
    for _ in range(40):
        chem, high = rng.choice((1, 2, 3)), rng.choice((None, 1, 2))
        jobs = [job(f"j{k}", rng.randint(0, 20), rng.randint(1, 15), rng.choice(("normal", "high"))) for k in range(8)]
        site = site_with(Limits(grp_jobs=chem), Limits(grp_jobs=high) if high else Limits())
        if dispatcher in ("fcfs", "easy", "conservative"):
            assert replay(jobs, site, dispatcher) == by_hand(jobs, chem, high)
            continue
        found = replay(jobs, site, dispatcher)
        for each in jobs:
            assert found[each.id] >= each.submit
        running = by_hand_faults(jobs, found, chem, high)
        assert running == []


def by_hand(jobs, chem, high):
    """The starts, second by second: no job is delayed by anything but limits."""
    found, order = {}, sorted(jobs, key=lambda j: j.submit)
    for second in range(1000):
        for each in order:
            if each.id not in found and each.submit <= second and _free(each, jobs, found, second, chem, high):
                found[each.id] = second
    return found


def _free(each, jobs, found, second, chem, high):
    runs = [j for j in jobs if j.id in found and found[j.id] <= second < found[j.id] + j.runtime]
    if each.asked.qos == "high" and high:
        return sum(j.asked.qos == "high" for j in runs) < high
    return len(runs) < chem


def by_hand_faults(jobs, found, chem, high):
    """The jobs that started although their own limit left no room, whatever started in the same second."""
    faults = []
    for each in jobs:
        before = {name: at for name, at in found.items() if at < found[each.id]}
        if not _free(each, jobs, before, found[each.id], chem, high):
            faults.append(each.id)
    return faults
