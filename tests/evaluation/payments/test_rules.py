"""Bonuses by a rule: who gets how much, what people earn in an hour, and each at most once."""

from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotations.ledger.bonuses import load_payments
from annotations.ledger.decisions import decide_on_submission
from annotations.models import Collection, Submission
from evaluation.models import AnswerScore
from evaluation.payments.storage.rules import BonusRule, RuleError, propose_bonuses
from tests.annotations import world
from tests.evaluation.payments.crowd import rivers
from tests.numbers import numbers_in

pytestmark = pytest.mark.django_db

EUR = Decimal("1.00")
REASON = "The answer repeats the question " + "." * 68


def named(found):
    return [one.name for one in found.rewarded]


def test_the_best_share_is_rounded_down_and_ties_get_it_too(run):
    # Four have a score to say: 50% of them are two.
    found = propose_bonuses(run.version, BonusRule("quantile", EUR, share=0.5))
    assert named(found) == ["w001", "w002"]
    assert (found.total, found.n_unscored) == (Decimal("2.00"), 1)
    # 70% of 4 are 2.8, so two again; 10% are at least one.
    assert named(propose_bonuses(run.version, BonusRule("quantile", EUR, share=0.7))) == [
        "w001",
        "w002",
    ]
    assert named(propose_bonuses(run.version, BonusRule("quantile", EUR, share=0.1))) == ["w001"]
    run.worker_grades.filter(rank=3).update(
        leave_one_out=run.worker_grades.get(rank=2).leave_one_out
    )
    assert named(propose_bonuses(run.version, BonusRule("quantile", EUR, share=0.5))) == [
        *("w001", "w002", "w003"),
    ]


def test_the_best_share_goes_by_question_contrast_where_asked(run):
    for rank, contrast in enumerate((0.1, 0.2, 0.3, 0.4), 1):
        run.worker_grades.filter(rank=rank).update(contrast=contrast, contrast_low=contrast - 0.15)
    found = propose_bonuses(run.version, BonusRule("quantile", EUR, share=0.5, score="contrast"))
    assert named(found) == ["w004", "w003"]
    low = BonusRule("threshold", EUR, at_least=0.2, end="low", score="contrast")
    assert named(propose_bonuses(run.version, low)) == ["w004"]
    # A bonus for each answer needs no score; another rule needs one that the run has.
    run.worker_grades.update(contrast=None)
    assert (
        propose_bonuses(run.version, BonusRule("per-answer", EUR, score="contrast")).n_rewarded == 5
    )
    with pytest.raises(RuleError) as error:
        propose_bonuses(run.version, BonusRule("quantile", EUR, share=0.5, score="contrast"))
    assert (error.value.field, error.value.code) == ("score", "no_contrast")


def test_a_score_of_zero_is_a_score_and_the_best_one_where_all_others_are_below(run):
    # By the negative distance from the exemplary answers: 0, -.25, -.5, -.75, and the last too few.
    for rank in range(1, 5):
        run.worker_grades.filter(rank=rank).update(leave_one_out=(1 - rank) / 4)
    found = propose_bonuses(run.version, BonusRule("quantile", EUR, share=0.75))
    assert named(found) == ["w001", "w002", "w003"]
    none = propose_bonuses(run.version, BonusRule("threshold", EUR, at_least=1.0))
    # Nobody reaches it: by score all the same, and who has no score to say stands last.
    assert [one.name for one in none.earners] == ["w001", "w002", "w003", "w004", "w005"]


def test_a_threshold_asks_for_the_score_or_the_lower_end_of_its_interval(run):
    score = run.worker_grades.get(rank=2).leave_one_out
    assert named(propose_bonuses(run.version, BonusRule("threshold", EUR, at_least=score))) == [
        "w001",
        "w002",
    ]
    # Six answers .5 .6 .5 .6 .5 .6: +- .0575 around the mean (test_scores), so the lower end of
    # worker 2 is below the score itself, and that of worker 1, whose answers hardly differ, not.
    mine = AnswerScore.objects.filter(
        run=run, response__submission__worker=run.worker_grades.get(rank=2).worker
    )
    for number, one in enumerate(mine.order_by("pk")):
        AnswerScore.objects.filter(pk=one.pk).update(score_leave_one_out=0.5 + 0.1 * (number % 2))
    by_end = BonusRule("threshold", EUR, at_least=score, end="low")
    assert named(propose_bonuses(run.version, by_end)) == ["w001"]


def test_so_much_for_each_answer_needs_no_grading():
    version, _ = rivers(world.user("rana"))
    found = propose_bonuses(version, BonusRule("per-answer", Decimal("0.05")))
    amounts = {one.name: one.amount for one in found.rewarded}
    # Four answers each; cy gave one, gus none, and hal did not hand in.
    assert amounts["ada"] == Decimal("0.20")
    assert amounts["cy"] == Decimal("0.05")
    assert amounts.keys().isdisjoint({"gus", "hal"})


