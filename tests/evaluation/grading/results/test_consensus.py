"""The consensus of a run: the nearest real answers, their support, and how it came about."""

import csv
import io
import json
import zipfile

import pytest

from annotations.models import Passage, QuestionSet, Response
from evaluation.core.messages.reasons import WHY_EMPTY
from evaluation.grading.results.consensus_files import (
    build_consensus_files,
    iterate_consensus_zip,
    write_consensus_files,
)
from evaluation.grading.results.report.consensus import build_consensus_report
from evaluation.models import AnswerScore, ExemplaryAnswer, WorkerGrade
from tests.evaluation.grading.results.world import finished
from tests.numbers import numbers_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def run():
    """Five workers on two questions, the first of whom is nearest; the last is not supported."""
    return finished(n_workers=5, n_questions=2)


def set_texts(run, question, *texts):
    of_question = Response.objects.filter(question__external_id=question).order_by("pk")
    for response, text in zip(of_question, texts, strict=True):
        Response.objects.filter(pk=response.pk).update(text=text)


def test_the_consensus_answer_is_the_nearest_real_one_and_the_next_say_something_else(run):
    # Scores fall from one answer to the next; two say what the nearest says, one repeats itself.
    nearest = ExemplaryAnswer.objects.get(run=run, question__external_id="r1").nearest_response
    assert nearest.submission.worker.external_id == "w001"
    set_texts(run, "r1", "north", " north ", "south", "north", "south")
    first, second = build_consensus_report(run).iterate_rows()
    assert (first.question, first.consensus.answer) == ("r1", "north")
    assert [near.answer for near in first.next] == ["south"]
    assert first.consensus.similarity > first.next[0].similarity
    assert (first.n_answers, first.n_supported) == (5, 4)
    assert (first.dispersion, second.dispersion) == (0.05, 0.1)
    assert (first.separation, first.camps, first.camps_reason) == (None, [], "not_computed")
    assert len(second.next) == 3


def test_a_question_nobody_answered_and_an_answer_withdrawn_have_a_reason(run):
    scores = AnswerScore.objects.filter(run=run, response__question__external_id="r1")
    scores.delete()
    ExemplaryAnswer.objects.filter(run=run, question__external_id="r1").update(
        n_answers=0, nearest_response=None, dispersion=None
    )
    ExemplaryAnswer.objects.filter(run=run, question__external_id="r2").update(
        nearest_response=None
    )
    first, second = build_consensus_report(run).iterate_rows()
    assert (first.consensus, first.reason, first.n_supported) == (None, "no_answers", 0)
    assert (second.consensus, second.reason) == (None, "withdrawn")
    assert second.why == WHY_EMPTY["withdrawn"]


@pytest.mark.parametrize("n_questions", [2, 9])
def test_the_number_of_queries_does_not_depend_on_the_number_of_questions(
    n_questions, django_assert_num_queries
):
    run = finished(n_workers=3, n_questions=n_questions)
    with django_assert_num_queries(3):
        report = build_consensus_report(run)
    with django_assert_num_queries(3):
        assert len(list(report.iterate_rows())) == n_questions


def test_the_files_say_the_same_and_name_no_worker(run, tmp_path):
    set_texts(run, "r1", "=1+1", "b", "c", "d", "e")
    QuestionSet.objects.update(licence="CC-BY-4.0", language="en")
    run.version.question_set.refresh_from_db()
    names = write_consensus_files(build_consensus_report(run), tmp_path / "out")
    assert names == ["consensus.csv", "consensus.jsonl", "datasheet.md", "datasheet.json"]
    text = (tmp_path / "out" / "consensus.csv").read_bytes().decode("utf-8-sig")
    table = list(csv.DictReader(io.StringIO(text, newline="")))
    lines = (tmp_path / "out" / "consensus.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    assert table[0]["consensus"] == "'=1+1"
    assert records[0]["consensus"] == "=1+1"
    assert [near["answer"] for near in records[0]["next"]] == ["b", "c", "d"]
    assert (table[0]["next_1"], table[0]["camp_1"], table[0]["camp_1_size"]) == ("b", "", "")
    assert table[0]["camps_reason"] == records[0]["camps_reason"] == "not_computed"
    assert float(table[0]["similarity"]) == records[0]["similarity"]
    sheet = json.loads((tmp_path / "out" / "datasheet.json").read_text())
    assert sheet["panels"] == [{"panel": "Prolific", "n_workers": 5}]
    assert (sheet["licence"], sheet["n_workers"], sheet["n_supported"]) == ("CC-BY-4.0", 5, 4)
    assert sheet["limits"]
    # A run stores what was chosen; what was not stands here too.
    assert (sheet["parameters"]["similarity"], sheet["parameters"]["bootstrap"]) == ("cosine", 400)
    page = (tmp_path / "out" / "datasheet.md").read_text()
    assert "- Licence: CC-BY-4.0" in page
    assert sheet["camps"] is None
    (workers,) = (line for line in page.splitlines() if line.startswith("- Workers: "))
    assert numbers_in(workers) == ["5", "4"]
    everything = "".join(path.read_text() for path in (tmp_path / "out").iterdir())
    of_texts = {r.submission.worker.external_id for r in Response.objects.all()}
    assert not any(f'"{name}"' in everything for name in of_texts)


def test_a_zip_holds_the_same_files_and_the_passages(run, tmp_path):
    assert "passages.jsonl" not in build_consensus_files(build_consensus_report(run))
    Passage.objects.create(version=run.version, external_id="p1", text="=body")
    report = build_consensus_report(run)
    write_consensus_files(report, tmp_path / "out.zip")
    (tmp_path / "streamed.zip").write_bytes(b"".join(iterate_consensus_zip(report)))
    for name in ("out.zip", "streamed.zip"):
        with zipfile.ZipFile(tmp_path / name) as archive:
            assert archive.testzip() is None
            assert set(archive.namelist()) == set(build_consensus_files(report))
            assert json.loads(archive.read("passages.jsonl"))["text"] == "=body"


def test_what_is_not_known_is_called_not_stated(run):
    WorkerGrade.objects.filter(run=run).update(support=False)
    page = build_consensus_report(run).datasheet.format_markdown()
    assert "- Licence: not stated" in page
    assert "- Answered: not stated to not stated" in page
