"""Samples of a run's answers: what is drawn, how often, and that experts learn nothing of it."""

from collections import Counter

import pytest
from django.utils import timezone

from annotations.models import Response, Worker
from evaluation.models import (
    AnswerScore,
    Audit,
    AuditItem,
    HumanJudgement,
    JudgementRequest,
    WorkerGrade,
)
from evaluation.runs.judging import tasks
from evaluation.runs.judging.audit import (
    CannotDrawError,
    draw_audit_sample,
    list_audit_progress,
    request_audit_grades,
    split_into_thirds,
    withdraw_requests,
)
from evaluation.triage.storage import decide
from evaluation.triage.storage import take_back as take_back_verdict
from tests.evaluation.grading.results import world
from tests.evaluation.judging_world import drawn, expert, grade

pytestmark = pytest.mark.django_db


@pytest.fixture
def run():
    return world.finished(n_workers=9, n_questions=10, n_models=2)


def keys(audit):
    return list(audit.items.order_by("place").values_list("response_id", "llm_response_id"))


def test_the_same_seed_draws_the_same_answers_and_another_one_others(run):
    first = keys(drawn(run, seed=4))
    AuditItem.objects.all().delete()
    run.audit.delete()
    assert keys(drawn(run, seed=4)) == first
    run.refresh_from_db()
    run.audit.delete()
    assert keys(drawn(run, seed=5)) != first


@pytest.mark.parametrize("design", ["random", "question", "grade"])
def test_a_larger_sample_holds_the_smaller_one_and_keeps_its_design_and_seed(run, design):
    small = keys(drawn(run, 7, design, seed=2))
    large = draw_audit_sample(run, 31, "random", True, seed=99)
    assert keys(large)[:7] == small
    assert len(set(keys(large))) == 31
    assert (large.design, large.seed, large.with_models) == (design, 2, False)
    assert keys(draw_audit_sample(run, 5, design, False, 2)) == keys(large)  # never fewer
    assert len(keys(draw_audit_sample(run, 2000, design, False, 2))) == 90  # all there are


def test_answers_whose_grades_chose_the_ranking_cannot_confirm_it_and_are_not_drawn(run):
    (early, late), user = list(Response.objects.order_by("pk")[:2]), run.owner
    HumanJudgement.objects.create(response=early, expert=user, grade=5)
    run.parameters = {"anchors": True}
    run.started_at = timezone.now()
    run.save()
    HumanJudgement.objects.create(response=late, expert=user, grade=1)
    audit = draw_audit_sample(run, 2000, "random", False, 0)
    asked = set(audit.items.values_list("response", flat=True))
    assert len(asked) == 89  # 9 workers and 10 questions, but for one
    assert early.pk not in asked
    assert late.pk in asked
    audit.delete()
    run.parameters = {}  # without anchors the grades chose nothing
    run.save()
    assert draw_audit_sample(run, 2000, "random", False, 0).items.count() == 90


def test_answers_of_excluded_workers_are_drawn_by_no_run_of_the_set(run):
    def workers():
        rows = run.audit.items.values_list("response__submission__worker__external_id", flat=True)
        return set(rows)

    run.parameters = {"exclude_workers": ["w003"]}
    run.save()
    WorkerGrade.objects.filter(run=run, worker__external_id="w003").update(
        grade=None, grade_low=None, grade_high=None
    )
    out = Worker.objects.get(external_id="w005")
    decide(run, out, run.owner, "exclude", "copied")
    draw_audit_sample(run, 2000, "random", False, 0)
    assert workers() == {f"w{i:03}" for i in (1, 2, 4, 6, 7, 8, 9)}
    assert run.audit.items.count() == 70  # 7 workers and 10 questions


def test_who_is_excluded_after_the_draw_is_judged_by_nobody_any_more(run):
    user, _ = expert(run)
    audit = drawn(run, 90, experts=[user])
    out = Worker.objects.get(external_id="w005")
    of_out = audit.items.filter(response__submission__worker=out)
    HumanJudgement.objects.create(response=of_out.first().response, expert=user, grade=3)
    question_set = run.version.question_set
    assert tasks.load_expert_progress(question_set, user.pk).total == 90
    decide(run, out, run.owner, "exclude", "copied")
    # 1 of the 10 answers is judged already and stays.
    assert tasks.load_expert_progress(question_set, user.pk).total == 81
    assert [(one.n_asked, one.n_done) for one in list_audit_progress(audit)] == [(81, 1)]
    late, _ = expert(run, "lea")
    request_audit_grades(audit, late.pk)
    assert JudgementRequest.objects.filter(expert=late).count() == 80
    take_back_verdict(run, out, run.owner)
    assert tasks.load_expert_progress(question_set, user.pk).total == 90