def test_who_is_rejected_or_withdrew_gets_none():
    rana = world.user("rana", is_staff=True)
    version, people = rivers(rana)
    decide_on_submission(people["ada"], rana, "reject", "OTHER", REASON)
    Submission.objects.filter(pk=people["eve"].pk).update(
        state="returned", withdrawn_at=people["eve"].submitted_at
    )
    found = propose_bonuses(version, BonusRule("per-answer", EUR))
    assert {"ada", "eve"}.isdisjoint(one.name for one in found.earners)
    assert found.n_rejected == 1


def test_pay_an_hour_is_base_and_bonus_over_the_time_and_too_little_is_warned_of():
    version, _ = rivers(world.user("rana"))
    Collection.objects.create(
        version=version, places=9, pay="1.00", currency="GBP", least_hourly_pay="7.00"
    )
    found = propose_bonuses(version, BonusRule("per-answer", Decimal("0.05")))
    hourly = {one.name: one.hourly for one in found.earners}
    # 1.00 + 4 x 0.05 for 600 s: 1.20 x 6 = 7.20; cy 1.05 x 6 = 6.30; gus 1.00 x 6 = 6.00.
    assert hourly["ada"] == found.hourly == Decimal("7.20")
    assert (hourly["cy"], hourly["gus"]) == (Decimal("6.30"), Decimal("6.00"))
    (poor,) = [one for one in found.warnings if one.code == "paying.poor"]
    assert poor.values == {
        "below": 2,
        "timed": 9,
        "least": "7.00",
        "currency": "GBP",
        "lowest": "6.00",
    }


@pytest.mark.parametrize(
    ("base", "timed", "missing"),
    [(None, True, "pay"), (Decimal("1.00"), False, "times")],
)
def test_a_least_pay_that_cannot_be_checked_is_told(base, timed, missing):
    version, _ = rivers(world.user("rana"))
    if not timed:
        version.submissions.update(started_at=None)
    asked = {"least": Decimal("7.00"), "base": base}
    (told,) = propose_bonuses(version, BonusRule("per-answer", EUR), **asked).warnings
    assert told.code == "paying.hourly_unknown"
    assert told.values == {"least": "7.00", "currency": "", "missing": missing}
    assert propose_bonuses(version, BonusRule("per-answer", EUR), base=base).warnings == []


@pytest.mark.parametrize(
    ("rule", "field"),
    [
        (BonusRule("quantile", EUR), "share"),
        (BonusRule("quantile", EUR, share=1.5), "share"),
        (BonusRule("threshold", EUR), "at_least"),
        (BonusRule("threshold", EUR, at_least=float("nan")), "at_least"),
        (BonusRule("best", EUR), "kind"),
        (BonusRule("per-answer", Decimal(0)), "amount"),
        (BonusRule("per-answer", Decimal(9_999)), "amount"),
    ],
)
def test_a_rule_that_will_not_do_is_refused(rule, field):
    version, _ = rivers(world.user("rana"))
    with pytest.raises(RuleError) as caught:
        propose_bonuses(version, rule)
    assert caught.value.field == field


def test_by_score_without_a_grading_is_refused():
    version, _ = rivers(world.user("rana"))
    with pytest.raises(RuleError) as caught:
        propose_bonuses(version, BonusRule("quantile", EUR, share=0.2))
    assert (caught.value.field, caught.value.code) == ("kind", "no_scores")


def say(**options):
    out = StringIO()
    call_command("payments", "rivers", stdout=out, **options)
    return out.getvalue()


def test_the_command_tries_it_plans_it_once_and_a_person_confirms(run):
    rule = {"rule": "quantile", "share": 0.5, "amount": EUR}
    said = say(dry_run=True, **rule)
    assert "w001  1.00" in said
    assert ["2", "5", "2.00"] in [numbers_in(line) for line in said.splitlines()]
    assert load_payments(run.version) == []
    with pytest.raises(CommandError, match="--by"):
        say(**rule)
    assert "2 planned" in say(by="rana", **rule)
    assert "0 planned" in say(by="rana", **rule)
    assert "2 confirmed, 2.00 in all" in say(confirm=True, by="rana")
    assert "0 planned" in say(by="rana", **rule)
    (reason,) = {one.reason for one in load_payments(run.version)}
    assert reason == BonusRule("quantile", EUR, share=0.5).said
    with pytest.raises(CommandError, match="already"):
        say(by="rana", **rule | {"amount": Decimal("2.00")})


def test_the_command_says_what_is_missing(run):
    with pytest.raises(CommandError, match="--amount"):
        say(rule="quantile", share=0.5, dry_run=True)
    with pytest.raises(CommandError, match="above 0"):
        say(rule="quantile", amount=EUR, dry_run=True)
