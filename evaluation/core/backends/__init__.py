"""Embedders, entailment models and chat models, each behind a small contract, loaded on demand.

`get_embedder("minilm")` returns an `Embedder`; `PrecomputedVectors` reads vectors from a file.
Importing this package loads no model library.
"""

from evaluation.core.backends.embedding.contract import (
    Embedder,
    EmbedderInfo,
    Precision,
    Progress,
    Vectors,
)
from evaluation.core.backends.embedding.registry import (
    EmbedderSpec,
    PrecomputedVectors,
    find_embedder_kind,
    find_model_name,
    find_reserved_kind,
    get_embedder,
    parse_embedder_spec,
)
from evaluation.core.backends.errors import BackendError, EmbedderError

__all__ = [
    "BackendError",
    "Embedder",
    "EmbedderError",
    "EmbedderInfo",
    "EmbedderSpec",
    "Precision",
    "PrecomputedVectors",
    "Progress",
    "Vectors",
    "find_embedder_kind",
    "find_model_name",
    "find_reserved_kind",
    "get_embedder",
    "parse_embedder_spec",
]
