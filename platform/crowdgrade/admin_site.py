"""Admin site: django-unfold's theme, with the pages of all packages behind its login."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator
from http import HTTPStatus
from importlib.util import find_spec
from typing import Any, cast

from django.conf import settings
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from unfold.sites import UnfoldAdminSite

View = Callable[..., HttpResponseBase]

# Each module has a list `urlpatterns` of function views; the site puts them behind its login.
URL_MODULES = (
    "annotations.desk.urls",
    "annotations.worker_pages.preview_urls",
    "evaluation.site.urls",
    "evaluation.site.results.urls",
    "crowdgrade.pages.urls",
    "crowdgrade.help.urls",
    "crowdgrade.invitation_links.urls",
    "crowdgrade.audit.urls",
)


INVALID_STATUSES = (HTTPStatus.BAD_REQUEST, HTTPStatus.CONFLICT)
"""Statuses of a page whose posted values were refused."""


class CrowdgradeAdminSite(UnfoldAdminSite):
    """Admin site that all signed-in users use: requesters, operators, viewers, experts.

    A view returns a `TemplateResponse` whose template extends `admin/crowdgrade_base.html`; the
    context of that template is added here. URL names are reversed as `admin:NAME`.
    """

    site_title = site_header = "Crowdgrade"
    index_title = "Overview"
    enable_nav_sidebar = True

    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: Any) -> None:
        """Register models with their pages; those of django-allauth get none.

        The tables of django-allauth hold secrets of second factors, and data that this site does
        not use.
        """
        models = [model_or_iterable] if isinstance(model_or_iterable, type) else model_or_iterable
        own_models = [model for model in models if not model.__module__.startswith("allauth.")]
        super().register(own_models, admin_class, **options)

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """Return the template context of every page, with the roles of the user.

        Without the theme's colours: it would put them into a style element, which the CSP blocks.
        They are in a CSS file instead.
        """
        from annotations.models import (
            is_operator,
            is_requester,
            is_writing_member,
            may_read_answers,
        )
        from crowdgrade.models import has_single_keys

        return {
            **super().each_context(request),
            "colors": None,
            "is_operator": is_operator(request.user),
            "is_requester": is_requester(request.user),
            "reads_answers": may_read_answers(request.user),
            "writes": is_writing_member(request.user),
            # A function, so that only pages with single keys run the query, and only once.
            "single_keys": functools.cache(functools.partial(has_single_keys, request.user)),
        }

    def has_permission(self, request: HttpRequest) -> bool:
        """Return whether the user may sign in; viewers and experts may, without being staff.

        Which rows they see is decided by each view. Django's own pages require more rights.
        """
        from annotations.models import may_enter

        return may_enter(request.user)

    @method_decorator(never_cache)
    def login(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Return the sign-in page; redirect to the first-account page if no account exists."""
        from crowdgrade.first_account import has_no_account
        from crowdgrade.login import LoginForm, PasswordLoginView

        if request.method == "GET" and has_no_account():
            return redirect("admin:first-account")
        if request.method == "GET" and self.has_permission(request):
            return redirect("admin:index")
        next_page = {} if has_next_page(request) else {REDIRECT_FIELD_NAME: reverse("admin:index")}
        context = {
            **self.each_context(request),
            "title": "Sign in",
            "app_path": request.get_full_path(),
            "openid": settings.OPENID,
            "passwords": settings.PASSWORD_SIGN_IN,
            **next_page,
            **(extra_context or {}),
        }
        view = PasswordLoginView.as_view(
            extra_context=context, authentication_form=LoginForm, template_name="admin/login.html"
        )
        return cast("HttpResponse", view(request))

    def get_urls(self) -> list[URLPattern]:  # type: ignore[override]
        """Return all URLs; the first-account page and invitation links need no login."""
        from crowdgrade.first_account import create_first_account
        from crowdgrade.invitation_links.views import join_by_link

        return [
            # Before the site's own URLs: those end in a pattern for any path, behind the login.
            path("first-account/", create_first_account, name="first-account"),
            path("join/<str:token>/", join_by_link, name="join"),
            *super().get_urls(),
        ]

    def extra_urls(self) -> list[URLPattern]:
        """Return the URLs of all packages' pages, behind the login."""
        return [
            URLPattern(
                pattern.pattern,
                self.admin_view(self.wrap_view(pattern.callback)),
                pattern.default_args,
                pattern.name,
            )
            for pattern in iterate_url_patterns()
        ]

    def wrap_view(self, view: View) -> View:
        """Return the view with the site's template context and pages for errors 403 and 404."""

        @functools.wraps(view)
        def wrapped_view(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            """Return the view's response, or a page for error 403 or 404."""
            try:
                response = view(request, *args, **kwargs)
            except PermissionDenied as refusal:
                code = getattr(refusal, "code", "")
                context = {"title": "You may not do this", "reason": str(refusal), "code": code}
                response = TemplateResponse(request, "admin/refused.html", context, status=403)
            except Http404:
                # The exception's text names models; the page must not show it.
                context = {"title": "There is no such page"}
                response = TemplateResponse(request, "admin/missing.html", context, status=404)
            if isinstance(response, TemplateResponse) and not response.is_rendered:
                # Only an unrendered response still takes a context.
                own = response.context_data or {}
                # The title of the window mentions the error: screen readers read it first.
                wrong = {"is_wrong": response.status_code in INVALID_STATUSES}
                response.context_data = {**self.each_context(request), **wrong, **own}
            return response

        return wrapped_view

    def search(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        """Return a page for error 404; the theme's templates need this URL, but it is not used."""
        missing: TemplateResponse = self.wrap_view(_raise_not_found)(request)  # type: ignore[assignment]
        return missing

    def index(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        """Return the overview, the first page after the sign-in."""
        from evaluation.site.overview import show_overview

        response: TemplateResponse = self.wrap_view(show_overview)(request)  # type: ignore[assignment]
        return response


def has_next_page(request: HttpRequest) -> bool:
    """Return whether a request names the page to open after the sign-in (`next`)."""
    return REDIRECT_FIELD_NAME in request.GET or REDIRECT_FIELD_NAME in request.POST


def _raise_not_found(request: HttpRequest) -> HttpResponseBase:
    """Raise Http404 for any request: the view of URLs that are not used."""
    raise Http404


def iterate_url_patterns() -> Iterator[URLPattern]:
    """Yield the URL patterns of the pages of all installed packages."""
    for module in URL_MODULES:
        package = module.rpartition(".")[0]
        if find_spec(package) is not None and find_spec(module) is not None:
            yield from importlib.import_module(module).urlpatterns
