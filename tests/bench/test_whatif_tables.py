"""Tables of what-if questions: differences of the same jobs, their groups and intervals."""

import numpy as np
import pytest
from schedlab.bench.tables.whatif import Answer, Comparison, changes_grid, effects, groups_grid

DAY = 86_400
SUBMIT = np.arange(0, 56 * DAY, 6 * 3600)
IDS = [f"j{k}" for k in range(SUBMIT.size)]
GROUPS = {"partition": {job: "debug" if k % 4 == 0 else "batch" for k, job in enumerate(IDS)}}


def answer(change, wait, dispatcher="slurm", ids=IDS):
    wait = np.asarray(wait)
    submit = SUBMIT[: len(ids)]
    start = np.where(wait < 0, -1, submit + wait)
    return Answer(change, dispatcher, ids, submit, start, start + 600)


def test_differences_are_those_of_the_same_jobs_by_group():
    draw = np.random.default_rng(1)
    before = draw.integers(0, 20_000, SUBMIT.size)
    debug = np.arange(SUBMIT.size) % 4 == 0
    after = np.where(debug, before // 2, before)
    comparison = Comparison([answer("", before), answer("more", after)], GROUPS)
    by = {e.group: e for e in effects(comparison, comparison.answers[1], "partition")}
    assert by["batch"].difference == 0 and by["batch"].verdict == "equal"
    assert by["debug"].difference == pytest.approx((after - before)[debug].mean() / 3600)
    assert by["debug"].low <= by["debug"].difference <= by["debug"].high < 0 and by["debug"].verdict == "shorter"
    assert list(by) == ["batch", "debug"] and by["debug"].jobs == debug.sum()
    table = groups_grid(comparison, comparison.answers[1], "partition")
    assert [row[0] for row in table.rows] == ["batch", "debug"]


def test_noise_of_weeks_leaves_a_difference_open():
    week = SUBMIT // (7 * DAY)
    shift = 3000 * np.array([1, 1, -1, 1, -1, -1, 1, -1])[week]
    before = 10_000 + 0 * SUBMIT
    [effect] = effects(c := Comparison([answer("", before), answer("x", before + shift)], {}), c.answers[1])
    assert effect.verdict == "open" and effect.low < 0 < effect.high


def test_jobs_that_did_not_start_in_all_replays_are_left_out_and_counted():
    wait = 100 + 0 * SUBMIT
    less = wait.copy()
    less[:5] = -1
    comparison = Comparison([answer("", wait), answer("fewer nodes", less)], {})
    assert len(comparison.ids) == SUBMIT.size - 5 and comparison.left_out == {"as it is": 5}
    assert effects(comparison, comparison.answers[1])[0].jobs == SUBMIT.size - 5


def test_the_table_has_a_row_per_replay_and_names_dispatchers_if_there_are_several():
    wait = 7200 + 0 * SUBMIT
    comparison = Comparison([answer("", wait), answer("", wait // 2, "easy"), answer("a", wait, "easy")], {})
    table = changes_grid(comparison)
    assert [row[0] for row in table.rows] == ["as it is, slurm", "as it is, easy", "a, easy"]
    assert [row[3] for row in table.rows] == [0, -1, 0]
    alone = changes_grid(Comparison([answer("", wait), answer("a", wait)], {}))
    assert [row[0] for row in alone.rows] == ["as it is", "a"]
