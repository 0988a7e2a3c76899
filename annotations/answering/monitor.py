"""How far the collecting is, in numbers: people, places, answers, times, money, who left where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from annotations.answering.money import Money, money
from annotations.answering.places import n_free, release_expired, taking
from annotations.answering.stages import AtStage, Left, drop_outs, stages, with_stages
from annotations.answering.times import Minutes, minutes_on_questions, minutes_taken
from annotations.models import GRADED, Collection, Question, Response, Submission

DEVICES = {
    Submission.Device.PHONE.value: "phone",
    Submission.Device.TABLET.value: "tablet",
    Submission.Device.COMPUTER.value: "computer",
    Submission.Device.SEVERAL.value: "several kinds",
    "": "not known",
}
"""In words, in the order of the lists."""
QUESTIONS_TOLD = 15
"""Questions with the fewest answers that are told."""


@dataclass(frozen=True, slots=True)
class FromDevice:
    """How many agreed and handed in from a kind of device; "" where it is not known.

    Who withdrew is of a kind that is not known any more.
    """

    device: str
    began: int
    submitted: int

    @property
    def words(self) -> str:
        """The kind, in a list."""
        return DEVICES[self.device]

    def as_dict(self) -> dict[str, Any]:
        """For programs."""
        return {"device": self.device, "began": self.began, "submitted": self.submitted}


@dataclass(frozen=True, slots=True)
class CollectingNow:
    """Who is where: `states` counts submissions by their state, 0 where nobody is.

    `places`, `taken` and `free` are places; `free` is 0 too where every question has its answers.
    `answers` counts answers that were handed in. `median_minutes` is from consent to the end, None
    while nobody is done; `minutes` has the quartiles. `failed_checks` are those of the submitted
    who failed the attention checks and were shown the code of that. `began` counts who agreed,
    `declined` how often somebody did not. `stages` are of those who are answering, `left` of those
    who left, most first. `money` is None where nobody said what is paid. `devices` are the kinds
    that people come from, empty where none is known.
    """

    state: str
    places: int
    taken: int
    free: int
    states: dict[str, int]
    answers: int
    median_minutes: float | None
    minutes: Minutes | None
    began: int
    declined: int
    failed_checks: int
    stages: list[AtStage]
    left: list[Left]
    money: Money | None
    devices: list[FromDevice]

    def as_dict(self) -> dict[str, Any]:
        """For programs: the counts by state stand at the top."""
        of = self.minutes
        return {
            **self.states,
            "collection": self.state,
            "places": self.places,
            "taken": self.taken,
            "free": self.free,
            "answers": self.answers,
            "median_minutes": self.median_minutes,
            "quartile_minutes": None if of is None else [round(of.low, 1), round(of.high, 1)],
            "began": self.began,
            "declined": self.declined,
            "failed_checks": self.failed_checks,
            "stages": [
                {"stage": at.stage, "number": at.number, "people": at.people} for at in self.stages
            ],
            "left": [
                {"stage": at.stage, "number": at.number, "people": at.people, "said": at.words}
                for at in self.left
            ],
            "money": None if self.money is None else self.money.as_dict(),
            "devices": [one.as_dict() for one in self.devices],
        }


def collecting_now(collection: Collection) -> CollectingNow:
    """Count; who did not come back in time is counted as timed out.

    The number of queries does not hang on how many people take part.
    """
    release_expired(collection)
    now = timezone.now()
    everybody = Submission.objects.filter(
        version=collection.version_id, source=Submission.Source.COLLECTED
    )
    rows = list(
        everybody.order_by()
        .values("state", "device")
        .annotate(n=Count("pk"), failed=Count("pk", filter=Q(failed_checks=True)))
    )
    counted = {row["state"]: 0 for row in rows}
    for row in rows:
        counted[row["state"]] += row["n"]
    began = sum(counted.values())
    done = everybody.filter(state=Submission.State.SUBMITTED, started_at__isnull=False)
    minutes = minutes_taken(done, counted.get(Submission.State.SUBMITTED, 0))
    answers = Response.objects.filter(
        submission__in=everybody.filter(state=Submission.State.SUBMITTED),
        state=Response.State.SUBMITTED,
        status=Response.Status.TEXT,
        question__role__in=GRADED,
    )
    n_taken = taking(collection, now).count()
    # Who withdrew after handing in was paid, and somebody else may take the place.
    handed_in = everybody.filter(submitted_at__isnull=False).count()
    done_now = counted.get(Submission.State.SUBMITTED, 0)
    places_left = collection.places - done_now
    if collection.state == Collection.State.CLOSED:
        places_left = 0
    return CollectingNow(
        state=collection.state,
        places=collection.places,
        taken=n_taken,
        free=n_free(collection, now),
        states={state: counted.get(state, 0) for state in Submission.State.values},
        answers=answers.count(),
        median_minutes=None if minutes is None else round(minutes.median, 1),
        minutes=minutes,
        began=began,
        declined=collection.declined,
        failed_checks=sum(
            row["failed"] for row in rows if row["state"] == Submission.State.SUBMITTED
        ),
        stages=stages(everybody, collection),
        left=drop_outs(everybody, collection, began),
        money=money(
            collection, handed_in, max(0, places_left), None if minutes is None else minutes.median
        ),
        devices=_devices(rows),
    )


def _devices(rows: Sequence[Mapping[str, Any]]) -> list[FromDevice]:
    if not any(row["device"] for row in rows):
        return []
    found = []
    for device in DEVICES:
        of = [row for row in rows if row["device"] == device]
        done = [row for row in of if row["state"] == Submission.State.SUBMITTED]
        if of:
            n, n_done = sum(row["n"] for row in of), sum(row["n"] for row in done)
            found.append(FromDevice(device, n, n_done))
    return found


def question_counts(collection: Collection) -> QuerySet[Question]:
    """Return the graded questions, each with `n_answers` handed in and `n_places` taken.

    Those with the fewest answers come first.
    """
    active = taking(collection, timezone.now())
    of_active = Q(assignments__submission__in=active)
    done = of_active & Q(assignments__submission__state=Submission.State.SUBMITTED)
    return (
        collection.version.questions.graded()
        .annotate(
            n_places=Count("assignments", filter=of_active),
            n_answers=Count("assignments", filter=done),
        )
        .order_by("n_answers", "n_places", "position", "pk")
    )


@dataclass(frozen=True, slots=True)
class QuestionNow:
    """A question with answers handed in, people who have it, answers wanted, minutes its page took.

    `minutes` is the median of those who are done, None while nobody is.
    """

    question: Question
    answers: int
    places: int
    wanted: int
    minutes: float | None

    def as_dict(self) -> dict[str, Any]:
        """For programs."""
        return {
            "question": self.question.external_id,
            "answers": self.answers,
            "places": self.places,
            "wanted": self.wanted,
            "median_minutes": None if self.minutes is None else round(self.minutes, 1),
        }


def fewest_answers(collection: Collection, most: int = QUESTIONS_TOLD) -> list[QuestionNow]:
    """Return the graded questions with the fewest answers; two queries."""
    rows: list[Any] = list(question_counts(collection)[:most])
    took = minutes_on_questions(collection, [row.pk for row in rows])
    wanted = collection.answers_per_question or collection.places
    return [QuestionNow(row, row.n_answers, row.n_places, wanted, took.get(row.pk)) for row in rows]


def people(
    collection: Collection, among: QuerySet[Submission] | None = None
) -> QuerySet[Submission]:
    """Return those who take part; `with_where` says of some of them where each is.

    `among` are the submissions that the one who asks may see; all of them without it.
    """
    rows = Submission.objects.all() if among is None else among
    rows = rows.filter(version=collection.version_id, source=Submission.Source.COLLECTED)
    return rows.select_related("worker")


def with_where(collection: Collection, rows: Sequence[Submission]) -> list[Any]:
    """Return the same people, in the same order, with what `with_stages` adds; one query.

    Of a page, and not in the query of the list: that would look for everybody's place first.
    """
    staged = with_stages(people(collection), collection).in_bulk([row.pk for row in rows])
    return [staged[row.pk] for row in rows if row.pk in staged]


def newest(question_set: Any) -> Collection | None:
    """Return the collecting of the newest version of a set that was published to workers."""
    return (
        Collection.objects.filter(version__question_set=question_set)
        .select_related("version__question_set")
        .order_by("-version__number")
        .first()
    )
