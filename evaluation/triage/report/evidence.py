"""Compare a worker's answers with those of another worker, a model or the best responses.

Also who of two workers answered first, because only the later one can have copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from statistics import fmean
from typing import Any, Literal
from uuid import UUID

from django.db.models import (
    CharField,
    F,
    FilteredRelation,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
)

from annotations.models import Response, Worker
from annotations.web.texts import ANSWER_SHOWN, EXCERPT_SHOWN, select_beginning, shorten_text
from evaluation.core.messages.message import Message
from evaluation.core.text.matching import AlignedPart, align_words
from evaluation.grading.alarms.report.marks import NamingAlarm
from evaluation.grading.alarms.run.texts import SAME, compute_dice_coefficient, extract_sequences
from evaluation.models import Alarm, AnswerScore, ExemplaryAnswer, LLMAnswerScore, LLMResponse, Run
from evaluation.triage.report.times import (
    AnswerTimes,
    Order,
    compare_times,
    find_survey_times,
    summarize_orders,
)

# Members of a group of copiers to read, questions to compare them on, and partners to offer.
MAX_MEMBERS, MAX_QUESTIONS, MAX_PARTNERS = 60, 40, 6
ALIKE = ("copies", "clique")
# No row has this key. Django skips a query with an empty list; with this key the number of
# queries stays the same whether alarms name somebody or not.
NO_ID = 0
BEST = "best"

Sort = Literal["worker", "model", "best"]


@dataclass(frozen=True)
class ComparisonPartner:
    """What a worker is compared with: another worker, a model or the best responses.

    Attributes
    ----------
    key : value in addresses: "best", or the public id of a worker or model.
    n_same : number of answers that are equal up to light edits, out of the `n_shared` answers to
        common questions; both are None if no answers were compared.
    """

    key: str
    name: str
    sort: Sort
    n_same: int | None = None
    n_shared: int | None = None


BEST_RESPONSE = ComparisonPartner(BEST, "the best response", "best")


def find_partners(run: Run, worker: Worker, naming: list[NamingAlarm]) -> list[ComparisonPartner]:
    """Return the partners to compare a worker with, the most similar first; two queries.

    Partners are workers named with this worker by alarms of copies or camps, models whose replies
    an alarm shows, and always the best responses of the crowd. `naming` are the open alarms of
    `read_marks_and_naming`: dismissed alarms and alarms that a remedy resolved offer no partner.
    """
    alike = [alarm for alarm in naming if alarm.kind in ALIKE]
    members, models = _load_named_partners(
        alike, [alarm for alarm in naming if alarm.kind == "model_like"], worker
    )
    workers = _rank_partners_by_likeness(run, worker, members)
    partners = [*workers, *models, BEST_RESPONSE]
    if workers and not workers[0].n_same and not models:
        # No worker has the same text, so the difference from the best response is more useful.
        partners = [*workers, BEST_RESPONSE]
    return partners


def find_partner_by_key(
    run: Run, worker: Worker, key: str, offered: list[ComparisonPartner]
) -> ComparisonPartner | None:
    """Return the partner with a URL key: an offered one or any other worker; None if unknown."""
    for partner in offered:
        if partner.key == key:
            return partner
    try:
        public_id = UUID(key)
    except ValueError:
        return None
    worker_found = (
        Worker.objects.filter(public_id=public_id, grades__run=run).exclude(pk=worker.pk).first()
    )
    return (
        None
        if worker_found is None
        else ComparisonPartner(str(worker_found.public_id), worker_found.external_id, "worker")
    )


def _load_named_partners(
    alike: list[NamingAlarm], model_like: list[NamingAlarm], worker: Worker
) -> tuple[dict[int, ComparisonPartner], list[ComparisonPartner]]:
    """Return workers named by copy alarms, by key, and models named by alarms; one query.

    Workers whose answers are shown in a pair with the worker's come first; models are sorted by
    name.
    """
    pairs = [list(_list_answer_keys(row)) for alarm in alike for row in alarm.evidence]
    replies = [row["llm_response"] or NO_ID for alarm in model_like for row in alarm.evidence]
    named_by = [alarm.pk for alarm in alike]
    through = Alarm.workers.through.objects.filter(alarm__in=named_by).order_by("pk")

    def select_authors(
        source: str, rows: QuerySet[Any], author: str, name: str
    ) -> QuerySet[Any, Any]:
        """Return a queryset with source, row key, and key, public id and name of the author."""
        authored = rows.annotate(
            source=Value(source, CharField()),
            author=F(f"{author}_id"),
            author_id=F(f"{author}__public_id"),
            author_name=F(f"{author}__{name}"),
        )
        columns = ("source", "pk", "author", "author_id", "author_name")
        return authored.order_by().values_list(*columns)

    answers = Response.objects.filter(pk__in=[NO_ID, *chain(*pairs)])
    named = Alarm.workers.through.objects.filter(pk__in=through.values("pk")[: MAX_MEMBERS + 1])
    shown_replies = LLMResponse.objects.filter(pk__in=[NO_ID, *replies])
    # One statement for three tables: each page of a worker runs it.
    rows = select_authors("answer", answers, "submission__worker", "external_id").union(
        select_authors("named", named, "worker", "external_id"),
        select_authors("reply", shown_replies, "model", "name"),
        all=True,
    )
    workers, models = {}, {}
    by_answer: dict[int, int] = {}
    by_membership: dict[int, int] = {}
    for source, key, author, public_id, name in rows.order_by("author_name"):
        if source == "reply":
            models[author] = ComparisonPartner(str(public_id), name, "model")
            continue
        workers[author] = ComparisonPartner(str(public_id), name, "worker")
        (by_answer if source == "answer" else by_membership)[key] = author
    author_pairs = [{by_answer.get(key) for key in pair} for pair in pairs]
    paired = [key for pair in author_pairs if worker.pk in pair for key in pair]
    keys = dict.fromkeys([*paired, *(by_membership[key] for key in sorted(by_membership))])
    partners = [key for key in keys if key is not None and key != worker.pk][:MAX_MEMBERS]
    return {key: workers[key] for key in partners}, list(models.values())


def _list_answer_keys(row: dict[str, Any]) -> Iterable[int]:
    """Yield the keys of the one or two answers that an evidence row of an alarm refers to."""
    return (row[side] for side in ("left", "right") if row[side] is not None)


def _rank_partners_by_likeness(
    run: Run, worker: Worker, partners: dict[int, ComparisonPartner]
) -> list[ComparisonPartner]:
    """Return the partners whose answers are most like the worker's, with counts; one query.

    Sorted by the number of nearly identical answers, then by mean likeness.
    """
    answers = Response.objects.filter(
        submission__version=run.version_id,
        state=Response.State.SUBMITTED,
        status=Response.Status.TEXT,
    )
    own_answers = answers.filter(submission__worker=worker).order_by("question__position")
    text_rows = answers.filter(
        submission__worker__in=[worker.pk, *partners],
        question__in=own_answers.values("question")[:MAX_QUESTIONS],
    ).values_list("submission__worker_id", "question_id", select_beginning("text", ANSWER_SHOWN))
    words_by_partner: dict[int, dict[int, Any]] = {worker.pk: {}}
    for key, question, text in text_rows:
        words_by_partner.setdefault(key, {})[question] = extract_sequences(text)
    own_words = words_by_partner.pop(worker.pk)
    likeness_by_partner = {
        key: [
            compute_dice_coefficient(own_words[question], text)
            for question, text in by_question.items()
        ]
        for key, by_question in words_by_partner.items()
    }
    n_same = {
        key: sum(value >= SAME for value in values) for key, values in likeness_by_partner.items()
    }
    order = sorted(
        likeness_by_partner, key=lambda key: (-n_same[key], -fmean(likeness_by_partner[key]), key)
    )[:MAX_PARTNERS]
    return [
        replace(partners[key], n_same=n_same[key], n_shared=len(likeness_by_partner[key]))
        for key in order
    ]


# Pairs on a page, and answers of one worker that are read to sort them.
PAIRS_PER_PAGE, MAX_ANSWERS = 8, 500
# No row has this key; see NO_ID.
NO_PARTNER = 0


@dataclass(frozen=True)
class ComparedAnswer:
    """One of two compared answers: text in parts, score in the run and times, if recorded.

    Attributes
    ----------
    score : cosine similarity to the exemplary answer, from -1 to 1; leave-one-out for a worker's
        answer. None for an answer without a score.
    """

    parts: list[AlignedPart]
    score: float | None
    started: datetime | None
    submitted: datetime | None
    seconds: float | None


@dataclass(frozen=True)
class AnswerPair:
    """Two answers to a question, side by side; `right` is None if the partner has no answer.

    Attributes
    ----------
    same, longer : number of words that both answers have in the same order, and number of words of
        the longer answer.
    is_copy : whether the answers are equal up to light edits.
    is_own : whether the worker's own answer is the best response.
    order : whether the worker's answer was written before or after the other; see `compare_times`.
    """

    question: UUID
    question_name: str
    question_text: str
    left: ComparedAnswer
    right: ComparedAnswer | None
    same: int
    longer: int
    is_copy: bool
    is_own: bool
    order: Order

    @property
    def said(self) -> Message:
        """Message on which of the two answers was written first."""
        return Message(f"order.{self.order}")


@dataclass(frozen=True)
class AnswerComparison:
    """One page of a worker's answers side by side with a partner's.

    Attributes
    ----------
    n : number of pairs on all pages. page, n_pages : counted from 1.
    said : message with the number of nearly identical answers; None for the best responses.
    times : message on which of two workers could have copied from the other; None for models and
        the best responses.
    has_times : whether any answer of the worker has a submission time.
    survey, partner_survey : times of the whole survey, if all answers have the same times.
    """

    partner: ComparisonPartner
    pairs: list[AnswerPair]
    n: int
    page: int
    n_pages: int
    said: Message | None
    times: Message | None
    has_times: bool
    survey: AnswerTimes | None = None
    partner_survey: AnswerTimes | None = None


@dataclass(frozen=True)
class _Answer:
    """An answer or reply as loaded for a comparison; `key` is that of a worker's answer."""

    key: int | None
    text: str
    when: AnswerTimes
    score: float | None
    question: tuple[Any, ...] = ()


