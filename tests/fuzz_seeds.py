"""A small file of every format that is read: the tests of the readers read it, and the fuzzer damages it."""

import gzip
import json

from schedlab import Guide
from schedlab.models.profit import MAXIMISE, OPTIMISE, Leaf, Split


def packed(text: str) -> bytes:
    """A gz file, the same bytes each time."""
    return gzip.compress(text.encode(), mtime=0)


SWF = """\
; Version: 2.2
; UnixStartTime: 1342130400
; TimeZoneString: Europe/Paris
; TimeZone: 3600
; MaxNodes: 4
; MaxProcs: 64
; Queue: 1 day
; Queue: 2 night shift
1 0 10 60.5 24 -1 -1 24 3600 1024 1 5 1 3 1 -1 -1 -1
2 3600 0 7200 16 -1 2048 -1 7200 -1 1 6 1 3 2 -1 -1 -1
3 3600 5 0 8 -1 -1 8 -1 -1 0 5 2 -1 1 -1 -1 -1
4 90000 -1 100 64 -1 -1 64 600 4096 1 7 2 4 2 -1 3 10
"""
SWF_PARTITIONS = """\
; MaxProcs: 64
; Partition: 3 batch
; Partition: 4 large
1 0 10 60 4 -1 -1 4 3600 -1 1 5 1 -1 -1 3 -1 -1
2 10 100 50 8 -1 -1 8 3600 -1 1 5 1 -1 -1 4 1 30
3 20 30 40 4 -1 -1 4 3600 -1 1 6 1 -1 -1 3 2 -1
4 30 5 30 4 -1 -1 4 3600 -1 1 6 1 -1 -1 -1 3 600
5 40 7 20 4 -1 -1 4 3600 -1 1 7 1 -1 -1 9 -1 -1
"""
SACCT = """\
User|JobID|JobName|Partition|State|Submit|Start|End|Elapsed|Timelimit|NNodes|NCPUS|ReqMem|AllocTRES
ann|11|lmp|batch|COMPLETED|2024-05-01T10:00:00|2024-05-01T10:05:00|2024-05-01T11:05:00|01:00:00|1-02:00:00|2|32|16G|billing=32,cpu=32,gres/gpu:a100=1,gres/gpu:v100=3,mem=16G,node=2
|11.batch|batch||COMPLETED|2024-05-01T10:05:00|2024-05-01T10:05:00|2024-05-01T11:05:00|01:00:00||1|16||cpu=16
bob|12_1|sweep|batch|TIMEOUT|2024-05-01T10:01:00|2024-05-01T10:01:00|2024-05-01T10:31:10|30:10|30:00|1|3|500Mc|cpu=3
bob|12_2|sweep|batch|CANCELLED by 7|2024-05-01T10:01:00|Unknown|2024-05-01T10:02:00|00:00:00|30:00|1|3|500Mc|
eve|14|x|debug|COMPLETED|2024-05-01T10:03:00|2024-05-01T10:03:30|2024-05-01T10:03:40|00:00:10|UNLIMITED|1|1|4Gn|gres/gpu=2
"""
PBS = """\
04/01/2024 10:00:00;S;1.srv;queue=work
04/01/2024 11:00:00;E;1.srv;user=ann group=g jobname=lmp queue=work ctime=1711958400 qtime=1711958400 etime=1711958400 start=1711958460 exec_host=n1/0*8+n2/0*8 Resource_List.ncpus=16 Resource_List.select=2:ncpus=8:mem=14gb:ngpus=1 Resource_List.walltime=02:00:00 end=1711962000 resources_used.walltime=00:59:00
04/01/2024 12:00:00;E;2[7].srv;user=bob jobname="my job" queue=debug ctime=1711958500 start=1711958600 end=1711958700 Resource_List.nodes=1:ppn=4+n7:ppn=8 Resource_List.mem=4096mb Resource_List.walltime=600
04/01/2024 12:30:00;E;3.srv;user=eve queue=debug qtime=1711958500 start=1711958600 end=1711958700 Resource_List.ncpus=4 Resource_List.mem=1000000kb
"""
SACCT_ATTEMPTS = """\
JobID|JobName|Cluster|Submit|Start|End|ElapsedRaw|Suspended|TimelimitRaw|AllocNodes|AllocCPUS|NodeList|State|ReqMem|AllocGRES
5+0|a|c|2024-05-01T08:00:00|2024-05-01T08:01:00|2024-05-01T08:11:00|600|00:00:00|60|1|4|n1|NODE_FAIL|2147486648Mn|7696487:1
5+1|b|c|2024-05-01T08:00:00|2024-05-01T08:01:00|2024-05-01T08:11:00|600|00:00:00|60|2|8|n[2-3]|REQUEUED|4Gc|gpu:2
5+0|a|c|2024-05-02T08:00:00|2024-05-02T08:01:00|2024-05-02T08:11:00|600|00:00:00|60|1|4|n1|COMPLETED|4Gn|
5+1|b|c|2024-05-02T08:00:00|2024-05-02T08:01:00|2024-05-02T08:11:00|600|00:00:00|60|2|8|n[2-3]|COMPLETED|4Gn|
JobID|JobName|Cluster|Submit|Start|End|ElapsedRaw|Suspended|TimelimitRaw|AllocNodes|AllocCPUS|NodeList|State|ReqMem|AllocGRES
6|two
lines|d|2024-05-01T08:00:00|2024-05-01T08:01:00|2024-05-01T08:41:00||00:10:00||1|2|n4|PREEMPTED|0|
6|x|y|d|2024-05-01T08:41:00|2024-05-01T08:50:00|Unknown|||Partition_Limit|1|2|n4|RUNNING|0|
7_[1-9%3]|z|d|2024-05-01T08:41:00|Unknown|Unknown|0||60|0|0|None assigned|PENDING|0|
"""
JOBCOMP = """\
JobId=12 UserId=ann(1001) GroupId=g(7) Name=my job JobState=COMPLETED Partition=batch TimeLimit=60 StartTime=2024-05-01T08:00:00 EndTime=2024-05-01T09:00:00 NodeList=n[1-2] NodeCnt=2 ProcCnt=8 WorkDir=/home/a b ReservationName= Tres=cpu=8,mem=16G,node=2,gres/gpu=4 Account=x QOS=normal WcKey= Cluster=c SubmitTime=2024-05-01T07:00:00 EligibleTime=2024-05-01T07:10:00 ArrayJobId=10 ArrayTaskId=4 DerivedExitCode=0:0 ExitCode=0:0
JobId=13 UserId=bob(1002) GroupId=g(7) Name=x JobState=CANCELLED Partition=batch TimeLimit=UNLIMITED StartTime=2024-05-01T08:00:00 EndTime=2024-05-01T08:00:00 NodeList=(null) NodeCnt=0 ProcCnt=0 WorkDir=/ Tres=cpu=8 SubmitTime=2024-05-01T07:00:00 EligibleTime=Unknown
"""
SACCT_JSON = json.dumps(
    {
        "meta": {"slurm": {}},
        "jobs": [
            {
                "job_id": 7, "name": "a", "user": "ann", "partition": "p", "cluster": "c", "nodes": "n[1-2]", "allocation_nodes": 2,
                "required": {"CPUs": 8, "memory_per_cpu": {"set": True, "infinite": False, "number": 1000}},
                "array": {"job_id": 6, "task_id": {"set": True, "infinite": False, "number": 1}, "task": ""},
                "het": {"job_id": 0, "job_offset": {"set": False, "infinite": False, "number": 0}},
                "state": {"current": ["COMPLETED"], "reason": "None"},
                "time": {
                    "elapsed": 3000, "eligible": 1714550400, "start": 1714550460, "end": 1714554060, "submission": 1714550400,
                    "suspended": 600, "limit": {"set": True, "infinite": False, "number": 90},
                },
                "tres": {"allocated": [
                    {"type": "cpu", "name": "", "id": 1, "count": 8}, {"type": "node", "name": "", "id": 4, "count": 2},
                    {"type": "gres", "name": "gpu:a100", "id": 1002, "count": 2},
                ]},
            },
            {
                "job_id": 8, "name": "b", "user": "bob", "partition": "p", "nodes": "n3", "allocation_nodes": 1, "state": {"current": "RUNNING"},
                "required": {"CPUs": 4, "memory": 9223372036854778808}, "array": {"job_id": 0, "task_id": None}, "het": {"job_id": 0, "job_offset": None},
                "time": {"elapsed": 60, "start": 1714554000, "end": 0, "submission": 1714550400, "limit": 4294967295},
            },
        ],
        "errors": [],
    },
    indent=1,
)  # fmt: skip
PBS_AGAIN = """\
04/01/2024 10:00:00;S;1.srv;user=ann queue=work ctime=1711958400 etime=1711958400 start=1711958460 Resource_List.select=1:ncpus=2
04/01/2024 10:10:00;R;1.srv;user=ann queue=work ctime=1711958400 start=1711958460 Resource_List.select=1:ncpus=2 end=1711959000 run_count=1
04/01/2024 11:00:00;E;1.srv;user=ann queue=work ctime=1711958400 start=1711959100 Resource_List.select=1:ncpus=2 Resource_List.place=excl end=1711962000 run_count=2
04/01/2024 11:10:00;S;2.srv;user=bob queue=work ctime=1711958400 start=1711961000 Resource_List.ncpus=2 Resource_List.walltime=1:00:00
04/01/2024 11:10:00;D;3.srv;requestor=ann@host
"""
TORQUE = """\
04/01/2024 11:00:00;E;1.srv;user=ann group=g jobname=lmp queue=work ctime=1711958400 qtime=1711958400 etime=1711958400 start=1711958460 owner=ann@h exec_host=n1/0-7,12+n2/0+n2/1 Resource_List.neednodes=2:ppn=8:gpus=1 Resource_List.nodect=2 Resource_List.nodes=2:ppn=8:gpus=1 Resource_List.pmem=2gb Resource_List.walltime=02:00:00 session=5 end=1711962000 Exit_status=0 resources_used.walltime=00:59:00
04/01/2024 11:01:00;E;2-3.srv;user=ann queue=work ctime=1711958400 start=1711958460 Resource_List.procs=16 Resource_List.mem=32gb end=1711962000
04/01/2024 11:02:00;R;2-4.srv;
04/01/2024 11:03:00;E;4.srv;user=ann queue=work ctime=1711958400 start=1711958460 exec_host=n1/0-7,12+n2/0 end=1711962000
"""
EURORA = """\
job_id,queue,submit,start,end,req_nodes,req_cores,req_mem_raw,walltime_req_hhmm,app_type,nodes_used,cores_per_node,gpus_per_node,mics_per_node,mem_per_node_raw,power_pred_w
1,parallel,2014-03-31 08:51:10,2014-03-31 10:55:42,2014-03-31 14:02:08,1,1,1,04:00,0,55,1,1,0,1048576,9.0
2,debug,2014-03-31 08:52:00,2014-03-31 08:52:00,2014-03-31 08:53:00,2,24,1,00:30,2,1 2,16 8,0 0,2 2,1048577 1024,
"""
JOB_TABLE = """\
id,queue,submit,units,cores,gpus,memory,walltime,runtime,user,power
a,day,0,2,16,1,1024,3600,60.5,ann,200
"b",night,5,1,1,0,0,,9,,
"""
BATSIM = json.dumps(
    {
        "nb_res": 8,
        "jobs": [
            {"id": 1, "subtime": 5, "walltime": 60, "res": 3, "profile": "short"},
            {"id": "w0!2", "subtime": 7.4, "walltime": -1, "res": 8, "profile": "twice"},
            {"id": "3", "subtime": 9, "res": 1, "profile": "task", "extra_data": "{}"},
        ],
        "profiles": {
            "short": {"type": "DelayProfile", "delay": 10.2},
            "old": {"type": "delay", "delay": 100},
            "twice": {"type": "SequentialCompositionProfile", "repeat": 2, "seq": ["short", "old"]},
            "task": {"type": "ParallelTaskHomogeneousProfile", "cpu": 1e9, "com": 0},
        },
    },
    indent=1,
)

