"""Views of the API itself: root, schema, documentation, kinds of errors, unknown URLs."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.generic import TemplateView
from drf_spectacular.renderers import OpenApiJsonRenderer2, OpenApiYamlRenderer2
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework.exceptions import NotFound
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotations.web.rest.problems import KINDS
from crowdgrade.rest.errors import build_problem_response
from crowdgrade.rest.schema import CachedSchemaGenerator

ROOTS = {
    "question_sets": "question-set-list",
    "language_models": "language-model-list",
    "runs": "run-list",
    "workers": "worker-list",
    "schema": "schema",
    "documentation": "docs",
}


class OpenView(APIView):
    """Base class of views without authentication, for responses without personal data."""

    permission_classes = (AllowAny,)


@extend_schema(exclude=True)
class RootView(OpenView):
    """Root of the API: the URLs of its main resources."""

    def get(self, request: Request) -> Response:
        """Return the URLs of the main resources by name."""
        return Response(
            {key: request.build_absolute_uri(reverse(f"api:{name}")) for key, name in ROOTS.items()}
        )


@extend_schema(exclude=True)
class ProblemView(OpenView):
    """Explanation of one kind of API error, at the URL in its `type`."""

    def get(self, request: Request, code: str) -> Response:
        """Return code, title and status of a kind of error; 404 for an unknown code."""
        kind = KINDS.get(code)
        if kind is None:
            raise Http404
        return Response({"code": kind.code, "title": kind.title, "status": kind.status})


@extend_schema(exclude=True)
class UnknownUrlView(OpenView):
    """View of unknown URLs below /api/, which responds with error 404 as JSON."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Raise `NotFound` for every method."""
        super().initial(request, *args, **kwargs)
        raise NotFound


@extend_schema(exclude=True)
class SchemaView(SpectacularAPIView):
    """OpenAPI schema as JSON; as YAML if the request accepts only application/yaml."""

    generator_class = CachedSchemaGenerator
    permission_classes = (AllowAny,)
    renderer_classes = [OpenApiJsonRenderer2, OpenApiYamlRenderer2]  # noqa: RUF012


@method_decorator(never_cache, name="dispatch")
class DocsView(TemplateView):
    """Interactive documentation of the API, which uses the session of the site."""

    template_name = "api/docs.html"
    http_method_names = ("get", "head")

    def http_method_not_allowed(
        self, request: HttpRequest, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Return the error 405 as JSON, as other URLs of the API do."""
        response = build_problem_response(request, "method-not-allowed")
        response["Allow"] = "GET, HEAD"
        return response
