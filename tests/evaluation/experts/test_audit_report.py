"""What experts' grades say of a run: by hand, by scipy, with parts weighted back."""

import numpy as np
import pytest
from django.contrib.auth.models import User
from scipy import stats

from evaluation.experts.report import build_audit_report, build_audit_table
from evaluation.models import AnswerScore, HumanJudgement, Run
from evaluation.runs.reports.judging import load_experts_check
from evaluation.trust.report import build_trust_report
from tests.evaluation.grading.results import world
from tests.evaluation.judging_world import drawn, expert, grade, score

pytestmark = pytest.mark.django_db


@pytest.fixture
def run():
    return world.finished(n_workers=12, n_questions=10, n_models=2)


def of_score(run, noise=0.0):
    """Grades that rise with the score, halves of 0 to 5."""
    rng = np.random.default_rng(0)

    def given(item):
        at = (score(run, item) - 0.68) / 0.12
        return float(np.clip(round(2 * (5 * at + noise * rng.normal())) / 2, 0, 5))

    return given


def fact(run):
    (found,) = (one for one in build_trust_report(run).facts if one.name == "experts")
    return found


@pytest.mark.medium
def test_the_correlation_is_that_of_scores_and_mean_grades(run):
    ed, eve = expert(run, "ed")[0], expert(run, "eve")[0]
    audit = drawn(run, 24)
    grade(audit, ed, of_score(run, 1.5))
    grade(audit, eve, lambda item: item.place % 6 if item.place < 12 else None)
    report = build_audit_report(run)
    scores, means = [], []
    for item in audit.items.order_by("place"):
        given = HumanJudgement.objects.filter(response=item.response_id)
        scores.append(score(run, item))
        means.append(np.mean([one.grade for one in given]))
    expected = stats.pearsonr(scores, means)[0]
    assert report.people.answers.value == pytest.approx(expected)
    assert report.check.answers == report.people.answers
    assert report.people.answers.low < expected < report.people.answers.high
    assert (report.n_drawn, report.n_judged, report.n_by_two, report.n_given) == (24, 24, 12, 36)
    assert report.people.mean == pytest.approx(np.mean(means))
    alone = {one.expert: one for one in report.by_expert}
    assert alone["eve"].answers.value == pytest.approx(
        stats.pearsonr(scores[:12], [place % 6 for place in range(12)])[0]
    )
    assert (alone["ed"].n, alone["eve"].n) == (24, 12)
    (pair,) = report.between
    assert (pair.one, pair.other, pair.found.n) == ("ed", "eve", 12)


def test_parts_that_are_drawn_alike_count_by_how_many_answers_they_have(run):
    ed = expert(run)[0]
    ids = AnswerScore.objects.filter(run=run).order_by("score").values_list("pk", flat=True)
    AnswerScore.objects.filter(pk__in=list(ids[:30])).delete()  # of the weakest 3 workers
    audit = drawn(run, 21, "grade")
    assert audit.strata == {"low": 10, "middle": 40, "high": 40}
    grade(audit, ed, of_score(run, 1))
    scores, grades, weights = [], [], []
    for item in audit.items.order_by("place"):
        times = audit.strata[item.stratum] // 10  # 1, 4, 4 of as many drawn
        scores += [score(run, item)] * times
        grades += [HumanJudgement.objects.get(response=item.response_id).grade] * times
        weights.append(times)
    report = build_audit_report(run)
    assert set(weights) == {1, 4}
    assert report.people.answers.value == pytest.approx(stats.pearsonr(scores, grades)[0])
    assert report.people.mean == pytest.approx(np.mean(grades))
    assert [(row.code, row.n, row.n_drawn, row.n_judged) for row in report.strata] == [
        ("low", 10, 7, 7),
        ("middle", 40, 7, 7),
        ("high", 40, 7, 7),
    ]
    rows = list(build_audit_table(run).rows)
    assert sum(row[4] for row in rows) == pytest.approx(90)


def test_models_answers_stand_apart_from_peoples(run):
    ed = expert(run)[0]
    audit = drawn(run, 40, with_models=True)
    grade(audit, ed, lambda item: 5 if item.llm_response_id else of_score(run)(item))
    report = build_audit_report(run)
    assert (report.people.n, report.models.n) == (30, 10)
    assert report.models.mean == 5
    assert report.models.answers.reason == "no_correlation"
    assert report.people.answers.value > 0.95
    models = [row for row in build_audit_table(run).rows if row[2]]
    assert len(models) == 10
    assert {row[2] for row in models} == {"model 0", "model 1"}


def test_workers_are_compared_once_ten_of_them_have_three_graded_answers(run):
    ed = expert(run)[0]
    audit = drawn(run, 20)
    grade(audit, ed, of_score(run))
    assert build_audit_report(run).workers is None
    audit = drawn(run, 120)
    HumanJudgement.objects.all().delete()
    grade(audit, ed, of_score(run, 1))
    report = build_audit_report(run)
    assert report.n_covered == 12
    raw, means = [], []
    for row in run.worker_grades.all():
        given = HumanJudgement.objects.filter(response__submission__worker=row.worker_id)
        raw.append(row.raw)
        means.append(np.mean([one.grade for one in given]))
    assert report.workers.value == pytest.approx(stats.pearsonr(raw, means)[0])
    assert report.workers.n_clusters == 12


