"""Rewordings of questions: request them from a rewriter model, check them, list wordings.

`RewordingChecker` rejects rewordings that repeat a wording or change numbers, names or meaning.
Files and runs pass their own function that asks the rewriter; it decides where replies are stored.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Literal, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from annotations.exchange.records import AnswerStatus
from evaluation.consensus.inputs import Progress
from evaluation.core.backends import get_embedder
from evaluation.core.backends.chat.contract import Message
from evaluation.core.backends.cross_encoder import EntailmentModel
from evaluation.core.stats.grams import Vectors, convert_to_dense
from evaluation.core.text.items import MultiqaItem
from evaluation.core.text.matching import has_same_names, has_same_numbers, normalise_for_matching
from evaluation.multiqa.items import build_item_messages
from evaluation.multiqa.options import MultiqaParameters
from evaluation.runs.flow.asking.plan import Item
from evaluation.runs.flow.metrics import Exclusions

TEMPLATE = (
    "Write {count} other ways to ask the question below. Each of them has to ask for exactly the "
    "same thing, so that the same answer is right. Keep every number, name, unit and quotation as "
    "it is. Do not answer the question, and neither add nor leave out a condition.\n"
    "Write one a line, numbered from 1, and nothing else.\n\nQuestion: {question}"
)
AGAIN = "\n\nWrite others than these:\n{known}"
# Of the rewriter, as in the paper.
TEMPERATURE = 1.0
# Calls of the rewriter for one item.
MOST_TRIES = 3
# Characters of a rewording.
LONGEST = 4_000

# Codes of reasons for rejecting a rewording.
REPEATED = "same_words"
OTHER_NUMBERS = "other_numbers"
OTHER_NAMES = "other_names"
OTHER_MEANING = "other_meaning"
NOT_ENTAILED = "not_entailed"
TOO_LONG = "too_long"
SURPLUS = "more_than_asked_for"

# "1.", "1)", "(1)" or "1:", also in bold or after a bullet.
_NUMBERED = re.compile(r"\s*(?:[-*•]\s*)?[*_]{0,2}\(?\d{1,3}\s*[.):]\s*[*_]{0,2}\s*(\S.*?)\s*")
_BULLET = re.compile(r"\s*[-*•]\s+(\S.*?)\s*")
_QUOTES = (('"', '"'), ("“", "”"), ("«", "»"), ("„", "“"), ("'", "'"))


@dataclass(frozen=True)
class Rewording:
    """One rewording of an item's question, accepted or rejected, with its check results.

    Attributes
    ----------
    item : number of the item.
    attempt : number of the rewriter's call, from 1; 0 for a typed wording.
    variant : number of the accepted wording, from 1; None for a rejected one.
    reason : code of why it was rejected.
    cosine : to the original; None if not computed.
    entailment : the smaller of the two probabilities that one text entails the other; None
        without an entailment model.
    """

    item: int
    attempt: int
    text: str
    variant: int | None = None
    reason: str | None = None
    cosine: float | None = None
    entailment: float | None = None


def build_rewriter_messages(
    question: str, count: int, known: Sequence[str] = ()
) -> tuple[Message, ...]:
    """Return the messages that ask for `count` rewordings other than the `known` ones."""
    content = TEMPLATE.format(count=count, question=question)
    if known:
        content += AGAIN.format(known="\n".join(f"- {text}" for text in known))
    return ({"role": "user", "content": content},)


def parse_rewordings(reply: str) -> list[str]:
    """Return the rewordings listed in a rewriter model's reply.

    They are its numbered lines; without any its bullets, then a JSON list, then all lines except
    those that end in a colon.
    """
    lines = [line for line in reply.splitlines() if line.strip()]
    # Numbered lines win: a model that numbers its list may add a sentence before or after it.
    for pattern in (_NUMBERED, _BULLET):
        texts = [match[1] for line in lines if (match := pattern.fullmatch(line))]
        if texts:
            return [_strip_markup(text) for text in texts]
    # From the first to the last bracket, because the list may be inside a code block or a sentence.
    begin, end = reply.find("["), reply.rfind("]")
    if 0 <= begin < end:
        try:
            value = json.loads(reply[begin : end + 1])
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
            return [_strip_markup(text) for text in value if text.strip()]
    return [_strip_markup(line) for line in lines if not line.rstrip().endswith(":")]


def _strip_markup(text: str) -> str:
    """Return a rewording without bold marks or quotation marks around it."""
    text = text.strip().strip("*_").strip()
    for opening, closing in _QUOTES:
        if len(text) > 2 and text.startswith(opening) and text.endswith(closing):
            return text[1:-1].strip()
    return text


class RewordingChecker:
    """Checks of proposed rewordings, and the accepted rewordings of each item.

    Parameters
    ----------
    questions : the original wordings; items are numbers in this list.
    count : the most accepted rewordings of an item.
    meaning : the least cosine to the original; 0 skips the check.
    nli : name of an entailment model; None skips the check.
    entailment : the least probability with which each text entails the other.

    Attributes
    ----------
    accepted : the accepted rewordings of each item.
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
        self.accepted: list[list[Rewording]] = [[] for _ in questions]
        # Rejected texts count as seen too, so that a later attempt cannot propose them again.
        self._seen: list[set[str]] = [{normalise_for_matching(question)} for question in questions]
        self._parameters, self._meaning, self._entailment = parameters, meaning, entailment
        self._nli = EntailmentModel.load(nli) if nli else None
        self._progress = progress

    def find_incomplete_items(self) -> list[int]:
        """Return the indices of items with too few accepted rewordings."""
        return [item for item, accepted in enumerate(self.accepted) if len(accepted) < self.count]

    def check_rewordings(self, texts: Sequence[tuple[int, str]], attempt: int) -> list[Rewording]:
        """Return each (item, text) as an accepted or rejected rewording.

        Raises `BackendError`.
        """
        checked = [self._check_words(item, text, attempt) for item, text in texts]
        # Vectors and entailment are computed only for texts that pass the cheap checks.
        remaining = [index for index, each in enumerate(checked) if each.reason is None]
        pairs = [(self.questions[checked[index].item], checked[index].text) for index in remaining]
        cosines = self._compute_cosines(pairs)
        entailments = self._compute_entailments(pairs)
        for index, cosine, entailment in zip(remaining, cosines, entailments, strict=True):
            item, text = checked[index].item, checked[index].text
            reason, variant = None, None
            if cosine is not None and cosine < self._meaning:
                reason = OTHER_MEANING
            elif entailment is not None and entailment < self._entailment:
                reason = NOT_ENTAILED
            elif len(self.accepted[item]) >= self.count:
                reason = SURPLUS
            else:
                variant = len(self.accepted[item]) + 1
            rewording = Rewording(item, attempt, text, variant, reason, cosine, entailment)
            checked[index] = rewording
            if variant is not None:
                self.accepted[item].append(rewording)
        return checked

    def restore_rewordings(self, checked: Sequence[Rewording]) -> None:
        """Restore the checker's state from the result of an earlier call of `check_rewordings`."""
        for rewording in checked:
            self._seen[rewording.item].add(normalise_for_matching(rewording.text))
            if rewording.variant is not None:
                self.accepted[rewording.item].append(rewording)

    def accept_typed(self, item: int, text: str) -> Rewording:
        """Accept a rewording that a user typed; only a repetition is rejected."""
        key = normalise_for_matching(text)
        if key in self._seen[item]:
            return Rewording(item, 0, text, None, REPEATED)
        self._seen[item].add(key)
        rewording = Rewording(item, 0, text, len(self.accepted[item]) + 1)
        self.accepted[item].append(rewording)
        return rewording

    def _check_words(self, item: int, text: str, attempt: int) -> Rewording:
        """Return a rewording; reject long or repeated ones, and changed numbers or names."""
        question, key, reason = self.questions[item], normalise_for_matching(text), None
        # A long text is stored cut, so its key must come from the whole text.
        if len(text) > LONGEST:
            text, reason = text[:LONGEST], TOO_LONG
        elif key in self._seen[item]:
            reason = REPEATED
        elif not has_same_numbers(question, text):
            reason = OTHER_NUMBERS
        elif not has_same_names(question, text):
            reason = OTHER_NAMES
        # Rejected ones too, so that the next attempt does not bring them up again.
        self._seen[item].add(key)
        return Rewording(item, attempt, text, None, reason)

    def _compute_cosines(self, pairs: Sequence[tuple[str, str]]) -> list[float | None]:
        """Return the cosine of each (original, rewording); None if cosines are not checked."""
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
        rows = {text: row for row, text in enumerate(texts)}
        originals = _densify(vectors[[rows[original] for original, _ in pairs]])
        rewordings = _densify(vectors[[rows[rewording] for _, rewording in pairs]])
        lengths = np.linalg.norm(originals, axis=1) * np.linalg.norm(rewordings, axis=1)
        products = (originals * rewordings).sum(axis=1)
        return [float(p / n) if n else 0.0 for p, n in zip(products, lengths, strict=True)]

    def _compute_entailments(self, pairs: Sequence[tuple[str, str]]) -> list[float | None]:
        """Return each pair's smaller entailment probability of both directions, or None."""
        if self._nli is None or not pairs:
            return [None] * len(pairs)
        both = self._nli.compute_entailment_probabilities([*pairs, *((b, a) for a, b in pairs)])
        # Both ways: a rewording that drops a condition is entailed by its question, but not the
        # reverse.
        return [float(min(forward, back)) for forward, back in both.reshape(2, -1).T]


