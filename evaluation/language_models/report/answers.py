"""Tables of a run that asked models: models, their replies, and errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import Q, QuerySet

from evaluation.models import LLMResponse, Run
from evaluation.runs.flow.asking.summary import AskSummary
from evaluation.runs.reports.spreadsheet import Table
from evaluation.runs.steps.asking.replies import ERROR

AT_ONCE = 500
OF_MODELS = (
    *("model", "prompt", "prompt_hash", "strategy", "end", "reason", "replies", "answered"),
    *("empty", "refused", "errors", "not_asked", "stored_before", "asked", "prompt_tokens"),
    *("completion_tokens", "cost", "seconds", "seconds_per_reply"),
    *("cut_off", "cut_short", "with_thinking"),
)
OF_REPLIES = ("model", "question", "sample", "status", "answer", "finish_reason")
TOLD = ("prompt_tokens", "completion_tokens", "seconds", "attempts", "seed", "cost", "error")
OF_ANSWERS = (*OF_REPLIES, *TOLD, "prompt_hash")
OF_ERRORS = ("model", "question", "sample", "error", "message", "attempts")


def models_table(run: Run) -> Table:
    """Return the table of models in the order chosen; one row per model."""
    return Table(
        OF_MODELS,
        [
            (
                *(one.name, one.prompt_name, one.prompt_hash, one.strategy, one.end, one.reason),
                *(one.planned, one.answered, one.empty, one.refused, one.failures),
                *(one.not_asked, one.stored, one.asked, one.prompt_tokens),
                *(one.completion_tokens, one.cost, one.seconds, one.seconds_per_reply),
                *(one.cut_off, one.cut_short, one.with_thinking),
            )
            for one in AskSummary.of(run.summary).models
        ],
    )


def answers_table(run: Run) -> Table:
    """Return the table of replies, including stored ones, by model, question and sample."""
    return Table(
        OF_ANSWERS,
        (
            (*cells, *(extra.get(name) for name in OF_ANSWERS[len(OF_REPLIES) :]))
            for *cells, extra in _rows(replies_of(run))
        ),
    )


def errors_table(run: Run) -> Table:
    """Return the table of failed replies, with the error."""
    return Table(
        OF_ERRORS,
        (
            (*cells[:3], *(extra.get(name) for name in OF_ERRORS[3:]))
            for *cells, extra in _rows(replies_of(run).filter(status=ERROR))
        ),
    )


def replies_of(run: Run) -> QuerySet[LLMResponse]:
    """Return all replies that a finished run requested, including those stored earlier."""
    summary = AskSummary.of(run.summary)
    asked = Q(pk__in=())
    for one in summary.models:
        asked |= Q(model__public_id=one.id, asking=one.asking)
    return LLMResponse.objects.filter(
        asked, question__version=run.version_id, sample__lt=summary.samples
    )


def _rows(replies: QuerySet[LLMResponse]) -> Iterator[Sequence[Any]]:
    columns = ("model__name", "question__external_id", "sample", "status", "text")
    rows = replies.order_by("model__name", "question__position", "question_id", "sample")
    yield from rows.values_list(*columns, "finish_reason", "extra").iterator(AT_ONCE)
