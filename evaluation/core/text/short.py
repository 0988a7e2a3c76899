"""Warn about answers too short for vectors to compare: a name, a number, yes or no.

Such an answer is right or wrong by a single fact, and vectors barely represent single facts.
"""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.core.messages.message import Message
from evaluation.core.text.length import count_numbers, count_words

# How well cosine tells a paraphrase from a sentence with one wrong fact, on the project's 200
# minimal pairs: 1 always, .5 as a coin does. From `manage.py reproduce minimal-pairs`, kind all; a
# slow test measures it anew.
MINIMAL_PAIRS_AUC = {"minilm": 0.263, "tfidf-word": 0.009, "tfidf-char": 0.004, "bow": 0.003}
# Words of a short answer.
FEW = 3
# Characters beyond which no answer is short; it spares counting the words of long ones.
LONG = 60
# Share of short answers from which on they are most.
MOST = 0.5


def is_short(text: str) -> bool:
    """Return whether an answer has at most 3 words, or at least half of its words are numbers."""
    text = text.strip()
    if len(text) > LONG:
        return False
    words = count_words(text)
    return words <= FEW or 2 * count_numbers(text) >= words


def compute_short_share(texts: Sequence[str]) -> float | None:
    """Return the share of short or numeric answers, 0 to 1; None without answers."""
    return sum(map(is_short, texts)) / len(texts) if texts else None


def check_short_answers(texts: Sequence[str], embedder: str) -> Message | None:
    """Return a warning if most answers are short, with the embedder's AUC on such; else None.

    `embedder` is the SPEC of the run.
    """
    share = compute_short_share(texts)
    if share is None or share <= MOST:
        return None
    auc = MINIMAL_PAIRS_AUC.get(embedder)
    if auc is None:
        return Message("short_answers_unmeasured", {"share": share})
    return Message("short_answers", {"share": share, "embedder": embedder, "auc": auc})
