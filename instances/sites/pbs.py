"""A site from PBS: ``qmgr -c "print server"``, ``pbsnodes -av`` as text or JSON, ``sched_config``; nodes of Torque, too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...errors import WrongValue
from ..files.reading import WorkloadError, read_json, whole_of
from ..formats.pbs import amount_of, duration
from .draft import Draft, Values, Where, word_set, yes
from .pbs_state import STATES, TAKES_JOBS
from .slurm_conf import PARTITION_STATES, whole

Pairs = Mapping[str, str]

# --- Nodes.

NODE_LINE = re.compile(r"^\s+(resources_available\.\S+|pcpus|np|ntype)\s*=\s", re.ASCII)
NOT_COUNTED = word_set("host vnode arch mem vmem ncpus ngpus accelerator_memory hpmem naccelerators")
UNSHARED = word_set("force_excl default_excl force_exclhost default_exclhost")


def is_nodes(lines: Sequence[str]) -> bool:
    """Check whether lines are what ``pbsnodes -av`` prints, or its JSON."""
    first = next((line for line in lines if line.strip()), "")
    if first.lstrip().startswith("{"):
        return any('"nodes"' in line for line in lines) and any('"resources_available"' in line for line in lines)
    return any(NODE_LINE.match(line) for line in lines)


def read_nodes(draft: Draft, path: Path, lines: Sequence[str]) -> None:
    """Read ``pbsnodes -av``, as text or as JSON."""
    draft.kind = "pbs"
    first = next((line for line in lines if line.strip()), "")
    is_json = first.lstrip().startswith("{")
    if is_json:
        nodes = _of_json(draft, path)
    else:
        nodes = _of_text(path, lines)
    for where, name, values in nodes:
        draft.node(name, _node(draft, where, values))


def _of_text(path: Path, lines: Sequence[str]) -> Iterator[tuple[Where, str, Pairs]]:
    """Yield the nodes of the text: a name, then indented lines ``key = value``."""
    where = Where(str(path))
    name = ""
    values = dict[str, str]()
    for number, line in enumerate([*lines, "end"], 1):
        if not line.strip():
            continue
        if not line[0].isspace():
            if name:
                yield where, name, values
            where = Where(str(path), number)
            name = line.strip()
            values = {}
            continue
        key, sign, text = line.partition(" = ")
        if line.startswith("\t") and not sign and values:  # a long value goes on
            last = next(reversed(values))
            values[last] += line.strip()
            continue
        values[key.strip()] = text.strip()


def _of_json(draft: Draft, path: Path) -> Iterator[tuple[Where, str, Pairs]]:
    where = Where(str(path))
    try:
        content = read_json(path)
    except WorkloadError as e:
        draft.fault(where, "syntax", str(e).removeprefix(f"{path}: "))
        return
    nodes = None
    if isinstance(content, dict):
        nodes = content.get("nodes")
    for name, node in nodes.items() if isinstance(nodes, dict) else ():
        if isinstance(node, dict):
            yield where, str(name), dict(_flat(node))


def _flat(node: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in node.items():
        if isinstance(value, dict):
            yield from ((f"{key}.{inner}", str(each)) for inner, each in value.items())
        else:
            yield key, str(value)


def _node(draft: Draft, where: Where, given: Pairs) -> Values:
    """Return the fields of a node: custom resources are generic resources if they are numbers, else features."""
    has = {
        key.removeprefix("resources_available."): text
        for key, text in given.items()
        if key.startswith("resources_available.")
    }
    cpus = has.get("ncpus") or given.get("np") or given.get("pcpus") or "1"
    memory = has.get("mem") or _torque_memory(given.get("status", ""))
    values: Values = {
        "cpus": draft.convert(where, "ncpus", cpus, whole),
        "memory": draft.convert(where, "mem", memory, _size) if memory else None,
        "state": _state(given.get("state", "")),
        "queue": given.get("queue", ""),
    }
    gpus = draft.convert(where, "ngpus", has.get("ngpus") or given.get("gpus") or "0", whole)
    if gpus:
        values["gpus"] = {"": gpus}
    else:
        values["gpus"] = {}
    others = {name: text for name, text in has.items() if name not in NOT_COUNTED}
    values["gres"] = {name: n for name, text in others.items() if (n := whole_of(text)) is not None}
    texts = [f"{name}={text}" for name, text in others.items() if name not in values["gres"]]
    values["features"] = (*filter(None, given.get("properties", "").split(",")), *texts)
    if given.get("sharing") in UNSHARED:
        draft.omit(f"sharing = {given['sharing']} of nodes")
    for key, text in given.items():
        head = key.partition(".")[0].lower()
        if head in NOT_OBEYED_OF_NODES:
            if text.lower() not in NOT_OBEYED_OF_NODES[head]:
                draft.omit(f"{key} of nodes")
        elif head not in IGNORED_OF_NODES | READ_OF_NODES:
            draft.strange(where, f"{key} of nodes")
    return values


def _torque_memory(status: str) -> str:
    match = re.search(r"\bphysmem=(\d+[kmgt]?b)", status, re.ASCII)
    if match:
        return match[1]
    return ""


def _size(text: str) -> int:
    try:
        return amount_of("mem", text)
    except WrongValue as e:
        raise WrongValue(str(e).removeprefix("mem is ")) from None


def _state(text: str) -> str:
    words = [
        STATES.get(word, "draining") for word in map(str.strip, text.split(",")) if word and word not in TAKES_JOBS
    ]
    known = [word for word in ("down", "draining") if word in words]
    if known:
        return known[0]
    return "up"


# --- ``qmgr -c "print server"``.

COMMAND = re.compile(
    r"(set|unset|create|delete|import|active)\s+(server|queue|node|sched|resource|hook|s|q|n)\b\s*(.*)", re.IGNORECASE
)
ASSIGNMENT = re.compile(r"([\w.-]+)\s*\+?=\s*(.*)", re.DOTALL)
LIMIT = re.compile(r"\[([ougp]):([^=\]\s]+)\s*=\s*([^\]\s]+)\]")
LIMITS = {"max_run": "jobs", "max_queued": "submit", "max_run_res": "tres"}
OLD_LIMITS = {  # of Torque, and of PBS before 10.1
    "max_running": "grp_jobs",
    "max_user_run": "max_jobs_per_user",
    "max_queuable": "grp_submit",
    "max_user_queuable": "max_submit_per_user",
}
TRES = {"ncpus": "cpu", "mem": "mem", "ngpus": "gres/gpu", "nodect": "node"}
# Attributes that influence a schedule and that no replay obeys -> the values with which they do not, in lower case.
NOT_OBEYED: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys((
        "max_run_soft", "max_run_res_soft", "max_user_run_soft", "max_group_run_soft", "max_user_res_soft",
        "max_group_res_soft", "max_queued_res", "max_group_run", "max_user_res", "max_group_res", "max_array_size",
        "max_job_array_size", "max_slot_limit", "queued_jobs_threshold", "queued_jobs_threshold_res", "alt_router",
        "route_retry_time", "default_chunk", "node_pack", "np_default", "node_group_key", "partition", "features_required",
        "disallowed_types", "job_sort_formula_threshold",
    ), ()),
    "scheduling": ("true",), "scheduler_iteration": ("600",), "node_fail_requeue": ("310",), "kill_delay": ("10",),
    "job_requeue_timeout": ("45", "00:00:45"), "restrict_res_to_release_on_suspend": ("",), "acl_user_enable": ("false",),
    "acl_host_enable": ("false",), "power_provisioning": ("false",), "do_not_span_psets": ("false",),
    "only_explicit_psets": ("false",), "opt_backfill_fuzzy": ("off",), "preempt_targets_enable": ("true",),
    "sched_preempt_enforce_resumption": ("false",), "preempt_queue_prio": ("150",), "preempt_order": ("scr",),
    "preempt_prio": ("express_queue, normal_jobs",), "preempt_sort": ("min_time_since_start",),
}  # fmt: skip
# The same of nodes: what pbsnodes prints, and qmgr sets.
NOT_OBEYED_OF_NODES: Mapping[str, tuple[str, ...]] = {
    "max_running": (), "max_user_run": (), "max_group_run": (), "partition": (), "priority": ("0",), "mics": ("0",),
    "no_multinode_jobs": ("false",), "provision_enable": ("false",), "poweroff_eligible": ("false",),
    **{f"dedicated_{part}": ("0",) for part in ("sockets", "numa_nodes", "cores", "threads")},
}  # fmt: skip
# Attributes that do not concern a replay: who may do what, messages, histories, counts, the times of the server's own work.
IGNORED = word_set(
    "server_state server_host pnames total_jobs state_count acl_hosts acl_host_moms_enable acl_resv_host_enable acl_resv_hosts "
    "acl_resv_group_enable acl_resv_groups acl_users acl_resv_user_enable acl_resv_users acl_roots acl_groups acl_group_enable "
    "acl_group_sloppy acl_logic_or managers operators log_events mailer mail_from query_other_jobs resources_assigned "
    "resources_cost system_cost comment default_node flatuid resv_enable resend_term_delay require_cred_enable require_cred "
    "default_qdel_arguments default_qsub_arguments rpp_retry rpp_highwater rpp_max_pkt_check pbs_license_info pbs_license_min "
    "pbs_license_max pbs_license_linger_time license_count pbs_version reserve_retry_time reserve_retry_init reserve_retry_cutoff "
    "job_history_enable job_history_duration provision_enable max_concurrent_provision provision_timeout "
    "resv_post_processing_time clear_topjob_estimates_enable python_restart_max_hooks python_restart_max_objects "
    "python_restart_min_interval python_gc_min_interval jobscript_max_size show_hidden_attribs sync_mom_hookfiles_timeout "
    "max_job_sequence_id has_runjob_hook acl_krb_realm_enable acl_krb_realms acl_krb_submit_realms cred_renew_enable "
    "cred_renew_tool cred_renew_period cred_renew_cache_period node_group_enable from_route_only checkpoint_min "
    "checkpoint_dir rendezvous_retry reserved_expedite reserved_sync hasnodes route_destinations route_held_jobs "
    "route_waiting_jobs route_lifetime sched_host sched_cycle_length throughput_mode job_run_wait sched_priv sched_log "
    "sched_user state server_dyn_res_alarm attr_update_period "
    # of Torque
    "accounting_keep_days allow_node_submit allow_proxy_user authorized_users auto_node_np "
    "automatic_requeue_exit_code cgroup_per_task checkpoint_defaults clone_batch_size clone_batch_delay "
    "copy_on_rerun cray_enabled default_gpu_mode disable_server_id_check display_job_server_suffix down_on_error "
    "dont_write_nodes_file email_batch_seconds exit_code_canceled_job extra_resc ghost_array_recovery "
    "gres_modifiers interactive_jobs_can_roam is_transit job_exclusive_on_use job_force_cancel_time "
    "job_full_report_time job_log_file_max_size job_log_file_roll_depth job_log_keep_days job_nanny job_stat_rate "
    "job_start_timeout job_suffix_alias job_sync_timeout keep_completed legacy_vmem lock_file lock_file_check_time "
    "lock_file_update_time log_file_max_size log_file_roll_depth log_keep_days log_level mail_body_fmt mail_domain "
    "mail_subject_fmt max_threads min_threads moab_array_compatible mom_job_sync next_job_number no_mail_force "
    "node_check_rate node_ping_rate node_suffix node_submit_exceptions owner_purge pass_cpuclock poll_jobs "
    "record_job_info record_job_script req_information_max required_login_property sendmail_path server_name "
    "submit_hosts tcp_incoming_timeout tcp_timeout thread_idle_seconds timeout_for_job_delete "
    "timeout_for_job_requeue use_jobs_subdirs ghost_queue net_counter"
)
IGNORED_OF_NODES = word_set(
    "mom port pbs_version ntype jobs no_tasks pnames resv comment resv_enable current_aoe current_eoe in_multivnode_host "
    "maintenance_jobs license license_info topology_info vnode_pool power_provisioning last_state_change_time last_used_time "
    "resources_assigned server_instance_id hostname lictype "
    # of Torque
    "note power_state gpu_status mic_status num_node_boards numa_board_str mom_service_port mom_manager_port total_sockets "
    "total_numa_nodes total_cores total_threads node_exclusive ttl acl requestid"
)
READ_OF_NODES = word_set("resources_available np pcpus status state queue gpus properties sharing")
SHARES = {"o": "grp_", "u": "_per_user", "p": "_per_account"}


def is_qmgr(lines: Sequence[str]) -> bool:
    """Check whether lines are commands of qmgr."""
    commands = re.compile(
        r"\s*(create queue \S|set server \S+\s*\+?=|set queue \S+ \S+\s*\+?=|set node \S+ \S+\s*\+?=)", re.I
    )
    return any(commands.match(line) for line in lines)


def read_qmgr(draft: Draft, path: Path, lines: Sequence[str]) -> None:
    """Read ``qmgr -c "print server"``, also with ``print node @default``."""
    draft.kind = "pbs"
    draft.qos_are_known = True
    for number, line in enumerate(lines, 1):
        where = Where(str(path), number)
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        match = COMMAND.fullmatch(text)
        if match is None:
            draft.fault(where, "", f"{text[:60]!r}; expected commands of qmgr, such as set queue workq started = True")
            continue
        verb = match[1].lower()
        what = {"s": "server", "q": "queue", "n": "node"}.get(match[2].lower(), match[2].lower())
        if what == "hook":
            draft.omit(f"hooks of PBS ({match[3].split()[0] if match[3] else ''})")
        elif what in ("queue", "node") and verb == "create":
            _create(draft, where, what, match[3])
        elif what in ("queue", "node", "server") and verb == "set":
            _set(draft, where, what, match[3])
        elif what == "sched" and verb == "set":
            _of_scheduler(draft, where, match[3])


def _create(draft: Draft, where: Where, what: str, text: str) -> None:
    name, _, rest = text.partition(" ")
    if what == "queue":
        draft.partitions.setdefault(name, {"where": where})
        return
    pairs = dict(pair.split("=", 1) for pair in rest.replace(",", " ").split() if "=" in pair)
    draft.node(name, {"given": pairs})


def _set(draft: Draft, where: Where, what: str, text: str) -> None:
    if what == "server":
        name = ""
        _ = ""
        rest = text
    else:
        name, _, rest = text.partition(" ")
    match = ASSIGNMENT.fullmatch(rest.strip())
    if match is None:
        draft.fault(where, "", f"{text[:60]!r}; expected an attribute and its value, such as started = True")
        return
    key = match[1]
    value = match[2].strip().strip("\"'")
    if what == "node":
        draft.node(name, {"given": {**draft.nodes.get(name, {}).get("given", {}), key: value}})
    elif what == "queue":
        if name not in draft.partitions:
            draft.fault(where, "queue", f"there is no queue {name!r}; expected create queue {name} before it")
            return
        _of_queue(draft, where, name, key, value)
    else:
        _of_server(draft, where, key, value)


def _of_queue(draft: Draft, where: Where, name: str, key: str, value: str) -> None:
    queue = draft.partitions[name]
    head, _, resource = key.partition(".")
    if head == "resources_available" and resource in TRES:  # of all running jobs of the queue
        total = draft.convert(where, key, value, _size if resource == "mem" else whole)
        limits = draft.qos.setdefault(name, {})
        limits["grp_tres"] = {**limits.get("grp_tres", {}), TRES[resource]: total}
    elif head in ("resources_max", "resources_min", "resources_default") and resource:
        queue.setdefault("resources", {})[key] = (where, value)
    elif head == "default_chunk":
        queue.setdefault("chunk", {})[resource] = value
    elif key in ("acl_groups", "acl_users"):
        listed = queue.setdefault(key, [])
        listed += [each.strip() for each in value.split(",")]
    elif key in ("enabled", "started", "acl_group_enable", "acl_user_enable"):
        queue[key] = draft.convert(where, key, value, yes)
    elif key == "queue_type":
        queue["type"] = value.lower()
    elif key.lower() == "priority":
        queue["priority"] = draft.convert(where, key, value, _signed)
    elif key == "backfill_depth":
        draft.omit(f"backfill_depth of the queue {name}")
    elif head == "resources_available":
        draft.omit(f"{key} of the queue {name}")
    else:
        _limit(draft, where, draft.qos.setdefault(name, {}), f"the queue {name}", key, value)


def _signed(text: str) -> int:
    if text.startswith("-"):
        return -whole(text[1:])
    return whole(text)


def _limit(draft: Draft, where: Where, limits: Values, of: str, key: str, value: str) -> None:
    """Read a limit of the server or a queue, such as ``max_run = [u:PBS_GENERIC=10]``; other attributes are noted or left."""
    head, _, resource = key.partition(".")
    if key in OLD_LIMITS:
        limits[OLD_LIMITS[key]] = draft.convert(where, key, value, whole)
    elif head in LIMITS:
        parts = LIMIT.findall(value)
        if not parts:
            draft.fault(where, key, f"{key} is {value[:60]!r}; expected limits such as [u:PBS_GENERIC=10]")
        if resource == "mem":
            convert = _size
        else:
            convert = whole
        for kind, entity, amount in parts:
            if kind in ("u", "p") and not entity.startswith("PBS_") and head != "max_queued":
                owner = of.removeprefix("the ")
                named = draft.settings.setdefault("named_limits", {})
                named[owner, key, kind, entity] = draft.convert(where, key, amount, convert)
            elif entity not in ("PBS_GENERIC", "PBS_ALL") or kind not in SHARES:
                draft.omit(f"{key} of {of} for {kind}:{entity}")
            elif head == "max_run_res":
                field = _field(LIMITS[head], kind)
                name = TRES.get(resource, f"gres/{resource}")
                limits[field] = {**limits.get(field, {}), name: draft.convert(where, key, amount, convert)}
            else:
                limits[_field(LIMITS[head], kind)] = draft.convert(where, key, amount, whole)
    else:
        _note(draft, where, of, key, value)


def _note(draft: Draft, where: Where, of: str, key: str, value: str) -> None:
    """Note an attribute of the server, a queue or a scheduler that no replay obeys, or that is not known."""
    head = key.partition(".")[0].lower()
    if head in NOT_OBEYED:
        if value.lower() not in NOT_OBEYED[head]:
            draft.omit(f"{key} of {of}")
    elif head not in IGNORED:
        draft.strange(where, f"{key} of {of}")


def _field(what: str, kind: str) -> str:
    if kind == "o":
        return f"grp_{what}"
    return f"max_{what}{SHARES[kind]}"


def _of_server(draft: Draft, where: Where, key: str, value: str) -> None:
    settings = draft.settings
    if key == "job_sort_formula":
        settings["job_sort_formula"] = value
    elif key == "backfill_depth":
        settings["backfill_depth"] = draft.convert(where, key, value, whole)
    elif key == "eligible_time_enable":
        settings["eligible_time"] = draft.convert(where, key, value, yes)
    elif key == "node_group_key":
        settings["node_groups"] = tuple(each.strip() for each in value.split(","))
    elif key == "node_group_enable":
        settings["node_group_enable"] = draft.convert(where, key, value, yes)
    elif key == "default_chunk.ncpus" and value == "1":  # that of PBS itself
        pass
    elif key == "default_queue":
        settings["default_queue"] = value
    elif key.partition(".")[0] in ("resources_max", "resources_default"):
        settings.setdefault("resources", {})[key] = (where, value)
    elif key == "resources_available" or key.startswith("resources_available."):
        total = whole_of(value)
        if total is None:
            draft.omit(f"{key} of the server")
        else:
            draft.licences[key.partition(".")[2]] = total
    else:
        _limit(draft, where, settings, "the server", key, value)


def _of_scheduler(draft: Draft, where: Where, text: str) -> None:
    """Read an attribute of a scheduler: ``set sched default job_sort_formula = ncpus``, also without its name."""
    named = re.match(r"(\S+)\s+(?=[\w.]+\s*\+?=)", text)
    match = ASSIGNMENT.fullmatch(text[named.end() :].strip() if named else text.strip())
    if match is None:
        draft.fault(where, "", f"{text[:60]!r}; expected an attribute and its value, such as throughput_mode = True")
        return
    key = match[1]
    value = match[2].strip().strip("\"'")
    if key == "job_sort_formula":
        draft.settings["job_sort_formula"] = value
    else:
        _note(draft, where, "the scheduler", key, value)


# --- ``sched_config``.

OPTION = re.compile(r"(\w+)\s*:\s*(.+?)\s*(all|prime|non_prime)?", re.IGNORECASE)
FLAGS = ("strict_ordering", "by_queue", "round_robin", "fair_share", "help_starving_jobs", "backfill_prime")
NOT_MODELLED: Mapping[str, tuple[str, ...]] = {  # option -> the values with which it does not influence a schedule
    "preemptive_sched": ("false",), "smp_cluster_dist": ("pack",), "load_balancing": ("false",),
    "allow_aoe_calendar": ("false",), "prime_spill": (), "prime_exempt_anytime_queues": ("false",), "peer_queue": (),
    "peer_translation": (), "server_dyn_res": (), "mom_resources": (), "sort_queues": ("false",), "sort_by": (),
    "per_queues_topjobs": (), "per_share_topjobs": (), "per_share_depth": (), "max_job_check": ("all_jobs",),
    "max_borrow": (), "fairshare_enforce_no_shares": ("false",), "resource_unset_infinite": (), "strict_fifo": ("false",),
    "backfill": ("true",), "node_group_key": (), "provision_policy": ("aggressive_provision",),
}  # fmt: skip
OTHER_OPTIONS = word_set(
    # they matter with an option above alone, or not at all
    "resources log_filter half_life unknown_shares dedicated_prefix primetime_prefix nonprimetime_prefix preempt_queue_prio "
    "preempt_suspend preempt_checkpoint preempt_requeue fairshare_usage_res fairshare_entity fairshare_decay_factor "
    "fairshare_decay_time susp_threshold preempt_prio preempt_order preempt_sort preempt_starving preempt_fairshare sort_nodes "
    "shares_track_only min_interrupted_cycle_length max_cons_interrupted_cycles preempt_attempts update_comments "
    "resv_confirm_ignore sync_time cpus_per_ssinode"
)


def is_sched_config(lines: Sequence[str]) -> bool:
    """Check whether lines are those of PBS's ``sched_config``."""
    return any(
        re.match(r"(strict_ordering|by_queue|round_robin|help_starving_jobs|fair_share)\s*:", line) for line in lines
    )


