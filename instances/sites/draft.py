"""A site while its files are read: what each file adds, the faults of all of them, and the site that is made of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ...errors import SchedlabError, WrongValue
from ...models.node_states import NodeEvent
from ...models.platform import ProblemError
from ...models.site import (
    QOS,
    ROOT,
    Association,
    Licence,
    Limits,
    Partition,
    PBSSettings,
    SchedulerSettings,
    Site,
    SiteNode,
    SiteReservation,
    is_flag,
)
from ...models.words import excerpt, hint, how_many, shortened, similar, visible
from ..formats.slurm_values import hosts_of

SHOWN = 10  # faults in a message
Values = dict[str, Any]
Convert = Callable[[str], Any]
Table = Mapping[str, tuple[str, Convert]]
"""Key in lower case -> the field that it gives, and how its text is converted."""


class Where(NamedTuple):
    """A line of a file, from 1; 0: the file as a whole."""

    file: str
    line: int = 0


@dataclass(frozen=True)
class SiteFault:
    """A fault of a file: where, which field, and what was expected."""

    where: Where
    field: str
    why: str

    def __str__(self) -> str:
        if self.where.line:
            at = f"{self.where.file}, line {self.where.line}"
        else:
            at = self.where.file
        return shortened(visible(f"{at}: {self.why}"))


class SiteError(SchedlabError, ValueError):
    """The error for files that do not describe a site; the message lists the first 10 faults.

    Attributes
    ----------
    faults : tuple of SiteFault
        All faults.
    """

    def __init__(self, faults: Sequence[SiteFault]) -> None:
        self.faults = tuple(faults)
        lines = [str(fault) for fault in self.faults[:SHOWN]]
        if len(self.faults) == 1:
            super().__init__(lines[0])
            return
        head = f"the description of the site has {how_many(len(self.faults), 'fault')}"
        if len(self.faults) > SHOWN:
            head += f", the first {SHOWN} of them"
        super().__init__("\n".join([f"{head}:", *(f"  {line}" for line in lines)]))


class NamedAccount(NamedTuple):
    """An account that a line names as one that exists: as a parent, or as that of a user; ``field``: where it names it."""

    where: Where
    field: str
    of: str
    account: str


@dataclass
class Draft:
    """What is known of a site so far.

    Each of the mappings is name -> field of the class of ``models.site`` -> value; what is read later replaces what was
    read before, field by field.
    """

    zone: tzinfo = UTC
    name: str = ""
    kind: Literal["slurm", "pbs"] = "slurm"
    nodes: dict[str, Values] = field(default_factory=dict)
    partitions: dict[str, Values] = field(default_factory=dict)
    node_sets: dict[str, tuple[Where, Values]] = field(default_factory=dict)
    qos: dict[str, Values] = field(default_factory=dict)
    associations: dict[tuple[str, str, str], Values] = field(default_factory=dict)
    licences: dict[str, int] = field(default_factory=dict)
    reservations: dict[str, Values] = field(default_factory=dict)
    settings: Values = field(default_factory=dict)
    events: list[NodeEvent] = field(default_factory=list)
    not_modelled: dict[str, None] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)
    misspelt: list[SiteFault] = field(default_factory=list)
    named_accounts: list[NamedAccount] = field(default_factory=list)
    faults: list[SiteFault] = field(default_factory=list)
    qos_are_known: bool = False
    named_in: str = ""

    def fault(self, where: Where, field: str, why: str) -> None:
        """Note a fault."""
        self.faults.append(SiteFault(where, field, why))

    def ends_before(self, where: Where, field: str, reservation: str, begin: str, end: str) -> None:
        """Note that a reservation ends before it begins."""
        why = f"the reservation {excerpt(reservation)} ends at {end}, before it begins at {begin}; expected a later end"
        self.fault(where, field, f"{field}: {why}")

    def omit(self, what: str) -> None:
        """Note something that influences the schedule and that no replay obeys."""
        self.not_modelled[what] = None

    def of_cluster(self, where: Where, name: str) -> None:
        """Note the name of the cluster; a file of another one is a fault."""
        if self.named_in and self.named_in != where.file and name.lower() != self.name.lower():
            self.fault(
                where, "ClusterName", f"ClusterName={name}: {self.named_in} is of the cluster {self.name}; expected one"
            )
        self.name, self.named_in = name, where.file

    def strange(self, where: Where, what: str, proposed: str = "") -> None:
        """Note a key that is not known, with the line that has it first; ``proposed``: a known one that is similar."""
        at = f"{Path(where.file).name}, line {where.line}"
        question = ""
        if proposed:
            question = f"; did you mean {proposed}?"
        if proposed and what not in self.unknown:  # a fault where others may follow from it
            self.misspelt.append(SiteFault(where, what, f"{what}: it is not known{question}"))
        self.unknown.setdefault(what, f"{what} (not known, {at}{question})")

    def convert(self, where: Where, key: str, text: str, convert: Convert) -> Any:
        """Return the value of a field; a wrong one is a fault, and None is returned."""
        try:
            return convert(text)
        except WrongValue as e:
            why = str(e)
            self.fault(where, key, f"{key} is {why}" if why.startswith(("'", '"')) else f"{key}: {why}")
            return None

    def read(
        self, where: Where, pairs: Iterable[tuple[str, str]], table: Table, ignored: frozenset[str], what: str
    ) -> Values:
        """Return the fields of a line of pairs of key and text.

        Parameters
        ----------
        where
            The line.
        pairs
            Keys as they are written, and texts.
        table
            The keys that are read.
        ignored
            Keys, in lower case, that do not concern a replay.
        what
            What the line describes, for keys that are in neither.
        """
        values: Values = {}
        for key, text in pairs:
            entry = table.get(key.lower())
            if entry is not None:
                before = len(self.faults)
                value = self.convert(where, key, text, entry[1])
                if len(self.faults) == before:
                    values[entry[0]] = value
            elif key.lower() not in ignored:
                self.strange(where, f"{key} of {what}", meant(key, [*table, *ignored]))
        return values

    def hosts(self, where: Where, key: str, text: str) -> list[str]:
        """Return the names in a list of hosts; a malformed one is a fault."""
        return self.convert(where, key, text, hosts_of) or []

    def node(self, name: str, values: Values) -> None:
        """Add fields of a node."""
        self.nodes.setdefault(name, {}).update(values)

    def association(self, account: str, user: str = "", partition: str = "") -> Values:
        """Return the fields of an association, which is made if there is none."""
        return self.associations.setdefault((account, user, partition), {})

    def names_account(self, where: Where, field: str, account: str, of: str = "") -> None:
        """Note an account that must exist once all files are read; ``of``: the account or the user that it is for."""
        self.named_accounts.append(NamedAccount(where, field, f" of {of}" if of else "", account))

    # --- The site.

    def site(self, where: Where) -> Site:
        """Return the site. Raises SiteError with all faults."""
        reserved = {name: self._with_known_flags(name, values) for name, values in self.reservations.items()}
        made: dict[str, Any] = {
            "nodes": self._each("node", self.nodes, _node, where),
            "partitions": self._each("partition", self.partitions, _plain(Partition), where),
            "reservations": self._each("reservation", reserved, _plain(SiteReservation), where),
        }
        names = {what: {each.name for each in made[what]} for what in ("nodes", "partitions")}
        known = self._as_the_site_has_them(made["reservations"], names["nodes"], names["partitions"])
        made["reservations"] = [_of_whole_nodes(r, made["nodes"]) for r in known]
        self._complete_accounts()
        made["qos"] = self._each("QOS", self.qos, _with_limits(QOS), where)
        made["associations"] = self._associations(where)
        if self.faults:
            general = [fault for fault in self.faults if not fault.where.line]
            raise SiteError([*general, *self.misspelt, *(fault for fault in self.faults if fault.where.line)])
        settings = PBSSettings if self.kind == "pbs" else SchedulerSettings
        try:
            scheduler = settings(**_with_own_limits(settings, self.settings))
            if isinstance(scheduler, SchedulerSettings) and not self.associations:
                self._note_missing_accounts(scheduler)
            return Site(
                self.name or "site",
                licences=[Licence(name, total) for name, total in self.licences.items()],
                scheduler=scheduler,
                kind=self.kind,
                not_modelled=[*self.not_modelled, *self.unknown.values()],
                events=_merged(self.events),
                **made,
            )
        except (ProblemError, SchedlabError) as e:
            raise SiteError([SiteFault(where, "", str(e))]) from e

    def _as_the_site_has_them(
        self, reservations: Iterable[SiteReservation], nodes: Collection[str], partitions: Collection[str]
    ) -> Iterator[SiteReservation]:
        """Yield reservations without nodes and partitions that the site does not have any more, which are noted."""
        for r in reservations:
            gone = [name for name in r.nodes if name not in nodes]
            part = ""
            if r.partition not in partitions:
                part = r.partition
            listed = ", ".join(gone[:3]) + (", ..." if len(gone) > 3 else "")
            if (gone and len(gone) == len(r.nodes)) or (part and not r.nodes):
                self.omit(
                    f"the reservation {r.name} (it was on {listed or f'the partition {part}'}, which the site does not have)"
                )
                continue
            if gone:
                self.omit(f"nodes of the reservation {r.name} that the site does not have: {listed}")
            if part:
                self.omit(f"the partition {part} of the reservation {r.name}, which the site does not have")
            yield replace(
                r, nodes=tuple(name for name in r.nodes if name not in gone), partition="" if part else r.partition
            )

    def _with_known_flags(self, name: str, values: Values) -> Values:
        """Return the fields of a reservation without flags that are not known, which are noted."""
        strange = [flag for flag in values.get("flags", ()) if not is_flag(flag)]
        for flag in strange:
            self.omit(f"the flag {flag.upper()} of the reservation {name}")
        return {**values, "flags": tuple(flag for flag in values.get("flags", ()) if flag not in strange)}

    def _each(
        self, what: str, named: Mapping[str, Values], make: Callable[[str, Values], Any], where: Where
    ) -> list[Any]:
        made = []
        for name, values in named.items():
            try:
                made.append(make(name, values))
            except SchedlabError as e:
                self.fault(where, what, str(e))
        return made

    def _associations(self, where: Where) -> list[Association]:
        made = []
        for (account, user, partition), values in self.associations.items():
            try:
                made.append(Association(account, user, partition, **_split_limits(Association, values)))
            except SchedlabError as e:
                self.fault(where, "association", str(e))
        return made

    def _check_named_accounts(self) -> None:
        """Note as a fault each account that a line names and that no file has."""
        known = [ROOT, *(account for account, user, partition in self.associations if not user and not partition)]
        for where, name, of, account in self.named_accounts:
            if account not in known:
                self.fault(where, name, f"{name}{of}: there is no account {excerpt(account)}; {hint(account, known)}")

    def _note_missing_accounts(self, scheduler: SchedulerSettings) -> None:
        """Note the rules of the scheduler that need accounts, where no file has any."""
        rules = []
        if scheduler.enforces_limits:
            rules.append("limits of accounts and users (AccountingStorageEnforce has limits)")
        if scheduler.priority_type == "multifactor" and scheduler.weight_fairshare:
            rules.append("fair shares (PriorityWeightFairshare is not 0)")
        if rules:
            self.omit(f"{' and '.join(rules)}: no file has accounts (sacctmgr dump, or sacctmgr -P show assoc)")

    def _complete_accounts(self) -> None:
        """Put accounts without a parent below the root, and add the QOS that are named, if no file defines any."""
        accounts = dict.fromkeys(account for account, *_ in self.associations)
        self._check_named_accounts()
        if accounts and ROOT not in accounts and self.kind == "slurm":
            self.associations = {(ROOT, "", ""): {}} | self.associations
        for account in accounts:  # a user that is listed without its account
            self.association(account)
        without = [
            account
            for (account, user, partition), values in self.associations.items()
            if not user and not partition and account != ROOT and "parent" not in values
        ]
        for account in without:
            self.association(account)["parent"] = ROOT
        if self.qos_are_known:
            return
        named = dict.fromkeys(
            name
            for values in [*self.associations.values(), *self.partitions.values()]
            for key in ("qos", "allow_qos", "deny_qos", "default_qos")
            for name in _names(values.get(key))
        )
        missing = [name for name in named if name not in self.qos]
        if missing:
            self.omit(f"priorities and limits of the QOS {', '.join(missing)} (no file has them: sacctmgr show qos)")
        for name in missing:
            self.qos[name] = {}


def _of_whole_nodes(reservation: SiteReservation, nodes: Sequence[SiteNode]) -> SiteReservation:
    """Return a reservation of named nodes without their number, and without that of their cores if it has all of them."""
    if not reservation.nodes:
        return reservation
    cores = sum(node.cores for node in nodes if node.name in reservation.nodes)
    some = reservation.core_count is not None and reservation.core_count < cores
    return replace(reservation, node_count=None, core_count=reservation.core_count if some else None)


def _merged(events: Iterable[NodeEvent]) -> list[NodeEvent]:
    """Return the events by time; of one time those of one kind together, and the ends of outages before new ones."""
    nodes: dict[tuple[int, bool, str], dict[str, None]] = {}
    for event in events:
        key = (event.time, event.kind != "node-up", event.kind)
        nodes.setdefault(key, {}).update(dict.fromkeys(event.nodes))
    return [NodeEvent(time, kind, tuple(listed)) for (time, _, kind), listed in sorted(nodes.items())]


def _names(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    return tuple(value)


def _node(name: str, values: Values) -> SiteNode:
    """Return a node; its cores are those of its sockets, or its CPUs over the threads of a core, as Slurm counts."""
    given = dict(values)
    threads = given.pop("threads", None) or 1
    sockets, per_socket, boards = (given.pop(key, None) for key in ("sockets", "cores_per_socket", "boards"))
    reserved_cores = given.pop("reserved_cores", 0)
    reserved_memory = given.pop("reserved_memory", 0)
    cpus = given.pop("cpus", None)
    cores = given.pop("cores", None)
    if cores is None and (sockets or per_socket):
        if cpus and not sockets:
            sockets = max(1, cpus // ((per_socket or 1) * threads))
        cores = (boards or 1) * (sockets or 1) * (per_socket or 1)
    if cores is None:
        cores = max(1, (cpus or 1) // threads)
    in_all = (boards or 1) * (sockets or cores)
    if cpus not in (in_all, cores, cores * threads):  # Slurm sets such a number to that of the threads
        cpus = cores * threads
    usable = max(0, cores - reserved_cores)
    memory = given.pop("memory", None)
    if memory is not None:
        memory = max(0, memory - reserved_memory)
    return SiteNode(name, usable, threads, memory, cpus=cpus * usable // max(1, cores), **given)


def _plain(kind: Any) -> Callable[[str, Values], Any]:
    return lambda name, values: kind(name, **values)


def _with_limits(kind: Any) -> Callable[[str, Values], Any]:
    return lambda name, values: kind(name, **_split_limits(kind, values))


LIMITS = frozenset(each.name for each in fields(Limits))


def _split_limits(kind: Any, values: Values) -> Values:
    """Return the fields with the limits among them put together; None is what an unset limit was set to."""
    own = {each.name for each in fields(kind)}
    limits = {name: value for name, value in values.items() if name in LIMITS and name not in own and value is not None}
    others = {name: value for name, value in values.items() if name not in limits and name not in LIMITS}
    if limits:
        return {**others, "limits": Limits(**limits)}
    return others


def _with_own_limits(kind: Any, values: Values) -> Values:
    if kind is PBSSettings:
        return _split_limits(kind, values)
    return values


# --- Converters of texts that several files share; a wrong text raises WrongValue, which begins with the text.


def plain(text: str) -> str:
    """Return a text as it is."""
    return text


def lower(text: str) -> str:
    """Return a text in lower case."""
    return text.lower()


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text with spaces."""
    return frozenset(text.split())


