"""A judge over a question set: asked in turns, never twice, on its page and over REST."""

import csv
import io
import re
from dataclasses import replace

import pytest
from django.urls import reverse
from django.utils.html import escape
from rest_framework.test import APIClient

from evaluation.core.messages.message import Message
from evaluation.core.options import OptionError
from evaluation.llm_judge.options import SCORE, JudgeParameters
from evaluation.models import JudgementRequest, LanguageModel, Run, RunData
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.steps.checkpoints import Lane
from tests.evaluation.core.backends.chat.fake import FakeChat, error, said
from tests.evaluation.runs.background.embedding_server import EmbeddingServer
from tests.evaluation.runs.background.lanes import work_in_two_lanes
from tests.evaluation.runs.run_types.crowds import (
    answers_of,
    crowd_set,
    grade_of,
    let_an_expert_judge,
)
from tests.sentences import site_sentence

# Two answers to a question in the same words are asked about once.
DIFFERENT = len({(question, text) for _, question, text in answers_of()})
QUICK = JudgeParameters(embedder="tfidf-word", bootstrap=20, pairs=1)


def kind(body):
    """One point too kind, and always for what is shown first."""
    content = body["messages"][0]["content"]
    if "Answer A: " in content:
        return said("A")
    text = re.search("Answer: (.*)", content)[1]
    return said(str(min(5.0, grade_of(text) + 1)))


@pytest.fixture
def chat():
    server = FakeChat(kind)
    yield server
    server.close()


@pytest.fixture
def rivers(db, settings, django_user_model, monkeypatch, tmp_path):
    settings.MODEL_NETWORKS = ["127.0.0.0/8", "::1/128"]
    return crowd_set(django_user_model, monkeypatch, tmp_path)


@pytest.fixture
def model(rivers, chat):
    return LanguageModel.objects.create(owner=rivers.owner, name="kind one", spec=chat.spec)


def started(question_set, model, **more):
    parameters = replace(QUICK, **{"judge": str(model.public_id), **more})
    return runs.queue_run(question_set.latest_version(), question_set.owner_id, parameters, "judge")


def done(run):
    while work_one_turn():
        pass
    run.refresh_from_db()
    return run


@pytest.mark.slow
def test_the_page_says_what_the_judge_is_worth_and_what_it_was_told(
    client, rivers, model, rendered_messages
):
    run = done(started(let_an_expert_judge(rivers), model))
    assert run.state == "done", run.error
    client.force_login(rivers.owner)
    shown = client.get(reverse("admin:results-run", args=[run.public_id])).content.decode()
    said = {message.code: message.values for message in rendered_messages}
    assert said["judge.itself"]["same"] == 1.0
    assert (said["judge.order"]["place"], said["judge.order"]["share"]) == ("first", 1.0)
    assert said["judge.corrected"]["kind"] == "too kind"
    assert 0 < said["judge.corrected"]["error"] < 1
    for code in ("judge.itself", "judge.order", "judge.corrected"):
        assert escape(site_sentence(code, **said[code])) in shown
    assert SCORE.hash[:12] in shown
    assert escape(SCORE.template) in shown
    assert 'id="no-score"' not in shown
    assert 'id="error-unknown"' not in shown
    assert 'data-chart="corrected"' in shown
    assert (
        b"<svg"
        in client.get(reverse("admin:results-chart", args=[run.public_id, "corrected"])).content
    )


@pytest.mark.slow
def test_a_judge_that_was_cut_off_is_not_asked_again_and_the_remedy_is_told(rivers, model, chat):
    cut = []

    def reply(body):
        if not cut:
            cut.append(body)
            return said("", "length")
        return kind(body)

    chat.reply = reply
    run = done(started(let_an_expert_judge(rivers), model))
    assert run.state == "done", run.error
    assert sum(one["cut_off"] for one in run.summary["asked"]) == 1
    assert run.summary["asked_again"] == 0
    told = [one["values"] for one in run.warnings if one["code"] == "study_replies_cut_off"]
    assert told == [{"count": 1, "names": "kind one", "raise": ""}]


@pytest.mark.medium
def test_the_form_counts_what_the_judge_will_be_asked(client, rivers, model, chat):
    client.force_login(rivers.owner)
    address = reverse("admin:start", args=[rivers.public_id, "judge"])
    sent = {"judge": str(model.public_id), "repeats": "1", "pairs": "1", "do": "foresee"}
    sent |= {"embedder": "tfidf-word", "precision": "float32", "bootstrap": "20", "seed": "0"}
    shown = client.post(address, sent)
    assert shown.status_code == 200
    found = shown.context["foreseen"]
    assert [one.step for one in found.takes] == ["Scoring", "Comparing pairs"]
    assert found.cost is None  # the model has no prices
    assert chat.bodies == []
    done(started(rivers, model, repeats=1))
    assert found.requests == len(chat.bodies)