def test_spread_over_the_questions_each_has_its_share_but_for_one(run):
    for count, share in ((10, 1), (20, 2), (45, 4.5)):
        audit = draw_audit_sample(run, count, "question", False, 0)
        questions = Counter(audit.items.values_list("response__question", flat=True))
        assert len(questions) == 10
        assert all(abs(n - share) <= 1 for n in questions.values()), questions


def test_by_grade_each_third_of_the_workers_gives_as_many_however_few_answers_they_have(run):
    worst = WorkerGrade.objects.filter(run=run).order_by("grade").values("worker")[:3]
    weak = list(
        AnswerScore.objects.filter(
            run=run, response__submission__worker__in=[row["worker"] for row in worst]
        ).values_list("pk", flat=True)
    )
    AnswerScore.objects.filter(pk__in=weak[:20]).delete()
    audit = drawn(run, 24, "grade")
    assert audit.strata == {"low": 10, "middle": 30, "high": 30}
    assert Counter(audit.items.values_list("stratum", flat=True)) == {
        "low": 8,
        "middle": 8,
        "high": 8,
    }
    graded = dict(WorkerGrade.objects.filter(run=run).values_list("worker", "grade"))
    bounds = {"low": (0, 0.26), "middle": (0.37, 0.63), "high": (0.74, 1)}
    for item in audit.items.select_related("response__submission"):
        low, high = bounds[item.stratum]
        assert low <= graded[item.response.submission.worker_id] <= high


def test_thirds_of_seven_are_three_two_and_two():
    assert split_into_thirds({10: 0.1, 11: 0.9, 12: 0.5, 13: 0.5, 14: 0.2, 15: 1.0, 16: 0.0}) == {
        **dict.fromkeys((16, 10, 14), "low"),
        **dict.fromkeys((12, 13), "middle"),
        **dict.fromkeys((11, 15), "high"),
    }


def test_every_fourth_answer_is_a_models_as_long_as_there_are_any(run):
    audit = drawn(run, 100, "random", with_models=True)
    of_models = [llm is not None for _, llm in keys(audit)]
    assert of_models[:80] == [False, False, False, True] * 20
    assert not any(of_models[80:])  # there are 20
    assert audit.strata == {"people": 90, "models": 20}


def test_an_answer_that_is_withdrawn_leaves_and_another_takes_its_place(run):
    audit = drawn(run, 10)
    Response.objects.filter(pk=keys(audit)[3][0]).delete()
    assert audit.items.count() == 9
    assert draw_audit_sample(run, 10, "random", False, 0).items.count() == 10


def test_a_run_without_grades_has_no_thirds_and_one_without_scores_nothing(run):
    WorkerGrade.objects.update(grade=None, rank=None)
    with pytest.raises(CannotDrawError, match="Fewer than 3 workers"):
        drawn(run, 10, "grade")
    AnswerScore.objects.all().delete()
    with pytest.raises(CannotDrawError, match="no answer"):
        drawn(run, 10)
    assert not Audit.objects.exists()


def test_each_expert_has_an_order_of_their_own_and_is_asked_once(run):
    ed, eve = expert(run, "ed")[0], expert(run, "eve")[0]
    audit = drawn(run, 12, experts=[ed, eve, ed])
    orders = [
        list(
            JudgementRequest.objects.filter(expert=user)
            .order_by("place")
            .values_list("response", flat=True)
        )
        for user in (ed, eve)
    ]
    assert sorted(orders[0]) == sorted(orders[1]) == sorted(key for key, _ in keys(audit))
    assert orders[0] != orders[1]
    assert set(JudgementRequest.objects.values_list("run", flat=True)) == {None}


def test_only_a_sample_by_grade_is_one_that_the_run_led_to(run):
    drawn(run, 12, "grade", experts=[expert(run)[0]])
    assert set(JudgementRequest.objects.values_list("run", flat=True)) == {run.pk}


def test_how_far_each_expert_is_and_what_is_not_done_can_be_taken_back(run):
    ed, eve = expert(run, "ed")[0], expert(run, "eve")[0]
    audit = drawn(run, 8, with_models=True, experts=[ed, eve])
    grade(audit, ed, lambda item: 3 if item.place < 5 else None)  # the fourth is a model's
    assert [(one.name, one.n_done, one.n_asked) for one in list_audit_progress(audit)] == [
        ("ed", 5, 8),
        ("eve", 0, 8),
    ]
    assert withdraw_requests(audit, ed.pk) == 3
    assert withdraw_requests(audit, eve.pk) == 8
    assert [(one.name, one.n_done, one.n_asked) for one in list_audit_progress(audit)] == [
        ("ed", 5, 5)
    ]
    assert HumanJudgement.objects.count() == 5
    request_audit_grades(audit, eve.pk)
    assert list_audit_progress(audit)[1].n_asked == 8
