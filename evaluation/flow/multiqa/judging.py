"""Which replies are right, and which say the same: items and replies become panels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.backends import EmbedderInfo
from evaluation.flow.metrics import Exclusions
from evaluation.flow.multiqa.items import CHOICE, COSINE, EXACT, MultiqaItem
from evaluation.flow.multiqa.layout import Laid, lay_out
from evaluation.flow.multiqa.meaning import Meaning, by_meaning
from evaluation.flow.multiqa.parameters import MultiqaParameters
from evaluation.flow.multiqa.replies import NO_REPLY, TEXT, Replies
from evaluation.flow.multiqa.reranking import Reranking
from evaluation.methods.multiqa.panel import NO_VOTE, Panel
from evaluation.texts.choices import Choices, Fault
from evaluation.texts.matching import alike, normalised
from evaluation.words.message import Message

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Progress = Callable[[str, int, int], None]

# Numbers of single choices are their places; other answers begin here.
OTHER = 1 << 20


@dataclass(frozen=True)
class Judged:
    """The replies of one system, judged."""

    laid: Laid
    panel: Panel


@dataclass
class Judgement:
    """All systems, judged.

    Attributes
    ----------
    info : of the embedder; None where no item needs one. warnings : what it has to say.
    reranking : of free texts; None where there was none.
    left_out : what does not count. listed : replies that are wrong for their form: letters out of
        range, and replies that name no choice.
    """

    items: Sequence[MultiqaItem]
    replies: Replies
    systems: tuple[Judged, ...]
    left_out: Exclusions
    listed: Exclusions
    info: EmbedderInfo | None = None
    warnings: list[Message] = field(default_factory=list)
    reranking: Reranking | None = None

    def text(self, number: int) -> str | None:
        """Return a reply by its number; None for no text."""
        return None if number == NO_REPLY else self.replies.texts[number]


def judge(
    items: Sequence[MultiqaItem],
    replies: Replies,
    parameters: MultiqaParameters,
    left_out: Exclusions,
    progress: Progress | None = None,
) -> Judgement:
    """Judge every reply by the matcher of its item. Raises `BackendError`.

    `replies` hold each system, item and variant once.
    """
    laid = lay_out(items, replies, left_out)
    answers = Answers()
    pairs = _Pairs(items, replies, laid, parameters, answers)
    meaning = by_meaning(items, replies, laid, parameters, answers.number, progress)
    listed = Exclusions()
    choices = np.array(
        [len(item.choices) if item.kind == CHOICE else 0 for item in items], dtype=np.int64
    )
    sets = np.array([_n_sets(item) for item in items], dtype=np.int64)
    judged = []
    for number, one in enumerate(laid):
        said, right, stands = pairs.of(one)
        _take(meaning.systems[number] if meaning else None, said, right, stands)
        given = one.statuses != NO_REPLY
        panel = Panel.of(said, right, choices[one.items], given, stands, sets[one.items])
        judged.append(Judged(one, panel))
        pairs.note_faults(one, listed)
    found = Judgement(items, replies, tuple(judged), left_out, listed)
    if meaning is not None:
        found.info, found.warnings = meaning.info, meaning.warnings
        found.reranking = meaning.reranking
    elif parameters.reranker:
        found.warnings = [Message("reranked_nothing")]
    return found


class Answers:
    """Numbers for answers, the same one for the same answer to any item."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}

    def number(self, answer: Any) -> int:
        """Return the number of a text, or of a set of choices."""
        return self._numbers.setdefault(answer, OTHER + len(self._numbers))