@pytest.mark.slow
def test_its_tables_name_workers_and_questions_by_their_own_ids(client, rivers, model):
    run = done(started(let_an_expert_judge(rivers), model))
    client.force_login(rivers.owner)

    def table(name):
        response = client.get(reverse("admin:results-table", args=[run.public_id, name]))
        return list(csv.DictReader(io.StringIO(b"".join(response).decode("utf-8-sig"))))

    scores = {(row["worker"], row["question"]): float(row["score"]) for row in table("scores")}
    assert scores == {(w, q): min(5.0, grade_of(text) + 1) for w, q, text in answers_of()}
    assert len(table("pairs")) == 12
    assert all(row["first"].startswith("w") for row in table("pairs"))
    assert [row["of"] for row in table("corrected")] == ["workers", *["worker"] * 9]
    assert table("corrected")[1]["name"] == "w0"
    error = next(row for row in table("agreement") if row["metric"] == "experts_error")
    graded = [grade_of(text) for *_, text in answers_of()[::2]]
    expected = sum(min(5.0, grade + 1) - grade for grade in graded) / len(graded)
    assert float(error["value"]) == pytest.approx(expected)


@pytest.mark.slow
def test_a_turn_that_is_over_goes_on_in_the_next_and_nothing_is_asked_twice(rivers, model, chat):
    run = started(rivers, model, repeats=1)

    def slow(body):
        answer = kind(body)
        answer.delay = 0.05
        return answer

    chat.reply = slow
    # Twenty seconds are left for what comes after the asking: one second of it is for asking.
    work_one_turn(seconds=20.2)
    run.refresh_from_db()
    assert run.state == "queued"
    first = len(chat.bodies)
    assert 0 < first < DIFFERENT
    kept = RunData.objects.filter(run=run, name__startswith="reply:").count()
    assert first - 8 <= kept <= first
    chat.reply = kind
    assert done(run).state == "done", run.error
    # The answers, and 12 pairs twice; what was under way when the turn ended may come again.
    assert DIFFERENT + 24 <= len(chat.bodies) <= DIFFERENT + 24 + 8
    contents = [(b["messages"][0]["content"], b["seed"]) for b in chat.bodies]
    assert len(set(contents)) == DIFFERENT + 24


@pytest.mark.slow
def test_another_run_asks_only_what_no_earlier_one_has_got(rivers, model, chat):
    assert done(started(rivers, model, repeats=1)).summary["usage"]["requests"] == DIFFERENT + 24
    asked = len(chat.bodies)
    run = done(started(let_an_expert_judge(rivers), model, repeats=2))
    # The second asking of each answer, with a seed of its own.
    assert len(chat.bodies) == asked + DIFFERENT
    assert run.summary["usage"]["requests"] == DIFFERENT
    assert run.summary["workers"]["tuned"]["mean"] is not None


@pytest.mark.medium
def test_unreadable_replies_are_asked_for_once_more_and_left_empty(client, rivers, model, chat):
    chat.reply = lambda body: said("A" if "Answer A: " in str(body) else "quite good")
    run = done(started(rivers, model, repeats=1, pairs=0))
    assert run.state == "done", run.error
    assert run.summary["without_score"] == run.summary["asked_again"] == 108
    assert len(chat.bodies) == 2 * DIFFERENT
    assert any(warning["code"] == "judge.unread" for warning in run.warnings)
    client.force_login(rivers.owner)
    shown = client.get(reverse("admin:results-run", args=[run.public_id])).content.decode()
    assert 'id="no-score"' in shown
    assert 'id="error-unknown"' in shown


def test_a_judge_that_cannot_be_asked_fails_with_the_reason(rivers, model, chat):
    chat.reply = lambda body: error(401, "invalid_api_key")
    run = done(started(rivers, model))
    assert run.state == "failed"
    told = Message.from_stored(run.error)
    assert (told.code, "401" in told.values["reason"]) == ("run.judge_not_asked", True)


def test_only_a_model_of_ones_own_judges(rivers, model, django_user_model):
    waiting = started(rivers, model)
    model.owner = django_user_model.objects.create_user("olga")
    model.save()
    with pytest.raises(OptionError) as error:
        started(rivers, model)
    assert [wrong.code for wrong in error.value.problems] == ["unknown_judge"]
    run = done(waiting)
    assert (run.state, Message.from_stored(run.error)) == (
        "failed",
        Message("run.judge_not_registered"),
    )


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"judge": None}, "no_judge"),
        ({"judge": "small"}, "unknown_judge"),
        ({"budget": 1.0}, "no_prices"),
    ],
)
def test_a_run_that_cannot_begin_is_not_started(rivers, model, more, code):
    with pytest.raises(OptionError) as error:
        started(rivers, model, **more)
    assert [wrong.code for wrong in error.value.problems] == [code]
    assert not Run.objects.exists()


