"""Suggest a payment action for a submission from its evidence; the user decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotations.exchange.prolific import PAST_APPROVING, describe_status
from annotations.ledger.bonuses import Payment
from annotations.models import Submission
from evaluation.core.messages.message import Message
from evaluation.grading.alarms.report.marks import Mark
from evaluation.grading.results.report.workers import LOWEST
from evaluation.payments.storage.evidence import Evidence
from evaluation.runs.raw_scores import RawScore

APPROVE, LOOK, REJECT, NOTHING = "approve", "look", "reject", "nothing"
ACTIONS = {
    APPROVE: "Approve",
    LOOK: "Look first",
    REJECT: "A rejection is possible",
    NOTHING: "Nothing to decide",
}
"""Labels of the suggestions by code."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Suggested payment action for a submission, with its reasons.

    Attributes
    ----------
    action : a key of `ACTIONS`. why : reasons. categories : categories of a rejection with enough
        evidence.
    """

    action: str
    why: tuple[Message, ...]
    categories: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Label of the suggested action."""
        return ACTIONS[self.action]


def suggest_action(
    submission: Submission,
    status: str,
    evidence: Sequence[Evidence],
    marks: Sequence[Mark],
    score: RawScore | None,
    n_ranked: int,
    graded: bool,
    part: Payment | None = None,
) -> Suggestion:
    """Return the suggested action for one submission; it decides nothing.

    The first rule that applies counts: nothing to decide, evidence for a rejection, reasons to
    look, approval. `part` is a partial payment of the submission. Signals of how answers were
    written and contradicted facts are shown elsewhere and never a reason.
    """
    # A withdrawn submission has no answers left to judge.
    if submission.withdrawn_at is not None:
        return Suggestion(NOTHING, (Message("paying.withdrew"),))
    # The panel has settled it, so a decision here would have no effect.
    if status in PAST_APPROVING:
        return Suggestion(
            NOTHING, (Message("paying.settled", {"status": describe_status(status)}),)
        )
    if part is not None:
        values = {"amount": str(part.amount), "currency": part.currency, "state": part.state}
        return Suggestion(NOTHING, (Message("paying.part", values),))
    if submission.state != Submission.State.SUBMITTED:
        return Suggestion(NOTHING, (Message("paying.not_handed_in"),))
    offered = [row for row in evidence if row.offered]
    if offered:
        categories = tuple(dict.fromkeys(row.category for row in offered))
        return Suggestion(REJECT, tuple(row.said for row in offered), categories)
    look = [row.said for row in evidence]
    alarm_words = dict.fromkeys(mark.words for mark in marks if mark.rings)
    look += [Message("paying.alarm", {"words": words}) for words in alarm_words]
    if score and score.rank_low is not None and score.rank_low > (1 - LOWEST) * n_ranked:
        look.append(Message("paying.lowest"))
    if look:
        return Suggestion(LOOK, tuple(look))
    if not graded:
        return Suggestion(APPROVE, (Message("paying.ungraded"),))
    if score is not None and not score.supported:
        return Suggestion(APPROVE, (Message("paying.few", {"answers": score.n_answers}),))
    return Suggestion(APPROVE, (Message("paying.fine"),))
