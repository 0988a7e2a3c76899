"""What the machine computed, and what language models answered, as rows.

Vectors are kept by what they were made from, whoever asked for them. A run is never overwritten:
its results hang on it, and the next run stands beside it.
"""

from .alarms import Alarm
from .background import BackgroundWorker
from .checkpoints import DrawPart
from .embeddings import EmbedderVersion, Embedding, text_hash
from .grades import AnswerScore, ExemplaryAnswer, WorkerGrade
from .judgements import HumanJudgement, JudgementRequest
from .language_models import LanguageModel, LLMResponse, request_hash
from .model_scores import LLMAnswerScore, LLMComparison, LLMScore
from .pictures import RunPicture
from .runs import Run

__all__ = [
    "Alarm",
    "AnswerScore",
    "BackgroundWorker",
    "DrawPart",
    "EmbedderVersion",
    "Embedding",
    "ExemplaryAnswer",
    "HumanJudgement",
    "JudgementRequest",
    "LLMAnswerScore",
    "LLMComparison",
    "LLMResponse",
    "LLMScore",
    "LanguageModel",
    "Run",
    "RunPicture",
    "WorkerGrade",
    "request_hash",
    "text_hash",
]
