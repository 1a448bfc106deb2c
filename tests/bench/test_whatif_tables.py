"""Tables of what-if questions: differences of the same jobs, their groups and intervals."""

import numpy as np
import pytest
from schedlab.bench.cli.whatif import (
    VariantComparison,
    VariantReplay,
    changes_grid,
    effects,
    effects_grid,
    remarks,
    rounded_numbers,
    variants,
    without_effect,
)
from schedlab.models import QOS, Association, Limits, Partition, SchedulerSettings, Site, SiteNode

DAY = 86_400
SUBMIT = np.arange(0, 56 * DAY, 6 * 3600)
IDS = [f"j{k}" for k in range(SUBMIT.size)]
GROUPS = {"partition": {job: "debug" if k % 4 == 0 else "batch" for k, job in enumerate(IDS)}}


def answer(change, wait, dispatcher="slurm", ids=IDS):
    wait = np.atleast_2d(wait)
    submit = SUBMIT[: len(ids)]
    return VariantReplay(change, dispatcher, ids, submit, 600 + 0 * submit, np.maximum(wait, -1))


def test_differences_are_those_of_the_same_jobs_by_group():
    draw = np.random.default_rng(1)
    before = draw.integers(0, 20_000, SUBMIT.size)
    debug = np.arange(SUBMIT.size) % 4 == 0
    after = np.where(debug, before // 2, before)
    comparison = VariantComparison([answer("", before), answer("more", after)], GROUPS)
    by = {e.group: e for e in effects(comparison, comparison.answers[1], "partition")}
    assert by["batch"].difference == 0 and by["batch"].verdict == "equal"
    assert by["debug"].difference == pytest.approx((after - before)[debug].mean())
    assert by["debug"].low <= by["debug"].difference <= by["debug"].high < 0 and by["debug"].verdict == "shorter"
    assert list(by) == ["batch", "debug"] and by["debug"].jobs == debug.sum()
    table = effects_grid(comparison, comparison.answers[1], "partition")
    assert [row[0] for row in table.rows] == ["batch", "debug"]


def test_noise_of_weeks_leaves_a_difference_open():
    week = SUBMIT // (7 * DAY)
    shift = 3000 * np.array([1, 1, -1, 1, -1, -1, 1, -1])[week]
    before = 10_000 + 0 * SUBMIT
    [effect] = effects(c := VariantComparison([answer("", before), answer("x", before + shift)], {}), c.answers[1])
    assert effect.verdict == "open" and effect.low < 0 < effect.high


def test_jobs_that_did_not_start_in_all_replays_are_left_out_and_counted():
    wait = 100 + 0 * SUBMIT
    less = wait.copy()
    less[:5] = -1
    comparison = VariantComparison([answer("", wait), answer("fewer nodes", less)], {})
    assert len(comparison.ids) == SUBMIT.size - 5 and comparison.left_out == 5
    assert effects(comparison, comparison.answers[1])[0].jobs == SUBMIT.size - 5


def test_replays_that_differ_by_chance_alone_leave_a_difference_open():
    """Each replay is off by an amount of its own, as one decision moves all that follow."""
    draw = np.random.default_rng(4)
    offsets = draw.normal(0, 1000, (2, 8))
    offsets -= offsets.mean(axis=1, keepdims=True)
    waits = [10_000 + np.outer(each, np.ones(SUBMIT.size)).astype(int) for each in offsets]
    waits[1] = waits[1] + 200  # far less than replays differ from each other
    comparison = VariantComparison([answer("", waits[0]), answer("x", waits[1])], {})
    [effect] = effects(comparison, comparison.answers[1])
    assert effect.difference == pytest.approx(200, abs=2) and effect.verdict == "open"
    alone = VariantComparison([answer("", waits[0][:1]), answer("x", waits[0][:1] + 200)], {})
    assert effects(alone, alone.answers[1])[0].verdict == "longer"


def test_the_table_has_a_row_per_replay_and_names_dispatchers_if_there_are_several():
    wait = 7200 + 0 * SUBMIT
    comparison = VariantComparison([answer("", wait), answer("", wait // 2, "easy"), answer("a", wait, "easy")], {})
    table = changes_grid(comparison)
    assert [row[0] for row in table.rows] == ["as it is, easy", "a, easy"] and "as it is, slurm" in table.title
    assert [row[3] for row in table.rows] == [-3600, 0] and "difference, min" in table.heads
    alone = changes_grid(VariantComparison([answer("", wait), answer("a", wait)], {}))
    assert [row[0] for row in alone.rows] == ["a"]


def test_a_job_that_starts_in_no_replay_by_chance_is_not_said_to_be_lost():
    """Job j0 starts in each replay as it is and in none with the change, j1 in two of the four as it is, j2 in one of each."""
    before = np.full((4, SUBMIT.size), 100)
    after = before.copy()
    before[2:, 1] = -1
    before[1:, 2] = -1
    after[:, :2] = -1
    after[:3, 2] = -1
    comparison = VariantComparison([answer("", before), answer("less", after)], {})
    assert comparison.lost_starts(comparison.answers[1]) == {"j0": 4, "j1": 2}
    surely, perhaps, left_out = remarks(comparison, {})
    assert surely == "less: 1 job starts in none of its replays, but in all of those of the site as it is: j0"
    assert "in some of the 4 of the site as it is" in perhaps and perhaps.endswith("which may be chance: j1 (2)")
    assert left_out.startswith("3 jobs")


def test_a_job_that_does_not_start_in_the_only_replay_may_be_chance():
    before = np.full((1, SUBMIT.size), 100)
    after = before.copy()
    after[:, 0] = -1
    comparison = VariantComparison([answer("", before), answer("less", after)], {})
    said = remarks(comparison, {})[0]
    assert (
        said
        == "less: 1 job without a start in its one replay, with one in that of the site as it is, which may be chance: j0"
    )


@pytest.mark.parametrize(("value", "told"), [("0", True), ("20000", True), ("45", False), ("-1", False), ("30", False)])
def test_an_interval_of_backfilling_that_slurm_does_not_take_is_told(value, told):
    place = Site("s", scheduler=SchedulerSettings(bf_interval=60))
    change = f"scheduler.bf_interval = {value}"
    said = list(rounded_numbers(place, [change]))
    why = "Slurm takes its default of 30 s for what is not within 1 to 10,800 s; -1: no backfilling"
    assert said == ([f"{change}: {why}"] if told else [])


def test_each_column_has_a_name_of_its_own():
    wait = 7200 + 0 * SUBMIT
    comparison = VariantComparison([answer("", wait), answer("a", wait // 2)], GROUPS)
    for table in (changes_grid(comparison), effects_grid(comparison, comparison.answers[1], "partition")):
        assert "" not in table.heads and len(set(table.heads)) == len(table.heads)


MULTIFACTOR = {"priority_type": "multifactor", "weight_age": 100, "weight_qos": 10}


@pytest.mark.parametrize(
    ("settings", "change", "dispatchers", "said"),
    [
        (
            {"priority_type": "basic"},
            "scheduler.PriorityWeightAge = 7",
            "slurm",
            "PriorityType=priority/basic, which has no weights",
        ),
        (
            {"priority_type": "basic"},
            "qos.high.Priority = 7",
            "slurm",
            "PriorityType=priority/basic, which has no weights",
        ),
        ({"priority_type": "basic"}, "scheduler.bf_interval = 7", "slurm", ""),
        (MULTIFACTOR, "scheduler.PriorityWeightFairshare = 7", "slurm", ""),
        (MULTIFACTOR, "qos.high.Priority = 7", "slurm", ""),
        (MULTIFACTOR, "account.chem.Fairshare = 7", "slurm", "PriorityWeightFairshare of the site is 0"),
        (MULTIFACTOR, "partition.p.PriorityJobFactor = 7", "slurm", "PriorityWeightPartition of the site is 0"),
        ({"scheduler_type": "builtin"}, "scheduler.bf_interval = 7", "slurm", "SchedulerType=sched/builtin"),
        (MULTIFACTOR, "scheduler.bf_interval = 7", "slurm,easy", "without effect under easy, with an order of its own"),
        (
            MULTIFACTOR,
            "qos.high.Priority = 7",
            "slurm:bf_interval=9,easy",
            "without effect under easy, with an order of its own",
        ),
        (MULTIFACTOR, "scheduler.PriorityDecayHalfLife = 7", "easy", ""),
        (MULTIFACTOR, "account.chem.MaxJobs = 7", "easy", ""),
        (MULTIFACTOR, "nodes.p - 1", "easy", ""),
    ],
)
def test_changes_that_the_site_or_a_dispatcher_does_not_use_are_named(settings, change, dispatchers, said):
    site = Site(
        "s",
        [SiteNode("n1", 4), SiteNode("n2", 4)],
        [Partition("p", ("n1", "n2"))],
        associations=[Association("root"), Association("chem", parent="root", limits=Limits(max_jobs=2))],
        qos=[QOS("high", priority=3)],
        scheduler=SchedulerSettings(**settings),
    )
    notes = list(without_effect(site, variants(site, [change])[1:], dispatchers.split(",")))
    assert len(notes) == bool(said)
    assert all(note.startswith(f"{change}: without effect") and said in note for note in notes)
