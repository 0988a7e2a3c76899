"""Tasks of experts: everything to judge, item by item, and disagreements to settle.

Find answers on which experts disagree, and ask a third expert to settle them blindly.

Lead an expert through the items to judge, and store the judgements.

An expert sees the question, its passage and the text of an answer, or the parts that a run type
declares. This module hides everything else: the author, the score, the camp, and the run that asks.

List all items that an expert is requested to judge, by question set.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from secrets import randbelow
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotations.models import QuestionSet, Response
from evaluation.models import Audit, AuditItem, HumanJudgement, JudgementRequest, Run, WorkerVerdict
from evaluation.models.judgements import PLACES, THINGS
from evaluation.runs.judging.declaration import ANSWERS, Choice, Part, load_parts

# What rounding leaves of a difference of half steps.
ROUNDING = 1e-9


class CannotSettleError(ValueError):
    """Error: an expert cannot settle a disagreement of others; the message is for people."""


@dataclass(frozen=True)
class Dispute:
    """An answer of a sample on whose grade experts disagree, and who settles it.

    Attributes
    ----------
    grades : by expert, given independently. adjudicator : primary key of the expert who was asked
        to settle it, or None. settled : grade of the adjudicator, None while it is missing.
    """

    item: int
    response: int | None
    llm_response: int | None
    grades: dict[int, float]
    adjudicator: int | None
    settled: float | None

    @property
    def answer(self) -> tuple[int | None, int | None]:
        """Primary keys of the worker's answer and of the model's answer; one is None."""
        return self.response, self.llm_response


def list_disputes(audit: Audit) -> list[Dispute]:
    """Return the answers on whose grades experts disagree by more than the sample's step."""
    grades_by_thing: dict[tuple[int | None, int | None], dict[int, float]] = {}
    items = AuditItem.objects.filter(audit=audit)
    for field in ("response", "llm_response"):
        keys = items.filter(**{f"{field}__isnull": False}).values(field)
        rows = HumanJudgement.objects.filter(**{f"{field}__in": keys}, grade__isnull=False)
        for response, llm, expert, grade in rows.values_list(
            "response_id", "llm_response_id", "expert_id", "grade"
        ):
            grades_by_thing.setdefault((response, llm), {})[expert] = grade or 0.0
    disputes = []
    for key, response, llm, adjudicator in items.order_by("place").values_list(
        "pk", "response_id", "llm_response_id", "adjudicator_id"
    ):
        grades = grades_by_thing.get((response, llm), {})
        # The adjudicator sees the others' grades, so that grade is no independent one.
        other_grades = {expert: grade for expert, grade in grades.items() if expert != adjudicator}
        settled = None if adjudicator is None else grades.get(adjudicator)
        # A settled answer stays in the list if the experts change their grades and agree later.
        if settled is not None or has_disagreement(list(other_grades.values()), audit.step):
            disputes.append(Dispute(key, response, llm, other_grades, adjudicator, settled))
    return disputes


def has_disagreement(grades: Sequence[float], step: float) -> bool:
    """Return whether any two grades of one answer differ by more than `step`."""
    return len(grades) > 1 and max(grades) - min(grades) > step + ROUNDING


def list_disputing_experts(disputes: Iterable[Dispute]) -> set[int]:
    """Return the keys of the experts who graded an unsettled answer, so cannot settle it."""
    return {expert for dispute in disputes if dispute.settled is None for expert in dispute.grades}


@transaction.atomic
def ask_expert_to_settle(audit: Audit, expert: int) -> int:
    """Request an expert to settle all disagreements without adjudicator; return their number.

    The order is drawn from the sample's seed and the expert. Raises `CannotSettleError`.
    """
    # The run's row makes two who ask at once wait for each other.
    Run.objects.select_for_update().get(pk=audit.run_id)
    disputes = list_disputes(audit)
    open_disputes = [
        open_dispute
        for open_dispute in disputes
        if open_dispute.settled is None and open_dispute.adjudicator is None
    ]
    if not open_disputes:
        raise CannotSettleError("There is nothing to settle that is not asked about already.")
    if expert in list_disputing_experts(open_disputes):
        name = get_user_model().objects.get(pk=expert).get_username()
        raise CannotSettleError(
            f"{name} graded some of these answers: another expert has to settle them."
        )
    # The 1 makes the order another than that in which the sample itself was asked.
    places = np.random.default_rng([audit.seed, expert, 1]).integers(0, PLACES, len(open_disputes))
    # Who was asked about the sample, too, settles what they have not graded instead.
    JudgementRequest.objects.bulk_create(
        [
            JudgementRequest(
                response_id=open_dispute.response,
                llm_response_id=open_dispute.llm_response,
                expert_id=expert,
                place=int(place),
            )
            for open_dispute, place in zip(open_disputes, places, strict=True)
        ],
        ignore_conflicts=True,
    )
    AuditItem.objects.filter(pk__in=[open_dispute.item for open_dispute in open_disputes]).update(
        adjudicator=expert
    )
    return len(open_disputes)


