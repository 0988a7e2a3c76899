"""Page and REST address of the export: what they show, send and refuse."""

import io
import re
import zipfile

import numpy as np
import pytest
from django.urls import reverse

from evaluation.models import Run
from evaluation.scorer import storage
from tests.evaluation.grading.results.world import finished

PLAIN = {"formats": ["inspect"], "name": "rivers", "min_answers": "3"}


@pytest.fixture
def run(rana):
    found = finished(n_workers=12, n_questions=6, owner=rana)
    vector = np.array([1, 0], dtype="<f4").tobytes()
    found.exemplary_answers.update(vector=vector, dimension=2)
    return found


def page(run, name="results-scorer"):
    return reverse(f"admin:{name}", kwargs={"run": run.public_id})


def test_the_page_shows_what_the_export_contains(site, run):
    shown = site.get(page(run))
    assert shown.status_code == 200
    preview = shown.context["preview"]
    assert (preview.questions, preview.answers, preview.worker_scores) == (6, 0, 11)
    assert preview.answer_scores == 66
    assert shown.context["form"].errors == {}
    assert page(run, "results-scorer-file") in shown.content.decode()


def test_the_page_of_a_run_links_to_the_export(site, run):
    shown = site.get(reverse("admin:run", args=[run.public_id])).content.decode()
    assert page(run) in shown


def test_the_download_is_a_zip_without_ids_of_workers(site, run):
    # The title of the run names who is excluded, and its warnings may name anybody.
    parameters = {"embedder": "minilm", "exclude_workers": ["w001"]}
    warnings = ["w002 copied"]
    Run.objects.filter(pk=run.pk).update(parameters=parameters, warnings=warnings)
    sent = site.get(page(run, "results-scorer-file"), PLAIN)
    data = b"".join(sent.streaming_content)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert "task.py" in archive.namelist()
        assert "metric.py" not in archive.namelist()
        texts = [archive.read(name) for name in archive.namelist()]
    assert not [text for text in texts if re.search(rb"\bw0\d\d\b", text)]


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"name": "two words"}, "name"),
        ({"min_answers": "13"}, "min_answers"),
        ({"min_answers": "0"}, "min_answers"),
        ({"with_answers": "on"}, "consent_basis"),
        ({"formats": []}, "formats"),
        ({"formats": ["weka"]}, "formats"),
        ({"formats": ["weka"], "with_answers": "on"}, "formats,consent_basis"),
    ],
)
def test_what_is_wrong_stands_at_its_field_and_nothing_is_sent(site, run, changed, field):
    shown = site.get(page(run), {**PLAIN, **changed})
    assert list(shown.context["form"].errors) == field.split(",")
    assert shown.context["preview"] is None
    refused = site.get(page(run, "results-scorer-file"), {**PLAIN, **changed})
    assert refused.status_code == 400
    assert list(refused.context_data["form"].errors) == field.split(",")


def test_answers_are_included_with_a_basis(site, run):
    asked = {**PLAIN, "with_answers": "on", "consent_basis": "They agreed."}
    assert site.get(page(run), asked).context["preview"].answers == 6


def test_a_run_that_cannot_be_exported_says_why(site, run):
    Run.objects.filter(pk=run.pk).update(parameters={"embedder": "bow"})
    shown = site.get(page(run))
    assert shown.context["refusal"]
    assert shown.context["preview"] is None
    assert 'data-state="scorer_refused"' in shown.content.decode()
    assert site.get(page(run, "results-scorer-file")).status_code == 400


def test_a_large_run_is_left_to_the_command(site, run, monkeypatch):
    monkeypatch.setattr(storage, "MOST_ANSWERS", -1)
    assert site.get(page(run)).context["refusal"]


def test_a_run_that_is_not_done_has_no_export(site, run):
    Run.objects.filter(pk=run.pk).update(state="cancelled")
    assert site.get(page(run)).templates[0].name == "evaluation/no_results.html"
    assert site.get(page(run, "results-scorer-file")).status_code == 404


def test_withdrawn_answers_are_shown(site, run):
    Run.objects.filter(pk=run.pk).update(n_withdrawn=2)
    shown = site.get(page(run))
    assert shown.context["preview"].withdrawn == 2
    assert 'data-state="scorer_incomplete"' in shown.content.decode()
