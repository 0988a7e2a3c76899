"""Find answers on which experts disagree, and ask a third expert to settle them blindly."""

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
    """An expert cannot settle a disagreement of others; the message is for people."""


@dataclass(frozen=True)
class Dispute:
    """An answer of a sample on whose grade experts disagree, and who settles it.

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
        """Primary keys of the worker's answer and of the model's answer; one is None."""
        return self.response, self.llm_response


def list_disputes(audit: Audit) -> list[Dispute]:
    """Return the answers whose grades differ by more than the sample's step; two queries."""
    given: dict[tuple[int | None, int | None], dict[int, float]] = {}
    items = AuditItem.objects.filter(audit=audit)
    for field in ("response", "llm_response"):
        keys = items.filter(**{f"{field}__isnull": False}).values(field)
        rows = HumanJudgement.objects.filter(**{f"{field}__in": keys}, grade__isnull=False)
        for response, llm, expert, grade in rows.values_list(
            "response_id", "llm_response_id", "expert_id", "grade"
        ):
            given.setdefault((response, llm), {})[expert] = grade or 0.0
    disputes = []
    for key, response, llm, adjudicator in items.order_by("place").values_list(
        "pk", "response_id", "llm_response_id", "adjudicator_id"
    ):
        grades = given.get((response, llm), {})
        other_grades = {expert: grade for expert, grade in grades.items() if expert != adjudicator}
        settled = None if adjudicator is None else grades.get(adjudicator)
        if settled is not None or has_disagreement(list(other_grades.values()), audit.step):
            disputes.append(Dispute(key, response, llm, other_grades, adjudicator, settled))
    return disputes


def has_disagreement(grades: Sequence[float], step: float) -> bool:
    """Return whether any two grades of one answer differ by more than `step`."""
    return len(grades) > 1 and max(grades) - min(grades) > step + ROUNDING


def list_parties(found: Iterable[Dispute]) -> set[int]:
    """Return the experts who graded an unsettled answer, who thus cannot settle it."""
    return {expert for one in found if one.settled is None for expert in one.grades}


@transaction.atomic
def ask_to_settle(audit: Audit, expert: int) -> int:
    """Ask an expert to settle all open disagreements; return the number of answers.

    In an order of their own, drawn with the seed of the sample. Raises `CannotSettleError`.
    """
    # The run's row makes two who ask at once wait for each other.
    Run.objects.select_for_update().get(pk=audit.run_id)
    found = list_disputes(audit)
    open_disputes = [one for one in found if one.settled is None and one.adjudicator is None]
    if not open_disputes:
        raise CannotSettleError("There is nothing to settle that is not asked about already.")
    if expert in list_parties(open_disputes):
        name = get_user_model().objects.get(pk=expert).get_username()
        raise CannotSettleError(
            f"{name} graded some of these answers: somebody else has to settle them."
        )
    places = np.random.default_rng([audit.seed, expert, 1]).integers(0, PLACES, len(open_disputes))
    # Who was asked about the sample, too, settles what they have not graded instead.
    JudgementRequest.objects.bulk_create(
        [
            JudgementRequest(
                response_id=one.response,
                llm_response_id=one.llm_response,
                expert_id=expert,
                place=int(place),
            )
            for one, place in zip(open_disputes, places, strict=True)
        ],
        ignore_conflicts=True,
    )
    AuditItem.objects.filter(pk__in=[one.item for one in open_disputes]).update(adjudicator=expert)
    return len(open_disputes)


def list_grades_to_settle(asked: JudgementRequest) -> list[float]:
    """Return the differing grades of the answer that an expert is to settle, ascending.

    Nothing tells who gave which. Empty where it is not asked to be settled.
    """
    thing = {"response": asked.response_id, "llm_response": asked.llm_response_id}
    mine = AuditItem.objects.filter(**thing, adjudicator=asked.expert_id)
    if not mine.exists():
        return []
    given = HumanJudgement.objects.filter(**thing, grade__isnull=False)
    grades = given.exclude(expert=asked.expert_id).values_list("grade", flat=True)
    return sorted(grade for grade in grades if grade is not None)
