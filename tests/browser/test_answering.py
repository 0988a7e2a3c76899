"""Chromium: people answer, on telephones and laptops, and whatever happens nothing is lost."""

import contextlib

import pytest

from annotations.answering import collecting
from annotations.models import OtherText, Response, Submission
from tests.annotations.answering.conftest import made_set, published
from tests.annotations.answering.test_checks import with_checks
from tests.browser import pages

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # Playwright's event loop makes Django and asyncio warn
    pytest.mark.django_db(transaction=True),
]
TEXT = "The moon pulls the water, and the shore feels it twice a day."


@pytest.fixture
def tides(django_user_model):
    return made_set(django_user_model.objects.create_user("rana", is_staff=True))


@pytest.fixture
def book(tides):
    """Open book: questions come at once, all of a passage on one page."""
    return published(tides, protocol="open")


# As a page leaves a text that it could not send.
KEEP_HERE = """text => {
    const form = document.querySelector("form[data-draft]");
    const [revision] = form.querySelectorAll("[name^=revision-]");
    const key = `draft ${form.dataset.draft} ${revision.name.slice("revision-".length)}`;
    localStorage.setItem(key, JSON.stringify({ text, revision: revision.value }));
}"""


@contextlib.contextmanager
def window(browser, site, look="wide-light", **how):
    """A browser of its own: no cookie and no storage of another."""
    width, scheme = pages.WINDOWS[look]
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, **how
    )
    yield pages.Inspector(context, site)
    context.close()


def address(made, worker="ada"):
    return f"/answer/{made.collection.public_id}/?PROLIFIC_PID={worker}"


def to_questions(opened, made, worker="ada"):
    """Open the link, agree, and go on to the first page of questions."""
    page = opened.page
    page.goto(opened.site + address(made, worker))
    if page.locator("textarea").count() == 0:
        agree(page)
    page.wait_for_selector("textarea")
    page.wait_for_load_state("load")
    return page


def agree(page):
    for box in page.locator("main input[type=checkbox]").all():
        box.check()
    page.locator("main form button").first.click()


def script_held_back(page):
    """The page comes without the script that saves; return where its request waits."""
    held = []

    def hold(route):
        held.append(route)

    page.route("**/drafts*.js", hold)
    return held


def saved(page):
    page.get_by_text("Saved.", exact=True).wait_for()


def dies(page):
    """The telephone dies: unlike a tab that is closed, the page cannot send anything more."""
    with contextlib.suppress(Exception):
        page.goto("chrome://crash")
    page.close()


def go_on(page):
    """Tick and fill in what the page has, and press its first button."""
    for box in page.locator("main input[type=checkbox]").all():
        box.check()
    for area in page.locator("main textarea").all():
        area.fill(TEXT)
    with page.expect_navigation():
        page.locator("main form button").first.click()


@pytest.mark.parametrize("look", pages.LOOKS)
def test_the_whole_way_from_the_link_to_the_code(browser, live_server, tides, look):
    made = published(tides, protocol="recall")
    with window(browser, live_server.url, look) as opened:
        page = opened.page
        page.goto(opened.site + address(made))
        for number in range(20):
            opened.check(f"step {number}: {page.title()}")
            if page.locator("#completion-code").count():
                break
            go_on(page)
        assert page.locator("#completion-code").inner_text() == made.collection.code_done
        page.goto(opened.site + address(made))  # the same link again
        opened.check("done before")
        assert page.locator("#completion-code").inner_text() == made.collection.code_done
        for name in ("data", "withdraw"):
            page.locator(f"footer a[href*='/{name}/']").first.click()
            page.wait_for_url(f"**/{name}/")
            opened.check(name)
        page.goto(opened.site + address(made, worker=""))
        assert page.locator("main form").count() == 0
        found = [one for one in opened.found if "400" not in one]  # the console names the answer
        assert "\n".join(found) == ""
    assert Submission.objects.get().state == "submitted"
    assert set(Response.objects.values_list("text", "state")) == {(TEXT, "submitted")}


@pytest.mark.parametrize("look", pages.LOOKS)
@pytest.mark.long
def test_who_fails_the_attention_checks_is_told_so_in_plain_words_and_ends_with_that_code(
    browser, live_server, tides, look
):
    made = published(with_checks(tides), protocol="open", checks_needed=2)
    with window(browser, live_server.url, look) as opened:
        page = opened.page
        page.goto(opened.site + address(made))
        for _ in range(20):
            if page.locator("#completion-code").count():
                break
            go_on(page)
        opened.check("thanks of who failed the checks")
        assert page.locator("#completion-code").inner_text() == made.collection.code_failed_checks
        assert made.collection.code_failed_checks in page.locator("a.button").get_attribute("href")
        assert page.get_by_text("Nothing is decided by it.").is_visible()
        assert "\n".join(opened.found) == ""
    assert Submission.objects.get().failed_checks
    assert set(Response.objects.values_list("text", "state")) == {(TEXT, "submitted")}