_HOURS = [(m, d, h) for m, d in ((2, 28), (3, 1)) for h in range(1, 25)]
EPW = "\n".join(
    [
        "LOCATION,Nowhere,-,-,-,0,45,8,1,250",
        *["COMMENTS 1,none"] * 6,
        "DATA PERIODS,1,1,Data,Sunday, 1/ 1,12/31",
        *(f"2018,{m},{d},{h},0,?,{h / 2},1.2,94,99870" for m, d, h in _HOURS),
    ]
)
PVGIS = (
    "Latitude: 45\nmonth,year\n1,2018\ntime(UTC),T2m,RH\n20180101:0000,2.04,94\n20180101:0100,1.98,95\n"
    "20180101:0200,1.9,95\n\nT2m: air\n"
)
WEATHER_SECONDS = "# here; source: there\ntime_s,temperature_c\n0,20\n3600,22.5\n7200,-3\n"
WEATHER_HOURS = "month,day,hour_ending,drybulb_c\n" + "".join(f"{m},{d},{h},{h / 2}\n" for m, d, h in _HOURS)
WEATHER_STAMPS = "time;temp\n".replace(";", ",") + "".join(f"2012-07-15T{h:02}:00+02:00,{h}\n" for h in range(24))
COOLING = (
    "# a cellar\ntemperature_c,it_power_w,cooling_power_w,pue\n20,0,0,\n20,1000,50,1.05\n30,0,0,\n30,1000,100,1.1\n"
)
PRICES = "# of a day\ntime_s,euro_per_kwh\n0,0.1\n3600,-0.05\n7200,0.3\n"

