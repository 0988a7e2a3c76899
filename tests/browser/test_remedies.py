"""Chromium goes from an alarm, by a button that it offers, to what became of it."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import expect

from annotations.exchange.importing import import_answers
from annotations.exchange.reading.source import bytes_source
from annotations.models import QuestionSet
from evaluation.background.runs import queue
from evaluation.background.work import work_one_turn
from evaluation.flow.parameters import AqerParameters
from evaluation.imports import import_model_answers
from evaluation.models import Run
from tests.browser import crowds_that_ring as crowds
from tests.browser import test_every_page as pages
from tests.browser.working import show_all, work_away

pytestmark = pages.pytestmark
browser = pages.browser

COPIES = "Copied or nearly copied answers"
IN_PART = "A part of the answers is shared word for word"
LEVERAGE = "The ranking hangs on one worker"
WITHOUT = "See how it is without their votes"
CAP = "Grade again with a cap on each vote"
LEFT_OUT = "left out"
SILENT = "it is not seen any more"


def equal_camps():
    return crowds.camps(7, 0.75, 0.03)


def of_model(said):
    """Return a model's answers: those of p09, word for word."""
    return {("a model", what): text for (who, what), text in said.items() if who == "p09"}


# The crowd, the settings of its run, the alarm, the button, what the outcome says, answered or not.
WALKS = {
    "copies, one voter": (
        *(crowds.copied, {}, COPIES, "Grade again with the group as one voter"),
        *("the 2 of them count as one voter", True),
    ),
    "copies, without": (crowds.copied, {}, COPIES, WITHOUT, LEFT_OUT, True),
    "a part copied": (lambda: crowds.copied(5), {}, IN_PART, WITHOUT, LEFT_OUT, True),
    "lost": (crowds.lost, {}, "“I don't know”, again and again", WITHOUT, LEFT_OUT, True),
    "like a model": (
        *(crowds.honest, {}, "Answers near to a language model's", WITHOUT, LEFT_OUT, True),
    ),
    "few decide": (crowds.few_decide, {}, "Few workers decide", CAP, SILENT, True),
    # Seven against seven: no cap mends that one voter tips the scale, and the page says so.
    "one tips, cap": (equal_camps, {}, LEVERAGE, CAP, "Still there", False),
    "several right": (
        *(crowds.several_right, {}, "Two camps on single questions"),
        *("Grade again with several right answers", "the nearer of the two camps", True),
    ),
    "words": (
        *(crowds.endings, {"embedder": "tfidf-char"}, "Grading by words alone ranks otherwise"),
        *("Grade again by words", "could not be looked for again", False),
    ),
    "rounds": (
        *(crowds.honest, {"max_iterations": 1}, "The grades did not settle"),
        *("Grade again with more iterations", SILENT, True),
    ),
}


def graded(said, models=None, **options):
    """Return the run of a crowd, by words unless it is said otherwise."""
    owner = User.objects.create_user("rana", is_staff=True)
    question_set = QuestionSet.objects.create(owner=owner, name="a crowd")
    import_answers(question_set, _file("worker", said), create_questions=True)
    if models:
        import_model_answers(question_set, _file("model", models))
    asked = AqerParameters(**{"embedder": "tfidf-word", "bootstrap": 50, **options})
    run = queue(question_set.latest_version(), owner.pk, asked)
    while work_one_turn():
        pass
    run.refresh_from_db()
    assert run.state == "done", run.error
    return run


def _file(who, said):
    rows = "".join(f"{name},{what},{text}\n" for (name, what), text in said.items())
    return bytes_source("answers.csv", f"{who},question,answer\n{rows}".encode())


@pytest.fixture
def quiet(transactional_db, monkeypatch):
    monkeypatch.setattr("evaluation.background.work.ring", lambda: True)
    monkeypatch.setattr("evaluation.background.doorbell.ring", lambda: True)


def press(page, name, role="button"):
    page.get_by_role(role, name=name, exact=True).first.click()


def made(window, page):
    """Wait for the run that was started, and show its first page."""
    page.wait_for_url("**/runs/*/")
    work_away(page)
    run = Run.objects.latest("pk")
    assert run.state == "done", run.error
    window.look("the new run", reverse("admin:results-run", args=[run.public_id]))
    show_all(page)
    return run


def outcome_of(page, title):
    region = page.get_by_role("region", name="What became of the alarms")
    return region.get_by_role("listitem").filter(has_text=title).first


@pytest.mark.parametrize("name", WALKS)
def test_a_remedy_leads_to_what_became_of_the_alarm(browser, client, live_server, quiet, name):
    crowd, options, title, button, said, answered = WALKS[name]
    answers = crowd()
    models = of_model(answers) if name == "like a model" else None
    before = graded(answers, models, **options)
    look = list(pages.LOOKS)[list(WALKS).index(name) % 2]
    with pages.signed_in(browser, client, live_server.url, "rana", look) as window:
        page = window.page
        window.look("alarms", reverse("admin:results-alarms", args=[before.public_id]))
        show_all(page)
        press(page, title, "link")
        show_all(page)
        window.check("the alarm")
        press(page, button, "link")
        expect(page.get_by_text("Set beforehand")).to_be_visible()
        window.check("the form")
        press(page, "Start the run")
        made(window, page)
        shown = outcome_of(page, title)
        expect(shown).to_contain_text(said)
        expect(shown).to_contain_text("Answered" if answered else "Open")
        verdict = page.get_by_role("region", name="Can these grades be used?")
        if answered:
            expect(verdict).not_to_contain_text("alarm rings.")
            expect(verdict).not_to_contain_text("alarms ring.")
    assert "\n".join(window.found) == ""
