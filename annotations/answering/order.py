"""Which questions a worker gets, and in which order.

Of the graded questions those with the fewest answers and places come first; among equals chance
decides, one passage after the other, so that nobody reads more texts than needed. Practice comes
before everything and everybody gets it, as they get all attention checks. Passages are in random
order, and questions in random order within their passage. Chance comes from the stored seed alone.
"""

from __future__ import annotations

import random
from collections.abc import Collection as Some
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotations.models import Question

QUESTIONS_PER_PAGE = 5
"""At most; a telephone shows no more without losing the thread."""

PRACTICE, ATTENTION = Question.Role.PRACTICE, Question.Role.ATTENTION


@dataclass(frozen=True, slots=True)
class Asked:
    """What the order needs to know of a question."""

    pk: int
    passage: int | None
    role: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where a question stands for one worker; both count from 1."""

    question: int
    position: int
    page: int


def chosen(
    questions: Iterable[Asked],
    taken: Mapping[int, int],
    *,
    most_each: int | None,
    wanted: int | None,
    kept: Some[int] = (),
    seed: int,
) -> list[Asked]:
    """Return the graded questions of one worker; none if no question has a place left.

    Parameters
    ----------
    taken : how many answers and places each question has, by its key; none counts as 0.
    most_each : how many it may have; None for any number.
    wanted : how many questions the worker gets; None for all that have a place.
    kept : keys of questions that come first where they have a place: those begun before.
    """
    chance = random.Random(seed)  # noqa: S311
    graded = [one for one in questions if one.role not in (PRACTICE, ATTENTION)]
    of_passage = {passage: chance.random() for passage in _passages(graded)}
    rank = {
        one.pk: (one.pk not in kept, taken.get(one.pk, 0), of_passage[one.passage], chance.random())
        for one in graded
    }
    free = [one for one in graded if most_each is None or taken.get(one.pk, 0) < most_each]
    return sorted(free, key=lambda one: rank[one.pk])[:wanted]


def in_order(
    graded: Sequence[Asked], others: Iterable[Asked], seed: int, per_page: int = QUESTIONS_PER_PAGE
) -> list[Place]:
    """Return all questions of one worker in their order, `others` being practice and attention."""
    chance = random.Random(seed)  # noqa: S311
    others = list(others)
    practice = [one for one in others if one.role == PRACTICE]
    asked = [*graded, *(one for one in others if one.role == ATTENTION)]
    places: list[Place] = []
    page = 0
    for group in (*_groups(practice, chance), *_groups(asked, chance)):
        for part in _parts(group, per_page):
            page += 1
            for one in part:
                places.append(Place(one.pk, len(places) + 1, page))
    return places


def _groups(questions: Sequence[Asked], chance: random.Random) -> list[list[Asked]]:
    groups: dict[int | None, list[Asked]] = {
        passage: [] for passage in _passages(one for one in questions if one.role != ATTENTION)
    }
    for one in questions:
        # A check that is about no passage stands anywhere between the other questions.
        anywhere = one.role == ATTENTION and one.passage is None and bool(groups)
        passage = chance.choice(list(groups)) if anywhere else one.passage
        groups.setdefault(passage, []).append(one)
    mixed = list(groups.values())
    chance.shuffle(mixed)
    for group in mixed:
        chance.shuffle(group)
    return mixed


def _parts(group: Sequence[Asked], per_page: int) -> Iterable[Sequence[Asked]]:
    """Cut a group into pages of nearly the same length."""
    n_pages = -(-len(group) // per_page)
    for i in range(n_pages):
        yield group[i * len(group) // n_pages : (i + 1) * len(group) // n_pages]


def _passages(questions: Iterable[Asked]) -> dict[int | None, None]:
    return dict.fromkeys(one.passage for one in questions)
