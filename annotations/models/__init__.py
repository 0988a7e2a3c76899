"""What people wrote, as rows.

A question set has versions, a version passages and questions; a worker has one submission in a
version, and a submission one response to a question. Decisions and bonus payments are ledgers.
Every model names the way to its owner, and `visible_to` is the only rule for who sees what.
"""

from .base import AppendOnly, AppendOnlyError, Owned, Record, ScopedQuerySet, new_public_id
from .decisions import Decision
from .payments import BonusPayment
from .question_sets import QuestionSet, QuestionSetVersion
from .questions import Passage, Question, Variant
from .responses import Response
from .submissions import Submission
from .workers import Worker

__all__ = [
    "AppendOnly",
    "AppendOnlyError",
    "BonusPayment",
    "Decision",
    "Owned",
    "Passage",
    "Question",
    "QuestionSet",
    "QuestionSetVersion",
    "Record",
    "Response",
    "ScopedQuerySet",
    "Submission",
    "Variant",
    "Worker",
    "new_public_id",
]
