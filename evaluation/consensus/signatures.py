"""Options that all computations on a crowd share, and the signature of a run.

The shared options are those of embedding and scoring. `EXCLUDED` is for run types that do not read
the answers of excluded workers; AQER itself grades these workers without a vote.

A signature is one line with the method, options, embedding, version and inputs of a run.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import ClassVar

from evaluation.consensus.parameters import AqerParameters
from evaluation.core.options import IdsOption, Parameters, build_signature_parts, declare_option
from evaluation.core.options.declaration import ADVANCED, DATABASE, NOT_SIGNED
from evaluation.core.options.parameters import SHORT

__all__ = ["SHORT", "build_aqer_signature", "collect_versions", "combine_hashes", "hash_file"]


OF_GRADING = AqerParameters.get_options()
# Not signed: their answers are missing from the inputs, so the hash of the inputs differs.
EXCLUDED = IdsOption(
    label="Exclude workers",
    help="Ids of workers, as in the lists of workers. Their answers are not read; the workers "
    "are not rejected.",
    places=(DATABASE,),
    file="workers whose answers are not read: their ids, parted by commas, or a file with an id "
    "on each line or a table with the column worker",
    metavar="FILE|ID,...",
    short="without {value}",
    signed_as=NOT_SIGNED,
)
EXCLUDED_SENTENCES = {
    name: AqerParameters.sentences[name]
    for name in ("unknown_workers", "several_workers", "nobody_left")
}
"""What is wrong with the ids of such workers, as a class of options has it among its sentences."""


@dataclass(frozen=True)
class CrowdParameters(Parameters):
    """Grading options of run types that grade the workers as one of their steps."""

    embedder: str = declare_option("minilm", OF_GRADING["embedder"])
    precision: str = declare_option("float32", OF_GRADING["precision"])
    similarity: str = declare_option("cosine", OF_GRADING["similarity"])
    leave_one_out: bool = declare_option(False, OF_GRADING["leave_one_out"])
    difficulty: bool = declare_option(False, OF_GRADING["difficulty"])
    discrimination: bool = declare_option(False, OF_GRADING["discrimination"])
    include_rejected: bool = declare_option(False, OF_GRADING["include_rejected"])
    exclude_workers: tuple[str, ...] = declare_option((), EXCLUDED)

    groups: ClassVar = {ADVANCED: "More settings"}
    sentences: ClassVar = {
        "unreadable": AqerParameters.sentences["unreadable"],
        **EXCLUDED_SENTENCES,
    }

    def build_grading_parameters(self) -> AqerParameters:
        """Return the `AqerParameters` of the grading step: no bootstrap, no excluded workers."""
        own = {name: getattr(self, name) for name in self.get_options() if name in OF_GRADING}
        return AqerParameters(**{**own, "bootstrap": 0, "exclude_workers": ()})


def combine_hashes(hashes: Iterable[str]) -> str:
    """Return the SHA-256 in hex of several hashes, joined in their order."""
    return hashlib.sha256("\n".join(hashes).encode()).hexdigest()


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file's bytes in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def collect_versions(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return versions by package name: Crowdgrade, Python, numpy, scipy, and those of `extra`."""
    versions = {"crowdgrade": metadata.version("crowdgrade"), "python": platform.python_version()}
    for name in ("numpy", "scipy"):
        versions[name] = metadata.version(name)
    return {**versions, **(extra or {})}


def build_aqer_signature(
    parameters: AqerParameters, model: str, revision: str, precision: str, input_hash: str
) -> str:
    """Return the one-line signature of a grading run, ``aqer|name:value|...``.

    `precision` is the precision that was used, which may differ from the requested one.
    """
    parts = {
        "embedder": model,
        "revision": revision,
        **build_signature_parts(parameters),
        "inputs": input_hash[:SHORT],
        "version": metadata.version("crowdgrade"),
    }
    # The parameters name what was asked for ("auto", a SPEC); the signature names what was used.
    parts |= {"embedder": model, "precision": precision}
    return "|".join(["aqer", *(f"{name}:{value}" for name, value in parts.items())])
