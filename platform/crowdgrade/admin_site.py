"""The admin site: Django's, in django-unfold's clothes, with the pages of all rooms in it."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator
from http import HTTPStatus
from importlib.util import find_spec
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from unfold.sites import UnfoldAdminSite

View = Callable[..., HttpResponseBase]

# Each holds a list `urlpatterns` of plain views; the site puts them behind its login.
ROOMS = (
    "annotations.desk.urls",
    "annotations.worker_pages.preview_urls",
    "evaluation.site.urls",
    "evaluation.site.results.urls",
    "crowdgrade.pages.urls",
)


WRONG = (HTTPStatus.BAD_REQUEST, HTTPStatus.CONFLICT)
"""What a page answers when what was sent to it cannot be taken."""


class CrowdgradeAdminSite(UnfoldAdminSite):
    """Overview, question sets, runs, models and teams, for requesters and whom they share with.

    A room's view returns a `TemplateResponse` whose template extends `admin/crowdgrade_base.html`;
    what the base template wants to know is added here. Names are reversed as `admin:NAME`.
    """

    site_title = site_header = "Crowdgrade"
    index_title = "Overview"
    enable_nav_sidebar = True

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """Return what every page knows, with who asks; without colours, which a file of ours has.

        (The theme would put them into a style element, which the policy refuses.)
        """
        from annotations.models import is_operator, is_requester, may_read_answers, takes_part
        from crowdgrade.models import takes_single_keys

        return {
            **super().each_context(request),
            "colors": None,
            "is_operator": is_operator(request.user),
            "is_requester": is_requester(request.user),
            "reads_answers": may_read_answers(request.user),
            "writes": takes_part(request.user),
            # Called, and so asked for, only by the pages that have such keys.
            "single_keys": functools.partial(takes_single_keys, request.user),
        }

    def has_permission(self, request: HttpRequest) -> bool:
        """Whether there is a page for the one who asks: also viewers and experts who are no staff.

        What they see there is decided row by row; Django's own pages ask for more than this.
        """
        from annotations.models import may_enter

        return may_enter(request.user)

    def login(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Return the sign-in page; on a site without an account the page that makes the first."""
        from crowdgrade.first_account import is_needed

        if request.method == "GET" and is_needed():
            return redirect("admin:first-account")
        response: HttpResponse = super().login(request, extra_context)
        return response

    def get_urls(self) -> list[URLPattern]:  # type: ignore[override]
        """Return the addresses of the site; that of the first account needs no login."""
        from crowdgrade.first_account import first_account

        return [path("first-account/", first_account, name="first-account"), *super().get_urls()]

    def extra_urls(self) -> list[URLPattern]:
        """Return the addresses of all rooms, behind the login."""
        return [
            URLPattern(
                pattern.pattern,
                self.admin_view(self.framed(pattern.callback)),
                pattern.default_args,
                pattern.name,
            )
            for pattern in room_patterns()
        ]

    def framed(self, view: View) -> View:
        """Return the view with the site's context added to what it shows, refuses or misses."""

        @functools.wraps(view)
        def framed_view(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            try:
                response = view(request, *args, **kwargs)
            except PermissionDenied as refusal:
                code = getattr(refusal, "code", "")
                context = {"title": "You may not do this", "reason": str(refusal), "code": code}
                response = TemplateResponse(request, "admin/refused.html", context, status=403)
            except Http404:
                # Its words name tables and rows: the page has its own.
                context = {"title": "There is no such page"}
                response = TemplateResponse(request, "admin/missing.html", context, status=404)
            if isinstance(response, TemplateResponse) and not response.is_rendered:
                own = response.context_data or {}
                # So that the title of the window says it, which is read before the page.
                wrong = {"is_wrong": response.status_code in WRONG}
                response.context_data = {**self.each_context(request), **wrong, **own}
            return response

        return framed_view

    def search(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        """Miss: the theme's templates name this address, and no page of ours shows its search."""
        missing: TemplateResponse = self.framed(_missing)(request)  # type: ignore[assignment]
        return missing

    def index(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        """Return the overview."""
        from evaluation.site.overview import overview

        response: TemplateResponse = self.framed(overview)(request)  # type: ignore[assignment]
        return response


def _missing(request: HttpRequest) -> HttpResponseBase:
    raise Http404


def room_patterns() -> Iterator[URLPattern]:
    """Return the addresses of the rooms that are there."""
    for room in ROOMS:
        package = room.rpartition(".")[0]
        if find_spec(package) is not None and find_spec(room) is not None:
            yield from importlib.import_module(room).urlpatterns
