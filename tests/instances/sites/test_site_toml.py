"""``site.toml``: what is written is read back equal; each kind of fault with its line."""

from __future__ import annotations

import string
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schedlab.instances.sites import SiteError, read_site, site_text, write_site
from schedlab.models import (
    QOS,
    Association,
    Licence,
    Limits,
    NodeEvent,
    Partition,
    PBSSettings,
    SchedulerSettings,
    Site,
    SiteNode,
    SiteReservation,
)
from shared_data import DATA

Writer = Callable[[str, str], Path]
WORDS = st.text(string.ascii_letters + string.digits + "_-.", min_size=1, max_size=6)
ODD = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
NAMES = st.lists(WORDS, max_size=3, unique=True).map(tuple)
AMOUNTS = st.dictionaries(
    st.sampled_from(["cpu", "mem", "gres/gpu:a100", "license/x"]), st.integers(0, 10**9), max_size=3
)
MAYBE = st.none() | st.integers(0, 10**9)
FLAGS = st.lists(st.sampled_from(["maint", "daily", "no_flex", "purge_comp=300"]), max_size=3, unique=True).map(tuple)
STATES = st.sampled_from(["up", "down", "draining", "future"])
NODE_NAMES = st.lists(
    st.builds("{}{}".format, WORDS, st.integers(0, 30)) | st.sampled_from(["v[0]", "v[1]", "rack 1"]),
    min_size=1, max_size=12, unique=True,
)  # fmt: skip
LIMITS = st.builds(
    Limits, grp_tres=AMOUNTS, grp_jobs=MAYBE, max_wall=MAYBE, max_tres_per_user=AMOUNTS, min_tres=AMOUNTS
)


@st.composite
def sites(draw: st.DrawFn) -> Site:
    kinds = draw(
        st.lists(
            st.builds(
                SiteNode, st.just("x"), st.integers(0, 128), st.integers(1, 2), MAYBE,
                gpus=st.dictionaries(st.sampled_from(["", "a100", "v:1"]), st.integers(0, 8), max_size=2),
                gres=st.dictionaries(st.sampled_from(["shard", "mps"]), st.integers(0, 8), max_size=2),
                features=NAMES, weight=st.integers(0, 99), state=STATES, cpus=st.integers(0, 256),
            ),
            min_size=1, max_size=2,
        )
    )  # fmt: skip
    nodes = [replace(draw(st.sampled_from(kinds)), name=name) for name in draw(NODE_NAMES)]
    some = st.lists(st.sampled_from([n.name for n in nodes]), unique=True).map(tuple)
    partitions = [
        Partition(
            name, draw(some), draw(MAYBE), draw(MAYBE), allow_qos=draw(st.none() | NAMES), deny_qos=draw(NAMES),
            qos=draw(st.none() | WORDS), oversubscribe=draw(st.sampled_from(["no", "exclusive", "force:3"])),
            over_time_limit=draw(MAYBE), default=draw(st.booleans()),
            billing_weights=draw(st.dictionaries(WORDS, st.floats(0, 1e6), max_size=2)),
        )
        for name in draw(NAMES)
    ]  # fmt: skip
    accounts = [Association(name, shares=draw(st.integers(0, 9)), limits=draw(LIMITS)) for name in draw(NAMES)]
    users = [
        Association(a.account, "u", draw(WORDS), shares="parent", qos=draw(st.none() | NAMES), priority=draw(MAYBE))
        for a in accounts
    ]
    slurm = st.builds(
        SchedulerSettings, bf_continue=st.booleans(), sched_interval=st.integers(-1, 99), over_time_limit=MAYBE,
        bf_max_time=MAYBE, select_parameters=NAMES, weight_tres=st.dictionaries(WORDS, st.floats(0, 1e6), max_size=2),
        enforce_part_limits=st.sampled_from(["no", "any", "all"]),
    )  # fmt: skip
    pbs = st.builds(PBSSettings, job_sort_formula=ODD, by_queue=st.booleans(), node_groups=NAMES, limits=LIMITS)
    kind = draw(st.sampled_from(["slurm", "pbs"]))
    reservations = [
        SiteReservation(
            name, draw(st.integers(0, 10**9)), 60, draw(some), draw(MAYBE), users=draw(NAMES), flags=draw(FLAGS)
        )
        for name in draw(NAMES)
    ]
    return Site(
        draw(ODD), nodes, partitions, [QOS(name, limits=draw(LIMITS), preempt=draw(NAMES)) for name in draw(NAMES)],
        [*accounts, *users], [Licence(name, draw(st.integers(0, 99))) for name in draw(NAMES)], reservations,
        scheduler=draw(pbs if kind == "pbs" else slurm), kind=kind, not_modelled=draw(st.lists(ODD, max_size=2)),
        events=[NodeEvent(draw(st.integers(0, 99)), "node-down", (nodes[0].name,))] * draw(st.integers(0, 1)),
    )  # fmt: skip