PSPLIB = """\
************************************************************************
jobs  (incl. supersource/sink ):  4
RESOURCES
  - renewable                 :  1   R
  - nonrenewable              :  1   N
  - doubly constrained        :  0   D
************************************************************************
PRECEDENCE RELATIONS:
jobnr.    #modes  #successors   successors
   1        1          2           2   3
   2        2          1           4
   3        1          1           4
   4        1          0
************************************************************************
REQUESTS/DURATIONS:
jobnr. mode duration  R 1  N 1
------------------------------------------------------------------------
  1      1     0       0    0
  2      1     3       2    0
         2     2       2    4
  3      1     4       1    1
  4      1     0       0    0
************************************************************************
RESOURCEAVAILABILITIES:
  R 1  N 1
    2    4
************************************************************************
"""
PATTERSON = "4 1\n5\n0 0 2 2 3\n3 4\n1 4 2 5 1 4\n0 0 0\n"
JOB_SHOP = "# a comment\n2 2\n0 3 1 2\n1 4 0 1\n"
TIME_LAGS = "1 1 0 0\n0 1 1 1 [2]\n1 1 2 2 0 [3] [-5]\n2 1 0\n0 1 0 0\n1 1 3 1\n2 1 0 0\n1\n"
KNAPSACK = "2 10\n7 4\n3.5 6.25\n"
FLOW_SHOP = "3 2 873654221 9 8\nprocessing times :\n1 2 3\n4 5 6\n"
TAILLARD = "Nb of jobs\n2 2 7 9 9 9\nTimes\n1 2\n3 4\n# steps\nMachines\n1 2\n2 1\n"
FLEXIBLE = "2 2 1.5\n2 1 1 3 2 1 4 2 2\n1 1 2 5\n"


