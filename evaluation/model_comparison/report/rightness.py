"""Compare two models' correctness on questions with an answer key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from annotations.exchange import AnswerStatus
from annotations.exchange.records import MISSING
from annotations.models import Question
from evaluation.core.messages.reasons import Reasoned
from evaluation.core.stats.cells import Floats
from evaluation.core.stats.inference.paired import compute_mcnemar_exact
from evaluation.core.text.choices import Choices
from evaluation.core.text.items import CHOICE, MultiqaItem, find_accepted_choices
from evaluation.core.text.matching import normalise
from evaluation.models import LLMResponse, Run

# Kinds of question that a key settles; a free answer may be right in other words.
KEYED = (Question.Kind.CHOICE, Question.Kind.EXTRACTIVE)
NAMED = 50


@dataclass(frozen=True)
class RightOrWrong(Reasoned):
    """Correctness of two models on the questions with an answer key that both answered.

    Attributes
    ----------
    first_right, second_right : how many each got right.
    only_first, only_second : the questions that only one of them got right, at most 50 of
        `n_only_first` and `n_only_second`, by their ids in files.
    p_value, mid_p_value : of the exact McNemar test, and its mid-p; None without a question.
    """

    n: int
    first_right: int
    second_right: int
    n_only_first: int
    n_only_second: int
    only_first: list[str]
    only_second: list[str]
    p_value: float | None
    reason: str
    mid_p_value: float | None


def right_or_wrong(run: Run, first: UUID, second: UUID) -> RightOrWrong | None:
    """Return both models' correctness in two queries; None if no question has an answer key.

    A choice is read by its text, else by its letter, and has to name all accepted ones; a span of
    the passage is compared without case, punctuation and articles. An empty or refused answer is
    wrong; one that could not be fetched is left out.
    """
    keyed = {
        question.pk: question
        for question in Question.objects.filter(version=run.version_id, kind__in=KEYED)
        .exclude(accepted_answers=[])
        .only("pk", "external_id", "position", "kind", "choices", "accepted_answers")
        .order_by("position", "pk")
    }
    if not keyed:
        return None
    place = {key: at for at, key in enumerate(keyed)}
    right = np.full((2, len(keyed)), np.nan)
    rows = LLMResponse.objects.filter(
        scores__run=run, question__in=list(keyed), model__public_id__in=(first, second)
    ).values_list("model__public_id", "question_id", "text", "status")
    for model, question, text, status in rows:
        if status not in MISSING:
            said = text if status == AnswerStatus.TEXT else ""
            verdict = is_right(keyed[question], said)
            right[int(model == second), place[question]] = np.nan if verdict is None else verdict
    return compared([question.external_id for question in keyed.values()], right[0], right[1])


def compared(names: Sequence[str], first: Floats, second: Floats) -> RightOrWrong:
    """Return the comparison of two models' correct (1) and wrong (0) answers; NaN for none."""
    test = compute_mcnemar_exact(first, second)
    both = ~np.isnan(first - second)
    only_first = [name for name, gap in zip(names, first - second, strict=True) if gap == 1]
    only_second = [name for name, gap in zip(names, first - second, strict=True) if gap == -1]
    return RightOrWrong(
        n=test.n,
        first_right=int(first[both].sum()),
        second_right=int(second[both].sum()),
        n_only_first=test.only_a,
        n_only_second=test.only_b,
        only_first=only_first[:NAMED],
        only_second=only_second[:NAMED],
        p_value=test.p_value,
        reason=test.reason or "",
        mid_p_value=test.mid_p_value,
    )


def is_right(question: Question, text: str) -> bool | None:
    """Return whether an answer is correct; None if the answer key is unreadable."""
    accepted = [str(answer) for answer in question.accepted_answers]
    if question.kind != Question.Kind.CHOICE:
        return bool(text) and normalise(text) in set(map(normalise, accepted))
    reader = Choices([str(choice) for choice in question.choices])
    item = MultiqaItem("", CHOICE, "", "", "", reader.texts, tuple(accepted), CHOICE)
    try:
        wanted = find_accepted_choices(item, reader)
    except ValueError:  # an accepted answer is none of the choices
        return None
    return bool(text) and reader.read(text).choices == wanted