NOTHING = frozenset(("", "(null)", "n/a", "none"))


def words(text: str) -> tuple[str, ...]:
    """Return the words of a list with commas, in lower case; none for ``(null)`` and ``N/A``.

    >>> words("Associations,limits"), words("(null)")
    (('associations', 'limits'), ())
    """
    if text.lower() in NOTHING:
        return ()
    return tuple(filter(None, (word.strip().lower() for word in text.split(","))))


def names(text: str) -> tuple[str, ...]:
    """Return the names of a list with commas; none for ``(null)`` and ``N/A``."""
    if text.lower() in NOTHING:
        return ()
    return tuple(filter(None, (name.strip() for name in text.split(","))))


def names_or_all(text: str) -> tuple[str, ...] | None:
    """Return the names of a list with commas, in lower case; None for ``ALL``.

    >>> names_or_all("normal,High"), names_or_all("ALL")
    (('normal', 'high'), None)
    """
    if text.lower() in ("all", *NOTHING):
        return None
    return words(text)


def name_or_none(text: str) -> str | None:
    """Return a name in lower case; None for ``N/A``."""
    if text.lower() in NOTHING:
        return None
    return text.lower()


def yes(text: str) -> bool:
    """Return whether a text is ``YES``. Raises WrongValue.

    >>> yes("YES"), yes("no"), yes("0")
    (True, False, False)
    """
    if text.lower() in ("yes", "true", "up", "1"):
        return True
    if text.lower() in ("no", "false", "down", "0", "(null)"):
        return False
    raise WrongValue(f"{text[:40]!r}; expected YES or NO")


