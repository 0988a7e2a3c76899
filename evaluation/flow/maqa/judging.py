"""A reply to a question with several right answers: what it got right, and how sure it was."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import isfinite
from typing import TypeVar

from annotations.exchange.reading.several_answers import (
    Answer,
    FirstTokenOf,
    SeveralAnswersQuestion,
    SeveralAnswersReply,
)
from annotations.exchange.records import AnswerStatus
from evaluation.flow.maqa.confidence import ConfidenceError, are_shares, confidence_of, said_in
from evaluation.flow.maqa.reading import DELIMITED, Listed, confidence_beside, read_answers
from evaluation.flow.maqa.spelling import FIXED, key_of, letter_of
from evaluation.methods.maqa.first_token import (
    ROUNDING,
    DistributionError,
    FirstToken,
    of_logits,
    of_top_logprobs,
)
from evaluation.methods.maqa.sets import SetScore, one_to_one, set_score

WITHOUT_ANSWER = "first_token_without_answer"
REPEATED = "first_token_repeated"
LOGPROBS_NOT_FINITE, LOGPROBS_ABOVE_1 = "logprobs_not_finite", "logprobs_above_1"
# Spellings of answers come again and again; this many are remembered.
_REMEMBERED = 100_000

_key = lru_cache(_REMEMBERED)(key_of)

ItemT = TypeVar("ItemT")


@dataclass(frozen=True)
class RightAnswers:
    """What is right for a question, ready to be compared.

    Attributes
    ----------
    question : as it was read. rules : "fixed" or "paper".
    """

    question: SeveralAnswersQuestion
    rules: str

    @cached_property
    def all_keys(self) -> list[frozenset[Hashable]]:
        """Forms of the spellings of each right answer, as they stand in the file."""
        return [
            frozenset(_typed(one, self.rules) for one in spellings)
            for spellings in self.question.answers
        ]

    @cached_property
    def keys(self) -> list[frozenset[Hashable]]:
        """The same; with the fixed rules each right answer once."""
        return list(dict.fromkeys(self.all_keys)) if self.rules == FIXED else self.all_keys

    @cached_property
    def fitting(self) -> dict[Hashable, list[int]]:
        """Which right answers a form fits."""
        found: dict[Hashable, list[int]] = {}
        for number, keys in enumerate(self.keys):
            for key in keys:
                found.setdefault(key, []).append(number)
        return found

    @cached_property
    def are_letters(self) -> bool:
        """Whether letters are to be chosen."""
        spellings = [one for answer in self.question.answers for one in answer]
        letters = [re.fullmatch(r"\s*[A-Za-z]\s*", str(one)) for one in spellings]
        return bool(letters) and all(letters)

    @cached_property
    def have_commas(self) -> bool:
        """Whether a right answer holds a comma (and is no number)."""
        return any(
            isinstance(one, str) and "," in one.strip(" ,")
            for answer in self.question.answers
            for one in answer
        )


@dataclass(frozen=True)
class JudgedAnswer:
    """One answer of a reply.

    `found` is the number of the right answer it gave, None for a wrong one. `token` is None where
    no distribution was given or it is none.
    """

    text: str
    key: Hashable
    found: int | None
    token: FirstToken | None

    @property
    def right(self) -> bool:
        """Whether it is right."""
        return self.found is not None


@dataclass(frozen=True)
class JudgedReply:
    """A reply that came, judged.

    Attributes
    ----------
    score : None where nobody says what is right.
    form : how its answers stood; "" where they were given apart.
    confidence : that it gave itself, 0 to 100; None where it did not, or not so that it can be
        read. faults : what could not be used, as codes.
    divided : whether commas divide its answers although right ones hold commas.
    mean_logprob : the natural logarithm of its probability divided by its number of tokens; None
        where that is not known.
    said : its confidence as it stands there; None without any.
    """

    reply: SeveralAnswersReply
    answers: tuple[JudgedAnswer, ...]
    score: SetScore | None
    confidence: float | None
    form: str
    divided: bool
    faults: tuple[str, ...]
    mean_logprob: float | None = None
    said: object = None

    @cached_property
    def keys(self) -> frozenset[Hashable]:
        """The set of its answers."""
        return frozenset(answer.key for answer in self.answers)


@dataclass(frozen=True)
class ReadReply:
    """What stands in a reply: its answers, how they stood, and what it says of its confidence."""

    answers: Sequence[Answer] = ()
    form: str = ""
    said: object = None


def read_reply(right: RightAnswers, reply: SeveralAnswersReply) -> ReadReply:
    """Read a reply that came; nothing stands in an empty or refused one."""
    if reply.status is not AnswerStatus.TEXT:
        return ReadReply((), "", reply.confidence)
    said, rest = confidence_beside(reply.text), reply.text
    if said is None:
        said, rest = said_in(reply.text)
    if reply.confidence is not None:
        said = reply.confidence
    if reply.answers is not None:
        return ReadReply(reply.answers, "", said)
    if not reply.text:
        return ReadReply([token.answer for token in reply.first_token], "", said)
    if not right.question.answers:  # an open question: the whole text is its answer
        return ReadReply([rest] if rest.strip() else [], "", said)
    listed = read_answers(rest, right.are_letters)
    joined = listed.form == DELIMITED and right.rules == FIXED
    return ReadReply(_joined(right, listed) if joined else listed.answers, listed.form, said)


def judge(right: RightAnswers, reply: SeveralAnswersReply) -> JudgedReply:
    """Judge a reply that came: a text, or an empty or refused one, which has no answers."""
    faults: list[str] = []
    read = read_reply(right, reply)
    confidence = _confidence(read.said, faults)
    answers = _answers(right, read.answers)
    tokens = _tokens(right, [key for _, key in answers], reply.first_token, faults)
    fits = [right.fitting.get(key, []) for _, key in answers]
    if right.rules == FIXED:
        found = one_to_one(fits)
        n_found = sum(one is not None for one in found)
    else:
        found = [fit[0] if fit else None for fit in fits]
        n_found = len({number for fit in fits for number in fit})
    n_right = sum(one is not None for one in found)
    judged = tuple(
        JudgedAnswer(text, key, of, tokens.get(place))
        for place, ((text, key), of) in enumerate(zip(answers, found, strict=True))
    )
    score = set_score(n_right, len(judged), n_found, len(right.keys)) if right.keys else None
    mean = _mean_logprob(reply.logprobs, faults)
    divided = read.form == DELIMITED and right.have_commas
    return JudgedReply(
        reply, judged, score, confidence, read.form, divided, tuple(faults), mean, read.said
    )


def with_confidences(
    judged: Mapping[ItemT, Sequence[JudgedReply]],
) -> dict[ItemT, list[JudgedReply]]:
    """Return the replies of one system with their confidences on the scale of that system."""
    shares = are_shares(one.said for many in judged.values() for one in many)
    if not shares:
        return {item: list(many) for item, many in judged.items()}
    return {
        item: [replace(one, confidence=_confidence(one.said, [], shares)) for one in many]
        for item, many in judged.items()
    }


def _mean_logprob(given: Sequence[float] | None, faults: list[str]) -> float | None:
    """Return the mean of the tokens' log-probabilities; what is none is noted."""
    if not given:
        return None
    if not all(map(isfinite, given)):
        faults.append(LOGPROBS_NOT_FINITE)
        return None
    if max(given) > ROUNDING:
        faults.append(LOGPROBS_ABOVE_1)
        return None
    return min(0.0, sum(given) / len(given))