def _densify(vectors: Vectors) -> NDArray[np.float64]:
    """Return the vectors as a dense array of float64, one row per vector."""
    return np.asarray(convert_to_dense(vectors), dtype=np.float64)


FEWER = "fewer_rewordings"
ATTEMPTS = range(1, MOST_TRIES + 1)
# Examples of rejected rewordings in a message.
EXAMPLES = 3
LONGEST_SHOWN = 160
NO_REWRITER_REPLY = "no_reply_of_the_rewriter"


class Reply(Protocol):
    """Interface of a language model's reply: its text and status."""

    @property
    def answer(self) -> str:
        """Text of the reply; "" without one."""

    @property
    def status(self) -> AnswerStatus:
        """Status of the reply: a text, empty, refused or an error."""


Ask = Callable[[Sequence[Item]], Mapping[tuple[str, int], Reply]]
Check = Callable[[Sequence[tuple[int, str]], int], list[Rewording]]


class Wording(NamedTuple):
    """A wording to ask: index of its item, variant number (0 is the original), and text."""

    item: int
    variant: int
    text: str

    def build_id(self, items: Sequence[MultiqaItem]) -> str:
        """Return the id of the conversation that asks this wording."""
        return f"{items[self.item].item}|{self.variant}"


def request_rewordings(
    checker: RewordingChecker,
    ids: Sequence[str],
    ask: Ask,
    left_out: Exclusions,
    check: Check | None = None,
) -> list[Rewording]:
    """Request rewordings of each item, check them, and return accepted and rejected ones.

    Items with too few accepted rewordings get up to two more calls.

    Parameters
    ----------
    ids : of the items of `checker`.
    ask : sends conversations to the rewriter and returns its replies.
    left_out : gets the calls without a text in reply.
    check : replaces `checker.check_rewordings`.

    Exceptions of `ask` and `check` propagate.
    """
    check = check or checker.check_rewordings
    rewordings: list[Rewording] = []
    for attempt in ATTEMPTS:
        incomplete = checker.find_incomplete_items()
        if not incomplete or not checker.count:
            break
        items = {build_attempt_id(ids[item], attempt): item for item in incomplete}
        conversations = [
            Item(
                name,
                build_rewriter_messages(
                    checker.questions[item],
                    checker.count - len(checker.accepted[item]),
                    _list_known_texts(rewordings, item),
                ),
            )
            for name, item in items.items()
        ]
        texts: list[tuple[int, str]] = []
        for (name, _), reply in ask(conversations).items():
            # A failed or empty reply uses up the attempt; the next attempt asks again.
            if reply.status is not AnswerStatus.TEXT:
                entry = {
                    "item": ids[items[name]],
                    "attempt": attempt,
                    "status": reply.status.value,
                }
                left_out.add(NO_REWRITER_REPLY, entry)
                continue
            texts += [(items[name], text) for text in parse_rewordings(reply.answer)]
        rewordings += check(texts, attempt)
    return rewordings


