"""Asking a judge: each answer some times, some pairs in both orders, and once more if need be.

`ask` is the one thing that files and the database do differently: it gets the name of a step, the
prompt and the items, and gives the replies, stored ones without asking again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar
from urllib.parse import quote

import numpy as np

from annotations.exchange.records import AnswerStatus
from evaluation.flow.asking.plan import Item
from evaluation.flow.judge.parameters import JudgeParameters
from evaluation.flow.judge.prompts import COMPARE, SCORE, JudgePrompt
from evaluation.flow.judge.replies import NO_NUMBER, NO_VERDICT, score_in, verdict_in
from evaluation.methods.cells import Booleans, Floats, Integers, codes_of
from evaluation.methods.judge import Compared


class Said(Protocol):
    """A reply."""

    @property
    def answer(self) -> str:
        """Its text."""

    @property
    def status(self) -> AnswerStatus:
        """What came of asking."""


Replies = Mapping[tuple[str, int], Said]
Ask = Callable[[str, JudgePrompt, Sequence[Item]], Replies]
T = TypeVar("T")
Read = Callable[[str], tuple[T | None, str | None]]


@dataclass(frozen=True)
class ToJudge:
    """N answers with a text, as columns.

    Attributes
    ----------
    authors : ids of who answered. people : whether that is a worker; others are models.
    questions : ids. texts : the answers.
    wordings, passages : of the questions, by their ids; a question without one has its id as
        wording, and no passage.
    """

    authors: Sequence[Any]
    people: Sequence[bool]
    questions: Sequence[Any]
    texts: Sequence[str]
    wordings: Mapping[Any, str]
    passages: Mapping[Any, str]

    def __len__(self) -> int:
        return len(self.texts)

    def name(self, row: int) -> str:
        """Return the name of an answer, which no other has."""
        kind = "worker" if self.people[row] else "model"
        return f"{quote(str(self.questions[row]), ' ')}/{kind}/{quote(str(self.authors[row]), ' ')}"

    def fields(self, row: int) -> dict[str, str]:
        """Return what a prompt shows of an answer's question."""
        question = self.questions[row]
        return {
            "question": self.wordings.get(question, str(question)),
            "passage": self.passages.get(question, ""),
        }

    def codes(self) -> tuple[Integers, Integers, Booleans]:
        """Return (N,) codes of questions and of authors, and who of them are people."""
        asked = codes_of(np.array([str(one) for one in self.questions], dtype=object))[0]
        who = [f"{int(p)}{a}" for p, a in zip(self.people, self.authors, strict=True)]
        author = codes_of(np.array(who, dtype=object))[0]
        return asked, author, np.array(self.people, dtype=bool)


@dataclass(frozen=True)
class Judged:
    """What a judge said.

    Attributes
    ----------
    scores : (N, R), NaN for none. reasons : (N) lists of R: why there is none.
    compared : pairs in both orders. pair_reasons : (P) pairs of reasons.
    n_again : how many replies were asked for once more.
    """

    scores: Floats
    reasons: list[list[str | None]]
    compared: Compared
    pair_reasons: list[tuple[str | None, str | None]]
    n_again: int


def judge_answers(
    answers: ToJudge,
    parameters: JudgeParameters,
    ask: Ask,
    score: JudgePrompt = SCORE,
    compare: JudgePrompt = COMPARE,
) -> Judged:
    """Ask a judge for scores and verdicts. What `ask` raises is let out."""
    rows, repeats = range(len(answers)), parameters.repeats
    items = [
        Item(
            f"score/{answers.name(row)}",
            score.messages({**answers.fields(row), "answer": answers.texts[row]}),
            repeats,
        )
        for row in rows
    ]
    found, again = read_replies(ask, "score", score, items, score_in, NO_NUMBER)
    scores = np.full((len(answers), repeats), np.nan)
    reasons: list[list[str | None]] = [[None] * repeats for _ in rows]
    for row in rows:
        for time in range(repeats):
            value, reasons[row][time] = found[items[row].id, time]
            scores[row, time] = np.nan if value is None else value
    pairs = pairs_of(answers, parameters.pairs, parameters.seed)
    shown = [(a, b) for one, other in pairs for a, b in ((one, other), (other, one))]
    of_pairs = [_comparison(answers, compare, a, b) for a, b in shown]
    verdicts, again_too = read_replies(ask, "compare", compare, of_pairs, verdict_in, NO_VERDICT)
    told = [verdicts[item.id, 0] for item in of_pairs]
    first = np.array([_number(value) for value, _ in told[::2]], dtype=np.float64)
    # Of the swapped order the verdict is on the other answer.
    second = 1.0 - np.array([_number(value) for value, _ in told[1::2]], dtype=np.float64)
    compared = Compared(
        np.array([one for one, _ in pairs], dtype=np.int64),
        np.array([other for _, other in pairs], dtype=np.int64),
        first,
        second,
    )
    why = [(told[at][1], told[at + 1][1]) for at in range(0, len(told), 2)]
    return Judged(scores, reasons, compared, why, again + again_too)