def decimal(text: str) -> float:
    """Return a number of at least 0. Raises WrongValue."""
    try:
        if text.isascii() and len(text) <= 40 and "_" not in text:
            value = float(text)
        else:
            value = math.nan
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise WrongValue(f"{text[:40]!r}; expected a number of at least 0")
    return value


# --- Keys as Slurm's documentation writes them.

NEAR = 0.8  # least similarity of a key that is proposed, 0 to 1
KEYS_OF_NODES = (
    "NodeName CPUs Procs Boards Sockets SocketsPerBoard CoresPerSocket ThreadsPerCore RealMemory Weight State "
    "Feature Features Gres CoreSpecCount MemSpecLimit NodeAddr NodeHostname"
)
KEYS_OF_PARTITIONS = (
    "PartitionName Nodes MaxTime DefaultTime MinNodes MaxNodes MaxCPUsPerNode DefMemPerCPU MaxMemPerCPU "
    "DefMemPerNode MaxMemPerNode DefMemPerGPU DefCpuPerGPU PriorityTier PriorityJobFactor Priority AllowQos DenyQos "
    "AllowAccounts DenyAccounts AllowGroups QOS OverSubscribe Shared PreemptMode GraceTime OverTimeLimit Default "
    "LLN ExclusiveUser ReqResv TRESBillingWeights JobDefaults"
)
KEYS_OF_SETTINGS = (
    "ClusterName SchedulerType SchedulerParameters SelectType SelectTypeParameters PriorityType PriorityWeightAge "
    "PriorityWeightAssoc PriorityWeightFairshare PriorityWeightJobSize PriorityWeightPartition PriorityWeightQOS "
    "PriorityWeightTRES PriorityMaxAge PriorityDecayHalfLife PriorityCalcPeriod PriorityUsageResetPeriod "
    "PriorityFavorSmall PriorityFlags FairShareDampeningFactor PreemptType PreemptExemptTime KillWait CompleteWait "
    "ResvOverRun EnforcePartLimits AccountingStorageEnforce JobRequeue MaxArraySize MaxJobCount Licenses "
    "TopologyPlugin TopologyParam BurstBufferType JobSubmitPlugins CliFilterPlugins NodeFeaturesPlugins MCSPlugin "
    "DependencyParameters"
)
KEYS_OF_ACCOUNTING = (
    "Fairshare Shares RawShares DefaultQOS Parent ParentName GrpTRES GrpJobs GrpSubmit GrpSubmitJobs GrpWall "
    "GrpTRESMins GrpTRESRunMins MaxJobs MaxSubmit MaxSubmitJobs MaxTRES MaxTRESPerJob MaxTRESPerNode MaxTRESMins "
    "MaxTRESMinsPerJob MaxWall MaxWallDurationPerJob MaxJobsPerUser MaxSubmitJobsPerUser MaxTRESPerUser "
    "MaxJobsPerAccount MaxSubmitJobsPerAccount MaxTRESPerAccount MinTRESPerJob Preempt UsageFactor UsageThreshold "
    "LimitFactor Flags"
)
SPELLED = {
    name.lower(): name
    for text in (KEYS_OF_NODES, KEYS_OF_PARTITIONS, KEYS_OF_SETTINGS, KEYS_OF_ACCOUNTING)
    for name in text.split()
}


def meant(key: str, known: Iterable[str], near: float = NEAR) -> str:
    """Return the known key that a key is most similar to, as it is written in Slurm's documentation; "" if there is none.

    Parameters
    ----------
    key
        The key, in any case.
    known
        The known ones, in lower case.
    near
        Least similarity, 0 to 1.

    Examples
    --------
    >>> meant("PriorityWeigthAge", ["priorityweightage", "prioritymaxage"]), meant("Colour", ["cpus"])
    ('PriorityWeightAge', '')
    """
    alike = similar(key.lower(), known, 1, near)
    if alike:
        return SPELLED.get(alike[0], alike[0])
    return ""
