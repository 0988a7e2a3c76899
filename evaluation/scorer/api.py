"""REST API of the export of a run as a scorer."""

from __future__ import annotations

from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.web.downloads import build_download_response
from annotations.web.rest.base import StrictSerializer
from annotations.web.rest.bulk import read_import_options
from annotations.web.rest.problems import ApiProblem, build_parameter_problem
from annotations.web.rest.serializers import build_serializer
from evaluation.grading.results.pages import GradingViewSet
from evaluation.models import Run
from evaluation.runs.reports.about import build_run_file_name
from evaluation.scorer.preview import ScorerPreview, build_preview
from evaluation.scorer.run import FEWEST_ANSWERS, NotExportableError, ScorerContent, ScorerOptions
from evaluation.scorer.storage import load_run_content, refuse_large_run
from evaluation.scorer.views import LONGEST_BASIS, MOST_ANSWERS_REQUIRED
from evaluation.scorer.writing import (
    FORMATS,
    LONGEST_NAME,
    build_export_files,
    check_task_name,
    iterate_zip_chunks,
    make_task_name,
    parse_formats,
)

ALL_FORMATS = ",".join(FORMATS)
OF_PARAMETERS = {
    "format_unknown": "formats",
    "name_invalid": "name",
    "consent_basis_missing": "consent_basis",
}
"""Parameter of the address that a refusal belongs to, by code."""
PreviewSerializer = build_serializer(ScorerPreview)


class ScorerOptionsSerializer(StrictSerializer):
    """Options of an export as query parameters: what the exported scorer includes."""

    formats = serializers.CharField(
        default=ALL_FORMATS,
        max_length=200,
        help_text=f"Of {', '.join(FORMATS)}, separated by commas.",
    )
    name = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=LONGEST_NAME,
        help_text="Of the task; by default from the name of the question set.",
    )
    min_answers = serializers.IntegerField(
        default=FEWEST_ANSWERS,
        min_value=1,
        max_value=MOST_ANSWERS_REQUIRED,
        help_text="Questions with fewer answers are left out.",
    )
    with_answers = serializers.BooleanField(
        default=False, help_text="Include the consensus answers; needs `consent_basis`."
    )
    consent_basis = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=LONGEST_BASIS,
        help_text="Why workers' answers may be published.",
    )


PARAMETERS = [ScorerOptionsSerializer]


class ScorerViewSet(GradingViewSet):
    """Export of a run's consensus as a scorer of language models' answers."""

    @extend_schema(
        operation_id="exports_scorer_preview",
        tags=["exports"],
        summary="Preview the export of a run as a scorer",
        description="What the export contains and leaves out, before it is downloaded.",
        parameters=PARAMETERS,
        responses=PreviewSerializer,
    )
    def preview(self, request: Request, run_id: Any) -> Response:
        """Return what the export contains."""
        _, _, content = self._load_content(request, run_id)
        return Response(PreviewSerializer(build_preview(content)).data)

    @extend_schema(
        operation_id="exports_scorer",
        tags=["exports"],
        summary="Take away the consensus as a scorer",
        description="A ZIP with an Inspect task, an lm-evaluation-harness task, a Hugging Face "
        "dataset and assertions for promptfoo and pytest. It names no workers.",
        parameters=PARAMETERS,
        responses={(200, "application/zip"): {"type": "string", "format": "binary"}},
    )
    def scorer(self, request: Request, run_id: Any) -> StreamingHttpResponse:
        """Send the export as a ZIP file."""
        run, formats, content = self._load_content(request, run_id)
        try:
            files = build_export_files(content, formats)
        except NotExportableError as error:
            raise _build_export_problem(error) from None
        return build_download_response(
            iterate_zip_chunks(files), build_run_file_name(run, "scorer"), "zip"
        )

    def _load_content(
        self, request: Request, run_id: Any
    ) -> tuple[Run, tuple[str, ...], ScorerContent]:
        """Return the run, formats and contents of a requested export. Raises `ApiProblem`."""
        run = self.get_finished_run(request, run_id)
        values = read_import_options(request, ScorerOptionsSerializer)
        name = values["name"] or make_task_name(run.version.question_set.name)
        try:
            formats = parse_formats(values["formats"])
            options = ScorerOptions(
                check_task_name(name),
                values["min_answers"],
                values["with_answers"],
                values["consent_basis"],
            )
            refuse_large_run(run)
            return run, formats, load_run_content(run, options)
        except NotExportableError as error:
            raise _build_export_problem(error) from None


def _build_export_problem(error: NotExportableError) -> ApiProblem:
    """Return the API problem of a run that cannot be exported, or of a bad parameter."""
    if error.code in OF_PARAMETERS:
        return build_parameter_problem(OF_PARAMETERS[error.code], str(error), reason=error.code)
    return ApiProblem("conflict", str(error), reason=error.code)
