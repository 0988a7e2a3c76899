"""Entailment between answers, for the entailment initialisation (AQER, appendix B.1)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from evaluation.backends.embedding import hub
from evaluation.backends.embedding.contract import Progress, distinct, require
from evaluation.backends.errors import EntailmentError

WHAT = "the entailment initialisation"
REMEDY = "name a cross-encoder NLI model, such as cross-encoder/nli-deberta-v3-base, or its folder"


class EntailmentModel:
    """A cross-encoder for natural language inference: whether one text entails another."""

    def __init__(self, name: str, model: Any, tokenizer: Any, revision: str) -> None:
        self.name = name
        self.revision = revision
        self._model = model
        self._tokenizer = tokenizer
        self._entailment = _entailment_class(name, model.config.id2label)
        self._max_length = _max_length(model, tokenizer)

    @classmethod
    def load(cls, name: str | None) -> Self:
        """A model by hub name or local folder; there is no default one.

        EntailmentError: no name, the model cannot be loaded, or has no class for entailment.
        """
        if not name:
            raise EntailmentError(f"{WHAT} needs a model and none is named: {REMEDY}")
        library = require("transformers", WHAT)
        torch = require("torch", WHAT)
        source = str(Path(name).expanduser()) if hub.is_folder(name) else name

        def load(local_only: bool) -> tuple[Any, Any]:
            tokenizer = library.AutoTokenizer.from_pretrained(source, local_files_only=local_only)
            model = library.AutoModelForSequenceClassification.from_pretrained(
                source, local_files_only=local_only, dtype=torch.float32
            )
            return model, tokenizer

        model, tokenizer = hub.load_model(source, WHAT, REMEDY, load)
        folder = Path(source)
        commit = getattr(model.config, "_commit_hash", None)
        revision = hub.folder_revision(folder) if folder.is_dir() else str(commit or "unknown")
        device = "cuda" if torch.cuda.is_available() else "cpu"
        return cls(name, model.eval().to(device), tokenizer, revision)

    def probabilities(
        self, pairs: Sequence[tuple[str, str]], progress: Progress | None = None
    ) -> NDArray[np.float64]:
        """(n,) probabilities that the first text of a pair entails the second, in their order.

        Long pairs are cut, the longer text first. EntailmentError: the model fails on a batch.
        """
        from evaluation.backends.embedding import batching

        distinct(text for pair in pairs for text in pair)  # refuses what no tokenizer takes
        unique = list(dict.fromkeys(pairs))
        places = {pair: place for place, pair in enumerate(unique)}
        out = np.empty(len(unique), dtype=np.float64)
        finished = 0

        def tokens(batch: Sequence[int], **options: Any) -> Any:
            return self._tokenizer(
                [unique[i][0] for i in batch],
                [unique[i][1] for i in batch],
                truncation="longest_first",
                max_length=self._max_length,
                **options,
            )

        def prepare(batch: list[int]) -> Any:
            return tokens(batch, padding=True, return_tensors="pt").to(self._model.device)

        def compute(batch: list[int], features: Any) -> None:
            logits = self._model(**features).logits
            out[batch] = logits.double().softmax(dim=-1)[:, self._entailment].cpu().numpy()

        def done(rows: int) -> None:
            nonlocal finished
            finished += rows
            if progress is not None:
                progress(len(pairs) * finished // len(unique), len(pairs))

        lengths = [len(row) for row in tokens(range(len(unique)))["input_ids"]] if unique else []
        try:
            batching.run(lengths, self._model.device, prepare, compute, done)
        except (RuntimeError, ValueError, IndexError) as error:
            raise EntailmentError(
                f"{WHAT}: the model {self.name!r} failed on a batch ({hub.brief(error)}): {REMEDY}"
            ) from error
        return out[[places[pair] for pair in pairs]]


def _entailment_class(name: str, labels: dict[int, str]) -> int:
    """The class whose label begins with "entail"; "not_entailment" does not."""
    found = [int(i) for i, label in labels.items() if str(label).lower().startswith("entail")]
    if len(found) != 1:
        raise EntailmentError(
            f"{WHAT}: the model {name!r} has no class for entailment (its classes: "
            f"{', '.join(map(str, labels.values()))}): {REMEDY}"
        )
    return found[0]


def _max_length(model: Any, tokenizer: Any) -> int:
    # A tokenizer without a limit of its own names a huge one; positions end at the model's.
    positions = getattr(model.config, "max_position_embeddings", None) or 512
    return int(min(tokenizer.model_max_length, positions))
