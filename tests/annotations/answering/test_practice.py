"""Practice counts as it was first answered: once it is handed in, nothing changes it."""

import pytest
from django.test import Client

from annotations.answering import drafts
from annotations.answering.links import build_submission_token
from annotations.models import Question, Response, Submission
from tests.annotations.answering.browser import Browser
from tests.annotations.answering.conftest import published

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(tides):
    """Somebody at the feedback of one practice question, which they answered wrongly."""
    Question.objects.create(
        version=tides.draft(),
        external_id="p1",
        text="What is 2 + 2?",
        role="practice",
        accepted_answers=["4"],
        position=99,
    )
    browser = Browser(published(tides, protocol="open", practice_needed=1))
    browser.begin()
    browser.press("5")
    assert "/feedback/" in browser.address
    return browser


def answer():
    return Response.objects.get(question__external_id="p1")


def place():
    return f"/answer/at/{build_submission_token(Submission.objects.get())}/"


def test_going_back_after_the_feedback_changes_nothing(ada):
    assert "/feedback/" in ada.address
    feedback = ada.address
    ada.get(f"{place()}page/1/")
    assert ada.address == feedback
    field = f"answer-{answer().question.public_id}"
    sent = {field: "4", f"revision-{answer().question.public_id}": answer().revision, "do": "next"}
    ada.post(f"{place()}page/1/", sent)
    assert (ada.address, answer().text) == (feedback, "5")
    ada.press()
    assert ada.page.outcome == "screened_out"
    assert Submission.objects.get().state == "screened_out"


def test_the_address_of_drafts_takes_no_other_answer_to_it(ada):
    about = str(answer().question.public_id)
    said = ada.client.post(
        f"{place()}draft/", {"question": about, "text": "4", "revision": answer().revision}
    )
    assert (said.status_code, said.json()["saved"], answer().text) == (400, False, "5")


def test_a_form_that_comes_when_the_study_is_closed_does_not_change_it(ada):
    collection = Submission.objects.get().version.collection
    type(collection).objects.filter(pk=collection.pk).update(state="closed")
    field = f"answer-{answer().question.public_id}"
    Client().post(f"{place()}page/1/", {field: "4", "do": "next"})
    assert answer().text == "5"


def test_who_withdrew_has_no_text_stored_by_a_request_that_was_under_way(ada):
    late = Submission.objects.get()
    question = Question.objects.get(external_id="tides1")
    ada.get(f"{place()}withdraw/")
    ada.press()
    assert Submission.objects.get().withdrawn_at is not None
    assert drafts.save_draft(late, question, "late", 0).outcome == drafts.ENDED
    ada.post(f"{place()}page/2/", {f"answer-{question.public_id}": "late", "do": "next"})
    assert ada.page.outcome == "withdrawn"
    assert not Response.objects.exists()


def test_a_choice_takes_none_but_its_choices_by_the_address_of_drafts_too(tides):
    Question.objects.create(
        version=tides.draft(),
        external_id="colour",
        text="Which colour?",
        kind="choice",
        choices=["red", "blue"],
        position=0,
    )
    ben = Browser(published(tides, protocol="open"), "ben")
    ben.begin()
    for _ in range(10):
        if "Which colour?" in ben.page.words:
            break
        ben.press("red")
    about = str(Question.objects.get(external_id="colour").public_id)

    def send(text):
        said = ben.client.post(f"{place()}draft/", {"question": about, "text": text, "revision": 0})
        return said.status_code, said.json()["saved"]

    assert send("<script>no choice</script>") == (400, False)
    assert not Response.objects.filter(question__external_id="colour").exists()
    assert send("blue") == (200, True)
