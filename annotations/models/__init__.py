"""What people wrote, as rows.

A question set has versions, a version passages and questions; a worker has one submission in a
version, and a submission one response to a question. Decisions and bonus payments are ledgers.
Every model says in `access` who sees its rows and who changes them; `visible_to` and `editable_by`
are the only doors. Teams and shares say who else works on a set or looks at it.
"""

from annotations.models.access import (
    EDITORS,
    UNLISTED,
    VIEWERS,
    VIEWERS_AND_EXPERTS,
    Access,
    is_operator,
    is_requester,
    may_enter,
    may_read_answers,
    takes_part,
)
from annotations.models.base import (
    AppendOnly,
    AppendOnlyError,
    Record,
    Scoped,
    ScopedQuerySet,
    new_public_id,
)
from annotations.models.decisions import Decision
from annotations.models.idempotency import IdempotentRequest
from annotations.models.payments import BonusPayment
from annotations.models.question_sets import QuestionSet, QuestionSetVersion
from annotations.models.questions import Passage, Question, Variant
from annotations.models.responses import Response
from annotations.models.rights import Rights, rights
from annotations.models.shares import Share
from annotations.models.submissions import Submission
from annotations.models.teams import Membership, Team
from annotations.models.uploads import Upload
from annotations.models.workers import Worker
from annotations.models.writing import (
    Category,
    ProblemVote,
    WritingEvent,
    WritingMember,
    WritingProject,
    WrittenProblem,
)

__all__ = [
    "EDITORS",
    "UNLISTED",
    "VIEWERS",
    "VIEWERS_AND_EXPERTS",
    "Access",
    "AppendOnly",
    "AppendOnlyError",
    "BonusPayment",
    "Category",
    "Decision",
    "IdempotentRequest",
    "Membership",
    "Passage",
    "ProblemVote",
    "Question",
    "QuestionSet",
    "QuestionSetVersion",
    "Record",
    "Response",
    "Rights",
    "Scoped",
    "ScopedQuerySet",
    "Share",
    "Submission",
    "Team",
    "Upload",
    "Variant",
    "Worker",
    "WritingEvent",
    "WritingMember",
    "WritingProject",
    "WrittenProblem",
    "is_operator",
    "is_requester",
    "may_enter",
    "may_read_answers",
    "new_public_id",
    "rights",
    "takes_part",
]
