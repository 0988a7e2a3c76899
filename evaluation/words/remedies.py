"""Why a remedy has no meaning for a crowd."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evaluation.words.message import Sentence

REMEDIES: Mapping[str, str] = {
    "cap_too_low": "a weight cap of {cap:g} is below 1/{voters}: the weights of {voters} voters "
    "could not sum to 1; give at least {lowest:g}",
    "few_outside_groups": "only {outside} of the workers would be left outside the groups of "
    "copies, and {fewest} are needed to grade by: grade without {option[collapse_copies]}, or "
    "exclude the workers you do not trust",
    "nobody_left": "all workers are excluded: nobody is left to grade by",
}
"""A part of a sentence, by the code of a `RemedyError`."""


def _sentence(words: str) -> Callable[[Mapping[str, Any]], str]:
    def sentence(of: Mapping[str, Any]) -> str:
        said = words.format_map(of)
        return f"{said[:1].upper()}{said[1:]}."

    return sentence


FAILED: Mapping[str, Sentence] = {
    f"run.{code}": _sentence(words) for code, words in REMEDIES.items()
}
"""The same as a sentence, where it ended a run."""
