"""Chromium undoes an import, erases a worker, deletes a run and a model: each told first."""

import os
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.urls import reverse

from annotations import guards
from annotations.exchange.importing import import_answers
from annotations.models import Import, Response, Worker
from evaluation.models import LanguageModel, Run
from tests.browser import pages
from tests.browser.working import work_away
from tests.evaluation.grading.results import world

pytestmark = [*pages.pytestmark, pytest.mark.long]
# Where to keep pictures, for somebody who wants to look at them.
PICTURES = os.environ.get("CROWDGRADE_PICTURES", "")


def keep(window, look, name):
    if PICTURES:
        window.page.screenshot(path=Path(PICTURES) / f"{look}-{name}.png", full_page=True)


@pytest.fixture
def run(transactional_db, tmp_path, monkeypatch):
    """A run that is done, and a file that came in after it; the record goes at the end."""
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    rana = User.objects.create_user("rana", is_staff=True)
    made = world.finished(owner=rana, n_workers=6, n_questions=4, n_models=2)
    question_set = made.version.question_set
    asked = made.version.questions.first().external_id
    file = tmp_path / "late.csv"
    file.write_text(f"worker,question,answer\nzoe,{asked},came late\nyan,{asked},came later\n")
    import_answers(question_set, file, imported_by=rana.pk)
    yield made
    guards.drop_triggers(connection)


@pytest.mark.parametrize("look", pages.LOOKS)
def test_what_is_to_go_is_told_and_goes_after_a_yes(browser, client, live_server, run, look):
    site, question_set = live_server.url, run.version.question_set
    n_before = Response.objects.count()
    with pages.signed_in(browser, client, site, "rana", look) as window:
        page = window.page
        imports = reverse("admin:imports", args=[question_set.public_id])
        window.look("the set", reverse("admin:question-set", args=[question_set.public_id]))
        assert page.locator("#people a:text-is('Imported files')").count() == 1
        window.look("imports", imports)
        keep(window, look, "imports")
        page.get_by_role("link", name="Undo the import of late.csv", exact=True).click()
        page.wait_for_selector("h1")
        window.check("what goes with an import")
        keep(window, look, "undo")
        page.get_by_role("button", name="Undo this import", exact=True).click()
        page.get_by_text("late.csv is being undone.").wait_for()
        window.check("being undone")
        keep(window, look, "undoing")
        work_away(page)
        assert Response.objects.count() == n_before - 2
        assert Import.objects.get().undone_at is not None
        window.look("undone", imports)
        keep(window, look, "undone")

        worker = Worker.objects.filter(grades__run=run).earliest("pk")
        window.look("a worker", reverse("admin:worker", args=[worker.public_id]))
        page.get_by_role("link", name="Erase…", exact=True).click()
        page.wait_for_selector("h1")
        window.check("what goes with a worker")
        keep(window, look, "erase")
        page.get_by_role("textbox").last.fill(worker.external_id)
        page.get_by_role("button", name="Erase it for good", exact=True).click()
        page.get_by_text(f"What {worker.external_id} wrote is being erased.").wait_for()
        work_away(page)
        assert not Response.objects.filter(submission__worker=worker).exists()
        window.look("erased", reverse("admin:worker", args=[worker.public_id]))
        keep(window, look, "erased")
        window.look("not reproducible", reverse("admin:run", args=[run.public_id]))
        keep(window, look, "not-reproducible")

        window.look("a run", reverse("admin:run-delete", args=[run.public_id]))
        keep(window, look, "delete-run")
        page.get_by_role("button", name="Delete permanently", exact=True).click()
        page.wait_for_selector("h1")
        work_away(page)
        assert not Run.objects.filter(pk=run.pk).exists()
        window.look("the record", reverse("admin:archived"))
        keep(window, look, "record")
        assert window.found == []


@pytest.mark.parametrize("look", pages.LOOKS)
def test_a_model_is_archived_restored_noted_and_deleted(browser, client, live_server, run, look):
    site, model = live_server.url, LanguageModel.objects.earliest("pk")
    n_scored = model.scores.count()
    with pages.signed_in(browser, client, site, "rana", look) as window:
        page = window.page
        of = reverse("admin:model", args=[model.public_id])
        window.look("a model", of)
        page.get_by_label("New note").fill("Asks back instead of answering.")
        page.get_by_role("button", name="Keep the note", exact=True).click()
        page.get_by_text("The note is saved.").wait_for()
        window.check("a model with a note")
        keep(window, look, "model")
        page.get_by_role("button", name="Archive", exact=True).click()
        page.get_by_text(f"{model.name} is archived.").wait_for()
        window.check("archived with a model")
        keep(window, look, "archived-model")
        window.look("an archived model", of)
        keep(window, look, "model-archived")
        page.get_by_role("button", name="Restore it", exact=True).click()
        page.get_by_text("is back in the lists.").wait_for()
        page.get_by_role("link", name="Delete…", exact=True).click()
        page.wait_for_selector("h1")
        window.check("what goes with a model")
        keep(window, look, "model-delete")
        page.get_by_role("textbox").last.fill(model.name)
        page.get_by_role("button", name="Delete permanently", exact=True).click()
        page.get_by_text("is being deleted.", exact=False).first.wait_for()
        window.look("a model that goes", of)
        keep(window, look, "model-going")
        work_away(page)
        assert not LanguageModel.objects.filter(pk=model.pk).exists()
        assert n_scored == 1
        run.refresh_from_db()
        assert run.n_withdrawn > 0
        window.look("results without it", reverse("admin:results-models", args=[run.public_id]))
        keep(window, look, "model-results")
        window.look("the models", reverse("admin:models"))
        keep(window, look, "models")
