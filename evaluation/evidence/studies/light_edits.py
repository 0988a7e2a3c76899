"""Edit copied answers lightly, as a copier who hides the copying does."""

from __future__ import annotations

import numpy as np

FILLERS = ("really", "basically", "just", "also", "simply", "actually")
# One word in so many is touched.
EVERY = 8
# How often an opening is put before the text.
OPENED = 0.3


def edit_lightly(text: str, rng: np.random.Generator) -> str:
    """Return the text with every eighth word dropped, swapped, misspelt, capitalised or added."""
    words = text.split()
    for _ in range(max(1, len(words) // EVERY) if words else 0):
        at, kind = int(rng.integers(len(words))), int(rng.integers(5))
        if kind == 0 and len(words) > 3:
            words.pop(at)
        elif kind == 1 and at + 1 < len(words):
            words[at], words[at + 1] = words[at + 1], words[at]
        elif kind == 2 and len(words[at]) > 3:
            letter = int(rng.integers(len(words[at]) - 1))
            word = words[at]
            words[at] = word[:letter] + word[letter + 1] + word[letter] + word[letter + 2 :]
        elif kind == 3:
            words[at] = words[at].capitalize()
        else:
            words.insert(at, str(rng.choice(FILLERS)))
    if rng.random() < OPENED:
        words = ["I", "think", *words]
    return " ".join(words)
