"""Each sample file that the site offers is read without a problem by the upload it belongs to."""

from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotations.exchange.samples import SAMPLES, find_sample_file
from annotations.models import QuestionSet, Upload
from annotations.web.upload_kinds import KINDS

TRIED = ("questions", "passages", "several-answers", "word-problems", "prompts", "model-answers")
"""Kinds whose sample is uploaded into a set with the questions of the first sample."""


@pytest.fixture
def question_set(rana, client):
    client.force_login(rana)
    return QuestionSet.objects.create(owner=rana, name="samples")


def send(client, question_set, slug):
    """Upload the sample of a kind; return the page that comes."""
    path = Path(finders.find(find_sample_file(slug)))
    file = SimpleUploadedFile(path.name, path.read_bytes())
    address = reverse("admin:upload", args=[question_set.public_id, slug])
    return client.post(address, {"file": file}, follow=True)


@pytest.mark.parametrize("slug", TRIED)
def test_a_sample_can_be_imported(client, question_set, slug):
    if slug == "model-answers":
        send(client, question_set, "questions")
        token = Upload.objects.get().public_id
        client.post(reverse("admin:upload-confirm", args=[question_set.public_id, token]))
    staged = send(client, question_set, slug).context["staged"]
    assert (staged.state, staged.problems) == ("checked", [])
    assert staged.report["n_new"] >= 1


def test_each_sample_exists_and_each_upload_page_offers_its_own(client, question_set):
    for slug in SAMPLES:
        assert finders.find(find_sample_file(slug)), slug
    for slug in KINDS:
        if slug in SAMPLES:
            address = reverse("admin:upload", args=[question_set.public_id, slug])
            assert find_sample_file(slug) in client.get(address, follow=True).content.decode(), slug
