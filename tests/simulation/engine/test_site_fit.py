"""Logs and sites that do not fit: partitions, accounts, QOS, licences and nodes that the site does not have."""

from dataclasses import replace

import numpy as np
import pytest
from schedlab import WrongValue
from schedlab.bench.replays.case import fitted, outside_of_log
from schedlab.instances import SiteColumns, Workload, WorkloadError
from schedlab.models import (
    QOS,
    Association,
    Dispatch,
    Job,
    Licence,
    NodeEvent,
    Partition,
    PBSSettings,
    Queue,
    Recorded,
    Site,
    SiteNode,
    SiteRequest,
    SiteReservation,
)

SITE = Site(
    "lab",
    [SiteNode("n1", 4), SiteNode("n2", 4)],
    [Partition("p", ("n1", "n2"))],
    [QOS("normal")],
    [Association("root"), Association("chem", parent="root")],
    [Licence("matlab", 2)],
)


def log(*each):
    """A log with a job for each request and recorded nodes."""
    site = SITE.platform()
    jobs = [Job(f"j{k}", k, 60, 1, {"cores": 1}, "p", runtime=60) for k in range(len(each))]
    made = Workload.of(Dispatch(site, jobs, [Queue("p", 60)]))
    rows = [(SiteRequest(**{"partitions": ("p",), **asked}), Recorded(nodes=nodes)) for asked, nodes in each]
    columns = SiteColumns.of(rows)
    return replace(made, site=columns)


def test_a_log_that_fits_is_the_same():
    made = log(({"qos": "NORMAL", "account": "Chem", "licences": "matlab:1"}, "n[1-2]"), ({"nodes": "n1"}, ""))
    assert fitted(made, SITE, "stop") is made


@pytest.mark.parametrize(
    ("asked", "nodes", "told"),
    [
        ({"partitions": ("p", "q")}, "n1", "partition 'q'"),
        ({"qos": "high"}, "n1", "QOS 'high'"),
        ({"account": "physics"}, "n1", "account 'physics'"),
        ({"licences": "ansys:2"}, "n1", "licence 'ansys'"),
        ({"nodes": "n[2-3]"}, "n1", "requested node 'n3'"),
        ({}, "n[1,7]", "node 'n7'"),
    ],
)
def test_each_kind_of_names(asked, nodes, told):
    made = log(({}, "n1"), (asked, nodes), ({}, "n2"))
    with pytest.raises(WorkloadError, match=f"(?s)do not fit.*the site has no {told} .1 job: j1"):
        fitted(made, SITE, "stop")
    assert fitted(made, SITE, "skip").ids == ("j0", "j2")
    assert fitted(made, SITE, "skip").report.dropped == (("j1", f"the site has no {told}"),)
    kept = fitted(made, SITE)
    if "partitions" in asked:
        assert kept.ids == ("j0", "j2")
    else:
        assert kept.ids == ("j0", "j1", "j2") and told in kept.report.notes[-1]
    in_place = fitted(made, SITE, in_place=True)
    assert len(in_place) == (2 if "partitions" in asked or nodes == "n[1,7]" else 3)


def test_users_that_the_site_does_not_have():
    """They are compared if the site has any users; an unnamed user is no unknown one."""
    people = replace(SITE, associations=[*SITE.associations, Association("chem", "eva"), Association("chem", "fay")])
    made = log(*[({"account": "chem"}, "n1")] * 4)
    made = replace(made, users=("eva", "Fay", "evva", ""), user=np.arange(4))
    with pytest.raises(WorkloadError, match=r"the site has no user 'evva' \(1 job: j2; did you mean eva\?\)"):
        fitted(made, people, "stop")
    assert fitted(made, people, "skip").ids == ("j0", "j1", "j3")
    kept = fitted(made, people)
    assert len(kept) == 4 and kept.report.notes[-1].endswith("no limit or share of it holds")
    assert fitted(made, SITE, "stop") is made


def test_a_site_whose_times_are_all_outside_of_the_log_is_told():
    """The log is from 1000 s to 1160 s."""

    def told(*, reservations=(), events=()):
        return outside_of_log(1000, 1160, replace(SITE, reservations=reservations, events=events))

    def reserved(start, duration, *flags):
        return SiteReservation(f"r{start}", start, duration, ("n1",), flags=flags)

    assert told() is None
    early, late = reserved(400, 500), reserved(1160, 60)
    assert told(reservations=[early, late, reserved(1159, 60)]) is None
    assert told(reservations=[early, late, reserved(10, 60, "daily")]) is None
    assert told(events=[NodeEvent(5, "node-down", ("n1",))]) is None  # it is still down
    assert told(events=[NodeEvent(5, "node-down", ("n1", "n2")), NodeEvent(900, "node-up", ("n1",))]) is None
    over = [NodeEvent(5, "node-down", ("n1",)), NodeEvent(900, "node-up", ("n1",))]
    text = told(reservations=[early, late], events=over)
    assert text is not None
    assert text.startswith(
        "all 2 reservations and 1 node outage of the site (1970-01-01 00:00 to 1970-01-01 00:20) are outside"
    )
    assert "of the log (1970-01-01 00:16 to 1970-01-01 00:19, UTC)" in text and "--zone" in text
    assert told(reservations=[late]).startswith("the 1 reservation of the site (1970-01-01 00:19 to")


def test_many_names_are_counted_and_the_first_jobs_are_listed():
    made = log(*(({}, f"x{k}") for k in range(9)), *(({}, "y1") for _ in range(5)), ({}, "n1"))
    with pytest.raises(WorkloadError) as error:
        fitted(made, SITE, "stop")
    lines = str(error.value).splitlines()
    assert lines[1].startswith("  the site has no node 'y1' (5 jobs: j9, j10, j11 and 2 more;")
    assert lines[6] == "  and 5 further names"
    with pytest.raises(
        WorkloadError, match="no job is left on the site 'lab'; of the first one, the site has no node 'x0'"
    ):
        fitted(made.keep(np.arange(len(made)) < 14), SITE, "skip")
    with pytest.raises(WrongValue, match="did you mean stop"):
        fitted(made, SITE, "stp")


def test_what_a_site_does_not_describe_is_not_compared():
    bare = Site("bare", SITE.nodes, SITE.partitions)
    made = log(({"qos": "high", "account": "physics"}, "n1"))
    assert fitted(made, bare, "stop") is made
    queue_limits = Site("pbs", SITE.nodes, SITE.partitions, [QOS("p")], scheduler=PBSSettings(), kind="pbs")
    assert fitted(made, queue_limits, "stop") is made
