"""Numbers that are too large for CP-SAT as the model has no horizon: the message says what to declare."""

import schedlab as sl


def test_a_model_without_a_horizon_is_told_to_declare_one():
    m = sl.Model("free")
    several = [m.interval(f"a{k}", size=(1, 10**18)) for k in range(40)]
    m.add(sl.no_overlap(several))
    m.minimize(sl.max([a.end for a in several]))
    r = sl.solve(m, backend="cpsat", time_limit=60, threads=1)
    assert r.status in ("error", "unavailable") and "declare a horizon, as in Model('free', horizon=" in r.message
    assert "'a0', 'a1', 'a2' and 37 more no start window" in r.message


def test_a_model_with_windows_is_not():
    m = sl.Model("bound")
    several = [m.interval(f"a{k}", size=(1, 10**18), start=(0, 10**18)) for k in range(40)]
    m.minimize(sl.max([a.end for a in several]) * 10**6)
    r = sl.solve(m, backend="cpsat", time_limit=60, threads=1)
    assert r.status in ("error", "unavailable") and "horizon" not in r.message