def _typed(answer: Answer, rules: str) -> Hashable:
    return _key(str(answer), rules)


def _answers(right: RightAnswers, texts: Sequence[Answer]) -> list[tuple[str, Hashable]]:
    """Return the answers with their forms; with the fixed rules each once."""
    found: list[tuple[str, Hashable]] = []
    seen: set[Hashable] = set()
    for one in texts:
        text = str(one).strip()
        key = _of_reply(right, text)
        if right.rules == FIXED and key in seen:
            continue
        seen.add(key)
        found.append((text, key))
    return found


def _of_reply(right: RightAnswers, text: str) -> Hashable:
    return _typed((right.are_letters and letter_of(text)) or text, right.rules)


def _joined(right: RightAnswers, listed: Listed) -> list[str]:
    """Put together what was divided although it is one right answer: a city, its state; a duo."""
    parts = list(listed.answers)
    if len(parts) > 1 and _typed(listed.whole, right.rules) in right.fitting:
        return [listed.whole]
    last = " and ".join(parts[-2:])
    if len(parts) > 2 and _typed(last, right.rules) in right.fitting:
        parts[-2:] = [last]
    joined, place = [], 0
    while place < len(parts):
        end = place + 1
        for longer in range(min(len(parts), place + 4), place + 1, -1):
            if _typed(", ".join(parts[place:longer]), right.rules) in right.fitting:
                end = longer
                break
        joined.append(", ".join(parts[place:end]))
        place = end
    return joined


def _confidence(said: object, faults: list[str], shares: bool = False) -> float | None:
    if said is None:
        return None
    try:
        return confidence_of(said if isinstance(said, str | int | float) else str(said), shares)
    except ConfidenceError as error:
        faults.append(error.code)
        return None


def _tokens(
    right: RightAnswers,
    keys: Sequence[Hashable],
    given: Sequence[FirstTokenOf],
    faults: list[str],
) -> dict[int, FirstToken]:
    """Return the distributions by the place of their answers; what is none is noted."""
    found: dict[int, FirstToken] = {}
    open_places: dict[Hashable, list[int]] = {}
    for place, key in enumerate(keys):
        open_places.setdefault(key, []).append(place)
    for one in given:
        places = open_places.get(_of_reply(right, str(one.answer).strip()))
        if not places:
            faults.append(WITHOUT_ANSWER if places is None else REPEATED)
            continue
        place = places.pop(0)
        try:
            found[place] = (
                of_top_logprobs(one.numbers, one.vocabulary, one.others)
                if one.is_top
                else of_logits(one.numbers)
            )
        except DistributionError as error:
            faults.append(error.code)
    return found
