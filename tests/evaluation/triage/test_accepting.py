"""Everybody undecided is accepted by one press: who, who not, twice, two at once."""

import threading

import pytest
from django.contrib.auth.models import User
from django.db import connection, connections

from annotations import guards
from annotations.models import AuditEntry, Worker
from evaluation.models import Alarm, Run, WorkerVerdict
from evaluation.runs.reports.verdicts import (
    find_own_last_verdict,
    load_active_verdicts,
    load_current_verdicts,
    load_decision_history,
)
from evaluation.triage.batches import (
    DESPITE_ALARMS,
    LEFT_FOR_ALARMS,
    LEFT_TO_LOOK,
    NoWorkersLeftError,
    WorkersChangedError,
    accept_undecided,
    take_back_accepted_batch,
)
from evaluation.triage.report.queue import find_undecided_workers
from evaluation.triage.storage import (
    NothingToTakeBackError,
    decide_on_worker,
    list_accepted_batches,
    take_back_verdict,
)
from tests.annotations import world as people
from tests.evaluation.grading.results import world
from tests.evaluation.grading.results.alarm_world import alarm, looked

pytestmark = pytest.mark.django_db


@pytest.fixture
def run():
    """8 workers: an alarm names w001 and w002; w003 is excluded, w004 to review again."""
    run = looked(world.finished(n_workers=8, n_questions=4))
    alarm(run, workers=["w001", "w002"])
    decide_on_worker(run, worker("w003"), run.owner, "exclude", "copied")
    decide_on_worker(run, worker("w004"), run.owner, "look")
    return run


@pytest.fixture
def tara(run):
    return people.user("tara", is_staff=True)


def worker(name):
    return Worker.objects.get(external_id=name)


def names(workers):
    return sorted(Worker.objects.get(public_id=one).external_id for one in workers)


def accepted(run):
    return names(
        one for one, verdict in load_current_verdicts(run).items() if verdict.kind == "accept"
    )


def entries():
    rows = AuditEntry.objects.order_by("pk")
    return [(row.action, row.done_by.username, row.counts) for row in rows]


def test_whom_an_alarm_names_and_who_is_to_be_looked_at_again_is_left_out_and_said(run):
    rest = find_undecided_workers(run)
    assert names(rest.workers) == ["w005", "w006", "w007", "w008"]
    assert names(rest.named) == ["w001", "w002"]
    assert names(rest.again) == ["w004"]
    assert (rest.n_left_out, rest.n_decided, rest.n_others) == (2, 1, 0)
    assert (rest.said.code, rest.said.values) == (
        "triage.rest",
        {"n": 4, "silent": 0, "named": 2, "with_alarms": False, "again": 1, "decided": 1},
    )
    assert [row.row.name for row in rest.left_rows] == ["w001", "w002", "w004"]


def test_a_dismissed_alarm_leaves_nobody_out(run):
    Alarm.objects.filter(run=run).update(state="dismissed")
    assert names(find_undecided_workers(run).workers) == [
        "w001",
        "w002",
        "w005",
        "w006",
        "w007",
        "w008",
    ]


def test_whom_an_alarm_names_is_accepted_on_wish_and_that_is_said(run):
    rest = find_undecided_workers(run, with_alarms=True)
    assert names(rest.workers)[:2] == ["w001", "w002"]
    assert rest.n_left_out == 0
    assert [rest.said.values[name] for name in ("n", "named", "with_alarms")] == [6, 2, True]
    accept_undecided(run, run.owner, rest.seen, with_alarms=True)
    assert accepted(run) == ["w001", "w002", "w005", "w006", "w007", "w008"]
    ((_, _, counts),) = entries()
    assert counts[DESPITE_ALARMS] == 2


def test_those_worth_looking_at_alone_leave_the_others_open(run):
    rest = find_undecided_workers(run, "look", with_alarms=True)
    queue = rest.queue
    assert set(rest.workers) <= set(queue.marks) | queue.lowest
    assert len(rest.workers) + rest.n_others == 6
    assert rest.n_others > 0


def test_all_are_accepted_and_the_audit_says_who_did_it_and_how_many(run):
    done = accept_undecided(run, run.owner, find_undecided_workers(run).seen)
    assert (done.n, done.by) == (4, "rana")
    assert accepted(run) == ["w005", "w006", "w007", "w008"]
    assert load_current_verdicts(run)[worker("w003").public_id].kind == "exclude"
    assert entries() == [
        (
            "accept",
            "rana",
            {
                "people accepted": 4,
                LEFT_FOR_ALARMS: 2,
                LEFT_TO_LOOK: 1,
            },
        )
    ]
    entry = AuditEntry.objects.get()
    assert (entry.kind, entry.object_id, entry.owner) == ("run", run.public_id, run.owner)


