"""The output of ``bench show`` for sites: classes of nodes, partitions, QOS, accounts, what is not modelled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from ...models.site import QOS, Limits, Partition, PBSSettings, Site, SiteNode, in_ranges
from ...models.words import duration, how_many
from ..grid import Column, Grid

SHOWN = 10  # faults that are printed
LONG = 60  # characters of a list of names in a table


class NodeClass(NamedTuple):
    """Neighbouring nodes of one kind.

    Attributes
    ----------
    nodes
        The nodes.
    partitions
        The names of the partitions that have them.
    """

    nodes: Sequence[SiteNode]
    partitions: tuple[str, ...]

    @property
    def names(self) -> str:
        """The names of the nodes, in ranges."""
        return in_ranges(node.name for node in self.nodes)


def node_classes(site: Site) -> list[NodeClass]:
    """Return the nodes of a site in groups of neighbours that differ in their names and states alone.

    Examples
    --------
    >>> from schedlab.models.site import SiteNode
    >>> site = Site("s", [SiteNode("a1", 4), SiteNode("a2", 4), SiteNode("b", 8)])
    >>> [(each.names, len(each.nodes)) for each in node_classes(site)]
    [('a[1-2]', 2), ('b', 1)]
    """

    def kind(node: SiteNode) -> tuple[object, ...]:
        amounts = tuple(node.capacity.items())
        return amounts, node.threads, node.features, node.weight, site.partitions_of(node.name)

    groups = (list(group) for _, group in groupby(site.nodes, kind))
    return [NodeClass(nodes, site.partitions_of(nodes[0].name)) for nodes in groups]


def show_site(console: Console, site: Site, plot: Path | None) -> None:
    """Print a site, and draw it on request.

    Parameters
    ----------
    console
        Where it is printed.
    site
        The site.
    plot
        File of a picture to write; None: none.
    """
    cores = sum(node.cpus for node in site.nodes)
    gpus = sum(sum(node.gpus.values()) for node in site.nodes)
    parts = [how_many(len(site.nodes), "node", ","), how_many(cores, "CPU", ",")]
    parts += [how_many(gpus, "GPU", ",")] if gpus else []
    parts += [how_many(len(site.partitions), "partition")]
    console.print(f"{site.name} ({site.kind}): {', '.join(parts)}", style="bold", markup=False, highlight=False)
    console.print(_nodes(site))
    if site.partitions:
        console.print(_partitions(site))
    if site.qos:
        console.print(_qos(site.qos))
    for line in site_lines(site):
        console.print(line, soft_wrap=True, markup=False, highlight=False)
    if plot is not None:
        from ..plots.inputs import plot_site

        classes = [(each.names, len(each.nodes), each.nodes[0].cpus) for each in node_classes(site)]
        order = {node.name: k for k, node in enumerate(site.nodes)}
        places = {p.name: [order[name] for name in p.nodes if name in order] for p in site.partitions}
        plot_site(site.name, classes, places, plot)
        console.print(f"{plot}: nodes and partitions", soft_wrap=True)


def _cut(text: str) -> str:
    return text if len(text) <= LONG else f"{text[: LONG - 3]}..."


def _nodes(site: Site) -> Grid:
    def gpus(each: NodeClass) -> str:
        listed = each.nodes[0].gpus
        return ", ".join(f"{n} {kind}".strip() for kind, n in listed.items()) or "-"

    def states(each: NodeClass) -> str:
        others = [node for node in each.nodes if node.state != "up"]
        return ", ".join(f"{sum(n.state == s for n in others)} {s}" for s in dict.fromkeys(n.state for n in others))

    columns = [
        Column("nodes", lambda c: _cut(c.names), words=True),
        Column("number", lambda c: len(c.nodes), "{:,}".format),
        Column("CPUs", lambda c: c.nodes[0].cpus),
        Column("memory\nMB", lambda c: c.nodes[0].memory, "{:,}".format),
        Column("GPUs", gpus, words=True),
        Column("weight", lambda c: c.nodes[0].weight, spare=1),
        Column("features", lambda c: ", ".join(c.nodes[0].features) or "-", words=True, spare=2),
        Column("partitions", lambda c: ", ".join(c.partitions) or "-", words=True, least=12),
        Column("not up", lambda c: states(c) or "-", words=True, spare=1),
    ]
    return Grid.of("", columns, node_classes(site))


def _partitions(site: Site) -> Grid:
    known = {node.name: node for node in site.nodes}

    def total(p: Partition) -> int:
        return sum(known[name].cpus for name in p.nodes if name in known)

    columns = [
        Column("partition", lambda p: p.name + (" (default)" if p.default else ""), words=True),
        Column("nodes", lambda p: len(p.nodes), "{:,}".format),
        Column("CPUs", total, "{:,}".format),
        Column("longest", lambda p: None if p.max_time is None else duration(p.max_time)),
        Column("tier", lambda p: p.tier),
        Column("factor", lambda p: p.job_factor, spare=1),
        Column("rules", lambda p: "; ".join(_rules(p)) or "-", words=True, least=16),
    ]
    return Grid.of("", columns, site.partitions)


def _rules(p: Partition) -> Iterator[str]:
    """Yield what a partition allows and asks for, in words."""
    if p.state != "up":
        yield f"state {p.state}"
    if p.min_nodes > 1 or p.max_nodes is not None:
        yield f"{p.min_nodes or 1} to {'any' if p.max_nodes is None else p.max_nodes} nodes"
    if p.oversubscribe != "no":
        yield "whole nodes" if p.exclusive else f"shared ({p.oversubscribe})"
    if p.qos is not None:
        yield f"limits of QOS {p.qos}"
    for what, allowed, denied in (
        ("QOS", p.allow_qos, p.deny_qos),
        ("accounts", p.allow_accounts, p.deny_accounts),
        ("groups", p.allow_groups, ()),
    ):
        if allowed is not None:
            yield f"only {what} {', '.join(allowed) or 'of no name'}"
        elif denied:
            yield f"not {what} {', '.join(denied)}"
    if p.preempt_mode not in (None, "off"):
        yield f"preempted: {p.preempt_mode}"


def _qos(listed: Sequence[QOS]) -> Grid:
    columns = [
        Column("QOS", lambda q: q.name, words=True),
        Column("priority", lambda q: q.priority, "{:,}".format),
        Column("limits", lambda q: ", ".join(limit_texts(q.limits)) or "-", words=True, least=20),
        Column("preempts", lambda q: ", ".join(q.preempt) or "-", words=True, spare=1),
        Column("flags", lambda q: ", ".join(q.flags) or "-", words=True, spare=2),
    ]
    return Grid.of("", columns, listed)


def limit_texts(limits: Limits) -> Iterator[str]:
    """Yield the limits in words.

    >>> list(limit_texts(Limits(max_jobs_per_user=3, grp_tres={"cpu": 32})))
    ['grp_tres cpu=32', 'max_jobs_per_user 3']
    """
    for name, value in limits.given():
        text = str(value) if isinstance(value, int) else ",".join(f"{k}={n}" for k, n in value.items())
        yield f"{name} {text}"


def site_lines(site: Site) -> Iterator[str]:
    """Yield the lines below the tables: accounts, licences, reservations, the scheduler, faults, what is not modelled."""
    accounts = [a for a in site.associations if not a.user]
    users = {a.user for a in site.associations if a.user}
    if accounts:
        limited = sum(bool(a.limits) for a in site.associations)
        more = f", {limited} of them with limits" if limited else ""
        yield f"accounts: {len(accounts)} with {how_many(len(users), 'user')}{more}"
    if site.licences:
        yield f"licences: {', '.join(f'{x.total} {x.name}' for x in site.licences)}"
    for r in site.reservations:
        where = in_ranges(r.nodes) or ("unknown nodes" if r.node_count is None else how_many(r.node_count, "node"))
        yield f"reservation {r.name}: {where} for {duration(r.duration)}{_flags(r.flags)}"
    if site.events:
        yield f"events: {how_many(len(site.events), 'change')} of the states of nodes"
    yield f"scheduler: {', '.join(_scheduler(site.scheduler))}"
    faults = site.faults()
    for fault in faults[:SHOWN]:
        yield f"fault: {fault}"
    if len(faults) > SHOWN:
        yield f"fault: {how_many(len(faults) - SHOWN, 'more')}"
    from ...simulation.features.site_limits import not_modelled  # numba: half of the start of the command line

    names = not_modelled(site)
    if names:
        yield f"not modelled: {'; '.join(names)}"


def _flags(flags: Sequence[str]) -> str:
    return f" ({', '.join(flags)})" if flags else ""


def _scheduler(settings: Any) -> Iterator[str]:
    if isinstance(settings, PBSSettings):
        yield f"backfill depth {settings.backfill_depth}"
        yield "strict ordering" if settings.strict_ordering else "no strict ordering"
        if settings.job_sort_formula:
            yield f"formula {settings.job_sort_formula}"
        return
    yield f"{settings.scheduler_type}, {settings.select_type}"
    if settings.select_parameters:
        yield " ".join(settings.select_parameters)
    yield f"priority {settings.priority_type}"
    names = ("age", "fairshare", "job_size", "partition", "qos", "assoc")
    weights = {name: getattr(settings, f"weight_{name}") for name in names}
    if settings.priority_type == "multifactor" and any(weights.values()):
        yield "weights " + " ".join(f"{name} {n:,}" for name, n in weights.items() if n)
    yield f"backfill every {settings.bf_interval} s over {duration(settings.bf_window)}"
