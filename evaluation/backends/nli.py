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
        self._entailment = self._class("entailment", "entail")

    def probabilities(
        self, pairs: Sequence[tuple[str, str]], progress: Progress | None = None
    ) -> NDArray[np.float64]:
        """(n,) probabilities that the first text of a pair entails the second, in their order.

        See `logits`, of which they are the softmax.
        """
        return self._shares(pairs, progress)[:, self._entailment]

    def _shares(
        self, pairs: Sequence[tuple[str, str]], progress: Progress | None
    ) -> NDArray[np.float64]:
        return np.asarray(softmax(self.logits(pairs, progress), axis=1), dtype=np.float64)

    def _class(self, called: str, begins: str) -> int:
        """Return the class whose label begins so; `called` is what messages call it."""
        # "not_entailment" does not begin with "entail".
        found = [int(i) for i, one in self.labels.items() if str(one).lower().startswith(begins)]
        if len(found) != 1:
            raise EntailmentError(
                f"{self.what}: the model {self.name!r} has no class for {called} (its classes: "
                f"{self._said_labels()}): {self.remedy}",
                "no_class",
                wanted=called,
                classes=list(map(str, self.labels.values())),
                purpose=self.what,
            )
        return found[0]


class ContradictionModel(EntailmentModel):
    """An entailment model that also knows when two texts contradict each other."""

    what = "contradiction by meaning"

    def __init__(self, name: str, model: Any, tokenizer: Any, revision: str) -> None:
        super().__init__(name, model, tokenizer, revision)
        self._contradiction = self._class("contradiction", "contradict")

    def both_ways(
        self, pairs: Sequence[tuple[str, str]], progress: Progress | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(n,) probabilities that two texts contradict each other, and that one entails the other.

        Each pair is read both ways. Two texts contradict each other whichever is read first, so of
        the two probabilities the less counts; of entailment, which goes one way, the greater.
        """
        n = len(pairs)
        shares = self._shares([*pairs, *((b, a) for a, b in pairs)], progress)
        there, back = shares[:n], shares[n:]
        contradict = np.minimum(there, back)[:, self._contradiction]
        return contradict, np.maximum(there, back)[:, self._entailment]
