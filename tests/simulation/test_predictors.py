"""Predictors: each rule, comparison with a plain scan of the history, and data that a predictor must not use."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schedlab.backends import UnknownName
from schedlab.instances import Workload, WorkloadError
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue
from schedlab.simulation import predictor_of
from schedlab.simulation.predictors import PREDICTORS, Accuracy, DataDriven, accuracy, expected_as_recorded, prefix

PLATFORM = Platform([NodeGroup("n", 64, {"cores": 16, "gpus": 2})])
QUEUES = [Queue("debug", 3600), Queue("long", 7200)]


def job(k, user="ann", name="run1", queue="debug", walltime=1000, units=1, cores=4, gpus=0, runtime=100):
    request = {"cores": cores, "gpus": gpus}
    return Job(f"j{k}", k, walltime, units, request, queue, runtime=runtime, user=user, name=name)


def workload(*jobs):
    return Workload.of(Dispatch(PLATFORM, jobs, QUEUES, "waiting"))


def table(*profiles):
    """Return a workload with one row per profile; a profile has the fields that differ from the defaults of ``job``."""
    return workload(*(job(k, **profile) for k, profile in enumerate(profiles)))


def begun(work, name="data-driven"):
    p = predictor_of(name)
    p.begin(work)
    return p


def test_the_clairvoyant_knows_that_jobs_are_killed_at_their_walltime():
    work = table({"walltime": 50, "runtime": 200}, {"walltime": 90, "runtime": 80}, {"walltime": 90, "runtime": 0})
    assert predictor_of("real").begin(work).tolist() == [200, 80, 1]
    real = predictor_of("real", kill_at_walltime=True)
    assert real.begin(work).tolist() == [50, 80, 1]
    assert [real.predict(k) for k in range(3)] == [50, 80, 1]


@pytest.mark.parametrize("name", ["walltime", "data-driven", "last-two"])
def test_to_the_other_predictors_a_kill_makes_no_difference(name):
    work = table({"walltime": 50, "runtime": 200}, {"walltime": 90, "runtime": 80})
    expected = []
    for kill in (False, True):
        p = predictor_of(name, kill_at_walltime=kill)
        p.begin(work)
        p.learn(1, 80)
        expected.append([p.predict(0), p.predict(1)])
    assert expected[0] == expected[1]


def test_the_prefix_is_the_name_without_its_trailing_digits():
    assert [prefix(n) for n in ("run12", "run", "r2d2", "a1b", "2024", "")] == ["run", "run", "r2d", "a1b", "2024", ""]


def test_rules_are_tried_in_their_order():
    """Each ended job is found by a looser rule than the next one; the tightest rule that finds a job wins."""
    wanted = {}
    work = table(
        wanted,
        {"name": "run7", "queue": "long", "runtime": 60},  # rule 6: prefix alone
        {"name": "run1", "queue": "long", "runtime": 50},  # rule 5: name
        {"name": "run7", "units": 8, "runtime": 40},  # rule 4: prefix, queue and walltime
        {"name": "run1", "units": 8, "runtime": 30},  # rule 3: name, queue and walltime
        {"name": "run7", "runtime": 20},  # rule 2: prefix, all the rest equal
        {"name": "run1", "runtime": 10},  # rule 1: all equal
    )
    p = begun(work)
    found = [(p.rule(0), p.predict(0))]
    for k in range(1, 7):
        p.learn(k, int(work.runtime[k]))
        found.append((p.rule(0), p.predict(0)))
    assert found == [(0, 1000), (6, 60), (5, 50), (4, 40), (3, 30), (2, 20), (1, 10)]


def test_a_tight_rule_keeps_its_job_when_looser_ones_end_later():
    work = table({}, {"runtime": 10}, {"name": "run7", "runtime": 20}, {"queue": "long", "runtime": 50})
    p = begun(work)
    for k in (1, 2, 3):
        p.learn(k, int(work.runtime[k]))
    assert p.predict(0) == 10


@pytest.mark.parametrize("differs", [{"queue": "long"}, {"walltime": 900}, {"name": "other"}])
def test_a_job_that_differs_in_more_than_its_requests_is_not_of_rules_1_to_4(differs):
    work = table({}, {**differs, "runtime": 70})
    p = begun(work)
    p.learn(1, 70)
    assert p.rule(0) == (0 if "name" in differs else 5)


def test_the_latest_of_equal_jobs_counts_by_the_order_of_their_ends():
    p = begun(table({}, {"runtime": 10}, {"runtime": 20}))
    p.learn(2, 20)
    p.learn(1, 10)
    assert p.predict(0) == 10


def test_the_most_similar_requests_come_before_the_latest():
    work = table({"units": 4}, {"units": 6, "runtime": 60}, {"units": 32, "runtime": 320})
    p = begun(work)
    p.learn(1, 60)
    p.learn(2, 320)
    assert (p.rule(0), p.predict(0)) == (3, 60)


def test_requests_equally_far_apart_are_decided_by_the_latest():
    """The distance of 2 and 4 is that of 4 and 8."""
    work = table({"units": 4}, {"units": 2, "runtime": 20}, {"units": 8, "runtime": 80})
    for order in ((1, 2), (2, 1)):
        p = begun(work)
        for k in order:
            p.learn(k, int(work.runtime[k]))
        assert p.predict(0) == int(work.runtime[order[1]])


def test_similarity_weighs_units_and_amounts_per_unit_alike():
    """Half the units and twice the cores have distance log(4), three times the units log(3)."""
    work = table({"units": 4, "cores": 4}, {"units": 2, "cores": 8, "runtime": 11}, {"units": 12, "runtime": 22})
    p = begun(work)
    p.learn(2, 22)
    p.learn(1, 11)
    assert p.predict(0) == 22


def test_an_amount_of_none_counts_as_half_of_the_least():
    """The smallest GPU request is 1, so 0 counts as 0.5: 0 to 1 is log(2), 0 to 2 is log(4); 6 to 2 units is log(3)."""
    work = table(
        {"units": 2}, {"units": 2, "gpus": 1, "runtime": 1}, {"units": 6, "runtime": 2}, {"units": 2, "gpus": 2}
    )
    p = begun(work)
    p.learn(3, 3)
    p.learn(2, 2)
    assert p.predict(0) == 2
    p.learn(1, 1)
    p.learn(2, 2)
    assert p.predict(0) == 1


def test_users_learn_nothing_from_one_another():
    work = table({}, {"user": "bob", "runtime": 10})
    p = begun(work)
    assert p.learn(1, 10) == (int(work.user[1]),)
    assert p.predict(0) == 1000


@pytest.mark.parametrize("name", ["data-driven", "last-two"])
def test_expectations_are_capped_by_the_walltime_and_at_least_a_second(name):
    work = table({"walltime": 50}, {"runtime": 80}, {"runtime": 0})
    p = begun(work, name)
    p.learn(1, 80)
    assert p.predict(0) == 50
    p.learn(2, 0)
    p.learn(2, 0)
    assert p.predict(1) == 1


def test_last_two_is_the_mean_of_the_last_two_of_the_user():
    work = table({}, {"runtime": 100}, {"name": "x", "runtime": 201}, {"runtime": 50}, {"user": "bob", "runtime": 7})
    p = begun(work, "last-two")
    seen = [p.predict(0)]
    for k in (1, 2, 4, 3):
        p.learn(k, int(work.runtime[k]))
        seen.append(p.predict(0))
    assert seen == [1000, 100, 151, 151, 126]  # rounded up: (100 + 201) / 2, (201 + 50) / 2


def test_walltime_and_real_never_change():
    work = table({"walltime": 50, "runtime": 80}, {"walltime": 60, "runtime": 0})
    for name, expected in (("walltime", [50, 60]), ("real", [80, 1])):
        p = predictor_of(name)
        assert p.begin(work).tolist() == expected == [p.predict(0), p.predict(1)]
        assert p.learn(0, 5) == ()
        assert p.predict(0) == expected[0]


@pytest.mark.parametrize("name", list(PREDICTORS))
def test_a_second_replay_begins_with_nothing_learnt(name):
    work = table({}, {"runtime": 10})
    p = begun(work, name)
    before = p.predict(0)
    p.learn(1, 10)
    p.begin(work)
    assert (p.name, p.predict(0)) == (name, before)


def test_what_a_trace_lacks_is_said():
    nameless = begun(table({"user": "", "name": ""}, {"user": "", "name": ""}))
    assert "no users" in nameless.notes[0] and "no program names" in nameless.notes[1]
    nameless.learn(1, 30)
    assert nameless.rule(0) == 1
    partly = begun(table({}, {"name": ""}, {"user": ""}))
    assert partly.notes[0].startswith("1 job has no user") and partly.notes[1].startswith("1 job has no program")
    assert begun(table({}, {})).notes == ()
    assert begun(table({"user": ""}), "last-two").notes == nameless.notes[:1]


def test_an_unknown_predictor_names_the_near_ones():
    with pytest.raises(UnknownName, match=r"no predictor 'last_two'; did you mean last-two"):
        predictor_of("last_two")


# -- against a plain scan, on random histories ---------------------------------------------------------------------------

profiles = st.fixed_dictionaries(
    {
        "user": st.sampled_from(["ann", "bob"]),
        "name": st.sampled_from(["run1", "run2", "sim", "7", ""]),
        "queue": st.sampled_from(["debug", "long"]),
        "walltime": st.sampled_from([60, 600]),
        "units": st.sampled_from([1, 2, 4, 8]),
        "cores": st.sampled_from([1, 4, 16]),
        "gpus": st.sampled_from([0, 1, 2]),
        "runtime": st.integers(0, 900),
    }
)


@st.composite
def histories(draw):
    """Draw a workload, and the order in which some of its jobs end."""
    work = table(*draw(st.lists(profiles, min_size=1, max_size=14)))
    order = draw(st.permutations(range(len(work))))
    return work, order[: draw(st.integers(0, len(work)))]


def scan(work, ended, row):
    """Return the prediction from a scan of all ended jobs, rule after rule."""
    me = work.job(row)
    least = {r: min([a[r] for a in work.requests if a[r] > 0], default=2) for r in work.resources}
    past = [(when, work.job(k)) for when, k in enumerate(ended) if work.job(k).user == me.user]

    def distance(j):
        amounts = [(j.units, me.units)]
        amounts += [(j.request[r] or least[r] / 2, me.request[r] or least[r] / 2) for r in work.resources]
        return round(sum(abs(math.log(a / b)) for a, b in amounts), 6)

    for same_requests, same_rest in ((True, True), (False, True), (False, False)):
        for alike in (lambda n: n, prefix):
            found = [
                (-distance(j) if same_rest else 0, when, j.runtime)
                for when, j in past
                if alike(j.name) == alike(me.name)
                and (not same_rest or (j.queue, j.walltime) == (me.queue, me.walltime))
                and (not same_requests or (j.units, j.request) == (me.units, me.request))
            ]
            if found:
                return min(me.walltime, max(1, max(found)[2]))
    return me.walltime


@settings(max_examples=50, deadline=None)
@given(histories())
def test_data_driven_agrees_with_a_scan_of_the_history(history):
    work, order = history
    p = begun(work)
    for n, k in enumerate(order):
        # predict before and after, so that values kept from earlier calls are tested, too
        assert [p.predict(j) for j in range(len(work))] == [scan(work, order[:n], j) for j in range(len(work))]
        p.learn(k, int(work.runtime[k]))
    assert [p.predict(j) for j in range(len(work))] == [scan(work, order, j) for j in range(len(work))]


@settings(max_examples=25, deadline=None)
@given(histories(), st.sampled_from(["data-driven", "last-two", "walltime"]))
def test_nobody_but_the_clairvoyant_knows_a_runtime_before_the_job_has_ended(history, name):
    work, ended = history
    secret = np.where(np.isin(np.arange(len(work)), ended), work.runtime, work.runtime + 12345)
    seen = []
    for known in (work, replace(work, runtime=secret)):
        p = begun(known, name)
        for k in ended:
            p.learn(k, int(known.runtime[k]))
        seen.append([p.predict(j) for j in range(len(work))])
    assert seen[0] == seen[1]
    assert all(1 <= d <= w for d, w in zip(seen[0], work.walltime.tolist(), strict=True))


@settings(max_examples=25, deadline=None)
@given(histories(), st.sampled_from(["data-driven", "last-two"]))
def test_only_the_named_users_are_expected_anew(history, name):
    work, order = history
    p = begun(work, name)
    before = [p.predict(j) for j in range(len(work))]
    for k in order:
        users = p.learn(k, int(work.runtime[k]))
        after = [p.predict(j) for j in range(len(work))]
        assert {int(work.user[j]) for j in range(len(work)) if before[j] != after[j]} <= set(users)
        before = after


# -- accuracy ------------------------------------------------------------------------------------------------------------


def test_accuracy_by_hand():
    a = accuracy(np.array([10, 20, 40, 100, 8]), np.array([10, 25, 30, 20, 16]))
    assert a.mae == (0 + 5 + 10 + 80 + 8) / 5
    assert (a.exact, a.under, a.over) == (0.2, 0.4, 0.4)
    assert a.within_quarter == 0.6  # 1, 1.25 and 0.75; not 0.2 and 2
    assert [a.ratio_p25, a.ratio_p50, a.ratio_p75] == [0.75, 1.0, 1.25]
    assert a.ratio_p5 == pytest.approx(0.2 + 0.2 * 0.55)


def test_accuracy_of_jobs_without_a_duration_and_of_none():
    assert accuracy(np.array([1]), np.array([0])).exact == 1.0
    assert accuracy(np.zeros(0, np.int64), np.zeros(0, np.int64)) == Accuracy()
    assert set(Accuracy().as_dict().values()) == {None}


def test_accuracy_refuses_what_cannot_be_compared():
    with pytest.raises(ValueError, match="job 1 is 0 s"):
        accuracy(np.array([5, 0]), np.array([5, 5]))
    with pytest.raises(ValueError, match="2 expected durations for 1"):
        accuracy(np.array([5, 5]), np.array([5]))


def test_predictions_as_the_real_machine_would_have_had_them():
    """The second job starts before the first has ended, the third exactly when it ends."""
    work = replace(table({}, {}, {}), recorded_start=np.array([0, 99, 100]))
    assert expected_as_recorded(work, DataDriven()).tolist() == [1000, 1000, 100]
    assert expected_as_recorded(work, predictor_of("real")).tolist() == [100, 100, 100]


def test_predictions_need_the_recorded_starts():
    work = replace(table({}, {}), recorded_start=np.array([0, -1]))
    with pytest.raises(WorkloadError, match="when job 'j1' started"):
        expected_as_recorded(work, DataDriven())
