"""Prompts of MAQA, and the extraction of answers from a reply's text.

Of several lists in a reply the last one counts. JSON lists are preferred, then lists with an answer
per line, because they mark where an answer ends. Otherwise the answers are in one line, separated
by semicolons, bars or commas.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass

from evaluation.core.backends.chat.contract import Message
from evaluation.core.text.quality import is_dont_know

_CONFIDENCE = (
    'On the next line write "Confidence: " and a number from 0 to 100: how sure you are that {} is '
    "right."
)
INSTRUCTION = (
    "The question has one or more right answers. Reply with all of them as one JSON list of texts, "
    'such as ["first", "second"], and with nothing else on that line. '
    + _CONFIDENCE.format("the list")
)
"""Instruction for a question with a list of right answers."""

OPEN_INSTRUCTION = "Answer the question in one to three sentences. " + _CONFIDENCE.format(
    "the answer"
)
"""Instruction for an open question, without known right answers."""

NONE, TOP, ALL = "none", "top", "all"
"""Tokens to request at the first token of an answer: none, the likeliest, or all."""
# Most servers send at most this many likeliest tokens.
MOST_TOP = 20


def build_conversation(instruction: str, question: str) -> tuple[Message, ...]:
    """Return the conversation that asks a question: system message and user message."""
    return ({"role": "system", "content": instruction}, {"role": "user", "content": question})


BRACKETS, LINES, DELIMITED = "brackets", "lines", "delimited"
# Most words of a line that may be an answer; longer lines are sentences.
_FEW_WORDS = 8

_MARK = re.compile(r"\s*(?:[-*•‣◦▪–+]\s+|\(?\d{1,3}[.):、]\s+|\(?[A-Za-z][.)]\s+)(?P<text>\S.*)")
# The same without letters, which are answers themselves in a choice question.
_CHOICE_MARK = re.compile(r"\s*(?:[-*•‣◦▪–+]\s+|\(?\d{1,3}[.):、]\s+)(?P<text>\S.*)")
_FENCE = re.compile(r"^\s*```.*$", re.MULTILINE)
_ANSWER_WORDS = (
    r"answers?|solutions?|results?|list|values?|output|choices?|options?|response|conclusion"
)
_ANSWER_LABEL = re.compile(
    rf"\W*(?:(?:so|thus|hence|therefore|and),?\s+)?(?:(?:the|my|all|final|correct|possible|right|"
    rf"complete|full)\s+)*(?:{_ANSWER_WORDS})\b(?:\s+(?:is|are|include|includes))?\s*[*_]*\s*[:=]"
    r"\s*[*_]*",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|include|includes|included|be)\b(?:\s+(?:as\s+follows|the\s+following))?"
    r"\s*:?\s*",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"\W*(?:the|these|they|there|it|all|some|so|thus|hence|therefore|here|its|his|her|their|both|"
    rf"(?:correct|final|possible|right|{_ANSWER_WORDS}))\b",
    re.IGNORECASE,
)
_BEFORE_LIST = re.compile(
    rf"(?:^|[:=(]|\b(?:is|are|was|were|be|include|includes|{_ANSWER_WORDS}))[\s*_`]*$",
    re.IGNORECASE,
)
_DIGIT_COMMA = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_CONNECTIVE = re.compile(
    r"\W*(?:so|thus|hence|therefore|finally|overall|then|in (?:conclusion|summary|total)),?\s+",
    re.IGNORECASE,
)
_AND = re.compile(r"^(?:and|or|&)\s+", re.IGNORECASE)
_LAST_AND = re.compile(r"\s+(?:and|or)\s+", re.IGNORECASE)
_PAIRS = {"(": ")", "[": "]", "{": "}", "“": "”", "«": "»", "「": "」"}


@dataclass(frozen=True)
class AnswerList:
    """The answers of a reply, as written and in order, and the format of their list.

    Attributes
    ----------
    form : format of the list: "brackets", "lines" or "delimited".
    whole : the line that was divided into answers; "" for other formats.
    """

    answers: tuple[str, ...]
    form: str
    whole: str = ""


def read_answer_list(reply: str, letters: bool = False) -> AnswerList:
    """Return the last list of answers in a reply that has no confidence statement left.

    With `letters` (a choice question) a mark such as "A)" stays a part of the answer.
    """
    text = _FENCE.sub("", reply.replace("\r\n", "\n").replace("\r", "\n")).strip()
    # "I don't know" is a reply without answers, not an answer.
    if not text or is_dont_know(text):
        return AnswerList((), DELIMITED)
    answers = _read_last_brackets(text)
    if answers is not None:
        return AnswerList(tuple(answers), BRACKETS)
    lines = [line.strip() for line in text.split("\n")]
    marked = _read_marked_lines(lines, _CHOICE_MARK if letters else _MARK)
    return marked or _read_unmarked_lines(lines)


def read_json_confidence(reply: str) -> object:
    """Return the confidence in a reply's JSON object, as written; None if it has none."""
    for value in _parse_json_values(reply, "{"):
        if isinstance(value, dict):
            for key in value:
                if str(key).casefold() in ("confidence", "certainty"):
                    return value[key]
    return None


