"""The triggers, asked through the database."""

from hashlib import sha256

import pytest
from django.core.management import call_command
from django.db import connection

from annotations import guards
from annotations.models import (
    AppendOnlyError,
    Decision,
    Passage,
    Question,
    QuestionSetVersion,
    Response,
    Translation,
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


def run(sql, *values):
    with connection.cursor() as cursor:
        cursor.execute(sql, values)


def test_a_decision_is_neither_changed_nor_deleted(rana, draft):
    ada = world.submission(draft)
    decision = Decision.objects.create(submission=ada, kind="approve", decided_by=rana)
    for attempt in (
        decision.save,
        decision.delete,
        Decision.objects.all().delete,
        lambda: Decision.objects.update(kind="exclude"),
        lambda: Decision.objects.bulk_update([decision], ["kind"]),
    ):
        with pytest.raises(AppendOnlyError):
            attempt()
    with world.refused(guards.APPEND_ONLY):
        run("UPDATE annotations_decision SET reason = 'x' WHERE id = %s", decision.pk)
    with world.refused(guards.APPEND_ONLY):
        run("DELETE FROM annotations_decision WHERE id = %s", decision.pk)
    assert Decision.objects.get().kind == "approve"


def test_a_published_version_takes_no_other_words(draft):
    passage = Passage.objects.create(version=draft, external_id="p1", text="Rivers run.")
    assert draft.publish()
    assert not draft.publish()
    question = Question.objects.get(external_id="r1")
    for change in (
        {"text": "What is a river?"},
        {"external_id": "r0"},
        {"language": "de"},
        {"passage": passage},
        {"choices": ["a"], "kind": "choice"},
    ):
        with world.refused(guards.FROZEN):
            Question.objects.filter(pk=question.pk).update(**change)
    with world.refused(guards.FROZEN):
        Passage.objects.filter(pk=passage.pk).update(text="Rivers rest.")
    with world.refused(guards.FROZEN):
        Question.objects.bulk_create([Question(version=draft, external_id="r3")])
    # What is no wording stays open: the accepted answers may be written down later.
    Question.objects.filter(pk=question.pk).update(accepted_answers=["north"], category="a")


def test_a_published_version_keeps_what_workers_were_told(draft):
    river = world.image(draft.question_set)
    passage = Passage.objects.create(
        version=draft, external_id="p1", text="Rivers run.", image=river, image_alt="A river."
    )
    draft.questions.filter(external_id="r2").update(
        role="practice", accepted_answers=["north"], feedback="North it is."
    )
    draft.consent_text = "I agree."
    draft.save()
    draft.publish()
    versions = QuestionSetVersion.objects.filter(pk=draft.pk)
    for change in ({"guidelines": "Be brief."}, {"consent_text": "I do not."}, {"language": "de"}):
        with world.refused(guards.FROZEN):
            versions.update(**change)
    graded = draft.questions.filter(external_id="r1")
    for change in ({"role": "attention"}, {"feedback": "Well done."}, {"max_characters": 9}):
        with world.refused(guards.FROZEN):
            graded.update(**change)
    with world.refused(guards.FROZEN):
        draft.questions.filter(external_id="r2").update(accepted_answers=["south"])
    other = world.image(draft.question_set, "red")
    for change in ({"image": None}, {"image": other}, {"image_alt": "A"}, {"format": "simple"}):
        with world.refused(guards.FROZEN):
            Passage.objects.filter(pk=passage.pk).update(**change)
    with world.refused("never changed"):
        type(river).objects.filter(pk=river.pk).update(content=b"other")


def test_a_published_version_stays_published(draft):
    draft.publish()
    with world.refused("stays so"):
        QuestionSetVersion.objects.filter(pk=draft.pk).update(published_at=None)


def test_a_question_without_text_is_given_one_once(draft):
    bare = Question.objects.create(version=draft, external_id="r3")
    draft.publish()
    Question.objects.filter(pk=bare.pk).update(text="How long is it?", language="en")
    with world.refused(guards.FROZEN):
        Question.objects.filter(pk=bare.pk).update(text="How deep is it?")


def test_a_response_answers_a_question_of_its_submissions_version(rana, draft):
    draft.publish()
    second = draft.copy_as_draft()
    ada = world.submission(draft)
    foreign = second.questions.get(external_id="r1")
    with world.refused("another version"):
        Response.objects.bulk_create([Response(submission=ada, question=foreign, status="empty")])
    own = world.response(ada)
    with world.refused("another version"):
        Response.objects.filter(pk=own.pk).update(question=foreign)


def test_a_question_is_about_a_passage_of_its_version(rana, draft):
    other = world.version(rana, "lakes")
    foreign = Passage.objects.create(version=other, external_id="p1")
    with world.refused("another version"):
        draft.questions.update(passage=foreign)


def test_a_copy_is_a_draft_with_the_same_content_and_ids_of_its_own(draft):
    passage = Passage.objects.create(version=draft, external_id="p1", text="Rivers run.")
    draft.questions.filter(external_id="r2").update(passage=passage)
    first = draft.questions.get(external_id="r1")
    first.variants.create(external_id="a", text="In which place is river 1?")
    draft.publish()
    copy = draft.question_set.draft()
    assert (copy.number, copy.is_published) == (2, False)
    assert draft.question_set.draft() == copy
    values = ("external_id", "position", "text", "passage__external_id", "variants__text")
    assert list(copy.questions.order_by("position").values_list(*values)) == [
        ("r1", 1, "Where is river 1?", None, "In which place is river 1?"),
        ("r2", 2, "Where is river 2?", "p1", None),
    ]
    assert Question.objects.values("public_id").distinct().count() == 4
    assert copy.questions.get(external_id="r2").passage.version == copy


def test_a_copy_takes_along_what_workers_are_told_and_shares_the_pictures(draft):
    river = world.image(draft.question_set)
    Passage.objects.create(
        version=draft, external_id="p1", image=river, image_alt="A river.", format="simple"
    )
    draft.questions.filter(external_id="r2").update(
        role="gold", kind="short", accepted_answers=["north"], feedback="Yes.", max_characters=50
    )
    told = {"guidelines": "Be brief.", "consent_text": "I agree.", "language": "en"}
    QuestionSetVersion.objects.filter(pk=draft.pk).update(**told)
    draft.publish()
    copy = draft.question_set.draft()
    assert {name: getattr(copy, name) for name in told} == told
    assert copy.consent_hash == sha256(b"I agree.").hexdigest()
    passage = copy.passages.get()
    assert (passage.image, passage.image_alt, passage.format) == (river, "A river.", "simple")
    second = copy.questions.get(external_id="r2")
    assert (second.role, second.kind, second.feedback) == ("gold", "short", "Yes.")
    assert (second.accepted_answers, second.max_characters) == (["north"], 50)
    copy.question_set.delete()
    assert not type(river).objects.exists()


def test_a_set_goes_with_all_that_is_in_it_but_not_its_workers(draft):
    world.response(world.submission(draft))
    draft.publish()
    draft.question_set.delete()
    assert (Response.objects.count(), Question.objects.count(), Worker.objects.count()) == (0, 0, 1)


def test_migrating_again_keeps_every_trigger():
    table = "sqlite_master WHERE type = 'trigger'"
    name = "name"
    if connection.vendor == "postgresql":
        table, name = "pg_trigger WHERE NOT tgisinternal", "tgname"
    call_command("migrate", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {name} FROM {table}")
        found = {row[0] for row in cursor.fetchall()}
    assert {f"guard_{guard.name}" for guard in guards.GUARDS} <= found


def test_a_published_version_keeps_its_languages_and_what_is_said_in_them(draft, rana):
    question = draft.questions.get(external_id="r1")
    draft.languages = ["ar"]
    draft.save()
    said = Translation.objects.create(
        version=draft, language="ar", question=question, texts={"text": "أين؟"}
    )
    assert draft.publish()
    with world.refused(guards.FROZEN):
        QuestionSetVersion.objects.filter(pk=draft.pk).update(languages=["ar", "de"])
    with world.refused(guards.FROZEN):
        Translation.objects.filter(pk=said.pk).update(texts={"text": "متى؟"})
    with world.refused(guards.FROZEN):
        Translation.objects.create(version=draft, language="de", texts={"title": "Flüsse"})
    with world.refused(guards.FROZEN):
        Translation.objects.bulk_create([Translation(version=draft, language="de", texts={})])
    assert Translation.objects.get().texts == {"text": "أين؟"}


def test_a_translation_is_of_an_item_of_its_version(draft, rana):
    other = world.version(rana, "other")
    for foreign in (
        {"question": other.questions.get(external_id="r1")},
        {"passage": Passage.objects.create(version=other, external_id="p9", text="Elsewhere.")},
    ):
        with world.refused("what it translates is of another version"):
            Translation.objects.create(version=draft, language="ar", texts={}, **foreign)
