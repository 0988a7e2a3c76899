"""Chromium uploads a demographic export first, then the answers, and joins both."""

import pytest
from django.db import connection

from annotations import guards
from annotations.models import QuestionSet, Response
from evaluation.runs.background.work import work_one_turn
from tests.annotations.exchange.presets.test_demographics import ANA, BEN, export, survey
from tests.browser import pages
from tests.desk.conftest import own_home, rana

__all__ = ["own_home", "rana"]

pytestmark = pages.pytestmark


@pytest.fixture
def question_set(rana, transactional_db):
    """An empty set; the record of what was undone is append-only and is deleted at the end."""
    yield QuestionSet.objects.create(owner=rana, name="rivers")
    guards.drop_triggers(connection)


def upload(page, site, question_set, path):
    """Send a file to the import of answers."""
    page.goto(f"{site}/admin/question-sets/{question_set.public_id}/import/")
    page.get_by_label("File", exact=True).set_input_files(path)
    page.click("button:has-text('Look into the file')")


def join(inspector, question_set, folder, look=lambda name: None):
    """Upload the export, the answers, and join the export to them by what the pages offer."""
    page = inspector.page
    facts, answers = folder / "demographics.csv", folder / "survey.csv"
    facts.write_bytes(export(ben="REJECTED", cai="RETURNED"))
    answers.write_bytes(survey())
    upload(page, inspector.site, question_set, facts)
    page.wait_for_selector("[data-state=no_answers]")
    inspector.check("no answers yet")
    look("first")
    page.click("a:has-text('Import answers')")
    upload(page, inspector.site, question_set, answers)
    page.click("button:has-text('Check the whole file')")
    inspector.confirm_upload()
    look("waits")
    page.click("text=Continue with demographics.csv")
    page.wait_for_selector("[data-count=matched]:has-text('3')")
    inspector.check("join")
    look("join")
    page.click("button:has-text('Check the join')")
    page.wait_for_selector("[data-code=panel_statuses_undecided]")
    inspector.check("undecided")
    look("undecided")
    page.get_by_label("Leave their answers out of grades").check()
    page.click("button:has-text('Check the join')")
    page.wait_for_selector("text=This was a dry run")
    inspector.check("preview of the join")
    look("preview")
    page.click("button:has-text('Join to the answers')")
    page.wait_for_selector("text=All of it is stored.")
    inspector.check("joined")
    look("done")


def undo_the_join(inspector, question_set, look=lambda name: None):
    """Undo the join from the list of imported files."""
    page = inspector.page
    page.goto(f"{inspector.site}/admin/question-sets/{question_set.public_id}/imports/")
    inspector.check("imported files")
    look("imports")
    page.get_by_role("link", name="Undo the import of demographics.csv").click()
    page.get_by_role("button", name="Undo this join").wait_for()
    inspector.check("undo")
    look("undo")
    page.get_by_role("button", name="Undo this join").click()
    page.wait_for_selector("text=demographics.csv is being undone")
    inspector.check("being undone")
    look("undoing")
    while work_one_turn():
        pass
    page.reload()
    page.wait_for_selector("td:has-text('undone ')")
    inspector.check("undone")
    look("undone")


def read_stored():
    """Return the sex and the flag of the answers to one question, by worker."""
    rows = Response.objects.filter(question__external_id="rain")
    values = rows.values_list("submission__worker__external_id", "extra", "rejected")
    return {worker: (extra.get("Sex"), is_rejected) for worker, extra, is_rejected in values}


@pytest.mark.parametrize("look", pages.LOOKS)
def test_an_export_waits_for_its_answers_is_joined_and_undone(
    client, question_set, browser, live_server, look, tmp_path
):
    with pages.signed_in(browser, client, live_server.url, "rana", look) as inspector:
        # The first request loads the site, which can take longer than a browser waits.
        client.get(f"/admin/question-sets/{question_set.public_id}/import/")
        join(inspector, question_set, tmp_path)
        found = read_stored()
        assert (found[ANA], found[BEN]) == (("Female", False), ("Male", True))
        undo_the_join(inspector, question_set)
        assert inspector.found == []
    found = read_stored()
    assert (found[ANA], found[BEN]) == ((None, False), (None, False))
