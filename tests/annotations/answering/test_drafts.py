"""Nothing typed is lost: two tabs, back, double clicks, no cookies, drafts by the script."""

from types import SimpleNamespace

import pytest
from django.db import connection, transaction
from django.test import Client

from annotations.answering import drafts, finishing, links, places
from annotations.answering.links import build_submission_token
from annotations.models import OtherText, Question, Response, Submission
from annotations.worker_pages import visit
from tests.annotations.answering.browser import Browser
from tests.annotations.answering.conftest import published

pytestmark = pytest.mark.django_db


@pytest.fixture
def book(tides):
    return published(tides, protocol="open", questions_per_worker=1)


@pytest.fixture
def ada(book):
    browser = Browser(book)
    browser.begin()
    return browser


def texts():
    return list(Response.objects.values_list("text", flat=True))


def others():
    return list(OtherText.objects.filter(settled_at=None).values_list("text", flat=True))


def beside(browser):
    """The same page, as another tab has it now."""
    other = Browser.__new__(Browser)
    other.client, other.link = Client(), browser.link
    other.get(browser.address)
    return other


def test_of_two_tabs_both_texts_are_kept_and_shown_to_choose(ada):
    other = beside(ada)
    ada.press("the first tab", do="save")
    response = other.press("the second tab")
    assert response.status_code == 400
    assert other.boxes == ["the second tab"]
    assert "the first tab" in other.page.words
    assert "Both are here" in other.page.words
    assert (texts(), others()) == (["the second tab"], ["the first tab"])
    keep = f"keep-{Question.objects.get(assignments__isnull=False).public_id}"
    other.press("the second tab", do="save", **{keep: OtherText.objects.get().pk})
    assert other.boxes == ["the first tab"]
    assert (texts(), others()) == (["the first tab"], ["the second tab"])
    # Handed in while both were to be seen: it is settled.
    other.press("both together")
    assert "/review/" in other.address
    assert (texts(), others()) == (["both together"], [])
    assert OtherText.objects.filter(text="the second tab").exists()


def test_an_empty_box_of_an_older_page_overwrites_nothing(ada):
    other = beside(ada)
    ada.press("something", do="save")
    assert other.press("").status_code == 400
    assert "was not overwritten" in other.page.words
    assert other.boxes == ["something"]
    assert texts() == ["something"]


def test_a_double_click_is_one_answer(ada):
    form, address = ada.page.form, ada.address
    data = form["data"] | dict.fromkeys(form["texts"], "once")
    first = ada.client.post(address, data)
    second = ada.client.post(address, data)
    assert first.status_code == second.status_code == 302
    assert first.url == second.url
    assert (texts(), others()) == (["once"], [])


def test_who_goes_back_finds_the_text_and_may_change_it(ada):
    address = ada.address
    ada.press("before")
    assert "/review/" in ada.address
    ada.get(address)
    assert ada.boxes == ["before"]
    ada.press("after")
    assert (texts(), others()) == (["after"], [])
    ada.press()
    assert ada.page.code


def test_no_cookie_and_no_token_is_needed_to_keep_a_text(ada):
    ada.client.cookies.clear()
    stranger = Client(enforce_csrf_checks=True)
    stranger.cookies["csrftoken"] = stranger.cookies["sessionid"] = "of-last-year"
    ada.client = stranger
    ada.press("typed for an hour")
    assert texts() == ["typed for an hour"]


def draft(text, revision, tab="", status=200):
    submission = Submission.objects.get()
    question = submission.assignments.get().question
    data = {"question": str(question.public_id), "text": text, "revision": revision, "tab": tab}
    response = Client(enforce_csrf_checks=True).post(
        f"/answer/at/{build_submission_token(submission)}/draft/", data
    )
    assert response.status_code == status, response.content
    return response.json()


def test_drafts_are_saved_while_typing_each_from_the_one_before(ada):
    assert draft("a", 0) == {"saved": True, "revision": 1}
    assert draft("ab", 1) == {"saved": True, "revision": 2}
    assert draft("ab", 1) == {"saved": True, "revision": 2}  # sent again: the answer got lost
    assert draft("", 2) == {"saved": True, "revision": 3}
    assert texts() == [""]
    ada.get(ada.address)
    ada.press("abc")
    assert texts() == ["abc"]


def test_a_tab_that_types_over_another_keeps_one_text_of_its_own(ada):
    draft("one", 0, "tab-1")
    said = {"saved": True, "revision": 1, "text": "one"}
    assert draft("tw", 0, "tab-2", 409) == said
    assert draft("two", 0, "tab-2", 409) == said
    assert (texts(), others()) == (["one"], ["two"])
    ada.get(ada.address)
    assert ada.boxes == ["one"]
    assert "two" in ada.page.words