def _files(**texts: str) -> dict[str, bytes]:
    return {name.replace("_", "."): text.encode() for name, text in texts.items()}


_MACHINE = """\
[[platform.groups]]
name = "fat"
count = 2
capacity = { cores = 16, gpus = 1 }

[[platform.groups]]
name = "thin"
count = 12
capacity = { cores = 8 }

[[queues]]
name = "day"
ewt_s = 3600

[[queues]]
name = "night"
ewt_s = 7200
start_between = [["18:00", "20:00"], ["22:00:30", "08:00"]]
"""
DISPATCH = _files(
    instance_toml=f"""\
kind = "dispatch"
description = "a test"
source = "nowhere"
objective = "waiting"

{_MACHINE}
[generator]
name = "hand"
seed = 7
when = 2024-05-01T10:00:00Z

[repairs]
some = 3
""",
    jobs_csv="""\
id,queue,submit,units,cores,gpus,walltime,runtime,earliest_start,deadline,user,name,power
a,day,0,2,8,1,600,300,60,9000,ann,"x, ""y"" z",250.5
b,night,60,1,16,0,1200,,,,,,
c,day,90000,12,8,0,1200,1200,,,bob,z,1e3
""",
)
EVICTION = _files(
    instance_toml='kind = "eviction"\nnodes_needed = 100\nnodes_compared = [10, 64]\ndeadline_s = 200\nstep_s = 60\n'
    "file_system_mb_s = 1500.5\nnode_mb_s = 300\nshared_bandwidth = false\n",
    jobs_csv="id,nodes,loss,system_s,application_s,wait_s,mb_s\na,64,7200,90,,,300\nb,64,3600,300,200.5,10,200\nc,10,0,,,,\n",
)
EVICTION_PHYSICAL = _files(
    instance_toml='kind = "eviction"\nnodes_needed = 10\ndeadline_s = 900\nstep_s = 60\nnow_s = 5000\n'
    "file_system_mb_s = 1500\nnode_mb_s = 300\n",
    jobs_csv="id,nodes,start,last_checkpoint,next_checkpoint,memory_mb,application_share\n"
    "a,64,0,3600,7200,1000,0.5\nb,8,4000,,5400,500,0.1\n",
)
PROJECT = _files(
    instance_toml='kind = "project"\ndescription = "small"\n\n[[resources]]\nname = "bench"\ncapacity = 1\n\n'
    '[[resources]]\nname = "paint"\ncapacity = 6\nrenewable = false\n',
    modes_csv='task,mode,duration,bench,paint\ncut,1,3,1,0\n"paint, ""y""",fast,2,0,5\n"paint, ""y""",slow,6,0,1\npack,1,4,1,0\n',
    precedences_csv='before,after,delay\ncut,"paint, ""y""",1\ncut,pack,-2\n',
)
SHOP = _files(
    instance_toml='kind = "project"\nobjective = "weighted-tardiness+2*makespan"\npermutation = ["saw"]\n\n[[resources]]\nname = "bench"\n'
    'capacity = 1\nbreaks = [[4, 5], [9, 12]]\nsuspends = true\n\n[[resources]]\nname = "saw"\ncapacity = 1\nno_idle = true\n',
    modes_csv="task,mode,duration,bench,saw\ncut,1,3,0,1\npaint,1,2,1,0\npack,1,4,1,0\n",
    precedences_csv="before,after,delay,no_wait,blocking\ncut,paint,1,1,\npaint,pack,0,,1\n",
    tasks_csv="task,release,deadline,due,weight,earliness_weight,penalty,family,job\ncut,2,40,9,2,1,,,a\npaint,,,5,,,,red,a\n",
    setups_csv="resource,before,after,time\nbench,red,pack,3\n",
)
PROFIT = _files(
    instance_toml=f"""\
kind = "profit"
scenario = "air,summer,cheap"

[profit]
energy_price = "prices.csv"
until_s = 7200
watts_per_core = 9.5

[profit.cooling.air]
table = "air"
scale = 0.01

[profit.cooling.cellar]
table = "cellar.csv"

[profit.season.summer]
temperatures = "summer.csv"

[profit.price.cheap]
core_hour = 0.013

{_MACHINE}""",
    jobs_csv="id,queue,submit,units,cores,gpus,walltime,runtime,power\na,day,0,1,8,0,7200,3600,300.5\nb,day,60,2,4,1,7200,,\n",
    summer_csv=WEATHER_SECONDS,
    cellar_csv=COOLING,
    prices_csv=PRICES,
)
BATSIM_JOBS = """\
job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,metadata
a,mine,p,5,3,100,1,COMPLETED_SUCCESSFULLY,10,20,30,5,25,1.25,0-1 3,5000.0,queue=parallel;user=ann;request=cores:8 gpus:1;units=0-1:1 3:1
b,mine,p,6.5,1,100,0,COMPLETED_WALLTIME_REACHED,10,100,110,4,104,1.04,2,,queue=short%3B
c,mine,p,7,1,100,0,,,,,,,,,,
"""
GUIDE = json.dumps(
    Guide(
        {"air": Leaf(OPTIMISE, 9, 9), "hybrid": Split(0.8, Leaf(MAXIMISE, 5, 5), Split(0.4, Leaf(OPTIMISE, 5, 4), Leaf(MAXIMISE, 1, 1)))},
        {"days": 3},
    ).as_json(),
    indent=1,
)  # fmt: skip
CARBON = "# of a day\ntime_s,g_co2_per_kwh\n0,300\n3600,250.5\n7200,410\n"
PROFILE = "# period_s = 86400\ntime_s,resource,share,nodes\n0,cores,1.0,*\n28800,cores,0.6,*\n"
_SET = {"set": True, "infinite": False}
_JOBS = {
    "last_update": {**_SET, "number": 1700000000},
    "jobs": [
        {
            "job_id": 7, "job_state": ["RUNNING"], "partition": "batch", "nodes": "c[1-2]", "cpus": {**_SET, "number": 6},
            "node_count": {**_SET, "number": 2}, "start_time": {**_SET, "number": 1699999000}, "user_name": "ann",
            "submit_time": {**_SET, "number": 1699998000}, "time_limit": {**_SET, "number": 60},
            "tres_alloc_str": "cpu=6,mem=4000M,node=2,gres/gpu:a100=2", "gres_detail": ["gpu:a100:1(IDX:0)", "gpu:a100:1(IDX:1)"],
            "array_job_id": {**_SET, "number": 6}, "array_task_id": {**_SET, "number": 1}, "array_max_tasks": {**_SET, "number": 2},
        },
        {
            "job_id": 6, "job_state": ["PENDING"], "state_reason": "Resources", "partition": "batch,debug",
            "cpus": {**_SET, "number": 4}, "node_count": {**_SET, "number": 1}, "submit_time": {**_SET, "number": 1699998000},
            "eligible_time": {**_SET, "number": 1699998000}, "time_limit": {**_SET, "number": 60},
            "priority": {**_SET, "number": 100}, "tres_req_str": "cpu=4,mem=8G,node=1,gres/gpu=1", "array_task_string": "2-9:3,12%2",
            "array_job_id": {**_SET, "number": 6}, "tres_per_node": "gres:gpu:a100:1", "features": "ib&fast", "exclusive": ["true"],
            "excluded_nodes": "c9", "cpus_per_tres": "gres:gpu:2",
        },
    ],
}  # fmt: skip
_NODES = [
    {
        "name": f"c{k}", "cpus": 16, "real_memory": 64000, "alloc_cpus": 3 if k < 3 else 0, "alloc_memory": 2000 if k < 3 else 0,
        "gres": "gpu:a100:4(S:0-1)", "gres_used": "gpu:a100:1(IDX:0)" if k < 3 else "gpu:a100:0(IDX:N/A)", "threads": 2,
        "state": ["IDLE", "CLOUD"], "partitions": ["batch", "debug"][: 1 + k % 2], "features": "ib,fast",
    }
    for k in range(1, 5)
]  # fmt: skip
_RESERVED = {
    "reservations": [
        {"name": "course", "start_time": {**_SET, "number": 1700000100}, "end_time": {**_SET, "number": 1700009000},
         "node_list": "c[3-4]", "core_specializations": [{"node": "c3", "core": "0-1"}]}
    ]
}  # fmt: skip
_SINFO = [
    {
        "partition": {"name": part}, "node": {"state": node["state"]}, "nodes": {"nodes": [node["name"]]},
        "gres": {"total": node["gres"], "used": node["gres_used"]}, "features": {"total": "ib,fast", "active": "ib,fast"},
        "cpus": {"allocated": node["alloc_cpus"], "minimum": 16, "maximum": 16},
        "memory": {"allocated": node["alloc_memory"], "minimum": 64000, "maximum": 64000},
    }
    for node in _NODES
    for part in node["partitions"]  # type: ignore[attr-defined]
]  # fmt: skip


