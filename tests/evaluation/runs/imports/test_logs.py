"""Logs of Inspect and lm-evaluation-harness as models' answers of a question set."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from evaluation.models import LanguageModel, LLMResponse
from evaluation.runs.imports import import_model_answers
from tests.annotations import world
from tests.annotations.exchange.files import write
from tests.annotations.exchange.reading.test_model_logs import (
    choice,
    compressed,
    inspect_zip,
    lines,
    lm_eval,
    sample,
)
from tests.evaluation.commands.running import called
from tests.problems import raises_problem

pytestmark = pytest.mark.django_db

LOG = compressed(
    inspect_zip(
        sample("r1", choice("north")),
        sample("r1", choice("up"), epoch=2),
        sample("r2", error={"message": "boom"}),
    )
)


@pytest.fixture
def rivers(rana):
    return world.version(rana).question_set


def stored():
    rows = LLMResponse.objects.order_by("question__external_id", "sample")
    return list(rows.values_list("question__external_id", "sample", "text", "status"))


def test_epochs_are_samples_and_the_same_log_again_changes_nothing(rivers, tmp_path):
    path = tmp_path / "a.eval"
    path.write_bytes(LOG)
    report = import_model_answers(rivers, path)
    assert (report.n_new, report.created, len(report.notes)) == (3, {"models": 1}, 2)
    assert stored() == [("r1", 0, "north", "text"), ("r1", 1, "up", "text"), ("r2", 0, "", "error")]
    assert LLMResponse.objects.get(status="error").extra["error"] == "boom"
    assert import_model_answers(rivers, path).n_unchanged == 3


def test_questions_that_the_set_does_not_have_are_refused(rivers, tmp_path):
    path = tmp_path / "a.eval"
    path.write_bytes(inspect_zip(sample("r9", choice("north"))))
    with raises_problem("question_unknown"):
        import_model_answers(rivers, path)
    assert not LanguageModel.objects.exists()


def test_the_command_names_the_model(rivers, tmp_path):
    path = write(tmp_path, lines(lm_eval()).decode(), "samples_rivers.jsonl")
    refused = called("import_model_answers", "rivers", path)
    assert (refused.code, LLMResponse.objects.exists()) == (2, False)
    assert called("import_model_answers", "rivers", path, "--model", "small").code == 0
    assert LanguageModel.objects.get().name == "small"


@pytest.mark.medium
def test_a_log_is_uploaded_after_a_preview(site, rivers, settings, tmp_path):
    settings.UPLOADS = tmp_path / "uploads"
    address = reverse("admin:upload", args=[rivers.public_id, "model-answers"])
    file = SimpleUploadedFile("a.eval", LOG)
    preview = site.post(address, {"file": file, "model": "mine"}, follow=True)
    staged = preview.context["staged"]
    assert (staged.state, staged.report["n_new"]) == ("checked", 3)
    assert stored() == []
    site.post(reverse("admin:upload-confirm", args=[rivers.public_id, staged.public_id]))
    assert len(stored()) == 3
    assert LanguageModel.objects.get().name == "mine"


def test_an_upload_without_the_name_of_its_model_is_refused(site, rivers, settings, tmp_path):
    settings.UPLOADS = tmp_path / "uploads"
    address = reverse("admin:upload", args=[rivers.public_id, "model-answers"])
    file = SimpleUploadedFile("samples_rivers.jsonl", lines(lm_eval()))
    refused = site.post(address, {"file": file}, follow=True)
    assert [one["code"] for one in refused.context["staged"].problems] == ["log_model_missing"]
