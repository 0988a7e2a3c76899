"""Chromium exports a run as a scorer: the preview, what is wrong, and the file that comes."""

import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from evaluation.models import Run
from tests.browser import pages
from tests.evaluation.grading.results.world import finished

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # Playwright's event loop makes Django and asyncio warn
]
PICTURES = os.environ.get("SCORER_PICTURES")


def take_picture(page, name, look):
    """Take a picture of the page, into the folder that a developer names."""
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{name}-{look}.png", full_page=True)


@pytest.mark.parametrize("look", pages.LOOKS)
def test_a_run_is_exported_after_a_preview(
    browser, client, live_server, transactional_db, look, tmp_path
):
    rana = User.objects.create_superuser("rana")
    run = finished(n_workers=12, n_questions=6, owner=rana)
    vector = np.array([1, 0], dtype="<f4").tobytes()
    run.exemplary_answers.update(vector=vector, dimension=2)
    run.exemplary_answers.filter(question__external_id="q01").update(n_answers=2)
    with pages.signed_in(browser, client, live_server.url, "rana", look) as window:
        page = window.page
        window.look("run", reverse("admin:run", args=[run.public_id]))
        take_picture(page, "run", look)
        page.click("text=Export as a scorer")
        page.wait_for_selector("text=What it contains")
        window.check("preview")
        take_picture(page, "preview", look)
        page.fill("input[name=name]", "two words")
        page.check("input[name=with_answers]")
        page.click("button:has-text('Preview')")
        page.wait_for_selector("[role=alert]")
        window.check("wrong")
        take_picture(page, "wrong", look)
        page.fill("input[name=name]", "rivers")
        page.fill("textarea[name=consent_basis]", "They agreed.")
        page.click("button:has-text('Preview')")
        page.wait_for_selector("text=What it contains")
        with page.expect_download() as coming:
            page.click("text=Download the scorer")
        coming.value.save_as(tmp_path / "scorer.zip")
        with zipfile.ZipFile(tmp_path / "scorer.zip") as archive:
            assert "rivers.yaml" in archive.namelist()
        Run.objects.filter(pk=run.pk).update(parameters={"embedder": "bow"})
        window.look("refused", reverse("admin:results-scorer", kwargs={"run": run.public_id}))
        take_picture(page, "refused", look)
        assert window.found == []
