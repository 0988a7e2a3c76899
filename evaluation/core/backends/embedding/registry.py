"""Create the embedder that a SPEC names; read precomputed vectors from an .npz file.

The file has one vector for each data row of the answer files.
"""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.core.backends.embedding.contract import PRECISIONS, Embedder, Precision
from evaluation.core.backends.errors import EmbedderError, split_model_at_url

FORMS = (
    "minilm, sentence-transformers:NAME, openai:MODEL@URL, tfidf-word, tfidf-char, bow, "
    "precomputed:FILE.npz"
)
PLAIN = ("minilm", "tfidf-word", "tfidf-char", "bow")
WITH_TARGET = ("sentence-transformers", "openai", "precomputed")
FOR_OPERATORS = ("precomputed", "openai")
"""What only operators may name on the site: it opens a file there or calls another machine."""

WRONG = {
    "unknown_spec": "is unknown",
    "nothing_after_colon": "has nothing after its colon",
    "names_nothing": "names no model or file",
}
"""What is wrong with a SPEC, by code."""


@dataclass(frozen=True)
class EmbedderSpec:
    """Parts of an embedder's SPEC: kind, then model name or file (`target`), URL for openai."""

    text: str
    kind: str
    target: str = ""
    url: str = ""


def parse_embedder_spec(spec: str) -> EmbedderSpec:
    """Return the kind, model and URL in an embedder's SPEC, without loading anything.

    Raises EmbedderError for an invalid SPEC.
    """
    text = spec.strip()
    kind, colon, target = text.partition(":")
    if not colon and kind in PLAIN:
        return EmbedderSpec(text, kind)
    if kind not in WITH_TARGET or not target:
        code = "unknown_spec"
        if kind in WITH_TARGET:
            code = "nothing_after_colon" if colon else "names_nothing"
        raise EmbedderError(f"embedder {spec!r} {WRONG[code]}: choose one of {FORMS}", code)
    if kind != "openai":
        return EmbedderSpec(text, kind, target)
    parts = split_model_at_url(target)
    if parts is None:
        raise EmbedderError(
            f"embedder {spec!r} is not of the form openai:MODEL@URL: write the server's base "
            "address after the @, such as openai:NAME@http://127.0.0.1:8080/v1",
            "no_url",
        )
    return EmbedderSpec(text, kind, *parts)


def find_reserved_kind(spec: str) -> str:
    """Return the kind of a SPEC's embedder if only operators may use it, else ""."""
    kind = find_embedder_kind(spec)
    return kind if kind in FOR_OPERATORS else ""


def find_model_name(spec: str) -> str:
    """Return the hub name or folder of a SPEC sentence-transformers:NAME; "" for any other SPEC."""
    return (
        parse_embedder_spec(spec).target
        if find_embedder_kind(spec) == "sentence-transformers"
        else ""
    )


def find_embedder_kind(spec: str) -> str:
    """Return the embedder kind that a SPEC begins with; "" for an invalid SPEC."""
    try:
        return parse_embedder_spec(spec).kind
    except EmbedderError:
        return ""


def get_embedder(
    spec: str = "minilm",
    precision: Precision = "float32",
    *,
    api_key_env: str = "OPENAI_API_KEY",
) -> Embedder:
    """Create and load the embedder that a SPEC names.

    `precision` is for models that run on this machine: `auto` selects bfloat16 if the processor has
    it, else float32. The other embedders accept and ignore `float32` and `auto`.
    `api_key_env` is the name of the environment variable that holds the key of a remote embedder.
    Raises EmbedderError for an invalid SPEC, or a missing library, model or file.
    """
    if precision not in PRECISIONS:
        raise EmbedderError(f"precision {precision!r} is unknown: choose {', '.join(PRECISIONS)}")
    parsed = parse_embedder_spec(spec)
    if parsed.kind == "precomputed":
        raise EmbedderError(
            f"embedder {spec!r} is a file of vectors and cannot embed texts: "
            "read it with PrecomputedVectors.load",
            "file_of_vectors",
        )
    if parsed.kind == "minilm":
        from evaluation.core.backends.embedding.sentences import load_minilm

        return load_minilm(precision)
    if parsed.kind == "sentence-transformers":
        from evaluation.core.backends.embedding.sentences import load_sentence_model

        return load_sentence_model(parsed.target, precision)
    if precision == "bfloat16":
        raise EmbedderError(
            f"embedder {spec!r} has no bfloat16: leave the precision out, or choose minilm or "
            "sentence-transformers:NAME"
        )
    if parsed.kind == "openai":
        from evaluation.core.backends.embedding.remote import RemoteEmbedder

        return RemoteEmbedder(parsed.target, parsed.url, api_key_env=api_key_env)
    from evaluation.core.backends.embedding.contract import LexicalEmbedder

    return LexicalEmbedder(parsed.kind)


