"""A file of questions for a set with answers: tried first, a draft beside them, and away again."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotations.models import Question, QuestionSet, Response, Upload
from tests.desk.conftest import import_world

PUBLISHED = [
    {"question": "What is the capital of Italy?", "answer": ["Rome"]},
    {"question": "Who wrote Emma?", "answer": ["Jane Austen"]},
]


@pytest.fixture
def rivers(rana, client, tmp_path):
    """Return a set whose version 1 has two questions and the answers of three workers."""
    client.force_login(rana)
    made = QuestionSet.objects.create(owner=rana, name="rivers")
    import_world(made, tmp_path)
    return made


def address(name, question_set, *more):
    return reverse(f"admin:{name}", args=[question_set.public_id, *more])


def send(client, question_set, content=PUBLISHED):
    """Send the file at the page that starts MAQA; return the page that comes."""
    file = SimpleUploadedFile("trial.json", json.dumps(content).encode())
    sent = {"file": "questions", "questions": file}
    return client.post(address("start", question_set, "maqa"), sent, follow=True)


def confirm(client, question_set, **more):
    upload = Upload.objects.latest("pk")
    return client.post(address("upload-confirm", question_set, upload.public_id), more, follow=True)


def test_nothing_is_stored_before_the_file_is_confirmed(client, rivers):
    page = send(client, rivers)
    report = page.context["staged"].report
    assert (report["n_new"], report["version"], page.context["begins"]) == (2, 2, 2)
    assert 'data-state="begins_version"' in page.content.decode()
    assert rivers.versions.count() == 1
    assert Question.objects.count() == 2
    confirm(client, rivers)
    # The copies of two questions, and two more.
    assert [one.questions.count() for one in rivers.versions.order_by("number")] == [2, 4]


def test_a_bad_file_is_told_with_its_lines_and_stores_nothing(client, rivers):
    page = send(client, rivers, [{"question": "?"}])
    assert [(one["line"], one["column"]) for one in page.context["staged"].problems] == [
        (1, "answer")
    ]
    assert rivers.versions.count() == 1


@pytest.mark.medium
def test_pages_show_the_newest_version_that_has_answers_and_the_draft_beside_it(client, rivers):
    send(client, rivers)
    confirm(client, rivers)
    page = client.get(address("question-set", rivers))
    # Three workers answered two questions.
    assert (page.context["version"].number, page.context["counts"]["answers"]) == (1, 6)
    assert page.context["draft"] == {"number": 2, "n_questions": 4}
    assert 'data-state="draft_beside"' in page.content.decode()
    grade = [one for one in page.context["starts"] if one.needs_answers]
    assert grade
    assert all(one.link.endswith("?version=1") for one in grade)
    export = client.get(address("export", rivers))
    sizes = {one["what"].slug: one["n_rows"] for one in export.context["sections"]}
    assert (export.context["version"].number, sizes["answers"]) == (1, 6)
    draft = client.get(f"{address('question-set', rivers)}?version=2")
    assert (draft.context["version"].number, draft.context["draft"]) == (2, None)


def test_the_file_goes_into_a_new_set_when_asked(client, rivers, rana):
    QuestionSet.objects.create(owner=rana, name="trial")
    send(client, rivers)
    page = confirm(client, rivers, into="new")
    made = QuestionSet.objects.get(name="trial 2")
    assert page.context["question_set"] == made
    assert page.context["staged"].state == "done"
    assert made.latest_version().questions.count() == 2
    assert rivers.versions.count() == 1


def test_a_draft_without_answers_is_discarded_after_a_question(client, rivers):
    send(client, rivers)
    confirm(client, rivers)
    asked = client.get(address("draft-discard", rivers))
    assert asked.status_code == 200
    assert rivers.versions.count() == 2
    client.post(address("draft-discard", rivers))
    assert [one.number for one in rivers.versions.all()] == [1]
    assert Response.objects.count() == 6
    # Neither version 1 nor what is not there can be discarded.
    client.post(address("draft-discard", rivers))
    assert rivers.versions.count() == 1


@pytest.mark.medium
def test_a_draft_on_which_something_hangs_stays(client, rivers, rana):
    send(client, rivers)
    confirm(client, rivers)
    rivers.latest_version().runs.create(owner=rana, kind="maqa", parameters={}, state="queued")
    page = client.post(address("draft-discard", rivers), follow=True)
    assert [one.tags.split()[0] for one in page.context["messages"]] == ["draft_in_use"]
    assert rivers.versions.count() == 2


def test_somebody_else_discards_nothing(client, rivers, otto):
    rivers.draft()
    client.force_login(otto)
    assert client.post(address("draft-discard", rivers)).status_code == 404
    assert rivers.versions.count() == 2
