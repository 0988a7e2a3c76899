"""Questions with several right answers, in the layout of MAQA, and replies to them.

Questions are one JSON list of {"question", "answer"} (or JSON Lines of such objects). An answer is
a text, a number, or a list of spellings of one answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any

from annotations.exchange.ids import is_blank
from annotations.exchange.model_replies import notes_of, read_reply
from annotations.exchange.problems import Problems
from annotations.exchange.reading.answers import LONGEST_ANSWER, cleaned
from annotations.exchange.reading.decoding import open_text
from annotations.exchange.reading.objects import (
    ENDINGS,
    id_of,
    read_listed,
    read_objects,
    status_of,
)
from annotations.exchange.reading.source import Readable, source_of
from annotations.exchange.records import AnswerStatus

GROUPS = ("kind", "dataset", "category", "source", "language")
"""What a question may say of itself beside its text; metrics are told for each value."""

Answer = str | int | float
Spellings = tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class SeveralAnswersQuestion:
    """A question; each of `answers` is all spellings of one right answer. There may be none.

    `id` is the place in the list, from 0, unless the file gives one. `groups` has what the file
    says of `GROUPS`.
    """

    id: str
    text: str
    answers: tuple[Spellings, ...]
    groups: tuple[tuple[str, str], ...]
    line: int


@dataclass(frozen=True, slots=True)
class SeveralAnswersFile:
    """The questions of a file, in its order."""

    name: str
    sha256: str
    questions: tuple[SeveralAnswersQuestion, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FirstTokenOf:
    """The distribution over the first token of an answer, as far as it was given.

    `numbers` are logits of all tokens, or log-probabilities of the likeliest ones if `is_top`; a
    value that is no number is NaN. `vocabulary` is how many tokens there are, None if unknown.
    `others` are known beside the likeliest ones: how many, their probability, -sum p ln p of them.
    """

    answer: Answer
    numbers: tuple[float, ...]
    is_top: bool
    vocabulary: int | None
    others: tuple[int, float, float] | None = None


@dataclass(frozen=True, slots=True)
class SeveralAnswersReply:
    """A reply of a system to a question.

    `answers` are given where somebody read them out of the reply before, else None. `confidence`
    is as in the file, None if it is not there. `logprobs` are of the tokens of the reply, a value
    that is no number is NaN; None without them. `line` is where it stands. `thinking` was put
    aside of the text.
    """

    line: int
    system: str
    item: str
    sample: int
    status: AnswerStatus
    text: str
    answers: tuple[Answer, ...] | None
    confidence: str | float | bool | None
    first_token: tuple[FirstTokenOf, ...]
    logprobs: tuple[float, ...] | None = None
    thinking: str = ""


@dataclass(frozen=True, slots=True)
class SeveralAnswersReplies:
    """The replies of a file, in its order; `n_repeated` say once more what an earlier one said."""

    name: str
    sha256: str
    replies: tuple[SeveralAnswersReply, ...]
    n_rows: int
    n_repeated: int
    warnings: tuple[str, ...]


def read_several_answers(path: Readable) -> SeveralAnswersFile:
    """Read questions with several right answers.

    Raises
    ------
    InputError
        It is no such list; a question without a text or without `answer`, an answer that is empty
        or neither text, number nor list of these, an id that stands there twice.
    """
    source = source_of(path)
    problems = Problems(source.name)
    listed = read_listed(source, problems, "questions_not_listed")
    questions: list[SeveralAnswersQuestion] = []
    lines: dict[str, int] = {}
    for place, (line, one) in enumerate(listed.values):
        question = _question(problems, place, line, one)
        if question is None:
            continue
        if question.id in lines:
            problems.add_code(
                line or None,
                "id",
                "question_id_twice",
                id=question.id,
                first_line=lines[question.id],
            )
            continue
        lines[question.id] = line
        questions.append(question)
    problems.raise_if_any()
    return SeveralAnswersFile(source.name, listed.sha256, tuple(questions), listed.warnings)


def _question(problems: Problems, place: int, line: int, one: Any) -> SeveralAnswersQuestion | None:
    at = line or None
    if not isinstance(one, dict):
        problems.add_code(at, None, "question_no_object", place=place)
        return None
    before = problems.total
    name = id_of(one.get("id"))
    if name is None:
        problems.add_code(at, "id", "id_no_text")
    text = one.get("question")
    if not isinstance(text, str) or not text.strip():
        problems.add_code(at, "question", "question_text_missing")
    elif len(text.encode()) > LONGEST_ANSWER:
        problems.add_code(at, "question", "question_too_long", most=LONGEST_ANSWER)
    if "answer" not in one:
        problems.add_code(at, "answer", "right_answers_missing")
    given = one.get("answer")
    listed = given if isinstance(given, list) else [] if given is None else [given]
    answers = [_spellings(problems, at, number, answer) for number, answer in enumerate(listed, 1)]
    groups = []
    for key in GROUPS:
        value = id_of(one.get(key))
        if value is None:
            problems.add_code(at, key, "value_no_text", name=key)
        elif value:
            groups.append((key, value))
    if problems.total > before:
        return None
    return SeveralAnswersQuestion(
        name or str(place),
        str(text).strip(),
        tuple(one for one in answers if one),
        tuple(groups),
        line,
    )


def _spellings(problems: Problems, line: int | None, number: int, answer: Any) -> Spellings:
    spellings = answer if isinstance(answer, list) else [answer]
    if not spellings:
        problems.add_code(line, "answer", "right_answer_unspelled", number=number)
    found: list[Answer] = []
    for one in spellings:
        if _is_answer(one):
            found.append(one)
        else:
            problems.add_code(
                line,
                "answer",
                "right_answer_empty" if isinstance(one, str) else "right_answer_unusable",
                number=number,
            )
    return tuple(found)


def _is_answer(one: Any) -> bool:
    if isinstance(one, str):
        return bool(one.strip())
    return isinstance(one, int | float) and not isinstance(one, bool) and isfinite(one)


def read_several_answers_replies(
    path: Readable, keep_thinking: bool = False
) -> SeveralAnswersReplies:
    """Read replies to such questions, a JSON object a line.

    Keys: `system` (default "model"), `item`, `sample` (default 0), `status` (default text), and
    either `reply` or what was read out of it: `answers`, `confidence`, `first_token`, a list of
    {"answer", "logits"} or {"answer", "top_logprobs", "vocabulary", "others"}; beside it
    `logprobs`, those of its tokens. The thinking in a reply is put aside, unless `keep_thinking`.

    Raises
    ------
    InputError
        A reply without an item, or of another form; two different replies of one system to one
        item with the same sample.
    """
    source = source_of(path)
    problems = Problems(source.name)
    if source.suffix not in ENDINGS:
        problems.add_code(None, None, "replies_wrong_format", endings=" or ".join(ENDINGS))
        problems.raise_if_any()
    text = open_text(source)
    replies: dict[tuple[str, str, int], SeveralAnswersReply] = {}
    n_rows = n_repeated = 0
    for line, one in read_objects(text, problems):
        n_rows += 1
        reply = _reply(problems, line, one, keep_thinking)
        if reply is None:
            continue
        first = replies.setdefault((reply.system, reply.item, reply.sample), reply)
        if first is reply:
            continue
        n_repeated += 1
        if not _same(first, reply):
            problems.add_code(
                line,
                None,
                "sample_differs",
                system=reply.system,
                item=reply.item,
                first_line=first.line,
                sample=reply.sample,
            )
    problems.raise_if_any()
    warnings = (*text.warnings, *notes_of(replies.values()))
    return SeveralAnswersReplies(
        source.name, text.sha256, tuple(replies.values()), n_rows, n_repeated, warnings
    )


def _same(one: SeveralAnswersReply, other: SeveralAnswersReply) -> bool:
    """Whether two lines say the same; NaN is like itself here."""
    return repr(_content(one)) == repr(_content(other))


def _content(reply: SeveralAnswersReply) -> tuple[Any, ...]:
    parsed = (reply.answers, reply.confidence, reply.first_token, reply.logprobs)
    return (reply.status.value, cleaned(reply.text), parsed)


def _reply(
    problems: Problems, line: int, one: dict[str, Any], keep_thinking: bool
) -> SeveralAnswersReply | None:
    before = problems.total
    system, item = id_of(one.get("system")), id_of(one.get("item"))
    if system is None:
        problems.add_code(line, "system", "value_no_text", name="system")
    if not item:
        problems.add_code(line, "item", "item_missing")
    sample = _sample(problems, line, one.get("sample"))
    text = one.get("reply")
    if text is not None and not isinstance(text, str):
        problems.add_code(line, "reply", "reply_no_text")
    text = text if isinstance(text, str) and not is_blank(text) else ""
    answers = _answers(problems, line, one.get("answers"))
    tokens = _first_tokens(problems, line, one.get("first_token"))
    confidence = one.get("confidence")
    if confidence is not None and not isinstance(confidence, str | int | float):
        problems.add_code(line, "confidence", "confidence_unusable")
    logprobs = one.get("logprobs")
    if logprobs is not None and (logprobs := _numbers(logprobs)) is None:
        problems.add_code(line, "logprobs", "logprobs_no_numbers")
    given = answers is not None or bool(tokens)
    status = status_of(one.get("status"), text, line, problems, given)
    if problems.total > before or status is None:
        return None
    reason = one.get("finish_reason")
    read = read_reply(text, status, reason if isinstance(reason, str) else "", keep_thinking)
    if len(read.text) * 4 > LONGEST_ANSWER and len(read.text.encode()) > LONGEST_ANSWER:
        problems.add_code(line, "reply", "reply_too_long", most=LONGEST_ANSWER)
        return None
    if not (given and status is AnswerStatus.TEXT):
        status = read.status
    return SeveralAnswersReply(
        line,
        system or "model",
        item or "",
        sample,
        status,
        read.text,
        answers,
        None if confidence == "" else confidence,
        tokens,
        logprobs or None,
        read.thinking,
    )


def _sample(problems: Problems, line: int, value: Any) -> int:
    if value is None or value == "":
        return 0
    written = id_of(value)
    if written is not None and written.isascii() and written.isdigit() and len(written) < 10:
        return int(written)
    problems.add_code(line, "sample", "sample_no_number")
    return 0


def _answers(problems: Problems, line: int, value: Any) -> tuple[Answer, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list):
        problems.add_code(line, "answers", "answers_no_list")
        return None
    for number, one in enumerate(value, 1):
        if not _is_answer(one):
            problems.add_code(
                line,
                "answers",
                "answer_empty" if isinstance(one, str) else "answer_no_text",
                number=number,
            )
    return tuple(one for one in value if _is_answer(one))


def _first_tokens(problems: Problems, line: int, value: Any) -> tuple[FirstTokenOf, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        problems.add_code(line, "first_token", "first_tokens_unlisted")
        return ()
    found = []
    for number, one in enumerate(value, 1):
        entry = _first_token(one)
        if entry is None:
            problems.add_code(line, "first_token", "first_token_unusable", number=number)
        else:
            found.append(entry)
    return tuple(found)


def _first_token(one: Any) -> FirstTokenOf | None:
    if not isinstance(one, dict) or not _is_answer(one.get("answer")):
        return None
    keys = [key for key in ("logits", "top_logprobs") if one.get(key) is not None]
    if len(keys) != 1:
        return None
    numbers = _numbers(one[keys[0]])
    vocabulary = one.get("vocabulary")
    if isinstance(vocabulary, float) and vocabulary.is_integer():
        vocabulary = int(vocabulary)
    is_size = isinstance(vocabulary, int) and not isinstance(vocabulary, bool) and vocabulary > 0
    others = one.get("others")
    if others is not None and (others := _others(others)) is None:
        return None
    if numbers is None or not (vocabulary is None or is_size):
        return None
    return FirstTokenOf(one["answer"], numbers, keys[0] == "top_logprobs", vocabulary, others)


def _others(value: Any) -> tuple[int, float, float] | None:
    """Return what is told of the tokens that are not listed; None if it is not three numbers."""
    if not isinstance(value, dict) or not isinstance(value.get("tokens"), int):
        return None
    return value["tokens"], _number(value.get("probability")), _number(value.get("entropy"))


def _numbers(value: Any) -> tuple[float, ...] | None:
    """Return numbers out of a list, of {"token", "logprob"} too, or out of an object by token."""
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list):
        return None
    if {*map(type, value)} == {float}:  # nearly always, and there are millions
        return tuple(value)
    plain = (one.get("logprob") if isinstance(one, dict) else one for one in value)
    return tuple(map(_number, plain))


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return float("nan")
    try:
        return float(value)
    except OverflowError:
        return float("inf")