def test_what_is_typed_is_saved_without_a_button_and_there_on_another_device(
    browser, live_server, book
):
    with window(browser, live_server.url) as laptop:
        page = to_questions(laptop, book)
        page.locator("textarea").first.press_sequentially(TEXT[:20])
        saved(page)
        assert Response.objects.get().text == TEXT[:20]
        assert Response.objects.get().state == "draft"
    with window(browser, live_server.url, "narrow-dark") as phone:
        page = to_questions(phone, book)
        assert page.locator("textarea").first.input_value() == TEXT[:20]
        page.locator("textarea").first.press("Control+End")
        page.locator("textarea").first.press_sequentially(TEXT[20:])
        saved(page)
    assert Response.objects.get().text == TEXT


@pytest.mark.long
def test_what_is_typed_before_the_script_has_come_is_saved_too(browser, live_server, book):
    with window(browser, live_server.url) as opened:
        page = opened.page
        held = script_held_back(page)
        page.goto(opened.site + address(book))
        agree(page)
        area = page.locator("textarea").first
        area.press_sequentially("north")
        held[0].continue_()
        saved(page)
        assert Response.objects.get().text == "north"
        page.unroute("**/drafts*.js")
        page.reload()  # what the page then comes with is stored: nothing is sent, nothing said
        page.wait_for_load_state("load")
        assert area.input_value() == "north"
        assert page.get_by_text("Saving", exact=False).count() == 0


@pytest.mark.long
def test_a_text_typed_before_the_script_does_not_give_way_to_one_kept_here(
    browser, live_server, book
):
    with window(browser, live_server.url) as opened:
        page = to_questions(opened, book)
        page.evaluate(KEEP_HERE, "kept")
        held = script_held_back(page)
        page.reload(wait_until="commit")
        page.locator("textarea").first.press_sequentially("typed")
        held[0].continue_()
        saved(page)
        assert Response.objects.get().text == "typed"
        assert page.locator(".other .kept").inner_text() == "kept"


def test_saved_is_not_said_before_the_server_said_so(browser, live_server, book):
    with window(browser, live_server.url) as opened:
        page = to_questions(opened, book)
        page.route("**/draft/", lambda route: route.abort())
        page.locator("textarea").first.press_sequentially("north")
        page.wait_for_selector("text=Not saved yet: there is no connection")
        assert page.locator("text='Saved.'").count() == 0
        opened.said.clear()
        opened.check("no connection")
        assert "\n".join(opened.found) == ""
        page.unroute("**/draft/")
        saved(page)
    assert Response.objects.get().text == "north"


def test_a_server_that_breaks_while_somebody_types_loses_nothing(browser, live_server, book):
    with window(browser, live_server.url) as opened:
        page = to_questions(opened, book)
        page.route("**/draft/", lambda route: route.fulfill(status=503, body="busy"))
        page.locator("textarea").first.press_sequentially("north")
        page.wait_for_selector("text=Not saved yet")
        page.locator("main form button").first.click()
        page.wait_for_selector("text=Not sent: there is no connection")
        assert page.locator("textarea").first.input_value() == "north"
        page.unroute("**/draft/")
        saved(page)
    assert Response.objects.get().text == "north"


@pytest.mark.long
def test_a_text_typed_without_a_network_is_back_when_the_page_is_opened_again(
    browser, live_server, book
):
    with window(browser, live_server.url) as opened:
        page, context = to_questions(opened, book), opened.page.context
        context.set_offline(True)
        page.locator("textarea").first.press_sequentially(TEXT)
        page.wait_for_selector("text=Not saved yet")
        here = page.url
        dies(page)
        assert Response.objects.count() == 0
        again = context.new_page()
        context.set_offline(False)
        again.goto(here)
        again.wait_for_selector("text=A text that could not be saved before is back.")
        assert again.locator("textarea").first.input_value() == TEXT
        saved(again)
    assert Response.objects.get().text == TEXT


def test_a_tab_that_is_closed_without_a_network_loses_nothing(browser, live_server, book):
    """A page that is closed sends once more: whether that arrives or not, the text is there."""
    with window(browser, live_server.url) as opened:
        page, context = to_questions(opened, book), opened.page.context
        context.set_offline(True)
        page.locator("textarea").first.press_sequentially(TEXT)
        page.wait_for_selector("text=Not saved yet")
        here = page.url
        page.close()
        again = context.new_page()
        context.set_offline(False)
        again.goto(here)
        area = again.locator("textarea").first
        holds = "text => document.querySelector('textarea').value === text"
        again.wait_for_function(holds, arg=TEXT)
        area.press("End")
        area.press_sequentially(" Always.")
        saved(again)
    assert Response.objects.get().text == f"{TEXT} Always."


