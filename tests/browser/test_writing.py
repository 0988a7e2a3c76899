"""Chromium: a writer writes, validators check blindly, the requester takes it away.

The same for candidate questions with several answers, which a model generated.
"""

import json
import uuid

import pytest
from django.db import connection
from django.urls import reverse

from annotations import guards, writing
from annotations.models import CandidateQuestion, QuestionSet, WrittenProblem
from tests.annotations.writing.conftest import APPLES, MADE, made_world
from tests.browser import pages

pytestmark = [
    pytest.mark.browser,
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore"),  # Playwright's event loop makes Django and asyncio warn
    pytest.mark.django_db(transaction=True),
]


@pytest.fixture
def world(transactional_db):
    """The world of the writing; what is append-only is deleted with the rest at the end."""
    yield made_world()
    guards.drop_triggers(connection)


def refused(window):
    """Look at a page that was answered with 400, which the browser's console says too."""
    window.said.clear()
    window.check("refused")


@pytest.mark.parametrize("look", pages.LOOKS)
def test_a_problem_is_written_checked_three_times_accepted_and_exported(
    browser,
    client,
    live_server,
    world,
    look,
):
    site, question_set = live_server.url, world.version.question_set
    desk = reverse("admin:writing-desk", args=[world.project.public_id])
    overview = reverse("admin:writing", args=[question_set.public_id])

    def as_(who):
        return pages.signed_in(browser, client, site, who, look)

    found = []
    with as_("wanda") as window:
        page = window.page
        window.look("nothing written", desk)
        page.click("text=Take the next question")
        page.wait_for_selector(f"text={APPLES}")
        page.click("text=Hand it in")
        page.wait_for_selector("text=Give the reason why it has no answer.")
        refused(window)
        assert page.input_value("textarea[name=text]") == APPLES
        page.fill("textarea[name=text]", MADE)
        page.check("#id_category_0")
        page.click("text=Save for later")
        page.wait_for_selector("text=Saved.")
        assert page.input_value("textarea[name=text]") == MADE
        page.click("text=Hand it in")
        page.wait_for_selector("text=Handed in.")
        window.check("handed in")
        found += window.found

    def check(who, *keys):
        with as_(who) as window:
            page = window.page
            window.look(f"{who} begins", desk)
            page.click("text=Begin")
            page.wait_for_selector(f"text={MADE}")
            window.check(f"{who} checks")
            said = page.inner_text("main, #content, body")
            assert APPLES not in said
            assert "wanda" not in said
            for key in keys:
                page.keyboard.press(key)
            page.wait_for_selector("text=Nothing waits for you.")
            window.check(f"{who} is done")
            found.extend(window.found)

    # One finds an answer and thinks again: by the keyboard, then on the page of what may change.
    check("vic", "y", "Enter")
    with as_("vic") as window:
        page = window.page
        page.goto(site + desk)
        page.click("a:text-is('Change')")
        page.wait_for_selector("#id_verdict_1:checked")
        page.wait_for_selector("#id_category_0", state="hidden")
        page.keyboard.press("n")
        page.keyboard.press("1")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=it has no answer")
    check("val", "n", "1", "Enter")
    check("vin", "n", "2", "Enter")
    assert WrittenProblem.objects.get().state == "accepted"

    with as_("rana") as window:
        page = window.page
        window.look("overview", overview)
        page.click("a:text-is('1-1')")
        page.wait_for_selector("text=Votes of the validators")
        window.check("problem")
        window.look("settings", reverse("admin:writing-settings", args=[question_set.public_id]))
        window.look("people", reverse("admin:writing-people", args=[question_set.public_id]))
        page.fill("input[name=username]", "wanda")
        page.select_option("form:has(input[name=username]) select[name=role]", "validator")
        page.click("button:text-is('Invite')")
        page.wait_for_selector("text=who writes cannot check")
        refused(window)
        page.goto(site + overview)
        with page.expect_download() as download:
            page.click("text=Export 1 accepted")
        lines = download.value.path().read_text().splitlines()
        found += window.found
    assert [json.loads(line) for line in lines] == list(
        writing.export_accepted_problems(world.project)
    )
    assert json.loads(lines[1])["question"] == MADE
    assert "\n".join(found) == ""