def test_a_budget_ends_it(rivers, model, chat):
    model.price_in = model.price_out = 1_000_000.0
    model.parameters = {"max_tokens": 10}
    model.save()
    run = done(started(rivers, model, budget=400.0, repeats=1, pairs=0))
    assert run.state == "failed"
    told = Message.from_stored(run.error)
    assert told.code == "run.budget_used_up"
    assert 0 < len(chat.bodies) < 108
    assert told.values["left"] == DIFFERENT - len(chat.bodies)


@pytest.mark.medium
def test_answers_that_a_run_suggested_are_no_random_ones_and_it_says_so(rivers, model):
    judged = let_an_expert_judge(rivers)
    before = done(started(judged, model, repeats=1, pairs=0))
    assert not any(warning["code"] == "judge.chosen" for warning in before.warnings)
    response = judged.owner.judgements.first().response
    JudgementRequest.objects.create(response=response, expert=judged.owner, run=before, place=1)
    after = done(started(judged, model, repeats=1, pairs=0))
    assert any(warning["code"] == "judge.chosen" for warning in after.warnings)


@pytest.mark.medium
def test_it_is_started_from_a_form_that_offers_ones_models(client, rivers, model):
    LanguageModel.objects.create(owner=rivers.owner, name="imported only")
    client.force_login(rivers.owner)
    address = reverse("admin:start", args=[rivers.public_id, "judge"])
    shown = client.get(address).content.decode()
    assert "kind one" in shown
    assert "imported only" not in shown
    assert (
        address
        in client.get(reverse("admin:question-set", args=[rivers.public_id])).content.decode()
    )
    form = {"judge": str(model.public_id), "repeats": "1", "pairs": "0", "embedder": "tfidf-word"}
    form |= {"precision": "float32", "bootstrap": "20", "seed": "0"}
    unseen = client.post(address, form)
    assert unseen.context["is_unseen"]
    posted = client.post(address, form | {"seen": unseen.context["seen"]})
    assert posted.status_code == 302, posted.content.decode()
    run = rivers.latest_version().runs.get()
    assert run.parameters["judge"] == str(model.public_id)
    assert done(run).state == "done"


def test_without_a_model_the_form_says_where_to_register_one(client, rivers):
    client.force_login(rivers.owner)
    shown = client.get(reverse("admin:start", args=[rivers.public_id, "judge"])).content.decode()
    assert f'href="{reverse("admin:models")}">Register' in shown
    assert 'name="judge"' not in shown


@pytest.mark.medium
def test_the_report_is_read_over_rest(rivers, model):
    api = APIClient()
    api.force_authenticate(rivers.owner)
    let_an_expert_judge(rivers)
    body = {
        "question_set": str(rivers.public_id),
        "kind": "judge",
        "parameters": {
            "judge": str(model.public_id),
            "embedder": "tfidf-word",
            "bootstrap": 20,
            "repeats": 1,
            "pairs": 0,
        },
    }
    answered = api.post("/api/v1/runs/", body, format="json")
    assert answered.status_code == 202, answered.json()
    while work_one_turn():
        pass
    found = api.get(api.get(answered["Location"]).json()["results"]).json()
    assert (found["judge"], found["answers"], found["judged"]) == ("kind one", 108, 54)
    assert found["prompts"][0]["hash"] == SCORE.hash
    numbers = {one["metric"]: one for one in found["agreement"]}
    assert numbers["experts_pearson"]["value"] > 0.8
    assert numbers["repetition_same"]["why"]
    assert found["workers"]["low"] < found["workers"]["mean"] < found["workers"]["high"]


@pytest.mark.slow
def test_a_judge_and_a_remote_embedder_end_where_asking_and_computing_are_two_processes(
    rivers, model, chat
):
    server = EmbeddingServer()
    rivers.owner.is_superuser = True  # others may not name a server
    rivers.owner.save()
    try:
        run = started(let_an_expert_judge(rivers), model, embedder=server.spec)
        assert work_in_two_lanes(run, most=2) == [Lane.ASKING, Lane.COMPUTING]
    finally:
        server.close()
    assert run.state == "done", run.error
    assert len(server.asked) == len(set(server.asked)) > 0
