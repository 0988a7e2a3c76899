"""Load and run cross-encoders: models that read two texts together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from evaluation.core.backends.embedding import hub
from evaluation.core.backends.embedding.contract import Progress, find_distinct, import_library
from evaluation.core.backends.errors import BackendError


class CrossEncoder:
    """A transformer that classifies pairs of texts (base of entailment models, re-ranker).

    Attributes
    ----------
    what, remedy : what a subclass's model is for, and what to do where there is none.
    error : what it raises. labels : of the classes, by number.
    """

    what: ClassVar[str]
    remedy: ClassVar[str]
    error: ClassVar[type[BackendError]] = BackendError

    def __init__(self, name: str, model: Any, tokenizer: Any, revision: str) -> None:
        self.name = name
        self.revision = revision
        self.labels: dict[int, str] = model.config.id2label
        self._model = model
        self._tokenizer = tokenizer
        self._max_length = _find_max_length(model, tokenizer)

    @classmethod
    def load(cls, name: str | None) -> Self:
        """Load a model by hub name or local folder; there is no default model.

        Raises `BackendError`: no name, the model cannot be loaded, or has not the classes for it.
        """
        if not name:
            raise cls.error(
                f"{cls.what} needs a model and none is named: {cls.remedy}", "no_model_named"
            )
        library = import_library("transformers", cls.what)
        torch = import_library("torch", cls.what)
        source = str(Path(name).expanduser()) if hub.is_folder(name) else name

        def load(local_only: bool) -> tuple[Any, Any]:
            # Said aloud: left open, transformers asks whoever sits at the standard input.
            only = {"local_files_only": local_only, "trust_remote_code": False}
            tokenizer = library.AutoTokenizer.from_pretrained(source, **only)
            model = library.AutoModelForSequenceClassification.from_pretrained(
                source, dtype=torch.float32, **only
            )
            return model, tokenizer

        model, tokenizer = hub.load_model(source, cls.what, cls.remedy, load)
        folder = Path(source)
        commit = getattr(model.config, "_commit_hash", None)
        revision = (
            hub.compute_folder_revision(folder) if folder.is_dir() else str(commit or "unknown")
        )
        device = "cuda" if torch.cuda.is_available() else "cpu"
        return cls(name, model.eval().to(device), tokenizer, revision)

    def logits(
        self, pairs: Sequence[tuple[str, str]], progress: Progress | None = None
    ) -> NDArray[np.float64]:
        """Return logits, one row per pair and one column per class; equal pairs, equal rows.

        Long pairs are cut, the longer text first. Raises `error`: the model fails on a batch.
        """
        from evaluation.core.backends.embedding import batching

        find_distinct(text for pair in pairs for text in pair)  # refuses what no tokenizer takes
        unique = list(dict.fromkeys(pairs))
        places = {pair: place for place, pair in enumerate(unique)}
        unique_logits = np.empty((len(unique), len(self.labels)), dtype=np.float64)
        finished = 0

        def tokenize(batch: Sequence[int], **options: Any) -> Any:
            return self._tokenizer(
                [unique[i][0] for i in batch],
                [unique[i][1] for i in batch],
                truncation="longest_first",
                max_length=self._max_length,
                **options,
            )

        def prepare(batch: list[int]) -> Any:
            return tokenize(batch, padding=True, return_tensors="pt").to(self._model.device)

        def compute(batch: list[int], features: Any) -> None:
            unique_logits[batch] = self._model(**features).logits.double().cpu().numpy()

        def report_rows(rows: int) -> None:
            nonlocal finished
            finished += rows
            if progress is not None:
                progress(len(pairs) * finished // len(unique), len(pairs))

        lengths = [len(row) for row in tokenize(range(len(unique)))["input_ids"]] if unique else []
        try:
            batching.run_batches(lengths, self._model.device, prepare, compute, report_rows)
        except (RuntimeError, ValueError, IndexError) as error:
            raise self.error(
                f"{self.what}: the model {self.name!r} failed on a batch "
                f"({hub.shorten_error(error)}): {self.remedy}"
            ) from error
        return unique_logits[[places[pair] for pair in pairs]]

    def _format_labels(self) -> str:
        """Return the names of the model's classes, joined by commas."""
        return ", ".join(map(str, self.labels.values()))


def _find_max_length(model: Any, tokenizer: Any) -> int:
    """Return the largest number of tokens that tokenizer and model both accept."""
    # A tokenizer without a limit of its own names a huge one; positions end at the model's.
    positions = getattr(model.config, "max_position_embeddings", None) or 512
    return int(min(tokenizer.model_max_length, positions))
