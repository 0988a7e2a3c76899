"""Where an import goes, and the transaction around it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import TypeVar

from django.db import transaction

from annotations.exchange.problems import InputError, Problems
from annotations.models import Question, QuestionSet, QuestionSetVersion

T = TypeVar("T")

BATCH = 2000
"""Rows stored by one call: more save no time, and cost memory."""

IDS = 500
"""Ids looked up by one query: every SQLite takes that many."""


@contextmanager
def all_or_nothing(dry_run: bool) -> Iterator[None]:
    """A transaction that is rolled back at its end if this is a dry run."""
    with transaction.atomic():
        yield
        if dry_run:
            transaction.set_rollback(True)


def locked(question_set: QuestionSet) -> QuestionSet:
    """The set, its row locked to the end of the transaction: imports into it follow each other.

    A set that is not stored yet is stored now.
    """
    if question_set._state.adding:
        question_set.save()
    return QuestionSet.objects.select_for_update().get(pk=question_set.pk)


def version_of(question_set: QuestionSet, number: int | None, file: str) -> QuestionSetVersion:
    """The version of that number; without one the latest, made if there is none.

    Raises `InputError` for a number that does not exist.
    """
    if number is None:
        return question_set.latest_version() or question_set.draft()
    version = question_set.versions.filter(number=number).first()
    if version is None:
        raise InputError.single(file, f"{question_set} has no version {number}")
    return version


def questions_of(
    version: QuestionSetVersion, first_lines: dict[str, int], problems: Problems
) -> dict[str, int]:
    """The keys of the version's questions by their ids.

    `first_lines` says for the file's questions where each first stands; those that the version
    does not have are noted in `problems`.
    """
    known = dict(version.questions.values_list("external_id", "pk"))
    for question, line in first_lines.items():
        if question not in known:
            problems.add(
                line,
                "question",
                f"{version} has no question {question}",
                "Correct the id, or import the questions first.",
            )
    return known


def add_questions(version: QuestionSetVersion, ids: Sequence[str], file: str) -> int:
    """Make questions of which only the ids are known; says how many.

    Raises `InputError` if the version is published, because it takes no new ones.
    """
    known = set(version.questions.values_list("external_id", flat=True))
    missing = [external_id for external_id in ids if external_id not in known]
    if missing and version.is_published:
        raise InputError.single(
            file,
            f"{version} is published and takes no new questions, such as {missing[0]}",
            "Import the questions first: that opens the next version.",
        )
    start = next_position(version.questions.values_list("position", flat=True))
    Question.objects.bulk_create(
        (
            Question(version=version, external_id=external_id, position=position)
            for position, external_id in enumerate(missing, start)
        ),
        batch_size=BATCH,
    )
    return len(missing)


def next_position(positions: Iterable[int]) -> int:
    """The position after all of these; 1 without any."""
    return max(positions, default=0) + 1


def chunks(values: Iterable[T], size: int) -> Iterator[list[T]]:
    """The values in lists of at most `size`."""
    iterator = iter(values)
    while chunk := list(islice(iterator, size)):
        yield chunk


def quoted(text: str, longest: int = 60) -> str:
    """The beginning of a stored text, for a message."""
    line = " ".join(text.split())
    return repr(line if len(line) <= longest else line[:longest] + "...") if line else "no answer"