def pairs_of(answers: ToJudge, most: int, seed: int) -> list[tuple[int, int]]:
    """Return up to `most` pairs of rows for each question, at random, of different texts.

    Which pairs goes by the seed and the question's id, so that other questions change nothing.
    """
    of_question: dict[str, list[int]] = {}
    for row, question in enumerate(answers.questions):
        of_question.setdefault(question, []).append(row)
    found = []
    for question, rows in of_question.items():
        digest = hashlib.sha256(f"{seed}:{question}".encode()).digest()
        rng = np.random.default_rng(int.from_bytes(digest[:8], "big"))
        chosen: list[tuple[int, int]] = []
        n = len(rows)
        for code in rng.permutation(n * n).tolist() if n * n <= MOST_PAIRS else _drawn(rng, n):
            if len(chosen) == most:
                break
            one, other = rows[code // n], rows[code % n]
            pair = (one, other)
            if one == other or answers.texts[one].strip() == answers.texts[other].strip():
                continue
            if pair not in chosen and pair[::-1] not in chosen:
                chosen.append(pair)
        found += chosen
    return found


# Of more than these not all are put in an order: some are drawn.
MOST_PAIRS = 40_000


def _drawn(rng: np.random.Generator, n: int) -> list[int]:
    drawn: list[int] = rng.integers(0, n * n, size=MOST_PAIRS).tolist()
    return drawn


def _comparison(answers: ToJudge, prompt: JudgePrompt, one: int, other: int) -> Item:
    both = {"first": answers.texts[one], "second": answers.texts[other]}
    messages = prompt.messages({**answers.fields(one), **both})
    _, kind, author = answers.name(other).split("/")
    return Item(f"compare/{answers.name(one)}/{kind}/{author}", messages)


def read_replies(
    ask: Ask, step: str, prompt: JudgePrompt, items: Sequence[Item], read: Read[T], nothing: str
) -> tuple[dict[tuple[str, int], tuple[T | None, str | None]], int]:
    """Return what `read` takes from each reply, or why nothing, and how many were asked again.

    By item and sample. A reply that says nothing is asked for once more, unless it is an ERROR
    or was cut off, as it would be again; `nothing` is why of an empty one.
    """
    if not items:
        return {}, 0
    replies = ask(step, prompt, items)
    found = {which: _read_in(reply, read, nothing) for which, reply in replies.items()}
    messages = {item.id: item.messages for item in items}
    unread = [
        which
        for which, (value, _) in found.items()
        if value is None and not replies[which].status.is_missing
    ]
    if unread:
        name = {which: f"{which[0]}/again-{which[1]}" for which in unread}
        more = [
            Item(name[which], prompt.asked_again(messages[which[0]], replies[which].answer))
            for which in unread
        ]
        second = ask(f"{step} again", prompt, more)
        for which in unread:
            found[which] = _read_in(second[name[which], 0], read, nothing)
    return found, len(unread)


def _read_in(reply: Said, read: Read[T], nothing: str) -> tuple[T | None, str | None]:
    if reply.status is AnswerStatus.TEXT:
        return read(reply.answer)
    return None, nothing if reply.status is AnswerStatus.EMPTY else reply.status.value


def _number(value: float | None) -> float:
    return np.nan if value is None else value
