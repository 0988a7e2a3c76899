"""How near replies lie to each other as vectors: within a set, across the languages of an item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, cast

import numpy as np

from evaluation.backends import EmbedderInfo, get_embedder
from evaluation.flow.eloquent.found import Findings, Key
from evaluation.flow.eloquent.matching import Reply
from evaluation.flow.eloquent.parameters import EloquentParameters
from evaluation.flow.vectors import Progress, truncation_warning
from evaluation.methods.eloquent.similarity import set_similarity, similarity_across
from evaluation.methods.grams import Vectors
from evaluation.methods.undefined import or_none
from evaluation.texts.languages import language_warning
from evaluation.words.message import Message


@dataclass(frozen=True)
class Nearness:
    """The similarities of replies.

    Attributes
    ----------
    of_sets : of all replies of each set, and of the answers among them; None where undefined.
    across : of replies in different languages, by system and item.
    info : how vectors were made; None without an answer. warnings : what to know of them.
    """

    of_sets: Mapping[Key, tuple[float | None, float | None]]
    across: Mapping[tuple[str, str], float | None]
    info: EmbedderInfo | None = None
    warnings: Sequence[Message] = field(default_factory=tuple)

    @classmethod
    def of(cls, findings: Findings) -> Nearness:
        """Return what findings tell."""
        return cls(
            {row.key: (row.similarity, row.similarity_answered) for row in findings.sets},
            {(row.system, row.item): row.similarity_across_languages for row in findings.items},
            findings.embedding,
            findings.warnings,
        )


def nearness(
    replies: Sequence[Reply], parameters: EloquentParameters, progress: Progress | None = None
) -> Nearness:
    """Embed the answers and compare them. Raises `BackendError`: they cannot be embedded."""
    vectors, info, warnings = _embedded(replies, parameters, progress)
    return Nearness(_of_sets(replies, vectors), _across(replies, vectors), info, warnings)


def _embedded(
    replies: Sequence[Reply], parameters: EloquentParameters, progress: Progress | None
) -> tuple[Vectors, EmbedderInfo | None, list[Message]]:
    """Return the vectors of the answers, how they were made, and what to know of them."""
    texts = [one.text for one in replies if one.answered]
    if not texts:
        return np.zeros((0, 1), dtype=np.float32), None, []
    precision = cast(Literal["float32", "bfloat16", "auto"], parameters.precision)
    embedder = get_embedder(parameters.embedder, precision)
    embedder.fit(texts)
    told = partial(progress, "embedding") if progress else None
    vectors = embedder.embed(texts, told)
    info = embedder.describe()
    warnings = [truncation_warning(embedder.n_truncated_, info), language_warning(texts, info)]
    return vectors, info, [one for one in warnings if one is not None]


def _of_sets(
    replies: Sequence[Reply], vectors: Vectors
) -> dict[Key, tuple[float | None, float | None]]:
    """Return the similarity of each set, of all its replies and of the answers among them."""
    among = [one for one in replies if not one.status.is_missing]
    keys = [(one.system, one.item, one.language) for one in among]
    place = {key: at for at, key in enumerate(dict.fromkeys(keys))}
    found = set_similarity(
        vectors, [place[key] for key in keys], [one.answered for one in among], len(place)
    )
    return {key: (or_none(found.all[at]), or_none(found.answered[at])) for key, at in place.items()}


def _across(replies: Sequence[Reply], vectors: Vectors) -> dict[tuple[str, str], float | None]:
    """Return the similarity of answers in different languages, by system and item."""
    answers = [one for one in replies if one.answered]
    if not answers:
        return {}
    keys = [(one.system, one.item) for one in answers]
    place = {key: at for at, key in enumerate(dict.fromkeys(keys))}
    languages = {name: at for at, name in enumerate(dict.fromkeys(one.language for one in answers))}
    found, _ = similarity_across(
        vectors,
        [place[key] for key in keys],
        [languages[one.language] for one in answers],
        len(place),
    )
    return {key: or_none(found[at]) for key, at in place.items()}
