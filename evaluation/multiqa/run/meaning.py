"""Judge free texts by cosine, cluster them by meaning and choose representatives.

The paper's aggregator re-ranks answers by the original question (MultiQ&A, figure 1). Every text is
therefore scored with the original question, whatever wording it replied to. Similarity among the
texts is already in the choice of the member nearest the cluster's centre.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from evaluation.consensus.inputs import Progress, build_truncation_warning
from evaluation.core.backends import Embedder, EmbedderInfo, get_embedder
from evaluation.core.backends.cross_encoder import Reranker
from evaluation.core.messages.message import Message
from evaluation.core.stats.grams import Vectors
from evaluation.core.text.items import COSINE, MultiqaItem
from evaluation.core.text.matching import normalise_for_matching
from evaluation.core.text.quality import find_language_warning
from evaluation.multiqa.items import TEXT, Replies, SystemReplies
from evaluation.multiqa.methods.panel import (
    NO_VOTE,
    cluster_answers,
    find_best_members,
    find_representatives,
)
from evaluation.multiqa.options import MultiqaParameters
from evaluation.runs.flow.metrics import (
    ALL_BUT_1,
    compute_pairwise_cosines,
    embed_block,
    find_number_conflicts,
    split_into_blocks,
)

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Reranking:
    """Summary of re-ranking free texts: the model, and how many texts it scored.

    Attributes
    ----------
    model, revision : of the cross-encoder.
    scored : number of texts in clusters of two or more different texts.
    without_question : number of items with such a cluster but without a question. Their
        representatives are the texts nearest the centre.
    """

    model: str
    revision: str
    scored: int
    without_question: int

    def as_dict(self) -> dict[str, Any]:
        """Return the re-ranking as an entry of a summary."""
        return {
            "model": self.model,
            "revision": self.revision,
            "scored": self.scored,
            "without_question": self.without_question,
        }

    def list_signature_parts(self) -> dict[str, str]:
        """Return the re-ranker's name and revision for a signature."""
        return {
            "reranker": self.model.replace("|", "/"),
            "reranker_revision": self.revision,
        }

    def list_warnings(self) -> list[Message]:
        """Return a warning if some items have no question to re-rank by, else []."""
        if not self.without_question:
            return []
        return [Message("reranked_without_question", {"count": self.without_question})]


@dataclass(frozen=True)
class ClusteredReplies:
    """Clusters of one system's replies to the items that are judged by cosine.

    Attributes
    ----------
    rows : (n,) rows of `replies`.
    labels : (n, R) clusters as `cluster_answers` returns them.
    representatives : (n, R) columns of the replies that represent the clusters.
    """

    replies: SystemReplies
    rows: Ints
    labels: Ints
    representatives: Ints


def load_reranker(name: str | None) -> Reranker | None:
    """Return the re-ranker model with this name; None if `name` is None.

    Studies call it before the first request, so that a missing model costs nothing.

    Raises `BackendError`.
    """
    return Reranker.load(name) if name else None


def rerank_representatives(
    model: Reranker,
    items: Sequence[MultiqaItem],
    replies: Replies,
    systems: Sequence[ClusteredReplies],
    progress: Progress | None = None,
) -> Reranking:
    """Replace each cluster's representative by the text that answers the question best.

    Changes `representatives` of the systems in place. Of equal scores the earliest text counts.
    Raises `BackendError`.
    """
    pairs: list[tuple[str, str]] = []
    cells: list[tuple[Ints, Ints]] = []
    without_question: set[int] = set()
    for system in systems:
        texts = system.replies.texts[system.rows]
        numbers = system.replies.items[system.rows]
        is_same_cluster = system.labels[:, :, None] == system.labels[:, None, :]
        is_other_text = texts[:, :, None] != texts[:, None, :]
        # Clusters of equal texts need no scores.
        differs = (is_same_cluster & is_other_text).any(axis=2) & (system.labels >= 0)
        has_question = np.array(
            [bool(items[number].question) for number in numbers], dtype=np.bool_
        )
        without_question.update(numbers[differs.any(axis=1) & ~has_question].tolist())
        rows, columns = np.nonzero(differs & has_question[:, None])
        cells.append((rows, columns))
        pairs += [
            (items[number].question, replies.texts[text])
            for number, text in zip(
                numbers[rows].tolist(), texts[rows, columns].tolist(), strict=True
            )
        ]
    pair_scores = model.compute_scores(
        pairs, progress and (lambda done, total: progress("re-ranking", done, total))
    )
    start = 0
    for system, (rows, columns) in zip(systems, cells, strict=True):
        # Cells without a score are in clusters of equal texts, and the earliest stays.
        scores = np.zeros(system.labels.shape)
        scores[rows, columns] = pair_scores[start : start + len(rows)]
        start += len(rows)
        best = find_best_members(scores, system.labels)
        system.representatives[rows, columns] = best[rows, columns]
    return Reranking(model.name, model.revision, len(pairs), len(without_question))


Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Items whose texts are compared in one matrix product.
BATCH_ITEMS = 64
# Texts of which the language is detected; a sample is enough.
LANGUAGE_SAMPLE = 5_000


