"""Chromium: how an answer comes about is counted right, once, and no text leaves by it."""

import json
import re
from urllib.parse import parse_qsl

import pytest

from annotations.models import COUNTERS, OtherText, Response, Submission
from tests.annotations.answering.conftest import made_set, published
from tests.browser import pages
from tests.browser.test_answering import address, dies, saved, window

pytestmark = [
    pytest.mark.browser,
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore"),  # Playwright's event loop makes Django and asyncio warn
    pytest.mark.django_db(transaction=True),
]
PASTED = "Gravity of the moon raises the sea."
LEAVE = "window.dispatchEvent(new Event('blur'))"
COME_BACK = "window.dispatchEvent(new Event('focus'))"


@pytest.fixture
def book(django_user_model):
    """One question a person, the passage beside it."""
    owner = django_user_model.objects.create_user("rana", is_staff=True)
    return published(made_set(owner), protocol="open", questions_per_worker=1)


def to_question(opened, made, worker="ada", uncounted=False):
    page = opened.page
    page.goto(opened.site + address(made, worker))
    if page.locator("textarea").count() == 0:
        page.get_by_role("checkbox", name="I have read this").check()
        if uncounted:
            page.get_by_role("checkbox", name="Do not count how I type").check()
        page.get_by_role("button", name="Begin", exact=True).click()
    page.wait_for_selector("textarea")
    page.wait_for_load_state("load")  # what is typed before the script has come is not counted
    return page


def box(page):
    return page.locator("textarea").first


def paste(page, text=PASTED):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("text => navigator.clipboard.writeText(text)", text)
    box(page).press("Control+v")


def to_the_end(page):
    """Send the page and hand in; what was counted last comes with the form."""
    for word in ("review", "thanks"):
        page.locator("main form button").first.click()
        page.wait_for_url(f"**/{word}/")


def found(*names):
    response = Response.objects.get()
    return tuple(getattr(response, name) for name in names)


TEXT_COUNTERS = COUNTERS[:5]


def test_typing_and_correcting_is_counted_and_no_paste(browser, live_server, book):
    with window(browser, live_server.url) as opened:
        page = to_question(opened, book)
        box(page).press_sequentially("northh")
        box(page).press("Backspace")
        box(page).press("Enter")
        to_the_end(page)
    assert found("text", "signals", *TEXT_COUNTERS) == ("north\n", "counted", 0, 0, 8, 7, 1)
    assert found("blur_count", "away_seconds") == (0, 0)


def test_a_paste_counts_its_characters_and_over_a_selection_what_went(browser, live_server, book):
    with window(browser, live_server.url) as opened:
        page = to_question(opened, book)
        box(page).press_sequentially("abc")
        paste(page)
        box(page).press("Control+a")
        paste(page, "two words \U0001f30a")  # a wave is one character, though two units of UTF-16
        to_the_end(page)
    assert found("text") == ("two words \U0001f30a",)
    # 35 and 11 characters; 3 + 35 were replaced.
    assert found(*TEXT_COUNTERS) == (2, len(PASTED) + 11, 3, 3, 3 + len(PASTED))


def test_own_words_that_are_cut_and_put_elsewhere_are_no_paste(browser, live_server, book):
    with window(browser, live_server.url) as opened:
        page = to_question(opened, book)
        box(page).press_sequentially("second first ")
        for _ in range(6):
            box(page).press("Shift+ArrowLeft")
        box(page).press("Control+x")
        box(page).press("Home")
        box(page).press("Control+v")
        to_the_end(page)
    assert found("text") == ("first second ",)
    assert found("paste_count", "pasted_characters", "typed_characters") == (0, 0, 13)


def test_a_text_that_is_dragged_into_the_box_is_a_paste(browser, live_server, book):
    with window(browser, live_server.url) as opened:
        page = to_question(opened, book)
        passage = page.locator(".passage .text")
        passage.evaluate("node => getSelection().selectAllChildren(node)")
        words = passage.inner_text().strip()
        spot, there = passage.bounding_box(), box(page).bounding_box()
        page.mouse.move(spot["x"] + 20, spot["y"] + 10)
        page.mouse.down()
        page.mouse.move(there["x"] + 30, there["y"] + 20, steps=6)
        page.mouse.up()
        assert box(page).input_value().strip() == words
        to_the_end(page)
    assert found("paste_count", "typed_characters", "keystrokes") == (1, 0, 0)
    assert found("pasted_characters")[0] >= len(words)


def test_a_word_that_is_put_together_counts_by_what_it_is_in_the_end(browser, live_server, book):
    with window(browser, live_server.url) as opened:
        page = to_question(opened, book)
        box(page).focus()
        keyboard = page.context.new_cdp_session(page)
        for part in ("n", "ni", "ni h", "ni ha", "ni hao"):
            shown = {"text": part, "selectionStart": len(part), "selectionEnd": len(part)}
            keyboard.send("Input.imeSetComposition", shown)
        keyboard.send("Input.insertText", {"text": "你好"})
        saved(page)
        assert found("text", "typed_characters", "deleted_characters") == ("你好", 2, 0)
        assert found("keystrokes")[0] >= 5
        assert found("paste_count") == (0,)


