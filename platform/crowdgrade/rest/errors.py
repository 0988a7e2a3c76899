"""Conversion of exceptions to problem details (RFC 9457), the format of all API errors."""

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
from annotations.web.rest.problems import (
    KINDS,
    ApiProblem,
    Fault,
    ProblemKind,
    build_parameter_problem,
    escape_pointer_key,
)
from annotations.web.scope import RefusedError
from crowdgrade.outages import Outage, find_outage

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = 5
"""Retry-After of an outage that ends by itself."""
KIND_BY_EXCEPTION: tuple[tuple[type[Exception], str], ...] = (
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
    # Concurrent requests: the other one took the place, or deleted the row of this one.
    (IntegrityError, "conflict"),
    (ObjectDoesNotExist, "not-found"),
)
LOST_RACES = (IntegrityError, ObjectDoesNotExist)
"""Errors after a concurrent request was first; logged, because a defect may cause them too."""
OUTAGES = {
    Outage.BUSY: "Nothing was stored; send the request again in a moment.",
    Outage.LOST: "Ask again in a moment. Whether a change was stored is not known: look first, or "
    "send it with the Idempotency-Key it had.",
    Outage.FULL: "The site's disk is full: its operator must free some space. Nothing was stored.",
    Outage.SEALED: "The site's folder is read-only: its operator has to change that. Nothing was "
    "stored.",
}
# Kinds without a detail: the framework's text would only repeat the title.
SILENT = ("not-found", "server-error")
REFUSALS = {
    "change": "You may see this, but not change it.",
    "make": "Only requesters make things of their own.",
}


def handle_api_error(error: Exception, context: Mapping[str, Any]) -> Response:
    """Return the API's response to an exception of a view.

    Unexpected exceptions and outages are logged; the response does not contain their text.
    """
    request = context["request"]
    error = convert_error(error)
    kind = classify_error(error)
    outage = find_outage(error)
    if outage is not None:
        logger.warning("%s %s: %s (%s)", request.method, request.path, outage.value, error)
    elif isinstance(error, LOST_RACES):
        logger.error("%s %s: overtaken", request.method, request.path, exc_info=error)
    elif kind.status >= 500:
        # As Django does for a page: log it and send the signal.
        logger.error("%s %s", request.method, request.path, exc_info=error)
        got_request_exception.send(sender=None, request=request._request)
    body = build_problem_document(
        request._request,
        kind,
        describe_error(error, kind),
        list_faults(error),
        getattr(error, "more", {}),
    )
    # Problems are JSON even if the request accepts another format, such as YAML.
    request.accepted_renderer, request.accepted_media_type = JSONRenderer(), MEDIA_TYPE
    headers = build_error_headers(error, kind)
    response = Response(body, status=kind.status, headers=headers, content_type=MEDIA_TYPE)
    response.outage = outage  # type: ignore[attr-defined]  # for `crowdgrade.read_retry`
    return response


def convert_error(error: Exception) -> Exception:
    """Return an API error for a `QueryError` or `RefusedError`; other errors unchanged."""
    if isinstance(error, QueryError):
        return build_parameter_problem(error.name, error.detail, error.code)
    if isinstance(error, RefusedError):
        return ApiProblem("forbidden", REFUSALS.get(error.code, str(error)))
    return error


def classify_error(error: Exception) -> ProblemKind:
    """Return an exception's kind of API error; "server-error" if it is unknown."""
    if isinstance(error, ApiProblem):
        return error.kind
    if (outage := find_outage(error)) is not None:
        return KINDS[outage.value]
    code = next(
        (code for kind, code in KIND_BY_EXCEPTION if isinstance(error, kind)), "server-error"
    )
    return KINDS[code]


def describe_error(error: Exception, kind: ProblemKind) -> str:
    """Return the detail text of an error; "" if the title of its kind suffices."""
    if kind.code in SILENT and not isinstance(error, ApiProblem):
        return ""
    if (outage := find_outage(error)) is not None:
        return OUTAGES[outage]
    if isinstance(error, exceptions.ValidationError):
        first = next(flatten_faults(error.detail), None)
        return "" if first is None else f"{(first.pointer or '#')[2:] or 'body'}: {first.detail}"
    if isinstance(error, exceptions.Throttled):
        wait = getattr(error, "wait", None)
        return "" if wait is None else f"Ask again in {math.ceil(wait)} seconds."
    if isinstance(error, IntegrityError):
        return "Another request changed the same at this moment: look, then send it again."
    return str(getattr(error, "detail", "") or "")


def list_faults(error: Exception) -> list[Fault]:
    """Return the faults of an invalid request; [] for other errors."""
    if isinstance(error, ApiProblem):
        return list(error.faults)
    if isinstance(error, exceptions.ValidationError):
        return list(flatten_faults(error.detail))
    return []


def flatten_faults(detail: Any, path: str = "#") -> Iterator[Fault]:
    """Yield the faults in a serializer's nested errors, each with its JSON pointer."""
    if isinstance(detail, Mapping):
        for key, inner in detail.items():
            is_of_parent = key in ("non_field_errors", "detail")
            yield from flatten_faults(
                inner, path if is_of_parent else f"{path}/{escape_pointer_key(str(key))}"
            )
    elif isinstance(detail, list):
        for index, inner in enumerate(detail):
            nested = isinstance(inner, Mapping | list)
            yield from flatten_faults(inner, f"{path}/{index}" if nested else path)
    else:
        yield Fault(str(detail), pointer=path, code=getattr(detail, "code", ""))


def build_error_headers(error: Exception, kind: ProblemKind) -> dict[str, str]:
    """Return the HTTP headers of an error response, such as Retry-After."""
    headers = dict(getattr(error, "headers", {}))
    if challenge := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = challenge
    wait = getattr(error, "wait", None)
    if wait is not None:
        headers["Retry-After"] = str(math.ceil(wait))
    if (outage := find_outage(error)) is not None and outage.is_temporary:
        headers["Retry-After"] = str(RETRY_SECONDS)
    return headers


def build_problem_document(
    request: HttpRequest,
    kind: ProblemKind,
    detail: str = "",
    faults: list[Fault] | None = None,
    more: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return a problem document (RFC 9457); its `type` is a URL that explains the error.

    `more` has further members of the document.
    """
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


def is_api_request(request: HttpRequest) -> bool:
    """Return whether the request's URL belongs to the API."""
    return request.path.startswith("/api/")


def build_problem_response(request: HttpRequest, code: str) -> HttpResponse:
    """Return the API's error response with this code, for errors outside of views."""
    kind = KINDS[code]
    try:
        body = build_problem_document(request, kind)
    except Exception:  # building a URL fails for a host that is not allowed
        body = {"type": "about:blank", "code": code, "title": kind.title, "status": kind.status}
    response = JsonResponse(body, status=kind.status, content_type=MEDIA_TYPE)
    patch_vary_headers(response, ["Accept"])
    return response