def compare_answers(
    run: Run, worker: Worker, partner: ComparisonPartner, page: int = 1
) -> AnswerComparison:
    """Return a page of a worker's answers with those of a partner; two queries.

    Beside workers and models the most similar answers come first, beside the best response those
    with the lowest score. Page numbers past the end are clamped to the last page.
    """
    worker_ids = [UUID(partner.key)] if partner.sort == "worker" else []
    own, *partner_rows = _load_answers(run, worker.public_id, *worker_ids)
    partner_answers = (
        partner_rows[0] if partner_rows else _load_partner_answers(run, partner, list(own))
    )
    # All pairs are compared, not only those of the page: the order of pages depends on it.
    likeness_by_question = {
        question: compute_dice_coefficient(
            extract_sequences(answer.text), extract_sequences(partner_answers[question].text)
        )
        for question, answer in own.items()
        if question in partner_answers and answer.text and partner_answers[question].text
    }
    if partner.sort == BEST:
        sorted_questions = sorted(own, key=lambda key: (_build_score_sort_key(own[key].score), key))
    else:
        sorted_questions = sorted(
            likeness_by_question, key=lambda key: (-likeness_by_question[key], key)
        )
    # Ceiling division; one empty page where there are no pairs.
    n_pages = max(1, -(-len(sorted_questions) // PAIRS_PER_PAGE))
    page = min(max(1, page), n_pages)
    questions = sorted_questions[(page - 1) * PAIRS_PER_PAGE : page * PAIRS_PER_PAGE]
    orders = [
        compare_times(own[question].when, partner_answers[question].when)
        for question in likeness_by_question
    ]
    n_same = sum(value >= SAME for value in likeness_by_question.values())
    is_worker = partner.sort == "worker"
    values = {"other": partner.name, "same": n_same, "read": len(likeness_by_question)}
    return AnswerComparison(
        partner=partner,
        pairs=list(_build_answer_pairs(questions, own, partner_answers, likeness_by_question)),
        n=len(sorted_questions),
        page=page,
        n_pages=n_pages,
        said=None if partner.sort == BEST else Message("triage.partner", values),
        times=summarize_orders(worker.external_id, partner.name, orders)
        if is_worker and orders
        else None,
        has_times=any(answer.when.submitted for answer in own.values()),
        survey=find_survey_times(answer.when for answer in own.values()),
        partner_survey=find_survey_times(answer.when for answer in partner_answers.values())
        if is_worker
        else None,
    )


def _build_score_sort_key(score: float | None) -> tuple[bool, float]:
    """Return the sort key of a score: ascending, missing scores last."""
    return score is None, score or 0.0


def _load_answers(run: Run, *workers: UUID) -> list[dict[int, _Answer]]:
    """Return the answers with a text, one dict by question for each worker; one query.

    The first 500 answers of the first worker, and those of the others to the same questions.
    """
    rows = Response.objects.filter(
        submission__version=run.version_id,
        state=Response.State.SUBMITTED,
        status=Response.Status.TEXT,
    ).order_by("question__position", "pk")
    own = rows.filter(submission__worker__public_id=workers[0])
    selected: QuerySet[Response, Any] = (
        rows.filter(
            submission__worker__public_id__in=workers,
            question__in=own.values("question")[:MAX_ANSWERS],
        )
        # Only scores of this run: a plain join would repeat an answer for each run that graded it.
        .annotate(of_run=FilteredRelation("scores", condition=Q(scores__run=run)))
        .values(
            "pk",
            "question_id",
            "question__public_id",
            "question__external_id",
            "started_at",
            "submitted_at",
            "work_seconds",
            worker=F("submission__worker__public_id"),
            score=F("of_run__score_leave_one_out"),
            session_started=F("submission__started_at"),
            session_submitted=F("submission__submitted_at"),
            text_shown=select_beginning("text", ANSWER_SHOWN),
            question_shown=select_beginning("question__text"),
        )
    )
    # In the order of the arguments, also for a worker without an answer.
    answers: dict[UUID, dict[int, _Answer]] = {worker: {} for worker in workers}
    for row in selected:
        answers[row["worker"]][row["question_id"]] = _build_answer(row)
    return list(answers.values())


def _build_answer(row: dict[str, Any]) -> _Answer:
    """Return the answer of a database row; without times of its own it gets its survey's."""
    # Imports often have times of the whole survey only; each of its answers lies between them.
    times = AnswerTimes(
        row["started_at"] or row["session_started"],
        row["submitted_at"] or row["session_submitted"],
        row["work_seconds"],
    )
    question = row["question__public_id"], row["question__external_id"], row["question_shown"]
    text = shorten_text(row["text_shown"], ANSWER_SHOWN)
    return _Answer(row["pk"], text, times, row["score"], question)


def _load_partner_answers(
    run: Run, partner: ComparisonPartner, questions: list[int]
) -> dict[int, _Answer]:
    """Return the replies of a model or the best responses, by question; one query."""
    rows: QuerySet[Any, Any]
    if partner.sort == "model":
        rows = LLMAnswerScore.objects.filter(
            run=run,
            llm_response__model__public_id=partner.key,
            llm_response__question__in=[NO_PARTNER, *questions],
        ).values_list(
            "llm_response__question_id",
            Value(None, IntegerField()),
            "score",
            select_beginning("llm_response__text", ANSWER_SHOWN),
        )
    else:
        scores = AnswerScore.objects.filter(run=run, response=OuterRef("nearest_response"))
        rows = ExemplaryAnswer.objects.filter(
            run=run, question__in=[NO_PARTNER, *questions], nearest_response__isnull=False
        ).values_list(
            "question_id",
            "nearest_response_id",
            Subquery(scores.values("score_leave_one_out")[:1]),
            select_beginning("nearest_response__text", ANSWER_SHOWN),
        )
    return {
        question: _Answer(key, shorten_text(text, ANSWER_SHOWN), AnswerTimes(None, None), score)
        for question, key, score, text in rows
    }


def _build_answer_pairs(
    questions: Sequence[int],
    own: dict[int, _Answer],
    partner_answers: dict[int, _Answer],
    likeness_by_question: dict[int, float],
) -> Iterable[AnswerPair]:
    """Yield the answer pairs of the given questions, in that order.

    A pair is no copy if the best response is the worker's own answer.
    """
    for question in questions:
        left, right = own[question], partner_answers.get(question)
        public_id, name, text = left.question
        alignment = align_words(left.text, right.text if right else "")
        is_own = right is not None and left.key == right.key
        yield AnswerPair(
            question=public_id,
            question_name=name,
            question_text=shorten_text(text, EXCERPT_SHOWN),
            left=_build_compared_answer(left, alignment.left),
            right=None if right is None else _build_compared_answer(right, alignment.right),
            same=alignment.same,
            longer=alignment.longer,
            is_copy=not is_own and likeness_by_question.get(question, 0.0) >= SAME,
            is_own=is_own,
            order=compare_times(left.when, right.when) if right else "unknown",
        )


def _build_compared_answer(answer: _Answer, parts: list[AlignedPart]) -> ComparedAnswer:
    """Return one side of a pair: an answer with its text split by the word alignment."""
    times = answer.when
    return ComparedAnswer(parts, answer.score, times.started, times.submitted, times.seconds)
