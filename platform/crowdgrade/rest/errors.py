"""Errors in one form: problem details (RFC 9457), whoever raised them."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Mapping
from typing import Any

from django.core.exceptions import ObjectDoesNotExist, PermissionDenied, RequestDataTooBig
from django.core.signals import got_request_exception
from django.db import IntegrityError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from rest_framework import exceptions
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response

from annotations.web.query import QueryError
from annotations.web.rest.problems import KINDS, ApiProblem, Fault, Kind, bad_parameter, escaped
from annotations.web.scope import RefusedError
from crowdgrade.outages import Outage, outage_of

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = 5
"""When to ask again after an outage that passes by itself."""
BY_CLASS: tuple[tuple[type[Exception], str], ...] = (
    (exceptions.ValidationError, "invalid"),
    (exceptions.ParseError, "malformed"),
    (exceptions.NotAuthenticated, "not-authenticated"),
    (exceptions.AuthenticationFailed, "not-authenticated"),
    (exceptions.PermissionDenied, "forbidden"),
    (PermissionDenied, "forbidden"),
    (exceptions.NotFound, "not-found"),
    (Http404, "not-found"),
    (exceptions.MethodNotAllowed, "method-not-allowed"),
    (exceptions.NotAcceptable, "not-acceptable"),
    (exceptions.UnsupportedMediaType, "unsupported-media-type"),
    (exceptions.Throttled, "throttled"),
    (RequestDataTooBig, "too-large"),
    # Two requests at once: the other one took the place, or deleted what this one works on.
    (IntegrityError, "conflict"),
    (ObjectDoesNotExist, "not-found"),
)
LOST_RACES = (IntegrityError, ObjectDoesNotExist)
"""Errors of a request that another one overtook; they are logged, for a defect may cause one."""
OUTAGES = {
    Outage.BUSY: "Nothing was stored; send the request again in a moment.",
    Outage.LOST: "Ask again in a moment. Whether a change was stored is not known: look first, or "
    "send it with the Idempotency-Key it had.",
    Outage.FULL: "The site's disk is full: its operator has to make room. Nothing was stored.",
    Outage.SEALED: "The site's folder is read-only: its operator has to change that. Nothing was "
    "stored.",
}
# The framework's own words would only repeat the title.
SILENT = ("not-found", "server-error")
REFUSALS = {
    "change": "You may see this, but not change it.",
    "make": "Only requesters make things of their own.",
}


def handle(error: Exception, context: Mapping[str, Any]) -> Response:
    """Return the response to an exception of a view; what nobody foresaw is logged, and hidden."""
    request = context["request"]
    error = in_our_form(error)
    kind = kind_of(error)
    outage = outage_of(error)
    if outage is not None:
        logger.warning("%s %s: %s (%s)", request.method, request.path, outage.value, error)
    elif isinstance(error, LOST_RACES):
        logger.error("%s %s: overtaken", request.method, request.path, exc_info=error)
    elif kind.status >= 500:
        # As Django does for a page: to the log, and to whoever listens for it.
        logger.error("%s %s", request.method, request.path, exc_info=error)
        got_request_exception.send(sender=None, request=request._request)
    body = document(
        request._request, kind, detail_of(error, kind), faults_of(error), getattr(error, "more", {})
    )
    # Also where something else was asked for, such as YAML.
    request.accepted_renderer, request.accepted_media_type = JSONRenderer(), MEDIA_TYPE
    headers = headers_of(error, kind)
    response = Response(body, status=kind.status, headers=headers, content_type=MEDIA_TYPE)
    response.outage = outage  # type: ignore[attr-defined]  # for `crowdgrade.retrying`
    return response


def in_our_form(error: Exception) -> Exception:
    """Return what the web kit refuses as the API says it; everything else as it is."""
    if isinstance(error, QueryError):
        return bad_parameter(error.name, error.detail, error.code)
    if isinstance(error, RefusedError):
        return ApiProblem("forbidden", REFUSALS.get(error.code, str(error)))
    return error


def kind_of(error: Exception) -> Kind:
    """Return the kind of problem that an exception is."""
    if isinstance(error, ApiProblem):
        return error.kind
    if (outage := outage_of(error)) is not None:
        return KINDS[outage.value]
    code = next((code for kind, code in BY_CLASS if isinstance(error, kind)), "server-error")
    return KINDS[code]


def detail_of(error: Exception, kind: Kind) -> str:
    """Return what is to be said about this one; "" where the title says it all."""
    if kind.code in SILENT and not isinstance(error, ApiProblem):
        return ""
    if (outage := outage_of(error)) is not None:
        return OUTAGES[outage]
    if isinstance(error, exceptions.ValidationError):
        first = next(faults_in(error.detail), None)
        return "" if first is None else f"{(first.pointer or '#')[2:] or 'body'}: {first.detail}"
    if isinstance(error, exceptions.Throttled):
        wait = getattr(error, "wait", None)
        return "" if wait is None else f"Ask again in {math.ceil(wait)} seconds."
    if isinstance(error, IntegrityError):
        return "Another request changed the same at this moment: look, then send it again."
    return str(getattr(error, "detail", "") or "")


def faults_of(error: Exception) -> list[Fault]:
    """Return what is wrong, one by one."""
    if isinstance(error, ApiProblem):
        return list(error.faults)
    if isinstance(error, exceptions.ValidationError):
        return list(faults_in(error.detail))
    return []


def faults_in(detail: Any, path: str = "#") -> Iterator[Fault]:
    """Yield the faults in the nested reasons of a serializer, each with its JSON pointer."""
    if isinstance(detail, Mapping):
        for key, inner in detail.items():
            own = key in ("non_field_errors", "detail")
            yield from faults_in(inner, path if own else f"{path}/{escaped(str(key))}")
    elif isinstance(detail, list):
        for index, inner in enumerate(detail):
            nested = isinstance(inner, Mapping | list)
            yield from faults_in(inner, f"{path}/{index}" if nested else path)
    else:
        yield Fault(str(detail), pointer=path, code=getattr(detail, "code", ""))


def headers_of(error: Exception, kind: Kind) -> dict[str, str]:
    """Return the headers that go with a problem."""
    headers = dict(getattr(error, "headers", {}))
    if challenge := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = challenge
    wait = getattr(error, "wait", None)
    if wait is not None:
        headers["Retry-After"] = str(math.ceil(wait))
    if (outage := outage_of(error)) is not None and outage.passes:
        headers["Retry-After"] = str(RETRY_SECONDS)
    return headers


def document(
    request: HttpRequest,
    kind: Kind,
    detail: str = "",
    faults: list[Fault] | None = None,
    more: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return a problem document; `type` is an address that explains the kind."""
    body: dict[str, Any] = {
        "type": request.build_absolute_uri(reverse("api:problem", args=[kind.code])),
        "code": kind.code,
        "title": kind.title,
        "status": kind.status,
        "instance": request.path,
    }
    if detail:
        body["detail"] = detail
    if faults:
        body["errors"] = [fault.as_dict() for fault in faults]
    return body | dict(more or {})


def is_api(request: HttpRequest) -> bool:
    """Whether the address is the API's."""
    return request.path.startswith("/api/")


def plain_problem(request: HttpRequest, code: str) -> HttpResponse:
    """Return the problem for an error that no view of the API saw."""
    kind = KINDS[code]
    try:
        body = document(request, kind)
    except Exception:  # a host that is not ours has no addresses
        body = {"type": "about:blank", "code": code, "title": kind.title, "status": kind.status}
    response = JsonResponse(body, status=kind.status, content_type=MEDIA_TYPE)
    patch_vary_headers(response, ["Accept"])
    return response
