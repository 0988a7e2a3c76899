"""Report on the imports of a question set, with the number of rows left of each."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import Count, F, Q, QuerySet

from annotations.models import (
    Import,
    JoinedFacts,
    Passage,
    Question,
    QuestionSet,
    Response,
    Submission,
)
from annotations.web.paging import Page
from evaluation.models import LLMResponse, Removal


@dataclass(frozen=True)
class ImportRow:
    """Row of the list of imports: one import, with its numbers of rows and its state.

    Attributes
    ----------
    imported_by : a user's name; "" for an import by the command line.
    n_new : rows of the file with new content. n_unchanged : rows that repeated existing content.
    n_left : number of rows created by the import that still exist. For demographic data, the three
        numbers count workers.
    state : kept, going (is being undone) or undone.
    what : answers, model_answers, questions, passages or demographics.
    n_passages, n_models : numbers of passages and models that the import created.
    """

    id: UUID
    file: str
    sha256: str
    version: int
    created_at: datetime
    imported_by: str
    n_new: int
    n_unchanged: int
    n_left: int
    n_questions: int
    n_workers: int
    state: str
    undone_at: datetime | None
    what: str
    n_passages: int
    n_models: int


_IN_ITS_VERSION = Q(version=F("brought_by__version"))
BROUGHT: Final[dict[str, QuerySet[Any, Any]]] = {
    Import.What.ANSWERS: Response.objects.all(),
    Import.What.MODEL_ANSWERS: LLMResponse.objects.all(),
    # A later version has copies of them.
    Import.What.QUESTIONS: Question.objects.filter(_IN_ITS_VERSION),
    Import.What.PASSAGES: Passage.objects.filter(_IN_ITS_VERSION),
    Import.What.DEMOGRAPHICS: JoinedFacts.objects.all(),
}
"""The rows that an import of each kind creates."""
_COUNTED: Final = {Import.What.DEMOGRAPHICS: "response__submission"}
"""What is counted in place of the rows themselves: the workers of the facts."""


def select_imports(question_set: QuestionSet) -> QuerySet[Import]:
    """Return the queryset of a question set's imports, with the users who imported the files."""
    return Import.objects.filter(question_set=question_set).select_related("imported_by")


def build_import_rows(page: Page[Import]) -> list[ImportRow]:
    """Return a row for each import of a page, by a constant number of queries."""
    left: dict[int, int] = {}
    for what, of_what in BROUGHT.items():
        if keys := [one.pk for one in page if one.what == what]:
            rows = of_what.filter(brought_by__in=keys).order_by()
            counted = rows.values("brought_by").annotate(
                n=Count(_COUNTED.get(Import.What(what), "pk"), distinct=True)
            )
            # One query for each kind of file on the page, not one for each file.
            left |= dict(counted.values_list("brought_by", "n"))
    going = set(
        Removal.objects.filter(
            kind="import", finished_at=None, target__in=[one.pk for one in page]
        ).values_list("target", flat=True)
    )
    return [
        ImportRow(
            id=one.public_id,
            file=one.file,
            sha256=one.sha256,
            version=one.number,
            created_at=one.created_at,
            imported_by=one.imported_by.get_username() if one.imported_by else "",
            n_new=one.n_new,
            n_unchanged=one.n_unchanged,
            n_left=left.get(one.pk, 0),
            n_questions=one.n_questions,
            n_workers=one.n_workers,
            state="undone" if one.undone_at else "going" if one.pk in going else "kept",
            undone_at=one.undone_at,
            what=one.what,
            n_passages=one.n_passages,
            n_models=one.n_models,
        )
        for one in page
    ]


def count_answers_without_import(question_set: QuestionSet) -> int:
    """Return the number of a set's imported answers without a recorded import, by old versions."""
    return Response.objects.filter(
        submission__version__question_set=question_set,
        submission__source=Submission.Source.IMPORTED,
        brought_by=None,
    ).count()
