"""Cross-encoders, which read two texts together: entailment models and re-rankers.

Compute entailment and contradiction probabilities of text pairs with an NLI model. Score how well
texts answer a question, with a cross-encoder re-ranker.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from evaluation.core.backends.embedding import sentences
from evaluation.core.backends.embedding.contract import (
    Progress,
    find_distinct_texts,
    import_library,
)
from evaluation.core.backends.errors import BackendError, EntailmentError, RerankerError


class CrossEncoder:
    """Transformer that reads two texts together: base of the entailment models and the re-ranker.

    Attributes
    ----------
    what, remedy : purpose of a subclass's model, and advice if it cannot be loaded.
    error : class of the exceptions that are raised. labels : names of the classes, by index.
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
        """Return the model of a hub name or local folder, loaded; there is no default model.

        Raises `BackendError` without a name, or if the model cannot be loaded or lacks a class.
        """
        if not name:
            raise cls.error(
                f"{cls.what} needs a model and none is named: {cls.remedy}", "no_model_named"
            )
        library = import_library("transformers", cls.what)
        torch = import_library("torch", cls.what)
        source = str(Path(name).expanduser()) if sentences.is_model_folder(name) else name

        def load(local_only: bool) -> tuple[Any, Any]:
            """Return the model and its tokenizer, only from local files if `local_only`."""
            # Set explicitly: otherwise transformers asks on standard input.
            only = {"local_files_only": local_only, "trust_remote_code": False}
            tokenizer = library.AutoTokenizer.from_pretrained(source, **only)
            model = library.AutoModelForSequenceClassification.from_pretrained(
                source, dtype=torch.float32, **only
            )
            return model, tokenizer

        model, tokenizer = sentences.load_model(source, cls.what, cls.remedy, load)
        folder = Path(source)
        commit = getattr(model.config, "_commit_hash", None)
        revision = (
            sentences.compute_folder_revision(folder)
            if folder.is_dir()
            else str(commit or "unknown")
        )
        device = "cuda" if torch.cuda.is_available() else "cpu"
        return cls(name, model.eval().to(device), tokenizer, revision)

    def compute_logits(
        self, pairs: Sequence[tuple[str, str]], progress: Progress | None = None
    ) -> NDArray[np.float64]:
        """Return the model's logits, one row per pair of texts, one column per class.

        Long pairs are cut, the longer text first. Raises `error`: the model fails on a batch.
        """
        from evaluation.core.backends.embedding import batching

        find_distinct_texts(
            text for pair in pairs for text in pair
        )  # refuses what no tokenizer takes
        unique = list(dict.fromkeys(pairs))
        places = {pair: place for place, pair in enumerate(unique)}
        unique_logits = np.empty((len(unique), len(self.labels)), dtype=np.float64)
        finished = 0

        def tokenize(batch: Sequence[int], **options: Any) -> Any:
            """Return the tokens of the pairs with these indices, cut to the model's maximum."""
            return self._tokenizer(
                [unique[i][0] for i in batch],
                [unique[i][1] for i in batch],
                truncation="longest_first",
                max_length=self._max_length,
                **options,
            )

        def prepare(batch: list[int]) -> Any:
            """Return the padded tokens of a batch of pairs, on the model's device."""
            return tokenize(batch, padding=True, return_tensors="pt").to(self._model.device)

        def compute(batch: list[int], features: Any) -> None:
            """Write the logits of a batch into `unique_logits`."""
            unique_logits[batch] = self._model(**features).logits.double().cpu().numpy()

        def report_rows(rows: int) -> None:
            """Report the progress after `rows` more distinct pairs."""
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
                f"({sentences.shorten_error(error)}): {self.remedy}"
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

    def compute_entailment_probabilities(
        self, pairs: Sequence[tuple[str, str]], progress: Progress | None = None
    ) -> NDArray[np.float64]:
        """Return, for each pair, the probability that the first text entails the second.

        They are the softmax of `logits`, which see for errors.
        """
        return self.compute_class_probabilities(pairs, progress)[:, self._entailment]

    def compute_class_probabilities(
        self, pairs: Sequence[tuple[str, str]], progress: Progress | None
    ) -> NDArray[np.float64]:
        """Return the probability of each class (softmax), one row per pair of texts."""
        return np.asarray(softmax(self.compute_logits(pairs, progress), axis=1), dtype=np.float64)

    def _find_class(self, label: str, begins: str) -> int:
        """Return the index of the class whose label begins with `begins`; else EntailmentError."""
        # "not_entailment" does not begin with "entail".
        matches = [int(i) for i, one in self.labels.items() if str(one).lower().startswith(begins)]
        if len(matches) != 1:
            raise EntailmentError(
                f"{self.what}: the model {self.name!r} has no class for {label} (its classes: "
                f"{self._format_labels()}): {self.remedy}",
                "no_class",
                wanted=label,
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

    def compute_contradictions(
        self, pairs: Sequence[tuple[str, str]], progress: Progress | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return each pair's probability of contradiction, and of entailment in either order.

        The model reads each pair in both orders. Contradiction does not depend on the order, so its
        smaller probability is returned; of entailment, which has a direction, the greater one.
        """
        n = len(pairs)
        shares = self.compute_class_probabilities([*pairs, *((b, a) for a, b in pairs)], progress)
        forward, backward = shares[:n], shares[n:]
        contradict = np.minimum(forward, backward)[:, self._contradiction]
        return contradict, np.maximum(forward, backward)[:, self._entailment]


class Reranker(CrossEncoder):
    """A cross-encoder with one class; its logit scores a (question, text) pair.

    (Nogueira and Cho 2019, Passage re-ranking with BERT.) Only the order of scores is meaningful.
    No sigmoid is applied: it would keep the order, but round high scores to equal numbers.
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

    def compute_scores(
        self, pairs: Sequence[tuple[str, str]], progress: Progress | None = None
    ) -> NDArray[np.float64]:
        """Return one score per (question, text) pair; a better answer has a greater score.

        Raises `RerankerError` for a score that is not finite.
        """
        logits = self.compute_logits(pairs, progress)[:, 0]
        if not np.isfinite(logits).all():
            bad = pairs[int(np.argmin(np.isfinite(logits)))][1]
            raise RerankerError(
                f"{self.what}: the model {self.name!r} gave a score that is not finite for the "
                f"text {bad[:60]!r}: {self.remedy}",
                "not_finite",
                text=bad,
            )
        return logits