def read_sched_config(draft: Draft, path: Path, lines: Sequence[str]) -> None:
    """Read ``sched_config``; of values for prime and other times, the first one counts, and a difference is noted."""
    draft.kind = "pbs"
    seen: dict[str, str] = {}
    sorts: dict[str, list[str]] = {}
    for number, line in enumerate(lines, 1):
        text = re.sub(r"#.*", "", line).strip()
        if not text:
            continue
        where = Where(str(path), number)
        match = OPTION.fullmatch(text)
        if match is None:
            draft.fault(where, "", f"{text[:60]!r}; expected an option such as by_queue: True ALL")
            continue
        key = match[1]
        value = match[2].strip().strip('"')
        if key in ("job_sort_key", "node_sort_key"):
            if value not in sorts.setdefault(key, []):
                sorts[key].append(value)
        elif key in seen and seen[key] != value:
            draft.omit(f"{key} in non-prime time ({value})")
        elif key in FLAGS:
            draft.settings[key] = draft.convert(where, key, value, yes)
        elif key == "max_starve":
            draft.settings[key] = draft.convert(where, key, value, lambda t: int(duration(t)))
        elif key in NOT_MODELLED:
            if value.lower() not in NOT_MODELLED[key]:
                draft.omit(f"{key}: {value}")
        elif key not in OTHER_OPTIONS:
            draft.strange(where, f"{key} of sched_config")
        seen.setdefault(key, value)
    draft.settings |= {key: tuple(values) for key, values in sorts.items()}


