"""Build, sign and send the request of a delivery, by the specification Standard Webhooks.

Signed is `ID.TIMESTAMP.BODY` by HMAC-SHA256. Libraries of that specification verify it.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import time
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import httpx

from annotations.outgoing.addresses import written_address
from annotations.outgoing.connections import AddressRefusedError, Vet, VettedTransport
from annotations.outgoing.waiting import retry_after
from evaluation.webhooks.messages import WebhookError

SECONDS: Final = 10.0
"""Of one attempt: from the look-up of the host's name to the last header of the response."""
PREFIX: Final = "whsec_"
"""Begins every secret; the bytes that sign are the base64 that follows."""
HEADERS: Final = ("webhook-id", "webhook-timestamp", "webhook-signature")


@dataclass(frozen=True)
class Outcome:
    """Result of one attempt.

    Attributes
    ----------
    error : key of `FAILURES`; "" if the address accepted the event.
    status : of the response; None without one.
    seconds : duration.
    wait : seconds that the response asks to wait before the next attempt; None if it does not.
    """

    error: str
    status: int | None
    seconds: float
    wait: float | None = None


def check_url(url: str, vet: Vet) -> None:
    """Raise `WebhookError` unless events may be sent to a URL.

    Only an IP address in it is vetted here. A host name may resolve to another address at any time,
    so it is vetted at each connection.
    """
    try:
        parts = urlsplit(url)
        port_is_valid = parts.port is None or parts.port > 0
    except ValueError:
        raise WebhookError("no_url", "url") from None
    is_printable = url.isascii() and url.isprintable() and " " not in url
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise WebhookError("no_url", "url")
    if not port_is_valid or not is_printable:
        raise WebhookError("no_url", "url")
    if parts.username is not None or parts.password is not None:
        raise WebhookError("user_in_url", "url")
    if "#" in url:
        raise WebhookError("fragment_in_url", "url")
    address = written_address(url)
    if address is not None and not vet(address):
        raise WebhookError("address", "url", address=str(address))


def sign(secret: str, event_id: str, timestamp: int, body: bytes) -> str:
    """Return the value of the header `webhook-signature`: the version and the base64 of the HMAC.

    `secret` begins with `PREFIX`.
    """
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signed = f"{event_id}.{timestamp}.".encode() + body
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def build_headers(secret: str, event_id: str, body: bytes, now: float) -> dict[str, str]:
    """Return the headers of a request at the time `now`, in seconds since 1970."""
    timestamp = int(now)
    values = (event_id, str(timestamp), sign(secret, event_id, timestamp, body))
    return {
        **dict(zip(HEADERS, values, strict=True)),
        "content-type": "application/json",
        "user-agent": "Crowdgrade-Webhooks/1",
    }


def send(url: str, headers: dict[str, str], body: bytes, vet: Vet) -> Outcome:
    """Send a request once and return its outcome; the body of the response is never read.

    The connection is made only to an IP address that `vet` permits. Redirects are not followed.
    """
    began = time.monotonic()
    try:
        response = asyncio.run(_post(url, headers, body, vet))
    except Exception as error:
        return Outcome(_find_code(error), None, time.monotonic() - began)
    seconds = time.monotonic() - began
    if response.is_success:
        return Outcome("", response.status_code, seconds)
    code = "redirect" if response.is_redirect else "status"
    wait = retry_after(response.headers.get("Retry-After"))
    return Outcome(code, response.status_code, seconds, wait)


async def _post(url: str, headers: dict[str, str], body: bytes, vet: Vet) -> httpx.Response:
    """Return the response to a request, without its body."""
    limits = httpx.Limits(max_connections=1, max_keepalive_connections=0)
    async with (
        # Over the whole attempt: the timeout of httpx starts anew with every part that arrives.
        asyncio.timeout(SECONDS),
        httpx.AsyncClient(
            transport=VettedTransport(vet, limits),
            timeout=SECONDS,
            follow_redirects=False,
            trust_env=False,
        ) as client,
        # A stream: its body could be without end, and only the status counts.
        client.stream("POST", url, content=body, headers=headers) as response,
    ):
        return response


def _find_code(error: Exception) -> str:
    """Return the key of `FAILURES` for an exception; raise it if it is none of the network's."""
    if isinstance(error, AddressRefusedError):
        return "address_refused"
    if isinstance(error, TimeoutError | httpx.TimeoutException):
        return "timeout"
    if isinstance(error, httpx.TransportError):
        return "connection"
    if isinstance(error, httpx.InvalidURL | UnicodeError | ValueError):
        return "unsendable"
    raise error
