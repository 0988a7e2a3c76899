"""Selection and order of the questions that one worker answers.

Graded questions with the fewest answers and places are selected first. Ties are broken at random,
passage by passage, so that no worker reads more passages than needed. Every worker gets all
practice questions, which come first, and all attention checks. Passages are in random order, and
so are the questions within a passage. All randomness comes from the stored seed.
"""

from __future__ import annotations

import random
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotations.models import Question

QUESTIONS_PER_PAGE = 5
"""Most questions on one page: more are hard to follow on a phone."""

PRACTICE, ATTENTION = Question.Role.PRACTICE, Question.Role.ATTENTION


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """A question with the values needed for selection and order; `pk`, `passage` are keys."""

    pk: int
    passage: int | None
    role: str


@dataclass(frozen=True, slots=True)
class QuestionPosition:
    """Position and page, both from 1, of a question for one worker; `question` is its key."""

    question: int
    position: int
    page: int


def choose_questions(
    questions: Iterable[QuestionRow],
    answer_counts: Mapping[int, int],
    *,
    max_answers: int | None,
    n_questions: int | None,
    begun: Container[int] = (),
    seed: int,
) -> list[QuestionRow]:
    """Return the graded questions for one worker; [] if all have enough answers.

    Parameters
    ----------
    answer_counts : answers and reserved places of each question, by its key; missing means 0.
    max_answers : the most answers of one question; None for no limit.
    n_questions : the most questions of the worker; None for all that need answers.
    begun : keys of questions that the worker has seen before, which are selected first.
    """
    chance = random.Random(seed)  # noqa: S311
    graded = [row for row in questions if row.role not in (PRACTICE, ATTENTION)]
    # Ranks are drawn for all questions, also full ones: the order of the others must not depend on
    # how many are full.
    passage_rank = {passage: chance.random() for passage in _list_passages(graded)}
    rank = {
        row.pk: (
            row.pk not in begun,
            answer_counts.get(row.pk, 0),
            passage_rank[row.passage],
            chance.random(),
        )
        for row in graded
    }
    free = [
        row for row in graded if max_answers is None or answer_counts.get(row.pk, 0) < max_answers
    ]
    return sorted(free, key=lambda row: rank[row.pk])[:n_questions]


def order_questions(
    graded: Sequence[QuestionRow],
    others: Iterable[QuestionRow],
    seed: int,
    per_page: int = QUESTIONS_PER_PAGE,
) -> list[QuestionPosition]:
    """Return position and page of each question of one worker, sorted by position.

    `others` are practice questions and attention checks; `per_page` is the most of one page.
    """
    chance = random.Random(seed)  # noqa: S311
    others = list(others)
    practice = [row for row in others if row.role == PRACTICE]
    mixed = [*graded, *(row for row in others if row.role == ATTENTION)]
    positions: list[QuestionPosition] = []
    page = 0
    for group in (*_group_by_passage(practice, chance), *_group_by_passage(mixed, chance)):
        for rows in _split_into_pages(group, per_page):
            page += 1
            for row in rows:
                positions.append(QuestionPosition(row.pk, len(positions) + 1, page))
    return positions


def _group_by_passage(
    questions: Sequence[QuestionRow], chance: random.Random
) -> list[list[QuestionRow]]:
    """Return the questions grouped by passage; groups and questions in random order."""
    groups: dict[int | None, list[QuestionRow]] = {
        passage: [] for passage in _list_passages(row for row in questions if row.role != ATTENTION)
    }
    for row in questions:
        # An attention check without a passage joins a random group, so that it does not stand out.
        anywhere = row.role == ATTENTION and row.passage is None and bool(groups)
        passage = chance.choice(list(groups)) if anywhere else row.passage
        groups.setdefault(passage, []).append(row)
    shuffled = list(groups.values())
    chance.shuffle(shuffled)
    for group in shuffled:
        chance.shuffle(group)
    return shuffled


def _split_into_pages(
    group: Sequence[QuestionRow], per_page: int
) -> Iterable[Sequence[QuestionRow]]:
    """Yield a group of questions in pages of nearly equal length, at most `per_page`."""
    n_pages = -(-len(group) // per_page)
    for i in range(n_pages):
        yield group[i * len(group) // n_pages : (i + 1) * len(group) // n_pages]


def _list_passages(questions: Iterable[QuestionRow]) -> dict[int | None, None]:
    """Return a dict whose keys are the questions' passages, in the order of the questions."""
    # A dict, not a set: the seeded draws depend on the order.
    return dict.fromkeys(row.passage for row in questions)
