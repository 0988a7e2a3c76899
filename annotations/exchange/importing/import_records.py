"""Record which import created which questions, passages and model answers, so it can be undone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

from annotations.exchange.importing.target import BATCH, split_in_chunks
from annotations.models import Import, Passage, Question, QuestionSetVersion

EDITABLE_FIELDS: Final[dict[type[Passage] | type[Question], tuple[str, ...]]] = {
    Passage: (
        *("external_id", "title", "text", "language", "metadata", "format", "image_id"),
        "image_alt",
    ),
    Question: (
        *("external_id", "text", "passage_id", "kind", "role", "choices", "accepted_answers"),
        *("feedback", "max_characters", "answerable", "category", "language", "metadata"),
    ),
}
"""The fields of an item that a user can change; its position is not one of them."""

RELATED_ROWS: Final[dict[type[Passage] | type[Question], tuple[str, ...]]] = {
    Passage: ("translations",),
    Question: ("translations", "variants"),
}
"""The related rows that were imported with an item and are part of its hash."""


def create_import(
    what: Import.What,
    version: QuestionSetVersion,
    file: Any,
    *,
    imported_by: int | None,
    **counts: Any,
) -> Import | None:
    """Create and return the `Import` record of a file; None if the file brought nothing new.

    `file` has its `name` and `sha256`. The caller holds the transaction.
    """
    # Such an import has nothing that could be undone.
    if not counts["n_new"]:
        return None
    return Import.objects.create(
        what=what,
        question_set_id=version.question_set_id,
        version=version,
        number=version.number,
        file=file.name[:300],
        sha256=file.sha256,
        imported_by_id=imported_by,
        **counts,
    )


def record_question_import(
    version: QuestionSetVersion,
    file: Any,
    made: Sequence[str],
    *,
    n_rows: int,
    n_completed: int = 0,
    imported_by: int | None,
) -> None:
    """Create the `Import` record of a file of questions and link the questions it created.

    `made` are their ids, `n_completed` counts those that only got their text.
    """
    n_new = len(made) + n_completed
    new_import = create_import(
        Import.What.QUESTIONS,
        version,
        file,
        imported_by=imported_by,
        n_new=n_new,
        n_unchanged=n_rows - n_new,
        n_questions=len(made),
    )
    if new_import:
        mark_imported_items(Question, new_import, made)


def mark_imported_items(
    model: type[Passage] | type[Question], new_import: Import, ids: Iterable[str]
) -> None:
    """Store in passages or questions which import created them, and a hash of their content.

    The items are read from the database again: a later comparison uses the same values.
    """
    for chunk in split_in_chunks(ids, BATCH):
        rows = _get_item_manager(model).filter(version=new_import.version_id, external_id__in=chunk)
        # One query for each kind of related row, and not for each item.
        items = list(rows.prefetch_related(*RELATED_ROWS[model]))
        for item in items:
            item.brought_by, item.brought_as = new_import, hash_item(item)
        _get_item_manager(model).bulk_update(items, ["brought_by", "brought_as"], batch_size=BATCH)


def hash_item(item: Passage | Question) -> str:
    """Return a hash of the content of a question or passage in all languages and wordings.

    It changes when any of that does.
    """
    fields = {name: getattr(item, name) for name in EDITABLE_FIELDS[type(item)]}
    languages = {row.language: row.texts for row in item.translations.all()}
    wordings = {} if isinstance(item, Passage) else _list_wordings(item)
    # Sorted: PostgreSQL returns the keys of a JSON column in an order of its own.
    text = json.dumps([fields, languages, wordings], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _list_wordings(question: Question) -> dict[str, list[Any]]:
    """Return [kind, text, language, metadata] of each variant of a question, by variant id."""
    return {
        variant.external_id: [variant.kind, variant.text, variant.language, variant.metadata]
        for variant in question.variants.all()
    }


def _get_item_manager(model: type[Passage] | type[Question]) -> Any:
    """Return the default manager of the model `Passage` or `Question`."""
    return model._default_manager
