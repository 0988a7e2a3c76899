"""Chromium walks from the login to the leaderboard of a real site with a real worker."""

import pytest

from annotations import demo
from tests.browser import pages
from tests.browser.walking import PASSWORD, SECONDS_TO_GRADE, Walker

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pages.IN_BOTH_WINDOWS
def test_from_the_login_to_the_leaderboard(site, chromium, width, scheme):
    context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    walker = Walker(context.new_page())
    page, name = walker.page, f"Tides {width}"
    try:
        page.goto(site)
        walker.look("Crowdgrade")
        page.get_by_label("User name").fill("rana")
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        walker.look("Overview")
        assert page.evaluate("document.documentElement.className") == scheme.replace("light", "")

        # The menu is reached by the keyboard at both widths.
        if width < 1280:
            page.get_by_role("button", name="Menu").focus()
            page.keyboard.press("Enter")
        page.get_by_role("navigation", name="Main").get_by_text("Question sets").focus()
        page.keyboard.press("Enter")
        walker.look("Question sets")
        page.get_by_role("link", name="New question set").or_(
            page.get_by_role("link", name="Make the first one")
        ).first.click()
        page.get_by_label("Name").fill(name)
        page.get_by_label("Notice").fill("Written for a test by nobody real.")
        walker.press("Make the question set")
        walker.look(name)

        walker.upload("passages", demo.PASSAGES, name)
        walker.upload("questions", demo.QUESTIONS, name)
        walker.import_answers(demo.ANSWERS, name)
        walker.upload("model answers", demo.MODEL_ANSWERS, name)
        assert page.get_by_text("Written for a test by nobody real.").is_visible()

        walker.press("Import answers")
        page.get_by_label("File").first.set_input_files(demo.ANSWERS)
        walker.press("Look into the file")
        walker.press("Check the whole file")
        walker.look("Import answers?")
        assert page.get_by_text("Nothing changed").is_visible()
        walker.press("To the question set")

        walker.press("Grade")
        walker.look("Grade")
        page.get_by_label("How texts become vectors").select_option("tfidf-word")
        page.get_by_label("Bootstrap draws").fill("50")
        walker.press("Start the run")
        page.get_by_role("heading", name="Words, weighted by rarity", level=1).wait_for()
        # The page reloads itself when the run has ended.
        page.get_by_role("link", name="Results", exact=True).wait_for(timeout=SECONDS_TO_GRADE)
        walker.look("Words, weighted by rarity")
        walker.press("Results")
        walker.look("Results of")
        assert page.get_by_text("Written for a test by nobody real.").is_visible()
        page.get_by_role("link", name="Models", exact=True).click()
        page.wait_for_url("**/results/models/")
        page.locator("table").get_by_text("SmolLM2-135M, passage, t=0").first.wait_for()
        assert walker.complaints == []

        page.goto(f"{site}/api/v1/docs/")
        page.get_by_text("List question sets, newest first").wait_for()
        assert walker.complaints == []
        for address in ("/admin/", "/admin/runs/", "/admin/models/", "/admin/auth/user/"):
            page.goto(site + address)
            page.get_by_role("heading", level=1).first.wait_for()
            assert walker.complaints == []
    finally:
        context.close()
