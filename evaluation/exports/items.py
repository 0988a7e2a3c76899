"""Questions and passages of a version, as their imports take them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.db.models import Count, Sum, Value
from django.db.models.functions import Coalesce, Length

from annotations.exchange.facts import written_object
from annotations.exchange.header import OF_PASSAGES, OF_QUESTIONS
from annotations.models import Passage, Question, QuestionSetVersion
from annotations.models.access import Anybody
from evaluation.exports.table import AT_ONCE, Export, Row, seen_by

FORMAT = 1
ANSWERABLE = {None: None, True: "yes", False: "no"}


def questions(version: QuestionSetVersion, user: Anybody | None = None) -> Export:
    """The questions in their order; the text is empty where only the id is known."""
    rows = seen_by(user, Question.objects.all()).filter(version=version)
    columns = (
        *("external_id", "text", "passage__external_id", "kind", "choices"),
        *("accepted_answers", "answerable", "category", "language"),
        *("role", "feedback", "max_characters", "metadata"),
    )
    header = ("question", "text", "passage", *columns[3:], OF_QUESTIONS)

    def read() -> Iterator[Row]:
        found = rows.order_by("position", "pk").values_list(*columns)
        for name, text, passage, kind, choices, accepted, answerable, *about in found.iterator(
            AT_ONCE
        ):
            *about, metadata = about
            yield (
                *(name, text, passage, kind, _listed(choices), _listed(accepted)),
                *(ANSWERABLE[answerable], *about, written_object(metadata), FORMAT),
            )

    return Export("questions", version, header, read, *_size(rows))


def passages(version: QuestionSetVersion, user: Anybody | None = None) -> Export:
    """The passages in their order; of an image what it shows in words, not the image."""
    rows = seen_by(user, Passage.objects.all()).filter(version=version)
    beside = ("language", "format", "image_alt")
    header = ("passage", "title", "text", *beside, "metadata", OF_PASSAGES)

    def read() -> Iterator[Row]:
        columns = ("external_id", "title", "text", *beside, "metadata")
        found = rows.order_by("position", "pk").values_list(*columns)
        for *cells, metadata in found.iterator(100):
            yield (*cells, written_object(metadata), FORMAT)

    return Export("passages", version, header, read, *_size(rows))


def _size(rows: Any) -> tuple[int, int]:
    found = rows.aggregate(n=Count("pk"), length=Coalesce(Sum(Length("text")), Value(0)))
    return found["n"], found["length"]


def _listed(values: list[Any]) -> str | None:
    return json.dumps(values, ensure_ascii=False) if values else None
