"""Judge a reply: which of its answers are right, and how confident the model was."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import isfinite
from typing import TypeVar

from annotations.exchange.reading.several_answers import (
    Answer,
    FirstTokenScores,
    SeveralAnswersQuestion,
    SeveralAnswersReply,
)
from annotations.exchange.records import AnswerStatus
from evaluation.maqa.methods.set_scores import (
    FIXED,
    SetScore,
    build_comparison_key,
    compute_set_score,
    match_answers_one_to_one,
    read_choice_letter,
)
from evaluation.maqa.methods.uncertainty import (
    ROUNDING,
    DistributionError,
    FirstTokenConfidence,
    measure_logits,
    measure_top_logprobs,
)
from evaluation.maqa.run.confidence import (
    ConfidenceError,
    are_shares_of_one,
    extract_confidence,
    parse_confidence,
)
from evaluation.maqa.run.replies import (
    DELIMITED,
    AnswerList,
    read_answer_list,
    read_json_confidence,
)

WITHOUT_ANSWER = "first_token_without_answer"
REPEATED = "first_token_repeated"
LOGPROBS_NOT_FINITE, LOGPROBS_ABOVE_1 = "logprobs_not_finite", "logprobs_above_1"
# Spellings of answers repeat often, so their keys are cached.
_CACHE_SIZE = 100_000

_build_cached_key = lru_cache(_CACHE_SIZE)(build_comparison_key)

ItemT = TypeVar("ItemT")


@dataclass(frozen=True)
class RightAnswers:
    """The right answers of a question, with the keys used to compare answers.

    Attributes
    ----------
    question : as it was read.
    rules : "fixed" or "paper".
    """

    question: SeveralAnswersQuestion
    rules: str

    @cached_property
    def all_keys(self) -> list[frozenset[Hashable]]:
        """Comparison keys of each right answer's spellings, one set per right answer."""
        return [
            frozenset(_build_text_key(spelling, self.rules) for spelling in spellings)
            for spellings in self.question.answers
        ]

    @cached_property
    def keys(self) -> list[frozenset[Hashable]]:
        """Comparison keys of each right answer; the fixed rules drop repeated right answers."""
        return list(dict.fromkeys(self.all_keys)) if self.rules == FIXED else self.all_keys

    @cached_property
    def right_answers_by_key(self) -> dict[Hashable, list[int]]:
        """Indices of the right answers that an answer may match, by its comparison key."""
        numbers: dict[Hashable, list[int]] = {}
        for number, keys in enumerate(self.keys):
            for key in keys:
                numbers.setdefault(key, []).append(number)
        return numbers

    @cached_property
    def are_letters(self) -> bool:
        """Whether all right answers are letters of multiple-choice options."""
        spellings = [spelling for answer in self.question.answers for spelling in answer]
        letters = [re.fullmatch(r"\s*[A-Za-z]\s*", str(spelling)) for spelling in spellings]
        return bool(letters) and all(letters)

    @cached_property
    def have_commas(self) -> bool:
        """Whether any right answer is a text that contains a comma."""
        return any(
            isinstance(spelling, str) and "," in spelling.strip(" ,")
            for answer in self.question.answers
            for spelling in answer
        )


@dataclass(frozen=True)
class JudgedAnswer:
    """One answer of a reply: the right answer it matches, and its first-token confidence.

    Attributes
    ----------
    gold : number of the right answer that it matches; None for a wrong answer.
    token : measures of its first token; None without a valid distribution.
    """

    text: str
    key: Hashable
    gold: int | None
    token: FirstTokenConfidence | None

    @property
    def right(self) -> bool:
        """Whether the answer matches a right answer."""
        return self.gold is not None


@dataclass(frozen=True)
class JudgedReply:
    """A reply with its judged answers, scores and confidence; also an empty or refused reply.

    Attributes
    ----------
    score : None if the question has no known right answer.
    form : format of its list of answers (brackets, lines, delimited); "" without a list.
    confidence : stated confidence, 0 to 100; None if not stated or not readable.
    faults : codes of the parts that were not usable.
    divided : whether commas separate its answers although right answers contain commas.
    mean_logprob : natural logarithm of its probability divided by its number of tokens; None if
        unknown.
    stated : its confidence as written; None if not stated.
    repeated : further spellings of right answers that `answers` match: neither right nor wrong,
        but part of the reply's content.
    """

    reply: SeveralAnswersReply
    answers: tuple[JudgedAnswer, ...]
    score: SetScore | None
    confidence: float | None
    form: str
    divided: bool
    faults: tuple[str, ...]
    mean_logprob: float | None = None
    stated: object = None
    repeated: tuple[JudgedAnswer, ...] = ()

    @cached_property
    def all_answers(self) -> tuple[JudgedAnswer, ...]:
        """All answers in the reply's list, also those that repeat a matched right answer."""
        return self.answers + self.repeated

    @cached_property
    def keys(self) -> frozenset[Hashable]:
        """Comparison keys of everything in the reply's list."""
        return frozenset(answer.key for answer in self.all_answers)


