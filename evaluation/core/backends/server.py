"""Send requests to an OpenAI-compatible server, and classify its answers and failures.

This module handles addresses, keys, the meaning of responses, and whether a retry makes sense.
`post` retries and waits by itself; `attempt` sends one asynchronous request and leaves retries to
its caller (see `evaluation.runs.flow.asking`).
"""

from __future__ import annotations

import asyncio
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from urllib.request import getproxies

import httpx
import tenacity

from annotations.outgoing.connections import (
    MOST_A_POOL,
    AddressRefusedError,
    SpreadTransport,
    Vet,
    VettedTransport,
    load_tls_context,
)
from annotations.outgoing.waiting import parse_retry_after
from evaluation.core.backends.errors import BackendError
from evaluation.core.backends.event_stream import CutStreamError, parse_body

LARGEST = 32 * 1024 * 1024
"""Bytes of one answer that are read by `attempt`; who sends more is not listened to."""

SHORTEST_SECRET = 8
"""Letters; a shorter key hides nothing."""

AGAIN = frozenset({408, 409, 425, 429})
"""Statuses beside 5xx that may pass."""

ADVICE = {
    401: "check the key in the environment variable {key}",
    403: "check the key in the environment variable {key} and what it is allowed to do",
    402: "see to the account at the provider",
    404: "check the address (it ends before /{path}, often with /v1) and the model's name",
}

# Words by which providers say why they turn a request down (error.code, type, innererror.code).
FILTERED = (
    *("content_filter", "content-filter", "content_policy", "responsibleaipolicyviolation"),
    *("content_moderation", "data_inspection_failed", "sensitive_content", "content management"),
)
TOO_LONG = (
    *("context_length_exceeded", "exceed_context_size", "maximum context length"),
    *("max_new_tokens` must be", "context window", "prompt is too long", "input is too long"),
)
# Codes, not "billing": advice on a rate limit may name the page of bills.
NO_MONEY = ("insufficient_quota", "billing_hard_limit", "billing_not_active")
LONGEST_MESSAGE = 500
"""Characters of a server's own message that are shown."""
VERSION = "api-version"
"""What an address may have after a question mark."""


@dataclass(frozen=True)
class RetryRules:
    """Retry rules of one request: number of attempts, timeout and waits, times in seconds.

    Attributes
    ----------
    attempts : largest number of attempts, the first one included.
    timeout : time limit of one attempt, from the first byte sent to the last one read.
    first_wait : wait before the second attempt, doubled before each further one.
    longest_wait : longest wait; if a server asks for more by Retry-After, no attempt follows.
    """

    attempts: int = 5
    timeout: float = 60.0
    first_wait: float = 0.5
    longest_wait: float = 60.0

    def compute_wait(self, attempt: int, requested: float | None = None) -> float:
        """Return the seconds to wait after a failed attempt: as `requested`, else doubled.

        `attempt` is the number of the attempt, from 1.
        """
        if requested is not None:
            return requested
        return float(min(self.first_wait * 2 ** (attempt - 1), self.longest_wait))


class FaultError(Exception):
    """A single attempt to send a request failed; whether to retry, and what to do.

    Attributes
    ----------
    code : connection, timeout, cut, rate_limited, server_error, no_quota, unauthorized,
        not_found, refused_prompt, prompt_too_long, bad_request, redirect, not_json,
        wrong_charset, too_large, unsendable, address_refused, key.
    problem, remedy : what happened and what to do, for people; without the key.
    again : whether another attempt may succeed. wait : seconds that the server asked to wait.
    status, content, headers : of the response, if there was one, with the key removed.
    """

    def __init__(
        self,
        code: str,
        problem: str,
        remedy: str = "read its message",
        *,
        again: bool = False,
        wait: float | None = None,
        status: int | None = None,
        content: bytes = b"",
        headers: httpx.Headers | None = None,
    ) -> None:
        super().__init__(problem)
        self.code, self.problem, self.remedy = code, problem, remedy
        self.again, self.wait = again, wait
        self.status, self.content, self.headers = status, content, headers