@dataclass(frozen=True)
class CosineJudgement:
    """Judged replies of one system to the items with the matcher cosine.

    Attributes
    ----------
    rows : (n,) rows of the system's replies.
    answers, right, representatives : (n, R) as in `Panel`.
    """

    rows: Ints
    answers: Ints
    right: Bools
    representatives: Ints


@dataclass(frozen=True)
class CosineJudgements:
    """Replies of all systems judged by cosine, with embedder, warnings and re-ranking."""

    systems: tuple[CosineJudgement, ...]
    info: EmbedderInfo
    warnings: list[Message]
    reranking: Reranking | None = None


def judge_by_cosine(
    items: Sequence[MultiqaItem],
    replies: Replies,
    systems: Sequence[SystemReplies],
    parameters: MultiqaParameters,
    assign_code: Callable[[Any], int],
    progress: Progress | None = None,
    embedder: Embedder | None = None,
) -> CosineJudgements | None:
    """Judge and cluster the replies to items with the cosine matcher; None without any.

    A reply is right if its cosine to an accepted answer is above the threshold. A system's replies
    to the wordings of one item are clustered by average linkage; texts with different numbers are
    never in one cluster. The member nearest the centre represents its cluster; with a re-ranker it
    is the text that answers the question best. `assign_code` returns the answer code of the
    representative's normalised text. Raises `BackendError`.
    """
    uses_cosine = np.array([item.matcher == COSINE for item in items], dtype=np.bool_)
    system_rows = [np.flatnonzero(uses_cosine[system.items]) for system in systems]
    # Items that any system replied to; no other texts are embedded.
    used = np.unique(
        np.concatenate(
            [system.items[rows] for system, rows in zip(systems, system_rows, strict=True)]
        )
    )
    if not len(used):
        return None
    judged = []
    for system, rows in zip(systems, system_rows, strict=True):
        n, width = len(rows), system.texts.shape[1]
        judged.append(
            CosineJudgement(
                rows,
                np.full((n, width), NO_VOTE, dtype=np.int64),
                np.zeros((n, width), dtype=np.bool_),
                np.broadcast_to(np.arange(width), (n, width)).copy(),
            )
        )
    precision = cast(Literal["float32", "bfloat16", "auto"], parameters.precision)
    embedder = embedder or get_embedder(parameters.embedder, precision)
    reranker = load_reranker(parameters.reranker)
    item_texts = _collect_item_texts(items, replies, systems, system_rows, used)
    all_texts = list(dict.fromkeys(text for texts in item_texts for text in texts))
    # On all texts before the blocks, or tf-idf would have another vocabulary in each of them.
    embedder.fit(all_texts)
    # Blocks of items bound the memory of the vectors.
    n_truncated, done = 0, 0
    for first, last in split_into_blocks(item_texts):
        block_texts = list(
            dict.fromkeys(text for texts in item_texts[first:last] for text in texts)
        )
        vectors, n_cut = embed_block(embedder, block_texts, done, len(all_texts), progress)
        n_truncated, done = n_truncated + n_cut, min(done + len(block_texts), len(all_texts))
        vector_rows = {text: row for row, text in enumerate(block_texts)}
        for system, judgement in zip(systems, judged, strict=True):
            _judge_block(
                system,
                judgement,
                used[first:last],
                vectors,
                vector_rows,
                items,
                replies,
                parameters,
            )
    # One call for all systems lets the cross-encoder fill its batches.
    reranking = None
    if reranker is not None:
        clustered = [
            ClusteredReplies(system, judgement.rows, judgement.answers, judgement.representatives)
            for system, judgement in zip(systems, judged, strict=True)
        ]
        reranking = rerank_representatives(reranker, items, replies, clustered, progress)
    for system, judgement in zip(systems, judged, strict=True):
        _replace_cluster_labels(system, judgement, replies, assign_code)
    info = embedder.describe()
    sample = all_texts[:: max(1, len(all_texts) // LANGUAGE_SAMPLE)]
    possible = [build_truncation_warning(n_truncated, info), find_language_warning(sample, info)]
    warnings = [warning for warning in possible if warning]
    if reranking is not None:
        warnings += reranking.list_warnings()
    return CosineJudgements(tuple(judged), info, warnings, reranking)


def _collect_item_texts(
    items: Sequence[MultiqaItem],
    replies: Replies,
    systems: Sequence[SystemReplies],
    system_rows: Sequence[Ints],
    used: Ints,
) -> list[list[str]]:
    """Return for each item in `used` its accepted answers and all replies to it."""
    item_texts = [list(items[number].answers) for number in used.tolist()]
    for system, rows in zip(systems, system_rows, strict=True):
        positions = np.searchsorted(used, system.items[rows])
        votes = system.statuses[rows] == TEXT
        for row, column in zip(*np.nonzero(votes), strict=True):
            item_texts[positions[row]].append(replies.texts[system.texts[rows[row], column]])
    return item_texts


def _judge_block(
    system: SystemReplies,
    judgement: CosineJudgement,
    block: Ints,
    vectors: Vectors,
    vector_rows: dict[str, int],
    items: Sequence[MultiqaItem],
    replies: Replies,
    parameters: MultiqaParameters,
) -> None:
    """Judge and cluster a system's replies to a block of items; writes into `judgement`.

    `answers` of the judgement get cluster labels, later replaced by answer codes.
    """
    in_block = np.flatnonzero(np.isin(system.items[judgement.rows], block))
    for first in range(0, len(in_block), BATCH_ITEMS):
        batch = in_block[first : first + BATCH_ITEMS]
        rows = judgement.rows[batch]
        votes = system.statuses[rows] == TEXT
        n, r = votes.shape
        texts = [replies.texts[number] for number in system.texts[rows][votes].tolist()]
        accepted = [items[number].answers for number in system.items[rows].tolist()]
        distinct = list(dict.fromkeys([*texts, *(text for each in accepted for text in each)]))
        index = {text: position for position, text in enumerate(distinct)}
        cosines = compute_pairwise_cosines(vectors, [vector_rows[text] for text in distinct])
        # Cells without a vote stay 0 and are masked by `votes` below.
        cells = np.zeros((n, r), dtype=np.int64)
        cells[votes] = [index[text] for text in texts]
        similarity = cosines[cells[:, :, None], cells[:, None, :]]
        right = np.zeros((n, r), dtype=np.bool_)
        for row, answers in enumerate(accepted):
            nearest = cosines[cells[row]][:, [index[text] for text in answers]].max(axis=1)
            right[row] = (nearest > parameters.cosine) & votes[row]
        forbidden = find_number_conflicts(distinct)[cells[:, :, None], cells[:, None, :]]
        labels = cluster_answers(
            np.where(forbidden, -np.inf, similarity),
            votes,
            # At a threshold of 1 equal texts would fail by rounding, as `cluster_answers` needs a
            # greater cosine.
            min(parameters.cluster_cosine, ALL_BUT_1),
        )
        judgement.right[batch] = right
        judgement.answers[batch] = labels
        columns = find_representatives(similarity, labels)
        judgement.representatives[batch] = np.where(columns >= 0, columns, np.arange(r))


def _replace_cluster_labels(
    system: SystemReplies,
    judgement: CosineJudgement,
    replies: Replies,
    assign_code: Callable[[Any], int],
) -> None:
    """Replace cluster labels in `judgement` by the representatives' answer codes."""
    rows, columns = np.nonzero(judgement.answers != NO_VOTE)
    texts = system.texts[judgement.rows[rows], judgement.representatives[rows, columns]]
    distinct, positions = np.unique(texts, return_inverse=True)
    codes = [assign_code(normalise_for_matching(replies.texts[text])) for text in distinct.tolist()]
    judgement.answers[rows, columns] = np.array(codes, dtype=np.int64)[positions]
