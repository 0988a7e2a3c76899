"""Status of a collection: workers, places, answers, times, costs and drop-outs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from annotations.answering.money import CollectionCosts, compute_costs
from annotations.answering.places import (
    build_place_condition,
    count_free_places,
    select_place_holders,
    time_out_expired_submissions,
)
from annotations.answering.stages import DropOut, StageCount, annotate_stages, count_stages
from annotations.answering.times import (
    DurationQuartiles,
    compute_duration_quartiles,
    compute_question_minutes,
)
from annotations.models import GRADED, Collection, Question, Response, Submission

DEVICES = {
    Submission.Device.PHONE.value: "phone",
    Submission.Device.TABLET.value: "tablet",
    Submission.Device.COMPUTER.value: "computer",
    Submission.Device.SEVERAL.value: "several kinds",
    "": "not known",
}
"""Labels of the devices, in display order."""
MAX_QUESTIONS = 15
"""Most questions listed as having the fewest answers."""


@dataclass(frozen=True, slots=True)
class DeviceCount:
    """Numbers of workers who consented and who submitted on a kind of device ("" if unknown).

    The device of a withdrawn submission is deleted, so it counts as unknown.
    """

    device: str
    began: int
    submitted: int

    @property
    def words(self) -> str:
        """Label of the kind of device."""
        return DEVICES[self.device]

    def as_dict(self) -> dict[str, Any]:
        """Return device and counts for JSON."""
        return {"device": self.device, "began": self.began, "submitted": self.submitted}


@dataclass(frozen=True, slots=True)
class CollectionStatus:
    """Status of a collection; counts are numbers of workers unless noted.

    Attributes
    ----------
    state : of the collection.
    places, taken, free : places. `free` is also 0 if every question has all its answers.
    states : submissions by state, with 0 for unused states.
    answers : submitted answers to graded questions.
    median_minutes, minutes : time from consent to submission; None before the first submission.
    began, declined : workers who consented, and refusals of consent.
    failed_checks : submitted workers who failed the attention checks.
    stages : of open submissions. left : drop-outs by stage, the largest number first.
    money : costs; None if no pay is set.
    devices : kinds of devices; empty if none is known.
    """

    state: str
    places: int
    taken: int
    free: int
    states: dict[str, int]
    answers: int
    median_minutes: float | None
    minutes: DurationQuartiles | None
    began: int
    declined: int
    failed_checks: int
    stages: list[StageCount]
    left: list[DropOut]
    money: CollectionCosts | None
    devices: list[DeviceCount]

    def as_dict(self) -> dict[str, Any]:
        """Return the status for JSON, with the counts by state at the top level."""
        minutes = self.minutes
        return {
            **self.states,
            "collection": self.state,
            "places": self.places,
            "taken": self.taken,
            "free": self.free,
            "answers": self.answers,
            "median_minutes": self.median_minutes,
            "quartile_minutes": (
                None if minutes is None else [round(minutes.low, 1), round(minutes.high, 1)]
            ),
            "began": self.began,
            "declined": self.declined,
            "failed_checks": self.failed_checks,
            "stages": [
                {"stage": count.stage, "number": count.number, "people": count.people}
                for count in self.stages
            ],
            "left": [
                {
                    "stage": drop_out.stage,
                    "number": drop_out.number,
                    "people": drop_out.people,
                    "said": drop_out.words,
                }
                for drop_out in self.left
            ],
            "money": None if self.money is None else self.money.as_dict(),
            "devices": [device.as_dict() for device in self.devices],
        }


def load_collection_status(collection: Collection) -> CollectionStatus:
    """Return the status of a collection, after expired submissions are marked as timed out.

    The number of queries does not depend on the number of workers.
    """
    time_out_expired_submissions(collection)
    now = timezone.now()
    submissions = Submission.objects.filter(
        version=collection.version_id, source=Submission.Source.COLLECTED
    )
    rows = list(
        submissions.order_by()
        .values("state", "device")
        .annotate(
            n=Count("pk"),
            failed=Count("pk", filter=Q(failed_checks=True)),
            handed_in=Count("pk", filter=Q(submitted_at__isnull=False)),
            taking=Count("pk", filter=build_place_condition(now)),
        )
    )
    n_by_state = {row["state"]: 0 for row in rows}
    for row in rows:
        n_by_state[row["state"]] += row["n"]
    began = sum(n_by_state.values())
    done = submissions.filter(state=Submission.State.SUBMITTED, started_at__isnull=False)
    minutes = compute_duration_quartiles(done, n_by_state.get(Submission.State.SUBMITTED, 0))
    answers = Response.objects.filter(
        submission__in=submissions.filter(state=Submission.State.SUBMITTED),
        state=Response.State.SUBMITTED,
        status=Response.Status.TEXT,
        question__role__in=GRADED,
    )
    n_taken = sum(row["taking"] for row in rows)
    # A worker who withdrew after submitting is paid, and the place is free for another worker:
    # costs count `submitted_at`, places the state.
    handed_in = sum(row["handed_in"] for row in rows)
    stages, drop_outs = count_stages(submissions, collection, n_by_state)
    n_submitted = n_by_state.get(Submission.State.SUBMITTED, 0)
    places_left = collection.places - n_submitted
    if collection.state == Collection.State.CLOSED:
        # A closed collection admits nobody, so no further place costs anything.
        places_left = 0
    return CollectionStatus(
        state=collection.state,
        places=collection.places,
        taken=n_taken,
        free=count_free_places(collection, now, n_taken),
        states={state: n_by_state.get(state, 0) for state in Submission.State.values},
        answers=answers.count(),
        median_minutes=None if minutes is None else round(minutes.median, 1),
        minutes=minutes,
        began=began,
        declined=collection.declined,
        failed_checks=sum(
            row["failed"] for row in rows if row["state"] == Submission.State.SUBMITTED
        ),
        stages=stages,
        left=drop_outs,
        money=compute_costs(
            collection, handed_in, max(0, places_left), None if minutes is None else minutes.median
        ),
        devices=_count_devices(rows),
    )


def count_open_submissions(collection: Collection) -> int:
    """Return the number of workers answering now; expired submissions are timed out first."""
    time_out_expired_submissions(collection)
    return Submission.objects.filter(
        version=collection.version_id,
        source=Submission.Source.COLLECTED,
        state=Submission.State.OPEN,
    ).count()


def _count_devices(rows: Sequence[Mapping[str, Any]]) -> list[DeviceCount]:
    """Return the counts by device from rows by state and device; [] if no device is known."""
    if not any(row["device"] for row in rows):
        return []
    counts = []
    for device in DEVICES:
        began = [row for row in rows if row["device"] == device]
        done = [row for row in began if row["state"] == Submission.State.SUBMITTED]
        if began:
            n, n_done = sum(row["n"] for row in began), sum(row["n"] for row in done)
            counts.append(DeviceCount(device, n, n_done))
    return counts


def annotate_answer_counts(collection: Collection) -> QuerySet[Question]:
    """Return the graded questions annotated with their numbers of answers, fewest answers first.

    `n_answers` counts submitted answers, `n_places` all workers who have a place and the question.
    """
    active = select_place_holders(collection, timezone.now())
    is_active = Q(assignments__submission__in=active)
    done = is_active & Q(assignments__submission__state=Submission.State.SUBMITTED)
    return (
        collection.version.questions.graded()
        .annotate(
            n_places=Count("assignments", filter=is_active),
            n_answers=Count("assignments", filter=done),
        )
        .order_by("n_answers", "n_places", "position", "pk")
    )


@dataclass(frozen=True, slots=True)
class QuestionProgress:
    """Answers to one question: submitted, assigned to workers with a place, and wanted.

    `minutes` is the median time spent on its page; None before the first submission.
    """

    question: Question
    answers: int
    places: int
    wanted: int
    minutes: float | None

    def as_dict(self) -> dict[str, Any]:
        """Return the question's id and counts for JSON."""
        return {
            "question": self.question.external_id,
            "answers": self.answers,
            "places": self.places,
            "wanted": self.wanted,
            "median_minutes": None if self.minutes is None else round(self.minutes, 1),
        }


