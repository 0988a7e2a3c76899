"""Pages about the API itself: its root, its schema, its documentation, its problems."""

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
from crowdgrade.rest.errors import plain_problem

ROOTS = {
    "question_sets": "question-set-list",
    "language_models": "language-model-list",
    "runs": "run-list",
    "workers": "worker-list",
    "schema": "schema",
    "documentation": "docs",
}


class OpenView(APIView):
    """Read by anybody: it says nothing about anybody."""

    permission_classes = (AllowAny,)


@extend_schema(exclude=True)
class RootView(OpenView):
    """Where to go from here."""

    def get(self, request: Request) -> Response:
        """Return the addresses of the resources."""
        return Response(
            {key: request.build_absolute_uri(reverse(f"api:{name}")) for key, name in ROOTS.items()}
        )


@extend_schema(exclude=True)
class ProblemView(OpenView):
    """What a kind of problem is."""

    def get(self, request: Request, code: str) -> Response:
        """Return code, title and status."""
        kind = KINDS.get(code)
        if kind is None:
            raise Http404
        return Response({"code": kind.code, "title": kind.title, "status": kind.status})


@extend_schema(exclude=True)
class NowhereView(OpenView):
    """Every address under /api/ that is none."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Say so, whatever the method; an address without its last slash is not led on."""
        super().initial(request, *args, **kwargs)
        raise NotFound


@extend_schema(exclude=True)
class SchemaView(SpectacularAPIView):
    """The schema as JSON, or as YAML where the request accepts application/yaml alone."""

    permission_classes = (AllowAny,)
    renderer_classes = [OpenApiJsonRenderer2, OpenApiYamlRenderer2]  # noqa: RUF012


@method_decorator(never_cache, name="dispatch")
class DocsView(TemplateView):
    """The schema as a page on which it can be tried, with the session of the site."""

    template_name = "api/docs.html"
    http_method_names = ("get", "head")

    def http_method_not_allowed(
        self, request: HttpRequest, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Answer as the other addresses of the API do."""
        response = plain_problem(request, "method-not-allowed")
        response["Allow"] = "GET, HEAD"
        return response
