"""Prompts that ask for the same in other words, from a file into a version."""

from __future__ import annotations

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
from annotations.exchange.reading.prompts import PromptFile, PromptItem, read_prompts
from annotations.exchange.reading.source import Readable
from annotations.models import Question, QuestionSet, QuestionSetVersion, Variant

LONGEST_ID, LONGEST_CATEGORY, LONGEST_LANGUAGE = 255, 200, 35


def import_prompts(
    question_set: QuestionSet,
    given: Readable,
    *,
    repair: bool = False,
    dry_run: bool = False,
    imported_by: int | None = None,
) -> ImportReport:
    """Add the items of a file of prompts to the set's draft.

    The first wording of an item is a question, the others are its variants, each with its
    language; the kind of variation is the question's category. If the latest version is published
    and the file has items that it does not have, the next version is opened as its copy.

    Raises `InputError`: see `read_prompts`; also for an item that is there with other wordings.
    What is new can be taken out again by its `Import`, which says who brought it: `imported_by`.
    """
    file = read_prompts(given, repair=repair)
    problems = Problems(file.name)
    with all_or_nothing(dry_run):
        version = version_of(locked(question_set), None, file.name)
        stored = _wordings_of(version)
        fresh: list[PromptItem] = []
        for item in file.items:
            _check_lengths(problems, item)
            if item.id not in stored:
                fresh.append(item)
            elif stored[item.id] != _wordings(item):
                problems.add_code(
                    item.line, "id", "wordings_differ", version=str(version), item=item.id
                )
        problems.raise_if_any()
        notes = [f"A comma was added behind line {one.after_line}." for one in file.repairs]
        if fresh and version.is_published:
            version = version.copy()
            notes.append(
                f"Version {version.number} begins as a copy of version {version.number - 1}, "
                "which is published and keeps its answers."
            )
        start = next_position(version.questions.values_list("position", flat=True))
        questions = [
            Question(
                version=version,
                external_id=item.id,
                position=position,
                text=item.variants[0].prompt,
                language=item.variants[0].language,
                category=item.variation,
            )
            for position, item in enumerate(fresh, start)
        ]
        Question.objects.bulk_create(questions, batch_size=BATCH)
        Variant.objects.bulk_create(
            (
                _variant(question, item, place)
                for question, item in zip(questions, fresh, strict=True)
                for place in range(1, len(item.variants))
            ),
            batch_size=BATCH,
        )
        keep_questions(
            version,
            file,
            [item.id for item in fresh],
            n_rows=len(file.items),
            imported_by=imported_by,
        )
    return _report(file, question_set, version.number, len(fresh), notes, dry_run)


def _wordings_of(version: QuestionSetVersion) -> dict[str, list[tuple[str, str]]]:
    """Return the wordings of each question of a version, by its id: language and text."""
    found: dict[str, list[tuple[str, str]]] = {}
    for question in Question.objects.filter(version=version):
        found[question.external_id] = [(question.language, question.text)]
    rows = Variant.objects.filter(question__version=version).select_related("question")
    for row in rows.order_by("position", "pk"):
        found[row.question.external_id].append((row.language, row.text))
    return found


def _wordings(item: PromptItem) -> list[tuple[str, str]]:
    return [(one.language, one.prompt) for one in item.variants]


def _variant(question: Question, item: PromptItem, place: int) -> Variant:
    one = item.variants[place]
    translated = one.language != item.variants[0].language
    return Variant(
        question=question,
        external_id=str(place + 1),
        position=place,
        text=one.prompt,
        language=one.language,
        kind=Variant.Kind.TRANSLATION if translated else Variant.Kind.REWORDING,
    )


def _check_lengths(problems: Problems, item: PromptItem) -> None:
    for name, text, most in (
        ("id", item.id, LONGEST_ID),
        ("variation", item.variation, LONGEST_CATEGORY),
        *(("language", language, LONGEST_LANGUAGE) for language in item.languages),
    ):
        if len(text) > most:
            problems.add_code(
                item.line, name, "item_value_long", name=name, item=item.id[:40], most=most
            )


def _report(
    file: PromptFile,
    question_set: QuestionSet,
    version: int,
    n_new: int,
    notes: list[str],
    dry_run: bool,
) -> ImportReport:
    return ImportReport(
        what="items",
        file=file.name,
        sha256=file.sha256,
        question_set=question_set.name,
        version=version,
        n_rows=len(file.items),
        n_new=n_new,
        n_unchanged=len(file.items) - n_new,
        n_repeated=0,
        n_completed=0,
        notes=notes,
        warnings=list(file.warnings),
        dry_run=dry_run,
    )
