"""Count the words of answers, in languages with and without spaces."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

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