def list_grades_to_settle(judgement_request: JudgementRequest) -> list[float]:
    """Return the differing grades of the answer that an expert is to settle, ascending.

    The grades do not reveal their experts. Empty if the expert is not asked to settle the answer.
    """
    thing = {
        "response": judgement_request.response_id,
        "llm_response": judgement_request.llm_response_id,
    }
    mine = AuditItem.objects.filter(**thing, adjudicator=judgement_request.expert_id)
    if not mine.exists():
        return []
    judgements = HumanJudgement.objects.filter(**thing, grade__isnull=False)
    grades = judgements.exclude(expert=judgement_request.expert_id).values_list("grade", flat=True)
    return sorted(grade for grade in grades if grade is not None)


TO_SETTLE = (
    "The graders are not shown. Your grade replaces theirs; it need not be one of them, nor "
    "between them."
)


class JudgingKey(NamedTuple):
    """Key of a `Judging`: its run type ("" for answers of workers) and its name."""

    kind: str
    name: str


OF_ANSWERS = JudgingKey("", ANSWERS.name)


@dataclass(frozen=True)
class JudgingTask:
    """One item for an expert to judge, with everything that the expert may see.

    Attributes
    ----------
    number : place among the expert's items on this scale, from 1.
    before : id of the previous item's request; None for the first item.
    grade, label : judgement stored before; None and "" without one.
    """

    declared: JudgingKey
    number: int
    total: int
    done: int
    before: UUID | None
    parts: tuple[Part, ...]
    grade: float | None
    label: str


@dataclass(frozen=True)
class JudgingProgress:
    """An expert's progress in a question set; `next` is the first item without a judgement."""

    total: int
    done: int
    next: UUID | None
    first: UUID | None


@dataclass(frozen=True)
class JudgingQueue:
    """The items on one scale that an expert is asked to judge, with the progress."""

    declared: JudgingKey
    progress: JudgingProgress


class NotAskedError(LookupError):
    """Error: the expert has no request to judge this item."""


class RequestRow(NamedTuple):
    """A request to an expert to judge an item: its id, whether it is done, and the scale."""

    task: UUID
    done: bool
    declared: JudgingKey


def request_answer_judgements(run: Run | None, responses: Iterable[Response], expert: int) -> None:
    """Request an expert to judge answers, in random order; earlier requests stay."""
    JudgementRequest.objects.bulk_create(
        [
            JudgementRequest(run=run, response=response, expert_id=expert, place=randbelow(PLACES))
            for response in responses
        ],
        ignore_conflicts=True,
    )


def load_expert_progress(
    question_set: QuestionSet, expert: int, *, is_asked: bool = False
) -> JudgingProgress:
    """Return an expert's progress over all requested items of a question set, by two queries.

    By one query if the caller knows that the expert `has_requests` to judge something.
    """
    return compute_judging_progress(_load_request_rows(question_set, expert, known=is_asked))


def load_judging_queues(question_set: QuestionSet, expert: int) -> list[JudgingQueue]:
    """Return an expert's progress in a question set, one entry per judgement scale; two queries."""
    rows = _load_request_rows(question_set, expert)
    return [
        JudgingQueue(
            declared, compute_judging_progress([row for row in rows if row.declared == declared])
        )
        for declared in sorted({row.declared for row in rows})
    ]


def load_judging_task(question_set: QuestionSet, expert: int, request: UUID) -> JudgingTask | None:
    """Return the item to judge of an expert's request, by four queries; None without a request."""
    queue_rows, index = _find_queue_position(_load_request_rows(question_set, expert), request)
    if index is None:
        return None
    request_row = JudgementRequest.objects.select_related(
        "exhibit", "response__question__passage", "llm_response__question__passage"
    ).get(public_id=request)
    grade, label = (
        HumanJudgement.objects.filter(**_build_item_fields(request_row), expert=expert)
        .values_list("grade", "label")
        .first()
    ) or (None, "")
    return JudgingTask(
        declared=queue_rows[index].declared,
        number=index + 1,
        total=len(queue_rows),
        done=sum(row.done for row in queue_rows),
        before=queue_rows[index - 1].task if index else None,
        parts=_build_parts(request_row),
        grade=grade,
        label=label,
    )


