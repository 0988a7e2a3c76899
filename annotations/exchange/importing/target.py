"""Where an import goes, and the transaction around it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import TypeVar

from django.db import transaction
from django.db.models import QuerySet

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
    with transaction.atomic(), undone(dry_run):
        yield


@contextmanager
def undone(dry_run: bool) -> Iterator[None]:
    """Roll the surrounding transaction back in the end if this is a dry run."""
    yield
    if dry_run:
        transaction.set_rollback(True)


@contextmanager
def storing(dry_run: bool) -> Iterator[None]:
    """A transaction, or for a dry run none: what is called inside writes nothing then.

    So nobody waits for a dry run, which on SQLite would hold the only place for a writer.
    """
    if dry_run:
        yield
        return
    with transaction.atomic():
        yield


def target_of(
    question_set: QuestionSet, number: int | None, file: str, *, dry_run: bool
) -> QuestionSetVersion:
    """The version to store answers in, its set locked; for a dry run one as it is, or would be.

    What is not stored yet has no key, and `rows_of` has no rows of it. Raises `InputError` as
    `version_of`.
    """
    if not dry_run:
        return version_of(locked(question_set), number, file)
    _refuse_archived(question_set, file)
    if number is not None and not question_set._state.adding:
        return version_of(question_set, number, file)
    latest = None if question_set._state.adding else question_set.latest_version()
    if latest is None and number is not None:
        raise InputError.from_code(
            file, "version_unknown", question_set=str(question_set), number=number
        )
    return latest or QuestionSetVersion(question_set=question_set, number=1)


def questions_in(version: QuestionSetVersion) -> QuerySet[Question]:
    """The version's questions; none of one that is not stored."""
    return Question.objects.none() if version._state.adding else version.questions.all()


def locked(question_set: QuestionSet) -> QuestionSet:
    """The set, its row locked to the end of the transaction: imports into it follow each other.

    A set that is not stored yet is stored now. Rows of others may point to it meanwhile: its key
    stays.
    """
    if question_set._state.adding:
        question_set.save()
    return QuestionSet.objects.select_for_update(no_key=True).get(pk=question_set.pk)


def version_of(question_set: QuestionSet, number: int | None, file: str) -> QuestionSetVersion:
    """The version of that number; without one the latest, made if there is none.

    Raises `InputError` for a number that does not exist, and for a set that is archived.
    """
    _refuse_archived(question_set, file)
    if number is None:
        return question_set.latest_version() or question_set.draft()
    version = question_set.versions.filter(number=number).first()
    if version is None:
        raise InputError.from_code(
            file, "version_unknown", question_set=str(question_set), number=number
        )
    return version


def _refuse_archived(question_set: QuestionSet, file: str) -> None:
    if question_set.archived_at is not None:
        raise InputError.from_code(file, "set_archived", question_set=str(question_set))


def questions_of(
    version: QuestionSetVersion,
    first_lines: dict[str, int],
    problems: Problems,
    unmade: Iterable[str] = (),
) -> dict[str, int]:
    """The keys of the version's questions by their ids.

    `first_lines` says for the file's questions where each first stands; those that the version
    does not have are noted in `problems`. Those that a dry run would make, `unmade`, have keys of
    nothing.
    """
    known = {name: -place for place, name in enumerate(unmade, 1)}
    known |= dict(questions_in(version).values_list("external_id", "pk"))
    for question, line in first_lines.items():
        if question not in known:
            problems.add_code(
                line, "question", "question_unknown", version=str(version), question=question
            )
    return known


def add_questions(
    version: QuestionSetVersion, ids: Sequence[str], file: str, *, dry_run: bool = False
) -> list[str]:
    """Make questions of which only the ids are known; returns theirs. A dry run makes none.

    Raises `InputError` if the version is published, because it takes no new ones.
    """
    known = set(questions_in(version).values_list("external_id", flat=True))
    missing = [external_id for external_id in ids if external_id not in known]
    if missing and version.is_published:
        raise InputError.from_code(
            file, "version_published", version=str(version), question=missing[0]
        )
    if dry_run:
        return missing
    start = next_position(version.questions.values_list("position", flat=True))
    Question.objects.bulk_create(
        (
            Question(version=version, external_id=external_id, position=position)
            for position, external_id in enumerate(missing, start)
        ),
        batch_size=BATCH,
    )
    return missing


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