@settings(deadline=None, max_examples=25)
@given(sites())
def test_what_is_written_is_read_back(site: Site) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "site.toml")
        write_site(site, path)
        again = read_site(path)
        assert again == site
        assert site_text(again) == path.read_text(encoding="utf-8")
        assert [p.name for p in Path(folder).iterdir()] == ["site.toml"]


HEAD = 'schema = "schedlab-site"\nversion = 1\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = 3", "line 3: name: it is 3; expected a text"),
        ("nam = 'x'", "line 3: nam: it is not known; did you mean name?"),
        ("kind = 'lsf'", "line 3: kind: it is 'lsf'; expected slurm, pbs"),
        ("not_modelled = 'x'", "line 3: not_modelled: it is 'x'; expected a list of texts"),
        ("nodes = 4", "line 3: nodes: it is 4; expected entries that begin with [[nodes]]"),
        ("[[nodes]]\ncores = 4", "line 3: nodes.name: it is None; expected names such as n[1-4]"),
        ("[[nodes]]\nname = 'n[1-'\ncores = 4", "line 4: nodes.name: the list of hosts 'n[1-'"),
        ("[[nodes]]\nname = 'n1'", "line 3: nodes: cores is missing"),
        ("[[nodes]]\nname = 'n1'\ncores = 'many'", "line 5: nodes.cores: it is 'many'; expected a whole number"),
        ("[[nodes]]\nname = 'n1'\ncores = -1", "line 3: nodes: node 'n1': cores is -1"),
        (
            "[[nodes]]\nname = 'n1'\ncores = 1\n[[partitions]]\nname = 'p'\nnodes = 'n[1-3]'",
            "line 8: partitions.nodes: there is no node 'n2', 'n3'",
        ),
        (
            "[[nodes]]\nname = 'n1'\ncores = 1\n[[reservations]]\nname = 'r'\nstart = 0\nduration = 9\nnodes = 'n[1-2]'",
            "line 10: reservations.nodes: there is no node 'n2'",
        ),
        (
            "[[reservations]]\nname = 'r'\nstart = 0\nduration = 9\nflags = ['dayly']",
            "line 3: reservations: reservation 'r': there is no flag 'dayly'; did you mean daily?",
        ),
        (
            "[[reservations]]\nname = 'r'\nstart = 0\nduration = 9\nflags = ['MAINT']",
            "line 3: reservations: reservation 'r': there is no flag 'MAINT'; did you mean maint?",
        ),
        (
            "[[partitions]]\nname = 'batch'\n[[reservations]]\nname = 'r'\nstart = 0\nduration = 9\npartition = 'bach'",
            "line 9: reservations.partition: there is no partition 'bach'; did you mean batch?",
        ),
        (
            "[[partitions]]\nname = 'p'\n[[partitions]]\nname = 'p'",
            "line 6: partitions.name: the partition 'p' is given twice",
        ),
        ("[scheduler]\npreempt_type = 'quos'", "line 3: scheduler: preempt_type is 'quos'; did you mean qos?"),
        (
            "[[associations]]\naccount = 'physics'\n[[associations]]\naccount = 'astro'\nparent = 'phsyics'",
            "line 7: associations.parent: there is no account 'phsyics'; did you mean physics?",
        ),
        (
            "[[nodes]]\nname = 'n1'\ncores = 1\nfeature = []",
            "line 6: nodes.feature: it is not known; did you mean features?",
        ),
        (
            "[[partitions]]\nname = 'p'\nmax_time = 1.5",
            "line 5: partitions.max_time: it is 1.5; expected a whole number",
        ),
        ("[[partitions]]\nname = 'p'\nnodes = 'n]'", "line 5: partitions.nodes: the list of hosts 'n]'"),
        ("[[partitions]]\nname = 'p'\nbilling_weights = {cpu = inf}", "line 5: partitions.billing_weights"),
        (
            "[[qos]]\nname = 'q'\nlimits = {max_job = 1}",
            "line 5: qos.limits.max_job: it is not known; did you mean max_jobs",
        ),
        (
            "[[qos]]\nname = 'q'\nlimits = {grp_tres = {cpu = -1}}",
            "line 5: qos.limits: limits: grp_tres of 'cpu' is -1",
        ),
        ("[[associations]]\naccount = 'a'\nshares = 'many'", "line 5: associations.shares: it is 'many'"),
        (
            "[[events]]\ntime = 1\nkind = 'node-lost'\nnodes = 'n1'",
            "line 3: events: there is no event kind 'node-lost'",
        ),
        ("[scheduler]\nbf_intervall = 3", "line 4: scheduler.bf_intervall: it is not known; did you mean bf_interval"),
        ("[scheduler]\nbf_interval = 'often'", "line 4: scheduler.bf_interval: it is 'often'"),
        (
            "[[licences]]\nname = 'x'\ntotal = 1\n[[licences]]\nname = 'x'\ntotal = 2",
            "the licence 'x' is given 2 times",
        ),
        ("name = ", "line 3: expected TOML"),
        ("[[nodes]]\nname = 'n1'\ncores = 1\n\n[[nodes]]\nname = 'n2'\ncores = 'x'", "line 9: nodes.cores: it is 'x'"),
    ],
)
def test_faults_are_named_with_their_lines(file: Writer, text: str, message: str) -> None:
    with pytest.raises(SiteError) as e:
        read_site(file("site.toml", f"{HEAD}{text}\n"))
    assert message in str(e.value)


