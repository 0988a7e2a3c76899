"""Errors of collections and of workers' requests, by code; pages and API add their own texts."""

from __future__ import annotations

from typing import Any, Final

from annotations.answering.sentences import SETTINGS
from annotations.sentences import CodedError

CODES: Final = frozenset(
    {
        # the link
        "id_missing", "id_not_filled_in", "id_bad", "forged",
        # whether the worker may take part
        "closed", "paused", "archived", "full", "excluded", "not_listed", "not_chosen",
        "done", "screened_out", "withdrawn", "too_many",
        # the request
        "no_consent", "place_lost", "not_yet", "not_shown", "gone",
    }
)  # fmt: skip


class AnsweringError(ValueError):
    """Error: a worker's request is refused; `code` is the reason."""

    def __init__(self, code: str) -> None:
        assert code in CODES, code
        super().__init__(code)
        self.code = code


class TooManyError(AnsweringError):
    """Error: too many workers began from one network address; wait `seconds`."""

    def __init__(self, seconds: int) -> None:
        super().__init__("too_many")
        self.seconds = seconds


class SettingsError(CodedError, ValueError):
    """Error for invalid settings of a collection; `field` names the setting."""

    sentences = SETTINGS

    def __init__(self, code: str, field: str = "", **values: Any) -> None:
        super().__init__(code, **values)
        self.field = field


class BegunError(SettingsError):
    """Error: a setting cannot change, because a worker has already begun."""