class OpenAIServer:
    """An OpenAI-compatible server, with its API key and retry rules.

    The key is read from the environment variable `api_key_env` at each call ("", unset or empty: no
    Authorization header) and appears nowhere else: it is blotted out of what comes back. Redirects
    are not followed: a key goes to the named server only.

    `what` and `name` identify the caller ("embedder", its SPEC); `path` is the endpoint, such as
    "embeddings"; `error` is the class of the exceptions. With `vet` every connection of
    `create_async_client` is checked after its host's name was resolved. Raises `error` for an
    invalid address.
    """

    def __init__(
        self,
        what: str,
        name: str,
        url: str,
        path: str,
        *,
        api_key_env: str,
        patience: RetryRules,
        error: type[BackendError] = BackendError,
        vet: Vet | None = None,
    ) -> None:
        self.what, self.name, self.path = what, name, path
        self.error_class = error
        self.url = _check_url(url, what, path, error).rstrip("/")
        self.api_key_env = api_key_env
        self.patience = patience
        self.vet = vet

    def create_client(self) -> httpx.Client:
        """Return a synchronous client for `post`, to be used in a `with` block."""
        return httpx.Client(
            verify=load_tls_context(), timeout=self.patience.timeout, follow_redirects=False
        )

    def create_async_client(self, at_once: int) -> httpx.AsyncClient:
        """Return an asynchronous client with at most `at_once` connections."""
        # A proxy would connect in our place: vetted and loopback connections go direct.
        own_way = self.vet is not None or _is_loopback(self.url)  # no proxy in between
        transport = None
        if self.vet is not None or (at_once > MOST_A_POOL and (own_way or not getproxies())):
            sizes = [min(MOST_A_POOL, at_once - n) for n in range(0, at_once, MOST_A_POOL)]
            transport = SpreadTransport([self._build_pool(_build_limits(size)) for size in sizes])
        return httpx.AsyncClient(
            verify=load_tls_context(trust_env=not own_way),
            timeout=self.patience.timeout,
            follow_redirects=False,
            limits=_build_limits(at_once),
            trust_env=not own_way,
            transport=transport,
        )

    def _build_pool(self, limits: httpx.Limits) -> httpx.AsyncBaseTransport:
        """Return a pool of connections, in which `vet` (if set) checks each address."""
        if self.vet is not None:
            return VettedTransport(self.vet, limits)
        return httpx.AsyncHTTPTransport(verify=load_tls_context(), limits=limits)

    def post(self, client: httpx.Client, body: dict[str, Any]) -> Any:
        """Send a request by POST, with retries, and return the response's JSON.

        Raises `error`: the server cannot be reached, refuses, or does not answer JSON.
        """
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception(_is_retryable),
            stop=tenacity.stop_after_attempt(self.patience.attempts),
            wait=self._compute_wait,
            reraise=True,
        )
        try:
            return retrying(self._send_once, client, body)
        except FaultError as fault:
            status = {} if fault.status is None else {"status": fault.status}
            if fault.again:
                attempts = self.patience.attempts
                raise self.build_error(
                    f"{fault.problem}, {attempts} times in a row",
                    "see that the server runs and is not overloaded, then start again",
                    fault.code,
                    attempts=attempts,
                    **status,
                ) from None
            raise self.build_error(fault.problem, fault.remedy, fault.code, **status) from None

    async def post_once(
        self, client: httpx.AsyncClient, body: dict[str, Any]
    ) -> tuple[Any, httpx.Headers]:
        """Send a request once by POST; return the response's JSON and headers, or FaultError."""
        key = self._read_key()
        content = bytearray()
        try:
            async with (
                # Over the whole attempt: the timeout of httpx starts anew with every part that
                # arrives.
                asyncio.timeout(self.patience.timeout),
                client.stream(
                    "POST", self._address, json=body, headers=self._build_headers(key)
                ) as response,
            ):
                async for part in response.aiter_bytes():
                    content += part
                    # Counted while it arrives: a server may send without end or Content-Length.
                    if len(content) > LARGEST:
                        raise FaultError(
                            "too_large",
                            f"the answer has more than {LARGEST:,} bytes",
                            "ask for fewer tokens",
                            status=response.status_code,
                        )
        except Exception as error:
            raise self._classify_exception(error) from None
        return self._parse_response(response, bytes(content), key), response.headers

    def _send_once(self, client: httpx.Client, body: dict[str, Any]) -> Any:
        """Send a request once, synchronously; return the response's JSON. Raises FaultError."""
        key = self._read_key()
        try:
            response = client.post(self._address, json=body, headers=self._build_headers(key))
        except Exception as error:
            raise self._classify_exception(error) from None
        return self._parse_response(response, response.content, key)

    @property
    def _address(self) -> str:
        """The full URL to which requests are sent, with the path before any query."""
        base, mark, query = self.url.partition("?")
        base = base.rstrip("/").removesuffix(f"/{self.path}")
        return f"{base}/{self.path}{mark}{query}"

    def _build_headers(self, key: str) -> dict[str, str]:
        """Return the request headers that hold the API key; none without a key."""
        # A server with versions in its addresses takes keys in a header of its own.
        own = {"api-key": key} if key and "?" in self.url else {}
        return _build_auth_header(key) | own

    def _classify_exception(self, error: Exception) -> Exception:
        """Return the FaultError that a transport error means; other exceptions unchanged."""
        if isinstance(error, httpx.ConnectTimeout | httpx.ConnectError):
            problem = f"the connection failed ({error or type(error).__name__})"
            return FaultError("connection", problem, again=True)
        if isinstance(error, httpx.TimeoutException | TimeoutError):
            return FaultError(
                "timeout", f"no answer within {self.patience.timeout:g} s", again=True
            )
        if isinstance(error, httpx.TransportError | httpx.DecodingError):
            return FaultError("cut", f"the connection failed ({error})", again=True)
        if isinstance(error, AddressRefusedError):
            return FaultError(
                "address_refused", str(error), "choose another, or ask who runs this installation"
            )
        if isinstance(error, httpx.HTTPError | httpx.InvalidURL | UnicodeError | ValueError):
            return FaultError(
                "unsendable",
                # Only the type: the message may quote a header, and with it the key.
                f"the request cannot be sent ({type(error).__name__})",
                "check the address and the texts for characters that do not belong there",
            )
        return error

    def _parse_response(self, response: httpx.Response, content: bytes, key: str) -> Any:
        """Return a response's JSON, the API key removed; FaultError for another status than 200."""
        status, headers = response.status_code, response.headers
        # Dummy keys such as "EMPTY", for servers without keys, are also words of normal answers.
        if key and (status != 200 or (len(key) >= SHORTEST_SECRET and not key.isalpha())):
            # JSON may write a slash as \/.
            for key_form in (key, key.replace("/", "\\/")):
                content = content.replace(key_form.encode(), b"[key]")
        details: dict[str, Any] = {"status": status, "content": content, "headers": headers}
        if status == 200:
            try:
                return parse_body(_decode_body(content, response))
            except CutStreamError as error:
                raise FaultError("cut", str(error), again=True, **details) from None
            except UnicodeDecodeError:
                raise FaultError(
                    "wrong_charset",
                    "the answer is not JSON: it holds bytes that are not UTF-8",
                    "see what the server sends",
                    **details,
                ) from None
            except (ValueError, RecursionError):
                raise FaultError(
                    "not_json",
                    "the answer is not JSON",
                    "check that the address is an OpenAI-compatible one",
                    **details,
                ) from None
        raise classify_failure(
            status,
            content,
            headers,
            path=self.path,
            api_key_env=self.api_key_env,
            longest_wait=self.patience.longest_wait,
        )

    def _compute_wait(self, state: tenacity.RetryCallState) -> float:
        """Return the seconds to wait before the next attempt, from tenacity's state of the call."""
        reason = state.outcome.exception() if state.outcome else None
        requested = reason.wait if isinstance(reason, FaultError) else None
        return self.patience.compute_wait(state.attempt_number, requested)

    def _read_key(self) -> str:
        """Return the API key from the environment; "" without one. Raises FaultError."""
        key = os.environ.get(self.api_key_env, "").strip()
        # An HTTP library would show the whole header in its complaint.
        if not (key.isascii() and key.isprintable()):
            raise FaultError(
                "key",
                f"the key in the environment variable {self.api_key_env} holds a character that "
                "no key has",
                "set it anew",
            )
        return key

    def build_error(self, problem: str, remedy: str, code: str = "", **values: Any) -> BackendError:
        """Return an exception that names the caller, the problem and the remedy."""
        text = f"{self.what} {self.name!r}: {problem}: {remedy}"
        return self.error_class(text, code, **{**values, "name": self.name, "problem": problem})


