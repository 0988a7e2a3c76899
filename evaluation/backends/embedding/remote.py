"""Embeddings from any server that speaks the OpenAI form: POST URL/embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import httpx
import numpy as np
from numpy.typing import NDArray

from evaluation.backends.embedding.contract import (
    Embedder,
    EmbedderInfo,
    Progress,
    distinct,
    versions_of,
)
from evaluation.backends.errors import EmbedderError
from evaluation.backends.server import OpenAIServer, Patience

BATCH = 64


class RemoteEmbedder(Embedder):
    """A model behind an OpenAI-compatible address.

    For the key, and for what is tried again, see `OpenAIServer`.
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
            patience=Patience(attempts, timeout, first_wait, longest_wait),
            error=EmbedderError,
        )
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
        with self._server.client() as client:
            for start in range(0, len(unique), BATCH):
                batch = unique[start : start + BATCH]
                parts.append(self._vectors(self._ask(client, batch), len(batch)))
                if progress is not None:
                    finished = min(start + BATCH, len(unique))
                    progress(len(texts) * finished // len(unique), len(texts))
        return np.concatenate(parts)[where]

    def _ask(self, client: httpx.Client, batch: list[str]) -> Any:
        return self._server.post(client, {"model": self.model, "input": batch})

    def _vectors(self, answer: Any, expected: int) -> NDArray[np.float32]:
        try:
            items = sorted(answer["data"], key=lambda item: item["index"])
            indices = [item["index"] for item in items]
            rows = [item["embedding"] for item in items]
        except (KeyError, TypeError, IndexError):
            raise self._server.error(
                "the answer holds no list of embeddings", "check that the model is one for them"
            ) from None
        if indices != list(range(expected)):
            raise self._server.error(
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
            raise self._server.error(
                "the embeddings are not lists of numbers of one length",
                "check that the model is one for embeddings",
            )
        with np.errstate(over="ignore"):
            narrow = vectors.astype(np.float32)
        if not np.isfinite(narrow).all():
            raise self._server.error(
                "an embedding holds a value that is not finite", "choose another model"
            )
        self._dimension = vectors.shape[1]
        return narrow
