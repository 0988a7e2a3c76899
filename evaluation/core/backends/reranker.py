"""Score how well texts answer a question, with a cross-encoder re-ranker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.core.backends.cross_encoder import CrossEncoder
from evaluation.core.backends.embedding.contract import Progress
from evaluation.core.backends.errors import RerankerError


class Reranker(CrossEncoder):
    """A cross-encoder with one class; its logit scores a (question, text) pair.

    (Nogueira and Cho 2019, Passage re-ranking with BERT.) Only the order of scores means
    something, so they are not put through a sigmoid, which leaves it as it is and makes high ones
    equal.
    """

    what = "re-ranking"
    remedy = (
        "name a cross-encoder with one score that is installed, such as "
        "cross-encoder/ms-marco-MiniLM-L6-v2, or its folder, or leave the re-ranker out"
    )
    error = RerankerError

    def __init__(self, name: str, model: Any, tokenizer: Any, revision: str) -> None:
        super().__init__(name, model, tokenizer, revision)
        if len(self.labels) != 1:
            raise RerankerError(
                f"{self.what}: the model {name!r} has not one score but {len(self.labels)} classes "
                f"({self._format_labels()}): {self.remedy}",
                "no_single_score",
                classes=list(map(str, self.labels.values())),
            )

    def scores(
        self, pairs: Sequence[tuple[str, str]], progress: Progress | None = None
    ) -> NDArray[np.float64]:
        """Return one score per (question, text) pair; a better answer has a greater score.

        Raises `RerankerError` for a score that is not finite.
        """
        logits = self.logits(pairs, progress)[:, 0]
        if not np.isfinite(logits).all():
            bad = pairs[int(np.argmin(np.isfinite(logits)))][1]
            raise RerankerError(
                f"{self.what}: the model {self.name!r} gave a score that is not finite for the "
                f"text {bad[:60]!r}: {self.remedy}",
                "not_finite",
                text=bad,
            )
        return logits
