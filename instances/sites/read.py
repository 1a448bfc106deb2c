"""The entry point: files of a site, each recognised by its content, and merged."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, tzinfo
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from ...models.site import Site
from ..files.reading import WorkloadError, each_line, read_lines
from . import pbs, sacctmgr, slurm_conf
from .draft import Draft, SiteError, SiteFault, Where
from .site_toml import is_site_toml, read_site_toml

HEAD = 400  # lines by which a file is recognised
Reader = Callable[[Draft, Path, Sequence[str]], None]


class SiteFormat(NamedTuple):
    """A kind of files that describe a site.

    Attributes
    ----------
    name
        What it is, for messages.
    fits
        Whether the first lines of a file are of this kind.
    read
        Adds a file to a draft.
    """

    name: str
    fits: Callable[[Sequence[str]], bool]
    read: Reader


def _some(pattern: str) -> Callable[[Sequence[str]], bool]:
    compiled = re.compile(pattern, re.IGNORECASE)
    return lambda lines: any(compiled.match(line) for line in lines)


def _both(pattern: str, other: str) -> Callable[[Sequence[str]], bool]:
    first = re.compile(pattern)
    second = re.compile(other)
    return lambda lines: any(first.match(line) for line in lines) and any(second.search(line) for line in lines)


def _columns(*needed: str) -> Callable[[Sequence[str]], bool]:
    def fits(lines: Sequence[str]) -> bool:
        header = next((line for line in lines if line.strip()), "")
        names = {name.replace(" ", "").lower() for name in header.split("|")}
        return set(needed) <= names and "jobid" not in names  # sacct has such columns too

    return fits


def _is_slurm_conf(lines: Sequence[str]) -> bool:
    keys = re.compile(
        r"(ClusterName|NodeName|PartitionName|SlurmctldHost|ControlMachine|SchedulerType|SelectType)\s*=", re.I
    )
    return any(keys.match(line.strip()) for line in lines)


def _is_gres_conf(lines: Sequence[str]) -> bool:
    plain = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    key = re.compile(r"(NodeName=\S+\s+)?(Name=(gpu|mps|shard|nic|\w+)\s|AutoDetect=)", re.IGNORECASE)
    return bool(plain) and all(key.match(f"{line} ") for line in plain)


def _is_licences(lines: Sequence[str]) -> bool:
    return any(line.startswith("LicenseName=") for line in lines)


FORMATS: Sequence[SiteFormat] = (  # in the order in which they are read: what comes later says more of the same
    SiteFormat("scontrol show config", _some("Configuration data as of "), slurm_conf.read_config),
    SiteFormat("sacctmgr dump", _some(r"Cluster - '"), sacctmgr.read_dump),
    SiteFormat("commands of sacctmgr", sacctmgr.is_script, sacctmgr.read_script),
    SiteFormat("scontrol show node", _both("NodeName=", r"\bCPUAlloc="), slurm_conf.read_nodes),
    SiteFormat("scontrol show partition", _both("PartitionName=", r"\bTotalNodes="), slurm_conf.read_partitions),
    SiteFormat(
        "scontrol show res", _some("ReservationName=|No reservations in the system"), slurm_conf.read_reservations
    ),
    SiteFormat("scontrol show lic", _is_licences, slurm_conf.read_licences),
    SiteFormat("sacctmgr -P show assoc", _columns("account", "user", "cluster", "qos"), sacctmgr.read_associations),
    SiteFormat("sacctmgr -P show qos", _columns("name", "priority", "usagefactor"), sacctmgr.read_qos),
    SiteFormat("sacctmgr -P show reservation", _columns("name", "timestart", "timeend"), sacctmgr.read_reservations),
    SiteFormat("sacctmgr -P show event", _columns("nodename", "timestart", "state"), sacctmgr.read_events),
    SiteFormat("qmgr print server", pbs.is_qmgr, pbs.read_qmgr),
    SiteFormat("pbsnodes", pbs.is_nodes, pbs.read_nodes),
    SiteFormat("sched_config", pbs.is_sched_config, pbs.read_sched_config),
    SiteFormat("gres.conf", _is_gres_conf, slurm_conf.read_gres_conf),
    SiteFormat("slurm.conf", _is_slurm_conf, slurm_conf.read_slurm_conf),
)
FIRST = ("slurm.conf", "gres.conf")  # which are recognised last, and read first
WITH_NODES = ("slurm.conf", "pbsnodes", "scontrol show node")


def format_of(path: str | Path) -> SiteFormat | None:
    """Return the kind of a file, by its content; None if it is none of them.

    Raises WorkloadError if it cannot be read.
    """
    lines = list(islice(each_line(path), HEAD))
    return next((each for each in FORMATS if each.fits(lines)), None)


def is_site(path: str | Path) -> bool:
    """Check whether a file, or a folder, describes a site; of a folder whether it has nodes or partitions."""
    path = Path(path)
    try:
        if path.is_dir():
            return any(f.name in WITH_NODES for _, f in _in_folder(path)) or any(map(is_site_toml, path.glob("*.toml")))
        return path.is_file() and (is_site_toml(path) or format_of(path) is not None)
    except (WorkloadError, OSError):
        return False


def read_site(*paths: str | Path, zone: tzinfo = UTC, name: str | None = None) -> Site:
    r"""Read the description of a machine.

    Parameters
    ----------
    *paths : str or Path
        Files, or folders of such files, each of which is recognised by its content:

        - of Slurm: ``slurm.conf`` with the files that it includes, ``gres.conf``; the output of ``sacctmgr dump``, of
          ``sacctmgr -P show assoc``, ``qos``, ``reservation``, ``event``, or a script of its commands; that of
          ``scontrol show config``, ``node``, ``partition``, ``res``, ``lic``;
        - of PBS: ``qmgr -c "print server"``, ``pbsnodes -av`` (also with ``-F json``), ``sched_config``;
        - a ``site.toml``, alone.

        Files may be compressed (``.gz``). Others in a folder are left out. Of the same thing, what a running scheduler prints
        counts more than ``slurm.conf``.
    zone : tzinfo, optional
        Time zone of the times of reservations and events. Default: UTC.
    name : str, optional
        Name of the site. Default: that of its files.

    Returns
    -------
    Site
        The site. What influences the schedule and is not modelled is in ``not_modelled``, and so are unknown keys.

    Raises
    ------
    SiteError
        A file is no description of a site, or has faults; the message has the first ten with their lines.

    References
    ----------
    .. [1] Slurm documentation, slurm.conf, https://slurm.schedmd.com/slurm.conf.html

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     conf = Path(folder, "slurm.conf")
    ...     _ = conf.write_text("ClusterName=lab\nNodeName=n[1-4] CPUs=16\nPartitionName=batch Nodes=ALL MaxTime=1-0\n")
    ...     site = read_site(conf)
    >>> site.name, [node.name for node in site.nodes], site.partition("batch").max_time
    ('lab', ['n1', 'n2', 'n3', 'n4'], 86400)
    """
    if not paths:
        raise SiteError(
            [SiteFault(Where("read_site"), "paths", "no path is given; expected paths of files or folders")]
        )
    draft = Draft(zone=zone)
    files = list(_all_files(draft, [Path(path) for path in paths]))
    toml = [path for path, form in files if form is None]
    where = Where(", ".join(map(str, paths)))
    if draft.faults:
        raise SiteError(draft.faults)
    if toml:
        if len(files) > 1:
            others = next(path for path, _ in files if path != toml[0])
            raise SiteError([SiteFault(Where(str(toml[0])), "", f"a site.toml is read alone; leave out {others}")])
        site = read_site_toml(toml[0])
        if name is None:
            return site
        return replace(site, name=name)
    for path, form in sorted(files, key=lambda f: _rank(f[1])):
        assert form is not None  # those of TOML are read above
        form.read(draft, path, read_lines(path))
    if draft.kind == "pbs":
        pbs.complete(draft)
    if not draft.nodes:
        why = "no file describes nodes; expected slurm.conf, scontrol show node or pbsnodes -av among them"
        draft.faults.insert(0, SiteFault(where, "", why))
    site = draft.site(where)
    if name is None:
        return site
    return replace(site, name=name)


def _rank(form: SiteFormat | None) -> int:
    """Return the place of a kind of files in the order in which they are read."""
    if form is None or form.name in FIRST:
        if form is not None:
            return FIRST.index(form.name)
        return 0
    return len(FIRST) + FORMATS.index(form)


def _all_files(draft: Draft, paths: Sequence[Path]) -> Iterator[tuple[Path, SiteFormat | None]]:
    """Yield the files with their kinds, None for a ``site.toml``; those that are none of them are faults."""
    for path in paths:
        if path.is_dir():
            inside = list(_in_folder(path))
            tomls = [each for each in sorted(path.glob("*.toml")) if is_site_toml(each)]
            if not inside and tomls:
                yield tomls[0], None
            elif not inside:
                draft.fault(
                    Where(str(path)),
                    "",
                    "the folder has no file that describes a site; expected slurm.conf, pbsnodes or site.toml",
                )
            yield from inside
            continue
        try:
            if is_site_toml(path):
                yield path, None
                continue
            form = format_of(path)
        except WorkloadError as e:
            draft.fault(Where(str(path)), "", str(e).removeprefix(f"{path}: "))
            continue
        if form is None:
            kinds = ", ".join(each.name for each in FORMATS)
            draft.fault(Where(str(path)), "", f"it is no description of a site; expected site.toml, {kinds}")
        else:
            yield path, form


def _in_folder(folder: Path) -> Iterator[tuple[Path, SiteFormat]]:
    """Yield the files of a folder that describe a site, by name; without those that its ``slurm.conf`` includes."""
    kinds: dict[Path, SiteFormat] = {}
    included: set[str] = set()
    for path in sorted(folder.iterdir()):
        if not path.is_file() or path.name.startswith("."):
            continue
        try:
            form = format_of(path)
            if form is not None:
                kinds[path] = form
            if form is not None and form.name in FIRST:
                matches = (slurm_conf.INCLUDE.fullmatch(line.strip()) for line in each_line(path))
                included |= {Path(m[1].strip().strip('"')).name for m in matches if m is not None}
        except WorkloadError:
            continue
    yield from ((path, form) for path, form in kinds.items() if path.name not in included)
