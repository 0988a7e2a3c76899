"""A wave of a question set, with the replies that language models gave in the earlier one.

The replies are those to the same questions; graded in the later wave they say how last month's
models stand against this month's people, and no model is asked again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from annotations.answering import waves
from annotations.answering.waves import Match
from annotations.models import QuestionSet, rights
from annotations.web.scope import Asked, visible
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


@dataclass(frozen=True, slots=True)
class Replies:
    """Replies of an earlier wave to questions of the same id and text.

    Attributes
    ----------
    n_replies, n_models : that are not in the later wave yet, and of how many models. n_there :
        replies that are there already, or another one to the same request; these stay.
    """

    n_replies: int = 0
    n_models: int = 0
    n_there: int = 0


@transaction.atomic
def start(
    question_set: QuestionSet, name: str, people: str, *, with_models: bool = False
) -> NewWave:
    """Make the next wave of a set. Raises `annotations.answering.waves.WaveError`."""
    wave = waves.repeat(question_set, name, people)
    if not with_models:
        return NewWave(wave)
    brought = bring_replies(wave)
    return NewWave(wave, brought.n_replies, brought.n_models)


@transaction.atomic
def link(
    later: QuestionSet, earlier: QuestionSet, *, with_models: bool = False
) -> tuple[Match, Replies]:
    """Link a set as a later wave of another. Raises `annotations.answering.waves.WaveError`."""
    found = waves.link(later, earlier)
    return found, bring_replies(later) if with_models else Replies()


def wave_before(request: Asked, later: QuestionSet) -> QuestionSet | None:
    """Return the wave before a set, if there is one and the one who asks may see it."""
    if later.earlier_wave_id is None:
        return None
    return visible(request, QuestionSet.objects.filter(pk=later.earlier_wave_id)).first()


def answers_of(request: Asked, before: QuestionSet | None) -> QuestionSet | None:
    """Return the same set if the one who asks may see what came back in it; else None."""
    return before if before and rights(request.user, before).answers else None


def bring_seen_replies(request: Asked, later: QuestionSet) -> Replies:
    """Do as `bring_replies` for who asks at a door.

    Whoever changes a set need not see the wave before, nor what models replied there: then nothing
    is copied, and `annotations.answering.waves.WaveError` is raised.
    """
    if later.earlier_wave_id and answers_of(request, wave_before(request, later)) is None:
        raise waves.WaveError("replies_not_seen")
    return bring_replies(later)


@transaction.atomic
def bring_replies(later: QuestionSet) -> Replies:
    """Copy what models replied in the wave before; the second time nothing is left to copy.

    Whether somebody may see the wave before is not asked here, see `bring_seen_replies`. Raises
    `annotations.answering.waves.WaveError` where a set is no later wave.
    """
    if later.earlier_wave is None:
        raise waves.WaveError("not_linked")
    found = replies_to_bring(later, later.earlier_wave)
    for first in range(0, len(found.keys), BATCH):
        part = found.keys[first : first + BATCH]
        olds = LLMResponse.objects.filter(pk__in=[key for key, _ in part]).in_bulk()
        fresh = []
        for key, question in part:
            copied = {field: getattr(olds[key], field) for field in COPIED}
            fresh.append(LLMResponse(question_id=question, **copied))
        LLMResponse.objects.bulk_create(fresh)
    return found.told


@dataclass(frozen=True, slots=True)
class ToBring:
    """Which replies would be copied, each with the question of the later wave, and how many."""

    keys: Sequence[tuple[int, int]]
    told: Replies


def replies_to_bring(later: QuestionSet, earlier: QuestionSet) -> ToBring:
    """Return the replies of the earlier wave that the later one lacks; changes nothing."""
    after, before = waves.asked_version(later), waves.asked_version(earlier)
    same = set(waves.matched(later, earlier).same)
    if after is None or before is None or not same:
        return ToBring([], Replies())
    new = dict(after.questions.values_list("external_id", "pk"))
    once = ("question__external_id", "model_id", "request", "sample")
    there = set(LLMResponse.objects.filter(question__version=after).values_list(*once))
    keys, models, n_there = [], set(), 0
    rows = LLMResponse.objects.filter(question__version=before).order_by("pk")
    for key, name, model, request, sample in rows.values_list("pk", *once).iterator():
        if name not in same:
            continue
        if (name, model, request, sample) in there:
            n_there += 1
            continue
        keys.append((key, new[name]))
        models.add(model)
    return ToBring(keys, Replies(len(keys), len(models), n_there))
