"""Prices and carbon intensities: integrals by hand and by seconds, and files."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from schedlab.instances import InstanceError
from schedlab.instances.files.profile_file import read_tariff
from schedlab.models import ProblemError, StepFunction
from schedlab.models.step_function import Tariff, integral


@st.composite
def functions(draw: st.DrawFn) -> StepFunction:
    times = sorted(draw(st.sets(st.integers(0, 20), min_size=1, max_size=6)) | {0})
    values = draw(st.lists(st.integers(-5, 5), min_size=len(times), max_size=len(times)))
    return StepFunction(times, values, 25)


@examples(deadline=None, max_examples=25)
@given(functions(), functions(), st.integers(0, 25), st.integers(0, 25))
def test_the_integral_of_a_product_is_the_sum_over_the_seconds(
    f: StepFunction, g: StepFunction, a: int, b: int
) -> None:
    assert integral(f, g, a, b) == pytest.approx(sum(f.at(t) * g.at(t) for t in range(a, b)))
    assert integral(f, 2, a, b) == pytest.approx(sum(2 * f.at(t) for t in range(a, b)))


def test_a_file_has_prices_and_carbon(tmp_path: Path) -> None:
    path = tmp_path / "day-ahead.csv"
    path.write_text("# Italy, north\ntime_s,euro_per_kwh,g_co2_per_kwh\n0,0.10,300\n3600,-0.02,150\n")
    tariff = read_tariff(path)
    kilowatt = StepFunction.constant(1000, 0, 7200)
    assert tariff.cost(kilowatt, 0, 7200) == pytest.approx(0.08)
    assert tariff.kg_co2(kilowatt, 0, 7200) == pytest.approx(0.45)
    path.write_text("time_s,euro_per_kwh\n0,0.10\n")
    assert read_tariff(path).kg_co2(StepFunction.constant(1000, 0, 3600), 0, 3600) is None
    with pytest.raises(
        ProblemError, match="the energy prices go from 0 s to 3600 s, which does not cover 0 s to 7200 s"
    ):
        read_tariff(path).cost(kilowatt, 0, 7200)


def test_faults_of_a_file_have_their_place(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("time_s,euro_per_kwh,g_co2_per_kwh\n0,0.1,-3\n0,0.1,5\n")
    with pytest.raises(InstanceError, match=r"line 3, time_s.* after 0"):
        read_tariff(path)
    path.write_text("time_s,euro_per_kwh,g_co2_per_kwh\n0,0.1,-3\n")
    with pytest.raises(InstanceError, match=r"line 2, g_co2_per_kwh.* at least 0"):
        read_tariff(path)


@pytest.mark.parametrize(
    ("price", "carbon", "message"),
    [
        ("cheap", None, "price of energy is 'cheap'; a number or a StepFunction is expected"),
        (0.1, -1, "carbon intensity of energy is -1 g per kWh; at least 0"),
        (0.1, StepFunction([0, 5], [1, -2], 9), "carbon intensity of energy is -2 g per kWh"),
    ],
)
def test_values_that_are_no_prices_are_refused(price: object, carbon: object, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        Tariff(price, carbon)  # type: ignore[arg-type]
