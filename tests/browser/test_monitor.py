"""Chromium: the page of the requester renews itself while a program walks as workers do."""

from decimal import Decimal

import pytest
from django.contrib.auth.models import User

from annotations.models import Collection, Submission
from tests.annotations.answering.conftest import made_set, published
from tests.annotations.answering.walker import Walker
from tests.browser import pages
from tests.evaluation.interim.test_turns import hand_in, work

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # Playwright's event loop makes Django and asyncio warn
    pytest.mark.django_db(transaction=True),
]


@pytest.fixture
def made(live_server):
    owner = User.objects.create_user("rana", is_staff=True, is_superuser=True)
    settings = {"protocol": "recall", "places": 3, "pay": Decimal("2.50"), "currency": "GBP"}
    yield published(made_set(owner), base_url=live_server.url, **settings)
    Walker.close_all()


def address(made):
    return f"/admin/question-sets/{made.version.question_set.public_id}/collecting/"


def flow(page, label):
    """The number above a label among the counts."""
    box = page.locator(".cg-flow > div").filter(has_text=label).first
    return box.locator("strong").inner_text()


@pytest.mark.parametrize("look", pages.LOOKS)
def test_figures_change_without_a_reload_while_somebody_answers(
    browser, client, live_server, made, look
):
    with pages.signed_in(browser, client, live_server.url, "rana", look) as opened:
        page = opened.page
        opened.look("nobody yet", address(made))
        page.get_by_text("No one has agreed to take part yet.").wait_for()
        page.evaluate("window.sameWindow = true")
        ada = Walker(made.link, "ada")
        ada.enter()
        ada.press()
        page.get_by_role("row", name="ada").get_by_text("has agreed, not begun").wait_for()
        ada.press()
        page.get_by_role("row", name="ada").get_by_text("reading passage 1").wait_for()
        assert flow(page, "answering") == "1"
        opened.check("somebody reads")
        ada.walk()
        page.get_by_role("row", name="ada").get_by_text("done", exact=True).wait_for()
        assert flow(page, "answers handed in") == "5"
        page.get_by_text("GBP 2.50 for 1 person").wait_for()
        assert page.evaluate("window.sameWindow") is True
        opened.check("somebody is done")
        assert "\n".join(opened.found) == ""


@pytest.mark.long
def test_the_link_is_copied_by_a_button_and_selected_where_the_browser_forbids_it(
    browser, client, live_server, made
):
    with pages.signed_in(browser, client, live_server.url, "rana", "narrow-dark") as opened:
        page = opened.page
        opened.look("open", address(made))
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        button = page.get_by_role("button", name="Copy the link", exact=True)
        said = page.locator("[data-copy]", has=button).get_by_role("status")
        button.focus()
        page.keyboard.press("Enter")
        said.get_by_text("Copied", exact=True).wait_for()
        assert page.evaluate("navigator.clipboard.readText()") == made.link
        opened.check("copied")
        # Nobody may write to the clipboard, and the old way is gone as well.
        page.evaluate(
            "navigator.clipboard.writeText = () => Promise.reject(new Error('denied'));"
            "document.execCommand = () => false"
        )
        prolific = page.get_by_role("button", name="Copy the study's address for Prolific")
        prolific.focus()
        page.keyboard.press("Space")
        page.get_by_text("Selected: press Ctrl+C to copy").wait_for()
        names = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
        query = "&".join(f"{name}={{{{%{name}%}}}}" for name in names)
        assert page.evaluate("getSelection().toString()") == f"{made.link}?{query}"
        opened.check("selected")
        assert "\n".join(opened.found) == ""


