"""What a machine did after a state, compared with the answer to it: known answers."""

from pathlib import Path

import pytest
from machine_states import NOW, small_state, waiting
from schedlab import WrongValue
from schedlab.instances.sites.machine_state import Document, state_of
from schedlab.simulation import compare, comparisons_to_json, decide


def read(values):
    return state_of(values, Document(Path("state.json")))


def running(name, start, node="n3"):
    return {"id": name, "start": NOW + start, "walltime": 900, "nodes": {node: {"cores": 8}}}


def ended(name, start, end):
    return {"id": name, "start": NOW + start, "end": NOW + end}


def later(seconds=300, **changes):
    """The state some seconds later: nothing runs or waits but what is given."""
    return read(small_state(now=NOW + seconds, **({"running": [], "waiting": []} | changes)))


def test_the_same_earlier_and_later_starts():
    """EASY starts the short job now, and plans the wide one in 100 s; it has no start for the long one."""
    state = read(small_state())
    answer = decide(state, "easy")
    following = later(running=[running("long", 250)], ended=[ended("short", 20, 60), ended("wide", 125, 200)])
    c = compare(state, answer, following, within=30)
    assert ({*c.same}, c.earlier, c.later, c.soon) == ({"short", "wide"}, [], ["long"], ["short"])
    strict = compare(state, answer, following, within=10)
    assert (strict.same, {*strict.earlier}, strict.later, strict.soon) == ([], {"short", "wide"}, ["long"], [])
    assert (c.machine, c.soon_ours, c.ours, c.also_made, c.not_made) == (3, 1, ["short"], ["short"], [])


def test_starts_that_the_machine_did_not_make():
    state = read(small_state())
    still = [waiting("short", NOW - 40, 1, 8, 90, held="AssocGrpCpuLimit"), waiting("wide", NOW - 60, 3, 8, 500)]
    c = compare(state, decide(state, "easy"), later(waiting=still))
    assert (c.machine, c.ours, c.not_made, c.held, c.held_next) == (0, ["short"], ["short"], [], ["short"])


def test_jobs_that_the_dispatcher_did_not_see_are_counted_apart():
    """One was held, one was submitted later, one ran already, one ran before the state and waits again."""
    jobs = [waiting("h", NOW, 1, 8, 60, held="Dependency"), waiting("again", NOW, 1, 8, 60)]
    state = read(small_state(waiting=jobs))
    new = [running("h", 30), running("new", 40, "n1"), running("r", -100, "n2")]
    c = compare(state, decide(state, "easy"), later(running=new, ended=[ended("again", -50, -10)]))
    assert (c.machine, c.was_held, c.submitted) == (0, ["h"], 1)


def test_a_start_at_the_time_of_the_state_is_one_after_it():
    state = read(small_state())
    c = compare(state, decide(state, "easy"), later(running=[running("short", 0)]))
    assert c.same == c.soon == ["short"]


def test_times_are_those_of_the_files_whatever_the_clock():
    state = read(small_state(utc_offset=3600))
    following = later(running=[running("short", 20)])
    c = compare(state, decide(state, "easy"), following)
    assert (c.now, c.until, c.same) == (NOW, NOW + 300, ["short"])
    values = comparisons_to_json("easy", 30, [c])
    assert values["schema"] == "schedlab-decision-comparison" and values["dispatcher"] == "easy"
    assert values["states"][0]["same"] == ["short"] and values["states"][0]["until"] == NOW + 300


def test_the_next_state_must_be_later():
    state = read(small_state())
    with pytest.raises(WrongValue, match=f"the time of the next state is {NOW}; expected one after that of the first"):
        compare(state, decide(state, "easy"), later(0))
