"""What was checked is told alike by the trust page and by the alarms, also after a remedy."""

import pytest

from evaluation.consensus.parameters import AqerParameters
from evaluation.grading.alarms.report import build_alarms_report
from evaluation.models import Run
from evaluation.runs.background.runs import queue_run
from evaluation.runs.background.work import work_one_turn
from evaluation.trust.report import build_trust_report

pytestmark = pytest.mark.django_db(transaction=True)


def graded(question_set, **options):
    parameters = AqerParameters(embedder="tfidf-char", bootstrap=30, **options)
    run = queue_run(question_set.latest_version(), question_set.owner_id, parameters)
    while work_one_turn():
        pass
    run.refresh_from_db()
    assert run.state == Run.State.DONE, run.error
    return run


def steadiness(run):
    """What the trust page says of the ranking's steadiness, and what the alarms say."""
    [fact] = [fact for fact in build_trust_report(run).facts if fact.name == "stability"]
    [check] = [one for one in build_alarms_report(run).checks if one.name == "unstable_ranking"]
    return fact, check


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [{}, {"collapse_copies": True}, {"exclude_workers": ("Quinn",)}, {"weight_cap": 0.2}],
    ids=["plain", "collapsed", "excluded", "capped"],
)
def test_how_steady_a_ranking_is_stands_on_both_pages_with_the_same_number(tides, options):
    fact, check = steadiness(graded(tides, **options))
    assert fact.values["agreement"] == check.statistic
    assert check.why == ""
    assert check.rings == (check.statistic < check.threshold)


@pytest.mark.slow
def test_a_run_that_was_stored_without_the_number_tells_it_as_well(tides):
    run = graded(tides, collapse_copies=True)
    for check in run.summary["alarm_checks"]:
        if check["check"] == "unstable_ranking":
            check |= {"statistic": None, "reason": "no_draws"}
    run.save()
    fact, check = steadiness(run)
    assert fact.values["agreement"] == check.statistic
    assert check.why == ""
