"""The columns of the tables of numbers that the kernels of the dispatcher ``slurm`` read and write.

Every table is a two-dimensional array of int64: a row a job, a node, a partition, ...; a column one of the numbers below.
Times are seconds, memory MB, -1 stands for "none".
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Marks: TypeAlias = NDArray[np.uint8]
"""Nodes that are marked: 1, else 0."""

YEAR: Final = 365 * 86_400  # s: the limit of a job without one, as in Slurm

# A job's request.
MIN_NODES: Final = 0
MAX_NODES: Final = 1  # 0: the partition's
TASKS: Final = 2  # 0: not given
TASKS_PER_NODE: Final = 3  # 0: not given
CPUS_PER_TASK: Final = 4
MIN_CPUS: Final = 5
MEMORY_PER_CPU: Final = 6  # -1: not by CPU
MEMORY_PER_NODE: Final = 7  # -1: not by node; 0: all of the node
WHOLE: Final = 8  # 1: whole nodes, alone
CONTIGUOUS: Final = 9
LIMIT: Final = 10  # time limit
GPU_TYPE: Final = 11  # index of the type, -1: any type
GPUS: Final = 12  # on each node
ALLOWED: Final = 13  # row of the masks of nodes: features, excluded nodes; -1: all
REQUIRED: Final = 14  # row of the masks: nodes that the job must have; -1: none
RESERVATION: Final = 15  # row of the reservations, -1: none
ARRAY: Final = 16  # row of the job arrays, -1: no array
USER: Final = 17
ASSOCIATION: Final = 18
ELIGIBLE: Final = 19  # since when it may start
GPUS_OF_JOB: Final = 20  # in all, where they are not given by node
NO_RESERVE: Final = 21  # 1: its QOS takes no reservation of the backfill scheduler
PER_NODE: Final = 22  # units on one node at most; only of jobs that are counted in units
UNITS: Final = 23  # the number of units; only of jobs that are counted in units, as the next one
UNIT_CPUS: Final = 24  # the CPUs of a unit, where nodes are chosen by the CPUs that they have free; 1: by the units
MOST_ON: Final = 25  # the most units that a node may hold when nothing runs
NODE_LIMIT: Final = 26  # the most nodes that its QOS and associations allow; 0: no limit
JOB_COLUMNS: Final = 27

# A partition.
TIER: Final = 0
PART_MIN_NODES: Final = 1
PART_MAX_NODES: Final = 2
LEAST_LOADED: Final = 3  # 1: LLN=YES
MAX_CPUS_PER_NODE: Final = 4  # 0: no limit
OVER_LIMIT: Final = 5  # seconds that its jobs may run over their limits
PART_COLUMNS: Final = 6

# What a node has, and what of it is free: the GPUs by type follow.
CPUS: Final = 0
MEMORY: Final = 1
FIRST_GPU: Final = 2

# What uses a node.
JOBS_ON: Final = 0
WHOLE_ON: Final = 1
USE_COLUMNS: Final = 2  # the CPUs that jobs of each partition have follow

# A running job; its pieces are rows FIRST to FIRST + COUNT - 1.
RUN_JOB: Final = 0
RUN_END: Final = 1  # by its limit
RUN_FIRST: Final = 2
RUN_COUNT: Final = 3
RUN_PARTITION: Final = 4
RUN_START: Final = 5
RUN_TOUCHES: Final = (
    6  # the partitions, as bits, of which it may have nodes; those from BITS_OF_PARTITIONS on are not looked at
)
RUN_COLUMNS: Final = 7
BITS_OF_PARTITIONS: Final = 62
EVERY_PARTITION: Final = -1

# A piece of a running job: CPUS + 1, MEMORY + 1 and the GPUs by type follow the node; then the units, where jobs have units.
PIECE_NODE: Final = 0
PIECE_FREE: Final = 1

# A reservation of the machine.
FROM: Final = 0
TO: Final = 1
ON: Final = 2  # row of the masks of nodes
MAINT: Final = 3
FLEX: Final = 4
RESERVATION_COLUMNS: Final = 5

# A job array.
RUNNING_TASKS: Final = 0
MOST_TASKS: Final = 1  # 0: no limit
ARRAY_COLUMNS: Final = 2

# A limit of a group (an association, a QOS, a user in a QOS, ...): counted columns.
JOBS: Final = 0
LIMIT_CPUS: Final = 1
LIMIT_NODES: Final = 2
LIMIT_MEMORY: Final = 3
LIMIT_GPUS: Final = 4
RUN_CPU_SECONDS: Final = 5  # CPUs times what is left of the time limits, of running jobs
LIMIT_TYPES: Final = 6  # the GPUs by type follow
UNLIMITED: Final = 2**62

# Parameters of a pass.
NOW: Final = 0
DEPTH: Final = 1  # default_queue_depth, bf_max_job_test
PER_PARTITION: Final = 2  # partition_job_depth, bf_max_job_part
MIN_AGE: Final = 3  # bf_min_age_reserve
MIN_PRIORITY: Final = 4  # bf_min_prio_reserve
MOST_STARTS: Final = 5  # sched_max_job_start, bf_max_job_start
LIMIT_STOP: Final = 6  # assoc_limit_stop
RESOLUTION: Final = 7
WINDOW: Final = 8
PER_USER: Final = 9
PER_USER_PARTITION: Final = 10
PER_ASSOCIATION: Final = 11
PARTITION_RESERVES: Final = 12  # bf_job_part_count_reserve
ARRAY_RESERVES: Final = 13  # bf_max_job_array_resv
ONE_RESERVE: Final = 14  # bf_one_resv_per_job
SPACE: Final = 15  # rows of the map, bf_node_space_size
KILL_WAIT: Final = 16
MEMORY_COUNTS: Final = 17  # CR_*_Memory
LEAST_LOADED_NODES: Final = 18  # CR_LLN
RUNNING_RESERVE: Final = 19  # bf_running_job_reserve
SERIAL_AT_END: Final = 20  # pack_serial_at_end
IN_UNITS: Final = 21  # 1: jobs are counted in units of equal requests, as in a replay under any dispatcher
RELEASES: Final = 22  # how often nodes or amounts of nodes were released
CPU_AMOUNT: Final = 23  # the columns of CPUs and of memory among the amounts of a node, -1: none; only of jobs in units
MEMORY_AMOUNT: Final = 24
BUSY_NODES: Final = 25  # bf_busy_nodes
PARAMETERS: Final = 26

# The place of a job among equal ones in the queue.
SUBMIT: Final = 0
NUMBER: Final = 1
TASK: Final = 2
PLACE_COLUMNS: Final = 3

# What is known to have no room; see Machine.tried.
TRIED_KIND: Final = 0  # -1: nothing is known
TRIED_PARTITION: Final = 1
TRIED_RELEASES: Final = 2  # RELEASES when it was tried
TRIED_UNITS: Final = 3
TRIED_COLUMNS: Final = 4
TRIED_ROWS: Final = 2**14

# A row of the queue.
QUEUE_JOB: Final = 0
QUEUE_PARTITION: Final = 1
QUEUE_PRIORITY: Final = 2
QUEUE_NUMBER: Final = 3  # of the partition among those of the job
QUEUE_COLUMNS: Final = 4

# Why a job that was looked at did not start, for people: codes of the reasons that a pass gives.
NONE: Final = 0
RESOURCES: Final = 1
PRIORITY: Final = 2
NODE_NOT_AVAILABLE: Final = 3
RESERVED: Final = 4
ARRAY_LIMIT: Final = 5
BAD_CONSTRAINTS: Final = 6
LIMITS: Final = 1000  # LIMITS + 100 * kind of the group + column of the limit
