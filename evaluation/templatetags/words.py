"""Template tags: messages, p-values, an expert's progress, and the language of uploaded answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django import template
from django.conf.locale import LANG_INFO
from django.http import HttpRequest

from annotations.models import QuestionSet
from annotations.web.scope import get_user_id
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.backends.embedding.contract import EmbedderInfo
from evaluation.core.backends.errors import BackendError
from evaluation.core.options import SITE
from evaluation.core.text.quality import check_language, detect_main_language
from evaluation.runs.judging import JudgingProgress
from evaluation.runs.judging.tasks import load_inbox, sum_progress_by_set

register = template.Library()
# Smaller ones say no more about the difference, only about the number of questions.
LEAST = 0.001
DEFAULT = EmbedderInfo(
    spec=AqerParameters.options()["embedder"].default,
    model="all-MiniLM-L6-v2",
    revision="",
    precision="float32",
    dimension=384,
    languages="en",
)
"""Facts about the default model, known without loading it."""


@register.filter
def said(message: Any) -> str:
    """Return the sentence of a message, or of its stored form."""
    return SITE.format(message)


@register.filter
def evidence(message: Any) -> str:
    """Return the first sentence of a message: the evidence without the explanation."""
    first, stop, _ = SITE.format(message).partition(". ")
    return f"{first}." if stop else first


@register.filter
def of_worker(values: Mapping[UUID, Any], worker: UUID) -> Any:
    """Return a worker's entry in a mapping, such as alarms; () without one."""
    return values.get(worker, ())


@register.filter
def marked_for(marks: Iterable[Any]) -> str:
    """Return a worker's alarms as plain text without duplicates, for places without links."""
    return "; ".join(dict.fromkeys(mark.words for mark in marks))


@register.filter
def each_once(marks: Iterable[Any]) -> list[Any]:
    """Return alarms without repeated texts; the first and most severe one is kept."""
    texts: dict[str, Any] = {}
    for mark in marks:
        texts.setdefault(mark.words, mark)
    return list(texts.values())


@register.filter
def probability(p: float | None) -> str:
    """Format a p-value to three decimals, never as 0; a dash for None."""
    if p is None:
        return "–"
    return "< 0.001" if p < LEAST else f"{p:.3f}"


@register.simple_tag
def to_judge(request: HttpRequest, sets: Iterable[QuestionSet]) -> dict[int, JudgingProgress]:
    """Return the user's progress with judging tasks in some sets, by set key.

    Sets without a task are left out. Makes two queries.
    """
    question_sets = QuestionSet.objects.filter(pk__in=[question_set.pk for question_set in sets])
    return sum_progress_by_set(load_inbox(question_sets, get_user_id(request)))


@register.filter
def of_set(
    progress: dict[int, JudgingProgress], question_set: QuestionSet
) -> JudgingProgress | None:
    """Return a set's progress from the result of `to_judge`; None without tasks."""
    return progress.get(question_set.pk)


@dataclass(frozen=True)
class DetectedLanguage:
    """Detected language to display: its name ("" if unsure), number of texts, warning or ""."""

    name: str
    count: int
    warning: str


@register.simple_tag
def languages_of(texts: Sequence[str]) -> DetectedLanguage:
    """Return the texts' language, with a warning if the default embedder does not support it."""
    try:
        code = detect_main_language(texts)
    except BackendError:
        code = ""
    warning = check_language(texts, DEFAULT)
    name = LANG_INFO.get(code, {}).get("name", code)
    return DetectedLanguage(name, len(texts), SITE.format(warning) if warning else "")
