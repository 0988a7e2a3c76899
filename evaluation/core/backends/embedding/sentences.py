"""Embed texts with a sentence-transformers model, from a folder or by its hub name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.core.backends.embedding import hub
from evaluation.core.backends.embedding.contract import (
    Embedder,
    EmbedderInfo,
    Precision,
    Progress,
    find_distinct,
    find_versions,
    import_library,
)
from evaluation.core.backends.errors import EmbedderError

LIBRARIES = ("sentence-transformers", "transformers", "tokenizers", "torch")
REMEDY = "give a sentence-transformers model by its name or as a folder"
# Models for English whose card a cache need not hold.
ENGLISH = frozenset(
    {
        "all-minilm-l12-v1",
        "all-minilm-l12-v2",
        "all-minilm-l6-v1",
        "all-minilm-l6-v2",
        "all-mpnet-base-v1",
        "all-mpnet-base-v2",
        "all-roberta-large-v1",
        "all-distilroberta-v1",
        "multi-qa-minilm-l6-cos-v1",
        "multi-qa-mpnet-base-dot-v1",
        "paraphrase-minilm-l6-v2",
        "paraphrase-mpnet-base-v2",
        "stsb-bert-base",
        "stsb-mpnet-base-v2",
        "stsb-roberta-base",
        "stsb-roberta-large",
    }
)
CARD_LANGUAGE = re.compile(r"^language:[ \t]*(.*(?:\n[ \t]*-[ \t]+.*)*)", re.MULTILINE)


def load_named(name: str, precision: Precision = "float32") -> SentenceEmbedder:
    """Return the sentence-transformers embedder of a model, by hub name or local folder."""
    return SentenceEmbedder(name, precision, spec=f"sentence-transformers:{name}", model=name)


class SentenceEmbedder(Embedder):
    """A sentence-transformers model, run faster than its own `encode` with equal results.

    Equal texts are embedded once, batches hold rows of like token length, and each core works on
    a batch of its own (`batching`). In bfloat16 the transformer computes in bfloat16; pooling and
    what follows stay float32. The device is the one sentence-transformers chooses.

    `revision`: given, or the hub's commit, or a hash of the folder.
    """

    def __init__(
        self,
        source: str | Path,
        precision: Precision = "float32",
        *,
        spec: str,
        model: str,
        revision: str | None = None,
        languages: str | None = None,
        versions: Mapping[str, str] | None = None,
    ) -> None:
        self.name = spec
        what = f"embedder {spec!r}"
        library = import_library("sentence_transformers", what)
        source = str(Path(source).expanduser()) if hub.is_folder(str(source)) else str(source)

        def load(local_only: bool) -> Any:
            return library.SentenceTransformer(
                source, local_files_only=local_only, trust_remote_code=False
            )

        self._model = hub.load_model(source, what, REMEDY, load).eval()
        if not hasattr(self._model, "preprocess"):
            raise EmbedderError(
                f"{what} needs sentence-transformers 6 or newer: "
                "`pip install --upgrade sentence-transformers`"
            )
        self._prompt = self._model.prompts.get(self._model.default_prompt_name or "") or None
        from evaluation.core.backends.embedding import precision as formats

        chosen = formats.choose_precision(precision, self._model.device)
        self._info = EmbedderInfo(
            spec=spec,
            model=model,
            revision=revision or self._find_revision(source),
            precision=chosen,
            dimension=self._model.truncate_dim or self._model.get_embedding_dimension(),
            max_length=self._max_length(),
            languages=languages or _find_languages(source),
            versions={**find_versions(*LIBRARIES), **(versions or {})},
        )
        if chosen == "bfloat16":
            self._use_bfloat16()

    def describe(self) -> EmbedderInfo:
        """Return the model, revision, precision and limits by which vectors are made."""
        return self._info

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> NDArray[np.float32]:
        """Return one float32 vector per text, in the order of the texts.

        Texts beyond `max_length` are cut and counted in `n_truncated_`. EmbedderError: the model
        fails on a batch or gives values that are not finite.
        """
        from evaluation.core.backends.embedding import batching

        unique, where = find_distinct(texts)
        counts = np.bincount(where, minlength=len(unique))
        lengths = self._count_tokens(unique)
        limit = self._info.max_length
        cut = np.asarray(lengths) > (limit or np.inf)
        self.n_truncated_ = int(counts[cut].sum()) if unique else 0
        vectors = np.empty((len(unique), self._info.dimension or 0), dtype=np.float32)
        finished = 0

        def prepare(batch: list[int]) -> Any:
            return self._model.preprocess([unique[i] for i in batch], prompt=self._prompt)

        def compute(batch: list[int], features: Any) -> None:
            device = self._model.device
            features = {k: v.to(device) if hasattr(v, "to") else v for k, v in features.items()}
            rows = self._model(features)["sentence_embedding"]
            vectors[batch] = rows[:, : vectors.shape[1]].float().cpu().numpy()

        def report_rows(rows: int) -> None:
            # Repeats cost nothing, so they are spread over the way.
            nonlocal finished
            finished += rows
            if progress is not None:
                progress(len(texts) * finished // len(unique), len(texts))

        try:
            batching.run_batches(
                [min(length, limit or length) for length in lengths],
                self._model.device,
                prepare,
                compute,
                report_rows,
            )
        except (RuntimeError, ValueError, IndexError) as error:
            raise EmbedderError(
                f"embedder {self.name!r}: the model failed on a batch of texts "
                f"({hub.shorten_error(error)}): free memory, or choose a smaller model"
            ) from error
        if not np.isfinite(vectors).all():
            bad = unique[int(np.argmin(np.isfinite(vectors).all(axis=1)))]
            raise EmbedderError(
                f"embedder {self.name!r} gave values that are not finite for the text {bad[:60]!r}:"
                " try precision float32, or another model"
            )
        return vectors[where]

    def token_vectors(self, texts: Sequence[str]) -> list[NDArray[np.float64]]:
        """Return each text's last-layer vectors, one row per token, none for special tokens.

        Texts beyond `max_length` are cut. For transformers that add one token before the text and
        one after it. EmbedderError: the model fails.
        """
        try:
            encoded = self._model.encode(
                list(texts),
                output_value="token_embeddings",
                batch_size=16,
                show_progress_bar=False,
            )
        except (RuntimeError, ValueError, IndexError) as error:
            raise EmbedderError(
                f"embedder {self.name!r}: the model failed on the tokens of texts "
                f"({hub.shorten_error(error)}): free memory, or choose a smaller model"
            ) from error
        return [rows.cpu().numpy()[1:-1].astype(np.float64) for rows in encoded]

    def _count_tokens(self, texts: list[str]) -> list[int]:
        """Return each text's token count before cutting, special tokens included."""
        if not texts:
            return []
        tokenizer = getattr(self._model, "tokenizer", None)
        prompted = [(self._prompt or "") + text for text in texts]
        if not callable(tokenizer):
            return [len(text) for text in prompted]
        tokens = tokenizer(
            prompted,
            padding=False,
            truncation=False,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,  # it would warn of long texts, which are counted and reported instead
        )
        return [len(row) for row in tokens["input_ids"]]

    def _max_length(self) -> int | None:
        """Return the most tokens that the model reads of a text; None without a limit."""
        length = getattr(self._model, "max_seq_length", None)
        # Tokenizers without a limit say so with a number like 10^30.
        if not callable(getattr(self._model, "tokenizer", None)) or length is None:
            return None
        return int(length) if length < 1_000_000_000 else None

    def _find_revision(self, source: str) -> str:
        """Return the hash of a model's local folder, or the commit of a hub model."""
        folder = Path(source)
        if folder.is_dir():
            return hub.compute_folder_revision(folder)
        settings = getattr(self._model[0], "config", None)
        return str(getattr(settings, "_commit_hash", None) or "unknown")

    def _use_bfloat16(self) -> None:
        """Compute the transformer in bfloat16, and pooling in float32."""
        import torch

        def widen(module: Any, inputs: Any, features: Any) -> Any:
            for key in ("token_embeddings", "sentence_embedding"):
                if key in features:
                    features[key] = features[key].float()
            return features

        self._model[0].to(torch.bfloat16)
        self._model[0].register_forward_hook(widen)


def _find_languages(source: str) -> str | None:
    """Return the model's language codes joined by commas; None if its card has none."""
    folder = Path(source)
    if not folder.is_dir():
        return "en" if source.rpartition("/")[2].lower() in ENGLISH else None
    try:
        card = (folder / "README.md").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    head = card.split("\n---", 1)[0] if card.startswith("---") else ""
    found = CARD_LANGUAGE.search(head)
    return ",".join(re.findall(r"[A-Za-z]{2,}", found[1])).lower() or None if found else None
