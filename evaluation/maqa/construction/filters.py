"""Automatic filters of generated questions with several answers: each has a reason.

The codes of reasons are those of `annotations.writing.candidates.FILTER_REASONS`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from evaluation.core.text.matching import NUMBER_WORDS, normalise
from evaluation.maqa.construction.prompts import Answers

LEAST_WORDS, LEAST_CHARACTERS = 3, 12
LONGEST_QUESTION, LONGEST_ANSWER = 500, 200
MOST_ANSWERS = 50
# Larger numbers of answers are written as digits.
COUNTS: Final = {word: int(n) for word, n in NUMBER_WORDS.items() if 2 <= int(n) <= 12}
_NUMBER = rf"(\d{{1,2}}|{'|'.join(COUNTS)})"
_ANY_NUMBER = re.compile(rf"^\W*(?:name|list|give|mention|state)\s+(?:any\s+)?{_NUMBER}\b", re.I)
_EXACT_NUMBER = re.compile(
    rf"^\W*(?:(?:name|list|give|what\s+are|who\s+are|which\s+are)\s+the|which|what)\s+{_NUMBER}\b",
    re.I,
)
_VAGUE = re.compile(
    r"\b(?:(?:name|list|give|mention|what\s+are|which\s+are)\s+(?:me\s+)?(?:some|several|a\s+few|"
    r"a\s+couple|various|many|multiple)|examples?\s+of|for\s+example|at\s+least|up\s+to)\b",
    re.I,
)
_OPEN = re.compile(
    r"(?:^|\b)(?:etc|and\s+so\s+on|and\s+more|and\s+others|among\s+others|many\s+others?)\.?$|"
    r"(?:\.\.\.|…)$",
    re.I,
)
_ASKS = re.compile(
    r"[?？؟;]\s*$|[?？؟]|^\W*(?:name|list|give|state|mention|find|which|what)\b", re.I
)
_QUESTION_WORDS = frozenset(
    (
        "which", "what", "who", "whom", "whose", "where", "when", "are", "is", "was", "were", "do",
        "does", "did", "of", "in", "that", "name", "list", "give", "all", "for", "to", "and",
    )
)  # fmt: skip


class Rejection(NamedTuple):
    """Reason why a filter leaves a candidate out, with what it found."""

    reason: str
    detail: str = ""


class Filters:
    """Filters of one run; `check` also compares each question with those before it.

    `known` are questions that exist already, in the set and among earlier candidates.
    """

    def __init__(self, known: Iterable[str]) -> None:
        self._texts = {_build_key(text): text for text in known}
        # (content words, answers) of each question of this run, with its text.
        self._asked: list[tuple[frozenset[str], frozenset[str], str]] = []

    def check(self, question: str, answers: Answers) -> Rejection | None:
        """Return why a candidate is left out; None if it passes, and is remembered."""
        rejection = check_alone(question, answers)
        if rejection is not None:
            return rejection
        key = _build_key(question)
        if key in self._texts:
            return Rejection("duplicate", self._texts[key])
        named = frozenset(normalise(spellings[0]) for spellings in answers)
        for words, others, text in self._asked:
            # The same answers to a question of mostly the same words: one question twice.
            shared = len(words & key) / max(1, len(words | key))
            if others == named and shared >= 0.5:
                return Rejection("duplicate", text)
        self._texts[key] = question
        self._asked.append((key, named, question))
        return None


def _build_key(question: str) -> frozenset[str]:
    """Return the words of a question without question words; equal keys are one question."""
    words = normalise(question).split()
    return frozenset(word for word in words if word not in _QUESTION_WORDS) or frozenset(words)


def merge_answers(answers: Answers) -> Answers:
    """Return the answers without later ones of which a spelling occurred before."""
    merged, seen = [], set[str]()
    for spellings in answers:
        keys = {normalise(spelling) for spelling in spellings}
        if keys & seen:
            continue
        seen |= keys
        merged.append(spellings)
    return tuple(merged)


def check_alone(question: str, answers: Answers) -> Rejection | None:
    """Return the first reason to leave out a question by itself; None if there is none.

    `answers` have no repetition (`merge_answers`).
    """
    words = question.split()
    if len(words) < LEAST_WORDS and len(question.strip()) < LEAST_CHARACTERS:
        return Rejection("too_short", question)
    if len(question) > LONGEST_QUESTION:
        return Rejection("too_long", f"{len(question)} characters, at most {LONGEST_QUESTION}")
    if not _ASKS.search(question):
        return Rejection("no_question")
    open_answers = [text for spellings in answers for text in spellings if _OPEN.search(text)]
    if open_answers:
        return Rejection("open_list", open_answers[0])
    if len(answers) < 2:
        return Rejection("single_answer", "; ".join(spellings[0] for spellings in answers))
    if len(answers) > MOST_ANSWERS:
        return Rejection("too_many", f"{len(answers)} answers, at most {MOST_ANSWERS}")
    long = [text for spellings in answers for text in spellings if len(text) > LONGEST_ANSWER]
    if long:
        return Rejection("too_long", f"an answer of {len(long[0])} characters")
    padded = f" {normalise(question)} "
    inside = [
        text for spellings in answers for text in spellings if f" {normalise(text)} " in padded
    ]
    if inside:
        return Rejection("answer_in_question", inside[0])
    return _check_count(question, len(answers))


def _check_count(question: str, n_answers: int) -> Rejection | None:
    """Return why the number of answers that a question asks for is unclear or another one."""
    vague = _VAGUE.search(question) or _ANY_NUMBER.search(question)
    if vague:
        return Rejection("vague_count", vague[0].strip())
    exact = _EXACT_NUMBER.search(question)
    if exact is None:
        return None
    word = exact[1].casefold()
    wanted = COUNTS.get(word) or int(word)
    if wanted == n_answers:
        return None
    return Rejection("count_differs", f"“{exact[0].strip()}”, {n_answers} answers")
