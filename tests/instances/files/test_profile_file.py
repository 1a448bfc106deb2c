"""Files of desired profiles: reading, writing, and faults with their lines."""

import pytest
from schedlab.instances import InstanceError, WorkloadError
from schedlab.instances.files.profile_file import read_profile, read_wishes, write_profile
from schedlab.models import NodeGroup, Platform
from schedlab.models.profiles import Wish, daily, power_cap, profile_of

MACHINE = Platform([NodeGroup("thin", 3, {"cores": 16}), NodeGroup("gpu", 2, {"cores": 8, "gpus": 2})])
DAY_NIGHT = """\
# Full at night, 60 % by day.
# period_s = 86400
time_s,resource,share
0,cores,1
28800,cores,0.6
72000,cores,1
"""


def test_a_periodic_file_is_read(tmp_path):
    (tmp_path / "p.csv").write_text(DAY_NIGHT)
    profile = read_profile(tmp_path / "p.csv", MACHINE)
    assert [profile.amount("thin", "cores", h * 3600) for h in (0, 8, 20, 24 + 8)] == [16.0, 9.6, 16.0, 9.6]


@pytest.mark.parametrize(
    "profile",
    [
        daily(MACHINE, {"08:00": 0.5, "20:00": 1.0}),
        power_cap(MACHINE, 12_345.5),
        profile_of(MACHINE, [Wish(-5, "cores", 0.5), Wish(7, "power", amount=9), Wish(8, "gpus", amount=1)], end=20),
        profile_of(MACHINE, [Wish(3, "cores", 1 / 3, nodes="gpu")]),
    ],
)
def test_what_is_written_is_read_again(tmp_path, profile):
    write_profile(profile, tmp_path / "p.csv", ["a comment"])
    again = read_profile(tmp_path / "p.csv", MACHINE)
    assert (again.period, again.end, again.wished) == (profile.period, profile.end, profile.wished)
    for resource in ("cores", "gpus", "power"):
        for found, expected in zip(
            again.totals(resource, -100, 100_000), profile.totals(resource, -100, 100_000), strict=True
        ):
            assert found.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        (
            "time_s,resource,share\n0,cores,-1\n",
            ["line 2, share: expected a share of the capacity, 0 to 1, found -1.0"],
        ),
        ("time_s,resource,share\n0,cores,x\n", ["line 2, share"]),
        ("time_s,resource,share\n0.5,cores,1\n", ["line 2, time_s: expected whole seconds, found 0.5"]),
        ("time_s,resource,share\n,cores,1\n", ["line 2, time_s: expected whole seconds, found nothing"]),
        ("time_s,resource,share\n0,,1\n", ["line 2, resource: expected the name of a resource"]),
        ("time_s,resource,share\n0,tapes,1\n", ["line 2, resource: expected one of cores, gpus, power, found 'tapes'"]),
        (
            "time_s,resource,share,nodes\n0,cores,1,thin\n0,cores,1,fat\n1,cores,2,\n",
            ["line 3, nodes: expected a group (thin, gpu) or *, found 'fat'", "line 4, share"],
        ),
        ("time_s,resource,share\n0,cores,1\n0,cores,1\n", ["line 3, row: expected one wish", "line 2 has it too"]),
        ("time_s,resource,shares\n0,cores,1\n", ["share: expected a column share or amount", "shares: expected only"]),
        ("resource,share\ncores,1\n", ["time_s: expected a column of this name"]),
        ("", ["time_s: expected a column of this name"]),
        ("time_s,resource,share\n", ["rows: expected at least one wish"]),
        ("# period_s = a day\ntime_s,resource,share\n0,cores,1\n", ["line 1, period_s: expected whole seconds"]),
        ("# period_s = 0\ntime_s,resource,share\n0,cores,1\n", ["period_s: expected whole seconds above 0"]),
        ("# period_s = 9\n# period_s = 9\ntime_s,resource,share\n0,cores,1\n", ["line 2, period_s: expected one line"]),
        ("# period_s = 9\n# end_s = 9\ntime_s,resource,share\n0,cores,1\n", ["end_s: expected no end"]),
        ("# end_s = 9\ntime_s,resource,share\n9,cores,1\n", ["end_s: expected whole seconds after the last time, 9"]),
        ("# period_s = 60\ntime_s,resource,share\n60,cores,1\n", ["line 3, time_s: expected a time of the period"]),
        ("time_s,resource,share\n0,cores\n", ["line 2, row: expected 3 fields"]),
        ("time_s,resource,amount\n0,power,1e400\n", ["line 2, amount"]),
    ],
)
def test_faults_name_file_line_and_field(tmp_path, text, faults):
    (tmp_path / "p.csv").write_text(text)
    with pytest.raises(InstanceError) as error:
        read_profile(tmp_path / "p.csv", MACHINE)
    for fault in faults:
        assert any(part in str(error.value) for part in fault.split("|")), str(error.value)
    assert "p.csv" in str(error.value)


def test_times_can_begin_at_the_first_midnight_of_a_log(tmp_path):
    (tmp_path / "p.csv").write_text("# origin_s = 30076\n" + DAY_NIGHT)
    profile = read_profile(tmp_path / "p.csv", MACHINE)
    clock = [30076 + h * 3600 for h in (-1, 0, 7, 8, 19, 20, 24, 32)]
    assert [profile.amount("thin", "cores", t) for t in clock] == [16.0, 16.0, 16.0, 9.6, 9.6, 16.0, 16.0, 9.6]
    write_profile(read_wishes(tmp_path / "p.csv"), tmp_path / "q.csv")
    assert read_wishes(tmp_path / "q.csv") == read_wishes(tmp_path / "p.csv")
    late = profile_of(MACHINE, [Wish(0, "cores", 0.5)], end=10, origin=100)
    assert [late.amount("gpu", "cores", t) for t in (99, 100, 109, 110)] == [8, 4, 4, 8]


def test_without_a_platform_the_names_are_not_checked(tmp_path):
    (tmp_path / "p.csv").write_text("time_s,resource,amount\n0,tapes,99\n")
    assert read_wishes(tmp_path / "p.csv").wishes == (Wish(0, "tapes", amount=99.0),)


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(WorkloadError, match=r"none\.csv"):
        read_profile(tmp_path / "none.csv", MACHINE)
