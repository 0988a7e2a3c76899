"""Provide a run's vectors: stored ones from the database, missing ones embedded in parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from evaluation.consensus.inputs import EmbeddedAnswers, build_truncation_warning, embed
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.backends import (
    Embedder,
    EmbedderInfo,
    Progress,
    Vectors,
    get_embedder,
    parse_embedder_spec,
)
from evaluation.core.backends.embedding.contract import PRECISIONS
from evaluation.core.text.quality import find_language_warning
from evaluation.models import EmbedderVersion, Embedding, RunTask, compute_text_hash
from evaluation.runs.steps.checkpoints import Lane, RunInputError, Turn
from evaluation.runs.steps.run_tasks import (
    count_truncated_texts,
    measure_task_speed,
    split_by_work,
    store_task_progress,
    store_tasks,
)

# Texts embedded in one part: what a worker that dies may lose.
PART = 128
# Hashes in one query: databases take only so many parameters.
QUERIED = 500
# Kinds whose vectors depend on nothing but the text, so that they can be kept.
KEPT_KINDS = ("minilm", "sentence-transformers", "openai")

T = TypeVar("T")


def embed_answers(
    parameters: AqerParameters, turn: Turn, answers: Sequence[str], of_models: Sequence[str] | None
) -> EmbeddedAnswers:
    """Return the vectors of workers' and models' non-empty answers, reusing stored ones.

    Raises `BackendError`, and ends the turn between two parts when its time is up.
    """
    embedded = _embed_or_load(parameters, turn, answers, of_models)
    # All vectors are stored by now, so the next turn, in the computing lane, embeds none again.
    turn.require_lane(Lane.COMPUTING)
    turn.report_progress(
        "grading", 0, 1
    )  # which comes next, and tells how far it is only by its draws
    return embedded


def _embed_or_load(
    parameters: AqerParameters, turn: Turn, answers: Sequence[str], of_models: Sequence[str] | None
) -> EmbeddedAnswers:
    """Return the vectors of answers, read from the database if it stores this embedder's."""
    if not is_cached_embedder(parameters.embedder):
        turn.require_lane(Lane.COMPUTING)
        return embed(parameters, answers, of_models, turn.report_progress)
    texts = [*answers, *(of_models or ())]
    vectors, info, cut = load_or_embed_vectors(
        parameters.embedder, parameters.precision, texts, turn
    )
    n = len(answers)
    messages = [build_truncation_warning(cut, info), find_language_warning(texts, info)]
    return EmbeddedAnswers(
        vectors[:n],
        None if of_models is None else vectors[n:],
        info,
        [warning for warning in messages if warning],
    )


def is_cached_embedder(spec: str) -> bool:
    """Return whether the database stores the vectors of embedders of this kind (SPEC)."""
    return parse_embedder_spec(spec).kind in KEPT_KINDS


def find_embedding_lane(spec: str) -> Lane:
    """Return the lane of embedding: ASKING for an embedder on a server, else COMPUTING."""
    return Lane.ASKING if parse_embedder_spec(spec).kind == "openai" else Lane.COMPUTING