@pytest.mark.long
def test_without_a_network_the_page_says_so_and_goes_on_when_it_is_back(
    browser, client, live_server, made
):
    with pages.signed_in(browser, client, live_server.url, "rana", "narrow-dark") as opened:
        page = opened.page
        opened.look("open", address(made))
        asked = []
        page.route("**/live/*", lambda route: (asked.append(1), route.abort()))
        page.route("**/live/", lambda route: (asked.append(1), route.abort()))
        page.get_by_text("Not reached since").wait_for()
        assert page.locator("[data-live-part=people]").is_visible()  # the old figures stay
        opened.said.clear()
        opened.check("not reached")
        page.unroute("**/live/*")
        page.unroute("**/live/")
        ada = Walker(made.link, "ada")
        ada.enter()
        ada.press()
        page.get_by_role("row", name="ada").wait_for()
        assert page.get_by_text("Not reached since").is_hidden()
        opened.said.clear()
        assert "\n".join(opened.found) == ""


@pytest.mark.long
def test_a_hidden_page_asks_for_nothing_and_asks_at_once_when_it_is_seen_again(
    browser, client, live_server, made
):
    with pages.signed_in(browser, client, live_server.url, "rana", "wide-light") as opened:
        page = opened.page
        opened.look("open", address(made))
        asked = []
        page.on("request", lambda request: "/live/" in request.url and asked.append(request.url))
        hide = (
            "(hidden) => { Object.defineProperty(document, 'hidden', "
            "{ get: () => hidden, configurable: true }); "
            "document.dispatchEvent(new Event('visibilitychange')); }"
        )
        page.evaluate(hide, True)
        page.wait_for_timeout(7000)
        assert asked == []
        page.evaluate(hide, False)
        page.wait_for_timeout(1500)
        assert len(asked) == 1


def test_closing_asks_first_and_another_window_is_told(browser, client, live_server, made):
    with pages.signed_in(browser, client, live_server.url, "rana", "narrow-dark") as opened:
        page = opened.page
        opened.look("open", address(made))
        other = page.context.new_page()
        other.goto(opened.site + address(made))
        ada = Walker(made.link, "ada")
        ada.enter()
        ada.press()
        other.get_by_role("link", name="Close…", exact=True).click()
        other.get_by_text("1 person is answering just now").wait_for()
        assert Collection.objects.get().state == "open"
        other.get_by_role("button", name="Close", exact=True).click()
        other.get_by_text("It is closed: nothing more is taken.").wait_for()
        page.get_by_text("Another user has opened, paused or closed it").wait_for()
        opened.check("closed elsewhere")
        page.get_by_role("button", name="Pause", exact=True).click()
        page.get_by_text("Nothing was changed").wait_for()
        assert Collection.objects.get().state == "closed"
        assert "\n".join(opened.found) == ""


@pytest.mark.long
def test_places_are_added_once_by_two_clicks(browser, client, live_server, made):
    with pages.signed_in(browser, client, live_server.url, "rana", "wide-light") as opened:
        page = opened.page
        opened.look("open", address(made))
        page.get_by_label("More places").fill("4")
        page.get_by_role("button", name="Add places", exact=True).dblclick()
        page.get_by_text("There are 7 places", exact=False).or_(
            page.get_by_text("No places were added")
        ).first.wait_for()
        assert Collection.objects.get().places == 7
        assert not Submission.objects.exists()


@pytest.mark.parametrize("look", pages.LOOKS)
@pytest.mark.long
def test_grades_so_far_appear_when_they_are_done(
    browser, client, live_server, made, look, monkeypatch
):
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    question_set = made.version.question_set
    question_set.language = "de"  # no model has to be loaded
    question_set.save()
    hand_in(made, "ada", "ben", "cleo", "dan", "eve")
    with pages.signed_in(browser, client, live_server.url, "rana", look) as opened:
        page = opened.page
        opened.look("not graded", address(made))
        page.get_by_role("button", name="Grade the answers so far", exact=True).click()
        page.get_by_text("The result will appear here.").wait_for()
        opened.check("being graded")
        work()
        page.get_by_text("Can these grades be used?").wait_for()
        page.get_by_text("10 more people (50 answers)").wait_for()
        page.get_by_role("link", name="Interim, 5 people", exact=True).wait_for()
        opened.check("graded")
        assert "\n".join(opened.found) == ""
