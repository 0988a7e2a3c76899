"""What the machine computed, and what language models answered, as rows.

Vectors are kept by what they were made from, whoever asked for them. A run is never overwritten:
its results hang on it, and the next run stands beside it.
"""

from evaluation.models.alarms import Alarm, AlarmReview
from evaluation.models.background import BackgroundWorker
from evaluation.models.embeddings import EmbedderVersion, Embedding, text_hash
from evaluation.models.grades import AnswerScore, ExemplaryAnswer, WorkerGrade
from evaluation.models.judgements import Exhibit, HumanJudgement, JudgementRequest
from evaluation.models.language_models import LanguageModel, LLMResponse, RawReply, request_hash
from evaluation.models.model_scores import LLMAnswerScore, LLMComparison, LLMScore
from evaluation.models.prompts import Prompt, PromptVersion
from evaluation.models.run_data import DrawPart, RunData
from evaluation.models.runs import Run

__all__ = [
    "Alarm",
    "AlarmReview",
    "AnswerScore",
    "BackgroundWorker",
    "DrawPart",
    "EmbedderVersion",
    "Embedding",
    "ExemplaryAnswer",
    "Exhibit",
    "HumanJudgement",
    "JudgementRequest",
    "LLMAnswerScore",
    "LLMComparison",
    "LLMResponse",
    "LLMScore",
    "LanguageModel",
    "Prompt",
    "PromptVersion",
    "RawReply",
    "Run",
    "RunData",
    "WorkerGrade",
    "request_hash",
    "text_hash",
]
