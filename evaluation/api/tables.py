"""REST API for the tables of a run of any type, as files."""

from __future__ import annotations

from typing import Any

from django.http import Http404, StreamingHttpResponse
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.exchange.writing.formats import CONTENT_TYPES, FORMATS
from annotations.web.downloads import download
from annotations.web.query import parse_choice
from annotations.web.rest.negotiation import AnyForm
from evaluation.runs.reports.run_titles import build_run_file_name
from evaluation.runs.rest.finished_runs import FORMAT, DoneRunViewSet
from evaluation.runs.run_types import RunSummary
from evaluation.runs.run_types.data_sheets import FORMS, build_workbook, build_zip


class TableSerializer(serializers.Serializer[Any]):
    """A table of a run: its name, title and URL."""

    name = serializers.CharField()
    url = serializers.URLField(help_text="Address of its rows.")


class TableListSerializer(serializers.Serializer[Any]):
    """List of the tables that the run's type declares."""

    results = TableSerializer(many=True)


@extend_schema(tags=["results"])
class TableViewSet(DoneRunViewSet):
    """Result tables of a run of any type."""

    content_negotiation_class = AnyForm

    @extend_schema(
        operation_id="results_tables",
        summary="List the tables of a run of any kind",
        responses=TableListSerializer,
    )
    def tables(self, request: Request, run_id: Any) -> Response:
        """Return the names and URLs of a run's tables."""
        run = self.done(request, run_id, summary=RunSummary)
        found = [
            {
                "name": name,
                "url": request.build_absolute_uri(
                    reverse("api:results-table", args=[run.public_id, name])
                ),
            }
            for name in self.kind_of(run).tables
        ]
        return Response({"results": found})

    @extend_schema(
        operation_id="results_data",
        summary="Take away all that a run of any kind found",
        description="Every table, the run's own summary and signature, and what columns hold: a "
        "ZIP of CSV files, or a workbook with a sheet for each table.",
        parameters=[OpenApiParameter("format", str, enum=list(FORMS), default="zip")],
        responses={
            (200, CONTENT_TYPES[form]): {"type": "string", "format": "binary"} for form in FORMS
        },
    )
    def data(self, request: Request, run_id: Any) -> StreamingHttpResponse:
        """Return all tables of a run in one file."""
        run = self.done(request, run_id, summary=RunSummary)
        kind = self.kind_of(run)
        form = parse_choice(request.query_params, "format", FORMS, "zip")
        chunks = build_zip(kind, run) if form == "zip" else build_workbook(kind, run)
        return download(chunks, build_run_file_name(run, "results"), form)

    @extend_schema(
        operation_id="results_table",
        summary="Take away a table of a run of any kind",
        parameters=[OpenApiParameter("name", str, OpenApiParameter.PATH), FORMAT],
        responses={
            (200, kind.partition(";")[0]): {"type": "string", "format": "binary"}
            for kind in map(CONTENT_TYPES.__getitem__, FORMATS)
        },
    )
    def table(self, request: Request, run_id: Any, name: str) -> StreamingHttpResponse:
        """Return one table of a run, with every row."""
        run = self.done(request, run_id, summary=RunSummary)
        table_of = self.kind_of(run).tables.get(name)
        if table_of is None:
            raise Http404
        form = parse_choice(request.query_params, "format", FORMATS, "jsonl")
        table = table_of(run)
        chunks = FORMATS[form](table.header, table.rows)
        return download(chunks, build_run_file_name(run, name), form)
