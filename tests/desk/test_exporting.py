"""The page of exports: what there is, how large, and files that come back as they were."""

import csv
import io
import json
import re
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotations.models import QuestionSet, Response
from tests.desk.conftest import MARK


def body(response):
    assert response.streaming
    return b"".join(response.streaming_content)


def address(world, kind, what):
    return reverse(f"admin:export-{kind}", args=[world.set.public_id, what])


@pytest.fixture
def page(world):
    return reverse("admin:export", args=[world.set.public_id])


def test_the_page_tells_how_many_rows_there_are(client, world, page):
    client.force_login(world.rana)
    shown = client.get(page)
    assert [section["n_rows"] for section in shown.context["sections"]] == [6, 2, None, 2, 1]
    text = shown.content.decode()
    assert "6 rows, about" in text
    assert "The latest run" in text


def test_each_form_of_the_page_leads_to_its_file(client, world, page):
    client.force_login(world.rana)
    text = client.get(page).content.decode()
    leads = re.findall(r'action="([^"]*/export/[^"]+)"', text)
    assert leads == [
        address(world, "answers", "answers"),
        address(world, "answers", "model-answers"),
        address(world, "answers", "consensus"),
        address(world, "items", "questions"),
        address(world, "items", "passages"),
    ]
    for lead in leads:
        assert body(client.get(lead, {"format": "csv", "run": "latest"}))


@pytest.mark.medium
def test_a_download_is_an_attachment_that_uploads_to_the_same_answers(client, world):
    client.force_login(world.rana)
    answers = address(world, "answers", "answers")
    sent = client.get(answers, {"format": "csv", "run": "latest"})
    name = 'attachment; filename="rivers-xyzzy-version-1-answers.csv"'
    assert sent.headers["Content-Disposition"] == name
    data = body(sent)
    rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    assert {row["run_id"] for row in rows} == {str(world.run.public_id)}
    lakes = QuestionSet.objects.create(owner=world.rana, name="lakes")
    for what, kind in (("passages", "items"), ("questions", "items"), ("answers", "answers")):
        made = body(client.get(address(world, kind, what), {"format": "xlsx"}))
        upload = reverse("admin:upload", args=[lakes.public_id, what])
        file = SimpleUploadedFile(f"{what}.xlsx", made)
        preview = client.post(upload, {"file": file}, follow=True)
        token = preview.context["staged"].public_id
        client.post(reverse("admin:upload-confirm", args=[lakes.public_id, token]))
    copies = Response.objects.filter(submission__version__question_set=lakes).order_by("pk")
    stored = Response.objects.filter(submission__version=world.version).order_by("pk")
    assert [r.text for r in copies] == [r.text for r in stored]
    assert copies.count() == 6


def test_pseudonyms_hide_the_workers_ids(client, world):
    client.force_login(world.rana)
    sent = client.get(address(world, "answers", "answers"), {"format": "jsonl", "pseudonyms": "on"})
    rows = [json.loads(line) for line in body(sent).decode().splitlines()]
    assert all(row["worker"].startswith("w-") for row in rows)


def test_the_consensus_comes_as_a_zip_with_its_datasheet(client, world):
    client.force_login(world.rana)
    data = body(client.get(address(world, "answers", "consensus"), {"run": "latest"}))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert "datasheet.md" in archive.namelist()
        assert MARK in archive.read("consensus.csv").decode()


def test_what_cannot_be_made_is_said_on_the_page(client, world):
    client.force_login(world.rana)
    answers = address(world, "answers", "answers")
    for data in ({"format": "exe"}, {}, {"format": "csv", "run": "nonsense"}):
        refused = client.get(answers, data)
        assert refused.status_code == 400
        assert "cg-field" in refused.content.decode()
    assert client.get(address(world, "items", "answers")).status_code == 404
    assert client.get(address(world, "answers", "questions")).status_code == 404


def test_an_empty_set_says_so(client, world):
    client.force_login(world.rana)
    empty = QuestionSet.objects.create(owner=world.rana, name="empty")
    shown = client.get(reverse("admin:export", args=[empty.public_id]))
    assert 'data-state="set_empty"' in shown.content.decode()


def test_results_of_mechanical_turk_are_uploaded_with_a_template(client, world):
    client.force_login(world.rana)
    lakes = QuestionSet.objects.create(owner=world.rana, name="lakes")
    upload = reverse("admin:upload", args=[lakes.public_id, "mturk"])
    batch = b"HITId,WorkerId,AssignmentStatus,Input.word,Answer.a\nH1,W1,Rejected,See,lake\n"

    def send(template):
        data = {"file": SimpleUploadedFile("b.csv", batch), "question_template": template}
        return client.post(upload, {**data, "panel": "MTurk"}, follow=True)

    assert "is no template" in send("50 $").content.decode()
    preview = send("Translate: ${word}")
    report = preview.context["staged"].report
    assert (report["n_new"], report["n_rejected"]) == (1, 1)
    token = preview.context["staged"].public_id
    client.post(reverse("admin:upload-confirm", args=[lakes.public_id, token]))
    assert Response.objects.get(submission__version__question_set=lakes).rejected
    assert lakes.latest_version().questions.get().text == "Translate: See"