def build_attempt_id(item: str, attempt: int) -> str:
    """Return the id of the conversation of one attempt to reword an item."""
    return f"{item}|reword|{attempt}"


def _list_known_texts(rewordings: Sequence[Rewording], item: int) -> list[str]:
    """Return the distinct texts already proposed as rewordings of an item."""
    return list(dict.fromkeys(rewording.text for rewording in rewordings if rewording.item == item))


def has_no_usable_rewording(rewordings: Sequence[Rewording], left_out: Exclusions) -> bool:
    """Return whether the rewriter model was asked but no rewording was accepted."""
    was_called = bool(rewordings) or left_out.count(NO_REWRITER_REPLY) > 0
    return was_called and not any(rewording.variant for rewording in rewordings)


def summarize_rejected_rewordings(
    rewordings: Sequence[Rewording], ids: Sequence[str], left_out: Exclusions
) -> dict[str, Any]:
    """Return the values of the error message that no rewording can be used.

    Returns
    -------
    rewordings : their number.
    reasons : their number by reason.
    silent : number of replies without a text, by status.
    examples : up to three rejected rewordings, with different reasons if possible.
    """
    by_reason: dict[str, list[Rewording]] = {}
    for rewording in rewordings:
        by_reason.setdefault(rewording.reason or "", []).append(rewording)
    # One example of each reason first, then the second ones.
    turns = zip_longest(*by_reason.values())
    examples = [each for turn in turns for each in turn if each is not None][:EXAMPLES]
    _, silent = left_out.by_reason.get(NO_REWRITER_REPLY, (0, []))
    return {
        "rewordings": len(rewordings),
        "reasons": {reason: len(rejected) for reason, rejected in by_reason.items()},
        "silent": dict(Counter(entry["status"] for entry in silent)),
        "examples": [
            {
                "question": ids[rewording.item],
                "text": rewording.text[:LONGEST_SHOWN],
                "reason": rewording.reason,
            }
            for rewording in examples
        ],
    }


