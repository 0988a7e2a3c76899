"""Undoing an import: what is told first, what goes, what stays, and what is written down."""

import json

import pytest
from django.urls import reverse

from annotations.exchange.importing import import_answers
from annotations.exchange.problems import InputError
from annotations.models import (
    AuditEntry,
    Decision,
    Import,
    Question,
    QuestionSet,
    Response,
    Submission,
    Worker,
)
from annotations.web.scope import RefusedError
from evaluation.consensus.parameters import AqerParameters
from evaluation.deletion.storage import record, removals, undoing
from evaluation.models import HumanJudgement, Run, WorkerGrade
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn

HEADER = "worker,question,answer\n"
# Three workers, two questions; the second file repeats one row and brings a worker and an answer.
FIRST = HEADER + "ada,q1,in the hills\nada,q2,at sea\nben,q1,in hills\ncy,q2,at the sea\n"
SECOND = HEADER + "ada,q1,in the hills\nben,q2,in the sea\ndi,q1,in the high hills\n"
QUICK = AqerParameters(embedder="tfidf-word", bootstrap=0)


@pytest.fixture
def rana(db, django_user_model, monkeypatch, client):
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    user = django_user_model.objects.create_user("rana", is_staff=True)
    client.force_login(user)
    return user


@pytest.fixture
def rivers(rana):
    return QuestionSet.objects.create(owner=rana, name="rivers")


@pytest.fixture
def brought(rivers, rana, tmp_path):
    """Take a file in and return its import."""

    def take(text, name="first.csv"):
        file = tmp_path / name
        file.write_text(text)
        import_answers(rivers, file, create_questions=True, imported_by=rana.pk)
        return Import.objects.latest("pk")

    return take


def notes_of(hanging):
    """The values of what is told before something goes, by codes."""
    return {note.code: note.values for note in hanging.notes}


def work():
    while work_one_turn():
        pass


def test_each_answer_says_which_file_brought_it_and_a_file_without_news_is_none(brought, rana):
    first = brought(FIRST)
    second = brought(SECOND, "second.csv")
    # 4 rows, all new; 3 rows, of which ada's was there.
    assert (first.n_new, first.n_unchanged, second.n_new, second.n_unchanged) == (4, 0, 2, 1)
    assert (first.n_questions, first.n_workers, second.n_workers) == (2, 3, 1)
    assert [first.responses.count(), second.responses.count()] == [4, 2]
    assert (first.imported_by, first.publishes, second.publishes) == (rana, True, False)
    assert brought(SECOND, "again.csv") == second


def test_an_import_that_nothing_hangs_on_goes_as_if_it_had_never_been(brought, rivers, rana):
    first = brought(FIRST)
    undoing.request_undo(first, rana.pk)
    work()
    first.refresh_from_db()
    assert first.undone_at is not None
    assert first.version is None
    for model in (Response, Submission, Worker, Question):
        assert not model.objects.exists()
    # The version that it published would take no other questions: it went, and the file comes in.
    brought(HEADER + "ada,other,in the hills\n", "right.csv")
    assert [q.external_id for q in Question.objects.all()] == ["other"]
    entries = AuditEntry.objects.order_by("pk").values_list("action", "kind", "name")
    name = "rivers: first.csv"
    assert list(entries) == [("undo", "import", name), ("undone", "import", name)]
    assert AuditEntry.objects.latest("pk").counts["answers"] == 4


