"""Read the questions of a version as word problems, and workers' answers to them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from annotations.exchange.reading.json_objects import normalise_id
from annotations.exchange.reading.word_problems import (
    CATEGORY_NAMES,
    WordProblem,
    WordProblemReply,
    convert_to_umwp,
)
from annotations.exchange.records import AnswerFacts, AnswerRecord
from annotations.models import GRADED, Question, QuestionSetVersion, Response
from evaluation.runs.flow.metrics import Exclusions
from evaluation.runs.steps.answers import find_worker_keys, select_answering_workers


def list_worker_answers(
    version: QuestionSetVersion, excluded: Sequence[str] = ()
) -> Iterator[AnswerRecord]:
    """Yield workers' answers to the graded questions of a version, oldest first.

    A worker is named by the id in their panel. If workers of two panels have the same id, the
    later one gets the panel as a prefix.

    Parameters
    ----------
    excluded : workers to leave out, by panel id or public id.
    """
    answered = select_answering_workers(version).values_list("pk", flat=True) if excluded else ()
    excluded_keys = find_worker_keys(version, excluded, list(answered))
    rows = (
        Response.objects.filter(
            submission__version=version,
            question__role__in=GRADED,
            state=Response.State.SUBMITTED,
        )
        .exclude(submission__worker__in=excluded_keys)
        .order_by("pk")
        .values_list(
            "submission__worker",
            "submission__worker__panel",
            "submission__worker__external_id",
            "question__external_id",
            "text",
            "rejected",
        )
    )
    owners: dict[str, int] = {}
    for index, (worker, panel, name, question, text, rejected) in enumerate(rows.iterator()):
        if owners.setdefault(name, worker) != worker:
            name = f"{panel}/{name}"
        facts = AnswerFacts(rejected=rejected)
        yield AnswerRecord(index, index + 1, name, question, text, facts=facts)


NO_TEXT = "no_text"
SOURCE, RELEVANT = "source", "relevant_ids"
"""Keys of a question's metadata."""
_NUMBER = re.compile(r"[-−]?[$€£]?\d[\d,]*(?:\.\d+)?|[-−]?\.\d+")
# Phrases that ask for a number, in English, German, French, Spanish and Arabic.
_ASKS_NUMBER = re.compile(
    r"\bhow (?:many|much|far|long|old|tall|fast|big|high|deep|heavy)\b|\bwhat is the "
    r"(?:total|sum|average|cost|price|difference|number)\b|\bcalculate\b|\bwie ?viele?\b|"
    r"\bcombien\b|\bcuánt[oa]s?\b|كم",
    re.IGNORECASE,
)
_CATEGORIES = {name: number for number, name in CATEGORY_NAMES.items()}


def load_word_problems(
    version: QuestionSetVersion, exclusions: Exclusions | None = None
) -> list[WordProblem]:
    """Return a version's graded questions with a text as word problems, in order.

    The label is the question's `answerable`; None without a label. The right numbers are the
    accepted answers that are numbers. The category is 1 to 5, or UMWP's name of it. `source` and
    `relevant_ids` (the original questions) are in the metadata. `_is_math_question` decides which
    questions are mathematical. Questions without a text are added to `exclusions`.
    """
    rows = list(version.questions.graded().order_by("position", "pk"))
    set_is_math = _is_math_set([row for row in rows if row.text])
    problems = []
    for line, row in enumerate(rows, 1):
        if row.text:
            problems.append(_build_word_problem(row, line, _is_math_question(row, set_is_math)))
        elif exclusions is not None:
            exclusions.add(NO_TEXT, row.external_id)
    return problems


def has_word_problems(questions: Sequence[Question]) -> bool:
    """Return whether most questions seem to be math word problems, judged by their texts.

    They are if any is labelled answerable or not, or if the set is mathematical (`_is_math_set`)
    and at least half of the texts ask for a number.
    """
    rows = [row for row in questions if row.text]
    if any(row.answerable is not None for row in rows):
        return True
    numeric = sum(bool(_ASKS_NUMBER.search(row.text)) for row in rows)
    return bool(rows) and 2 * numeric >= len(rows) and _is_math_set(rows)


def has_labelled_problem(problems: Sequence[WordProblem]) -> bool:
    """Return whether any problem is labelled answerable or unanswerable."""
    return any(problem.answerable is not None for problem in problems)


def compute_input_hash(
    problems: Sequence[WordProblem], people: Sequence[WordProblemReply] = ()
) -> str:
    """Return the SHA-256 of problems and workers' answers, a run's input hash."""
    content: list[Any] = [convert_to_umwp(problem) for problem in problems]
    content += [[answer.system, answer.item, answer.text] for answer in people]
    return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()


def _build_word_problem(row: Question, line: int, is_math: bool) -> WordProblem:
    """Return a database question as a word problem; `line` is its number from 1."""
    return WordProblem(
        row.external_id,
        row.text.strip(),
        _parse_numbers(row.accepted_answers) if row.answerable is not None else (),
        row.answerable,
        _parse_category(row.category) if row.answerable is False else None,
        _parse_relevant_ids(row.metadata.get(RELEVANT)),
        str(row.metadata.get(SOURCE) or ""),
        line,
        is_math,
    )


def _is_math_set(rows: Sequence[Question]) -> bool:
    """Return whether a question set consists of math word problems.

    It does if more than half of the questions with accepted answers accept a number. Without any
    accepted answers, at least half of the texts must contain a digit.
    """
    keyed = [bool(_parse_numbers(row.accepted_answers)) for row in rows if row.accepted_answers]
    if keyed:
        return 2 * sum(keyed) > len(keyed)
    return 2 * sum(any(map(str.isdigit, row.text)) for row in rows) >= len(rows)


def _is_math_question(row: Question, set_is_math: bool) -> bool:
    """Return whether a question of a math set accepts a number, or has no accepted answers."""
    accepted = row.accepted_answers
    return set_is_math and (not accepted or bool(_parse_numbers(accepted)))


def _parse_numbers(accepted: Sequence[Any]) -> tuple[float, ...]:
    """Return the distinct accepted answers that are numbers; an entry may be a list."""
    numbers = []
    for entry in accepted:
        for text in entry if isinstance(entry, list) else [entry]:
            if _NUMBER.fullmatch(str(text).strip()):
                # Accepted answers are typed by people: $1,250, or U+2212 as the minus sign.
                number = float(re.sub(r"[,$€£\s]", "", str(text)).replace("−", "-"))
                if isfinite(number):
                    numbers.append(number)
    return tuple(dict.fromkeys(numbers))


def _parse_category(category: str) -> int | None:
    """Return the category number (1 to 5) in a text; None if it names no category."""
    # "1", "1." and "1: key information missing" are category 1.
    normalized = " ".join(category.split()).lower()
    first = normalized.split(" ", 1)[0].rstrip(".:")
    if first.isdecimal() and int(first) in CATEGORY_NAMES:
        return int(first)
    return _CATEGORIES.get(normalized)


def _parse_relevant_ids(value: Any) -> tuple[str, ...]:
    """Return the question ids in a list, or in a text separated by commas or spaces."""
    if isinstance(value, str):
        text = value.strip()
        try:
            value = json.loads(text) if text.startswith("[") else re.split(r"[\s,;]+", text)
        except ValueError:
            # Not valid JSON, such as [1, 2 or ['1'].
            value = re.split(r"[\s,;\[\]]+", text)
    if value is None or isinstance(value, Mapping):
        return ()
    ids = (normalise_id(entry) for entry in (value if isinstance(value, list) else [value]))
    return tuple(item for item in ids if item)
