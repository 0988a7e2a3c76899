"""A rejected worker writes back once, and is answered once; approving is a row of the same log."""

import pytest
from django.db import connection
from django.utils import timezone

from annotations import guards
from annotations.ledger.appeals import (
    LONGEST,
    AppealError,
    answer_appeal,
    count_unanswered_appeals,
    create_appeal,
    filter_appealed,
    find_newest_rejection,
)
from annotations.ledger.decisions import DecidedMeanwhileError, WithdrawnError, decide_on_submission
from annotations.models import Appeal, AppealAnswer, AppendOnlyError, Decision, Submission
from tests.annotations import world

pytestmark = pytest.mark.django_db
REASON = "You left three of four questions without an answer. " * 2


@pytest.fixture
def rana():
    return world.user("rana", is_staff=True)


@pytest.fixture
def ada(rana):
    """Ada's work, which is rejected."""
    one = world.submission(world.version(rana), "ada")
    decide_on_submission(one, rana, "reject", "LOW_EFFORT", REASON)
    return one


def run(sql, *values):
    with connection.cursor() as cursor:
        cursor.execute(sql, values)


def refused(code, do, *arguments, **named):
    with pytest.raises(AppealError) as caught:
        do(*arguments, **named)
    assert caught.value.code == code


def test_an_appeal_and_its_answer_are_neither_changed_nor_deleted(ada, rana):
    row = create_appeal(ada, "I answered all of them.")
    given = answer_appeal(row, rana, "We looked again.", approve=False)
    for attempt in (row.save, row.delete, given.save, given.delete):
        with pytest.raises(AppendOnlyError):
            attempt()
    for rows in (Appeal.objects, AppealAnswer.objects):
        for attempt in (rows.all().delete, lambda of=rows: of.update(text="x")):
            with pytest.raises(AppendOnlyError):
                attempt()
    for table, key in (("appeal", row.pk), ("appealanswer", given.pk)):
        with world.refused(guards.APPEND_ONLY):
            run(f"UPDATE annotations_{table} SET text = 'x' WHERE id = %s", key)
        with world.refused(guards.APPEND_ONLY):
            run(f"DELETE FROM annotations_{table} WHERE id = %s", key)
    with world.refused(guards.APPEND_ONLY):
        Appeal.objects.delete_withdrawn([ada.pk])
    assert Appeal.objects.get().answer.text == "We looked again."


def test_what_came_elsewhere_is_noted_only_of_who_has_no_page_here(ada, rana):
    Submission.objects.filter(pk=ada.pk).update(source="imported")
    ada.refresh_from_db()
    row = create_appeal(ada, "My page stayed white.", rana)
    assert (row.noted_by, find_newest_rejection(ada).appeal) == (rana, row)
    assert create_appeal(ada, "My page stayed white.", rana) == row
    refused("appealed", create_appeal, ada, "Twice.", rana)
    here = world.submission(ada.version, "bea")
    decide_on_submission(here, rana, "reject", "LOW_EFFORT", REASON)
    refused("own_page", create_appeal, here, "My page stayed white.", rana)
    assert create_appeal(here, "It did load, and I wrote.").noted_by is None


def test_each_rejection_is_written_against_once(ada, rana):
    first = create_appeal(ada, " I answered\r\nall of them. ")
    assert first.text == "I answered\nall of them."
    assert create_appeal(ada, "I answered\nall of them.") == first  # a second click
    refused("appealed", create_appeal, ada, "And another thing.")
    decide_on_submission(
        ada, rana, "reject", "OTHER", REASON
    )  # another rejection has one of its own
    assert create_appeal(ada, "That neither.") != first
    assert Appeal.objects.count() == 2
    with world.refused("appeal"):
        Appeal.objects.bulk_create([Appeal(decision=first.decision, text="Once more.")])


def test_only_a_rejection_that_counts_is_written_against(ada, rana):
    approval = decide_on_submission(ada, rana, "approve")
    refused("not_rejected", create_appeal, ada, "Thank you.")
    with world.refused("only a rejection"):
        Appeal.objects.create(decision=approval, text="Thank you.")
    refused("not_rejected", create_appeal, world.submission(ada.version, "ben"), "And I?")


@pytest.mark.parametrize(
    ("text", "code"), [("", "empty"), (" \r\n", "empty"), ("x" * (LONGEST + 1), "too_long")]
)
def test_a_text_is_there_and_not_too_long(ada, rana, text, code):
    refused(code, create_appeal, ada, text)
    row = create_appeal(ada, "x" * LONGEST)
    refused(code, answer_appeal, row, rana, text, approve=True)
    assert not AppealAnswer.objects.exists()


def test_a_text_is_stored_with_plain_line_breaks_and_without_what_no_database_takes(ada):
    assert create_appeal(ada, " a\r\nb\rc\x00\ud83d ").text == "a\nb\nc?"


def test_an_answer_approves_exactly_once(ada, rana):
    row = create_appeal(ada, "I answered all of them.")
    assert count_unanswered_appeals(ada.version) == 1
    given = answer_appeal(row, rana, "You are right.", approve=True)
    assert answer_appeal(row, rana, "You are right.", approve=True) == given
    refused("answered", answer_appeal, row, rana, "You are right.", approve=False)
    refused("answered", answer_appeal, row, rana, "No.", approve=True)
    assert [one.kind for one in Decision.objects.order_by("pk")] == ["reject", "approve"]
    assert given.approval == Decision.objects.get(kind="approve")
    assert given.approval.decided_by == rana
    assert count_unanswered_appeals(ada.version) == 0


def test_an_answer_may_leave_it_rejected_and_adds_no_decision(ada, rana):
    given = answer_appeal(
        create_appeal(ada, "I answered all."), rana, "Three are empty.", approve=False
    )
    assert given.approval is None
    assert Decision.objects.count() == 1
    standing = find_newest_rejection(ada)
    assert standing.is_rejected
    assert not standing.may_appeal
    assert standing.answer == given


def test_what_was_decided_meanwhile_settles_an_appeal(ada, rana):
    row = create_appeal(ada, "I answered all of them.")
    everybody = Submission.objects.all()
    assert list(filter_appealed(everybody, unanswered=True)) == [ada]
    decide_on_submission(ada, rana, "open")
    with pytest.raises(DecidedMeanwhileError):
        answer_appeal(row, rana, "You are right.", approve=True)
    assert not AppealAnswer.objects.exists()
    assert not filter_appealed(everybody, unanswered=True).exists()
    assert list(filter_appealed(everybody, unanswered=False)) == [ada]


def test_who_withdrew_has_no_appeal_any_more_and_writes_none(ada, rana):
    row = create_appeal(ada, "I answered all of them.")
    Submission.objects.filter(pk=ada.pk).update(state="returned", withdrawn_at=timezone.now())
    with pytest.raises(WithdrawnError):
        answer_appeal(row, rana, "You are right.", approve=True)
    with pytest.raises(WithdrawnError):
        create_appeal(ada, "I answered all of them.")
    assert Appeal.objects.delete_withdrawn([ada.pk]) == 1
    assert not Appeal.objects.exists()
    assert Decision.objects.count() == 1
