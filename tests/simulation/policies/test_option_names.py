"""Options in the names of dispatchers and other parts of a replay: one that has no effect, or that is unknown, is refused."""

import pytest
import schedlab as sl
from schedlab.simulation import check_dispatcher, evictor_of, node_policy_of, requeue_of, users_of
from schedlab.simulation.forecasts import parse_forecast


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("easy:reservations=2", "no option of the dispatcher easy called 'reservations'"),
        ("psp:aging=5", "no option of the dispatcher psp called 'aging'"),
        ("rule:est:strict=true", "no option of the dispatcher rule:est called 'strict'"),
        ("dardis:throughput:seed=1", "no option of the dispatcher dardis:throughput called 'seed'"),
        ("hybrid:100:limit=3", "no option of the dispatcher hybrid:100 called 'limit'"),  # it plans nothing
        ("hybrid:70:forcast=weekly", "called 'forcast'; did you mean forecast"),
        ("hybrid:70:forecast=wekly", "no forecast 'wekly'; did you mean weekly"),
        ("hybrid:70:method=lnss", "no method or backend 'lnss'.*did you mean lns"),
        ("hybrid:70:limit=-5", "limit is -5"),
        ("hybrid:70:hours=inf", "hours is inf"),
        ("hybrid:70:hours=nan", "hours is 'nan'; expected a number"),
        ("planned:method=cpsta:counts", "no method or backend 'cpsta'"),
        ("planned:every=nan", "every is 'nan'"),
        ("planned:every=inf", "every is inf"),
        ("planned:evry=4", "called 'evry'; did you mean every"),
        ("plan:submit:work=2", "called 'work'; known are guard, least"),
        ("plan:submit:least=60", "least has no effect, as guard is inf"),
        ("plan:weighted:guard=inf:least=60", "least has no effect, as guard is inf"),
        ("plan:weighted:work=0:ewt=2", "ewt has no effect, as work is 0"),
        ("plan@lns:rounds=0:depth=5", "depth has no effect, as rounds is 0"),
        ("plan@lns-r", "did you mean .*plan-r@lns"),
        ("hcp3@cpsat-d", "did you mean .*hcp3-d@cpsat"),
        ("hcp3:limit=1@cpsat", "did you mean hcp3@cpsat"),
        ("easy@cpsat", "did you mean easy"),
    ],
)
def test_dispatchers(text: str, why: str) -> None:
    with pytest.raises(sl.SchedlabError, match=why):
        check_dispatcher(text)


@pytest.mark.parametrize(
    ("of", "text", "why"),
    [
        (node_policy_of, "idle:", "nothing stands after the colon"),
        (node_policy_of, "always-on:", "nothing stands after the colon"),
        (node_policy_of, "profile:5min", "profile takes no option"),
        (evictor_of, "kill:", "nothing stands after the colon"),
        (evictor_of, "dp-knee:", "nothing stands after the colon"),
        (evictor_of, "greedy:2", "the evictor greedy takes no option; expected greedy alone, not greedy:2"),
        (lambda text: parse_forecast(text).make(), "weekly:days=3", "no option of the forecast weekly called 'days'"),
        (lambda text: parse_forecast(text).make(), "learned:days=nan", "days is 'nan'"),
        (users_of, "be:patience=3", "no option of the group of users be called 'patience'"),
        (requeue_of, "restart:5", "the requeue rule restart takes no option; expected restart alone"),
        (requeue_of, "drop:later=3", "no option of the requeue rule drop called 'later'; there are none"),
        (requeue_of, "checkpoint", "requeue rule checkpoint needs the option every; expected checkpoint:every=SECONDS"),
    ],
)
def test_other_parts_of_a_replay(of, text: str, why: str) -> None:
    with pytest.raises(sl.SchedlabError, match=why):
        of(text)
