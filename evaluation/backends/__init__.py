"""Back-ends: embedders and the entailment model, a small contract, loaded only when asked for.

`get_embedder("minilm")` gives an `Embedder`; vectors from a file come by `PrecomputedVectors`.
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
