"""Every attribute that the documentation of PBS and Torque has is read, listed as not obeyed, or known not to matter.

The names are those of the reference guide of PBS Professional (server, queues, vnodes, scheduler) and of the administrator's
guide of Torque.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from schedlab.instances.sites import read_site
from schedlab.models import PBSSettings, Site

Writer = Callable[[str, str], Path]
NODE = "n1\n     state = free\n     resources_available.ncpus = 8\n"
QUEUE = "create queue work\nset queue work enabled = True\nset queue work started = True\n"
SERVER = (
    "scheduling max_running max_queued_res max_run_soft max_run_res_soft max_user_run max_group_run max_user_res max_group_res "
    "max_user_run_soft max_group_run_soft max_user_res_soft max_group_res_soft acl_host_enable acl_hosts acl_host_moms_enable "
    "acl_resv_host_enable acl_resv_hosts acl_resv_group_enable acl_resv_groups acl_user_enable acl_users acl_resv_user_enable "
    "acl_resv_users acl_roots managers operators default_queue log_events mailer mail_from query_other_jobs resources_cost "
    "system_cost scheduler_iteration comment default_node node_pack flatuid resv_enable node_fail_requeue max_array_size "
    "resend_term_delay require_cred_enable require_cred node_group_enable node_group_key default_qdel_arguments "
    "default_qsub_arguments rpp_retry rpp_highwater pbs_license_info pbs_license_min pbs_license_max pbs_license_linger_time "
    "pbs_version job_sort_formula eligible_time_enable reserve_retry_time reserve_retry_init job_history_enable "
    "job_history_duration max_concurrent_provision resv_post_processing_time backfill_depth clear_topjob_estimates_enable "
    "job_requeue_timeout python_restart_max_hooks python_restart_max_objects python_restart_min_interval queued_jobs_threshold "
    "queued_jobs_threshold_res jobscript_max_size restrict_res_to_release_on_suspend power_provisioning show_hidden_attribs "
    "sync_mom_hookfiles_timeout rpp_max_pkt_check max_job_sequence_id has_runjob_hook acl_krb_realm_enable acl_krb_realms "
    "acl_krb_submit_realms cred_renew_enable cred_renew_tool cred_renew_period cred_renew_cache_period"
)
TORQUE = (
    "keep_completed submit_hosts allow_node_submit auto_node_np np_default job_nanny mom_job_sync tcp_timeout node_check_rate "
    "poll_jobs next_job_number max_slot_limit max_job_array_size kill_delay disable_server_id_check moab_array_compatible "
    "record_job_info log_keep_days authorized_users server_name job_stat_rate interactive_jobs_can_roam owner_purge "
    "extra_resc down_on_error job_start_timeout exit_code_canceled_job copy_on_rerun legacy_vmem"
)
OF_QUEUE = (
    "queue_type Priority max_queuable max_running max_queued_res acl_host_enable acl_hosts acl_user_enable acl_users "
    "from_route_only require_cred_enable require_cred max_array_size comment acl_group_enable acl_groups checkpoint_min "
    "rendezvous_retry reserved_expedite reserved_sync kill_delay max_user_run max_group_run max_run_soft max_run_res_soft "
    "hasnodes max_user_res max_group_res max_user_run_soft max_group_run_soft max_user_res_soft max_group_res_soft "
    "node_group_key backfill_depth route_destinations alt_router route_held_jobs route_waiting_jobs route_retry_time "
    "route_lifetime enabled started queued_jobs_threshold queued_jobs_threshold_res partition disallowed_types "
    "features_required is_transit keep_completed max_user_queuable resources_max.walltime resources_min.walltime "
    "resources_max.cput resources_default.place default_chunk.ncpus resources_available.scratch"
)
OF_SCHEDULER = (
    "sched_host sched_cycle_length do_not_span_psets only_explicit_psets sched_preempt_enforce_resumption "
    "preempt_targets_enable job_sort_formula_threshold throughput_mode job_run_wait opt_backfill_fuzzy partition sched_priv "
    "sched_log scheduling scheduler_iteration sched_user comment state preempt_queue_prio preempt_prio preempt_order "
    "preempt_sort log_events job_sort_formula server_dyn_res_alarm attr_update_period"
)
OF_NODE = (
    "Mom Port pbs_version ntype state pcpus Priority jobs max_running max_user_run max_group_run no_tasks resv "
    "resources_assigned.ncpus queue comment resv_enable no_multinode_jobs sharing provision_enable current_aoe "
    "in_multivnode_host maintenance_jobs license license_info topology_info vnode_pool power_provisioning current_eoe partition "
    "poweroff_eligible last_state_change_time last_used_time np properties status gpus gpu_status mics mic_status power_state "
    "note num_node_boards mom_service_port mom_manager_port total_sockets total_numa_nodes total_cores total_threads "
    "dedicated_sockets dedicated_numa_nodes dedicated_cores dedicated_threads"
)
WORDS = {"True": "enable started enabled scheduling hasnodes state is_transit", "Execution": "queue_type"}


def value_of(attribute: str) -> str:
    """Return a value that an attribute may have."""
    for value, words in WORDS.items():
        if any(attribute.endswith(word) for word in words.split()):
            return value
    return "7"


def site_of(file: Writer, commands: str = "", node: str = "") -> Site:
    return read_site(file("qmgr.txt", QUEUE + commands), file("pbsnodes.txt", NODE + node))


@pytest.mark.parametrize("attribute", f"{SERVER} {TORQUE}".split())
def test_attributes_of_the_server_are_known(file: Writer, attribute: str) -> None:
    site = site_of(file, f"set server {attribute} = {value_of(attribute)}\n")
    assert "not known" not in "; ".join(site.not_modelled)


@pytest.mark.parametrize("attribute", OF_QUEUE.split())
def test_attributes_of_queues_are_known(file: Writer, attribute: str) -> None:
    site = site_of(file, f"set queue work {attribute} = {value_of(attribute)}\n")
    assert "not known" not in "; ".join(site.not_modelled)


@pytest.mark.parametrize("attribute", OF_SCHEDULER.split())
def test_attributes_of_the_scheduler_are_known(file: Writer, attribute: str) -> None:
    named = site_of(file, f"set sched default {attribute} = {value_of(attribute)}\n")
    assert named == site_of(file, f"set sched {attribute} = {value_of(attribute)}\n")
    assert "not known" not in "; ".join(named.not_modelled)


@pytest.mark.parametrize("attribute", OF_NODE.split())
def test_attributes_of_nodes_are_known(file: Writer, attribute: str) -> None:
    site = site_of(file, node="" if attribute == "state" else f"     {attribute} = 0\n")
    assert "not known" not in "; ".join(site.not_modelled)


@pytest.mark.parametrize(
    ("command", "listed"),
    [
        ("set server scheduling = False", "scheduling of the server"),
        ("set server scheduler_iteration = 60", "scheduler_iteration of the server"),
        ("set server default_chunk.mem = 1gb", "default_chunk.mem of the server"),
        ("set server resources_available.room = big", "resources_available.room of the server"),
        ("set server max_user_res_soft.ncpus = 4", "max_user_res_soft.ncpus of the server"),
        ("set queue work node_group_key = switch", "node_group_key of the queue work"),
        ("set queue work partition = p1", "partition of the queue work"),
        ("set queue work resources_available.scratch = 4", "resources_available.scratch of the queue work"),
        ("set queue work resources_max.cput = 01:00:00", "resources_max.cput of queues"),
        ("set queue work resources_min.walltime = 01:00:00", "resources_min.walltime of queues"),
        ("set sched default do_not_span_psets = True", "do_not_span_psets of the scheduler"),
        ("set server colour = red", "colour of the server (not known, qmgr.txt, line 4)"),
        ("set queue work colour = red", "colour of the queue work (not known, qmgr.txt, line 4)"),
    ],
)
def test_what_is_not_obeyed_is_listed(file: Writer, command: str, listed: str) -> None:
    assert site_of(file, f"{command}\n").not_modelled == (listed,)


@pytest.mark.parametrize(
    "command",
    [
        "set server scheduling = True",
        "set server scheduler_iteration = 600",
        "set server node_fail_requeue = 310",
        "set server default_chunk.ncpus = 1",
        "set sched default preempt_order = SCR",
    ],
)
def test_the_defaults_of_pbs_are_not_listed(file: Writer, command: str) -> None:
    assert site_of(file, f"{command}\n").not_modelled == ()


def test_nodes_with_limits_of_their_own_are_listed(file: Writer) -> None:
    site = site_of(
        file, node="     max_running = 2\n     Priority = 5\n     no_multinode_jobs = True\n     colour = red\n"
    )
    assert site.not_modelled == (
        "max_running of nodes",
        "Priority of nodes",
        "no_multinode_jobs of nodes",
        "colour of nodes (not known, pbsnodes.txt, line 1)",
    )


@pytest.mark.parametrize(("enabled", "groups"), [("True", ("switch",)), ("False", ())])
def test_placement_sets_may_be_switched_off(file: Writer, enabled: str, groups: tuple[str, ...]) -> None:
    site = site_of(file, f"set server node_group_enable = {enabled}\nset server node_group_key = switch\n")
    assert isinstance(site.scheduler, PBSSettings) and site.scheduler.node_groups == groups


def test_the_formula_of_the_scheduler_is_read(file: Writer) -> None:
    site = site_of(file, "set sched default job_sort_formula = ncpus*walltime\n")
    assert isinstance(site.scheduler, PBSSettings) and site.scheduler.job_sort_formula == "ncpus*walltime"


def test_options_of_sched_config_that_no_replay_obeys(file: Writer) -> None:
    text = "by_queue: True ALL\nsmp_cluster_dist: pack\nprime_spill: 1:00:00\npeer_queue: a b@c\nlog_filter: 3328\ncolour: red\n"
    site = read_site(file("qmgr.txt", QUEUE), file("pbsnodes.txt", NODE), file("sched_config", text))
    assert site.not_modelled == (
        "prime_spill: 1:00:00",
        "peer_queue: a b@c",
        "colour of sched_config (not known, sched_config, line 6)",
    )
