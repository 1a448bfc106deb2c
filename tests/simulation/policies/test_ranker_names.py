"""The names of rankers: parameters, predictors, errors."""

import random
from functools import cache

import pytest
import schedlab as sl
from schedlab.backends import UnknownName
from schedlab.models import PluginError
from schedlab.models.registry import WrongOption
from schedlab.simulation import check_dispatcher, is_dispatcher, parse_dispatcher, parse_ranker
from schedlab.simulation.rankers import Aging, Fairshare, JobSize


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
        ("easy+fairshare:shares=3", WrongOption, "shares is '3'; expected numbers by name, each once, as in debug=2"),
        ("easy+fairshare:shares=a=1/a=2", WrongOption, "expected numbers by name, each once"),
        ("easy+fairshare:shares=a=x", WrongOption, "shares is 'a=x'; expected numbers by name"),
        ("easy+fairshare:half_life=nan", WrongOption, "half_life is 'nan'; expected seconds"),
        ("easy+fairshare:dampening=2", UnknownName, "no option of the ranker fairshare called 'dampening'"),
        (
            "easy+multifactor:queue=5000",
            WrongOption,
            "queue is 5000.0, but all queues have the priority 0.*priorities=",
        ),
        ("easy+multifactor:queue=0:priorities=q=1", WrongOption, "priorities has no effect, as the weight queue is 0"),
        ("easy+multifactor:age=0:max_age=9", WrongOption, "max_age has no effect, as the weight age is 0"),
        ("easy+multifactor:fairshare=0:shares=a=1", WrongOption, "shares has no effect, as the weight fairshare is 0"),
        ("easy+multifactor:size=0:favor_small=true", WrongOption, "favor_small has no effect, as the weight size is 0"),
        ("easy++:aging=3", UnknownName, "no option of the dispatcher easy\\+\\+ called 'aging'"),
        ("easy+fairshare:half_life=week", WrongOption, "half_life is 'week'; expected seconds, such as 300, 30min"),
        ("easy+fairshare:half_life=0", WrongOption, "half_life is 0, expected a number above 0"),
        ("easy+fairshare:usage=gpu", WrongOption, "usage is 'gpu', expected one of cores, dominant"),
        ("easy+job-size:favor_small=1", WrongOption, "favor_small is '1'; expected true or false"),
        ("easy+aging:max_age", WrongOption, "the option max_age has no value; expected aging:max_age=VALUE"),
        ("easy+aging:maxage", UnknownName, "no ranker 'aging:maxage'; did you mean aging"),
        ("easy+aging:max_age=3:max_age=4", WrongOption, "given twice; expected each once"),
        ("easy+no_such_module:Ranker", UnknownName, "no module no_such_module"),
        ("easi+fairshare", UnknownName, "did you mean easy"),
        ("hcp3+fairshare", PluginError, "a ranker sorts the queue of a policy.*hcp3 is not a policy"),
        ("easy+aging+fairshare", UnknownName, "there is no dispatcher"),
    ],
)
def test_wrong_names(text, error, message):
    with pytest.raises(error, match=message):
        check_dispatcher(text)


def log():
    """Return two hundred jobs of four users in three queues, most of them with far too long walltimes."""
    dice = random.Random(5)
    jobs = []
    for k in range(200):
        runtime, cores = dice.randrange(60, 3000), dice.randrange(1, 9)
        request = {"cores": cores, "gpus": dice.randrange(3)}
        walltime, queue = int(runtime * dice.choice([1, 1, 2, 9])), dice.choice(["debug", "parallel", "long"])
        jobs.append(sl.Job(f"j{k}", 40 * k, walltime, 1, request, queue, runtime=runtime, user=f"u{k % 7 % 4}"))
    platform = sl.Platform([sl.NodeGroup("n", 3, {"cores": 8, "gpus": 2})])
    queues = [sl.Queue(name, 600) for name in ("debug", "parallel", "long")]
    return sl.Dispatch(platform, jobs, queues, durations="runtime")


LOG = log()


@cache
def starts(text):
    return sl.simulate(LOG, dispatcher=text).start.tolist()


@pytest.mark.parametrize(
    "option",
    [
        "fairshare:half_life=600",
        "fairshare:usage=dominant",
        "fairshare:shares=u1=5",
        "aging:max_age=60",
        "aging:weights=debug=50",
        "job-size:favor_small=true",
        "multifactor:age=0",
        "multifactor:fairshare=0",
        "multifactor:size=90000",
        "multifactor:priorities=debug=4/parallel=2",
        "multifactor:queue=90000:priorities=debug=4/parallel=2",
        "multifactor:max_age=600",
        "multifactor:half_life=600",
        "multifactor:usage=dominant",
        "multifactor:favor_small=true:size=90000",
        "multifactor:dampening=9",
        "psp:last=2",
        "psp:classes=3",
        "psp:first_class=worst",
        "psp:aging=3600",
    ],
)
def test_each_option_of_a_ranker_changes_the_order(option):
    assert starts(f"rule:wt+{option}") != starts(f"rule:wt+{option.partition(':')[0]}")
