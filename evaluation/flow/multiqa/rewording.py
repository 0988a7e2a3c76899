"""The rewriter: what it is asked, what its reply holds, and which rewordings are kept."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from evaluation.backends import get_embedder
from evaluation.backends.chat.contract import Message
from evaluation.backends.nli import EntailmentModel
from evaluation.flow.multiqa.parameters import MultiqaParameters
from evaluation.methods.grams import Vectors, dense
from evaluation.texts.matching import normalised
from evaluation.texts.rewording import same_names, same_numbers

Progress = Callable[[str, int, int], None]

TEMPLATE = (
    "Write {count} other ways to ask the question below. Each of them has to ask for exactly the "
    "same thing, so that the same answer is right. Keep every number, name, unit and quotation as "
    "it is. Do not answer the question, and neither add nor leave out a condition.\n"
    "Write one a line, numbered from 1, and nothing else.\n\nQuestion: {question}"
)
AGAIN = "\n\nWrite others than these:\n{known}"
TEMPERATURE = 1.0
MOST_TRIES = 3
LONGEST = 4_000

REPEATED = "same_words"
OTHER_NUMBERS = "other_numbers"
OTHER_NAMES = "other_names"
OTHER_MEANING = "other_meaning"
NOT_ENTAILED = "not_entailed"
TOO_LONG = "too_long"
SURPLUS = "more_than_asked_for"

_NUMBERED = re.compile(r"\s*(?:[-*•]\s*)?[*_]{0,2}\(?\d{1,3}\s*[.):]\s*[*_]{0,2}\s*(\S.*?)\s*")
_BULLET = re.compile(r"\s*[-*•]\s+(\S.*?)\s*")
_QUOTES = (('"', '"'), ("“", "”"), ("«", "»"), ("„", "“"), ("'", "'"))


@dataclass(frozen=True)
class Rewording:
    """One rewording of an item's question.

    Attributes
    ----------
    attempt : 1 for the first call, 0 where somebody typed it.
    variant : its number, from 1; None where it was dropped, for `reason`.
    cosine : to the original; None where it was not looked at. entailment : the smaller of the two
        probabilities that one entails the other; None without such a model.
    """

    item: int
    attempt: int
    text: str
    variant: int | None = None
    reason: str | None = None
    cosine: float | None = None
    entailment: float | None = None


def messages(question: str, count: int, known: Sequence[str] = ()) -> tuple[Message, ...]:
    """Return the conversation that asks for rewordings; `known` ones are not wanted again."""
    content = TEMPLATE.format(count=count, question=question)
    if known:
        content += AGAIN.format(known="\n".join(f"- {text}" for text in known))
    return ({"role": "user", "content": content},)


def parsed(reply: str) -> list[str]:
    """Return the rewordings in a reply: its numbered lines, else a JSON list, bullets or lines.

    Of plain lines those that end in a colon are no rewordings.
    """
    lines = [line for line in reply.splitlines() if line.strip()]
    for pattern in (_NUMBERED, _BULLET):
        found = [match[1] for line in lines if (match := pattern.fullmatch(line))]
        if found:
            return [_bare(text) for text in found]
    begin, end = reply.find("["), reply.rfind("]")
    if 0 <= begin < end:
        try:
            value = json.loads(reply[begin : end + 1])
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            return [_bare(text) for text in value if text.strip()]
    return [_bare(line) for line in lines if not line.rstrip().endswith(":")]


def _bare(text: str) -> str:
    """Return a text without the quotes or the bold around it."""
    text = text.strip().strip("*_").strip()
    for first, last in _QUOTES:
        if len(text) > 2 and text.startswith(first) and text.endswith(last):
            return text[1:-1].strip()
    return text


class Checker:
    """Says of each rewording whether it is kept; what was kept of an item is remembered.

    Parameters
    ----------
    count : most that are kept of an item.
    meaning : the least cosine to the original; 0 for any. entailment : the least probability with
        which each entails the other, where `nli` names a model.
    """

    def __init__(
        self,
        questions: Sequence[str],
        count: int,
        parameters: MultiqaParameters,
        meaning: float,
        nli: str | None = None,
        entailment: float = 0.5,
        progress: Progress | None = None,
    ) -> None:
        self.questions, self.count = questions, count
        self.kept: list[list[Rewording]] = [[] for _ in questions]
        self._said: list[set[str]] = [{normalised(question)} for question in questions]
        self._parameters, self._meaning, self._entailment = parameters, meaning, entailment
        self._nli = EntailmentModel.load(nli) if nli else None
        self._progress = progress

    def lacking(self) -> list[int]:
        """Return the items that have fewer rewordings than wanted."""
        return [item for item, kept in enumerate(self.kept) if len(kept) < self.count]

    def check(self, found: Sequence[tuple[int, str]], attempt: int) -> list[Rewording]:
        """Return the rewordings (item, text) with what became of each. Raises `BackendError`."""
        first = [self._by_words(item, text, attempt) for item, text in found]
        waiting = [at for at, one in enumerate(first) if one.reason is None]
        pairs = [(self.questions[first[at].item], first[at].text) for at in waiting]
        cosines = self._cosines(pairs)
        entailed = self._entailed(pairs)
        for at, cosine, both in zip(waiting, cosines, entailed, strict=True):
            one = first[at]
            reason, variant = None, None
            if cosine is not None and cosine < self._meaning:
                reason = OTHER_MEANING
            elif both is not None and both < self._entailment:
                reason = NOT_ENTAILED
            elif len(self.kept[one.item]) >= self.count:
                reason = SURPLUS
            else:
                variant = len(self.kept[one.item]) + 1
            first[at] = Rewording(one.item, attempt, one.text, variant, reason, cosine, both)
            if variant is not None:
                self.kept[one.item].append(first[at])
        return first

    def take(self, item: int, text: str) -> Rewording:
        """Keep a rewording that somebody typed, whatever it says, but for a repetition."""
        key = normalised(text)
        if key in self._said[item]:
            return Rewording(item, 0, text, None, REPEATED)
        self._said[item].add(key)
        kept = Rewording(item, 0, text, len(self.kept[item]) + 1)
        self.kept[item].append(kept)
        return kept

    def _by_words(self, item: int, text: str, attempt: int) -> Rewording:
        question, key, reason = self.questions[item], normalised(text), None
        if len(text) > LONGEST:
            text, reason = text[:LONGEST], TOO_LONG
        elif key in self._said[item]:
            reason = REPEATED
        elif not same_numbers(question, text):
            reason = OTHER_NUMBERS
        elif not same_names(question, text):
            reason = OTHER_NAMES
        self._said[item].add(key)
        return Rewording(item, attempt, text, None, reason)

    def _cosines(self, pairs: Sequence[tuple[str, str]]) -> list[float | None]:
        if not self._meaning or not pairs:
            return [None] * len(pairs)
        precision = cast(Literal["float32", "bfloat16", "auto"], self._parameters.precision)
        embedder = get_embedder(self._parameters.embedder, precision)
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        embedder.fit(texts)
        progress = self._progress
        vectors = embedder.embed(
            texts, progress and (lambda done, total: progress("checking", done, total))
        )
        place = {text: at for at, text in enumerate(texts)}
        one = _rows(vectors[[place[original] for original, _ in pairs]])
        other = _rows(vectors[[place[reworded] for _, reworded in pairs]])
        lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
        products = (one * other).sum(axis=1)
        return [float(p / n) if n else 0.0 for p, n in zip(products, lengths, strict=True)]

    def _entailed(self, pairs: Sequence[tuple[str, str]]) -> list[float | None]:
        """Return the smaller of the probabilities of both ways, where there is a model."""
        if self._nli is None or not pairs:
            return [None] * len(pairs)
        both = self._nli.probabilities([*pairs, *((b, a) for a, b in pairs)])
        return [float(min(there, back)) for there, back in both.reshape(2, -1).T]


def _rows(vectors: Vectors) -> NDArray[np.float64]:
    return np.asarray(dense(vectors), dtype=np.float64)
