"""Keys of Slurm as its documentation writes them, and the one that a misspelt key may stand for [slurm.conf(5), sacctmgr(1)]."""

from __future__ import annotations

from collections.abc import Iterable

from ...models.excerpt import similar

NEAR = 0.8  # least similarity of a key that is proposed, 0 to 1
NODES = (
    "NodeName CPUs Procs Boards Sockets SocketsPerBoard CoresPerSocket ThreadsPerCore RealMemory Weight State "
    "Feature Features Gres CoreSpecCount MemSpecLimit NodeAddr NodeHostname"
)
PARTITIONS = (
    "PartitionName Nodes MaxTime DefaultTime MinNodes MaxNodes MaxCPUsPerNode DefMemPerCPU MaxMemPerCPU "
    "DefMemPerNode MaxMemPerNode DefMemPerGPU DefCpuPerGPU PriorityTier PriorityJobFactor Priority AllowQos DenyQos "
    "AllowAccounts DenyAccounts AllowGroups QOS OverSubscribe Shared PreemptMode GraceTime OverTimeLimit Default "
    "LLN ExclusiveUser ReqResv TRESBillingWeights JobDefaults"
)
SETTINGS = (
    "ClusterName SchedulerType SchedulerParameters SelectType SelectTypeParameters PriorityType PriorityWeightAge "
    "PriorityWeightAssoc PriorityWeightFairshare PriorityWeightJobSize PriorityWeightPartition PriorityWeightQOS "
    "PriorityWeightTRES PriorityMaxAge PriorityDecayHalfLife PriorityCalcPeriod PriorityUsageResetPeriod "
    "PriorityFavorSmall PriorityFlags FairShareDampeningFactor PreemptType PreemptExemptTime KillWait CompleteWait "
    "ResvOverRun EnforcePartLimits AccountingStorageEnforce JobRequeue MaxArraySize MaxJobCount Licenses "
    "TopologyPlugin TopologyParam BurstBufferType JobSubmitPlugins CliFilterPlugins NodeFeaturesPlugins MCSPlugin "
    "DependencyParameters"
)
ACCOUNTING = (
    "Fairshare Shares RawShares DefaultQOS Parent ParentName GrpTRES GrpJobs GrpSubmit GrpSubmitJobs GrpWall "
    "GrpTRESMins GrpTRESRunMins MaxJobs MaxSubmit MaxSubmitJobs MaxTRES MaxTRESPerJob MaxTRESPerNode MaxTRESMins "
    "MaxTRESMinsPerJob MaxWall MaxWallDurationPerJob MaxJobsPerUser MaxSubmitJobsPerUser MaxTRESPerUser "
    "MaxJobsPerAccount MaxSubmitJobsPerAccount MaxTRESPerAccount MinTRESPerJob Preempt UsageFactor UsageThreshold "
    "LimitFactor Flags"
)
SPELLED = {name.lower(): name for text in (NODES, PARTITIONS, SETTINGS, ACCOUNTING) for name in text.split()}


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
    return SPELLED.get(alike[0], alike[0]) if alike else ""