def test_below_twenty_answers_trust_says_too_few(run):
    ed = expert(run)[0]
    grade(drawn(run, 19), ed, of_score(run))
    assert (fact(run).level, fact(run).case) == ("unknown", "too_few")
    assert (fact(run).said.code, fact(run).said.values["count"]) == ("experts.too_few.said", 19)


def test_trust_is_good_where_the_interval_is_above_hardly_any_agreement(run):
    ed = expert(run)[0]
    audit = drawn(run, 40)
    grade(audit, ed, of_score(run, 1))
    found = fact(run)
    assert (found.level, found.case) == ("good", "agree")
    values = found.said.values
    assert found.said.code == "experts.agree.said"
    assert (values["count"], values["sampled"], values["experts"]) == (40, True, 1)
    assert values["low"] < values["correlation"] < values["high"]


def test_trust_says_stop_where_experts_think_otherwise(run):
    ed = expert(run)[0]
    grade(drawn(run, 40), ed, lambda item: 5 - of_score(run)(item))
    found = fact(run)
    assert (found.level, found.case) == ("bad", "differ")
    assert build_trust_report(run).verdict.level == "bad"


def test_another_run_over_the_same_answers_is_held_against_the_same_grades(run):
    ed = expert(run)[0]
    grade(drawn(run, 40), ed, of_score(run, 1))
    other = Run.objects.create(
        owner=run.owner, version=run.version, state="done", finished_at=run.finished_at
    )
    AnswerScore.objects.bulk_create(
        AnswerScore(
            run=other,
            response_id=row.response_id,
            score=-row.score,
            score_leave_one_out=-row.score_leave_one_out,
        )
        for row in AnswerScore.objects.filter(run=run)
    )
    other = world.fetched(other)
    first, second = build_audit_report(run), build_audit_report(other)
    assert (first.drawn_for, second.drawn_for) == (None, run.public_id)
    assert second.people.answers.value == pytest.approx(-first.people.answers.value)
    assert second.experts == []
    # Its own sample speaks for it as soon as somebody graded one of its answers.
    own = drawn(other, 10, seed=8)
    HumanJudgement.objects.exclude(
        response__in=own.items.values_list("response", flat=True)
    ).delete()
    grade(own, expert(run, "eve")[0], lambda item: 2)
    assert build_audit_report(other).drawn_for is None


def test_grades_of_answers_that_nobody_sampled_still_count_without_a_sample(run):
    ed = expert(run)[0]
    rows = list(AnswerScore.objects.filter(run=run).order_by("pk")[:25])
    for at, row in enumerate(rows):
        HumanJudgement.objects.create(response_id=row.response_id, expert=ed, grade=at % 6)
    check = load_experts_check(run)
    expected = stats.pearsonr([row.score_leave_one_out for row in rows], np.arange(25) % 6)[0]
    assert check.answers.value == pytest.approx(expected)
    assert not check.sampled


def test_grades_that_chose_the_ranking_confirm_nothing_and_later_ones_may(run):
    ed = expert(run)[0]
    audit = drawn(run, 40)
    grade(audit, ed, of_score(run, 1))
    parameters = run.parameters | {"anchors": True}
    Run.objects.filter(pk=run.pk).update(parameters=parameters)
    HumanJudgement.objects.update(created_at=run.created_at)
    assert fact(world.fetched(run)).case == "chose"
    later = audit.items.order_by("place").values_list("response", flat=True)[:25]
    HumanJudgement.objects.filter(response__in=list(later)).update(created_at=run.finished_at)
    Run.objects.filter(pk=run.pk).update(started_at=run.created_at)
    found = fact(world.fetched(run))
    assert (found.case, found.values["count"]) == ("agree", 25)


def test_answers_are_named_on_which_grades_and_scores_differ_most(run):
    ed = expert(run)[0]
    audit = drawn(run, 30)
    ordered = sorted(audit.items.all(), key=lambda item: score(run, item))
    wrong = {ordered[0].pk: 5.0, ordered[-1].pk: 0.0}
    grade(audit, ed, lambda item: wrong.get(item.pk, of_score(run)(item)))
    found = [one.key for one in build_audit_report(run).differ[:2]]
    assert set(found) == {ordered[0].response_id, ordered[-1].response_id}


def test_experts_are_named_who_may_be_asked_and_who_have_not_signed_in(run):
    expert(run, "ed")
    pending = User.objects.create_user("pia")
    run.version.question_set.shares.create(user=pending, role="expert", pending=True)
    report = build_audit_report(run)
    assert [name for _, name in report.others] == ["ed"]
    assert report.waiting == ["pia"]
    assert [row.n for row in report.foreseen] == [10, 12, 20, 50, 100]  # 12: a tenth
    # Ten questions: arctanh .7 = .867, less and plus 2.262 (t of 9) / sqrt 17 = .549.
    assert report.foreseen[2].half == pytest.approx((np.tanh(1.416) - np.tanh(0.318)) / 2, abs=1e-3)
