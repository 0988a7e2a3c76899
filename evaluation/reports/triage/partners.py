"""Whose answers a worker's are set beside: whom they resemble, and the best response."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from annotations.models import Response, Worker
from annotations.web.texts import ANSWER_SHOWN, beginning
from evaluation.models import Alarm, LLMResponse, Run
from evaluation.models.alarms import SETTLED
from evaluation.reports.alarms.marks import TOLD
from evaluation.texts.copied import SAME, likeness, sequences

# Others of a group who are looked through, and questions on which; then those who are offered.
GROUP, QUESTIONS, OFFERED = 60, 40, 6
ALIKE = ("copies", "clique")
# No row has this key: whether alarms name somebody or not, the database is asked as often.
NOBODY = 0
BEST = "best"

Sort = Literal["worker", "model", "best"]


@dataclass(frozen=True)
class Partner:
    """Somebody or something to compare with.

    Attributes
    ----------
    key : as addresses name it: "best", or the public id. n_same, n_shared : answers that are the
        same but for light edits, of those to common questions that were looked through; None for
        what was not looked through.
    """

    key: str
    name: str
    sort: Sort
    n_same: int | None = None
    n_shared: int | None = None


BEST_RESPONSE = Partner(BEST, "the best response", "best")


def partners_of(run: Run, worker: Worker) -> list[Partner]:
    """Return with whom to compare a worker, whom the answers resemble most first.

    Those whom an alarm of copies or of a camp names beside the worker, by their texts; models whose
    answers an alarm shows; the best response of the crowd, always. An alarm that was dismissed, or
    that a remedy of the run answered, names nobody anew. Eight queries at most.
    """
    alarms = list(
        Alarm.objects.filter(run=run, workers=worker, severity__in=TOLD)
        .exclude(SETTLED)
        .order_by("place")
    )
    alike = [alarm for alarm in alarms if alarm.kind in ALIKE]
    people = _people(run, worker, _others(alike, worker))
    models = _models([alarm for alarm in alarms if alarm.kind == "model_like"], worker)
    found = [*people, *models, BEST_RESPONSE]
    if people and not people[0].n_same and not models:
        # Nobody's words are the worker's: what the answers lack tells more.
        found = [*people, BEST_RESPONSE]
    return found


def partner_named(run: Run, worker: Worker, key: str, offered: list[Partner]) -> Partner | None:
    """Return whom an address names: one of those offered, or any other worker of the run."""
    for partner in offered:
        if partner.key == key:
            return partner
    try:
        asked = UUID(key)
    except ValueError:
        return None
    other = Worker.objects.filter(public_id=asked, grades__run=run).exclude(pk=worker.pk).first()
    return None if other is None else Partner(str(other.public_id), other.external_id, "worker")


def _others(alarms: list[Alarm], worker: Worker) -> list[int]:
    """Return the keys of others whom the alarms name; those shown beside the worker first."""
    shown = {key for alarm in alarms for row in alarm.evidence for key in _sides(row)}
    by_answer = dict(
        Response.objects.filter(pk__in=[NOBODY, *shown]).values_list("pk", "submission__worker_id")
    )
    pairs = [
        {by_answer.get(key) for key in _sides(row)} for alarm in alarms for row in alarm.evidence
    ]
    beside = [key for pair in pairs if worker.pk in pair for key in pair]
    named = Alarm.workers.through.objects.filter(
        alarm__in=[NOBODY, *(alarm.pk for alarm in alarms)]
    )
    keys = [*beside, *named.order_by("pk").values_list("worker_id", flat=True)[: GROUP + 1]]
    return [key for key in dict.fromkeys(keys) if key is not None and key != worker.pk][:GROUP]


def _sides(row: dict[str, Any]) -> Iterable[int]:
    return (row[side] for side in ("left", "right") if row[side] is not None)


def _people(run: Run, worker: Worker, others: list[int]) -> list[Partner]:
    answers = Response.objects.filter(
        submission__version=run.version_id,
        state=Response.State.SUBMITTED,
        status=Response.Status.TEXT,
    )
    mine = {
        question: sequences(text)
        for question, text in answers.filter(submission__worker=worker)
        .order_by("question__position")
        .values_list("question_id", beginning("text", ANSWER_SHOWN))[:QUESTIONS]
    }
    same: dict[int, int] = defaultdict(int)
    shared: dict[int, int] = defaultdict(int)
    total: dict[int, float] = defaultdict(float)
    rows = answers.filter(
        submission__worker__in=[NOBODY, *others], question__in=[NOBODY, *mine]
    ).values_list("submission__worker_id", "question_id", beginning("text", ANSWER_SHOWN))
    for other, question, text in rows:
        alike = likeness(mine[question], sequences(text))
        shared[other] += 1
        same[other] += alike >= SAME
        total[other] += alike
    order = sorted(shared, key=lambda key: (-same[key], -total[key] / shared[key], key))[:OFFERED]
    known = {one.pk: one for one in Worker.objects.filter(pk__in=[NOBODY, *order])}
    return [
        Partner(str(known[key].public_id), known[key].external_id, "worker", same[key], shared[key])
        for key in order
    ]


def _models(alarms: list[Alarm], worker: Worker) -> list[Partner]:
    shown = {
        row["llm_response"]
        for alarm in alarms
        for row in alarm.evidence
        if row["llm_response"] is not None
    }
    models = (
        LLMResponse.objects.filter(pk__in=[NOBODY, *shown])
        .order_by("model__name")
        .values_list("model__public_id", "model__name")
        .distinct()
    )
    return [Partner(str(key), name, "model") for key, name in models]
