"""One line that says how a number was made, for people to quote and programs to compare."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path

from evaluation.flow.parameters import AqerParameters

# How many characters of a hash a signature shows; summary.json holds all of them.
SHORT = 12


def combined_hash(hashes: Iterable[str]) -> str:
    """Return one SHA-256 for several, in their order."""
    return hashlib.sha256("\n".join(hashes).encode()).hexdigest()


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file, as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def versions(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return versions of Crowdgrade, Python and the numeric libraries, and `extra` ones."""
    found = {"crowdgrade": metadata.version("crowdgrade"), "python": platform.python_version()}
    for name in ("numpy", "scipy"):
        found[name] = metadata.version(name)
    return {**found, **(extra or {})}


def aqer_signature(
    parameters: AqerParameters, model: str, revision: str, precision: str, input_hash: str
) -> str:
    """Return the signature of a run: method, every parameter, embedding, version and inputs.

    `precision` is the one that was used, not the one asked for.
    """
    yes_no = {True: "yes", False: "no"}
    parts = {
        "embedder": model,
        "revision": revision,
        "precision": precision,
        "similarity": parameters.similarity,
        "init": parameters.init if not parameters.nli else f"entailment({parameters.nli})",
        "aggregation": parameters.aggregation,
        "stopping": f"{parameters.stopping}({parameters.tolerance:g})",
        "iterations": parameters.max_iterations,
        "leave_one_out": yes_no[parameters.leave_one_out],
        "difficulty": yes_no[parameters.difficulty],
        "discrimination": yes_no[parameters.discrimination],
        "rejected": "graded" if parameters.include_rejected else "left_out",
        "draws": parameters.bootstrap,
        "draws_of": "questions+workers" if parameters.bootstrap_workers else "questions",
        "seed": parameters.seed,
        "remedies": "+".join(_remedies(parameters)) or "none",
        "inputs": input_hash[:SHORT],
        "version": metadata.version("crowdgrade"),
    }
    return "|".join(["aqer", *(f"{name}:{value}" for name, value in parts.items())])


def _remedies(parameters: AqerParameters) -> list[str]:
    """Return each remedy with its value; excluded workers by their number and a hash of the ids."""
    ids = sorted(parameters.exclude_workers)
    values = {
        "exclude_workers": f"{len(ids)}-{combined_hash(ids)[:SHORT]}",
        "collapse_copies": f"{parameters.group_vote:g}",
        "weight_cap": f"{parameters.weight_cap}",
        "suggest_anchors": f"{parameters.suggest_anchors}",
        "spelling": f"{parameters.spelling}",
    }
    return [f"{name}({values[name]})" if name in values else name for name in parameters.remedies]
