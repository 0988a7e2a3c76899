"""Runs over the API: started, watched, cancelled, done again; their results are the reports'."""

import io
import zipfile
from dataclasses import asdict

import pytest

from evaluation.consensus.parameters import AqerParameters
from evaluation.grading.results.report.questions import build_question_report
from evaluation.grading.results.report.run import build_run_report
from evaluation.grading.results.report.workers import read_worker_rows
from evaluation.models import Run, RunOfRecord
from evaluation.runs.background import runs as lifecycle
from evaluation.runs.background.leases import claim_next_run
from evaluation.runs.background.work import work_one_turn
from tests.api.conftest import problem

pytestmark = pytest.mark.django_db


def test_a_run_is_started_watched_and_read(api, world):
    asking = api(world.rana)
    parameters = {"embedder": "tfidf-word", "bootstrap": 0}
    body = {"question_set": str(world.set.public_id), "parameters": parameters}
    started = asking.post("runs/", body)
    assert started.status_code == 202
    assert started.json()["state"] == "queued"
    assert started.json()["progress"]["waiting"] is True  # no worker is running
    watched = asking.get(started.headers["Location"])
    assert watched.headers["Retry-After"] == "2"
    problem(asking.get(f"{started.headers['Location']}results/"), 409, "no-results")
    claim_next_run("worker")
    Run.objects.filter(state="running").update(stage="embedding", done=3, total=6)
    progress = asking.get(started.headers["Location"]).json()["progress"]
    assert (progress["stage"], progress["done"], progress["total"]) == ("embedding", 3, 6)
    assert progress["percent"] == 50
    Run.objects.filter(state="running").update(state="queued", stage="", done=0, total=None)
    assert work_one_turn()
    done = asking.get(started.headers["Location"])
    assert "Retry-After" not in done.headers
    assert done.json()["parameters"] == {**AqerParameters().as_dict(), **parameters}
    results = asking.get(done.json()["results"]).json()
    assert results["counts"]["answers"] == 6


def test_a_run_is_started_with_a_name_and_notes(api, world):
    asking = api(world.rana)
    body = {"question_set": str(world.set.public_id), "name": "Harder", "notes": "why"}
    started = asking.post("runs/", body)
    assert (started.json()["name"], started.json()["notes"]) == ("Harder", "why")
    assert asking.get("runs/").json()["results"][0]["name"] == "Harder"
    problem(asking.post("runs/", {**body, "name": "x" * 121}), 400, "invalid")


def test_name_and_notes_are_changed_and_what_is_left_out_stays(api, world):
    asking = api(world.rana)
    address = f"runs/{world.run.public_id}/"
    asking.patch(address, {"name": "Harder", "notes": "why"})
    changed = asking.patch(address, {"name": ""}).json()
    assert (changed["name"], changed["notes"]) == ("", "why")
    assert changed["called"] == asking.get("runs/").json()["results"][0]["called"]
    problem(asking.patch(address, {"name": "x" * 121}), 400, "invalid")
    problem(asking.patch(address, {"title": "x"}), 400, "invalid")


def test_a_run_that_is_done_is_made_the_run_of_record(api, world):
    asking = api(world.rana)
    address = f"runs/{world.run.public_id}/"
    assert asking.get(address).json()["of_record"] is True  # the first that was done
    RunOfRecord.objects.all().delete()
    assert asking.get(address).json()["of_record"] is False
    assert asking.post(f"{address}use/").json()["of_record"] is True
    assert asking.get("runs/").json()["results"][0]["of_record"] is True
    waiting = lifecycle.queue_run(world.version, world.rana.pk, AqerParameters(embedder="bow"))
    problem(asking.post(f"runs/{waiting.public_id}/use/"), 409, "conflict")


def test_a_run_is_cancelled_once_and_done_again(api, world):
    asking = api(world.rana)
    waiting = lifecycle.queue_run(world.version, world.rana.pk, AqerParameters(embedder="bow"))
    for _ in range(2):
        assert asking.post(f"runs/{waiting.public_id}/cancel/").json()["state"] == "cancelled"
    problem(asking.post(f"runs/{world.run.public_id}/cancel/"), 409, "conflict")
    again = asking.post(f"runs/{waiting.public_id}/again/")
    assert again.status_code == 202
    assert again.json()["parameters"]["embedder"] == "bow"
    assert again.json()["id"] != str(waiting.public_id)


