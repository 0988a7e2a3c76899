"""Archiving, restoring and deleting: what is told, who may, what is left, what the record keeps."""

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction
from django.urls import reverse

from annotations.models import (
    AuditEntry,
    Decision,
    Membership,
    QuestionSet,
    Response,
    Submission,
    Team,
    Worker,
    WorkerNote,
)
from annotations.web.scope import RefusedError
from evaluation.consensus.parameters import AqerParameters
from evaluation.deletion.storage import record, removals
from evaluation.grading.results.report.run import read_official_run
from evaluation.model_comparison.report.leaderboard import (
    choose_leaderboard_run,
    list_comparable_runs,
)
from evaluation.models import (
    Alarm,
    AnswerScore,
    Audit,
    AuditItem,
    Removal,
    Run,
    WorkerGrade,
    WorkerVerdict,
)
from evaluation.models.runs import choose_official_or_newest, make_official
from evaluation.runs.background import runs
from evaluation.runs.background.exclusions import list_excluded_ids
from evaluation.runs.background.leases import wake_process_if_needed
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.exports import RECORD, choose_named_run
from evaluation.runs.reports.verdicts import build_applied_context
from evaluation.triage.storage import decide_on_worker
from tests.evaluation.runs.reports.across.world import graded_set, named, worker
from tests.evaluation.site.handles import notices

pytestmark = pytest.mark.django_db
SCORES = {"ada": [0.5, 0.7], "ben": [0.6, 0.6], "cy": [0.2, 0.4]}


@pytest.fixture(autouse=True)
def silent(monkeypatch):
    """No bell rings."""
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)


@pytest.fixture
def rana(client):
    user = User.objects.create_user("rana", is_staff=True)
    client.force_login(user)
    return user


@pytest.fixture
def run(rana):
    """A graded set, beside another one in which Ada answered too."""
    graded_set(rana, "lakes", {"ada": [0.1, 0.2]})
    run = graded_set(rana, "rivers", SCORES)
    named(run, "ben", "cy")
    Run.objects.filter(pk=run.pk).update(input_hash="abc123")
    run.refresh_from_db()
    return run


def address(name, thing):
    return reverse(f"admin:{name}", args=[thing.public_id])


def test_an_archived_set_leaves_the_lists_and_comes_back_whole(client, rana, run):
    rivers = run.version.question_set
    archived = client.post(address("question-set-archive", rivers), follow=True)
    ((level, notice),) = notices(archived)
    assert (level, "rivers" in notice) == ("success", True)
    for name in ("question-sets", "runs", "index"):
        assert "rivers" not in client.get(reverse(f"admin:{name}")).content.decode()
    assert client.get(reverse("api:question-set-list")).json()["results"][0]["name"] == "lakes"
    only = client.get(reverse("api:question-set-list"), {"archived": "true"}).json()["results"]
    assert [one["name"] for one in only] == ["rivers"]
    restore = address("question-set-restore", rivers)
    assert restore in client.get(address("question-set", rivers)).content.decode()
    version = QuestionSet.objects.get(pk=rivers.pk).latest_version()
    with pytest.raises(RefusedError) as refused:
        runs.queue_run(version, rana.pk, AqerParameters(embedder="bow"))
    assert refused.value.code == "archived"
    client.post(address("question-set-restore", rivers))
    assert "rivers" in client.get(reverse("admin:question-sets")).content.decode()
    assert WorkerGrade.objects.filter(run=run).count() == 3
    done = AuditEntry.objects.order_by("pk").values_list("action", "name", "done_by__username")
    assert list(done) == [("archive", "rivers", "rana"), ("restore", "rivers", "rana")]


def test_an_archived_run_does_not_count_for_its_set(client, rana, run):
    newer = Run.objects.create(
        owner=rana, version=run.version, state="done", finished_at=run.finished_at
    )
    make_official(newer, rana)
    of_set = Run.objects.filter(version=run.version)
    assert choose_official_or_newest(of_set) == newer
    client.post(address("run-archive", newer))
    assert choose_official_or_newest(of_set) == run


