"""The commands that make the records of a folder again, and the machines and versions that they ran on."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from ..runs.replay_settings import ReplaySettings
from ..runs.view import View

Records = Sequence[Mapping[str, Any]]
UNSAID = ("trace", "_content", "_source", "most_power")  # fields of replays that follow from others


def commands(records: Records) -> list[str]:
    """Return commands of ``bench run`` and ``bench simulate`` that together make all records again, and nothing else.

    Instances are joined in one command if their runs have equal methods, seeds, limits and views. Replays of DARDIS over a
    network are left out.

    Parameters
    ----------
    records
        The records.

    Returns
    -------
    list of str
    """
    seeds: dict[tuple[str, str, tuple[str, ...]], list[int]] = {}  # of each path and method with its options
    for r in records:
        if r["replay"] is None:
            seeds.setdefault((r["path"], r["method"], _options(r)), []).append(r["seed"])
    methods: dict[tuple[str, tuple[str, ...], tuple[int, ...]], list[str]] = {}
    for (path, method, options), found in seeds.items():
        methods.setdefault((path, options, tuple(sorted(set(found)))), []).append(method)
    paths: dict[tuple[tuple[str, ...], tuple[int, ...], tuple[str, ...]], list[str]] = {}
    for (path, options, own), names in methods.items():
        paths.setdefault((options, own, tuple(sorted(set(names)))), []).append(path)
    runs = [
        shlex.join(["bench", "run", *found, "--methods", ",".join(names), "--seeds", ",".join(map(str, own)), *options])
        for (options, own, names), found in paths.items()
    ]
    return runs + _replays(records)


def _replays(records: Records) -> list[str]:
    """Return the commands of ``bench simulate``; dispatchers with equal seeds and options are joined."""
    seeds: dict[tuple[str, str, tuple[str, ...]], list[int]] = {}  # of each path and dispatcher with its options
    for r in records:
        if r["replay"] is not None and r["replay"].get("network") is None:
            seeds.setdefault((r["path"], r["method"], _options_of_replay(r)), []).append(r["seed"])
    joined: dict[tuple[str, tuple[str, ...], tuple[int, ...]], list[str]] = {}
    for (path, method, options), found in seeds.items():
        joined.setdefault((path, options, tuple(sorted(set(found)))), []).append(method)
    return [
        shlex.join(
            ["bench", "simulate", path, "--dispatchers", ",".join(names), "--seeds", ",".join(map(str, own)), *options]
        )
        for (path, options, own), names in joined.items()
    ]


def _options_of_replay(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the options of ``bench simulate`` that give the settings of a replay."""
    settings, usual = ReplaySettings(**record["replay"]), ReplaySettings()
    words: list[str] = []
    for field in fields(ReplaySettings):
        value = getattr(settings, field.name)
        if value is None or value == getattr(usual, field.name) or field.name.endswith(UNSAID):
            continue
        words += [f"--{field.name.replace('_', '-')}", *([] if value is True else [_text(value)])]
    given = {"first": record["view"]["first"], "time-limit": record["time_limit"], "threads": record["threads"]}
    words += [word for name, value in given.items() if value is not None for word in (f"--{name}", _text(value))]
    return (*words, "--drop-impossible") if record["drop_impossible"] else tuple(words)


def machines(records: Records) -> list[str]:
    """Return a line for each machine and set of versions, with its number of runs."""
    found: dict[str, int] = {}
    for r in records:
        host = r.get("host") or {}
        parts = [
            host.get("cpu") or "unknown processor",
            f"{host['cores']} cores" if host.get("cores") else "",
            f"{host['memory_gb']:g} GB" if host.get("memory_gb") else "",
            host.get("system") or "",
            f"Python {r['python']}",
            f"schedlab {r['schedlab']}",
            "" if r["solver"] == "schedlab" else f"{r['solver']} {r['version'] or '(not installed)'}",
        ]
        line = ", ".join(filter(None, parts))
        found[line] = found.get(line, 0) + 1
    return [f"{line}: {n} runs" for line, n in found.items()]


def _options(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the options of ``bench run`` that give the part of the instance and the limits of a record."""
    view = View(**record["view"])
    values = {
        "time-limit": record["time_limit"],
        "threads": record["threads"],
        "memory": record["memory_gb"],
        "at": view.at,
        "first": view.first,
        "durations": None if view.durations == "walltime" else view.durations,
        "objective": view.objective,
        "nodes-needed": view.nodes_needed,
        "scenario": view.scenario,
        "keep": view.keep,
        "desired": view.desired,
        "profile": None if view.over_cost is None else f"soft:{view.over_cost:g}",
    }
    words = [word for name, v in values.items() if v is not None for word in (f"--{name}", _text(v))]
    return (*words, "--drop-impossible") if record["drop_impossible"] else tuple(words)


def _text(value: object) -> str:
    return f"{value:.15g}" if isinstance(value, float) else str(value)
