"""The parts of the large-neighbourhood search that can be exchanged: operators, selection, acceptance, stopping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from schedlab import backends, lns
from schedlab.heuristics import ListScheduler, Placement, running
from schedlab.heuristics.kernels import AROUND, CONSECUTIVE, ROOM, Mover, OrderResult, chosen_alone, same_for
from schedlab.heuristics.kernels.ruin import WAITING
from schedlab.heuristics.list_scheduling import not_worse
from schedlab.heuristics.lns import (
    Alternate,
    AroundTime,
    ConsecutiveStarts,
    FirstOf,
    GainPerSecond,
    HillClimbing,
    History,
    InsertBy,
    KeyChanges,
    LnsSearch,
    NoImprovement,
    Operator,
    OrderMoves,
    Population,
    Progress,
    RandomChoice,
    RecordToRecord,
    RoomForWaiting,
    RuinAndRecreate,
    Seconds,
    Selection,
    SimulatedAnnealing,
    SolverWindows,
    Threshold,
    Tolerances,
    Turn,
    Turns,
)
from schedlab.heuristics.lns.search import OwnSchedule
from schedlab.models import POSTPONED, Dispatch, Job, NodeGroup, Platform, PluginError, Queue

RNG = np.random.default_rng(0)

LARGE = (AroundTime(), ConsecutiveStarts(), RoomForWaiting())


def problem(jobs: int = 30, objective: str = "waiting", seed: int = 3) -> Dispatch:
    rng = np.random.default_rng(seed)
    listed = [
        Job(f"j{k}", int(rng.integers(300)), int(rng.integers(20, 200)), int(rng.integers(1, 4)), {"cores": 3}, "q")
        for k in range(jobs)
    ]
    return Dispatch(Platform([NodeGroup("n", 3, {"cores": 4})]), listed, [Queue("q", 60)], objective)


def own_schedule(p: Dispatch, **settings: object) -> OwnSchedule:
    search = LnsSearch(p, seed=1)
    search.look_around()
    own = OwnSchedule(RuinAndRecreate(**settings), search)  # type: ignore[arg-type]
    own.begin()
    return own


def places(own: OwnSchedule) -> tuple[list[int], list[int]]:
    return own.places.starts.tolist(), own.places.nodes.tolist()


class TestAcceptance:
    def test_hill_climbing_and_threshold_compare_with_the_current_schedule(self) -> None:
        assert HillClimbing().tolerances(2, -50.0, 0.0, RNG).over_current.tolist() == [0, 0]
        found = Threshold(0.1).tolerances(2, -50.0, 0.9, RNG)
        assert found.over_current.tolist() == [5, 5] and np.isinf(found.over_best).all()

    def test_record_to_record_compares_with_the_best_one_and_shrinks(self) -> None:
        criterion = RecordToRecord(0.2, 0.0)
        shares = [criterion.tolerances(1, 100.0, over, RNG).over_best[0] for over in (0.0, 0.5, 1.0, 7.0)]
        assert shares == pytest.approx([20, 10, 0, 0])
        assert np.isinf(criterion.tolerances(1, 100.0, 0.0, RNG).over_current[0])

    @pytest.mark.parametrize("over", [0.0, 0.5, 1.0])
    def test_simulated_annealing_accepts_with_the_probability_of_the_temperature(self, over: float) -> None:
        best, worse = 1000.0, 3.0
        temperature = best * 0.01 * (0.001 / 0.01) ** over
        found = SimulatedAnnealing(0.01, 0.001).tolerances(200_000, best, over, np.random.default_rng(5))
        assert (worse <= found.over_current).mean() == pytest.approx(np.exp(-worse / temperature), abs=0.005)

    def test_the_steps_obey_the_tolerances_given_and_nothing_else(self) -> None:
        """No step: no tolerance allows it. All complete steps: every tolerance is infinite. Best: at most so far."""
        for over_current, over_best in ((-np.inf, np.inf), (np.inf, -np.inf)):
            own = own_schedule(problem())
            before, steps = places(own), own.draw(50)
            own.make(steps._replace(over_current=np.full(50, over_current), over_best=np.full(50, over_best)))
            assert places(own) == before
        own = own_schedule(problem())
        best, steps = own.value, own.draw(200)
        own.make(steps._replace(over_current=np.full(200, np.inf), over_best=np.full(200, np.inf)))
        assert own.value > 1.1 * best
        own = own_schedule(problem())
        own.make(steps._replace(over_current=np.full(200, np.inf), over_best=np.full(200, 0.05 * best)))
        assert places(own) != places(own_schedule(problem())) and own.value <= 1.05 * best + 1e-9

    def test_moves_of_orders_obey_them_too(self) -> None:
        p = problem()
        a, search = ListScheduler(p).arrays, LnsSearch(p, seed=1)
        search.look_around()
        first = search.orders[0]
        moves = np.random.default_rng(2).integers(0, 30, (60, 2))

        def moved(over_current: float, over_best: float) -> float:
            answer = OrderResult(*(part.copy() for part in first.answer))
            limits = np.full(60, over_current), np.full(60, over_best)
            mover = Mover(a.machine, a.jobs, a.costs, same_for(a.machine, a.jobs))
            found, _, _ = mover.improve(answer, moves, np.arange(61), first.value, first.value, *limits, running())
            assert a.problem.value(a.schedule(answer.starts, answer.nodes)) == pytest.approx(found)
            return float(found)

        assert moved(np.inf, np.inf) > 1.1 * first.value
        assert moved(np.inf, 0.1 * first.value) <= 1.1 * first.value + 1e-9
        assert moved(0.0, np.inf) <= first.value
        assert [part.tolist() for part in not_worse(2)] == [[0, 0], [np.inf, np.inf]]

    @pytest.mark.parametrize("operator", [RuinAndRecreate(LARGE, steps=300), OrderMoves(moves=300)])
    def test_the_best_schedule_of_many_steps_is_kept_although_the_steps_left_it(self, operator: Operator) -> None:
        """Steps at any price: the last schedule of a turn is worse than the best one that the turn has seen."""
        p = problem()
        search = LnsSearch(p, seed=2, acceptance=RecordToRecord(0.2, 0.2))
        search.run([operator], Alternate(), Turns(1))
        ((turn,),) = [history.turns for history in search.histories]
        assert turn.gain > 0
        assert p.verify(search.schedule()) == []
        assert p.value(search.schedule()) == pytest.approx(search.best_value)
        if isinstance(operator, OrderMoves):
            assert search.orders[0].value > search.best_value

    def test_the_criterion_of_the_search_counts_for_all_operators(self) -> None:
        @dataclass
        class Seen:
            steps: list[int]

            def tolerances(self, steps: int, best: float, over: float, rng: np.random.Generator) -> Tolerances:
                self.steps.append(steps)
                return HillClimbing().tolerances(steps, best, over, rng)

        seen = Seen([])
        operators = [KeyChanges(trials=2), OrderMoves(moves=7), RuinAndRecreate(steps=13)]
        lns(problem(), rounds=3, operators=operators, acceptance=seen)
        assert seen.steps == [1, 1, 7, 13]

    def test_hill_climbing_alone_never_leaves_for_a_worse_order(self) -> None:
        """With an order accepted at any price, the kept orders become worse; the best schedule stays."""

        def last_orders(acceptance: object) -> float:
            search = LnsSearch(problem(), seed=1, acceptance=acceptance)  # type: ignore[arg-type]
            search.run([KeyChanges()], Alternate(), Turns(10))
            assert search.best_value <= search.orders[0].value + 1e-9
            return search.orders[0].value

        assert last_orders(HillClimbing()) < last_orders(RecordToRecord(10.0, 10.0))


class TestSelection:
    def histories(self, **turns: list[Turn]) -> list[History]:
        found = [History(name) for name in turns]
        for history, some in zip(found, turns.values(), strict=True):
            for turn in some:
                history.add(turn)
        return found

    def test_alternate_selects_the_fewest_turns_among_those_that_may(self) -> None:
        one = Turn(1.0, 0.0)
        histories = self.histories(a=[one, one], b=[one], c=[])
        assert Alternate().select(histories, 0.0, RNG) == 2
        assert Alternate({"c": 0.5}).select(histories, 0.4, RNG) == 1
        assert Alternate({"c": 0.5}).select(histories, 0.5, RNG) == 2
        assert Alternate({"a": 0.5, "b": 0.5, "c": 0.5}).select(histories, 0.1, RNG) == 2  # none may: all may

    def test_gain_per_second_gives_shares_of_the_time_and_then_the_best_rate(self) -> None:
        histories = self.histories(a=[Turn(8.0, 8.0)], b=[Turn(1.0, 3.0)], c=[Turn(1.0, 0.0)])
        assert GainPerSecond(0.05).select(histories, 0.0, RNG) == 1  # 3 per second
        assert GainPerSecond(0.05, {"c": 0.2}).select(histories, 0.0, RNG) == 2  # 1 of 10 seconds
        assert GainPerSecond(0.05, {"c": 0.2}, {"c": 0.5}).select(histories, 0.0, RNG) == 1

    def test_the_rate_forgets_old_turns(self) -> None:
        histories = self.histories(old=[Turn(1.0, 9.0)] + [Turn(1.0, 0.0)] * 9, new=[Turn(1.0, 1.0)])
        assert GainPerSecond(0.0, memory=0.5).select(histories, 0.0, RNG) == 1
        assert GainPerSecond(0.0, memory=0.99).select(histories, 0.0, RNG) == 0

    def test_random_choice_has_the_frequencies_of_the_weights(self) -> None:
        histories, rng = self.histories(a=[], b=[], c=[]), np.random.default_rng(4)
        drawn = [RandomChoice({"a": 2.0, "c": 0.0}).select(histories, 0.0, rng) for _ in range(3000)]
        assert np.bincount(drawn, minlength=3) / 3000 == pytest.approx([2 / 3, 1 / 3, 0], abs=0.03)

    @pytest.mark.parametrize("selection", [Alternate({"moves": 0.5}), RandomChoice({"moves": 0.0})])
    def test_the_search_obeys_the_selection(self, selection: Selection) -> None:
        found = lns(problem(), rounds=4, operators=[KeyChanges(), OrderMoves()], selection=selection)
        counts = [found.details["operators"][name].turns for name in ("keys", "moves")]
        assert counts == ([2, 2] if isinstance(selection, Alternate) else [4, 0])


class TestStopping:
    def test_each_criterion_gives_the_share_that_is_over(self) -> None:
        progress = Progress(seconds=3.0, turns=6, turns_without_gain=4)
        assert Turns(12).over(progress) == 0.5 and Turns(0).over(progress) == 1
        assert Seconds(12.0).over(progress) == 0.25 and Seconds(0.0).over(progress) == 1
        assert NoImprovement(4).over(progress) == 1 and NoImprovement(5).over(progress) == 0
        assert FirstOf((Turns(12), Seconds(4.0))).over(progress) == 0.75

    def test_the_search_stops_at_the_first_limit(self) -> None:
        def turns(**limits: object) -> int:
            found = lns(problem(12), seed=1, operators=[KeyChanges(trials=1)], **limits)  # type: ignore[arg-type]
            return found.details["operators"]["keys"].turns

        assert turns() == 60
        assert turns(rounds=5) == turns(stopping=Turns(5)) == turns(rounds=9, stopping=Turns(5)) == 5
        assert turns(stopping=Seconds(0.0)) == turns(stopping=Turns(0)) == 0
        assert turns(stopping=Turns(70)) == 70

    def test_without_a_gain_it_stops(self) -> None:
        """One job: nothing can improve."""
        assert (
            lns(problem(1), operators=[KeyChanges()], stopping=NoImprovement(7)).details["operators"]["keys"].turns == 7
        )

    def test_a_gain_counts_anew(self) -> None:
        p = problem()
        search = LnsSearch(p, seed=1)
        search.run([KeyChanges(), RuinAndRecreate()], Alternate(), NoImprovement(3))
        gains = [t.gain for pair in zip(*(h.turns for h in search.histories), strict=False) for t in pair]
        assert sum(gains) > 0 and len(gains) > 3


class TestDestroy:
    def test_the_number_of_waiting_jobs_does_not_depend_on_the_choice_of_the_operator(self) -> None:
        """Each number of waiting jobs is equally likely, whichever operator the step has."""
        own = own_schedule(problem(60, seed=8))
        steps = own.draw(20_000)
        waiting = (steps.draws[:, WAITING] * 11).astype(int)
        for operator, weight in enumerate([0.7, 0.15, 0.1, 0.05]):
            number = (steps.destroy == operator).sum()
            share = np.bincount(waiting[steps.destroy == operator], minlength=11) / number
            assert share == pytest.approx(np.full(11, 1 / 11), abs=4 * (0.1 / number) ** 0.5)  # four standard errors
            assert number / 20_000 == pytest.approx(weight, abs=0.02)
        assert np.bincount(steps.repair) / 20_000 == pytest.approx(np.full(8, 1 / 8), abs=0.02)

    def test_no_two_choices_share_a_random_number(self) -> None:
        from schedlab.heuristics.kernels import ruin as k

        single = [k.NODES, k.WINDOW, k.JOBS, k.JOBS_FROM, k.WAITING, k.WAITING_FROM]
        ranges = [(k.PAIR_NODE, k.MOST_PAIRS), (k.PAIR_TIME, k.MOST_PAIRS), (k.NODE, k.MOST_NODES), (k.NOISE, 40)]
        columns = single + [first + i for first, number in ranges for i in range(number)]
        assert sorted(columns) == list(range(k.NOISE + 40))

    @pytest.mark.parametrize(
        ("operator", "least", "most"),
        [
            (AroundTime(jobs=(2, 3), waiting=(0, 1)), 0, 2),
            (ConsecutiveStarts(jobs=(5, 6), waiting=(0, 1)), 5, 5),
            (ConsecutiveStarts(jobs=(5, 6), waiting=(3, 4)), 5, 8),
            (ConsecutiveStarts(jobs=(50, 60)), 9, 9),
            (RoomForWaiting(), 0, 9),
        ],
    )
    def test_the_parameters_bound_the_jobs(
        self, operator: AroundTime | ConsecutiveStarts | RoomForWaiting, least: int, most: int
    ) -> None:
        own = own_schedule(problem(60), destroy=[operator], most_jobs=9)
        a, steps = own.search.arrays, own.draw(200)
        seen = set()
        for draw in steps.draws:
            known, row = own._known(), own.rows[0]
            size = chosen_alone(own.profile, a.machine, a.jobs, own.places, known, own.room, row, draw)
            own.room.is_free[own.room.free[:size]] = False
            assert len(set(own.room.free[:size].tolist())) == size
            seen.add(size)
        assert min(seen) >= least and max(seen) == most

    def test_a_waiting_job_was_released_and_starts_later(self) -> None:
        own = own_schedule(problem(60), destroy=[ConsecutiveStarts(jobs=(0, 1), waiting=(1, 9))])
        a, found = own.search.arrays, 0
        for draw in own.draw(100).draws:
            known, row = own._known(), own.rows[0]
            size = chosen_alone(own.profile, a.machine, a.jobs, own.places, known, own.room, row, draw)
            jobs = own.room.free[:size]
            own.room.is_free[jobs] = False
            found += size
            if size:
                first = min(s for s in own.places.starts[jobs].tolist() if s != POSTPONED)
                assert (a.jobs.release[jobs] < first + 1).all()
        assert found > 100

    def test_rows_name_their_operator_and_wrong_parameters_are_refused(self) -> None:
        rows = [operator.row().kind for operator in (AroundTime(), ConsecutiveStarts(), RoomForWaiting())]
        assert rows == [AROUND, CONSECUTIVE, ROOM]
        for wrong in (
            AroundTime(pairs=33),
            ConsecutiveStarts(pairs=0),
            AroundTime(nodes=33),
            AroundTime(least_window=0.0),
        ):
            with pytest.raises(ValueError, match="must be"):
                lns(problem(), rounds=1, operators=[RuinAndRecreate(destroy=[wrong])])


@dataclass(frozen=True)
class Some:
    """Remove these jobs."""

    found: Sequence[int]
    weight: float = 1.0

    def jobs(self, placement: Placement, rng: np.random.Generator) -> Sequence[int]:
        return self.found


@dataclass(frozen=True)
class Keys:
    """Insert by these keys of all jobs; note what was removed."""

    keys_of_all: Sequence[float]
    seen: list[list[int]]
    weight: float = 1.0

    def keys(self, placement: Placement, removed: np.ndarray, rng: np.random.Generator) -> Sequence[float]:
        self.seen.append(removed.tolist())
        return [self.keys_of_all[j] for j in removed]


class TestOperatorsInPython:
    def one_machine(self) -> Dispatch:
        jobs = [Job(f"j{k}", 0, 10 * (k + 1), 1, {"cores": 1}, "q") for k in range(4)]
        return Dispatch(Platform([NodeGroup("n", 1, {"cores": 1})]), jobs, [Queue("q", 60)], "waiting")

    def test_what_they_choose_is_done(self) -> None:
        """All four jobs are removed and inserted with the longest first, although this is the worst order."""
        seen: list[list[int]] = []
        own = own_schedule(self.one_machine(), destroy=[Some([3, 1, 1, 0, 2])], repair=[Keys([3, 2, 1, 0], seen)])
        steps = own.draw(1)
        own.make(steps._replace(over_current=np.full(1, np.inf)))
        assert seen == [[3, 1, 0, 2]] and own.places.starts.tolist() == [90, 70, 40, 0]
        assert own.value == own.search.problem.value(own.search.arrays.schedule(*own.places[:2]))

    def test_they_stand_beside_compiled_ones(self) -> None:
        p, seen = problem(), list[list[int]]()
        ruin = RuinAndRecreate(
            [Some(range(10)), AroundTime(weight=1.0)], [Keys(range(30), seen), InsertBy("area", 0.5)], steps=40
        )
        search = LnsSearch(p, seed=1)
        search.run([KeyChanges(), ruin], Alternate(), Turns(8))
        assert p.verify(search.schedule()) == []
        sizes = {len(jobs) for jobs in seen}
        assert 10 in sizes and len(sizes) > 2  # keys were wanted for the jobs of either destroy operator

    def test_they_give_the_same_as_compiled_ones(self) -> None:
        """A step with keys from Python equal to a compiled kind's: the same schedule."""
        release = ListScheduler(problem()).arrays.jobs.release.tolist()
        found = []
        for repair in (InsertBy("release"), Keys(release, [])):
            own = own_schedule(problem(), destroy=[ConsecutiveStarts()], repair=[repair])
            own.make(own.draw(30))
            found.append((places(own), own.value))
        assert found[0][0] == found[1][0] and found[0][1] == pytest.approx(found[1][1])

    @pytest.mark.parametrize("wrong", [[0, 99], [-1]])
    def test_what_is_no_job_is_an_error(self, wrong: list[int]) -> None:
        with pytest.raises(ValueError, match="expected indices of jobs"):
            lns(problem(), rounds=1, operators=[RuinAndRecreate(destroy=[Some(wrong)])])

    def test_a_key_too_few_or_no_number_is_an_error(self) -> None:
        for keys in ([np.nan] * 30, [[1.0, 2.0]] * 30):
            with pytest.raises(ValueError, match=r"keys returned .*; expected one number for each of 2 removed jobs"):
                lns(problem(), rounds=1, operators=[RuinAndRecreate([Some([1, 2])], [Keys(keys, [])])])

    def test_the_schedule_is_read_only(self) -> None:
        class Writes:
            weight = 1.0

            def jobs(self, placement: Placement, rng: np.random.Generator) -> list[int]:
                placement.starts[0] = 5
                return [0]

        with pytest.raises(PluginError, match="read-only"):
            lns(problem(), rounds=1, operators=[RuinAndRecreate([Writes()])])