REMEDY = "write it with numpy.savez(FILE, answers=..., models=...), rows by vectors of numbers"
ROWS_AT_ONCE = 65_536  # the check for finite values makes a copy of bools of this many rows


@dataclass(frozen=True)
class PrecomputedVectors:
    """Vectors from an .npz file: a row per worker answer, and a row per model answer if any.

    Whole numbers and bools become float64. The rows may differ for equal texts.
    """

    path: Path
    answers: NDArray[np.floating[Any]]
    models: NDArray[np.floating[Any]] | None = None

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return the vectors in an .npz file, read without unpickling. Raises EmbedderError."""
        path = Path(path)
        try:
            # np.load would hand a single array of an .npy file back, and try to unpickle the rest.
            if not zipfile.is_zipfile(path):
                with path.open("rb"):
                    pass
                raise EmbedderError(f"{path}: this is not an .npz file: {REMEDY}", "no_npz")
            with np.load(path, allow_pickle=False) as arrays:
                answers = _read_array(path, arrays, "answers")
                models = _read_array(path, arrays, "models") if "models" in arrays.files else None
        except OSError as error:
            raise EmbedderError(
                f"{path}: the file of vectors cannot be read ({error.strerror or error}): "
                "check its name and the right to read it"
            ) from error
        except zipfile.BadZipFile as error:
            raise EmbedderError(f"{path}: the .npz file is damaged ({error}): {REMEDY}") from error
        if models is not None and models.shape[1] != answers.shape[1]:
            raise EmbedderError(
                f"{path}: answers have {answers.shape[1]} dimensions, models {models.shape[1]}: "
                "embed both with one model"
            )
        return cls(path, answers, models)

    def check_array(self, array: str, n_rows: int, used_rows: ArrayLike | None = None) -> None:
        """Raise EmbedderError unless the array named `array` fits a file of `n_rows` rows.

        `used_rows` is a mask of n_rows booleans or row indices, None for all; other rows (EMPTY,
        REFUSED, ERROR) may hold any values. It does not fit if it is missing, has another number of
        rows, or has a value in a used row that is not finite (the message has the row, from 0).
        """
        values = {"answers": self.answers, "models": self.models}.get(array)
        if values is None:
            raise EmbedderError(f"{self.path}: there is no array {array!r}: {REMEDY}")
        if len(values) != n_rows:
            raise EmbedderError(
                f"{self.path}: array {array!r} has {len(values)} rows, the file of texts {n_rows} "
                "data rows: give one vector for each data row, also for those without text",
                "wrong_count",
                array=array,
                rows=len(values),
                data_rows=n_rows,
            )
        rows = np.arange(n_rows) if used_rows is None else np.asarray(used_rows)
        if rows.dtype == np.bool_:
            rows = np.flatnonzero(rows)
        rows = rows.astype(np.intp)
        for start in range(0, len(rows), ROWS_AT_ONCE):
            part = rows[start : start + ROWS_AT_ONCE]
            bad = ~np.isfinite(values[part]).all(axis=1)
            if bad.any():
                raise EmbedderError(
                    f"{self.path}: array {array!r} holds a value that is not finite in the row "
                    f"with index {part[np.argmax(bad)]} (the first is 0): embed this row again, or "
                    "mark it as empty, refused or error in the file of texts"
                )


def _read_array(path: Path, arrays: Any, name: str) -> NDArray[np.floating[Any]]:
    """Return the array of a name in an .npz file as two-dimensional floats, else EmbedderError."""
    if name not in arrays.files:
        array_names = ", ".join(arrays.files) or "none"
        raise EmbedderError(f"{path}: there is no array {name!r} (found: {array_names}): {REMEDY}")
    try:
        values = arrays[name]
    except (ValueError, EOFError, MemoryError) as error:
        # numpy refuses object arrays here, since reading them means unpickling.
        raise EmbedderError(
            f"{path}: array {name!r} cannot be read ({error}); arrays of objects are never "
            f"unpickled: {REMEDY}"
        ) from error
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiub":
        kind = getattr(values, "dtype", "no array")
        raise EmbedderError(f"{path}: array {name!r} holds {kind} instead of numbers: {REMEDY}")
    if values.ndim != 2 or values.shape[1] == 0:
        raise EmbedderError(f"{path}: array {name!r} has the shape {values.shape}: {REMEDY}")
    if values.dtype.kind != "f":
        return values.astype(np.float64)
    # The file may have the byte order of another machine.
    return values.astype(values.dtype.newbyteorder("="), copy=False)
