"""A server that speaks the OpenAI form: POST URL/path with JSON, asked again where that helps."""

from __future__ import annotations

import math
import os
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import httpx
import tenacity

from evaluation.backends.embedding.contract import EmbedderError

ADVICE = {
    401: "check the key in the environment variable {key}",
    403: "check the key in the environment variable {key} and what it is allowed to do",
    404: "check the address (it ends before /{path}, often with /v1) and the model's name",
}


class OpenAIServer:
    """An OpenAI-compatible address.

    The key is read from the environment variable `api_key_env` at each call (unset or empty: no
    Authorization header) and appears nowhere else. Answers 429 and 5xx, lost connections and
    timeouts are tried again, `attempts` times in all, after the seconds of Retry-After or 0.5, 1,
    2 ...; a server that asks for more than `longest_wait` seconds is not waited for. Redirects are
    not followed: a key goes to the named server only.

    `what` and `name` say who asks ("embedder", its SPEC); `path` is what is asked, such as
    "embeddings". EmbedderError: the address is none.
    """

    def __init__(
        self,
        what: str,
        name: str,
        url: str,
        path: str,
        *,
        api_key_env: str,
        timeout: float,
        attempts: int,
        longest_wait: float,
        first_wait: float,
    ) -> None:
        self.what, self.name, self.path = what, name, path
        self.url = _checked(url, what, path).rstrip("/")
        self.api_key_env = api_key_env
        self.timeout = timeout
        self.attempts = attempts
        self.longest_wait = longest_wait
        self.first_wait = first_wait

    def client(self) -> httpx.Client:
        """Return connections for `post`, to be closed by a `with` block."""
        return httpx.Client(timeout=self.timeout, follow_redirects=False)

    def post(self, client: httpx.Client, body: dict[str, Any]) -> Any:
        """Return the answer's JSON.

        EmbedderError: the server cannot be reached, refuses, or does not answer JSON.
        """
        again = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_AgainError),
            stop=tenacity.stop_after_attempt(self.attempts),
            wait=self._wait,
        )
        try:
            response = again(self._ask, client, body)
        except tenacity.RetryError as error:
            reason = error.last_attempt.exception()
            raise self.error(
                f"{reason}, {self.attempts} times in a row",
                "see that the server runs and is not overloaded, then start again",
            ) from None
        try:
            return response.json()
        except ValueError:
            raise self.error(
                "the answer is not JSON", "check that the address is an OpenAI-compatible one"
            ) from None

    def _ask(self, client: httpx.Client, body: dict[str, Any]) -> httpx.Response:
        key = self._key()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            response = client.post(f"{self.url}/{self.path}", json=body, headers=headers)
        except httpx.TimeoutException:
            raise _AgainError(f"no answer within {self.timeout:g} s") from None
        except httpx.TransportError as error:
            raise _AgainError(f"the connection failed ({error})") from None
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            raise self.error(
                f"the request cannot be sent ({type(error).__name__})",
                "check the address and the texts for characters that do not belong there",
            ) from None
        status = response.status_code
        if status == 429 or status >= 500:
            wait = _retry_after(response.headers.get("Retry-After"))
            if wait is not None and wait > self.longest_wait:
                raise self.error(
                    f"the server answered {status} and asks to wait {wait:.0f} s",
                    "start again after that time",
                )
            raise _AgainError(f"the server answered {status}{self._excerpt(response, key)}", wait)
        if status != 200:
            redirect = "a redirect is not followed: give the final address"
            advice = redirect if 300 <= status < 400 else ADVICE.get(status, "see what it says")
            raise self.error(
                f"the server answered {status}{self._excerpt(response, key)}",
                advice.format(key=self.api_key_env, path=self.path),
            )
        return response

    def _wait(self, state: tenacity.RetryCallState) -> float:
        reason = state.outcome.exception() if state.outcome else None
        if isinstance(reason, _AgainError) and reason.wait is not None:
            return reason.wait
        return float(min(self.first_wait * 2 ** (state.attempt_number - 1), self.longest_wait))

    def _key(self) -> str:
        key = os.environ.get(self.api_key_env, "").strip()
        # An HTTP library would show the whole header in its complaint.
        if not (key.isascii() and key.isprintable()):
            raise self.error(
                f"the key in the environment variable {self.api_key_env} holds a character that "
                "no key has",
                "set it anew",
            )
        return key

    def _excerpt(self, response: httpx.Response, key: str) -> str:
        text = " ".join(response.text.split())
        if key:
            text = text.replace(key, "[key]")
        return f" ({text[:200]})" if text else ""

    def error(self, problem: str, remedy: str) -> EmbedderError:
        """Return the error that says who asked, what happened and what to do."""
        return EmbedderError(f"{self.what} {self.name!r}: {problem}: {remedy}")


class _AgainError(Exception):
    """Something that may pass; `wait` in seconds if the server said how long."""

    def __init__(self, what: str, wait: float | None = None) -> None:
        super().__init__(what)
        self.wait = wait


def _retry_after(value: str | None) -> float | None:
    """Seconds to wait, from a number or a date; None where there is neither."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            date = parsedate_to_datetime(value)
        except ValueError:
            return None
        date = date if date.tzinfo else date.replace(tzinfo=UTC)
        seconds = (date - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _checked(url: str, what: str, path: str) -> str:
    try:
        parts = urlsplit(url)
        port_is_fine = parts.port is None or parts.port > 0
    except ValueError:
        parts, port_is_fine = urlsplit(""), False
    if parts.scheme not in {"http", "https"} or not parts.hostname or not port_is_fine:
        raise EmbedderError(
            f"the address of an openai {what} is not one: write http:// or https://, a host and "
            f"the path before /{path}, such as http://127.0.0.1:8080/v1"
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise EmbedderError(
            f"the address of an openai {what} holds a user, a query or a fragment: leave them "
            "out, a key belongs into an environment variable"
        )
    return url
