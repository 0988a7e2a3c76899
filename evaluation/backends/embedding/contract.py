"""What every embedder promises: texts in, one row of numbers each out, and how they were made."""

from __future__ import annotations

import importlib
import importlib.metadata
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evaluation.backends.errors import BackendError

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


Vectors: TypeAlias = "NDArray[np.float32] | csr_matrix"

Progress = Callable[[int, int], None]
"""Called with (texts done, texts in all); the last call has both equal."""

Precision = Literal["float32", "bfloat16", "auto"]
PRECISIONS: tuple[Precision, ...] = ("float32", "bfloat16", "auto")


@dataclass(frozen=True)
class EmbedderInfo:
    """How vectors are made: the part of a run's signature and of a cache key that is about them.

    `dimension` is None where only the first vectors tell it (remote and not yet fitted embedders),
    `max_length` (tokens, longer texts are cut) where there is no limit or only the server knows it,
    `languages` where it is unknown; `binary` is True for bags of words only.
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
        """The fields as plain values, ready for JSON."""
        return asdict(self)


class Embedder(ABC):
    """Turns texts into vectors; vectors of equal texts are equal.

    `n_truncated_` is the number of texts of the last `embed` call that were longer than
    `max_length` and were cut; it stays 0 where nothing is cut or nobody can know.
    """

    name: str
    n_truncated_: int = 0

    @abstractmethod
    def describe(self) -> EmbedderInfo:
        """How the vectors are made."""

    def fit(self, worker_texts: Sequence[str]) -> Self:
        """Learn from all worker answers of a run, in order and with repeats; most learn nothing."""
        return self

    @abstractmethod
    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """One vector a text, in the order of `texts`.

        Comes back: (n, d) float32, or for the lexical embedders (n, d) csr_matrix of float64; all
        values finite. No texts give no rows. Raises BackendError.
        """


def require(module: str, purpose: str, package: str | None = None) -> Any:
    """Import a library at the moment it is needed; BackendError if it is not installed.

    `package` is its name where it is installed from, if that is another.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = package or module.partition(".")[0].replace("_", "-")
        raise BackendError(
            f"{purpose} needs the library {package}, which cannot be imported ({error}): "
            f"install it with `pip install {package}`"
        ) from error


def versions_of(*packages: str) -> dict[str, str]:
    """Installed versions by package name; packages that are absent are left out."""
    found = {}
    for package in packages:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def distinct(texts: Iterable[str]) -> tuple[list[str], NDArray[np.intp]]:
    """The distinct texts in order of first occurrence, and for each text its place among them.

    BackendError: a text with half a character (a lone surrogate, as a broken JSON escape makes
    it), which neither tokenizers nor servers take.
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
