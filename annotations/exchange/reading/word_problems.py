"""Math word problems of which some have no answer, in the layout of UMWP, and replies to them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any

from annotations.exchange.facts import Note
from annotations.exchange.header import Column
from annotations.exchange.ids import clean_id, is_blank
from annotations.exchange.model_replies import notes_of, read_reply
from annotations.exchange.problems import Problems
from annotations.exchange.reading.answers import LONGEST_ANSWER, cleaned, same_text
from annotations.exchange.reading.objects import id_of, read_listed, status_of
from annotations.exchange.reading.source import Readable, source_of
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
    """A problem.

    `answers` are the right numbers, none where there is no answer. `answerable` is None where
    nobody said whether there is one. `category` says why there is none, 1 to 5, None where nobody
    said. `relevant` are the ids of the problems it was made of. `is_math` is False where the answer
    is a text, such as CO2, and letters in it are no variables.
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
    """The problems of a file, in its order."""

    name: str
    sha256: str
    problems: tuple[WordProblem, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WordProblemReply:
    """What a system replied to a problem that was asked in some form."""

    line: int
    system: str
    item: str
    form: str
    text: str
    status: AnswerStatus
    thinking: str = ""


@dataclass(frozen=True, slots=True)
class WordProblemReplies:
    """The replies of a file, in its order; `n_repeated` say once more what an earlier one said."""

    name: str
    sha256: str
    replies: tuple[WordProblemReply, ...]
    n_rows: int
    n_repeated: int
    warnings: tuple[str, ...]


def read_word_problems(path: Readable) -> WordProblemFile:
    """Read problems, JSON Lines or one JSON list.

    Raises
    ------
    InputError
        A problem without id, text or label, an answerable one without a number or with a category,
        an unknown category, the same id twice.
    """
    source = source_of(path)
    problems = Problems(source.name)
    listed = read_listed(source, problems, "problems_not_listed")
    found: dict[str, WordProblem] = {}
    for line, one in listed.values:
        problem = _problem(problems, line, one)
        if problem is None:
            continue
        first = found.setdefault(problem.id, problem)
        if first is not problem:
            code = "problem_twice"
            if first.answerable != problem.answerable:
                code = "problem_labelled_twice"
            problems.add_code(line or None, "id", code, id=problem.id, first_line=first.line)
    problems.raise_if_any()
    return WordProblemFile(source.name, listed.sha256, tuple(found.values()), listed.warnings)


def as_umwp(problem: WordProblem) -> dict[str, Any]:
    """Return a problem as the data set's files have it; ids that are numbers are numbers again."""
    return {
        "id": _as_written(problem.id),
        "question": problem.text,
        "answer": list(problem.answers) or None,
        "answerable": problem.answerable,
        "category": problem.category,
        "relevant_ids": [_as_written(item) for item in problem.relevant] or None,
        "source": problem.source,
        **({} if problem.is_math else {"math": False}),
    }


def _as_written(item: str) -> int | str:
    return int(item) if item.isascii() and item.isdigit() and str(int(item)) == item else item


def _problem(problems: Problems, line: int, one: Any) -> WordProblem | None:
    at = line or None
    if not isinstance(one, dict):
        problems.add_code(at, None, "problem_no_object")
        return None
    before = problems.total
    wrong = partial(problems.add_code, at)
    name = id_of(one.get("id"))
    if not name:
        wrong("id", "problem_id_unusable")
    text = one.get("question")
    if not isinstance(text, str) or not text.strip():
        wrong("question", "problem_text_unusable")
    answerable, answers, category = _label(one, wrong)
    given = one.get("relevant_ids")
    relevant = [id_of(item) for item in ([] if given is None else _listed(given))]
    if not all(relevant):
        wrong("relevant_ids", "relevant_ids_unusable")
    source = id_of(one.get("source"))
    if source is None:
        wrong("source", "problem_source_unusable")
    is_math = one.get("math", True)
    if not isinstance(is_math, bool):
        wrong("math", "problem_math_unusable")
    if problems.total > before:
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


def _label(one: dict[str, Any], wrong: Note) -> tuple[bool | None, tuple[float, ...], int]:
    """Return whether there is an answer, the right numbers, and the category, 0 for none."""
    answerable = one.get("answerable", "")
    if answerable is not None and not isinstance(answerable, bool):
        wrong("answerable", "answerable_unusable")
        answerable = None
    answers = _numbers(one.get("answer"))
    if answers is None:
        wrong("answer", "problem_answer_unusable")
    elif answerable is True and not answers:
        wrong("answer", "problem_answer_missing")
    category = _category(one.get("category"))
    if category is None:
        wrong("category", "category_unknown", category=str(one.get("category"))[:40])
    elif category and answerable is True:
        wrong("category", "category_of_answerable", category=category)
    elif category and one.get("answerable", "") is None:
        wrong("category", "category_of_unlabelled", category=category)
    return answerable, answers or (), category or 0


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _numbers(value: Any) -> tuple[float, ...] | None:
    """Return the numbers of an answer; None where it holds anything else."""
    found = []
    for one in [] if value is None else _listed(value):
        if isinstance(one, bool) or not isinstance(one, int | float | str):
            return None
        try:
            number = float(one)
        except (ValueError, OverflowError):
            return None
        if not isfinite(number):
            return None
        found.append(number)
    return tuple(found)


def _category(value: Any) -> int | None:
    """Return 1 to 5, 0 where there is none, None for what is no category."""
    if value is None or value == "":
        return 0
    written = id_of(value)
    known = {str(one): one for one in (0, *CATEGORIES)}
    return known.get(written or "")


def read_word_problem_replies(path: Readable, keep_thinking: bool = False) -> WordProblemReplies:
    """Read replies in a CSV, TSV, JSON Lines or XLSX file.

    Columns: `id` (or `item`) and `reply`; `system` (default "model"), `form` (default "direct")
    and `status` (default text) may be absent, and so may the reply of a row with another status.
    The thinking in a reply is put aside, unless `keep_thinking`.

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
    problems = Problems(source_of(path).name)
    table = open_table(path, columns, problems)
    found: dict[tuple[str, str, str], WordProblemReply] = {}
    said: set[str] = set()
    n_rows = n_repeated = 0
    for line, cells, _ in table.rows:
        n_rows += 1
        said.update((cells[1], cells[4]))
        reply = _reply(problems, line, cells, keep_thinking)
        if reply is None:
            continue
        first = found.setdefault((reply.system, reply.item, reply.form), reply)
        if first is reply:
            continue
        n_repeated += 1
        if first.status is not reply.status or not same_text(first.text, reply.text):
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
    elif not problems.total and not any(said):
        problems.add_code(None, "reply", "no_replies")
    problems.raise_if_any()
    return WordProblemReplies(
        table.name,
        table.sha256,
        tuple(found.values()),
        n_rows,
        n_repeated,
        (*table.warnings, *notes_of(found.values())),
    )


def _reply(
    problems: Problems, line: int, cells: tuple[str, ...], keep_thinking: bool
) -> WordProblemReply | None:
    name, text, system, form, word, reason = cells
    item = clean_id(name)
    if not item:
        problems.add_code(line, "id", "problem_id_missing")
    text = "" if is_blank(text) else text
    status = status_of(word, text, line, problems)
    if not item or status is None:
        return None
    read = read_reply(text, status, reason, keep_thinking)
    if len(read.text) * 4 > LONGEST_ANSWER and len(read.text.encode()) > LONGEST_ANSWER:
        problems.add_code(line, "reply", "reply_too_long", most=LONGEST_ANSWER)
        return None
    model = clean_id(system) or "model"
    return WordProblemReply(line, model, item, form_of(form), *read.parts)


def form_of(written: str) -> str:
    """Return a form of asking as forms are kept: "In_Context" is in-context, nothing is direct."""
    return "-".join(cleaned(written).casefold().replace("_", " ").split()) or DIRECT
