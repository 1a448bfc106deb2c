"""Accounts, users and QOS from ``sacctmgr``: its dump, what ``sacctmgr -P show`` prints, and scripts of its commands [sacctmgr(1)]."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from ...errors import WrongValue
from ...models.node_states import NodeEvent
from ...models.site import ROOT, TRES_LIMITS
from ..formats.slurm_values import count_limit, limit, moment, tres_limits
from .draft import Draft, Table, Values, Where, decimal, lower, name_or_none, word_set, words
from .slurm_conf import whole

# --- The keys of associations and QOS, in the spellings of all three forms; some of them mean another limit of a QOS.


def shares(text: str) -> int | str:
    """Return the shares of an association: a whole number or ``parent``. Raises WrongValue."""
    if text.lower() == "parent":
        return "parent"
    return whole(text)


def priority(text: str) -> int | None:
    """Return a priority; None if there is none. Raises WrongValue."""
    return count_limit(text)


def factor(text: str) -> float | None:
    """Return a factor; None if there is none. Raises WrongValue."""
    if text in ("", "-1", "-1.000000"):
        return None
    return decimal(text)


def preemption(text: str) -> str | None:
    """Return the preemption mode of a QOS; None: that of the site."""
    if text.lower() in ("", "cluster", "off"):
        return None
    return text.lower()


_SPELLINGS: dict[str, tuple[str, Callable[[str], object]]] = {
    "grp_tres": ("grptres", tres_limits),
    "grp_jobs": ("grpjobs", count_limit),
    "grp_submit": ("grpsubmit grpsubmitjobs", count_limit),
    "grp_wall": ("grpwall", limit),
    "grp_tres_mins": ("grptresmins grptresmin", tres_limits),
    "grp_tres_run_mins": ("grptresrunmins grptresrunmin", tres_limits),
    "max_jobs": ("maxjobs", count_limit),
    "max_submit": ("maxsubmit maxsubmitjobs", count_limit),
    "max_tres_per_job": ("maxtres maxtresperjob maxtrespj", tres_limits),
    "max_tres_per_node": ("maxtrespernode maxtrespn", tres_limits),
    "max_tres_mins": ("maxtresmins maxtresminsperjob maxtresminspj maxtresmin", tres_limits),
    "max_wall": ("maxwall maxwalldurationperjob maxwalldurationpj maxwallpj", limit),
    "max_jobs_per_user": ("maxjobsperuser maxjobspu", count_limit),
    "max_submit_per_user": ("maxsubmitjobsperuser maxsubmitjobspu maxsubmitpu maxsubmitperuser", count_limit),
    "max_tres_per_user": ("maxtresperuser maxtrespu", tres_limits),
    "max_jobs_per_account": ("maxjobsperaccount maxjobspa", count_limit),
    "max_submit_per_account": ("maxsubmitjobsperaccount maxsubmitjobspa maxsubmitpa maxsubmitperaccount", count_limit),
    "max_tres_per_account": ("maxtresperaccount maxtrespa", tres_limits),
    "min_tres": ("mintres mintresperjob mintrespj", tres_limits),
}
_OLD = {  # limits of one resource, before 15.08, which still exist as other names
    "grpcpus": ("grp_tres", "cpu"), "grpnodes": ("grp_tres", "node"), "grpmem": ("grp_tres", "mem"),
    "grpcpumins": ("grp_tres_mins", "cpu"), "grpcpurunmins": ("grp_tres_run_mins", "cpu"),
    "maxcpus": ("max_tres_per_job", "cpu"), "maxcpusperjob": ("max_tres_per_job", "cpu"),
    "maxnodes": ("max_tres_per_job", "node"), "maxnodesperjob": ("max_tres_per_job", "node"),
    "maxcpumins": ("max_tres_mins", "cpu"), "maxcpuminsperjob": ("max_tres_mins", "cpu"),
    "maxcpusperuser": ("max_tres_per_user", "cpu"), "maxcpuspu": ("max_tres_per_user", "cpu"),
    "maxnodesperuser": ("max_tres_per_user", "node"), "maxnodespu": ("max_tres_per_user", "node"),
    "mincpus": ("min_tres", "cpu"), "mincpusperjob": ("min_tres", "cpu"),
}  # fmt: skip


def _of_one(resource: str) -> Callable[[str], object]:
    return lambda text: tres_limits(f"{resource}={text}") if text else {}


LIMITS: Table = {
    spelling: (name, convert) for name, (all_of, convert) in _SPELLINGS.items() for spelling in all_of.split()
} | {key: (name, _of_one(resource)) for key, (name, resource) in _OLD.items()}
ASSOCIATION_KEYS: Table = {
    **LIMITS, "fairshare": ("shares", shares), "share": ("shares", shares), "shares": ("shares", shares),
    "rawshares": ("shares", shares),
    "qos": ("qos", words), "qoslevel": ("qos", words), "qosrawlevel": ("qos", words),
    "defaultqos": ("default_qos", name_or_none), "defqos": ("default_qos", name_or_none), "priority": ("priority", priority),
    "parent": ("parent", lower), "parentname": ("parent", lower), "parname": ("parent", lower),
}  # fmt: skip
ASSOCIATION_IGNORED = word_set(
    "name names account accounts user users cluster clusters partition partitions description organization desc org "
    "defaultaccount defacct defaultwckey wckeys adminlevel admin coordinator comment flags lineage id parentid lft rgt "
    "classification withassoc where rpc federation features controlhost controlport fedstate id_assoc deleted isdefault "
    "tres"
)
QOS_KEYS: Table = {
    **LIMITS,
    "maxjobs": ("max_jobs_per_user", count_limit), "maxsubmit": ("max_submit_per_user", count_limit),
    "maxsubmitjobs": ("max_submit_per_user", count_limit),
    "priority": ("priority", lambda text: count_limit(text) or 0), "preempt": ("preempt", words),
    "preemptmode": ("preempt_mode", preemption), "preemptexempttime": ("preempt_exempt_time", limit),
    "gracetime": ("grace_time", lambda text: limit(text, 1) or 0), "flags": ("flags", words),
    "usagefactor": ("usage_factor", lambda text: 1.0 if not text else decimal(text)),
    "usagethres": ("usage_threshold", factor), "usagethreshold": ("usage_threshold", factor),
    "limitfactor": ("limit_factor", factor),
}  # fmt: skip
QOS_IGNORED = word_set("name names description desc id where cluster clusters comment rawusage")
QOS_NOT_MODELLED = word_set(
    "grpjobsaccrue maxjobsaccruepu maxjobsaccrueperuser maxjobsaccruepa maxjobsaccrueperaccount minpriothres "
    "minpriothreshold maxtresrunminspu maxtresrunminsperuser maxtresrunminspa maxtresrunminsperaccount maxjobsaccrue "
    "minpriothresh"
)


def _read(
    draft: Draft, where: Where, pairs: Iterable[tuple[str, str]], table: Table, ignored: frozenset[str], what: str
) -> Values:
    """Return the fields of an association or a QOS; limits that are not modelled are noted."""
    read: Values = {}
    for key, text in pairs:
        name = key.replace(" ", "").lower()
        if name in QOS_NOT_MODELLED:
            if text and text not in ("-1", "0"):
                draft.omit(f"{key} of {what}")
            continue
        values = draft.read(where, [(key.replace(" ", ""), text)], table, ignored, what)
        for field, value in values.items():
            merged = field in TRES_LIMITS and name in _OLD
            if merged:
                read[field] = {**read.get(field, {}), **value}
            else:
                read[field] = value
    return read


# --- ``sacctmgr dump``: a line for each account and user, with the parent of those that follow.

ENTRY = re.compile(r"(Cluster|Parent|Account|User) - '([^']*)'(.*)")
FIELD = re.compile(r":([A-Z][A-Za-z]*|\w*[a-z]QOS)=")


def read_dump(draft: Draft, path: Path, lines: Sequence[str]) -> None:
    """Read ``sacctmgr dump``, which has accounts and users, but no QOS."""
    parent = ROOT
    for number, line in enumerate(lines, 1):
        where = Where(str(path), number)
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        match = ENTRY.fullmatch(text)
        if match is None:
            draft.fault(
                where, "", f"{text[:60]!r}; expected Cluster, Parent, Account or User, such as User - 'ana':Fairshare=1"
            )
            continue
        what = match[1]
        name = match[2].lower()
        pairs = list(_fields(match[3]))
        if what == "Parent":
            parent = name
            draft.names_account(where, "Parent", parent)
            continue
        values = _read(draft, where, pairs, ASSOCIATION_KEYS, ASSOCIATION_IGNORED, "associations")
        given = {key.lower(): text for key, text in pairs}
        if what == "Cluster":
            draft.name = draft.name or match[2]
            draft.association(ROOT).update(values)
        elif what == "Account":
            draft.association(name).update({"parent": parent, **values})
        else:
            draft.association(parent, name, given.get("partition", "")).update(values)


def _fields(text: str) -> Iterator[tuple[str, str]]:
    """Yield the keys and values after a name; a type of GPU has a colon too.

    >>> list(_fields(":Fairshare=40:GrpTRES=cpu=112,gres/gpu:a100=4:QOS='high,normal'"))
    [('Fairshare', '40'), ('GrpTRES', 'cpu=112,gres/gpu:a100=4'), ('QOS', 'high,normal')]
    """
    matches = list(FIELD.finditer(text))
    ends = [*(m.start() for m in matches[1:]), len(text)]
    for m, end in zip(matches, ends, strict=False):
        yield m[1], text[m.end() : end].strip("'")


# --- ``sacctmgr -P show``: tables with a header.


def table_rows(draft: Draft, path: Path, lines: Sequence[str]) -> Iterator[tuple[Where, dict[str, str]]]:
    """Yield the rows of a table as column in lower case without spaces -> text; rows of another length are faults."""
    header: list[str] | None = None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        cells = line.rstrip("\n").split("|")
        if header is None:
            header = cells
            continue
        if len(cells) != len(header):
            draft.fault(
                Where(str(path), number), "", f"the row has {len(cells)} cells; expected {len(header)}, as the header"
            )
            continue
        yield Where(str(path), number), dict(zip(header, cells, strict=True))


def _lower(row: dict[str, str]) -> dict[str, str]:
    return {key.replace(" ", "").lower(): text for key, text in row.items()}


def read_associations(draft: Draft, path: Path, lines: Sequence[str]) -> None:
    """Read ``sacctmgr -P show assoc``; without the column ParentName, accounts that no dump has are below the root."""
    for where, row in table_rows(draft, path, lines):
        given = _lower(row)
        account = given["account"].lower()
        user = given.get("user", "").lower()
        pairs = [(key, text) for key, text in row.items() if key]
        values = _read(draft, where, pairs, ASSOCIATION_KEYS, ASSOCIATION_IGNORED, "associations")
        if not given.get("parentname") and not given.get("parname"):
            values.pop("parent", None)
        if not given.get("qos"):
            values.pop("qos", None)
        if not user and values.get("parent"):
            draft.names_account(where, "ParentName", values["parent"], f"account {account}")
        known = draft.association(account, user, given.get("partition", ""))
        if not user and account != ROOT and "parent" not in {**known, **values}:
            draft.omit("the tree of the accounts (sacctmgr show assoc without ParentName: all are below root)")
        draft.name = draft.name or given.get("cluster", "")
        known.update(values)


def read_qos(draft: Draft, path: Path, lines: Sequence[str]) -> None:
    """Read ``sacctmgr -P show qos``."""
    draft.qos_are_known = True
    for where, row in table_rows(draft, path, lines):
        name = _lower(row)["name"].lower()
        values = _read(draft, where, [(k, t) for k, t in row.items() if k], QOS_KEYS, QOS_IGNORED, "QOS")
        draft.qos.setdefault(name, {}).update(values)


def read_reservations(draft: Draft, path: Path, lines: Sequence[str]) -> None:
    """Read ``sacctmgr -P show reservation``, which names nodes and flags only with ``format=Name,Start,End,NodeNames,Flags``."""
    for where, row in table_rows(draft, path, lines):
        given = _lower(row)
        start, end = (
            draft.convert(where, key, given.get(key.lower(), ""), lambda text: _known_moment(text, draft))
            for key in ("TimeStart", "TimeEnd")
        )
        if start is None or end is None:
            continue
        if end < start:
            draft.ends_before(where, "TimeEnd", given["name"], given["timestart"], given["timeend"])
            continue
        nodes = given.get("nodename") or given.get("nodenames") or given.get("nodes") or ""
        flags = tuple(flag for flag in words(given.get("flags", "")) if flag != "spec_nodes")
        values: Values = {"start": start, "duration": end - start, "flags": flags}
        if nodes:
            values["nodes"] = tuple(draft.hosts(where, "Nodes", nodes))
        known = draft.reservations.get(given["name"])
        if known is not None and (known["start"], known["duration"]) == (start, end - start):
            continue  # scontrol says more of it
        amounts = draft.convert(where, "TRES", given.get("tres", ""), tres_limits) or {}
        if not nodes and "cpu" in amounts:
            values["core_count"] = amounts["cpu"]
        if not nodes:
            columns = "show reservation format=Name,Start,End,NodeNames,Flags"
            draft.omit(
                f"the nodes of the reservation {given['name']} (not in the table; sacctmgr -P {columns} has them)"
            )
        if "flags" in given and "maint" not in flags:
            draft.omit(f"who may use the reservation {given['name']} (sacctmgr does not print it)")
        draft.reservations[given["name"]] = values


def _known_moment(text: str, draft: Draft) -> int:
    at = moment(text, draft.zone)
    if math.isnan(at):
        raise WrongValue(f"{text!r}; expected a time such as 2024-05-01T12:00:00")
    return int(at)


DOWN = ("down", "fail", "inval", "unk", "error", "powered", "reboot", "no_resp", "not_resp")


def read_events(draft: Draft, path: Path, lines: Sequence[str]) -> None:
    """Read ``sacctmgr -P show event``: when nodes were down or drained. An event that lasts less than 1 s lasts 1 s."""
    for where, row in table_rows(draft, path, lines):
        given = _lower(row)
        node = given.get("nodename", "")
        state = re.sub(r"[^a-z_+]", "", given.get("state", "").lower())
        if not node:  # the cluster itself
            continue
        start = draft.convert(where, "TimeStart", given.get("timestart", ""), lambda text: _known_moment(text, draft))
        end = draft.convert(where, "TimeEnd", given.get("timeend", ""), lambda text: moment(text, draft.zone))
        if start is None or end is None:
            continue
        kind = "node-drain"
        if state.startswith(DOWN):
            kind = "node-down"
        nodes = draft.hosts(where, "NodeName", node)
        if not nodes:  # a malformed list, which is a fault, or an empty one
            continue
        draft.events.append(NodeEvent(start, kind, nodes))
        if not math.isnan(end):
            draft.events.append(NodeEvent(max(int(end), start + 1), "node-up", nodes))


# --- Scripts of commands of sacctmgr, such as ``add account name=chem Fairshare=40``.

ADD, MODIFY, REMOVE = ("add", "create"), ("modify", "update"), ("delete", "remove")
SILENT = ("list", "show", "dump", "load", "quit", "exit", "help", "version", "associations", "reconfigure", "archive")
ENTITIES = {"qos": "qos", "account": "account", "accounts": "account", "acct": "account", "user": "user", "users": "user",
            "cluster": "cluster", "clusters": "cluster", "association": "user", "assoc": "user"}  # fmt: skip
WORD = re.compile(r"(\w[\w ]*?)(\+|-)?=(.*)", re.DOTALL)
Pair = tuple[str, str, str]


def is_script(lines: Sequence[str]) -> bool:
    """Check whether lines are commands of sacctmgr."""
    for line in lines:
        parts = _words(line) or []
        if len(parts) > 1 and parts[0].lower() in (*ADD, *MODIFY, *REMOVE) and parts[1].lower() in ENTITIES:
            return True
    return False


def _words(line: str) -> list[str] | None:
    """Return the words of a command, without ``sacctmgr`` and its options; None if the quotes do not match."""
    try:
        parts = shlex.split(line, comments=True)
    except ValueError:
        return None
    while parts and (parts[0] == "sacctmgr" or parts[0].startswith("-")):
        parts.pop(0)
    return parts


def read_script(draft: Draft, path: Path, lines: Sequence[str]) -> None:
    """Read commands of sacctmgr as if they were carried out, in their order, on a new data base."""
    draft.qos_are_known = True
    draft.qos.setdefault("normal", {})
    for number, line in enumerate(lines, 1):
        where = Where(str(path), number)
        parts = _words(line)
        if parts is None:
            draft.fault(where, "", f"{line[:60]!r}: the quotation marks do not match")
            continue
        if not parts or parts[0].lower() in SILENT:
            continue
        entity = None
        if len(parts) > 1:
            entity = ENTITIES.get(parts[1].lower())
        if entity is None or parts[0].lower() not in (*ADD, *MODIFY, *REMOVE):
            draft.fault(
                where, "", f"{line.strip()[:60]!r}; expected add, modify or remove of qos, account, user or cluster"
            )
            continue
        _command(draft, where, parts[0].lower(), entity, parts[2:])


def _command(draft: Draft, where: Where, verb: str, entity: str, parts: Sequence[str]) -> None:
    conditions, changes = _parts(parts, verb in MODIFY)
    if verb in REMOVE:
        chosen = _chosen([*conditions, *changes])
        _remove(draft, entity, chosen)
        return
    if verb in MODIFY:
        chosen = _chosen(conditions)
    else:
        chosen = _chosen(changes)
    pairs = [pair for pair in changes if pair[0].lower() not in SELECTS]
    if entity == "cluster":
        draft.name = draft.name or next(iter(chosen.get("name", ())), "")
        _apply(draft, where, draft.association(ROOT), pairs, None)
    elif entity == "qos":
        for name in chosen.get("name", ()) if verb in ADD else chosen.get("name", tuple(draft.qos)):
            values = _read(draft, where, [(key, text) for key, _, text in pairs], QOS_KEYS, QOS_IGNORED, "QOS")
            draft.qos.setdefault(name, {}).update(values)
    elif verb in ADD:
        _add(draft, where, entity, chosen, pairs)
    else:
        for place in _matching(draft, entity, chosen):
            inherited = draft.associations.get((place[0], "", ""), {}).get("qos")
            _apply(draft, where, draft.associations[place], pairs, inherited)
        for text in (text.lower() for key, _, text in pairs if key.lower() == "parent"):
            draft.names_account(where, "parent", text)


SELECTS = (
    "name",
    "names",
    "account",
    "accounts",
    "acct",
    "user",
    "users",
    "cluster",
    "clusters",
    "partition",
    "partitions",
)


def _parts(parts: Sequence[str], modify: bool) -> tuple[list[Pair], list[Pair]]:
    """Return the pairs of key, sign and value that choose, and those that set; a word alone is a name."""
    conditions: list[Pair] = []
    changes: list[Pair] = []
    if modify and "set" not in [p.lower() for p in parts[:1]]:
        into = conditions
    else:
        into = changes
    for part in parts:
        if part.lower() in ("set", "where"):
            if part.lower() == "set":
                into = changes
            else:
                into = conditions
            continue
        match = WORD.fullmatch(part)
        if match is not None:
            into.append((match[1], match[2] or "", match[3]))
        else:  # in ``modify qos set normal Priority=0``, too
            (conditions if modify else into).append(("name", "", part))
    return conditions, changes


def _chosen(pairs: Iterable[Pair]) -> dict[str, tuple[str, ...]]:
    chosen: dict[str, tuple[str, ...]] = {}
    for key, _, text in pairs:
        if key.lower() in SELECTS:
            plain_key = "account"
            if key.lower() != "accts":
                plain_key = key.lower().removesuffix("s")
            name = {"acct": "account"}.get(plain_key, plain_key)
            listed = tuple(filter(None, text.split(",")))
            if name == "partition":
                chosen[name] = listed
            else:
                chosen[name] = tuple(each.lower() for each in listed)
    return chosen


def _add(draft: Draft, where: Where, entity: str, chosen: dict[str, tuple[str, ...]], pairs: list[Pair]) -> None:
    given = {key.lower(): text.lower() for key, _, text in pairs}
    if entity == "account":
        for name in chosen.get("name", chosen.get("account", ())):
            values = draft.association(name)
            values["parent"] = given.get("parent", values.get("parent", ROOT))
            draft.names_account(where, "parent", values["parent"], f"account {name}")
            _apply(draft, where, values, pairs, None)
        return
    accounts = chosen.get("account") or tuple(filter(None, (given.get("defaultaccount") or given.get("defacct"),)))
    if not accounts:
        draft.fault(where, "Account", "Account is missing; expected add user NAME Account=ACCOUNT")
    for user in chosen.get("name", chosen.get("user", ())):
        for account in accounts:
            draft.names_account(where, "Account", account, f"user {user}")
            for partition in chosen.get("partition", ("",)):
                _apply(draft, where, draft.association(account, user, partition), pairs, None)


def _apply(
    draft: Draft, where: Where, values: Values, pairs: Iterable[Pair], inherited: tuple[str, ...] | None
) -> None:
    """Set fields of an association; ``qos+=`` and ``qos-=`` change the list that it has or inherits."""
    for key, sign, text in pairs:
        read = _read(draft, where, [(key, text)], ASSOCIATION_KEYS, ASSOCIATION_IGNORED, "associations")
        if "qos" in read and sign:
            before = values.get("qos") or inherited or ()
            if sign == "-":
                after = [name for name in before if name not in read["qos"]]
            else:
                after = [*before, *read["qos"]]
            read["qos"] = tuple(dict.fromkeys(after))
        values.update(read)


def _matching(draft: Draft, entity: str, chosen: dict[str, tuple[str, ...]]) -> list[tuple[str, str, str]]:
    users = None
    if entity == "user":
        users = chosen.get("name", chosen.get("user"))
    if entity == "account":
        accounts = chosen.get("name", chosen.get("account"))
    else:
        accounts = chosen.get("account")
    return [
        (account, user, partition)
        for account, user, partition in draft.associations
        if bool(user) == (entity == "user")
        and (users is None or user in users)
        and (accounts is None or account in accounts)
        and ("partition" not in chosen or partition in chosen["partition"])
    ]


def _remove(draft: Draft, entity: str, chosen: dict[str, tuple[str, ...]]) -> None:
    if entity == "qos":
        for name in chosen.get("name", ()):
            draft.qos.pop(name, None)
    elif entity != "cluster":
        for place in _matching(draft, entity, chosen):
            del draft.associations[place]
        if entity == "account":
            gone = chosen.get("name", ())
        else:
            gone = ()
        for place in [place for place in draft.associations if place[0] in gone]:
            del draft.associations[place]
