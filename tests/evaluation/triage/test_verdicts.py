"""Decisions are added and never changed; one takes another back; of two at once one is told."""

import threading

import pytest
from django.contrib.auth.models import User
from django.db import connection, connections
from django.db.models import ProtectedError

from annotations.models import AppendOnlyError, Worker
from evaluation.models import Run, WorkerGrade, WorkerVerdict
from evaluation.runs.background.exclusions import list_excluded_ids, list_exclusions
from evaluation.runs.reports.verdicts import (
    find_own_last_verdict,
    load_active_verdicts,
    load_current_verdicts,
    load_decision_history,
)
from evaluation.triage.storage import (
    DecidedMeanwhileError,
    NothingToTakeBackError,
    VerdictError,
    decide_on_worker,
    take_back_verdict,
)
from tests.annotations import world as people
from tests.evaluation.grading.results import world

pytestmark = pytest.mark.django_db


@pytest.fixture
def run():
    return world.finished()


@pytest.fixture
def ada(run):
    return Worker.objects.get(external_id="w001")


@pytest.fixture
def tara(run):
    return people.user("tara", is_staff=True)


def kinds():
    return [row.kind for row in WorkerVerdict.objects.order_by("pk")]


def test_the_newest_decision_counts_and_none_is_lost(run, ada):
    decide_on_worker(run, ada, run.owner, "look")
    decide_on_worker(run, ada, run.owner, "exclude", "copied", "all of it", rejects=True)
    found = load_current_verdicts(run)[ada.public_id]
    assert (found.kind, found.why, found.reason) == ("exclude", "copied from others", "all of it")
    assert found.rejects
    assert [one.kind for one in load_decision_history(run, ada.public_id)] == ["exclude", "look"]


def test_what_is_taken_back_leaves_what_was_decided_before(run, ada):
    decide_on_worker(run, ada, run.owner, "accept")
    decide_on_worker(run, ada, run.owner, "exclude", "low_effort")
    take_back_verdict(run, ada, run.owner)
    assert load_current_verdicts(run)[ada.public_id].kind == "accept"
    assert not list_exclusions(run)
    take_back_verdict(run, ada, run.owner)
    assert load_current_verdicts(run) == {}
    with pytest.raises(NothingToTakeBackError):
        take_back_verdict(run, ada, run.owner)
    assert kinds() == ["accept", "exclude", "undo", "undo"]


def test_the_same_once_more_changes_nothing(run, ada, tara):
    first = decide_on_worker(run, ada, run.owner, "accept", seen=None)
    assert decide_on_worker(run, ada, run.owner, "accept", seen=None) == first
    assert decide_on_worker(run, ada, tara, "accept", seen=first.public_id) == first
    back = take_back_verdict(run, ada, run.owner, seen=first.public_id)
    assert take_back_verdict(run, ada, run.owner, seen=first.public_id) == back
    assert kinds() == ["accept", "undo"]


def test_who_has_not_seen_what_another_decided_is_told(run, ada, tara):
    first = decide_on_worker(run, ada, tara, "exclude", "copied", seen=None)
    with pytest.raises(DecidedMeanwhileError) as told:
        decide_on_worker(run, ada, run.owner, "accept", seen=None)
    assert told.value.newest == first
    with pytest.raises(DecidedMeanwhileError):
        take_back_verdict(run, ada, run.owner, seen=None)
    decide_on_worker(run, ada, run.owner, "accept", seen=first.public_id)
    assert kinds() == ["exclude", "accept"]


def test_what_somebody_decided_last_is_offered_while_it_counts(run, ada, tara):
    ben = Worker.objects.get(external_id="w002")
    decide_on_worker(run, ada, run.owner, "accept")
    mine = decide_on_worker(run, ben, run.owner, "look")
    assert find_own_last_verdict(load_active_verdicts(run), run.owner).id == mine.public_id
    decide_on_worker(run, ben, tara, "accept")
    assert (
        find_own_last_verdict(load_active_verdicts(run), run.owner) is None
    )  # of Ben something else counts by now
    assert find_own_last_verdict(load_active_verdicts(run), tara).worker == ben.public_id


@pytest.mark.parametrize(
    ("given", "field"),
    [
        (("burn",), "verdict"),
        (("undo",), "verdict"),
        (("exclude",), "category"),
        (("exclude", "burnt"), "category"),
        (("exclude", "own", "  "), "reason"),
        (("exclude", "copied", "x" * 601), "reason"),
        (("exclude", "copied", "a\0b"), "reason"),
        (("exclude", "machine", "", True), "rejects"),
    ],
)
def test_what_will_not_do_is_refused(run, ada, given, field):
    with pytest.raises(VerdictError) as refused:
        decide_on_worker(run, ada, run.owner, *given)
    assert refused.value.field == field
    assert kinds() == []


