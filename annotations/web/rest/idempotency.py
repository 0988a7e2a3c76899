"""Idempotency keys, so that requests can be repeated after a lost response."""

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
"""The header with the key."""
LIFETIME = timedelta(days=1)
"""How long a response is stored."""


def make_repeatable(action: Action) -> Action:
    """Return an API action that runs only once for each Idempotency-Key.

    Key and work are stored in one transaction: a failed request leaves no key, and simultaneous
    ones wait for each other. The same key with another request is the problem key-reused. A stored
    response is returned only to a user who may still see its objects; else the request is refused
    like a first one.
    """

    @functools.wraps(action)
    def run_once(self: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return the stored response to the request's key; else run the action."""
        key = _read_idempotency_key(request)
        if key is None:
            return action(self, request, *args, **kwargs)
        return _replay_or_run(request, key, lambda: action(self, request, *args, **kwargs))

    return run_once  # type: ignore[return-value]


def make_repeatable_after_reading(action: Steps) -> Callable[..., Response]:
    """Return an API action from a generator, whose second part runs once for each Idempotency-Key.

    The generator reads the request, yields, then stores.

    The part before its one `yield` runs outside the transaction, so that others do not wait for it.
    The part after it is stored together with the key.
    """

    @functools.wraps(action)
    def run_once(self: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Read the request; return the stored response, or store and respond."""
        key = _read_idempotency_key(request)
        if key is not None and _select_own_requests(request).filter(key=key).exists():
            # The stored response is replayed without reading the input again.
            return _replay_or_run(
                request, key, lambda: _run_steps(action(self, request, *args, **kwargs))
            )
        with closing(action(self, request, *args, **kwargs)) as steps:
            next(steps)
            if key is None:
                return _finish_steps(steps)
            return _replay_or_run(request, key, lambda: _finish_steps(steps))

    return run_once


def _run_steps(steps: Generator[None, None, Response]) -> Response:
    """Run a generator action completely (reading and storing) and return its response."""
    next(steps)
    return _finish_steps(steps)


def _finish_steps(steps: Generator[None, None, Response]) -> Response:
    """Run the second part of a generator (storing) and return its response."""
    try:
        next(steps)
    except StopIteration as stop:
        response: Response = stop.value
        return response
    raise RuntimeError("an action that is repeatable after reading yields once")


def _read_idempotency_key(request: Request) -> str | None:
    """Return the request's Idempotency-Key, None without one; raise `ApiProblem` if invalid."""
    key = request.headers.get(HEADER)
    if key is not None and not (0 < len(key) <= 255 and key.isascii() and key.isprintable()):
        fault = Fault("write 1 to 255 printable ASCII characters", header=HEADER)
        raise ApiProblem("invalid", f"{HEADER}: {fault.detail}", [fault])
    return key


def _replay_or_run(request: Request, key: str, action: Callable[[], Response]) -> Response:
    """Return the stored response to a key; else run the action and store its response."""
    request_hash = hash_request(request)
    with transaction.atomic():
        stored, is_first = _claim_key(request, key, request_hash)
        if is_first:
            response = action()
            stored.status = response.status_code
            stored.location = response.headers.get("Location", "")
            # As sent: dates, UUIDs and decimals are no JSON values until they are rendered.
            stored.body = json.loads(JSONRenderer().render(response.data))
            stored.save()
            return response
    # After the transaction, which on SQLite holds the only write lock: a replay runs GET views.
    if stored.request != request_hash:
        raise ApiProblem("key-reused", "Use a new key for another request.")
    for address in (request.path, stored.location):
        _check_readable(request, address)
    headers = {"Idempotency-Replayed": "true"}
    if stored.location:
        headers["Location"] = stored.location
    return Response(stored.body, status=stored.status, headers=headers)


def hash_request(request: Request) -> str:
    """Return the SHA-256 of method, URL and body, in hexadecimal."""
    data = request.data
    # Sorted: a client that repeats a request may write the keys in another order.
    body = data.sha256 if hasattr(data, "sha256") else json.dumps(data, sort_keys=True)
    text = json.dumps([request.method, request.get_full_path(), body])
    return hashlib.sha256(text.encode()).hexdigest()


def _check_readable(request: Request, address: str) -> None:
    """Raise `Http404` or `PermissionDenied` if the user may no longer read the URL."""
    if not address:
        return
    path = urlsplit(address).path
    try:
        match = resolve(path)
    except Resolver404:
        return
    get_request = copy(request._request)
    get_request.method, get_request.path = "GET", path
    # Only the status counts, so of a list one row is enough.
    get_request.GET = QueryDict("limit=1")
    response = match.func(get_request, *match.args, **match.kwargs)
    if response.status_code == status.HTTP_404_NOT_FOUND:
        raise Http404
    if response.status_code == status.HTTP_403_FORBIDDEN:
        raise PermissionDenied


def _select_own_requests(request: Request) -> QuerySet[IdempotentRequest]:
    """Return the user's stored requests, as a queryset."""
    return IdempotentRequest.objects.filter(user=int(request.user.pk or 0))


def _claim_key(request: Request, key: str, request_hash: str) -> tuple[IdempotentRequest, bool]:
    """Return (row of the key, whether it is new); the user's expired rows are deleted."""
    own_requests = _select_own_requests(request)
    own_requests.filter(created_at__lt=timezone.now() - LIFETIME).delete()
    try:
        # A savepoint: on PostgreSQL the error would otherwise abort the outer transaction.
        with transaction.atomic():
            user = int(request.user.pk or 0)
            return IdempotentRequest.objects.create(
                user_id=user, key=key, request=request_hash
            ), True
    # The unique constraint decides between simultaneous requests: the later one waits here.
    except IntegrityError:
        return own_requests.get(key=key), False
