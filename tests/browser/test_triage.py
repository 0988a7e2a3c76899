"""Deciding about people in Chromium: by keys and by hand, then a run without the excluded."""

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.urls import reverse

from annotations import guards
from evaluation.models import Run, WorkerVerdict
from evaluation.runs.background.exclusions import list_exclusions
from evaluation.triage.storage import decide_on_worker
from tests.browser import pages
from tests.browser.working import work_away

pytestmark = pages.pytestmark


@pytest.fixture(autouse=True)
def audit_goes(transactional_db):
    """Who accepted whom at once stands in the audit, which nothing else may empty."""
    yield
    guards.drop_triggers(connection)


def heading(page):
    return page.locator("h1").inner_text()


@pytest.mark.parametrize("look", pages.LOOKS)
def test_a_queue_is_worked_off_by_keys_and_leads_to_a_run_without_the_excluded(
    world, browser, client, live_server, look
):
    start = reverse("admin:results-triage", args=[world.public_id])
    with pages.signed_in(browser, client, live_server.url, world.owner.username, look) as window:
        page = window.page
        window.look("the queue", start)
        page.click("text=Begin")
        page.wait_for_selector("text=Why review")
        window.check("the first worker")
        assert "1 of " in page.locator(".triage-place").inner_text()
        assert page.locator("#evidence mark").count() > 1
        first = heading(page)
        page.keyboard.press("a")
        page.wait_for_selector(f"text={first}: Accepted.")
        second = heading(page)
        assert second != first
        page.keyboard.press("u")  # back to the first one, undecided now
        page.wait_for_selector(f"text={first}: Taken back")
        assert heading(page) == first
        page.keyboard.press("j")
        page.wait_for_selector(f"h1:text-is('{second}')")
        page.keyboard.press("ArrowLeft")
        page.wait_for_selector(f"h1:text-is('{first}')")
        page.keyboard.press("ArrowRight")
        page.wait_for_selector(f"h1:text-is('{second}')")
        page.keyboard.press("x")
        page.wait_for_selector("text=In your own words")
        window.check("why exclude")
        page.keyboard.press("1")
        page.focus("textarea")
        page.keyboard.type("axlu jk 1")  # letters, and no keys
        page.click("button:has-text('Exclude'):visible")
        page.wait_for_selector(f"text={second}: Excluded.")
        row = WorkerVerdict.objects.get(kind="exclude")
        assert (row.worker.external_id, row.category, row.reason) == (second, "copied", "axlu jk 1")
        third = heading(page)
        page.keyboard.press("l")
        page.wait_for_selector(f"text={third}: Look again.")
        window.look("the queue with decisions", start)
        page.click("text=Accept everybody else…")
        page.wait_for_selector("h2:has-text('Left out, and still open')")
        assert third in page.locator("section:has(#left)").inner_text()
        page.click("summary:has-text('by name')")
        window.check("who would be accepted")
        page.click("button:text-matches('^Accept [0-9]+ people$')")
        page.wait_for_selector("h2:text-is('Accepted at once')")
        window.check("accepted at once")
        n_accepted = WorkerVerdict.objects.filter(kind="accept", together__isnull=False).count()
        assert n_accepted > 2
        # Who is excluded and not rejected is paid.
        assert f"{n_accepted + 1} to approve" in page.locator("#files").inner_text()
        page.click("button:has-text('Take back')")
        page.wait_for_selector(f"text=Taken back: {n_accepted} people accepted at once.")
        window.check("taken back")
        page.click("text=Accept everybody else…")
        page.click("button:text-matches('^Accept [0-9]+ people$')")
        page.wait_for_selector("h2:text-is('Accepted at once')")
        page.click("text=Grade without the excluded")
        page.wait_for_selector("text=Start the run")
        window.check("what will happen")
        page.fill("#id_label-name", "Without copies")
        page.click("text=Start the run")
        page.wait_for_selector("text=Started. Its results will be compared with")
        window.check("started")
        made = Run.objects.get(name="Without copies")
        work_away(page)
        made.refresh_from_db()
        assert made.state == "done", made.error
        window.look("the new run", reverse("admin:results-run", args=[made.public_id]))
        page.click("text=Made without 1 worker excluded by users")
        page.wait_for_selector(f"li:has-text('{second}: copied from others')")
        window.check("what made it")
    assert "\n".join(window.found) == ""


@pytest.mark.parametrize("look", pages.LOOKS)
@pytest.mark.long
def test_two_at_once_the_second_sees_what_the_first_decided(
    world, browser, client, live_server, look
):
    tara = User.objects.create_user("tara", is_staff=True)
    start = reverse("admin:results-triage", args=[world.public_id])
    with pages.signed_in(browser, client, live_server.url, world.owner.username, look) as window:
        page = window.page
        window.look("the queue", start)
        page.click("text=Begin")
        page.wait_for_selector("text=Why review")
        name = heading(page)
        worker = world.worker_grades.get(worker__external_id=name).worker
        decide_on_worker(world, worker, tara, "accept")
        page.click("summary:has-text('Exclude')")
        page.check("text=Another reason, in my own words")
        page.fill("textarea", "typed by the second")
        page.click("button:has-text('Exclude'):visible")
        page.wait_for_selector("text=tara decided meanwhile: Accepted")
        window.said.clear()  # Chromium tells of the 409
        window.check("decided meanwhile")
        assert page.input_value("textarea") == "typed by the second"
        page.click("button:has-text('Exclude'):visible")
        page.wait_for_selector(f"text={name}: Excluded.")
    assert [one.worker.external_id for one in list_exclusions(world)] == [name]
    assert "\n".join(window.found) == ""


def test_everything_works_without_script(world, browser, client, live_server):
    start = reverse("admin:results-triage", args=[world.public_id])
    client.force_login(world.owner)
    context = browser.new_context(java_script_enabled=False)
    context.add_cookies(
        [{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}]
    )
    page = context.new_page()
    page.goto(live_server.url + start)
    page.click("text=Begin")
    name = heading(page)
    page.click("summary:has-text('Exclude')")
    page.check("text=Clear low effort")
    page.click("button:has-text('Exclude'):visible")
    assert f"{name}: Excluded." in page.content()
    page.click("button:has-text('Undo')")
    assert heading(page) == name
    assert not list_exclusions(world)
    context.close()
