"""Random models without a horizon: comparisons, lags, windows, steps of the capacity, deviations, functions of times."""

import random

import schedlab as sl

HUGE = 3_000


def random_model(seed, horizon=None):
    """Return a random model; the same one for the same seed, with the horizon that is given."""
    rng = random.Random(seed)
    m = sl.Model(f"open {seed}", horizon)
    jobs = []
    for k in range(rng.randint(2, 4)):
        size = rng.choice([0, 1, 2, 3, 4, (1, 3), (0, 2)])
        start = None if rng.random() < 0.8 else _windows(rng)
        jobs.append(m.interval(f"j{k}", size, start, optional=rng.random() < 0.2))
    x = m.integer("x", -3, 5)
    kinds = [_bound, _lag_as_comparison, _precedence, _no_overlap, _cumulative, _forbidden, _deviation, _function, _sum]
    for _ in range(rng.randint(1, 4)):
        m.add(rng.choice(kinds)(rng, m, jobs, x))
    aim = rng.choice([_makespan, _makespan, _weighted, _deviations, _deviations, _span, _flow, _looked_up, _distance])
    m.minimize(aim(rng, m, jobs, x))
    return m


def _windows(rng):
    lo = rng.randint(0, 6)
    return rng.choice([[(lo, lo + 3)], [(lo, lo), (lo + rng.randint(20, 90), lo + 100)], [(lo, lo + 60)]])


def _time(rng, v):
    return rng.choice([v.start, v.end])


def _two(rng, jobs):
    return rng.sample(jobs, 2)


def _bound(rng, m, jobs, x):
    at = _time(rng, rng.choice(jobs))
    late = rng.randint(5, 70)
    return rng.choice([at >= late, at >= late, at + x >= late, at <= late, 2 * at >= late, sl.holds(at >= late) >= 1])


def _lag_as_comparison(rng, m, jobs, x):
    a, b = _two(rng, jobs)
    lag = rng.randint(-20, 80)
    p, q = _time(rng, a), _time(rng, b)
    return rng.choice([p + lag <= q, p + lag + x <= q, p - q == lag, sl.max([p - q, q - p]) >= abs(lag)])


def _precedence(rng, m, jobs, x):
    kind = rng.choice([sl.end_before_start, sl.start_before_start, sl.end_before_end, sl.start_before_end])
    lag = rng.randint(-10, 60)
    return kind(*_two(rng, jobs), lag, at_most=rng.choice([None, lag + rng.randint(0, 30)]))


def _no_overlap(rng, m, jobs, x):
    times = [[rng.choice([0, 0, 30]) for _ in jobs] for _ in jobs]
    return sl.no_overlap(jobs, rng.choice([None, None, times]))


def _cumulative(rng, m, jobs, x):
    late = rng.randint(5, 60)
    steps = rng.choice([2, [(0, 0), (late, 2)], [(0, 2), (late, 0), (late + 30, 3)]])
    return sl.cumulative(jobs, [rng.randint(0, 2) for _ in jobs], steps)


def _forbidden(rng, m, jobs, x):
    lo = rng.randint(0, 5)
    return sl.forbid_extent(rng.choice(jobs), [(lo, lo + rng.randint(1, 70))])


def _deviation(rng, m, jobs, x):
    at, due = _time(rng, rng.choice(jobs)), rng.randint(0, 60)
    return sl.max([at - due, due - at]) <= rng.randint(0, 70)


def _function(rng, m, jobs, x):
    a, b = _two(rng, jobs)
    p, q = _time(rng, a), _time(rng, b)
    late = rng.randint(5, 60)
    return rng.choice(
        [
            sl.overlap(a, late, late + 10) >= 1,
            sl.max([p, q]) >= late,
            sl.min([p, q]) >= late,
            sl.implies(p >= late, q >= 2 * late),
            sl.holds(p - q >= late) + sl.holds(q - p >= late) >= 1,
            p >= sl.max([q, late]) + 7,
        ]
    )


def _sum(rng, m, jobs, x):
    a, b = _two(rng, jobs)
    late = rng.randint(5, 60)
    p, q = _time(rng, a), _time(rng, b)
    r = _time(rng, rng.choice(jobs))
    return rng.choice([p + q >= late, p >= 2 * q + late, p >= q + r - late, p + q <= r + late, 2 * p + 3 * q >= late])


def _makespan(rng, m, jobs, x):
    return sl.max([v.end for v in jobs]) - x


def _weighted(rng, m, jobs, x):
    return sl.sum([v.end for v in jobs], [rng.choice([1, 2, 0.5]) for _ in jobs]) - x


def _deviations(rng, m, jobs, x):
    return sl.sum([_away(v, rng.randint(0, 70)) for v in jobs]) - x


def _away(v, due):
    return sl.max([v.end - due, due - v.end])


def _span(rng, m, jobs, x):
    return sl.max([v.end for v in jobs]) - sl.min([v.start for v in jobs]) - x


def _flow(rng, m, jobs, x):
    return sl.sum([v.end - v.start for v in jobs]) + jobs[0].end - x


def _looked_up(rng, m, jobs, x):
    points = [(0, 50), (rng.randint(20, 60), 0), (90, 70)]
    costs = [rng.randint(0, 9) for _ in range(rng.randint(20, 90))]
    return rng.choice([sl.piecewise(jobs[0].start, points), sl.element(costs, jobs[0].start)]) + jobs[1].end


def _distance(rng, m, jobs, x):
    a, b = _two(rng, jobs)
    return sl.max([a.start - b.end - 30, b.end - a.start + 5]) + jobs[0].start


def differences(seed, backends):
    """Return the backends whose answer without a horizon differs from the one with a huge one, and those that ask for one."""
    m = random_model(seed)
    reference = sl.solve(random_model(seed, HUGE), backend="cpsat", threads=1)
    other, asking = [], []
    for name in backends:
        r = sl.solve(m, backend=name, threads=1)
        if r.status == "unavailable" and "horizon" in r.message:
            asking.append(name)
        elif (r.status, r.objective) != (reference.status, reference.objective):
            other.append((name, r.status, r.objective, reference.status, reference.objective))
    return other, asking