class _Pairs:
    """Replies judged once for each item and text, by letters or by choices."""

    def __init__(
        self,
        items: Sequence[MultiqaItem],
        replies: Replies,
        laid: Sequence[Laid],
        parameters: MultiqaParameters,
        answers: Answers,
    ) -> None:
        self._items, self._replies = items, replies
        self._of_meaning = np.array([item.matcher == COSINE for item in items], dtype=np.bool_)
        keys = [self._keys(one)[0] for one in laid]
        self._known = np.unique(np.concatenate(keys)) if keys else np.empty(0, dtype=np.int64)
        self._answers = np.empty(len(self._known), dtype=np.int64)
        self._right = np.empty(len(self._known), dtype=np.bool_)
        self._faults: dict[int, Fault] = {}
        self._judge(parameters, answers)

    def _keys(self, laid: Laid) -> tuple[Ints, Ints, Ints]:
        """Return a key for each item and text, and the cells they stand in."""
        votes = (laid.statuses == TEXT) & ~self._of_meaning[laid.items][:, None]
        rows, columns = np.nonzero(votes)
        return laid.items[rows] << 32 | laid.texts[rows, columns], rows, columns

    def _judge(self, parameters: MultiqaParameters, answers: Answers) -> None:
        texts = self._replies.texts
        folded: dict[int, str] = {}
        readers: dict[tuple[str, ...], Choices] = {}
        current, reader = -1, Choices(())
        accepted: frozenset[Any] = frozenset()
        of_item = (self._known >> 32).tolist()
        of_text = (self._known & 0xFFFFFFFF).tolist()
        for at, (number, text) in enumerate(zip(of_item, of_text, strict=True)):
            item = self._items[number]
            if number != current:
                current = number
                if item.matcher == CHOICE:
                    known = readers.get(item.choices)
                    reader = known or Choices(item.choices)
                    if known is None and len(readers) < MOST_READERS:
                        readers[item.choices] = reader
                    accepted = accepted_choices(item, reader)
                else:
                    accepted = frozenset(map(normalised, item.answers))
            if item.matcher == CHOICE:
                read = reader.read(texts[text])
                if read.fault is not None:
                    self._faults[at] = read.fault
                    self._answers[at] = answers.number(normalised(texts[text]))
                elif len(read.choices) == 1:
                    self._answers[at] = min(read.choices)
                else:
                    self._answers[at] = answers.number(read.choices)
                self._right[at] = read.fault is None and read.choices == accepted
                continue
            said = folded.get(text)
            if said is None:
                said = folded[text] = normalised(texts[text])
            self._answers[at] = answers.number(said)
            self._right[at] = said in accepted or (
                item.matcher != EXACT
                and any(alike(said, one, parameters.levenshtein) for one in accepted)
            )

    def of(self, laid: Laid) -> tuple[Ints, Bools, Ints]:
        """Return (n, R) answers, whether each is right, and which stands for it: itself."""
        n, width = laid.statuses.shape
        said = np.full((n, width), NO_VOTE, dtype=np.int64)
        right = np.zeros((n, width), dtype=np.bool_)
        keys, rows, columns = self._keys(laid)
        at = np.searchsorted(self._known, keys)
        said[rows, columns] = self._answers[at]
        right[rows, columns] = self._right[at]
        stands = np.tile(np.arange(width), (n, 1))
        return said, right, stands

    def note_faults(self, laid: Laid, listed: Exclusions) -> None:
        """Note the replies of a system that name no choice."""
        if not self._faults:
            return
        keys, rows, columns = self._keys(laid)
        at = np.searchsorted(self._known, keys)
        faulty = np.zeros(len(self._known), dtype=np.bool_)
        faulty[list(self._faults)] = True
        for place in np.flatnonzero(faulty[at]).tolist():
            row, column = rows[place], columns[place]
            listed.add(
                self._faults[int(at[place])].value,
                {
                    "system": laid.system,
                    "item": self._items[laid.items[row]].item,
                    "variant": int(laid.variants[row, column]),
                    "reply": self._replies.texts[laid.texts[row, column]][:LONGEST_SHOWN],
                },
            )


# Different lists of choices that are kept: yes and no, true and false; not hundreds of thousands.
MOST_READERS = 10_000
# Characters of a reply that is listed.
LONGEST_SHOWN = 200
# Of more sets than these a guess is right about as rarely.
MOST_SETS = 1000


def accepted_choices(item: MultiqaItem, reader: Choices) -> frozenset[int]:
    """Return the places of the accepted choices, which are texts or letters.

    Raises
    ------
    ValueError : an accepted answer is none of the choices; the message is for people.
    """
    accepted: set[int] = set()
    for answer in item.answers:
        read = reader.read(answer)
        if read.fault is not None:
            raise ValueError(f"the accepted answer {answer[:60]!r} is none of the choices")
        accepted |= read.choices
    return frozenset(accepted)


def _n_sets(item: MultiqaItem) -> int:
    """Return how many sets of choices hold as many as are right; 0 without choices."""
    if item.kind != CHOICE:
        return 0
    if item.matcher != CHOICE or len(item.answers) < 2:
        return len(item.choices)
    n_right = len(accepted_choices(item, Choices(item.choices)))
    return min(comb(len(item.choices), n_right), MOST_SETS)


def fault_of(item: MultiqaItem) -> tuple[str, str] | None:
    """Return what keeps an item from being judged, as (field, reason); None if nothing does.

    No choices of a choice or choices of something else, a matcher for choices of something else,
    two choices alike, an accepted answer that is no choice.
    """
    if bool(item.choices) != (item.kind == CHOICE):
        reason = "there are no choices" if item.kind == CHOICE else "only a choice has choices"
        return "choices", f"{reason}, and the kind is {item.kind}"
    if item.matcher == CHOICE and item.kind != CHOICE:
        return "matcher", f"the matcher choice is not for the kind {item.kind}"
    if item.kind != CHOICE:
        return None
    reader = Choices(item.choices)
    twice = reader.alike()
    if twice is not None:
        return "choices", f"choices {twice[0] + 1} and {twice[1] + 1} are the same"
    if item.matcher == CHOICE:
        try:
            accepted_choices(item, reader)
        except ValueError as error:
            return "answers", str(error)
    return None


def _take(meaning: Meaning | None, said: Ints, right: Bools, stands: Ints) -> None:
    """Put what was judged by meaning into the arrays of a system."""
    if meaning is not None:
        said[meaning.rows] = meaning.said
        right[meaning.rows] = meaning.right
        stands[meaning.rows] = meaning.stands