class StoredEmbedder(Embedder):
    """Embedder for a run's turn that reads stored vectors, and computes and stores missing ones.

    `embed` raises what `load_or_embed_vectors` does, which ends the turn; the next turn calls it
    with the same texts and finds them stored.
    """

    def __init__(self, turn: Turn, spec: str, precision: str) -> None:
        self.name = spec
        self._turn, self._spec, self._precision = turn, spec, precision
        self._info: EmbedderInfo | None = None

    def describe(self) -> EmbedderInfo:
        """Return the embedder's model, revision and other facts about its vectors."""
        return self._info or load_embedder(self._spec, self._precision).describe()

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Return one vector per text; the turn reports the progress itself."""
        if not texts:
            return load_embedder(self._spec, self._precision).embed(texts)
        vectors, self._info, self.n_truncated_ = load_or_embed_vectors(
            self._spec, self._precision, texts, self._turn
        )
        return vectors


def open_stored_embedder(turn: Turn, spec: str, precision: str) -> StoredEmbedder | None:
    """Return an embedder whose vectors the database stores; None for other kinds of embedder."""
    return StoredEmbedder(turn, spec, precision) if is_cached_embedder(spec) else None


@lru_cache(maxsize=2)
def load_embedder(spec: str, precision: str) -> Embedder:
    """Return an embedder, loaded; the latest two stay in memory."""
    return get_embedder(spec, cast(Literal["float32", "bfloat16", "auto"], precision))


def load_or_embed_vectors(
    spec: str, precision: str, texts: Sequence[str], turn: Turn
) -> tuple[NDArray[np.float32], EmbedderInfo, int]:
    """Return one vector per text, the embedder's description, and how many texts were cut.

    Many missing vectors are computed by tasks of all background processes (`WaitsForTasksError`
    ends the turn), few in this turn in parts: each part is committed on its own, and the turn may
    end between two parts. Longest texts come first, so that the time left is not underestimated.
    """
    embedder = load_embedder(spec, precision)
    distinct = list(dict.fromkeys(texts))
    by_hash = {compute_text_hash(text): text for text in distinct}
    version = _find_version_of_embedder(embedder)
    present = set() if version is None else _find_stored_hashes(version, list(by_hash))
    missing = [text for key, text in by_hash.items() if key not in present]
    missing.sort(key=len, reverse=True)
    done = len(distinct) - len(missing)
    turn.report_progress("embedding", done, len(distinct))
    # Of vectors that another run stored it is not known whether their texts were cut.
    cut = count_truncated_texts(turn.run_id, build_task_subject(spec, embedder))
    if missing:
        turn.require_lane(find_embedding_lane(spec))
        _store_embedding_tasks(turn, spec, precision, embedder, missing)
    for part in _split_into_parts(missing, PART):
        turn.check_interruption()
        vectors = embed_for_storage(embedder, part)
        cut += embedder.n_truncated_
        with turn.open_fenced_transaction():
            store_vectors(embedder, part, vectors)
            done += len(part)
            turn.report_progress("embedding", done, len(distinct))
    # Only now: a server tells the dimension by its first vector.
    version = version or _find_version_of_embedder(embedder)
    assert version is not None
    # Read back from the database also what was just embedded: of two runs at a time one stored it,
    # and both must compute with the same numbers.
    matrix = _load_vector_matrix(version, by_hash)
    info = embedder.describe()
    # A server's embedder that has sent nothing in this process does not know it.
    if info.dimension is None:
        info = replace(info, dimension=version.dimension)
    return _spread_to_texts(matrix, by_hash, texts), info, cut


# Work of a task of texts: each character, and for each text as much as this many characters. So
# counted, MiniLM's speed is about the same for short and long texts.
WORK_OF_A_TEXT = 32
# Work a second before any task was measured: MiniLM on one core of 2023.
GUESSED_SPEED = 12_000.0


def _store_embedding_tasks(
    turn: Turn, spec: str, precision: str, embedder: Embedder, texts: Sequence[str]
) -> None:
    """Store tasks to embed the texts, which ends the turn; do nothing if one turn suffices."""
    subject = build_task_subject(spec, embedder)
    speed = measure_task_speed(subject, GUESSED_SPEED)
    payloads = [
        (
            len(texts[part]),
            {
                "spec": spec,
                # The one in use and not "auto": another machine must make the same vectors.
                "precision": _choose_precision(precision, embedder),
                "version": _build_version_key(embedder.describe()),
                "texts": list(texts[part]),
            },
        )
        for part in split_by_work([len(text) + WORK_OF_A_TEXT for text in texts], speed)
    ]
    if payloads:
        store_tasks(turn, RunTask.Kind.EMBEDDING, subject, find_embedding_lane(spec), payloads)


def embed_task_texts(turn: Turn, task: RunTask) -> None:
    """Embed and store a task's texts in parts, without those that are stored by now.

    Raises `RunInputError` if this process has another version of the embedder than the run.
    """
    data: dict[str, Any] = dict(task.payload or {})
    embedder = load_embedder(data["spec"], data["precision"])
    version_key = _build_version_key(embedder.describe())
    if version_key != data["version"]:
        raise RunInputError(
            "run.other_embedder",
            wanted=_format_embedder_version(data["version"]),
            found=_format_embedder_version(version_key),
        )
    texts = data["texts"]
    while texts:
        turn.check_interruption()
        part, texts = texts[:PART], texts[PART:]
        version = _find_version_of_embedder(embedder)
        stored = (
            _find_stored_hashes(version, list(map(compute_text_hash, part))) if version else set()
        )
        missing = [text for text in part if compute_text_hash(text) not in stored]
        began = turn.clock()
        vectors = embed_for_storage(embedder, missing) if missing else None
        seconds = turn.clock() - began
        with turn.open_fenced_transaction():
            if vectors is not None:
                store_vectors(embedder, missing, vectors)
            store_task_progress(
                task,
                len(part),
                {**data, "texts": texts},
                sum(len(text) + WORK_OF_A_TEXT for text in missing),
                seconds,
                embedder.n_truncated_ if missing else 0,
            )


def build_task_subject(spec: str, embedder: Embedder) -> str:
    """Return the `subject` of embedding tasks, by which the speed of an embedder is measured."""
    return f"{spec} {embedder.describe().precision}"


def embed_for_storage(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """Return the vectors of texts, one a row, as the cache stores them: little-endian float32."""
    return np.asarray(embedder.embed(texts), dtype="<f4")


def store_vectors(
    embedder: Embedder, texts: Sequence[str], vectors: NDArray[np.float32]
) -> EmbedderVersion:
    """Store the vectors of texts, without those that are stored; return the embedder's version."""
    version = _get_or_create_version(embedder, vectors.shape[1])
    rows = [
        Embedding(
            embedder=version,
            text_hash=compute_text_hash(text),
            dimension=vectors.shape[1],
            vector=vector.tobytes(),
        )
        for text, vector in zip(texts, vectors, strict=True)
    ]
    # In the order of the hashes: two processes that store some of the same texts at the same time
    # would otherwise wait for each other's rows.
    rows.sort(key=lambda row: bytes(row.text_hash))
    # Another run may have embedded the same text in the meantime.
    Embedding.objects.bulk_create(rows, ignore_conflicts=True)
    return version


