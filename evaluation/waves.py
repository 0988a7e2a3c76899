"""A further wave of a question set, with the replies that language models gave in the earlier one.

The replies are those to the same questions; graded in the new wave they say how last month's models
stand against this month's people.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction

from annotations.answering import waves
from annotations.models import QuestionSet
from evaluation.models import LLMResponse

BATCH = 1000
COPIED = (
    *("model_id", "prompt", "parameters", "request", "asking", "key", "asked_at", "sample"),
    *("text", "status", "finish_reason", "extra"),
)


@dataclass(frozen=True, slots=True)
class NewWave:
    """A wave that was made, and how many replies of how many models came along."""

    question_set: QuestionSet
    n_replies: int = 0
    n_models: int = 0


@transaction.atomic
def start(
    question_set: QuestionSet, name: str, people: str, *, with_models: bool = False
) -> NewWave:
    """Make the next wave of a set. Raises `annotations.answering.waves.WaveError`."""
    wave = waves.repeat(question_set, name, people)
    if not with_models:
        return NewWave(wave)
    asked = waves.asked_version(question_set)
    draft = wave.latest_version()
    assert draft is not None
    new = dict(draft.questions.values_list("external_id", "pk"))
    replies = LLMResponse.objects.filter(question__version=asked).order_by("pk")
    n, models = 0, set()
    batch: list[LLMResponse] = []
    for old in replies.select_related("question").iterator(BATCH):
        fresh = LLMResponse(question_id=new[old.question.external_id])
        for field in COPIED:
            setattr(fresh, field, getattr(old, field))
        batch.append(fresh)
        models.add(old.model_id)
        if len(batch) == BATCH:
            n += len(LLMResponse.objects.bulk_create(batch))
            batch = []
    n += len(LLMResponse.objects.bulk_create(batch))
    return NewWave(wave, n, len(models))
