"""Embed texts by counting: TF-IDF of words or characters, and a binary bag of words."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from evaluation.core.backends.embedding.contract import (
    Embedder,
    EmbedderInfo,
    Progress,
    find_versions,
    import_library,
)
from evaluation.core.backends.errors import EmbedderError

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "tfidf-word": ("TfidfVectorizer", {"sublinear_tf": True}),
    "tfidf-char": (
        "TfidfVectorizer",
        {
            "analyzer": "char_wb",
            "ngram_range": (2, 4),
            "max_features": 20_000,
            "sublinear_tf": True,
        },
    ),
    "bow": ("CountVectorizer", {"binary": True}),
}


class LexicalEmbedder(Embedder):
    """Embedder that counts words or characters, fitted on the worker answers of a run.

    Rows are float64 and sparse; TF-IDF rows have length 1, or 0 without a known term (methods.md,
    section 1). `revision` is a hash of the fitted texts, "unfitted" before `fit`.
    """

    def __init__(self, kind: str) -> None:
        self.name = kind
        vectorizer, self._options = KINDS[kind]
        text = import_library("sklearn.feature_extraction.text", f"embedder {kind!r}")
        self._vectorizer = getattr(text, vectorizer)(**self._options)
        self._revision = "unfitted"
        self._dimension: int | None = None

    def describe(self) -> EmbedderInfo:
        """Return how the vectors are made; `model` names the vectorizer's options."""
        options = ", ".join(f"{key}={value!r}" for key, value in self._options.items())
        return EmbedderInfo(
            spec=self.name,
            model=f"{type(self._vectorizer).__name__}({options})",
            revision=self._revision,
            precision="float64",
            dimension=self._dimension,
            binary=self.name == "bow",
            versions=find_versions("scikit-learn", "scipy", "numpy"),
        )

    def fit(self, worker_texts: Sequence[str]) -> Self:
        """Fit the vocabulary and document frequencies on all answers, repeats included.

        EmbedderError where no text holds a term.
        """
        self.fit_embed(worker_texts)
        return self

    def fit_embed(self, worker_texts: Sequence[str]) -> csr_matrix:
        """Fit as `fit` does, and return the vectors of the same texts."""
        from scipy.sparse import csr_matrix

        try:
            counted = self._vectorizer.fit_transform(worker_texts)
        except ValueError as error:
            raise EmbedderError(
                f"embedder {self.name!r} found no term in {len(worker_texts)} worker answers "
                f"({error}): are the answers in the right column? tfidf-word and bow drop words of "
                "one character; tfidf-char or minilm take them",
                "no_terms",
                texts=len(worker_texts),
            ) from error
        digest = hashlib.sha256()
        for text in worker_texts:
            data = text.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "big") + data)
        self._revision = digest.hexdigest()[:12]
        self._dimension = len(self._vectorizer.vocabulary_)
        rows = csr_matrix(counted, dtype=float)
        rows.sort_indices()
        return rows

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> csr_matrix:
        """Return one sparse row per text; a text without a known term has a row of zeros."""
        from scipy.sparse import csr_matrix

        if self._dimension is None:
            raise EmbedderError(
                f"embedder {self.name!r} has not seen the worker answers: call fit(texts) first",
                "not_fitted",
            )
        if not texts:
            return csr_matrix((0, self._dimension), dtype=float)
        rows = csr_matrix(self._vectorizer.transform(texts), dtype=float)
        rows.sort_indices()
        if progress is not None:
            progress(len(texts), len(texts))
        return rows