# --- What belongs together: queues with their nodes, limits of the server that hold for all queues.


def complete(draft: Draft) -> None:
    """Bind the queues to their nodes, and turn what was read of them into fields of partitions."""
    draft.qos_are_known = True
    for values in draft.nodes.values():
        given = values.pop("given", None)
        if given is not None and "cpus" not in values:  # a node that only qmgr has
            values.update(_node(draft, Where("qmgr"), given))
    own_queue = {name: values.pop("queue", "") for name, values in draft.nodes.items()}
    named = draft.settings.pop("named_limits", {})
    if named:
        draft.settings["named_limits"] = tuple(
            f"{owner} {key} = [{kind}:{entity}={most}]" for (owner, key, kind, entity), most in named.items()
        )
    if draft.settings.pop("node_group_enable", True) is False:
        draft.settings.pop("node_groups", None)
    server = draft.settings.pop("resources", {})
    default = draft.settings.pop("default_queue", "")
    lowest = min((queue.get("priority") or 0 for queue in draft.partitions.values()), default=0)
    if not draft.partitions and draft.nodes:
        draft.partitions = {"default": {"nodes": tuple(draft.nodes)}}
        return
    for name, queue in list(draft.partitions.items()):
        if queue.get("type", "").startswith("r"):
            draft.omit(f"routing queue {name}")
            del draft.partitions[name]
            draft.qos.pop(name, None)
            continue
        draft.partitions[name] = _partition(draft, name, queue, server, own_queue)
        draft.partitions[name]["default"] = name == default
        draft.partitions[name]["tier"] = (queue.get("priority") or 0) - min(lowest, 0)
    draft.qos = {name: values for name, values in draft.qos.items() if values and name in draft.partitions}
    for name in draft.qos:
        draft.partitions[name]["qos"] = name


