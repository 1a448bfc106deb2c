"""Cooling tables: interpolation, values outside of the table, wrong tables."""

import pytest
from schedlab.models import Cooling, ProblemError

TABLE = Cooling("plant", (0, 10, 30), (0, 100, 300), ((0, 10, 40), (10, 30, 80), (10, 50, 200)))


@pytest.mark.parametrize(
    ("watts", "celsius", "takes"),
    [
        (0, 0, 0), (100, 0, 10), (300, 30, 200),  # the cells
        (50, 0, 5), (200, 10, 55),  # between two powers
        (100, 5, 20), (300, 20, 140), (0, 15, 10),  # between two temperatures
        (200, 20, 90),  # between four cells
    ],
)  # fmt: skip
def test_cooling_power_is_linear_between_the_cells(watts: float, celsius: float, takes: float) -> None:
    assert TABLE.power(watts, celsius) == pytest.approx(takes)


def test_pue_follows_from_the_cooling_power() -> None:
    assert TABLE.pue(200, 10) == pytest.approx(1.275)
    assert TABLE.pue(0, 10) is None


def test_the_curve_of_a_temperature() -> None:
    assert TABLE.curve(10) == ((0, 10), (100, 30), (300, 80))
    assert TABLE.curve(20) == ((0, 10), (100, 40), (300, 140))
    assert TABLE.most == 300


def test_a_table_of_one_temperature() -> None:
    one = Cooling("one", (20,), (0, 100), ((0, 50),))
    assert one.power(50, 20) == 25
    with pytest.raises(ProblemError, match="known from 20 to 20 degrees; 21 is outside of it"):
        one.power(50, 21)


@pytest.mark.parametrize(
    ("watts", "celsius", "message"),
    [
        (301, 10, "known up to 300 W of IT power, not for 301 W"),
        (-1, 10, "not for -1 W"),
        (10, -0.1, "known from 0 to 30 degrees; -0.1 is outside of it"),
        (10, 30.5, "30.5 is outside of it"),
        (float("nan"), 10, "not for nan W"),
        (10, float("nan"), "nan is outside of it"),
    ],
)
def test_outside_of_the_table_nothing_is_known(watts: float, celsius: float, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        TABLE.power(watts, celsius)


def test_a_larger_machine_has_the_same_pue() -> None:
    double = TABLE.scaled(2)
    assert double.most == 600
    for watts in (50, 100, 220, 300):
        assert double.pue(2 * watts, 17) == pytest.approx(TABLE.pue(watts, 17))


@pytest.mark.parametrize("factor", [0, -1, float("inf"), float("nan")])
def test_a_machine_cannot_be_scaled_to_nothing(factor: float) -> None:
    with pytest.raises(ProblemError, match="a number above 0 is expected"):
        TABLE.scaled(factor)


@pytest.mark.parametrize(
    ("temperatures", "powers", "watts", "message"),
    [
        ((), (0, 1), (), "its temperatures are"),
        ((10, 10), (0, 1), ((0, 1), (0, 1)), "must increase, but 10 degrees follow 10 degrees"),
        ((10,), (0, 5, 5), ((0, 1, 2),), "must increase, but 5 W follow 5 W"),
        ((10,), (1, 5), ((0, 1),), "its IT powers are .* at least two are expected, the first one 0"),
        ((10,), (0,), ((0,),), "at least two are expected"),
        ((10,), (0, 5), ((0,),), "the table has gaps"),
        ((10, 20), (0, 5), ((0, 1),), "the table has gaps"),
        ((10,), (0, 5), ((0, -1),), "-1 W at 10 degrees and 5 W of IT power, which is a PUE below 1"),
        ((10,), (0, 5), ((0, float("nan")),), "nan W at 10 degrees"),
        ((float("nan"),), (0, 5), ((0, 1),), "numbers are expected"),
    ],
)
def test_what_is_no_table(
    temperatures: tuple[float, ...], powers: tuple[float, ...], watts: tuple[tuple[float, ...], ...], message: str
) -> None:
    with pytest.raises(ProblemError, match=message):
        Cooling("plant", temperatures, powers, watts)
