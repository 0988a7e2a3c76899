"""What the requester sees while people answer: stages, drop-outs, times, money, presses at once."""

import json
from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotations.answering import collecting, monitor, stages
from annotations.answering.errors import SettingsError
from annotations.answering.monitor import load_collection_status
from annotations.ledger import bonuses
from annotations.ledger.decisions import decide_on_submission
from annotations.models import (
    Assignment,
    Collection,
    PanelStatus,
    Question,
    Reading,
    Submission,
    Worker,
)
from tests.annotations.answering.browser import Browser
from tests.annotations.answering.conftest import made_set, published

pytestmark = pytest.mark.django_db

REASON = "The answer repeats the question " + "." * 68


@pytest.fixture
def recall(tides):
    return published(tides, places=10, protocol="recall")


def where(made, worker="ada"):
    one = monitor.select_collected_submissions(made.collection).get(worker__external_id=worker)
    return stages.describe_stage(monitor.load_submissions_with_stages(made.collection, [one])[0])


def told(made):
    return [(at.words, at.people) for at in load_collection_status(made.collection).stages]


def seen_last(minutes_ago, **which):
    then = timezone.now() - timedelta(minutes=minutes_ago)
    Submission.objects.filter(**which).update(
        last_seen_at=then, reserved_until=then + timedelta(minutes=1)
    )


def test_where_somebody_is_follows_them_from_consent_to_the_end(recall):
    ada = Browser(recall)
    ada.get(ada.link)
    assert load_collection_status(recall.collection).began == 0  # looking is not taking part
    ada.press()
    assert where(recall) == stages.Stage.AGREED.label
    ada.press()  # open the passage
    assert where(recall) == "reading passage 1"
    ada.press()  # I have read it
    assert where(recall) in ("question 1 of 5",)
    ada.press()  # the answers of the first passage: three or two of five
    first = Assignment.objects.filter(answered_at__isnull=False).count()
    assert first in (2, 3)
    assert where(recall) == "reading passage 2"
    ada.press()
    assert where(recall) == "reading passage 2"
    ada.press()
    assert where(recall) == f"question {first + 1} of 5"
    ada.press()
    assert where(recall) == "looking through"
    assert told(recall) == [("looking through", 1)]
    ada.press()
    assert where(recall) == "done"
    assert told(recall) == []


def test_an_open_book_has_no_reading(book):
    Browser(book).begin()
    assert where(book) == "question 1 of 5"  # the page was shown at once


def test_practice_comes_before_the_questions_and_is_not_counted(tides):
    Question.objects.create(
        version=tides.latest_version(),
        external_id="p",
        position=99,
        text="Is this practice?",
        role="practice",
        feedback="Yes.",
    )
    made = published(tides, protocol="open")
    ada = Browser(made)
    ada.begin()
    assert where(made) == "practice"
    ada.press()
    assert where(made) == "practice"  # what was right is told before the next page
    ada.press()
    assert where(made) == "question 1 of 5"


def test_who_left_is_told_with_where(recall):
    for name in ("ada", "ben", "cleo"):
        Browser(recall, name).begin()
    dan = Browser(recall, "dan")
    dan.begin()
    for _ in range(4):  # opens, has read, answers, opens the second passage
        dan.press()
    seen_last(30, worker__external_id__in=["ada", "ben", "dan"])
    now = load_collection_status(recall.collection)
    assert [(one.stage, one.number, one.people, one.began) for one in now.left] == [
        ("agreed", 0, 2, 4),
        ("reading", 2, 1, 4),
    ]
    assert now.states["timed_out"] == 3
    assert where(recall, "dan") == "out of time while reading passage 2"
    dan.get(dan.address)  # comes back
    dan.press()
    assert [one.people for one in load_collection_status(recall.collection).left] == [2]


def test_who_does_not_agree_is_counted_and_nothing_of_them_is_stored(recall):
    ada = Browser(recall)
    ada.get(ada.link)
    ada.post(ada.address, {"do": "decline"})
    ada.post(ada.address, {"do": "decline"})
    recall.collection.refresh_from_db()
    assert load_collection_status(recall.collection).declined == 2
    assert not Submission.objects.exists()
    assert not Worker.objects.exists()


def finished(made, minutes):
    """Somebody who took so long, written as rows."""
    now = timezone.now()
    n = Worker.objects.count()
    worker = Worker.objects.create(
        owner=made.version.question_set.owner, panel="Prolific", external_id=f"w{n}"
    )
    return Submission.objects.create(
        version=made.version,
        worker=worker,
        state="submitted",
        started_at=now - timedelta(minutes=minutes),
        submitted_at=now,
        last_seen_at=now,
    )