def _json(**values: object) -> dict[str, bytes]:
    return {f"{name}.json": json.dumps(value, indent=1).encode() for name, value in values.items()}


SLURM_STATE = _json(a_jobs=_JOBS, b_nodes={"nodes": _NODES}, c_reservations=_RESERVED)
SLURM_SINFO = _json(a_jobs=_JOBS, b_nodes={"sinfo": _SINFO})
PBS_STATE = _json(
    a_jobs={
        "timestamp": 1479277336, "pbs_version": "14.1",
        "Jobs": {
            "1.srv": {
                "job_state": "R", "queue": "workq", "ctime": "Wed Nov 16 06:20:05 2016", "stime": 1479277000, "Hold_Types": "n",
                "exec_vnode": "(a:ncpus=2:mem=1048576kb)+(b:ncpus=2)", "Resource_List": {"walltime": "01:00:00"},
            },
            "3[].srv": {
                "job_state": "B", "queue": "workq", "ctime": "Wed Nov 16 06:00:00 2016", "Hold_Types": "n", "array": "True",
                "array_indices_remaining": "2-7,9", "max_run_subjobs": 2,
                "Resource_List": {"select": "2:ncpus=1:mem=2gb:host=a+1:ncpus=2:scratch=3", "place": "scatter:excl", "walltime": "600"},
            },
        },
    },
    b_nodes={
        "timestamp": 1479277336,
        "nodes": {
            name: {"state": "free", "resources_available": {"ncpus": 8, "mem": "16777216kb", "ngpus": 1, "scratch": 9},
                   "resources_assigned": {"ncpus": 2, "mem": "1048576kb"}}
            for name in "abc"
        },
    },
)  # fmt: skip
STATE = json.dumps(
    {
        "schema": "schedlab-state", "version": 1, "now": 1700000000, "utc_offset": 3600,
        "queues": [{"name": "batch", "ewt": 3600}, {"name": "night", "start_between": [["18:00", "08:00"]]}],
        "nodes": [{"name": f"n{k}", "state": "up", "capacity": {"cores": 16, "memory": 65536}, "free": {"cores": 6}} for k in (1, 2)],
        "running": [{"id": "17", "start": 1699999000, "walltime": 3600, "nodes": {"n1": {"cores": 8, "memory": 4096}}}],
        "waiting": [
            {"id": "18", "submit": 1699999100, "walltime": 600, "units": 1, "request": {"cores": 4}, "queue": "batch", "array": "9"},
            {"id": "20", "submit": 1699999300, "walltime": 600, "queue": "batch",
             "chunks": [{"units": 1, "request": {"cores": 2}}, {"units": 2, "request": {"cores": 1}}]},
        ],
        "arrays": [{"name": "9", "limit": 2, "running": 1}],
        "reservations": [{"name": "m", "start": 1700010000, "end": 1700020000, "nodes": {"n1": {"cores": 16}}}],
    },
    indent=1,
)  # fmt: skip
EVENTS = "time,kind,nodes,subject,value\n40000,node-down,gpu,,\n45000,node-up,gpu,,\n50000,walltime,,job-7,7200\n"
DISPATCH_RUNNING = _files(
    running_csv="id,queue,submit,units,cores,walltime,runtime,start,end,nodes\nr,q,10,3,4,200,150,20,220,n-1:2 n-2:1\n",
    jobs_csv="id,queue,submit,units,cores,walltime,runtime\nw,q,90,2,8,60,50\n",
    instance_toml='kind = "dispatch"\nobjective = "waiting"\nbegin_s = 100\nqueues = [{ name = "q", ewt_s = 60 }]\n\n[platform]\n'
    'groups = [{ name = "n", count = 2, capacity = { cores = 8 } }]\n',
)

IMOPSE = """\
==========================================================
General characteristics:
Tasks: 2
Resources: 2
Precedence relations: 1
Number of skill types: 2
==========================================================
ResourceID Salary Skills
1 9.5 Q0: 2 Q1: 1
2 8.0 Q1: 3
==========================================================
TaskID Duration Skill Predecessor IDs
1 4 Q0: 1
2 3 Q1: 1 1
==========================================================
"""
MSLIB = """\
\\* Project Module *\\
3 3 2 1

9

9

2 1 2
4 1 3
0 0

\\* Workforce Module *\\
1 0
1 1
0 1

\\* Workforce Module with Skill Levels *\\
1 0
1 1
0 1

\\* Skill Requirements Module *\\
1 1
0 1
0 0

\\* Skill Level Requirements Module *\\
1 1
"""
WEIGHTED_TARDINESS = "2 3 1\n5 1 2\n4 4 1\n"
LANDING = "3 10\n0 5 8 20 3 4\n99999 6 3\n0 6 9 30 1.0 2.00\n2 99999 5\n0 4 9 30 5 1\n3 4 99999\n"
