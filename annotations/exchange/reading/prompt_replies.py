"""Read systems' replies to prompts, from a table or an ELOQUENT 2025 submission.

The form is {team, system, submissionid, language, date, label, questions: [{questionid, turns:
[{question, answer}]}]}; a file holds one, or a list of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from annotations.exchange.header import Column
from annotations.exchange.ids import clean_id, is_blank
from annotations.exchange.model_replies import describe_replies, split_model_reply
from annotations.exchange.problems import InputError, Problems
from annotations.exchange.reading.answers import LONGEST_ANSWER, normalise_text
from annotations.exchange.reading.json_document import JsonObject, read_json
from annotations.exchange.reading.source import Readable, make_source
from annotations.exchange.reading.tables import open_table
from annotations.exchange.records import AnswerStatus

SYSTEM = "model"
NO_ANSWER = "[no answer]"
COLUMNS = (
    Column("system", ("system", "model"), required=False, renamed_by=""),
    Column("item", ("item",), renamed_by=""),
    Column("language", ("language",), required=False, renamed_by=""),
    Column("variant", ("variant",), renamed_by=""),
    Column("reply", ("reply", "answer"), renamed_by=""),
    Column("status", ("status",), required=False, renamed_by=""),
    Column("finish_reason", ("finish_reason",), required=False, renamed_by=""),
)


@dataclass(frozen=True, slots=True)
class ConversationTurn:
    """One turn of a conversation: the question to the system and its answer ("" if none)."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class PromptReply:
    """One system's reply to one prompt, that is to one wording of an item.

    Attributes
    ----------
    language : in small letters, "" where the file has none.
    variant : as written: its number among the wordings; "" in a submission, whose first turn
        has the prompt. turns : of a submission, one or more.
    number : whether the item is a number in JSON, which has no leading zeros.
    thinking : the model's thinking, removed from the reply.
    """

    line: int
    system: str
    item: str
    language: str
    variant: str
    text: str
    status: AnswerStatus
    turns: tuple[ConversationTurn, ...] = ()
    number: bool = False
    thinking: str = ""


@dataclass(frozen=True, slots=True)
class SubmissionFacts:
    """The descriptive fields of an ELOQUENT submission, as text: team, system, date and so on."""

    team: str
    system: str
    submissionid: str
    language: str
    date: str
    label: str


@dataclass(frozen=True, slots=True)
class ReplyFile:
    """The replies of a file, in its order; `submissions` is empty if the file is a table."""

    name: str
    sha256: str
    replies: tuple[PromptReply, ...]
    submissions: tuple[SubmissionFacts, ...] = ()
    warnings: list[str] = field(default_factory=list)


def read_prompt_replies(file: Readable, keep_thinking: bool = False) -> ReplyFile:
    """Read replies to prompts: a submission if the name ends in .json, else a table.

    A table has the columns item, variant and reply, and optionally system ("model" without one),
    language and status. A reply of white space is EMPTY; so is "[no answer]" in a submission. The
    thinking in a reply is removed from its text, unless `keep_thinking`.

    Raises
    ------
    InputError
        Every row or turn with a missing field, an unknown status or a reply over 100,000 bytes,
        with its line; what is no JSON with line and column.
    """
    if make_source(file).suffix == ".json":
        return _read_submissions(file, keep_thinking)
    problems = Problems(make_source(file).name)
    table = open_table(file, COLUMNS, problems)
    replies = tuple(_iterate_table_replies(table.rows, problems, keep_thinking))
    _raise_problems(problems, len(replies))
    warnings = [*table.warnings, *describe_replies(replies)]
    return ReplyFile(table.name, table.sha256, replies, (), warnings)


def _iterate_table_replies(
    rows: Any, problems: Problems, keep_thinking: bool
) -> Iterator[PromptReply]:
    """Yield the valid replies in the rows of a table; bad rows go to `problems`."""
    for line, cells, _ in rows:
        system, item, language, variant, text, status, reason = cells
        n_problems = problems.total
        for name, value in (("item", item), ("variant", variant)):
            if not clean_id(value):
                problems.add_code(line, name, "row_name_missing", name=name)
        text = "" if is_blank(text) else text
        known = _read_status(problems, line, status, text)
        # Also with a bad status, which is noted already: the length is checked as well.
        read = split_model_reply(text, known or AnswerStatus.TEXT, reason, keep_thinking)
        _check_reply_length(problems, line, read.text)
        if problems.total == n_problems:
            yield PromptReply(
                line,
                clean_id(system) or SYSTEM,
                clean_id(item),
                normalise_text(language).lower(),
                clean_id(variant),
                read.text,
                read.status,
                thinking=read.thinking,
            )


