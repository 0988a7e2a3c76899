"""Crowds with too little to grade, from the start form and over REST: a result or a reason."""

import csv

import pytest
from django.urls import reverse
from django.utils.html import escape
from rest_framework.test import APIClient

from annotations.exchange.importing import import_answers, import_questions
from annotations.models import QuestionSet
from evaluation.models import Run
from evaluation.runs.background.work import work_one_turn

WORKERS = ("ann", "ben", "cy", "dee")
TEXTS = (
    "the river begins in the mountains",
    "a stream comes down from the hills",
    "it rains on the northern plain",
    "nobody knows where the water is from",
)
EXTRA = ("salt", "moss", "fern")
SIX = tuple(f"q{n}" for n in range(1, 7))


def build_rows(workers, questions, text=lambda worker, question: TEXTS[(worker + question) % 4]):
    """Return answers.csv's rows: each worker's text to each question."""
    return [
        (name, question, text(worker, place))
        for worker, name in enumerate(workers)
        for place, question in enumerate(questions)
    ]


SAME = build_rows(WORKERS, SIX, lambda *_: TEXTS[0])
# Name: answers, category of each question, options, warnings, and the reasons of empty cells in
# workers.csv by column.
GRADED = {
    "one question": (
        build_rows(WORKERS, ["q1"]),
        {},
        {},
        {"unranked_workers": {"count": 4}},
        {"rank": "too_few", "contrast": "contrast_needs_5_questions"},
    ),
    "one question in a group of its own": (
        build_rows(WORKERS, SIX, lambda worker, at: " ".join([TEXTS[at % 4], *EXTRA[:worker]])),
        {"q1": "alone"},
        {"question_contrast": True},
        {},
        {},
    ),
    "all answers equal": (SAME, {}, {}, {"equal_scores": {"workers": 4}}, {}),
    "all answers equal, by contrast": (
        SAME,
        {},
        {"question_contrast": True},
        {"equal_scores": {"workers": 4}},
        {},
    ),
    "one worker": (
        build_rows(["ann"], SIX),
        {},
        {},
        {"too_few_workers": {"workers": 1}, "single_answers": {"count": 6},
         "unranked_workers": {"count": 1}},
        {"grade": "fewer_than_3_workers", "rank": "fewer_than_3_workers"},
    ),
    "one answer": (
        build_rows(["ann"], ["q1"]),
        {},
        {},
        {"too_few_workers": {"workers": 1}, "single_answers": {"count": 1},
         "unranked_workers": {"count": 1}},
        {"grade": "fewer_than_3_workers"},
    ),
}  # fmt: skip
# Answers without any text are unanswered: there is nothing to start a run on.
EMPTY = build_rows(WORKERS, SIX, lambda *_: "")


@pytest.fixture
def rita(db, django_user_model, monkeypatch):
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    return django_user_model.objects.create_user("rita", is_staff=True)


@pytest.fixture
def site(client, rita):
    client.force_login(rita)
    return client


@pytest.fixture
def api(rita):
    client = APIClient()
    client.force_authenticate(rita)
    return client


def build_set(owner, folder, answers, categories):
    """Return a question set with these answers, imported from files."""
    question_set = QuestionSet(owner=owner, name="rivers")
    questions = sorted({question for _, question, _ in answers})
    rows = [(name, f"What is {name}?", categories.get(name, "")) for name in questions]
    for load, header, lines in (
        (import_questions, ("question", "text", "category"), rows),
        (import_answers, ("worker", "question", "answer"), answers),
    ):
        file = folder / f"{load.__name__}.csv"
        with file.open("w", newline="") as handle:
            csv.writer(handle).writerows([header, *lines])
        load(question_set, file)
    return question_set


def start_by_form(site, api, question_set, options):
    """Post the start form as a browser does, and return the response."""
    address = reverse("admin:grade", args=[question_set.public_id])
    form = site.get(address).context["form"]
    values = {**form.initial, **options}
    sent = {name: "on" if value is True else value for name, value in values.items() if value}
    return site.post(address, {**sent, "seed": "0"})


def start_by_rest(site, api, question_set, options):
    """Post the run over REST, and return the response."""
    body = {"question_set": str(question_set.public_id), "parameters": options}
    return api.post("/api/v1/runs/", body, format="json")


STARTS = {"form": (start_by_form, 302, 200), "REST": (start_by_rest, 202, 400)}


@pytest.mark.medium
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("name", GRADED)
def test_a_poor_crowd_is_graded_with_its_warnings_and_reasons(
    name, start, rita, site, api, tmp_path
):
    answers, categories, options, warnings, reasons = GRADED[name]
    question_set = build_set(rita, tmp_path, answers, categories)
    begin, status, _ = STARTS[start]
    started = begin(site, api, question_set, {"embedder": "tfidf-word", **options})
    assert started.status_code == status, started.content
    while work_one_turn():
        pass
    run = Run.objects.get()
    assert run.state == "done", run.error
    found = {one["code"]: one.get("values", {}) for one in run.warnings}
    found.pop("short_answers_unmeasured", None)
    assert found == warnings
    empty = {entry["column"]: entry["reason"] for entry in run.reasons}
    assert {column: empty.get(column) for column in reasons} == reasons
    # The page and the report of the same run say so, and neither breaks.
    assert site.get(reverse("admin:results-run", args=[run.public_id])).status_code == 200
    assert site.get(reverse("admin:results-trust", args=[run.public_id])).status_code == 200
    report = api.get(f"/api/v1/runs/{run.public_id}/results/").json()
    assert report["counts"]["answers"] == len(answers)
    assert len(report["warnings"]) == len(run.warnings)


@pytest.mark.parametrize("start", STARTS)
def test_answers_without_a_letter_end_with_what_to_use_instead(start, rita, site, api, tmp_path):
    answers = build_rows(WORKERS, SIX, lambda *_: "...")
    question_set = build_set(rita, tmp_path, answers, {})
    STARTS[start][0](site, api, question_set, {"embedder": "tfidf-word"})
    while work_one_turn():
        pass
    run = Run.objects.get()
    assert run.state == "failed"
    assert all(name in run.error for name in ("tfidf-word", "minilm"))
    shown = site.get(reverse("admin:run", args=[run.public_id])).content.decode()
    assert escape(run.error) in shown


@pytest.mark.parametrize("start", STARTS)
def test_answers_without_text_start_no_run(start, rita, site, api, tmp_path):
    question_set = build_set(rita, tmp_path, EMPTY, {})
    begin, _, status = STARTS[start]
    refused = begin(site, api, question_set, {"embedder": "tfidf-word"})
    assert refused.status_code == status
    assert not Run.objects.exists()
    if start == "REST":
        assert [one["pointer"] for one in refused.json()["errors"]] == ["#/question_set"]
    else:
        assert refused.context["version"] is None
