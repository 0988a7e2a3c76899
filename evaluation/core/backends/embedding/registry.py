"""Create the embedder that a SPEC (kind and name) names; imports its module only then."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.core.backends.embedding.contract import PRECISIONS, Embedder, Precision
from evaluation.core.backends.errors import EmbedderError
from evaluation.core.backends.specs import split_model_at_url

FORMS = (
    "minilm, sentence-transformers:NAME, openai:MODEL@URL, tfidf-word, tfidf-char, bow, "
    "precomputed:FILE.npz"
)
PLAIN = ("minilm", "tfidf-word", "tfidf-char", "bow")
WITH_TARGET = ("sentence-transformers", "openai", "precomputed")
FOR_OPERATORS = ("precomputed", "openai")
"""What only operators may name on the site: it opens a file there or calls another machine."""

WRONG = {
    "unknown_spec": "is unknown",
    "nothing_after_colon": "has nothing after its colon",
    "names_nothing": "names no model or file",
}
"""What is wrong with a SPEC, by code."""


@dataclass(frozen=True)
class EmbedderSpec:
    """The parts of a SPEC: embedder kind, model name or file, and URL (openai only)."""

    text: str
    kind: str
    target: str = ""
    url: str = ""


def parse_spec(spec: str) -> EmbedderSpec:
    """Return the parts of an embedder's SPEC; loads nothing. Raises EmbedderError."""
    text = spec.strip()
    kind, colon, target = text.partition(":")
    if not colon and kind in PLAIN:
        return EmbedderSpec(text, kind)
    if kind not in WITH_TARGET or not target:
        code = "unknown_spec"
        if kind in WITH_TARGET:
            code = "nothing_after_colon" if colon else "names_nothing"
        raise EmbedderError(f"embedder {spec!r} {WRONG[code]}: choose one of {FORMS}", code)
    if kind != "openai":
        return EmbedderSpec(text, kind, target)
    parts = split_model_at_url(target)
    if parts is None:
        raise EmbedderError(
            f"embedder {spec!r} is not of the form openai:MODEL@URL: write the server's base "
            "address after the @, such as openai:NAME@http://127.0.0.1:8080/v1",
            "no_url",
        )
    return EmbedderSpec(text, kind, *parts)


def find_reserved_kind(spec: str) -> str:
    """Return the embedder kind of a SPEC that only operators may use; "" for any other SPEC."""
    kind = find_kind(spec)
    return kind if kind in FOR_OPERATORS else ""


def find_model_name(spec: str) -> str:
    """Return the hub name or folder of the model that a SPEC loads; "" if it loads none."""
    return parse_spec(spec).target if find_kind(spec) == "sentence-transformers" else ""


def find_kind(spec: str) -> str:
    """Return the embedder kind that a SPEC begins with; "" for an invalid SPEC."""
    try:
        return parse_spec(spec).kind
    except EmbedderError:
        return ""


def get_embedder(
    spec: str = "minilm",
    precision: Precision = "float32",
    *,
    api_key_env: str = "OPENAI_API_KEY",
) -> Embedder:
    """Return the embedder that `spec` names, loaded and ready.

    `precision` matters to models that run here: `auto` takes bfloat16 where the processor has it
    and float32 elsewhere; the other embedders accept `float32` and `auto` and ignore them.
    `api_key_env` is the name of the environment variable that holds the key of a remote embedder.
    EmbedderError: unknown or malformed SPEC, a library, a model or a file that is missing.
    """
    if precision not in PRECISIONS:
        raise EmbedderError(f"precision {precision!r} is unknown: choose {', '.join(PRECISIONS)}")
    parsed = parse_spec(spec)
    if parsed.kind == "precomputed":
        raise EmbedderError(
            f"embedder {spec!r} is a file of vectors and cannot embed texts: "
            "read it with PrecomputedVectors.load",
            "file_of_vectors",
        )
    if parsed.kind == "minilm":
        from evaluation.core.backends.embedding.minilm import load_minilm

        return load_minilm(precision)
    if parsed.kind == "sentence-transformers":
        from evaluation.core.backends.embedding.sentences import load_named

        return load_named(parsed.target, precision)
    if precision == "bfloat16":
        raise EmbedderError(
            f"embedder {spec!r} has no bfloat16: leave the precision out, or choose minilm or "
            "sentence-transformers:NAME"
        )
    if parsed.kind == "openai":
        from evaluation.core.backends.embedding.remote import RemoteEmbedder

        return RemoteEmbedder(parsed.target, parsed.url, api_key_env=api_key_env)
    from evaluation.core.backends.embedding.lexical import LexicalEmbedder

    return LexicalEmbedder(parsed.kind)
