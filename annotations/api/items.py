"""What questions and passages have in common: lists by position, rows in bulk, changes."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import transaction
from django.db.models import QuerySet
from django.utils.text import capfirst
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.exchange.importing.target import locked
from annotations.exchange.problems import InputError
from annotations.exchange.reading.source import rows_source
from annotations.models import Passage, Question, QuestionSet, QuestionSetVersion
from annotations.web.paging import POSITION
from annotations.web.rest.bulk import BulkViewSet, ImportOptionsSerializer, options_of
from annotations.web.rest.once import repeatable
from annotations.web.rest.paging import page_body, page_of
from annotations.web.rest.problems import ApiProblem, Fault
from annotations.web.rest.versions import version_shown
from annotations.web.scope import editable, user_id, visible_or_404


class ItemViewSet(BulkViewSet):
    """Questions or passages of a version."""

    model: ClassVar[type[Question] | type[Passage]]
    row_serializer: ClassVar[Any]
    load: ClassVar[Any]

    def rows(self) -> QuerySet[Any]:
        """Return all rows as they are shown."""
        return self.model.objects.all()

    def list(self, request: Request, set_id: Any) -> Response:
        """List them in their order, with the beginnings of their texts."""
        question_set = visible_or_404(request, QuestionSet.objects.all(), set_id)
        version = version_shown(request, question_set)
        rows = self.rows().select_related(None).filter(version=version)
        page = page_of(request, rows.defer("text", "metadata"), POSITION)
        return Response(
            page_body(request, self.row_serializer(page.rows, many=True).data, page.next)
        )

    def retrieve(self, request: Request, set_id: Any, **ids: Any) -> Response:
        """Read one in full."""
        return Response(self.get_serializer(self._found(request, set_id)).data)

    @repeatable
    def create(self, request: Request, set_id: Any) -> Response:
        """Add rows."""
        question_set = editable(request, QuestionSet.objects.all(), set_id)
        options = options_of(request, ImportOptionsSerializer)
        options["imported_by"] = user_id(request)
        return self.taken_in(type(self).load, question_set, options)

    def partial_update(self, request: Request, set_id: Any, **ids: Any) -> Response:
        """Change one of a draft, by the rules for rows."""
        question_set = editable(request, QuestionSet.objects.all(), set_id)
        with transaction.atomic():
            locked(question_set)
            row = self._found(request, set_id)
            if row.version.is_published:
                raise ApiProblem(
                    "conflict",
                    f"Version {row.version.number} is published and keeps its words; new rows open "
                    "the next version.",
                )
            checked = self.checked(self.get_serializer_class(), partial=True)
            fields = checked.fields
            given = {k: v for k, v in checked.initial_data.items() if not fields[k].read_only}
            if given:
                self._change(row, given)
        return Response(self.get_serializer(self._found(request, set_id)).data)

    def as_row(self, row: Any) -> dict[str, Any]:
        """Return a stored row as it would be sent."""
        raise NotImplementedError

    def fields_of(self, record: Any, version: QuestionSetVersion) -> dict[str, Any]:
        """Return the fields of a checked record."""
        raise NotImplementedError

    def _change(self, row: Any, given: dict[str, Any]) -> None:
        """Check the row as it would be by the stage that reads files, and store it."""
        sent = {**self.as_row(row), **given}
        try:
            (record,) = self.reader(rows_source("row", [sent])).records
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
        for name, value in self.fields_of(record, row.version).items():
            setattr(row, name, value)
        row.save()

    def _found(self, request: Request, set_id: Any) -> Any:
        rows = self.rows().filter(version__question_set__public_id=set_id)
        return visible_or_404(
            request, rows.select_related("version"), self.kwargs[self.lookup_url_kwarg]
        )
