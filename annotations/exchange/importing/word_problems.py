"""Math word problems of which some have no answer, from a file of UMWP into a version."""

from __future__ import annotations

from collections import Counter
from typing import Any

from annotations.exchange.importing.brought import keep_questions
from annotations.exchange.importing.report import ImportReport
from annotations.exchange.importing.target import (
    BATCH,
    all_or_nothing,
    locked,
    next_position,
    version_of,
)
from annotations.exchange.problems import Problems
from annotations.exchange.reading.source import Readable
from annotations.exchange.reading.word_problems import (
    CATEGORY_NAMES,
    WordProblem,
    WordProblemFile,
    read_word_problems,
)
from annotations.models import Question, QuestionSet, QuestionSetVersion

LONGEST_ID = 255
NAMED = 5


def import_word_problems(
    question_set: QuestionSet,
    path: Readable,
    *,
    dry_run: bool = False,
    imported_by: int | None = None,
) -> ImportReport:
    """Add the problems of a file to the set's draft, a question each.

    Whether there is an answer, the right numbers, and the category by its name stand in the
    question; where it comes from and what it was made of in its metadata (`source`,
    `relevant_ids`). If the latest version is published and the file has problems that it does not
    have, the next version is opened as its copy. A question whose text is not known yet is
    completed.

    Raises `InputError`: see `read_word_problems`; also for a problem that is there with another
    content. What is new in a draft can be taken out again by its `Import`, which says who brought
    it: `imported_by`, a user's key.
    """
    file = read_word_problems(path)
    problems = Problems(file.name)
    with all_or_nothing(dry_run):
        version = version_of(locked(question_set), None, file.name)
        stored = {row.external_id: row for row in version.questions.all()}
        fresh: list[WordProblem] = []
        completed: list[Question] = []
        for one in file.problems:
            if len(one.id) > LONGEST_ID:
                problems.add_code(
                    one.line or None, "id", "problem_id_long", id=one.id[:40], most=LONGEST_ID
                )
                continue
            row = stored.get(one.id)
            if row is None:
                fresh.append(one)
            elif not row.text:
                for name, value in fields_of(one).items():
                    setattr(row, name, value)
                row.brought_by = None
                completed.append(row)
            elif others := [k for k, value in fields_of(one).items() if getattr(row, k) != value]:
                problems.add_code(
                    one.line or None,
                    "id",
                    "stored_problem_differs",
                    version=str(version),
                    name=one.id,
                    what=", ".join(others),
                )
        problems.raise_if_any()
        Question.objects.bulk_update(completed, [*FIELDS, "brought_by"], batch_size=BATCH)
        notes = _notes(file)
        if fresh and version.is_published:
            version = version.copy()
            notes.append(
                f"Version {version.number} begins as a copy of version {version.number - 1}, "
                "which is published and keeps its answers."
            )
        start = next_position(version.questions.values_list("position", flat=True))
        Question.objects.bulk_create(
            (
                Question(version=version, external_id=one.id, position=position, **fields_of(one))
                for position, one in enumerate(fresh, start)
            ),
            batch_size=BATCH,
        )
        keep_questions(
            version,
            file,
            [one.id for one in fresh],
            n_rows=len(file.problems),
            n_completed=len(completed),
            imported_by=imported_by,
        )
    return _report(file, version, len(fresh), len(completed), notes, dry_run)


FIELDS = ("text", "accepted_answers", "answerable", "category", "metadata")


def fields_of(one: WordProblem) -> dict[str, Any]:
    """Return the fields of a `Question` that a problem says."""
    told = {"source": one.source, "relevant_ids": list(one.relevant)}
    values = (
        one.text,
        [_number(answer) for answer in one.answers],
        one.answerable,
        CATEGORY_NAMES[one.category] if one.category else "",
        {name: value for name, value in told.items() if value},
    )
    return dict(zip(FIELDS, values, strict=True))


def _number(answer: float) -> str:
    """Return 460.0 as 460, and any other number so that it is read as the same."""
    return str(int(answer)) if answer.is_integer() and abs(answer) < 2**53 else repr(answer)


def _notes(file: WordProblemFile) -> list[str]:
    """Return what there is, and what contradicts itself: it is taken, and counts as labelled."""
    counts = Counter(one.answerable for one in file.problems)
    categories = Counter(one.category for one in file.problems if one.category)
    notes = [f"{counts[True]:,} have an answer, {counts[False]:,} have none."]
    if counts[None]:
        notes.append(f"Of {counts[None]:,} nobody says whether they have an answer.")
    if categories:
        named = ", ".join(
            f"{name} {categories[number]:,}"
            for number, name in CATEGORY_NAMES.items()
            if categories[number]
        )
        notes.append(f"Without an answer: {named}.")
    both = _both_labels(file.problems)
    if both:
        more = f" and {len(both) - NAMED} more" if len(both) > NAMED else ""
        notes.append(
            f"{len(both)} {'text stands' if len(both) == 1 else 'texts stand'} there with both "
            f"labels: {'; '.join(both[:NAMED])}{more}. They count as they are labelled, but in no "
            "pair."
        )
    known = {one.id for one in file.problems}
    n_missing = sum(any(id not in known for id in one.relevant) for one in file.problems)
    if n_missing:
        notes.append(f"{n_missing:,} were made of problems that are not in the file.")
    with_answer = [one.id for one in file.problems if one.answerable is False and one.answers]
    if with_answer:
        notes.append(f"Without an answer, but with a number: {', '.join(with_answer[:NAMED])}.")
    return notes


def _both_labels(problems: tuple[WordProblem, ...]) -> list[str]:
    """Return the ids of each text that has both labels: "213 and 2713"."""
    by_text: dict[str, dict[bool, str]] = {}
    for one in problems:
        if one.answerable is not None:
            by_text.setdefault(" ".join(one.text.split()), {}).setdefault(one.answerable, one.id)
    return [" and ".join(ids.values()) for ids in by_text.values() if len(ids) > 1]


def _report(
    file: WordProblemFile,
    version: QuestionSetVersion,
    n_new: int,
    n_completed: int,
    notes: list[str],
    dry_run: bool,
) -> ImportReport:
    return ImportReport(
        what="problems",
        file=file.name,
        sha256=file.sha256,
        question_set=version.question_set.name,
        version=version.number,
        n_rows=len(file.problems),
        n_new=n_new + n_completed,
        n_unchanged=len(file.problems) - n_new - n_completed,
        n_repeated=0,
        n_completed=n_completed,
        notes=notes,
        warnings=list(file.warnings),
        dry_run=dry_run,
    )
