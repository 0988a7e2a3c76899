"""Compute entailment and contradiction probabilities of text pairs with an NLI model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from evaluation.core.backends.cross_encoder import CrossEncoder
from evaluation.core.backends.embedding.contract import Progress
from evaluation.core.backends.errors import EntailmentError


class EntailmentModel(CrossEncoder):
    """A cross-encoder that estimates whether one text entails another."""

    what = "the entailment initialisation"
    remedy = (
        "name a cross-encoder NLI model, such as cross-encoder/nli-deberta-v3-base, or its folder"
    )
    error = EntailmentError

    def __init__(self, name: str, model: Any, tokenizer: Any, revision: str) -> None:
        super().__init__(name, model, tokenizer, revision)
        self._entailment = self._find_class("entailment", "entail")

    def probabilities(
        self, pairs: Sequence[tuple[str, str]], progress: Progress | None = None
    ) -> NDArray[np.float64]:
        """Return, for each pair, the probability that the first text entails the second.

        See `logits`, of which they are the softmax.
        """
        return self._compute_class_shares(pairs, progress)[:, self._entailment]

    def _compute_class_shares(
        self, pairs: Sequence[tuple[str, str]], progress: Progress | None
    ) -> NDArray[np.float64]:
        """Return class probabilities (softmax), one row per pair of texts."""
        return np.asarray(softmax(self.logits(pairs, progress), axis=1), dtype=np.float64)

    def _find_class(self, called: str, begins: str) -> int:
        """Return the index of the one class whose label begins with `begins`."""
        # "not_entailment" does not begin with "entail".
        matches = [int(i) for i, one in self.labels.items() if str(one).lower().startswith(begins)]
        if len(matches) != 1:
            raise EntailmentError(
                f"{self.what}: the model {self.name!r} has no class for {called} (its classes: "
                f"{self._format_labels()}): {self.remedy}",
                "no_class",
                wanted=called,
                classes=list(map(str, self.labels.values())),
                purpose=self.what,
            )
        return matches[0]


class ContradictionModel(EntailmentModel):
    """An entailment model that also estimates whether two texts contradict each other."""

    what = "contradiction by meaning"

    def __init__(self, name: str, model: Any, tokenizer: Any, revision: str) -> None:
        super().__init__(name, model, tokenizer, revision)
        self._contradiction = self._find_class("contradiction", "contradict")

    def both_ways(
        self, pairs: Sequence[tuple[str, str]], progress: Progress | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return contradiction and entailment probability of each pair, over both orders.

        Each pair is read both ways. Two texts contradict each other whichever is read first, so of
        the two probabilities the less counts; of entailment, which goes one way, the greater.
        """
        n = len(pairs)
        shares = self._compute_class_shares([*pairs, *((b, a) for a, b in pairs)], progress)
        forward, backward = shares[:n], shares[n:]
        contradict = np.minimum(forward, backward)[:, self._contradiction]
        return contradict, np.maximum(forward, backward)[:, self._entailment]
