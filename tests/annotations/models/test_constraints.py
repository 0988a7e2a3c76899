"""Rows go in by bulk_create and update, which run no validation: the database must refuse."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotations.models import (
    BonusPayment,
    Decision,
    Image,
    Membership,
    Passage,
    Question,
    QuestionSet,
    QuestionSetVersion,
    Response,
    Share,
    Submission,
    Team,
    Variant,
    Worker,
)
from tests.annotations import world

pytestmark = pytest.mark.django_db


@pytest.fixture
def rana():
    return world.user("rana")


@pytest.fixture
def draft(rana):
    return world.version(rana)


def refuse(constraint, *rows):
    with world.refused(constraint):
        type(rows[0]).objects.bulk_create(rows)


def test_a_name_of_a_set_is_taken_once_per_owner_and_never_empty(rana, draft):
    refuse("question_set_name_once_per_owner", QuestionSet(owner=rana, name="rivers"))
    refuse("question_set_has_a_name", QuestionSet(owner=rana, name=""))
    QuestionSet.objects.bulk_create([QuestionSet(owner=world.user("otto"), name="rivers")])


def test_versions_count_from_one_and_only_one_is_a_draft(draft):
    versions = QuestionSetVersion
    refuse("version_one_draft", versions(question_set=draft.question_set, number=2))
    now = timezone.now()
    same = versions(question_set=draft.question_set, number=1, published_at=now)
    refuse("version_number_once", same)
    zeroth = versions(question_set=draft.question_set, number=0, published_at=now)
    refuse("version_counts_from_1", zeroth)


@pytest.mark.parametrize(
    ("constraint", "fields"),
    [
        ("question_id_once", {"external_id": "r1"}),
        ("question_has_an_id", {"external_id": ""}),
        ("question_kind_is_known", {"external_id": "r9", "kind": "guess"}),
        ("question_role_is_known", {"external_id": "r9", "role": "boss"}),
        ("question_length_from_1", {"external_id": "r9", "max_characters": 0}),
        ("question_with_choice_has_choices", {"external_id": "r9", "kind": "choice"}),
    ],
)
def test_a_question_that_is_none_is_refused(draft, constraint, fields):
    refuse(constraint, Question(version=draft, **fields))


def test_a_choice_question_with_choices_is_taken(draft):
    question = Question(version=draft, external_id="r9", kind="choice", choices=["a", "b"])
    Question.objects.bulk_create([question])


def test_passages_and_variants_have_ids_of_their_own(draft):
    passage = Passage(version=draft, external_id="p1", text="Rivers run.")
    Passage.objects.bulk_create([passage])
    refuse("passage_id_once", Passage(version=draft, external_id="p1"))
    refuse("passage_has_an_id", Passage(version=draft, external_id=""))
    refuse("passage_format_is_known", Passage(version=draft, external_id="p2", format="html"))
    question = draft.questions.get(external_id="r1")
    Variant.objects.bulk_create([Variant(question=question, external_id="a", text="Which way?")])
    refuse("variant_id_once", Variant(question=question, external_id="a", text="Where to?"))
    refuse("variant_has_an_id_and_a_text", Variant(question=question, external_id="b", text=""))
    odd = Variant(question=question, external_id="b", text="Where?", kind="odd")
    refuse("variant_kind_is_known", odd)


def test_an_image_is_kept_once_in_a_set(draft):
    image = world.image(draft.question_set)
    same = {"content": image.content, "width": 8, "height": 4, "sha256": image.sha256}
    again = Image(question_set=draft.question_set, media_type="image/png", **same)
    refuse("image_once_per_set", again)
    same["sha256"] = "f" * 64
    svg = Image(question_set=draft.question_set, media_type="image/svg", **same)
    refuse("image_type_is_known", svg)


def test_a_worker_is_one_per_owner_panel_and_id(rana):
    Worker.objects.bulk_create([Worker(owner=rana, external_id="007")])
    refuse("worker_once_per_owner_and_panel", Worker(owner=rana, external_id="007"))
    refuse("worker_has_an_id", Worker(owner=rana, external_id=""))
    others = [
        Worker(owner=rana, external_id="7"),
        Worker(owner=rana, panel="prolific", external_id="007"),
        Worker(owner=world.user("otto"), external_id="007"),
    ]
    Worker.objects.bulk_create(others)


def test_a_worker_submits_once_in_a_version(draft):
    ada = world.submission(draft).worker
    refuse("submission_once", Submission(version=draft, worker=ada))


@pytest.mark.parametrize(
    ("constraint", "fields"),
    [
        ("submission_state_is_known", {"state": "asleep"}),
        ("submission_has_the_time_of_its_end", {"state": "submitted"}),
        ("submission_has_the_time_of_its_end", {"source": "dreamt"}),
        (
            "submission_ends_after_its_start",
            {"started_at": timezone.now(), "submitted_at": timezone.now() - timedelta(seconds=9)},
        ),
    ],
)
def test_a_submission_that_cannot_be_is_refused(draft, constraint, fields):
    ada = world.submission(draft)
    with world.refused(constraint):
        Submission.objects.filter(pk=ada.pk).update(**fields)


def test_an_imported_submission_has_no_times(draft):
    ada = world.submission(draft)
    Submission.objects.filter(pk=ada.pk).update(state="submitted", source="imported")


def test_an_answer_is_given_once(draft):
    ada = world.submission(draft)
    first = world.response(ada)
    again = Response(submission=ada, question=first.question, text="south", status="text")
    refuse("response_once", again)


@pytest.mark.parametrize(
    ("constraint", "fields"),
    [
        ("response_is_empty_or_has_a_text", {"text": ""}),
        ("response_is_empty_or_has_a_text", {"status": "empty"}),
        ("response_is_empty_or_has_a_text", {"status": "lost"}),
        ("response_state_is_known", {"state": "lost"}),
        ("response_revision_from_1", {"revision": 0}),
    ],
)
def test_an_answer_that_cannot_be_is_refused(draft, constraint, fields):
    answer = world.response(world.submission(draft))
    with world.refused(constraint):
        Response.objects.filter(pk=answer.pk).update(**fields)


def test_a_decision_against_a_worker_needs_a_reason(rana, draft):
    ada = world.submission(draft)
    because = "decision_against_a_worker_has_a_reason"
    refuse(because, Decision(submission=ada, kind="reject", decided_by=rana))
    refuse("decision_kind_is_known", Decision(submission=ada, kind="frown", decided_by=rana))
    Decision.objects.bulk_create([Decision(submission=ada, kind="approve", decided_by=rana)])


def test_a_bonus_is_an_amount_confirmed_by_a_person_and_paid_once(rana, draft):
    ada = world.submission(draft)

    def entry(event, amount=1, **fields):
        return BonusPayment(submission=ada, event=event, amount=amount, currency="GBP", **fields)

    sent = entry("sent")
    BonusPayment.objects.bulk_create([sent])
    refuse("bonus_event_once", entry("sent", payment=sent.payment))
    refuse("bonus_is_confirmed_by_a_person", entry("confirmed"))
    refuse("bonus_is_an_amount", entry("proposed", amount=0))
    refuse("bonus_event_is_known", entry("doubled"))
    BonusPayment.objects.bulk_create([entry("confirmed", payment=sent.payment, actor=rana)])


def test_a_team_has_a_name_once_per_owner_and_a_member_once(rana):
    team = Team.objects.create(owner=rana, name="Rivers")
    refuse("team_name_once_per_owner", Team(owner=rana, name="Rivers"))
    refuse("team_has_a_name", Team(owner=rana, name=""))
    tara = world.user("tara")
    Membership.objects.create(team=team, user=tara)
    refuse("membership_once", Membership(team=team, user=tara))


def test_a_set_is_shared_with_somebody_once_and_in_a_known_role(rana, draft):
    rivers, vera = draft.question_set, world.user("vera")
    refuse("share_role_is_known", Share(question_set=rivers, user=vera, role="editor"))
    Share.objects.create(question_set=rivers, user=vera, role="viewer")
    refuse("share_once", Share(question_set=rivers, user=vera, role="expert"))
