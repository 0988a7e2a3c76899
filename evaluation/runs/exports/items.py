"""Export the questions and passages of a version, in the format that their imports read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.db.models import Count, Sum, Value
from django.db.models.functions import Coalesce, Length

from annotations.exchange.facts import format_object
from annotations.exchange.header import OF_PASSAGES, OF_QUESTIONS
from annotations.exchange.reading.questions import OF_PASSAGE, OF_QUESTION
from annotations.models import Passage, Question, QuestionSetVersion
from annotations.models.access import AnyUser
from evaluation.runs.exports.table import AT_ONCE, Export, Row, seen_by

FORMAT = 1
ANSWERABLE = {None: None, True: "yes", False: "no"}


def questions(version: QuestionSetVersion, user: AnyUser | None = None) -> Export:
    """Return the table of a version's questions, one row each, in their order."""
    rows = seen_by(user, Question.objects.all()).filter(version=version)
    columns = (
        *("external_id", "text", "passage__external_id", "kind", "choices"),
        *("accepted_answers", "answerable", "category", "language"),
        *("role", "feedback", "max_characters", "metadata"),
    )
    header: tuple[str, ...] = ("question", "text", "passage", *columns[3:], OF_QUESTIONS)
    header += _further(version, OF_QUESTION)

    def read() -> Iterator[Row]:
        said = _said(version, "question_id")
        found = rows.order_by("position", "pk").values_list("pk", *columns)
        for key, name, text, passage, kind, choices, accepted, answerable, *about in found.iterator(
            AT_ONCE
        ):
            *about, metadata = about
            yield (
                *(name, text, passage, kind, _listed(choices), _listed(accepted)),
                *(ANSWERABLE[answerable], *about, format_object(metadata), FORMAT),
                *_cells(version, OF_QUESTION, said.get(key, {})),
            )

    return Export("questions", version, header, read, *_size(rows))


def passages(version: QuestionSetVersion, user: AnyUser | None = None) -> Export:
    """Return the table of a version's passages, one row each; images by their description."""
    rows = seen_by(user, Passage.objects.all()).filter(version=version)
    beside = ("language", "format", "image_alt")
    header: tuple[str, ...] = ("passage", "title", "text", *beside, "metadata", OF_PASSAGES)
    header += _further(version, OF_PASSAGE)

    def read() -> Iterator[Row]:
        columns = ("pk", "external_id", "title", "text", *beside, "metadata")
        said = _said(version, "passage_id")
        found = rows.order_by("position", "pk").values_list(*columns)
        for key, *cells, metadata in found.iterator(100):
            more = _cells(version, OF_PASSAGE, said.get(key, {}))
            yield (*cells, format_object(metadata), FORMAT, *more)

    return Export("passages", version, header, read, *_size(rows))


def _further(version: QuestionSetVersion, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the column names of further languages, such as text.ar; none for one language."""
    return tuple(f"{name}.{language}" for language in version.languages for name in names)


def _said(version: QuestionSetVersion, of: str) -> dict[int, dict[str, dict[str, Any]]]:
    found: dict[int, dict[str, dict[str, Any]]] = {}
    rows = version.translations.filter(**{f"{of}__isnull": False}) if version.languages else []
    for row in rows:
        found.setdefault(getattr(row, of), {})[row.language] = row.texts
    return found


def _cells(
    version: QuestionSetVersion, names: tuple[str, ...], said: dict[str, dict[str, Any]]
) -> Iterator[str | None]:
    for language in version.languages:
        for name in names:
            text = said.get(language, {}).get(name)
            yield _listed(text) if isinstance(text, list) else text or None


def _size(rows: Any) -> tuple[int, int]:
    found = rows.aggregate(n=Count("pk"), length=Coalesce(Sum(Length("text")), Value(0)))
    return found["n"], found["length"]


def _listed(values: list[Any]) -> str | None:
    return json.dumps(values, ensure_ascii=False) if values else None