def _read_last_brackets(text: str) -> list[str] | None:
    """Return the answers in a text's last JSON object or bracketed list; None without one."""
    # An object with a key such as "answers" takes precedence over any bracketed list.
    for value in reversed(_parse_json_values(text, "{")):
        if isinstance(value, dict):
            for key, entry in value.items():
                if re.fullmatch(_ANSWER_WORDS, str(key), re.IGNORECASE):
                    answers = _convert_to_texts(entry if isinstance(entry, list) else [entry])
                    if answers is not None:
                        return answers
    last = None
    position = 0
    while (start := text.find("[", position)) >= 0:
        end = _find_closing_bracket(text, start)
        position = start + 1
        if end is None:
            continue
        answers = _read_brackets(text, start, end)
        if answers is not None:
            last, position = answers, end
    return last


def _parse_json_values(text: str, opening: str) -> list[object]:
    """Return all JSON values in a text that begin with the character `opening`."""
    decoder, values, position = json.JSONDecoder(), [], 0
    while (start := text.find(opening, position)) >= 0:
        try:
            value, position = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            position = start + 1
            continue
        values.append(value)
    return values


def _find_closing_bracket(text: str, start: int) -> int | None:
    """Return the index behind the bracket that closes the list at `start`; None if unclosed."""
    depth, quote = 0, ""
    for position in range(start, len(text)):
        char = text[position]
        if quote:
            quote = "" if char == quote and text[position - 1] != "\\" else quote
        # An apostrophe opens a quotation only at the start of an answer.
        elif char == '"' or (char == "'" and text[position - 1] in "[, "):
            quote = char
        elif char == "[":
            depth += 1
        elif char == "]":
            depth -= 1
            if not depth:
                return position + 1
    return None


def _read_brackets(text: str, start: int, end: int) -> list[str] | None:
    """Return the answers of the bracketed list at `start`; None for a citation or a link."""
    inside = text[start:end]
    # Models also write Python lists with single quotes, and lists without quotes.
    for parse in (json.loads, ast.literal_eval):
        try:
            value = parse(inside)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
        answers = _convert_to_texts(value) if isinstance(value, list) else None
        break
    else:
        bare = inside[1:-1]
        # Nested brackets and paragraphs within the brackets are no list of answers.
        answers = None if "[" in bare or "\n\n" in bare else _split_answers(" ".join(bare.split()))
    # "](" is a link of Markdown.
    if answers is None or text[end : end + 1] == "(":
        return None
    line = text[text.rfind("\n", 0, start) + 1 : start]
    # "[1]" in a sentence is a citation: without quotes a list needs an introduction before it.
    has_quotes = any(mark in inside for mark in "\"'")
    return answers if has_quotes or _BEFORE_LIST.search(line) else None


def _convert_to_texts(values: list[object]) -> list[str] | None:
    """Return texts and numbers as nonempty texts; None if a value is neither."""
    if any(isinstance(value, bool) or not isinstance(value, str | int | float) for value in values):
        return None
    return [text for text in (str(value).strip() for value in values) if text]


def _read_marked_lines(lines: list[str], mark_pattern: re.Pattern[str]) -> AnswerList | None:
    """Return the answers of a reply's last block of lines with bullets or numbers.

    A line after it with an answer of its own counts instead. None without such lines.
    """
    marks = [mark_pattern.fullmatch(line) for line in lines]
    last = next((i for i in range(len(lines) - 1, -1, -1) if marks[i]), None)
    if last is None:
        return None
    for line in reversed(lines[last + 1 :]):
        label = _ANSWER_LABEL.match(line)
        if label and line[label.end() :].strip():
            return _read_answer_line(line)
        parts = _read_answer_line(line).answers
        opened = _VERB.search(line) or ":" in line
        if opened and len(parts) > 1 and all(len(part.split()) <= 5 for part in parts):
            return AnswerList(parts, DELIMITED)
    first = last
    while first and (marks[first - 1] or not lines[first - 1]):
        first -= 1
    texts = [_strip_markup(mark["text"]) for mark in marks[first : last + 1] if mark]
    return AnswerList(tuple(text for text in texts if text), LINES)


def _read_unmarked_lines(lines: list[str]) -> AnswerList:
    """Return the answers of a reply whose lines have no bullets or numbers.

    The first of these that fits counts: the text after a label such as "Answers:"; the lines after
    one that ends in a colon; all lines, then the last paragraph, if each line may be an answer; the
    last line.
    """
    for index in range(len(lines) - 1, -1, -1):
        label = _ANSWER_LABEL.match(lines[index])
        if label:
            if lines[index][label.end() :].strip():
                return _read_answer_line(lines[index])
            return _read_answer_lines([line for line in lines[index + 1 :] if line])
    full = [line for line in lines if line]
    intro = next((i for i in range(len(full) - 1, -1, -1) if full[i].endswith(":")), None)
    if intro is not None and intro + 1 < len(full):
        return _read_answer_lines(full[intro + 1 :])
    if len(full) > 1 and all(map(_is_answer_line, full)):
        return _read_answer_lines(full)
    last: list[str] = []
    for line in reversed(lines):
        if not line:
            break
        last.insert(0, line)
    if len(last) > 1 and all(map(_is_answer_line, last)):
        return _read_answer_lines(last)
    return _read_answer_line(full[-1])


