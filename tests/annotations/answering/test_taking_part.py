"""Who may take part and who may not: closed, paused, excluded, listed, out of time, withdrawn."""

import re

import pytest
from django.utils import timezone

from annotations.answering import collecting
from annotations.answering.errors import AnsweringError
from annotations.answering.links import Visitor, build_submission_token
from annotations.answering.places import has_place, reserve_place, reserve_place_again
from annotations.models import QuestionSet, Response, Submission
from tests.annotations.answering.browser import Browser
from tests.annotations.answering.conftest import made_set, published

pytestmark = pytest.mark.django_db


def submission():
    return Submission.objects.get()


def test_after_closing_a_text_is_kept_and_nothing_is_taken(book):
    browser = Browser(book)
    browser.begin()
    collecting.set_collection_state(book.collection, "closed")
    response = browser.press("written in vain")
    assert response.status_code == 410
    assert browser.page.outcome == "closed"
    assert "written in vain" in browser.page.words
    assert book.collection.code_too_late in browser.page.words
    assert browser.page.form is None
    assert not browser.page.code
    assert set(Response.objects.values_list("state", flat=True)) == {"draft"}
    browser.get(browser.link)
    assert browser.page.outcome == "closed"
    collecting.set_collection_state(book.collection, "open")
    browser.get(browser.link)
    assert set(browser.boxes) == {"written in vain"}


def test_a_paused_collection_lets_nobody_in_and_everybody_finish(book):
    browser = Browser(book)
    browser.begin()
    collecting.set_collection_state(book.collection, "paused")
    other = Browser(book, "ben")
    other.get(other.link)
    assert other.page.outcome == "paused"
    assert other.page.form is None
    for _ in range(3):
        browser.press()
    assert browser.page.code


def test_an_archived_set_lets_nobody_in_and_everybody_finish_and_is_told_before_consent(book):
    browser = Browser(book)
    browser.begin()
    question_set = book.version.question_set
    QuestionSet.objects.filter(pk=question_set.pk).update(archived_at=timezone.now())
    other = Browser(book, "ben")
    assert other.get(other.link).status_code == 200
    assert other.page.outcome == "archived"
    assert book.collection.code_too_late in other.page.words
    assert other.page.form is None
    for _ in range(3):
        browser.press()
    assert browser.page.code
    QuestionSet.objects.filter(pk=question_set.pk).update(archived_at=None)
    Browser(book, "ben").begin()


def test_sets_exclude_each_others_workers_and_lists_admit(tides):
    first = published(tides, protocol="open")
    Browser(first).begin()
    second = published(made_set(tides.owner, "second"), protocol="open")
    second.collection.excludes.add(tides)
    before = Browser(second)
    before.get(before.link)
    assert before.page.outcome == "excluded"
    assert before.page.form is None
    collecting.change_settings(second.collection, listed_only=True)
    ben = Browser(second, "ben")
    ben.get(ben.link)
    assert ben.page.outcome == "not_listed"
    assert ben.post(ben.link, {"agree": "yes"}).status_code == 403
    assert collecting.admit_workers(second.collection, ["ben", " ben ", "", "cy"]) == 2
    ben.begin()
    assert "/page/1/" in ben.address


def test_a_place_that_ran_out_goes_to_the_next_and_may_come_back(tides):
    made = published(tides, protocol="open", places=1)
    ada, ben = Browser(made), Browser(made, "ben")
    ada.begin()
    ben.get(ben.link)
    assert ben.page.outcome == "full"
    ada.press("half", do="save")
    past = timezone.now() - timezone.timedelta(minutes=1)
    Submission.objects.update(reserved_until=past)
    # Nobody wanted it: it is hers again, by a form, with her text.
    ada.get(ada.link)
    assert ada.page.outcome == ""
    ada.press()
    assert set(ada.boxes) == {"half"}
    Submission.objects.update(reserved_until=past)
    ben.begin()
    assert "/page/1/" in ben.address
    response = ada.post(ada.address, {f"answer-{_question_of(ada)}": "more", "do": "next"})
    assert response.status_code == 410
    assert ada.page.outcome == "place_lost"
    assert "more" in ada.page.words
    assert Response.objects.filter(text="more", state="draft").exists()


@pytest.mark.parametrize(
    "settings",
    [
        # All five questions are hers alone: without them none is left.
        {"places": 1, "answers_per_question": 1},
        # She has three of five: without them she gets the other two.
        {"places": 2, "answers_per_question": 1},
    ],
)
@pytest.mark.parametrize("by", ["retake", "reserve"])
def test_who_comes_back_after_their_time_ran_out_has_the_same_questions(tides, settings, by):
    made = published(tides, protocol="open", **settings)
    ada = reserve_place(made.collection, Visitor("ada"))
    before = list(ada.assignments.order_by("pk").values_list("pk", "question"))
    assert len(before) == {1: 5, 2: 3}[settings["places"]]
    Submission.objects.update(reserved_until=timezone.now() - timezone.timedelta(minutes=1))
    if by == "retake":
        reserve_place_again(submission())
    else:
        reserve_place(made.collection, Visitor("ada"))
    assert has_place(submission())
    assert list(ada.assignments.order_by("pk").values_list("pk", "question")) == before


def _question_of(browser):
    return (
        re.search(r"answer-([0-9a-f-]{36})", str(browser.response.content))[1]
        if (b"answer-" in browser.response.content)
        else submission().assignments.first().question.public_id
    )


def test_who_does_not_agree_leaves_nothing_behind(book):
    browser = Browser(book)
    browser.get(browser.link)
    browser.post(browser.link, {"do": "decline"})
    assert browser.page.outcome == "no_consent"
    assert book.collection.code_no_consent in browser.page.words
    assert not Submission.objects.exists()
    assert browser.post(browser.link, {"do": "agree"}).status_code == 400
    assert 'role="alert"' in browser.response.content.decode()
    assert not Submission.objects.exists()


def test_withdrawing_deletes_what_was_written_and_frees_the_place(tides):
    made = published(tides, protocol="open", places=1)
    browser = Browser(made)
    browser.begin()
    browser.press("mine")
    seat = build_submission_token(submission())
    browser.get(f"/answer/at/{seat}/withdraw/")
    assert browser.post(browser.address, {}).status_code == 400
    assert Response.objects.exists()
    browser.press()
    assert browser.page.outcome == "withdrawn"
    assert not Response.objects.exists()
    assert submission().state == "returned"
    with pytest.raises(AnsweringError) as caught:
        reserve_place_again(submission())
    assert caught.value.code == "withdrawn"
    browser.get(browser.link)
    assert browser.page.outcome == "withdrawn"
    other = Browser(made, "ben")
    other.begin()
    assert "/page/1/" in other.address