@pytest.mark.long
def test_no_cookie_is_needed_to_go_on_typing(browser, live_server, book):
    with window(browser, live_server.url) as opened:
        page = to_questions(opened, book)
        page.locator("textarea").first.press_sequentially("nor")
        saved(page)
        page.context.clear_cookies()  # a session that ended, a token that expired
        page.locator("textarea").first.press_sequentially("th")
        saved(page)
        assert Response.objects.get().text == "north"
        page.locator("main form button").nth(1).click()  # save for later
        page.wait_for_selector("text=Saved. You can close this page")
        assert page.locator("textarea").first.input_value() == "north"


def test_of_two_windows_nobody_loses_a_text(browser, live_server, book):
    with window(browser, live_server.url) as first, window(browser, live_server.url) as second:
        one, two = to_questions(first, book), to_questions(second, book)
        one.locator("textarea").first.press_sequentially("from the laptop")
        saved(one)
        two.locator("textarea").first.press_sequentially("from the telephone")
        two.wait_for_selector("text=You wrote another text in another window")
        assert "from the laptop" in two.locator(".other").inner_text()
        second.said.clear()  # Chromium names every answer that is no 200
        second.check("two texts")
        assert "\n".join(second.found) == ""
        assert Response.objects.get().text == "from the laptop"
        assert OtherText.objects.get().text == "from the telephone"
        two.locator("text=Use this text").click()
        assert two.locator("textarea").first.input_value() == "from the laptop"
        assert "from the telephone" in two.locator(".other").inner_text()
        saved(two)
        two.locator("textarea").first.press_sequentially(", chosen")
        saved(two)
    assert Response.objects.get().text == "from the laptop, chosen"


@pytest.mark.long
def test_typing_on_while_a_page_is_handed_in_makes_no_second_text(browser, live_server, book):
    with window(browser, live_server.url) as opened:
        page = to_questions(opened, book)
        for area in page.locator("textarea").all():
            area.press_sequentially("north", delay=1)
        page.locator("main form button").first.dblclick()  # a draft is still under way
        page.wait_for_url("**/page/2/")
    assert OtherText.objects.count() == 0
    assert set(Response.objects.values_list("text", flat=True)) == {"north"}


@pytest.mark.long
def test_what_comes_after_closing_is_kept_and_told(browser, live_server, book):
    with window(browser, live_server.url) as opened:
        page = to_questions(opened, book)
        collecting.set_collection_state(book.collection, "closed")
        page.locator("textarea").first.press_sequentially("north")
        page.wait_for_selector("text=This can no longer be handed in. Your text is still here.")
        assert page.locator("textarea").first.input_value() == "north"
    assert Response.objects.get().text == "north"


def test_the_keyboard_alone_is_enough(browser, live_server, book):
    with window(browser, live_server.url) as opened:
        page = opened.page
        page.goto(opened.site + address(book))
        for _ in range(200):
            if page.locator("#completion-code").count():
                break
            page.keyboard.press("Tab")
            kind = page.evaluate(
                "[document.activeElement.tagName, document.activeElement.type || '',"
                " document.activeElement.checked || false,"
                " !!document.activeElement.closest('main form')]"
            )
            if kind[:2] == ["INPUT", "checkbox"] and not kind[2]:
                page.keyboard.press("Space")
            elif kind[0] == "TEXTAREA" and not page.evaluate("document.activeElement.value"):
                page.keyboard.type("north")
            elif kind[0] == "BUTTON" and kind[3]:
                here = page.url
                page.keyboard.press("Enter")
                page.wait_for_url(lambda url, here=here: url != here)
        assert page.locator("#completion-code").inner_text() == book.collection.code_done


def test_without_scripts_the_way_is_the_same(browser, live_server, book):
    with window(browser, live_server.url, java_script_enabled=False) as opened:
        page = to_questions(opened, book)
        for _ in range(10):
            if page.locator("#completion-code").count():
                break
            for area in page.locator("main textarea").all():
                area.fill("north")
            page.locator("main form button").first.click()
        assert page.locator("#completion-code").inner_text() == book.collection.code_done


@pytest.mark.long
def test_a_page_is_small_and_twice_as_large_letters_fit(browser, live_server, book):
    with window(browser, live_server.url) as opened:
        sizes = {}
        opened.page.on("response", lambda r: sizes.update({r.url: len(r.body())}))
        page = to_questions(opened, book)
        sizes.clear()
        page.reload()
        page.wait_for_load_state("networkidle")
        assert 1000 < sum(sizes.values()) < 60_000, sizes
        page.set_viewport_size({"width": 640, "height": 400})  # 1280 pixels at 200%
        opened.check("200%")
        page.set_viewport_size({"width": 320, "height": 600})
        opened.check("320 pixels")
        assert "\n".join(opened.found) == ""