def test_only_its_own_answers_go_and_runs_say_that_they_cannot_be_reproduced(
    client, brought, rivers, rana
):
    first = brought(FIRST)
    second = brought(SECOND, "second.csv")
    run = runs.queue_run(rivers.latest_version(), rana.pk, QUICK)
    work()
    HumanJudgement.objects.create(response=second.responses.first(), expert=rana, grade=4)
    page = reverse("admin:import-undo", args=[rivers.public_id, second.public_id])
    told = client.get(page)
    for words in ("Answers</dt><dd>2", "Judgements</dt><dd>1"):
        assert words in told.content.decode()
    assert notes_of(told.context["hanging"])["import_runs"]["n"] == 1
    of_first = notes_of(undoing.find_import_dependents(first))
    assert of_first["repeated_later"] == {"files": "second.csv (1 rows)"}
    assert of_first["questions_stay"] == {"n": 2}
    assert client.post(page).status_code == 302
    listed = client.get(reverse("admin:imports", args=[rivers.public_id])).content.decode()
    assert "second.csv is being undone" in listed
    with pytest.raises(RefusedError) as refused:
        runs.queue_run(rivers.latest_version(), rana.pk, QUICK)
    assert refused.value.code == "undoing"
    work()
    assert sorted(Response.objects.values_list("text", flat=True)) == [
        "at sea", "at the sea", "in hills", "in the hills",
    ]  # fmt: skip
    run.refresh_from_db()
    assert run.n_withdrawn == 2
    shown = client.get(reverse("admin:run", args=[run.public_id])).content.decode()
    assert "<strong>Not reproducible:</strong> 2 answers withdrawn." in shown
    # Di stands in the run: the grade stays, under the name.
    assert WorkerGrade.objects.filter(run=run, worker__external_id="di").exists()
    assert not Submission.objects.filter(worker__external_id="di").exists()


def test_workers_about_whom_was_decided_stay(brought, rivers, rana):
    first = brought(FIRST)
    Decision.objects.create(
        submission=Submission.objects.get(worker__external_id="ben"),
        kind="reject", reason="empty", decided_by=rana,
    )  # fmt: skip
    assert notes_of(undoing.find_import_dependents(first))["workers_stay"] == {"n": 1}
    undoing.request_undo(first, rana.pk)
    work()
    assert [one.external_id for one in Worker.objects.all()] == ["ben"]
    assert not Response.objects.exists()


def test_it_waits_for_a_run_that_works_and_goes_batch_by_batch(brought, rivers, rana, monkeypatch):
    first = brought(FIRST)
    run = runs.queue_run(rivers.latest_version(), rana.pk, QUICK)
    removal = undoing.request_undo(first, rana.pk)
    assert not removals.work_on_oldest_deletion()
    assert Response.objects.count() == 4
    Run.objects.filter(pk=run.pk).update(state="cancelled", finished_at=run.created_at)
    monkeypatch.setattr(record, "BATCH", 3)
    left = []
    for _ in range(20):
        removals.work_on_oldest_deletion(seconds=0)
        left.append(Response.objects.count())
        removal.refresh_from_db()
        if removal.finished_at:
            break
    assert left[:2] == [1, 0]
    assert AuditEntry.objects.filter(action="undone").count() == 1


def test_the_api_lists_tells_and_undoes(client, brought, rivers):
    first = brought(FIRST)
    Response.objects.filter(text="at sea").update(brought_by=None)
    listed = client.get(reverse("api:imports", args=[rivers.public_id])).json()["results"]
    assert [(one["file"], one["n_new"], one["n_left"], one["state"]) for one in listed] == [
        ("first.csv", 4, 3, "kept")
    ]
    page = client.get(reverse("admin:imports", args=[rivers.public_id])).content.decode()
    assert 'data-untracked="1"' in page
    address = reverse("api:import-undoing", args=[rivers.public_id, first.public_id])
    assert client.get(address).json()["counts"]["answers"] == 3
    sent = client.post(address)
    assert (sent.status_code, json.loads(sent.content)["finished_at"]) == (202, None)
    assert client.post(address).json()["created_at"] == sent.json()["created_at"]
    work()
    # The answer without a link stays, and with it its question and its worker.
    assert Response.objects.get().text == "at sea"


def test_an_archived_set_takes_no_file_in_until_it_is_restored(brought, rivers, rana):
    removals.archive_object(rivers, rana.pk)
    with pytest.raises(InputError) as refused:
        brought(FIRST)
    (problem,) = refused.value.problems
    assert (problem.line, "rivers" in problem.reason, bool(problem.remedy)) == (None, True, True)
    assert not Response.objects.exists()
    removals.restore_object(rivers, rana.pk)
    assert brought(FIRST).n_new == 4
