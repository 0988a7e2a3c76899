"""Embedders, entailment models and chat models behind small contracts, loaded on demand.

`get_embedder("minilm")` returns an `Embedder`; `PrecomputedVectors` reads vectors from a file.
Importing this package loads no model library.
"""

from evaluation.backends.embedding.contract import (
    Embedder,
    EmbedderInfo,
    Precision,
    Progress,
    Vectors,
)
from evaluation.backends.embedding.precomputed import PrecomputedVectors
from evaluation.backends.embedding.registry import (
    EmbedderSpec,
    for_operators,
    get_embedder,
    kind_of,
    named_model,
    parse_spec,
)
from evaluation.backends.errors import BackendError, EmbedderError

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
    "for_operators",
    "get_embedder",
    "kind_of",
    "named_model",
    "parse_spec",
]
