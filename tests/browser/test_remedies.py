"""Chromium goes from an alarm, by a button that it offers, to what became of it, and to green."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from playwright.sync_api import expect

from annotations.exchange.importing import import_answers
from annotations.exchange.reading.source import make_bytes_source
from annotations.models import QuestionSet, Share
from evaluation.consensus.parameters import AqerParameters
from evaluation.grading.remedies.report import read_suggested_anchors
from evaluation.models import HumanJudgement, Run
from evaluation.runs.background.runs import queue_run
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.imports import import_model_answers
from tests.browser import crowds_that_ring as crowds
from tests.browser import pages
from tests.browser.working import show_all, work_away

pytestmark = [*pages.pytestmark, pytest.mark.long]

COPIES = "Copied or nearly copied answers"
IN_PART = "A part of the answers is shared word for word"
LEVERAGE = "The ranking depends on one worker"
WITHOUT = "See how it is without their votes"
CAP = "Grade again with a cap on each vote"
LEFT_OUT = "left out"
SILENT = "it is not seen any more"


def equal_camps():
    return crowds.camps(7, 0.75, 0.03)


def two_camps():
    """Eight against six, who are right: the expert takes the side of the smaller camp."""
    return crowds.camps(8, 0.8, 0.03)


def of_smaller_camp(person):
    """What an expert gives an answer of the two camps: 4 or 5 on the right side, else 0 or 1."""
    at = crowds.PEOPLE.index(person)
    return 5 - (at - 8) // 3 if at >= 8 else 1 - at // 4


def of_who_knows(person):
    """What an expert gives an answer of the honest crowd, where the first know the most."""
    return 5 - crowds.PEOPLE.index(person) * 5 // (len(crowds.PEOPLE) - 1)


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
        *("Grade again by words", "Not settled: this run takes the other of the two sides", False),
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
    return worked(queue_run(question_set.latest_version(), owner.pk, asked))


def worked(run):
    while work_one_turn():
        pass
    run.refresh_from_db()
    assert run.state == "done", run.error
    return run


def _file(who, said):
    rows = "".join(f"{name},{what},{text}\n" for (name, what), text in said.items())
    return make_bytes_source("answers.csv", f"{who},question,answer\n{rows}".encode())


@pytest.fixture
def quiet(transactional_db, monkeypatch):
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)


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
    look = list(pages.WINDOWS)[list(WALKS).index(name) % 2]
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
            expect(verdict).not_to_contain_text(re.compile(r"\d alarms?\."))
    assert "\n".join(window.found) == ""


def judge_all(window, said, n, grade):
    """Grade n answers by keys, by who wrote them, which the page does not tell."""
    page, person = window.page, {text: who for (who, _), text in said.items()}
    for number in range(1, n + 1):
        page.wait_for_selector(f"h1:has-text('Answer {number} of {n}')")
        if number == 1:
            window.check("an answer to grade")
        text = page.locator("blockquote").inner_text()
        page.keyboard.press(str(grade(person[" ".join(text.split())])))
    page.wait_for_selector("text=Done, thank you.")


@pytest.mark.parametrize("look", pages.LOOKS)
def test_an_expert_settles_which_camp_won(browser, client, live_server, quiet, look):
    said = two_camps()
    before = graded(said)
    with pages.signed_in(browser, client, live_server.url, "rana", look) as window:
        page = window.page
        window.look("alarms", reverse("admin:results-alarms", args=[before.public_id]))
        show_all(page)
        press(page, "Two camps in the crowd", "link")
        show_all(page)
        press(page, "Settle which camp is right", "link")
        window.check("nothing is asked yet")
        press(page, "Find 6 answers")
        found = made(window, page)
        window.look("answers to grade", reverse("admin:results-anchors", args=[found.public_id]))
        press(page, "Grade them yourself")
        press(page, "Begin", "link")
        judge_all(window, said, 6, of_smaller_camp)
        window.look("graded", reverse("admin:results-anchors", args=[found.public_id]))
        press(page, "Grade again with these anchors")
        settled = made(window, page)
        won, lost = (
            page.get_by_role("region", name="What became of the alarms")
            .get_by_role("listitem")
            .filter(has_text=f"follows {camp}")
            for camp in ("this camp", "the other camp")
        )
        expect(won).to_contain_text("p08")
        expect(won).to_contain_text("Settled by experts: they graded 6 answers")
        expect(lost).to_contain_text("p00")
        for shown in (won, lost):
            expect(shown).to_contain_text("Answered")
        verdict = page.get_by_role("region", name="Can these grades be used?")
        expect(verdict).not_to_contain_text(re.compile("alarms? rings?[.]"))
        window.look("what chose", reverse("admin:results-anchors", args=[settled.public_id]))
        expect(page.get_by_text("This run uses the experts' grades.")).to_be_visible()
    assert "\n".join(window.found) == ""


def settled_camps(said):
    """Return the run of two camps that six graded answers settled."""
    before = graded(said, suggest_anchors=6)
    person = {text: who for (who, _), text in said.items()}
    for response in read_suggested_anchors(before):
        grade = of_smaller_camp(person[response.text])
        HumanJudgement.objects.create(response=response, expert=before.owner, grade=grade)
    asked = AqerParameters(embedder="tfidf-word", bootstrap=50, anchors=True)
    return worked(queue_run(before.version, before.owner_id, asked, made_from=before))


def honest_of_one_length():
    """An honest crowd in which the length of an answer says nothing about its grade."""
    return crowds.with_equal_lengths(crowds.honest())


# The crowd, the run that is to be confirmed, and how the expert grades.
CONFIRMED = {
    "wide-light": (honest_of_one_length, graded, of_who_knows),
    "narrow-dark": (two_camps, settled_camps, of_smaller_camp),
}


@pytest.mark.parametrize("look", pages.LOOKS)
def test_an_expert_s_sample_turns_the_verdict_green(browser, client, live_server, quiet, look):
    crowd, grading, grade = CONFIRMED[look]
    said = crowd()
    run = grading(said)
    ed = User.objects.create_user("ed")
    Share.objects.create(question_set=run.version.question_set, user=ed, role="expert")
    decide, trust = (
        reverse(f"admin:results-{name}", args=[run.public_id]) for name in ("decision", "trust")
    )
    with pages.signed_in(browser, client, live_server.url, "rana", look) as window:
        page = window.page
        window.look("not all is checked", decide)
        verdict = page.get_by_role("region", name="Can these grades be used?")
        expect(verdict).to_contain_text("some checks could not be made")
        page.click("text=Let an expert grade 20 answers")
        page.check("label:text-is('ed')")
        press(page, "Ask them")
        page.wait_for_selector("text=Asked about 20 answers")
        assert window.found == []
    with pages.signed_in(browser, Client(), live_server.url, "ed", look) as window:
        window.look("inbox", reverse("admin:index"))
        window.page.click("a:text-is('Judge')")
        judge_all(window, said, 20, grade)
        assert window.found == []
    with pages.signed_in(browser, client, live_server.url, "rana", look) as window:
        page = window.page
        window.look("trust", trust)
        expect(page.locator(".trust-verdict.trust-good")).to_contain_text("All checks are good.")
        expect(page.locator("#experts.trust-good")).to_contain_text("20 answers drawn at random")
        window.look("green", decide)
        expect(page.locator(".decision-verdict.trust-good")).to_be_visible()
    assert "\n".join(window.found) == ""
