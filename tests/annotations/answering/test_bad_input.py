"""Whatever is sent: a clear page or a 4xx, never a 500, and what was typed is not lost."""

import re

import pytest
from django.test import Client
from django.utils import timezone

from annotations.answering import drafts
from annotations.answering.links import build_submission_token
from annotations.models import OtherText, Question, Reading, Response, Submission
from tests.annotations.answering.browser import Browser
from tests.annotations.answering.conftest import TIDES, published
from tests.annotations.answering.walker import Page

pytestmark = pytest.mark.django_db


@pytest.fixture
def recall(tides):
    return published(tides)


def submission():
    return Submission.objects.get()


def test_a_question_of_another_worker_is_not_shown_and_takes_nothing(tides):
    made = published(tides, protocol="open", questions_per_worker=1)
    browser = Browser(made)
    browser.begin()
    given = submission().assignments.values("question")
    other = Question.objects.exclude(pk__in=given).first()
    response = browser.press(**{f"answer-{other.public_id}": "sneaked in"})
    assert response.status_code == 400
    assert browser.page.errors == ["not_shown"]
    assert "sneaked in" in browser.page.words
    assert browser.boxes == ["north"]
    assert list(Response.objects.values_list("text", flat=True)) == ["north"]


def test_pages_that_come_later_take_nothing_and_show_what_was_sent(book):
    browser = Browser(book)
    browser.begin()
    seat = build_submission_token(submission())
    later = submission().assignments.filter(page=2).first().question
    response = browser.post(f"/answer/at/{seat}/page/2/", {f"answer-{later.public_id}": "too soon"})
    assert response.status_code == 409
    assert browser.page.outcome == "not_yet"
    assert "too soon" in browser.page.words
    assert not Response.objects.exists()
    assert Client().post(f"/answer/at/{seat}/review/").status_code == 302
    assert submission().state == "open"
    draft = {"question": str(later.public_id), "text": "x", "revision": "0"}
    assert Client().post(f"/answer/at/{seat}/draft/", draft).status_code == 400


# Texts


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script><img src=x onerror=alert(1)>",
        '=HYPERLINK("http://evil","x")',
        "👩‍👩‍👧‍👦 é é 한국어 العربية",
        "  two  spaces\n\n\tand lines  ",
        "\u202eright to left\u202c",
    ],
)
def test_texts_are_stored_as_written_and_shown_as_text(book, text):
    browser = Browser(book)
    browser.begin()
    browser.press(text)
    browser.press(text)
    assert "/review/" in browser.address
    assert set(Response.objects.values_list("text", flat=True)) == {text}
    html = browser.response.content.decode()
    assert "<script>" not in html
    assert "<img" not in html
    browser.press()
    assert browser.page.code == book.collection.code_done


def test_a_zero_byte_is_left_out_and_line_breaks_are_one_character(book):
    browser = Browser(book)
    browser.begin()
    assert browser.press("a\x00b\r\nc\rd").status_code == 200
    assert Response.objects.first().text == "ab\nc\nd"


def test_100_kilobytes_are_kept_and_the_limit_is_said_before(book):
    browser = Browser(book)
    browser.begin()
    assert "At most 5,000 characters." in browser.page.words
    assert "maxlength" not in browser.response.content.decode()  # it would cut without a word
    text = "word " * 20_480
    response = browser.press(text)
    assert response.status_code == 400
    assert browser.page.errors == ["too_long"] * len(browser.boxes)
    (sentence, *_) = browser.response.context["fields"][0].errors
    assert re.findall(r"[\d,]+\d", str(sentence)) == ["102,400", "5,000"]
    assert str(sentence) in browser.page.words
    assert set(browser.boxes) == {text}
    assert set(Response.objects.values_list("text", flat=True)) == {text}
    # Also later, on another device.
    again = Browser(book)
    again.get(again.link)
    assert set(again.boxes) == {text}
    assert again.press("short").status_code == 200
    assert "/page/2/" in again.address


def test_more_than_can_be_stored_stays_in_the_box(book):
    browser = Browser(book)
    browser.begin()
    names = list(browser.page.form["texts"])
    response = browser.press("short", **{names[0]: "x" * 200_001})
    assert response.status_code == 400
    assert browser.page.errors == ["not_stored"]
    assert len(browser.boxes[0]) == 200_001
    assert set(Response.objects.values_list("text", flat=True)) == {"short"}
    first = Response.objects.order_by("pk").first()
    most = "x" * 200_000
    saved = drafts.save_draft(first.submission, first.question, most, first.revision)
    assert saved.outcome == drafts.SAVED
    saved = drafts.save_draft(first.submission, first.question, most + "x", saved.revision)
    assert (saved.outcome, saved.revision) == (drafts.NOT_STORED, first.revision + 1)


def test_a_form_beyond_every_limit_is_refused_with_400(book):
    browser = Browser(book)
    browser.begin()
    assert browser.press("x" * 3_000_000).status_code == 400
    assert not Response.objects.exists()


