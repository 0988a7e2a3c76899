"""Embeddings from any server that speaks the OpenAI form: POST URL/embeddings."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np
import tenacity
from numpy.typing import NDArray

from evaluation.backends.contract import (
    Embedder,
    EmbedderError,
    EmbedderInfo,
    Progress,
    distinct,
    versions_of,
)

BATCH = 64
ADVICE = {
    401: "check the key in the environment variable {key}",
    403: "check the key in the environment variable {key} and what it is allowed to do",
    404: "check the address (it ends before /embeddings, often with /v1) and the model's name",
}


class RemoteEmbedder(Embedder):
    """A model behind an OpenAI-compatible address.

    The key is read from the environment variable `api_key_env` at each call (unset or empty: no
    Authorization header) and appears nowhere else. Answers 429 and 5xx, lost connections and
    timeouts are tried again, `attempts` times in all, after the seconds of Retry-After or 0.5, 1,
    2 ...; a server that asks for more than `longest_wait` seconds is not waited for. Redirects are
    not followed: a key goes to the named server only.
    """

    def __init__(
        self,
        model: str,
        url: str,
        *,
        api_key_env: str = "OPENAI_API_KEY",
        timeout: float = 60.0,
        attempts: int = 5,
        longest_wait: float = 60.0,
        first_wait: float = 0.5,
    ) -> None:
        self.name = f"openai:{model}@{url}"
        self.model = model
        self.url = _checked(url).rstrip("/")
        self.api_key_env = api_key_env
        self.timeout = timeout
        self.attempts = attempts
        self.longest_wait = longest_wait
        self.first_wait = first_wait
        self._dimension: int | None = None

    def describe(self) -> EmbedderInfo:
        """What is known of the vectors; `dimension` after the first `embed`."""
        return EmbedderInfo(
            spec=self.name,
            model=self.model,
            revision="unknown",  # nothing in this protocol tells that the weights changed
            precision="float32",
            dimension=self._dimension,
            versions=versions_of("httpx"),
        )

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> NDArray[np.float32]:
        """(n, d) float32 in the order of `texts`; (0, 0) for none where d is not known yet.

        EmbedderError: the server cannot be reached, refuses, or answers what is no list of
        embeddings, one a text, all of one length and finite.
        """
        unique, where = distinct(texts)
        if not unique:
            return np.empty((0, self._dimension or 0), dtype=np.float32)
        parts: list[NDArray[np.float32]] = []
        with httpx.Client(timeout=self.timeout, follow_redirects=False) as client:
            for start in range(0, len(unique), BATCH):
                batch = unique[start : start + BATCH]
                parts.append(self._vectors(self._post(client, batch), len(batch)))
                if progress is not None:
                    finished = min(start + BATCH, len(unique))
                    progress(len(texts) * finished // len(unique), len(texts))
        return np.concatenate(parts)[where]

    def _post(self, client: httpx.Client, batch: list[str]) -> Any:
        again = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_AgainError),
            stop=tenacity.stop_after_attempt(self.attempts),
            wait=self._wait,
        )
        try:
            response = again(self._ask, client, batch)
        except tenacity.RetryError as error:
            reason = error.last_attempt.exception()
            raise self._error(
                f"{reason}, {self.attempts} times in a row",
                "see that the server runs and is not overloaded, then start again",
            ) from None
        try:
            return response.json()
        except ValueError:
            raise self._error(
                "the answer is not JSON", "check that the address is an OpenAI-compatible one"
            ) from None

    def _ask(self, client: httpx.Client, batch: list[str]) -> httpx.Response:
        key = self._key()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            response = client.post(
                f"{self.url}/embeddings",
                json={"model": self.model, "input": batch},
                headers=headers,
            )
        except httpx.TimeoutException:
            raise _AgainError(f"no answer within {self.timeout:g} s") from None
        except httpx.TransportError as error:
            raise _AgainError(f"the connection failed ({error})") from None
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            raise self._error(
                f"the request cannot be sent ({type(error).__name__})",
                "check the address and the texts for characters that do not belong there",
            ) from None
        status = response.status_code
        if status == 429 or status >= 500:
            wait = _retry_after(response.headers.get("Retry-After"))
            if wait is not None and wait > self.longest_wait:
                raise self._error(
                    f"the server answered {status} and asks to wait {wait:.0f} s",
                    "start again after that time",
                )
            raise _AgainError(f"the server answered {status}{self._excerpt(response, key)}", wait)
        if status != 200:
            redirect = "a redirect is not followed: give the final address"
            advice = redirect if 300 <= status < 400 else ADVICE.get(status, "see what it says")
            raise self._error(
                f"the server answered {status}{self._excerpt(response, key)}",
                advice.format(key=self.api_key_env),
            )
        return response

    def _wait(self, state: tenacity.RetryCallState) -> float:
        reason = state.outcome.exception() if state.outcome else None
        if isinstance(reason, _AgainError) and reason.wait is not None:
            return reason.wait
        return float(min(self.first_wait * 2 ** (state.attempt_number - 1), self.longest_wait))

    def _vectors(self, answer: Any, expected: int) -> NDArray[np.float32]:
        try:
            items = sorted(answer["data"], key=lambda item: item["index"])
            indices = [item["index"] for item in items]
            rows = [item["embedding"] for item in items]
        except (KeyError, TypeError, IndexError):
            raise self._error(
                "the answer holds no list of embeddings", "check that the model is one for them"
            ) from None
        if indices != list(range(expected)):
            raise self._error(
                f"{expected} texts were sent and {len(indices)} embeddings came back, or their "
                "index is not 0, 1, 2 ...",
                "report it to whoever runs the server",
            )
        try:
            vectors = np.array(rows, dtype=np.float64)
        except (ValueError, TypeError):
            vectors = np.empty(0)
        known = self._dimension
        if vectors.ndim != 2 or not vectors.shape[1] or known not in (None, vectors.shape[1]):
            raise self._error(
                "the embeddings are not lists of numbers of one length",
                "check that the model is one for embeddings",
            )
        with np.errstate(over="ignore"):
            narrow = vectors.astype(np.float32)
        if not np.isfinite(narrow).all():
            raise self._error(
                "an embedding holds a value that is not finite", "choose another model"
            )
        self._dimension = vectors.shape[1]
        return narrow

    def _key(self) -> str:
        key = os.environ.get(self.api_key_env, "").strip()
        # An HTTP library would show the whole header in its complaint.
        if not (key.isascii() and key.isprintable()):
            raise self._error(
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

    def _error(self, what: str, remedy: str) -> EmbedderError:
        return EmbedderError(f"embedder {self.name!r}: {what}: {remedy}")


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


def _checked(url: str) -> str:
    try:
        parts = urlsplit(url)
        port_is_fine = parts.port is None or parts.port > 0
    except ValueError:
        parts, port_is_fine = urlsplit(""), False
    if parts.scheme not in {"http", "https"} or not parts.hostname or not port_is_fine:
        raise EmbedderError(
            "the address of an openai embedder is not one: write http:// or https://, a host and "
            "the path before /embeddings, such as http://127.0.0.1:8080/v1"
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise EmbedderError(
            "the address of an openai embedder holds a user, a query or a fragment: leave them "
            "out, a key belongs into an environment variable"
        )
    return url