def test_what_is_dictated_or_suggested_on_a_telephone_is_typed(browser, live_server, book):
    with window(browser, live_server.url, "narrow-dark", has_touch=True) as opened:
        page = to_question(opened, book)
        box(page).tap()
        page.keyboard.insert_text("A whole phrase at once. ")
        page.keyboard.insert_text("And another.")
        to_the_end(page)
    assert found(*TEXT_COUNTERS) == (0, 0, 2, 36, 0)


def test_a_text_put_in_by_a_program_is_neither_typed_nor_pasted(browser, live_server, book):
    with window(browser, live_server.url) as opened:
        page = to_question(opened, book)
        # As an extension of the browser does it.
        box(page).evaluate("node => { node.value = 'north'; }")
        box(page).evaluate("node => node.dispatchEvent(new Event('input', {bubbles: true}))")
        to_the_end(page)
    assert found("text", *TEXT_COUNTERS) == ("north", 0, 0, 0, 0, 0)


def test_leaving_the_page_counts_once_with_the_time_away_and_going_on_is_no_leaving(
    browser, live_server, book
):
    with window(browser, live_server.url) as opened:
        page = to_question(opened, book)
        box(page).press_sequentially("nor")
        page.evaluate(LEAVE)
        page.evaluate(LEAVE)  # the window and the tab say so each
        page.wait_for_timeout(1300)
        page.evaluate(COME_BACK)
        box(page).press_sequentially("th")
        to_the_end(page)
    blurs, away, active = found("blur_count", "away_seconds", "active_seconds")
    assert blurs == 1
    assert 1 <= away <= 10
    # What was away was not active.
    assert active <= 10


def test_active_time_is_not_the_time_that_the_page_was_open(browser, live_server, book):
    with window(browser, live_server.url) as opened:
        opened.page.clock.install()
        page = to_question(opened, book)
        box(page).press_sequentially("nor")
        page.clock.fast_forward(20_000)  # thinking: still within 30 s of the last key
        box(page).press_sequentially("t")
        page.clock.fast_forward(600_000)  # lunch, with the page in front: 30 s of it count
        box(page).press_sequentially("h")
        page.clock.resume()
        to_the_end(page)
    (active,) = found("active_seconds")
    assert 50 <= active < 90  # 20 + 30 and what the test took


def test_two_tabs_add_up_and_nothing_counts_twice(browser, live_server, book):
    with window(browser, live_server.url) as opened:
        one = to_question(opened, book)
        box(one).press_sequentially("north")
        saved(one)
        two = one.context.new_page()
        two.goto(one.url)
        box(two).press("Control+End")
        box(two).press_sequentially(" pole")
        saved(two)
        assert found("text", "typed_characters", "keystrokes") == ("north pole", 10, 10)
        # A page that is loaded anew counts from 0, and adds nothing by that.
        two.reload()
        to_the_end(two)
    assert found("text", "typed_characters", "keystrokes") == ("north pole", 10, 10)
    assert not OtherText.objects.exists()


def test_a_network_that_fails_before_and_after_the_server_counts_nothing_twice(
    browser, live_server, book
):
    with window(browser, live_server.url) as opened:
        page = to_question(opened, book)
        lost = []

        def stored_but_not_heard(route):
            if route.request.method != "POST" or len(lost) >= 2:
                route.continue_()
                return
            lost.append(route.fetch().status)  # the server took it; its answer never comes
            route.abort()

        page.route("**/draft/", stored_but_not_heard)
        box(page).press_sequentially("north")
        page.wait_for_selector("text=Not saved yet")
        box(page).press_sequentially(" pole")
        saved(page)
        assert len(lost) == 2
        assert found("text", "typed_characters", "keystrokes") == ("north pole", 10, 10)
        page.context.set_offline(True)
        box(page).press_sequentially("!")
        page.wait_for_selector("text=Not saved yet")
        page.context.set_offline(False)
        saved(page)
        to_the_end(page)
    assert found("text", "typed_characters", "keystrokes") == ("north pole!", 11, 11)


def test_counts_of_a_text_that_could_not_be_sent_come_back_with_it(browser, live_server, book):
    with window(browser, live_server.url) as opened:
        page, context = to_question(opened, book), opened.page.context
        context.set_offline(True)
        box(page).press_sequentially("nor")
        page.wait_for_selector("text=Not saved yet")
        here = page.url
        kept = page.evaluate("Object.entries(localStorage)")
        assert any('"keystrokes":3' in value for _, value in kept)
        dies(page)
        again = context.new_page()
        context.set_offline(False)
        again.goto(here)
        saved(again)
        box(again).press("Control+End")
        box(again).press_sequentially("th")
        saved(again)
    assert found("text", "typed_characters", "keystrokes") == ("north", 5, 5)


