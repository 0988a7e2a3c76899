"""Entailment between texts: of answers (AQER, appendix B.1), and of questions and rewordings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from evaluation.backends.cross_encoder import CrossEncoder
from evaluation.backends.embedding.contract import Progress
from evaluation.backends.errors import EntailmentError


class EntailmentModel(CrossEncoder):
    """A cross-encoder for natural language inference: whether one text entails another."""

    what = "the entailment initialisation"
    remedy = (
        "name a cross-encoder NLI model, such as cross-encoder/nli-deberta-v3-base, or its folder"
    )
    error = EntailmentError

    def __init__(self, name: str, model: Any, tokenizer: Any, revision: str) -> None:
        super().__init__(name, model, tokenizer, revision)
        # "not_entailment" does not begin with "entail".
        found = [int(i) for i, one in self.labels.items() if str(one).lower().startswith("entail")]
        if len(found) != 1:
            raise EntailmentError(
                f"{self.what}: the model {name!r} has no class for entailment (its classes: "
                f"{self._said_labels()}): {self.remedy}"
            )
        self._entailment = found[0]

    def probabilities(
        self, pairs: Sequence[tuple[str, str]], progress: Progress | None = None
    ) -> NDArray[np.float64]:
        """(n,) probabilities that the first text of a pair entails the second, in their order.

        See `logits`, of which they are the softmax.
        """
        found = softmax(self.logits(pairs, progress), axis=1)[:, self._entailment]
        return np.asarray(found, dtype=np.float64)
