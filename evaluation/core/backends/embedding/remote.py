"""Embed texts with an OpenAI-compatible server: POST URL/embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import httpx
import numpy as np
from numpy.typing import NDArray

from evaluation.core.backends.embedding.contract import (
    Embedder,
    EmbedderInfo,
    Progress,
    find_distinct_texts,
    find_package_versions,
)
from evaluation.core.backends.errors import BackendError, EmbedderError
from evaluation.core.backends.server import OpenAIServer, RetryRules

BATCH = 64
"""Texts that are sent at once; fewer where the server takes fewer."""
REFUSALS = (400, 413, 422)
"""Statuses by which servers refuse a request that holds too many texts."""
EXCERPT_LENGTH = 60
# What can be wrong with an answer: the problem and its remedy, by code.
FAULTS = {
    "no_embeddings": (
        "the answer holds no list of embeddings",
        "check that the model is one for them",
    ),
    "other_count": (
        "{sent} texts were sent and {came} embeddings came back, or their index is not 0, 1, 2 ...",
        "report it to the operator of the server",
    ),
    "unlike_embeddings": (
        "the embeddings are not lists of numbers of one length",
        "check that the model is one for embeddings",
    ),
    "not_finite": ("an embedding holds a value that is not finite", "choose another model"),
    "text_refused": (
        "a single text is refused, {shown!r}: {said}",
        "shorten or leave out that text, or choose another model",
    ),
}


class RemoteEmbedder(Embedder):
    """Embedder on an OpenAI-compatible server, to which it sends the texts in batches.

    See `OpenAIServer` for the key and for retries.
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
        self._server = OpenAIServer(
            "embedder",
            self.name,
            url,
            "embeddings",
            api_key_env=api_key_env,
            patience=RetryRules(attempts, timeout, first_wait, longest_wait),
            error=EmbedderError,
        )
        self._dimension: int | None = None
        self._batch = BATCH

    def describe(self) -> EmbedderInfo:
        """Return the embedder's settings; `dimension` is None before the first `embed`."""
        return EmbedderInfo(
            spec=self.name,
            model=self.model,
            revision="unknown",  # nothing in this protocol tells that the weights changed
            precision="float32",
            dimension=self._dimension,
            versions=find_package_versions("httpx"),
        )

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> NDArray[np.float32]:
        """Return one float32 vector per text; shape (0, 0) for no texts and unknown dimension.

        A refused request is sent again in halves, and no later one holds more texts than the
        server accepted. Raises EmbedderError if the server cannot be reached, refuses even a single
        text, or does not return one finite vector for each text, all of equal length.
        """
        unique, where = find_distinct_texts(texts)
        if not unique:
            return np.empty((0, self._dimension or 0), dtype=np.float32)
        parts: list[NDArray[np.float32]] = []
        with self._server.create_client() as client:
            start = 0
            while start < len(unique):
                batch = unique[start : start + self._batch]
                answer = self._request_batch(client, batch)
                if answer is None:
                    self._batch = len(batch) // 2
                    continue
                parts.append(self._parse_vectors(answer, len(batch)))
                start += len(batch)
                if progress is not None:
                    progress(len(texts) * start // len(unique), len(texts))
        return np.concatenate(parts)[where]

    def _request_batch(self, client: httpx.Client, batch: list[str]) -> Any:
        """Return the server's JSON for a batch of texts; None if it may accept only fewer texts."""
        try:
            return self._server.post(client, {"model": self.model, "input": batch})
        except EmbedderError as error:
            if error.values.get("status") not in REFUSALS:
                raise
            if len(batch) > 1:
                return None
            preview = (
                batch[0] if len(batch[0]) <= EXCERPT_LENGTH else f"{batch[0][:EXCERPT_LENGTH]}..."
            )
            values = {"status": error.values["status"], "text": batch[0], "shown": preview}
            raise self._build_error(
                "text_refused", **values, said=error.values["problem"]
            ) from None

    def _build_error(self, code: str, **values: Any) -> BackendError:
        """Return the exception for a fault code of `FAULTS`, with its message and remedy."""
        problem, remedy = FAULTS[code]
        return self._server.build_error(problem.format_map(values), remedy, code, **values)

    def _parse_vectors(self, answer: Any, expected: int) -> NDArray[np.float32]:
        """Return the vectors in a server's JSON, one row per text. Raises EmbedderError."""
        try:
            # `index` says which text an embedding belongs to, whatever the order of the list.
            items = sorted(answer["data"], key=lambda item: item["index"])
            indices = [item["index"] for item in items]
            rows = [item["embedding"] for item in items]
        except (KeyError, TypeError, IndexError):
            raise self._build_error("no_embeddings") from None
        if indices != list(range(expected)):
            raise self._build_error("other_count", sent=expected, came=len(indices))
        try:
            vectors = np.array(rows, dtype=np.float64)
        except (ValueError, TypeError):
            vectors = np.empty(0)
        known = self._dimension
        if vectors.ndim != 2 or not vectors.shape[1] or known not in (None, vectors.shape[1]):
            raise self._build_error("unlike_embeddings")
        # A finite float64 may be too large for float32: finiteness is checked after the conversion.
        with np.errstate(over="ignore"):
            narrow = vectors.astype(np.float32)
        if not np.isfinite(narrow).all():
            raise self._build_error("not_finite")
        self._dimension = vectors.shape[1]
        return narrow
