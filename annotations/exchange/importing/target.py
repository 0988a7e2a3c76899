"""Choose the version that an import changes, lock its question set, open the transaction."""

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
def open_transaction(dry_run: bool) -> Iterator[None]:
    """Open a database transaction; in a dry run it is rolled back at its end."""
    with transaction.atomic(), roll_back_if_dry_run(dry_run):
        yield


@contextmanager
def roll_back_if_dry_run(dry_run: bool) -> Iterator[None]:
    """In a dry run, mark the surrounding transaction for rollback at the end of the block."""
    yield
    if dry_run:
        transaction.set_rollback(True)


@contextmanager
def open_transaction_unless_dry_run(dry_run: bool) -> Iterator[None]:
    """Open a database transaction; in a dry run open none, because nothing is written.

    So no user waits for a dry run, which on SQLite would hold the only write lock.
    """
    if dry_run:
        yield
        return
    with transaction.atomic():
        yield


def lock_import_version(
    question_set: QuestionSet, number: int | None, file: str, *, dry_run: bool
) -> QuestionSetVersion:
    """Return the version to import into, with its question set locked (not in a dry run).

    A version that does not exist yet has no key, and `get_version_questions` returns no questions
    of it. Raises `InputError` as `get_or_create_version`.
    """
    # Locked first, so that the version that is read stays the latest one.
    if not dry_run:
        return get_or_create_version(lock_question_set(question_set), number, file)
    _refuse_archived(question_set, file)
    if number is not None and not question_set._state.adding:
        return get_or_create_version(question_set, number, file)
    # A related query of an unsaved set raises ValueError, so it is not run.
    latest = None if question_set._state.adding else question_set.latest_version()
    if latest is None and number is not None:
        raise InputError.from_code(
            file, "version_unknown", question_set=str(question_set), number=number
        )
    return latest or QuestionSetVersion(question_set=question_set, number=1)


def get_version_questions(version: QuestionSetVersion) -> QuerySet[Question]:
    """Return the version's questions; an empty queryset if the version is not stored yet."""
    return Question.objects.none() if version._state.adding else version.questions.all()


def lock_question_set(question_set: QuestionSet) -> QuestionSet:
    """Lock the question set's row until the transaction ends, and return the question set.

    A set that is not stored yet is stored now. The lock allows other rows to refer to the set
    meanwhile: its key stays.
    """
    if question_set._state.adding:
        question_set.save()
    return QuestionSet.objects.select_for_update(no_key=True).get(pk=question_set.pk)


def get_or_create_version(
    question_set: QuestionSet, number: int | None, file: str
) -> QuestionSetVersion:
    """Return the version with this number; if it is None, the latest one or a new draft.

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
    """Raise `InputError` if the question set is archived; `file` is named in the message."""
    if question_set.archived_at is not None:
        raise InputError.from_code(file, "set_archived", question_set=str(question_set))


def map_question_keys(
    version: QuestionSetVersion,
    first_lines: dict[str, int],
    problems: Problems,
    unmade: Iterable[str] = (),
) -> dict[str, int]:
    """Return the primary keys of a version's questions by id; note the file's unknown questions.

    `first_lines` has the first line of each question of the file; those that the version does not
    have are noted in `problems`. Those that a dry run would create, `unmade`, have negative keys.
    """
    known = {name: -place for place, name in enumerate(unmade, 1)}
    known |= dict(get_version_questions(version).values_list("external_id", "pk"))
    for question, line in first_lines.items():
        if question not in known:
            problems.add_code(
                line, "question", "question_unknown", version=str(version), question=question
            )
    return known


def create_missing_questions(
    version: QuestionSetVersion, ids: Sequence[str], file: str, *, dry_run: bool = False
) -> list[str]:
    """Create the questions that a version lacks, with ids but no texts; return their ids.

    A dry run creates none. Raises `InputError` if the version is published, because it takes no new
    ones.
    """
    known = set(get_version_questions(version).values_list("external_id", flat=True))
    missing = [external_id for external_id in ids if external_id not in known]
    if missing and version.is_published:
        raise InputError.from_code(
            file, "version_published", version=str(version), question=missing[0]
        )
    if dry_run:
        return missing
    start = find_next_position(version.questions.values_list("position", flat=True))
    Question.objects.bulk_create(
        (
            Question(version=version, external_id=external_id, position=position)
            for position, external_id in enumerate(missing, start)
        ),
        batch_size=BATCH,
    )
    return missing


def find_next_position(positions: Iterable[int]) -> int:
    """Return the position after the largest of these positions; 1 if there are none."""
    return max(positions, default=0) + 1


def split_in_chunks(values: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the values in lists of at most `size` values."""
    iterator = iter(values)
    while chunk := list(islice(iterator, size)):
        yield chunk


def quote_beginning(text: str, longest: int = 60) -> str:
    """Return the first characters of a text in quotation marks, for an error message."""
    line = " ".join(text.split())
    return repr(line if len(line) <= longest else line[:longest] + "...") if line else "no answer"
