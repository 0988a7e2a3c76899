"""Where people are on their way, and where those who left were: told by what is stored, by queries.

The same way as `way.Way` tells of one person, here of thousands at once: agreed, practice, reading,
a question, the last look. A stage is that of the next thing to do; who left was at the stage where
nothing came any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import (
    Case,
    Count,
    Exists,
    F,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    TextChoices,
    Value,
    When,
)
from django.db.models.functions import Coalesce

from annotations.models import Assignment, Collection, Question, Reading, Submission

State = Submission.State
PRACTICE = Question.Role.PRACTICE


class Stage(TextChoices):
    """Where somebody is; the first five are on the way, in its order."""

    AGREED = "agreed", "has agreed, not begun"
    PRACTICE = "practice", "practice"
    READING = "reading", "reading"
    QUESTION = "question", "question"
    REVIEW = "review", "looking through"
    DONE = "done", "done"
    TIMED_OUT = "timed_out", "out of time"
    SCREENED_OUT = "screened_out", "did not pass the practice"
    RETURNED = "returned", "withdrew"


ON_THE_WAY = (Stage.AGREED, Stage.PRACTICE, Stage.READING, Stage.QUESTION, Stage.REVIEW)
LEFT = {
    Stage.AGREED: "after agreeing, before anything was shown",
    Stage.PRACTICE: "in the practice",
    Stage.READING: "while reading passage {number}",
    Stage.QUESTION: "at question {number}",
    Stage.REVIEW: "at the last look, with everything answered",
}
ENDED = {
    State.SUBMITTED: Stage.DONE,
    State.TIMED_OUT: Stage.TIMED_OUT,
    State.SCREENED_OUT: Stage.SCREENED_OUT,
    State.RETURNED: Stage.RETURNED,
}


@dataclass(frozen=True, slots=True)
class AtStage:
    """How many people are at a stage; `number` is that of the passage or question, 0 for others."""

    stage: str
    number: int
    people: int

    @property
    def words(self) -> str:
        """The stage, for people."""
        return stage_words(self.stage, self.number)


@dataclass(frozen=True, slots=True)
class Left:
    """How many of all who agreed left, and where; `words` is the whole sentence."""

    stage: str
    number: int
    people: int
    began: int

    @property
    def words(self) -> str:
        """Such as "6 of 40 left while reading passage 2."."""
        of = f"{self.people:,} of {self.began:,}"
        if self.stage == Stage.RETURNED:
            return f"{of} withdrew their answers."
        if self.stage == Stage.SCREENED_OUT:
            return f"{of} did not pass the practice."
        return f"{of} left {LEFT[Stage(self.stage)].format(number=self.number)}."


def stage_words(stage: str, number: int = 0, of: int = 0) -> str:
    """Return a stage for people: "reading passage 2", "question 3 of 12"."""
    if stage == Stage.READING:
        return f"reading passage {number:,}"
    if stage == Stage.QUESTION:
        return f"question {number:,} of {of:,}" if of else f"question {number:,}"
    return Stage(stage).label


def with_stages(rows: QuerySet[Submission], collection: Collection) -> QuerySet[Submission]:
    """Add to submissions `way` (where they are or were), `place_on_way`, `n_given`, `n_answered`.

    Practice is not counted in the numbers. `place_on_way` is that of the passage (of those the
    person reads, in their own order) or question, from 1; 0 at other stages. Of who withdrew, `way`
    says nothing: what they were given is deleted.
    """
    given = Assignment.objects.filter(submission=OuterRef("pk"))
    is_next = Q(answered_at=None) | Q(question__role=PRACTICE, told_at=None)
    next_one = given.filter(is_next).order_by("position")
    asked = given.exclude(question__role=PRACTICE)
    readings = Reading.objects.filter(submission=OuterRef("pk"))
    before = readings.exclude(passage=OuterRef("next_passage")).exclude(
        Exists(Question.objects.filter(passage=OuterRef("passage"), role=PRACTICE))
    )
    rows = rows.annotate(
        next_role=Subquery(next_one.values("question__role")[:1]),
        next_passage=Coalesce(
            Subquery(next_one.values("question__passage")[:1], output_field=IntegerField()), 0
        ),
        next_shown=Subquery(next_one.values("shown_at")[:1]),
        n_given=_count(asked),
        n_answered=_count(asked.filter(answered_at__isnull=False)),
        begun=Exists(given.filter(shown_at__isnull=False)) | Exists(readings),
    )
    unread = Q(next_shown=None) & ~Q(next_passage=0)
    if collection.protocol != Collection.Protocol.RECALL:
        unread &= Q(pk__isnull=True)
    read = readings.filter(passage=OuterRef("next_passage"), read_at__isnull=False)
    rows = rows.annotate(
        way=Case(
            When(next_role=None, then=Value(Stage.REVIEW)),
            When(begun=False, then=Value(Stage.AGREED)),
            When(next_role=PRACTICE, then=Value(Stage.PRACTICE)),
            When(unread & ~Exists(read), then=Value(Stage.READING)),
            default=Value(Stage.QUESTION),
        )
    )
    return rows.annotate(
        place_on_way=Case(
            When(way=Stage.READING, then=_count(before) + 1),
            When(way=Stage.QUESTION, then=F("n_answered") + 1),
            default=Value(0),
            output_field=IntegerField(),
        )
    )


def where(submission: Any) -> str:
    """Return where one of `with_stages` is, in words."""
    if submission.withdrawn_at is not None:
        return "withdrew the answers"
    if submission.state in ENDED:
        ended = ENDED[submission.state]
        if ended is Stage.TIMED_OUT:
            at = LEFT[Stage(submission.way)].format(number=submission.place_on_way)
            return f"out of time {at}"
        return str(ended.label)
    return stage_words(submission.way, submission.place_on_way, submission.n_given)


def stages(people: QuerySet[Submission], collection: Collection) -> list[AtStage]:
    """Return how many of those who are answering are at which stage, in the order of the way."""
    rows = _by_stage(people.filter(state=State.OPEN), collection)
    return [AtStage(stage, number, n) for stage, number, n in _in_order(rows)]


def drop_outs(people: QuerySet[Submission], collection: Collection, began: int) -> list[Left]:
    """Return how many left at which stage, most first: out of time, withdrawn, screened out.

    Who runs out of time and comes back is no longer counted here.
    """
    rows = _by_stage(people.filter(state=State.TIMED_OUT), collection)
    ended = (
        people.filter(state__in=[State.RETURNED, State.SCREENED_OUT])
        .order_by()
        .values_list("state")
        .annotate(n=Count("pk"))
    )
    left = [Left(stage, number, n, began) for stage, number, n in _in_order(rows)]
    left += [Left(str(ENDED[State(state)].value), 0, n, began) for state, n in ended]
    return sorted(left, key=lambda one: -one.people)


def _by_stage(rows: QuerySet[Submission], collection: Collection) -> Sequence[tuple[str, int, int]]:
    staged: Any = with_stages(rows, collection).order_by()
    counted = staged.values("way", "place_on_way").annotate(n=Count("pk"))
    return list(counted.values_list("way", "place_on_way", "n"))


def _in_order(rows: Sequence[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    order = [stage.value for stage in ON_THE_WAY]
    return sorted(rows, key=lambda row: (order.index(row[0]), row[1]))


def _count(rows: QuerySet[Any]) -> Coalesce:
    counted = rows.order_by().values("submission").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)
