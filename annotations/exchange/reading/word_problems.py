"""Read math word problems, answerable or not, in the format of UMWP, and replies to them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any

from annotations.exchange.facts import FaultRecorder
from annotations.exchange.header import Column
from annotations.exchange.ids import clean_id, is_blank
from annotations.exchange.model_replies import describe_replies, split_model_reply
from annotations.exchange.problems import Problems
from annotations.exchange.reading.answers import LONGEST_ANSWER, is_same_text, normalise_text
from annotations.exchange.reading.json_objects import (
    normalise_id,
    read_reply_status,
    read_value_list,
)
from annotations.exchange.reading.source import Readable, make_source
from annotations.exchange.reading.tables import open_table
from annotations.exchange.records import AnswerStatus

CATEGORIES = (1, 2, 3, 4, 5)
CATEGORY_NAMES = {
    1: "key information missing",
    2: "ambiguous key information",
    3: "unrealistic conditions",
    4: "unrelated object",
    5: "question missing",
}
DIRECT = "direct"


@dataclass(frozen=True, slots=True)
class WordProblem:
    """One math word problem with its right numbers and whether it can be answered.

    `answers` are the right numbers, none where there is no answer. `answerable` is None where it is
    not known. `category` is the reason why there is no answer, 1 to 5, or None. `relevant` are the
    ids of the problems it was derived from. `is_math` is False where the answer is a text, such as
    CO2, and letters in it are no variables.
    """

    id: str
    text: str
    answers: tuple[float, ...]
    answerable: bool | None
    category: int | None
    relevant: tuple[str, ...]
    source: str
    line: int
    is_math: bool = True


@dataclass(frozen=True, slots=True)
class WordProblemFile:
    """The math word problems of a file, in the order of its lines."""

    name: str
    sha256: str
    problems: tuple[WordProblem, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WordProblemReply:
    """One system's reply to one word problem, asked in one form such as "direct"."""

    line: int
    system: str
    item: str
    form: str
    text: str
    status: AnswerStatus
    thinking: str = ""


@dataclass(frozen=True, slots=True)
class WordProblemReplies:
    """The replies of a file, in its order; `n_repeated` rows repeat an earlier reply."""

    name: str
    sha256: str
    replies: tuple[WordProblemReply, ...]
    n_rows: int
    n_repeated: int
    warnings: tuple[str, ...]


def read_word_problems(path: Readable) -> WordProblemFile:
    """Read math word problems from JSON Lines or from one JSON list.

    Raises
    ------
    InputError
        A problem without id, text or label, an answerable one without a number or with a category,
        an unknown category, the same id twice.
    """
    source = make_source(path)
    problems = Problems(source.name)
    listed = read_value_list(source, problems, "problems_not_listed")
    problems_by_id: dict[str, WordProblem] = {}
    for line, entry in listed.values:
        problem = _read_problem(problems, line, entry)
        if problem is None:
            continue
        first = problems_by_id.setdefault(problem.id, problem)
        if first is not problem:
            code = "problem_twice"
            if first.answerable != problem.answerable:
                code = "problem_labelled_twice"
            problems.add_code(line or None, "id", code, id=problem.id, first_line=first.line)
    problems.raise_if_any()
    return WordProblemFile(
        source.name, listed.sha256, tuple(problems_by_id.values()), listed.warnings
    )


def convert_to_umwp(problem: WordProblem) -> dict[str, Any]:
    """Return a word problem as a dict in UMWP's format; ids of digits become numbers."""
    return {
        "id": _restore_number(problem.id),
        "question": problem.text,
        "answer": list(problem.answers) or None,
        "answerable": problem.answerable,
        "category": problem.category,
        "relevant_ids": [_restore_number(item) for item in problem.relevant] or None,
        "source": problem.source,
        **({} if problem.is_math else {"math": False}),
    }


def _restore_number(item: str) -> int | str:
    """Return an id as an int if it consists of digits without leading zeros, else unchanged."""
    # Only if the number is written the same: 007 would come back as 7.
    return int(item) if item.isascii() and item.isdigit() and str(int(item)) == item else item


def _read_problem(problems: Problems, line: int, entry: Any) -> WordProblem | None:
    """Return the word problem in a JSON entry; None if it is bad (then problems are recorded)."""
    line_or_none = line or None
    if not isinstance(entry, dict):
        problems.add_code(line_or_none, None, "problem_no_object")
        return None
    n_problems = problems.total
    note = partial(problems.add_code, line_or_none)
    name = normalise_id(entry.get("id"))
    if not name:
        note("id", "problem_id_unusable")
    text = entry.get("question")
    if not isinstance(text, str) or not text.strip():
        note("question", "problem_text_unusable")
    answerable, answers, category = _read_label(entry, note)
    relevant_value = entry.get("relevant_ids")
    relevant = [
        normalise_id(item)
        for item in ([] if relevant_value is None else _wrap_in_list(relevant_value))
    ]
    if not all(relevant):
        note("relevant_ids", "relevant_ids_unusable")
    source = normalise_id(entry.get("source"))
    if source is None:
        note("source", "problem_source_unusable")
    is_math = entry.get("math", True)
    if not isinstance(is_math, bool):
        note("math", "problem_math_unusable")
    if problems.total > n_problems:
        return None
    return WordProblem(
        name or "",
        str(text).strip(),
        answers,
        answerable,
        category or None,
        tuple(item for item in relevant if item),
        source or "",
        line,
        is_math,
    )


