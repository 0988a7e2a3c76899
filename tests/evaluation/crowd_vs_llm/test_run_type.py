"""The same over a question set: a run with its page, tables and REST, and the way to it."""

import csv
import io
from dataclasses import replace
from html import unescape

import pytest
from django.urls import reverse
from django.utils.html import escape
from rest_framework.test import APIClient

from annotations.exchange.importing import import_answers, import_questions
from annotations.models import QuestionSet, Response, Worker
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.messages.message import Message
from evaluation.core.options import API, SITE, OptionError
from evaluation.crowd_vs_llm.report import PANEL_NAMES
from evaluation.crowd_vs_llm.run.comparison import PanelsParameters
from evaluation.crowd_vs_llm.run.summary import PanelsSummary
from evaluation.models import LLMResponse
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.imports import import_model_answers
from tests.evaluation.crowd_vs_llm.world import QUESTIONS, model_rows, people_rows, write_files
from tests.evaluation.runs.run_types.crowds import write
from tests.sentences import site_sentence

QUICK = PanelsParameters(embedder="tfidf-word", bootstrap=20)


@pytest.fixture
def rivers(db, django_user_model, monkeypatch, tmp_path):
    """Rita's set with nine workers, one of whom pastes, and three models."""
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    owner = django_user_model.objects.create_user("rita", password="rivers", is_staff=True)
    question_set = QuestionSet(owner=owner, name="rivers")
    questions = [(name, f"What is {name}?") for name in QUESTIONS]
    import_questions(question_set, write(tmp_path / "q.csv", ("question", "text"), questions))
    people, models = write_files(tmp_path)
    import_answers(question_set, people)
    import_model_answers(question_set, models)
    return question_set


def done(question_set, parameters=QUICK, kind="panels"):
    run = runs.queue_run(question_set.latest_version(), question_set.owner_id, parameters, kind)
    while work_one_turn():
        pass
    run.refresh_from_db()
    return run


def page(client, name, *ids):
    return client.get(reverse(f"admin:{name}", args=ids)).content.decode()


def rows_of(client, run, name):
    sent = client.get(reverse("admin:results-table", args=[run.public_id, name]))
    return list(csv.DictReader(io.StringIO(b"".join(sent).decode("utf-8-sig"))))


def test_the_page_says_how_far_models_are_from_people_and_warns_of_copies(
    client, rivers, rendered_messages
):
    run = done(rivers)
    assert run.state == "done", run.error
    client.force_login(rivers.owner)
    said = page(client, "results-run", run.public_id)
    told = {message.code: message.values for message in rendered_messages}
    assert told["panels.farther_than_halves"]["questions"] == 12
    assert told["panels.without_flagged"]["workers"] == 1
    alike = told["panels.models_alike"]
    assert alike["of_models"] > alike["of_people"]
    for code in ("farther_than_halves", "models_copy", "models_alike", "without_flagged"):
        sentence = site_sentence(f"panels.{code}", **told[f"panels.{code}"])
        assert escape(sentence) in said
    assert 'data-chart="panels"' in said
    assert PANEL_NAMES["unflagged_people"] in said
    people = {text for _, _, text in people_rows()}
    assert any(text in said for text in people)
    assert any(text in said for _, _, text, _ in model_rows() if text)
    picture = reverse("admin:results-chart", args=[run.public_id, "panels"])
    assert b"<svg" in client.get(picture).content


def test_tables_hold_names_and_every_question(client, rivers):
    run = done(rivers)
    client.force_login(rivers.owner)
    assert [row["panel"] for row in rows_of(client, run, "panels")][:3] == [
        *("people", "models", "people_and_models"),
    ]
    models = rows_of(client, run, "panel-models")
    assert {row["model"] for row in models} == {"Elk", "Ox", "Yak"}
    assert len(models) == 3 * 4
    questions = rows_of(client, run, "panel-questions")
    assert sorted(row["question"] for row in questions) == sorted(QUESTIONS)
    yak = next(row for row in questions if row["question"] == "q11")
    assert (yak["n_people"], yak["n_models"]) == ("9", "2")
    assert float(rows_of(client, run, "panel-distances")[0]["cosine"]) < 0.5


def test_the_report_is_read_over_rest(rivers):
    run = done(rivers)
    asking = APIClient()
    asking.force_authenticate(rivers.owner)
    sent = asking.get(f"/api/v1/runs/{run.public_id}/results/").json()
    first = PanelsSummary.from_json(run.summary).messages[0]
    assert first.code == "panels.farther_than_halves"
    assert sent["said"][0] == API.format_message(first)
    assert (sent["workers"], sent["flagged"]) == (9, 1)
    assert [model["name"] for model in sent["models"]] != []
    assert sent["ranked"] == ["people", "models", "people_and_models", "unflagged_people"]


def test_answers_that_were_withdrawn_since_are_told(client, rivers):
    run = done(rivers)
    Response.objects.all().delete()
    LLMResponse.objects.all().delete()
    client.force_login(rivers.owner)
    said = page(client, "results-run", run.public_id)
    assert said.count("withdrawn") == 3 * 10


def test_without_answers_of_models_it_says_what_to_do(rivers):
    LLMResponse.objects.all().delete()
    run = done(rivers)
    assert run.state == "failed"
    assert Message.from_stored(run.error) == Message("run.no_answer_of_a_model")


@pytest.mark.medium
def test_the_page_of_compared_models_leads_to_it(client, rivers):
    graded = AqerParameters(embedder="tfidf-word", bootstrap=0)
    assert done(rivers, graded, "aqer").state == "done"
    client.force_login(rivers.owner)
    said = page(client, "compare-models", rivers.public_id)
    start = reverse("admin:start", args=[rivers.public_id, "panels"])
    assert start in said
    assert client.get(start).status_code == 200
    run = done(rivers)
    said = page(client, "compare-models", rivers.public_id)
    assert SITE.format_message(PanelsSummary.from_json(run.summary).messages[0]) in unescape(said)
    assert reverse("admin:results-run", args=[run.public_id]) in said


@pytest.mark.medium
def test_excluded_workers_are_not_read(rivers):
    out = Worker.objects.filter(submissions__version__question_set=rivers).first()
    everybody = done(rivers)
    fewer = done(rivers, replace(QUICK, exclude_workers=(out.external_id,)))
    assert (everybody.summary["workers"], fewer.summary["workers"]) == (9, 8)
    assert everybody.input_hash != fewer.input_hash
    with pytest.raises(OptionError):
        done(rivers, replace(QUICK, exclude_workers=("nobody of this name",)))