class TestArguments:
    def test_the_defaults_given_as_objects_give_the_default_schedule(self) -> None:
        p = problem()
        given = lns(
            p,
            seed=2,
            operators=[KeyChanges(), OrderMoves(), RuinAndRecreate()],
            selection=Alternate(),
            stopping=Turns(9),
            population=Population(),
        )
        usual = lns(p, seed=2, rounds=9)
        assert given.schedule == usual.schedule and [i.objective for i in given.incumbents] == [
            i.objective for i in usual.incumbents
        ]

    def test_one_object_serves_several_searches(self) -> None:
        operators = [KeyChanges(), OrderMoves(), RuinAndRecreate()]
        one, two = (lns(problem(), seed=2, rounds=6, operators=operators) for _ in range(2))
        assert one.schedule == two.schedule

    def test_the_population_is_obeyed(self) -> None:
        search = LnsSearch(problem(), seed=1, population=Population(orders=2))
        search.look_around()
        assert len(search.orders) == 2
        drawn = [Population(focus=2.0).parent(8, over, None, RNG) for over in (0.0, 0.6) for _ in range(50)]
        assert len(set(drawn[:50])) > 4 and set(drawn[50:]) == {0}
        assert {Population(trials=10).parent(8, 0.0, 20.0, RNG) for _ in range(50)} == {0, 1}

    def test_contradictions_are_errors(self) -> None:
        p = problem()
        with pytest.raises(TypeError, match="operators or a backend"):
            lns(p, rounds=1, backend="cpsat", operators=[KeyChanges()])
        with pytest.raises(ValueError, match="different names"):
            lns(p, rounds=1, operators=[KeyChanges(), KeyChanges()])
        with pytest.raises(ValueError, match="different names"):
            lns(p, rounds=1, operators=[])
        with pytest.raises(ValueError, match="makespan"):
            lns(problem(objective="makespan"), rounds=1, operators=[RuinAndRecreate()])
        with pytest.raises(ValueError, match="profit problem"):
            lns(p, rounds=1, operators=[RuinAndRecreate(repair=[InsertBy("power-per-profit")])])
        with pytest.raises(ValueError, match="'size' is unknown"):
            InsertBy("size")
        with pytest.raises(backends.UnknownName):
            lns(p, rounds=1, operators=[SolverWindows("nothing")])
