"""Chromium: facts on the demo's pages, for who sees, who hears and who cannot tell colours."""

import re

import pytest
from django.urls import reverse

from annotations.models import Worker
from crowdgrade import demo
from evaluation.models import AnswerFact, LanguageModel
from tests.browser import pages

pytestmark = [
    pytest.mark.browser,
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore"),  # Playwright's event loop makes Django and asyncio warn
]


@pytest.mark.parametrize("look", pages.LOOKS)
def test_the_demo_shows_what_its_crowd_agrees_on_and_who_contradicts_it(
    world, client, browser, live_server, look
):
    against = AnswerFact.objects.filter(run=world, verdict="contradicts")
    of = {"run": world.public_id}
    yusuf = Worker.objects.get(external_id="Yusuf").public_id
    tides = world.version.questions.get(external_id="tides-3").public_id
    assert against.filter(
        question__public_id=tides, response__submission__worker__public_id=yusuf
    ).exists()
    with pages.signed_in(browser, client, live_server.url, demo.USERNAME, look) as inspector:
        page = inspector.page

        def look_at(name, **ids):
            inspector.look(name, reverse(f"admin:results-{name}", kwargs={**of, **ids}))
            button = page.get_by_role("button", name="Show all", exact=True)
            if button.count():
                button.click()
                inspector.check(f"{name}, all of it")

        look_at("question", question=tides)
        assert page.locator("[data-facts=agreed]").is_visible()
        card = page.locator("#answers li").filter(has=page.get_by_role("link", name="Yusuf"))
        # "12 hours and 50 minutes" where the others say 25.
        mark = card.locator("mark.fact-contradicts").first
        assert "50" in mark.inner_text()
        assert "(contradicts the crowd)" in mark.text_content()
        assert mark.evaluate("one => getComputedStyle(one).textDecorationStyle") == "wavy"
        assert mark.locator(".fact-sign").inner_text() == "≠"
        assert mark.locator(".fact-sign").get_attribute("aria-hidden") == "true"
        agreed = page.locator("#answers mark.fact-agrees").first
        assert agreed.evaluate("one => getComputedStyle(one).textDecorationStyle") == "solid"
        said = card.locator(".fact-line").first.inner_text()
        stated = r"contradicts the crowd\s*states .*50.*; \d+ of \d+ others state .*25"
        assert re.search(stated, said)
        look_at("worker", worker=yusuf)
        assert page.locator("h2#facts").is_visible()
        page.get_by_role("link", name="tides-3").first.click()
        page.wait_for_url(f"**/questions/{tides}/")
        look_at("triage-worker", worker=yusuf)
        assert page.locator("[data-facts=standing]").first.is_visible()
        look_at("triage")
        look_at("people")
        assert page.get_by_role("heading", name="Facts", exact=True).count() == 1
        why = re.compile("question(s)? facts are not compared: ")
        assert page.get_by_text(why).first.text_content()
        look_at("models")
        model = LanguageModel.objects.filter(scores__run=world).first()
        if model is not None:
            look_at("model", model=model.public_id)
    assert "\n".join(inspector.found) == ""
