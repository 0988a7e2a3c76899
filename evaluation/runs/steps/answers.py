"""Load answers of workers and models from the database, as columns to grade."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from annotations.exchange import AnswerStatus
from annotations.exchange.ids import read_as_wording
from annotations.exchange.model_replies import THINKING_KEPT, read_reply
from annotations.models import GRADED, Question, Response
from evaluation.consensus.inputs import Answers, ModelAnswers, choose_question_groups
from evaluation.consensus.parameters import AqerParameters
from evaluation.models import LLMResponse
from evaluation.runs.steps.checkpoints import RunInputError


def read_wordings(version_id: int) -> dict[int, str]:
    """Return the texts of a version's graded questions, by the question's primary key.

    Where none is given, an id that reads as a wording is one.
    """
    rows = Question.objects.filter(version=version_id, role__in=GRADED)
    found = rows.values_list("pk", "text", "external_id")
    return {key: text or read_as_wording(question) for key, text, question in found}


def read_question_groups(version_id: int, questions: Iterable[int]) -> dict[int, str]:
    """Return the passage or category within which each of the questions is compared, by key."""
    rows = Question.objects.filter(version=version_id, role__in=GRADED)
    found = list(rows.values_list("pk", "passage_id", "category"))
    passages = {key: str(passage) for key, passage, _ in found if passage is not None}
    return choose_question_groups(questions, passages, {key: name for key, _, name in found})


def read_parameters(stored: dict[str, Any]) -> AqerParameters:
    """Return a run's grading options from stored ones; missing ones have their default."""
    try:
        return AqerParameters.of_dict(stored)
    except KeyError as error:
        raise RunInputError("run.unknown_parameters", names=", ".join(error.args)) from None


def read_answers(version_id: int) -> Answers:
    """Return the workers' submitted answers to a version's graded questions, as columns."""
    rows = Response.objects.filter(
        question__version=version_id,
        question__role__in=GRADED,
        state=Response.State.SUBMITTED,
    )
    columns = ("pk", "submission__worker_id", "question_id", "text", "rejected", "submitted_at")
    return Answers.of(rows.order_by("pk").values_list(*columns))


def read_model_answers(version_id: int) -> ModelAnswers:
    """Return the models' answers to a version's graded questions, as columns."""
    rows = LLMResponse.objects.filter(question__version=version_id, question__role__in=GRADED)
    columns = (
        *("pk", "model_id", "question_id", "text", "status", "sample", "finish_reason"),
        f"extra__{THINKING_KEPT}",
    )
    # The order of asking matters: `ModelAnswers.asked_once` takes the latest.
    ordered = rows.order_by("asked_at", "pk")
    return ModelAnswers.of(map(_separate_thinking, ordered.values_list(*columns)))


def _separate_thinking(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return an answer's stored row, with thinking removed unless it is to be kept."""
    key, model, question, text, status, sample, reason, kept = row
    read = read_reply(text, AnswerStatus(status), reason, keep_thinking=bool(kept))
    return key, model, question, read.text, read.status, sample