def store_judgement(
    question_set: QuestionSet, expert: int, request: UUID, choice: Choice
) -> UUID | None:
    """Store an expert's judgement, replacing an earlier one; return the next open request's id.

    None when all items on that scale are judged. Sending it twice changes nothing. Raises
    `NotAskedError`.
    """
    queue_rows, index = _find_queue_position(_load_request_rows(question_set, expert), request)
    if index is None:
        raise NotAskedError(request)
    label = choice.code if choice.grade is None else ""
    HumanJudgement.objects.update_or_create(
        **_build_item_fields(JudgementRequest.objects.get(public_id=request)),
        expert_id=expert,
        defaults={"grade": choice.grade, "label": label},
    )
    # What follows comes first, then skipped items before it: the list is a circle.
    undone = [row.task for row in queue_rows[index + 1 :] + queue_rows[:index] if not row.done]
    return undone[0] if undone else None


def find_last_judged(question_set: QuestionSet, expert: int) -> UUID | None:
    """Return the id of the request that an expert judged last in a set; None without any."""
    requests = select_requests(expert, QuestionSet.objects.filter(pk=question_set.pk)).filter(
        is_done=True
    )
    judgements = HumanJudgement.objects.filter(expert=expert).order_by()
    times = [
        Subquery(judgements.filter(**{thing: OuterRef(thing)}).values("updated_at")[:1])
        for thing in THINGS
    ]
    latest = requests.annotate(at=Coalesce(*times)).order_by("-at", "-pk")
    return latest.values_list("public_id", flat=True).first()


def delete_judgement(question_set: QuestionSet, expert: int, request: UUID) -> bool:
    """Delete an expert's judgement, so that it is open again; return whether it existed.

    Raises `NotAskedError`.
    """
    row = (
        select_requests(expert, QuestionSet.objects.filter(pk=question_set.pk))
        .filter(public_id=request)
        .first()
    )
    if row is None:
        raise NotAskedError(request)
    gone, _ = HumanJudgement.objects.filter(**_build_item_fields(row), expert=expert).delete()
    return gone > 0


def _build_item_fields(judgement_request: JudgementRequest) -> dict[str, Any]:
    """Return the foreign keys of a request's item, by field of a judgement."""
    return {f"{thing}_id": getattr(judgement_request, f"{thing}_id") for thing in THINGS}


def _build_parts(judgement_request: JudgementRequest) -> tuple[Part, ...]:
    """Return the texts of a request that its expert reads, without any about the author."""
    if judgement_request.exhibit is not None:
        return load_parts(judgement_request.exhibit.shown)
    # The database sees to it that there is one of the three. Who wrote it, a person or a model,
    # shows in nothing.
    response = judgement_request.response or judgement_request.llm_response
    assert response is not None
    question, passage = response.question, response.question.passage
    parts = [Part("Question", question.text, "The text of this question is not known.")]
    if passage is not None:
        title = f"The passage: {passage.title}" if passage.title else "The passage"
        parts.append(Part(title, passage.text, folded=True))
    if question.accepted_answers:
        is_single = len(question.accepted_answers) == 1
        title = "Reference answer" if is_single else "Reference answers"
        parts.append(Part(title, _format_reference(question.accepted_answers)))
    parts.append(Part("Answer", response.text, "It was left empty.", quoted=True))
    if grades_to_settle := list_grades_to_settle(judgement_request):
        grades_text = " and ".join(f"{grade:g}" for grade in grades_to_settle)
        parts.append(Part("To settle: experts disagree", f"They gave {grades_text}. {TO_SETTLE}"))
    return tuple(parts)


def _format_reference(accepted: list[Any]) -> str:
    """Return the reference answers, one per line, alternatives joined by " / "."""
    lines = [entry if isinstance(entry, list) else [entry] for entry in accepted]
    return "\n".join(" / ".join(str(wording) for wording in line) for line in lines)


def compute_judging_progress(rows: list[RequestRow]) -> JudgingProgress:
    """Return an expert's progress from the ordered requests to judge."""
    undone = [row.task for row in rows if not row.done]
    first = rows[0].task if rows else None
    return JudgingProgress(len(rows), len(rows) - len(undone), undone[0] if undone else None, first)


def _find_queue_position(
    rows: list[RequestRow], request: UUID
) -> tuple[list[RequestRow], int | None]:
    """Return the requests on the same scale as this request, and its index in them (or None)."""
    declared = next((row.declared for row in rows if row.task == request), None)
    queue = [row for row in rows if row.declared == declared]
    return queue, next((index for index, row in enumerate(queue) if row.task == request), None)


