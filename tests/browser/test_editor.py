"""Chromium: a requester writes a set from nothing, moves it about, and publishes it."""

import re

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from annotations.models import QuestionSet
from tests.annotations import world as crowd
from tests.browser import pages

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # Playwright's event loop makes Django and asyncio warn
    pytest.mark.django_db(transaction=True),
]


@pytest.fixture
def rivers(transactional_db, settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    rana = User.objects.create_user("rana", password="rivers", is_staff=True)
    return QuestionSet.objects.create(owner=rana, name="Rivers", language="en")


def saved(page):
    page.wait_for_function(
        "document.querySelector('[data-state]').textContent.startsWith('Saved')", timeout=60_000
    )


def shown(page):
    lists = page.locator("[data-questions]").all()
    return [
        one.locator("[data-item]").evaluate_all("all => all.map(x => x.dataset.name.slice(9))")
        for one in lists
    ]


def tab_to(page, name):
    """Go on by the keyboard alone until something of that name has the focus."""
    for _ in range(150):
        page.keyboard.press("Tab")
        at = page.evaluate(
            "(document.activeElement.getAttribute('aria-label') || document.activeElement.innerText"
            " || document.activeElement.name || '').trim()"
        )
        if at == name:
            return
    raise AssertionError(f"{name} is not reached by the keyboard")


@pytest.mark.parametrize("look", pages.LOOKS)
def test_a_set_is_written_moved_and_published_by_the_keyboard_and_by_dragging(
    browser, client, live_server, rivers, look, tmp_path
):
    picture = tmp_path / "river.png"
    picture.write_bytes(crowd.picture(size=(300, 200)))
    editor = reverse("admin:editor", args=[rivers.public_id])
    with pages.signed_in(browser, client, live_server.url, "rana", look) as window:
        page = window.page
        window.look("nothing", editor)
        tab_to(page, "Begin to write")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=There is no question.")
        window.check("begun")

        tab_to(page, "Edit guidelines and consent")
        page.keyboard.press("Enter")
        page.wait_for_selector("[name=guidelines]")
        tab_to(page, "Insert a template for the consent")
        page.keyboard.press("Enter")
        page.wait_for_function("document.querySelector('[name=consent_text]').value.length > 500")
        page.focus("[name=guidelines]")
        page.keyboard.type("Be **brief**.")
        saved(page)
        window.check("texts")
        tab_to(page, "Back to the editor")
        page.keyboard.press("Enter")
        page.wait_for_selector("strong:text-is('brief')")

        page.click("text=Add a passage")
        page.wait_for_selector("[name=title]")
        page.fill("[name=title]", "The Rhine")
        page.fill("[name=text]", "It begins in the *Alps*.")
        page.set_input_files("[name=picture]", picture)
        page.wait_for_selector("[data-picture]:not([hidden])")
        page.fill("[name=image_alt]", "A river from above.")
        saved(page)
        window.check("passage")
        page.click("text=Save, and add a question")
        page.wait_for_selector("[name=kind]")
        for number, text in enumerate(("Where?", "Which sea?", "How long?"), 1):
            page.fill("[name=text]", text)
            if number == 2:
                page.select_option("[name=kind]", "choice")
                page.fill("[name=choices_text]", "North Sea\nBaltic Sea")
                window.check("question")
            page.click("text=Save, and add a question")
            page.wait_for_function("document.querySelector('[name=text]').value === ''")
        page.select_option("[name=role]", "practice")
        page.select_option("[name=passage]", "")
        page.fill("[name=text]", "What colour is it?")
        page.fill("[name=feedback]", "Blue.")
        page.click("button:text-is('Save')")
        page.wait_for_selector("text=Ready to publish")
        window.check("outline")
        preview = reverse("admin:editor-preview", args=[rivers.public_id])
        for step in range(1, 9):
            window.look(f"preview {step}", f"{preview}?step={step}")
        for beside in ("data", "withdraw", "no_consent"):
            window.look(f"preview {beside}", f"{preview}?step=4&beside={beside}")
        window.look("outline again", editor)
        assert shown(page) == [["q1", "q2", "q3"], ["q4"]]

        tab_to(page, "Move question q3 up")
        page.keyboard.press("Enter")
        page.wait_for_function("document.querySelector('p[data-state]').textContent.includes('2')")
        assert page.inner_text("p[data-state]") == "Question q3 moved: 2 of 3."
        # The focus stays, so that one can go on.
        page.keyboard.press("Enter")
        page.wait_for_function(
            "document.querySelector('p[data-state]').textContent.includes(' 1 ')"
        )
        page.reload()
        assert shown(page) == [["q3", "q1", "q2"], ["q4"]]

        page.locator("[data-name='Question q4']").scroll_into_view_if_needed()
        handle = page.locator("[data-name='Question q1'] [data-handle]").bounding_box()
        there = page.locator("[data-name='Question q4']").bounding_box()
        if handle["y"] < 0:
            pytest.fail("both ends of the way fit into the window")
        page.mouse.move(handle["x"] + 8, handle["y"] + 8)
        page.mouse.down()
        page.mouse.move(there["x"] + 60, there["y"] + there["height"] - 3, steps=12)
        page.mouse.up()
        page.wait_for_function(
            "document.querySelector('p[data-state]').textContent.includes('of 2')"
        )
        page.reload()
        assert shown(page) == [["q3", "q2"], ["q4", "q1"]]

        page.click("text=Publish version 1")
        page.wait_for_selector("text=its wording stays")
        window.look("published", editor)
        page.click("text=Open version 2")
        page.wait_for_selector("text=Ready to publish")
        page.click("[aria-label='Edit question q1']")
        page.fill("[name=text]", "Where does it begin?")
        page.click("button:text-is('Save')")
        page.wait_for_selector("text=Passages and questions")
        window.look("changes", reverse("admin:editor-changes", args=[rivers.public_id]))
        assert "does it begin" in page.inner_text("ins >> nth=0")
        assert "\n".join(window.found) == ""


@pytest.mark.long
def test_what_is_typed_survives_the_end_of_the_session_and_comes_back(
    browser, client, live_server, rivers
):
    draft = rivers.draft()
    question = crowd.Question.objects.create(version=draft, external_id="q1", text="Where?")
    there = reverse("admin:editor-question", args=[rivers.public_id, question.public_id])
    with pages.signed_in(browser, client, live_server.url, "rana", "wide-light") as window:
        page = window.page
        window.look("question", there)
        cookies = page.context.cookies()
        page.context.clear_cookies()
        page.fill("[name=text]", "Where does it begin?")
        page.wait_for_selector("text=Not saved: you are logged out")
        question.refresh_from_db()
        assert question.text == "Where?"
        # Logged in anew, in another tab: the form is still there, and goes through.
        page.context.add_cookies(cookies)
        page.fill("[name=text]", "Where does it really begin?")
        saved(page)
        question.refresh_from_db()
        assert question.text == "Where does it really begin?"
        # Without a network, and the page closed: what was typed is back when it is opened again.
        page.context.set_offline(True)
        page.fill("[name=text]", "Typed on a train")
        page.wait_for_selector("text=the server cannot be reached")
        page.context.set_offline(False)
        page.on("dialog", lambda dialog: dialog.accept())
        page.goto(live_server.url + there)
        assert page.input_value("[name=text]") == "Typed on a train"
        saved(page)
        question.refresh_from_db()
        assert question.text == "Typed on a train"


def test_without_a_script_everything_is_a_form(browser, client, live_server, rivers):
    client.force_login(rivers.owner)
    context = browser.new_context(java_script_enabled=False)
    cookie = client.cookies["sessionid"].value
    context.add_cookies([{"name": "sessionid", "value": cookie, "url": live_server.url}])
    page = context.new_page()
    page.goto(live_server.url + reverse("admin:editor", args=[rivers.public_id]))
    page.click("text=Begin to write")
    for text in ("Where?", "Why?"):
        page.click("a:text-is('Add a question')")
        page.fill("[name=text]", text)
        page.click("button:text-is('Save')")
    page.click("[aria-label='Move question q2 up']")
    order = re.findall(r'data-name="Question (q\d)"', page.content())
    assert order == ["q2", "q1"]
    context.close()