def _partition(draft: Draft, name: str, queue: Values, server: Values, own_queue: Mapping[str, str]) -> Values:
    takes_jobs = bool(queue.get("enabled"))
    starts_jobs = bool(queue.get("started"))
    up, down, drain, inactive = PARTITION_STATES
    states = {(True, True): up, (True, False): down, (False, True): drain, (False, False): inactive}
    values: Values = {
        "state": states[takes_jobs, starts_jobs],
        "nodes": tuple(_nodes_of(draft, name, queue, own_queue)),
    }
    limits = draft.qos.setdefault(name, {})
    for key, (where, text) in {**server, **queue.get("resources", {})}.items():
        kind, _, resource = key.partition(".")
        if resource == "walltime":
            field = {"resources_max": "max_time", "resources_default": "default_time"}.get(kind)
            if field is None:
                draft.omit(f"{key} of queues")
            else:
                values[field] = draft.convert(where, key, text, lambda t: int(duration(t)))
        elif resource in ("nodect", "nodes") and kind != "resources_default":
            values["max_nodes" if kind == "resources_max" else "min_nodes"] = draft.convert(where, key, text, whole)
        elif kind != "resources_default" and resource in TRES:
            field = "min_tres"
            if kind == "resources_max":
                field = "max_tres_per_job"
            amount = draft.convert(where, key, text, _size if resource == "mem" else whole)
            limits[field] = {**limits.get(field, {}), TRES[resource]: amount}
        elif kind != "resources_default" and resource not in ("nodect", "nodes"):
            draft.omit(f"{key} of queues")
    if queue.get("acl_group_enable") and queue.get("acl_groups"):
        values["allow_groups"] = tuple(each.lstrip("+").partition("@")[0] for each in queue["acl_groups"])
    if queue.get("acl_user_enable"):
        draft.omit(f"acl_users of the queue {name}")
    return values


def _nodes_of(draft: Draft, name: str, queue: Values, own_queue: Mapping[str, str]) -> Iterable[str]:
    """Yield the nodes of a queue: its own ones if there are any, else those of no queue, with what its chunks ask for."""
    mine = [node for node, of in own_queue.items() if of == name]
    nodes = mine or [node for node, of in own_queue.items() if not of]
    wanted = {
        key: text for key, text in queue.get("chunk", {}).items() if whole_of(text) is None and key not in NOT_COUNTED
    }
    for node in nodes:
        has: dict[str, set[str]] = {}
        for feature in draft.nodes[node].get("features", ()):
            key, _, text = feature.partition("=")
            has[key] = set(text.split(","))
        if all(text in has.get(key, ()) for key, text in wanted.items()):
            yield node