def classify_failure(
    status: int,
    content: bytes,
    headers: httpx.Headers | None = None,
    *,
    path: str = "chat/completions",
    api_key_env: str = "OPENAI_API_KEY",
    longest_wait: float = math.inf,
) -> FaultError:
    """Return the FaultError for a response with a status other than 200, by status and message."""
    details: dict[str, Any] = {"status": status, "content": content, "headers": headers}
    body = content.decode(errors="replace")
    excerpt = _extract_excerpt(body)
    problem = f"the server answered {status}" + (f" ({excerpt})" if excerpt else "")
    lower_body = body[:5000].casefold()
    # A used-up quota may come as 429, like a rate limit, but waiting does not help.
    if status == 402 or (status == 429 and any(word in lower_body for word in NO_MONEY)):
        return FaultError("no_quota", problem, "see to the account", **details)
    if status in AGAIN or status >= 500:
        wait = parse_retry_after(headers.get("Retry-After")) if headers is not None else None
        code = "rate_limited" if status == 429 else "server_error"
        if wait is not None and wait > longest_wait:
            problem = f"the server answered {status} and asks to wait {wait:.0f} s"
            return FaultError(code, problem, "start again after that time", wait=wait, **details)
        return FaultError(code, problem, again=True, wait=wait, **details)
    redirect = "a redirect is not followed: give the final address"
    advice = redirect if 300 <= status < 400 else ADVICE.get(status, "read its message")
    if not api_key_env and status in (401, 403):
        advice = "name the environment variable that holds the key"
    advice = advice.format(key=api_key_env, path=path)
    return FaultError(_choose_fault_code(status, lower_body), problem, advice, **details)