@dataclass(frozen=True)
class ReplyContent:
    """What was read in a reply: answers, format of their list, and stated confidence."""

    answers: Sequence[Answer] = ()
    form: str = ""
    stated: object = None


def read_reply_content(right: RightAnswers, reply: SeveralAnswersReply) -> ReplyContent:
    """Return the answers and stated confidence of a reply; no answers if empty or refused.

    The fields `answers` and `confidence` of its record take precedence over the text.
    """
    if reply.status is not AnswerStatus.TEXT:
        return ReplyContent((), "", reply.confidence)
    stated, rest = read_json_confidence(reply.text), reply.text
    if stated is None:
        stated, rest = extract_confidence(reply.text)
    if reply.confidence is not None:
        stated = reply.confidence
    if reply.answers is not None:
        return ReplyContent(reply.answers, "", stated)
    # Without a text the answers are those that the file gives distributions for.
    if not reply.text:
        return ReplyContent([token.answer for token in reply.first_token], "", stated)
    if not right.question.answers:  # an open question: the whole text is its answer
        return ReplyContent([rest] if rest.strip() else [], "", stated)
    answer_list = read_answer_list(rest, right.are_letters)
    # The paper's rules compare the parts as they are.
    has_to_join = answer_list.form == DELIMITED and right.rules == FIXED
    answers = _rejoin_split_answers(right, answer_list) if has_to_join else answer_list.answers
    return ReplyContent(answers, answer_list.form, stated)


def judge_reply(right: RightAnswers, reply: SeveralAnswersReply) -> JudgedReply:
    """Return a reply with its answers compared with the right ones, scores and confidence.

    The reply is a text, or empty or refused; the latter two have no answers.
    """
    faults: list[str] = []
    content = read_reply_content(right, reply)
    confidence = _parse_confidence(content.stated, faults)
    answers = _pair_answers_with_keys(right, content.answers)
    fits = [right.right_answers_by_key.get(key, []) for _, key in answers]
    repeated: list[tuple[str, Hashable]] = []
    if right.rules == FIXED:
        gold = match_answers_one_to_one(fits)
        # A second spelling of a matched answer repeats it, so it is neither right nor wrong.
        repeats = [bool(fit) and number is None for fit, number in zip(fits, gold, strict=True)]
        repeated = [each for each, repeat in zip(answers, repeats, strict=True) if repeat]
        answers = [each for each, repeat in zip(answers, repeats, strict=True) if not repeat]
        gold = [number for number, repeat in zip(gold, repeats, strict=True) if not repeat]
        n_found = sum(number is not None for number in gold)
    else:
        # Without one-to-one matching several answers may match one right answer.
        gold = [fit[0] if fit else None for fit in fits]
        n_found = len({number for fit in fits for number in fit})
    tokens = _assign_first_tokens(
        right, [key for _, key in answers], [key for _, key in repeated], reply.first_token, faults
    )
    n_right = sum(number is not None for number in gold)
    judged = tuple(
        JudgedAnswer(text, key, number, tokens.get(index))
        for index, ((text, key), number) in enumerate(zip(answers, gold, strict=True))
    )
    score = (
        compute_set_score(n_right, len(judged), n_found, len(right.keys)) if right.keys else None
    )
    mean = _compute_mean_logprob(reply.logprobs, faults)
    divided = content.form == DELIMITED and right.have_commas
    return JudgedReply(
        reply,
        judged,
        score,
        confidence,
        content.form,
        divided,
        tuple(faults),
        mean,
        content.stated,
        tuple(JudgedAnswer(text, key, None, None) for text, key in repeated),
    )


def rescale_confidences(
    judged: Mapping[ItemT, Sequence[JudgedReply]],
) -> dict[ItemT, list[JudgedReply]]:
    """Return one system's replies with stated confidences on one scale, 0 to 100.

    The scale can be decided only when all replies of the system have been read.
    """
    shares = are_shares_of_one(reply.stated for replies in judged.values() for reply in replies)
    if not shares:
        return {item: list(replies) for item, replies in judged.items()}
    return {
        # Faults were noted when the reply was judged.
        item: [
            replace(reply, confidence=_parse_confidence(reply.stated, [], shares))
            for reply in replies
        ]
        for item, replies in judged.items()
    }