def test_an_archived_run_of_record_gives_way_until_it_is_restored(client, rana, run):
    newer = Run.objects.create(
        owner=rana, version=run.version, state="done", finished_at=run.finished_at
    )
    make_official(run, rana)
    archived = client.post(address("run-archive", run), follow=True)
    # That it is archived, and that it was the official run.
    assert [level for level, _ in notices(archived)] == ["success", "info"]
    rivers = run.version.question_set
    assert read_official_run(rivers).run == newer.public_id
    assert read_official_run(rivers).newer is None
    assert choose_named_run(run.version, RECORD) == newer
    assert choose_leaderboard_run(list_comparable_runs(rivers)) == newer
    client.post(address("run-restore", run))
    assert read_official_run(rivers).run == run.public_id
    assert read_official_run(rivers).chosen_by == "rana"
    assert choose_named_run(run.version, RECORD) == run


def test_decisions_about_workers_stay_and_samples_for_experts_go_with_a_run(client, rana, run):
    ben = worker(rana, "ben")
    decide_on_worker(run, worker(rana, "ada"), rana, "accept")
    excluded = decide_on_worker(run, ben, rana, "exclude", "copied")
    later = Run.objects.create(owner=rana, version=run.version)
    excluded.applied_in.add(later)
    audit = Audit.objects.create(run=run, design="random", seed=1)
    answer = run.answer_scores.first().response
    AuditItem.objects.create(audit=audit, place=0, stratum="people", response=answer)
    page = client.get(address("run-delete", run))
    told = page.content.decode()
    notes = {note.code: note.values for note in page.context_data["hanging"].notes}
    assert notes["decisions_stay"] == {"n": 2, "out": 1}
    assert "Decisions about workers" not in told
    for words in (
        "Samples for experts</dt><dd>1",
        "Answers in samples for experts</dt><dd>1",
    ):
        assert words in told
    client.post(address("run-delete", run))
    while Removal.objects.filter(finished_at=None).exists():
        removals.work_on_oldest_deletion()
    assert list_excluded_ids(later.version) == ("ben",)
    assert [one.worker for one in build_applied_context(later)["made_by"]] == [ben.public_id]
    assert not AuditItem.objects.exists()
    assert Run.objects.filter(pk=later.pk).exists()


@pytest.mark.medium
def test_a_set_goes_only_when_its_name_is_typed_and_what_hangs_on_it_is_told_first(
    client, rana, run
):
    rivers = run.version.question_set
    told = client.get(address("question-set-delete", rivers)).content.decode()
    for words in ("Answers</dt><dd>6", "Scores of answers</dt><dd>6", "Runs</dt><dd>1"):
        assert words in told
    wrong = client.post(address("question-set-delete", rivers), {"name": "river"})
    assert wrong.status_code == 400
    assert list(wrong.context["form"].errors) == ["name"]
    assert not Removal.objects.exists()
    client.post(address("question-set-delete", rivers), {"name": "rivers"})
    assert "rivers is being deleted" in client.get(reverse("admin:archived")).content.decode()
    assert wake_process_if_needed()
    work_one_turn()
    assert [one.name for one in QuestionSet.objects.all()] == ["lakes"]
    assert Response.objects.count() == 2
    assert not Run.objects.filter(pk=run.pk).exists()
    entry = AuditEntry.objects.get(action="deleted")
    assert (entry.name, entry.counts["answers"], entry.inputs) == ("rivers", 6, ["abc123"])
    assert entry.object_id == rivers.public_id
    assert "abc123" in client.get(reverse("admin:archived")).content.decode()


def test_workers_who_answered_nowhere_else_go_unless_somebody_wrote_a_note(rana, run):
    WorkerNote.objects.create(worker=worker(rana, "cy"), author=rana, text="copies")
    # Of before triage wrote to the log of payments, which keeps its sets.
    WorkerVerdict.objects.create(
        question_set=run.version.question_set,
        run=run,
        worker=worker(rana, "ben"),
        kind="accept",
        decided_by=rana,
    )
    removals.request_deletion(run.version.question_set, rana.pk)
    while Removal.objects.filter(finished_at=None).exists():
        removals.work_on_oldest_deletion()
    assert sorted(Worker.objects.values_list("external_id", flat=True)) == ["ada", "cy"]


