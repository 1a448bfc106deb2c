"""The command line of a job: options of sbatch, srun and salloc in every form, and what follows them."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from schedlab import WrongValue
from schedlab.instances import dependencies_of
from schedlab.instances.formats import begin_after, duration
from schedlab.instances.formats.slurm_values import nodes_of, submitted
from schedlab.instances.site_columns import dependency_text
from schedlab.models import Dependency, Gres, SiteRequest

NOTHING = SiteRequest()


@pytest.mark.parametrize(
    ("words", "fields"),
    [
        ("-p all", {"partitions": ("all",)}),
        ("-pall", {"partitions": ("all",)}),
        ("--partition=a,b", {"partitions": ("a", "b")}),
        ("--partition a,b", {"partitions": ("a", "b")}),
        ("--part a", {"partitions": ("a",)}),
        ("-A chem -q high", {"account": "chem", "qos": "high"}),
        ("-N 4", {"min_nodes": 4, "max_nodes": 4}),
        ("-N2-8", {"min_nodes": 2, "max_nodes": 8}),
        ("--nodes=1k", {"min_nodes": 1024, "max_nodes": 1024}),
        ("-n 16 -c2 --ntasks-per-node=4", {"tasks": 16, "cpus_per_task": 2, "tasks_per_node": 4}),
        ("--mem=0", {"memory_per_node": 0}),
        ("--mem 16G", {"memory_per_node": 16384}),
        ("--mem-per-cpu 1500", {"memory_per_cpu": 1500}),
        ("--mem-per-gpu=8g", {"memory_per_gpu": 8192}),
        ("--exclusive", {"exclusive": "node"}),
        ("--exclusive=user", {"exclusive": "user"}),
        ("-s", {"exclusive": "no"}),
        ("--contiguous", {"contiguous": True}),
        ("-n 8 --spread-job", {"tasks": 8, "min_nodes": 1, "max_nodes": 8}),
        ("-N 2 -n 8 --spread-job", {"tasks": 8, "min_nodes": 2, "max_nodes": 2}),
        ("--gres=gpu:a100:1", {"gres": (Gres("gpu", "a100", 1, "node"),)}),
        ("--gres gpu:2,shard:8", {"gres": (Gres("gpu", "", 2, "node"), Gres("shard", "", 8, "node"))}),
        ("--gres=none", {}),
        ("-G 4", {"gres": (Gres("gpu", "", 4, "job"),)}),
        ("--gpus=a100:2,v100:1", {"gres": (Gres("gpu", "a100", 2, "job"), Gres("gpu", "v100", 1, "job"))}),
        ("--gpus-per-task=a100", {"gres": (Gres("gpu", "a100", 1, "task"),)}),
        ("--gpus-per-node=2 --gpus-per-socket=1", {"gres": (Gres("gpu", "", 2, "node"), Gres("gpu", "", 1, "socket"))}),
        ("--tres-per-task=cpu=4,gres/gpu:a100=1", {"cpus_per_task": 4, "gres": (Gres("gpu", "a100", 1, "task"),)}),
        ("-C a100&nvme", {"features": "a100&nvme"}),
        ("-C 'a100&nvme' -n 2", {"features": "a100&nvme", "tasks": 2}),
        ("-C 'a100 & nvme' -n 2", {"features": "a100 & nvme", "tasks": 2}),
        ('-C"a100&nvme" --constraint="[a|b]"', {"features": "[a|b]"}),
        ("-J don't -n 2 --comment it's", {"tasks": 2}),
        ("--constraint=[rack1|rack2]", {"features": "[rack1|rack2]"}),
        ("-w n[1-2] -x n9", {"nodes": "n[1-2]", "excluded_nodes": "n9"}),
        ("-L matlab:2,ansys", {"licences": "matlab:2,ansys"}),
        ("--reservation=maint", {"reservation": "maint"}),
        ("--nice", {"nice": 100}),
        ("--nice=-50", {"nice": -50}),
        ("-H", {"held": True}),
        ("--no-requeue", {"requeue": False}),
        ("--requeue", {"requeue": True}),
        ("--array=1-5%2", {"array_limit": 2}),
        ("-a 0-9", {}),
        ("-d afterok:12", {"dependencies": (Dependency("afterok", ("12",)),)}),
        ("-d singleton?after:3", {"dependencies": (Dependency("singleton"), Dependency("after", ("3",))), "any_dependency": True}),
        ("-n many", {}),
        ("-N", {}),
        ("-J name --comment=x -o /dev/null -e out -n 3", {"tasks": 3}),
        ("--export ALL -D /home -Q -v -n 3", {"tasks": 3}),
        ("--unknown=7 -n 3", {"tasks": 3}),
        ("-HQn3", {"held": True, "tasks": 3}),
        ("job.sh -n 3 -p other", {}),
        ("--wrap sleep 10 -n 3", {}),
        ("-n 2 --wrap=sleep -n 3", {"tasks": 2}),
    ],
)  # fmt: skip
def test_an_option_in_each_form(words: str, fields: dict[str, Any]) -> None:
    assert submitted(f"sbatch {words}").asked == replace(NOTHING, **fields)


def test_the_example_of_a_whole_line() -> None:
    line = (
        "/usr/bin/sbatch -p all -N 4 --ntasks-per-node=4 --mem-per-cpu 1500 --exclusive --array=1-5%2 --begin=now+90 "
        "--dependency=afterok:12 --gres=gpu:a100:1 -n 16 job.sh -N 99"
    )
    made = submitted(line)
    assert made.asked == SiteRequest(
        partitions=("all",), min_nodes=4, max_nodes=4, tasks=16, tasks_per_node=4, memory_per_cpu=1500,
        gres=(Gres("gpu", "a100", 1, "node"),), exclusive="node", dependencies=(Dependency("afterok", ("12",)),), array_limit=2,
    )  # fmt: skip
    assert (made.begin, made.array) == ("now+90", "1-5%2")


def test_commands_and_what_is_none() -> None:
    assert submitted("srun -W 60 --nodes=16 --ntasks=16 bash -c echo -n 9").asked.tasks == 16
    assert submitted("salloc --no-shell -I60 -n 3").asked.tasks == 3
    assert submitted("sbatch -W -n 3 job.sh").asked.tasks == 3
    for line in ("", "bash -n 3", "sbatch", "  "):
        assert submitted(line).asked == NOTHING


def test_components_of_a_heterogeneous_job() -> None:
    line = "sbatch -p a -n 1 : -p b -n 2 --gres=gpu:1 : -n 3 job.sh : -n 9"
    assert [submitted(line, k).asked.tasks for k in range(4)] == [1, 2, 3, None]
    assert [submitted(line, k).asked.partitions for k in range(3)] == [("a",), ("b",), ()]


@given(st.lists(st.text(max_size=12), max_size=12))
def test_any_words_are_read_without_an_error(words: list[str]) -> None:
    assert isinstance(submitted(" ".join(["sbatch", *words])).asked, SiteRequest)


OPTIONS = (
    "-p",
    "-N",
    "-n",
    "-c",
    "--mem",
    "--gres",
    "-d",
    "--begin",
    "-a",
    "--nice",
    "--exclusive",
    "-G",
    ":",
    "--wrap",
)


@given(st.lists(st.sampled_from(OPTIONS) | st.text("0123456789gpu:%-,=kKMG", max_size=8), max_size=12))
def test_options_with_any_values_are_read_without_an_error(words: list[str]) -> None:
    assert isinstance(submitted(" ".join(["sbatch", *words])).asked, SiteRequest)


def test_numbers_of_nodes() -> None:
    assert nodes_of("2-8:2") == {"min_nodes": 2, "max_nodes": 8}
    assert nodes_of("1,4,16") == {"min_nodes": 1, "max_nodes": 16}
    with pytest.raises(WrongValue, match="expected a number of nodes"):
        nodes_of("few")


# dependencies

kinds = st.sampled_from(["afterok", "afterany", "afternotok", "aftercorr"])
jobs = st.lists(st.from_regex(r"[1-9]\d{0,6}(_\d{1,3})?", fullmatch=True), min_size=1, max_size=3).map(tuple)
conditions = st.one_of(
    st.builds(Dependency, kinds, jobs, st.just(0)),
    st.just(Dependency("singleton")),
    st.builds(Dependency, st.just("after"), jobs, st.integers(0, 99).map(lambda minutes: 60 * minutes)),
)


@given(st.lists(conditions, min_size=1, max_size=4), st.booleans())
def test_dependencies_keep_their_meaning_as_a_text(listed: list[Dependency], any_of: bool) -> None:
    any_of = any_of and len(listed) > 1
    request = SiteRequest(dependencies=tuple(listed), any_dependency=any_of)
    assert dependencies_of(dependency_text(request)) == (tuple(listed), any_of)


def test_dependencies_as_squeue_prints_them_and_wrong_ones() -> None:
    text = "afterok:12_*(unfulfilled),singleton(unfulfilled)"
    assert dependencies_of(text)[0] == (Dependency("afterok", ("12_*",)), Dependency("singleton"))
    assert dependencies_of("12:13")[0] == (Dependency("afterany", ("12", "13")),)
    with pytest.raises(WrongValue, match="afterok:12:13"):
        dependencies_of("soon:7")


# times at which jobs may begin


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("now", 0), ("now+90", 90), ("now+2minutes", 120), ("now+1hour", 3600), ("now+3days", 259200), ("now+1week", 604800),
        ("now-60", 0), ("13:00", 3600), ("13:00:30", 3630), ("11:00", 23 * 3600), ("1:30pm", 5400), ("midnight", 43200),
        ("teatime", 14400), ("tomorrow", 86400), ("today", 0), ("2024-05-01T12:30:00", 1800), ("2024-05-02", 43200),
        ("2024-04-01T00:00", 0), ("05/02/24", 43200), ("05/02/24-01:00", 46800), ("050224", 43200), ("whenever", 0), ("", 0),
    ],
)  # fmt: skip
def test_a_begin_time_is_a_number_of_seconds_after_the_submit_time(text: str, seconds: int) -> None:
    assert begin_after(text, datetime(2024, 5, 1, 12, tzinfo=UTC).timestamp(), UTC) == seconds


def test_a_begin_time_of_the_day_is_in_the_zone_of_the_machine() -> None:
    rome = ZoneInfo("Europe/Rome")
    assert begin_after("15:00", datetime(2024, 5, 1, 12, tzinfo=UTC).timestamp(), rome) == 3600  # 14:00 there
    assert begin_after("16:00", float("nan"), rome) == 0


# durations, as texts and back

DAY = 86400


@given(st.integers(0, 400 * DAY))
def test_a_duration_in_each_notation(total: int) -> None:
    days, rest = divmod(total, DAY)
    hours, rest_of_hour = divmod(rest, 3600)
    minutes, seconds = divmod(rest_of_hour, 60)
    assert duration(f"{days}-{hours:02}:{minutes:02}:{seconds:02}") == total
    assert duration(f"{days}-{hours:02}:{minutes:02}") == total - seconds
    assert duration(f"{days}-{hours}") == total - rest_of_hour
    assert duration(f"{total // 3600}:{minutes:02}:{seconds:02}") == total
    assert duration(f"{total // 60}:{seconds:02}") == total
    assert duration(f"{total // 60}") == total - seconds
    assert duration(f"{total}", 1) == total
