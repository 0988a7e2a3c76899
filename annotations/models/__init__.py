"""Django models of question sets, workers and answers.

A question set has versions, a version passages and questions. A worker has one submission in a
version, and a submission one response to a question. Decisions and bonus payments are ledgers. A
collection sets how answers to a version are collected; an assignment gives a worker a question.

Every model declares in `access` who sees its rows and who changes them. All reads begin with
`visible_to`, all changes with `editable_by`. Teams and shares give further users access to a set.
"""

from annotations.models.access import (
    EDITORS,
    UNLISTED,
    VIEWERS,
    VIEWERS_AND_EXPERTS,
    Access,
    is_operator,
    is_requester,
    is_writing_member,
    may_enter,
    may_read_answers,
)
from annotations.models.appeals import Appeal, AppealAnswer
from annotations.models.audit import AuditEntry, ExportRead, SignInEvent
from annotations.models.base import (
    AppendOnly,
    AppendOnlyError,
    Record,
    Scoped,
    ScopedQuerySet,
    new_public_id,
)
from annotations.models.candidates import CandidateQuestion, CandidateVote
from annotations.models.collections import (
    Admission,
    Assignment,
    Collection,
    Consent,
    OtherText,
    PanelSession,
    Reading,
    is_counting_signals,
)
from annotations.models.decisions import Decision
from annotations.models.idempotency import IdempotentRequest
from annotations.models.images import Image
from annotations.models.imports import Import, JoinedFacts
from annotations.models.invitations import has_never_signed_in, list_invitations
from annotations.models.panel_files import PanelFile, PanelRow
from annotations.models.panel_statuses import PanelStatus
from annotations.models.payments import BonusPayment
from annotations.models.question_sets import QuestionSet, QuestionSetVersion
from annotations.models.questions import GRADED, Passage, Question, Variant
from annotations.models.responses import Response
from annotations.models.rights import Rights, rights
from annotations.models.shares import Share
from annotations.models.signals import ACTIVE_SECONDS, COUNTERS
from annotations.models.submissions import Submission
from annotations.models.teams import Membership, Team
from annotations.models.translations import Translation
from annotations.models.uploads import Upload
from annotations.models.workers import Worker, WorkerNote
from annotations.models.writing import (
    Category,
    ProblemVote,
    WritingEvent,
    WritingMember,
    WritingProject,
    WrittenProblem,
)

__all__ = [
    "ACTIVE_SECONDS",
    "COUNTERS",
    "EDITORS",
    "GRADED",
    "UNLISTED",
    "VIEWERS",
    "VIEWERS_AND_EXPERTS",
    "Access",
    "Admission",
    "Appeal",
    "AppealAnswer",
    "AppendOnly",
    "AppendOnlyError",
    "Assignment",
    "AuditEntry",
    "BonusPayment",
    "CandidateQuestion",
    "CandidateVote",
    "Category",
    "Collection",
    "Consent",
    "Decision",
    "ExportRead",
    "IdempotentRequest",
    "Image",
    "Import",
    "JoinedFacts",
    "Membership",
    "OtherText",
    "PanelFile",
    "PanelRow",
    "PanelSession",
    "PanelStatus",
    "Passage",
    "ProblemVote",
    "Question",
    "QuestionSet",
    "QuestionSetVersion",
    "Reading",
    "Record",
    "Response",
    "Rights",
    "Scoped",
    "ScopedQuerySet",
    "Share",
    "SignInEvent",
    "Submission",
    "Team",
    "Translation",
    "Upload",
    "Variant",
    "Worker",
    "WorkerNote",
    "WritingEvent",
    "WritingMember",
    "WritingProject",
    "WrittenProblem",
    "has_never_signed_in",
    "is_counting_signals",
    "is_operator",
    "is_requester",
    "is_writing_member",
    "list_invitations",
    "may_enter",
    "may_read_answers",
    "new_public_id",
    "rights",
]
