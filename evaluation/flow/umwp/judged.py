"""Replies to problems with what they were taken for, and whether their numbers are right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotations.exchange.reading.word_problems import WordProblem, WordProblemReply
from evaluation.flow.umwp.classifying import (
    ANSWERABLE,
    REFUSED,
    UNANSWERABLE,
    Classified,
    classify,
)
from evaluation.flow.umwp.likeness import Likeness
from evaluation.flow.umwp.numbers import is_right
from evaluation.methods.umwp.noticing import Taken


@dataclass(frozen=True)
class Judged:
    """A reply that came, what it was taken for, and whether its number is right."""

    reply: WordProblemReply
    problem: WordProblem
    classified: Classified
    right: bool

    @property
    def positive(self) -> bool:
        """Whether it takes the problem for unanswerable."""
        return self.classified.taken_as == UNANSWERABLE


def judge(
    reply: WordProblemReply, problem: WordProblem, found: Likeness, threshold: float, rules: str
) -> Judged:
    """Classify a reply that came, and compare its number with the problem's answers.

    Of a problem that is not mathematical and has no number to compare, no number is read.
    """
    classified = classify(reply.text, reply.status, found, threshold, rules, problem.is_math)
    if not problem.is_math and not problem.answers:
        classified = replace(classified, answer=None)
    right = classified.taken_as == ANSWERABLE and is_right(reply.text, problem.answers, rules)
    return Judged(reply, problem, classified, right)


def taken_of(replies: Sequence[Judged]) -> Taken:
    """Return replies as columns, in their order."""
    return Taken(
        np.array([not one.problem.answerable for one in replies], dtype=np.bool_),
        np.array([one.positive for one in replies], dtype=np.bool_),
        np.array([one.classified.taken_as == REFUSED for one in replies], dtype=np.bool_),
        np.array([one.right for one in replies], dtype=np.bool_),
        gradable=np.array([bool(one.problem.answers) for one in replies], dtype=np.bool_),
    )
