"""Read questions with several right answers, in the format of MAQA, and replies to them.

Questions are one JSON list of {"question", "answer"} (or JSON Lines of such objects). An answer is
a text, a number, or a list of spellings of one answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any

from annotations.exchange.ids import is_blank
from annotations.exchange.model_replies import describe_replies, split_model_reply
from annotations.exchange.problems import Problems
from annotations.exchange.reading.answers import LONGEST_ANSWER, normalise_text
from annotations.exchange.reading.decoding import open_text
from annotations.exchange.reading.json_objects import (
    ENDINGS,
    normalise_id,
    read_json_objects,
    read_reply_status,
    read_value_list,
)
from annotations.exchange.reading.source import Readable, make_source
from annotations.exchange.records import AnswerStatus

GROUPS = ("kind", "dataset", "category", "source", "language")
"""Optional fields of a question; metrics are computed for each of their values."""

Answer = str | int | float
Spellings = tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class SeveralAnswersQuestion:
    """A question; each entry of `answers` is a tuple of spellings of one right answer.

    `id` is the position in the list, from 0, unless the file has one. `groups` has the values of
    `GROUPS`.
    """

    id: str
    text: str
    answers: tuple[Spellings, ...]
    groups: tuple[tuple[str, str], ...]
    line: int


@dataclass(frozen=True, slots=True)
class SeveralAnswersFile:
    """The questions of a file, in its order, each with its several right answers."""

    name: str
    sha256: str
    questions: tuple[SeveralAnswersQuestion, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FirstTokenScores:
    """Scores of an answer's first token, over the vocabulary or its likeliest tokens.

    `numbers` are logits of all tokens, or log-probabilities of the likeliest ones if `is_top`; a
    value that is no number is NaN. `vocabulary` is the number of tokens, None if unknown. `others`
    describes the remaining tokens: how many, their probability, -sum p ln p of them.
    """

    answer: Answer
    numbers: tuple[float, ...]
    is_top: bool
    vocabulary: int | None
    others: tuple[int, float, float] | None = None


@dataclass(frozen=True, slots=True)
class SeveralAnswersReply:
    """One system's reply to a question, as text or as answers already extracted from it.

    `answers` is None unless the file lists the answers of the reply. `confidence` is as in the
    file, None if it is not there. `logprobs` are of the tokens of the reply, NaN for a value that
    is no number; None without them. `line` is its line in the file. `thinking` was removed from the
    text.
    """

    line: int
    system: str
    item: str
    sample: int
    status: AnswerStatus
    text: str
    answers: tuple[Answer, ...] | None
    confidence: str | float | bool | None
    first_token: tuple[FirstTokenScores, ...]
    logprobs: tuple[float, ...] | None = None
    thinking: str = ""


@dataclass(frozen=True, slots=True)
class SeveralAnswersReplies:
    """The replies of a file, in order; `n_repeated` rows repeat an earlier reply."""

    name: str
    sha256: str
    replies: tuple[SeveralAnswersReply, ...]
    n_rows: int
    n_repeated: int
    warnings: tuple[str, ...]


def read_several_answers(path: Readable) -> SeveralAnswersFile:
    """Read questions with several right answers from a JSON list or JSON Lines.

    Raises
    ------
    InputError
        It is no such list; a question without a text or without `answer`, an answer that is empty
        or neither text, number nor list of these, an id that occurs twice.
    """
    source = make_source(path)
    problems = Problems(source.name)
    listed = read_value_list(source, problems, "questions_not_listed")
    questions: list[SeveralAnswersQuestion] = []
    lines: dict[str, int] = {}
    for place, (line, entry) in enumerate(listed.values):
        question = _read_question(problems, place, line, entry)
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


def _read_question(
    problems: Problems, place: int, line: int, entry: Any
) -> SeveralAnswersQuestion | None:
    """Return the question in a JSON entry; None if it is bad (then problems are recorded)."""
    line_or_none = line or None
    if not isinstance(entry, dict):
        problems.add_code(line_or_none, None, "question_no_object", place=place)
        return None
    n_problems = problems.total
    name = normalise_id(entry.get("id"))
    if name is None:
        problems.add_code(line_or_none, "id", "id_no_text")
    text = entry.get("question")
    if not isinstance(text, str) or not text.strip():
        problems.add_code(line_or_none, "question", "question_text_missing")
    elif len(text.encode()) > LONGEST_ANSWER:
        problems.add_code(line_or_none, "question", "question_too_long", most=LONGEST_ANSWER)
    if "answer" not in entry:
        problems.add_code(line_or_none, "answer", "right_answers_missing")
    answer_value = entry.get("answer")
    listed = (
        answer_value
        if isinstance(answer_value, list)
        else []
        if answer_value is None
        else [answer_value]
    )
    answers = [
        _read_spellings(problems, line_or_none, number, answer)
        for number, answer in enumerate(listed, 1)
    ]
    groups = []
    for key in GROUPS:
        value = normalise_id(entry.get(key))
        if value is None:
            problems.add_code(line_or_none, key, "value_no_text", name=key)
        elif value:
            groups.append((key, value))
    if problems.total > n_problems:
        return None
    return SeveralAnswersQuestion(
        name or str(place),
        str(text).strip(),
        tuple(entry for entry in answers if entry),
        tuple(groups),
        line,
    )


def _read_spellings(problems: Problems, line: int | None, number: int, answer: Any) -> Spellings:
    """Return the spellings of one right answer; bad ones are recorded and left out."""
    spellings = answer if isinstance(answer, list) else [answer]
    if not spellings:
        problems.add_code(line, "answer", "right_answer_unspelled", number=number)
    sound: list[Answer] = []
    for spelling in spellings:
        if _is_valid_answer(spelling):
            sound.append(spelling)
        else:
            problems.add_code(
                line,
                "answer",
                "right_answer_empty" if isinstance(spelling, str) else "right_answer_unusable",
                number=number,
            )
    return tuple(sound)


def _is_valid_answer(value: Any) -> bool:
    """Return whether a value is a non-blank text or a finite number."""
    if isinstance(value, str):
        return bool(value.strip())
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def read_several_answers_replies(
    path: Readable, keep_thinking: bool = False
) -> SeveralAnswersReplies:
    """Read replies to questions with several right answers from JSON Lines.

    Keys: `system` (default "model"), `item`, `sample` (default 0), `status` (default text), and
    either `reply` or what was read out of it: `answers`, `confidence`, `first_token`, a list of
    {"answer", "logits"} or {"answer", "top_logprobs", "vocabulary", "others"}; beside it
    `logprobs`, those of its tokens. The thinking in a reply is removed from its text, unless
    `keep_thinking`.

    Raises
    ------
    InputError
        A reply without an item, or of another form; two different replies of one system to one
        item with the same sample.
    """
    source = make_source(path)
    problems = Problems(source.name)
    if source.suffix not in ENDINGS:
        problems.add_code(None, None, "replies_wrong_format", endings=" or ".join(ENDINGS))
        problems.raise_if_any()
    text = open_text(source)
    replies: dict[tuple[str, str, int], SeveralAnswersReply] = {}
    n_rows = n_repeated = 0
    for line, entry in read_json_objects(text, problems):
        n_rows += 1
        reply = _read_reply_line(problems, line, entry, keep_thinking)
        if reply is None:
            continue
        first = replies.setdefault((reply.system, reply.item, reply.sample), reply)
        if first is reply:
            continue
        n_repeated += 1
        if not _has_same_content(first, reply):
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
    warnings = (*text.warnings, *describe_replies(replies.values()))
    return SeveralAnswersReplies(
        source.name, text.sha256, tuple(replies.values()), n_rows, n_repeated, warnings
    )


def _has_same_content(reply: SeveralAnswersReply, other: SeveralAnswersReply) -> bool:
    """Return whether two replies have the same content, NaN being equal to NaN."""
    # Texts are compared, because NaN does not equal itself.
    return repr(_list_content(reply)) == repr(_list_content(other))


def _list_content(reply: SeveralAnswersReply) -> tuple[Any, ...]:
    """Return a reply's fields that are equal if a line repeats it: status, text, the rest."""
    parsed = (reply.answers, reply.confidence, reply.first_token, reply.logprobs)
    return (reply.status.value, normalise_text(reply.text), parsed)


