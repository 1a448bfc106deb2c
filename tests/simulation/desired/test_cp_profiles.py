"""CP dispatchers that follow a desired profile: for whole runs (hard), or at a cost (soft)."""

import pytest
import schedlab as sl
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue
from schedlab.models.profiles import Wish, daily, flat, profile_of
from schedlab.simulation import CPDispatcher, CPModel, is_dispatcher, parse_dispatcher

HOUR = 3600
ONE = Platform([NodeGroup("n", 1, {"cores": 16})])
NIGHT = daily(ONE, {"08:00": 0.5, "20:00": 1.0})


def _jobs(*rows):
    """Return a problem with jobs (submit hour, hours, cores), whose walltimes are their runtimes."""
    jobs = [
        Job(f"j{k}", int(h * HOUR), int(d * HOUR), 1, {"cores": c}, "q", runtime=int(d * HOUR))
        for k, (h, d, c) in enumerate(rows)
    ]
    return Dispatch(ONE, jobs, [Queue("q", HOUR)])


def _dispatcher(name, **options):
    made = {"deterministic": 0.05, **options}
    if name == "cpmodel":
        return CPModel(profile=True, backend="cpsat", **made)
    return CPDispatcher(name[:3], int(name[3]), profile=True, **made)


def _starts(problem, dispatcher, profile=NIGHT):
    run = sl.simulate(problem, dispatcher=dispatcher, desired=profile, kill_at_walltime=True)
    assert run.violations == []
    return (run.start / HOUR).tolist(), run.metrics.desired["over"]["cores"]


@pytest.mark.parametrize("name", ["hcp3", "pcp3", "cpmodel"])
def test_a_hard_profile_holds_for_whole_runs(name):
    """EASY starts 12 cores at 7:00 for three hours; a whole run within the profile waits for 20:00."""
    problem = _jobs((7, 3, 12), (7, 1, 4), (9, 2, 6))
    assert sl.simulate(problem, dispatcher="easy-profile", desired=NIGHT).metrics.desired["over"]["cores"] > 0
    starts, over = _starts(problem, _dispatcher(name))
    assert starts == [20, 7, 9] and over == 0


def test_a_job_that_fits_at_no_time_keeps_to_the_profile_at_its_start():
    """13 hours of 12 cores: it starts in the night, at once, and runs into the day."""
    starts, over = _starts(_jobs((8, 1, 8), (9, 13, 12)), _dispatcher("hcp3"))
    assert starts == [8, 20] and over == pytest.approx(1 * 4)
    starts, over = _starts(
        _jobs(
            (22, 13, 12),
        ),
        _dispatcher("pcp3"),
    )
    assert starts == [22] and over == pytest.approx(3 * 4)


@pytest.mark.parametrize("name", ["hcp3", "cpmodel"])
def test_a_soft_profile_weighs_waits_against_use_above_it(name):
    """A job of 12 cores at 17:00, three hours: 12 core-hours above the profile, or a wait of three hours."""
    problem = _jobs((17, 3, 12))
    cheap, dear = (_dispatcher(name, over_cost=cost, deterministic=8.0) for cost in (0.01, 10.0))
    assert _starts(problem, cheap) == ([17.0], pytest.approx(12.0))
    assert _starts(problem, dear) == ([20.0], 0.0)


def test_with_the_profile_at_capacity_the_starts_are_those_without_one():
    problem = _jobs((0, 3, 12), (0, 1, 9), (1, 2, 6), (1, 5, 16), (2, 1, 3))
    plain = sl.simulate(problem, dispatcher=CPDispatcher("hcp", 3, deterministic=0.05)).start.tolist()
    full = flat(ONE, 1.0)
    for options in ({}, {"over_cost": 5.0}):
        starts, over = _starts(problem, _dispatcher("hcp3", **options), full)
        assert [int(s * HOUR) for s in starts] == plain and over == 0


def test_a_profile_without_period_ends():
    """Full from 3:00 on: the job of 12 cores waits for it."""
    profile = profile_of(ONE, [Wish(0, "cores", 0.5)], end=3 * HOUR)
    assert _starts(_jobs((1, 1, 12), (1, 1, 8), (5, 1, 16)), _dispatcher("hcp3"), profile) == ([3.0, 1.0, 5.0], 0.0)


def test_names():
    hard, soft = parse_dispatcher("hcp3-profile-d@highs"), parse_dispatcher("pcp3-profile:0.5@cpsat:waiting")
    assert (hard.dispatcher, hard.predictor, hard.backend, hard.within_profile) == (
        "hcp3-profile", "data-driven", "highs", True,
    )  # fmt: skip
    assert (soft.over_cost, soft.objective, soft.within_profile, soft.needs_profile) == (0.5, "waiting", False, True)
    assert soft.make().name == "pcp3-profile:0.5@cpsat:waiting"
    assert soft.make().m == soft.make(adaptive=True, m=30).m == 30 and soft.make(m=7).m == 7
    assert soft.make().control.parameters["cp_model_presolve"] is False
    assert parse_dispatcher("cpmodel-profile").make().name == "cpmodel-profile@cpsat"
    assert is_dispatcher("hcp3-profile:2-d") and not is_dispatcher("cpsat:counts")
    for wrong in ("hcp3-profile:x@cpsat", "hcp3-profile:-1@cpsat", "hcp1-profile@cpsat", "hcp3-profil@cpsat"):
        with pytest.raises(sl.UnknownName, match=r"did you mean|known"):
            parse_dispatcher(wrong)


@pytest.mark.parametrize(
    ("options", "desired", "words"),
    [
        ({"profile": True}, None, "give one"),
        ({"over_cost": 1.0}, NIGHT, "follows no profile"),
        ({"profile": True, "over_cost": -1.0}, NIGHT, "at least 0"),
        ({"profile": True, "version": 1}, NIGHT, "versions 2 and 3 do"),
        ({"profile": True}, profile_of(ONE, [Wish(0, "cores", 0.5)], end=HOUR), "covers nothing"),
    ],
)
def test_what_cannot_be_followed_is_refused(options, desired, words):
    with pytest.raises(sl.SchedlabError, match=words):
        sl.simulate(_jobs((7, 3, 12)), dispatcher=CPDispatcher("hcp", **options), desired=desired)