def test_a_tab_whose_text_becomes_the_answer_leaves_none_beside(ada):
    draft("one", 0, "tab-1")
    draft("two", 0, "tab-2", 409)  # from a page that knew nothing of the first
    assert (texts(), others()) == (["one"], ["two"])
    assert draft("two, and one", 1, "tab-2") == {"saved": True, "revision": 2}
    assert (texts(), others()) == (["two, and one"], [])


def test_drafts_of_nothing_known_are_refused(ada):
    address = f"/answer/at/{build_submission_token(Submission.objects.get())}/draft/"
    for data in ({}, {"question": "x", "text": "y"}, {"text": "y"}):
        response = Client().post(address, data)
        assert (response.status_code, response.json()) == (400, {"saved": False})
    asked = Client().get(address)
    assert (asked.status_code, asked.json()) == (200, {"here": True})
    assert texts() == []


def test_a_draft_is_never_graded_or_exported(ada):
    draft("not done", 0)
    assert Response.objects.get().state == "draft"


def test_half_a_character_is_stored_as_something(ada):
    """JavaScript can cut a pair of surrogates in two, which no database takes."""
    question = Question.objects.filter(assignments__isnull=False).get()
    saved = drafts.save_draft(Submission.objects.get(), question, "a\ud83d", 0)
    assert saved.text == "a?"
    assert texts() == ["a?"]


def test_saving_a_draft_takes_few_queries(ada, django_assert_max_num_queries):
    draft("a", 0)
    connection.queries_log.clear()
    with django_assert_max_num_queries(7):
        draft("ab", 1)


def test_one_link_stores_a_bounded_number_of_texts_beside_an_answer(ada):
    ada.press("the answer", do="save")
    question = Question.objects.get(assignments__isnull=False)
    submission = Submission.objects.get()

    def send(tab, text):
        return drafts.save_draft(submission, question, text, 0, tab=tab, take_over=False).outcome

    said = [send(f"tab {n}", f"text {n}") for n in range(drafts.MAX_OTHER_TEXTS + 5)]
    most = drafts.MAX_OTHER_TEXTS
    assert said == [drafts.BOTH_KEPT] * most + [drafts.NOT_STORED] * 5
    assert send("tab 3", "more of text 3") == drafts.BOTH_KEPT  # its own place
    assert OtherText.objects.count() == most
    # What the worker saw and left gives its place to a new one; the answer itself is never full.
    drafts.reject_other_texts(submission, [OtherText.objects.order_by("pk").first().pk])
    assert send("another tab", "another") == drafts.BOTH_KEPT
    assert send("one more tab", "one more") == drafts.NOT_STORED
    refused = drafts.save_draft(submission, question, "by a form of old", 0)
    assert (refused.outcome, texts()) == (drafts.NOT_STORED, ["the answer"])
    revision = Response.objects.get().revision
    assert (
        drafts.save_draft(submission, question, "the new answer", revision).outcome == drafts.SAVED
    )
    assert OtherText.objects.count() == most


def test_made_up_sessions_are_stored_in_a_bounded_number(ada):
    for n in range(places.MAX_SESSIONS + 5):
        places.store_panel_session(
            Submission.objects.get(), SimpleNamespace(session_id=f"s{n}", study_id="")
        )
    assert Submission.objects.get().panel_sessions.count() == places.MAX_SESSIONS


def test_requests_that_meet_a_withdrawal_say_withdrawn_and_not_unknown(ada, monkeypatch):
    """Each request reads the submission, then another one withdraws it, then it goes on."""
    submission = Submission.objects.get()
    seat, field = build_submission_token(submission), next(iter(ada.page.form["texts"]))
    own_pages = {
        "draft": {"question": field.removeprefix("answer-"), "text": "north", "revision": "0"},
        "page/1": {field: "north"},
        "review": {},
    }

    def read_then_withdraw(token):
        read = links.find_submission_by_token(token)
        with transaction.atomic():
            finishing.withdraw_answers(Submission.objects.get())
        return read

    monkeypatch.setattr(visit, "find_submission_by_token", read_then_withdraw)
    statuses = {}
    for name, data in own_pages.items():
        before = transaction.savepoint()
        response = Client().post(f"/answer/at/{seat}/{name}/", data)
        statuses[name] = response.status_code
        if name == "draft":
            assert response.json() == {"saved": False, "ended": "withdrawn"}
        transaction.savepoint_rollback(before)
    assert statuses == {"draft": 410, "page/1": 409, "review": 409}
