"""Whether models notice that there is no answer: pages, REST and the terminal."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from rest_framework.test import APIClient

from annotations.models import QuestionSet
from evaluation.background.work import work_one_turn
from evaluation.kinds import kind_named
from evaluation.reports.umwp_replies import marked, replies_page
from tests.evaluation.kinds.umwp.world import PROBLEMS, QUICK, done, lines, options, said_by


def test_the_page_tells_who_notices_and_what_the_numbers_mean(
    client, question_set, small, large, rita
):
    run = done(question_set, options(small, large, instruction=True))
    client.force_login(rita)
    page = client.get(reverse("admin:results-run", args=[run.public_id])).content.decode()
    assert "noticed 2 of 2 questions without an answer" in page
    assert "said of 1 of 3 questions with one" in page
    assert "told before that some questions have no answer" in page
    assert "Is one model better than another?" in page
    assert "ambiguous key information" in page
    assert "Questions that contradict each other" in page
    assert page.count("<figure") == 2
    for name in ("noticing", "by-size"):
        picture = client.get(reverse("admin:results-chart", args=[run.public_id, name]))
        assert picture.status_code == 200
    for name in kind_named("umwp").tables:
        answer = client.get(reverse("admin:results-table", args=[run.public_id, name]))
        header = b"".join(answer).decode("utf-8-sig").splitlines()[0]
        assert header.count(",") > 3, name


def test_the_replies_stand_wrong_ones_first_with_why_they_were_taken_so(
    client, question_set, small, large, rita
):
    run = done(question_set, options(small, large))
    client.force_login(rita)
    address = reverse("admin:results-noticing-replies", args=[run.public_id])
    page = client.get(address).content.decode()
    missed = page.index("did not notice that there is no answer</span>")
    gave_up = page.index("said that there is no answer, and there is one</span>")
    assert missed < gave_up < page.index(">right</span>")
    assert "<mark>It cannot be determined</mark>." in page
    assert "like the template “<bdi>It cannot be determined.</bdi>”" in page
    assert "<code>3n+2</code>" in page
    chosen = client.get(address, {"model": "small", "outcome": "gave_up"}).content.decode()
    assert chosen.count("<article") == 1
    assert "The question has an answer: 2." in chosen
    assert "No reply is like that." in client.get(address, {"outcome": "refused"}).content.decode()
    # What nobody offered shows all.
    assert (
        client.get(address, {"model": "<b>", "page": "99x"}).content.decode().count("<article")
        == 10
    )
    nowhere = reverse("admin:results-noticing-replies", args=[small.public_id])
    assert client.get(nowhere).status_code == 404


def test_pages_of_replies_go_on_to_the_last(question_set, small, large):
    run = done(question_set, options(small, large))
    first, last = replies_page(run, size=4), replies_page(run, page=9, size=4)
    assert (first.n, first.pages, len(first.replies)) == (10, 3, 4)
    assert (last.page, len(last.replies)) == (3, 2)
    seen = [
        (one.row.system, one.row.item)
        for number in (1, 2, 3)
        for one in replies_page(run, page=number, size=4).replies
    ]
    assert len(set(seen)) == 10
    # It says 55 to everything.
    assert replies_page(run, "large").counts == {"missed": 2, "wrong_number": 2, "right": 1}


def test_the_words_of_a_window_are_found_in_the_reply_as_it_was_written():
    found = marked("Well, It CANNOT\n be  determined (now).", "it cannot be determined")
    assert (found.before, found.words, found.after) == (
        "Well, ",
        "It CANNOT\n be  determined",
        " (now).",
    )
    assert marked("No.", "something else").before == "No."


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


def test_the_page_that_starts_it_takes_a_file_and_ticked_models(client, rita, small, server):
    made = QuestionSet.objects.create(owner=rita, name="empty")
    start = reverse("admin:start", args=[made.public_id, "umwp"])
    client.force_login(rita)
    assert "There is no question with a text yet." in client.get(start).content.decode()

    def upload(content):
        file = SimpleUploadedFile("problems.jsonl", content)
        return client.post(start, {"problems": file}, follow=True).content.decode()

    bad = lines([{**PROBLEMS[0], "category": 3}])
    assert "Line 1, column category: it is answerable, but has category 3" in upload(bad)
    assert made.latest_version() is None
    assert "3 have an answer, 2 have none." in upload(lines())
    assert "3 questions have an answer, 2 have none." in client.get(start).content.decode()
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
    answer = client.post(start, form)
    assert answer.status_code == 302, answer.content.decode()
    while work_one_turn():
        pass
    run = made.latest_version().runs.get()
    assert (run.state, run.kind, run.summary["forms"]) == ("done", "umwp", ["direct"])


def test_a_command_runs_it_and_tells_what_came_out(question_set, small, tmp_path):
    ids = tmp_path / "models.txt"
    ids.write_text(str(small.public_id))
    run = done(question_set, options(small))
    assert "noticed" in kind_named("umwp").text(run)
    said_by("run", "umwp", "problems", "--models", ids, "--no-instruction", "--no-wait")
    queued = question_set.latest_version().runs.latest("pk")
    assert queued.parameters["models"] == [str(small.public_id)]
    assert (queued.parameters["instruction"], queued.parameters["direct"]) == (False, True)