def find_items_without_rewording(rewordings: Sequence[Rewording], ids: Sequence[str]) -> set[str]:
    """Return the ids of the items without an accepted rewording."""
    return set(ids) - {
        ids[rewording.item] for rewording in rewordings if rewording.variant is not None
    }


def add_missing_rewordings(
    rewordings: Sequence[Rewording], ids: Sequence[str], wanted: int, left_out: Exclusions
) -> None:
    """Add items with fewer than `wanted` accepted rewordings to `left_out`."""
    accepted = [0] * len(ids)
    for rewording in rewordings:
        accepted[rewording.item] += rewording.variant is not None
    entries = [
        {"item": name, "rewordings": count}
        for name, count in zip(ids, accepted, strict=True)
        if count < wanted
    ]
    if entries:
        left_out.add_all(FEWER, entries)


def list_wordings(
    items: Sequence[MultiqaItem], scorable: Sequence[int], rewordings: Sequence[Rewording]
) -> list[Wording]:
    """Return all wordings to ask: the original questions first, then the rewordings.

    Parameters
    ----------
    scorable : numbers of the items to ask.
    rewordings : their `item` is a position in `scorable`.
    """
    originals = [Wording(number, 0, items[number].question) for number in scorable]
    accepted = sorted(
        (rewording.item, rewording.variant, rewording.text)
        for rewording in rewordings
        if rewording.variant is not None
    )
    return [
        *originals,
        *(Wording(scorable[position], variant, text) for position, variant, text in accepted),
    ]


def build_conversations(items: Sequence[MultiqaItem], wordings: Sequence[Wording]) -> list[Item]:
    """Return one conversation per wording, with the messages that ask it."""
    return [
        Item(wording.build_id(items), build_item_messages(items[wording.item], wording.text))
        for wording in wordings
    ]