def test_quartiles_are_those_of_the_minutes_that_people_took(recall):
    for minutes in (4, 8, 10, 20):
        finished(recall, minutes)
    of = load_collection_status(recall.collection).minutes
    # Places 0.75, 1.5 and 2.25 of 0 to 3: 4 + .75 * 4, (8 + 10) / 2, 10 + .25 * 10.
    assert (of.low, of.median, of.high) == (
        pytest.approx(7),
        pytest.approx(9),
        pytest.approx(12.5),
    )
    assert load_collection_status(recall.collection).median_minutes == 9.0


@pytest.mark.parametrize(
    ("minutes", "median"), [((3,), 3), ((3, 5), 4), ((9, 3, 5), 5), ((1, 2, 10, 20), 6)]
)
def test_the_minutes_of_a_question_are_the_median_of_who_is_done(recall, minutes, median):
    question = recall.version.questions.order_by("position").first()
    now = timezone.now()
    for lasted in minutes:
        Assignment.objects.create(
            submission=finished(recall, 60),
            question=question,
            position=1,
            page=1,
            shown_at=now - timedelta(minutes=lasted),
            answered_at=now,
        )
    rows = {
        row.question.pk: row.minutes
        for row in monitor.list_least_answered_questions(recall.collection)
    }
    assert rows[question.pk] == pytest.approx(median)
    assert sum(value is not None for value in rows.values()) == 1


def test_cost_and_hourly_pay_follow_from_pay_fee_and_time(tides):
    made = published(
        tides,
        places=10,
        pay=Decimal("3.00"),
        currency="GBP",
        panel_fee=Decimal("33.33"),
        least_hourly_pay=Decimal("9.00"),
    )
    of = load_collection_status(made.collection).money
    assert (of.so_far, of.hourly, of.is_too_little) == (0, None, False)
    # Each costs 3 * 1.3333 = 3.9999; all ten 39.999.
    assert of.at_the_end == Decimal("40.00")
    for minutes in (15, 24, 40):
        finished(made, minutes)
    gone = finished(made, 50)
    Submission.objects.filter(pk=gone.pk).update(state="returned", withdrawn_at=timezone.now())
    of = load_collection_status(made.collection).money
    # Four were paid, one of whom withdrew: 4 * 3.9999 = 15.9996, and 7 of 10 places are left.
    assert (of.paid, of.so_far, of.at_the_end) == (4, Decimal("16.00"), Decimal("44.00"))
    assert (of.handed_in, of.rejected) == (4, 0)
    assert of.hourly == Decimal("7.50")  # 3 for 24 minutes, without the fee
    assert of.is_too_little
    assert load_collection_status(made.collection).as_dict()["money"] == of.as_dict()
    collecting.set_collection_state(made.collection, "closed")
    assert load_collection_status(made.collection).money.at_the_end == Decimal("16.00")
    collecting.change_settings(made.collection, least_hourly_pay=Decimal("7.50"))
    assert not load_collection_status(made.collection).money.is_too_little


def test_who_is_rejected_here_or_on_the_panel_costs_nothing(tides, rana):
    made = published(tides, places=10, pay=Decimal("2.00"), currency="GBP", panel_fee=Decimal(25))
    ada, ben, cy, di, eve, _ = (finished(made, 10) for _ in range(6))
    decide_on_submission(ada, rana, "reject", "OTHER", REASON)
    decide_on_submission(ben, rana, "reject", "OTHER", REASON)
    decide_on_submission(ben, rana, "open")
    stands(cy, "REJECTED")
    stands(di, "REJECTED", "APPROVED")
    # The panel has paid eve: what is decided here comes too late for her.
    decide_on_submission(eve, rana, "reject", "OTHER", REASON)
    stands(eve, "APPROVED")
    of = load_collection_status(made.collection).money
    # Of six all but ada and cy: 4 x 2.00 x 1.25; four places are left, and those two are not.
    assert (of.paid, of.so_far, of.at_the_end) == (4, Decimal("10.00"), Decimal("20.00"))
    assert (of.handed_in, of.rejected) == (6, 2)


def test_bonuses_are_not_in_the_cost(tides, rana):
    made = published(tides, places=10, pay=Decimal("2.00"), currency="GBP")
    ada = finished(made, 10)
    bonuses.plan_bonuses(made.version, {ada.pk: Decimal("1.50")}, rana)
    bonuses.confirm_payments(made.version, rana)
    of = load_collection_status(made.collection).money
    assert (of.paid, of.parts, of.so_far) == (1, 0, Decimal("2.00"))