def watch(page):
    """Collect every form and draft that leaves the page."""
    bodies = []
    page.context.on(
        "request", lambda r: bodies.append(r.post_data or "") if r.method == "POST" else None
    )
    return bodies


def test_no_text_leaves_by_the_counts(browser, live_server, book):
    secret, own = "zebra-secret", "quartz"
    with window(browser, live_server.url) as opened:
        page = to_question(opened, book)
        bodies = watch(page)
        box(page).press_sequentially(own)
        paste(page, secret)
        box(page).press("Control+a")
        box(page).press("Control+x")  # nothing of it is in the answer any more
        box(page).press_sequentially("north")
        page.wait_for_timeout(1500)
        to_the_end(page)
    sent = [
        (name, value)
        for body in bodies
        for name, value in parse_qsl(body)
        if name.startswith("signals")
    ]
    assert {name.partition("-")[0] for name, _ in sent} == {"signals"}
    assert any("-" in name for name, _ in sent)  # with the form, too
    for _, value in sent:
        for name, counts in json.loads(value).items():
            assert re.fullmatch("[0-9a-f]{32}", name)
            assert counts.keys() == set(COUNTERS)
            assert all(type(number) is int and number >= 0 for number in counts.values())
    for body in bodies:
        for name, value in parse_qsl(body):
            if name != "text" and not name.startswith("answer-"):
                assert not any(word in value for word in (secret, own, "north")), name
    assert found("text", "pasted_characters") == ("north", len(secret))


def test_who_uses_assistive_technology_sends_none_and_answers_the_same(browser, live_server, book):
    with window(browser, live_server.url) as opened:
        page = to_question(opened, book, uncounted=True)
        bodies, scripts = watch(page), page.locator("script[src*='signals']").count()
        box(page).press_sequentially("north")
        saved(page)
        to_the_end(page)
        assert scripts == 0
        assert bodies
        assert not any("signals" in body for body in bodies)
    assert found("text", "state", "signals", "typed_characters") == (
        "north",
        "submitted",
        "off",
        None,
    )


def section(page, name):
    """One part of the page of data: each has a form and a button of its own."""
    return page.get_by_role("region", name=name)


def test_switched_off_on_the_own_page_an_open_page_stops_sending(browser, live_server, book):
    with window(browser, live_server.url) as opened:
        page = to_question(opened, book)
        box(page).press_sequentially("nor")
        saved(page)
        assert found("typed_characters") == (3,)
        other = page.context.new_page()
        other.goto(page.url)
        other.get_by_role("link", name="What is my data used for?").click()
        other.get_by_text("Characters typed: 3").wait_for()
        other.get_by_role("checkbox", name="Do not count how I type").check()
        section(other, "How you write: what is counted").get_by_role("button", name="Save").click()
        other.get_by_text("what was counted is deleted").wait_for()
        box(page).press_sequentially("t")
        page.wait_for_timeout(1500)
        bodies = watch(page)
        box(page).press_sequentially("h")
        page.wait_for_timeout(1500)
        assert bodies
        assert not any("signals" in body for body in bodies)
        to_the_end(page)
    assert found("text", "signals", "typed_characters") == ("north", "off", None)


@pytest.mark.parametrize("look", pages.LOOKS)
def test_the_pages_that_tell_of_it_have_no_fault(browser, live_server, book, look):
    with window(browser, live_server.url, look) as opened:
        page = opened.page
        page.goto(opened.site + address(book))
        opened.check("consent")
        page = to_question(opened, book)
        box(page).press_sequentially("north")
        saved(page)
        for uncounted in (False, True):
            page.get_by_role("link", name="What is my data used for?").click()
            page.wait_for_url("**/data/**")
            opened.check(f"data, {uncounted}")
            page.get_by_role("checkbox", name="Do not count how I type").set_checked(not uncounted)
            section(page, "How you write: what is counted").get_by_role("button").click()
            page.wait_for_url("**set=yes**")
            opened.check(f"data, set, {uncounted}")
        for used in (True, False):
            part = section(page, "Assistive technology")
            part.get_by_role("checkbox").set_checked(used)
            part.get_by_role("button").click()
            page.get_by_text("It is stored that" if used else "It is not stored that").wait_for()
            opened.check(f"data, assistive, {used}")
        assert "\n".join(opened.found) == ""


def test_a_page_that_counts_is_as_small_and_a_long_text_is_counted_too(browser, live_server, book):
    with window(browser, live_server.url) as opened:
        sizes = {}
        opened.page.on("response", lambda r: sizes.update({r.url: len(r.body())}))
        page = to_question(opened, book)
        sizes.clear()
        page.reload()
        page.wait_for_load_state("networkidle")
        assert any("signals" in url for url in sizes)
        assert 1000 < sum(sizes.values()) < 60_000, sizes
        box(page).fill("word " * 20_000)
        box(page).press("End")
        box(page).press_sequentially("still counted")
        kept = page.evaluate("Object.values(localStorage)[0]")
        assert json.loads(kept)["pages"].popitem()[1]["typed_characters"] >= len("still counted")
    assert Submission.objects.count() == 1
