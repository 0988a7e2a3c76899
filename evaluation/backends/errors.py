"""The one family of errors of back-ends: whatever is loaded, asked or run from outside."""

from __future__ import annotations

from typing import Any


class BackendError(Exception):
    """A back-end cannot do what was asked.

    `str()` says to people what, where and what to do. `code` and `values` say the same to
    programs: a door that speaks another language makes its own sentence of them.
    """

    code = "backend"

    def __init__(self, message: str, code: str = "", **values: Any) -> None:
        super().__init__(message)
        self.code = code or self.code
        self.values = values


class EmbedderError(BackendError):
    """Texts cannot be turned into vectors."""

    code = "embedder"


class EntailmentError(BackendError):
    """The entailment model cannot be had or fails."""

    code = "entailment"


class RerankerError(BackendError):
    """The re-ranker cannot be had or fails."""

    code = "reranker"


class SpellingError(BackendError):
    """The spelling corrector cannot be had, or not for this language."""

    code = "spelling"


class ChatError(BackendError):
    """A language model cannot be asked at all; what one reply lacks is told by the reply."""

    code = "chat"