def stands(one, *statuses):
    for status in statuses:
        PanelStatus.objects.create(submission=one, status=status, session_id="s")


def test_a_least_pay_without_a_pay_is_refused(tides):
    with pytest.raises(SettingsError) as caught:
        published(tides, least_hourly_pay=Decimal(9))
    assert (caught.value.code, caught.value.field) == ("hourly_without_pay", "pay")
    with pytest.raises(SettingsError) as caught:
        published(tides, pay=Decimal(1), currency="EUR", panel_fee=Decimal(-1))
    assert (caught.value.code, caught.value.field) == ("panel_fee_out_of_range", "panel_fee")


def test_of_two_windows_the_second_does_not_undo_what_it_did_not_see(recall):
    mine, theirs = (Collection.objects.get() for _ in range(2))
    assert collecting.set_collection_state(mine, "closed", was="open")
    assert not collecting.set_collection_state(theirs, "paused", was="open")
    assert Collection.objects.get().state == "closed"
    assert collecting.set_collection_state(
        theirs, "closed", was="open"
    )  # the same wish again is no conflict
    assert collecting.add_places(mine, 5, was=10)
    assert not collecting.add_places(theirs, 5, was=10)
    assert Collection.objects.get().places == 15
    with pytest.raises(SettingsError):
        collecting.add_places(mine, 200_000)
    assert Collection.objects.get().places == 15


def crowd(made, n, done=0.5, name="w"):
    """So many people as rows: some done, some reading, some out of time, at all stages."""
    owner, now = made.version.question_set.owner, timezone.now()
    questions = list(made.version.questions.order_by("position"))
    workers = Worker.objects.bulk_create(
        Worker(owner=owner, panel="Prolific", external_id=f"{name}{i}") for i in range(n)
    )
    rows = []
    for i, worker in enumerate(workers):
        is_done = i < n * done
        rows.append(
            Submission(
                version=made.version,
                worker=worker,
                state="submitted" if is_done else ("open", "timed_out")[i % 2],
                started_at=now - timedelta(minutes=5 + i % 40),
                submitted_at=now if is_done else None,
                last_seen_at=now,
                reserved_until=now + timedelta(hours=1),
            )
        )
    Submission.objects.bulk_create(rows, batch_size=1000)
    Assignment.objects.bulk_create(
        (
            Assignment(
                submission=row,
                question=question,
                position=at + 1,
                page=at // 3 + 1,
                shown_at=now - timedelta(minutes=3),
                answered_at=now if row.state == "submitted" or at < i % 5 else None,
            )
            for i, row in enumerate(rows)
            for at, question in enumerate(questions)
        ),
        batch_size=1000,
    )
    Reading.objects.bulk_create(
        (
            Reading(submission=row, passage=made.version.passages.first(), opened_at=now)
            for row in rows
        ),
        batch_size=1000,
    )


@pytest.mark.long
def test_five_thousand_people_cost_as_many_queries_as_five(rana):
    counts = {}
    for n in (6, 5000):
        made = published(made_set(rana, f"set of {n}"), places=10_000)
        Worker.objects.all().filter(external_id__startswith="w").update(panel=f"before {n}")
        crowd(made, n)
        with CaptureQueriesContext(connection) as asked:
            now = load_collection_status(made.collection)
            monitor.list_least_answered_questions(made.collection)
            rows = monitor.load_submissions_with_stages(
                made.collection, monitor.select_collected_submissions(made.collection)[:50]
            )
            [stages.describe_stage(row) for row in rows]
        counts[n] = len(asked)
        assert now.began == n
        assert now.states["submitted"] == n // 2
        assert sum(at.people for at in now.stages) == now.states["open"]
        assert sum(one.people for one in now.left) == now.states["timed_out"]
    assert counts[6] == counts[5000]
    assert counts[5000] <= 25


def test_the_command_says_the_same_in_json_and_keeps_its_keys(recall, capsys):
    Browser(recall).begin()
    call_command("monitor", "tides", "--json")
    said = json.loads(capsys.readouterr().out)
    assert list(said)[:13] == [
        *("question_set", "version", "open", "submitted", "returned", "timed_out"),
        *("screened_out", "collection", "places", "taken", "free", "answers", "median_minutes"),
    ]
    assert said["stages"] == [{"stage": "agreed", "number": 0, "people": 1}]
    assert said["fewest_answers"][0]["wanted"] == 10
    call_command("monitor", "tides")
    assert f"{stages.Stage.AGREED.label}: 1\n" in capsys.readouterr().out
