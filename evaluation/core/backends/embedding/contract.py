"""Contract of embedders (one vector per text), and embedders that count words or characters."""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evaluation.core.backends.errors import BackendError, EmbedderError

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


Vectors: TypeAlias = "NDArray[np.float32] | csr_matrix"

Progress = Callable[[int, int], None]
"""Called with (texts done, texts in all); the last call has both equal."""

Precision = Literal["float32", "bfloat16", "auto"]
PRECISIONS: tuple[Precision, ...] = ("float32", "bfloat16", "auto")


@dataclass(frozen=True)
class EmbedderInfo:
    """An embedder's model, precision and versions, for run signatures and cache keys.

    `dimension` is None before the first vectors of a remote or unfitted embedder. `max_length` is
    in tokens (longer texts are cut), None for no limit or one that only the server knows.
    `languages` is None if unknown; `binary` is True only for `bow` (which words a text has).
    """

    spec: str
    model: str
    revision: str
    precision: str
    dimension: int | None
    max_length: int | None = None
    languages: str | None = None
    binary: bool = False
    versions: Mapping[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return all fields as plain values, ready for JSON."""
        return asdict(self)


class Embedder(ABC):
    """Contract of an embedder: converts texts into vectors; equal texts have equal vectors.

    `n_truncated_` is the number of texts of the last `embed` call that were longer than
    `max_length` and were cut; it stays 0 where nothing is cut or the number is unknown.
    """

    name: str
    n_truncated_: int = 0

    @abstractmethod
    def describe(self) -> EmbedderInfo:
        """Return the embedder's model, revision and precision, for signatures and cache keys."""

    def fit(self, worker_texts: Sequence[str]) -> Self:
        """Fit on all worker answers of a run, repeats included; does nothing by default."""
        return self

    @abstractmethod
    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Return one finite vector for each text, in order. Raises BackendError.

        (n, d) float32, or an (n, d) csr_matrix of float64 for the lexical embedders. No texts give
        no rows.
        """


def import_library(module: str, purpose: str, package: str | None = None) -> Any:
    """Import a library on demand. Raises BackendError if it is not installed.

    `purpose` is the feature that needs it, for the message; `package` is its name for pip, if that
    differs from the module's.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = package or module.partition(".")[0].replace("_", "-")
        raise BackendError(
            f"{purpose} needs the library {package}, which cannot be imported ({error}): "
            f"install it with `pip install {package}`"
        ) from error


def find_package_versions(*packages: str) -> dict[str, str]:
    """Return the installed version of each package by name; missing packages are left out."""
    versions = {}
    for package in packages:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def find_distinct_texts(texts: Iterable[str]) -> tuple[list[str], NDArray[np.intp]]:
    """Return the distinct texts in order of appearance, and the index of each text in them.

    Raises BackendError for a text with a lone surrogate (as a broken JSON escape gives), which
    neither tokenizers nor servers accept.
    """
    places: dict[str, int] = {}
    where = [places.setdefault(text, len(places)) for text in texts]
    for text, place in places.items():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise BackendError(
                f"distinct text number {place + 1} ({text[:40]!a}) holds half a character at "
                f"place {error.start + 1}: mend it in the file of texts",
                "half_character",
                text=place + 1,
                place=error.start + 1,
            ) from error
    return list(places), np.asarray(where, dtype=np.intp)


# Fixed by methods.md, section 1: other options would be another embedder under the same name.
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
        """Return the embedder's settings; `model` names the vectorizer and its options."""
        options = ", ".join(f"{key}={value!r}" for key, value in self._options.items())
        return EmbedderInfo(
            spec=self.name,
            model=f"{type(self._vectorizer).__name__}({options})",
            revision=self._revision,
            precision="float64",
            dimension=self._dimension,
            binary=self.name == "bow",
            versions=find_package_versions("scikit-learn", "scipy", "numpy"),
        )

    def fit(self, worker_texts: Sequence[str]) -> Self:
        """Fit the vocabulary and document frequencies on all answers, repeats included.

        Raises EmbedderError if no text contains a term.
        """
        self.fit_and_embed(worker_texts)
        return self

    def fit_and_embed(self, worker_texts: Sequence[str]) -> csr_matrix:
        """Fit on the worker answers as `fit` does, and return their vectors."""
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
            # "surrogatepass": plain UTF-8 refuses half characters, which the vectorizers accept.
            # The length comes first, because any separator could occur in a text.
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