@pytest.mark.parametrize("look", pages.LOOKS)
def test_what_comes_back_says_why_and_empty_pages_are_accessible(
    browser,
    client,
    live_server,
    world,
    look,
):
    problem = writing.take_question(world.project, world.wanda.pk)
    writing.submit_problem(problem, MADE, 2)
    for name in ("vic", "val", "vin"):
        who = world.people[name].pk
        writing.vote_on_problem(
            world.project, who, problem.public_id, True, None, "Seven, if some is four."
        )
    arguments = [world.project.public_id]
    with pages.signed_in(browser, client, live_server.url, "wanda", look) as window:
        window.look("back", reverse("admin:writing-write", args=[*arguments, problem.public_id]))
        said = window.page.inner_text("body")
        assert "Seven, if some is four." in said
        assert "vic" not in said
        window.look("mine", reverse("admin:writing-mine"))
        window.look(
            "give up", reverse("admin:writing-withdraw", args=[*arguments, problem.public_id])
        )
        wrong = window.found
    with pages.signed_in(browser, client, live_server.url, "vito", look) as window:
        window.look("nothing to check", reverse("admin:writing-desk", args=arguments))
        wrong += window.found
    with pages.signed_in(browser, client, live_server.url, "rana", look) as window:
        window.look("nobody writes", reverse("admin:writing-mine"))
        wrong += window.found
    assert "\n".join(wrong) == ""


def candidates(version):
    """Store a filtered, a refused and two sound candidates, as a run does."""
    made = {"source": "seas", "generated_by": "writer (openai:writer@http://localhost)"}
    verified = {"verified_by": "checker (openai:checker@http://localhost)"}
    rows = [
        writing.NewCandidate(
            text="Which sea is salty?", answers=[["Dead Sea"]], state="filtered",
            reason="single_answer", detail="Dead Sea", **made,
        ),
        writing.NewCandidate(
            text="Which seas touch Poland?", answers=[["Baltic Sea"], ["Black Sea"]],
            state="refused", reason="wrong", verdict="wrong", verdict_note="2", **made, **verified,
        ),
        *(
            writing.NewCandidate(
                text=text, answers=[["Baltic Sea"], ["North Sea", "German Ocean"]],
                verdict="right", verdict_note="as every atlas shows", **made, **verified,
            )
            for text in ("Which seas touch Germany?", "Which seas touch Denmark?")
        ),
    ]  # fmt: skip
    return writing.add_candidates(version, uuid.uuid4(), rows)


@pytest.mark.parametrize("look", pages.LOOKS)
def test_candidates_are_accepted_edited_and_added_to_a_set_after_a_preview(
    browser, client, live_server, world, look
):
    world.project.votes_needed = 2
    world.project.save()
    set_id = world.version.question_set.public_id
    overview = reverse("admin:writing-candidates", args=[set_id])
    desk = reverse("admin:writing-desk", args=[world.project.public_id])
    found = []
    with pages.signed_in(browser, client, live_server.url, "rana", look) as window:
        window.look("no candidate", overview)
        window.look("start", reverse("admin:start", args=[set_id, "maqa-questions"]))
        found += window.found
    candidates(world.version)
    for who in ("vic", "val"):
        with pages.signed_in(browser, client, live_server.url, who, look) as window:
            page = window.page
            window.look(f"{who} begins", desk)
            page.click("text=Check candidates")
            page.wait_for_selector("text=Proposed answers")
            window.check(f"{who} checks")
            if who == "vic":
                page.click("button:text-is('Save and go on')")
                page.wait_for_selector("#id_verdict_0[aria-invalid]")
                refused(window)
                page.keyboard.press("e")
                page.fill("textarea[name=answers]", "Baltic Sea\nNorth Sea\nWadden Sea")
                page.click("button:text-is('Save and go on')")
                page.wait_for_selector("text=Saved.")
            for _ in range(2):
                if page.query_selector("text=Proposed answers"):
                    page.keyboard.press("a")
                    page.click("button:text-is('Save and go on')")
                    page.wait_for_selector("text=Saved.")
            window.check(f"{who} is done")
            found += window.found
    assert set(CandidateQuestion.objects.values_list("state", flat=True)) == {
        "filtered", "refused", "accepted",
    }  # fmt: skip
    with pages.signed_in(browser, client, live_server.url, "rana", look) as window:
        page = window.page
        window.look("candidates", overview)
        page.click("tbody th a:text-is('3')")
        page.wait_for_selector("text=Provenance")
        window.check("candidate")
        page.goto(live_server.url + overview)
        page.click("text=Preview the new set")
        page.wait_for_selector("text=Create the set")
        window.check("preview of the set")
        page.fill("input[name=name]", "several seas")
        page.click("text=Create the set")
        page.wait_for_selector("text=2 questions are in the draft of the new set.")
        found += window.found
    made = QuestionSet.objects.get(name="several seas").latest_version()
    counts = sorted(len(row.metadata["answers"]) for row in made.questions.all())
    # The edited one has the third answer.
    assert counts == [2, 3]
    assert "\n".join(found) == ""
