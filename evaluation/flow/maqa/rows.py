"""Rows of the tables of MAQA: questions, answers, positions, numbers of right answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from evaluation.flow.maqa.judging import JudgedReply


class ItemRow(NamedTuple):
    """A row of items.csv; `reason` says why a question has no numbers.

    Means over the replies: the four scores, `verbalised`, and those of the answers. `meanings` is
    how many clusters of replies that say the same there are.
    """

    item: str
    system: str
    replies: int = 0
    answers: int = 0
    gold_answers: int = 0
    precision: float | None = None
    recall: float | None = None
    f1: float | None = None
    exact_set: float | None = None
    max_softmax: float | None = None
    entropy: float | None = None
    margin: float | None = None
    verbalised: float | None = None
    consistency: float | None = None
    reason: str | None = None
    semantic_entropy: float | None = None
    semantic_entropy_weighted: float | None = None
    meanings: int | None = None


class AnswerRow(NamedTuple):
    """A row of answers.csv: an answer as it was read; `position` counts from 1 in its reply."""

    item: str
    system: str
    sample: int
    position: int
    answer: str
    right: bool | None
    gold_answer: str | None
    max_softmax: float | None
    entropy: float | None
    entropy_high: float | None
    margin: float | None
    reason: str | None


class PositionRow(NamedTuple):
    """A row of positions.csv: the answers that stand first, second, ... in their replies."""

    system: str
    position: int
    n: int
    accuracy: float
    n_distributions: int
    max_softmax: float | None
    entropy: float | None
    margin: float | None


class GoldCountRow(NamedTuple):
    """A row of gold_counts.csv: the questions with so many right answers."""

    system: str
    gold_answers: int
    n: int
    precision: float
    recall: float
    f1: float
    exact_set: float


def answer_rows(
    system: str, item: str, judged: JudgedReply, gold: Sequence[object]
) -> Iterator[AnswerRow]:
    """Yield a row for each answer of a reply; `gold` has a spelling of each right answer."""
    for place, answer in enumerate(judged.answers, 1):
        token = answer.token
        yield AnswerRow(
            item,
            system,
            judged.reply.sample,
            place,
            answer.text,
            None if judged.score is None else answer.right,
            str(gold[answer.found]) if gold and answer.found is not None else None,
            token.max_softmax if token else None,
            token.entropy if token else None,
            token.entropy_high if token else None,
            token.margin if token else None,
            None if token else "no_distribution",
        )


def mean_of(values: Iterable[float | None]) -> float | None:
    """Return the mean of the numbers that there are; None without any."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
