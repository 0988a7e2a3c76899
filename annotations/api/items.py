"""Base class of the REST endpoints for questions and passages: list, read, import, change."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import transaction
from django.db.models import QuerySet
from django.utils.text import capfirst
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.exchange.importing.target import lock_question_set
from annotations.exchange.problems import InputError
from annotations.exchange.reading.source import make_rows_source
from annotations.models import Passage, Question, QuestionSet, QuestionSetVersion
from annotations.web.paging import POSITION
from annotations.web.rest.bulk import BulkViewSet, ImportOptionsSerializer, read_import_options
from annotations.web.rest.idempotency import make_repeatable
from annotations.web.rest.paging import build_page_body, load_page
from annotations.web.rest.problems import ApiProblem, Fault
from annotations.web.rest.versions import find_requested_version
from annotations.web.scope import get_editable, get_user_id, get_visible_or_404


class ItemViewSet(BulkViewSet):
    """Base class of the API endpoints for the questions or the passages of a version.

    Subclasses set `model`, `row_serializer` (lists) and `load` (imports rows).
    """

    model: ClassVar[type[Question] | type[Passage]]
    row_serializer: ClassVar[Any]
    load: ClassVar[Any]

    def build_queryset(self) -> QuerySet[Any]:
        """Return all questions (or passages) with the related data that the serializers need."""
        return self.model.objects.all()

    def list(self, request: Request, set_id: Any) -> Response:
        """Return a page of the version's questions (or passages) with text beginnings."""
        question_set = get_visible_or_404(request, QuestionSet.objects.all(), set_id)
        version = find_requested_version(request, question_set)
        rows = self.build_queryset().select_related(None).filter(version=version)
        page = load_page(request, rows.defer("text", "metadata"), POSITION)
        return Response(
            build_page_body(request, self.row_serializer(page.rows, many=True).data, page.next)
        )

    def retrieve(self, request: Request, set_id: Any, **ids: Any) -> Response:
        """Return one question (or passage) with its full text."""
        return Response(self.get_serializer(self._load_item(request, set_id)).data)

    @make_repeatable
    def create(self, request: Request, set_id: Any) -> Response:
        """Import the questions (or passages) in the request body: all rows or none."""
        question_set = get_editable(request, QuestionSet.objects.all(), set_id)
        options = read_import_options(request, ImportOptionsSerializer)
        options["imported_by"] = get_user_id(request)
        return self.import_rows(type(self).load, question_set, options)

    def partial_update(self, request: Request, set_id: Any, **ids: Any) -> Response:
        """Change a question (or passage) of a draft; the checks of the file import apply."""
        question_set = get_editable(request, QuestionSet.objects.all(), set_id)
        with transaction.atomic():
            # The lock keeps the version a draft until the change is stored.
            lock_question_set(question_set)
            row = self._load_item(request, set_id)
            if row.version.is_published:
                raise ApiProblem(
                    "conflict",
                    f"Version {row.version.number} is published and keeps its words; new rows open "
                    "the next version.",
                )
            checked = self.validate_body(self.get_serializer_class(), partial=True)
            fields = checked.fields
            # The raw values, because the reader of files converts them itself.
            sent = {k: v for k, v in checked.initial_data.items() if not fields[k].read_only}
            if sent:
                self._store_changes(row, sent)
        return Response(self.get_serializer(self._load_item(request, set_id)).data)

    def build_file_row(self, row: Any) -> dict[str, Any]:
        """Return a stored question (or passage) with the column names of an import file."""
        raise NotImplementedError

    def build_model_fields(self, record: Any, version: QuestionSetVersion) -> dict[str, Any]:
        """Return the model fields for an import record that the file reader has checked."""
        raise NotImplementedError

    def _store_changes(self, row: Any, sent: dict[str, Any]) -> None:
        """Store a row with the changed values, after the file reader has checked the whole row.

        Raises `ApiProblem` with the reader's problems.
        """
        merged = {**self.build_file_row(row), **sent}
        try:
            (record,) = self.reader(make_rows_source("row", [merged])).records
        except InputError as error:
            faults = [
                Fault(
                    capfirst(problem.reason) + ".",
                    pointer=f"#/{problem.column}" if problem.column else "#",
                    remedy=problem.remedy,
                    code=problem.code,
                )
                for problem in error.problems
            ]
            raise ApiProblem("invalid", faults[0].detail, faults) from error
        for name, value in self.build_model_fields(record, row.version).items():
            setattr(row, name, value)
        row.save()

    def _load_item(self, request: Request, set_id: Any) -> Any:
        """Return the question (or passage) named by the URL; raise `Http404` if unknown."""
        rows = self.build_queryset().filter(version__question_set__public_id=set_id)
        return get_visible_or_404(
            request, rows.select_related("version"), self.kwargs[self.lookup_url_kwarg]
        )