def test_another_version_is_refused(file: Writer) -> None:
    with pytest.raises(SiteError, match="line 2: version: it is 7; expected 1"):
        read_site(file("site.toml", 'schema = "schedlab-site"\nversion = 7\n'))


def test_names_of_nodes_are_ranges_or_lists(file: Writer) -> None:
    text = f"{HEAD}[[nodes]]\nname = 'n[1-2],m'\ncores = 1\n[[nodes]]\nnames = ['v[0]', 'v[1]']\ncores = 2\n"
    text += "[[partitions]]\nname = 'p'\nnodes = ['v[1]', 'n1']\n[[partitions]]\nname = 'none'\nnodes = []\n"
    site = read_site(file("site.toml", text))
    assert [n.name for n in site.nodes] == ["n1", "n2", "m", "v[0]", "v[1]"]
    assert [p.nodes for p in site.partitions] == [("v[1]", "n1"), ()]


@pytest.mark.skipif(not DATA.is_dir(), reason="the data of developers are missing")
@pytest.mark.parametrize(
    "paths",
    [("slurm_lab/full",), ("slurm_lab/simple",), ("slurm_logs/medium_slurm.conf", "slurm_logs/medium_sacctmgr.script")],
    ids=["full", "simple", "medium"],
)
def test_real_sites_are_read_back(tmp_path: Path, paths: tuple[str, ...]) -> None:
    site = read_site(*(DATA / path for path in paths))
    write_site(site, tmp_path / "site.toml")
    assert read_site(tmp_path / "site.toml") == site
