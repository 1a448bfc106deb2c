"""The kind of a record chooses its table, whatever happened to its runs."""

import io

import pytest
from rich.console import Console
from schedlab.bench import Run, View
from schedlab.bench.kinds.base import show_results
from schedlab.bench.records.record import record

FAILED = {
    "status": "error",
    "cause": "crash",
    "message": "the worker crashed: Segmentation fault",
    "sense": "minimize",
}


def failed(instance, kind, view, methods):
    """Return records of an instance of which every run crashed."""
    return [
        record(Run(instance, instance, "c", method, view=view, kind=kind), FAILED, "2026-01-01T00:00:00+00:00")
        for method in methods
    ]


def printed(records):
    console = Console(file=io.StringIO(), width=120)
    assert show_results(console, records) == []
    return console.file.getvalue()


@pytest.mark.parametrize(
    ("instance", "kind", "methods", "heads"),
    [
        ("theta_24", "eviction", ("dp", "greedy"), ("loss", "checkpoints", "(proven)")),
        ("profit_medium", "profit", ("lns", "rule:est"), ("profit", "PUE", "gap to")),
        ("eurora_99", "dispatch", ("multi-search", "cpsat:pool"), ("objec-", "warm", "build/lower/")),
        ("j30", "project", ("cpsat:modes", "highs:modes"), ("objec-", "warm", "build/lower/")),
    ],
)
def test_runs_that_all_failed_are_in_the_table_of_their_kind(instance, kind, methods, heads):
    text = printed(failed(instance, kind, View(), methods))
    assert all(head in text for head in heads)
    assert text.count("crash") >= len(methods) and "Segmentation fault" in text


def test_each_kind_has_its_own_table_when_runs_of_several_are_printed():
    records = [
        *failed("theta_24", "eviction", View(), ("dp",)),
        *failed("profit_medium", "profit", View(), ("lns",)),
        *failed("eurora_99", "dispatch", View(), ("multi-search",)),
    ]
    text = printed(records)
    assert [text.count(head) for head in ("checkpoints", "PUE", "build/lower/")] == [1, 1, 1]
