"""A rejected worker's own page: the reason, a text once, and the answer; for nobody else."""

import re

import pytest
from django.urls import reverse

from annotations.answering.finishing import withdraw_answers
from annotations.answering.links import build_submission_token
from annotations.ledger.appeals import LONGEST, answer_appeal
from annotations.ledger.decisions import decide_on_submission
from annotations.models import Appeal, Submission
from tests.annotations.answering.browser import Browser

pytestmark = pytest.mark.django_db
REASON = "You left three of four questions without an answer. " * 2
SAID = "I answered all of them, on my telephone."


def done(book, worker="ada"):
    """Return the browser of who has handed in."""
    browser = Browser(book, worker)
    browser.begin()
    browser.until("thanks")
    return browser


def of(worker="ada"):
    return Submission.objects.get(worker__external_id=worker)


def page_of(worker="ada", name="decision"):
    return reverse(f"worker:{name}", args=[build_submission_token(of(worker))])


@pytest.fixture
def ada(book, rana):
    """Ada has handed in, and is rejected."""
    browser = done(book)
    decide_on_submission(of(), rana, "reject", "LOW_EFFORT", REASON)
    return browser


def test_the_same_link_tells_of_a_rejection_with_its_reason(ada):
    for address in (ada.link, page_of(name="data"), page_of()):
        ada.get(address)
        assert ada.page.decision == "rejected"
        assert REASON.strip() in ada.page.words
        assert "LOW_EFFORT" not in ada.page.words
        assert "rana" not in ada.page.words


def test_who_was_not_rejected_reads_nothing_of_it_and_has_no_such_page(book, rana, ada):
    ben = done(book, "ben")
    assert (ben.page.decision, "rejected" in ben.page.words) == ("", False)
    ben.get(page_of("ben"))
    assert "/thanks/" in ben.address
    decide_on_submission(of("ben"), rana, "approve")
    ben.get(page_of("ben"))
    assert "/thanks/" in ben.address
    assert "approved" not in ben.page.words


def test_a_text_is_sent_once_and_stays_readable(ada):
    ada.get(page_of())
    ada.post(page_of(), {"appeal": SAID})
    assert 'id="sent"' in ada.response.content.decode()
    assert SAID in ada.page.words
    assert 'id="no-answer-yet"' in ada.response.content.decode()
    assert ada.page.form is None
    ada.post(page_of(), {"appeal": SAID})  # a second click
    assert ada.response.status_code == 200
    ada.post(page_of(), {"appeal": "And another thing."})
    assert ada.response.status_code == 409
    assert ada.page.errors == ["not_sent"]
    assert "And another thing." in ada.page.words  # to be copied
    assert [one.text for one in Appeal.objects.all()] == [SAID]


def test_an_empty_or_too_long_text_is_told_and_not_lost(ada):
    ada.post(page_of(), {"appeal": " "})
    assert (ada.response.status_code, ada.page.errors) == (400, ["empty"])
    long = "x" * (LONGEST + 1)
    ada.post(page_of(), {"appeal": long})
    assert ada.page.errors == ["too_long"]
    sentence = ada.response.context["error"]
    assert re.findall(r"[\d,]+\d", sentence) == ["2,001", "2,000"]
    assert sentence in ada.page.words
    assert ada.boxes == [long]
    assert not Appeal.objects.exists()


@pytest.mark.parametrize(("approve", "decision"), [(True, "approved"), (False, "rejected")])
def test_the_answer_is_read_on_the_same_page(ada, rana, approve, decision):
    ada.post(page_of(), {"appeal": SAID})
    answer_appeal(Appeal.objects.get(), rana, "We looked at it again.", approve=approve)
    ada.get(page_of())
    assert "We looked at it again." in ada.page.words
    assert ada.page.decision == decision
    html = ada.response.content.decode()
    assert ('id="stays-rejected"' in html) is not approve
    assert 'id="no-answer-yet"' not in html
    ada.get(ada.link)
    assert ("Read the answer" in ada.page.words) is not approve
    assert ada.page.decision == decision


def test_another_worker_reads_none_of_it(ada, book):
    ada.post(page_of(), {"appeal": SAID})
    ben = done(book, "ben")
    for name in ("decision", "thanks", "data"):
        ben.get(page_of("ben", name))
        assert SAID not in ben.page.words
        assert REASON.strip() not in ben.page.words
    forged = page_of()[:-3] + ("A/" if page_of()[-3:] != "A/" else "B/")
    assert ben.client.get(forged).status_code == 404
    assert ben.client.post(forged, {"appeal": "x"}).status_code == 404


def test_work_that_is_looked_at_again_says_so_and_takes_no_text(ada, rana):
    decide_on_submission(of(), rana, "open")
    ada.get(page_of())
    assert ada.page.decision == "open"
    ada.post(page_of(), {"appeal": SAID})
    assert ada.response.status_code == 409
    assert not Appeal.objects.exists()


def test_withdrawing_takes_the_text_and_its_answer_along(ada, rana):
    ada.post(page_of(), {"appeal": SAID})
    answer_appeal(Appeal.objects.get(), rana, "We looked at it again.", approve=False)
    withdraw_answers(of())
    assert not Appeal.objects.exists()
    ada.get(page_of())
    assert ada.page.outcome == "withdrawn"
    ada.post(page_of(), {"appeal": SAID})
    assert ada.response.status_code == 409
    assert not Appeal.objects.exists()
