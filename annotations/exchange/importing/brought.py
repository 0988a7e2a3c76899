"""What keeps an import of questions, passages or models' answers, so that it can be undone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

from annotations.exchange.importing.target import BATCH, chunks
from annotations.models import Import, Passage, Question, QuestionSetVersion

SAID: Final[dict[type[Passage] | type[Question], tuple[str, ...]]] = {
    Passage: (
        *("external_id", "title", "text", "language", "metadata", "format", "image_id"),
        "image_alt",
    ),
    Question: (
        *("external_id", "text", "passage_id", "kind", "role", "choices", "accepted_answers"),
        *("feedback", "max_characters", "answerable", "category", "language", "metadata"),
    ),
}
"""What somebody can change of an item; its place in the order is none of it."""

BESIDE: Final[dict[type[Passage] | type[Question], tuple[str, ...]]] = {
    Passage: ("translations",),
    Question: ("translations", "variants"),
}
"""What hangs on an item, came with it and is in its mark."""


def keep_import(
    what: Import.What,
    version: QuestionSetVersion,
    file: Any,
    *,
    imported_by: int | None,
    **counts: Any,
) -> Import | None:
    """Keep that a file came in, and by whom; None where it brought nothing (`n_new` is 0).

    `file` has its `name` and `sha256`. The caller holds the transaction.
    """
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


def keep_questions(
    version: QuestionSetVersion,
    file: Any,
    made: Sequence[str],
    *,
    n_rows: int,
    n_completed: int = 0,
    imported_by: int | None,
) -> None:
    """Keep a file of questions: the ids of those that it `made`, how many it completed."""
    n_new = len(made) + n_completed
    brought = keep_import(
        Import.What.QUESTIONS,
        version,
        file,
        imported_by=imported_by,
        n_new=n_new,
        n_unchanged=n_rows - n_new,
        n_questions=len(made),
    )
    if brought:
        mark_items(Question, brought, made)


def mark_items(model: type[Passage] | type[Question], brought: Import, ids: Iterable[str]) -> None:
    """Let the items of these ids say which import made them, and as what it left them.

    They are read once more: what a database gives back is what is compared later on.
    """
    for some in chunks(ids, BATCH):
        rows = _items(model).filter(version=brought.version_id, external_id__in=some)
        items = list(rows.prefetch_related(*BESIDE[model]))
        for item in items:
            item.brought_by, item.brought_as = brought, mark_of(item)
        _items(model).bulk_update(items, ["brought_by", "brought_as"], batch_size=BATCH)


def mark_of(item: Passage | Question) -> str:
    """Return a mark of what an item says, in all its languages and other wordings.

    It changes when any of that does.
    """
    said = {name: getattr(item, name) for name in SAID[type(item)]}
    languages = {row.language: row.texts for row in item.translations.all()}
    wordings = {} if isinstance(item, Passage) else _wordings(item)
    text = json.dumps([said, languages, wordings], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _wordings(question: Question) -> dict[str, list[Any]]:
    return {
        one.external_id: [one.kind, one.text, one.language, one.metadata]
        for one in question.variants.all()
    }


def _items(model: type[Passage] | type[Question]) -> Any:
    return model._default_manager
