"""Import math word problems, answerable or not, from a UMWP file into a question set."""

from __future__ import annotations

from collections import Counter
from typing import Any

from annotations.exchange.importing.import_records import record_question_import
from annotations.exchange.importing.report import ImportReport
from annotations.exchange.importing.target import (
    BATCH,
    find_next_position,
    get_or_create_version,
    lock_question_set,
    open_transaction,
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
    """Add a file's math word problems as questions to a question set's draft; return a report.

    The question has whether there is an answer, the right numbers, and the category by its name;
    its metadata has the source and the problems it was derived from (`source`, `relevant_ids`). If
    the latest version is published and the file has unknown problems, the next version is opened as
    its copy. A question whose text is not known yet is completed.

    Raises `InputError`: see `read_word_problems`; also for a stored problem with other content. The
    `Import` of what is new in a draft can undo it; `imported_by` is the key of its user.
    """
    file = read_word_problems(path)
    problems = Problems(file.name)
    with open_transaction(dry_run):
        version = get_or_create_version(lock_question_set(question_set), None, file.name)
        stored = {row.external_id: row for row in version.questions.all()}
        new_problems: list[WordProblem] = []
        completed: list[Question] = []
        for problem in file.problems:
            if len(problem.id) > LONGEST_ID:
                problems.add_code(
                    problem.line or None,
                    "id",
                    "problem_id_long",
                    id=problem.id[:40],
                    most=LONGEST_ID,
                )
                continue
            row = stored.get(problem.id)
            if row is None:
                new_problems.append(problem)
            elif not row.text:
                for name, value in build_problem_fields(problem).items():
                    setattr(row, name, value)
                # It belongs to the import of answers that created it and to this one: to neither.
                row.brought_by = None
                completed.append(row)
            elif differing_fields := [
                k for k, value in build_problem_fields(problem).items() if getattr(row, k) != value
            ]:
                problems.add_code(
                    problem.line or None,
                    "id",
                    "stored_problem_differs",
                    version=str(version),
                    name=problem.id,
                    what=", ".join(differing_fields),
                )
        problems.raise_if_any()
        Question.objects.bulk_update(completed, [*FIELDS, "brought_by"], batch_size=BATCH)
        notes = _describe_labels(file)
        if new_problems and version.is_published:
            version = version.copy_as_draft()
            notes.append(
                f"Version {version.number} begins as a copy of version {version.number - 1}, "
                "which is published and keeps its answers."
            )
        start = find_next_position(version.questions.values_list("position", flat=True))
        Question.objects.bulk_create(
            (
                Question(
                    version=version,
                    external_id=problem.id,
                    position=position,
                    **build_problem_fields(problem),
                )
                for position, problem in enumerate(new_problems, start)
            ),
            batch_size=BATCH,
        )
        record_question_import(
            version,
            file,
            [problem.id for problem in new_problems],
            n_rows=len(file.problems),
            n_completed=len(completed),
            imported_by=imported_by,
        )
    return _build_import_report(file, version, len(new_problems), len(completed), notes, dry_run)


FIELDS = ("text", "accepted_answers", "answerable", "category", "metadata")


def build_problem_fields(problem: WordProblem) -> dict[str, Any]:
    """Return the `Question` field values of a math word problem, by field name."""
    origin = {"source": problem.source, "relevant_ids": list(problem.relevant)}
    values = (
        problem.text,
        [_format_number(answer) for answer in problem.answers],
        problem.answerable,
        CATEGORY_NAMES[problem.category] if problem.category else "",
        {name: value for name, value in origin.items() if value},
    )
    return dict(zip(FIELDS, values, strict=True))


def _format_number(answer: float) -> str:
    """Return a number as text without a needless ".0": 460.0 as "460"."""
    # From 2**53 on a float skips whole numbers, so its digits would pretend to be exact.
    return str(int(answer)) if answer.is_integer() and abs(answer) < 2**53 else repr(answer)


def _describe_labels(file: WordProblemFile) -> list[str]:
    """Return report sentences: counts of labels and categories, and contradictory labels."""
    counts = Counter(problem.answerable for problem in file.problems)
    categories = Counter(problem.category for problem in file.problems if problem.category)
    notes = [f"{counts[True]:,} have an answer, {counts[False]:,} have none."]
    if counts[None]:
        notes.append(f"Of {counts[None]:,} it is not known whether they have an answer.")
    if categories:
        named = ", ".join(
            f"{name} {categories[number]:,}"
            for number, name in CATEGORY_NAMES.items()
            if categories[number]
        )
        notes.append(f"Without an answer: {named}.")
    twice = _find_contradictory_labels(file.problems)
    if twice:
        more = f" and {len(twice) - NAMED} more" if len(twice) > NAMED else ""
        notes.append(
            f"{len(twice)} {'text is' if len(twice) == 1 else 'texts are'} in the file with both "
            f"labels: {'; '.join(twice[:NAMED])}{more}. They count as they are labelled, but in no "
            "pair."
        )
    known = {problem.id for problem in file.problems}
    n_missing = sum(any(id not in known for id in problem.relevant) for problem in file.problems)
    if n_missing:
        notes.append(f"{n_missing:,} were made of problems that are not in the file.")
    with_answer = [
        problem.id for problem in file.problems if problem.answerable is False and problem.answers
    ]
    if with_answer:
        notes.append(f"Without an answer, but with a number: {', '.join(with_answer[:NAMED])}.")
    return notes


def _find_contradictory_labels(problems: tuple[WordProblem, ...]) -> list[str]:
    """Return the ids of equal texts labelled both answerable and not, such as "213 and 2713"."""
    by_text: dict[str, dict[bool, str]] = {}
    for problem in problems:
        if problem.answerable is not None:
            by_text.setdefault(" ".join(problem.text.split()), {}).setdefault(
                problem.answerable, problem.id
            )
    return [" and ".join(ids.values()) for ids in by_text.values() if len(ids) > 1]


def _build_import_report(
    file: WordProblemFile,
    version: QuestionSetVersion,
    n_new: int,
    n_completed: int,
    notes: list[str],
    dry_run: bool,
) -> ImportReport:
    """Return the report of an import of word problems, with its row counts."""
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
