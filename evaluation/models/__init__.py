"""Database tables of runs, their results, language models and their answers.

Vectors are stored by text and embedder, and shared by all users. A run is never overwritten: its
results belong to it, and the next run has its own.
"""

from evaluation.models.alarms import Alarm, AlarmReview, AnswerFact, CrowdFact, WorkerVerdict
from evaluation.models.collecting import Interim, Removal, ScoreRule
from evaluation.models.grades import (
    AnswerScore,
    DrawPart,
    ExemplaryAnswer,
    LLMAnswerScore,
    LLMComparison,
    LLMScore,
    RunData,
    WorkerGrade,
)
from evaluation.models.judgements import (
    Audit,
    AuditItem,
    Exhibit,
    GradedAnswers,
    HumanJudgement,
    JudgementRequest,
    select_valid_judgements,
)
from evaluation.models.language_models import (
    EmbedderVersion,
    Embedding,
    LanguageModel,
    LanguageModelNote,
    LLMResponse,
    Prompt,
    PromptVersion,
    RawReply,
    compute_request_hash,
    compute_text_hash,
)
from evaluation.models.run_tasks import RunTask
from evaluation.models.runs import BackgroundWorker, Run, RunOfRecord
from evaluation.models.webhooks import Delivery, Event, Webhook

__all__ = [
    "Alarm",
    "AlarmReview",
    "AnswerFact",
    "AnswerScore",
    "Audit",
    "AuditItem",
    "BackgroundWorker",
    "CrowdFact",
    "Delivery",
    "DrawPart",
    "EmbedderVersion",
    "Embedding",
    "Event",
    "ExemplaryAnswer",
    "Exhibit",
    "GradedAnswers",
    "HumanJudgement",
    "Interim",
    "JudgementRequest",
    "LLMAnswerScore",
    "LLMComparison",
    "LLMResponse",
    "LLMScore",
    "LanguageModel",
    "LanguageModelNote",
    "Prompt",
    "PromptVersion",
    "RawReply",
    "Removal",
    "Run",
    "RunData",
    "RunOfRecord",
    "RunTask",
    "ScoreRule",
    "Webhook",
    "WorkerGrade",
    "WorkerVerdict",
    "compute_request_hash",
    "compute_text_hash",
    "select_valid_judgements",
]
