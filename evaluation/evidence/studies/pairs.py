"""The minimal pairs that come with the project: 200, in which one fact is another."""

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
    """Three sentences: two say the same, the third differs from the first in one fact."""

    id: str
    kind: str
    domain: str
    original: str
    paraphrase: str
    changed: str


def load_pairs() -> list[MinimalPair]:
    """Return the pairs that come with the project."""
    with PAIRS.open(encoding="utf-8") as file:
        return [MinimalPair(**json.loads(line)) for line in file]


def texts_of(pairs: Sequence[MinimalPair]) -> list[str]:
    """Return all originals, then all paraphrases, then all changes."""
    return [
        *(pair.original for pair in pairs),
        *(pair.paraphrase for pair in pairs),
        *(pair.changed for pair in pairs),
    ]


def harder_pairs(pairs: Sequence[MinimalPair]) -> list[MinimalPair]:
    """Return the pairs with the wrong fact in the paraphrase's words instead of the original's.

    Those whose paraphrase lacks the words that were changed, as nearly all negations, have none.
    """
    return [replace(pair, changed=text) for pair in pairs if (text := _harder(pair))]


def _harder(pair: MinimalPair) -> str:
    """Return the paraphrase with every change of the original made in it; "" where one cannot."""
    old, new = pair.original.split(), pair.changed.split()
    text = pair.paraphrase
    for what, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            continue
        gone, come = (" ".join(words).strip(".,") for words in (old[i:j], new[k:m]))
        found = re.search(rf"\b{re.escape(gone)}\b", text, re.IGNORECASE) if gone else None
        if found is None or not come:
            return ""
        # A sentence begins with a capital letter, whatever it says.
        put = come.capitalize() if found[0][0].isupper() and come.islower() else come
        text = f"{text[: found.start()]}{put}{text[found.end() :]}"
    return text
