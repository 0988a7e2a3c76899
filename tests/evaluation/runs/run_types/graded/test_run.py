"""Which method to trust in a domain, over a question set: upload, run, page, trust page, REST."""

import csv
import io
from dataclasses import replace

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from rest_framework.test import APIClient

from annotations.exchange import InputError
from annotations.exchange.importing import import_answers
from annotations.exchange.reading.source import make_bytes_source
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.options import OptionError
from evaluation.evidence.baselines import list_methods
from evaluation.evidence.graded import run as running
from evaluation.models import GradedAnswers, Run, RunData
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.flow.graded import GradedOptions, GradedSummary
from evaluation.runs.reports.graded import find_set_comparison
from evaluation.runs.steps.answers import load_graded_answers, store_graded_answers
from evaluation.runs.steps.checkpoints import Turn
from tests.evaluation.evidence.graded.answers import of_workers, some
from tests.evaluation.runs.run_types.texts import numbers_of
from tests.sentences import site_sentence

OPTIONS = GradedOptions(embedder="tfidf-char")
HEADER = ("worker", "question", "answer", "grade")


def content(answers, header=HEADER) -> bytes:
    file = io.StringIO(newline="")
    rows = csv.writer(file)
    rows.writerow(header)
    rows.writerows([one.worker, one.question, one.text, one.grade] for one in answers)
    return file.getvalue().encode()


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Methods that need no model."""
    few = some("aqer", "f1", "tfidf_char", "discrimination")
    monkeypatch.setattr(running, "list_methods", lambda core: few)


@pytest.fixture
def graded(rivers):
    store_graded_answers(
        rivers, make_bytes_source("mine.csv", content(of_workers(10, 10))), rivers.owner_id
    )
    return rivers


@pytest.fixture
def site(client, rivers):
    client.force_login(rivers.owner)
    return client


def done(question_set, options=OPTIONS) -> Run:
    run = runs.queue_run(question_set.latest_version(), question_set.owner_id, options, "graded")
    while work_one_turn():
        pass
    run.refresh_from_db()
    return run


def test_a_run_says_in_one_sentence_which_method_to_trust(graded):
    run = done(graded)
    assert (run.state, run.error) == (Run.State.DONE, "")
    found = GradedSummary.from_json(run.summary)
    assert (found.answers, found.workers, found.questions, found.held) == (100, 10, 10, 5)
    assert [row.name for row in found.rows] == ["aqer", "f1", "tfidf_char", "discrimination"]
    said = find_set_comparison(graded).report.said
    assert "95%" in said
    assert found.method in said
    assert "|inputs:" in run.signature


def test_ids_of_workers_are_not_kept(graded):
    stored = GradedAnswers.objects.get(question_set=graded)
    workers = {one["worker"] for one in stored.marked["answers"]}
    assert workers == {str(n) for n in range(1, 11)}
    assert load_graded_answers(graded.pk).has_workers


def test_another_file_takes_the_place_of_the_first(graded):
    store_graded_answers(
        graded, make_bytes_source("new.csv", content(of_workers(6, 8))), graded.owner_id
    )
    assert GradedAnswers.objects.get(question_set=graded).name == "new.csv"
    assert len(load_graded_answers(graded.pk).answers) == 48


def test_a_bad_file_leaves_the_one_before(graded):
    with pytest.raises(InputError):
        store_graded_answers(
            graded, make_bytes_source("bad.csv", b"question,answer\n1,a\n"), graded.owner_id
        )
    assert GradedAnswers.objects.get(question_set=graded).name == "mine.csv"


def test_without_a_file_or_a_value_of_a_label_no_run_starts(rivers):
    with pytest.raises(OptionError, match="no_graded_answers"):
        done(rivers)
    labelled = b"question,answer,label\n1,a,right\n1,b,wrong\n"
    lines = store_graded_answers(rivers, make_bytes_source("l.csv", labelled), rivers.owner_id)
    assert "with the labels right (1), wrong (1)" in lines[0]
    with pytest.raises(OptionError, match="'wrong'"):
        done(rivers, GradedOptions(labels="right=1"))
    with pytest.raises(OptionError, match="wrong_labels"):
        done(rivers, GradedOptions(labels="right"))


def test_too_few_answers_end_the_run_with_the_reason(rivers):
    few = of_workers(10, 10)[:4]
    store_graded_answers(rivers, make_bytes_source("few.csv", content(few)), rivers.owner_id)
    run = done(rivers)
    assert run.state == Run.State.FAILED
    told = site_sentence("graded.few_workers", count=0, fewest=5)
    assert run.error == f"{told[:1].upper()}{told[1:]}."


@pytest.mark.medium
def test_a_turn_whose_time_is_up_goes_on_where_it_was(graded, monkeypatch):
    whole = done(graded)
    over = iter([False, True])
    monkeypatch.setattr(Turn, "is_over", lambda self: next(over, False))
    scored = []
    first = running.list_methods(core=True)[0].score

    def count(crowd):
        scored.append(1)
        return first(crowd)

    few = running.list_methods(core=True)
    counted = [replace(few[0], score=count), *few[1:]]
    monkeypatch.setattr(running, "list_methods", lambda core: counted)
    run = done(graded)
    assert run.state == Run.State.DONE
    assert run.attempt == 2
    # All questions and two halves, each once: nothing was computed anew.
    assert len(scored) == 3
    assert run.summary == whole.summary
    assert not RunData.objects.filter(run=run).exists()


def test_the_page_that_starts_it_takes_a_file_and_says_what_it_holds(site, rivers):
    link = reverse("admin:start", kwargs={"set_id": rivers.public_id, "name": "graded"})
    assert site.get(link).context["before"].ready is False
    file = SimpleUploadedFile("mine.csv", content(of_workers(10, 10)))
    before = site.post(link, {"graded": file, "file": "graded"}, follow=True).context["before"]
    # Answers, workers, questions.
    assert (before.ready, numbers_of(before.words)[:3]) == (True, [100, 10, 10])
    bad = SimpleUploadedFile("bad.csv", content(of_workers(2, 2), ("worker", "question", "x", "y")))
    refused = site.post(link, {"graded": bad, "file": "graded"}, follow=True)
    told = refused.content.decode()
    (answer, grade) = refused.context["messages"]
    assert (answer.level_tag, grade.level_tag) == ("error", "error")
    assert (" answer" in str(answer), " grade" in str(grade)) == (True, True)
    assert site.get(link).context["before"] == before
    assert "--columns" not in told


def test_the_results_show_every_method_and_the_table_is_taken_away(site, graded):
    run = done(graded)
    page = site.get(reverse("admin:results-run", args=[run.public_id])).content.decode()
    for name in ("aqer", "f1", "tfidf_char", "discrimination"):
        assert f'<th scope="row">{name}' in page
    assert find_set_comparison(graded).report.said.replace("'", "&#x27;") in page
    table = site.get(reverse("admin:results-table", args=[run.public_id, "methods"]))
    rows = list(csv.DictReader(io.StringIO(b"".join(table.streaming_content).decode("utf-8-sig"))))
    assert [row["method"] for row in rows] == ["aqer", "f1", "tfidf_char", "discrimination"]


@pytest.mark.medium
def test_the_trust_page_of_a_grading_says_it_and_before_that_where_to_upload(
    site, graded, tmp_path
):
    more = tmp_path / "more.csv"
    more.write_text("worker,question,answer\ncy,q1,in hills\ndee,q1,at the sea\ncy,q2,south\n")
    import_answers(graded, more)
    grading = runs.queue_run(
        graded.latest_version(), graded.owner_id, AqerParameters(embedder="bow", bootstrap=0)
    )
    while work_one_turn():
        pass
    link = reverse("admin:results-trust", args=[grading.public_id])
    before = site.get(link).content.decode()
    assert find_set_comparison(graded) is None
    assert reverse("admin:start", args=[graded.public_id, "graded"]) in before
    run = done(graded)
    after = site.get(link).content.decode()
    assert find_set_comparison(graded).report.said.replace("'", "&#x27;") in after
    assert "Show all methods" in after
    assert reverse("admin:results-run", args=[run.public_id]) in after


@pytest.mark.medium
def test_rest_starts_it_and_reads_the_report(graded):
    api = APIClient()
    api.force_authenticate(graded.owner)
    body = {
        "question_set": str(graded.public_id),
        "kind": "graded",
        "parameters": {"embedder": "tfidf-char"},
    }
    started = api.post("/api/v1/runs/", body, format="json")
    assert started.status_code == 202, started.content
    while work_one_turn():
        pass
    found = api.get(f"/api/v1/runs/{started.data['id']}/results/").json()
    assert found["said"] == find_set_comparison(graded).report.said
    assert {row["name"] for row in found["rows"]} == {
        *("aqer", "f1", "tfidf_char", "discrimination")
    }


def test_a_cancelled_run_is_no_report(graded):
    run = runs.queue_run(graded.latest_version(), graded.owner_id, OPTIONS, "graded")
    runs.cancel_run(run)
    assert find_set_comparison(graded) is None


@pytest.mark.long
@pytest.mark.model
def test_all_methods_but_the_slow_ones_are_tried_in_the_background(graded, monkeypatch):
    monkeypatch.setattr(running, "list_methods", list_methods)
    run = done(graded, GradedOptions())
    assert (run.state, run.error) == (Run.State.DONE, "")
    found = GradedSummary.from_json(run.summary)
    assert [row.name for row in found.rows] == [method.name for method in list_methods(core=True)]
    unknown = [row.name for row in found.rows if row.full.value is None]
    # All answers have eight words, and the file names no right answers.
    assert unknown == ["length", "reference_answer"]
