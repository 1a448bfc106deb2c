"""The garbage collector of Python while a large model is built, lowered and solved."""

import gc

import pytest
import schedlab as sl

LARGE = 12_000  # intervals


@pytest.fixture
def nothing_frozen():
    gc.unfreeze()  # what the suite froze after the collection of its tests
    yield
    gc.freeze()


def frozen_while_solved(intervals):
    model = sl.Model("intervals")
    tasks = [model.interval(f"task {i}", start=(0, i), size=1) for i in range(intervals)]
    model.minimize(tasks[0].end)
    seen = []
    result = sl.solve(model, backend="cpsat", threads=1, on_incumbent=lambda _: seen.append(gc.get_freeze_count()))
    assert (result.status, result.objective) == ("optimal", 1)
    return seen


def test_objects_of_a_large_model_are_not_examined_while_a_solver_runs(nothing_frozen):
    counts = frozen_while_solved(LARGE)
    assert counts and min(counts) > LARGE
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0


def test_small_models_leave_the_collector_alone(nothing_frozen):
    assert set(frozen_while_solved(2)) == {0}


def test_objects_that_a_program_has_frozen_stay_frozen(nothing_frozen):
    gc.freeze()
    most = gc.get_freeze_count()
    assert all(0 < count <= most for count in frozen_while_solved(LARGE))
    assert 0 < gc.get_freeze_count() <= most