def test_rows_go_in_batches_and_a_crash_between_them_loses_nothing(rana, run, monkeypatch):
    monkeypatch.setattr(record, "BATCH", 2)
    removal = removals.request_deletion(run.version.question_set, rana.pk)
    seen = []
    for _ in range(100):
        removals.work_on_oldest_deletion(
            seconds=0
        )  # one batch, as if the worker had ended after it
        removal.refresh_from_db()
        seen.append(removal.done)
        if removal.finished_at:
            break
    assert seen == sorted(seen)
    assert len(seen) > 8
    assert removal.percent == 100
    assert not AnswerScore.objects.filter(run=run).exists()
    assert AuditEntry.objects.filter(action="deleted").count() == 1
    assert not removals.work_on_oldest_deletion()


def test_decisions_forbid_the_deletion_of_their_set_and_not_its_archive(client, rana, run):
    Decision.objects.create(
        submission=Submission.objects.filter(version=run.version).first(),
        kind="reject",
        reason="left every answer empty",
        decided_by=rana,
    )
    rivers = run.version.question_set
    told = client.get(address("question-set-delete", rivers)).content.decode()
    assert "1 decisions" in told
    assert address("question-set-archive", rivers) in told
    refused = client.post(address("question-set-delete", rivers), {"name": "rivers"})
    assert refused.status_code == 409
    by_api = client.post(
        reverse("api:question-set-deletion", args=[rivers.public_id]),
        {"name": "rivers"},
        content_type="application/json",
    )
    assert by_api.status_code == 409
    assert QuestionSet.objects.filter(pk=rivers.pk, archived_at=None).exists()


def test_a_run_that_works_is_cancelled_and_its_results_go_but_not_the_answers(client, rana, run):
    client.post(address("run-delete", run))
    work_one_turn()
    assert not Run.objects.filter(pk=run.pk).exists()
    assert not Alarm.objects.exists()
    assert Response.objects.count() == 8
    waiting = Run.objects.create(owner=rana, version=run.version)
    removal = removals.request_deletion(waiting, rana.pk)
    waiting.refresh_from_db()
    assert waiting.state == "cancelled"
    assert removals.request_deletion(waiting, rana.pk) == removal


def test_a_team_mate_archives_a_set_and_only_its_owner_deletes_it(client, rana, run):
    rivers = run.version.question_set
    tara = User.objects.create_user("tara", is_staff=True)
    rivers.team = Team.objects.create(owner=rana, name="team")
    rivers.save()
    Membership.objects.create(team=rivers.team, user=tara)
    client.force_login(tara)
    assert client.get(address("question-set-delete", rivers)).status_code == 403
    assert client.post(address("question-set-archive", rivers)).status_code == 302
    assert client.get(address("run-delete", run)).status_code == 200
    # The record is read by whose set it was as well as by who did it.
    assert AuditEntry.objects.visible_to(rana).count() == 1
    assert AuditEntry.objects.visible_to(tara).count() == 1


def test_the_record_can_neither_be_changed_nor_deleted(rana, run):
    removals.archive_object(run, rana.pk)
    table = AuditEntry._meta.db_table
    for statement in (f"DELETE FROM {table}", f"UPDATE {table} SET name = 'x'"):
        with (
            pytest.raises(IntegrityError),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(statement)


def test_the_api_archives_tells_and_deletes_by_the_same_rules(client, rana, run):
    rivers = run.version.question_set
    of_set = {"args": [rivers.public_id]}
    told = client.get(reverse("api:question-set-deletion", **of_set)).json()
    assert (told["counts"]["answers"], told["can_go"]) == (6, True)
    archived = client.post(reverse("api:question-set-archive", **of_set)).json()
    assert archived["archived_at"]
    assert client.post(reverse("api:question-set-restore", **of_set)).json()["archived_at"] is None
    wrong = client.post(
        reverse("api:question-set-deletion", **of_set),
        {"name": "x"},
        content_type="application/json",
    )
    assert wrong.status_code == 400
    gone = client.post(reverse("api:run-deletion", args=[run.public_id]))
    assert (gone.status_code, gone.json()["finished_at"]) == (202, None)
    assert client.post(reverse("api:run-restore", args=[run.public_id])).status_code == 409
