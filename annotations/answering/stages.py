"""Stage of each submission (such as reading or review) and drop-outs, by database queries.

The same rules as `progress.SurveyProgress`, but for thousands of submissions at once. A stage is
that of the worker's next step: consent given, practice, reading, a question, review. A worker who
dropped out is counted at the last stage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    """Stage of a submission; the first five are those of open submissions, in order."""

    AGREED = "agreed", "has agreed, not begun"
    PRACTICE = "practice", "practice"
    READING = "reading", "reading"
    QUESTION = "question", "question"
    REVIEW = "review", "looking through"
    DONE = "done", "done"
    TIMED_OUT = "timed_out", "out of time"
    SCREENED_OUT = "screened_out", "did not pass the practice"
    RETURNED = "returned", "withdrew"


OPEN_STAGES = (Stage.AGREED, Stage.PRACTICE, Stage.READING, Stage.QUESTION, Stage.REVIEW)
DROP_OUT_TEXTS = {
    Stage.AGREED: "after agreeing, before anything was shown",
    Stage.PRACTICE: "in the practice",
    Stage.READING: "while reading passage {number}",
    Stage.QUESTION: "at question {number}",
    Stage.REVIEW: "at the last look, with everything answered",
}
STAGE_BY_STATE = {
    State.SUBMITTED: Stage.DONE,
    State.TIMED_OUT: Stage.TIMED_OUT,
    State.SCREENED_OUT: Stage.SCREENED_OUT,
    State.RETURNED: Stage.RETURNED,
}


@dataclass(frozen=True, slots=True)
class StageCount:
    """Number of workers at a stage; `number` is that of the passage or question, else 0."""

    stage: str
    number: int
    people: int

    @property
    def words(self) -> str:
        """Stage as text, such as "question 3 of 12"."""
        return format_stage(self.stage, self.number)


@dataclass(frozen=True, slots=True)
class DropOut:
    """Number of workers who left at a stage, of `began` who consented."""

    stage: str
    number: int
    people: int
    began: int

    @property
    def words(self) -> str:
        """Sentence on the drop-outs, such as "6 of 40 left while reading passage 2."."""
        share = f"{self.people:,} of {self.began:,}"
        if self.stage == Stage.RETURNED:
            return f"{share} withdrew their answers."
        if self.stage == Stage.SCREENED_OUT:
            return f"{share} did not pass the practice."
        return f"{share} left {DROP_OUT_TEXTS[Stage(self.stage)].format(number=self.number)}."


def format_stage(stage: str, number: int = 0, total: int = 0) -> str:
    """Return a stage as text, such as "reading passage 2" or "question 3 of 12"."""
    if stage == Stage.READING:
        return f"reading passage {number:,}"
    if stage == Stage.QUESTION:
        return f"question {number:,} of {total:,}" if total else f"question {number:,}"
    return Stage(stage).label


def annotate_stages(rows: QuerySet[Submission], collection: Collection) -> QuerySet[Submission]:
    """Return submissions annotated with their stage, its number, and counts of answers.

    The annotations are `way` (a `Stage`), `place_on_way`, `n_given` and `n_answered`.

    `place_on_way` is the number of the passage, in the worker's own order, or of the question, from
    1; 0 at other stages. `n_given` and `n_answered` count the worker's questions and answers.
    Practice counts in none of the numbers. `way` is meaningless for a withdrawn submission, whose
    assignments are deleted.
    """
    assignments = Assignment.objects.filter(submission=OuterRef("pk"))
    is_next = Q(answered_at=None) | Q(question__role=PRACTICE, told_at=None)
    next_one = assignments.filter(is_next).order_by("position")
    without_practice = assignments.exclude(question__role=PRACTICE)
    readings = Reading.objects.filter(submission=OuterRef("pk"))
    before = readings.exclude(passage=OuterRef("next_passage")).exclude(
        Exists(Question.objects.filter(passage=OuterRef("passage"), role=PRACTICE))
    )
    rows = rows.annotate(
        next_role=Subquery(next_one.values("question__role")[:1]),
        # 0, not NULL: `exclude` below would drop every row that is compared with NULL.
        next_passage=Coalesce(
            Subquery(next_one.values("question__passage")[:1], output_field=IntegerField()), 0
        ),
        next_shown=Subquery(next_one.values("shown_at")[:1]),
        n_given=_build_row_count(without_practice),
        n_answered=_build_row_count(without_practice.filter(answered_at__isnull=False)),
        begun=Exists(assignments.filter(shown_at__isnull=False)) | Exists(readings),
    )
    unread = Q(next_shown=None) & ~Q(next_passage=0)
    if collection.protocol != Collection.Protocol.RECALL:
        unread &= Q(pk__isnull=True)  # never true: passages are shown beside the questions
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
            When(way=Stage.READING, then=_build_row_count(before) + 1),
            When(way=Stage.QUESTION, then=F("n_answered") + 1),
            default=Value(0),
            output_field=IntegerField(),
        )
    )


def describe_stage(submission: Any) -> str:
    """Return a submission's stage as text, or how the submission ended.

    The submission is annotated by `annotate_stages`.
    """
    if submission.withdrawn_at is not None:
        return "withdrew the answers"
    if submission.state in STAGE_BY_STATE:
        ended = STAGE_BY_STATE[submission.state]
        if ended is Stage.TIMED_OUT:
            place = DROP_OUT_TEXTS[Stage(submission.way)].format(number=submission.place_on_way)
            return f"out of time {place}"
        return str(ended.label)
    return format_stage(submission.way, submission.place_on_way, submission.n_given)


def count_stages(
    people: QuerySet[Submission], collection: Collection, n_by_state: Mapping[str, int]
) -> tuple[list[StageCount], list[DropOut]]:
    """Return the numbers of workers now at each stage, and of drop-outs by stage; one query.

    The first counts open submissions, in the order of the stages. The second counts those that
    timed out, were withdrawn or screened out, the largest number first; a worker who times out and
    returns is no longer counted. `n_by_state` is the number of submissions by state.
    """
    staged: Any = annotate_stages(
        people.filter(state__in=[State.OPEN, State.TIMED_OUT]), collection
    )
    rows: dict[str, list[tuple[str, int, int]]] = {State.OPEN: [], State.TIMED_OUT: []}
    counted = staged.order_by().values("state", "way", "place_on_way").annotate(n=Count("pk"))
    for state, *row in counted.values_list("state", "way", "place_on_way", "n"):
        rows[state].append(tuple(row))
    began = sum(n_by_state.values())
    stages = [StageCount(*row) for row in _sort_by_stage(rows[State.OPEN])]
    drop_outs = [DropOut(*row, began) for row in _sort_by_stage(rows[State.TIMED_OUT])]
    drop_outs += [
        DropOut(str(STAGE_BY_STATE[state].value), 0, n_by_state[state], began)
        for state in (State.RETURNED, State.SCREENED_OUT)
        if n_by_state.get(state)
    ]
    return stages, sorted(drop_outs, key=lambda drop_out: -drop_out.people)


def _sort_by_stage(rows: Sequence[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    """Return (stage, number, count) rows sorted by stage and number."""
    order = [stage.value for stage in OPEN_STAGES]
    return sorted(rows, key=lambda row: (order.index(row[0]), row[1]))


def _build_row_count(rows: QuerySet[Any]) -> Coalesce:
    """Return an SQL expression for the number of `rows` of a submission."""
    # A subquery, because two counts over joins would multiply each other.
    counted = rows.order_by().values("submission").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)
