"""Options that are made from fields: groups of options, and settings of a replay."""

from dataclasses import dataclass
from typing import Annotated, Any

import typer
from schedlab.bench.cli import with_options
from schedlab.bench.replays import SETTINGS
from typer.testing import CliRunner


@dataclass(frozen=True)
class Limits:
    seconds: Annotated[float, typer.Option(help="time limit")] = 2.0
    threads: Annotated[int | None, typer.Option(min=1, help="number of threads")] = None


def ran(*words: str) -> tuple[str, list[Any]]:
    """Run a command with a group and two settings; return what was printed and what the command got."""
    got: list[Any] = []

    @with_options(SETTINGS, ("memory", "nodes"), {"nodes": 300}, before="name")
    def command(*, limits: Limits, name: str = "a", **settings: Any) -> None:
        got.append((limits, name, settings))

    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command()(command)
    return CliRunner().invoke(app, list(words)).output, got


def test_a_command_gets_a_group_and_the_settings():
    assert ran()[1] == [(Limits(), "a", {"memory": None, "nodes": 300})]
    words = ("--threads", "3", "--nodes", "5", "--name", "b")
    assert ran(*words)[1] == [(Limits(threads=3), "b", {"memory": None, "nodes": 5})]


def test_the_help_has_the_order_of_the_fields_and_the_default_of_the_command():
    text, _ = ran("--help")
    places = [text.index(flag) for flag in ("--seconds", "--threads", "--memory", "--nodes", "--name")]
    assert places == sorted(places)
    assert "of its header" not in text and "300" in text and "memory is ignored" in text


def test_limits_of_values_are_checked():
    assert ran("--threads", "0")[1] == ran("--nodes", "0")[1] == []
