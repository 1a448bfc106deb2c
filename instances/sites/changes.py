"""Changes of a site in one line each, such as ``qos.limited.MaxJobsPerUser = 6``: the questions of ``bench whatif``.

::

    partition.debug.nodes += n[3-4]      nodes.batch * 1.2               account.chem.GrpTRES = cpu=200
    partition.batch.MaxTime = 1-00:00    nodes.batch - 2                 user.fay.GrpTRES = cpu=96,node=4
    qos.limited.MaxJobsPerUser = 6       node.n[1-4].memory = 128G       licence.matlab = 30
    scheduler.bf_interval = 30           scheduler.PriorityWeightAge * 2

A field has its name in Slurm's files, in any case, or that in ``schedlab.models.Site``. A value is written as in those files;
nothing, or ``none``, takes a limit away. ``+=`` and ``-=`` add to and take from lists, amounts of resources and numbers;
``*`` multiplies a number, or a time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from ...errors import SchedlabError, WrongValue
from ...models.platform import ProblemError
from ...models.site import TRES_LIMITS, Association, Licence, Limits, SchedulerSettings, Site, SiteNode
from ...models.words import excerpt, hint, how_many
from ..formats.slurm_values import hosts_of
from .draft import Convert, Table, decimal, meant
from .sacctmgr import ASSOCIATION_KEYS, QOS_KEYS
from .slurm_conf import NODE_KEYS, PARAMETERS, PARTITION_KEYS, SETTINGS, whole, yes_or_number

FORM = re.compile(r"(?P<path>\S+?)\s*(?P<sign>\+=|-=|\*=|=)\s*(?P<value>.*)", re.DOTALL)
ARITHMETIC = re.compile(r"(?P<path>\S+)\s+(?P<sign>[*+-])\s*(?P<value>\S+)")
EXAMPLES = '"qos.limited.MaxJobsPerUser = 6", "partition.debug.nodes += n[3-4]" or "nodes.batch * 1.2"'
NO_LIMIT = frozenset(("", "none", "unlimited", "infinite", "-1"))
SIGNS = {"+": "+=", "-": "-=", "*": "*="}
MOST_NODES = 200_000  # of a partition that is made larger; a replay with more takes hours and many GB
LIMITS = frozenset(each.name for each in fields(Limits))


class WrongChange(SchedlabError, ValueError):
    """A change that cannot be made; the message has its text, what is wrong, and what was expected."""


@dataclass(frozen=True)
class Change:
    """A change of a site.

    Parameters
    ----------
    text : str
        What a user gave.
    subject : str
        What is changed: ``partition``, ``qos``, ``account``, ``user``, ``node``, ``nodes``, ``licence`` or ``scheduler``.
    name : str
        Its name; of ``scheduler``, empty.
    field : str
        The field, as it was given; of ``nodes`` and ``licence``, empty.
    sign : str
        ``=``, ``+=``, ``-=`` or ``*=``.
    value : str
        The value, as a text.
    """

    text: str
    subject: str
    name: str
    field: str
    sign: str
    value: str

    def wrong(self, why: str) -> WrongChange:
        """Return the error about this change."""
        return WrongChange(f"change {self.text.strip()!r}: {why}")

    def apply(self, site: Site) -> Site:
        """Return the site with this change. Raises WrongChange."""
        try:
            changed = CHANGERS[self.subject](self, site)
        except WrongValue as e:
            raise self.wrong(f"{self.field or self.subject} is {e}") from e
        except ProblemError as e:
            raise self.wrong(str(e)) from e
        before = set(site.faults())
        faults = [fault for fault in changed.faults() if fault not in before]
        if faults:
            raise self.wrong(faults[0])
        if changed == site:
            raise self.wrong("it changes nothing")
        return changed


def parse_change(text: str) -> Change:
    """Return the change that a text describes.

    Raises
    ------
    WrongChange
        The text is no change.

    Examples
    --------
    >>> change = parse_change("qos.limited.MaxJobsPerUser = 6")
    >>> change.subject, change.name, change.field, change.sign, change.value
    ('qos', 'limited', 'MaxJobsPerUser', '=', '6')
    """
    match = FORM.fullmatch(text.strip()) or ARITHMETIC.fullmatch(text.strip())
    if match is None:
        raise WrongChange(f"change {text.strip()!r}: expected a change such as {EXAMPLES}")
    subject, _, rest = match["path"].partition(".")
    subject = {"license": "licence", "licenses": "licence", "licences": "licence"}.get(subject.lower(), subject.lower())
    name = rest
    field = ""
    if subject == "scheduler":
        name = ""
        field = rest
    elif subject not in ("nodes", "licence"):
        name, _, field = rest.rpartition(".")
    change = Change(text.strip(), subject, name, field, SIGNS.get(match["sign"], match["sign"]), match["value"].strip())
    if subject not in CHANGERS:
        raise change.wrong(f"there is no {excerpt(subject)}; {hint(subject, CHANGERS, 'expected')}")
    if not (name or subject == "scheduler") or not (field or subject in ("nodes", "licence")):
        raise change.wrong(f"expected a name and a field, such as {EXAMPLES}")
    return change


def with_changes(site: Site, changes: Iterable[str | Change]) -> Site:
    """Return a site with changes, made one after the other.

    Parameters
    ----------
    site : Site
        The site; it stays as it is.
    changes : iterable of str or Change
        The changes.

    Raises
    ------
    WrongChange
        A text is no change, something that it names does not exist, its value is not allowed, or nothing changes.

    Examples
    --------
    >>> from schedlab.models.site import Partition, Site, SiteNode
    >>> site = Site("lab", [SiteNode(f"n{k}", 16) for k in (1, 2, 3, 4)],
    ...     [Partition("batch", ("n1", "n2", "n3", "n4")), Partition("debug", ("n1",), max_time=600)])
    >>> other = with_changes(site, ["partition.debug.nodes += n[2-3]", "partition.debug.MaxTime = 30", "nodes.batch * 1.5"])
    >>> other.partition("debug").nodes, other.partition("debug").max_time, len(other.nodes)
    (('n1', 'n2', 'n3', 'batch-new1', 'batch-new2'), 1800, 6)
    """
    for change in changes:
        site = (parse_change(change) if isinstance(change, str) else change).apply(site)
    return site


# --- New values.


def _converted(change: Change, table: Table, what: str) -> tuple[str, Any]:
    """Return the field of a table that a change names, and its value; None for no limit. Raises WrongChange."""
    key = change.field.replace("_", "").lower()
    by_field = {name.replace("_", ""): (name, convert) for name, convert in table.values()}
    entry = table.get(key) or by_field.get(key)
    if entry is None:
        known = sorted({name for name, _ in table.values()})
        spelled = meant(key, table)
        if spelled and "_" not in change.field:  # a name of Slurm's files, not one of ``Site``
            raise change.wrong(f"{what} has no field {change.field!r}; did you mean {spelled}?")
        raise change.wrong(f"{what} has no field {change.field!r}; {hint(change.field.lower(), known)}")
    name, convert = entry
    return name, _value(change, name, convert)


def _value(change: Change, name: str, convert: Convert) -> Any:
    if change.sign == "*=":
        return decimal(change.value)
    if name in TRES_LIMITS and change.value.lower() in NO_LIMIT:
        return {}
    return convert(change.value)


def _combined(change: Change, before: Any, value: Any) -> Any:
    """Return the new value of a field. Raises WrongChange."""
    if change.sign == "=":
        return value
    if before is None or (isinstance(before, bool)):
        raise change.wrong(f"{change.field} is {_shown(before)}; expected = and a value")
    if change.sign == "*=":
        if not isinstance(before, int | float):
            raise change.wrong(f"{change.field} is no number; expected =, += or -=")
        if isinstance(before, int):
            return type(before)(round(before * value))
        return before * value
    if isinstance(before, Mapping):
        return _of_amounts(change, before, value)
    if isinstance(before, tuple):
        return _of_list(change, before, value)
    if value is None:
        raise change.wrong(f"expected a number after {change.sign}")
    if change.sign == "+=":
        total = before + value
    else:
        total = before - value
    if total < 0:
        raise change.wrong(f"{change.field} is {before:g}; {value:g} cannot be taken from it")
    return total


def _shown(value: Any) -> str:
    if value is None:
        return "not limited"
    return str(value).lower()


def _of_amounts(change: Change, before: Mapping[str, Any], value: Mapping[str, Any]) -> dict[str, Any]:
    """Return amounts of resources with others added or taken away. Raises WrongChange."""
    amounts = dict(before)
    for name, amount in value.items():
        if name not in amounts:
            raise change.wrong(f"{change.field} does not limit {name}; expected = and all its amounts")
        if change.sign == "+=":
            amounts[name] += amount
        else:
            amounts[name] += -amount
        if amounts[name] < 0:
            raise change.wrong(f"{change.field} of {name} is {before[name]}; {amount} cannot be taken from it")
    return amounts


def _of_list(change: Change, before: tuple[str, ...], value: Iterable[str] | None) -> tuple[str, ...]:
    """Return a list with names added or taken away. Raises WrongChange."""
    given = tuple(value or ())
    if change.sign == "+=":
        return (*before, *(name for name in given if name not in before))
    missing = next((name for name in given if name not in before), None)
    if missing is not None:
        raise change.wrong(f"{change.field} does not have {missing!r}; it has {', '.join(before) or 'nothing'}")
    return tuple(name for name in before if name not in given)


def _with(record: Any, change: Change, name: str, value: Any) -> Any:
    """Return a record with a field changed, of its limits if it has it there."""
    if name in LIMITS and hasattr(record, "limits"):
        limits = record.limits
        return replace(record, limits=replace(limits, **{name: _combined(change, getattr(limits, name), value)}))
    return replace(record, **{name: _combined(change, getattr(record, name), value)})


def _named(change: Change, what: str, known: Iterable[str]) -> None:
    """Raise WrongChange if there is nothing of this name."""
    names = list(known)
    if change.name not in names:
        raise change.wrong(f"there is no {what} {change.name!r}; {hint(change.name, names)}")


# --- What is changed.


def _partition(change: Change, site: Site) -> Site:
    _named(change, "partition", [p.name for p in site.partitions])
    table: Table = {key: entry for key, entry in PARTITION_KEYS.items() if key not in ("priority", "jobdefaults")}
    name, value = _converted(change, {**table, "nodes": ("nodes", _hosts(site))}, "a partition")
    changed = [_with(p, change, name, value) if p.name == change.name else p for p in site.partitions]
    return replace(site, partitions=changed)


def _hosts(site: Site) -> Callable[[str], tuple[str, ...]]:
    """Return the conversion of a list of nodes of a site; ``ALL`` are all of them."""
    return lambda text: tuple(n.name for n in site.nodes) if text.lower() == "all" else tuple(hosts_of(text))


def _qos(change: Change, site: Site) -> Site:
    _named(change, "QOS", [q.name for q in site.qos])
    name, value = _converted(change, QOS_KEYS, "a QOS")
    return replace(site, qos=[_with(q, change, name, value) if q.name == change.name else q for q in site.qos])


def _account(change: Change, site: Site) -> Site:
    _named(change, "account", [a.account for a in site.associations if not a.user])
    return _associations(change, site, lambda a: not a.user and a.account == change.name)


def _user(change: Change, site: Site) -> Site:
    account, _, user = change.name.rpartition("/")
    users = [a.user for a in site.associations if a.user and account in ("", a.account)]
    if user not in users:
        where = ""
        if account:
            where = f" of account {account!r}"
        raise change.wrong(f"there is no user {user!r}{where}; {hint(user, users)}")
    return _associations(change, site, lambda a: a.user == user and account in ("", a.account))


def _associations(change: Change, site: Site, chosen: Callable[[Association], bool]) -> Site:
    name, value = _converted(change, ASSOCIATION_KEYS, "an account or a user")
    return replace(site, associations=[_with(a, change, name, value) if chosen(a) else a for a in site.associations])


def _licence(change: Change, site: Site) -> Site:
    _named(change, "licence", [x.name for x in site.licences])
    value = _value(change, "total", whole)
    counted = replace(change, field="the number of licences")
    licences = [
        Licence(x.name, _combined(counted, x.total, value)) if x.name == change.name else x for x in site.licences
    ]
    return replace(site, licences=licences)


def _scheduler(change: Change, site: Site) -> Site:
    if not isinstance(site.scheduler, SchedulerSettings):
        raise change.wrong(f"the settings of {site.kind} cannot be changed; change its site.toml")
    parameters: Table = {
        key.replace("_", ""): (parameter.field, parameter.convert or yes_or_number)
        for key, parameter in PARAMETERS.items()
    }
    table = {**{key: entry for key, entry in SETTINGS.items() if key != "jobdefaults"}, **parameters}
    name, value = _converted(change, table, "the scheduler")
    return replace(site, scheduler=_with(site.scheduler, change, name, value))


def _node(change: Change, site: Site) -> Site:
    chosen = hosts_of(change.name)
    known = [n.name for n in site.nodes]
    unknown = next((name for name in chosen if name not in set(known)), None)
    if unknown is not None:
        raise change.wrong(f"there is no node {unknown!r}; {hint(unknown, known)}")
    fields_of_nodes = ("memory", "weight", "features", "state")
    table: Table = {key: entry for key, entry in NODE_KEYS.items() if entry[0] in fields_of_nodes}
    name, value = _converted(change, table, "a node")
    return replace(site, nodes=[_with(n, change, name, value) if n.name in chosen else n for n in site.nodes])


def _nodes(change: Change, site: Site) -> Site:
    """Change the number of the nodes of a partition.

    New nodes are copies of its nodes, taken in their order, in all their partitions. Nodes that go are the last ones of
    the partition; they leave all partitions.
    """
    _named(change, "partition", [p.name for p in site.partitions])
    own = [site.node(name) for name in site.partition(change.name).nodes]
    value = _value(change, "nodes", whole)
    counted = replace(change, field="the number of nodes")
    exact = _combined(counted, float(len(own)), float(value))
    if exact < 1:
        raise change.wrong(f"partition {change.name} would have {how_many(exact, 'node', 'g')}; at least 1 is expected")
    if exact > MOST_NODES:
        raise change.wrong(
            f"partition {change.name} would have {how_many(round(exact), 'node', ',')}; at most {MOST_NODES:,} are expected"
        )
    number = round(exact)
    if number == len(own) != exact:
        raise change.wrong(f"partition {change.name} would have {exact:g} nodes, which are the {number} that it has")
    if number < len(own):
        return _without(site, {node.name for node in own[number:]})
    return _more(site, change.name, own, number - len(own))


def _more(site: Site, partition: str, own: list[SiteNode], count: int) -> Site:
    taken = {node.name for node in site.nodes}
    names = (f"{partition}-new{k}" for k in range(1, count + len(taken) + 1))
    fresh = [name for name in names if name not in taken][:count]
    copied = {name: own[k % len(own)] for k, name in enumerate(fresh)}
    nodes = [*site.nodes, *(replace(node, name=name, state="up") for name, node in copied.items())]
    partitions = [
        replace(p, nodes=(*p.nodes, *(name for name, node in copied.items() if node.name in p.nodes)))
        for p in site.partitions
    ]
    return replace(site, nodes=nodes, partitions=partitions)


def _without(site: Site, gone: set[str]) -> Site:
    def left(names: Iterable[str]) -> tuple[str, ...]:
        return tuple(name for name in names if name not in gone)

    return replace(
        site,
        nodes=[node for node in site.nodes if node.name not in gone],
        partitions=[replace(p, nodes=left(p.nodes)) for p in site.partitions],
        reservations=[replace(r, nodes=left(r.nodes)) for r in site.reservations if not r.nodes or left(r.nodes)],
        events=[replace(e, nodes=left(e.nodes)) for e in site.events if left(e.nodes)],
    )


CHANGERS: Mapping[str, Callable[[Change, Site], Site]] = {
    "partition": _partition,
    "qos": _qos,
    "account": _account,
    "user": _user,
    "node": _node,
    "nodes": _nodes,
    "licence": _licence,
    "scheduler": _scheduler,
}
"""What can be changed, and how."""
