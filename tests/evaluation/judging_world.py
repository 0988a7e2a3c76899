"""Experts of a run, and answers that they grade."""

from django.contrib.auth.models import User
from django.test import Client

from annotations.models import Share
from evaluation.models import HumanJudgement
from evaluation.runs.judging.audit import draw_audit_sample, request_audit_grades


def expert(run, name="ed"):
    """A user with whom the set is shared as an expert, signed in."""
    user = User.objects.create_user(name)
    Share.objects.create(question_set=run.version.question_set, user=user, role="expert")
    client = Client()
    client.force_login(user)
    return user, client


def drawn(run, count=20, design="random", with_models=False, seed=0, experts=()):
    """A sample, about which experts are asked."""
    audit = draw_audit_sample(run, count, design, with_models, seed)
    for user in experts:
        request_audit_grades(audit, user.pk)
    return audit


def grade(audit, user, grade_of):
    """Let an expert grade the sample by a function of the item; None for no grade."""
    items = audit.items.select_related("response__question", "response__submission__worker")
    for item in items.order_by("place"):
        given = grade_of(item)
        if given is not None:
            HumanJudgement.objects.create(
                response_id=item.response_id,
                llm_response_id=item.llm_response_id,
                expert=user,
                grade=given,
            )


def score(run, item):
    """The score by which an answer of the sample is held against its grade."""
    if item.response_id:
        return run.answer_scores.get(response=item.response_id).score_leave_one_out
    return run.llm_answer_scores.get(llm_response=item.llm_response_id).score