def list_least_answered_questions(
    collection: Collection, most: int = MAX_QUESTIONS
) -> list[QuestionProgress]:
    """Return the progress of the graded questions with the fewest answers, at most `most`.

    Two queries.
    """
    rows: list[Any] = list(annotate_answer_counts(collection)[:most])
    minutes = compute_question_minutes(collection, [row.pk for row in rows])
    wanted = collection.answers_per_question or collection.places
    return [
        QuestionProgress(row, row.n_answers, row.n_places, wanted, minutes.get(row.pk))
        for row in rows
    ]


def select_collected_submissions(
    collection: Collection, visible: QuerySet[Submission] | None = None
) -> QuerySet[Submission]:
    """Return the submissions to a collection made on this site, with their workers.

    `visible` limits them to the submissions that a user may see.
    """
    rows = Submission.objects.all() if visible is None else visible
    rows = rows.filter(version=collection.version_id, source=Submission.Source.COLLECTED)
    return rows.select_related("worker")


def load_submissions_with_stages(collection: Collection, rows: Sequence[Submission]) -> list[Any]:
    """Return the given submissions annotated by `annotate_stages`, in their order; one query."""
    # For one page of a list only: in the list's own query the database would compute the stages of
    # all submissions first.
    staged = annotate_stages(select_collected_submissions(collection), collection).in_bulk(
        [row.pk for row in rows]
    )
    return [staged[row.pk] for row in rows if row.pk in staged]


def find_newest_collection(question_set: Any) -> Collection | None:
    """Return the collection of the question set's newest version that has one; None without any."""
    return (
        Collection.objects.filter(version__question_set=question_set)
        .select_related("version__question_set")
        .order_by("-version__number")
        .first()
    )