def test_who_is_not_in_the_run_cannot_be_decided_about(run):
    stranger = Worker.objects.create(owner=run.owner, external_id="stranger")
    with pytest.raises(WorkerGrade.DoesNotExist):
        decide_on_worker(run, stranger, run.owner, "accept")


def test_rows_are_never_changed_and_outlive_the_run(run, ada):
    made = decide_on_worker(run, ada, run.owner, "exclude", "copied")
    take_back_verdict(run, ada, run.owner)
    with pytest.raises(AppendOnlyError):
        made.save()
    with pytest.raises(AppendOnlyError):
        WorkerVerdict.objects.update(kind="accept")
    rivers = run.version.question_set
    run.delete()
    stay = WorkerVerdict.objects.values_list("kind", "run", "question_set").order_by("pk")
    assert list(stay) == [("exclude", None, rivers.pk), ("undo", None, rivers.pk)]
    # The log of payments keeps the same decisions, and the set with it.
    with pytest.raises(ProtectedError):
        rivers.delete()


def test_an_exclusion_outlives_its_run_and_can_be_taken_back_in_another(run, ada):
    later = world.another(run)
    made = decide_on_worker(run, ada, run.owner, "exclude", "copied", "all of it")
    version = run.version
    run.delete()
    assert list_excluded_ids(version) == ("w001",)
    (entry,) = load_decision_history(later, ada.public_id)
    assert (entry.id, entry.why, entry.by) == (made.public_id, "copied from others", "rana")
    assert list_exclusions(later) == [made]
    take_back_verdict(later, ada, later.owner, seen=made.public_id)
    assert list_excluded_ids(version) == ()
    assert not list_exclusions(later)


def test_a_decision_of_a_deleted_run_is_shown_in_runs_of_its_set_with_the_worker_alone(run, ada):
    later = world.another(run)
    decide_on_worker(run, ada, run.owner, "exclude", "copied")
    of_other = {"question_set": people.version(run.owner, name="lakes").question_set}
    for name in ("w001", "w002"):
        about = Worker.objects.get(external_id=name)
        WorkerVerdict.objects.create(kind="look", decided_by=run.owner, worker=about, **of_other)
    run.delete()
    assert [one.kind for one in load_current_verdicts(later).values()] == ["exclude"]
    WorkerGrade.objects.filter(run=later, worker=ada).delete()
    assert load_current_verdicts(later) == {}


CONSTRAINTS = [
    ("verdict_kind_is_known", {"kind": "burn"}),
    ("verdict_takes_back_or_decides", {"kind": "undo"}),
    ("verdict_against_a_worker_has_a_reason", {"kind": "exclude"}),
    ("verdict_rejects_who_is_excluded", {"kind": "accept", "rejects": True}),
]


@pytest.mark.parametrize(("constraint", "values"), CONSTRAINTS)
def test_the_database_refuses_what_contradicts_itself(run, ada, constraint, values):
    of_set = run.version.question_set
    row = WorkerVerdict(question_set=of_set, worker=ada, decided_by=run.owner, **values)
    with people.refused(constraint):
        WorkerVerdict.objects.bulk_create([row])


def test_a_decision_is_taken_back_once(run, ada):
    made = decide_on_worker(run, ada, run.owner, "accept")
    take_back_verdict(run, ada, run.owner)
    with people.refused("takes_back"):
        WorkerVerdict.objects.create(
            question_set=made.question_set,
            worker=ada,
            decided_by=run.owner,
            kind="undo",
            takes_back=made,
        )


@pytest.mark.django_db(transaction=True)
def test_of_two_who_decide_at_once_one_is_kept_and_the_other_is_told():
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer, and in memory one connection")
    run = world.finished()
    ada = Worker.objects.get(external_id="w001")
    deciders = [run.owner, *(User.objects.create(username=f"u{i}") for i in range(5))]
    start, told = threading.Barrier(len(deciders)), []

    def once(user, at):
        try:
            start.wait(30)
            decide_on_worker(
                Run.objects.get(pk=run.pk), ada, user, ("accept", "look")[at % 2], seen=None
            )
            told.append("kept")
        except DecidedMeanwhileError as error:
            told.append(error.newest.decided_by.username)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=once, args=(user, at)) for at, user in enumerate(deciders)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    winner = WorkerVerdict.objects.get().decided_by.username
    assert sorted(told) == sorted(["kept", *[winner] * 5])