def test_a_run_is_paused_and_resumed_and_one_that_ended_is_neither(api, world):
    asking = api(world.rana)
    waiting = lifecycle.queue_run(world.version, world.rana.pk, AqerParameters(embedder="bow"))
    address = f"runs/{waiting.public_id}/"
    for _ in range(2):
        paused = asking.post(f"{address}pause/")
        assert (paused.status_code, paused.json()["state"]) == (200, "paused")
    assert paused.json()["progress"]["waiting"] is False
    assert asking.get("runs/?state=paused").json()["results"][0]["id"] == str(waiting.public_id)
    for _ in range(2):
        assert asking.post(f"{address}resume/").json()["state"] == "queued"
    for verb in ("pause", "resume"):
        problem(asking.post(f"runs/{world.run.public_id}/{verb}/"), 409, "conflict")


@pytest.mark.parametrize(
    ("parameters", "at"),
    [
        ({"tolerance": -1}, "tolerance"),
        ({"tolerance": "nan"}, "tolerance"),
        ({"bootstrap": 1}, "bootstrap"),
        ({"init": "entailment"}, "init"),
        ({"nli": "model", "facts": False}, "nli"),
        ({"aggregation": "majority"}, "aggregation"),
        ({"embedder": "nothing"}, "embedder"),
        ({"embedder": "precomputed:/etc/passwd"}, "embedder"),
        ({"embedder": "openai:m@http://10.0.0.1/v1"}, "embedder"),
        ({"bootstrap": -1}, "bootstrap"),
        ({"bootstraps": 1}, "bootstraps"),
        ({"group_vote": 0.5}, "group_vote"),
        ({"camps": True, "anchors": True}, "camps"),
        ({"exclude_workers": ["nobody"]}, "exclude_workers"),
    ],
)
def test_parameters_that_will_not_do_are_named(api, world, parameters, at):
    body = {"question_set": str(world.set.public_id), "parameters": parameters}
    found = problem(api(world.rana).post("runs/", body), 400, "invalid")
    assert [error["pointer"] for error in found["errors"]] == [f"#/parameters/{at}"]
    assert "--" not in found["errors"][0]["detail"]
    assert Run.objects.count() == 1


def test_operators_may_name_a_server(api, world):
    body = {
        "question_set": str(world.set.public_id),
        "parameters": {"embedder": "openai:m@http://127.0.0.1:9/v1"},
    }
    assert api(world.ida).post("runs/", body).status_code == 202


def test_a_set_without_answers_or_of_somebody_else_is_not_graded(api, world):
    asking = api(world.otto)
    empty = asking.post("question-sets/", {"name": "Empty"}).json()["id"]
    for set_id in (empty, str(world.set.public_id)):
        found = problem(asking.post("runs/", {"question_set": set_id}), 400, "invalid")
        assert found["errors"][0]["pointer"] == "#/question_set"
    assert "xyzzy" not in str(found)


def test_results_are_those_of_the_reports(api, world):
    asking, results = api(world.rana), f"runs/{world.run.public_id}/results/"
    run = Run.objects.select_related("version__question_set").get(pk=world.run.pk)
    sent = asking.get(results).json()
    report = asdict(build_run_report(run))
    for name in ("counts", "trace", "iterations", "converged", "n_workers", "changed", "ceiling"):
        assert sent[name] == report[name], name
    sent = asking.get(f"{results}workers/").json()["results"]
    rows = read_worker_rows(run).rows
    assert [row["grade"]["value"] for row in sent] == [row.grade.value for row in rows]
    question = asking.get(f"{results}questions/?by=dispersion").json()["results"][0]["question"]
    sent = asking.get(f"{results}questions/{question}/").json()
    expected = build_question_report(run, question)
    texts = [answer.text for answer in expected.answers.rows]
    assert [answer["text"] for answer in sent["answers"]["results"]] == texts
    assert sent["models"][0]["score"] == expected.models[0].score
    assert len(asking.get(f"{results}models/").json()["results"]) == 1
    problem(asking.get(f"{results}questions/?by=luck"), 400, "invalid")
    packed = b"".join(asking.get(f"{results}consensus/").streaming_content)
    names = zipfile.ZipFile(io.BytesIO(packed)).namelist()
    assert any(name.endswith("consensus.jsonl") for name in names)


def test_too_many_runs_at_a_time_are_told_as_such(api, world, settings):
    settings.RUNS_PER_USER = 1
    asking = api(world.rana)
    body = {"question_set": str(world.set.public_id), "parameters": {"embedder": "tfidf-word"}}
    assert asking.post("runs/", body).status_code == 202
    said = problem(asking.post("runs/", body), 409, "conflict")
    (fault,) = said["errors"]
    assert fault["code"] == "too_many_runs"
    assert "1" in said["detail"]
