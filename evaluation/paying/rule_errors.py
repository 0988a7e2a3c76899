"""Why a rule of a bonus, or a line for inviting, cannot be applied: codes and their sentences."""

from __future__ import annotations

from typing import Any, Final

SENTENCES: Final = {
    "unknown_rule": "there is no rule {given!r}: {known}",
    "amount_range": "a bonus goes from {least} to {most:,}.00",
    "share_missing": "say which share of people, above 0 and at most 1",
    "score_missing": "say which score it takes",
    "no_scores": "nobody has a score: grade the answers of this version first",
    "amount_too_large": "somebody would get more than {most:,}.00",
    "score_range": "a score goes from -{most:,} to {most:,}",
    "unknown_end": "there is no end {given!r}: {known}",
    "unknown_panel": "nobody came from the panel {given!r}; there is: {known}",
    "several_panels": "people came from several panels, say whose ids: {known}",
}


class RuleError(ValueError):
    """A rule that cannot be applied.

    `field` is what is wrong with it, "" for none of its fields. `code` is a key of `SENTENCES`,
    and `values` are those of its sentence.
    """

    def __init__(self, field: str, code: str, **values: Any) -> None:
        super().__init__(SENTENCES[code].format(**values))
        self.field = field
        self.code = code
        self.values = values