def _choose_precision(precision: str, embedder: Embedder) -> str:
    """Return the precision with which `load_embedder` loads this embedder again."""
    found = embedder.describe().precision
    return found if precision == "auto" and found in PRECISIONS else precision


def _format_embedder_version(key: Mapping[str, object]) -> str:
    """Return an embedder's model, revision and precision as one line of text."""
    return " ".join(str(key[name]) for name in ("model", "revision", "precision") if key[name])


def _find_version_of_embedder(embedder: Embedder) -> EmbedderVersion | None:
    """Return the stored version of this embedder; None before its first vector."""
    return find_embedder_version(embedder.describe())


def _get_or_create_version(embedder: Embedder, dimension: int) -> EmbedderVersion:
    """Return the stored version of this embedder; create it if missing."""
    found, _ = EmbedderVersion.objects.get_or_create(
        **_build_version_key(embedder.describe()), defaults={"dimension": dimension}
    )
    return found


def _build_version_key(info: EmbedderInfo) -> dict[str, object]:
    """Return the column values that identify an embedder's version."""
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


def _load_vector_matrix(version: EmbedderVersion, by_hash: dict[bytes, str]) -> NDArray[np.float32]:
    """Return the matrix of stored vectors, a row for each text hash in their order."""
    matrix = np.empty((len(by_hash), version.dimension), dtype=np.float32)
    place = {key: at for at, key in enumerate(by_hash)}
    for part in _split_into_parts(list(by_hash), QUERIED):
        rows = Embedding.objects.filter(embedder=version, text_hash__in=part)
        for key, vector in rows.values_list("text_hash", "vector"):
            matrix[place[bytes(key)]] = np.frombuffer(vector, dtype="<f4")
    return matrix


def load_vectors_of_texts(
    version: EmbedderVersion, texts: Sequence[str]
) -> NDArray[np.float32] | None:
    """Return the matrix of stored vectors, a row for each text; None if one is missing."""
    by_hash = {compute_text_hash(text): text for text in dict.fromkeys(texts)}
    if len(_find_stored_hashes(version, list(by_hash))) < len(by_hash):
        return None
    return _spread_to_texts(_load_vector_matrix(version, by_hash), by_hash, texts)


def _spread_to_texts(
    matrix: NDArray[np.float32], by_hash: Mapping[bytes, str], texts: Sequence[str]
) -> NDArray[np.float32]:
    """Return the matrix of vectors, a row for each text, from a row for each hash."""
    place = {text: at for at, text in enumerate(by_hash.values())}
    return matrix[np.array([place[text] for text in texts])]


def find_embedder_version(info: EmbedderInfo) -> EmbedderVersion | None:
    """Return the stored version of the embedder that `info` describes; None without vectors."""
    return EmbedderVersion.objects.filter(**_build_version_key(info)).first()


def _split_into_parts(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield slices of `items` of at most `size` elements."""
    for first in range(0, len(items), size):
        yield items[first : first + size]
