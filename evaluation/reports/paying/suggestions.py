"""What could be done with a submission, and why: for a person to decide, never by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotations.exchange.prolific import PAST_APPROVING, status_said
from annotations.ledger.bonuses import Payment
from annotations.models import Submission
from evaluation.paying.evidence import Evidence
from evaluation.paying.scores import RawScore
from evaluation.reports.alarms.marks import Mark
from evaluation.reports.triage.queue import LOWEST
from evaluation.words.message import Message

APPROVE, LOOK, REJECT, NOTHING = "approve", "look", "reject", "nothing"
ACTIONS = {
    APPROVE: "Approve",
    LOOK: "Look first",
    REJECT: "A rejection is possible",
    NOTHING: "Nothing to decide",
}
"""By code, in words."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What could be done: a key of `ACTIONS`, why, and the categories there is evidence for."""

    action: str
    why: tuple[Message, ...]
    categories: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The action in words."""
        return ACTIONS[self.action]


def suggestion(
    submission: Submission,
    status: str,
    evidence: Sequence[Evidence],
    marks: Sequence[Mark],
    score: RawScore | None,
    n_ranked: int,
    graded: bool,
    part: Payment | None = None,
) -> Suggestion:
    """Return what could be done with one submission; `part` is that of their pay.

    Signals of how answers were written and contradicted facts are not asked: they are shown, and
    no reason for or against pay.
    """
    if submission.withdrawn_at is not None:
        return Suggestion(NOTHING, (Message("paying.withdrew"),))
    if status in PAST_APPROVING:
        return Suggestion(NOTHING, (Message("paying.settled", {"status": status_said(status)}),))
    if part is not None:
        values = {"amount": str(part.amount), "currency": part.currency, "state": part.state}
        return Suggestion(NOTHING, (Message("paying.part", values),))
    if submission.state != Submission.State.SUBMITTED:
        return Suggestion(NOTHING, (Message("paying.not_handed_in"),))
    offered = [one for one in evidence if one.offered]
    if offered:
        categories = tuple(dict.fromkeys(one.category for one in offered))
        return Suggestion(REJECT, tuple(one.said for one in offered), categories)
    look = [one.said for one in evidence]
    rings = dict.fromkeys(mark.words for mark in marks if mark.rings)
    look += [Message("paying.alarm", {"words": words}) for words in rings]
    if score and score.rank_low is not None and score.rank_low > (1 - LOWEST) * n_ranked:
        look.append(Message("paying.lowest"))
    if look:
        return Suggestion(LOOK, tuple(look))
    if not graded:
        return Suggestion(APPROVE, (Message("paying.ungraded"),))
    if score is not None and not score.supported:
        return Suggestion(APPROVE, (Message("paying.few", {"answers": score.n_answers}),))
    return Suggestion(APPROVE, (Message("paying.fine"),))