def test_empty_answers_are_asked_about_once_and_may_stay(book):
    browser = Browser(book)
    browser.begin()
    assert browser.press("  \n ").status_code == 400
    assert set(browser.page.errors) == {"no_answer"}
    browser.press("")  # the box to leave them empty is ticked with the rest
    assert "/page/2/" in browser.address
    assert set(Response.objects.values_list("text", "status")) == {("", "empty")}


def test_a_choice_that_is_none_is_refused(tides):
    draft = tides.draft()
    Question.objects.create(
        version=draft, external_id="c", text="Which?", kind="choice", choices=["a", "b"], position=1
    )
    made = published(tides, protocol="open")
    browser = Browser(made)
    browser.begin()
    asked = Question.objects.get(external_id="c")
    while "Which?" not in browser.page.words:
        browser.press()
    assert browser.press(**{f"answer-{asked.public_id}": "c"}).status_code == 400
    assert "no_such_choice" in browser.page.errors
    assert not Response.objects.filter(question=asked).exists()


# Reading


def test_a_passage_is_gone_after_it_was_read_also_by_another_device(recall):
    browser = Browser(recall)
    browser.begin()
    assert browser.page.form["data"] == {"do": "open"}
    announced = browser.address
    assert TIDES not in browser.page.words
    browser.press()
    text = browser.page.words
    assert browser.response["Cache-Control"] == "private, no-store"
    browser.press()
    assert "/page/1/" in browser.address
    for client in (browser.client, Client()):
        response = client.get(announced)
        assert response.status_code == 410
        assert response["Cache-Control"] == "private, no-store"
        page = Page(response.content.decode())
        assert page.outcome == "gone"
        assert page.form is None
        for do in ("open", "read"):
            response = client.post(announced, {"do": do})
            assert response.status_code in (302, 410)
    # Neither the questions nor the end bring it back.
    for address in ("page/1/", "review/", "data/"):
        seen = Client().get(
            f"/answer/at/{build_submission_token(submission())}/{address}", follow=True
        )
        assert not any(passage in seen.content.decode() for passage in (TIDES, text))


def test_the_servers_clock_ends_the_reading(recall):
    browser = Browser(recall)
    browser.begin()
    browser.press()
    announced = browser.address
    long_ago = timezone.now() - timezone.timedelta(seconds=601)
    Reading.objects.update(opened_at=long_ago)
    assert browser.get(announced).status_code == 410
    browser.get(browser.link)
    assert "/page/1/" in browser.address


def test_questions_do_not_show_before_their_text_was_read(recall):
    browser = Browser(recall)
    browser.begin()
    seat = build_submission_token(submission())
    browser.get(f"/answer/at/{seat}/page/1/")
    assert "/text/1/" in browser.address
    assert "in case" not in browser.page.words
    assert Client().post(f"/answer/at/{seat}/text/2/", {"do": "open"}).status_code == 409
    assert Reading.objects.count() == 0


# The end


def test_after_the_end_the_code_stays_and_answers_do_not_change(book):
    browser = Browser(book)
    browser.begin()
    first = browser.address
    for _ in range(3):
        last = browser.address
        browser.press("mine")
    code = browser.page.code
    assert code == book.collection.code_done
    browser.post(last, {})  # a second click
    assert browser.page.code == code
    browser.get(browser.link)
    assert browser.page.code == code
    question = submission().assignments.get(position=1).question
    response = browser.post(first, {f"answer-{question.public_id}": "afterwards"})
    assert response.status_code == 409
    assert browser.page.outcome == "done"
    assert "afterwards" in browser.page.words
    assert set(Response.objects.values_list("text", flat=True)) == {"mine"}
    draft = {"question": str(question.public_id), "text": "afterwards", "revision": "1"}
    response = Client().post(f"/answer/at/{build_submission_token(submission())}/draft/", draft)
    assert response.status_code == 410
    assert response.json() == {"saved": False, "ended": "done"}
    assert not OtherText.objects.exists()


def test_the_way_back_is_the_requesters_and_of_no_address(tides):
    made = published(tides, protocol="open", return_url="https://panel.example/?cc={code}")
    browser = Browser(made, more="&return_url=https://evil.example&next=//evil.example")
    browser.begin()
    for _ in range(3):
        browser.press()
    html = browser.response.content.decode()
    assert f'href="https://panel.example/?cc={made.collection.code_done}"' in html
    assert "evil.example" not in html


def test_pages_have_a_strict_policy_and_are_small(recall):
    browser = Browser(recall)
    browser.begin()
    for _ in range(12):
        policy = browser.response["Content-Security-Policy"]
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy
        html = browser.response.content
        assert len(html) < 20_000
        # A page of questions has one script, a file of ours; no other page has any.
        scripts = re.findall(rb"<script[^>]*>", html)
        assert scripts in ([], [b'<script src="/static/worker/drafts.js" defer>'])
        assert b"style=" not in html
        assert browser.response["X-Robots-Tag"] == "noindex, nofollow"
        assert browser.response["Referrer-Policy"] == "same-origin"
        if browser.page.form is None:
            break
        browser.press()
    assert browser.page.code
