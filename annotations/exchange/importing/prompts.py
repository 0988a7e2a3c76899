"""Import prompts, each in several wordings, from a file into a question set."""

from __future__ import annotations

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
from annotations.exchange.reading.prompts import PromptFile, PromptItem, read_prompts
from annotations.exchange.reading.source import Readable
from annotations.models import Question, QuestionSet, QuestionSetVersion, Variant

LONGEST_ID, LONGEST_CATEGORY, LONGEST_LANGUAGE = 255, 200, 35


def import_prompts(
    question_set: QuestionSet,
    path: Readable,
    *,
    repair: bool = False,
    dry_run: bool = False,
    imported_by: int | None = None,
) -> ImportReport:
    """Add the items of a file of prompts as questions to a question set's draft; return a report.

    The first wording of an item is a question, the others are its variants, each with its
    language; the kind of variation is the question's category. If the latest version is published
    and the file has items that it does not have, the next version is opened as its copy.

    Raises `InputError`: see `read_prompts`; also for a stored item with other wordings.
    The `Import` of the new items can undo them; `imported_by` is the key of its user.
    """
    file = read_prompts(path, repair=repair)
    problems = Problems(file.name)
    with open_transaction(dry_run):
        version = get_or_create_version(lock_question_set(question_set), None, file.name)
        stored_wordings = _load_stored_wordings(version)
        new_items: list[PromptItem] = []
        for item in file.items:
            _check_lengths(problems, item)
            if item.id not in stored_wordings:
                new_items.append(item)
            elif stored_wordings[item.id] != _list_item_wordings(item):
                problems.add_code(
                    item.line, "id", "wordings_differ", version=str(version), item=item.id
                )
        problems.raise_if_any()
        notes = [f"A comma was added behind line {comma.after_line}." for comma in file.repairs]
        if new_items and version.is_published:
            version = version.copy_as_draft()
            notes.append(
                f"Version {version.number} begins as a copy of version {version.number - 1}, "
                "which is published and keeps its answers."
            )
        # Of the version that gets the questions, which may be the copy.
        start = find_next_position(version.questions.values_list("position", flat=True))
        questions = [
            Question(
                version=version,
                external_id=item.id,
                position=position,
                text=item.variants[0].prompt,
                language=item.variants[0].language,
                category=item.variation,
            )
            for position, item in enumerate(new_items, start)
        ]
        # Sets the keys of the questions, which their variants need.
        Question.objects.bulk_create(questions, batch_size=BATCH)
        Variant.objects.bulk_create(
            (
                _build_variant(question, item, position_in_item)
                for question, item in zip(questions, new_items, strict=True)
                for position_in_item in range(1, len(item.variants))
            ),
            batch_size=BATCH,
        )
        record_question_import(
            version,
            file,
            [item.id for item in new_items],
            n_rows=len(file.items),
            imported_by=imported_by,
        )
    return _build_import_report(file, question_set, version.number, len(new_items), notes, dry_run)


def _load_stored_wordings(version: QuestionSetVersion) -> dict[str, list[tuple[str, str]]]:
    """Return the stored (language, text) wordings of each question, by question id."""
    wordings: dict[str, list[tuple[str, str]]] = {}
    for question in Question.objects.filter(version=version):
        wordings[question.external_id] = [(question.language, question.text)]
    rows = Variant.objects.filter(question__version=version).select_related("question")
    # In their order, because the wordings of an item are compared as a list.
    for row in rows.order_by("position", "pk"):
        wordings[row.question.external_id].append((row.language, row.text))
    return wordings


def _list_item_wordings(item: PromptItem) -> list[tuple[str, str]]:
    """Return the (language, text) wordings of an item in a file."""
    return [(variant.language, variant.prompt) for variant in item.variants]


def _build_variant(question: Question, item: PromptItem, position: int) -> Variant:
    """Return the unsaved `Variant` of a question for the wording at `position` in its item."""
    wording = item.variants[position]
    translated = wording.language != item.variants[0].language
    return Variant(
        question=question,
        external_id=str(position + 1),
        position=position,
        text=wording.prompt,
        language=wording.language,
        kind=Variant.Kind.TRANSLATION if translated else Variant.Kind.REWORDING,
    )


def _check_lengths(problems: Problems, item: PromptItem) -> None:
    """Record a problem for an id, variation or language that is too long for the database."""
    for name, text, most in (
        ("id", item.id, LONGEST_ID),
        ("variation", item.variation, LONGEST_CATEGORY),
        *(("language", language, LONGEST_LANGUAGE) for language in item.languages),
    ):
        if len(text) > most:
            problems.add_code(
                item.line, name, "item_value_long", name=name, item=item.id[:40], most=most
            )


def _build_import_report(
    file: PromptFile,
    question_set: QuestionSet,
    version: int,
    n_new: int,
    notes: list[str],
    dry_run: bool,
) -> ImportReport:
    """Return the report of an import of prompts, with its row counts."""
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
