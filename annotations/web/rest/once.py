"""Requests that a client may send twice, because it never heard the first answer."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Generator
from contextlib import closing
from copy import copy
from datetime import timedelta
from typing import Any, TypeVar
from urllib.parse import urlsplit

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.http import Http404, QueryDict
from django.urls import Resolver404, resolve
from django.utils import timezone
from rest_framework import status
from rest_framework.exceptions import PermissionDenied
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.models import IdempotentRequest
from annotations.web.rest.problems import ApiProblem, Fault

Action = TypeVar("Action", bound=Callable[..., Response])
Steps = Callable[..., Generator[None, None, Response]]

HEADER = "Idempotency-Key"
KEPT = timedelta(days=1)


def repeatable(action: Action) -> Action:
    """Let an action take an Idempotency-Key: the same request with it is answered, not done, again.

    Key and work are stored in one transaction: what failed leaves no key, and two at the same time
    follow each other. The key with another request is the problem key-reused. An answer is given
    again only to somebody who still sees what it is about: else the request is refused as if it
    came for the first time.
    """

    @functools.wraps(action)
    def once(self: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        key = _key(request)
        if key is None:
            return action(self, request, *args, **kwargs)
        return _once(request, key, lambda: action(self, request, *args, **kwargs))

    return once  # type: ignore[return-value]


def repeatable_after_reading(action: Steps) -> Callable[..., Response]:
    """As `repeatable`, for an action that reads at length before it stores: a generator.

    What it does before its one `yield` is outside of the transaction, so that nobody waits for it;
    what comes after is stored together with the key.
    """

    @functools.wraps(action)
    def once(self: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        key = _key(request)
        if key is not None and _mine(request).filter(key=key).exists():
            # Perhaps what was stored has changed since; the answer has not.
            return _once(request, key, lambda: _rest(action(self, request, *args, **kwargs)))
        with closing(action(self, request, *args, **kwargs)) as steps:
            next(steps)
            if key is None:
                return _end(steps)
            return _once(request, key, lambda: _end(steps))

    return once


def _rest(steps: Generator[None, None, Response]) -> Response:
    next(steps)
    return _end(steps)


def _end(steps: Generator[None, None, Response]) -> Response:
    try:
        next(steps)
    except StopIteration as ended:
        response: Response = ended.value
        return response
    raise RuntimeError("an action that is repeatable after reading yields once")


def _key(request: Request) -> str | None:
    key = request.headers.get(HEADER)
    if key is not None and not (0 < len(key) <= 255 and key.isascii() and key.isprintable()):
        fault = Fault("write 1 to 255 printable ASCII characters", header=HEADER)
        raise ApiProblem("invalid", f"{HEADER}: {fault.detail}", [fault])
    return key


def _once(request: Request, key: str, action: Callable[[], Response]) -> Response:
    """Act and keep the answer, or give the one that is kept."""
    wanted = fingerprint(request)
    with transaction.atomic():
        kept, is_first = _claimed(request, key, wanted)
        if is_first:
            response = action()
            kept.status = response.status_code
            kept.location = response.headers.get("Location", "")
            kept.body = json.loads(JSONRenderer().render(response.data))
            kept.save()
            return response
    if kept.request != wanted:
        raise ApiProblem("key-reused", "Use a new key for another request.")
    for address in (request.path, kept.location):
        _see(request, address)
    headers = {"Idempotency-Replayed": "true"}
    if kept.location:
        headers["Location"] = kept.location
    return Response(kept.body, status=kept.status, headers=headers)


def fingerprint(request: Request) -> str:
    """Return the SHA-256 of what is asked for: method, address and body, in hexadecimal."""
    data = request.data
    body = data.sha256 if hasattr(data, "sha256") else json.dumps(data, sort_keys=True)
    asked = json.dumps([request.method, request.get_full_path(), body])
    return hashlib.sha256(asked.encode()).hexdigest()


def _see(request: Request, address: str) -> None:
    """Refuse where reading at an address is refused to this user by now."""
    if not address:
        return
    path = urlsplit(address).path
    try:
        found = resolve(path)
    except Resolver404:
        return
    reading = copy(request._request)
    reading.method, reading.path = "GET", path
    reading.GET = QueryDict("limit=1")
    answer = found.func(reading, *found.args, **found.kwargs)
    if answer.status_code == status.HTTP_404_NOT_FOUND:
        raise Http404
    if answer.status_code == status.HTTP_403_FORBIDDEN:
        raise PermissionDenied


def _mine(request: Request) -> QuerySet[IdempotentRequest]:
    return IdempotentRequest.objects.filter(user=int(request.user.pk or 0))


def _claimed(request: Request, key: str, wanted: str) -> tuple[IdempotentRequest, bool]:
    """Return the row of a key and whether it was made now."""
    mine = _mine(request)
    mine.filter(created_at__lt=timezone.now() - KEPT).delete()
    try:
        with transaction.atomic():
            user = int(request.user.pk or 0)
            return IdempotentRequest.objects.create(user_id=user, key=key, request=wanted), True
    except IntegrityError:
        return mine.get(key=key), False
