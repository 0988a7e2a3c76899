"""Load the project's 200 minimal pairs and derive the harder ones."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path

PAIRS = Path(__file__).with_name("minimal_pairs.jsonl")
KINDS = ("year", "name", "number", "negation")


@dataclass(frozen=True)
class MinimalPair:
    """Minimal pair: an original sentence, its paraphrase, and a copy with one fact changed."""

    id: str
    kind: str
    domain: str
    original: str
    paraphrase: str
    changed: str


def load_pairs() -> list[MinimalPair]:
    """Return the minimal pairs of the packaged file."""
    with PAIRS.open(encoding="utf-8") as file:
        return [MinimalPair(**json.loads(line)) for line in file]


def list_texts(pairs: Sequence[MinimalPair]) -> list[str]:
    """Return all originals, then all paraphrases, then all changes."""
    return [
        *(pair.original for pair in pairs),
        *(pair.paraphrase for pair in pairs),
        *(pair.changed for pair in pairs),
    ]


def build_harder_pairs(pairs: Sequence[MinimalPair]) -> list[MinimalPair]:
    """Return the pairs with the wrong fact moved into the paraphrase's words.

    Those whose paraphrase lacks the words that were changed, as nearly all negations, have none.
    """
    return [replace(pair, changed=text) for pair in pairs if (text := _move_change(pair))]


def _move_change(pair: MinimalPair) -> str:
    """Return the paraphrase with the fact changed; "" if the changed words are missing in it."""
    old, new = pair.original.split(), pair.changed.split()
    text = pair.paraphrase
    for operation, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if operation == "equal":
            continue
        old_words, new_words = (" ".join(words).strip(".,") for words in (old[i:j], new[k:m]))
        match = (
            re.search(rf"\b{re.escape(old_words)}\b", text, re.IGNORECASE) if old_words else None
        )
        if match is None or not new_words:
            return ""
        # A sentence begins with a capital letter, whatever it says.
        replacement = (
            new_words.capitalize() if match[0][0].isupper() and new_words.islower() else new_words
        )
        text = f"{text[: match.start()]}{replacement}{text[match.end() :]}"
    return text
