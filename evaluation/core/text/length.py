"""Count the words of answers, and warn about answers too short to compare by vectors.

A short answer (a name, a number, yes or no) is right or wrong by a single fact, and vectors barely
represent single facts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from evaluation.core.messages.message import Message
from evaluation.core.stats.cells import Floats

# Chinese and Japanese have no spaces: each of their letters counts as a word.
_WORD = re.compile("[\u3040-\u30ff\u3400-\u9fff]|[^\\W\u3040-\u30ff\u3400-\u9fff]+")
_NUMBER = re.compile(r"[-+]?\d+(?:[.,:/]\d+)*")


def count_numbers(text: str) -> int:
    """Return the number of numbers in a text; 1:25 or 3.5 is one."""
    return len(_NUMBER.findall(text))


def count_words(text: str) -> int:
    """Return the number of words in a text, numbers included."""
    return len(_WORD.findall(_NUMBER.sub(" ", text))) + count_numbers(text)


def compute_log_words(texts: Sequence[str]) -> Floats:
    """Return the natural logarithm of each text's number of words; 0 for none. Shape (N,)."""
    return np.log(np.maximum([count_words(text) for text in texts], 1))


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
