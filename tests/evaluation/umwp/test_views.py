"""Whether models notice that there is no answer: pages, REST and the terminal."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from rest_framework.test import APIClient

from annotations.exchange.reading.word_problems import CATEGORY_NAMES
from annotations.models import QuestionSet
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.run_types import get_kind
from evaluation.umwp.report.results import (
    FALSE_ALARM,
    MISSED,
    RIGHT,
    build_replies_page,
    mark_window,
)
from tests.evaluation.runs.run_types.texts import numbers_of
from tests.evaluation.umwp.world import PROBLEMS, QUICK, UNKNOWN, done, lines, options, said_by


@pytest.mark.medium
def test_the_page_tells_who_notices_and_what_the_numbers_mean(
    client, question_set, small, large, rita
):
    run = done(question_set, options(small, large, instruction=True))
    client.force_login(rita)
    shown = client.get(reverse("admin:results-run", args=[run.public_id]))
    page = shown.content.decode()
    told = {form: models for form, _, models in shown.context["forms"]}
    assert told.keys() == {"direct", "instruction"}
    (model,) = (one for one in told["direct"] if one.system == "small")
    counts = (model.noticed, model.without_answer, model.wrongly, model.with_answer)
    assert counts == (2, 2, 1, 3)
    sentence = page.split('id="form-direct"')[1].split("<bdi>small</bdi>")[1].split("</li>")[0]
    assert numbers_of(sentence) == [2, 2, 1, 3]
    for place in ("form-instruction", "compared", "categories", "contradictions"):
        assert f'id="{place}"' in page
    assert CATEGORY_NAMES[2] in page
    assert page.count("<figure") == 2
    for name in ("noticing", "by-size"):
        picture = client.get(reverse("admin:results-chart", args=[run.public_id, name]))
        assert picture.status_code == 200
    for name in get_kind("umwp").tables:
        answer = client.get(reverse("admin:results-table", args=[run.public_id, name]))
        header = b"".join(answer).decode("utf-8-sig").splitlines()[0]
        assert header.count(",") > 3, name


@pytest.mark.medium
def test_the_replies_stand_wrong_ones_first_with_why_they_were_taken_so(
    client, question_set, small, large, rita
):
    run = done(question_set, options(small, large))
    client.force_login(rita)
    address = reverse("admin:results-noticing-replies", args=[run.public_id])
    page = client.get(address).content.decode()
    missed, gave_up, right = (
        page.index(f'data-outcome="{one}"') for one in (MISSED, FALSE_ALARM, RIGHT)
    )
    assert missed < gave_up < right
    assert f"<mark>{UNKNOWN[:-1]}</mark>." in page
    assert f"<bdi>{UNKNOWN}</bdi>" in page
    assert "<code>3n+2</code>" in page
    chosen = client.get(address, {"model": "small", "outcome": "gave_up"}).content.decode()
    assert chosen.count("<article") == 1
    assert numbers_of(chosen.split('class="right-answers">')[1].split("</span>")[0]) == [2]
    none = client.get(address, {"outcome": "refused"}).content.decode()
    assert ('id="no-replies"' in none, 'id="no-replies"' in chosen) == (True, False)
    # What nobody offered shows all.
    assert (
        client.get(address, {"model": "<b>", "page": "99x"}).content.decode().count("<article")
        == 10
    )
    nowhere = reverse("admin:results-noticing-replies", args=[small.public_id])
    assert client.get(nowhere).status_code == 404


def test_pages_of_replies_go_on_to_the_last(question_set, small, large):
    run = done(question_set, options(small, large))
    first, last = build_replies_page(run, size=4), build_replies_page(run, page=9, size=4)
    assert (first.n, first.pages, len(first.replies)) == (10, 3, 4)
    assert (last.page, len(last.replies)) == (3, 2)
    seen = [
        (one.row.system, one.row.item)
        for number in (1, 2, 3)
        for one in build_replies_page(run, page=number, size=4).replies
    ]
    assert len(set(seen)) == 10
    # It says 55 to everything.
    assert build_replies_page(run, "large").counts == {"missed": 2, "wrong_number": 2, "right": 1}


def test_the_words_of_a_window_are_found_in_the_reply_as_it_was_written():
    found = mark_window("Well, The SUN\n is  hot (now).", "the sun is hot")
    assert (found.before, found.words, found.after) == ("Well, ", "The SUN\n is  hot", " (now).")
    assert mark_window("No.", "something else").before == "No."


def test_the_api_starts_a_run_and_tells_what_it_found(question_set, small, rita):
    api = APIClient()
    api.force_authenticate(rita)
    asked = {"models": [str(small.public_id)], "in_context": False, "instruction": False, **QUICK}
    answer = api.post(
        "/api/v1/runs/",
        {
            "question_set": str(question_set.public_id),
            "kind": "umwp",
            "parameters": asked,
        },
        format="json",
    )
    assert answer.status_code in (200, 201, 202), answer.content
    while work_one_turn():
        pass
    found = api.get(f"/api/v1/runs/{answer.json()['id']}/results/").json()
    assert found["models"][0]["f1"]["value"] == pytest.approx(4 / 5)
    assert found["categories"][0]["name"] == "key information missing"


@pytest.mark.medium
def test_the_page_that_starts_it_takes_a_file_and_ticked_models(client, rita, small, server):
    made = QuestionSet.objects.create(owner=rita, name="empty")
    start = reverse("admin:start", args=[made.public_id, "umwp"])
    client.force_login(rita)
    assert client.get(start).context["before"].ready is False

    def upload(content):
        file = SimpleUploadedFile("problems.jsonl", content)
        return client.post(start, {"problems": file}, follow=True).context["staged"]

    bad = lines([{**PROBLEMS[0], "category": 3}])
    assert [(one["line"], one["column"]) for one in upload(bad).problems] == [(1, "category")]
    tried = upload(lines())
    # Five problems, of which three have an answer.
    assert tried.report["n_new"] == 5
    assert made.latest_version() is None
    client.post(reverse("admin:upload-confirm", args=[made.public_id, tried.public_id]))
    before = client.get(start).context["before"]
    assert (before.ready, numbers_of(before.words)) == (True, [3, 2])
    form = {
        "models": [str(small.public_id)],
        "direct": "on",
        "rules": "fixed",
        "encoder": "tfidf-char",
        "threshold": "0.8",
        "bootstrap": "20",
        "seed": "0",
        "temperature": "0",
        "max_tokens": "16",
    }
    seen = client.post(start, form).context["seen"]
    answer = client.post(start, form | {"seen": seen})
    assert answer.status_code == 302, answer.content.decode()
    while work_one_turn():
        pass
    run = made.latest_version().runs.get()
    assert (run.state, run.kind, run.summary["forms"]) == ("done", "umwp", ["direct"])


def test_a_command_runs_it_and_tells_what_came_out(question_set, small, tmp_path):
    ids = tmp_path / "models.txt"
    ids.write_text(str(small.public_id))
    run = done(question_set, options(small))
    assert "noticed" in get_kind("umwp").text(run)
    said_by("run", "umwp", "problems", "--models", ids, "--no-instruction", "--no-wait")
    queued = question_set.latest_version().runs.latest("pk")
    assert queued.parameters["models"] == [str(small.public_id)]
    assert (queued.parameters["instruction"], queued.parameters["direct"]) == (False, True)
