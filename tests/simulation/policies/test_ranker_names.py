"""The names of rankers: parameters, predictors, errors."""

import pytest
from schedlab.backends import UnknownName
from schedlab.models.plugins import PluginError
from schedlab.simulation.policies.registry import check_dispatcher, is_dispatcher, parse_dispatcher
from schedlab.simulation.rankers.priorities import Aging, Fairshare, JobSize
from schedlab.simulation.rankers.registry import parse_ranker


def test_names_of_rankers():
    named = parse_dispatcher("easy+fairshare:half_life=86400:usage=dominant-d")
    assert (named.dispatcher, named.predictor, named.backend) == ("easy", "data-driven", None)
    policy = named.make()
    assert policy.ranker == Fairshare(86400, "dominant")
    assert policy.name == "easy+fairshare:half_life=86400:usage=dominant"
    assert parse_dispatcher("rule:wt-strict+job-size:favor_small=true").make().ranker == JobSize(True)
    assert parse_ranker("multifactor:age=5").make().parts[0] == (5, Aging())
    assert is_dispatcher("easy+fairshare-d") and is_dispatcher("conservative+aging:max_age=60")
    assert not is_dispatcher("cpsat:counts+warm")


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("easy+fairshair", UnknownName, "there is no ranker 'fairshair'; did you mean fairshare"),
        ("easy+", UnknownName, "there is no ranker ''"),
        ("easy+fairshare:halflife=3", UnknownName, "no option of the ranker fairshare called 'halflife'.* half_life"),
        ("easy+fairshare:shares=3", UnknownName, "no option of the ranker fairshare called 'shares'"),
        ("easy+fairshare:half_life=week", PluginError, "half_life is 'week', expected a number"),
        ("easy+fairshare:half_life=0", PluginError, "half_life is 0.0, expected a number above 0"),
        ("easy+fairshare:usage=gpu", PluginError, "usage is 'gpu', expected one of cores, dominant"),
        ("easy+job-size:favor_small=1", PluginError, "favor_small is '1', expected true or false"),
        ("easy+aging:max_age", UnknownName, "no module aging"),
        ("easy+aging:max_age=3:max_age=4", PluginError, "each once"),
        ("easy+no_such_module:Ranker", UnknownName, "no module no_such_module"),
        ("easi+fairshare", UnknownName, "did you mean easy"),
        ("hcp3+fairshare", PluginError, "a ranker sorts the queue of a policy.*hcp3 is not a policy"),
        ("easy+aging+fairshare", UnknownName, "there is no dispatcher"),
    ],
)
def test_wrong_names(text, error, message):
    with pytest.raises(error, match=message):
        check_dispatcher(text)
