"""What cannot be done while answering, as a code; each door says it in its own words."""

from __future__ import annotations

from typing import Any, Final

from annotations.answering.sentences import SETTINGS
from annotations.sentences import CodedError

CODES: Final = frozenset(
    {
        # who asks
        "id_missing", "id_not_filled_in", "id_bad", "forged",
        # whether they may take part
        "closed", "paused", "archived", "full", "excluded", "not_listed", "not_chosen",
        "done", "screened_out", "withdrawn", "too_many",
        # what they do
        "no_consent", "place_lost", "not_yet", "not_shown", "gone",
    }
)  # fmt: skip


class AnsweringError(ValueError):
    """What is refused; `code` is one of `CODES`."""

    def __init__(self, code: str) -> None:
        assert code in CODES, code
        super().__init__(code)
        self.code = code


class TooManyError(AnsweringError):
    """Too many people began from one address; the next one may begin after `seconds`."""

    def __init__(self, seconds: int) -> None:
        super().__init__("too_many")
        self.seconds = seconds


class SettingsError(CodedError, ValueError):
    """Settings of a collection that cannot be used; `field` is what they are about, "" for all."""

    sentences = SETTINGS

    def __init__(self, code: str, field: str = "", **values: Any) -> None:
        super().__init__(code, **values)
        self.field = field


class BegunError(SettingsError):
    """A setting that stays as it is because somebody has begun."""
