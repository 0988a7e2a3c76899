"""Answers to practice and attention questions stand in a file of their own."""

import pytest
from django.core.management import call_command

from annotations.models import Question
from evaluation.runs.exports import build_answers_export
from tests.annotations.world import response, submission, user, version

pytestmark = pytest.mark.django_db


@pytest.fixture
def tides(db):
    made = version(user("rana"), n_questions=4)
    roles = ["graded", "practice", "attention", "gold"]
    for question, role in zip(made.questions.order_by("position"), roles, strict=True):
        Question.objects.filter(pk=question.pk).update(role=role)
    given = submission(made)
    for number in range(1, 5):
        answer = response(given, f"r{number}", f"text {number}")
        answer.state = "submitted"
        answer.save()
    return made


def texts(export):
    return [row[2] for row in export.rows()]


def test_the_export_of_answers_has_only_what_is_graded(tides):
    export = build_answers_export(tides)
    assert texts(export) == ["text 1", "text 4"]
    assert export.n_rows == 2


def test_the_others_are_written_on_request(tides, tmp_path):
    export = build_answers_export(tides, checks=True)
    assert texts(export) == ["text 2", "text 3"]
    path = tmp_path / "checks.csv"
    call_command("export_answers", tides.question_set.name, "--output", str(path), "--checks")
    written = path.read_text(encoding="utf-8-sig")
    assert ("text 2" in written, "text 1" in written) == (True, False)
