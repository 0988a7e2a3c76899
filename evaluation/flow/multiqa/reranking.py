"""Which of the free texts that say the same stands for them, by a model that reads the question.

The paper's aggregator re-ranks answers by the original question (MultiQ&A, figure 1), so every
text is scored beside it, whatever wording it was the reply to. Against each other texts are weighed
already: that is what the centre of a cluster is for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.backends.reranker import Reranker
from evaluation.flow.multiqa.items import MultiqaItem
from evaluation.flow.multiqa.layout import Laid
from evaluation.flow.multiqa.replies import Replies
from evaluation.methods.multiqa.clusters import best_members
from evaluation.words.message import Message

Ints = NDArray[np.int64]
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Reranking:
    """How texts were re-ranked.

    Attributes
    ----------
    scored : texts in clusters with different texts. without_question : items with such a cluster
        that have no question to score them by; there the one nearest the centre stands.
    """

    model: str
    revision: str
    scored: int
    without_question: int

    def as_dict(self) -> dict[str, Any]:
        """Return what a summary says of it."""
        return {
            "model": self.model,
            "revision": self.revision,
            "scored": self.scored,
            "without_question": self.without_question,
        }

    def signed(self) -> dict[str, str]:
        """Return the parts of a signature."""
        return {
            "reranker": self.model.replace("|", "/"),
            "reranker_revision": self.revision,
        }

    def warnings(self) -> list[Message]:
        """Return what to know of it."""
        if not self.without_question:
            return []
        return [Message("reranked_without_question", {"count": self.without_question})]


@dataclass(frozen=True)
class Clustered:
    """A system's replies in clusters: rows of `laid` that go by meaning.

    Attributes
    ----------
    labels : (n, R) as `cluster` gives them. stands : (n, R) the columns that stand for them.
    """

    laid: Laid
    rows: Ints
    labels: Ints
    stands: Ints


def loaded(name: str | None) -> Reranker | None:
    """Return the re-ranker that is named, if one is. Raises `BackendError`.

    Called before anybody is asked, it refuses a model that is not there while that costs nothing.
    """
    return Reranker.load(name) if name else None


def rerank(
    model: Reranker,
    items: Sequence[MultiqaItem],
    replies: Replies,
    systems: Sequence[Clustered],
    progress: Progress | None = None,
) -> Reranking:
    """Put into `stands` the text of each cluster that has the greatest score beside its question.

    Of equal scores the earliest. Raises `BackendError`.
    """
    pairs: list[tuple[str, str]] = []
    cells: list[tuple[Ints, Ints]] = []
    without: set[int] = set()
    for one in systems:
        texts, numbers = one.laid.texts[one.rows], one.laid.items[one.rows]
        same = one.labels[:, :, None] == one.labels[:, None, :]
        unlike = texts[:, :, None] != texts[:, None, :]
        differ = (same & unlike).any(axis=2) & (one.labels >= 0)
        asked = np.array([bool(items[number].question) for number in numbers], dtype=np.bool_)
        without.update(numbers[differ.any(axis=1) & ~asked].tolist())
        rows, columns = np.nonzero(differ & asked[:, None])
        cells.append((rows, columns))
        pairs += [
            (items[number].question, replies.texts[text])
            for number, text in zip(
                numbers[rows].tolist(), texts[rows, columns].tolist(), strict=True
            )
        ]
    found = model.scores(
        pairs, progress and (lambda done, total: progress("re-ranking", done, total))
    )
    start = 0
    for one, (rows, columns) in zip(systems, cells, strict=True):
        # Cells that nobody scored are in clusters of equal texts, whose earliest stands anyway.
        scores = np.zeros(one.labels.shape)
        scores[rows, columns] = found[start : start + len(rows)]
        start += len(rows)
        best = best_members(scores, one.labels)
        one.stands[rows, columns] = best[rows, columns]
    return Reranking(model.name, model.revision, len(pairs), len(without))
