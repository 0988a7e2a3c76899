"""The same over a question set: in turns, on its page, over REST."""

import csv
import io
import json
from dataclasses import replace

import pytest
from django.urls import reverse
from django.utils.html import escape
from rest_framework.test import APIClient

from annotations.models import Response, Worker
from evaluation.core.messages.message import Message
from evaluation.core.options import OptionError
from evaluation.models import RunData
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from evaluation.sample_size.run.trial import CrowdSizeParameters
from evaluation.sample_size.storage import ASIDE
from tests.evaluation.runs.run_types.crowds import crowd_set, let_an_expert_judge
from tests.sentences import site_sentence

QUICK = CrowdSizeParameters(embedder="tfidf-word", repetitions=3, bootstrap=20)


@pytest.fixture
def rivers(db, django_user_model, monkeypatch, tmp_path):
    """Rita's set with nine workers' answers."""
    return crowd_set(django_user_model, monkeypatch, tmp_path)


@pytest.fixture
def judged(rivers):
    """An expert's grades of every other answer."""
    return let_an_expert_judge(rivers)


def done(question_set, parameters=QUICK):
    run = runs.queue_run(
        question_set.latest_version(), question_set.owner_id, parameters, "crowd-size"
    )
    while work_one_turn():
        pass
    run.refresh_from_db()
    return run


@pytest.mark.medium
def test_the_page_says_how_many_are_enough_with_a_picture_and_the_numbers(
    client, judged, rendered_messages
):
    run = done(judged)
    assert run.state == "done", run.error
    client.force_login(judged.owner)
    said = client.get(reverse("admin:results-run", args=[run.public_id])).content.decode()
    told = {message.code: message.values for message in rendered_messages}
    enough = next(
        message.values
        for message in rendered_messages
        if (message.code, message.values.get("by")) == ("crowd_size.enough", "workers")
    )
    assert (enough["measure"], enough["full"]) == ("workers", 9)
    assert 3 <= enough["enough"] < 9
    basis = {"judged": 54, "judged_workers": 9}
    assert told["crowd_size.by_workers"].items() >= basis.items()
    for code, values in (("enough", enough), ("by_workers", basis)):
        assert escape(site_sentence(f"crowd_size.{code}", **values)) in said
    assert said.count('data-chart="crowd-size-') == 2
    assert "seed 0" in said
    table = client.get(reverse("admin:results-table", args=[run.public_id, "crowd-size"]))
    rows = list(csv.DictReader(io.StringIO(b"".join(table).decode("utf-8-sig"))))
    assert rows[0]["size"] == "3"
    picture = reverse("admin:results-chart", args=[run.public_id, "crowd-size-workers"])
    assert picture in said
    assert b"What more workers would have brought" in client.get(picture).content
    none = reverse("admin:results-chart", args=[run.public_id, "grades"])
    assert client.get(none).status_code == 404


@pytest.mark.medium
def test_the_report_is_read_over_rest(judged):
    api = APIClient()
    api.force_authenticate(judged.owner)
    body = {
        "question_set": str(judged.public_id),
        "kind": "crowd-size",
        "parameters": {"embedder": "tfidf-word", "repetitions": 3, "bootstrap": 20},
    }
    started = api.post("/api/v1/runs/", body, format="json")
    assert started.status_code == 202, started.json()
    while work_one_turn():
        pass
    found = api.get(api.get(started["Location"]).json()["results"]).json()
    assert (found["measure"], found["judged"], found["workers"]) == ("workers", 54, 9)
    first = found["verdicts"][0]
    assert (first["by"], first["full_size"]) == ("workers", 9)
    assert 0 < first["full"]["low"] < first["full"]["value"] < 1
    assert found["said"][0].startswith(f"With {first['enough']} workers")
    assert {point["by"] for point in found["points"]} == {"workers", "questions"}


@pytest.mark.medium
def test_a_run_goes_on_in_the_next_turn_with_what_it_tried(rivers, monkeypatch):
    run = runs.queue_run(rivers.latest_version(), rivers.owner_id, QUICK, "crowd-size")
    ticks = iter(range(10_000))
    # The time is up at some reading of the clock, while parts are tried.
    work_one_turn(seconds=30, clock=lambda: next(ticks))
    run.refresh_from_db()
    assert run.state == "queued"
    aside = RunData.objects.get(run=run, name=ASIDE).data["parts"]
    assert aside
    while work_one_turn():
        pass
    run.refresh_from_db()
    assert run.state == "done", run.error
    assert not RunData.objects.filter(run=run, name=ASIDE).exists()
    # JSON has lists for pairs.
    assert json.loads(json.dumps(run.summary)) == done(rivers).summary


def test_a_set_with_two_workers_says_what_is_missing(rivers):
    Response.objects.exclude(submission__worker__external_id__in=["w0", "w1"]).delete()
    run = done(rivers)
    assert run.state == "failed"
    assert Message.from_stored(run.error) == Message("run.too_few_workers", {"fewest": 3})


def test_without_judgements_it_says_so(client, rivers):
    run = done(rivers)
    client.force_login(rivers.owner)
    said = client.get(reverse("admin:results-run", args=[run.public_id])).content.decode()
    assert site_sentence("crowd_size.by_crowd", workers=9) in said


def test_excluded_workers_are_not_read(rivers):
    out = Worker.objects.filter(submissions__version__question_set=rivers).first()
    everybody = done(rivers)
    fewer = done(rivers, replace(QUICK, exclude_workers=(out.external_id,)))
    assert (everybody.summary["workers"], fewer.summary["workers"]) == (9, 8)
    assert everybody.input_hash != fewer.input_hash
    with pytest.raises(OptionError):
        done(rivers, replace(QUICK, exclude_workers=("nobody of this name",)))
