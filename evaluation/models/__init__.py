"""Database tables of runs, their results, language models and their answers.

Vectors are kept by what they were made from, whoever asked for them. A run is never overwritten:
its results hang on it, and the next run stands beside it.
"""

from evaluation.models.alarms import Alarm, AlarmReview
from evaluation.models.audits import Audit, AuditItem, counting
from evaluation.models.background import BackgroundWorker
from evaluation.models.embeddings import EmbedderVersion, Embedding, text_hash
from evaluation.models.facts import AnswerFact, CrowdFact
from evaluation.models.graded_files import GradedAnswers
from evaluation.models.grades import AnswerScore, ExemplaryAnswer, WorkerGrade
from evaluation.models.interims import Interim
from evaluation.models.judgements import Exhibit, HumanJudgement, JudgementRequest
from evaluation.models.language_models import (
    LanguageModel,
    LanguageModelNote,
    LLMResponse,
    RawReply,
    request_hash,
)
from evaluation.models.model_scores import LLMAnswerScore, LLMComparison, LLMScore
from evaluation.models.prompts import Prompt, PromptVersion
from evaluation.models.removals import Removal
from evaluation.models.run_data import DrawPart, RunData
from evaluation.models.runs import Run
from evaluation.models.runs_of_record import RunOfRecord
from evaluation.models.score_rules import ScoreRule
from evaluation.models.verdicts import WorkerVerdict

__all__ = [
    "Alarm",
    "AlarmReview",
    "AnswerFact",
    "AnswerScore",
    "Audit",
    "AuditItem",
    "BackgroundWorker",
    "CrowdFact",
    "DrawPart",
    "EmbedderVersion",
    "Embedding",
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
    "ScoreRule",
    "WorkerGrade",
    "WorkerVerdict",
    "counting",
    "request_hash",
    "text_hash",
]
