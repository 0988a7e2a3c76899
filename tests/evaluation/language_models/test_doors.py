"""Asking models from the command line, over the API and from the pages; and what is graded then."""

import csv
import io
import json
import re

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from rest_framework.test import APIClient

from annotations.models import Response
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.options import TERMINAL, build_problem
from evaluation.models import LLMAnswerScore, LLMResponse, Run
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.flow.asking.options import AskOptions
from evaluation.runs.flow.asking.plan import Prompt
from evaluation.runs.flow.asking.summary import ENDS, AskSummary
from evaluation.runs.run_types import get_kind
from evaluation.runs.steps.asking.registration import create_prompt
from tests.annotations import world as crowd
from tests.evaluation.core.backends.chat.fake import error, fake_chat, question_of, said
from tests.evaluation.language_models import asked, model, queued, texts, worked
from tests.evaluation.runs.run_types.texts import numbers_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def at_once(monkeypatch):
    """What watches a run works on it."""

    def watch(run, show):
        worked(run)

    monkeypatch.setattr("evaluation.management.running.follow_run", watch)


@pytest.fixture
def api(rana):
    client = APIClient()
    client.force_authenticate(rana)
    return client


def collect(*arguments):
    """Output and exit code of the command."""
    out = io.StringIO()
    try:
        call_command("collect", "rivers", *map(str, arguments), stdout=out, stderr=out)
    except CommandError as refused:
        return out.getvalue() + str(refused), refused.returncode
    except SystemExit as ended:
        return out.getvalue(), ended.code
    return out.getvalue(), 0


def test_the_command_asks_models_by_their_names_and_writes_tables(
    version, rana, small, at_once, tmp_path
):
    create_prompt(rana.pk, "brief", Prompt("closed", "{question} Briefly.", ""))
    told, code = collect(
        *("--models", "small", "--prompt", "brief", "--samples", 2, "--temperature", 1),
        *("--output", tmp_path),
    )
    assert code == 0, told
    # Questions, models, samples of each.
    assert any(numbers_of(line)[:3] == [6, 1, 2] for line in told.splitlines())
    assert "small        12" in told
    rows = list(csv.DictReader((tmp_path / "answers.csv").read_text("utf-8-sig").splitlines()))
    assert len(rows) == 12
    assert rows[0]["answer"].endswith("Briefly.")
    assert (rows[0]["model"], rows[0]["question"], rows[0]["prompt_tokens"]) == (
        "small",
        "r1",
        "10",
    )
    assert (tmp_path / "errors.csv").exists()


def test_the_command_says_by_its_exit_code_that_some_are_errors(version, rana, small, at_once):
    with fake_chat(lambda body: error(401)) as locked:
        model(rana, "locked", locked.spec)
        told, code = collect("--models", "small", "locked")
    assert code == 3
    (locked,) = (
        one for one in AskSummary.from_json(Run.objects.get().summary).models if one.reason
    )
    assert (locked.name, locked.end, "401" in locked.reason) == ("locked", "given_up", True)
    assert f"locked: {ENDS['given_up']}: {locked.reason}" in told


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (["--prompt", "none"], build_problem("unknown_prompt", "prompt")),
        (["--prompt", "passage"], build_problem("no_passage", "prompt", count=6)),
    ],
)
def test_the_command_refuses_what_cannot_be_with_code_2(version, small, arguments, wrong):
    told, code = collect("--models", "small", *arguments)
    assert (code, TERMINAL.format_field_problem(AskOptions, wrong) in told) == (2, True), told
    assert not Run.objects.exists()


def test_the_command_names_a_model_that_is_not_there_and_those_that_are(version, small):
    told, code = collect("--models", "large")
    assert (code, " large; " in told, told.endswith(": small")) == (2, True, True), told
    assert not Run.objects.exists()


def test_a_dry_run_shows_and_counts_and_sends_nothing(version, small, chat):
    told, code = collect("--models", "small", "--dry-run")
    assert code == 0
    assert "user: Question: Where is river 1?" in told
    # Answers, and those of them that are stored.
    assert [6, 0] in [numbers_of(line) for line in told.splitlines()]
    assert 0 < float(re.search(r"money: .* (\d+\.\d+)$", told, re.MULTILINE)[1]) < 0.01
    assert (chat.bodies, Run.objects.exists()) == ([], False)


def test_no_wait_leaves_the_run_to_the_worker(version, small):
    told, code = collect("--models", "small", "--no-wait")
    assert (code, Run.objects.get().state) == (0, "queued"), told


def test_a_run_is_started_paused_resumed_and_read_over_the_api(api, version, small):
    body = {
        "question_set": str(version.question_set.public_id),
        "kind": "ask",
        "parameters": {"models": [str(small.public_id)], "temperature": 0.5},
    }
    started = api.post("/api/v1/runs/", body, format="json")
    assert started.status_code == 202, started.json()
    address = started["Location"]
    assert api.post(f"{address}pause/").json()["state"] == "paused"
    assert not work_one_turn()
    assert api.post(f"{address}resume/").json()["state"] == "queued"
    while work_one_turn():
        pass
    done = api.get(address).json()
    assert done["state"] == "done"
    found = api.get(done["results"]).json()
    assert found["models"][0]["answered"] == 6
    lines = b"".join(api.get(f"{done['results']}tables/answers/")).decode().splitlines()
    assert json.loads(lines[0])["question"] == "r1"


