"""Free texts by their meaning: which are right, and which of an item's say the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from evaluation.backends import EmbedderInfo, get_embedder
from evaluation.flow.alike import (
    ALL_BUT_1,
    blocks,
    cosines_among,
    different_numbers,
    embedded,
)
from evaluation.flow.multiqa.items import COSINE, MultiqaItem
from evaluation.flow.multiqa.layout import Laid
from evaluation.flow.multiqa.parameters import MultiqaParameters
from evaluation.flow.multiqa.replies import TEXT, Replies
from evaluation.flow.multiqa.reranking import Clustered, Reranking, loaded, rerank
from evaluation.flow.vectors import truncation_warning
from evaluation.methods.grams import Vectors
from evaluation.methods.multiqa.clusters import cluster, representatives
from evaluation.methods.multiqa.panel import NO_VOTE
from evaluation.texts.languages import language_warning
from evaluation.texts.matching import normalised
from evaluation.words.message import Message

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Progress = Callable[[str, int, int], None]

# Items whose texts are compared with each other in one matrix product.
TOGETHER = 64
# A sample of texts is enough to tell their language.
SAMPLE = 5_000


@dataclass(frozen=True)
class Meaning:
    """The rows of a system's replies that go by meaning, as `judging` puts them into arrays."""

    rows: Ints
    said: Ints
    right: Bools
    stands: Ints


@dataclass(frozen=True)
class Meanings:
    """What was found for each system, and how; `reranking` is None without a re-ranker."""

    systems: tuple[Meaning, ...]
    info: EmbedderInfo
    warnings: list[Message]
    reranking: Reranking | None = None


def by_meaning(
    items: Sequence[MultiqaItem],
    replies: Replies,
    laid: Sequence[Laid],
    parameters: MultiqaParameters,
    number: Callable[[Any], int],
    progress: Progress | None = None,
) -> Meanings | None:
    """Judge and cluster the replies to items whose matcher is the cosine; None without any.

    A reply is right if its cosine to an accepted answer is above the threshold. The replies of a
    system to the wordings of an item fall into clusters (average linkage); texts with different
    numbers never share one. The member nearest the centre stands for its cluster, or with a
    re-ranker the one that answers the question best, and `number` of its normalised text is the
    cluster's. Raises `BackendError`.
    """
    wanted = np.array([item.matcher == COSINE for item in items], dtype=np.bool_)
    rows = [np.flatnonzero(wanted[one.items]) for one in laid]
    used = np.unique(np.concatenate([one.items[at] for one, at in zip(laid, rows, strict=True)]))
    if not len(used):
        return None
    found = [
        Meaning(
            at,
            np.full((len(at), one.texts.shape[1]), NO_VOTE, dtype=np.int64),
            np.zeros((len(at), one.texts.shape[1]), dtype=np.bool_),
            np.broadcast_to(np.arange(one.texts.shape[1]), (len(at), one.texts.shape[1])).copy(),
        )
        for one, at in zip(laid, rows, strict=True)
    ]
    precision = cast(Literal["float32", "bfloat16", "auto"], parameters.precision)
    embedder = get_embedder(parameters.embedder, precision)
    reranker = loaded(parameters.reranker)
    of_item = _texts_of_items(items, replies, laid, rows, used)
    everything = list(dict.fromkeys(text for texts in of_item for text in texts))
    embedder.fit(everything)
    cut, done = 0, 0
    for first, last in blocks(of_item):
        texts = list(dict.fromkeys(text for one in of_item[first:last] for text in one))
        vectors, n_cut = embedded(embedder, texts, done, len(everything), progress)
        cut, done = cut + n_cut, min(done + len(texts), len(everything))
        places = {text: place for place, text in enumerate(texts)}
        for one, at, into in zip(laid, rows, found, strict=True):
            _judge(one, at, into, used[first:last], vectors, places, items, replies, parameters)
    reranking = None
    if reranker is not None:
        clustered = [
            Clustered(one, at, into.said, into.stands)
            for one, at, into in zip(laid, rows, found, strict=True)
        ]
        reranking = rerank(reranker, items, replies, clustered, progress)
    for one, at, into in zip(laid, rows, found, strict=True):
        _name_clusters(one, at, into, replies, number)
    info = embedder.describe()
    sample = everything[:: max(1, len(everything) // SAMPLE)]
    warnings = [truncation_warning(cut, info), language_warning(sample, info)]
    told = [one for one in warnings if one]
    if reranking is not None:
        told += reranking.warnings()
    return Meanings(tuple(found), info, told, reranking)


def _texts_of_items(
    items: Sequence[MultiqaItem],
    replies: Replies,
    laid: Sequence[Laid],
    rows: Sequence[Ints],
    used: Ints,
) -> list[list[str]]:
    """Return the accepted answers of each item and what systems replied to it."""
    of_item = [list(items[number].answers) for number in used.tolist()]
    for one, at in zip(laid, rows, strict=True):
        place = np.searchsorted(used, one.items[at])
        votes = one.statuses[at] == TEXT
        for row, column in zip(*np.nonzero(votes), strict=True):
            of_item[place[row]].append(replies.texts[one.texts[at[row], column]])
    return of_item


def _judge(
    laid: Laid,
    rows: Ints,
    into: Meaning,
    used: Ints,
    vectors: Vectors,
    places: dict[str, int],
    items: Sequence[MultiqaItem],
    replies: Replies,
    parameters: MultiqaParameters,
) -> None:
    """Judge and cluster the replies of a system to the items of a block."""
    here = np.flatnonzero(np.isin(laid.items[rows], used))
    for first in range(0, len(here), TOGETHER):
        part = here[first : first + TOGETHER]
        at = rows[part]
        votes = laid.statuses[at] == TEXT
        n, r = votes.shape
        texts = [replies.texts[code] for code in laid.texts[at][votes].tolist()]
        answers = [items[number].answers for number in laid.items[at].tolist()]
        names = list(dict.fromkeys([*texts, *(text for of_one in answers for text in of_one)]))
        local = {text: place for place, text in enumerate(names)}
        cosines = cosines_among(vectors, [places[text] for text in names])
        cells = np.zeros((n, r), dtype=np.int64)
        cells[votes] = [local[text] for text in texts]
        similarity = cosines[cells[:, :, None], cells[:, None, :]]
        right = np.zeros((n, r), dtype=np.bool_)
        for row, of_one in enumerate(answers):
            nearest = cosines[cells[row]][:, [local[text] for text in of_one]].max(axis=1)
            right[row] = (nearest > parameters.cosine) & votes[row]
        apart = different_numbers(names)[cells[:, :, None], cells[:, None, :]]
        labels = cluster(
            np.where(apart, -np.inf, similarity), votes, min(parameters.cluster_cosine, ALL_BUT_1)
        )
        into.right[part] = right
        into.said[part] = labels
        stands = representatives(similarity, labels)
        into.stands[part] = np.where(stands >= 0, stands, np.arange(r))


def _name_clusters(
    laid: Laid, rows: Ints, into: Meaning, replies: Replies, number: Callable[[Any], int]
) -> None:
    """Put the number of the answer that stands for each cluster in place of its label."""
    at, columns = np.nonzero(into.said != NO_VOTE)
    texts = laid.texts[rows[at], into.stands[at, columns]]
    distinct, place = np.unique(texts, return_inverse=True)
    named = [number(normalised(replies.texts[text])) for text in distinct.tolist()]
    into.said[at, columns] = np.array(named, dtype=np.int64)[place]