def test_it_is_taken_back_as_one_and_what_was_decided_since_stays(run, tara):
    done = accept_undecided(run, run.owner, find_undecided_workers(run).seen)
    decide_on_worker(run, worker("w005"), tara, "exclude", "low_effort")
    decide_on_worker(run, worker("w006"), tara, "accept")  # looked at alone, and good
    back = take_back_accepted_batch(run, tara, done.id)
    assert (back.n, back.n_otherwise) == (4, 2)
    found = load_current_verdicts(run)
    assert accepted(run) == ["w006"]
    assert found[worker("w005").public_id].kind == "exclude"
    assert worker("w007").public_id not in found
    # Taking the exclusion back brings back nothing that was taken back before.
    take_back_verdict(run, worker("w005"), tara)
    assert worker("w005").public_id not in load_current_verdicts(run)
    assert list_accepted_batches(run) == []
    with pytest.raises(NothingToTakeBackError):
        take_back_accepted_batch(run, tara, done.id)
    assert [(action, who) for action, who, _ in entries()] == [
        ("accept", "rana"),
        ("accept_off", "tara"),
    ]
    history = load_decision_history(run, worker("w007").public_id)
    assert [(one.kind, one.together) for one in history] == [("undo", done.id), ("accept", done.id)]


def test_what_was_accepted_in_another_run_is_not_taken_back_in_this_one(run):
    done = accept_undecided(run, run.owner, find_undecided_workers(run).seen)
    other = world.finished(owner=User.objects.create(username="otto"))
    with pytest.raises(WorkerVerdict.DoesNotExist):
        take_back_accepted_batch(other, run.owner, done.id)
    assert list_accepted_batches(run) == [done]


def test_who_presses_twice_accepts_once(run):
    seen = find_undecided_workers(run).seen
    first = accept_undecided(run, run.owner, seen)
    assert accept_undecided(run, run.owner, seen) == first
    assert WorkerVerdict.objects.filter(kind="accept").count() == 4
    assert len(entries()) == 1


def test_the_second_of_two_people_is_told_that_nobody_is_left(run, tara):
    seen = find_undecided_workers(run).seen
    accept_undecided(run, run.owner, seen)
    with pytest.raises(NoWorkersLeftError):
        accept_undecided(run, tara, seen)
    assert len(entries()) == 1


@pytest.mark.parametrize("seen", ["", "burnt", None])
def test_nobody_is_accepted_unseen(run, seen):
    with pytest.raises(WorkersChangedError) as moved:
        accept_undecided(run, run.owner, seen)
    assert moved.value.rest.n == 4
    assert accepted(run) == []


def test_where_the_list_moved_meanwhile_nobody_is_accepted(run, tara):
    seen = find_undecided_workers(run).seen
    decide_on_worker(run, worker("w005"), tara, "exclude", "copied")
    with pytest.raises(WorkersChangedError) as moved:
        accept_undecided(run, run.owner, seen)
    assert names(moved.value.rest.workers) == ["w006", "w007", "w008"]
    assert accepted(run) == []
    assert entries() == []
    seen = find_undecided_workers(run).seen
    alarm(run, workers=["w008"])  # a new alarm is a reason to look again as well
    with pytest.raises(WorkersChangedError):
        accept_undecided(run, run.owner, seen)


def test_where_nobody_is_left_that_is_said(run):
    accept_undecided(run, run.owner, find_undecided_workers(run).seen)
    rest = find_undecided_workers(run)
    assert [rest.said.values[name] for name in ("n", "named", "again")] == [0, 2, 1]
    with pytest.raises(NoWorkersLeftError):
        accept_undecided(run, run.owner, rest.seen)


def test_undoing_the_last_one_offers_no_single_one_of_many(run):
    accept_undecided(run, run.owner, find_undecided_workers(run).seen)
    assert find_own_last_verdict(load_active_verdicts(run), run.owner) is None


def test_queries_do_not_grow_with_the_crowd(django_assert_max_num_queries):
    for n_workers in (6, 40):
        run = world.finished(
            owner=User.objects.create(username=f"o{n_workers}"), n_workers=n_workers
        )
        with django_assert_max_num_queries(25):
            accept_undecided(run, run.owner, find_undecided_workers(run).seen)
        assert len(accepted(run)) == n_workers


@pytest.mark.django_db(transaction=True)
def test_of_several_who_press_at_once_one_accepts_and_the_others_are_told():
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer, and in memory one connection")
    run = world.finished(n_workers=8)
    seen = find_undecided_workers(run).seen
    users = [run.owner, *(User.objects.create(username=f"u{i}") for i in range(4))]
    start, told = threading.Barrier(len(users) + 1), []

    def press(user):
        try:
            start.wait(30)
            accept_undecided(Run.objects.get(pk=run.pk), user, seen)
            told.append("accepted")
        except (NoWorkersLeftError, WorkersChangedError) as error:
            told.append(type(error).__name__)
        finally:
            connections.close_all()

    def one(user):
        try:
            start.wait(30)
            decide_on_worker(Run.objects.get(pk=run.pk), worker("w001"), user, "exclude", "copied")
        finally:
            connections.close_all()

    threads = [threading.Thread(target=press, args=(user,)) for user in users]
    threads.append(threading.Thread(target=one, args=(run.owner,)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    rows = WorkerVerdict.objects.filter(kind="accept")
    assert told.count("accepted") <= 1
    assert len(told) == 5
    # All of them, or nobody where the exclusion came first; nobody twice.
    assert rows.count() == rows.values("worker").distinct().count() == 8 * told.count("accepted")
    assert load_current_verdicts(run)[worker("w001").public_id].kind == "exclude"
    guards.drop_triggers(connection)  # the audit is emptied by nothing else
