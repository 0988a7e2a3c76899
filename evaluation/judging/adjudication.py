"""What two experts disagree on, and the third who settles it without knowing who said what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from django.contrib.auth import get_user_model
from django.db import transaction

from evaluation.models import Audit, AuditItem, HumanJudgement, JudgementRequest, Run
from evaluation.models.judgements import PLACES

# What rounding leaves of a difference of half steps.
ROUNDING = 1e-9


class CannotSettleError(ValueError):
    """Somebody who cannot settle what experts disagree on; the message is for people."""


@dataclass(frozen=True)
class Dispute:
    """An answer of a sample on which experts disagree.

    Attributes
    ----------
    grades : by expert, who each graded alone. adjudicator : the key of who was asked to settle it,
        None for nobody. settled : the grade of this one, None as long as it is missing.
    """

    item: int
    response: int | None
    llm_response: int | None
    grades: dict[int, float]
    adjudicator: int | None
    settled: float | None

    @property
    def answer(self) -> tuple[int | None, int | None]:
        """The answer's primary key: of a person's, of a model's."""
        return self.response, self.llm_response


def disputes(audit: Audit) -> list[Dispute]:
    """Return the answers whose grades are more than the sample's step apart, by two queries."""
    given: dict[tuple[int | None, int | None], dict[int, float]] = {}
    items = AuditItem.objects.filter(audit=audit)
    for thing in ("response", "llm_response"):
        keys = items.filter(**{f"{thing}__isnull": False}).values(thing)
        rows = HumanJudgement.objects.filter(**{f"{thing}__in": keys}, grade__isnull=False)
        for response, llm, expert, grade in rows.values_list(
            "response_id", "llm_response_id", "expert_id", "grade"
        ):
            given.setdefault((response, llm), {})[expert] = grade or 0.0
    found = []
    for key, response, llm, third in items.order_by("place").values_list(
        "pk", "response_id", "llm_response_id", "adjudicator_id"
    ):
        grades = given.get((response, llm), {})
        own = {expert: grade for expert, grade in grades.items() if expert != third}
        settled = None if third is None else grades.get(third)
        if settled is not None or disagree(list(own.values()), audit.step):
            found.append(Dispute(key, response, llm, own, third, settled))
    return found


def disagree(grades: Sequence[float], step: float) -> bool:
    """Return whether grades of one answer are more than a step apart; one alone is not."""
    return len(grades) > 1 and max(grades) - min(grades) > step + ROUNDING


def parties(found: Iterable[Dispute]) -> set[int]:
    """Return who graded what is not settled yet, and so cannot settle it."""
    return {expert for one in found if one.settled is None for expert in one.grades}


@transaction.atomic
def ask_to_settle(audit: Audit, expert: int) -> int:
    """Ask a third to settle what is open and asked of nobody; return how many answers that is.

    In an order of their own, drawn with the seed of the sample. Raises `CannotSettleError`.
    """
    # The run's row makes two who ask at once wait for each other.
    Run.objects.select_for_update().get(pk=audit.run_id)
    found = disputes(audit)
    still = [one for one in found if one.settled is None and one.adjudicator is None]
    if not still:
        raise CannotSettleError("There is nothing to settle that is not asked about already.")
    if expert in parties(still):
        name = get_user_model().objects.get(pk=expert).get_username()
        raise CannotSettleError(
            f"{name} graded some of these answers: somebody else has to settle them."
        )
    places = np.random.default_rng([audit.seed, expert, 1]).integers(0, PLACES, len(still))
    # Who was asked about the sample, too, settles what they have not graded instead.
    JudgementRequest.objects.bulk_create(
        [
            JudgementRequest(
                response_id=one.response,
                llm_response_id=one.llm_response,
                expert_id=expert,
                place=int(place),
            )
            for one, place in zip(still, places, strict=True)
        ],
        ignore_conflicts=True,
    )
    AuditItem.objects.filter(pk__in=[one.item for one in still]).update(adjudicator=expert)
    return len(still)


def settles(asked: JudgementRequest) -> list[float]:
    """Return what experts gave the answer that somebody is asked to settle, the smallest first.

    Nothing tells who gave which. Empty where it is not asked to be settled.
    """
    thing = {"response": asked.response_id, "llm_response": asked.llm_response_id}
    mine = AuditItem.objects.filter(**thing, adjudicator=asked.expert_id)
    if not mine.exists():
        return []
    given = HumanJudgement.objects.filter(**thing, grade__isnull=False)
    grades = given.exclude(expert=asked.expert_id).values_list("grade", flat=True)
    return sorted(grade for grade in grades if grade is not None)
