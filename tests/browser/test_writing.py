"""Chromium: a writer writes, three validators check blindly, the requester takes it away."""

import json

import pytest
from django.db import connection
from django.urls import reverse

from annotations import guards, writing
from annotations.models import WrittenProblem
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
    guards.remove(connection)


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
    assert [json.loads(line) for line in lines] == list(writing.export_accepted(world.project))
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
    problem = writing.take(world.project, world.wanda.pk)
    writing.submit(problem, MADE, 2)
    for name in ("vic", "val", "vin"):
        who = world.people[name].pk
        writing.vote(world.project, who, problem.public_id, True, None, "Seven, if some is four.")
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
