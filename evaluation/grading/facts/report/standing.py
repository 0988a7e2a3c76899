"""Share of a worker's or a model's facts that agree with the crowd, over all answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evaluation.core.messages.message import Message
from evaluation.core.stats.inference.estimate import Estimate

# Columns of `WorkerGrade` and of `LLMScore`.
COUNTED = (
    *("facts", "fact_agreement", "fact_agreement_low", "fact_agreement_high"),
    *("fact_questions", "fact_contradicted"),
)


@dataclass(frozen=True)
class FactStanding:
    """How a worker's or model's facts agree with the crowd; None values without facts.

    Attributes
    ----------
    facts : those that agree with the crowd or contradict it.
    agreement : the share that agrees, with Wilson's interval; undefined below 5 facts.
    questions : answered ones on which the crowd agrees on a fact. contradicted : those of them on
        which an answer contradicts it.
    """

    facts: int | None
    agreement: Estimate
    questions: int | None
    contradicted: int | None

    @property
    def said(self) -> Message | None:
        """Message on how many questions contradict the crowd; None in a run without facts."""
        if self.questions is None:
            return None
        values = {"questions": self.questions, "contradicted": self.contradicted}
        return Message("facts.standing", values)

    @property
    def in_short(self) -> Message | None:
        """Short message on contradicted questions, for a list; None if there are none."""
        if not self.contradicted:
            return None
        values = {"questions": self.questions, "contradicted": self.contradicted}
        return Message("facts.notice", values)


NO_FACTS = FactStanding(None, Estimate(None), None, None)


def build_standing(row: dict[str, Any]) -> FactStanding:
    """Return a worker's or model's agreement with the crowd from a row of the `COUNTED` columns."""
    return FactStanding(
        facts=row["facts"],
        agreement=Estimate(
            row["fact_agreement"], row["fact_agreement_low"], row["fact_agreement_high"]
        ),
        questions=row["fact_questions"],
        contradicted=row["fact_contradicted"],
    )
