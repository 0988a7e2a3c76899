"""Provide a run's vectors: stored ones from the database, missing ones embedded in parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from evaluation.consensus.inputs import Embedded, build_truncation_warning, embed
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.backends import Embedder, EmbedderInfo, get_embedder, parse_spec
from evaluation.core.text.quality import check_language
from evaluation.models import EmbedderVersion, Embedding, text_hash
from evaluation.runs.steps.checkpoints import Lane, Turn

# Texts embedded in one part: what a worker that dies may lose.
PART = 128
# Hashes in one query: databases take only so many parameters.
QUERIED = 500
# Kinds whose vectors depend on nothing but the text, so that they can be kept.
KEPT_KINDS = ("minilm", "sentence-transformers", "openai")

T = TypeVar("T")


def embed_texts(
    parameters: AqerParameters, turn: Turn, answers: Sequence[str], of_models: Sequence[str] | None
) -> Embedded:
    """Return the vectors of workers' and models' non-empty answers, reusing stored ones.

    Raises `BackendError`, and ends the turn between two parts when its time is up.
    """
    found = _embed_or_load(parameters, turn, answers, of_models)
    # All vectors are stored by now, so the next turn, in the computing lane, embeds none again.
    turn.go_on_in(Lane.COMPUTING)
    turn.report("grading", 0, 1)  # which comes next, and tells how far it is only by its draws
    return found


def _embed_or_load(
    parameters: AqerParameters, turn: Turn, answers: Sequence[str], of_models: Sequence[str] | None
) -> Embedded:
    """Return the vectors, by the database if it stores this embedder's, else all embedded."""
    if not has_stored_vectors(parameters.embedder):
        turn.go_on_in(Lane.COMPUTING)
        return embed(parameters, answers, of_models, turn.report)
    texts = [*answers, *(of_models or ())]
    vectors, info, cut = load_or_embed_vectors(
        parameters.embedder, parameters.precision, texts, turn
    )
    n = len(answers)
    found = [build_truncation_warning(cut, info), check_language(texts, info)]
    return Embedded(
        vectors[:n],
        None if of_models is None else vectors[n:],
        info,
        [warning for warning in found if warning],
    )


def has_stored_vectors(spec: str) -> bool:
    """Return whether the database stores the vectors of this kind of embedder."""
    return parse_spec(spec).kind in KEPT_KINDS


def find_lane_of_embedder(spec: str) -> Lane:
    """Return the lane of embedding texts: ASKING if by a server, else COMPUTING."""
    return Lane.ASKING if parse_spec(spec).kind == "openai" else Lane.COMPUTING


@lru_cache(maxsize=2)
def load_embedder(spec: str, precision: str) -> Embedder:
    """Return an embedder, loaded; the latest two stay in memory."""
    return get_embedder(spec, cast(Literal["float32", "bfloat16", "auto"], precision))


def load_or_embed_vectors(
    spec: str, precision: str, texts: Sequence[str], turn: Turn
) -> tuple[NDArray[np.float32], EmbedderInfo, int]:
    """Return one vector per text, the embedder's description, and how many texts were cut.

    Missing vectors are computed in parts; each part is committed on its own, and the turn may end
    between two parts. Longest texts come first, so that the time left is not underestimated.
    """
    embedder = load_embedder(spec, precision)
    distinct = list(dict.fromkeys(texts))
    by_hash = {text_hash(text): text for text in distinct}
    version = _find_version(embedder)
    present = set() if version is None else _find_stored_hashes(version, list(by_hash))
    missing = [text for key, text in by_hash.items() if key not in present]
    missing.sort(key=len, reverse=True)
    done = len(distinct) - len(missing)
    turn.report("embedding", done, len(distinct))
    if missing:
        turn.go_on_in(find_lane_of_embedder(spec))
    for part in _split_into_parts(missing, PART):
        turn.between_parts()
        # Little-endian on every machine: the bytes are stored, and read by others.
        vectors = np.asarray(embedder.embed(part), dtype="<f4")
        with turn.fenced():
            # Only now: a server tells the dimension by its first vector.
            version = version or _get_or_create_version(embedder, vectors.shape[1])
            Embedding.objects.bulk_create(
                [
                    Embedding(
                        embedder=version,
                        text_hash=text_hash(text),
                        dimension=vectors.shape[1],
                        vector=vector.tobytes(),
                    )
                    for text, vector in zip(part, vectors, strict=True)
                ],
                # Another run may have embedded the same text in the meantime.
                ignore_conflicts=True,
            )
            done += len(part)
            turn.report("embedding", done, len(distinct))
    assert version is not None
    # Read back from the database also what was just embedded: of two runs at a time one stored it,
    # and both must compute with the same numbers.
    matrix = _load_matrix(version, by_hash)
    place = {text: at for at, text in enumerate(by_hash.values())}
    rows = np.array([place[text] for text in texts])
    return matrix[rows], embedder.describe(), embedder.n_truncated_


def _find_version(embedder: Embedder) -> EmbedderVersion | None:
    """Return the stored record of an embedder's version; None before its first vector."""
    return EmbedderVersion.objects.filter(**_build_version_key(embedder)).first()


def _get_or_create_version(embedder: Embedder, dimension: int) -> EmbedderVersion:
    """Return the stored record of an embedder's version, created if missing."""
    found, _ = EmbedderVersion.objects.get_or_create(
        **_build_version_key(embedder), defaults={"dimension": dimension}
    )
    return found


def _build_version_key(embedder: Embedder) -> dict[str, object]:
    """Return the column values that identify an embedder's version."""
    info = embedder.describe()
    return {
        "model": info.model,
        "revision": info.revision,
        "precision": info.precision,
        "max_length": info.max_length or 0,
        "prefix": "",
    }


def _find_stored_hashes(version: EmbedderVersion, hashes: Sequence[bytes]) -> set[bytes]:
    """Return which of the text hashes have a stored vector of this embedder."""
    found: set[bytes] = set()
    for part in _split_into_parts(hashes, QUERIED):
        rows = Embedding.objects.filter(embedder=version, text_hash__in=part)
        found.update(bytes(key) for key in rows.values_list("text_hash", flat=True))
    return found


def _load_matrix(version: EmbedderVersion, by_hash: dict[bytes, str]) -> NDArray[np.float32]:
    """Return one stored vector (row) per text hash, in the order of the hashes."""
    matrix = np.empty((len(by_hash), version.dimension), dtype=np.float32)
    place = {key: at for at, key in enumerate(by_hash)}
    for part in _split_into_parts(list(by_hash), QUERIED):
        rows = Embedding.objects.filter(embedder=version, text_hash__in=part)
        for key, vector in rows.values_list("text_hash", "vector"):
            matrix[place[bytes(key)]] = np.frombuffer(vector, dtype="<f4")
    return matrix


def load_stored_vectors(
    version: EmbedderVersion, by_hash: dict[bytes, str]
) -> NDArray[np.float32] | None:
    """Return one stored vector (row) per text hash; None if one is missing."""
    if len(_find_stored_hashes(version, list(by_hash))) < len(by_hash):
        return None
    return _load_matrix(version, by_hash)


def _split_into_parts(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield slices of `items` of at most `size` elements."""
    for first in range(0, len(items), size):
        yield items[first : first + size]
