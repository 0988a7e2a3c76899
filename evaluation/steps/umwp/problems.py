"""The questions of a version as problems of UMWP: what each says of itself."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from annotations.exchange.reading.objects import id_of
from annotations.exchange.reading.word_problems import (
    CATEGORY_NAMES,
    WordProblem,
    WordProblemReply,
    as_umwp,
)
from annotations.models import Question, QuestionSetVersion
from evaluation.flow.metrics import Exclusions

NO_TEXT = "no_text"
SOURCE, RELEVANT = "source", "relevant_ids"
"""Keys of a question's metadata."""
_NUMBER = re.compile(r"[-−]?[$€£]?\d[\d,]*(?:\.\d+)?|[-−]?\.\d+")
_CATEGORIES = {name: number for number, name in CATEGORY_NAMES.items()}


def problems_of(
    version: QuestionSetVersion, exclusions: Exclusions | None = None
) -> list[WordProblem]:
    """Return the graded questions that have a text, in their order.

    Whether there is an answer is the question's `answerable`; None where nobody said. Its accepted
    answers that are numbers are the right ones. Why there is none is its category: 1 to 5, or the
    name that UMWP has for it. `source` and `relevant_ids`, the questions that it was made of,
    stand in its metadata. Which of them are mathematical, `_is_math` tells.
    """
    rows = list(version.questions.graded().order_by("position", "pk"))
    set_is_math = _is_math_set([row for row in rows if row.text])
    found = []
    for place, row in enumerate(rows, 1):
        if row.text:
            found.append(_problem(row, place, _is_math(row, set_is_math)))
        elif exclusions is not None:
            exclusions.add(NO_TEXT, row.external_id)
    return found


def has_labels(problems: Sequence[WordProblem]) -> bool:
    """Return whether it is known of any problem whether it has an answer."""
    return any(one.answerable is not None for one in problems)


def hash_of(problems: Sequence[WordProblem], people: Sequence[WordProblemReply] = ()) -> str:
    """Return SHA-256 of all that problems and people say, by which a run names its input."""
    told: list[Any] = [as_umwp(one) for one in problems]
    told += [[one.system, one.item, one.text] for one in people]
    return hashlib.sha256(json.dumps(told, ensure_ascii=False).encode()).hexdigest()


def _problem(row: Question, place: int, is_math: bool) -> WordProblem:
    return WordProblem(
        row.external_id,
        row.text.strip(),
        _numbers(row.accepted_answers) if row.answerable is not None else (),
        row.answerable,
        _category(row.category) if row.answerable is False else None,
        _relevant(row.metadata.get(RELEVANT)),
        str(row.metadata.get(SOURCE) or ""),
        place,
        is_math,
    )


def _is_math_set(rows: Sequence[Question]) -> bool:
    """Return whether a set is one of math word problems.

    By the accepted answers: more than half of the questions with some accept a number. Where no
    question has any, by the wordings: at least half hold a digit.
    """
    keyed = [bool(_numbers(row.accepted_answers)) for row in rows if row.accepted_answers]
    if keyed:
        return 2 * sum(keyed) > len(keyed)
    return 2 * sum(any(map(str.isdigit, row.text)) for row in rows) >= len(rows)


def _is_math(row: Question, set_is_math: bool) -> bool:
    """Return whether a question of a set of word problems does not accept only texts."""
    accepted = row.accepted_answers
    return set_is_math and (not accepted or bool(_numbers(accepted)))


def _numbers(accepted: Sequence[Any]) -> tuple[float, ...]:
    """Return the accepted answers that are numbers; an entry may be a list of spellings."""
    found = []
    for one in accepted:
        for text in one if isinstance(one, list) else [one]:
            if _NUMBER.fullmatch(str(text).strip()):
                number = float(re.sub(r"[,$€£\s]", "", str(text)).replace("−", "-"))
                if isfinite(number):
                    found.append(number)
    return tuple(dict.fromkeys(found))


def _category(written: str) -> int | None:
    """Return 1 to 5; None for what is none of the five."""
    plain = " ".join(written.split()).lower()
    first = plain.split(" ", 1)[0].rstrip(".:")
    if first.isdecimal() and int(first) in CATEGORY_NAMES:
        return int(first)
    return _CATEGORIES.get(plain)


def _relevant(given: Any) -> tuple[str, ...]:
    """Return ids out of a list, or of a text that parts them by commas, semicolons or space."""
    if isinstance(given, str):
        text = given.strip()
        try:
            given = json.loads(text) if text.startswith("[") else re.split(r"[\s,;]+", text)
        except ValueError:
            given = re.split(r"[\s,;\[\]]+", text)
    if given is None or isinstance(given, Mapping):
        return ()
    ids = (id_of(one) for one in (given if isinstance(given, list) else [given]))
    return tuple(one for one in ids if one)