def find_error_message(value: Any, depth: int = 0) -> str:
    """Return the message in a server's error JSON, searched 4 levels deep; "" without one."""
    message = ""
    if isinstance(value, str):
        message = value
    elif isinstance(value, list) and depth < 4:
        message = "; ".join(
            filter(None, (find_error_message(item, depth + 1) for item in value[:5]))
        )
    elif isinstance(value, Mapping) and depth < 4:
        for name in ("message", "msg", "detail", "error", "errors", "error_description", "title"):
            if message := find_error_message(value.get(name), depth + 1):
                break
        else:
            message = str(value.get("code") or value.get("type") or "")
    return " ".join(message.split())[:LONGEST_MESSAGE]


def _extract_excerpt(body: str) -> str:
    """Return the error message in a response's body, else the body's first 200 characters."""
    try:
        message = find_error_message(json.loads(body))
    except (ValueError, RecursionError):
        message = ""
    return message or " ".join(body[:2000].split())[:200]


def _is_retryable(error: BaseException) -> bool:
    """Return whether another attempt may succeed after this error."""
    return isinstance(error, FaultError) and error.again


def _build_auth_header(key: str) -> dict[str, str]:
    """Return the Authorization header; empty without a key."""
    return {"Authorization": f"Bearer {key}"} if key else {}


def _choose_fault_code(status: int, words: str) -> str:
    """Return the fault code for an HTTP status that is not retried; `words` is the error text."""
    if status in {400, 403, 422} and any(word in words for word in FILTERED):
        return "refused_prompt"
    if status == 413 or (status in {400, 422} and any(word in words for word in TOO_LONG)):
        return "prompt_too_long"
    if status < 400:
        return "redirect"
    return {401: "unauthorized", 403: "unauthorized", 404: "not_found"}.get(status, "bad_request")


def _decode_body(content: bytes, response: httpx.Response) -> str:
    """Return a response's body as text: UTF-8, or the character set that the server names."""
    try:
        # -sig drops a byte order mark, which is not JSON.
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        try:
            return content.decode(response.charset_encoding or "utf-8")
        except LookupError:
            pass
        raise


def _build_limits(connections: int) -> httpx.Limits:
    """Return the limits of a pool of `connections` connections, all of which are kept alive."""
    return httpx.Limits(max_connections=connections, max_keepalive_connections=connections)


def _is_loopback(url: str) -> bool:
    """Return whether the URL's host is this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _check_url(url: str, what: str, path: str, error: type[BackendError]) -> str:
    """Return the URL unchanged. Raises `error` unless it is a plain HTTP URL."""
    try:
        parts = urlsplit(url)
        port_is_fine = parts.port is None or parts.port > 0
    except ValueError:
        parts, port_is_fine = urlsplit(""), False
    if parts.scheme not in {"http", "https"} or not parts.hostname or not port_is_fine:
        raise error(
            f"the address of an openai {what} is not one: write http:// or https://, a host and "
            f"the path before /{path}, such as http://127.0.0.1:8080/v1",
            "no_address",
        )
    names = [name.casefold() for name, _ in parse_qsl(parts.query, keep_blank_values=True)]
    query_is_fine = names == [VERSION] if parts.query else not url.endswith("?")
    if parts.username is not None or not query_is_fine or parts.fragment:
        raise error(
            f"the address of an openai {what} holds a user, a query or a fragment: leave them "
            f"out, a key belongs into an environment variable (only ?{VERSION}=... may stay)",
            "more_than_address",
        )
    return url
