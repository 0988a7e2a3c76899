"""Serve the tables of `evaluation.runs.exports` as streamed files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from django.http import StreamingHttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request

from annotations.exchange.writing.formats import CONTENT_TYPES, FORMATS
from annotations.models import QuestionSet, QuestionSetVersion
from annotations.web.downloads import build_file_name, download
from annotations.web.query import parse_choice, parse_flag
from annotations.web.rest.base import ApiViewSet
from annotations.web.rest.negotiation import AnyForm
from annotations.web.rest.problems import ApiProblem, build_parameter_problem
from annotations.web.rest.versions import VERSION, select_version
from annotations.web.scope import get_answered_set, get_visible_or_404
from evaluation.models import Run
from evaluation.runs import exports
from evaluation.runs.exports import ChoiceError, Export, chosen_run
from evaluation.runs.rest.finished_runs import FORMAT

Action = TypeVar("Action", bound=Callable[..., Any])

RUN = OpenApiParameter(
    "run",
    {"type": "string", "pattern": "^(record|latest|[0-9a-fA-F-]{32,36})$"},
    description="The id of a run whose scores and grades stand beside the answers; or record, for "
    "the official run (the latest, where the version has none), or latest.",
)
PSEUDONYMS = OpenApiParameter(
    "pseudonyms", bool, description="Replace workers' ids, the same way in every export of the set."
)


def describe_export(summary: str, *parameters: OpenApiParameter) -> Callable[[Action], Action]:
    """Return the decorator with the schema of one exported file."""
    decorator: Callable[[Action], Action] = extend_schema(
        summary=summary,
        tags=["exports"],
        operation_id="exports_" + summary.removeprefix("Take away ").replace(" ", "_"),
        parameters=[FORMAT, VERSION, *parameters],
        responses={
            (200, kind.partition(";")[0]): {"type": "string", "format": "binary"}
            for kind in map(CONTENT_TYPES.__getitem__, FORMATS)
        },
    )
    return decorator


class ExportViewSet(ApiViewSet):
    """Exports of all stored data in long format, which the imports can read again."""

    queryset = QuestionSet.objects.all()
    lookup_url_kwarg = "set_id"
    content_negotiation_class = AnyForm

    @describe_export("Take away answers", RUN, PSEUDONYMS)
    def answers(self, request: Request, set_id: Any) -> StreamingHttpResponse:
        """Return the workers' answers with times and flags, one row per answer."""
        version = self._version(get_answered_set(request, set_id), answered=True)
        run = self._run(version)
        pseudonyms = parse_flag(request.query_params, "pseudonyms")
        made = exports.answers(version, run, pseudonyms=pseudonyms, user=request.user)
        return self._file(made)

    @describe_export("Take away model answers", RUN)
    def model_answers(self, request: Request, set_id: Any) -> StreamingHttpResponse:
        """Return the language models' answers, one row per answer."""
        version = self._version(get_answered_set(request, set_id), answered=True)
        return self._file(exports.model_answers(version, self._run(version), user=request.user))

    @describe_export("Take away questions")
    def questions(self, request: Request, set_id: Any) -> StreamingHttpResponse:
        """Return the questions, one row per question."""
        return self._file(exports.questions(self._asked(set_id), user=request.user))

    @describe_export("Take away passages")
    def passages(self, request: Request, set_id: Any) -> StreamingHttpResponse:
        """Return the passages, one row per passage."""
        return self._file(exports.passages(self._asked(set_id), user=request.user))

    def _asked(self, set_id: Any) -> QuestionSetVersion:
        """Return the requested version of a visible set. Raises Http404 and ApiProblem."""
        return self._version(get_visible_or_404(self.request, QuestionSet.objects.all(), set_id))

    def _version(self, question_set: QuestionSet, *, answered: bool = False) -> QuestionSetVersion:
        """Return the requested version. Raises ApiProblem if the set is empty."""
        version = select_version(self.request, question_set, answered=answered)
        if version is None:
            raise ApiProblem("conflict", "The set is empty: send questions or answers first.")
        return version

    def _run(self, version: QuestionSetVersion) -> Run | None:
        """Return the run that the request names; None without one."""
        wanted = self.request.query_params.get("run")
        if wanted is None:
            return None
        try:
            return chosen_run(version, wanted, self.request.user)
        except ChoiceError as error:
            raise build_parameter_problem("run", str(error)) from None

    def _file(self, made: Export) -> StreamingHttpResponse:
        """Return the export as a download in the requested format."""
        kind = parse_choice(self.request.query_params, "format", FORMATS, "jsonl")
        version = made.version
        name = build_file_name(version.question_set.name, f"version-{version.number}", made.what)
        return download(made.chunks(kind), name, kind)