def _read_reply_line(
    problems: Problems, line: int, entry: dict[str, Any], keep_thinking: bool
) -> SeveralAnswersReply | None:
    """Return the reply in a line; None if it is bad (then problems are recorded)."""
    n_problems = problems.total
    system, item = normalise_id(entry.get("system")), normalise_id(entry.get("item"))
    if system is None:
        problems.add_code(line, "system", "value_no_text", name="system")
    if not item:
        problems.add_code(line, "item", "item_missing")
    sample = _read_sample(problems, line, entry.get("sample"))
    text = entry.get("reply")
    if text is not None and not isinstance(text, str):
        problems.add_code(line, "reply", "reply_no_text")
    text = text if isinstance(text, str) and not is_blank(text) else ""
    answers = _read_answers_key(problems, line, entry.get("answers"))
    tokens = _read_first_tokens(problems, line, entry.get("first_token"))
    confidence = entry.get("confidence")
    if confidence is not None and not isinstance(confidence, str | int | float):
        problems.add_code(line, "confidence", "confidence_unusable")
    logprobs = entry.get("logprobs")
    if logprobs is not None and (logprobs := _read_numbers(logprobs)) is None:
        problems.add_code(line, "logprobs", "logprobs_no_numbers")
    is_parsed = answers is not None or bool(tokens)
    status = read_reply_status(entry.get("status"), text, line, problems, is_parsed)
    if problems.total > n_problems or status is None:
        return None
    reason = entry.get("finish_reason")
    read = split_model_reply(text, status, reason if isinstance(reason, str) else "", keep_thinking)
    if len(read.text) * 4 > LONGEST_ANSWER and len(read.text.encode()) > LONGEST_ANSWER:
        problems.add_code(line, "reply", "reply_too_long", most=LONGEST_ANSWER)
        return None
    # A reply with answers or scores of its own has the status text even without a text.
    if not (is_parsed and status is AnswerStatus.TEXT):
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