def _read_answer_lines(lines: list[str]) -> AnswerList:
    """Return each line before the first sentence as an answer; if there is only one, split it."""
    answers: list[str] = []
    for line in lines:
        if answers and not _is_answer_line(line):
            break
        answers.append(line)
    if len(answers) < 2:
        return _read_answer_line(answers[0]) if answers else AnswerList((), DELIMITED)
    return AnswerList(tuple(text for text in map(_strip_markup, answers) if text), LINES)


def _is_answer_line(line: str) -> bool:
    """Return whether a line is short enough to be an answer, not a sentence."""
    words = line.split()
    ends = re.search(r"(?:\b\w{3,}|[)\d])[.!?]$", line) is not None
    return len(words) <= _FEW_WORDS and not (ends and len(words) > 3)


def _read_answer_line(line: str) -> AnswerList:
    """Return the answers in one line, split at semicolons, bars or commas."""
    whole = _cut_introduction(line)
    return AnswerList(tuple(_split_answers(whole)), DELIMITED, _strip_markup(whole))


def _cut_introduction(line: str) -> str:
    """Return a line of answers without an introduction such as "The answers are"."""
    label = _ANSWER_LABEL.match(line)
    if label:
        return line[label.end() :].strip()
    colon = line.find(":")
    if colon >= 0 and line[colon + 1 :].strip():
        before = line[:colon]
        announces = re.search(
            rf"\b(?:is|are|was|were|includes?|follow\w*|{_ANSWER_WORDS})\b", before, re.I
        )
        # A separator before the colon means that the colon is inside an answer.
        if announces and not re.search(r"[,;|]", before):
            return line[colon + 1 :].strip()
    connective = _CONNECTIVE.match(line)
    if connective:
        line = line[connective.end() :]
    verb = _VERB.search(line)
    if verb and _OPENING.match(line) and not re.search(r"[,;|]", line[: verb.start()]):
        return line[verb.end() :].strip()
    return line


def _split_answers(text: str) -> list[str]:
    """Return the answers in a text, split at the first kind of separator that occurs."""
    text = text.strip().strip("*_`").strip()
    if text[:1] in _PAIRS and text.find(_PAIRS[text[0]]) == len(text) - 1:
        text = text[1:-1]
    # Commas last: answers separated by semicolons or bars may contain commas.
    for marks in (";；", "|", ",，、"):
        parts = _split_outside_quotes(text, marks)
        if len(parts) > 1:
            break
    parts = [part for part in map(str.strip, parts) if part]
    if not parts:
        return []
    *before, last = parts[0], *(_AND.sub("", part) for part in parts[1:])
    # Split "A, B and C" and "A and B"; not "A, B, and C and D", whose last answer has an "and".
    tail = _LAST_AND.split(last) if last == parts[-1] else [last]
    return [
        text
        for text in map(_strip_markup, [*before, *(tail if len(tail) == 2 else [last])])
        if text
    ]


def _split_outside_quotes(text: str, marks: str) -> list[str]:
    """Return the parts of a text, split at `marks` outside quotes, brackets and numbers."""
    parts, part, closing = [], "", ""
    inside_number = {match.start() for match in _DIGIT_COMMA.finditer(text)}
    for position, char in enumerate(text):
        if closing:
            closing = "" if char == closing else closing
        # Only pairs count: a single quote or bracket would swallow the rest of the text.
        elif char == '"' and text.find('"', position + 1) > 0:
            closing = '"'
        elif char in _PAIRS and text.find(_PAIRS[char], position) > 0:
            closing = _PAIRS[char]
        elif char in marks and position not in inside_number:
            parts.append(part)
            part = ""
            continue
        part += char
    return [*parts, part]


def _strip_markup(text: str) -> str:
    """Return an answer without bold marks, quotation marks and final punctuation."""
    text = text.strip()
    bold = re.match(r"(\*\*|__)(?P<text>.+?)\1\s*(?:[:–—-]|$)", text)
    if bold:
        text = bold["text"]
    text = text.strip().strip("*_`").rstrip(",;").strip()
    text = re.sub(r"(?<=[\w)\]\"'”’])\.$", "", text) if not text.endswith("..") else text
    for opening, end in (('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"), ("「", "」")):
        if len(text) > 1 and text[0] == opening and text[-1] == end and opening not in text[1:-1]:
            text = text[1:-1].strip()
    return text.rstrip(":").strip()
