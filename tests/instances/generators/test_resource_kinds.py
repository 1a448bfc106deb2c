"""Generated days with one to six kinds of resources, and with scaled numbers of units."""

from dataclasses import replace

import pytest
from schedlab import WrongValue
from schedlab.instances import generators, load, write
from schedlab.models.dispatch import impossible

generate = generators["eurora"]
KINDS = ("cores", "memory", "gpus", "mics", "scratch", "licence")


@pytest.mark.parametrize("nodes", [4, 65])
def test_each_further_kind_is_on_half_of_the_nodes_and_asked_by_thirty_percent_of_the_jobs(nodes: int) -> None:
    day = generate(100, 7, nodes=nodes, kinds=6)
    assert day.platform.resources == KINDS
    for r, kind in enumerate(KINDS[1:], 1):
        assert sum(vector[r] > 0 for vector in day.platform.capacity.values()) == (nodes + 1) // 2
        assert sum(j.request[kind] > 0 for j in day.jobs) == 30
    assert min(vector[0] for vector in day.platform.capacity.values()) == 16
    assert any(min(vector) > 0 for vector in day.platform.capacity.values()), "a node has all kinds"
    assert not impossible(day.platform, day.jobs)


@pytest.mark.parametrize("kinds", [1, 2, 3, 5])
def test_days_with_fewer_kinds_have_the_same_jobs_except_for_their_requests(kinds: int) -> None:
    most, fewer = generate(100, 7, nodes=4, kinds=6), generate(100, 7, nodes=4, kinds=kinds)
    assert fewer.platform.resources == KINDS[:kinds]
    for a, b in zip(most.jobs, fewer.jobs, strict=True):
        assert b == replace(a, request={kind: a.request[kind] for kind in KINDS[:kinds]})


def test_the_factor_scales_units_and_keeps_walltimes(tmp_path) -> None:  # type: ignore[no-untyped-def]
    plain, double, half = (generate(200, 3, units_factor=f) for f in (1.0, 2.0, 0.5))
    assert plain.jobs == generate(200, 3).jobs
    for a, b, c in zip(plain.jobs, double.jobs, half.jobs, strict=True):
        assert (a.walltime, a.runtime, a.request) == (b.walltime, b.runtime, b.request)
        assert a.units <= b.units and c.units <= a.units and c.units >= 1
    small = [(a, b, c) for a, b, c in zip(plain.jobs, double.jobs, half.jobs, strict=True) if 2 * a.units <= 12]
    assert small and all((b.units, c.units) == (2 * a.units, (a.units + 1) // 2) for a, b, c in small)
    assert not impossible(double.platform, double.jobs)
    write(double, tmp_path)
    assert load(tmp_path).generator["units_factor"] == 2.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kinds": 0}, "kinds is 0; expected 1 to 6"),
        ({"kinds": 7}, "kinds is 7; expected 1 to 6"),
        ({"units_factor": 0.0}, "units_factor is 0; expected a number above 0"),
        ({"units_factor": float("nan")}, "units_factor is nan; expected a number above 0"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(WrongValue, match=message):
        generate(10, 1, **options)