def _read_label(
    entry: dict[str, Any], note: FaultRecorder
) -> tuple[bool | None, tuple[float, ...], int]:
    """Return (answerable, right numbers, category); the category is 0 if there is none."""
    # The default is no label: null says that the label is not known, a missing key is a fault.
    answerable = entry.get("answerable", "")
    if answerable is not None and not isinstance(answerable, bool):
        note("answerable", "answerable_unusable")
        answerable = None
    answers = _read_numbers(entry.get("answer"))
    if answers is None:
        note("answer", "problem_answer_unusable")
    elif answerable is True and not answers:
        note("answer", "problem_answer_missing")
    category = _read_category(entry.get("category"))
    if category is None:
        note("category", "category_unknown", category=str(entry.get("category"))[:40])
    elif category and answerable is True:
        note("category", "category_of_answerable", category=category)
    elif category and entry.get("answerable", "") is None:
        note("category", "category_of_unlabelled", category=category)
    return answerable, answers or (), category or 0


def _wrap_in_list(value: Any) -> list[Any]:
    """Return a list as it is, and any other value in a list."""
    return value if isinstance(value, list) else [value]


def _read_numbers(value: Any) -> tuple[float, ...] | None:
    """Return the right numbers of a problem; None if the value holds anything else."""
    numbers = []
    for entry in [] if value is None else _wrap_in_list(value):
        # A bool is an int to Python: true would be the number 1.
        if isinstance(entry, bool) or not isinstance(entry, int | float | str):
            return None
        try:
            number = float(entry)
        except (ValueError, OverflowError):
            return None
        if not isfinite(number):
            return None
        numbers.append(number)
    return tuple(numbers)


def _read_category(value: Any) -> int | None:
    """Return the category of an unanswerable problem, 1 to 5; 0 if none, None if unknown."""
    if value is None or value == "":
        return 0
    text = normalise_id(value)
    known = {str(category): category for category in (0, *CATEGORIES)}
    return known.get(text or "")


def read_word_problem_replies(path: Readable, keep_thinking: bool = False) -> WordProblemReplies:
    """Read replies to word problems from a CSV, TSV, JSON Lines or XLSX file.

    Columns: `id` (or `item`) and `reply`; `system` (default "model"), `form` (default "direct")
    and `status` (default text) may be absent, and so may the reply of a row with another status.
    The thinking in a reply is removed from its text, unless `keep_thinking`.

    Raises
    ------
    InputError
        A reply without an id, an unknown status; two different replies of one system to one
        problem in the same form.
    """
    columns = (
        Column("id", ("id", "item")),
        Column("reply", ("reply",), required=False),  # a refused one has none
        Column("system", ("system",), required=False),
        Column("form", ("form",), required=False),
        Column("status", ("status",), required=False),
        Column("finish_reason", ("finish_reason",), required=False),
    )
    problems = Problems(make_source(path).name)
    table = open_table(path, columns, problems)
    replies: dict[tuple[str, str, str], WordProblemReply] = {}
    cells_seen: set[str] = set()
    n_rows = n_repeated = 0
    for line, cells, _ in table.rows:
        n_rows += 1
        cells_seen.update((cells[1], cells[4]))
        reply = _read_reply_row(problems, line, cells, keep_thinking)
        if reply is None:
            continue
        first = replies.setdefault((reply.system, reply.item, reply.form), reply)
        if first is reply:
            continue
        n_repeated += 1
        if first.status is not reply.status or not is_same_text(first.text, reply.text):
            problems.add_code(
                line,
                None,
                "form_differs",
                system=reply.system,
                item=reply.item,
                first_line=first.line,
                form=reply.form,
            )
    if not n_rows and not problems.total:
        problems.add_code(None, None, "no_rows", what="replies")
    elif not problems.total and not any(cells_seen):
        problems.add_code(None, "reply", "no_replies")
    problems.raise_if_any()
    return WordProblemReplies(
        table.name,
        table.sha256,
        tuple(replies.values()),
        n_rows,
        n_repeated,
        (*table.warnings, *describe_replies(replies.values())),
    )


def _read_reply_row(
    problems: Problems, line: int, cells: tuple[str, ...], keep_thinking: bool
) -> WordProblemReply | None:
    """Return the reply in a row; None if the row is bad (then problems are recorded)."""
    name, text, system, form, word, reason = cells
    item = clean_id(name)
    if not item:
        problems.add_code(line, "id", "problem_id_missing")
    text = "" if is_blank(text) else text
    status = read_reply_status(word, text, line, problems)
    if not item or status is None:
        return None
    read = split_model_reply(text, status, reason, keep_thinking)
    if len(read.text) * 4 > LONGEST_ANSWER and len(read.text.encode()) > LONGEST_ANSWER:
        problems.add_code(line, "reply", "reply_too_long", most=LONGEST_ANSWER)
        return None
    model = clean_id(system) or "model"
    return WordProblemReply(line, model, item, normalise_form(form), *read.parts)


def normalise_form(written: str) -> str:
    """Return the normalised name of a form of asking: "In_Context" gives in-context."""
    return "-".join(normalise_text(written).casefold().replace("_", " ").split()) or DIRECT
