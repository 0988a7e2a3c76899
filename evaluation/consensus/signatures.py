"""Signatures: one line that names the method, options, embedding, version and inputs of a run."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path

from evaluation.consensus.parameters import AqerParameters
from evaluation.core.options import build_signature_parts
from evaluation.core.options.parameters import SHORT

__all__ = ["SHORT", "build_aqer_signature", "collect_versions", "combine_hashes", "hash_file"]


def combine_hashes(hashes: Iterable[str]) -> str:
    """Return the SHA-256 of several hashes, joined in their order, as hexadecimal digits."""
    return hashlib.sha256("\n".join(hashes).encode()).hexdigest()


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file, as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def collect_versions(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return version numbers by name: Crowdgrade, Python, numpy, scipy and packages in `extra`."""
    found = {"crowdgrade": metadata.version("crowdgrade"), "python": platform.python_version()}
    for name in ("numpy", "scipy"):
        found[name] = metadata.version(name)
    return {**found, **(extra or {})}


def build_aqer_signature(
    parameters: AqerParameters, model: str, revision: str, precision: str, input_hash: str
) -> str:
    """Return the signature of a grading run, ``aqer|name:value|...``.

    `precision` is the one that was used, not the one asked for.
    """
    parts = {
        "embedder": model,
        "revision": revision,
        **build_signature_parts(parameters),
        "inputs": input_hash[:SHORT],
        "version": metadata.version("crowdgrade"),
    }
    parts |= {"embedder": model, "precision": precision}
    return "|".join(["aqer", *(f"{name}:{value}" for name, value in parts.items())])
