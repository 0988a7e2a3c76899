"""Define the errors of back-ends, each with a code and values for programs."""

from __future__ import annotations

from typing import Any


class BackendError(Exception):
    """A back-end (model, library or server) cannot do what was requested.

    `str()` is the sentence for people: what failed, where, and what to do. `code` and `values` hold
    the same for programs, which build a sentence of their own from them.
    """

    code = "backend"

    def __init__(self, message: str, code: str = "", **values: Any) -> None:
        super().__init__(message)
        self.code = code or self.code
        self.values = values


class EmbedderError(BackendError):
    """The embedder cannot be loaded or cannot embed the texts."""

    code = "embedder"


class EntailmentError(BackendError):
    """The entailment model is missing or fails on a text."""

    code = "entailment"


class RerankerError(BackendError):
    """The re-ranker is missing or fails."""

    code = "reranker"


class SpellingError(BackendError):
    """The spelling corrector is missing, or does not support the language."""

    code = "spelling"


class ChatError(BackendError):
    """A language model cannot be asked at all; faults of single requests are in the replies."""

    code = "chat"