def _read_sample(problems: Problems, line: int, value: Any) -> int:
    """Return the sample number; 0 if it is empty, or bad (then a problem is recorded)."""
    if value is None or value == "":
        return 0
    text = normalise_id(value)
    # Nine digits stay below 2**31.
    if text is not None and text.isascii() and text.isdigit() and len(text) < 10:
        return int(text)
    problems.add_code(line, "sample", "sample_no_number")
    return 0


def _read_answers_key(problems: Problems, line: int, value: Any) -> tuple[Answer, ...] | None:
    """Return the answers listed under the key `answers`; None if it is absent or no list."""
    if value is None:
        return None
    if not isinstance(value, list):
        problems.add_code(line, "answers", "answers_no_list")
        return None
    for number, answer in enumerate(value, 1):
        if not _is_valid_answer(answer):
            problems.add_code(
                line,
                "answers",
                "answer_empty" if isinstance(answer, str) else "answer_no_text",
                number=number,
            )
    return tuple(answer for answer in value if _is_valid_answer(answer))


def _read_first_tokens(problems: Problems, line: int, value: Any) -> tuple[FirstTokenScores, ...]:
    """Return the first-token scores of a line; bad entries are recorded and left out."""
    if value is None:
        return ()
    if not isinstance(value, list):
        problems.add_code(line, "first_token", "first_tokens_unlisted")
        return ()
    scores = []
    for number, value_entry in enumerate(value, 1):
        entry = _read_first_token(value_entry)
        if entry is None:
            problems.add_code(line, "first_token", "first_token_unusable", number=number)
        else:
            scores.append(entry)
    return tuple(scores)


def _read_first_token(entry: Any) -> FirstTokenScores | None:
    """Return the first-token scores of one answer; None if the entry is bad."""
    if not isinstance(entry, dict) or not _is_valid_answer(entry.get("answer")):
        return None
    keys = [key for key in ("logits", "top_logprobs") if entry.get(key) is not None]
    # Exactly one: logits are of the whole vocabulary, log-probabilities of its likeliest part.
    if len(keys) != 1:
        return None
    numbers = _read_numbers(entry[keys[0]])
    vocabulary = entry.get("vocabulary")
    # Some programs write a whole number as 50257.0.
    if isinstance(vocabulary, float) and vocabulary.is_integer():
        vocabulary = int(vocabulary)
    # In Python True is an int; in JSON it is no number.
    is_size = isinstance(vocabulary, int) and not isinstance(vocabulary, bool) and vocabulary > 0
    others = entry.get("others")
    if others is not None and (others := _read_others(others)) is None:
        return None
    if numbers is None or not (vocabulary is None or is_size):
        return None
    return FirstTokenScores(entry["answer"], numbers, keys[0] == "top_logprobs", vocabulary, others)


def _read_others(value: Any) -> tuple[int, float, float] | None:
    """Return (number, probability, entropy) of the unlisted tokens; None for a bad value."""
    if not isinstance(value, dict) or not isinstance(value.get("tokens"), int):
        return None
    return (
        value["tokens"],
        _read_number(value.get("probability")),
        _read_number(value.get("entropy")),
    )


def _read_numbers(value: Any) -> tuple[float, ...] | None:
    """Return the numbers of a list or of an object by token; None for any other value."""
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list):
        return None
    if {*map(type, value)} == {float}:  # nearly always, and there are millions
        return tuple(value)
    plain = (entry.get("logprob") if isinstance(entry, dict) else entry for entry in value)
    return tuple(map(_read_number, plain))


def _read_number(value: Any) -> float:
    """Return a value as a float: NaN if it is no number, infinity if it is too large."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return float("nan")
    try:
        return float(value)
    except OverflowError:
        return float("inf")