def _compute_mean_logprob(logprobs: Sequence[float] | None, faults: list[str]) -> float | None:
    """Return the mean token log-probability; None if missing, or invalid (adds a fault)."""
    if not logprobs:
        return None
    if not all(map(isfinite, logprobs)):
        faults.append(LOGPROBS_NOT_FINITE)
        return None
    if max(logprobs) > ROUNDING:
        faults.append(LOGPROBS_ABOVE_1)
        return None
    # Servers round, so a certain token may be slightly above 0.
    return min(0.0, sum(logprobs) / len(logprobs))


def _build_text_key(answer: Answer, rules: str) -> Hashable:
    """Return the comparison key of an answer, a number or a text, from a cache."""
    return _build_cached_key(str(answer), rules)


def _pair_answers_with_keys(
    right: RightAnswers, texts: Sequence[Answer]
) -> list[tuple[str, Hashable]]:
    """Return each answer with its comparison key; the fixed rules drop repeated answers."""
    answers: list[tuple[str, Hashable]] = []
    seen: set[Hashable] = set()
    for each in texts:
        text = str(each).strip()
        key = _build_reply_answer_key(right, text)
        if right.rules == FIXED and key in seen:
            continue
        seen.add(key)
        answers.append((text, key))
    return answers


def _build_reply_answer_key(right: RightAnswers, text: str) -> Hashable:
    """Return the comparison key of a reply's answer; of its letter if letters are right."""
    return _build_text_key((right.are_letters and read_choice_letter(text)) or text, right.rules)


def _rejoin_split_answers(right: RightAnswers, answer_list: AnswerList) -> list[str]:
    """Return the answers of a line split at commas; rejoin the parts of one right answer.

    Commas and "and" may be inside an answer, such as a city with its state, or a duo.
    """
    parts = list(answer_list.answers)
    if (
        len(parts) > 1
        and _build_text_key(answer_list.whole, right.rules) in right.right_answers_by_key
    ):
        return [answer_list.whole]
    last = " and ".join(parts[-2:])
    if len(parts) > 2 and _build_text_key(last, right.rules) in right.right_answers_by_key:
        parts[-2:] = [last]
    joined, start = [], 0
    while start < len(parts):
        end = start + 1
        # The longest right answer first, of up to four parts.
        for longer in range(min(len(parts), start + 4), start + 1, -1):
            if (
                _build_text_key(", ".join(parts[start:longer]), right.rules)
                in right.right_answers_by_key
            ):
                end = longer
                break
        joined.append(", ".join(parts[start:end]))
        start = end
    return joined


def _parse_confidence(stated: object, faults: list[str], shares: bool = False) -> float | None:
    """Return a stated confidence, 0 to 100; None, and an added fault, if unreadable."""
    if stated is None:
        return None
    try:
        value = stated if isinstance(stated, str | int | float) else str(stated)
        return parse_confidence(value, shares)
    except ConfidenceError as error:
        faults.append(error.code)
        return None


def _assign_first_tokens(
    right: RightAnswers,
    keys: Sequence[Hashable],
    repeated: Sequence[Hashable],
    distributions: Sequence[FirstTokenScores],
    faults: list[str],
) -> dict[int, FirstTokenConfidence]:
    """Return the first-token confidence measures, by index of the answer in the reply.

    `repeated` are keys of answers that repeat another one. Invalid distributions, and those
    without an answer of their own, are added to `faults`.
    """
    measures: dict[int, FirstTokenConfidence] = {}
    unassigned: dict[Hashable, list[int]] = {key: [] for key in repeated}
    for number, key in enumerate(keys):
        unassigned.setdefault(key, []).append(number)
    for each in distributions:
        numbers = unassigned.get(_build_reply_answer_key(right, str(each.answer).strip()))
        if not numbers:
            faults.append(WITHOUT_ANSWER if numbers is None else REPEATED)
            continue
        # Under the paper's rules an answer may repeat: distributions go to its copies in turn.
        number = numbers.pop(0)
        try:
            measures[number] = (
                measure_top_logprobs(each.numbers, each.vocabulary, each.others)
                if each.is_top
                else measure_logits(each.numbers)
            )
        except DistributionError as error:
            faults.append(error.code)
    return measures
