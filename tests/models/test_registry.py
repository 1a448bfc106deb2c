"""The grammar of texts that name parts: names, options, their types, and what messages say about wrong ones."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import pytest
import schedlab as sl
from schedlab.models import PluginError
from schedlab.models.registry import NamedPart, Registry, Seconds, WholeSeconds, WrongOption


@dataclass
class Cook:
    """Cooks one dish after another.

    The second paragraph is not in lists.
    """

    dishes: int = 3
    heat: float = 180.0
    rest: Seconds = 60
    mood: Literal["calm", "wild"] = "calm"
    spices: Mapping[str, float] = field(default_factory=dict)
    sharp: bool = False
    taste: str = "salty"
    helper: Any = None
    most: int | None = None
    either: int | str = 1
    name = "cook"

    def serve(self) -> None:
        """Serve."""


@dataclass
class Waiter:
    """Waits."""

    after: WholeSeconds
    tables: int = 2
    name = "waiter"

    def serve(self) -> None:
        """Serve."""


def reader(file: str) -> Cook:
    """Cooks what a file says."""
    return Cook(taste=file)


def broken() -> Cook:
    raise RuntimeError("the stove is cold")


def strict(heat: float = 1.0) -> Cook:
    raise sl.errors.WrongValue(f"heat is {heat}; expected less")


OWN = {
    "cook": Cook,
    "cook:fast": partial(Cook, dishes=9),
    "waiter": Waiter,
    "file": reader,
    "done": Cook(),
    "broken": broken,
    "strict": strict,
    "later": f"{__name__}:Cook",
}


def staff(first_value: bool = True) -> Registry[Any]:
    return Registry(
        "worker", "schedlab.workers_of_a_test", OWN, parts=("name", "serve"), docs="docs/x.md", first_value=first_value
    )


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("cook", "dishes", 3),
        ("cook:dishes=5", "dishes", 5),
        ("cook:5", "dishes", 5),
        ("cook:5:heat=90.5", "heat", 90.5),
        ("cook:heat=1e3", "heat", 1000.0),
        ("cook:rest=30min", "rest", 1800),
        ("cook:rest=2h", "rest", 7200),
        ("cook:rest=7d", "rest", 604800),
        ("cook:rest=inf", "rest", math.inf),
        ("cook:rest=0.5", "rest", 0.5),
        ("cook:mood=wild", "mood", "wild"),
        ("cook:spices=salt=2/pepper=0.5", "spices", {"salt": 2.0, "pepper": 0.5}),
        ("cook:sharp=true", "sharp", True),
        ("cook:taste=sweet:and:sour:dishes=2", "taste", "sweet:and:sour"),
        ("cook:most=4", "most", 4),
        ("cook:either=4", "either", 4),
        ("cook:either=few", "either", "few"),
        ("cook:fast", "dishes", 9),
        ("cook:fast:heat=2", "heat", 2.0),
        ("waiter:30min", "after", 1800),
        ("waiter:after=45:tables=1", "after", 45),
        ("file:a=b:c=d.csv", "taste", "a=b:c=d.csv"),
        ("file:file=d.csv", "taste", "d.csv"),
        ("later:dishes=4", "dishes", 4),
        (f"{__name__}:Cook:dishes=7", "dishes", 7),
    ],
)
def test_texts(text: str, attribute: str, value: object) -> None:
    made = staff().make(text)
    assert getattr(made, attribute) == value and type(getattr(made, attribute)) is type(value)


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("coock", sl.UnknownName, "there is no worker 'coock'; did you mean cook"),
        ("", sl.UnknownName, "there is no worker ''; known are cook,"),
        ("coock:dishes=3", sl.UnknownName, "there is no worker 'coock'; did you mean cook"),
        (
            "nowhere:Cook",
            sl.UnknownName,
            "no worker 'nowhere:Cook', and no module nowhere in the current folder or installed",
        ),
        (f"{__name__}:Coock", sl.UnknownName, f"no object of the module {__name__} called 'Coock'; did you mean Cook?"),
        ("cook:dish=3", sl.UnknownName, "no option of the worker cook called 'dish'; did you mean dishes?"),
        ("cook:helper=3", sl.UnknownName, "no option of the worker cook called 'helper'"),
        ("done:dishes=3", sl.UnknownName, "no option of the worker done called 'dishes'; there are none"),
        ("done:3", WrongOption, "the worker done takes no option; expected done alone, not done:3"),
        ("broken:3", WrongOption, "the worker broken takes no option; expected broken alone, not broken:3"),
        ("cook:", WrongOption, "worker cook:: nothing stands after the colon; expected cook, or an option after it"),
        ("cook:dishes=1:dishes=2", WrongOption, "the option dishes is given twice"),
        ("cook:1:dishes=2", WrongOption, "the option dishes is given twice"),
        ("cook:dishes=1.5", WrongOption, "the worker cook: dishes is '1.5'; expected a whole number"),
        ("cook:heat=hot", WrongOption, "the worker cook: heat is 'hot'; expected a number"),
        ("cook:heat=nan", WrongOption, "the worker cook: heat is 'nan'; expected a number"),
        (
            "cook:rest=soon",
            WrongOption,
            "the worker cook: rest is 'soon'; expected seconds, such as 300, 30min, 2h or 7d",
        ),
        ("cook:mood=sad", WrongOption, "the worker cook: mood is 'sad'; expected one of calm, wild"),
        ("cook:spices=salt", WrongOption, "expected numbers by name, each once, as in debug=2/parallel=1"),
        ("cook:sharp=1", WrongOption, "the worker cook: sharp is '1'; expected true or false"),
        ("waiter", WrongOption, "the worker waiter needs the option after; expected waiter:after=SECONDS"),
        ("waiter:1.5", WrongOption, "the worker waiter: after is '1.5'; expected whole seconds"),
        ("strict:heat=3", WrongOption, "heat is 3.0; expected less"),
    ],
)
def test_wrong_texts(text: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as caught:
        staff().make(text)
    assert words in str(caught.value)


def test_a_value_without_its_name_is_refused_where_the_registry_says_so() -> None:
    workers = staff(first_value=False)
    assert workers.make("cook:dishes=4").dishes == 4
    with pytest.raises(
        WrongOption, match="worker cook:dishes: the option dishes has no value; expected cook:dishes=VALUE"
    ):
        workers.make("cook:dishes")
    with pytest.raises(sl.UnknownName, match="there is no worker 'cook:slow'; did you mean cook:fast"):
        workers.make("cook:slow")


class Later:
    """Lacks a part."""

    name = "later"


def test_what_is_made_is_checked_and_errors_of_third_parties_are_explained() -> None:
    workers = staff()
    with pytest.raises(PluginError, match=rf"{__name__}:Later is not a worker: it has no serve \(docs/x.md\)"):
        workers.make(f"{__name__}:Later")
    with pytest.raises(PluginError, match=rf"{__name__}:broken cannot be created: RuntimeError: the stove is cold"):
        workers.make(f"{__name__}:broken")
    with pytest.raises(PluginError, match=r"the argument worker \(.*Later.*\) is not a worker: it has no serve"):
        workers.make(Later())
    with pytest.raises(PluginError, match="serve is 3; expected a function"):
        workers.make(type("Odd", (), {"name": "odd", "serve": 3})())
    assert workers.make(Cook).dishes == 3  # a class without arguments
    with pytest.raises(sl.errors.WrongArgument, match="worker is 3; expected the name of a worker"):
        workers.find(3)  # type: ignore[arg-type]


def test_names_and_descriptions() -> None:
    workers = staff()
    assert workers.names() == list(OWN)
    lines = {found.name: found for found in workers.describe()}
    assert str(lines["waiter"]) == "waiter[:after=seconds][:tables=whole]: Waits."
    assert lines["cook"].about == "Cooks one dish after another." and lines["cook"].package == "schedlab"
    assert "mood=calm|wild" in lines["cook"].options and "either=whole|text" in lines["cook"].options


def test_registering_for_this_process() -> None:
    workers = staff()
    workers.register("baker", Waiter)
    workers.register("baker", Cook)  # a cell runs again
    assert workers.make("baker:dishes=2").dishes == 2 and workers.find("baker").source is None
    with pytest.raises(sl.errors.WrongValue, match="the worker 'cook' belongs to schedlab"):
        workers.register("cook", Waiter)
    workers.unregister("baker")
    with pytest.raises(sl.UnknownName):
        workers.find("baker")


def test_the_source_covers_what_an_option_names(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from schedlab.simulation import parse_dispatcher

    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_forecast.py").write_text("from schedlab.simulation.forecasts import Weekly as Mine\n")
    assert parse_dispatcher("hybrid:70:forecast=weekly").source is None
    named = parse_dispatcher("hybrid:70:forecast=own_forecast:Mine:hours=48")
    assert named.part is not None and isinstance(named.part, NamedPart) and named.part.given["hours"] == "48"
    first = named.source
    assert first is not None
    (tmp_path / "own_forecast.py").write_text("from schedlab.simulation.forecasts import Perfect as Mine\n")
    assert named.source not in (None, first)
