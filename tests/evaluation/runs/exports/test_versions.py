"""Which version commands and REST read where none is named: the published one, not the draft."""

import io

import pytest
from django.core.management import call_command
from django.test import Client

from annotations.models import QuestionSet, Response
from evaluation.core.options import OptionError, build_problem
from evaluation.models import Run
from evaluation.runs.exports import ChoiceError, choose_named_version
from tests.annotations import world as people
from tests.evaluation.grading.results import world

pytestmark = pytest.mark.django_db


@pytest.fixture
def rivers():
    """Version 1 is published and has 6 answers; version 2 is a draft with a copy of it."""
    run = world.finished(n_workers=3, n_questions=2)
    made = run.version.question_set
    made.draft()
    return made


def number(found):
    return None if found is None else found.number


def test_a_published_version_comes_before_the_draft_beside_it(rivers):
    assert (number(rivers.latest_version()), number(rivers.get_default_version())) == (2, 1)
    assert number(rivers.get_default_version(answered=True)) == 1
    assert choose_named_version(rivers).number == 1
    assert choose_named_version(rivers, 2).number == 2


def test_a_draft_is_read_where_nothing_is_published():
    rivers = people.version(people.user("rana")).question_set
    assert (
        number(rivers.get_default_version())
        == number(rivers.get_default_version(answered=True))
        == 1
    )
    empty = QuestionSet.objects.create(owner=rivers.owner, name="lakes")
    assert empty.get_default_version() is None
    with pytest.raises(ChoiceError) as caught:
        choose_named_version(empty)
    assert caught.value.code == "set_empty"


def test_for_answers_a_published_version_without_any_gives_way_to_one_that_has_some(rivers):
    second = rivers.latest_version()
    second.publish()
    assert number(rivers.get_default_version()) == 2
    assert number(rivers.get_default_version(answered=True)) == 1
    late = people.response(people.submission(second, "late"))
    assert number(rivers.get_default_version(answered=True)) == 1  # it is not handed in
    Response.objects.filter(pk=late.pk).update(state="submitted")
    assert number(rivers.get_default_version(answered=True)) == 2


@pytest.mark.parametrize(
    ("named", "read", "notice"), [((), 1, True), (("--in-version=1",), 1, False)]
)
def test_commands_grade_and_export_the_published_version_and_print_which(
    rivers, tmp_path, named, read, notice
):
    for command in (
        ("grade", "rivers", "--no-wait", "--embedder=tfidf-word"),
        ("export_answers", "rivers", f"--output={tmp_path / 'answers.csv'}"),
        ("export_questions", "rivers", f"--output={tmp_path / 'questions.csv'}"),
    ):
        said = io.StringIO()
        call_command(*command, *named, stdout=said)
        assert (f"version {read} is used" in said.getvalue()) is notice, command
        assert ("2 (draft)" in said.getvalue()) is notice, command
    assert Run.objects.latest("pk").version.number == read
    assert len((tmp_path / "answers.csv").read_text().splitlines()) == 7


def test_a_draft_that_is_named_is_read(rivers, tmp_path):
    out = tmp_path / "answers.csv"
    call_command("export_answers", "rivers", "--in-version=2", f"--output={out}")
    assert len(out.read_text().splitlines()) == 1


@pytest.mark.parametrize(("query", "read", "n"), [("", "1", 6), ("?version=2", "2", 0)])
def test_rest_reads_the_published_version_and_names_it_in_a_header(rivers, query, read, n):
    client = Client()
    client.force_login(rivers.owner)
    of_set = f"/api/v1/question-sets/{rivers.public_id}"
    answers = client.get(f"{of_set}/answers/{query}")
    assert (answers.headers["X-Question-Set-Version"], len(answers.json()["results"])) == (read, n)
    export = client.get(f"{of_set}/exports/answers/{query}")
    rows = b"".join(export.streaming_content).splitlines()
    assert (export.headers["X-Question-Set-Version"], len(rows)) == (read, n)
    for rows_of in ("questions", "passages", "model-answers", "exports/questions"):
        reply = client.get(f"{of_set}/{rows_of}/{query}")
        assert (reply.status_code, reply.headers["X-Question-Set-Version"]) == (200, read), rows_of


def test_a_run_by_rest_that_reads_no_answers_reads_the_published_version(rivers, monkeypatch):
    read = []

    def queue(version, *_, **__):
        read.append(version.number)
        raise OptionError([build_problem("no_text")])

    monkeypatch.setattr("evaluation.runs.background.runs.queue_run", queue)
    type(rivers.owner).objects.update(is_staff=True)
    client = Client()
    client.force_login(rivers.owner)
    for named in ({}, {"version": 2}):
        body = {"question_set": str(rivers.public_id), "kind": "maqa", **named}
        assert client.post("/api/v1/runs/", body, "application/json").status_code == 400
    assert read == [1, 2]
