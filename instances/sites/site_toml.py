"""``site.toml``: a site in a file of its own format, which is written and read."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, replace
from functools import lru_cache
from itertools import groupby, islice
from pathlib import Path
from typing import Any, get_type_hints

from ...errors import SchedlabError, WrongValue
from ...models.arguments import expect
from ...models.node_states import NodeEvent
from ...models.site import (
    QOS,
    Association,
    Licence,
    Limits,
    Partition,
    PBSSettings,
    SchedulerSettings,
    Site,
    SiteNode,
    SiteReservation,
)
from ...models.words import excerpt, hint, how_many
from ..files.reading import LARGEST_TOML, WorkloadError, each_line, read_text, toml_lines
from ..files.writing import write_whole
from ..formats.slurm_values import hosts_of, names_of_hosts
from .draft import Draft, SiteError, SiteFault, Where

SCHEMA, VERSION = "schedlab-site", 1
UNLIMITED = "unlimited"  # None, where that is not the default
LISTS: dict[str, Any] = {
    "nodes": SiteNode, "partitions": Partition, "qos": QOS, "associations": Association, "licences": Licence,
    "reservations": SiteReservation, "events": NodeEvent,
}  # fmt: skip
SETTINGS: dict[str, Any] = {"slurm": SchedulerSettings, "pbs": PBSSettings}
HEAD = 50  # lines in which the schema of a site.toml is
Key = tuple[str | int, ...]

# --- Writing.


def write_site(site: Site, path: str | Path) -> None:
    """Write a site as a ``site.toml``, completely or not at all.

    Parameters
    ----------
    site : Site
        The site.
    path : str or Path
        The file; an existing one is replaced.

    Raises
    ------
    OSError
        The file cannot be written.
    """
    write_whole(Path(path), site_text(site))


def site_text(site: Site) -> str:
    """Return a site as the text of a ``site.toml``. Values that are the defaults are left out.

    Parameters
    ----------
    site : Site
        The site.

    Returns
    -------
    str
        The text. Equal sites have equal texts.

    Examples
    --------
    >>> nodes = [SiteNode(f"n{k}", 16, memory=32_000) for k in range(1, 5)]
    >>> print(site_text(Site("lab", nodes, [Partition("debug", ("n1", "n2"), max_time=180)])))
    schema = "schedlab-site"
    version = 1
    name = "lab"
    kind = "slurm"
    <BLANKLINE>
    [[nodes]]
    name = "n[1-4]"
    cores = 16
    memory = 32000
    <BLANKLINE>
    [[partitions]]
    name = "debug"
    nodes = "n[1-2]"
    max_time = 180
    <BLANKLINE>
    """
    head: dict[str, Any] = {"schema": SCHEMA, "version": VERSION, "name": site.name, "kind": site.kind}
    if site.not_modelled:
        head["not_modelled"] = site.not_modelled
    blocks = ["\n".join(f"{key} = {_inline(value)}" for key, value in head.items())]
    scheduler = _given(site.scheduler)
    if scheduler:
        blocks.append(_block("[scheduler]", scheduler))
    blocks += [_block("[[nodes]]", values) for values in _node_classes(site.nodes)]
    for name in LISTS:
        if name != "nodes":
            blocks += [_block(f"[[{name}]]", _given(each)) for each in getattr(site, name)]
    return "\n\n".join(blocks) + "\n"


def _block(head: str, values: Mapping[str, Any]) -> str:
    return "\n".join([head, *(f"{key} = {_inline(value)}" for key, value in values.items())])


def _given(record: Any) -> dict[str, Any]:
    """Return the fields of a record that are not the defaults, with the limits as a table, and names of nodes in ranges."""
    values: dict[str, Any] = {}
    for each in fields(record):
        value = getattr(record, each.name)
        if each.default_factory is not MISSING:
            usual = each.default_factory()
        else:
            usual = each.default
        if value == usual and type(value) is type(usual):
            continue
        if isinstance(value, Limits):
            value = dict(value.given())
        elif each.name == "nodes":
            value = names_of_hosts(value)
        if value is None:
            values[each.name] = UNLIMITED
        else:
            values[each.name] = value
    if isinstance(record, SiteNode) and values.get("cpus") == record.cores * record.threads:
        del values["cpus"]
    return values


def _node_classes(nodes: Iterable[SiteNode]) -> Iterable[dict[str, Any]]:
    """Yield the values of each run of nodes that differ in their names alone."""
    for _, group in groupby(nodes, key=lambda node: repr(_given(replace(node, name="")))):
        equal = list(group)
        listed = names_of_hosts(tuple(node.name for node in equal))
        first = {"name": listed} if isinstance(listed, str) else {"names": listed}
        yield {**first, **{key: value for key, value in _given(equal[0]).items() if key != "name"}}


BARE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


def _inline(value: Any) -> str:
    """Return a value of TOML on one line."""
    if isinstance(value, str):
        text = json.dumps(value.encode(errors="replace").decode(), ensure_ascii=False)
        return re.sub(r"[\x7f-\x9f]", lambda m: f"\\u{ord(m[0]):04x}", text)
    if isinstance(value, bool):
        if value:
            return "true"
        return "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {_inline(each)}" for key, each in value.items()) + "}"
    return "[" + ", ".join(map(_inline, value)) + "]"


def _key(name: str) -> str:
    if BARE.fullmatch(name):
        return name
    return _inline(name)


# --- Reading.


def is_site_toml(path: str | Path) -> bool:
    """Check whether a file is a ``site.toml``, by its schema. Raises WorkloadError if it cannot be read."""
    pattern = re.compile(rf"""\s*schema\s*=\s*["']{SCHEMA}["']""")
    return any(pattern.match(line) for line in islice(each_line(path), HEAD))


def read_site_toml(path: str | Path) -> Site:
    """Read a ``site.toml``.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Site
        The site.

    Raises
    ------
    SiteError
        The file has faults; the message has the first ten, with their lines.
    """
    try:
        text = read_text(path, LARGEST_TOML)
    except (WorkloadError, UnicodeDecodeError) as e:
        raise SiteError([SiteFault(Where(str(path)), "", str(e).removeprefix(f"{path}: "))]) from e
    return _Reading(str(path), text).site()


class _Reading:
    """A ``site.toml`` that is being read."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.draft = Draft()
        self.lines = toml_lines(text)
        try:
            self.values: dict[str, Any] = tomllib.loads(text)
        except tomllib.TOMLDecodeError as e:
            line = re.search(r"\(at line (\d+)", str(e))
            at = Where(file, int(line[1]) if line else 0)
            raise SiteError([SiteFault(at, "syntax", f"expected TOML: {e}")]) from e
        except (ValueError, RecursionError) as e:
            raise SiteError([SiteFault(Where(file), "syntax", f"expected TOML: {excerpt(str(e))}")]) from e

    def fault(self, place: Key, why: str) -> None:
        """Note a fault at a place, or the nearest one around it that has a line."""
        line = next((self.lines[place[:n]] for n in range(len(place), 0, -1) if place[:n] in self.lines), 0)
        label = ".".join(str(part) for part in place if not isinstance(part, int))
        self.draft.fault(Where(self.file, line), label, f"{label}: {why}" if label else why)

    def site(self) -> Site:
        """Return the site. Raises SiteError with all faults."""
        known = ("schema", "version", "name", "kind", "not_modelled", "scheduler", *LISTS)
        for key in self.values:
            if key not in known:
                self.fault((key,), f"it is not known; {hint(key, known)}")
        if self.values.get("version", VERSION) != VERSION:
            self.fault(("version",), f"it is {excerpt(self.values['version'])}; expected {VERSION}")
        kind = self.values.get("kind", "slurm")
        if kind not in SETTINGS:
            self.fault(("kind",), f"it is {excerpt(kind)}; {hint(kind, SETTINGS, 'expected')}")
            kind = "slurm"
        name = self.values.get("name", "site")
        if not isinstance(name, str):
            self.fault(("name",), f"it is {excerpt(name)}; expected a text")
        lists = {each: self._list(each) for each in LISTS}
        self._check_parents()
        nodes = {node.name for node in lists["nodes"]}
        self._check_reservations(lists["reservations"], nodes, [p.name for p in lists["partitions"]])
        self._check_partitions(lists["partitions"], nodes)
        scheduler = self._record(SETTINGS[kind], ("scheduler",), self.values.get("scheduler", {}))
        others = self.values.get("not_modelled", [])
        if not isinstance(others, list) or not all(isinstance(each, str) for each in others):
            self.fault(("not_modelled",), f"it is {excerpt(others)}; expected a list of texts")
        if self.draft.faults:
            raise SiteError(self.draft.faults)
        try:
            return Site(name, scheduler=scheduler, kind=kind, not_modelled=others, **lists)
        except SchedlabError as e:
            raise SiteError([SiteFault(Where(self.file), "", str(e))]) from e

    def _list(self, name: str) -> list[Any]:
        entries = self.values.get(name, [])
        if not isinstance(entries, list):
            self.fault((name,), f"it is {excerpt(entries)}; expected entries that begin with [[{name}]]")
            return []
        made = []
        names_of_nodes: set[str] = set()
        for k, entry in enumerate(entries):
            if name == "nodes":
                nodes = self._nodes((name, k), entry)
                self._check_nodes_are_new((name, k), nodes, names_of_nodes)
                made += nodes
            else:
                record = self._record(LISTS[name], (name, k), entry)
                if record is not None:
                    made += [record]
        return made

    def _check_nodes_are_new(self, place: Key, nodes: Sequence[SiteNode], seen: set[str]) -> None:
        """Note the first node that is in an entry before this one, or twice in this one, as a fault; add all to ``seen``."""
        for node in nodes:
            if node.name in seen:
                self.fault(place, f"the node {excerpt(node.name)} is given twice; expected each node in one entry")
                break
            seen.add(node.name)
        seen.update(node.name for node in nodes)

    def _check_partitions(self, partitions: Sequence[Partition], nodes: Collection[str]) -> None:
        """Note partitions that are given twice, and nodes of partitions that do not exist, as faults."""
        if self.draft.faults:
            return
        seen: set[str] = set()
        for k, partition in enumerate(partitions):
            if partition.name in seen:
                self.fault(("partitions", k, "name"), f"the partition {excerpt(partition.name)} is given twice")
            seen.add(partition.name)
            self._check_nodes(("partitions", k, "nodes"), partition.nodes, nodes)

    def _check_nodes(self, place: Key, named: Iterable[str], nodes: Collection[str]) -> None:
        unknown = [name for name in named if name not in nodes]
        if unknown:
            more = ""
            if len(unknown) > 3:
                more = f" and {how_many(len(unknown) - 3, 'more node')}"
            self.fault(place, f"there is no node {', '.join(map(repr, unknown[:3]))}{more}")

    def _check_reservations(
        self, reservations: Sequence[SiteReservation], nodes: Collection[str], partitions: Sequence[str]
    ) -> None:
        """Note nodes and partitions of reservations that do not exist as faults."""
        if self.draft.faults:
            return
        for k, reservation in enumerate(reservations):
            self._check_nodes(("reservations", k, "nodes"), reservation.nodes, nodes)
            part = reservation.partition
            if part and part not in partitions:
                self.fault(
                    ("reservations", k, "partition"), f"there is no partition {excerpt(part)}; {hint(part, partitions)}"
                )

    def _check_parents(self) -> None:
        """Note the accounts whose parent does not exist as faults."""
        entries = self.values.get("associations", [])
        if not isinstance(entries, list):
            return  # noted where the list is read
        associations = {k: entry for k, entry in enumerate(entries) if isinstance(entry, dict)}
        accounts = [entry.get("account") for entry in associations.values() if not entry.get("user")]
        for k, entry in associations.items():
            parent = entry.get("parent")
            if isinstance(parent, str) and parent and parent not in accounts:
                there_is_none = f"there is no account {excerpt(parent)}; {hint(parent, accounts)}"
                self.fault(("associations", k, "parent"), there_is_none)

    def _nodes(self, place: Key, entry: Any) -> list[SiteNode]:
        """Return the nodes of an entry: ``name`` with ranges, or ``names``, a list."""
        if not isinstance(entry, dict):
            self.fault(place, f"it is {excerpt(entry)}; expected a table")
            return []
        names = self._names((*place, "name"), entry.get("names", entry.get("name")))
        values = {key: value for key, value in entry.items() if key not in ("name", "names")}
        first = None
        if names:
            first = self._record(SiteNode, place, {"name": names[0], **values})
        if first is None:
            return []
        return [replace(first, name=name) for name in names]

    def _names(self, place: Key, given: Any) -> list[str]:
        if isinstance(given, list) and given and all(isinstance(each, str) for each in given):
            return given
        try:
            listed = []
            if isinstance(given, str):
                listed = hosts_of(given)
        except WrongValue as e:
            self.fault(place, str(e))
            return []
        if not listed:
            self.fault(place, f"it is {excerpt(given)}; expected names such as n[1-4]")
        return listed

    def _record(self, kind: Any, place: Key, values: Any) -> Any:
        """Return a record of the class; None if it has faults."""
        before = len(self.draft.faults)
        if not isinstance(values, dict):
            self.fault(place, f"it is {excerpt(values)}; expected a table")
            return None
        types = types_of(kind)
        made: dict[str, Any] = {}
        for key, value in values.items():
            if key not in types:
                self.fault((*place, key), f"it is not known; {hint(key, types)}")
            elif key == "limits":
                made[key] = self._record(Limits, (*place, key), value)
            elif key == "nodes" and (value or isinstance(value, str)):
                if value:
                    made[key] = tuple(self._names((*place, key), value))
                else:
                    made[key] = ()
            else:
                made[key] = self._value((*place, key), value, types[key])
        for each in fields(kind):
            if each.default is MISSING and each.default_factory is MISSING and each.name not in values:
                self.fault(place, f"{each.name} is missing")
        if len(self.draft.faults) > before:
            return None
        try:
            return kind(**made)
        except SchedlabError as e:
            self.fault(place, str(e))
        return None

    def _value(self, place: Key, value: Any, kind: Any) -> Any:
        given = tuple(value) if isinstance(value, list) else value
        if given == UNLIMITED and _takes_none(kind):
            return None
        try:
            expect("it", given, kind)
        except SchedlabError as e:
            self.fault(place, str(e))
        for number in given.values() if isinstance(given, dict) else (given,):
            if isinstance(number, float) and not math.isfinite(number):
                self.fault(place, f"it is {excerpt(value)}; expected finite numbers")
        return given


@lru_cache
def types_of(kind: Any) -> dict[str, Any]:
    """Return the type of each field of a class."""
    names = {each.name for each in fields(kind)}
    return {name: hinted for name, hinted in get_type_hints(kind).items() if name in names}


def _takes_none(kind: Any) -> bool:
    return type(None) in getattr(kind, "__args__", ())