def _load_request_rows(
    question_set: QuestionSet, expert: int, *, known: bool = False
) -> list[RequestRow]:
    """Return an expert's requests in a question set, in the order in which to judge."""
    if not (known or has_requests(expert)):
        return []
    rows = (
        select_requests(expert, QuestionSet.objects.filter(pk=question_set.pk))
        .order_by("place", "pk")
        .values_list("public_id", "is_done", "exhibit__run__kind", "exhibit__judging")
    )
    return [
        RequestRow(task, is_done, build_judging_key(kind, name))
        for task, is_done, kind, name in rows
    ]


def has_requests(expert: int) -> bool:
    """Return whether the expert has any request to judge; one small query."""
    return select_all_requests(expert).exists()


def select_all_requests(expert: int) -> QuerySet[JudgementRequest]:
    """Return all requests to an expert, in any question set."""
    return JudgementRequest.objects.filter(expert=expert)


def select_requests(expert: int, sets: QuerySet[QuestionSet]) -> QuerySet[Any, Any]:
    """Return an expert's requests in some question sets, annotated with `is_done`.

    Requests about answers of workers who have been excluded since are left out.
    """
    own_judgements = HumanJudgement.objects.filter(expert=expert)
    done = [Exists(own_judgements.filter(**{thing: OuterRef(thing)})) for thing in THINGS]
    # A subquery in IN needs no order.
    set_ids = sets.order_by().values("pk")
    of_sets = (
        Q(
            response__submission__version__question_set__in=set_ids,
            response__state=Response.State.SUBMITTED,
        )
        | Q(llm_response__question__version__question_set__in=set_ids)
        | Q(exhibit__run__version__question_set__in=set_ids)
    )
    rows = JudgementRequest.objects.filter(of_sets, expert=expert)
    return drop_requests_on_excluded_workers(rows.annotate(is_done=done[0] | done[1] | done[2]))


def drop_requests_on_excluded_workers(requests: QuerySet[Any, Any]) -> QuerySet[Any, Any]:
    """Return the requests without the open ones on answers of excluded workers."""
    rows = requests.annotate(of_author=WorkerVerdict.build_author_verdict())
    return rows.exclude(is_done=False, of_author=WorkerVerdict.Kind.EXCLUDE)


def build_judging_key(kind: str | None, name: str | None) -> JudgingKey:
    """Return the key of a `Judging` from stored values; a `name` of None means answers."""
    return OF_ANSWERS if name is None else JudgingKey(kind or "", name)


_OF_SET = Coalesce(
    "response__submission__version__question_set",
    "llm_response__question__version__question_set",
    "exhibit__run__version__question_set",
)


@dataclass(frozen=True)
class InboxEntry:
    """What an expert is asked to judge in one question set on one scale, with the progress."""

    question_set: QuestionSet
    declared: JudgingKey
    progress: JudgingProgress


def load_inbox(
    sets: QuerySet[QuestionSet], expert: int, *, known: bool = False
) -> list[InboxEntry]:
    """Return an entry for each set and scale on which an expert is asked to judge; three queries.

    Unfinished entries come first, then the newest set. Two queries if the expert is `known` to have
    requests.
    """
    if not (known or has_requests(expert)):
        return []
    rows: dict[tuple[int, JudgingKey], list[RequestRow]] = {}
    request_rows = select_requests(expert, sets).annotate(set=_OF_SET).order_by("place", "pk")
    for of_set, task, done, kind, name in request_rows.values_list(
        "set", "public_id", "is_done", "exhibit__run__kind", "exhibit__judging"
    ):
        declared = build_judging_key(kind, name)
        rows.setdefault((of_set, declared), []).append(RequestRow(task, done, declared))
    sets_by_key = QuestionSet.objects.defer("description", "notice").in_bulk(
        {key for key, _ in rows}
    )
    waiting = [
        InboxEntry(sets_by_key[key], declared, compute_judging_progress(mine))
        for (key, declared), mine in rows.items()
    ]
    return sorted(
        waiting, key=lambda one: (one.progress.next is None, -one.question_set.pk, one.declared)
    )


def sum_progress_by_set(waiting: Iterable[InboxEntry]) -> dict[int, JudgingProgress]:
    """Return the expert's progress over all scales of each set, by the set's primary key."""
    progress_by_set: dict[int, JudgingProgress] = {}
    for entry in waiting:
        known = progress_by_set.get(entry.question_set.pk, JudgingProgress(0, 0, None, None))
        progress_by_set[entry.question_set.pk] = JudgingProgress(
            known.total + entry.progress.total,
            known.done + entry.progress.done,
            known.next or entry.progress.next,
            known.first or entry.progress.first,
        )
    return progress_by_set