@pytest.mark.parametrize(
    ("changed", "at"),
    [
        ({"models": []}, "#/parameters/models"),
        ({"models": ["0192f3c4-0000-7000-8000-000000000000"]}, "#/parameters/models"),
        ({"prompt": "none"}, "#/parameters/prompt"),
        ({"budget": -1}, "#/parameters/budget"),
        ({"embedder": "bow"}, "#/parameters/embedder"),
    ],
)
def test_the_api_refuses_what_cannot_be_at_its_key(api, version, small, changed, at):
    body = {
        "question_set": str(version.question_set.public_id),
        "kind": "ask",
        "parameters": {"models": [str(small.public_id)], **changed},
    }
    refused = api.post("/api/v1/runs/", body, format="json")
    assert refused.status_code == 400
    assert refused.json()["errors"][0]["pointer"] == at


def test_what_an_operator_started_a_requester_does_not_repeat(api, version, rana, tmp_path, client):
    olga = crowd.user("olga", is_staff=True, is_superuser=True)
    path = tmp_path / "replies.csv"
    path.write_text("question,reply\n" + "".join(f"r{n},to {n}\n" for n in range(1, 7)))
    run = worked(queued(version, model(olga, "scripted", f"replies:{path}"), owner=olga))
    refused = api.post(f"/api/v1/runs/{run.public_id}/again/")
    assert refused.status_code == 409
    client.force_login(rana)
    form = client.get(reverse("admin:run-again", args=[run.public_id]), follow=True)
    assert form.redirect_chain[-1][0].endswith(f"?like={run.public_id}&version=1")
    assert f'href="{reverse("admin:model-new")}">Register' in form.content.decode()
    assert 'name="models"' not in form.content.decode()
    assert Run.objects.count() == 1


def test_an_operators_embedder_is_not_run_again_by_a_requester(api, version, rana):
    submission = crowd.submission(version)
    crowd.response(submission)
    Response.objects.update(state="submitted")
    olga = crowd.user("olga", is_staff=True, is_superuser=True)
    reserved = AqerParameters(embedder="openai:m@http://10.0.0.1/v1")
    run = runs.queue_run(version, olga.pk, reserved)
    refused = api.post(f"/api/v1/runs/{run.public_id}/again/")
    assert refused.status_code == 409
    assert "Only operators" in refused.json()["detail"]
    assert Run.objects.count() == 1


def test_pages_of_a_run_that_asked_show_its_models_and_answers(client, rana, version, small):
    client.force_login(rana)
    run = worked(queued(version, small))
    shown = client.get(reverse("admin:run", args=[run.public_id])).content.decode()
    assert reverse("admin:results-run", args=[run.public_id]) in shown
    results = client.get(reverse("admin:results-run", args=[run.public_id])).content.decode()
    assert "small" in results


@pytest.mark.medium
def test_what_was_collected_is_graded_like_imported_answers_the_latest_asking_first(
    version, rana, small
):
    for who in ("ada", "ben", "cy"):
        submission = crowd.submission(version, who)
        for n in range(1, 7):
            crowd.response(submission, f"r{n}", f"in the hills of {n}")
    Response.objects.update(state="submitted")

    def graded():
        run = runs.queue_run(version, rana.pk, AqerParameters(embedder="bow", bootstrap=0))
        worked(run)
        assert run.state == "done", run.error
        rows = LLMAnswerScore.objects.filter(run=run).select_related("llm_response")
        return {row.llm_response.parameters["temperature"] for row in rows}, len(rows)

    asked(version, small)
    asked(version, small, temperature=0.5, samples=2)
    assert graded() == ({0.5}, 6)
    # Asked once more as at first: nothing is sent, and it is the latest asking again.
    (again,) = asked(version, small).models
    assert again.asked == 0
    assert graded() == ({0.0}, 6)


def test_an_export_of_collected_answers_is_read_again_and_changes_nothing(
    version, small, tmp_path, rana
):
    asked(version, small, samples=2, temperature=1.0)
    path = tmp_path / "answers.csv"
    call_command("export_model_answers", "rivers", "--output", str(path))
    before = list(LLMResponse.objects.order_by("pk").values_list("pk", "text", "request"))
    call_command("import_model_answers", "rivers", str(path))
    assert list(LLMResponse.objects.order_by("pk").values_list("pk", "text", "request")) == before


def test_the_text_of_a_terminal_names_what_failed(version, rana):
    def reply(body):
        return said("yes") if "river 3" in question_of(body) else error(422, "odd")

    with fake_chat(reply) as odd:
        run = worked(queued(version, model(rana, "odd", odd.spec)))
    told = get_kind("ask").text(run)
    (line,) = (one for one in told.splitlines() if "odd: 5 bad_request: " in one)
    assert "422" in line
    assert texts(run.replies.first().model)["r3", 0] == "yes"