def _read_status(problems: Problems, line: int, raw: str, text: str) -> AnswerStatus | None:
    """Return a reply's status, EMPTY without a text; None if it is bad (then recorded)."""
    word = raw.strip().casefold()
    try:
        status = AnswerStatus(word) if word else AnswerStatus.TEXT
    except ValueError:
        problems.add_code(
            line, "status", "status_unknown", status=word[:40], accepted=", ".join(AnswerStatus)
        )
        return None
    if status is AnswerStatus.EMPTY and text:
        problems.add_code(line, "status", "status_empty_replied")
        return None
    return AnswerStatus.EMPTY if status is AnswerStatus.TEXT and not text else status


def _read_submissions(file: Readable, keep_thinking: bool) -> ReplyFile:
    """Read the replies of a file with one ELOQUENT submission or a list of them."""
    document = read_json(file)
    problems = Problems(document.name)
    forms = document.value if isinstance(document.value, list) else [document.value]
    facts: list[SubmissionFacts] = []
    replies: list[PromptReply] = []
    for form in forms:
        if not isinstance(form, JsonObject) or not isinstance(form.get("questions"), list):
            line = form.line if isinstance(form, JsonObject) else None
            raise InputError.from_code(
                document.name, "submission_without_questions", line=line, column="questions"
            )
        form_facts = SubmissionFacts(
            *(
                clean_id(str(form[name])) if isinstance(form.get(name), str | int) else ""
                for name in SubmissionFacts.__dataclass_fields__
            )
        )
        facts.append(form_facts)
        replies += _iterate_submission_replies(problems, form, form_facts, keep_thinking)
    _raise_problems(problems, len(replies))
    warnings = [*document.warnings, *describe_replies(replies)]
    return ReplyFile(document.name, document.sha256, tuple(replies), tuple(facts), warnings)


def _iterate_submission_replies(
    problems: Problems, form: JsonObject, facts: SubmissionFacts, keep_thinking: bool
) -> Iterator[PromptReply]:
    """Yield the reply to each question of a submission; bad questions go to `problems`."""
    for question in form["questions"]:
        if not isinstance(question, JsonObject):
            problems.add_code(form.line, "questions", "submission_question_unusable")
            continue
        name, turns = question.get("questionid"), question.get("turns")
        n_problems = problems.total
        # True is an int to Python, and would become the id "True".
        if isinstance(name, bool) or not isinstance(name, str | int) or not clean_id(str(name)):
            problems.add_code(question.line, "questionid", "questionid_missing")
        if not isinstance(turns, list) or not turns:
            problems.add_code(question.line, "turns", "turns_missing")
            turns = []
        asked_turns = [_read_turn(problems, turn, question.line) for turn in turns]
        read = [split_model_reply(turn.answer, keep_thinking=keep_thinking) for turn in asked_turns]
        for reply in read:
            _check_reply_length(problems, question.line, reply.text)
        if problems.total > n_problems:
            continue
        asked_turns = [
            ConversationTurn(turn.question, reply.text)
            for turn, reply in zip(asked_turns, read, strict=True)
        ]
        answers = [reply.text for reply in read if reply.text]
        # One answered turn is an answer; that a turn was cut off counts only where none is.
        cut_off = any(reply.status is AnswerStatus.CUT_OFF for reply in read)
        empty_status = AnswerStatus.CUT_OFF if cut_off else AnswerStatus.EMPTY
        yield PromptReply(
            question.line,
            facts.system or SYSTEM,
            clean_id(str(name)),
            facts.language.lower(),
            "",
            "\n\n".join(answers),
            AnswerStatus.TEXT if answers else empty_status,
            tuple(asked_turns),
            isinstance(name, int),
            "\n\n".join(reply.thinking for reply in read if reply.thinking),
        )


def _read_turn(problems: Problems, turn: Any, line: int) -> ConversationTurn:
    """Return a turn; its answer is "" if empty or "[no answer]"; faults go to `problems`."""
    if not isinstance(turn, JsonObject):
        problems.add_code(line, "turns", "turn_no_object")
        return ConversationTurn("", "")
    question, answer = turn.get("question"), turn.get("answer")
    if not isinstance(question, str) or not question.strip():
        problems.add_code(turn.line, "question", "turn_without_question")
    if "answer" not in turn or not isinstance(answer, str | None):
        problems.add_code(turn.line, "answer", "turn_without_answer")
    text = answer if isinstance(answer, str) else ""
    empty = not text.strip() or normalise_text(text) == NO_ANSWER
    return ConversationTurn(str(question), "" if empty else text)


def _check_reply_length(problems: Problems, line: int, text: str) -> None:
    """Record a problem for a reply of more than 100,000 bytes."""
    if len(text) > LONGEST_ANSWER // 4 and len(text.encode()) > LONGEST_ANSWER:
        problems.add_code(line, "reply", "prompt_reply_long", most=LONGEST_ANSWER)


def _raise_problems(problems: Problems, n_replies: int) -> None:
    """Raise `InputError` if any reply was bad or the file has no reply."""
    if not n_replies and not problems.total:
        problems.add_code(None, None, "no_reply")
    problems.raise_if_any()
